/* hybrid_peaks.c — see hybrid_peaks.h.
 *
 * At home, what the mean takes works all day, and so many machines more in the hours of the peak; the cloud's carry
 * what is left of the peak. What a split costs at least is convex in the number at home, so it is walked both ways from
 * where this bound is lowest, until the bound is above the best that was reckoned.
 */
#include "planner/offers/hybrid_peaks.h"

#include <math.h>
#include <string.h>

#include "planner/costing/cover.h"
#include "planner/reserve/batch.h"
#include "planner/reserve/reserve_try.h"

enum { OFFERS_MAX = 8, CARDS_MAX = 6, WALK_MAX = 48, HALVINGS = 5, PLACES_MAX = 24, KNOWN_MAX = 24 };

/* A replica chosen for another load may carry so much more a card; a hundredth is margin. */
static const double CAPACITY_SLACK = SERVING_CLEARLY_BETTER + 0.01;

/* One machine that may stand at an end. */
struct end {
    const struct offer *offer;
    bool by_card;
    double day_cost, peak_cost; /* net and tax of one unit over the months, all day or in the peak, minor units */
    double each;                /* multiples of the mean that a unit carries at most */
    double setup;               /* of a service alone: validation on one replica's machines, minor units */
    double spare;               /* units' worth of spare replicas */
    int least, end;             /* home: units that the mean takes, and one more than may be tried */
    int step;                   /* units that one replica more takes */
    struct reserve_batch batch;
    struct serving_sizing mean; /* home: of the mean */
    struct known {              /* home: how much so many units carry, where it was asked */
        int units;
        double share;
    } known[KNOWN_MAX];
    int n_known;
};

/* A provider's machines as one end. */
struct place {
    const struct provider *at;
    bool far, serves;
    struct end ends[CARDS_MAX];
    int n;
};

struct split {
    const struct end *home, *cloud;
    int units, burst;
    double share; /* multiples of the mean that stay */
    struct reserve_batch batch;
    double cost;
};

struct hybrid_peaks {
    struct build *b;
    struct err *err;
    struct serving online;
    double peak;
    struct reserve_hours hours;
    struct place *places[PLACES_MAX];
    int n_places;
    struct hybrid_excess excess;
};

/* One line's search. */
struct search {
    struct hybrid_peaks *all;
    struct place *home;
    const struct place *cloud;
    struct split best; /* home NULL: none yet */
    double limit;      /* what it costs; at first what it may cost */
};

const char *hybrid_peaks_stay(const struct build *b)
{
    const struct reserve_plan *r = &b->reserve;
    return b->market.data_at_home                                       ? "data_sensitive"
           : r->offer == NULL                                           ? "nothing_serves"
           : r->serving.peak_factor <= 1 || r->serving.batch_share >= 1 ? "flat_load"
                                                                        : NULL;
}

bool hybrid_peaks_ends(const struct build *b, const struct provider *home, const struct provider *cloud)
{
    return home->serves && cloud->serves && market_provider_allowed(&b->market, home, false) &&
           market_provider_allowed(&b->market, cloud, true);
}

struct serving hybrid_peaks_load(const struct serving *online, double share, bool spare)
{
    struct serving s = *online;
    s.requests_per_s *= share;
    s.users *= share;
    s.concurrency *= share / online->peak_factor; /* is stated at the peak */
    s.peak_factor = 1;
    s.batch_share = 0;
    if (!spare)
        s.spare_replicas = 0;
    return s;
}

/* Units of this machine for a share of the mean; 0: it cannot serve it. -1: no memory. */
static int units_of(struct hybrid_peaks *s, const struct end *e, double share, bool spare, bool machines_alone,
                    struct serving_sizing *ret)
{
    const struct serving load = hybrid_peaks_load(&s->online, share, spare);
    const int rc = (machines_alone ? build_sizing_machines : build_sizing)(s->b, e->offer->sku, &load, ret, s->err);
    s->b->n_looked_up++;
    if (rc != 0 || !ret->feasible)
        return rc < 0 ? -1 : 0;
    return reserve_units(e->offer, e->by_card, ret->gpus, ret->gpus_per_replica);
}

