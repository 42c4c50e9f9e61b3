/* relaxations.c — the smallest single changes that make a kind of supply work, or the job much cheaper.
 *
 * Found by planning again, never by phrase: each attempt changes one thing of the workload, and is kept with its new
 * cost and date when the plan of it is feasible. More days and more money need no new plan: they are read from the
 * option that misses them. The number of new plans is bounded, nearest changes first.
 */
#include <math.h>
#include <string.h>

#include "planner/advice/follow.h"
#include "planner/advice/replan.h"
#include "planner/market/market_index.h"

enum { REPLANS_MAX = 6, PER_KIND_MAX = 2, SPOT_SKUS_MAX = 32 };

/* The 80th percentile lies this far from the median towards the 90th in a normal distribution: 0.8416 / 1.2816. */
static const double P80_OF_P90 = 0.6567;

/* Changes one thing; false where there is nothing to change. */
typedef bool change(struct workload *w, const struct build *b);

static bool to_method(struct workload *w, enum method m)
{
    w->training.method = m;
    return true;
}

static bool use_lora(struct workload *w, const struct build *b)
{
    return b->trains && w->training.method == METHOD_FULL_FINETUNE && to_method(w, METHOD_LORA);
}

static bool use_qlora(struct workload *w, const struct build *b)
{
    return b->trains && (w->training.method == METHOD_FULL_FINETUNE || w->training.method == METHOD_LORA) &&
           to_method(w, METHOD_QLORA);
}

static bool use_bf16(struct workload *w, const struct build *b)
{
    const enum precision p = w->training.precision;
    w->training.precision = PREC_BF16;
    return b->trains && (p == PREC_FP32 || p == PREC_TF32);
}

static bool use_8bit_optimizer(struct workload *w, const struct build *b)
{
    const enum optimizer o = w->training.optimizer;
    w->training.optimizer = OPT_ADAMW_8BIT;
    return b->trains && (o == OPT_UNSTATED || o == OPT_ADAMW) &&
           (w->training.method == METHOD_FULL_FINETUNE || w->training.method == METHOD_PRETRAIN);
}

static bool use_8bit_weights(struct workload *w, const struct build *b)
{
    const enum weight_format f = w->serving.weight_format;
    const bool whole = f == WF_BF16 || f == WF_FP16 || f == WF_FP32;
    const double bits = whole ? 16 : w->serving.weight_bits;
    w->serving.weight_bits = bits > 8 || bits <= 0 ? 8 : 4;
    w->serving.weight_format = WF_UNSTATED;
    return b->serves && bits > 4;
}

/* The targets that no machine keeps are let go as far as the best of them reaches. */
static bool slower_answers(struct workload *w, const struct build *b)
{
    const struct note *miss = &b->reserve.why_not;
    double best = 0;
    for (unsigned i = 0; miss->code && i < miss->n_args; i++)
        best = strcmp(miss->args[i].name, "best") == 0 ? miss->args[i].number : best;
    const bool token = miss->code && strcmp(miss->code, "serving_tpot_missed") == 0;
    const bool first = miss->code && strcmp(miss->code, "serving_ttft_missed") == 0;
    if (token)
        w->serving.tpot_ms = ceil(best);
    if (first)
        w->serving.ttft_ms = ceil(best);
    return token || first;
}

/* The job without what follows it: the customer says so, and the plan says that it is left out. */
static bool without_serving(struct workload *w, const struct build *b)
{
    w->serving.months_stated = true;
    w->serving.months = 0;
    return b->trains;
}

static bool halve_sequence(struct workload *w, const struct build *b)
{
    w->training.seq_len /= 2;
    return b->trains && w->training.seq_len >= 512 && w->training.method != METHOD_CUSTOM;
}

static bool any_city(struct workload *w, const struct build *b)
{
    (void)b;
    const bool bound = w->constraints.city != NULL;
    w->constraints.city = NULL;
    return bound;
}

