/* fault.h — every fault of one input at once, each with its JSON Pointer.
 *
 * Decoders (api/) and the planner's own consistency checks append to the same list; the answer is one 422.
 */
#ifndef SUANPAN_BASE_FAULT_H
#define SUANPAN_BASE_FAULT_H

#include <stddef.h>

#include "base/arena.h"

#define FAULTS_MAX 64

struct fault {
    char pointer[128]; /* RFC 6901, from the root of the request body */
    char code[40];     /* lower_snake, stable: "unknown_member", "out_of_range", ... (api/errors.def lists them) */
    char detail[200];  /* English sentence with the figures */
};

struct fault_list {
    struct fault items[FAULTS_MAX];
    size_t n;       /* kept */
    size_t dropped; /* found beyond FAULTS_MAX */
};

void fault_add(struct fault_list *list, const char *pointer, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