static int units_for(struct hybrid_peaks *s, const struct end *e, double share, bool spare, struct serving_sizing *ret)
{
    return units_of(s, e, share, spare, true, ret);
}

/* The provider's machines, one of each card, cheapest card first. */
static size_t offers_at(struct build *b, const struct provider *at, const struct offer **ret, size_t max)
{
    const struct sku *skus[OFFERS_MAX * 2];
    const size_t n = market_cheapest_of(&b->market, at, false, skus, 0, OFFERS_MAX * 2);
    size_t found = 0;
    for (size_t i = 0; i < n && found < max; i++) {
        const struct offer *o = market_offer(&b->market, skus[i], NULL);
        bool twice = o == NULL;
        for (size_t k = 0; k < found && !twice; k++)
            twice = ret[k]->sku->gpu == skus[i]->gpu;
        if (!twice)
            ret[found++] = o;
    }
    return found;
}

/* Net and tax of one unit, all day or in the hours of the peak. -1: it cannot be paid for. */
static double cost_of_unit(const struct hybrid_peaks *s, const struct end *e, bool all_day)
{
    const struct reserve_batch none = {.requests = 0};
    struct bill bill;
    int64_t net, tax;
    s->b->n_reckoned++;
    if (reserve_bill(e->offer, e->by_card, s->hours, all_day, 1, &none, &bill, &net, &tax) != 0)
        return -1;
    return (double)net + (double)tax;
}

/* A service alone is validated first, on the machines of one replica; beside a job the job is. */
static double setup_of(const struct hybrid_peaks *s, const struct end *e)
{
    const struct reserve_batch none = {.requests = 0};
    const struct build *b = s->b;
    struct reserve_hours h = s->hours;
    struct bill bill;
    int64_t net, tax;
    if (b->trains || build_measured_on(b, e->offer->sku->gpu))
        return 0;
    const int units = e->by_card && e->mean.gpus_per_replica > 0 ? e->mean.gpus_per_replica : 1;
    h.days = (size_t)ceil(b->a.validate_days);
    h.base_milli = 24000;
    if (h.days == 0 || reserve_bill(e->offer, e->by_card, h, units, units, &none, &bill, &net, &tax) != 0)
        return 0;
    return (double)net + (double)tax;
}

/* How much a unit carries, from a sizing of `share`; what one costs. False where it cannot be paid for. */
static bool measure(const struct hybrid_peaks *s, double share, const struct serving_sizing *z, bool far, struct end *e)
{
    const double capacity = z->mean_requests_per_s / z->utilisation / z->gpus; /* of a card */
    const int node = e->offer->sku->gpus_per_node, per = z->gpus_per_replica;
    const int cards = e->by_card ? 1 : per > 1 && per <= node ? node / per * per : node;
    if (!(z->utilisation > 0) || z->gpus <= 0 || !(z->mean_requests_per_s > 0))
        return false;
    e->peak_cost = cost_of_unit(s, e, false);
    e->day_cost = far ? 0 : cost_of_unit(s, e, true);
    e->each = capacity * cards * s->b->a.serving_utilisation_target * CAPACITY_SLACK / (z->mean_requests_per_s / share);
    e->spare = !far ? fmax(0, s->online.spare_replicas) * per / cards / fmax(1, z->replicas_per_gpu) : 0;
    e->step = e->by_card && per > 1 ? per : 1;
    return e->peak_cost >= 0 && e->day_cost >= 0;
}

static void left_out(struct hybrid_peaks *s, const struct end *e, int units)
{
    const int over = reserve_over(e->offer, e->by_card, units);
    if (s->excess.offer == NULL || over < s->excess.over)
        s->excess = (struct hybrid_excess){e->offer, offer_machines(e->offer, e->by_card, units), over};
}

