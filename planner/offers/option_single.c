/* option_single.c — `single_machine`: 1 to 16 cards of one model in one node, old cards beside new ones. */
#include <math.h>

#include "planner/drafting/phases.h"
#include "planner/offers/candidate.h"
#include "planner/offers/guess.h"
#include "planner/offers/kinds.h"
#include "planner/offers/option_serving.h"

enum {
    SINGLE_GPUS_MAX = 8,
    SINGLE_GPUS_LEAN = 4,
    SINGLE_OFFERS = 2,
    SINGLE_PHYSICS_MAX = 40,
    SINGLE_PHYSICS_LEAN = 12,
    GUESSES_MAX = 128
};

static const unsigned SINGLE_PROVIDERS =
    1u << PROVIDER_LOCAL_IDC | 1u << PROVIDER_PUBLIC_CLOUD | 1u << PROVIDER_MARKETPLACE | 1u << PROVIDER_HPC_CENTRE;

struct single_search {
    struct build *b;
    struct candidate_list list;
    struct draft scratch;
    struct err *err;
    /* the nearest miss of memory, for the refusal */
    double short_by_gb;
    const struct gpu *miss_gpu;
    int miss_cards;
    const struct estimate *miss;
    bool any_offer;
};

/* What even the biggest machine lacks says most. */
static void remember_miss(struct single_search *s, const struct gpu *gpu, int cards, const struct estimate *e)
{
    double all = e->memory.usable_gb * cards;
    if (e->memory.total_gb <= e->memory.usable_gb)
        return; /* the host is what lacks */
    if (s->miss != NULL && all <= s->miss->memory.usable_gb * s->miss_cards)
        return;
    s->short_by_gb = fmax(0, e->memory.total_gb - e->memory.usable_gb) * cards;
    s->miss = e;
    s->miss_gpu = gpu;
    s->miss_cards = cards;
}

/* Physics of one run on `cards` cards of one node; NULL: does not fit or physics refuses (then *ret_failed may say
 * that the request itself is at fault). */
static const struct estimate *fitting(struct single_search *s, const struct offer *o, int cards, bool *ret_failed)
{
    struct shape shape = build_shape(s->b, o->sku, cards, 1, NULL);
    bool bigger =
        s->miss == NULL || shape_usable_bytes(&shape) * cards > s->miss->memory.usable_gb * 1e9 * s->miss_cards;
    if (!bigger && guess_hopeless(s->b, &shape))
        return NULL;
    const struct estimate *e = build_physics(s->b, &shape, s->err);
    if (e == NULL) {
        *ret_failed = build_stops(s->err);
        return NULL;
    }
    if (e->fits == FITS_NO) {
        if (!(shape.host_memory_gb > 0 && e->training.host_memory_gb > shape.host_memory_gb))
            remember_miss(s, o->sku->gpu, cards, e);
        build_refuse_host(s->b, KIND_SINGLE_MACHINE, o->sku, &shape, e);
        return NULL;
    }
    return e;
}

/* The same machine with develop and validate on the whole of it, or on few of its cards: the better of the two. */
static void add_better(struct single_search *s, struct candidate c, int home_cards)
{
    struct candidate with_home = c;
    bool whole = candidate_reckon(s->b, KIND_SINGLE_MACHINE, &c, &s->scratch);
    if (home_cards > 0 && home_cards < c.cards) {
        with_home.home_cards = home_cards;
        if (candidate_reckon(s->b, KIND_SINGLE_MACHINE, &with_home, &s->scratch) &&
            (!whole || candidate_better(s->b, &with_home, &c))) {
            candidate_add(&s->list, &with_home);
            return;
        }
    }
    if (whole)
        candidate_add(&s->list, &c);
}

/* One number of cards of an offer; *fewest is the smallest number that holds the model so far. */
static int try_cards(struct single_search *s, const struct offer *o, bool by_card, int cards, int *fewest)
{
    bool failed = false;
    int lanes = s->b->training.parallel_runs;
    const struct estimate *e = NULL;
    if (lanes > 1 && cards % lanes == 0)
        e = fitting(s, o, cards / lanes, &failed);
    if (e == NULL && !failed) {
        lanes = 1; /* one run after another on the whole machine */
        e = fitting(s, o, cards, &failed);
    }
    if (failed)
        return -1;
    if (e == NULL)
        return 0;
    if (*fewest == 0 && o->by_card)
        *fewest = cards / lanes;
    struct candidate c = {.offer = o, .by_card = by_card, .cards = cards, .nodes = 1, .lanes = lanes, .estimate = e};
    add_better(s, c, *fewest);
    return 0;
}

