/* log_times.c — where frameworks print how long an iteration took, as one table.
 *
 * A figure is known by the words before it (or, "0.013 sec/batch", behind it). Its unit is the one printed with it,
 * in brackets before or in letters behind, else the key's own.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/log.h"
#include "planner/diagnosis/text.h"

#define S 1.0
#define MS 1e-3
#define LONGEST_S 1e6 /* an iteration of over eleven days is a misreading */

enum form {
    AFTER,       /* "iter_time: 1.2" */
    AFTER_UNIT,  /* "time 6708.79ms": only with a unit, the word alone is too common */
    METER,       /* "Time 0.450 (0.230)": this one and, in brackets, the running mean */
    BEFORE,      /* "0.013 sec/batch" */
    RATE_BEFORE, /* "14.19it/s" */
    RATE,        /* "steps_per_second: 0.5" */
    PER_STEP,    /* "0.45s per step": the unit says it (log_per_step.c) */
    STEP_RATE,   /* "2.5 steps/s" */
    LONE,        /* "| 0.45s |": the one duration that stands alone */
    NUMBERED,    /* "step 12: 980ms": right behind the step's number, with its unit */
    PARTS        /* "time (ms) | fwd: 401.2 | bwd: 603.1 | step: 95.0": the sum */
};

enum trust {
    EXACT,
    PROSE,   /* a word of every day: only where it comes this often */
    PARTLY,  /* the device's part of it, nothing of the waiting in between: only where there is nothing better */
    SMOOTHED /* a running mean over the run so far */
};
#define PROSE_AT_LEAST 3

