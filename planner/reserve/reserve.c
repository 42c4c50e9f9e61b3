/* reserve.c — the inference reserve (docs/plans.md): always stated, sized like any other load.
 *
 * GPUs are tried in the order of what the reserve could cost on them at best, until the next one cannot be cheaper.
 */
#include "planner/reserve/reserve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/money.h"
#include "planner/reserve/batch.h"
#include "planner/reserve/reserve_cards.h"
#include "planner/reserve/reserve_try.h"

enum { SIZINGS_MAX = 24, SIZINGS_SERVING = 40, SIZINGS_LEAN = 4, STRONGEST = 3 };

/* The cheapest machines of different classes of cards, cheapest first, and the one that takes the fewest machines. */
struct reserve_ranking {
    struct reserve_best best[RESERVE_ALTERNATIVES_MAX], fewest;
    size_t n;
};

static void default_load(const struct build *b, struct serving *s)
{
    s->stated = true;
    s->requests_per_s = b->a.reserve_requests_per_s;
    s->input_tokens = (int)b->a.reserve_input_tokens;
    s->output_tokens = (int)b->a.reserve_output_tokens;
    if (b->workload->model.flops_per_sample > 0) /* no text: an image, of as many passes as the serving room takes */
        s->input_tokens = s->output_tokens = 0;
    s->peak_factor = b->a.reserve_peak_factor;
    s->spare_replicas = 0;
}

static void resolve_load(struct build *b, struct reserve_plan *r)
{
    r->serving = b->workload->serving;
    r->basis = r->serving.stated ? "sized" : "default";
    bool idle = r->serving.requests_per_s <= 0 && r->serving.concurrency <= 0 && r->serving.users <= 0;
    if (!r->serving.stated) {
        default_load(b, &r->serving);
    } else if (idle) {
        r->serving.requests_per_s = b->a.reserve_requests_per_s;
        if (!r->serving.months_stated || r->serving.months > 0) /* no service is wanted: nothing is assumed of it */
            note_num(note_add(&r->notes, "load_assumed"), "requests_per_s", b->a.reserve_requests_per_s);
    }
    if (r->serving.peak_factor <= 0)
        r->serving.peak_factor = b->a.reserve_peak_factor;
    r->months = r->serving.months_stated ? r->serving.months : b->a.reserve_months;
    if (r->months <= 0) {
        r->basis = "none";
        r->months = 0;
    }
}

static int units_of(const struct reserve_best *r)
{
    return r->units + r->batch.units * (r->by_card ? r->batch.cards : 1);
}

static int machines_of(const struct reserve_best *r)
{
    return offer_machines(r->offer, r->by_card, units_of(r));
}

static int cards_of(const struct reserve_best *r)
{
    return r->by_card ? units_of(r) : units_of(r) * r->offer->sku->gpus_per_node;
}

static bool fewer(const struct reserve_best *a, const struct reserve_best *b)
{
    int x = machines_of(a), y = machines_of(b);
    if (a->over != b->over)
        return a->over < b->over;
    if (x != y)
        return x < y;
    return cards_of(a) != cards_of(b) ? cards_of(a) < cards_of(b) : a->net < b->net;
}

/* Keeps the cheapest machine of each class, cheapest first. */
static void keep(struct reserve_ranking *ranking, const struct reserve_best *found)
{
    size_t at = ranking->n;
    if (ranking->fewest.offer == NULL || fewer(found, &ranking->fewest))
        ranking->fewest = *found;
    for (size_t i = 0; i < ranking->n; i++) {
        if (ranking->best[i].offer->sku->gpu->gpu_class != found->offer->sku->gpu->gpu_class)
            continue;
        if (!reserve_better(found, &ranking->best[i]))
            return;
        memmove(&ranking->best[i], &ranking->best[i + 1], (ranking->n - i - 1) * sizeof *ranking->best);
        at = --ranking->n;
        break;
    }
    while (at > 0 && reserve_better(found, &ranking->best[at - 1]))
        at--;
    if (at == RESERVE_ALTERNATIVES_MAX)
        return;
    ranking->n = ranking->n < RESERVE_ALTERNATIVES_MAX ? ranking->n + 1 : RESERVE_ALTERNATIVES_MAX;
    memmove(&ranking->best[at + 1], &ranking->best[at], (ranking->n - at - 1) * sizeof *ranking->best);
    ranking->best[at] = *found;
}

