/* text_hosts.c — outputs of several machines whose lines carry the machine's name in front: pdsh, clush, `srun -l`,
 * `kubectl logs --prefix`. The machines print as they come; here every machine's lines are put below one another, under
 * a mark with its name, and lose what stood in front.
 */
#include <string.h>

#include "planner/diagnosis/text.h"

#define HOSTS_MAX 256
#define NAME_MAX 64
#define LINES_LEAST 2 /* of each machine */
#define COVERED 0.9   /* of all lines; others are words around it */

struct host {
    const char *name;
    size_t n, lines, bytes;
};

struct hosts {
    struct host items[HOSTS_MAX];
    int n;
};

/* "gpu01: ", "3: ", "[pod/train-0/main] " at the start of a line: the name's bytes and all that goes; 0: none. */
static size_t prefix(const char *line, const char **ret_name, size_t *ret_n)
{
    size_t n = 0;
    const char *p = text_skip_blanks(line);
    const bool bracket = *p == '[';
    *ret_name = p + bracket;
    if (bracket)
        n = strcspn(p + 1, "]\n");
    else
        while (text_is_alnum(p[n]) || p[n] == '-' || p[n] == '_' || p[n] == '.')
            n++;
    *ret_n = n;
    const char *end = p + bracket + n;
    if (n == 0 || n > NAME_MAX || *end != (bracket ? ']' : ':') ||
        (end[1] != '\0' && !text_is_blank(end[1]) && end[1] != '\n'))
        return 0;
    return (size_t)(end + 1 - line) + (text_is_blank(end[1]) ? 1 : 0);
}

static int host_of(struct hosts *h, const char *name, size_t n)
{
    for (int i = 0; i < h->n; i++)
        if (h->items[i].n == n && strncmp(h->items[i].name, name, n) == 0)
            return i;
    if (h->n == HOSTS_MAX)
        return -1;
    h->items[h->n] = (struct host){.name = name, .n = n};
    return h->n++;
}

static const char *next_line(const char *line)
{
    const char *end = line + strcspn(line, "\n");
    return end + (*end == '\n');
}

/* Whether it is such a text; its machines in *h. */
static bool gather(const char *text, struct hosts *h)
{
    size_t lines = 0, covered = 0, n;
    const char *name;
    for (const char *line = text; *line != '\0'; line = next_line(line)) {
        if (*text_skip_blanks(line) == '\n' || *text_skip_blanks(line) == '\0')
            continue;
        lines++;
        size_t off = prefix(line, &name, &n);
        if (off == 0)
            continue;
        int i = host_of(h, name, n);
        if (i < 0)
            return false;
        covered++;
        h->items[i].lines++;
        h->items[i].bytes += (size_t)(next_line(line) - line) + 1;
    }
    for (int i = 0; i < h->n; i++)
        if (h->items[i].lines < LINES_LEAST)
            return false;
    return h->n > 1 && (double)covered >= COVERED * (double)lines;
}

char *text_by_host(char *text, struct arena *arena)
{
    struct hosts *h = arena_alloc(arena, sizeof *h);
    char **to = arena_array(arena, HOSTS_MAX, sizeof *to), *out;
    size_t size = 1, n;
    const char *name;
    if (h == NULL || to == NULL)
        return text;
    *h = (struct hosts){.n = 0};
    if (!gather(text, h))
        return text;
    for (int i = 0; i < h->n; i++)
        size += h->items[i].n + 2 + h->items[i].bytes;
    if ((out = arena_alloc(arena, size)) == NULL)
        return text;
    char *start = out;
    for (int i = 0; i < h->n; i++) { /* every machine's part, its mark first */
        *start++ = TEXT_HOST_MARK;
        memcpy(start, h->items[i].name, h->items[i].n);
        start += h->items[i].n;
        *start++ = '\n';
        to[i] = start;
        memset(start, ' ', h->items[i].bytes); /* what a prefix leaves free stays blank */
        start += h->items[i].bytes;
        start[-1] = '\n';
    }
    *start = '\0';
    for (const char *line = text, *next; *line != '\0'; line = next) {
        next = next_line(line);
        size_t off = prefix(line, &name, &n);
        if (off == 0)
            continue;
        char **at = &to[host_of(h, name, n)];
        size_t width = strcspn(line, "\n");
        off = off < width ? off : width;
        memcpy(*at, line + off, width - off);
        *at += width - off;
        *(*at)++ = '\n';
    }
    return out;
}
