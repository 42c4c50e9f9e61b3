/* Triggers, counter-signs, staged advice, budget, relaxations, attribution and sensitivity, by the names of the rules.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "planner/advice/advice.h"
#include "planner/advice/attribution.h"
#include "tests/support/small_fixture.h"

TestSuite(advice, .init = small_setup, .fini = small_teardown);

static struct plan *plan_of(const struct workload *w)
{
    return small_plan(market, w, arena);
}

static bool triggers(const struct workload *w, const char *code)
{
    return note_find(&plan_of(w)->cluster_triggers, code) != NULL;
}

static bool counters(const struct workload *w, const char *code)
{
    return note_find(&plan_of(w)->counter_signs, code) != NULL;
}

static bool stages(const struct workload *w, const char *code)
{
    return note_find(&plan_of(w)->staged_advice, code) != NULL;
}

static const struct model *preset(const char *id)
{
    const struct model *m = catalog_model(market, id);
    cr_assert(m, "%s", id);
    return m;
}

Test(advice, trigger_one_card_too_slow)
{
    struct workload w = small_workload(market);
    w.training.tokens = 2e7;
    cr_expect_not(triggers(&w, "trigger_one_card_too_slow"));
    w.training.tokens = 5e9;
    cr_expect(triggers(&w, "trigger_one_card_too_slow"));
}

Test(advice, trigger_parallel_experiments)
{
    struct workload w = small_workload(market);
    w.training.runs = 4;
    cr_expect_not(triggers(&w, "trigger_parallel_experiments"));
    w.training.parallel_runs = 4;
    cr_expect(triggers(&w, "trigger_parallel_experiments"));
}

Test(advice, trigger_train_and_serve)
{
    struct workload w = small_workload(market);
    w.serving.stated = true;
    w.serving.requests_per_s = 0.5;
    w.serving.input_tokens = 500;
    w.serving.output_tokens = 100;
    w.serving.months = 0;
    cr_expect_not(triggers(&w, "trigger_train_and_serve"));
    w.serving.months = 3;
    cr_expect(triggers(&w, "trigger_train_and_serve"));
    cr_expect(stages(&w, "scheduler_kubernetes"));
}

Test(advice, trigger_deadline_closer_than_one_machine)
{
    struct workload w = small_workload(market);
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 5e10;
    w.constraints.deadline_on = w.constraints.start_on + 400;
    cr_expect_not(triggers(&w, "trigger_deadline"));
    w.constraints.deadline_on = w.constraints.start_on + 40;
    cr_expect(triggers(&w, "trigger_deadline"));
}

Test(advice, trigger_machine_queue)
{
    struct workload w = small_workload(market);
    w.training.runs = 6;
    w.measured.stated = true;
    w.measured.gpu = "a100-sxm4-80g";
    w.measured.gpus = 8;
    w.measured.gpu_util_pct = 60;
    cr_expect_not(triggers(&w, "trigger_machine_queue"));
    w.measured.gpu_util_pct = 97;
    cr_expect(triggers(&w, "trigger_machine_queue"));
}

Test(advice, trigger_data_outgrows_machine)
{
    struct workload w = small_workload(market);
    w.training.dataset_gb = 1000;
    cr_expect_not(triggers(&w, "trigger_data_outgrows_machine"));
    w.training.dataset_gb = 40000;
    cr_expect(triggers(&w, "trigger_data_outgrows_machine"));
}

Test(advice, trigger_not_one_machine)
{
    struct workload w = small_workload(market);
    cr_expect_not(triggers(&w, "trigger_not_one_machine"));
    w.constraints.kinds[KIND_SINGLE_MACHINE] = false; /* nobody asked for one: it would do all the same */
    w.constraints.team = TEAM_EXPERT;
    cr_expect_not(triggers(&w, "trigger_not_one_machine"));
    w.constraints.kinds[KIND_SINGLE_MACHINE] = true;
    w.constraints.team = TEAM_UNSTATED;
    w.model = *preset("llama-2-70b");
    w.model.params = 0; /* the widths of a 70B, three times as deep */
    w.model.layers *= 3;
    w.model.params = model_count_params(&w.model);
    w.model.active_params = w.model.params;
    w.training.method = METHOD_PRETRAIN;
    w.training.tokens = 1e9;
    struct plan *p = plan_of(&w);
    bool single = false, cluster = false;
    for (size_t i = 0; i < p->n_options; i++) {
        single |= p->options[i].kind == KIND_SINGLE_MACHINE;
        cluster |= p->options[i].kind == KIND_SMALL_CLUSTER;
    }
    cr_expect_not(single);
    cr_expect(cluster);
    cr_expect(note_find(&p->cluster_triggers, "trigger_not_one_machine"));
    cr_expect(note_find(&p->staged_advice, "memory_gap_hard"));
}

