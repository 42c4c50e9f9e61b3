/* client.h — one call of the door for tests: no socket, the real seed catalog, every pair recorded for the schemas. */
#ifndef SUANPAN_TESTS_API_CLIENT_H
#define SUANPAN_TESTS_API_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "api/api.h"

struct reply {
    int status;
    char content_type[80];
    char *text; /* NUL-terminated */
    size_t len;
    json_t *json;            /* NULL where the body is none */
    struct api_response raw; /* headers */
};

struct ask {
    const char *method, *path, *query, *body;
    const char *content_type, *accept, *language, *if_none_match;
    bool no_catalog, unrecorded;
};

/* Missing members: application/json for bodies, en. Today is 2026-11-30. */
struct reply ask(struct ask a);
void reply_done(struct reply *r);
const char *reply_header(const struct reply *r, const char *name); /* NULL = absent */

/* The catalog with constants bound, made once a process. */
struct catalog *client_catalog(void);

/* true when errors[] holds the pointer ("#/workload/...") with the code. */
bool has_fault(const struct reply *r, const char *pointer, const char *code);

/* The plan of a workload, which must be answered; a new reference. */
json_t *plan_in(const char *workload, const char *language);
/* Why the plan has no option of this kind; NULL where it does not say. */
const json_t *refusals_of(const json_t *plan, const char *kind);

/* Of an answer: a member's number, a member's text ("" where there is none), an amount in minor units, the note with this code (NULL). */
double number_of(const json_t *o, const char *key);
const char *text_of(const json_t *o, const char *key);
int64_t minor_of(const json_t *money);
const json_t *note_of(const json_t *notes, const char *code);
bool has_code(const json_t *notes, const char *code);

/* Below the shared data folder (SUANPAN_SHARED or ../shared), NULL when that is not there. Static buffer. */
const char *shared_path(const char *below);

/* Whole file, NUL-terminated, malloc'd; NULL when it cannot be read. */
char *read_file(const char *path, size_t *ret_len);

#endif