/* A machine at home and the numbers of it to choose from. 1: none; -1: no memory. */
static int measure_home(struct hybrid_peaks *s, struct end *e, bool *ret_serves)
{
    struct serving_sizing peak;
    struct estimate estimate;
    e->least = units_for(s, e, 1, true, &e->mean);
    if (e->least <= 0)
        return e->least < 0 ? -1 : 1;
    *ret_serves = true;
    e->end = units_for(s, e, s->peak, true, &peak);
    if (e->end < 0)
        return -1;
    if (e->end <= e->least || !measure(s, 1, &e->mean, false, e))
        return 1;
    const int listed =
        (e->offer->sku->max_nodes > 1 ? e->offer->sku->max_nodes : 1) * (e->by_card ? e->offer->sku->gpus_per_node : 1);
    if (e->least > listed)
        left_out(s, e, e->least);
    e->end = e->end < listed + 1 ? e->end : listed + 1;
    if (e->end <= e->least)
        return 1;
    e->setup = setup_of(s, e);
    e->batch = s->b->reserve.batch;
    e->batch.requests_idle = e->batch.hours_idle = 0;
    if (!(e->batch.requests > 0))
        return 0;
    const struct sku *sku = e->offer->sku;
    return batch_rate(s->b, &s->b->reserve.serving, sku, sku->gpus_per_node, &e->batch, &estimate, s->err);
}

static int measure_cloud(struct hybrid_peaks *s, struct end *e)
{
    struct serving_sizing z;
    const int units = units_for(s, e, s->peak - 1, false, &z);
    if (units <= 0)
        return units < 0 ? -1 : 1;
    return measure(s, s->peak - 1, &z, true, e) ? 0 : 1;
}

/* The provider's machines, measured once. NULL with the error filled: no memory. */
static struct place *place_of(struct hybrid_peaks *s, const struct provider *at, bool far)
{
    const struct offer *offers[OFFERS_MAX];
    for (int i = 0; i < s->n_places; i++)
        if (s->places[i]->at == at && s->places[i]->far == far)
            return s->places[i];
    struct place *p = arena_alloc(s->b->arena, sizeof *p);
    if (p == NULL) {
        err_set(s->err, ERR_NOMEM, "a hybrid service does not fit");
        return NULL;
    }
    p->at = at;
    p->far = far;
    const size_t n = offers_at(s->b, at, offers, OFFERS_MAX);
    for (size_t i = 0; i < n && p->n < CARDS_MAX; i++) {
        struct end *e = &p->ends[p->n];
        *e = (struct end){.offer = offers[i], .by_card = offers[i]->by_card};
        const int rc = far ? measure_cloud(s, e) : measure_home(s, e, &p->serves);
        if (rc < 0)
            return NULL;
        p->n += rc == 0;
    }
    if (s->n_places < PLACES_MAX)
        s->places[s->n_places++] = p;
    return p;
}

/* The most of the mean that so many units carry, which is 1 at least. -1: no memory. */
static int most_share(struct hybrid_peaks *s, struct end *e, int units, double *ret)
{
    double low = 1, high = s->peak;
    const double promised = (units - e->spare) * e->each / CAPACITY_SLACK * (1 - 1e-9);
    struct serving_sizing z;
    for (int i = 0; i < e->n_known; i++)
        if (e->known[i].units == units) {
            *ret = e->known[i].share;
            return 0;
        }
    for (int i = 0; i < HALVINGS && high - low > 1e-6; i++) {
        const double share = i == 0 && promised > low && promised < high ? promised : (low + high) / 2;
        const int n = units_for(s, e, share, true, &z);
        if (n < 0)
            return -1;
        if (n > 0 && n <= units)
            low = share;
        else
            high = share;
        if (low >= promised && promised > 1)
            break; /* one unit's worth of requests more does not fit */
    }
    *ret = low;
    if (e->n_known < KNOWN_MAX)
        e->known[e->n_known++] = (struct known){units, low};
    return 0;
}

static bool same_maker(const struct end *a, const struct end *b)
{
    return strcmp(a->offer->sku->gpu->vendor, b->offer->sku->gpu->vendor) == 0;
}

/* What is not in the cloud, without what can wait. */
static double cost_at_home(const struct end *e, int units)
{
    return e->setup + e->least * e->day_cost + (units - e->least) * e->peak_cost;
}

