/* answer_phases.c — a draft's steps as the phases of an option: dates, what each costs, what its gate saves. */
#include <math.h>

#include "planner/offers/answer.h"

/* What stopping at a phase saves: everything that a later phase pays. A two-node gate inside the training itself saves
 * the training too. */
static int64_t saved_after(const struct draft *d, const struct shares *shares, enum phase_code phase)
{
    int64_t saved = shares->paid[SHARE_SERVE];
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].phase > phase || (phase == PHASE_TRAIN && d->steps[i].phase == PHASE_TRAIN))
            saved += shares->paid[i];
    return saved;
}

static struct phase *add_phase(struct option *o, enum phase_code code)
{
    if (o->n_phases == sizeof o->phases / sizeof *o->phases)
        return NULL;
    struct phase *p = &o->phases[o->n_phases];
    *p = (struct phase){.code = code};
    o->n_phases++;
    return p;
}

static void answer_step(const struct build *b, const struct draft *d, const struct reckoning *r,
                        const struct shares *shares, int i, struct phase *p)
{
    const struct draft_step *s = &d->steps[i];
    const struct draft_group *g = &d->groups[s->group];
    bool lasts = r->schedule.last_day[i] >= r->schedule.first_day[i];
    p->minor = shares->used[i];
    p->start_on = b->start + r->schedule.first_day[i];
    p->end_on = lasts ? b->start + r->schedule.last_day[i] : p->start_on;
    const int days = r->schedule.last_day[i] - r->schedule.first_day[i] + 1;
    p->hours = s->phase == PHASE_DEVELOP ? days * s->hours_per_day : s->hours;
    p->gpus = lasts ? g->cards * s->units : 0;
    p->reasons = s->reasons;
    p->has_gate = s->has_gate && lasts;
    if (p->has_gate) {
        p->gate = s->gate;
        p->gate.saved_minor = saved_after(d, shares, s->phase);
        note_money(&p->gate.text, "saved", p->gate.saved_minor);
    }
}

int answer_phases(struct build *b, const struct draft *d, const struct reckoning *r, const struct shares *shares,
                  struct option *o)
{
    for (int i = 0; i < d->n_steps; i++) {
        struct phase *p = add_phase(o, d->steps[i].phase);
        if (p == NULL)
            return -1;
        answer_step(b, d, r, shares, i, p);
    }
    const struct reserve_plan *load = d->reserve;
    if (load == NULL || load->months <= 0)
        return 0;
    struct phase *serve = add_phase(o, PHASE_SERVE);
    if (serve == NULL)
        return -1;
    serve->minor = shares->used[SHARE_SERVE];
    int days = (int)ceil(load->months * b->a.month_days - 1e-9);
    double per_day = load->serving.hours_per_day > 0 ? load->serving.hours_per_day : 24;
    serve->hours = days * per_day;
    if (load->serving.batch_share >= 1) { /* what is rented for work that can wait, one hour after another */
        serve->hours = load->batch.hours;
        days = (int)fmax(1, ceil(load->batch.hours / 24 - 1e-9));
    }
    serve->start_on = b->start + r->schedule.finish_day + 1;
    serve->end_on = serve->start_on + days - 1;
    serve->gpus = reserve_plan_gpus(load);
    return 0;
}
