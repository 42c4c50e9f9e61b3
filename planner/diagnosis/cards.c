/* cards.c — samples into cards. */
#include "planner/diagnosis/cards.h"

#include <math.h>
#include <string.h>

#define WORKING_PCT 50.0 /* a sample counts as work when the card was busy for half of it */

void card_sample_init(struct card_sample *s)
{
    *s = (struct card_sample){.index = -1,
                              .memory_used_mib = NAN,
                              .memory_total_mib = NAN,
                              .utilisation_pct = NAN,
                              .memory_busy_pct = NAN,
                              .power_w = NAN,
                              .power_limit_w = NAN};
}

#define MIB_MAX 1e9 /* beyond are misreadings */
#define WATT_MAX 1e5

/* One more sample of a mean; what is no number, or none that can be, is none. */
static void mean_in(double *mean, unsigned *n, double x, double most)
{
    if (!(x >= 0 && x <= most))
        return;
    if (*n == 0)
        *mean = x;
    else
        *mean += (x - *mean) / (*n + 1.0);
    ++*n;
}

/* Two machines pasted one below the other have the same indexes: another bus or another card is another machine. */
static bool same_card(const struct card_reading *r, const struct card_sample *s)
{
    if (s->index >= 0 && r->index != s->index)
        return false;
    if (s->bus_id != NULL && r->bus_id != NULL)
        return strcmp(s->bus_id, r->bus_id) == 0;
    if (s->index < 0)
        return false;
    return s->name == NULL || r->name == NULL || strcmp(s->name, r->name) == 0;
}

static struct card_reading blank(int index)
{
    return (struct card_reading){.index = index,
                                 .memory_used_mib = NAN,
                                 .memory_total_mib = NAN,
                                 .memory_used_gb = NAN,
                                 .memory_total_gb = NAN,
                                 .utilisation_pct = NAN,
                                 .memory_busy_pct = NAN,
                                 .memory_busy_working_pct = NAN,
                                 .power_w = NAN,
                                 .power_limit_w = NAN};
}

void cards_init(struct cards *c, struct arena *arena)
{
    *c = (struct cards){.arena = arena};
    c->unknown.reading = blank(-1);
}

static struct card_work *card_of(struct cards *c, const struct card_sample *s)
{
    for (size_t i = 0; i < c->n; i++)
        if (same_card(&c->items[i].reading, s))
            return &c->items[i];
    if (c->n == CARDS_MAX)
        return NULL;
    struct card_work *w = arena_push(c->arena, c);
    if (w != NULL)
        w->reading = blank(s->index >= 0 ? s->index : (int)c->n - 1);
    return w;
}

static void take_in(struct card_work *w, const struct card_sample *s)
{
    struct card_reading *r = &w->reading;
    r->samples++;
    if (r->name == NULL)
        r->name = s->name;
    if (r->bus_id == NULL)
        r->bus_id = s->bus_id;
    if (s->memory_total_mib > 0 && s->memory_total_mib <= MIB_MAX)
        r->memory_total_mib = s->memory_total_mib;
    if (s->power_limit_w > 0 && s->power_limit_w <= WATT_MAX)
        r->power_limit_w = s->power_limit_w;
    r->mig = r->mig || s->mig;
    mean_in(&r->memory_used_mib, &w->n_memory, s->memory_used_mib, MIB_MAX);
    mean_in(&r->utilisation_pct, &w->n_utilisation, s->utilisation_pct, 100);
    mean_in(&r->memory_busy_pct, &w->n_busy, s->memory_busy_pct, 100);
    if (s->utilisation_pct >= WORKING_PCT)
        mean_in(&r->memory_busy_working_pct, &w->n_working, s->memory_busy_pct, 100);
    mean_in(&r->power_w, &w->n_power, s->power_w, WATT_MAX);
}

struct card_work *cards_add(struct cards *c, const struct card_sample *s)
{
    struct card_work *w = card_of(c, s);
    if (w != NULL)
        take_in(w, s);
    return w;
}

void cards_add_unknown(struct cards *c, const struct card_sample *s)
{
    take_in(&c->unknown, s);
}

struct card_work *cards_find(struct cards *c, int index)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].reading.index == index)
            return &c->items[i];
    return NULL;
}
