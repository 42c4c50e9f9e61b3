/* option_hybrid.c — `hybrid_cloud`: what splits is phases and runs, never one data-parallel job across the line.
 *
 * Validation, development, the sensitive part, the first lanes of runs and the base of the service stay at the local
 * IDC; parallel runs that may leave and the peaks of the service go to the public cloud at the far end of a dedicated
 * line. How many runs go out, and on how many machines, is the lightest cut at the request's priority (hybrid_cut.h);
 * the peaks go where that costs less, or where nothing else may go (hybrid_peaks.h). The line is paid by the month
 * while it is used, what is staged over it takes its time, what comes back is egress.
 */
#include "planner/offers/option_hybrid.h"

#include <math.h>
#include <string.h>

#include "planner/offers/candidate.h"
#include "planner/offers/hybrid_peaks.h"
#include "planner/offers/hybrid_serving.h"
#include "planner/offers/kinds.h"
#include "planner/offers/recall.h"
#include "planner/reserve/reserve.h"

/* A line that would be late comes after all that would not. */
static const double LATE = 1e6;

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
    if (hybrid_serving_build(b, out, &why, err) != 0)
        return -1;
    if (why != NULL && strcmp(why, "no_line") != 0)
        refuse_burst(b, why);
    else if (out->n == before && b->refusals[KIND_HYBRID_CLOUD].n == 0)
        build_refuse(b, KIND_HYBRID_CLOUD, "no_line");
    return 0;
}

/* The rule that keeps all runs at home; NULL: some may leave. */
static const char *runs_stay(const struct build *b)
{
    if (b->shareable_runs < 1)
        return b->workload->constraints.data_sensitive ? "data_sensitive" : "nothing_shareable";
    return hybrid_lanes(b) < 2 ? "one_run_at_a_time" : NULL;
}

/* The rule that keeps the peaks of a service that the request describes where its base is. */
static const char *peaks_stay(const struct build *b)
{
    return !b->serves || b->reserve.months <= 0 ? "flat_load" : hybrid_peaks_stay(b);
}

/* Neither runs nor peaks can go out. */
static void refuse_both(struct build *b, const char *runs, const char *peaks)
{
    refuse_burst(b, runs);
    if (b->serves && b->reserve.months > 0 && strcmp(runs, peaks) != 0)
        note_text(build_refuse(b, KIND_HYBRID_CLOUD, "peaks_cannot_burst"), "why", peaks);
}

/* Machines at both ends that run the same software: the home's best with what the cloud has of its maker, or else the
 * cloud's best with what the home has of that one. *ret_other: there are machines, but not of one maker. */
static int choose_ends(struct build *b, const struct hybrid_pair *p, struct hybrid_ends *home,
                       struct hybrid_ends *cloud, struct hybrid_miss *miss, bool *ret_other, struct err *err)
{
    if (hybrid_side_choose(b, p->home, false, NULL, home, miss, err) != 0)
        return -1;
    if (home->fit.offer == NULL || p->runs_stay != NULL)
        return 0;
    if (hybrid_side_choose(b, p->cloud, true, hybrid_maker(&home->fit), cloud, miss, err) != 0)
        return -1;
    if (cloud->fit.offer != NULL)
        return 0;
    if (hybrid_side_choose(b, p->cloud, true, NULL, cloud, miss, err) != 0)
        return -1;
    if (cloud->fit.offer == NULL)
        return 0;
    *home = (struct hybrid_ends){0};
    if (hybrid_side_choose(b, p->home, false, hybrid_maker(&cloud->fit), home, miss, err) != 0)
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
    if (reserve_at(b, p->home, own, err) != 0)
        return -1;
    p->whole = own->offer && !own->missing ? own : NULL;
    return 0;
}

/* A line with the machines at its ends. */
struct joined {
    struct hybrid_pair pair;
    struct hybrid_ends home, cloud;
    double promise; /* what it weighs by a rough reckoning; the less the better */
};

/* The runs cut evenly between the best machines of both ends, by their rates; validation, debugging and the line for as
 * long as it is used beside them. */