/* Of two figures printed equally often the earlier in this table counts. */
static const struct key {
    const char *word;
    enum form form;
    double unit_s;
    const char *with; /* must be in the line, too, one of them ("step|iter"); NULL = nothing */
    enum trust trust;
} KEYS[] = {
    {"e2e latency", AFTER, S, NULL, EXACT},                    /* DeepSpeed-Chat, third step */
    {"latency:", AFTER, S, "samples/sec", EXACT},              /* and the first two */
    {"elapsed_time_per_iteration_ms", AFTER, MS, NULL, EXACT}, /* Nanotron */
    {"elapsed time per iteration", AFTER, MS, NULL, EXACT},    /* Megatron-LM */
    {"train_time", AFTER, S, "forward_time", EXACT},           /* ESPnet, whose iter_time is the wait for data */
    {"train_time", AFTER_UNIT, S, "step_avg", EXACT},          /* modded-nanogpt: since the start */
    {"current step time", AFTER, S, NULL, EXACT},              /* fms-fsdp, beside its overall mean */
    {"elapsed_time_per_iteration", AFTER, S, NULL, EXACT},     /* ms-swift over Megatron */
    {"batch (t)", AFTER, S, "data (t)", EXACT},                /* open_clip */
    {"time_this_iter_s", AFTER, S, NULL, EXACT},               /* RLlib */
    {"total_time", AFTER, S, "forward_time", EXACT},           /* FunASR */
    {"iter time", AFTER, S, NULL, EXACT},                      /* DeepSpeed pipelines, LitGPT */
    {"iter_time", AFTER, S, NULL, EXACT},                      /* DLLogger */
    {"train_iter_time", AFTER, S, NULL, EXACT},
    {"iteration_time", AFTER, S, NULL, EXACT},
    {"iteration time", AFTER, S, NULL, EXACT},
    {"time per iteration", AFTER, S, NULL, EXACT},
    {"time_per_iter", AFTER, S, NULL, EXACT},
    {"per step time", AFTER, MS, NULL, EXACT}, /* MindSpore */
    {"per_step_time", AFTER, MS, NULL, EXACT}, /* MindFormers */
    {"step_time_ms", AFTER, MS, NULL, EXACT},
    {"iter_time_ms", AFTER, MS, NULL, EXACT},
    {"iteration_time_ms", AFTER, MS, NULL, EXACT},
    {"step_time_s", AFTER, S, NULL, EXACT},
    {"step_time", AFTER, S, NULL, EXACT},
    {"step time", AFTER, S, NULL, EXACT},
    {"time_per_step", AFTER, S, NULL, EXACT}, /* verl */
    {"time per step", AFTER, S, NULL, EXACT},
    {"time/step", AFTER, S, NULL, EXACT},
    {"timing_s/step", AFTER, S, NULL, EXACT},
    {"train_step_timing", AFTER, S, NULL, EXACT}, /* NeMo */
    {"batch_cost", AFTER, S, NULL, EXACT},        /* Paddle */
    {"avg_batch_cost", AFTER, S, NULL, EXACT},
    {"batch_time", AFTER, S, NULL, EXACT},
    {"batch time", AFTER, S, NULL, EXACT},
    {"seconds", AFTER, S, "completed step", EXACT}, /* MaxText */
    {"time", METER, S, NULL, EXACT},                /* PyTorch examples, DeepLearningExamples */
    {"time:", AFTER, S, "iter", EXACT},             /* mmengine, Detectron2 */
    {"time:", AFTER, S, "data_time", EXACT},
    {"time:", AFTER, S, "eta", EXACT},        /* mmcv, DeiT and MAE */
    {"time:", AFTER_UNIT, S, "data:", EXACT}, /* timm */
    {"\"time\"", AFTER, S, "iter", EXACT},    /* mmengine's JSON */
    {"\"time\"", AFTER, S, "step", EXACT},
    {"time", AFTER_UNIT, S, "iter", EXACT}, /* nanoGPT */
    {"time", AFTER_UNIT, S, "step", EXACT},
    {"time:", AFTER, S, "loss:", PROSE},           /* BMTrain and many loops of one's own */
    {"ms", BEFORE, MS, "tok/s", EXACT},            /* llm.c */
    {"dt", AFTER_UNIT, S, NULL, EXACT},            /* build-nanogpt, llm.c */
    {"train.compute_time", AFTER, S, NULL, EXACT}, /* DeepLearningExamples, ResNet */
    {"ms/batch", AFTER, MS, NULL, EXACT},          /* Transformer-XL, word_language_model */
    {"s/batch", AFTER, S, NULL, EXACT},
    {"sec/batch", AFTER, S, NULL, EXACT},
    {"ms/step", AFTER, MS, NULL, EXACT},
    {"ms/step", BEFORE, MS, NULL, EXACT}, /* Keras */
    {"s/step", BEFORE, S, NULL, EXACT},
    {"sec/step", BEFORE, S, NULL, EXACT},
    {"s/it", BEFORE, S, "grad norm", EXACT}, /* Tacotron 2 */
    {"seconds", BEFORE, S, "images", EXACT}, /* Darknet */
    {"sec/batch", BEFORE, S, NULL, EXACT},   /* TensorFlow tutorials */
    {"s/batch", BEFORE, S, NULL, EXACT},
    {"ms/batch", BEFORE, MS, NULL, EXACT},
    {"sec/iter", BEFORE, S, NULL, EXACT},
    {"s/iter", BEFORE, S, NULL, EXACT},
    {"ms/iter", BEFORE, MS, NULL, EXACT},
    {"time (ms) |", PARTS, MS, "bwd:", PARTLY}, /* DeepSpeed's wall clock breakdown */
    {"time (ms) |", PARTS, MS, "backward:", PARTLY},
    {"单步耗时", AFTER, S, NULL, EXACT},
    {"每步耗时", AFTER, S, NULL, EXACT},
    {"步耗时", AFTER, S, NULL, EXACT},
    {"迭代耗时", AFTER, S, NULL, EXACT},
    {"迭代时间", AFTER, S, NULL, EXACT},
    {"耗时", AFTER_UNIT, S, NULL, PROSE},
    {"用时", AFTER_UNIT, S, NULL, PROSE},
    {"step", NUMBERED, S, NULL, PROSE}, /* loops of one's own */
    {"iter", NUMBERED, S, NULL, PROSE},
    {"iteration", NUMBERED, S, NULL, PROSE},
    {"第", NUMBERED, S, NULL, PROSE},
    {"total", AFTER_UNIT, S, "fwd|forward", EXACT},
    {"train_step_time", AFTER, S, NULL, EXACT},
    {"step_duration", AFTER, S, NULL, EXACT},
    {"iter_duration", AFTER, S, NULL, EXACT},
    {"iteration_duration", AFTER, S, NULL, EXACT},
    {"batch_duration", AFTER, S, NULL, EXACT},
    {"it_time", AFTER, S, NULL, EXACT},
    {"time/iter", AFTER, S, NULL, EXACT},
    {"time/batch", AFTER_UNIT, S, NULL, EXACT},
    {"time per batch", AFTER, S, NULL, EXACT},
    {"time_per_batch", AFTER, S, NULL, EXACT},
    {"per step", PER_STEP, S, NULL, EXACT},
    {"steps a second", STEP_RATE, S, NULL, EXACT},
    {"单步时间", AFTER, S, NULL, EXACT},
    {"每步", AFTER_UNIT, S, NULL, EXACT},
    {"时间", AFTER_UNIT, S, "迭代|步|step|iter|batch", PROSE},
    {"done in", AFTER_UNIT, S, "step|iter|batch", PROSE},
    {"completed in", AFTER_UNIT, S, "step|iter|batch", PROSE},
    {"finished in", AFTER_UNIT, S, "step|iter|batch", PROSE},
    {"alone", LONE, S, "loss", PROSE},
    {"total_time", AFTER_UNIT, S, NULL, PROSE},
    {"time used", AFTER_UNIT, S, NULL, PROSE},
    {"cost_time", AFTER, S, "step", PROSE},
    {"cost", AFTER_UNIT, S, "step", PROSE},
    {"sec)", BEFORE, S, "loss", PROSE},
    {"took", AFTER_UNIT, S, "step|iter|batch", PROSE},
    {"elapsed", AFTER_UNIT, S, "step|iter|batch", PROSE},
    {"duration_ms", AFTER, MS, "step", PROSE},
    {"duration", AFTER_UNIT, S, "step", PROSE},
    {"interval_steps_per_second", RATE, S, NULL, EXACT},  /* PaddleNLP */
    {"throughput/batches_per_sec", RATE, S, NULL, EXACT}, /* Composer, whose device/... is a card's share of it */
    {"device/batches_per_second", RATE, S, NULL, EXACT},  /* OLMo */
    {"speed:", RATE, S, "step/s", EXACT},                 /* Paddle's examples */
    {"speed:", RATE, S, "steps/s", EXACT},
    {"global_step/sec", RATE, S, NULL, EXACT}, /* TensorFlow estimators */
    {"steps_per_second", RATE, S, NULL, EXACT},
    {"steps_per_sec", RATE, S, NULL, EXACT},
    {"steps/sec", RATE, S, NULL, EXACT},
    {"iters/sec", RATE, S, NULL, EXACT},
    {"ups", RATE, S, "wps", EXACT},           /* fairseq */
    {"it/s", RATE_BEFORE, S, NULL, SMOOTHED}, /* bars without elapsed time */
    {"s/it", BEFORE, S, NULL, SMOOTHED},
    {"train_speed(s/it)", AFTER, S, NULL, SMOOTHED}, /* ms-swift */
    {"train_speed(iter/s)", RATE, S, NULL, SMOOTHED},
    {"train_steps_per_second", RATE, S, NULL, SMOOTHED}, /* Hugging Face Trainer, at the end */
};