/* What so many units at home and machines of one kind in the cloud cost at least; convex in the units. */
static double bound(const struct hybrid_peaks *s, const struct end *home, const struct end *cloud, int units)
{
    const double rest = s->peak - fmax(1, (units - home->spare) * home->each);
    return cost_at_home(home, units) + cloud->peak_cost * fmax(1, rest / cloud->each);
}

/* Net and tax of one split, with the hours that what can wait is rented for. */
static bool cost_of(const struct hybrid_peaks *s, struct split *t)
{
    const struct build *b = s->b;
    const struct offer *o = t->home->offer;
    const double mean = t->home->mean.mean_requests_per_s;
    const int cards = t->home->least * (t->home->by_card ? 1 : o->sku->gpus_per_node);
    struct bill bill;
    int64_t net, tax;
    t->batch = t->home->batch;
    t->cost = cost_at_home(t->home, t->units) + t->burst * t->cloud->peak_cost;
    if (!(t->batch.requests > 0))
        return true;
    t->batch.in_service = fmin(t->batch.requests, batch_in_service(b, &b->reserve, &t->home->mean, mean, cards));
    batch_spread(o, t->home->by_card, t->batch.requests - t->batch.in_service, s->hours.days, &t->batch);
    if (reserve_bill(o, t->home->by_card, s->hours, t->home->least, t->units, &t->batch, &bill, &net, &tax) != 0)
        return false;
    t->cost = t->home->setup + (double)net + (double)tax + t->burst * t->cloud->peak_cost;
    return true;
}

/* So many units at home, and what is left in the cloud. */
static int try_units(struct search *s, struct end *home, const struct end *cloud, int units)
{
    struct split t = {.home = home, .cloud = cloud, .units = units};
    struct serving_sizing z;
    if (most_share(s->all, home, units, &t.share) != 0)
        return -1;
    const double rest = s->all->peak - t.share;
    const double least = cost_at_home(home, units) + cloud->peak_cost * fmax(1, rest / cloud->each);
    if (least >= s->limit)
        return 0;
    t.burst = units_for(s->all, cloud, rest, false, &z);
    if (t.burst < 0)
        return -1;
    if (t.burst > 0 && reserve_over(cloud->offer, cloud->by_card, t.burst) > 0)
        left_out(s->all, cloud, t.burst);
    else if (t.burst > 0 && cost_of(s->all, &t) && t.cost < s->limit) {
        s->best = t;
        s->limit = t.cost;
    }
    return 0;
}

/* Both ways from where the bound is lowest. */
static int walk(struct search *s, struct end *home, const struct end *cloud)
{
    const int step = home->step;
    int at = home->least, tries = s->all->b->lean ? WALK_MAX / 4 : WALK_MAX;
    double lowest = bound(s->all, home, cloud, at);
    for (int k = home->least + step; k < home->end; k += step) {
        const double mine = bound(s->all, home, cloud, k);
        if (mine >= lowest)
            break; /* convex */
        lowest = mine;
        at = k;
    }
    for (int way = step; way == step || way == -step; way -= 2 * step)
        for (int k = way > 0 ? at : at + way; k >= home->least && k < home->end && tries > 0; k += way, tries--) {
            if (bound(s->all, home, cloud, k) >= s->limit)
                break;
            if (try_units(s, home, cloud, k) != 0)
                return -1;
        }
    return 0;
}

static int in_band(const struct end *e, int gpus, int each, int units, bool more)
{
    const int n = reserve_units(e->offer, e->by_card, gpus, each);
    return more == (n > units) ? n : units;
}

static void settle_burst(const struct hybrid_peaks *s, const struct split *t, const struct serving_sizing *far,
                         struct reserve_burst *ret)
{
    *ret = (struct reserve_burst){
        .offer = t->cloud->offer,
        .by_card = t->cloud->by_card,
        .units = t->burst,
        .units_low = in_band(t->cloud, far->gpus_low, far->gpus_per_replica, t->burst, false),
        .units_high = in_band(t->cloud, far->gpus_high, far->gpus_per_replica, t->burst, true),
        .replicas = far->replicas,
        .share = 1 - t->share / s->peak,
        .requests = batch_mean_rate(s->b, &s->online) * (s->peak - t->share) * 3600 *
                    reserve_peak_hours(s->b, &s->online) * (double)s->hours.days,
    };
}

