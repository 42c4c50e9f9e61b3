/* changes.c — see changes.h. */
#include "planner/advice/changes.h"

#include <math.h>
#include <string.h>

static struct change *record(struct changing *c, const char *input, enum change_kind kind)
{
    struct change *r = &c->changes[c->n < CHANGES_MAX ? c->n++ : CHANGES_MAX - 1];
    *r = (struct change){.input = input, .kind = kind};
    return r;
}

static void record_text(struct changing *c, const char *input, const char *text)
{
    record(c, input, CHANGE_TEXT)->text = text;
}

static void record_number(struct changing *c, const char *input, double value)
{
    record(c, input, CHANGE_NUMBER)->number = value;
}

static void record_yes(struct changing *c, const char *input)
{
    record(c, input, CHANGE_BOOL)->number = 1;
}

static bool to_method(struct changing *c, enum method m)
{
    c->w->training.method = m;
    record_text(c, "/workload/training/method", workload_enum_name(ENUM_METHOD, (int)m));
    return true;
}

static bool use_lora(struct changing *c)
{
    return c->b->trains && c->w->training.method == METHOD_FULL_FINETUNE && to_method(c, METHOD_LORA);
}

static bool use_qlora(struct changing *c)
{
    const enum method m = c->w->training.method;
    return c->b->trains && (m == METHOD_FULL_FINETUNE || m == METHOD_LORA) && to_method(c, METHOD_QLORA);
}

static bool use_bf16(struct changing *c)
{
    const enum precision p = c->w->training.precision;
    if (!c->b->trains || (p != PREC_FP32 && p != PREC_TF32))
        return false;
    c->w->training.precision = PREC_BF16;
    record_text(c, "/workload/training/precision", workload_enum_name(ENUM_PRECISION, PREC_BF16));
    return true;
}

/* Matrix products in 8 bits, where all the weights are trained. A reading was of the precision that it was taken in: it
 * says nothing of another. */
static bool use_fp8(struct changing *c)
{
    struct training *t = &c->w->training;
    if (!c->b->trains || (t->method != METHOD_FULL_FINETUNE && t->method != METHOD_PRETRAIN) ||
        (t->precision != PREC_UNSTATED && t->precision != PREC_BF16 && t->precision != PREC_FP16) ||
        c->w->measured.stated)
        return false;
    t->precision = PREC_FP8;
    record_text(c, "/workload/training/precision", workload_enum_name(ENUM_PRECISION, PREC_FP8));
    return true;
}

static bool use_8bit_optimizer(struct changing *c)
{
    const struct training *t = &c->w->training;
    if (!c->b->trains || (t->optimizer != OPT_UNSTATED && t->optimizer != OPT_ADAMW) ||
        (t->method != METHOD_FULL_FINETUNE && t->method != METHOD_PRETRAIN))
        return false;
    c->w->training.optimizer = OPT_ADAMW_8BIT;
    record_text(c, "/workload/training/optimizer", workload_enum_name(ENUM_OPTIMIZER, OPT_ADAMW_8BIT));
    return true;
}

/* What a weight of this format takes, as far as fewer would be another width. */
static double bits_of(enum weight_format format)
{
    static const enum weight_format of_16[] = {WF_BF16, WF_FP16, WF_FP32, WF_GGUF_F16};
    static const enum weight_format of_8[] = {WF_FP8,       WF_FP8_FBGEMM, WF_INT8, WF_INT8_WEIGHT_ONLY,
                                              WF_GGUF_Q6_K, WF_GGUF_Q8_0};
    for (size_t i = 0; i < sizeof of_16 / sizeof *of_16; i++)
        if (format == of_16[i])
            return 16;
    for (size_t i = 0; i < sizeof of_8 / sizeof *of_8; i++)
        if (format == of_8[i])
            return 8;
    return 4;
}

/* What each weight that is served takes now; 0 = as the plan finds best. */
static double served_bits(const struct build *b)
{
    const struct serving *s = &b->workload->serving;
    return s->weight_bits > 0                ? s->weight_bits
           : s->weight_format != WF_UNSTATED ? bits_of(s->weight_format)
                                             : build_served_model(b)->published_bits;
}

static bool use_fewer_bits(struct changing *c, double bits)
{
    enum { NEARLY = 1 }; /* formats of 4 and 8 bits take a little more with their scales */
    struct serving *s = &c->w->serving;
    const double now = served_bits(c->b);
    if (!c->b->serves || (now > 0 && now < bits + NEARLY))
        return false;
    c->figure = s->weight_bits = bits;
    record_number(c, "/workload/serving/weight_bits", bits);
    if (s->weight_format != WF_UNSTATED)
        record(c, "/workload/serving/weight_format", CHANGE_NULL);
    s->weight_format = WF_UNSTATED;
    return true;
}

