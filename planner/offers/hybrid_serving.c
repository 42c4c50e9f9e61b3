/* hybrid_serving.c — see hybrid_serving.h.
 *
 * Every line between a local IDC and a public cloud that both run services is split as well as it can be
 * (hybrid_peaks.h); the few that cost least in all, their line and what comes back over it included, are shown.
 */
#include "planner/offers/hybrid_serving.h"

#include <math.h>
#include <string.h>

#include "planner/costing/costing.h"
#include "planner/drafting/phases.h"
#include "planner/offers/hybrid_draft.h"
#include "planner/offers/hybrid_peaks.h"

enum { PAIRS_MAX = 2 };

struct joined {
    struct hybrid_pair pair;
    struct reserve_plan *split;
    double cost; /* net and tax of all of it, minor units */
};

static int add_draft(struct build *b, const struct joined *j, struct option_list *out, struct err *err)
{
    const struct reserve_plan *r = j->split;
    const int cards = r->by_card ? r->sizing.gpus_per_replica : r->offer->sku->gpus_per_node;
    struct draft *d = build_draft_new(b, KIND_HYBRID_CLOUD);
    if (d == NULL)
        return err_set(err, ERR_NOMEM, "options do not fit");
    d->train_group = draft_add_group(d, r->offer, "serve", r->by_card, cards > 0 ? cards : 1, 1);
    d->estimate = &r->sizing.at_peak;
    d->shape = build_shape(b, r->offer->sku, cards > 0 ? cards : 1, 1, NULL);
    if (d->train_group < 0 || hybrid_add_line(d, &j->pair, PHASE_SERVE, PHASE_SERVE) != 0 ||
        hybrid_add_peaks(b, d, &j->pair, r) != 0 || phases_standard(b, d, d->train_group, d->train_group, 1, 0) != 0)
        return err_set(err, ERR_INTERNAL, "a hybrid service has more parts than a draft holds");
    return build_keep(b, out, d) != 0 ? err_set(err, ERR_NOMEM, "options do not fit") : 0;
}

/* More machines than a supplier lists: the nearest miss is told. */
static void tell_excess(struct build *b, const struct hybrid_excess *e)
{
    struct note *n = build_refuse(b, KIND_HYBRID_CLOUD, "more_than_listed");
    n->short_by = e->over;
    note_num(note_num(note_text(n, "item", e->offer->sku->id), "machines", e->machines), "listed",
             e->machines - e->over);
}

/* Puts a line among the few that cost least; ties stay in the catalog's order. */
static void rank(struct joined *few, int *n, int most, struct joined j)
{
    int at = *n < most ? (*n)++ : most;
    for (; at > 0 && few[at - 1].cost > j.cost; at--)
        if (at < most)
            few[at] = few[at - 1];
    if (at < most)
        few[at] = j;
}

static int try_line(struct build *b, const struct hybrid_terms *terms, const struct dedicated_line *line,
                    struct hybrid_peaks *peaks, struct joined *few, int *n, const char **ret_why, struct err *err)
{
    struct joined j = {.split = NULL};
    if (!hybrid_pair_of(b, line, &j.pair) || !hybrid_peaks_ends(b, j.pair.home, j.pair.cloud))
        return 0;
    j.pair.terms = *terms;
    j.split = arena_alloc(b->arena, sizeof *j.split);
    if (j.split == NULL)
        return err_set(err, ERR_NOMEM, "a hybrid service does not fit");
    const int most = b->lean ? 1 : PAIRS_MAX;
    const double months = ceil(ceil(b->reserve.months * b->a.month_days - 1e-9) / b->a.month_days - 1e-9),
                 line_cost = months * hybrid_line_month(b, &j.pair),
                 at_most = *n == most ? few[most - 1].cost - line_cost : INFINITY;
    if (hybrid_peaks_split(peaks, j.pair.home, j.pair.cloud, at_most, j.split, ret_why) != 0)
        return -1;
    if (j.split->offer == NULL)
        return 0;
    j.cost = (double)j.split->net + (double)j.split->tax + line_cost + hybrid_answers_cost(b, &j.pair, j.split);
    rank(few, n, most, j);
    return 0;
}

int hybrid_serving_build(struct build *b, struct option_list *out, const char **ret_why, struct err *err)
{
    struct hybrid_terms terms;
    struct joined few[PAIRS_MAX];
    const char *why = "no_line";
    int n = 0;
    *ret_why = hybrid_peaks_stay(b);
    if (*ret_why != NULL)
        return 0;
    struct hybrid_peaks *peaks = hybrid_peaks_open(b, err);
    if (peaks == NULL || hybrid_terms_bind(&b->params, &terms, err) != 0)
        return -1;
    for (size_t i = 0; i < b->catalog->n_lines; i++)
        if (try_line(b, &terms, &b->catalog->lines[i], peaks, few, &n, &why, err) != 0)
            return -1;
    for (int i = 0; i < n; i++)
        if (add_draft(b, &few[i], out, err) != 0)
            return -1;
    if (n > 0)
        return 0;
    const struct hybrid_excess *excess = hybrid_peaks_excess(peaks);
    if (excess != NULL)
        tell_excess(b, excess);
    else
        *ret_why = why;
    return 0;
}