size_t log_key_count(void)
{
    return sizeof KEYS / sizeof *KEYS;
}

size_t log_key_at_least(int key)
{
    return KEYS[key].trust == PROSE ? PROSE_AT_LEAST : 1;
}

enum log_rank log_key_rank(int key)
{
    return KEYS[key].trust == SMOOTHED ? LOG_SMOOTHED : KEYS[key].trust == PARTLY ? LOG_PARTLY : LOG_EXACT;
}

int log_key_named(const char *name, size_t n, double *ret_unit_s)
{
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        size_t width = strlen(KEYS[i].word);
        if (KEYS[i].form != AFTER || KEYS[i].trust != EXACT || KEYS[i].with != NULL || width > n ||
            !text_starts(name, KEYS[i].word))
            continue;
        const char *rest = name + width, *end = name + n;
        while (rest < end && (text_is_blank(*rest) || strchr("_([/", *rest) != NULL))
            rest++;
        size_t left = (size_t)(end - rest);
        *ret_unit_s = KEYS[i].unit_s;
        if (left == 0)
            return (int)i;
        double unit = log_unit_at(rest);
        if (unit > 0 && left <= strlen("seconds)")) {
            *ret_unit_s = unit;
            return (int)i;
        }
    }
    return -1;
}

/* What people put between a word and its number: its length, 0 for none. */
static size_t filler(const char *p)
{
    static const char *const words[] = {"约", "大约", "为", "是", "about ", "~", "≈"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text_starts(p, words[i]))
            return strlen(words[i]);
    return 0;
}

