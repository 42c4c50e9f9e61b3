/* fault.c — appending to the list of faults; what does not fit is counted, never silently lost. */
#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void copy(char *out, size_t size, const char *text)
{
    size_t n = strnlen(text, size - 1);
    memcpy(out, text, n);
    out[n] = '\0';
}

void fault_add(struct fault_list *list, const char *pointer, const char *code, const char *fmt, ...)
{
    if (list->n == FAULTS_MAX) {
        list->dropped++;
        return;
    }
    struct fault *f = &list->items[list->n++];
    copy(f->pointer, sizeof f->pointer, pointer);
    copy(f->code, sizeof f->code, code);
    va_list ap;
    va_start(ap, fmt);
    if (vsnprintf(f->detail, sizeof f->detail, fmt, ap) < 0)
        f->detail[0] = '\0';
    va_end(ap);
}
