/* answer.c — see answer.h. */
#include "planner/offers/answer.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "planner/costing/costing.h"
#include "planner/reserve/reserve.h"

#define IDLE_HOURS_LEAST 24 /* less is not worth a word */

static const struct rate *rate_of_line(const struct offer *o, bool by_card, const struct cost_line *line)
{
    for (size_t i = 0; i < o->n_rates; i++)
        if (o->rates[i].price == line->price && o->rates[i].per_card == by_card)
            return &o->rates[i];
    return NULL;
}

/* Months or years that one machine is taken for. */
static int terms_of(const struct rate *r, const struct cost_line *line, int64_t machines)
{
    int64_t permits = r->quantity_milli > 0 ? line->quantity_milli / r->quantity_milli : 0;
    int months = r->price->term_months > 1 ? r->price->term_months : 1;
    int terms = r->mode == MODE_ANNUAL ? (months + 11) / 12 : months;
    return r->days == 0 || machines <= 0 ? 0 : (int)((permits + machines - 1) / machines) * terms;
}

/* The group's largest line says how it is paid. */
static void add_supply(struct option *o, const char *role, const struct offer *offer, bool by_card, int cards,
                       int units, bool serve)
{
    if (o->n_supply == sizeof o->supply / sizeof *o->supply)
        return;
    struct supply *s = &o->supply[o->n_supply++];
    *s = (struct supply){.role = role, .sku = offer->sku, .gpus_per_node = cards, .nodes = units};
    s->mode = offer->rates[0].mode;
    s->price = offer->rates[0].price;
    const struct cost_line *most = NULL;
    const struct rate *rate = NULL;
    for (size_t i = 0; i < o->cost.n_lines; i++) {
        const struct cost_line *l = &o->cost.lines[i];
        if (l->sku != offer->sku || (l->by_card != by_card && !offer_nodes_of_cards(offer)) ||
            (l->section == SECTION_INFERENCE_RESERVE) != serve || (most != NULL && l->minor <= most->minor))
            continue;
        const struct rate *r = rate_of_line(offer, l->by_card, l);
        if (r == NULL)
            continue;
        most = l;
        rate = r;
    }
    if (most == NULL)
        return;
    s->mode = most->mode;
    s->price = most->price;
    s->term_units = terms_of(rate, most, most->by_card ? (int64_t)cards * units : units);
}

/* A group without steps works for the service alone: its lines are the reserve's. */
static bool has_steps(const struct draft *d, int group)
{
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].group == group)
            return true;
    return false;
}

/* Cards that a reserve takes of each of its machines. */
static int reserve_cards(const struct reserve_plan *r)
{
    const int node = r->offer->sku->gpus_per_node, units = reserve_plan_units(r);
    return r->by_card && units < node ? units : node;
}

static void answer_supply(const struct draft *d, struct option *o)
{
    for (int g = 0; g < d->n_groups; g++) {
        const struct draft_group *group = &d->groups[g];
        bool serve = strcmp(group->role, "serve") == 0;
        if (!serve || d->reserve == NULL || d->reserve->offer == NULL)
            add_supply(o, group->role, group->offer, group->by_card, group->cards, group->units, !has_steps(d, g));
    }
    const struct reserve_plan *r = d->reserve;
    if (r == NULL || r->offer == NULL || reserve_plan_units(r) == 0)
        return;
    add_supply(o, "serve", r->offer, r->by_card, reserve_cards(r), reserve_plan_machines(r), true);
}

/* What a price is of, as a reader knows it: a team's level is no thing, and traffic has no id. */
static const char *priced_thing(const struct price *p)
{
    if (p->subject == SUBJECT_OPERATIONS || p->subject == SUBJECT_EGRESS)
        return price_subject_name(p->subject);
    return p->sku != NULL ? p->sku->id : p->subject_id;
}

/* The note of this code about this item: the one that is there, or a new one with the item as its first argument. */
static struct note *note_of_item(struct note_list *l, const char *code, const char *item)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i].code, code) == 0 && strcmp(l->items[i].args[0].text, item) == 0)
            return &l->items[i];
    return note_text(note_add(l, code), "item", item);
}

static date_t last_day(const struct option *o)
{
    date_t last = 0;
    for (size_t i = 0; i < o->n_phases; i++)
        last = o->phases[i].end_on > last ? o->phases[i].end_on : last;
    return last;
}