Test(advice, trigger_cluster_entry_price)
{
    /* holds exactly when the cheapest single machine costs no less than the cheapest cluster */
    for (double tokens = 1e8; tokens < 1e11; tokens *= 10) {
        struct workload w = small_workload(market);
        w.training.method = METHOD_FULL_FINETUNE;
        w.training.tokens = tokens;
        struct plan *p = plan_of(&w);
        int64_t least[KIND_COUNT] = {0};
        for (size_t i = 0; i < p->n_options; i++) {
            int64_t *l = &least[p->options[i].kind];
            *l = *l == 0 || p->options[i].cost.total < *l ? p->options[i].cost.total : *l;
        }
        const bool holds = least[KIND_SINGLE_MACHINE] > 0 && least[KIND_SMALL_CLUSTER] > 0 &&
                           least[KIND_SINGLE_MACHINE] >= least[KIND_SMALL_CLUSTER];
        cr_expect_eq(note_find(&p->cluster_triggers, "trigger_cluster_entry_price") != NULL, holds, "%g tokens",
                     tokens);
    }
}

Test(advice, debugging_stage)
{
    struct workload w = small_workload(market);
    cr_expect(counters(&w, "debugging_stage"));
    w.measured.stated = true;
    w.measured.gpu = "a100-sxm4-80g";
    w.measured.gpus = 8;
    w.measured.gpu_util_pct = 95;
    cr_expect_not(counters(&w, "debugging_stage"));
}