static bool desensitise(struct workload *w, const struct build *b)
{
    w->constraints.can_desensitise = TRI_YES;
    return b->market.data_at_home;
}

static bool allow_spot(struct workload *w, const struct build *b)
{
    const bool allowed = w->constraints.allow_spot;
    w->constraints.allow_spot = true;
    return b->trains && !allowed;
}

static bool any_card(struct workload *w, const struct build *b)
{
    (void)b;
    const bool bound = w->constraints.n_gpus > 0;
    w->constraints.n_gpus = 0;
    return bound;
}

static bool any_provider(struct workload *w, const struct build *b)
{
    (void)b;
    const bool bound = w->constraints.n_providers > 0;
    w->constraints.n_providers = 0;
    return bound;
}

static bool with_operators(struct workload *w, const struct build *b)
{
    const enum team t = w->constraints.team;
    w->constraints.team = TEAM_SLURM;
    (void)b;
    return t == TEAM_NONE || t == TEAM_SINGLE_NODE;
}

static bool side_by_side(struct workload *w, const struct build *b)
{
    w->training.parallel_runs = 2;
    return b->trains && b->training.parallel_runs < 2 && b->training.runs >= 2;
}

/* Half of the runs without sensitive data; one run is first cut into two of half the work. */
static bool share_runs(struct workload *w, const struct build *b)
{
    struct training *t = &w->training;
    if (!b->trains || b->shareable_runs > 0)
        return false;
    if (b->training.runs < 2) {
        t->tokens /= 2;
        t->samples /= 2;
        t->steps /= 2;
        t->runs = 2;
    }
    t->parallel_runs = t->parallel_runs > 1 ? t->parallel_runs : 0;
    t->shareable_runs = t->runs / 2;
    return true;
}

/* What a refusal or a missed limit asks for. */
enum {
    NEED_MEMORY = 1 << 0,
    NEED_DATA = 1 << 1,
    NEED_SUPPLY = 1 << 2,
    NEED_TEAM = 1 << 3,
    NEED_RUNS = 1 << 4,
    NEED_TIME = 1 << 5,
    NEED_MONEY = 1 << 6,
    NEED_LOAD = 1 << 7, /* the service finds no machines */
    NEED_BURST = 1 << 8
};

static const struct need {
    const char *code;
    unsigned needs;
} needs_of_code[] = {
    {"memory_wall", NEED_MEMORY | NEED_SUPPLY},
    {"host_memory", NEED_MEMORY | NEED_SUPPLY},
    {"data_sensitive", NEED_DATA},
    {"nothing_to_burst", NEED_RUNS | NEED_DATA | NEED_BURST},
    {"city_without_supply", NEED_SUPPLY},
    {"no_offer", NEED_SUPPLY},
    {"no_line", NEED_SUPPLY},
    {"no_university_offer", NEED_SUPPLY},
    {"university_too_few_machines", NEED_SUPPLY},
    {"price_missing", NEED_SUPPLY},
    {"serving_exceeds_machine", NEED_MEMORY},
    {"reserve_missing", NEED_LOAD | NEED_SUPPLY},
    {"serving_no_memory", NEED_LOAD | NEED_SUPPLY},
    {"serving_ttft_missed", NEED_LOAD | NEED_SUPPLY},
    {"serving_tpot_missed", NEED_LOAD | NEED_SUPPLY},
    {"more_than_listed", NEED_LOAD | NEED_SUPPLY},
    {"team_ceiling", NEED_TEAM},
    {"beyond_horizon", NEED_TIME},
    {"deadline_missed", NEED_TIME},
    {"budget_exceeded", NEED_MONEY},
};

