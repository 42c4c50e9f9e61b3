/* err.c — filling the error struct: truncation is fine, the class is what decides. */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

static int fill(struct err *err, enum err_code code, const char *pointer, const char *fmt, va_list ap)
    __attribute__((format(printf, 4, 0)));

static int fill(struct err *err, enum err_code code, const char *pointer, const char *fmt, va_list ap)
{
    if (err == NULL)
        return -1;
    err->code = code;
    if (vsnprintf(err->detail, sizeof err->detail, fmt, ap) < 0)
        err->detail[0] = '\0';
    size_t n = strlen(pointer);
    if (n >= sizeof err->pointer)
        n = sizeof err->pointer - 1;
    memcpy(err->pointer, pointer, n);
    err->pointer[n] = '\0';
    return -1;
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(err, code, "", fmt, ap);
    va_end(ap);
    return -1;
}

int err_at(struct err *err, enum err_code code, const char *pointer, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(err, code, pointer, fmt, ap);
    va_end(ap);
    return -1;
}

const char *err_name(enum err_code code)
{
    switch (code) {
    case ERR_NONE:
        return "none";
    case ERR_INVALID:
        return "invalid";
    case ERR_RANGE:
        return "range";
    case ERR_LIMIT:
        return "limit";
    case ERR_NOT_FOUND:
        return "not_found";
    case ERR_CONFLICT:
        return "conflict";
    case ERR_UNSUPPORTED:
        return "unsupported";
    case ERR_BUSY:
        return "busy";
    case ERR_FULL:
        return "full";
    case ERR_CORRUPT:
        return "corrupt";
    case ERR_IO:
        return "io";
    case ERR_NOMEM:
        return "nomem";
    case ERR_INTERNAL:
        return "internal";
    }
    return "unknown";
}
