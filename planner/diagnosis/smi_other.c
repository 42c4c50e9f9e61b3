/* smi_other.c — the same facts as nvidia-smi's table in other clothes: `nvidia-smi -L`, `nvidia-smi -q -x`, gpustat,
 * and tegrastats of Jetson modules.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

/* "72000 / 81920 MB", "295 / 300 W" from p on: the pair before that unit. */
static bool pair_of(const char *p, const char *unit, double *ret_first, double *ret_second)
{
    for (const char *slash = p; (slash = strchr(slash, '/')) != NULL; slash++) {
        const char *right = text_skip_blanks(slash + 1), *left = slash;
        double second;
        if (!text_number(&right, &second) || !text_starts(text_skip_blanks(right), unit))
            continue;
        while (left > p && (text_is_blank(left[-1]) || (text_starts(unit, "Gi") && strchr("Gi", left[-1]) != NULL)))
            left--;
        while (left > p && (text_is_digit(left[-1]) || left[-1] == '.'))
            left--;
        if (!text_number(&left, ret_first))
            continue;
        *ret_second = second;
        return true;
    }
    return false;
}

/* The last percentage before `end`: a fan's comes first. */
static void last_percentage(const char *p, const char *end, double *ret)
{
    while (p < end) {
        double v;
        if (!text_is_digit(*p) || !text_number(&p, &v))
            p++;
        else if (*text_skip_blanks(p) == '%')
            *ret = v;
    }
}

/* "[0] NVIDIA A100-SXM4-80GB | 63'C,  98 %,  395 / 400 W | 72000 / 81920 MB | alice(71990M)". */
static bool gpustat_row(const char *line, struct cards *cards)
{
    const char *p = line, *bar = strchr(line, '|'), *second = bar == NULL ? NULL : strchr(bar + 1, '|');
    struct card_sample s;
    int index = -1;
    if (second == NULL)
        return false;
    while ((p = strchr(p, '[')) != NULL && p < bar && (p++, !text_int(&p, &index) || *p != ']'))
        index = -1;
    if (index < 0)
        return false;
    card_sample_init(&s);
    if (!pair_of(second, "MB", &s.memory_used_mib, &s.memory_total_mib) &&
        !pair_of(second, "MiB", &s.memory_used_mib, &s.memory_total_mib))
        return false;
    p = text_skip_blanks(p + 1);
    while (bar > p && text_is_blank(bar[-1]))
        bar--;
    s.index = index;
    s.name = arena_strndup(cards->arena, p, (size_t)(bar - p));
    last_percentage(bar, second, &s.utilisation_pct);
    double power, limit;
    const char *watts = pair_of(bar, "W", &power, &limit) ? strchr(bar, 'W') : NULL;
    if (watts != NULL && watts < second) {
        s.power_w = power;
        s.power_limit_w = limit;
    }
    cards_add(cards, &s);
    return true;
}

/* nvtop: "Device 0 [NVIDIA A100-SXM4-80GB] ...", "... POW 372 / 400 W", "GPU[|||| 98%] MEM[||| 72.1Gi/80.0Gi]". */
static void nvtop_row(const char *line, struct cards *cards, struct card_sample *s)
{
    const char *device = text_find_word(line, "Device "), *power = text_find_word(line, "POW ");
    const char *busy = text_find_word(line, "GPU["), *memory = text_find_word(line, "MEM[");
    if (device != NULL) {
        const char *p = device + strlen("Device ");
        int index;
        card_sample_init(s);
        if (text_int(&p, &index) && *(p = text_skip_blanks(p)) == '[' && strchr(p, ']') != NULL) {
            s->index = index;
            s->name = arena_strndup(cards->arena, p + 1, (size_t)(strchr(p, ']') - p - 1));
        }
    }
    if (s->index < 0)
        return;
    if (power != NULL)
        (void)pair_of(power, "W", &s->power_w, &s->power_limit_w);
    if (busy == NULL || memory == NULL)
        return;
    last_percentage(busy, memory, &s->utilisation_pct);
    if (pair_of(memory, "Gi", &s->memory_used_mib, &s->memory_total_mib)) /* the first has its unit, too */
        s->memory_used_mib *= 1024, s->memory_total_mib *= 1024;
    cards_add(cards, s);
    card_sample_init(s);
}

/* "RAM 12000/15523MB ... GR3D_FREQ 99%@1300": memory that the card shares with the processor. */
static void tegrastats_row(const char *line, struct cards *cards)
{
    const char *ram = text_find_word(line, "RAM "), *busy = text_find_word(line, "GR3D_FREQ ");
    struct card_sample s;
    if (ram == NULL || busy == NULL)
        return;
    card_sample_init(&s);
    s.index = 0;
    s.name = "Jetson";
    busy += strlen("GR3D_FREQ ");
    if (!pair_of(ram, "MB", &s.memory_used_mib, &s.memory_total_mib) || !text_number(&busy, &s.utilisation_pct) ||
        *busy != '%')
        return;
    cards_add(cards, &s);
}

