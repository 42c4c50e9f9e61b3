/* respond.h — a response's bytes and headers: JSON, CSV, problem+json, 304; one place for ETag, Vary and caching. */
#ifndef SUANPAN_API_RESPOND_H
#define SUANPAN_API_RESPOND_H

#include "api/errors.h"
#include "api/json_write.h"
#include "api/jspec.h"
#include "api/route.h"

#define RESPONSE_MAX (16u << 20)

#define CONTENT_JSON "application/json; charset=utf-8"
#define CONTENT_CSV "text/csv; charset=utf-8; header=present"
#define CONTENT_PROBLEM "application/problem+json; charset=utf-8"
#define CONTENT_TEXT "text/plain; charset=utf-8"

void respond_header(struct api_response *res, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Takes the buffer's block as the body of a 200. GET and HEAD get a strong ETag over representation and language and
 * may become a 304. A failed buffer becomes a 503. */
void respond_body(struct call *c, const char *content_type, struct buf *body);

/* A problem. `faults` (may be NULL) become errors[]; `d` (may be NULL) adds limits and the place of a syntax error. */
void respond_problem(struct call *c, enum api_error error, const char *detail, const struct fault_list *faults,
                     const struct decode *d);

/* 422 with every fault. */
void respond_faults(struct call *c, const struct decode *d);

/* What a failed decode or computation turns into: 400, 422, 503 or 500. */
void respond_err(struct call *c, const struct err *err, const struct decode *d);

#endif
