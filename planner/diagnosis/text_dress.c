/* text_dress.c — what a whole paste is dressed in, line by line: a mail's ">", a comment's "#", a log collector's
 * "[pod/train-0] ", bold, `cat -A`'s "$", `cat -n`'s numbers. A dress is on several lines below one another; what
 * stands in front of one line alone may well belong to it.
 */
#include <stdint.h>
#include <string.h>

#include "planner/diagnosis/text.h"

#define RUN_MIN 3     /* lines below one another; dmon's heading has two with "#" */
#define NAME_MAX 64   /* bytes of "[pod/train-0/main]" */
#define ROUNDS 3      /* "> # ..." */
#define NUMBER_LAST 9 /* digits */

enum dress { DRESS_NONE, DRESS_SIGN, DRESS_NAME, DRESS_NUMBER, DRESS_STAMP };

struct worn {
    enum dress kind;
    const char *start; /* of the name, for another line to have the same */
    size_t bytes;      /* from the start of the line, with the blank behind it */
    size_t name_bytes;
    int number;
};

static bool is_end(char c)
{
    return c == '\0' || c == '\n';
}

/* ">", "#", "//", "**" and a blank. */
static bool sign(const char *line, const char *p, struct worn *ret)
{
    if (*p == '\0' || strchr(">#*/", *p) == NULL)
        return false;
    size_t n = 1, least = *p == '*' || *p == '/' ? 2 : 1;
    while (n < least && p[n] == *p)
        n++;
    if (n < least)
        return false;
    *ret = (struct worn){DRESS_SIGN, p, (size_t)(p + n - line) + (p[n] == ' '), n, 0};
    return true;
}

/* "step_time: ": what every line of somebody's log begins with is no machine's name. */
static bool is_figure(const char *p, size_t n)
{
    static const char *const words[] = {"time", "step", "iter", "loss", "speed"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t at = 0; at + strlen(words[i]) <= n; at++)
            if (text_starts(p + at, words[i]))
                return true;
    return false;
}

/* "[pod/train-0/main] ", "node7: ": the same on all lines. */
static bool name(const char *line, const char *p, struct worn *ret)
{
    size_t n = 0;
    if (*p == '[') {
        n = strcspn(p, "]\n");
        n += p[n] == ']';
    } else {
        while (text_is_alnum(p[n]) || p[n] == '-' || p[n] == '_' || p[n] == '.')
            n++;
        n = p[n] == ':' && !is_figure(p, n) ? n + 1 : 0;
    }
    bool cell = text_starts(p, "[N/A]") || text_starts(p, "[Not Supported]"); /* of a table */
    if (n < 3 || n > NAME_MAX || !text_is_blank(p[n]) || p[n - 1] == '[' || cell)
        return false;
    *ret = (struct worn){DRESS_NAME, p, (size_t)(p + n + 1 - line), n, 0};
    return true;
}

/* "  12  |". Rows of cards count up, too: whether these are line numbers shows in the first (starts_numbers). */
static bool number(const char *line, const char *p, struct worn *ret)
{
    int v;
    const char *q = p;
    if (!text_int(&q, &v) || q - p > NUMBER_LAST)
        return false;
    if (!text_is_blank(*q) && !is_end(*q))
        return false;
    *ret = (struct worn){DRESS_NUMBER, p, (size_t)(q - line) + !is_end(*q), 0, v};
    return true;
}

/* "2024-05-01T10:00:00.123Z ", "[2024-05-01 10:00:00,123] ": what a log collector puts in front of every line. A comma
 * behind it makes it a column. */
static bool stamp(const char *line, const char *p, struct worn *ret)
{
    const char *q = p + (*p == '[');
    size_t date = strspn(q, "0123456789-/");
    const char *clock = q + date;
    if (date != 10 || (*clock != 'T' && *clock != 't' && *clock != ' '))
        return false;
    clock++;
    size_t n = strspn(clock, "0123456789:.,");
    if (n < 8 || clock[2] != ':' || clock[5] != ':' || clock[n - 1] == ',')
        return false;
    const char *end = clock + n;
    end += *end == 'Z' || *end == 'z' || *end == ']';
    end += *end == ']';
    size_t width = strcspn(end, "\n");
    if (!text_is_blank(*end) || (*end == '\t' && memchr(end + 1, '\t', width - 1) != NULL)) /* tabs: a column, too */
        return false;
    *ret = (struct worn){DRESS_STAMP, p, (size_t)(end + 1 - line), 0, 0};
    return true;
}

/* No row of figures starts with these; a list of names may, but from 0 on. */
static bool starts_numbers(const struct worn *first)
{
    const char *rest = first->start;
    while (text_is_digit(*rest))
        rest++;
    rest = text_skip_blanks(rest);
    if (is_end(*rest))
        return first->number == 1;
    return strchr("|+#=<{\"", *rest) != NULL || text_starts(rest, "GPU") ||
           (first->number == 1 && text_is_alnum(*rest) && !text_is_digit(*rest));
}