/* "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)", "  MIG 3g.20gb  Device 0: (UUID: MIG-...)". */
static void list_row(const char *line, struct cards *cards, struct card_work **last)
{
    const char *uuid = text_find(line, "(UUID:"), *p = text_find_word(line, "GPU ");
    struct card_sample s;
    int index;
    if (uuid == NULL)
        return;
    if (*last != NULL && text_starts(text_skip_blanks(line), "MIG ")) {
        (*last)->reading.mig = true;
        (*last)->reading.mig_devices++;
        return;
    }
    if (p == NULL || p > uuid)
        return;
    p += strlen("GPU ");
    if (!text_int(&p, &index) || *p != ':')
        return;
    p = text_skip_blanks(p + 1);
    while (uuid > p && text_is_blank(uuid[-1]))
        uuid--;
    if (uuid <= p)
        return;
    card_sample_init(&s);
    s.index = index;
    s.name = arena_strndup(cards->arena, p, (size_t)(uuid - p));
    *last = cards_add(cards, &s);
}

void read_smi_other(char *text, struct cards *cards)
{
    bool listed = cards->n == 0; /* names alone add nothing to cards that were read */
    struct card_work *last = NULL;
    struct card_sample device;
    card_sample_init(&device);
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;) {
        if (gpustat_row(line, cards))
            continue;
        tegrastats_row(line, cards);
        nvtop_row(line, cards, &device);
        if (listed)
            list_row(line, cards, &last);
    }
}

/* ---- nvidia-smi -q -x ---------------------------------------------------------------------------------------- */

enum element { ELEMENT_OTHER, ELEMENT_MEMORY, ELEMENT_POWER };

struct xml {
    struct cards *cards;
    struct card_sample card;
    bool has_card, in_mig; /* in_mig: a slice of the card with a memory of its own */
    int next_index;
    enum element element;
};

static bool named(const char *tag, const char *name)
{
    size_t n = strlen(name);
    return text_starts(tag, name) && !text_is_alnum(tag[n]) && tag[n] != '_';
}

static void finish(struct xml *x)
{
    if (x->has_card)
        cards_add(x->cards, &x->card);
    x->has_card = false;
}

static void number_in(const char *content, double *ret)
{
    double v;
    content = text_skip_blanks(content);
    if (text_number(&content, &v))
        *ret = v;
}

/* An opening tag and what follows it. */
static void take_element(struct xml *x, const char *tag, const char *content, size_t n)
{
    struct card_sample *s = &x->card;
    if (named(tag, "product_name"))
        s->name = arena_strndup(x->cards->arena, content, n);
    else if (named(tag, "gpu_util"))
        number_in(content, &s->utilisation_pct);
    else if (named(tag, "memory_util"))
        number_in(content, &s->memory_busy_pct);
    else if (named(tag, "current_mig"))
        s->mig = n >= 7 && text_starts(content, "Enabled");
    else if (x->element == ELEMENT_MEMORY && named(tag, "total"))
        number_in(content, &s->memory_total_mib);
    else if (x->element == ELEMENT_MEMORY && named(tag, "used"))
        number_in(content, &s->memory_used_mib);
    else if (x->element == ELEMENT_POWER && (named(tag, "power_draw") || named(tag, "average_power_draw")))
        number_in(content, &s->power_w);
    else if (x->element == ELEMENT_POWER && (named(tag, "power_limit") || named(tag, "current_power_limit")))
        number_in(content, &s->power_limit_w);
}

static void take_tag(struct xml *x, const char *tag, const char *content, size_t n)
{
    if (text_starts(tag, "gpu id=")) {
        const char *id = tag + strlen("gpu id=\"");
        finish(x);
        card_sample_init(&x->card);
        x->card.index = x->next_index++;
        x->card.bus_id = arena_strndup(x->cards->arena, id, strcspn(id, "\"'>\n"));
        x->has_card = true;
        x->in_mig = false;
        x->element = ELEMENT_OTHER;
    } else if (named(tag, "mig_device") || named(tag, "/mig_device")) {
        x->in_mig = *tag != '/';
        x->card.mig = true;
    } else if (named(tag, "fb_memory_usage") && !x->in_mig)
        x->element = ELEMENT_MEMORY;
    else if (named(tag, "gpu_power_readings") || named(tag, "power_readings"))
        x->element = ELEMENT_POWER;
    else if (named(tag, "/fb_memory_usage") || named(tag, "/gpu_power_readings") || named(tag, "/power_readings"))
        x->element = ELEMENT_OTHER;
    else if (x->has_card && *tag != '/')
        take_element(x, tag, content, n);
}

void read_smi_xml(char *text, struct cards *cards, const char **ret_driver, const char **ret_cuda)
{
    struct xml x = {.cards = cards};
    if (text_find(text, "<nvidia_smi_log") == NULL && text_find(text, "<fb_memory_usage") == NULL)
        return;
    for (char *tag = text; (tag = strchr(tag, '<')) != NULL;) {
        char *end = strchr(++tag, '>');
        if (end == NULL)
            break;
        const char *content = end + 1;
        size_t n = strcspn(content, "<\n");
        if (named(tag, "driver_version"))
            *ret_driver = arena_strndup(cards->arena, content, n);
        else if (named(tag, "cuda_version"))
            *ret_cuda = arena_strndup(cards->arena, content, n);
        else
            take_tag(&x, tag, content, n);
        tag = end + 1;
    }
    finish(&x);
}