/* Nearest first: what changes the least of the request. */
static const struct attempt {
    const char *code, *text;
    unsigned helps;
    change *apply;
} attempts[] = {
    {"desensitise", "relax_desensitise", NEED_DATA | NEED_LOAD, desensitise},
    {"shareable_runs", "relax_shareable_runs", NEED_BURST, share_runs},
    {"parallel_runs", "relax_parallel_runs", NEED_RUNS, side_by_side},
    {"precision", "relax_precision", NEED_MEMORY | NEED_TIME | NEED_MONEY, use_bf16},
    {"optimizer_8bit", "relax_optimizer_8bit", NEED_MEMORY, use_8bit_optimizer},
    {"weight_bits", "relax_weight_bits", NEED_MEMORY | NEED_MONEY | NEED_LOAD, use_8bit_weights},
    {"slower_answers", "relax_slower_answers", NEED_LOAD, slower_answers},
    {"lora", "relax_lora", NEED_MEMORY | NEED_TIME | NEED_MONEY, use_lora},
    {"qlora", "relax_qlora", NEED_MEMORY | NEED_TIME | NEED_MONEY, use_qlora},
    {"spot", "relax_spot", NEED_MONEY, allow_spot},
    {"card_up", "relax_card_up", NEED_MEMORY | NEED_SUPPLY | NEED_TIME | NEED_MONEY, any_card},
    {"city", "relax_city", NEED_SUPPLY | NEED_TIME | NEED_MONEY, any_city},
    {"provider", "relax_provider", NEED_SUPPLY | NEED_TIME | NEED_MONEY, any_provider},
    {"with_operators", "relax_with_operators", NEED_TEAM | NEED_TIME, with_operators},
    {"seq_len", "relax_seq_len", NEED_MEMORY, halve_sequence},
    {"without_serving", "relax_without_serving", NEED_LOAD, without_serving},
};

struct search {
    struct build *b;
    struct plan *plan;
    struct err *err;
    double saving_least; /* share that a change must save to be worth naming beside a feasible option */
    int replans;
    const struct attempt
        *near; /* the first change that lifts the rule of this kind but misses the date or the budget */
    struct replan near_plan;
};

static struct relaxation *add(struct build *b, struct relaxation_list *l, const char *code, const char *text,
                              int64_t total, date_t finish_on)
{
    struct relaxation *r = arena_push(b->arena, l);
    if (!r)
        return NULL;
    *r = (struct relaxation){.code = code, .priced = true, .total = total, .finish_on = finish_on};
    r->text = (struct note){.code = text, .short_by = NAN};
    note_date(note_money(&r->text, "total", total), "finish", finish_on);
    return r;
}

static bool differs(double a, double b)
{
    return a < b || a > b;
}

/* What was changed, as the words of the relaxation name it. */
static void say_change(struct note *n, const struct workload *w, const struct workload *was)
{
    if (w->training.seq_len != was->training.seq_len)
        note_num(n, "seq_len", w->training.seq_len);
    if (differs(w->serving.weight_bits, was->serving.weight_bits))
        note_num(n, "bits", w->serving.weight_bits);
    if (differs(w->serving.ttft_ms, was->serving.ttft_ms) || differs(w->serving.tpot_ms, was->serving.tpot_ms))
        note_num(note_num(n, "ttft_ms", w->serving.ttft_ms), "tpot_ms", w->serving.tpot_ms);
    if (w->training.shareable_runs != was->training.shareable_runs)
        note_num(note_num(n, "runs", w->training.runs), "shareable", w->training.shareable_runs);
}

