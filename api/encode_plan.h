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

#define PLAN_COLUMNS_MAX 80
struct csv_form {
    bool bom;     /* Excel needs one */
    bool chinese; /* headers for people */
    bool some;    /* only the columns of `keep` */
    bool keep[PLAN_COLUMNS_MAX];
};
/* Reads "rank,gross_cny" into form->keep; NULL, or the first name that is no column. `currency` is the plan's. */
const char *plan_columns_select(struct csv_form *form, char *names, const char *currency);
/* Flat CSV: one row an option. */
void encode_plan_csv(struct encode *e, const struct decoded_plan *in, const struct plan *p,
                     const struct csv_form *form);

/* The table of `suanpan plan FILE`: no line wider than 80 columns. */
void encode_plan_text(struct encode *e, const struct decoded_plan *in, const struct plan *p);

#endif
