/* params.h — every default and every fitted constant as data, never buried in code.
 *
 * Rows come from the tables `assumptions` and `calibration` (seed: db/seed/assumptions.csv, calibration_*.csv) with
 * evidence, source and date, and are shown by GET /api/v1/assumptions. Rooms bind the rows they need into a plain
 * struct of doubles once per catalog snapshot (param_bind), so that hot code reads fields and a missing row is an
 * error when the catalog is loaded, never a silent default.
 *
 * A row's key is name, then "/gpu_class/precision/class" for calibration rows where these are not empty, e.g.
 * "train.matmul_efficiency/hopper/fp8". Assumptions are plain names: "month_hours".
 */
#ifndef SUANPAN_PLANNER_CORE_PARAMS_H
#define SUANPAN_PLANNER_CORE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct param {
    const char *key; /* unique, as above */
    double value;
    double min, max; /* bounds for an override by a request */
    const char *unit;
    bool overridable;                                   /* may appear in workload.assumptions */
    const char *kind;                                   /* "assumption" or "calibration" */
    const char *gpu_class, *precision, *workload_class; /* calibration rows; "" where it does not apply */
    const char *evidence;
    const char *source;
    const char *source_date; /* "YYYY-MM-DD" or "YYYY-MM" or "" */
};

struct param_table {
    const struct param *rows; /* sorted by key (strcmp) */
    size_t n;
};

/* NULL when there is none. */
const struct param *param_find(const struct param_table *t, const char *key);

struct param_field {
    const char *key;
    size_t offset; /* offsetof a double */
};

#define PARAM_FIELD(type, member, key)                                                                                 \
    {                                                                                                                  \
        (key), offsetof(type, member)                                                                                  \
    }

/* Fills every field of *ret_struct; ERR_NOT_FOUND names the first missing key. */
int param_bind(const struct param_table *t, const struct param_field *fields, size_t n, void *ret_struct,
               struct err *err);

#endif