Test(advice, peft_fits)
{
    static const struct {
        enum method method;
        bool holds;
    } cases[] = {{METHOD_LORA, true}, {METHOD_QLORA, true}, {METHOD_FULL_FINETUNE, false}, {METHOD_PRETRAIN, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload w = small_workload(market);
        w.training.method = cases[i].method;
        cr_expect_eq(counters(&w, "peft_fits"), cases[i].holds, "case %zu", i);
    }
}

Test(advice, inference_fits)
{
    struct workload w = small_workload(market);
    w.training.stated = false;
    w.serving.stated = true;
    w.serving.users = 50;
    w.serving.requests_per_user_hour = 12;
    w.serving.input_tokens = 500;
    w.serving.output_tokens = 200;
    w.serving.months = 6;
    cr_expect(counters(&w, "inference_fits"));
}

Test(advice, communication_above_compute)
{
    struct workload w = small_workload(market);
    w.measured.stated = true;
    w.measured.gpu = "a100-sxm4-80g";
    w.measured.gpus = 8;
    w.measured.comm_share_pct = 20;
    cr_expect_not(counters(&w, "communication_above_compute"));
    w.measured.comm_share_pct = 61;
    cr_expect(counters(&w, "communication_above_compute"));
}

Test(advice, team_ceiling)
{
    static const struct {
        enum team team;
        bool holds;
    } cases[] = {{TEAM_NONE, true}, {TEAM_SINGLE_NODE, true}, {TEAM_SLURM, false}, {TEAM_EXPERT, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload w = small_workload(market);
        w.constraints.team = cases[i].team;
        cr_expect_eq(counters(&w, "team_ceiling"), cases[i].holds, "case %zu", i);
    }
}

/* At most 2 times one machine: squeeze first; at 3 times or more: a cluster at once; between: both. */
Test(advice, memory_gap_soft_and_memory_gap_hard)
{
    static const struct {
        double billions;
        bool soft, hard;
    } cases[] = {{7, false, false}, {60, true, false}, {110, true, true}, {160, false, true}};
    struct advice_terms t;
    struct err err;
    cr_assert_eq(advice_terms_bind(&market->params, &t, &err), 0, "%s", err.detail);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload w = small_workload(market);
        w.training.method = METHOD_FULL_FINETUNE;
        w.model.params = w.model.active_params = cases[i].billions * 1e9;
        const struct shape node = {.gpu = catalog_gpu(market, "a100-sxm4-80g"), .gpus_per_node = 8, .nodes = 1};
        struct plan plan = {0};
        struct build b = {
            .workload = &w, .training = w.training, .params = market->params, .trains = true, .arena = arena};
        const double machine_gb = 8 * shape_usable_bytes(&node) / 1e9, ratio = build_state_bytes(&b) / 1e9 / machine_gb;
        struct option_list none = {0};
        note_list_init(&plan.staged_advice, arena);
        struct advice a = {
            .b = &b, .plan = &plan, .ranked = &none, .t = t, .need_gb = ratio * machine_gb, .machine_gb = machine_gb};
        advice_staged(&a);
        cr_expect_eq(note_find(&plan.staged_advice, "memory_gap_soft") != NULL, cases[i].soft, "%gB: %.2f times",
                     cases[i].billions, ratio);
        cr_expect_eq(note_find(&plan.staged_advice, "memory_gap_hard") != NULL, cases[i].hard, "%gB: %.2f times",
                     cases[i].billions, ratio);
    }
}

Test(advice, two_node_gate_and_the_upgrade_path)
{
    struct workload w = small_workload(market);
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 2e10;
    cr_expect(stages(&w, "stage_two_nodes") || stages(&w, "stage_two_nodes_only"));
    cr_expect(stages(&w, "upgrade_same_model"));
    cr_expect(stages(&w, "upgrade_join_nodes"));
    cr_expect(stages(&w, "upgrade_new_generation"));
    w.measured.stated = true;
    w.measured.gpu = "a100-sxm4-80g";
    w.measured.gpus = 8;
    w.measured.two_node_speedup = 1.3;
    struct plan *p = plan_of(&w);
    cr_expect(note_find(&p->staged_advice, "stage_two_nodes_failed"));
    cr_expect_null(note_find(&p->staged_advice, "upgrade_join_nodes"), "not what the gate has stopped");
    for (size_t i = 0; i < p->n_options; i++)
        cr_expect_neq(p->options[i].kind, KIND_SMALL_CLUSTER);
}

Test(advice, slow_card_gates)
{
    struct workload w = small_workload(market);
    cr_expect_not(stages(&w, "slow_card_gates"));
    w.constraints.mix_gpus = true;
    cr_expect(stages(&w, "slow_card_gates"));
}

Test(advice, scheduler_follows_the_work)
{
    struct workload w = small_workload(market);
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 2e10;
    cr_expect(stages(&w, "scheduler_slurm"));
    w.constraints.team = TEAM_KUBERNETES;
    cr_expect(stages(&w, "scheduler_kubernetes"));
    w = small_workload(market);
    w.training.method = METHOD_EMBEDDING;
    w.training.tokens = 1e11;
    w.training.runs = w.training.parallel_runs = 4;
    cr_expect(stages(&w, "scheduler_ray"));
}

/* Joining two nodes is a step of a single machine that may grow: not of a cluster, and not of a LoRA that fits one. */
Test(advice, upgrade_join_nodes_only_from_one_machine)
{
    struct workload w = small_workload(market);
    cr_expect_not(stages(&w, "upgrade_join_nodes"), "LoRA fits one machine");
    w.training.method = METHOD_FULL_FINETUNE;
    for (double tokens = 1e9; tokens < 1e12; tokens *= 10) {
        w.training.tokens = tokens;
        struct plan *p = plan_of(&w);
        if (p->n_options == 0)
            continue;
        const bool one = p->options[0].kind == KIND_SINGLE_MACHINE;
        if (one || p->options[0].kind == KIND_SMALL_CLUSTER)
            cr_expect_eq(note_find(&p->staged_advice, "upgrade_join_nodes") != NULL, one, "%g tokens", tokens);
    }
}

/* A service alone is no training: its first machine is tried for latency, and replicas are scheduled as such. */
Test(advice, a_service_is_not_told_about_training)
{
    struct workload w = small_workload(market);
    w.training = (struct training){0};
    w.serving.stated = true;
    w.serving.requests_per_s = 30;
    w.serving.output_tokens = 400;
    w.serving.months = 6;
    w.serving.months_stated = true;
    cr_expect(stages(&w, "stage_validate_service"));
    cr_expect_not(stages(&w, "stage_validate_first"));
    cr_expect_not(stages(&w, "scheduler_slurm"));
    cr_expect_not(stages(&w, "upgrade_new_generation"));
}

Test(advice, managed_machine_and_container_cluster)
{
    struct workload w = small_workload(market);
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 2e10;
    w.constraints.kinds[KIND_UNIVERSITY_TIME] = false;
    w.constraints.team = TEAM_NONE;
    cr_expect(stages(&w, "managed_machine"), "more than one card's work, and nobody to run a cluster");
    w.constraints.team = TEAM_EXPERT;
    cr_expect_not(stages(&w, "managed_machine"));
    cr_expect_not(stages(&w, "container_cluster"));
    w.training.runs = w.training.parallel_runs = 2;
    cr_expect(stages(&w, "container_cluster"));
    w.training.runs = w.training.parallel_runs = 1;
    w.constraints.team = TEAM_KUBERNETES;
    cr_expect(stages(&w, "container_cluster"));
}

Test(advice, trigger_data_outruns_machine)
{
    struct workload w = small_workload(market);
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 2e9;
    w.training.dataset_gb = 4000; /* images: many bytes a token */
    w.measured.stated = true;
    w.measured.parallel_file_system_gbps = 800;
    cr_expect_not(triggers(&w, "trigger_data_outruns_machine"));
    w.measured.parallel_file_system_gbps = 0.04;
    cr_expect(triggers(&w, "trigger_data_outruns_machine"));
}

Test(advice, bare_metal_for_long_or_sensitive_and_container_for_short)
{
    struct workload w = small_workload(market);
    w.training.tokens = 2e7;
    w.constraints.kinds[KIND_UNIVERSITY_TIME] = false; /* its agreement alone takes three weeks */
    cr_expect(stages(&w, "container"));
    cr_expect_not(stages(&w, "bare_metal"));
    w.constraints.data_sensitive = true;
    cr_expect(stages(&w, "bare_metal"));
    w = small_workload(market);
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 5e10;
    w.constraints.team = TEAM_NONE;
    cr_expect_not(stages(&w, "bare_metal"), "a university's machines have one form");
    w.constraints.kinds[KIND_UNIVERSITY_TIME] = false;
    cr_expect(stages(&w, "bare_metal"));
    cr_expect(stages(&w, "managed_machine"));
    w.constraints.team = TEAM_KUBERNETES;
    cr_expect(stages(&w, "container_cluster"));
}

/* 200 thousand yuan: at most 20 thousand for validation, the reserve kept, nothing lost. */
Test(advice, budget_of_200_thousand_yuan)
{
    struct workload w = small_workload(market);
    w.model = *preset("llama-2-13b");
    w.serving.months_stated = false; /* the default reserve */
    w.constraints.budget_minor = 20000000;
    memcpy(w.constraints.budget_currency, "CNY", 4);
    struct plan *p = plan_of(&w);
    int64_t sum = 0, validation = -1, reserve = -1;
    for (size_t i = 0; i < p->n_budget_shares; i++) {
        const struct budget_share *s = &p->budget_shares[i];
        cr_expect_geq(s->minor, 0, "%s", s->code);
        sum += s->minor;
        if (strcmp(s->code, "validation") == 0)
            validation = s->minor;
        if (strcmp(s->code, "inference_reserve") == 0)
            reserve = s->minor;
    }
    cr_expect_eq(sum, 20000000);
    cr_expect(validation >= 0 && validation <= 2000000, "%lld", (long long)validation);
    cr_expect_gt(reserve, 0);
    cr_expect(note_find(&p->staged_advice, "budget_buys"));
    /* whatever the assumptions, the parts are parts */
    struct assumption_override all[] = {
        {"validate_budget_share", 1}, {"budget_reserve_share_max", 1}, {"budget_contingency_share", 0.5}};
    w.overrides = all;
    w.n_overrides = 3;
    p = plan_of(&w);
    sum = 0;
    for (size_t i = 0; i < p->n_budget_shares; i++) {
        cr_expect_geq(p->budget_shares[i].minor, 0, "%s", p->budget_shares[i].code);
        sum += p->budget_shares[i].minor;
    }
    cr_expect_eq(sum, 20000000);
    w.constraints.budget_minor = 0;
    cr_expect_eq(plan_of(&w)->n_budget_shares, 0);
}

static const struct relaxation *relaxation_of(const struct relaxation_list *l, const char *code)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i].code, code) == 0)
            return &l->items[i];
    return NULL;
}

