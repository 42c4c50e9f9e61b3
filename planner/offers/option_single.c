/* option_single.c — `single_machine`: 1 to 16 cards of one model in one node, old cards beside new ones. */
#include <math.h>

#include "planner/drafting/phases.h"
#include "planner/offers/kinds.h"
#include "planner/offers/option_serving.h"
#include "planner/offers/walk.h"

#define SINGLE_PROVIDERS                                                                                               \
    (1u << PROVIDER_LOCAL_IDC | 1u << PROVIDER_PUBLIC_CLOUD | 1u << PROVIDER_MARKETPLACE | 1u << PROVIDER_HPC_CENTRE)

struct single_search {
    struct walk w; /* first: the walk hands itself back */
    /* the nearest miss of memory, for the refusal */
    double short_by_gb;
    const struct gpu *miss_gpu;
    int miss_cards;
    const struct estimate *miss;
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
    struct shape shape = build_shape(s->w.b, o->sku, cards, 1, NULL);
    bool bigger =
        s->miss == NULL || shape_usable_bytes(&shape) * cards > s->miss->memory.usable_gb * 1e9 * s->miss_cards;
    if (!bigger && guess_hopeless(s->w.b, &shape))
        return NULL;
    const struct estimate *e = build_physics(s->w.b, &shape, s->w.err);
    if (e == NULL) {
        *ret_failed = build_stops(s->w.err);
        return NULL;
    }
    if (e->fits == FITS_NO) {
        if (!(shape.host_memory_gb > 0 && e->training.host_memory_gb > shape.host_memory_gb))
            remember_miss(s, o->sku->gpu, cards, e);
        build_refuse_host(s->w.b, KIND_SINGLE_MACHINE, o->sku, &shape, e);
        return NULL;
    }
    return e;
}

/* The same machine with develop and validate on the whole of it, or on few of its cards: the better of the two. */
static void add_better(struct single_search *s, const struct candidate *tried)
{
    struct build *b = s->w.b;
    struct candidate with_home = *tried, whole = *tried, *found = NULL;
    whole.home_cards = 0;
    if (candidate_reckon(b, KIND_SINGLE_MACHINE, &whole, &s->w.scratch))
        found = &whole;
    if (tried->home_cards > 0 && candidate_reckon(b, KIND_SINGLE_MACHINE, &with_home, &s->w.scratch) &&
        (found == NULL || candidate_better(b, &with_home, &whole)))
        found = &with_home;
    recall_store(b, KIND_SINGLE_MACHINE, tried, found);
    if (found != NULL)
        candidate_add(&s->w.list, found);
}

static void again(struct walk *w, const struct recalled *e, bool holds)
{
    struct candidate c = holds ? e->found : e->tried;
    if (!holds) {
        c.estimate = build_physics_again(w->b, c.estimate, c.offer->sku->gpu, c.cards / c.lanes);
        if (c.estimate != NULL)
            add_better((struct single_search *)w, &c);
        return;
    }
    candidate_limit(w->b, &c);
    candidate_add(&w->list, &c);
}

/* One number of cards of an offer, cut into so many lanes; *fewest is the smallest number that holds the model so far.
 */
static int try_lanes(struct single_search *s, const struct offer *o, bool by_card, int cards, int lanes, int *fewest)
{
    bool failed = false;
    const struct estimate *e = fitting(s, o, cards / lanes, &failed);
    if (failed)
        return -1;
    if (e == NULL)
        return 0;
    if (*fewest == 0 && o->by_card)
        *fewest = cards / lanes;
    struct candidate c = {.offer = o, .by_card = by_card, .cards = cards, .nodes = 1, .lanes = lanes, .estimate = e};
    c.home_cards = *fewest < cards ? *fewest : 0;
    add_better(s, &c);
    return 0;
}

/* As many runs side by side as divide the cards evenly, and one after another on all of them. */
static int try_cards(struct single_search *s, const struct offer *o, bool by_card, int cards, int *fewest)
{
    int lanes = s->w.b->training.parallel_runs;
    while (lanes > 1 && cards % lanes != 0)
        lanes--;
    if (lanes > 1 && try_lanes(s, o, by_card, cards, lanes, fewest) != 0)
        return -1;
    return try_lanes(s, o, by_card, cards, 1, fewest);
}

static int try_offer(struct walk *w, const struct offer *o, const struct guess *g)
{
    struct single_search *s = (struct single_search *)w;
    const int min_cards = g->min_cards;
    int node = o->sku->gpus_per_node, fewest = 0;
    int start = 1; /* half of what the state takes without offload: the rest may move to the host */
    while (start * 4 <= min_cards && start * 2 <= node)
        start *= 2;
    for (int cards = start; o->by_card && cards < node; cards *= 2)
        if (try_cards(s, o, true, cards, &fewest) != 0)
            return -1;
    /* A whole machine by the card, where some of its cards are taken before the others: their months serve both. */
    if (o->by_card && (!o->by_node || (fewest > 0 && fewest < node)) && try_cards(s, o, true, node, &fewest) != 0)
        return -1;
    return o->by_node ? try_cards(s, o, false, node, &fewest) : 0;
}

static void refuse(struct single_search *s)
{
    struct build *b = s->w.b;
    if (s->miss != NULL)
        build_refuse_memory(b, KIND_SINGLE_MACHINE, s->miss_gpu, s->miss_cards, s->miss, s->short_by_gb);
    else if (s->w.any_offer && b->refusals[KIND_SINGLE_MACHINE].n == 0)
        build_refuse_time(b, KIND_SINGLE_MACHINE);
    build_refuse_supply(b, KIND_SINGLE_MACHINE, s->w.any_offer);
}

static const struct walk_rules RULES = {
    .providers = SINGLE_PROVIDERS,
    .nodes = 1,
    .gpus = 8,
    .gpus_lean = 4,
    .physics = 40,
    .physics_lean = 12,
    .try_offer = try_offer,
    .again = again,
};

int option_single_build(struct build *b, struct option_list *out, struct err *err)
{
    struct single_search s = {.w = {.b = b, .err = err, .kind = KIND_SINGLE_MACHINE}};
    if (!b->trains)
        return option_serving_build(b, KIND_SINGLE_MACHINE, out, err);
    if (walk_cards(&s.w, &RULES) != 0)
        return -1;
    if (s.w.list.n == 0)
        refuse(&s);
    return walk_keep(&s.w, &RULES, out);
}