/* Every price of the bill that is not firm, or old, or ends before the plan does, is told with what it is of. */
static void answer_prices(struct build *b, struct option *o)
{
    for (size_t i = 0; i < o->cost.n_lines; i++) {
        const struct price *p = o->cost.lines[i].price;
        if (p == NULL)
            continue;
        const char *of = priced_thing(p);
        if (p->state == PRICE_ILLUSTRATIVE)
            note_of_item(&o->warnings, "price_illustrative", of);
        if (p->state == PRICE_DERIVED)
            note_text(note_of_item(&o->warnings, "price_derived", of), "rule", p->rule);
        if (p->effective_to != DATE_NONE && p->effective_to <= last_day(o))
            note_date(note_of_item(&o->warnings, "price_expires", of), "until", p->effective_to - 1);
        int age = p->observed_on != DATE_NONE ? b->day.as_of - p->observed_on : 0;
        if (age > (int)b->a.price_stale_days) {
            struct note *n = note_of_item(&o->warnings, "price_stale", of);
            note_num(note_date(n, "observed_on", p->observed_on), "days", age);
        }
    }
}

static const struct offer *offer_of(const struct draft *d, const struct sku *sku)
{
    for (int g = 0; g < d->n_groups; g++)
        if (d->groups[g].offer->sku == sku)
            return d->groups[g].offer;
    return NULL;
}

/* Spot machines are taken away now and then: what is lost is done again. The bill has its hours, the calendar does not
 * know on which days. */
static void answer_spot(const struct draft *d, struct option *o)
{
    double overhead = 0, hours = 0;
    for (size_t i = 0; i < o->cost.n_lines; i++) {
        const struct cost_line *l = &o->cost.lines[i];
        const struct offer *offer = l->mode == MODE_SPOT && l->sku != NULL ? offer_of(d, l->sku) : NULL;
        const struct rate *r = offer != NULL ? rate_of_line(offer, l->by_card, l) : NULL;
        overhead = r != NULL ? fmax(overhead, r->spot_overhead) : overhead;
    }
    for (size_t i = 0; i < o->n_phases; i++)
        hours += o->phases[i].code != PHASE_SERVE ? o->phases[i].hours : 0;
    if (!(d->base->spot_share > 0) || !(overhead > 0))
        return;
    struct note *n = note_percent(note_add(&o->warnings, "spot_interruptions"), "share", d->base->spot_share);
    note_num(note_percent(n, "overhead", overhead), "days", d->base->spot_share * overhead * hours / 24);
}

/* Work that nobody waits for: a corpus, or a service without a latency target. */
static bool can_wait(const struct build *b)
{
    const struct serving *s = &b->workload->serving;
    return (b->serves && s->ttft_ms <= 0 && s->tpot_ms <= 0) || b->workload->training.method == METHOD_EMBEDDING;
}

/* The hours that work which can wait takes of a term are used. */
static void answer_waiting_hours(const struct draft *d, struct option *o)
{
    const struct reserve_plan *r = d->reserve;
    for (size_t i = 0; r != NULL && i < r->batch.n_windows; i++) {
        const struct batch_window *w = &r->batch.windows[i];
        for (size_t k = 0; k < o->cost.n_lines; k++) {
            struct cost_line *l = &o->cost.lines[k];
            if (l->price != w->rate->price || l->by_card != w->by_card || l->section != w->section ||
                l->quantity_milli <= 0)
                continue;
            double permits = (double)l->quantity_milli / (double)w->rate->quantity_milli;
            l->unused_share = fmax(0, l->unused_share - w->machine_hours / (permits * w->rate->days * 24));
        }
    }
}

/* Machines of the job that are paid by the month stand idle at night while it is debugged: work that can wait has
 * those hours for nothing, and is told how many and what they cost. */
static void answer_idle_nights(const struct build *b, const struct draft *d, struct option *o)
{
    for (size_t i = 0; b->trains && can_wait(b) && b->workload->serving.batch_share <= 0 && i < o->cost.n_lines; i++) {
        const struct cost_line *l = &o->cost.lines[i];
        const struct offer *offer = l->section != SECTION_INFERENCE_RESERVE ? offer_of(d, l->sku) : NULL;
        const struct rate *r = offer != NULL ? rate_of_line(offer, l->by_card, l) : NULL;
        if (r == NULL || r->days == 0 || r->quantity_milli <= 0)
            continue;
        double permits = (double)l->quantity_milli / (double)r->quantity_milli;
        double hours = l->unused_share * permits * r->days * 24;
        if (hours < IDLE_HOURS_LEAST || note_find(&o->reasons, "idle_nights") != NULL)
            continue;
        struct note *n = note_num(note_add(&o->reasons, "idle_nights"), "hours", floor(hours));
        note_money(note_text(n, "item", l->sku->id), "paid", llround(l->unused_share * (double)l->minor));
    }
}

static void answer_finish(const struct build *b, const struct reckoning *r, struct finish *f)
{
    f->expected_days = f->low_days = f->high_days = ceil(r->schedule.finish_days - 1e-9);
    f->finish_on = b->start + r->schedule.finish_day;
    f->has_deadline = b->deadline_day != INT_MAX;
    f->meets_deadline = f->has_deadline ? r->schedule.finish_day <= b->deadline_day : true;
    f->deadline_probability = NAN;
}