/* From behind the word to its number: blanks, quotes, colons, "(ms)", "in s". The unit named on the way. */
static const char *to_number(const char *p, double *unit)
{
    for (int steps = 0; steps < 40; steps++) {
        if (*p == '(' || *p == '[') {
            double named = log_unit_at(p + 1);
            const char *close = strpbrk(p, ")]");
            if (named <= 0 || close == NULL || close - p > 14)
                return *p == '[' ? p + 1 : NULL;
            *unit = named;
            p = close + 1;
        } else if (text_starts(p, " in ") && log_unit_at(p + 4) > 0) {
            *unit = log_unit_at(p + 4);
            p += strcspn(p + 4, ":= ") + 4;
        } else if (filler(p) > 0) {
            p += filler(p);
        } else if (*p == ' ' || *p == '\t' || *p == '"' || *p == '\'' || *p == ':' || *p == '=')
            p++;
        else
            return p;
    }
    return NULL;
}

/* "2m 30s", "1h 2m" at p; NAN where it is one number and one unit. */
static double duration_at(const char *p)
{
    const char *q = p;
    double v, s;
    if (!text_number(&q, &v) || (*text_skip_blanks(q) != 'm' && *text_skip_blanks(q) != 'h'))
        return NAN;
    for (q = text_skip_blanks(q); *q >= 'a' && *q <= 'z'; q++)
        ;
    return text_is_digit(*text_skip_blanks(q)) && text_duration(&p, &s) ? s : NAN;
}

/* The time at the number behind a key's word; NAN when there is none. */
static double value_after(const struct key *k, const char *p)
{
    double unit = 0, v;
    if (*p == '_' && strpbrk(k->word, "_ ") != NULL && log_unit_at(p + 1) > 0) { /* "iter_duration_ms=450" */
        unit = log_unit_at(p + 1);
        p += 1 + strcspn(p + 1, ":= \t\"'");
    }
    p = to_number(p, &unit);
    if (p != NULL && k->form == AFTER_UNIT && isfinite(duration_at(p)))
        return duration_at(p);
    if (p == NULL || !text_number(&p, &v) || (*p == ':' && text_is_digit(p[1]))) /* 12:30 is a time of day */
        return NAN;
    if (*p == 'k' && !text_is_alnum(p[1])) { /* "1.21k": Nanotron shortens milliseconds, too */
        v *= 1000;
        p++;
    }
    const char *behind = text_skip_blanks(p);
    double printed = log_unit_at(behind) > 0 ? log_unit_at(behind) : unit; /* behind the number, or named before it */
    unit = k->unit_s;
    switch (k->form) {
    case RATE:
        return v > 0 ? 1 / v : NAN;
    case METER:
        if (printed > 0)
            behind = text_skip_blanks(behind + strspn(behind, "msecond"));
        return *behind == '(' && (text_is_digit(*text_skip_blanks(behind + 1))) ? v * (printed > 0 ? printed : unit)
                                                                                : NAN;
    case AFTER_UNIT:
        return printed > 0 ? v * printed : NAN;
    case AFTER:
    case BEFORE:
    case PER_STEP:
    case STEP_RATE:
    case LONE:
    case NUMBERED:
    case PARTS:
    case RATE_BEFORE:
        break;
    }
    return v * (printed > 0 ? printed : unit);
}

/* "step 12: 980ms", "第 3 步：1.2 秒"; `p` is behind the word. */
static double value_numbered(const char *p)
{
    static const char *const said[] = {"步", "次迭代", "次"};
    int step, steps;
    double v;
    p = text_skip_blanks(p);
    if (!text_int(&p, &step) || (*p == '/' && (p++, !text_int(&p, &steps))))
        return NAN;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (text_starts(text_skip_blanks(p), said[i]))
            p = text_skip_blanks(p) + strlen(said[i]);
    if (!text_is_blank(*p) && *p != ':' && *p != ',' && *p != '=')
        return NAN;
    p += strspn(p, " \t:,=-");
    if (isfinite(duration_at(p)))
        return duration_at(p);
    return text_number(&p, &v) && log_unit_at(text_skip_blanks(p)) > 0 ? v * log_unit_at(text_skip_blanks(p)) : NAN;
}

