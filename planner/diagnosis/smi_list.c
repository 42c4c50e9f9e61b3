/* smi_list.c — the long list of `nvidia-smi -q`: "Key : value" lines under headings, one block a card. */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

enum heading { HEADING_OTHER, HEADING_MEMORY, HEADING_UTILISATION, HEADING_POWER, HEADING_MIG };

struct list {
    struct cards *cards;
    struct card_sample card;
    bool has_card;
    int next_index;
    enum heading heading;
    size_t slice_indent; /* of "MIG Device": what stands deeper is a slice's, not the card's */
    bool in_slice;
};

static void finish_card(struct list *l)
{
    if (l->has_card)
        cards_add(l->cards, &l->card);
    l->has_card = false;
}

/* "GPU 00000000:81:00.0" alone on its line begins a card. */
static bool begins_card(struct list *l, const char *line)
{
    size_t n;
    const char *p = text_skip_blanks(line), *bus = text_bus_id(line, &n);
    if (bus == NULL || !text_starts(p, "GPU ") || text_skip_blanks(p + 4) != bus || *text_skip_blanks(bus + n) != '\0')
        return false;
    finish_card(l);
    card_sample_init(&l->card);
    l->card.index = l->next_index++;
    l->card.bus_id = arena_strndup(l->cards->arena, bus, n);
    l->has_card = true;
    l->in_slice = false;
    l->heading = HEADING_OTHER;
    return true;
}

static enum heading heading_of(const char *p)
{
    return text_starts(p, "FB Memory Usage")      ? HEADING_MEMORY
           : text_starts(p, "Utilization")        ? HEADING_UTILISATION
           : text_starts(p, "GPU Power Readings") ? HEADING_POWER
           : text_starts(p, "Power Readings")     ? HEADING_POWER
           : text_starts(p, "MIG Mode")           ? HEADING_MIG
                                                  : HEADING_OTHER;
}

static void take_heading(struct list *l, const char *p, size_t indent)
{
    l->in_slice = l->in_slice && indent > l->slice_indent;
    if (text_starts(p, "MIG Device")) {
        l->in_slice = true;
        l->slice_indent = indent;
    }
    l->heading = l->in_slice ? HEADING_OTHER : heading_of(p);
}

/* The text behind the colon when the line's key is `key` and nothing more. */
static const char *value_of(const char *p, const char *key)
{
    if (!text_starts(p, key))
        return NULL;
    p = text_skip_blanks(p + strlen(key));
    return *p == ':' ? text_skip_blanks(p + 1) : NULL;
}

static void take_number(const char *p, const char *key, double *ret)
{
    const char *value = value_of(p, key);
    if (value != NULL)
        text_number(&value, ret);
}

static void take_line(struct list *l, const char *p)
{
    struct card_sample *s = &l->card;
    const char *name = value_of(p, "Product Name");
    if (name != NULL)
        s->name = arena_strdup(l->cards->arena, name);
    switch (l->heading) {
    case HEADING_MEMORY:
        take_number(p, "Total", &s->memory_total_mib);
        take_number(p, "Used", &s->memory_used_mib);
        break;
    case HEADING_UTILISATION:
        take_number(p, "Gpu", &s->utilisation_pct);
        take_number(p, "Memory", &s->memory_busy_pct);
        break;
    case HEADING_POWER:
        take_number(p, "Power Draw", &s->power_w);
        take_number(p, "Average Power Draw", &s->power_w);
        take_number(p, "Power Limit", &s->power_limit_w);
        take_number(p, "Current Power Limit", &s->power_limit_w);
        break;
    case HEADING_MIG:
        s->mig = s->mig || (value_of(p, "Current") != NULL && text_starts(value_of(p, "Current"), "Enabled"));
        break;
    case HEADING_OTHER:
        break;
    }
}

static void take_version(const char *p, const char *key, struct arena *arena, const char **ret)
{
    const char *value = value_of(p, key);
    if (value != NULL && text_is_digit(*value))
        *ret = arena_strndup(arena, value, strcspn(value, " \t"));
}

void read_smi_list(char *text, struct cards *cards, const char **ret_driver, const char **ret_cuda)
{
    struct list l = {.cards = cards};
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;) {
        const char *p = text_skip_blanks(line);
        size_t n = strlen(line);
        while (n > 0 && text_is_blank(line[n - 1]))
            line[--n] = '\0';
        take_version(p, "Driver Version", cards->arena, ret_driver);
        take_version(p, "CUDA Version", cards->arena, ret_cuda);
        if (begins_card(&l, line) || !l.has_card)
            continue;
        if (strchr(p, ':') == NULL && *p != '\0')
            take_heading(&l, p, (size_t)(p - line));
        else
            take_line(&l, p);
    }
    finish_card(&l);
}