static double promise_of(const struct build *b, const struct joined *j)
{
    struct hybrid_pair p = j->pair;
    double hour, month, wc, wt, wr;
    p.local = j->home.fit;
    p.burst = j->cloud.fit;
    candidate_weights(b, &wc, &wt, &wr);
    const struct hybrid_range r = hybrid_range_of(b, &p);
    struct hybrid_cut cut = {1, 0, 0};
    if (r.most_out > 0 && r.lanes > 1) {
        cut.lanes_out = r.lanes / 2 < r.out.most_lanes ? r.lanes / 2 : r.out.most_lanes;
        cut.lanes_local = r.lanes - cut.lanes_out < r.local.most_lanes ? r.lanes - cut.lanes_out : r.local.most_lanes;
        cut.runs_out = hybrid_balanced_runs(&r, cut.lanes_local, cut.lanes_out);
    }
    const double days = hybrid_cut_days(&r, &cut), setup = b->a.validate_days + b->a.migrate_days,
                 debug = b->a.debug_share / (1 - b->a.debug_share) * (setup + days);
    const double served = cut.lanes_out == 0 ? b->reserve.months : 0;
    hybrid_side_rates(&p.local, &hour, &month);
    const double home = hour > 0 ? hour * (24 * b->a.validate_days + b->a.develop_hours_per_day * debug)
                                 : month * ceil((b->a.validate_days + debug) / b->a.month_days);
    const double service = p.split != NULL ? (double)p.split->net + (double)p.split->tax : 0;
    const double line = hybrid_line_month(b, &p) * (served + (cut.lanes_out > 0 ? ceil(days / b->a.month_days) : 0));
    const double weight =
        wc * log(fmax(1, home + line + service + hybrid_rough_cost(&r, &cut))) + wt * log(setup + debug + days);
    return setup + debug + days > b->deadline_day + 1.0 ? LATE + weight : weight;
}

/* What is looked for at every line. */
struct line_search {
    struct build *b;
    struct err *err;
    const char *runs, *peaks; /* why they stay; NULL: they may go */
    struct hybrid_terms terms;
    struct hybrid_peaks *splits; /* NULL: peaks stay */
    struct hybrid_miss miss;
    bool other; /* there are machines, but not of one maker */
    const char *service_stays;
};

/* The service in one place, and with its peaks out where they may go. */
static int find_service(struct line_search *s, struct hybrid_pair *p)
{
    struct build *b = s->b;
    p->stays = b->serves && b->reserve.months > 0 ? s->peaks : NULL;
    if (p->runs_stay == NULL && reserve_at_home(b, p, s->err) != 0)
        return -1;
    if (s->peaks != NULL || !hybrid_peaks_ends(b, p->home, p->cloud))
        return 0;
    const struct reserve_plan *whole = p->whole != NULL ? p->whole : &b->reserve;
    if (!whole->missing && whole->over == 0 &&
        floor(b->reserve.months) * hybrid_line_month(b, p) >= (double)(whole->net + whole->tax)) {
        s->service_stays = "peaks_dearer_out"; /* the line alone is */
        p->stays = s->service_stays;
        return 0;
    }
    struct reserve_plan *split = arena_alloc(b->arena, sizeof *split);
    if (split == NULL)
        return err_set(s->err, ERR_NOMEM, "another reserve does not fit");
    const double line = floor(b->reserve.months) * hybrid_line_month(b, p);
    const bool must_save = p->runs_stay != NULL && !whole->missing && whole->over == 0;
    const double at_most = must_save ? (double)(whole->net + whole->tax) - line : INFINITY;
    if (hybrid_peaks_split(s->splits, p->home, p->cloud, at_most, split, &p->stays) != 0)
        return -1;
    if (split->offer == NULL) {
        s->service_stays = p->stays != NULL ? p->stays : s->service_stays;
        return 0;
    }
    double most, least;
    p->split = split;
    hybrid_cost_of_line(b, p, &most, &least);
    p->split_costs_more = whole->missing || whole->over > 0
                              ? -INFINITY
                              : (double)(split->net + split->tax - whole->net - whole->tax) + most;
    if (p->split_costs_more > 0)
        s->service_stays = "peaks_dearer_out";
    return 0;
}

static bool saves(const struct hybrid_pair *p)
{
    return p->split != NULL && p->split_costs_more <= 0;
}

/* The machines at the ends of a line, and the service where only its peaks may go. 1: nothing can use it. */
static int join(struct line_search *s, const struct dedicated_line *line, struct joined *ret)
{
    struct hybrid_pair *p = &ret->pair;
    if (!hybrid_pair_of(s->b, line, p))
        return 1;
    p->terms = s->terms;
    p->runs_stay = s->runs;
    if (s->runs != NULL && find_service(s, p) != 0)
        return -1;
    if (s->runs != NULL && !saves(p))
        return 1;
    if (choose_ends(s->b, p, &ret->home, &ret->cloud, &s->miss, &s->other, s->err) != 0)
        return -1;
    if (ret->home.fit.offer == NULL || (ret->cloud.fit.offer == NULL && s->peaks != NULL))
        return 1;
    if (ret->cloud.fit.offer != NULL || s->runs != NULL)
        return 0;
    p->runs_stay = "no_machine_out";
    if (find_service(s, p) != 0)
        return -1;
    return saves(p) ? 0 : 1;
}

