/* readings.h — samples of pasted readings with what a correct reader finds in them (index.jsonl beside them). */
#ifndef SUANPAN_TESTS_DIAGNOSIS_READINGS_H
#define SUANPAN_TESTS_DIAGNOSIS_READINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "planner/diagnosis/diagnosis.h"

struct reading {
    char *file, *kind, *text;
    size_t size;
    json_t *expect;
};

struct readings {
    struct reading *items;
    size_t n;
};

/* Every reading of folder/index.jsonl; n = 0 when there is no such file. */
struct readings readings_load(const char *folder);
void readings_free(struct readings *r);

/* The folder of samples outside the repository ($SUANPAN_SHARED/data/inputs or ../shared/data/inputs), or NULL. */
const char *readings_outside(void);

/* The text under the member that its kind belongs to. */
struct diagnosis_input reading_input(const struct reading *r, const char *text);

#endif
