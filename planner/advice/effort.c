/* effort.c — see effort.h. Fitted to what the plans of the examples and of tests/bench/requests.jsonl, and the plans
 * made of them, take. */
#include "planner/advice/effort.h"

enum {
    LOOKED_UP_A_UNIT = 2,
    LEAST = 25,
    TWICE_RECKONED = 3,
    WEIGHED = 1,        /* more for a cut of a hybrid: it has two ends */
    FIRST_RECKONED = 1, /* more for a plan, which looks at every price for the first time */
    SIZED = 1,
    MEASURED = 2, /* a replica, for a load */
    PAID = 3,     /* a service on a machine, to the end of its months */
    ANSWERED = 4,
    SAMPLED = 13,
    SWEPT = 25,   /* turning points looked for, before any plan is made for them */
    STARTED = 90, /* a request read, an answer begun */
    SAID = 50     /* an option with its launch, its checklist and its bytes */
};

int effort_most(const struct build *b)
{
    return (int)b->a.plan_effort;
}

int effort_most_turning(const struct build *b)
{
    enum { OF_TWENTY = 21 };
    return effort_most(b) * OF_TWENTY / 20;
}

enum { SEARCHED_A_UNIT = 8 };

int effort_of_search(int searched)
{
    return searched / SEARCHED_A_UNIT;
}

int effort_buys_search(int effort)
{
    return effort * SEARCHED_A_UNIT;
}

int effort_of_reserve(const struct build *b)
{
    return b->n_looked_up / LOOKED_UP_A_UNIT + SIZED * b->n_sized + MEASURED * b->n_measured + PAID * b->n_sizings;
}

int effort_of_options(int drafts)
{
    return (ANSWERED + SAMPLED) * drafts;
}

int effort_of_contest(const struct build *b, int searched)
{
    return LEAST + TWICE_RECKONED * b->n_reckoned / 2 + WEIGHED * b->n_weighed + effort_of_search(searched) +
           effort_of_reserve(b) + ANSWERED * b->n_answered + SAMPLED * b->n_sampled;
}

/* Fitted to the far ends of every input of the examples: 15 to 140 microseconds each, 0.9 of them counted. */
int effort_of_near(const struct build *b, int searched)
{
    enum { LEAST_NEAR = 9, OF_EIGHT = 7 };
    const int all = LEAST_NEAR + b->n_reckoned + b->n_weighed + effort_of_search(searched) + effort_of_reserve(b) +
                    ANSWERED * b->n_answered + SAMPLED * b->n_sampled;
    return all * OF_EIGHT / 8;
}

int effort_of_plan(const struct build *b, int searched)
{
    return STARTED + effort_of_contest(b, searched) + FIRST_RECKONED * b->n_reckoned + SAID * b->n_answered +
           (b->scored_feasible ? SWEPT : 0) + b->n_replanned;
}