/* The few lines that promise most, best first; ties stay in the catalog's order. -1: an error. */
static int find_lines(struct line_search *s, struct joined *ret, int most)
{
    int n = 0;
    for (size_t i = 0; i < s->b->catalog->n_lines; i++) {
        struct joined j = {.promise = 0};
        const int rc = join(s, &s->b->catalog->lines[i], &j);
        if (rc < 0)
            return -1;
        if (rc > 0)
            continue;
        j.promise = promise_of(s->b, &j);
        int at = n < most ? n++ : most;
        for (; at > 0 && ret[at - 1].promise > j.promise; at--)
            if (at < most)
                ret[at] = ret[at - 1];
        if (at < most)
            ret[at] = j;
    }
    return n;
}

static void refuse(struct line_search *s, bool any_line)
{
    struct build *b = s->b;
    if (s->runs != NULL) {
        refuse_both(b, s->runs, s->peaks != NULL ? s->peaks : s->service_stays != NULL ? s->service_stays : "no_line");
        return;
    }
    if (s->other)
        build_refuse(b, KIND_HYBRID_CLOUD, "line_other_software");
    if (s->miss.estimate && !any_line)
        build_refuse_memory(b, KIND_HYBRID_CLOUD, s->miss.gpu, s->miss.cards, s->miss.estimate, s->miss.short_gb);
    else if (b->refusals[KIND_HYBRID_CLOUD].n == 0)
        build_refuse(b, KIND_HYBRID_CLOUD, "no_line");
}

/* A line's service, and the lightest cut between its ends; before: what a plan much like this one found. */
static int add_line(struct line_search *s, struct joined *j, const struct hybrid_found *before, struct option_list *out)
{
    if (j->pair.runs_stay == NULL && find_service(s, &j->pair) != 0)
        return -1;
    return hybrid_pair_add(s->b, &j->pair, &j->home, &j->cloud, before, out, s->err);
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

/* One line, its service found again where that may have moved: the whole of it where the change is of a machine at
 * either end. */
static int add_again(struct line_search *s, const struct hybrid_found *found, bool lightest, struct option_list *out)
{
    struct build *b = s->b;
    struct hybrid_found again = *found;
    if (recall_moves_at(b, found->pair.home) || recall_moves_at(b, found->pair.cloud)) {
        struct joined j = {.promise = 0};
        const int rc = join(s, found->pair.line, &j);
        return rc != 0 ? (rc < 0 ? -1 : 0) : add_line(s, &j, found, out);
    }
    if (b->recall_reserve < 0 || b->recall_reserve > 0) {
        again.pair.whole = again.pair.split = NULL;
        if (find_service(s, &again.pair) != 0)
            return -1;
    }
    if (again.pair.runs_stay != NULL && !saves(&again.pair))
        return 0;
    const size_t before = out->n;
    if (hybrid_pair_again(b, &again, false, out, s->err))
        return -1;
    if (!recall_moves_runs(b) || (out->n > before && !lightest && !is_near_first(b, out)))
        return 0;
    out->n = before;
    return hybrid_pair_again(b, &again, true, out, s->err);
}

static int add_all_again(struct line_search *s, struct option_list *out)
{
    const struct hybrids *h = s->b->hybrids;
    int lightest = 0;
    for (int i = 1; h != NULL && i < h->n; i++)
        lightest = h->found[i].weight < h->found[lightest].weight ? i : lightest;
    for (int i = 0; h != NULL && i < h->n; i++)
        if (add_again(s, &h->found[i], i == lightest, out) != 0)
            return -1;
    return 0;
}

int option_hybrid_build(struct build *b, struct option_list *out, struct err *err)
{
    struct line_search s = {.b = b, .err = err};
    struct joined lines[HYBRID_LINES_MAX];
    const size_t before = out->n;
    int n = 0;
    if (!b->trains)
        return service_only(b, out, err);
    s.runs = runs_stay(b);
    s.peaks = peaks_stay(b);
    if (s.peaks == NULL && (s.splits = hybrid_peaks_open(b, err)) == NULL)
        return -1;
    if (hybrid_terms_bind(&b->params, &s.terms, err) != 0)
        return -1;
    if ((s.runs == NULL || s.peaks == NULL) && recall_is_near(b))
        return add_all_again(&s, out);
    if (s.runs == NULL || s.peaks == NULL)
        n = find_lines(&s, lines, b->lean ? 1 : HYBRID_LINES_MAX);
    for (int i = 0; i < n; i++)
        if (add_line(&s, &lines[i], NULL, out) != 0)
            return -1;
    if (n < 0)
        return -1;
    if (out->n == before)
        refuse(&s, n > 0);
    return 0;
}