static bool use_8bit_weights(struct changing *c)
{
    return use_fewer_bits(c, 8);
}

static bool use_4bit_weights(struct changing *c)
{
    return use_fewer_bits(c, 4);
}

/* The targets that no machine keeps are let go as far as the best of them reaches. */
static bool slower_answers(struct changing *c)
{
    const struct note *miss = &c->b->reserve.why_not;
    double best = 0;
    for (unsigned i = 0; miss->code && i < miss->n_args; i++)
        best = strcmp(miss->args[i].name, "best") == 0 ? miss->args[i].number : best;
    const bool token = miss->code && strcmp(miss->code, "serving_tpot_missed") == 0;
    const bool first = miss->code && strcmp(miss->code, "serving_ttft_missed") == 0;
    if (token)
        record_number(c, "/workload/serving/tpot_ms", c->w->serving.tpot_ms = ceil(best));
    if (first)
        record_number(c, "/workload/serving/ttft_ms", c->w->serving.ttft_ms = ceil(best));
    return token || first;
}

/* The job without what follows it: the customer says so, and the plan says that it is left out. */
static bool without_serving(struct changing *c)
{
    c->w->serving.months_stated = true;
    c->w->serving.months = 0;
    record_number(c, "/workload/serving/months", 0);
    return c->b->trains;
}

/* To this share of what it is, in whole blocks of 256 tokens. */
static bool shorten_sequence(struct changing *c, double share)
{
    enum { BLOCK = 256 };
    const int now = c->w->training.seq_len, then = (int)(now * share) / BLOCK * BLOCK;
    if (!c->b->trains || c->w->training.method == METHOD_CUSTOM || then < BLOCK || then >= now)
        return false;
    c->figure = c->w->training.seq_len = then;
    record_number(c, "/workload/training/seq_len", then);
    return true;
}

static bool three_quarters_of_sequence(struct changing *c)
{
    return shorten_sequence(c, 0.75);
}

static bool half_of_sequence(struct changing *c)
{
    return shorten_sequence(c, 0.5);
}

static bool any_city(struct changing *c)
{
    const bool bound = c->w->constraints.city != NULL;
    c->w->constraints.city = NULL;
    record(c, "/workload/constraints/city", CHANGE_NULL);
    return bound;
}

static bool desensitise(struct changing *c)
{
    c->w->constraints.can_desensitise = TRI_YES;
    record_yes(c, "/workload/constraints/can_desensitise");
    return c->b->market.data_at_home;
}

static bool allow_spot(struct changing *c)
{
    const bool allowed = c->w->constraints.allow_spot;
    c->w->constraints.allow_spot = true;
    record_yes(c, "/workload/constraints/allow_spot");
    return c->b->trains && !allowed;
}

/* Any card at all: which one it takes is then added to the list by itself (changes_add_gpu). */
static bool any_card(struct changing *c)
{
    const bool bound = c->w->constraints.n_gpus > 0;
    c->w->constraints.n_gpus = 0;
    return bound;
}

void changes_add_gpu(struct changing *c, const struct gpu *gpu)
{
    const struct constraints *was = &c->b->workload->constraints;
    const char **list = arena_array(c->b->arena, was->n_gpus + 1, sizeof *list);
    if (list == NULL) {
        c->failed = true;
        return;
    }
    for (size_t i = 0; i < was->n_gpus; i++)
        list[i] = was->gpus[i];
    list[was->n_gpus] = gpu->id;
    c->w->constraints.gpus = list;
    c->w->constraints.n_gpus = was->n_gpus + 1;
    c->n = 0;
    struct change *r = record(c, "/workload/constraints/gpus", CHANGE_LIST);
    r->list = list;
    r->n_list = was->n_gpus + 1;
}

static bool any_provider(struct changing *c)
{
    const bool bound = c->w->constraints.n_providers > 0;
    c->w->constraints.n_providers = 0;
    record(c, "/workload/constraints/providers", CHANGE_NULL);
    return bound;
}

static bool more_machines(struct changing *c)
{
    const bool bound = c->w->constraints.max_nodes > 0;
    c->w->constraints.max_nodes = 0;
    record(c, "/workload/constraints/max_nodes", CHANGE_NULL);
    return bound;
}

