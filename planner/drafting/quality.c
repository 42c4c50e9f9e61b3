/* quality.c — see quality.h. */
#include "planner/drafting/quality.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct quality reference = {.tier = "", .failure_factor = 1, .debug_factor = 1};

static double value_or(const struct param_table *t, const char *tier, const char *what, double otherwise)
{
    char key[96];
    const int n = snprintf(key, sizeof key, "tier_%s_%s", tier, what);
    const struct param *p = n > 0 && (size_t)n < sizeof key ? param_find(t, key) : NULL;
    return p ? p->value : otherwise;
}

static double global(const struct param_table *t, const char *key)
{
    const struct param *p = param_find(t, key);
    return p ? p->value : 0;
}

const struct quality *quality_of(struct build *b, const struct provider *p)
{
    if (!p || !p->tier)
        return &reference;
    for (int i = 0; i < b->n_qualities; i++)
        if (strcmp(b->qualities[i].tier, p->tier) == 0)
            return &b->qualities[i];
    if (b->n_qualities == QUALITIES_MAX)
        return &reference;
    struct quality *q = &b->qualities[b->n_qualities++];
    *q = (struct quality){
        .tier = p->tier,
        .failure_factor = value_or(&b->params, p->tier, "failure_factor", 1),
        .repair_hours = value_or(&b->params, p->tier, "repair_hours", 0),
        .setup_hours = value_or(&b->params, p->tier, "setup_hours", 0),
        .debug_factor = value_or(&b->params, p->tier, "debug_factor", 1),
        .failure_card_hours = global(&b->params, "train.failure_gpu_hours"),
        .restart_hours = global(&b->params, "train.restart_hours"),
    };
    const struct faults *f = &b->faults;
    if (f->factor > 0)
        *(f->tier == NULL ? &q->failure_card_hours : &q->failure_factor) *=
            f->tier == NULL || strcmp(f->tier, p->tier) == 0 ? f->factor : 1;
    return q;
}

double quality_lost_share(const struct quality *q, int cards)
{
    if (!(q->failure_card_hours > 0))
        return 0;
    const double each = q->failure_factor * (q->restart_hours + q->repair_hours) - q->restart_hours;
    return fmax(0, cards / q->failure_card_hours * each);
}

void quality_apply(struct build *b, struct draft *d, int group)
{
    const struct draft_group *g = &d->groups[group];
    const struct quality *q = quality_of(b, g->offer->sku->provider);
    const int per_run = d->shape.gpus_per_node * (d->shape.nodes > 0 ? d->shape.nodes : 1);
    const double lost = quality_lost_share(q, per_run > 0 ? per_run : g->cards * g->units);
    for (int i = 0; i < d->n_steps; i++) {
        struct draft_step *s = &d->steps[i];
        if (s->phase == PHASE_DEVELOP)
            s->stretch = q->debug_factor;
        if (s->phase == PHASE_TRAIN && s->group == group && s->hours > 0)
            s->hours = s->hours * (1 + lost) + q->setup_hours;
    }
    d->lost_share = lost;
    d->setup_hours = q->setup_hours;
    if (lost < 0.001 && q->setup_hours <= 0 && q->debug_factor <= 1)
        return;
    const bool debugs = q->debug_factor > 1;
    struct note *n = note_add(&d->reasons, debugs ? "provider_quality" : "provider_quality_runs");
    note_percent(n, "lost", lost);
    note_num(note_num(n, "setup_hours", q->setup_hours), "repair_hours", q->repair_hours);
    if (debugs)
        note_percent(n, "debug", q->debug_factor - 1);
}