/* The split as a reserve. -1: no memory, too many lines, or an amount out of range. */
static int settle(struct hybrid_peaks *s, const struct split *t, struct reserve_plan *ret)
{
    const struct build *b = s->b;
    struct serving_sizing far, *near = &ret->sizing;
    const struct serving_sizing *mean = &t->home->mean;
    *ret = b->reserve;
    if (units_of(s, t->home, t->share, true, false, near) <= 0 ||
        units_of(s, t->cloud, s->peak - t->share, false, false, &far) <= 0)
        return err_set(s->err, ERR_NOMEM, "a hybrid service does not fit");
    ret->offer = t->home->offer;
    ret->by_card = t->home->by_card;
    ret->units = t->units;
    ret->units_low = in_band(t->home, near->gpus_low, near->gpus_per_replica, t->units, false);
    ret->units_high = in_band(t->home, near->gpus_high, near->gpus_per_replica, t->units, true);
    ret->base = t->home->least;
    ret->base_low = in_band(t->home, mean->gpus_low, mean->gpus_per_replica, ret->base, false);
    ret->base_high = in_band(t->home, mean->gpus_high, mean->gpus_per_replica, ret->base, true);
    ret->over = 0;
    ret->batch = t->batch;
    ret->n_ways = 0; /* of another machine */
    settle_burst(s, t, &far, &ret->burst);
    note_list_init(&ret->notes, b->arena);
    for (size_t i = 0; i < b->reserve.notes.n; i++) /* how that machine follows the load is no word of this one */
        if (strcmp(b->reserve.notes.items[i].code, "reserve_follows_load") != 0)
            *note_add(&ret->notes, b->reserve.notes.items[i].code) = b->reserve.notes.items[i];
    reserve_tell_day(ret);
    return batch_bill(b, ret) != 0 ? err_set(s->err, ERR_RANGE, "a service's cost leaves the range of amounts") : 0;
}

struct hybrid_peaks *hybrid_peaks_open(struct build *b, struct err *err)
{
    const struct serving *load = &b->reserve.serving;
    struct hybrid_peaks *s = arena_alloc(b->arena, sizeof *s);
    if (s == NULL) {
        err_set(err, ERR_NOMEM, "a hybrid service does not fit");
        return NULL;
    }
    *s = (struct hybrid_peaks){.b = b, .err = err, .online = batch_online(load), .peak = load->peak_factor};
    s->hours = reserve_hours_of(b, &b->reserve);
    return s;
}

const struct hybrid_excess *hybrid_peaks_excess(const struct hybrid_peaks *s)
{
    return s->excess.offer != NULL ? &s->excess : NULL;
}

int hybrid_peaks_split(struct hybrid_peaks *all, const struct provider *home, const struct provider *cloud,
                       double at_most, struct reserve_plan *ret, const char **ret_why)
{
    struct search s = {.all = all, .limit = at_most};
    *ret = (struct reserve_plan){0};
    s.home = place_of(all, home, false);
    if (s.home == NULL)
        return -1;
    if (s.home->n == 0 && s.home->serves)
        *ret_why = "peak_on_base";
    if (s.home->n == 0)
        return 0;
    s.cloud = place_of(all, cloud, true);
    if (s.cloud == NULL)
        return -1;
    for (int i = 0; i < s.home->n; i++)
        for (int k = 0; k < s.cloud->n; k++)
            if (same_maker(&s.home->ends[i], &s.cloud->ends[k]) && walk(&s, &s.home->ends[i], &s.cloud->ends[k]) != 0)
                return -1;
    if (s.best.home == NULL && isfinite(at_most) && s.cloud->n > 0)
        *ret_why = "peaks_dearer_out";
    return s.best.home != NULL ? settle(all, &s.best, ret) : 0;
}