/* One attempt planned again for the kinds of the mask; *ret_found when it is feasible (and cheap enough: most). */
static int attempt_one(struct search *s, const struct attempt *a, unsigned kinds, int64_t most,
                       struct relaxation_list *to, bool *ret_found)
{
    struct workload *w = arena_alloc(s->b->arena, sizeof *w);
    struct replan r;
    *ret_found = false;
    if (!w)
        return err_set(s->err, ERR_NOMEM, "no room to plan again");
    *w = *s->b->workload;
    if (!a->apply(w, s->b))
        return 0;
    if (most > 0)
        w->priority = PRIORITY_CHEAPEST; /* a saving is looked for */
    s->replans++;
    const struct replan_ask ask = {.workload = w, .kinds = kinds, .lean = true};
    if (replan_make(s->b, &ask, s->b->arena, &r, s->err))
        return s->err->code == ERR_NOMEM ? -1 : 0; /* a change that physics refuses is no way out */
    if (!r.feasible && r.draft && !s->near) {
        s->near = a;
        s->near_plan = r;
    }
    if (!r.feasible || (most > 0 && r.total > most))
        return 0;
    *ret_found = true;
    struct relaxation *found = add(s->b, to, a->code, a->text, r.total, r.finish_on);
    if (!found)
        return err_set(s->err, ERR_NOMEM, "relaxations do not fit");
    if (most > 0)
        note_money(&found->text, "saving", s->plan->options[0].cost.total - r.total);
    say_change(&found->text, w, s->b->workload);
    if (r.draft)
        note_text(&found->text, "gpu", r.draft->shape.gpu->name);
    return 0;
}

static unsigned needs_of(const struct note_list *reasons)
{
    unsigned needs = 0;
    for (size_t i = 0; i < reasons->n; i++)
        for (size_t k = 0; k < sizeof needs_of_code / sizeof *needs_of_code; k++)
            if (strcmp(reasons->items[i].code, needs_of_code[k].code) == 0)
                needs |= needs_of_code[k].needs;
    return needs;
}

/* The option's only missed limit; NULL where it misses none or both. */
static const char *only_limit(const struct option *o)
{
    const bool late = note_find(&o->reasons, "deadline_missed") != NULL;
    const bool dear = note_find(&o->reasons, "budget_exceeded") != NULL;
    return late == dear ? NULL : late ? "deadline_missed" : "budget_exceeded";
}

/* Later by so many days, or so much more money: of the kind's options the one that misses by least. */
static int add_more(struct search *s, enum option_kind kind, struct relaxation_list *to)
{
    const struct option *soonest = NULL, *cheapest = NULL;
    for (size_t i = 0; i < s->plan->n_options; i++) {
        const struct option *o = &s->plan->options[i];
        const char *limit = o->kind == kind && !o->feasible ? only_limit(o) : NULL;
        if (limit && limit[0] == 'd' && (!soonest || o->finish.high_days < soonest->finish.high_days))
            soonest = o;
        if (limit && limit[0] == 'b' && (!cheapest || o->cost.high < cheapest->cost.high))
            cheapest = o;
    }
    if (soonest) {
        const struct finish *f = &soonest->finish;
        const int days = (int)ceil(f->expected_days + (f->high_days - f->expected_days) * P80_OF_P90);
        struct relaxation *r =
            add(s->b, to, "later_deadline", "relax_later_deadline", soonest->cost.total, f->finish_on);
        if (!r)
            return err_set(s->err, ERR_NOMEM, "relaxations do not fit");
        note_num(&r->text, "days", days - 1 - s->b->deadline_day);
        note_date(&r->text, "deadline", s->b->start + days - 1);
    }
    if (cheapest) {
        struct relaxation *r =
            add(s->b, to, "more_budget", "relax_more_budget", cheapest->cost.total, cheapest->finish.finish_on);
        if (!r)
            return err_set(s->err, ERR_NOMEM, "relaxations do not fit");
        note_money(&r->text, "more", cheapest->cost.high - s->b->budget_minor);
        note_money(&r->text, "budget", cheapest->cost.high);
    }
    return 0;
}

/* No single change is enough: what comes nearest, and what it comes to. */
static int add_near(struct search *s, struct relaxation_list *to)
{
    struct relaxation *r = add(s->b, to, s->near->code, "relax_not_enough", s->near_plan.total, s->near_plan.finish_on);
    if (!r)
        return err_set(s->err, ERR_NOMEM, "relaxations do not fit");
    note_text(&r->text, "change", s->near->code);
    return 0;
}

