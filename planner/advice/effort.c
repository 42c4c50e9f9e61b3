/* effort.c — see effort.h. Fitted to what the plans of the examples and the plans made of them take. */
#include "planner/advice/effort.h"

enum {
    LEAST = 30,
    RECKONED = 1,
    ASKED = 1, /* a shape, whoever estimated it */
    SIZED = 18,
    PAID = 6, /* a service on a machine, to the end of its months */
    ANSWERED = 5,
    SAMPLED = 10,
    SAID = 80 /* an option with its launch, its checklist and its bytes */
};

/* Twice what one search costs for each doubling of the cards: all the ways to cut and to share, more where readings
 * correct each. */
static int of_search(const struct build *b)
{
    enum { SHORT = 2, ADAPTER = 3, FULL = 7, MEASURED = 17 };
    switch (b->training.method) {
    case METHOD_EMBEDDING:
    case METHOD_CUSTOM:
        return SHORT;
    case METHOD_LORA:
    case METHOD_QLORA:
        return ADAPTER;
    case METHOD_UNSTATED:
    case METHOD_PRETRAIN:
    case METHOD_FULL_FINETUNE:
        break;
    }
    return b->workload->model.flops_per_sample > 0 ? SHORT : b->workload->measured.stated ? MEASURED : FULL;
}

int effort_of_contest(const struct build *b, int searched)
{
    return LEAST + RECKONED * b->n_reckoned + ASKED * b->n_physics + of_search(b) * searched / 2 + SIZED * b->n_sized +
           PAID * b->n_sizings + ANSWERED * b->n_answered + SAMPLED * b->n_sampled;
}

int effort_of_plan(const struct build *b, int searched)
{
    return effort_of_contest(b, searched) + SAID * b->n_answered + b->n_replanned;
}
