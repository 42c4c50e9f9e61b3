/* err.h — how a function of any layer says that it failed, and why.
 *
 * Functions return 0, or -1 with *err filled. The caller owns the struct; no allocation, no thread-local.
 * Only two classes decide behaviour: the caller's fault (ERR_INVALID .. ERR_UNSUPPORTED) and ours (the rest).
 * Public error numbers live in api/errors.def, never here. Lower layers return errors; they do not log them.
 */
#ifndef SUANPAN_BASE_ERR_H
#define SUANPAN_BASE_ERR_H

#include <stdarg.h>

enum err_code {
    ERR_NONE = 0,
    ERR_INVALID,     /* malformed or contradictory input */
    ERR_RANGE,       /* a number outside its documented bounds */
    ERR_LIMIT,       /* a documented limit of count, depth or size was reached */
    ERR_NOT_FOUND,   /* the named thing does not exist */
    ERR_CONFLICT,    /* the state of the thing forbids it */
    ERR_UNSUPPORTED, /* understood, but not something we can do */
    ERR_BUSY,        /* retryable */
    ERR_FULL,        /* disk full */
    ERR_CORRUPT,     /* stored data violates its own rules */
    ERR_IO,          /* the operating system refused */
    ERR_NOMEM,       /* out of memory, or the arena's cap was reached */
    ERR_INTERNAL     /* our bug */
};

struct err {
    enum err_code code;
    char detail[160]; /* English, for a developer; never user text, never sent out for ours-class errors */
    char pointer[96]; /* JSON Pointer or file:line of the offending place, "" when there is none */
};

/* Fills *err (NULL is allowed) and returns -1, so that a failure is `return err_set(err, ...)`. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, with the place. */
int err_at(struct err *err, enum err_code code, const char *pointer, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The code's stable lower-case name ("invalid", "not_found", ...). */
const char *err_name(enum err_code code);

#endif
