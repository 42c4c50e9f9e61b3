/* effort.h — what planning has cost so far, counted rather than timed, so that the same request always gets the same
 * answer: about microseconds of one core.
 */
#ifndef SUANPAN_PLANNER_ADVICE_EFFORT_H
#define SUANPAN_PLANNER_ADVICE_EFFORT_H

#include "planner/drafting/build.h"

/* Of one contest: drafts reckoned, physics asked, what became an option. searched: what it added to build_searched. */
int effort_of_contest(const struct build *b, int searched);

/* Of a plan with the words of its options and the plans made of it. searched: by itself. */
int effort_of_plan(const struct build *b, int searched);

#endif