static const struct relaxation *kind_relaxation(const struct plan *p, enum option_kind kind, const char *code)
{
    for (size_t i = 0; i < p->n_infeasible; i++)
        if (p->infeasible[i].kind == kind)
            return relaxation_of(&p->infeasible[i].relaxations, code);
    return NULL;
}

/* The least total of a kind's feasible options; 0 = none. */
static int64_t least_of(const struct plan *p, enum option_kind kind)
{
    int64_t least = 0;
    for (size_t i = 0; i < p->n_options; i++)
        if (p->options[i].kind == kind && p->options[i].feasible && (!least || p->options[i].cost.total < least))
            least = p->options[i].cost.total;
    return least;
}

Test(advice, relaxations_are_planned_again)
{
    struct workload w = small_workload(market);
    w.constraints.data_sensitive = true;
    const struct relaxation *r = kind_relaxation(plan_of(&w), KIND_UNIVERSITY_TIME, "desensitise");
    cr_assert(r);
    cr_expect(r->priced && r->total > 0 && r->finish_on > w.constraints.start_on);
    w.constraints.can_desensitise = TRI_YES;
    cr_expect_eq(r->total, least_of(plan_of(&w), KIND_UNIVERSITY_TIME), "the same plan asked for gives the same sum");
    w = small_workload(market);
    w.training.runs = 4;
    r = kind_relaxation(plan_of(&w), KIND_HYBRID_CLOUD, "parallel_runs");
    cr_assert(r);
    w.training.parallel_runs = 2;
    const int64_t full = least_of(plan_of(&w), KIND_HYBRID_CLOUD);
    cr_expect(full > 0 && r->total >= full && (double)r->total < 1.25 * (double)full, "%lld against %lld",
              (long long)r->total, (long long)full);
}

