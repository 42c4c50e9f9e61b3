/* machine.c — what the cards of a machine say together: a verdict for all, and by name those that differ.
 *
 * The verdict is the one most cards share that say anything; of equal numbers the graver. An average would hide both
 * the idle and the saturated card. A need for more cards is none while one of those there stands idle, says that cards
 * are not what is missing, or lags behind the others: a data-parallel job runs at the pace of its slowest card.
 */
#include <math.h>
#include <stdlib.h>

#include "planner/diagnosis/rules.h"

static size_t count_idle(const struct card_list *l, const struct thresholds *t)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += card_is_idle(&l->items[i], t);
    return n;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double utilisation(const struct card_reading *r)
{
    return r->utilisation_pct;
}

static const struct {
    const char *metric;
    double (*figure)(const struct card_reading *);
} FIGURES[] = {{"utilisation_pct", utilisation}, {"power_share", card_power_share}};

#define N_FIGURES (sizeof FIGURES / sizeof *FIGURES)

/* The figures of all cards of one model, sorted; cards of a model mostly stand together. */
struct peers {
    const struct card_list *cards;
    const struct gpu *gpu;
    double *sorted[N_FIGURES];
    size_t n[N_FIGURES];
    bool ready;
};

static bool peers_init(struct peers *p, const struct card_list *l)
{
    *p = (struct peers){.cards = l};
    for (size_t f = 0; f < N_FIGURES; f++)
        if ((p->sorted[f] = arena_array(l->arena, l->n, sizeof *p->sorted[f])) == NULL)
            return false;
    return true;
}

static void gather(struct peers *p, const struct gpu *gpu)
{
    if (p->ready && p->gpu == gpu)
        return;
    p->gpu = gpu;
    p->ready = true;
    for (size_t f = 0; f < N_FIGURES; f++) {
        p->n[f] = 0;
        for (size_t i = 0; i < p->cards->n; i++) {
            double v = FIGURES[f].figure(&p->cards->items[i]);
            if (p->cards->items[i].gpu == gpu && isfinite(v))
                p->sorted[f][p->n[f]++] = v;
        }
        qsort(p->sorted[f], p->n[f], sizeof *p->sorted[f], by_value);
    }
}

/* The median of those that are left when `own`, one of them, is taken out; NAN: none is left. */
static double median_of_others(const double *sorted, size_t n, double own)
{
    if (n < 2)
        return NAN;
    const double *at = bsearch(&own, sorted, n, sizeof own, by_value);
    size_t out = at != NULL ? (size_t)(at - sorted) : n, left = n - (at != NULL);
    size_t high = left / 2, low = left % 2 == 1 ? high : high - 1;
    return (sorted[low + (low >= out)] + sorted[high + (high >= out)]) / 2;
}

/* Whether a card that takes part lags behind others that are busy; why in *ret. */
static bool is_slow(struct peers *p, const struct card_reading *r, const struct thresholds *t, struct reason *ret)
{
    if (r->mig || card_is_idle(r, t) || r->memory_used_mib < t->workload_memory_mib)
        return false;
    gather(p, r->gpu);
    if (!(median_of_others(p->sorted[0], p->n[0], utilisation(r)) >= t->low_utilisation_pct))
        return false;
    for (size_t f = 0; f < N_FIGURES; f++) {
        double own = FIGURES[f].figure(r), others = median_of_others(p->sorted[f], p->n[f], own);
        if (own < t->straggler_share * others) {
            *ret = (struct reason){r->verdict, "slow_card", FIGURES[f].metric, own, others, false};
            return true;
        }
    }
    return false;
}

static size_t count_slow(const struct card_list *l, const struct thresholds *t)
{
    struct peers p;
    struct reason why;
    size_t n = 0;
    bool room = peers_init(&p, l);
    for (size_t i = 0; room && i < l->n; i++)
        n += is_slow(&p, &l->items[i], t, &why);
    return n;
}

struct reason judge_machine(const struct card_list *l, const struct thresholds *t)
{
    size_t counts[VERDICT_COUNT] = {0}, most = 0, not_cards = 0;
    enum verdict verdict = VERDICT_INSUFFICIENT;
    for (size_t i = 0; i < l->n; i++) {
        counts[l->items[i].verdict]++;
        not_cards += verdict_not_cards(l->items[i].verdict);
    }
    for (int v = VERDICT_HEALTHY; v < VERDICT_COUNT; v++)
        if (counts[v] > 0 && counts[v] >= most) {
            most = counts[v];
            verdict = (enum verdict)v;
        }
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].verdict == verdict) {
            struct reason why = judge_card(&l->items[i], t);
            if (verdict == VERDICT_REAL_NEED && count_idle(l, t) + not_cards + count_slow(l, t) > 0) {
                why.verdict = VERDICT_HEALTHY; /* those first */
                why.code = verdict_name(why.verdict);
            }
            return why;
        }
    return judge_card(&l->items[0], t); /* one that nothing can be said of: why */
}

static void slow_cards_add(struct diagnosis *d, const struct thresholds *t)
{
    struct peers p;
    struct reason why;
    bool room = peers_init(&p, &d->cards);
    for (size_t i = 0; room && i < d->cards.n; i++)
        if (is_slow(&p, &d->cards.items[i], t, &why))
            note_num(finding_add(d, &why, d->cards.items[i].index), "card", d->cards.items[i].index);
}

static void other_verdicts_add(struct diagnosis *d, const struct thresholds *t)
{
    for (size_t i = 0; i < d->cards.n; i++) {
        struct reason why = judge_card(&d->cards.items[i], t);
        if (why.verdict == d->verdict || why.verdict == VERDICT_INSUFFICIENT || why.verdict == VERDICT_HEALTHY)
            continue;
        const char *verdict = why.code;
        why.code = "card_verdict";
        note_text(note_num(finding_add(d, &why, d->cards.items[i].index), "card", d->cards.items[i].index), "verdict",
                  verdict);
    }
}

void card_findings_add(struct diagnosis *d, const struct thresholds *t)
{
    slow_cards_add(d, t); /* the few that hold the others up, before the many */
    size_t idle = count_idle(&d->cards, t);
    if (idle > 0 && idle < d->cards.n)
        note_num(note_num(remark_add(d, "idle_cards", "cards", (double)idle), "count", (double)idle), "of",
                 (double)d->cards.n);
    other_verdicts_add(d, t);
    for (size_t i = 1; i < d->cards.n; i++)
        if (d->cards.items[i].gpu != d->cards.items[0].gpu) {
            remark_add(d, "mixed_cards", "cards", (double)d->cards.n);
            return;
        }
}
