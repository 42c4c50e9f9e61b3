/* batch_place.c — what can wait, put into the idle hours of the job's machines; the rest is billed. */
#include <math.h>
#include <string.h>

#include "planner/costing/calendar.h"
#include "planner/costing/idle.h"
#include "planner/reserve/batch.h"
#include "planner/reserve/reserve.h"
#include "planner/reserve/reserve_try.h"

/* Hours of an idle day that can be used: a machine that goes back to its job the same day changes hands twice. */
static double usable_hours(const struct build *b, double idle)
{
    return idle < 24 ? fmax(0, idle - b->a.batch_switch_hours) : idle;
}

static struct batch_window window_of(const struct idle_run *r, int first_day, double hours)
{
    return (struct batch_window){.offer = r->offer,
                                 .rate = r->rate,
                                 .section = r->section,
                                 .by_card = r->by_card,
                                 .first_day = first_day,
                                 .hours = hours,
                                 .units = r->units};
}

/* The most of the remaining requests that one run of idle days takes. 1: the model does not fit these machines. */
static int take_run(struct build *b, const struct idle_run *run, int from_day, struct reserve_plan *r, struct err *err)
{
    struct reserve_batch rate = {0}, *to = &r->batch;
    struct estimate e;
    const int node = run->offer->sku->gpus_per_node, first = run->first_day > from_day ? run->first_day : from_day;
    const double hours = usable_hours(b, run->hours), left = to->requests - to->requests_idle;
    if (first > run->last_day || !(hours > 0) || !(left > 0) || to->n_windows == BATCH_WINDOWS_MAX ||
        !run->offer->sku->provider->serves)
        return 0;
    const int rc = batch_rate(b, &r->serving, run->offer->sku, run->by_card ? run->units : node, &rate, &e, err);
    if (rc != 0)
        return rc;
    struct batch_window w = window_of(run, first, hours);
    const int replicas = run->by_card ? run->units / rate.cards : run->units * (node / rate.cards);
    w.units = run->by_card ? replicas * rate.cards : run->units;
    const double a_day = replicas * rate.per_hour * hours;
    const double days = fmin(run->last_day - first + 1, ceil(left / a_day - 1e-9));
    w.last_day = first + (int)days - 1;
    w.requests = fmin(left, days * a_day);
    w.machine_hours = ceil(w.requests / a_day * hours * w.units - 1e-9);
    w.machine_hours = fmin(w.machine_hours, days * hours * w.units);
    to->windows[to->n_windows++] = w;
    to->requests_idle += w.requests;
    to->hours_idle += w.machine_hours;
    return 0;
}

/* Hours that are paid for: a line of nothing, so that the bill shows where the work is done. */
static int add_free_lines(struct reserve_plan *r)
{
    for (size_t i = 0; i < r->batch.n_windows; i++) {
        const struct batch_window *w = &r->batch.windows[i];
        if (r->n_lines == RESERVE_LINES_MAX)
            return -1;
        r->lines[r->n_lines++] = (struct cost_line){
            .phase = PHASE_SERVE,
            .section = SECTION_INFERENCE_RESERVE,
            .sku = w->offer->sku,
            .item = "idle_hours",
            .quantity_milli = (int64_t)llround(w->machine_hours * 1000),
            .unit = w->by_card ? UNIT_GPU_HOUR : UNIT_NODE_HOUR,
            .tax_code = w->offer->sku->tax_code,
            .mode = w->rate->mode,
            .by_card = w->by_card,
            .price = w->rate->price,
        };
    }
    return 0;
}

/* The bill for what is left; *ret_net of a load `factor` times as large. */
static int bill_rest(const struct build *b, const struct reserve_plan *r, double factor, struct reserve_count n,
                     struct reserve_batch *batch, struct bill *bill, int64_t *ret_net, int64_t *ret_tax)
{
    const struct reserve_hours h = reserve_hours_of(b, r);
    const double rest = fmax(0, r->batch.requests * factor - r->batch.requests_idle - r->batch.in_service);
    if (r->batch.requests > 0)
        batch_spread(r->offer, r->by_card, rest > 1e-6 ? rest : 0, h.days, batch);
    return reserve_plan_bill(r, h, n, batch, bill, ret_net, ret_tax);
}

