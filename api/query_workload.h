/* query_workload.h — a whole plan request in the query of a GET, for spreadsheets.
 *
 * Short aliases ("p=70&m=lora&tok=2e9&dl=2027-01-31&bud=200000") and, for everything else, the dotted path of the
 * member ("training.seq_len=4096", "constraints.team=slurm").
 */
#ifndef SUANPAN_API_QUERY_WORKLOAD_H
#define SUANPAN_API_QUERY_WORKLOAD_H

#include "api/jspec.h"
#include "api/route.h"

struct query_alias {
    const char *alias, *path; /* "p" -> "model.params_b" */
};
extern const struct query_alias query_aliases[];
extern const size_t query_aliases_n;

/* Parameters that shape the answer and not the request: format, bom, headers, cols, t. */
bool query_is_presentation(const char *name);

/* The object that POST would have got; NULL when out of memory. Faults name the parameter. The caller decrefs. */
json_t *query_workload(struct decode *d, const struct query *q);

/* Replaces the pointers of d->faults from `from` on by the parameter that set the place, where one did. */
void query_name_parameters(struct decode *d, const struct query *q, size_t from);

#endif
