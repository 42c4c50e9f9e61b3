/* log_lines.c — which step a line of a training log is about, and which framework printed it. */
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

const char *log_framework(const char *line)
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
        {"d2.utils.events", "Detectron2"},
        {"training epoch ", "NeMo"},
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