static int try_offer(struct single_search *s, const struct offer *o, int min_cards)
{
    int node = o->sku->gpus_per_node, fewest = 0;
    int start = min_cards <= node ? 1 : node;
    while (start * 2 <= min_cards && start < node)
        start *= 2;
    for (int cards = start; o->by_card && cards < node; cards *= 2)
        if (try_cards(s, o, true, cards, &fewest) != 0)
            return -1;
    if (o->by_card && !o->by_node)
        return try_cards(s, o, true, node, &fewest);
    return o->by_node ? try_cards(s, o, false, node, &fewest) : 0;
}

static int try_gpu(struct single_search *s, const struct guess *g, bool *ret_useful)
{
    const struct offer *offers[SINGLE_OFFERS];
    struct market_query q = {
        .gpu = g->gpu, .provider_kinds = SINGLE_PROVIDERS, .data_stays = s->b->market.data_at_home};
    size_t n = market_find(&s->b->market, &q, offers, SINGLE_OFFERS), before = s->list.n;
    for (size_t i = 0; i < n; i++) {
        s->any_offer = true;
        if (try_offer(s, offers[i], g->min_cards) != 0)
            return -1;
    }
    *ret_useful = s->list.n > before;
    return 0;
}

static void refuse(struct single_search *s)
{
    struct build *b = s->b;
    if (s->miss != NULL) {
        struct note *n = build_refuse(b, KIND_SINGLE_MACHINE, "memory_wall");
        const struct memory_estimate *m = &s->miss->memory;
        n->short_by = s->short_by_gb;
        note_num(note_num(note_text(n, "gpu", s->miss_gpu->name), "cards", s->miss_cards), "need_gb", m->total_gb);
        note_num(note_text(note_num(n, "usable_gb", m->usable_gb), "tightest", m->tightest_term), "short_by",
                 s->short_by_gb);
    } else if (s->any_offer) {
        note_num(build_refuse(b, KIND_SINGLE_MACHINE, "beyond_horizon"), "days", b->a.horizon_days);
    }
    build_refuse_supply(b, KIND_SINGLE_MACHINE, s->any_offer);
}

/* Keeps the candidates worth showing as finished drafts. */
static int keep_best(struct single_search *s, struct option_list *out)
{
    size_t best[8], max = s->b->lean ? 1 : (size_t)s->b->a.options_per_kind;
    size_t n = candidate_choose(s->b, &s->list, best, max < 8 ? max : 8);
    for (size_t i = 0; i < n; i++) {
        const struct candidate *c = &s->list.items[best[i]];
        struct draft *d = build_draft_new(s->b, KIND_SINGLE_MACHINE);
        if (d == NULL || candidate_draft(s->b, KIND_SINGLE_MACHINE, c, d) != 0)
            return -1;
        candidate_reasons(s->b, c, d);
        if (build_keep(s->b, out, d) != 0)
            return -1;
    }
    return 0;
}

int option_single_build(struct build *b, struct option_list *out, struct err *err)
{
    struct guess guesses[GUESSES_MAX], taken[SINGLE_GPUS_MAX];
    struct single_search s = {.b = b, .err = err};
    int useful = 0, limit = b->lean ? SINGLE_GPUS_LEAN : SINGLE_GPUS_MAX;
    int physics = b->n_physics + (b->lean ? SINGLE_PHYSICS_LEAN : SINGLE_PHYSICS_MAX);
    if (!b->trains)
        return option_serving_build(b, KIND_SINGLE_MACHINE, out, err);
    if (candidate_list_init(b, &s.list) != 0)
        return err_set(err, ERR_NOMEM, "no room for candidates");
    size_t n = guess_gpus(b, 1, guesses, GUESSES_MAX);
    for (size_t i = 0; i < n && useful < limit && b->n_physics < physics; i++) {
        bool this_one = false;
        if (guess_dominated(&guesses[i], taken, (size_t)useful))
            continue;
        if (try_gpu(&s, &guesses[i], &this_one) != 0)
            return -1;
        if (this_one)
            taken[useful++] = guesses[i];
    }
    if (s.list.n == 0)
        refuse(&s);
    return keep_best(&s, out) != 0 ? err_set(err, ERR_NOMEM, "no room for options") : 0;
}
