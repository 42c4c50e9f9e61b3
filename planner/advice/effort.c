/* effort.c — see effort.h. Fitted to what the plans of the examples and of tests/bench/requests.jsonl, and the plans
 * made of them, take. */
#include "planner/advice/effort.h"

enum {
    LEAST = 25,
    RECKONED = 2,
    SIZED = 10,
    PAID = 3, /* a service on a machine, to the end of its months */
    ANSWERED = 4,
    SAMPLED = 19,
    STARTED = 110, /* a request read, an answer begun */
    SAID = 45     /* an option with its launch, its checklist and its bytes */
};

/* Layouts that are tried in a microsecond: the few of adapters are all held against the card and timed, most of the
 * many others are outrun at once; readings correct each. */
static int layouts_a_unit(const struct build *b)
{
    enum { ADAPTER = 4, FULL = 7, MEASURED = 1 };
    switch (b->training.method) {
    case METHOD_EMBEDDING:
    case METHOD_CUSTOM:
    case METHOD_LORA:
    case METHOD_QLORA:
        return ADAPTER;
    case METHOD_UNSTATED:
    case METHOD_PRETRAIN:
    case METHOD_FULL_FINETUNE:
        break;
    }
    return b->workload->measured.stated ? MEASURED : FULL;
}

int effort_of_search(const struct build *b, int searched)
{
    return searched / layouts_a_unit(b);
}

int effort_buys_search(const struct build *b, int effort)
{
    return effort * layouts_a_unit(b);
}

int effort_of_reserve(const struct build *b)
{
    return SIZED * b->n_sized + PAID * b->n_sizings;
}

int effort_of_options(int drafts)
{
    return (ANSWERED + SAMPLED) * drafts;
}

int effort_of_contest(const struct build *b, int searched)
{
    return LEAST + RECKONED * b->n_reckoned + effort_of_search(b, searched) + effort_of_reserve(b) +
           ANSWERED * b->n_answered + SAMPLED * b->n_sampled;
}

int effort_of_plan(const struct build *b, int searched)
{
    return STARTED + effort_of_contest(b, searched) + SAID * b->n_answered + b->n_replanned;
}
