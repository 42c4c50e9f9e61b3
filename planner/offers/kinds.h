/* kinds.h — the four kinds of supply, each built where the request wants it. */
#ifndef SUANPAN_PLANNER_OFFERS_KINDS_H
#define SUANPAN_PLANNER_OFFERS_KINDS_H

#include "planner/drafting/build.h"

/* Each appends drafts to *out or refuses (build_refuse). 0 even when nothing works; -1 only for errors: ERR_NOMEM, or
 * what build_stops says of physics. */
int option_single_build(struct build *b, struct option_list *out, struct err *err);
int option_cluster_build(struct build *b, struct option_list *out, struct err *err);
int option_hybrid_build(struct build *b, struct option_list *out, struct err *err);
int option_university_build(struct build *b, struct option_list *out, struct err *err);

/* Appends options of the kinds in the mask (1 << enum option_kind) that the request wants. */
int kinds_build(struct build *b, unsigned kinds, struct option_list *out, struct err *err);

#endif
