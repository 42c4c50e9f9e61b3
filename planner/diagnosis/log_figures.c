/* log_figures.c — the other figures a line of a training log tells: rates, memory, batch size, waiting for data. */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/log.h"
#include "planner/diagnosis/text.h"

#define GIB_GB 1.073741824
#define BYTES_FROM 1e8 /* no memory has as many MiB */

#define WORDS(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/* From behind a word to its number: blanks, quotes, colons, a note in brackets ("(w. parallel, distributed &
 * accumulation)"), the dots of an argument list ("seq_length ....... 4096"). */
static const char *to_figure(const char *p)
{
    if (*text_skip_blanks(p) == '(' && strchr(p, ')') != NULL && strchr(p, ')') - p < 64)
        p = strchr(p, ')') + 1;
    while (*p != '\0' && (strchr(" \t:=\"'", *p) != NULL || (*p == '.' && !text_is_digit(p[1]))))
        p++;
    return p;
}

/* The number behind any of these words; NAN when none is there. *ret_rest: what follows it. */
static double figure(const char *line, const char *const *words, size_t n, const char **ret_rest)
{
    for (size_t i = 0; i < n; i++)
        for (const char *p = line; (p = text_seek_word(p, words[i])) != NULL;) {
            p += strlen(words[i]);
            const char *q = to_figure(p);
            double v;
            if ((q > p || words[i][strlen(words[i]) - 1] == ' ') && text_number(&q, &v) && v > 0) {
                *ret_rest = q;
                return v;
            }
        }
    return NAN;
}

/* Memory as printed to GB: bytes where a bare number is huge, MiB where it is large, GiB where it is small. */
static double memory_gb(double v, const char *unit)
{
    if (v > BYTES_FROM)
        return v / 1e9;
    unit = text_skip_blanks(unit);
    if (text_starts(unit, "g")) /* PyTorch's GB are 2^30 */
        return v * GIB_GB;
    if (text_starts(unit, "m"))
        return v * GIB_GB / 1024;
    return v > 1024 ? v * GIB_GB / 1024 : v * GIB_GB;
}

static void keep(double *to, double v)
{
    if (isfinite(v))
        *to = v;
}

/* "300K": thousands, where frameworks shorten rates. */
static double thousands(double v, const char *rest)
{
    rest = text_skip_blanks(rest);
    bool alone = rest[0] != '\0' && !text_is_alnum(rest[1]);
    return alone && *rest == 'k' ? v * 1e3 : alone && *rest == 'm' ? v * 1e6 : v;
}

/* "436906 tok/s", "256.1 samples/sec": the number right before one of these units; NAN when none is there, or when
 * the rate is of one card ("img/sec per GPU", "samples/s/p"). */
static double rate_before(const char *line, const char *const *units, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (const char *unit = line; (unit = text_seek(unit, units[i])) != NULL; unit++) {
            const char *end = unit, *start, *behind = unit + strlen(units[i]);
            behind += text_starts(behind, "ec") ? strlen("ec") : text_starts(behind, "econd") ? strlen("econd") : 0;
            bool named = *behind != '\0' && strchr(":=", *behind) != NULL; /* "img/s: 1203.1": it stands behind */
            if (*behind == '/' || text_starts(behind, " per gpu") || text_is_alnum(*behind) || named)
                continue;
            while (end > line && text_is_blank(end[-1]))
                end--;
            double factor = 1; /* "8.4k tok/s" */
            if (end > line + 1 && text_is_digit(end[-2]) && (end[-1] == 'k' || end[-1] == 'm'))
                factor = *--end == 'k' ? 1e3 : 1e6;
            for (start = end; start > line && (text_is_digit(start[-1]) || strchr(".,", start[-1]) != NULL);)
                start--;
            double v;
            if (end > start && text_number(&start, &v) && start == end && v > 0)
                return v * factor;
        }
    return NAN;
}

/* "(1015.39/gpu)": a card's share of the rate in front of it; NAN where nothing like it stands there. */
static double in_brackets_per_gpu(const char *p)
{
    double v;
    return *p == '(' && (p++, text_number(&p, &v)) && text_starts(p, "/gpu)") ? v : NAN;
}

