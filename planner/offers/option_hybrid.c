/* option_hybrid.c — `hybrid_cloud`: what splits is phases and runs, never one data-parallel job across the line.
 *
 * Validation, development, the sensitive part and the first lanes of runs stay at the local IDC; parallel runs that may
 * leave go to the public cloud at the far end of a dedicated line. How many runs go out, and on how many machines, is
 * the lightest cut at the request's priority (hybrid_cut.h). The line is paid by the month while it is used, what is
 * staged over it takes its time, what comes back is egress.
 */
#include "planner/offers/option_hybrid.h"

#include <math.h>
#include <string.h>

#include "planner/offers/candidate.h"
#include "planner/offers/hybrid_serving.h"
#include "planner/offers/kinds.h"
#include "planner/offers/recall.h"
#include "planner/reserve/reserve.h"

static void refuse_burst(struct build *b, const char *why)
{
    note_text(build_refuse(b, KIND_HYBRID_CLOUD, "nothing_to_burst"), "why", why);
    if (strcmp(why, "data_sensitive") == 0)
        build_refuse(b, KIND_HYBRID_CLOUD, "data_sensitive");
}

/* A workload that is nothing but a service: its peaks may burst. */
static int service_only(struct build *b, struct option_list *out, struct err *err)
{
    const char *why;
    const size_t before = out->n;
    if (hybrid_serving_build(b, out, &why, err))
        return -1;
    if (why)
        refuse_burst(b, why);
    else if (out->n == before && b->refusals[KIND_HYBRID_CLOUD].n == 0)
        build_refuse(b, KIND_HYBRID_CLOUD, "no_line");
    return 0;
}

/* The rule that leaves nothing to send out; true when refused. */
static bool refused(struct build *b)
{
    const char *why = NULL;
    if (b->shareable_runs < 1)
        why = b->workload->constraints.data_sensitive ? "data_sensitive" : "nothing_shareable";
    else if (hybrid_lanes(b) < 2)
        why = "one_run_at_a_time";
    if (why)
        refuse_burst(b, why);
    return why != NULL;
}

/* Machines at both ends that run the same software: the home's best with what the cloud has of its maker, or else the
 * cloud's best with what the home has of that one. *ret_other: there are machines, but not of one maker. */
static int choose_ends(struct build *b, const struct hybrid_pair *p, struct hybrid_ends *home,
                       struct hybrid_ends *cloud, struct hybrid_miss *miss, bool *ret_other, struct err *err)
{
    if (hybrid_side_choose(b, p->home, false, NULL, home, miss, err))
        return -1;
    if (!home->fit.offer)
        return 0;
    if (hybrid_side_choose(b, p->cloud, true, hybrid_maker(&home->fit), cloud, miss, err))
        return -1;
    if (cloud->fit.offer)
        return 0;
    if (hybrid_side_choose(b, p->cloud, true, NULL, cloud, miss, err))
        return -1;
    if (!cloud->fit.offer)
        return 0;
    *home = (struct hybrid_ends){0};
    if (hybrid_side_choose(b, p->home, false, hybrid_maker(&cloud->fit), home, miss, err))
        return -1;
    *ret_other |= home->fit.offer == NULL;
    return 0;
}

/* The service stays local too: where the plan's reserve is no local IDC's, the home's own machines carry it if they
 * can. */
static int reserve_at_home(struct build *b, struct hybrid_pair *p, struct err *err)
{
    const struct offer *now = b->reserve.offer;
    if (!now || now->sku->provider->kind == PROVIDER_LOCAL_IDC || !p->home->serves)
        return 0;
    struct reserve_plan *own = arena_alloc(b->arena, sizeof *own);
    if (!own)
        return err_set(err, ERR_NOMEM, "another reserve does not fit");
    if (reserve_at(b, p->home, own, err))
        return -1;
    p->reserve = own->offer && !own->missing ? own : NULL;
    return 0;
}