Test(advice, relaxations_name_the_days_and_the_money_that_are_missing)
{
    struct workload w = small_workload(market);
    w.training.tokens = 2e9;
    w.constraints.deadline_on = w.constraints.start_on; /* tomorrow, as it were */
    struct plan *p = plan_of(&w);
    cr_expect_null(p->recommended);
    const struct relaxation *later = kind_relaxation(p, KIND_SINGLE_MACHINE, "later_deadline");
    cr_assert(later);
    const struct note_arg *deadline = NULL;
    for (unsigned i = 0; i < later->text.n_args; i++)
        if (strcmp(later->text.args[i].name, "deadline") == 0)
            deadline = &later->text.args[i];
    cr_assert(deadline);
    w.constraints.deadline_on = deadline->date + 1;
    cr_expect_gt(least_of(plan_of(&w), KIND_SINGLE_MACHINE), 0, "with the days added the kind is feasible");
    w.constraints.deadline_on = DATE_NONE;
    w.constraints.budget_minor = 100000;
    memcpy(w.constraints.budget_currency, "CNY", 4);
    p = plan_of(&w);
    const struct relaxation *more = kind_relaxation(p, KIND_SINGLE_MACHINE, "more_budget");
    cr_assert(more);
    for (unsigned i = 0; i < more->text.n_args; i++)
        if (strcmp(more->text.args[i].name, "budget") == 0)
            w.constraints.budget_minor = more->text.args[i].minor;
    cr_expect_gt(least_of(plan_of(&w), KIND_SINGLE_MACHINE), 0, "with the money added the kind is feasible");
}