/* Hours from which a month, months from which a year costs less, of the machine the job runs on. */
static void answer_break_even(const struct draft *d, struct option *o)
{
    double hour = INFINITY, month = INFINITY, year = INFINITY;
    const struct draft_group *g = &d->groups[d->train_group];
    for (size_t i = 0; i < g->offer->n_rates; i++) {
        const struct rate *r = &g->offer->rates[i];
        double cost = (double)r->quantity_milli * (double)r->unit_micros;
        if (r->per_card != g->by_card || !(cost > 0))
            continue;
        if (r->mode == MODE_HOURLY)
            hour = fmin(hour, cost);
        else if (r->mode == MODE_MONTHLY)
            month = fmin(month, cost * 30 / r->days);
        else if (r->mode == MODE_ANNUAL)
            year = fmin(year, cost * 365 / r->days);
    }
    o->monthly_beats_hourly_after_hours = isfinite(month) && isfinite(hour) ? month / hour : NAN;
    o->annual_beats_monthly_after_months = isfinite(year) && isfinite(month) ? year / month : NAN;
}

static const char *const TITLES[KIND_COUNT] = {
    [KIND_SINGLE_MACHINE] = "title_single",
    [KIND_SMALL_CLUSTER] = "title_cluster",
    [KIND_HYBRID_CLOUD] = "title_hybrid",
    [KIND_UNIVERSITY_TIME] = "title_university",
};

static void answer_title(const struct draft *d, struct option *o)
{
    const struct draft_group *g = &d->groups[d->train_group];
    const struct provider *p = g->offer->sku->provider;
    int cards = g->cards, machines = g->units;
    o->title = d->title;
    if (o->title.code != NULL)
        return;
    if (strcmp(g->role, "serve") == 0 && d->reserve != NULL && d->reserve->offer == g->offer) {
        cards = reserve_cards(d->reserve);
        machines = reserve_plan_machines(d->reserve);
    }
    struct note *n = &o->title;
    *n = (struct note){.code = TITLES[d->kind], .short_by = NAN};
    note_num(note_num(note_text(n, "gpu", g->offer->sku->gpu->name), "cards", cards), "nodes", machines);
    note_text(note_text(n, "provider", p->id), "mode",
              pricing_mode_name(o->n_supply > 0 ? o->supply[0].mode : MODE_HOURLY));
}

static void copy_notes(struct note_list *to, const struct note_list *from)
{
    for (size_t i = 0; i < from->n; i++)
        *note_add(to, from->items[i].code) = from->items[i];
}

/* What an option says besides what it costs and when it ends. */
static int answer_words(struct build *b, const struct draft *d, const struct shares *shares, struct option *o,
                        struct err *err)
{
    if (answer_phases(b, d, d->base, shares, o) != 0)
        return err_set(err, ERR_INTERNAL, "an option has more phases than an answer holds");
    if (d->estimate != NULL) {
        o->estimate = *d->estimate;
        copy_notes(&o->warnings, &d->estimate->warnings);
    }
    copy_notes(&o->reasons, &d->reasons);
    copy_notes(&o->warnings, &d->warnings);
    answer_prices(b, o);
    answer_spot(d, o);
    answer_waiting_hours(d, o);
    answer_idle_nights(b, d, o);
    answer_break_even(d, o);
    return 0;
}

int answer_option(struct build *b, struct draft *d, struct err *err)
{
    struct bill bill;
    struct shares shares;
    struct option *o = arena_alloc(b->arena, sizeof *o);
    if (o == NULL)
        return err_set(err, ERR_NOMEM, "no room for an option");
    d->option = o;
    o->kind = d->kind;
    note_list_init(&o->reasons, b->arena);
    note_list_init(&o->warnings, b->arena);
    if (costing_bill(&b->day, d, &d->base->schedule, &shares, &bill) != 0 || bill_cost(&bill, b->arena, &o->cost) != 0)
        return err_set(err, arena_failed(b->arena) ? ERR_NOMEM : ERR_RANGE, "an option's cost cannot be written down");
    answer_finish(b, d->base, &o->finish);
    if (d->reserve != NULL)
        reserve_answer(b, d->reserve, &o->reserve);
    else
        o->reserve.basis = "none";
    answer_supply(d, o);
    answer_title(d, o);
    if (b->order_only)
        return 0;
    if (answer_words(b, d, &shares, o, err) != 0)
        return -1;
    for (int i = 0; i < d->n_steps; i++)
        o->phases[i].machines_minor = bill.machines_used[i];
    return 0;
}