/* "0.013 sec/batch", "120ms/step": the number that ends where the unit begins. */
static double value_before(const struct key *k, const char *line, const char *word)
{
    const char *end = word, *start = text_digits_before(line, &end);
    double v;
    const char *named = start;
    while (named > line && text_is_blank(named[-1]))
        named--;
    bool part = strcmp(k->word, "ms") == 0 && named > line && text_is_alnum(named[-1]); /* "fwd 120.1 ms" */
    if (part || text_is_alnum(word[strlen(k->word)])) /* "s/it" is no beginning of "s/iter" */
        return NAN;
    if (start == end || (start > line && text_is_alnum(start[-1])) || !text_number(&start, &v) || start != end)
        return NAN;
    return k->form == RATE_BEFORE ? 1 / v : v * k->unit_s;
}

/* Forward, backward and the optimizer's step, each behind its own name. */
static double value_of_parts(const struct key *k, const char *line)
{
    static const char *const parts[][2] = {{"fwd:", "forward:"}, {"bwd:", "backward:"}, {"step:", "optimizer:"}};
    double sum = 0, v;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *p = text_seek_word(line, parts[i][0]);
        if (p == NULL)
            p = text_seek_word(line, parts[i][1]);
        if (p == NULL)
            return NAN;
        p = text_skip_blanks(strchr(p, ':') + 1);
        if (!text_number(&p, &v))
            return NAN;
        sum += v * k->unit_s;
    }
    return sum;
}

static bool stands_before(const struct key *k)
{
    return k->form == BEFORE || k->form == RATE_BEFORE;
}

/* "overall step time", "avg step time" beside the step's own: a mean over the run so far. */
static bool is_of_run(const char *line, const char *word)
{
    static const char *const words[] = {"overall "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(word - line) >= n && strncmp(word - n, words[i], n) == 0)
            return true;
    }
    return false;
}

/* One of the words between the bars is in the line. */
static bool has_one(const char *line, const char *words)
{
    for (const char *p = words; *p != '\0'; p += p[0] == '|') {
        size_t n = strcspn(p, "|");
        for (const char *at = line; (at = strchr(at, *p)) != NULL; at++)
            if (strncmp(at, p, n) == 0)
                return true;
        p += n;
    }
    return false;
}

static double find_value(const struct key *k, const char *line)
{
    double own = k->form == PER_STEP    ? log_time_per_step(line)
                 : k->form == STEP_RATE ? log_time_of_rate(line)
                 : k->form == LONE      ? log_lone_time(line)
                                        : NAN;
    if (k->form == PER_STEP || k->form == STEP_RATE || k->form == LONE)
        return own > 0 && own < LONGEST_S ? own : NAN;
    if (k->form == PARTS) {
        const char *at = text_seek(line, k->word);
        return at != NULL ? value_of_parts(k, at + strlen(k->word)) : NAN;
    }
    for (const char *p = line;; p++) {
        p = stands_before(k) ? text_seek(p, k->word) : text_seek_word(p, k->word);
        if (p == NULL)
            return NAN;
        if (!stands_before(k) && is_of_run(line, p))
            continue;
        const char *behind = p + strlen(k->word);
        double v = stands_before(k)      ? value_before(k, line, p)
                   : k->form == NUMBERED ? value_numbered(behind)
                                         : value_after(k, behind);
        if (isfinite(v) && v > 0 && v < LONGEST_S)
            return v;
    }
}

void log_take_times(struct log *l, const char *line, int rank)
{
    double step = NAN, of;
    log_step_of(line, &step, &of);
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        if (KEYS[i].with != NULL && !has_one(line, KEYS[i].with))
            continue;
        double v = find_value(&KEYS[i], line);
        if (!isfinite(v))
            continue;
        struct log_time *t = arena_push(l->arena, &l->times);
        if (t != NULL)
            *t =
                (struct log_time){.key = (int)i, .value_s = v, .step = step, .rank = rank, .after_pause = l->saw_pause};
    }
}
