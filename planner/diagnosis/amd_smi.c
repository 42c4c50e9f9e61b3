/* amd_smi.c — the table of `amd-smi`, two rows a card, and the lines of `rocm-smi --showuse --showmeminfo ...`.
 *
 * | 0000:05:00.0 ...Instinct MI300X OAM | 44 %     55 °C     0         612/750 W |
 * |   0       0       7        SPX/NPS1 | 98 %       N/A   170012/196592 MB      |
 *
 * GPU[0]          : GPU use (%): 98
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

/* "612/750 W", "170012/196592 MB" from p on; false when neither number is there. */
static bool pair(const char *p, const char *unit, double *ret_used, double *ret_most)
{
    const char *slash = p;
    while ((slash = strchr(slash, '/')) != NULL) {
        const char *left = slash, *right = slash + 1;
        double used, most;
        while (left > p && (text_is_digit(left[-1]) || left[-1] == '.'))
            left--;
        if (text_number(&left, &used) && left == slash && text_number(&right, &most) &&
            text_starts(text_skip_blanks(right), unit)) {
            *ret_used = used;
            *ret_most = most;
            return true;
        }
        slash++;
    }
    return false;
}

static void percentage(const char *p, double *ret)
{
    double v;
    p = text_skip_blanks(p);
    if (text_number(&p, &v) && *text_skip_blanks(p) == '%')
        *ret = v;
}

/* The cells of a row with one bar inside: the second starts behind it. */
static const char *second_cell(const char *line)
{
    const char *bar = strchr(line, '|');
    bar = bar == NULL ? NULL : strchr(bar + 1, '|');
    return bar == NULL ? NULL : bar + 1;
}

static bool first_row(const char *line, struct arena *arena, struct card_sample *s)
{
    size_t bus_len;
    const char *bus = text_bus_id(line, &bus_len), *cell = second_cell(line);
    if (bus == NULL || cell == NULL || bus > cell)
        return false;
    card_sample_init(s);
    s->bus_id = arena_strndup(arena, bus, bus_len);
    const char *name = bus + bus_len + strspn(bus + bus_len, " .\t"), *end = cell - 1;
    while (end > name && text_is_blank(end[-1]))
        end--;
    s->name = end > name ? arena_strndup(arena, name, (size_t)(end - name)) : NULL;
    percentage(cell, &s->memory_busy_pct);
    (void)pair(cell, "W", &s->power_w, &s->power_limit_w);
    return true;
}

static bool second_row(const char *line, struct card_sample *s)
{
    const char *p = strchr(line, '|'), *cell = second_cell(line);
    p = p == NULL ? NULL : text_skip_blanks(p + 1);
    if (cell == NULL || !text_int(&p, &s->index) || !text_is_blank(*p))
        return false;
    percentage(cell, &s->utilisation_pct);
    return pair(cell, "MB", &s->memory_used_mib, &s->memory_total_mib);
}

#define LISTED_MAX 64 /* cards of one list */
#define MIB 1048576.0

/* "GPU[3] : VRAM Total Memory (B): 68702699520". */
static void list_line(const char *line, struct card_sample *listed, bool *seen, struct arena *arena)
{
    const char *p = text_find_word(line, "GPU[");
    int index;
    if (p == NULL)
        return;
    p += strlen("GPU[");
    if (!text_int(&p, &index) || *p != ']' || index >= LISTED_MAX)
        return;
    const char *key = text_skip_blanks(p + 1);
    key = text_skip_blanks(key + (*key == ':'));
    const char *value = strrchr(key, ':');
    double v;
    if (value == NULL)
        return;
    value = text_skip_blanks(value + 1);
    struct card_sample *s = &listed[index];
    s->index = index;
    const char *number = value;
    if (text_starts(key, "Card series") || text_starts(key, "Card model:"))
        s->name = s->name != NULL || *value == '0' ? s->name : arena_strdup(arena, value);
    else if (!text_number(&number, &v))
        return;
    else if (text_starts(key, "GPU use (%)"))
        s->utilisation_pct = v;
    else if (text_starts(key, "VRAM Total Used Memory (B)"))
        s->memory_used_mib = v / MIB;
    else if (text_starts(key, "VRAM Total Memory (B)"))
        s->memory_total_mib = v / MIB;
    else if (text_starts(key, "GPU memory use (%)") || text_starts(key, "GPU Memory Allocated (VRAM%)"))
        s->memory_pct = v;
    else if (text_starts(key, "Max Graphics Package Power"))
        s->power_limit_w = v;
    else if (text_find(key, "Package Power") != NULL)
        s->power_w = v;
    else
        return;
    seen[index] = true;
}

void read_amd_smi(char *text, struct cards *cards)
{
    struct card_sample s, listed[LISTED_MAX];
    bool table = false, pending = false, seen[LISTED_MAX] = {false};
    for (int i = 0; i < LISTED_MAX; i++)
        card_sample_init(&listed[i]);
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;) {
        list_line(line, listed, seen, cards->arena);
        if (text_find(line, "AMD-SMI") != NULL || text_find(line, "GPU-Name") != NULL)
            table = true;
        else if (text_find(line, "Processes:") != NULL)
            table = false;
        if (!table || *text_skip_blanks(line) == '\0')
            continue;
        if (pending && second_row(line, &s))
            cards_add(cards, &s);
        pending = first_row(line, cards->arena, &s);
    }
    for (int i = 0; i < LISTED_MAX; i++)
        if (seen[i])
            cards_add(cards, &listed[i]);
}