Test(advice, relaxation_lora_makes_a_full_fine_tune_cheaper)
{
    struct workload w = small_workload(market);
    w.model = *preset("llama-2-70b");
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 1e9;
    w.constraints.kinds[KIND_UNIVERSITY_TIME] = false;
    struct plan *p = plan_of(&w);
    cr_assert_gt(p->n_options, 0);
    const struct relaxation *r = relaxation_of(&p->options[0].relaxations, "lora");
    if (!r)
        r = kind_relaxation(p, KIND_SINGLE_MACHINE, "lora");
    if (!r)
        r = kind_relaxation(p, KIND_SINGLE_MACHINE, "qlora");
    cr_assert(r);
    cr_expect_lt(r->total, p->options[0].cost.total);
}

Test(advice, attribution_shares_sum_to_the_whole)
{
    struct workload w = small_workload(market);
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 2e10;
    w.serving.months_stated = false;
    struct plan *p = plan_of(&w);
    cr_assert_gt(p->n_options, 1);
    cr_assert_gt(p->n_attributions, 0);
    for (size_t i = 0; i < p->n_attributions; i++) {
        const struct attribution *a = &p->attributions[i];
        const struct option *from = NULL, *to = NULL;
        for (size_t k = 0; k < p->n_options; k++) {
            from = strcmp(p->options[k].label, a->from) == 0 ? &p->options[k] : from;
            to = strcmp(p->options[k].label, a->to) == 0 ? &p->options[k] : to;
        }
        cr_assert(from && to);
        cr_expect_eq(a->minor, to->cost.total - from->cost.total);
        int64_t sum = 0;
        double shares = 0;
        for (size_t k = 0; k < a->n_parts; k++) {
            sum += a->parts[k].minor;
            shares += a->parts[k].share;
        }
        cr_expect_eq(sum, a->minor, "%s to %s", a->from, a->to);
        cr_expect_float_eq(shares, 1, 1e-9);
    }
}

/* 2000 hours at 10 against 1200 hours at 16: the price takes what the hours give. */
Test(advice, attribution_tells_price_from_hours)
{
    const struct attribution_view slow = {.train = 2000000, .card_hours = 2000},
                                  fast = {.train = 1920000, .card_hours = 1200};
    struct attribution a;
    cr_assert(attribution_between(&slow, &fast, &a));
    cr_expect_eq(a.minor, -80000);
    cr_assert_eq(a.n_parts, 2);
    cr_expect_str_eq(a.parts[0].category, "unit_price");
    cr_expect_eq(a.parts[0].minor, 960000); /* 6 yuan dearer at the mean 1,600 h */
    cr_expect_str_eq(a.parts[1].category, "hours");
    cr_expect_eq(a.parts[1].minor, -1040000); /* 800 h less at the mean 13 yuan */
    cr_expect_not(attribution_between(&slow, &slow, &a));
}
