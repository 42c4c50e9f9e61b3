/* log_lines.c — the other things a line of a training log tells: its step and time stamp, rates, memory, batch size,
 * and which framework printed it. */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/log.h"
#include "planner/diagnosis/text.h"

static const char *const STEP_WORDS[] = {"global_step", "iteration", "iter", "step", "steps", "current_steps", "batch"};

/* "step=450", "iteration       10/    1000", "Iter(train) [ 10/720]", "'step': 7": the whole number behind a word. */
static bool number_behind(const char *p, double *ret)
{
    if (text_starts(p, "(train)"))
        p += strlen("(train)");
    for (int i = 0; i < 24 && (text_is_blank(*p) || strchr(":=\"'[", *p) != NULL) && *p != '\0'; i++)
        p++;
    int v;
    if (!text_int(&p, &v) || (*p == '.' && text_is_digit(p[1])) || text_is_alnum(*p))
        return false;
    *ret = v;
    return true;
}

int log_step_of(const char *line, double *ret_step)
{
    for (size_t i = 0; i < sizeof STEP_WORDS / sizeof *STEP_WORDS; i++)
        for (const char *p = line; (p = text_seek_word(p, STEP_WORDS[i])) != NULL;) {
            p += strlen(STEP_WORDS[i]);
            if (number_behind(p, ret_step))
                return (int)i;
        }
    return -1;
}

void log_take_step(struct log *l, const char *line, int rank)
{
    double stamp, step;
    bool day_only;
    if (!text_stamp(line, &stamp, &day_only))
        return;
    int word = log_step_of(line, &step);
    struct log_time *t = word >= 0 ? arena_push(l->arena, &l->steps) : NULL;
    if (t != NULL)
        *t = (struct log_time){.key = word,
                               .value_s = stamp,
                               .step = step,
                               .rank = rank,
                               .after_pause = l->saw_pause,
                               .day_only = day_only};
}

/* The number behind any of these words; NAN when none is there. *ret_rest: what follows it. */
static double figure(const char *line, const char *const *words, size_t n, const char **ret_rest)
{
    for (size_t i = 0; i < n; i++)
        for (const char *p = line; (p = text_seek_word(p, words[i])) != NULL;) {
            p += strlen(words[i]);
            const char *q = p;
            double v;
            for (int k = 0; k < 12 && *q != '\0' && strchr(" \t:=\"'", *q) != NULL; k++)
                q++;
            if (text_number(&q, &v) && v > 0) {
                *ret_rest = text_skip_blanks(q);
                return v;
            }
        }
    return NAN;
}

#define FIGURE(line, rest, ...)                                                                                        \
    figure(line, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), rest)

/* Memory as printed to GB: MiB where a bare number is large, GiB where it is small. */
static double memory_gb(double v, const char *unit)
{
    const double gib = 1.073741824;
    if (text_starts(unit, "gib"))
        return v * gib;
    if (text_starts(unit, "gb"))
        return v * gib; /* PyTorch's GB are 2^30 */
    if (text_starts(unit, "m"))
        return v * gib / 1024;
    return v > 1024 ? v * gib / 1024 : v * gib;
}

static void keep(double *to, double v)
{
    if (isfinite(v))
        *to = v;
}

/* "300K": thousands, where frameworks shorten rates. */
static double thousands(double v, const char *rest)
{
    bool alone = rest[0] != '\0' && !text_is_alnum(rest[1]);
    return alone && *rest == 'k' ? v * 1e3 : alone && *rest == 'm' ? v * 1e6 : v;
}

/* "436906 tok/s", "256.1 samples/sec": the number right before one of these units; NAN when none is there. */
static double rate_before(const char *line, const char *const *units, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (const char *unit = line; (unit = text_seek(unit, units[i])) != NULL; unit++) {
            const char *end = unit, *start;
            while (end > line && text_is_blank(end[-1]))
                end--;
            for (start = end; start > line && (text_is_digit(start[-1]) || strchr(".,", start[-1]) != NULL);)
                start--;
            double v;
            if (end > start && text_number(&start, &v) && start == end && v > 0)
                return v;
        }
    return NAN;
}