int batch_bill(const struct build *b, struct reserve_plan *r)
{
    struct bill bill;
    int64_t tax;
    struct reserve_batch low = r->batch, high = r->batch;
    const struct reserve_burst *far = &r->burst;
    const struct reserve_count least = {r->base_low, r->units_low, far->units_low},
                               most = {r->base_high, r->units_high, far->units_high},
                               middle = {r->base, r->units, far->units};
    if (bill_rest(b, r, b->a.load_low, least, &low, &bill, &r->net_low, &tax) != 0 ||
        bill_rest(b, r, b->a.load_high, most, &high, &bill, &r->net_high, &tax) != 0 ||
        bill_rest(b, r, 1, middle, &r->batch, &bill, &r->net, &r->tax) != 0 || bill.n > RESERVE_LINES_MAX)
        return -1;
    r->deposit = bill.deposit;
    r->n_lines = bill.n;
    memcpy(r->lines, bill.lines, bill.n * sizeof *r->lines);
    return 0;
}

static int bill_again(const struct build *b, struct reserve_plan *r)
{
    const int64_t net = r->net;
    if (batch_bill(b, r) != 0)
        return -1;
    r->batch.saved = net - r->net;
    r->over = reserve_over(r->offer, r->by_card, reserve_plan_units(r));
    return add_free_lines(r);
}

static void tell(const struct build *b, struct draft *d, const struct reserve_plan *r)
{
    const struct reserve_batch *t = &r->batch;
    const struct batch_window *w = t->windows;
    struct note *n = note_text(note_add(&d->reasons, "batch_in_idle_hours"), "item", w->offer->sku->id);
    note_num(note_num(n, "requests", floor(t->requests_idle)), "hours", t->hours_idle);
    note_percent(n, "share", t->requests_idle / t->requests);
    int last = w->last_day;
    for (size_t i = 1; i < t->n_windows; i++)
        last = t->windows[i].last_day > last ? t->windows[i].last_day : last;
    note_date(note_date(n, "from", b->start + w->first_day), "to", b->start + last);
    note_money(n, "saved", t->saved);
}

/* Idle hours that come before the trained model is there. */
static void tell_too_early(const struct build *b, struct draft *d, const struct idle_run *runs, int n, int from_day)
{
    double hours = 0;
    for (int i = 0; i < n; i++)
        for (int day = runs[i].first_day; day <= runs[i].last_day && day < from_day; day++)
            hours += usable_hours(b, runs[i].hours) * runs[i].units;
    if (hours > 0)
        note_date(note_num(note_add(&d->reasons, "batch_waits_for_model"), "hours", floor(hours)), "from",
                  b->start + from_day);
}

enum { AS_RECKONED = 8 }; /* what placing costs, in reckonings of a draft */

static int place(struct build *b, struct draft *d, struct err *err)
{
    struct idle_run runs[IDLE_RUNS_MAX];
    struct schedule s;
    int n, misses = 0;
    if (!b->trains || d->reserve == NULL || d->reserve->offer == NULL || !(d->reserve->batch.requests > 0))
        return 0;
    if (calendar_schedule(&b->a, d, &what_if_expected, &s) != 0 ||
        idle_runs(&b->a, d, &s, runs, IDLE_RUNS_MAX, &n) != 0)
        return 0; /* beyond the horizon: whoever reckons the draft says so */
    b->n_reckoned += AS_RECKONED;
    struct reserve_plan *own = arena_alloc(b->arena, sizeof *own);
    if (own == NULL)
        return err_set(err, ERR_NOMEM, "no room for a reserve of its own");
    *own = *d->reserve;
    const int from_day = b->workload->serving.own_model ? 0 : s.finish_day + 1;
    for (int i = 0; i < n; i++) {
        const int rc = take_run(b, &runs[i], from_day, own, err);
        if (rc < 0)
            return -1;
        misses += rc;
    }
    if (from_day > 0)
        tell_too_early(b, d, runs, n, from_day);
    if (misses > 0 && own->batch.n_windows == 0)
        note_add(&d->reasons, "batch_does_not_fit");
    if (own->batch.n_windows == 0)
        return 0;
    if (bill_again(b, own) != 0)
        return err_set(err, ERR_RANGE, "the reserve's cost leaves the range of amounts");
    d->reserve = own;
    tell(b, d, own);
    return 0;
}

int batch_keep(struct build *b, struct option_list *l, struct draft *d, struct err *err)
{
    if (place(b, d, err) != 0)
        return -1;
    return build_keep(b, l, d) != 0 ? err_set(err, ERR_NOMEM, "no room for options") : 0;
}
