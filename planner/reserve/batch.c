/* batch.c — see batch.h. */
#include "planner/reserve/batch.h"

#include <math.h>
#include <string.h>

double batch_mean_rate(const struct build *b, const struct serving *load)
{
    if (load->requests_per_s > 0 || load->users <= 0)
        return fmax(0, load->requests_per_s);
    if (load->requests_per_user_hour > 0)
        return load->users * load->requests_per_user_hour / 3600;
    const struct param *p = param_find(&b->params, "serve_requests_per_user_hour");
    return p != NULL ? load->users * p->value / 3600 : 0;
}

double batch_requests(const struct build *b, const struct reserve_plan *r)
{
    const struct serving *s = &r->serving;
    const double hours = s->hours_per_day > 0 ? fmin(24, s->hours_per_day) : 24;
    return s->batch_share * batch_mean_rate(b, s) * 3600 * hours * ceil(r->months * b->a.month_days - 1e-9);
}

struct serving batch_online(const struct serving *load)
{
    struct serving s = *load;
    s.requests_per_s *= 1 - load->batch_share;
    s.users *= 1 - load->batch_share;
    return s;
}

/* One machine's best replica for requests of some length; it does not depend on how many there are. */
struct batch_known {
    struct shape shape; /* of the whole machine, or of the cards there are */
    struct serving load;
    int rc;
    struct reserve_batch rate;
    struct estimate estimate;
    const struct batch_known *next;
};

struct batch_memory {
    struct arena *arena; /* of the plan whose memory it is: it outlives the plans made of it */
    const struct batch_known *first;
};

static struct serving without_amounts(const struct serving *load)
{
    struct serving s = *load;
    s.requests_per_s = s.concurrency = s.users = s.batch_share = s.months = 0;
    s.months_stated = false;
    return s;
}

static int measure(struct build *b, const struct sku *sku, int most, struct batch_known *k, struct err *err)
{
    double best = 0;
    k->estimate = (struct estimate){.fits = FITS_NO};
    for (int n = 1; n <= most; n *= 2) {
        const struct shape shape = build_shape(b, sku, n, 1, NULL);
        const struct serving_request q = {.model = build_served_model(b), .serving = &k->load, .shape = &shape};
        struct estimate e;
        b->n_measured++;
        if (serving_estimate(b->serving_k, &q, b->batches->arena, &e, err) != 0)
            return err->code == ERR_NOMEM ? -1 : 1;
        if (e.fits == FITS_NO && best <= 0)
            k->estimate = e;
        const double rate = e.serving.requests_per_s * b->a.batch_utilisation * 3600;
        if (e.fits == FITS_NO || !(rate / n > best))
            continue;
        best = rate / n;
        k->rate.cards = n;
        k->rate.per_hour = rate;
        k->estimate = e;
    }
    return best > 0 ? 0 : 1;
}

static const struct batch_known *known_for(struct build *b, const struct serving *load, const struct sku *sku, int most,
                                           struct err *err)
{
    const struct serving plain = without_amounts(load);
    const struct shape shape = build_shape(b, sku, most, 1, NULL);
    if (b->batches == NULL && (b->batches = arena_alloc(b->arena, sizeof *b->batches)) != NULL)
        b->batches->arena = b->arena;
    for (const struct batch_known *k = b->batches != NULL ? b->batches->first : NULL; k != NULL; k = k->next)
        if (shape_same(&k->shape, &shape) && memcmp(&k->load, &plain, sizeof plain) == 0)
            return k;
    struct batch_known *own = b->batches != NULL ? arena_alloc(b->batches->arena, sizeof *own) : NULL;
    if (own == NULL) {
        err_set(err, ERR_NOMEM, "no room for what can wait");
        return NULL;
    }
    *own = (struct batch_known){.shape = shape, .load = plain, .next = b->batches->first};
    own->rc = measure(b, sku, most, own, err);
    b->batches->first = own;
    return own->rc < 0 ? NULL : own;
}

int batch_rate(struct build *b, const struct serving *load, const struct sku *sku, int cards, struct reserve_batch *ret,
               struct estimate *ret_estimate, struct err *err)
{
    const int most = cards < sku->gpus_per_node ? cards : sku->gpus_per_node;
    const struct batch_known *k = known_for(b, load, sku, most, err);
    if (k == NULL)
        return -1;
    *ret_estimate = k->estimate;
    if (k->rate.cards > 0) {
        ret->cards = k->rate.cards;
        ret->per_hour = k->rate.per_hour;
    }
    return k->rc;
}

double batch_in_service(const struct build *b, const struct reserve_plan *r, const struct serving_sizing *z,
                        double mean, int cards)
{
    const double day = r->serving.hours_per_day > 0 ? fmin(24, r->serving.hours_per_day) : 24;
    const double hours = day * ceil(r->months * b->a.month_days - 1e-9);
    if (!(z->utilisation > 0) || z->gpus <= 0)
        return 0;
    const double capacity = z->mean_requests_per_s / z->utilisation / z->gpus * cards;
    return fmax(0, capacity * b->a.batch_utilisation - mean) * 3600 * hours;
}

/* Replicas of one unit: a node's, or one where cards are bought for it. */
static int per_unit(const struct offer *o, bool by_card, int cards)
{
    return by_card ? 1 : o->sku->gpus_per_node / cards;
}

void batch_spread(const struct offer *o, bool by_card, double requests, size_t days, struct reserve_batch *ret)
{
    const int each = per_unit(o, by_card, ret->cards);
    const double hours = requests > 0 ? requests / (ret->per_hour * each) : 0;
    const double units = ceil(hours / (24.0 * (double)days) - 1e-9);
    ret->units = units < 1e6 ? (int)units : 1000000; /* more than anybody lists */
    ret->hours = ret->units > 0 ? ceil(hours / ret->units - 1e-9) : 0;
    ret->replicas = ret->units * each;
}

void batch_answer(const struct build *b, const struct reserve_batch *t, struct reserve_waiting *ret)
{
    *ret = (struct reserve_waiting){.requests = floor(t->requests),
                                    .requests_idle = floor(t->requests_idle + 1e-6),
                                    .hours_idle = t->hours_idle,
                                    .requests_service = floor(fmin(t->in_service, t->requests - t->requests_idle)),
                                    .replicas = t->replicas,
                                    .hours = t->hours,
                                    .saved = t->saved,
                                    .n_windows = t->n_windows};
    for (size_t i = 0; i < t->n_windows; i++) {
        const struct batch_window *w = &t->windows[i];
        ret->windows[i] = (struct reserve_window){.sku = w->offer->sku,
                                                  .start_on = b->start + w->first_day,
                                                  .end_on = b->start + w->last_day,
                                                  .hours_per_day = w->hours,
                                                  .hours = w->machine_hours,
                                                  .requests = floor(w->requests + 1e-6),
                                                  .cards = w->by_card,
                                                  .machines = w->units,
                                                  .gpus = w->units * (w->by_card ? 1 : w->offer->sku->gpus_per_node)};
    }
}