static int relax_kind(struct search *s, struct infeasible_kind *miss, int replans_most)
{
    const unsigned needs = needs_of(&miss->reasons);
    s->near = NULL;
    if (add_more(s, miss->kind, &miss->relaxations))
        return -1;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        bool found;
        if (!(attempts[i].helps & needs) || miss->relaxations.n >= PER_KIND_MAX || s->replans >= replans_most)
            continue;
        if (attempt_one(s, &attempts[i], 1u << miss->kind, 0, &miss->relaxations, &found))
            return -1;
    }
    if (miss->relaxations.n == 0 && s->near && add_near(s, &miss->relaxations))
        return -1;
    for (size_t i = 0; i < s->plan->n_options; i++)
        if (s->plan->options[i].kind == miss->kind)
            s->plan->options[i].relaxations = miss->relaxations;
    return 0;
}

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
static bool cheaper_elsewhere(const struct search *s, const struct offer *here)
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
 * them, and against what is recommended. The reserve stays whatever is changed, so the saving is of the rest. */
static int64_t most_for(const struct search *s, unsigned kinds, double share)
{
    int64_t most = INT64_MAX;
    for (size_t i = 0; i < s->plan->n_options; i++) {
        const struct option *o = &s->plan->options[i];
        if (!o->feasible || (i > 0 && !(kinds & 1u << o->kind)))
            continue;
        const double job = (double)o->cost.total - (double)o->reserve.total;
        const int64_t enough = (int64_t)llround((double)o->cost.total - job * share);
        most = enough < most ? enough : most;
    }
    return share > 0 ? most : most - 1;
}

static int attempt_named(struct search *s, const char *code, unsigned kinds, int64_t most, struct relaxation_list *to,
                         bool *ret_found)
{
    *ret_found = false;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        if (strcmp(attempts[i].code, code) == 0)
            return attempt_one(s, &attempts[i], kinds, most, to, ret_found);
    return 0;
}

/* A feasible plan: what single change would make it much cheaper. A gentler method is looked for on one machine, which
 * is where it belongs; spot and another city only where a look at the market says that they might. */
static int relax_cost(struct search *s, const struct draft *d)
{
    struct option *best = s->plan->n_options > 0 ? &s->plan->options[0] : NULL;
    if (!best || !best->feasible || !d || !s->b->trains)
        return 0;
    const unsigned one_machine = 1u << KIND_SINGLE_MACHINE, kind = 1u << best->kind;
    const struct offer *offer = d->groups[d->train_group].offer;
    const bool full = s->b->training.method == METHOD_FULL_FINETUNE;
    bool found;
    /* A gentler method is worth saying whatever it saves; the others only where they save much. */
    if (attempt_named(s, full ? "lora" : "qlora", one_machine, most_for(s, one_machine, 0), &best->relaxations, &found))
        return -1;
    if (spot_is_sold(s->b, offer->sku->gpu) &&
        attempt_named(s, "spot", kind, most_for(s, kind, s->saving_least), &best->relaxations, &found))
        return -1;
    if (cheaper_elsewhere(s, offer) &&
        attempt_named(s, "city", kind, most_for(s, kind, s->saving_least), &best->relaxations, &found))
        return -1;
    return 0;
}

int relaxations_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err)
{
    const struct param *saving = param_find(&b->params, "relaxation_saving_share");
    struct search s = {.b = b, .plan = plan, .err = err};
    if (!saving)
        return err_set(err, ERR_NOT_FOUND, "assumption relaxation_saving_share is missing");
    if (b->lean)
        return 0;
    s.saving_least = saving->value;
    if (relax_cost(&s, ranked->n > 0 ? ranked->items[0] : NULL))
        return -1;
    for (size_t i = 0; i < plan->n_infeasible; i++) {
        /* What is left is shared out, so that no kind goes without a try. */
        const int left = (int)(plan->n_infeasible - i);
        if (relax_kind(&s, &plan->infeasible[i], s.replans + (REPLANS_MAX - s.replans + left - 1) / left))
            return -1;
    }
    return 0;
}