static bool with_operators(struct changing *c)
{
    const enum team t = c->w->constraints.team;
    c->w->constraints.team = TEAM_SLURM;
    record_text(c, "/workload/constraints/team", workload_enum_name(ENUM_TEAM, TEAM_SLURM));
    return t == TEAM_NONE || t == TEAM_SINGLE_NODE;
}

static bool side_by_side(struct changing *c)
{
    c->w->training.parallel_runs = 2;
    record_number(c, "/workload/training/parallel_runs", 2);
    return c->b->trains && c->b->training.parallel_runs < 2 && c->b->training.runs >= 2;
}

static void halve_work(struct changing *c)
{
    struct training *t = &c->w->training;
    if (t->tokens > 0)
        record_number(c, "/workload/training/tokens", t->tokens = floor(t->tokens / 2));
    else if (t->samples > 0)
        record_number(c, "/workload/training/samples", t->samples = floor(t->samples / 2));
    else
        record_number(c, "/workload/training/steps", t->steps = floor(t->steps / 2));
    record_number(c, "/workload/training/runs", t->runs = 2);
}

/* Half of the runs without sensitive data; one run is first cut into two of half the work. */
static bool share_runs(struct changing *c)
{
    struct training *t = &c->w->training;
    if (!c->b->trains || c->b->shareable_runs > 0)
        return false;
    if (c->b->training.runs < 2)
        halve_work(c);
    if (t->parallel_runs == 1) { /* as many as the sides take */
        t->parallel_runs = 0;
        record(c, "/workload/training/parallel_runs", CHANGE_NULL);
    }
    t->shareable_runs = t->runs / 2;
    record_number(c, "/workload/training/shareable_runs", t->shareable_runs);
    return true;
}

/* A host with as much memory as the offload needs that comes nearest to fitting. */
static bool larger_host(struct changing *c)
{
    enum { STEP_GB = 64 };
    const struct note *miss = c->reasons ? note_find(c->reasons, "host_memory") : NULL;
    double need = 0;
    for (unsigned i = 0; miss && i < miss->n_args; i++)
        need = strcmp(miss->args[i].name, "need_gb") == 0 ? miss->args[i].number : need;
    struct assumption_override *all = arena_array(c->b->arena, c->w->n_overrides + 1, sizeof *all);
    if (all == NULL)
        c->failed = true;
    c->figure = ceil(need / STEP_GB) * STEP_GB;
    if (!(need > 0) || c->figure > c->b->a.host_memory_most_gb || all == NULL)
        return false;
    for (size_t i = 0; i < c->w->n_overrides; i++)
        all[i] = c->w->overrides[i];
    all[c->w->n_overrides] = (struct assumption_override){"host_memory_least_gb", c->figure};
    c->w->overrides = all;
    c->w->n_overrides++;
    record_number(c, "/workload/assumptions/host_memory_least_gb", c->figure);
    return true;
}

void changes_set_deadline(struct changing *c, date_t deadline)
{
    c->w->constraints.deadline_on = deadline;
    record(c, "/workload/constraints/deadline_on", CHANGE_DATE)->date = deadline;
}

void changes_set_budget(struct changing *c, int64_t minor)
{
    c->w->constraints.budget_minor = minor;
    memcpy(c->w->constraints.budget_currency, c->b->day.currency, sizeof c->w->constraints.budget_currency);
    record(c, "/workload/constraints/budget", CHANGE_MONEY)->minor = minor;
}

static const struct need {
    const char *code;
    unsigned needs;
} needs_of_code[] = {
    {"memory_wall", NEED_MEMORY | NEED_SUPPLY},
    {"host_memory", NEED_HOST | NEED_MEMORY | NEED_SUPPLY},
    {"data_sensitive", NEED_DATA},
    {"nothing_to_burst", NEED_RUNS | NEED_DATA | NEED_BURST},
    {"city_without_supply", NEED_SUPPLY},
    {"no_offer", NEED_SUPPLY},
    {"no_line", NEED_SUPPLY},
    {"no_university_offer", NEED_SUPPLY},
    {"university_too_few_machines", NEED_SUPPLY | NEED_NODES},
    {"max_nodes", NEED_NODES},
    {"price_missing", NEED_SUPPLY},
    {"serving_exceeds_machine", NEED_SMALLER},
    {"reserve_missing", NEED_LOAD | NEED_SUPPLY},
    {"serving_no_memory", NEED_LOAD | NEED_SUPPLY},
    {"serving_ttft_missed", NEED_LOAD | NEED_SUPPLY},
    {"serving_tpot_missed", NEED_LOAD | NEED_SUPPLY},
    {"more_than_listed", NEED_LOAD | NEED_SUPPLY},
    {"team_ceiling", NEED_TEAM},
    {"beyond_horizon", NEED_TIME},
    {"spot_last_mile", NEED_TIME | NEED_SUPPLY},
    {"deadline_missed", NEED_TIME},
    {"budget_exceeded", NEED_MONEY},
};