static struct worn worn_by(const char *line, bool stamps)
{
    struct worn w = {.kind = DRESS_NONE};
    const char *p = text_skip_blanks(line);
    if (stamps)
        (void)stamp(line, p, &w);
    else
        (void)(sign(line, p, &w) || name(line, p, &w) || number(line, p, &w));
    return w;
}

static bool same(const struct worn *a, const struct worn *b)
{
    if (a->kind != b->kind || a->kind == DRESS_NONE)
        return false;
    if (a->kind == DRESS_NUMBER)
        return b->number == a->number + 1;
    return a->name_bytes == b->name_bytes && strncmp(a->start, b->start, a->name_bytes) == 0;
}

static char *next_line(char *line)
{
    char *end = line + strcspn(line, "\n");
    return end + (*end == '\n');
}

static bool is_blank_line(const char *line)
{
    return is_end(*text_skip_blanks(line));
}

/* Where the run that starts at `line` ends, and how many of its lines are dressed. */
static char *run_of(char *line, bool stamps, size_t *ret_n)
{
    struct worn last = worn_by(line, stamps);
    char *end = next_line(line);
    if (last.kind == DRESS_NUMBER && !starts_numbers(&last))
        last.kind = DRESS_NONE;
    *ret_n = last.kind != DRESS_NONE;
    while (last.kind != DRESS_NONE && *end != '\0') {
        struct worn next = worn_by(end, stamps);
        if (same(&last, &next)) {
            last = next;
            ++*ret_n;
        } else if (!is_blank_line(end))
            break;
        end = next_line(end);
    }
    return end;
}

static size_t count_lines(char *text)
{
    size_t n = 0;
    for (char *line = text; *line != '\0'; line = next_line(line))
        n += !is_blank_line(line);
    return n;
}

/* Names that change tell machines apart (pdsh, clush): whoever reads cards needs them. */
static bool several_names(char *text)
{
    struct worn first = {.kind = DRESS_NONE};
    for (char *line = text; *line != '\0'; line = next_line(line)) {
        struct worn w = worn_by(line, false);
        if (w.kind != DRESS_NAME)
            continue;
        if (first.kind == DRESS_NONE)
            first = w;
        else if (!same(&first, &w))
            return true;
    }
    return false;
}

/* Takes the dress off every run that is long enough, or all there is; in place. */
static bool undress(char *text, bool stamps)
{
    bool any = false;
    char *to = text;
    const size_t all = count_lines(text);
    const bool names_matter = several_names(text);
    for (char *line = text; *line != '\0';) {
        size_t n;
        char *end = run_of(line, stamps, &n);
        enum dress kind = worn_by(line, stamps).kind;
        bool off = (kind != DRESS_NAME || !names_matter) && n >= RUN_MIN;
        off = off || (n == all && !(kind == DRESS_NAME && names_matter) &&
                      (n > 1 || kind == DRESS_SIGN || kind == DRESS_STAMP));
        any = any || off;
        for (char *next; line < end; line = next) {
            next = next_line(line);
            size_t skip = off && !is_blank_line(line) ? worn_by(line, stamps).bytes : 0;
            size_t width = (size_t)(next - line), inside = strcspn(line, "\n");
            skip = skip < inside ? skip : skip > 0 ? inside : 0;
            memmove(to, line + skip, width - skip);
            to += width - skip;
        }
    }
    *to = '\0';
    return any;
}

/* The same for what closes the lines: "$", "**". */
static void cut_ends(char *text, const char *mark)
{
    size_t n = strlen(mark), with = 0, lines = 0;
    for (char *line = text; *line != '\0'; line = next_line(line)) {
        size_t width = strcspn(line, "\n");
        if (is_blank_line(line))
            continue;
        lines++;
        with += width >= n && strncmp(line + width - n, mark, n) == 0;
    }
    if (with == 0 || with + (lines > 2) < lines)
        return;
    for (char *line = text; *line != '\0'; line = next_line(line)) {
        size_t width = strcspn(line, "\n");
        if (width >= n && strncmp(line + width - n, mark, n) == 0)
            memset(line + width - n, ' ', n);
    }
}

/* Blanks that all lines start with. */
static void unindent(char *text)
{
    size_t least = SIZE_MAX;
    for (char *line = text; *line != '\0'; line = next_line(line))
        if (!is_blank_line(line)) {
            size_t n = (size_t)(text_skip_blanks(line) - line);
            least = n < least ? n : least;
        }
    if (least == 0 || least == SIZE_MAX)
        return;
    char *to = text;
    for (char *line = text, *next; *line != '\0'; line = next) {
        next = next_line(line);
        size_t width = (size_t)(next - line), skip = is_blank_line(line) ? 0 : least;
        memmove(to, line + skip, width - skip);
        to += width - skip;
    }
    *to = '\0';
}

void text_undress(char *text)
{
    unindent(text);
    for (int i = 0; i < ROUNDS && undress(text, false); i++)
        ;
    cut_ends(text, "$");
    cut_ends(text, "**");
}

size_t text_stamp_width(const char *line)
{
    struct worn w = {.kind = DRESS_NONE};
    return stamp(line, text_skip_blanks(line), &w) ? w.bytes : 0;
}

void text_unstamp(char *text)
{
    if (undress(text, true))
        text_undress(text);
}
