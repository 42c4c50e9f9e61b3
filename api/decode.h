/* decode.h — request bodies as the structs that planner/ works on. The tables are the contract of docs/api.md.
 *
 * A decode returns 0 with everything filled, or -1: either *err says why the bytes are no JSON (d->place, d->limit),
 * or d->faults holds every violation at once and err->code is ERR_NONE. Results live in d->arena and the catalog.
 */
#ifndef SUANPAN_API_DECODE_H
#define SUANPAN_API_DECODE_H

#include "api/jspec.h"
#include "planner/core/hardware.h"
#include "planner/core/note.h"
#include "planner/core/workload.h"

struct decoded_estimate {
    struct workload workload; /* checked, models completed */
    struct shape shape;
    bool has_layout;
    struct layout layout;
    struct operating_point at;
    bool trace;
    bool language_stated;
    struct note_list assumed; /* what completing the model took for granted */
};

struct decoded_plan {
    struct workload workload;
    date_t as_of;
    bool language_stated;
    struct note_list assumed;
    char *canonical; /* the workload with sorted members, for plan_id; in the arena */
};

/* Prepares a decode; `faults` is emptied. */
void decode_init(struct decode *d, const struct catalog *catalog, struct arena *arena, enum language language,
                 date_t today, struct fault_list *faults);

int decode_estimate_request(struct decode *d, const void *bytes, size_t len, struct decoded_estimate *ret,
                            struct err *err);
int decode_plan_request(struct decode *d, const void *bytes, size_t len, struct decoded_plan *ret, struct err *err);
/* The same from an object already made (GET with aliases, `suanpan plan FILE` with a bare workload). */
int decode_plan_object(struct decode *d, json_t *root, struct decoded_plan *ret, struct err *err);

/* ---- between the files of this folder ---------------------------------------------------------------------- */

/* Texts that people paste: members whose string may be long. */
extern const char *const decode_pasted[];

extern const struct jspec spec_workload, spec_model, spec_training, spec_layout, spec_measured, spec_serving,
    spec_operating_point, spec_constraints, spec_hardware, spec_inter_link, spec_estimate, spec_plan;

/* A model by preset, architecture or config.json; *ret_preset (may be NULL) gets the preset's name. */
void decode_model(struct decode *d, json_t *value, const char *pointer, struct model *ret, const char **ret_preset);
/* A GPU's id or alias, resolved; NULL and a fault when the catalog has none. */
const struct gpu *decode_gpu(struct decode *d, json_t *value, const char *pointer);
/* {"amount": "12.34", "currency": "CNY"} above zero. */
bool decode_money(struct decode *d, json_t *value, const char *pointer, int64_t *ret_minor, char ret_currency[4]);
bool decode_currency(struct decode *d, json_t *value, const char *pointer, char ret_currency[4]);
/* Puts faults [from, n) made by the planner's own checks into the decode's language. */
void decode_localise(struct decode *d, size_t from);

#endif
