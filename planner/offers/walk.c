/* walk.c — see walk.h. */
#include "planner/offers/walk.h"

#include "planner/reserve/batch.h"

enum { GUESSES_MAX = 128, OFFERS_OF_A_CARD = 2, KEPT_MAX = 8 };

static int try_gpu(struct walk *w, const struct walk_rules *r, const struct guess *g)
{
    const struct offer *offers[OFFERS_OF_A_CARD];
    const struct market_query q = {.gpu = g->gpu,
                                   .provider_kinds = r->providers,
                                   .nodes = r->nodes > 1 ? r->nodes : 0,
                                   .data_stays = w->b->market.data_at_home};
    size_t n = market_find(&w->b->market, &q, offers, OFFERS_OF_A_CARD);
    for (size_t i = 0; i < n; i++) {
        if (r->nodes > 1 && !offers[i]->by_node)
            continue;
        w->any_offer = true;
        if (r->try_offer(w, offers[i], g) != 0)
            return -1;
    }
    if (r->after_gpu != NULL)
        r->after_gpu(w);
    return 0;
}

/* A walk over cards in the order of what they promise, from nothing or from what another plan's walk came to. */
struct way {
    const struct walk_rules *rules;
    const struct recall *before; /* NULL = from nothing */
    bool again[RECALLED_MAX];
    struct guess useful[WALK_GPUS_MAX];
    int n_useful, physics; /* asked by cards that were not walked to again */
};

static bool has_room(const struct walk *w, const struct way *y, int physics_before)
{
    const bool lean = w->b->lean;
    const int gpus = lean ? y->rules->gpus_lean : y->rules->gpus,
              physics = lean ? y->rules->physics_lean : y->rules->physics;
    return y->n_useful < gpus && w->b->n_physics - physics_before + y->physics < physics;
}

static void take_again(struct walk *w, struct way *y, const struct recalled_card *card)
{
    for (size_t i = card->first; i < card->first + card->n; i++)
        if (y->again[i])
            y->rules->again(w, &y->before->items[i], recall_holds(w->b, y->before->items[i].tried.offer->sku));
    y->physics += card->physics;
    if (y->rules->after_gpu != NULL)
        y->rules->after_gpu(w);
}

/* Another price of a card's machines may bring other offers of it forward: these are looked for anew. */
static int come_to(struct walk *w, struct way *y, const struct guess *g, bool *ret_useful)
{
    struct build *b = w->b;
    const struct recalled_card *known = y->before != NULL ? recall_card_of(y->before, g->gpu) : NULL;
    const size_t found = w->list.n;
    if (known != NULL && !recall_reprices(b, g->gpu)) {
        take_again(w, y, known);
        *ret_useful = known->useful;
        return 0;
    }
    recall_card(b, w->kind, g);
    if (try_gpu(w, y->rules, g) != 0)
        return -1;
    *ret_useful = w->list.n > found;
    recall_card_done(b, w->kind, *ret_useful);
    return 0;
}

/* More or less work is a reason to look at other cards. */
static size_t guesses_of(struct walk *w, const struct way *y, struct guess *ret)
{
    if (y->before == NULL || recall_moves_work(w->b))
        return guess_gpus(w->b, y->rules->nodes, ret, GUESSES_MAX);
    for (size_t i = 0; i < y->before->n_cards; i++)
        ret[i] = y->before->cards[i].guess;
    return y->before->n_cards;
}

int walk_cards(struct walk *w, const struct walk_rules *r)
{
    struct guess guesses[GUESSES_MAX];
    struct build *b = w->b;
    struct way y = {.rules = r, .before = recall_of(b, w->kind)};
    const int physics = b->n_physics;
    draft_hush(&w->scratch);
    if (candidate_list_init(b, &w->list) != 0)
        return err_set(w->err, ERR_NOMEM, "no room for candidates");
    if (y.before != NULL)
        recall_promising(b, y.before, y.again);
    const size_t n = guesses_of(w, &y, guesses);
    for (size_t i = 0; i < n && has_room(w, &y, physics) && !build_spent(b); i++) {
        bool useful = false;
        if (guess_dominated(&guesses[i], y.useful, (size_t)y.n_useful))
            continue;
        if (come_to(w, &y, &guesses[i], &useful) != 0)
            return -1;
        if (useful)
            y.useful[y.n_useful++] = guesses[i];
    }
    return 0;
}

int walk_keep(struct walk *w, const struct walk_rules *r, struct option_list *out)
{
    const double shown = w->b->a.options_per_kind;
    size_t best[KEPT_MAX], max = w->b->lean ? 1 : shown < KEPT_MAX ? (size_t)shown : KEPT_MAX;
    size_t n = candidate_choose(w->b, &w->list, best, max);
    const bool sketches = recall_is_near(w->b) && !(w->b->reserve.batch.requests > 0);
    for (size_t i = 0; i < n; i++) {
        struct candidate *c = &w->list.items[best[i]];
        if (r->settle != NULL && r->settle(w, c) != 0)
            return -1;
        if (sketches) {
            if (build_append(w->b, out, candidate_sketch(w->b, w->kind, c)) != 0)
                return err_set(w->err, ERR_NOMEM, "no room for options");
            continue;
        }
        struct draft *d = build_draft_new(w->b, w->kind);
        if (d == NULL)
            return err_set(w->err, ERR_NOMEM, "no room for options");
        if (candidate_draft(w->b, w->kind, c, d) != 0)
            return err_set(w->err, ERR_INTERNAL, "an option has more parts than a draft holds");
        if (!w->b->order_only)
            candidate_reasons(w->b, c, d);
        if (r->say != NULL)
            r->say(w, c, d);
        if (batch_keep(w->b, out, d, w->err) != 0)
            return -1;
    }
    return 0;
}
