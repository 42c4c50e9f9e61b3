/* effort.h — what planning has cost so far, counted rather than timed, so that the same request always gets the same
 * answer: about microseconds of one core.
 */
#ifndef SUANPAN_PLANNER_ADVICE_EFFORT_H
#define SUANPAN_PLANNER_ADVICE_EFFORT_H

#include "planner/drafting/build.h"

/* Of a whole plan (row plan_effort): what relaxations are held to. As it stands, three milliseconds less what is not
 * counted; a request may ask for more. */
int effort_most(const struct build *b);

/* Turning points come last, and a unit of their plans takes less than one of what precedes them: they may go a little
 * further. */
int effort_most_turning(const struct build *b);

/* Of one contest: drafts reckoned, physics asked, what became an option. searched: what it added to build_searched. */
int effort_of_contest(const struct build *b, int searched);

/* Of a contest of which only the first is asked, in a plan made of another with nearly everything at hand. */
int effort_of_near(const struct build *b, int searched);

/* Of a plan with the words of its options and the plans made of it. searched: by itself. */
int effort_of_plan(const struct build *b, int searched);

/* Of searching so much physics, and how much of it so much effort pays for. */
int effort_of_search(int searched);
int effort_buys_search(int effort);

/* Of sizing the service that follows, and of a draft that becomes an option whose spread is sampled. */
int effort_of_reserve(const struct build *b);
int effort_of_options(int drafts);

#endif