static unsigned needs_of(const char *code)
{
    for (size_t k = 0; k < sizeof needs_of_code / sizeof *needs_of_code; k++)
        if (strcmp(code, needs_of_code[k].code) == 0)
            return needs_of_code[k].needs;
    return 0;
}

unsigned changes_needs(const struct note_list *reasons)
{
    static const char *const limits[] = {"deadline_missed", "budget_exceeded", "more_than_listed"};
    unsigned of_limits = 0, needs = 0;
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
        of_limits |= note_find(reasons, limits[k]) != NULL ? needs_of(limits[k]) : 0;
    for (size_t i = 0; i < reasons->n; i++)
        needs |= needs_of(reasons->items[i].code);
    return of_limits != 0 ? of_limits : needs;
}

#define ALL_KINDS ((1u << KIND_COUNT) - 1)
#define MANY_NODES (1u << KIND_SMALL_CLUSTER | 1u << KIND_HYBRID_CLOUD | 1u << KIND_UNIVERSITY_TIME)
#define HYBRID (1u << KIND_HYBRID_CLOUD)

const struct attempt changes_attempts[] = {
    {"desensitise", "relax_desensitise", NEED_DATA | NEED_LOAD, ALL_KINDS, false, false, desensitise},
    {"shareable_runs", "relax_shareable_runs", NEED_BURST, HYBRID, false, false, share_runs},
    {"parallel_runs", "relax_parallel_runs", NEED_RUNS, HYBRID, false, false, side_by_side},
    {"offload", "relax_offload", NEED_HOST, ALL_KINDS, true, false, larger_host},
    {"precision", "relax_precision", NEED_MEMORY | NEED_TIME | NEED_MONEY, ALL_KINDS, false, false, use_bf16},
    {"optimizer_8bit", "relax_optimizer_8bit", NEED_MEMORY, ALL_KINDS, false, false, use_8bit_optimizer},
    {"without_serving", "relax_without_serving", NEED_LOAD, ALL_KINDS, false, false, without_serving},
    {"slower_answers", "relax_slower_answers", NEED_LOAD, ALL_KINDS, false, false, slower_answers},
    {"weight_bits", "relax_weight_bits", NEED_SMALLER | NEED_MONEY | NEED_LOAD, ALL_KINDS, false, false,
     use_8bit_weights},
    {"weight_bits", "relax_weight_bits", NEED_SMALLER | NEED_MONEY | NEED_LOAD, ALL_KINDS, false, false,
     use_4bit_weights},
    {"lora", "relax_lora", NEED_MEMORY | NEED_TIME | NEED_MONEY, ALL_KINDS, false, false, use_lora},
    {"qlora", "relax_qlora", NEED_MEMORY | NEED_TIME | NEED_MONEY, ALL_KINDS, false, false, use_qlora},
    {"precision", "relax_precision_fp8", NEED_TIME | NEED_MONEY, ALL_KINDS, false, true, use_fp8},
    {"spot", "relax_spot", NEED_MONEY | NEED_SUPPLY, ALL_KINDS, false, false, allow_spot},
    {"card_up", "relax_card_up", NEED_MEMORY | NEED_SMALLER | NEED_SUPPLY | NEED_TIME | NEED_MONEY, ALL_KINDS, false,
     false, any_card},
    {"city", "relax_city", NEED_SUPPLY | NEED_TIME | NEED_MONEY, ALL_KINDS, false, false, any_city},
    {"provider", "relax_provider", NEED_SUPPLY | NEED_TIME | NEED_MONEY, ALL_KINDS, false, false, any_provider},
    {"max_nodes", "relax_max_nodes", NEED_NODES | NEED_TIME, MANY_NODES, false, false, more_machines},
    {"with_operators", "relax_with_operators", NEED_TEAM | NEED_TIME, MANY_NODES, false, false, with_operators},
    {"seq_len", "relax_seq_len", NEED_MEMORY, ALL_KINDS, false, false, three_quarters_of_sequence},
    {"seq_len", "relax_seq_len", NEED_MEMORY, ALL_KINDS, false, false, half_of_sequence},
};
const size_t changes_n_attempts = sizeof changes_attempts / sizeof *changes_attempts;