struct gpu_bound {
    const struct gpu *gpu;
    double least; /* CNY that the reserve costs at best */
};

static int by_least(const void *a, const void *b)
{
    const struct gpu_bound *x = a, *y = b;
    if (x->least < y->least || x->least > y->least)
        return x->least < y->least ? -1 : 1;
    return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

/* Cards that the mean load needs at the card's peak rate: every token passes through the active weights once. */
static double least_by_work(const struct build *b, const struct reserve_plan *r, const struct gpu *gpu)
{
    const struct serving *s = &r->serving;
    const struct model *m = build_served_model(b);
    const double rate = batch_mean_rate(b, s) * (1 - s->batch_share);
    const double peak = fmax(fmax(gpu->bf16_tflops, gpu->fp8_tflops), fmax(gpu->fp4_tflops, gpu->int8_tops)) * 1e12;
    const double work =
        2 * (m->active_params > 0 ? m->active_params : m->params) * (s->input_tokens + s->output_tokens);
    return peak > 0 ? rate * work / peak : 0;
}

/* Cards that the weights and the work need at least, times the cheapest card of this GPU. */
static double least_cost(const struct build *b, const struct reserve_plan *r, size_t g)
{
    const struct gpu *gpu = &b->catalog->gpus[g];
    double month, hour;
    if (!market_gpu_allowed(&b->market, gpu))
        return INFINITY;
    market_least(&b->market, g, &month, &hour);
    if (isinf(month))
        return INFINITY;
    double hours = r->serving.hours_per_day > 0 ? r->serving.hours_per_day : 24;
    double card = fmin(month * ceil(r->months), hour * hours * r->months * b->a.month_days);
    const struct model *m = build_served_model(b);
    double published = m->published_bits > 0 ? fmin(m->published_bits, 8) : 8;
    double bits = serving_least_bits(b->serving_k, &r->serving, m, published);
    double cards = ceil(m->params * bits / 8 / (gpu->usable_gib * BYTES_PER_GIB));
    double all = card * fmax(fmax(cards, 1), least_by_work(b, r, gpu));
    /* A card that works alone on what can wait is worth what it reads a second for its price. */
    return r->serving.batch_share < 1 ? all : all / fmax(gpu->mem_bw_gb_s, 1);
}

static int try_gpu(struct build *b, struct reserve_plan *r, const struct gpu *gpu, struct reserve_hours h,
                   struct reserve_ranking *ranking, struct err *err)
{
    struct reserve_best best;
    if (reserve_try(b, r, gpu, h, RESERVE_OFFERS_MAX, &best, err) != 0)
        return -1;
    if (best.offer != NULL)
        keep(ranking, &best);
    return 0;
}

static double strength(const struct gpu *g)
{
    return g->mem_bw_gb_s * g->usable_gib;
}

/* Where serving is all there is, or no cheap card carries it, the dear cards with the most memory and bandwidth are
 * tried as well: a customer wants to see the smallest card that carries the service beside the fastest, and whether one
 * machine could do it. */
static int try_strongest(struct build *b, struct reserve_plan *r, struct gpu_bound *left, size_t n_left,
                         struct reserve_hours h, struct reserve_ranking *ranking, struct err *err)
{
    for (int round = 0; round < STRONGEST; round++) {
        size_t best = n_left;
        for (size_t i = 0; i < n_left; i++)
            if (isfinite(left[i].least) && (best == n_left || strength(left[i].gpu) > strength(left[best].gpu)))
                best = i;
        if (best == n_left)
            return 0;
        left[best].least = INFINITY; /* tried */
        if (try_gpu(b, r, left[best].gpu, h, ranking, err) != 0)
            return -1;
    }
    return 0;
}

/* What takes the fewest machines has the last place, unless something shown takes as few of them and less than twice
 * the cards. */
static void seat_fewest(struct reserve_ranking *ranking)
{
    const struct reserve_best *few = &ranking->fewest;
    for (size_t i = 0; i < ranking->n; i++)
        if (machines_of(&ranking->best[i]) <= machines_of(few) && cards_of(&ranking->best[i]) < 2 * cards_of(few))
            return;
    size_t at = ranking->n < RESERVE_ALTERNATIVES_MAX ? ranking->n++ : ranking->n - 1;
    ranking->best[at] = *few;
}

static int search(struct build *b, struct reserve_plan *r, struct reserve_hours h, struct reserve_ranking *ranking,
                  struct err *err)
{
    struct gpu_bound *order = arena_array(b->arena, b->catalog->n_gpus + 1, sizeof *order);
    if (order == NULL || b->catalog->market == NULL)
        return err_set(err, ERR_NOMEM, "no room to order the cards");
    for (size_t g = 0; g < b->catalog->n_gpus; g++)
        order[g] = (struct gpu_bound){&b->catalog->gpus[g], least_cost(b, r, g)};
    qsort(order, b->catalog->n_gpus, sizeof *order, by_least);
    int limit = b->lean ? SIZINGS_LEAN : b->trains ? SIZINGS_MAX : SIZINGS_SERVING;
    size_t wanted = b->trains ? 1 : RESERVE_ALTERNATIVES_MAX;
    size_t g = 0;
    for (; g < b->catalog->n_gpus && isfinite(order[g].least) && b->n_sizings < limit; g++) {
        const double bound = order[g].least * fmax(0, 1 - r->serving.batch_share);
        if (ranking->n >= wanted && ranking->best[wanted - 1].over == 0 &&
            bound * b->market.rough_cny * 0.98 > (double)ranking->best[wanted - 1].net / MONEY_MINOR)
            break;
        if (try_gpu(b, r, order[g].gpu, h, ranking, err) != 0)
            return -1;
    }
    return (b->trains || b->lean) && ranking->n > 0
               ? 0
               : try_strongest(b, r, order + g, b->catalog->n_gpus - g, h, ranking, err);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* The machines at both ends of the load's band. */
static void take_units(struct reserve_plan *r, const struct reserve_best *best)
{
    const struct serving_sizing *z = &best->sizing;
    const int each = z->gpus_per_replica;
    r->offer = best->offer;
    r->serving = best->serving;
    r->sizing = *z;
    r->by_card = best->by_card;
    r->units = best->units;
    r->base = best->base;
    r->over = best->over;
    r->batch = best->batch;
    r->units_low = least(best->units, reserve_units(best->offer, best->by_card, z->gpus_low, each));
    r->units_high = most(best->units, reserve_units(best->offer, best->by_card, z->gpus_high, each));
    r->base_low = least(best->base, reserve_units(best->offer, best->by_card, z->gpus_mean_low, each));
    r->base_high = most(best->base, reserve_units(best->offer, best->by_card, z->gpus_mean_high, each));
}

static int take_best(const struct build *b, struct reserve_plan *r, const struct reserve_best *best,
                     struct reserve_hours h, struct err *err)
{
    struct bill bill;
    int64_t tax;
    take_units(r, best);
    const struct offer *o = best->offer;
    struct reserve_batch low = r->batch, high = r->batch;
    if (r->batch.requests > 0) {
        const double all = r->batch.requests, service = r->batch.in_service;
        batch_spread(o, r->by_card, fmax(0, all * b->a.load_low - service), h.days, &low);
        batch_spread(o, r->by_card, fmax(0, all * b->a.load_high - service), h.days, &high);
    }
    if (reserve_bill(o, r->by_card, h, r->base_low, r->units_low, &low, &bill, &r->net_low, &tax) != 0 ||
        reserve_bill(o, r->by_card, h, r->base_high, r->units_high, &high, &bill, &r->net_high, &tax) != 0 ||
        reserve_bill(o, r->by_card, h, r->base, r->units, &r->batch, &bill, &r->net, &r->tax) != 0 ||
        bill.n > RESERVE_LINES_MAX)
        return err_set(err, ERR_RANGE, "the reserve's cost leaves the range of amounts");
    memcpy(r->lines, bill.lines, bill.n * sizeof *r->lines);
    r->n_lines = bill.n;
    r->deposit = bill.deposit;
    return 0;
}

/* The default's rule in words, and how the machines follow the day. */
static void tell(const struct build *b, struct reserve_plan *r)
{
    if (strcmp(r->basis, "default") == 0) {
        struct note *note = note_num(note_add(&r->notes, "reserve_default"), "months", r->months);
        note_num(note_num(note, "requests_per_s", b->a.reserve_requests_per_s), "peak_factor", r->serving.peak_factor);
        const struct param *passes = param_find(&b->params, "serve_image_passes");
        bool text = r->serving.output_tokens > 0 || passes == NULL;
        note_num(note, "input_tokens", r->serving.input_tokens);
        note_num(note, "output_tokens", text ? r->serving.output_tokens : passes->value);
        note_num(note, "bits", r->serving.weight_bits);
    }
    reserve_tell_day(r);
}

static int build_within(struct build *b, struct err *err)
{
    struct reserve_plan *r = &b->reserve;
    struct reserve_ranking ranking = {.n = 0};
    *r = (struct reserve_plan){0};
    note_list_init(&r->notes, b->arena);
    resolve_load(b, r);
    if (r->months <= 0) {
        note_add(&r->notes, "reserve_none");
        return 0;
    }
    const struct reserve_hours h = reserve_hours_of(b, r);
    r->batch.requests = batch_requests(b, r);
    r->peak_hours = reserve_peak_hours(b, &r->serving);
    if (search(b, r, h, &ranking, err) != 0)
        return -1;
    if (ranking.n == 0) {
        r->missing = true;
        note_add(&r->notes, "reserve_missing");
        if (r->why_not.code != NULL)
            *note_add(&r->notes, r->why_not.code) = r->why_not;
        return 0;
    }
    if (!b->trains)
        seat_fewest(&ranking);
    for (size_t i = ranking.n; i-- > 0;) {
        struct reserve_plan *to = i == 0 ? r : &b->alternatives[i - 1];
        *to = *r;
        if (i > 0) { /* a list of its own, with what was said so far */
            note_list_init(&to->notes, b->arena);
            for (size_t n = 0; n < r->notes.n; n++)
                *note_add(&to->notes, r->notes.items[n].code) = r->notes.items[n];
        }
        if (take_best(b, to, &ranking.best[i], h, err) != 0)
            return -1;
        tell(b, to);
        if (!b->lean && !b->order_only)
            reserve_ways(to, h);
    }
    if (!b->lean && !b->order_only && reserve_cards(b, r, h, err) != 0)
        return -1;
    b->n_alternatives = b->trains || ranking.n == 0 ? 0 : ranking.n - 1;
    for (size_t i = 0; i < b->n_alternatives; i++) {
        memcpy(b->alternatives[i].cards, r->cards, sizeof r->cards);
        b->alternatives[i].n_cards = r->n_cards;
    }
    return 0;
}

/* What does not bind a second look: first the city, then the lists of cards and suppliers; and the bits of the weights,
 * where the request leaves them open. */
enum { LIMITS_NONE_LIFTED, LIMITS_CITY, LIMITS_LISTS, LIMITS_END };
static const double BITS[] = {0, 8, 4}; /* 0: as the request or the default has it */

/* Another look at the same market, for a request that binds it otherwise; a re-plan's other price holds there too. */
static int look_again(struct build *b, const struct workload *w, struct build *child, struct err *err)
{
    const struct plan_request q = {b->catalog, w, b->day.as_of};
    if (build_init_like(b, child, &q, b->arena, err) != 0)
        return -1;
    child->day.reprice = b->day.reprice;
    build_inherit(b, child);
    return 0;
}

/* What it costs is the plan's own effort. */
static int look_within(struct build *b, struct build *child, struct err *err)
{
    const int rc = build_within(child, err);
    build_count_sizings(child, b);
    return rc;
}

static int build_without(struct build *b, int lifted, double bits, struct build *child, struct err *err)
{
    struct workload *w = arena_room(b->arena, 1, sizeof *w);
    if (w == NULL)
        return err_set(err, ERR_NOMEM, "no room for another reserve");
    *w = *b->workload;
    if (lifted >= LIMITS_CITY)
        w->constraints.city = NULL;
    if (lifted >= LIMITS_LISTS)
        w->constraints.n_gpus = w->constraints.n_providers = 0;
    if (bits > 0)
        w->serving.weight_bits = bits;
    if (look_again(b, w, child, err) != 0)
        return -1;
    child->lean = b->lean;
    return look_within(b, child, err);
}

int reserve_at(struct build *b, const struct provider *at, struct reserve_plan *ret, struct err *err)
{
    struct workload *w = arena_room(b->arena, 1, sizeof *w);
    struct build *child = arena_room(b->arena, 1, sizeof *child);
    const char **only = arena_array(b->arena, 1, sizeof *only);
    if (w == NULL || child == NULL || only == NULL)
        return err_set(err, ERR_NOMEM, "no room for another reserve");
    *w = *b->workload;
    *only = at->id;
    w->constraints.city = NULL;
    w->constraints.providers = only;
    w->constraints.n_providers = 1;
    if (look_again(b, w, child, err) != 0)
        return -1;
    child->lean = true; /* one machine is enough: it is compared with nothing */
    if (look_within(b, child, err) != 0)
        return -1;
    *ret = child->reserve;
    return 0;
}

/* Takes a reserve that was found another way, and says which. */
static void take_child(struct build *b, const struct build *child, int lifted, double bits)
{
    b->reserve = child->reserve;
    if (bits > 0) {
        struct note *n = note_num(note_add(&b->reserve.notes, "reserve_fewer_bits"), "bits", bits);
        note_text(n, "gpu", b->reserve.offer->sku->gpu->name);
    }
    if (lifted == LIMITS_NONE_LIFTED)
        return;
    struct note *n = note_add(&b->warnings, "reserve_outside_limits");
    note_text(note_text(n, "provider", b->reserve.offer->sku->provider->id), "gpu", b->reserve.offer->sku->gpu->name);
}

/* Where nobody within the request's limits can carry the load, it is tried with fewer bits if the request leaves them
 * open; a job that trains then gets its number from somebody outside its limits. The answer says so. Data that may not
 * leave keeps its own rule, and so does a precision that was asked for. */
int reserve_build(struct build *b, struct err *err)
{
    const struct serving *load = &b->workload->serving;
    const bool open = load->weight_bits <= 0 && load->weight_format == WF_UNSTATED;
    if (build_within(b, err) != 0)
        return -1;
    for (int lifted = 0; lifted < (b->trains ? LIMITS_END : LIMITS_CITY); lifted++)
        for (size_t i = 0; i < sizeof BITS / sizeof *BITS && b->reserve.missing; i++) {
            const bool first = lifted == LIMITS_NONE_LIFTED && i == 0, closed = i > 0 && !open;
            struct build *child = arena_room(b->arena, 1, sizeof *child);
            if (child == NULL)
                return err_set(err, ERR_NOMEM, "no room for another reserve");
            if (first || closed)
                continue;
            if (build_without(b, lifted, BITS[i], child, err) != 0)
                return -1;
            if (!child->reserve.missing)
                take_child(b, child, lifted, BITS[i]);
            else if (lifted == LIMITS_NONE_LIFTED && child->reserve.why_not.code != NULL)
                b->reserve.why_not = child->reserve.why_not; /* what stops it even so */
        }
    return 0;
}

void reserve_answer(const struct build *b, const struct reserve_plan *r, struct reserve *ret)
{
    *ret = (struct reserve){.basis = r->basis, .months = r->months, .notes = r->notes};
    if (r->offer == NULL)
        return;
    const int each = r->by_card ? 1 : r->offer->sku->gpus_per_node;
    ret->sku = r->offer->sku;
    ret->gpu = r->offer->sku->gpu;
    ret->gpus = reserve_plan_gpus(r);
    ret->base_gpus = (reserve_plan_units(r) - (r->units - r->base)) * each;
    ret->peak_hours = r->peak_hours;
    ret->replicas = r->sizing.replicas + r->batch.replicas + r->burst.replicas;
    if (r->burst.offer != NULL)
        ret->burst = (struct reserve_away){.sku = r->burst.offer->sku,
                                           .gpus = reserve_plan_gpus(r) - reserve_plan_units(r) * each,
                                           .replicas = r->burst.replicas,
                                           .hours_per_day = r->peak_hours,
                                           .share_of_peak = r->burst.share};
    batch_answer(b, &r->batch, &ret->waiting);
    ret->replicas_per_gpu = r->sizing.replicas_per_gpu;
    memcpy(ret->ways, r->ways, sizeof ret->ways);
    memcpy(ret->cards, r->cards, sizeof ret->cards);
    ret->n_ways = r->n_ways;
    ret->n_cards = r->n_cards;
    ret->utilisation = r->sizing.utilisation;
    ret->total = r->net;
    ret->low = r->net_low < r->net ? r->net_low : r->net;
    ret->high = r->net_high > r->net ? r->net_high : r->net;
    ret->monthly = (int64_t)llround((double)r->net / r->months);
    ret->estimate = r->sizing.at_peak;
    ret->has_estimate = true;
}
