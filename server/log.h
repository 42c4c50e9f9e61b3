/* log.h — one logfmt line per event on stderr: ts, level, event, then fields. Only server/ logs; the layers below
 * return errors. Text that came from outside is escaped and cut. Safe from any thread.
 */
#ifndef SUANPAN_SERVER_LOG_H
#define SUANPAN_SERVER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_DEBUG = 0, LOG_INFO, LOG_WARN, LOG_ERROR }; /* error = wake someone; warn = degraded */

#define LOG_LINE_MAX 2048
#define LOG_TEXT_MAX 256 /* bytes of one text field before it is cut, marked by "..." */

struct log_line {
    char text[LOG_LINE_MAX];
    size_t len;
    bool dropped; /* below the level: the fields cost nothing */
};

void log_set_level(enum log_level level);
/* "debug", "info", "warn", "error"; -1 otherwise. */
int log_level_parse(const char *name, enum log_level *ret);

/* log_start(&l, LOG_INFO, "listening"); log_text(&l, "host", host); log_end(&l); */
void log_start(struct log_line *l, enum log_level level, const char *event);
void log_text(struct log_line *l, const char *key, const char *value); /* NULL writes nothing */
void log_int(struct log_line *l, const char *key, int64_t value);
void log_ms(struct log_line *l, const char *key, uint64_t nanoseconds);
void log_end(struct log_line *l);

/* An event with at most one text, for the many places that need no more. */
void log_event(enum log_level level, const char *event, const char *key, const char *value);

/* Escapes into out as a logfmt value, quoted when it must be; returns the length. For log_text and its tests. */
size_t log_escape(const char *text, char *out, size_t size);

#endif
