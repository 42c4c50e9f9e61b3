/* encode_plan.h — a plan as JSON, as a flat table and as text for a terminal. */
#ifndef SUANPAN_API_ENCODE_PLAN_H
#define SUANPAN_API_ENCODE_PLAN_H

#include "api/decode.h"
#include "api/encode.h"

#define PLAN_ID_MAX 40

/* "pl_" + Crockford base32 of a hash over the request, as_of, catalog revision and engine version. */
void plan_id_of(const struct decoded_plan *in, const struct plan *p, char out[PLAN_ID_MAX]);

void encode_plan(struct encode *e, const struct decoded_plan *in, const struct plan *p);
void encode_option(struct encode *e, const struct option *o);
void encode_relaxations(struct encode *e, const struct relaxation_list *list);

/* Flat CSV: one row an option. `bom`: with a byte order mark (Excel needs one); `chinese`: headers for people. */
void encode_plan_csv(struct encode *e, const struct decoded_plan *in, const struct plan *p, bool bom, bool chinese);

/* The table of `suanpan plan FILE`: no line wider than 80 columns. */
void encode_plan_text(struct encode *e, const struct decoded_plan *in, const struct plan *p);

#endif
