/* log.c — log lines are built on the stack and leave in one write(2), so that threads never mix theirs. */
#include "server/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = {"debug", "info", "warn", "error"};
static _Atomic int lowest_level = LOG_INFO;

void log_set_level(enum log_level level)
{
    atomic_store(&lowest_level, (int)level);
}

int log_level_parse(const char *name, enum log_level *ret)
{
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++)
        if (strcmp(name, level_names[i]) == 0) {
            *ret = (enum log_level)i;
            return 0;
        }
    return -1;
}

__attribute__((format(printf, 2, 3))) static void add(struct log_line *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    size_t room = sizeof l->text - l->len;
    int n = vsnprintf(l->text + l->len, room, fmt, args);
    va_end(args);
    if (n > 0)
        l->len += (size_t)n < room ? (size_t)n : room - 1;
}

void log_start(struct log_line *l, enum log_level level, const char *event)
{
    l->len = 0;
    l->dropped = (int)level < atomic_load_explicit(&lowest_level, memory_order_relaxed);
    if (l->dropped)
        return;
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    char stamp[32];
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    add(l, "ts=%s.%03ldZ level=%s event=%s", stamp, now.tv_nsec / 1000000, level_names[level], event);
}

/* Length of the valid UTF-8 sequence at s (1 to 4), or 0: what is not UTF-8 is escaped byte by byte. */
static size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
               : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Surrogates, overlong forms and C1 controls are not text either. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] >= 0x90) || (s[0] == 0xc2 && s[1] < 0xa0))
        return 0;
    return n;
}

size_t log_escape(const char *text, char *out, size_t size)
{
    bool quoted = text[0] == '\0' || strpbrk(text, " =\"\\") != NULL;
    for (const unsigned char *p = (const unsigned char *)text; *p != 0 && !quoted; p++)
        quoted = *p < ' ' || *p >= 0x7f;
    size_t n = 0, taken = 0;
    if (quoted)
        out[n++] = '"';
    for (const unsigned char *p = (const unsigned char *)text; *p != 0;) {
        size_t length = utf8_length(p);
        if (taken + (length > 0 ? length : 1) > LOG_TEXT_MAX || n + 12 > size) {
            memcpy(out + n, "...", 3);
            n += 3;
            break;
        }
        if (length == 0 || *p < ' ' || *p == 0x7f) {
            n += (size_t)snprintf(out + n, size - n, "\\x%02x", *p);
            length = 1;
        } else {
            if (*p == '"' || *p == '\\')
                out[n++] = '\\';
            memcpy(out + n, p, length);
            n += length;
        }
        p += length;
        taken += length;
    }
    if (quoted)
        out[n++] = '"';
    out[n] = '\0';
    return n;
}

void log_text(struct log_line *l, const char *key, const char *value)
{
    char escaped[LOG_TEXT_MAX * 4 + 16];
    if (l->dropped || value == NULL)
        return;
    log_escape(value, escaped, sizeof escaped);
    add(l, " %s=%s", key, escaped);
}

void log_int(struct log_line *l, const char *key, int64_t value)
{
    if (!l->dropped)
        add(l, " %s=%lld", key, (long long)value);
}

void log_ms(struct log_line *l, const char *key, uint64_t nanoseconds)
{
    if (!l->dropped)
        add(l, " %s=%.3f", key, (double)nanoseconds / 1e6);
}

void log_end(struct log_line *l)
{
    if (l->dropped)
        return;
    if (l->len > sizeof l->text - 2)
        l->len = sizeof l->text - 2;
    l->text[l->len++] = '\n';
    for (size_t done = 0; done < l->len;) {
        ssize_t n = write(STDERR_FILENO, l->text + done, l->len - done);
        if (n <= 0)
            return; /* nowhere to complain to */
        done += (size_t)n;
    }
}

void log_event(enum log_level level, const char *event, const char *key, const char *value)
{
    struct log_line l;
    log_start(&l, level, event);
    if (key != NULL)
        log_text(&l, key, value);
    log_end(&l);
}
