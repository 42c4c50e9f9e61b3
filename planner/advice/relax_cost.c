/* relax_cost.c — beside a feasible plan: what single change would make it much cheaper.
 *
 * A gentler method is looked for on one machine, which is where it belongs, and is worth saying whatever it saves; the
 * others only where they save much. Spot and another city are planned only where a look at the market says that they
 * might.
 */
#include <math.h>
#include <string.h>

#include "planner/advice/relaxing.h"
#include "planner/market/market_index.h"

enum { SPOT_SKUS_MAX = 32 };

/* Is there a spot price of this card at all? Looked for among its cheapest SKUs. */
static bool spot_is_sold(const struct build *b, const struct gpu *gpu)
{
    const struct market_index *m = b->catalog->market;
    const size_t g = (size_t)(gpu - b->catalog->gpus);
    uint32_t last = m ? m->first_of_gpu[g + 1] : 0;
    if (m && last - m->first_of_gpu[g] > SPOT_SKUS_MAX)
        last = m->first_of_gpu[g] + SPOT_SKUS_MAX;
    for (uint32_t i = m ? m->first_of_gpu[g] : 0; i < last; i++) {
        const struct sku *s = &b->catalog->skus[m->by_hour[i]];
        for (size_t p = s->first_price; p < s->first_price + s->n_prices; p++)
            if (b->catalog->prices[p].mode == MODE_SPOT)
                return true;
    }
    return false;
}

/* Is the card enough cheaper in another city that a plan there could save what it must? */
static bool cheaper_elsewhere(const struct relaxing *s, const struct offer *here)
{
    const struct market_query q = {.gpu = here->sku->gpu,
                                   .provider_kinds = 1u << PROVIDER_LOCAL_IDC | 1u << PROVIDER_PUBLIC_CLOUD,
                                   .data_stays = s->b->market.data_at_home,
                                   .any_city = true};
    const struct offer *there;
    if (!s->b->workload->constraints.city || market_find(&s->b->market, &q, &there, 1) == 0)
        return false;
    const double now = here->node_month_micros, then = there->node_month_micros;
    return now > 0 && then > 0 &&
           then / there->sku->gpus_per_node < now / here->sku->gpus_per_node * (1 - s->saving_least);
}

/* What a plan of these kinds may cost so that the change alone saves enough: against the cheapest already offered of
 * them, and against what is recommended. The reserve of a job stays whatever is changed, so the saving is of the rest.
 */
static int64_t most_for(const struct relaxing *s, unsigned kinds, double share)
{
    int64_t most = INT64_MAX;
    for (size_t i = 0; i < s->plan->n_options; i++) {
        const struct option *o = &s->plan->options[i];
        if (!o->feasible || (i > 0 && !(kinds & 1u << o->kind)))
            continue;
        const double job = (double)o->cost.total - (s->b->trains ? (double)o->reserve.total : 0);
        const int64_t enough = (int64_t)llround((double)o->cost.total - job * share);
        most = enough < most ? enough : most;
    }
    return share > 0 ? most : most - 1;
}

/* One changed request: told by its cheapest option of the kind, where that costs at most so much. */
static int attempt_one(struct relaxing *s, const struct attempt *a, enum option_kind kind, int64_t most, bool *ret_told)
{
    struct relaxed found[KIND_COUNT];
    struct workload *w = arena_alloc(s->b->arena, sizeof *w);
    struct changing c = {.b = s->b, .w = w};
    *ret_told = false;
    if (!w)
        return err_set(s->err, ERR_NOMEM, "no room to plan again");
    *w = *s->b->workload;
    if (!a->apply(&c))
        return c.failed ? err_set(s->err, ERR_NOMEM, "no room to plan again") : 0;
    const bool same = replan_same_physics(s->b, w);
    if ((same ? relaxing_plan : relaxing_look)(s, w, 1u << kind, found) != 0)
        return -1;
    const struct relaxed *f = &found[kind];
    if (!f->feasible || f->cheapest.total > most || (a->fp8 && !(f->cheapest.gpu->fp8_tflops > 0)))
        return 0;
    struct option *best = &s->plan->options[0];
    struct relaxation *r = relaxing_keep(s, a, &c, &f->cheapest, f->exact, &best->relaxations);
    if (!r)
        return -1;
    note_money(&r->text, "saving", best->cost.total - f->cheapest.total);
    *ret_told = true;
    return 0;
}

/* The attempts of a code, smallest change first, until one is told. share: what it must save; 0 = anything. */
static int attempt(struct relaxing *s, const char *code, enum option_kind kind, double share)
{
    const int64_t most = most_for(s, 1u << kind, share);
    bool told = false;
    for (size_t i = 0; i < changes_n_attempts && !told; i++)
        if (strcmp(changes_attempts[i].code, code) == 0 && attempt_one(s, &changes_attempts[i], kind, most, &told) != 0)
            return -1;
    return 0;
}

int relax_cost(struct relaxing *s, const struct draft *d)
{
    const struct build *b = s->b;
    const struct offer *offer = d->groups[d->train_group].offer;
    const bool full = b->training.method == METHOD_FULL_FINETUNE;
    if (b->trains && attempt(s, full ? "lora" : "qlora", KIND_SINGLE_MACHINE, 0) != 0)
        return -1;
    if (b->trains && spot_is_sold(b, offer->sku->gpu) && attempt(s, "spot", d->kind, s->saving_least) != 0)
        return -1;
    if (cheaper_elsewhere(s, offer) && attempt(s, "city", d->kind, s->saving_least) != 0)
        return -1;
    return b->trains ? 0 : attempt(s, "weight_bits", d->kind, s->saving_least);
}

int relax_cost_precision(struct relaxing *s, const struct draft *d)
{
    return s->b->trains ? attempt(s, "precision", d->kind, s->saving_least) : 0;
}