#define RATE_BEFORE(line, ...)                                                                                         \
    rate_before(line, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void take_rates(struct log *l, const char *line)
{
    const char *rest = "";
    struct iteration_stats *s = l->stats;
    double v = FIGURE(line, &rest, "tps", "tokens_per_second_per_gpu", "tokens per second per gpu",
                      "tokens_per_sec_per_gpu", "tokens/sec/gpu", "tokens/s/gpu", "tokens/s/device",
                      "tokens/gpu/second)", "tgs", "device/tokens_per_sec", "throughput/device/tps");
    keep(&s->tokens_per_s_per_gpu, thousands(v, rest));
    rest = "";
    v = FIGURE(line, &rest, "tokens per second", "tokens_per_second", "tokens_per_sec", "tokens/sec", "tokens/s",
               "tok/sec", "tok/s");
    v = thousands(v, rest);
    keep(&s->tokens_per_s, isfinite(v) ? v : RATE_BEFORE(line, "tokens/s", "tok/s"));
    v = FIGURE(line, &rest, "runningavgsamplespersec", "samples per second", "samples_per_second", "samples/sec",
               "samples/s", "train_samples_per_second", "interval_samples_per_second", "throughput/samples_per_sec",
               "images/sec", "examples/sec");
    keep(&s->samples_per_s,
         isfinite(v) ? v : RATE_BEFORE(line, "samples/s", "examples/s", "images/s", "img/s", "imgs/s"));
}

void log_take_figures(struct log *l, const char *line)
{
    const char *rest = "";
    struct iteration_stats *s = l->stats;
    take_rates(l, line);
    double memory =
        FIGURE(line, &rest, "maxmemallocated", "memory(gib)'", "memory(gib)", "max_mem", "max mem", "max memory",
               "peak memory", "peak_memory_active", "peak_memory", "max_memory_allocated", "memory", "mem");
    if (isfinite(memory)) {
        double gb = memory_gb(memory, rest);
        s->peak_memory_gb = s->peak_memory_gb >= gb ? s->peak_memory_gb : gb;
    }
    double batch = FIGURE(line, &rest, "global batch size", "global_batch_size");
    if (batch >= 1 && batch < 1e9)
        s->global_batch = (int)batch;
    double seq = FIGURE(line, &rest, "actual seqlen", "seq_length", "seq_len");
    if (seq >= 1 && seq < 1e9)
        s->seq_len = (int)seq;
    double data =
        FIGURE(line, &rest, "data_time", "train.data_time", "reader_cost", "avg_reader_cost", "data_cost", "data");
    double time = FIGURE(line, &rest, "time", "batch_cost", "avg_batch_cost");
    if (!isfinite(time)) /* printed without the waiting */
        time = data + FIGURE(line, &rest, "train.compute_time");
    if (isfinite(data) && isfinite(time) && data <= time) {
        l->data_sum += data;
        l->data_time_sum += time;
    }
}

const char *log_framework(const char *line)
{
    static const struct {
        const char *sign, *name;
    } signs[] = {
        {"elapsed time per iteration", "Megatron-LM"},
        {"[info:swift]", "ms-swift"},
        {"train_speed(", "ms-swift"},
        {"- mmengine -", "mmengine"},
        {"samplespersec=", "DeepSpeed"},
        {"[deepspeed", "DeepSpeed"},
        {"[titan]", "torchtitan"},
        {"v_num=", "PyTorch Lightning"},
        {"|loss:", "torchtune"},
        {":::nvlog", "DLLogger"},
        {"dll ", "DLLogger"},
        {"train_runtime", "Hugging Face Trainer"},
        {"{'loss':", "Hugging Face Trainer"},
        {"interval_runtime", "PaddleNLP"},
        {"batch_cost", "PaddlePaddle"},
        {"completed step:", "MaxText"},
        {"per step time:", "MindSpore"},
        {"timing_s/", "verl"},
        {"train_step_timing", "NeMo"},
        {"examples/sec;", "TensorFlow"},
        {"global_step/sec", "TensorFlow"},
        {"fvcore", "Detectron2"},
        {"train time/batch", "Composer"},
        {"ms/step", "Keras"},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (text_seek(line, signs[i].sign) != NULL)
            return signs[i].name;
    if (text_starts(text_skip_blanks(line), "iter ") && text_seek(line, "mfu") != NULL)
        return "nanoGPT";
    if (text_seek(line, "tps:") != NULL && text_seek(line, "mfu:") != NULL)
        return "torchtitan";
    return NULL;
}
