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

/* Another price of one card's machines may bring other offers of it forward: these are looked for anew. */
static int walk_again(struct walk *w, const struct walk_rules *r, const struct recall *before)
{
    bool again[RECALLED_MAX];
    recall_promising(w->b, before, again);
    for (size_t c = 0; c < before->n_cards; c++) {
        const struct recalled_card *card = &before->cards[c];
        const size_t end = c + 1 < before->n_cards ? card[1].first : before->n;
        if (recall_reprices(w->b, card->guess.gpu)) {
            if (r->after_gpu != NULL)
                r->after_gpu(w);
            if (try_gpu(w, r, &card->guess) != 0)
                return -1;
            continue;
        }
        for (size_t i = card->first; i < end; i++)
            if (again[i])
                r->again(w, &before->items[i], recall_holds(w->b, before->items[i].tried.offer->sku));
    }
    return 0;
}

int walk_cards(struct walk *w, const struct walk_rules *r)
{
    struct guess guesses[GUESSES_MAX], useful[WALK_GPUS_MAX];
    struct build *b = w->b;
    const int gpus = b->lean ? r->gpus_lean : r->gpus;
    const int physics = b->n_physics + (b->lean ? r->physics_lean : r->physics);
    int n_useful = 0;
    if (candidate_list_init(b, &w->list) != 0)
        return err_set(w->err, ERR_NOMEM, "no room for candidates");
    const struct recall *before = recall_of(b, w->kind);
    if (before != NULL)
        return walk_again(w, r, before);
    const size_t n = guess_gpus(b, r->nodes, guesses, GUESSES_MAX);
    for (size_t i = 0; i < n && n_useful < gpus && b->n_physics < physics; i++) {
        const size_t found = w->list.n;
        if (guess_dominated(&guesses[i], useful, (size_t)n_useful))
            continue;
        recall_card(b, w->kind, &guesses[i]);
        if (try_gpu(w, r, &guesses[i]) != 0)
            return -1;
        if (w->list.n > found)
            useful[n_useful++] = guesses[i];
    }
    return 0;
}

int walk_keep(struct walk *w, const struct walk_rules *r, struct option_list *out)
{
    const double shown = w->b->a.options_per_kind;
    size_t best[KEPT_MAX], max = w->b->lean ? 1 : shown < KEPT_MAX ? (size_t)shown : KEPT_MAX;
    size_t n = candidate_choose(w->b, &w->list, best, max);
    for (size_t i = 0; i < n; i++) {
        struct candidate *c = &w->list.items[best[i]];
        struct draft *d = build_draft_new(w->b, w->kind);
        if (d == NULL)
            return err_set(w->err, ERR_NOMEM, "no room for options");
        if (r->settle != NULL && r->settle(w, c) != 0)
            return -1;
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