/* The ends of one line, their machines and the lightest cut; *ret_pairs counts the lines whose ends carry the runs. */
static int add_line(struct build *b, struct hybrid_pair *p, const struct hybrid_found *before, struct hybrid_miss *miss,
                    bool *ret_other, int *ret_pairs, struct option_list *out, struct err *err)
{
    struct hybrid_ends home = {0}, cloud = {0};
    if (choose_ends(b, p, &home, &cloud, miss, ret_other, err))
        return -1;
    if (!home.fit.offer || !cloud.fit.offer)
        return 0;
    ++*ret_pairs;
    return reserve_at_home(b, p, err) ? -1 : hybrid_pair_add(b, p, &home, &cloud, before, out, err);
}

/* Another cut than its plan's may be lighter by so much of the score, hardly more. */
static const double CUT_GAINS = 0.02;

/* Could the last draft come near the first of all drafts, by cost and days as the priority weighs them? */
static bool is_near_first(const struct build *b, const struct option_list *l)
{
    double least = INFINITY, soonest = INFINITY, best = 0, own = 0, wc, wt, wr;
    candidate_weights(b, &wc, &wt, &wr);
    for (size_t i = 0; i < l->n; i++) {
        least = fmin(least, (double)l->items[i]->base->total);
        soonest = fmin(soonest, l->items[i]->base->schedule.finish_days);
    }
    for (size_t i = 0; i < l->n; i++) {
        const struct reckoning *r = l->items[i]->base;
        own = wc * least / fmax(1, (double)r->total) + wt * soonest / r->schedule.finish_days;
        best = fmax(best, own);
    }
    return own > best - CUT_GAINS;
}

/* In a plan made of another: from what that one found best, or anew where the change is of a machine at either end. */
static int add_again(struct build *b, const struct hybrid_found *found, bool lightest, struct option_list *out,
                     struct err *err)
{
    struct hybrid_pair p = found->pair;
    struct hybrid_miss miss = {0};
    int pairs = 0;
    bool other = false;
    p.reserve = NULL;
    if (recall_moves_at(b, p.home) || recall_moves_at(b, p.cloud))
        return add_line(b, &p, found, &miss, &other, &pairs, out, err);
    struct hybrid_found again = *found;
    if (b->recall_reserve < 0 || b->recall_reserve > 0) {
        again.pair.reserve = NULL;
        if (reserve_at_home(b, &again.pair, err))
            return -1;
    }
    const size_t before = out->n;
    if (hybrid_pair_again(b, &again, false, out, err))
        return -1;
    if (!recall_moves_runs(b) || (out->n > before && !lightest && !is_near_first(b, out)))
        return 0;
    out->n = before;
    return hybrid_pair_again(b, &again, true, out, err);
}

static int add_all_again(struct build *b, struct option_list *out, struct err *err)
{
    const struct hybrids *h = b->hybrids;
    int lightest = 0;
    for (int i = 1; h != NULL && i < h->n; i++)
        lightest = h->found[i].weight < h->found[lightest].weight ? i : lightest;
    for (int i = 0; h != NULL && i < h->n; i++)
        if (add_again(b, &h->found[i], i == lightest, out, err))
            return -1;
    return 0;
}

int option_hybrid_build(struct build *b, struct option_list *out, struct err *err)
{
    struct hybrid_terms terms;
    if (!b->trains)
        return service_only(b, out, err);
    if (refused(b))
        return 0;
    if (recall_is_near(b))
        return add_all_again(b, out, err);
    if (hybrid_terms_bind(&b->params, &terms, err))
        return -1;
    const size_t before = out->n;
    struct hybrid_miss miss = {0};
    int pairs = 0;
    bool other = false;
    for (size_t i = 0; i < b->catalog->n_lines && pairs < (b->lean ? 1 : HYBRID_LINES_MAX); i++) {
        struct hybrid_pair p;
        if (!hybrid_pair_of(b, &b->catalog->lines[i], &p))
            continue;
        p.terms = terms;
        if (add_line(b, &p, NULL, &miss, &other, &pairs, out, err))
            return -1;
    }
    if (out->n > before)
        return 0;
    if (other)
        build_refuse(b, KIND_HYBRID_CLOUD, "line_other_software");
    if (miss.estimate && pairs == 0)
        build_refuse_memory(b, KIND_HYBRID_CLOUD, miss.gpu, miss.cards, miss.estimate, miss.short_gb);
    else if (b->refusals[KIND_HYBRID_CLOUD].n == 0)
        build_refuse(b, KIND_HYBRID_CLOUD, "no_line");
    return 0;
}
