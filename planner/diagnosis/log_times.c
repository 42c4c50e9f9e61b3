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
    AFTER,      /* "iter_time: 1.2" */
    AFTER_UNIT, /* "time 6708.79ms": only with a unit, the word alone is too common */
    METER,      /* "Time 0.450 (0.230)": this one and, in brackets, the running mean */
    BEFORE,     /* "0.013 sec/batch" */
    RATE_BEFORE, /* "14.19it/s" */
    RATE        /* "steps_per_second: 0.5" */
};

/* Of two figures printed equally often the earlier in this table counts. */
static const struct key {
    const char *word;
    enum form form;
    double unit_s;
    const char *with; /* must be in the line, too; NULL = nothing */
    bool smoothed;
} KEYS[] = {
    {"elapsed time per iteration", AFTER, MS, NULL, false},       /* Megatron-LM */
    {"iter time", AFTER, S, NULL, false},                         /* DeepSpeed pipelines, LitGPT */
    {"iter_time", AFTER, S, NULL, false},                         /* DLLogger */
    {"train_iter_time", AFTER, S, NULL, false},
    {"iteration_time", AFTER, S, NULL, false},
    {"iteration time", AFTER, S, NULL, false},
    {"time per iteration", AFTER, S, NULL, false},
    {"time_per_iter", AFTER, S, NULL, false},
    {"per step time", AFTER, MS, NULL, false},                    /* MindSpore */
    {"per_step_time", AFTER, MS, NULL, false},                    /* MindFormers */
    {"step_time_ms", AFTER, MS, NULL, false},
    {"step_time_s", AFTER, S, NULL, false},
    {"step_time", AFTER, S, NULL, false},
    {"step time", AFTER, S, NULL, false},
    {"time_per_step", AFTER, S, NULL, false},                     /* verl */
    {"time per step", AFTER, S, NULL, false},
    {"time/step", AFTER, S, NULL, false},
    {"timing_s/step", AFTER, S, NULL, false},
    {"train_step_timing", AFTER, S, NULL, false},                 /* NeMo */
    {"batch_cost", AFTER, S, NULL, false},                        /* Paddle */
    {"avg_batch_cost", AFTER, S, NULL, false},
    {"batch_time", AFTER, S, NULL, false},
    {"batch time", AFTER, S, NULL, false},
    {"seconds", AFTER, S, "completed step", false},               /* MaxText */
    {"time", METER, S, NULL, false},                              /* PyTorch examples, DeepLearningExamples */
    {"time:", AFTER, S, "iter", false},                           /* mmengine, Detectron2 */
    {"\"time\"", AFTER, S, "iter", false},                        /* mmengine's JSON */
    {"\"time\"", AFTER, S, "step", false},
    {"time", AFTER_UNIT, S, "iter", false},                       /* nanoGPT */
    {"time", AFTER_UNIT, S, "step", false},
    {"dt", AFTER_UNIT, S, NULL, false},                           /* build-nanogpt, llm.c */
    {"train.compute_time", AFTER, S, NULL, false},                /* DeepLearningExamples, ResNet */
    {"ms/batch", AFTER, MS, NULL, false},                         /* Transformer-XL, word_language_model */
    {"s/batch", AFTER, S, NULL, false},
    {"sec/batch", AFTER, S, NULL, false},
    {"ms/step", AFTER, MS, NULL, false},
    {"ms/step", BEFORE, MS, NULL, false},                         /* Keras */
    {"s/step", BEFORE, S, NULL, false},
    {"sec/step", BEFORE, S, NULL, false},
    {"sec/batch", BEFORE, S, NULL, false},                        /* TensorFlow tutorials */
    {"s/batch", BEFORE, S, NULL, false},
    {"ms/batch", BEFORE, MS, NULL, false},
    {"sec/iter", BEFORE, S, NULL, false},
    {"s/iter", BEFORE, S, NULL, false},
    {"ms/iter", BEFORE, MS, NULL, false},
    {"interval_steps_per_second", RATE, S, NULL, false},          /* PaddleNLP */
    {"batches_per_sec", RATE, S, NULL, false},                    /* Composer */
    {"global_step/sec", RATE, S, NULL, false},                    /* TensorFlow estimators */
    {"steps_per_second", RATE, S, NULL, false},
    {"steps_per_sec", RATE, S, NULL, false},
    {"steps/sec", RATE, S, NULL, false},
    {"iters/sec", RATE, S, NULL, false},
    {"ups", RATE, S, "wps", false},                               /* fairseq */
    {"it/s", RATE_BEFORE, S, NULL, true},                         /* bars without elapsed time */
    {"s/it", BEFORE, S, NULL, true},
    {"train_speed(s/it)", AFTER, S, NULL, true},                  /* ms-swift */
    {"train_speed(iter/s)", RATE, S, NULL, true},
    {"train_steps_per_second", RATE, S, NULL, true},              /* Hugging Face Trainer, at the end */
};

