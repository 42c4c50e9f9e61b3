/* npu_smi.c — the table of Ascend's `npu-smi info`: the same facts as nvidia-smi's, in two rows a chip.
 *
 * | 0     910B3      | OK            | 97.4        48                0    / 0             |
 * | 0                | 0000:C1:00.0  | 0           0    / 0          4153 / 65536         |
 */
#include <string.h>

#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

struct npu {
    int index;
    const char *name;
    double power_w;
    bool known; /* a first row came before */
};

/* The third cell of a row. */
static const char *third_cell(const char *line)
{
    const char *p = strchr(line, '|');
    for (int bars = 1; bars < 3 && p != NULL; bars++)
        p = strchr(p + 1, '|');
    return p == NULL ? NULL : text_skip_blanks(p + 1);
}

/* "0     910B3" and the power: the first row of an NPU. */
static bool first_row(const char *line, struct arena *arena, struct npu *npu)
{
    const char *p = strchr(line, '|'), *cell = third_cell(line);
    int index;
    double power;
    if (p == NULL || cell == NULL)
        return false;
    p = text_skip_blanks(p + 1);
    if (!text_int(&p, &index) || !text_is_blank(*p))
        return false;
    p = text_skip_blanks(p);
    size_t n = strcspn(p, " \t|");
    if (text_starts(p, "Ascend")) { /* "Ascend910": two chips behind one name */
        p += strlen("Ascend");
        n -= strlen("Ascend");
    }
    if (n < 3 || (strncmp(p, "310", 3) != 0 && strncmp(p, "910", 3) != 0)) /* in all their kinds */
        return false;
    *npu = (struct npu){.index = index, .name = arena_printf(arena, "Ascend %.*s", (int)n, p), .known = true};
    npu->power_w = text_number(&cell, &power) ? power : -1;
    return true;
}

/* Utilisation of the cores, then pairs of memory in use and in all, the last of them the HBM. */
static void second_row(const char *line, const struct npu *npu, struct cards *cards)
{
    size_t bus_len;
    const char *bus = text_bus_id(line, &bus_len), *p = third_cell(line);
    struct card_sample s;
    double used, total, busy;
    if (bus == NULL || p == NULL)
        return;
    card_sample_init(&s);
    if (text_number(&p, &busy))
        s.utilisation_pct = busy;
    for (p = text_skip_blanks(p); text_number(&p, &used); p = text_skip_blanks(p)) {
        p = text_skip_blanks(p);
        if (*p != '/')
            continue;
        p = text_skip_blanks(p + 1);
        if (!text_number(&p, &total))
            break;
        if (total > 0) {
            s.memory_used_mib = used;
            s.memory_total_mib = total;
        }
    }
    s.index = npu->index;
    const char *chip = text_skip_blanks(strchr(line, '|') + 1);
    int number, physical;
    if (text_int(&chip, &number) && text_is_blank(*chip) && (chip = text_skip_blanks(chip), text_int(&chip, &physical)))
        s.index = physical; /* "| 1     3   |": chip 1, the fourth of the machine */
    s.name = npu->name;
    s.power_w = npu->power_w;
    s.bus_id = arena_strndup(cards->arena, bus, bus_len);
    cards_add(cards, &s);
}

void read_npu_smi(char *text, struct cards *cards)
{
    struct npu npu = {.known = false};
    bool table = true; /* also one whose top was cut off: its rows are like no others */
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;) {
        if (text_find(line, "npu-smi") != NULL && text_find(line, "Version") != NULL)
            table = true;
        else if (text_find(line, "Process id") != NULL)
            table = false;
        if (table && !first_row(line, cards->arena, &npu) && npu.known)
            second_row(line, &npu, cards);
    }
}
