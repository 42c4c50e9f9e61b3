/* text.h — pasted text made plain, and the small scanners every reader shares. No locale, no regular expressions.
 *
 * text_clean undoes what a paste does to a terminal's output: colours, carriage returns of progress bars, strings of a
 * notebook's JSON, wide blanks. What is left is bytes of UTF-8 (or whatever it was) cut into lines.
 */
#ifndef SUANPAN_PLANNER_DIAGNOSIS_TEXT_H
#define SUANPAN_PLANNER_DIAGNOSIS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* A cleaned copy in the arena; NULL for NULL, or when the arena is full. */
char *text_clean(const char *raw, struct arena *arena);

/* Takes off what every line of a paste is dressed in (text_clean does): "> ", "# ", "[pod/train-0] ", line numbers. */
void text_undress(char *text);
/* Takes a log collector's time stamps off, too: not for logs, whose steps are timed by them. */
void text_unstamp(char *text);
/* Bytes of such a stamp at the start of a line, with the blank behind it; 0 = none. */
size_t text_stamp_width(const char *line);

/* Lines of several machines that carry the machine's name, sorted by machine, each part under a line of this mark and
 * the name; the text itself where it is none. */
#define TEXT_HOST_MARK '\x01'
char *text_by_host(char *text, struct arena *arena);

/* The next line of a cleaned text, NUL put in place of its newline; NULL at the end. *cursor starts at the text. */
char *text_line(char **cursor);

bool text_is_digit(char c);
bool text_is_alnum(char c);
bool text_is_blank(char c);
const char *text_skip_blanks(const char *p);

/* Case-insensitive; NULL when not there. text_find_word also wants no letter, digit or '_' just before. */
const char *text_find(const char *hay, const char *needle);
const char *text_find_word(const char *hay, const char *needle);
/* The same for a text made lower-case (text_lower, ASCII only) and a lower-case needle: many times as fast, for readers
 * that look for a hundred words in every line. */
void text_lower(char *text);
const char *text_seek(const char *hay, const char *needle);
const char *text_seek_word(const char *hay, const char *needle);
bool text_starts(const char *p, const char *prefix);

/* A number at *p ("12", "7,034", "1.87e-01", "-3"); moves *p behind it. False and nothing moved when there is none. */
bool text_number(const char **p, double *ret);
/* Where the digits and points that end at *end begin, blanks in between: *end itself where there are none. Moves *end
 * before the blanks, not before `line`. */
const char *text_digits_before(const char *line, const char **end);
/* The digits at *p as an int of at most nine digits. */
bool text_int(const char **p, int *ret);

/* "00000000:34:00.0", "0000:02:00.0": where it starts, its length in *ret_len; NULL when the line has none. */
const char *text_bus_id(const char *line, size_t *ret_len);

/* "1:02:03", "02:08", "46m 24s", "1h 2m", "1 day, 0:00:01": seconds; moves *p. */
bool text_duration(const char **p, double *ret_s);

/* The first time stamp of a line in seconds (of the epoch, of the year, or of the day: only differences mean
 * anything). *ret_day_only: hours and minutes without a date. */
bool text_stamp(const char *line, double *ret_s, bool *ret_day_only);

#endif