size_t log_key_count(void)
{
    return sizeof KEYS / sizeof *KEYS;
}

bool log_key_is_smoothed(int key)
{
    return KEYS[key].smoothed;
}

/* "ms", "s", "sec", "us" at p, and nothing more to the word: seconds; 0 when none. */
static double unit_at(const char *p)
{
    static const struct {
        const char *name;
        double s;
    } units[] = {{"milliseconds", MS}, {"seconds", S}, {"second", S}, {"secs", S}, {"sec", S}, {"msec", MS},
                 {"ms", MS},           {"us", 1e-6},   {"s", S}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (text_starts(p, units[i].name) && !text_is_alnum(p[strlen(units[i].name)]))
            return units[i].s;
    return 0;
}

/* From behind the word to its number: blanks, quotes, colons, "(ms)", "in s". The unit named on the way. */
static const char *to_number(const char *p, double *unit)
{
    for (int steps = 0; steps < 40; steps++) {
        if (*p == '(' || *p == '[') {
            double named = unit_at(p + 1);
            const char *close = strpbrk(p, ")]");
            if (named <= 0 || close == NULL || close - p > 14)
                return *p == '[' ? p + 1 : NULL;
            *unit = named;
            p = close + 1;
        } else if (text_starts(p, " in ") && unit_at(p + 4) > 0) {
            *unit = unit_at(p + 4);
            p += strcspn(p + 4, ":= ") + 4;
        } else if (*p == ' ' || *p == '\t' || *p == '"' || *p == '\'' || *p == ':' || *p == '=')
            p++;
        else
            return p;
    }
    return NULL;
}

/* The time at the number behind a key's word; NAN when there is none. */
static double value_after(const struct key *k, const char *p)
{
    double unit = k->unit_s, v;
    p = to_number(p, &unit);
    if (p == NULL || !text_number(&p, &v))
        return NAN;
    const char *behind = text_skip_blanks(p);
    double printed = unit_at(behind);
    switch (k->form) {
    case RATE: return v > 0 ? 1 / v : NAN;
    case METER:
        if (printed > 0)
            behind = text_skip_blanks(behind + strspn(behind, "msecond"));
        return *behind == '(' && (text_is_digit(*text_skip_blanks(behind + 1))) ? v * (printed > 0 ? printed : unit) : NAN;
    case AFTER_UNIT: return printed > 0 ? v * printed : NAN;
    case AFTER:
    case BEFORE:
    case RATE_BEFORE: break;
    }
    return v * (printed > 0 ? printed : unit);
}

/* "0.013 sec/batch", "120ms/step": the number that ends where the unit begins. */
static double value_before(const struct key *k, const char *line, const char *word)
{
    const char *end = word;
    while (end > line && text_is_blank(end[-1]))
        end--;
    const char *start = end;
    while (start > line && (text_is_digit(start[-1]) || start[-1] == '.'))
        start--;
    double v;
    if (text_is_alnum(word[strlen(k->word)])) /* "s/it" is no beginning of "s/iter" */
        return NAN;
    if (start == end || (start > line && text_is_alnum(start[-1])) || !text_number(&start, &v) || start != end)
        return NAN;
    return k->form == RATE_BEFORE ? 1 / v : v * k->unit_s;
}

static bool stands_before(const struct key *k)
{
    return k->form == BEFORE || k->form == RATE_BEFORE;
}

static double find_value(const struct key *k, const char *line)
{
    for (const char *p = line;; p++) {
        p = stands_before(k) ? text_seek(p, k->word) : text_seek_word(p, k->word);
        if (p == NULL)
            return NAN;
        double v = stands_before(k) ? value_before(k, line, p) : value_after(k, p + strlen(k->word));
        if (isfinite(v) && v > 0 && v < LONGEST_S)
            return v;
    }
}

void log_take_times(struct log *l, const char *line, int rank)
{
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        if (KEYS[i].with != NULL && text_seek(line, KEYS[i].with) == NULL)
            continue;
        double v = find_value(&KEYS[i], line);
        if (!isfinite(v))
            continue;
        struct log_time *t = arena_push(l->arena, &l->times);
        if (t != NULL)
            *t = (struct log_time){.key = (int)i, .value_s = v, .step = NAN, .rank = rank, .after_pause = l->saw_pause};
    }
}