static void take_rates(struct log *l, const char *line)
{
    const char *rest = "";
    struct iteration_stats *s = l->stats;
    if (text_seek(line, "generation throughput") != NULL ||
        text_seek(line, "gen throughput") != NULL) /* of a service */
        return;
    double v = figure(line,
                      WORDS("tps", "tokens_per_second_per_gpu", "tokens per second per gpu", "tokens_per_sec_per_gpu",
                            "tokens/sec/gpu", "tokens/s/gpu", "tokens/s/device", "tokens/gpu/second)", "tgs",
                            "tokens per gpu per second", "tokens_per_gpu_per_second_tgs", "token per gpu per sec",
                            "device/tokens_per_sec", "device/tokens_per_second", "throughput/device/tps",
                            "interval_tokens_per_second_per_device", "train_per_sec_per_gpu"),
                      &rest);
    v = thousands(v, rest);
    if (!isfinite(v))
        v = rate_before(line, WORDS("tokens/s/gpu", "tokens/sec/gpu", "tok/s/gpu", "tokens/s/device"));
    double share = in_brackets_per_gpu(rest);
    if (isfinite(share)) /* "tps 8123.10(1015.39/gpu)": the first is of all */
        keep(&s->tokens_per_s, v);
    keep(&s->tokens_per_s_per_gpu, isfinite(share) ? share : v);
    bool per_card = isfinite(v);
    rest = "";
    v = figure(line,
               WORDS("tokens per second", "tokens_per_second", "train_tokens_per_second", "tokens_per_sec",
                     "tokens/sec", "tokens/s", "tok/sec", "tok/s"),
               &rest);
    v = thousands(v, rest);
    v = isfinite(v) ? v : rate_before(line, WORDS("tokens/s", "tok/s"));
    if (!per_card || v > s->tokens_per_s_per_gpu) /* "device/tokens_per_second" has the words of both */
        keep(&s->tokens_per_s, v);
    if (text_seek(line, "'throughput'") != NULL && text_seek(line, "'loss'") != NULL) /* LLaMA-Factory: tokens */
        keep(&s->tokens_per_s, figure(line, WORDS("throughput"), &rest));
    v = figure(line,
               WORDS("runningavgsamplespersec", "samples per second", "samples_per_second", "samples/sec", "samples/s",
                     "train_samples_per_second", "interval_samples_per_second", "throughput/samples_per_sec",
                     "images/sec", "examples/sec", "img/s", "imgs/s", "images/s"),
               &rest);
    if (text_seek_word(line, "total img/sec on") != NULL) /* Horovod: "on 8 GPU(s): 2487.2" */
        v = figure(line, WORDS("gpu(s)"), &rest);
    v = isfinite(v) ? v
                    : rate_before(line, WORDS("samples/s", "sample/s", "sample_per_s", "sequences/s", "examples/s",
                                              "images/s", "img/s", "imgs/s"));
    keep(&s->samples_per_s, v);
}

/* "    1/100      5.21G     1.203 ...": the second column of YOLO's rows, below its heading "Epoch  GPU_mem  ...". */
static const char *yolo_memory(const char *line)
{
    const char *p = text_skip_blanks(line), *column;
    int epoch, epochs;
    double v;
    if (!text_int(&p, &epoch) || *p++ != '/' || !text_int(&p, &epochs) || epoch > epochs || !text_is_blank(*p))
        return NULL;
    p = column = text_skip_blanks(p);
    return text_number(&p, &v) && *p == 'g' && text_is_blank(p[1]) ? column : NULL;
}

/* A word of every day names a log's memory only in a line of its steps. */
static bool of_training(const char *line)
{
    double step, of;
    return text_seek(line, "loss") != NULL || text_seek(line, "epoch") != NULL || log_step_of(line, &step, &of) >= 0;
}

