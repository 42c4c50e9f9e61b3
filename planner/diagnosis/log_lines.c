/* log_lines.c — which step a line of a training log is about, and which framework printed it. */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/log.h"
#include "planner/diagnosis/text.h"

static const char *const STEP_WORDS[] = {"global_step",   "iteration", "iter", "step", "steps",
                                         "current_steps", "batch",     "第",   "迭代", "total_steps"};

/* "step=450", "iteration       10/    1000", "Iter(train) [ 10/720]", "'step': 7": the whole number behind a word. */
static bool number_behind(const char *p, double *ret, double *ret_of)
{
    if (text_starts(p, "(train)"))
        p += strlen("(train)");
    for (int i = 0; i < 24 && (text_is_blank(*p) || strchr(":=\"'[", *p) != NULL) && *p != '\0'; i++)
        p++;
    int v, of;
    if (!text_int(&p, &v) || (*p == '.' && text_is_digit(p[1])) || text_is_alnum(*p))
        return false;
    *ret = v;
    *ret_of = *p == '/' && (p = text_skip_blanks(p + 1), text_int(&p, &of)) ? (double)of : (double)NAN;
    return true;
}

int log_step_of(const char *line, double *ret_step, double *ret_of)
{
    for (size_t i = 0; i < sizeof STEP_WORDS / sizeof *STEP_WORDS; i++)
        for (const char *p = line; (p = text_seek_word(p, STEP_WORDS[i])) != NULL;) {
            p += strlen(STEP_WORDS[i]);
            if (number_behind(p, ret_step, ret_of))
                return (int)i;
        }
    return -1;
}

void log_take_step(struct log *l, const char *line, int rank)
{
    double stamp, step, of;
    bool day_only;
    if (!text_stamp(line, &stamp, &day_only))
        return;
    int word = log_step_of(line, &step, &of);
    struct log_time *t = word >= 0 ? arena_push(l->arena, &l->steps) : NULL;
    if (t != NULL)
        *t = (struct log_time){.key = word,
                               .value_s = stamp,
                               .step = step,
                               .of = of,
                               .rank = rank,
                               .after_pause = l->saw_pause,
                               .day_only = day_only};
}

const char *log_framework(const char *line, bool *ret_below)
{
    static const struct {
        const char *sign, *name;
    } signs[] = {
        {"consumed tokens:", "Megatron-DeepSpeed"},
        {"elapsed_time_per_iteration_ms=", "Megatron-DeepSpeed"},
        {"elapsed time per iteration", "Megatron-LM"},
        {"elapsed_time_per_iteration_ms:", "Nanotron"},
        {"llamafactory", "LLaMA-Factory"},
        {"axolotl.", "Axolotl"},
        {"unsloth", "Unsloth"},
        {"mindformers[", "MindFormers"},
        {"colossalai", "Colossal-AI"},
        {"(tokens/gpu/second)", "InternLM"},
        {"train_inner", "fairseq"},
        {"logit scale:", "open_clip"},
        {"d2.utils.events", "Detectron2"},
        {"training epoch ", "NeMo"},
        {"[info:swift]", "ms-swift"},
        {"train_speed(", "ms-swift"},
        {"- mmengine -", "mmengine"},
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
    static const char *const below[] = {"samplespersec=", "[deepspeed", "log_dist] [rank", "train_batch] steps:"};
    *ret_below = false;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (text_seek(line, signs[i].sign) != NULL)
            return signs[i].name;
    if (text_starts(text_skip_blanks(line), "iter ") && text_seek(line, "mfu") != NULL)
        return "nanoGPT";
    if (text_seek(line, "tps:") != NULL && text_seek(line, "mfu:") != NULL)
        return "torchtitan";
    *ret_below = true;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        if (text_seek(line, below[i]) != NULL)
            return "DeepSpeed";
    return NULL;
}