static void take_memory(struct log *l, const char *line)
{
    const char *rest = "";
    struct iteration_stats *s = l->stats;
    double v = figure(line,
                      WORDS("maxmemallocated", "max_mem", "max mem", "max memory", "peak memory",
                            "peak reserved memory", "peak_memory_active", "peak_memory_usage", "peak_memory",
                            "peak_allocated_mem", "peak_mem", "max_memory_allocated", "max cuda memory usage",
                            "gpu memory usage while training", "memory(gib)'", "memory(gib)"),
                      &rest);
    if (!isfinite(v) && of_training(line))
        v = figure(line, WORDS("memory usage", "memory", "mem"), &rest);
    if (text_seek(line, "platform") != NULL && text_seek(line, "max memory:") != NULL)
        return; /* Unsloth's greeting: how much the card has */
    const char *column = yolo_memory(line);
    if (column != NULL && text_number(&column, &v))
        rest = column;
    if (text_seek(line, "memory: usage:") != NULL) /* FunASR */
        v = figure(line, WORDS("peak"), &rest);
    if (text_seek(line, "memory (mb) |") != NULL) { /* Megatron's report after the first iterations */
        v = figure(line, WORDS("max allocated"), &rest);
        rest = "mb";
    }
    if (!isfinite(v))
        return;
    double gb = memory_gb(v, rest);
    s->peak_memory_gb = s->peak_memory_gb >= gb ? s->peak_memory_gb : gb;
}

/* "1.05M" is rounded (and mostly counts tokens): no batch to reckon with. */
static bool whole(double v, const char *rest)
{
    return v >= 1 && v < 1e9 && v == floor(v) && !text_is_alnum(*text_skip_blanks(rest));
}

static void take_batch(struct log *l, const char *line)
{
    const char *rest = "";
    double batch = figure(line,
                          WORDS("global batch size", "global_batch_size", "total train batch size",
                                "total_train_batch_size", "total batch size", "train_batch_size"),
                          &rest);
    if (whole(batch, text_starts(text_skip_blanks(rest), "total") ? "" : rest))
        l->stats->global_batch = (int)batch;
    double ranks = figure(line, WORDS("world_size", "world size", "num gpus"), &rest);
    if (whole(ranks, rest) && ranks < 1e6)
        l->stats->world_size = (int)ranks;
    double seq = figure(
        line, WORDS("actual seqlen", "actual_seqlen", "seq_length", "seq_len", "max_seq_length", "cutoff_len"), &rest);
    if (whole(seq, rest))
        l->stats->seq_len = (int)seq;
}

/* Waiting for data beside the whole time it is part of. */
static void take_wait(struct log *l, const char *line, int rank)
{
    const char *rest = "";
    double data = figure(
        line, WORDS("data_time", "train.data_time", "reader_cost", "avg_reader_cost", "data_cost", "data_load", "data"),
        &rest);
    double time = figure(line, WORDS("time", "batch (t)", "total_time", "batch_cost", "avg_batch_cost"), &rest);
    if (!isfinite(time)) /* printed without the waiting */
        time = data + figure(line, WORDS("train.compute_time"), &rest);
    if (!isfinite(data) || !isfinite(time) || data > time)
        return;
    struct log_wait *w = arena_push(l->arena, &l->waits);
    if (w != NULL)
        *w = (struct log_wait){.data_s = data, .time_s = time, .rank = rank};
}

/* "|  run_training_batch  |  0.0512  |  500  | ...": mean seconds and calls, as Lightning's SimpleProfiler prints them.
 */
static void take_profile(struct log *l, const char *line)
{
    static const char *const waits[] = {"train_dataloader_next", "get_train_batch"};
    const char *p = text_seek(line, "run_training_batch");
    double *to = &l->profile_batch_s, mean, calls;
    for (size_t i = 0; i < sizeof waits / sizeof *waits && p == NULL; i++) {
        p = text_seek(line, waits[i]);
        to = &l->profile_wait_s;
    }
    p = p != NULL ? strchr(p, '|') : NULL;
    if (p == NULL)
        return;
    p = text_skip_blanks(p + 1);
    if (!text_number(&p, &mean) || *(p = text_skip_blanks(p)) != '|')
        return;
    p = text_skip_blanks(p + 1);
    if (text_number(&p, &calls) && calls >= 1) {
        *to = mean;
        l->profile_calls = calls;
    }
}

void log_take_figures(struct log *l, const char *line, int rank)
{
    take_rates(l, line);
    take_memory(l, line);
    take_batch(l, line);
    take_wait(l, line, rank);
    take_profile(l, line);
}
