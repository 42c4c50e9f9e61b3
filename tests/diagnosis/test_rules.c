/* test_rules.c — the verdicts of docs/domain.md section 4, each under its rule's name. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "planner/diagnosis/cards.h"
#include "planner/diagnosis/diagnosis.h"
#include "planner/diagnosis/readers.h"
#include "tests/support/test_catalog.h"

#define N(a) (sizeof(a) / sizeof *(a))

static struct arena *arena;

static void set_up(void)
{
    arena = arena_new((size_t)16 << 20);
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(rules, .init = set_up, .fini = tear_down);
TestSuite(iterations, .init = set_up, .fini = tear_down);

/* One row a card, as --query-gpu prints it. */
struct card {
    double util, used, total, power, limit;
};

static const char *csv(const struct card *cards, size_t n)
{
    char *text = arena_strdup(
        arena,
        "index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W], power.limit [W]\n");
    for (size_t i = 0; i < n; i++)
        text = arena_printf(arena, "%s%zu, NVIDIA A100-SXM4-80GB, %g %%, %g MiB, %g MiB, %g W, %g W\n", text, i,
                            cards[i].util, cards[i].used, cards[i].total, cards[i].power, cards[i].limit);
    return text;
}

static struct diagnosis run(struct diagnosis_input in)
{
    struct diagnosis d;
    struct err err = {0};
    cr_assert_eq(diagnosis_run(&in, test_catalog(), arena, &d, &err), 0, "%s", err.detail);
    return d;
}

static struct diagnosis of_cards(const struct card *cards, size_t n)
{
    return run((struct diagnosis_input){.nvidia_smi_csv = csv(cards, n)});
}

static struct diagnosis of_times(const double *times, size_t n)
{
    return run((struct diagnosis_input){.iteration_times_s = times, .n_iteration_times = n});
}

static void is(const struct diagnosis *d, enum verdict want, int line)
{
    cr_expect_str_eq(verdict_name(d->verdict), verdict_name(want), "line %d", line);
    cr_expect_str_eq(d->findings.items[0].note.code, verdict_name(want), "line %d", line);
    cr_expect_eq(d->expand, want == VERDICT_REAL_NEED, "line %d", line);
}
#define IS(d, want) is(&(d), want, __LINE__)

static bool says(const struct diagnosis *d, const char *code)
{
    for (size_t i = 0; i < d->findings.n; i++)
        if (strcmp(d->findings.items[i].note.code, code) == 0)
            return true;
    return false;
}

Test(rules, data_pipeline_memory_full_while_cards_idle)
{
    const struct card cards[] = {{35, 77800, 81920, 150, 400}, {41, 77900, 81920, 160, 400}};
    struct diagnosis d = of_cards(cards, 2);
    IS(d, VERDICT_DATA_PIPELINE);
    cr_expect(d.recoverable_share >= 0.3, "mending the data path frees 30 %% or more");
    cr_expect_float_eq(d.recoverable_share, 1 - 38.0 / 90, 1e-9, "what a card idles against a busy one");
    cr_expect(d.recoverable_read);
    cr_expect_float_eq(d.measured.recoverable_share, d.recoverable_share, 1e-9, "it goes along into a workload");
    cr_expect(verdict_not_cards(d.verdict));
    cr_expect_float_eq(d.measured.gpu_util_pct, 38, 1e-9);
    cr_expect_float_eq(d.measured.memory_used_pct, 100 * 77850.0 / 81920, 1e-9);
    cr_expect_str_eq(d.measured.gpu, "a100-sxm4-80g");
    const struct card edge[] = {{50, 77800, 81920, 150, 400}, {49, 69000, 81920, 150, 400}};
    d = of_cards(edge, 1);
    IS(d, VERDICT_HEALTHY); /* not under 50 % */
    d = of_cards(edge + 1, 1);
    IS(d, VERDICT_INSUFFICIENT); /* 84 % is not full: no rule speaks */
    cr_expect(says(&d, "no_rule_fired"));
}

Test(rules, bandwidth_bound_memory_controller_saturated)
{
    static const char busy[] = "# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk\n"
                               "    0   280    41     -    98    93     0     0  6250  1710\n"
                               "    0   284    42     -    30    27     0     0  6250  1710\n"
                               "    0   281    42     -    95    85     0     0  6250  1710\n";
    struct diagnosis d = run((struct diagnosis_input){.dmon = busy});
    IS(d, VERDICT_BANDWIDTH_BOUND);
    cr_expect_float_eq(d.cards.items[0].memory_busy_working_pct, 89, 1e-9, "of the samples in which the card worked");
    static const char calm[] = "# gpu   pwr gtemp mtemp    sm   mem\n    0   280    41     -    98    66\n";
    d = run((struct diagnosis_input){.dmon = calm});
    IS(d, VERDICT_INSUFFICIENT);
    cr_expect(says(&d, "no_memory_total"), "mem is no memory in use");
}

Test(rules, unstable_iterations_above_a_third_of_variation)
{
    double times[40];
    for (int i = 0; i < 40; i++)
        times[i] = i == 0 ? 30.0 : i % 3 == 0 ? 4.0 : 1.0;
    struct diagnosis d = of_times(times, 40);
    IS(d, VERDICT_UNSTABLE_ITERATIONS);
    cr_expect_float_eq(d.recoverable_share, 1 - 1.0 / d.iterations.steady_mean_s, 1e-9, "were all as fast as most");
    cr_expect_float_eq(d.measured.recoverable_share, d.recoverable_share, 1e-9, "a variation alone does not tell it");
    for (int i = 1; i < 40; i++)
        times[i] = 1.0 + 0.05 * (i % 4);
    d = of_times(times, 40);
    IS(d, VERDICT_HEALTHY); /* the start-up of 30 s is left out */
    cr_expect_eq(d.iterations.warmup_left_out, 1u);
    d = of_times(times + 1, 5);
    IS(d, VERDICT_INSUFFICIENT);
    cr_expect(says(&d, "few_iterations"));
}

Test(rules, real_need_busy_full_and_near_the_power_limit)
{
    const struct card full[] = {{97, 79000, 81920, 390, 400}, {99, 78000, 81920, 380, 400}};
    struct diagnosis d = of_cards(full, 2);
    IS(d, VERDICT_REAL_NEED);
    cr_expect_eq(d.recoverable_share, 0);
    /* steady is part of the rule: swinging iteration times take it back */
    static const double swing[] = {1, 1, 5, 1, 5, 1, 1, 5, 1, 5, 1, 1};
    d = run(
        (struct diagnosis_input){.nvidia_smi_csv = csv(full, 2), .iteration_times_s = swing, .n_iteration_times = 12});
    IS(d, VERDICT_UNSTABLE_ITERATIONS);
    const struct card roomy[] = {{97, 40000, 81920, 390, 400}};
    d = of_cards(roomy, 1);
    IS(d, VERDICT_HEALTHY);
    const struct card cool[] = {{97, 79000, 81920, 220, 400}};
    d = of_cards(cool, 1);
    IS(d, VERDICT_HEALTHY); /* 55 % of the limit: neither near it nor far under it */
}

Test(rules, waiting_busy_but_far_under_the_power_limit)
{
    const struct card cards[] = {{100, 79000, 81920, 110, 400}, {100, 79000, 81920, 120, 400}};
    struct diagnosis d = of_cards(cards, 2);
    IS(d, VERDICT_WAITING);
    cr_expect(verdict_not_cards(d.verdict));
}

Test(rules, pcie_bound_cards_without_nvlink)
{
    static const struct {
        const char *topo;
        enum verdict want;
    } cases[] = {
        {"GPU0 X PHB\nGPU1 PHB X\n", VERDICT_PCIE_BOUND},
        {"GPU0 X NV18\nGPU1 NV18 X\n", VERDICT_HEALTHY},
        {"GPU0 X NV4 SYS SYS\nGPU1 NV4 X SYS SYS\nGPU2 SYS SYS X NV4\nGPU3 SYS SYS NV4 X\n", VERDICT_PCIE_BOUND},
        {"GPU0 X NV1 SYS\nGPU1 NV1 X NV2\nGPU2 SYS NV2 X\n", VERDICT_HEALTHY}, /* a chain of NVLinks reaches all */
        {"GPU0 X\n", VERDICT_INSUFFICIENT},
        {"ERROR: Option -m is missing its value.\n", VERDICT_INSUFFICIENT},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct diagnosis d = run((struct diagnosis_input){.topo = cases[i].topo});
        cr_expect_str_eq(verdict_name(d.verdict), verdict_name(cases[i].want), "case %zu", i);
    }
    /* a real need stays one, with the links told */
    const struct card full[] = {{97, 79000, 81920, 390, 400}, {99, 78000, 81920, 380, 400}};
    struct diagnosis d = run((struct diagnosis_input){.nvidia_smi_csv = csv(full, 2), .topo = cases[0].topo});
    IS(d, VERDICT_REAL_NEED);
    cr_expect(says(&d, "pcie_bound"));
}

Test(rules, an_average_hides_an_idle_or_a_saturated_card)
{
    const struct card mixed[] = {{99, 79000, 81920, 390, 400}, {0, 4, 81920, 60, 400}, {98, 79000, 81920, 395, 400}};
    struct diagnosis d = of_cards(mixed, 3);
    IS(d, VERDICT_HEALTHY); /* one card is idle: use it before adding any */
    cr_expect(says(&d, "idle_cards"));
    cr_expect(says(&d, "card_verdict"), "each saturated card is told of");
    cr_expect_eq(d.cards.items[0].verdict, VERDICT_REAL_NEED);
    cr_expect_eq(d.cards.items[1].verdict, VERDICT_INSUFFICIENT);
    cr_expect_eq(d.measured.gpus, 2, "the job does not run on the idle one");
    const struct card starved[] = {
        {99, 70000, 81920, 390, 400}, {10, 79000, 81920, 90, 400}, {5, 79000, 81920, 90, 400}};
    d = of_cards(starved, 3);
    IS(d, VERDICT_DATA_PIPELINE); /* though the mean of memory and utilisation would not say so of any card */
}

/* The verdict of the many does not drown the few: a straggler is named, and no card is called for while there is one.
 */
Test(rules, slow_card_gates_the_machine)
{
    enum { CARDS = 8 };
    static const struct card busy = {98, 79000, 81920, 390, 400};
    static const struct {
        struct card odd;
        enum verdict machine, card;
        const char *code, *metric;
    } cases[] = {
        {{31, 79000, 81920, 200, 400}, VERDICT_HEALTHY, VERDICT_DATA_PIPELINE, "slow_card", "utilisation_pct"},
        {{100, 79000, 81920, 110, 400}, VERDICT_HEALTHY, VERDICT_WAITING, "slow_card", "power_share"},
        {{98, 79000, 81920, 200, 400}, VERDICT_HEALTHY, VERDICT_HEALTHY, "slow_card", "power_share"},
        {{0, 4, 81920, 60, 400}, VERDICT_HEALTHY, VERDICT_INSUFFICIENT, "idle_cards", "cards"},
        {{95, 78000, 81920, 370, 400}, VERDICT_REAL_NEED, VERDICT_REAL_NEED, NULL, NULL},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct card cards[CARDS];
        for (size_t k = 0; k < CARDS; k++)
            cards[k] = k == 5 ? cases[i].odd : busy;
        struct diagnosis d = of_cards(cards, CARDS);
        IS(d, cases[i].machine);
        cr_expect_eq(d.cards.items[5].verdict, cases[i].card, "case %zu", i);
        const struct finding *second = d.findings.n > 1 ? &d.findings.items[1] : NULL;
        if (cases[i].code == NULL)
            cr_expect_null(second, "case %zu: nothing to name", i);
        else {
            cr_assert_not_null(second, "case %zu", i);
            cr_expect_str_eq(second->note.code, cases[i].code, "case %zu", i);
            cr_expect_str_eq(second->metric, cases[i].metric, "case %zu", i);
            cr_expect_eq(second->card, strcmp(cases[i].code, "slow_card") == 0 ? 5 : -1, "case %zu", i);
        }
    }
    struct card half[CARDS]; /* half of them serve, half are idle: those first */
    for (size_t k = 0; k < CARDS; k++)
        half[k] = k % 2 == 0 ? busy : cases[3].odd;
    struct diagnosis d = of_cards(half, CARDS);
    IS(d, VERDICT_HEALTHY);
    cr_expect(says(&d, "idle_cards"));
    cr_expect_not(says(&d, "slow_card"), "idle cards take no part");
    for (size_t k = 0; k < CARDS;
         k++) /* most of them starve: that is the machine's verdict, and the others are named */
        half[k] = k < 5 ? cases[0].odd : busy;
    d = of_cards(half, CARDS);
    IS(d, VERDICT_DATA_PIPELINE);
    cr_expect(says(&d, "card_verdict"));
    for (size_t k = 0; k < CARDS; k++) /* of equal numbers the graver */
        half[k] = k < 4 ? cases[0].odd : busy;
    d = of_cards(half, CARDS);
    IS(d, VERDICT_DATA_PIPELINE);
}

Test(rules, insufficient_is_said_rather_than_guessed)
{
    static const struct {
        struct card card;
        const char *why;
    } cases[] = {
        {{0, 4, 81920, 60, 400}, "idle_machine"},
        {{100, 0, 81920, 242, 400}, "no_workload"},
        {{30, 20000, 81920, 90, 400}, "no_rule_fired"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct diagnosis d = of_cards(&cases[i].card, 1);
        IS(d, VERDICT_INSUFFICIENT);
        cr_expect(says(&d, cases[i].why), "%s", cases[i].why);
    }
    struct diagnosis d = run((struct diagnosis_input){.nvidia_smi = "利用率大概九成，想再加一台"});
    IS(d, VERDICT_INSUFFICIENT);
    cr_expect(says(&d, "nothing_read"));
    cr_expect_not(d.measured.stated);
}

static struct diagnosis of_measured(double util, double memory, double cv, double communication)
{
    struct workload w;
    workload_init(&w);
    w.measured.stated = true;
    w.measured.gpu_util_pct = util;
    w.measured.memory_used_pct = memory;
    w.measured.iteration_time_cv = cv;
    w.measured.comm_share_pct = communication;
    struct diagnosis d;
    struct err err = {0};
    cr_assert_eq(diagnosis_from_measured(&w.measured, test_catalog(), arena, &d, &err), 0, "%s", err.detail);
    return d;
}

Test(rules, a_measured_block_gets_the_same_verdicts)
{
    static const struct {
        double util, memory, cv, communication;
        enum verdict want;
    } cases[] = {
        {35, 95, -1, -1, VERDICT_DATA_PIPELINE}, {92, 60, -1, -1, VERDICT_HEALTHY},
        {97, 95, -1, -1, VERDICT_REAL_NEED},     {97, 95, 0.5, -1, VERDICT_UNSTABLE_ITERATIONS},
        {97, 95, 0.1, 55, VERDICT_WAITING},      {-1, -1, -1, -1, VERDICT_INSUFFICIENT},
        {-1, -1, 0.1, -1, VERDICT_HEALTHY},      {92, -1, -1, -1, VERDICT_INSUFFICIENT},
        {-1, -1, -1, 20, VERDICT_INSUFFICIENT},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct diagnosis d = of_measured(cases[i].util, cases[i].memory, cases[i].cv, cases[i].communication);
        cr_expect_str_eq(verdict_name(d.verdict), verdict_name(cases[i].want), "case %zu", i);
    }
}

/* What single cards, power, links and logs showed must not get lost in the averages of the measured block. */
Test(rules, a_measured_block_of_a_diagnosis_gives_its_verdict_again)
{
    static const struct card cards[][2] = {{{35, 77800, 81920, 150, 400}, {41, 77900, 81920, 160, 400}},
                                           {{97, 79000, 81920, 390, 400}, {99, 78000, 81920, 380, 400}},
                                           {{70, 40000, 81920, 300, 400}, {75, 41000, 81920, 300, 400}},
                                           {{100, 79000, 81920, 110, 400}, {100, 79000, 81920, 120, 400}},
                                           {{99, 79000, 81920, 390, 400}, {0, 4, 81920, 60, 400}},
                                           {{0, 80000, 81920, 60, 400}, {100, 30000, 81920, 390, 400}},
                                           {{0, 4, 81920, 60, 400}, {0, 4, 81920, 60, 400}}};
    struct diagnosis_input in[N(cards) + 3];
    for (size_t i = 0; i < N(cards); i++)
        in[i] = (struct diagnosis_input){.nvidia_smi_csv = csv(cards[i], 2)};
    in[N(cards)] = (struct diagnosis_input){.topo = "GPU0 X PHB\nGPU1 PHB X\n"};
    in[N(cards) + 1] = (struct diagnosis_input){.dmon = "# gpu sm mem\n# Idx % %\n 0 99 95\n 0 98 93\n"};
    in[N(cards) + 2] =
        (struct diagnosis_input){.training_log = "Time 1.1 (1.1) Data 0.9 (0.9)\nTime 1.1 (1.1) Data 0.9 (0.9)\n"};
    for (size_t i = 0; i < N(in); i++) {
        struct diagnosis d = run(in[i]), again;
        struct err err = {0};
        cr_assert_eq(diagnosis_from_measured(&d.measured, test_catalog(), arena, &again, &err), 0);
        cr_expect_str_eq(verdict_name(again.verdict), verdict_name(d.verdict), "case %zu", i);
        cr_expect_eq(again.findings.n > 0, true);
        cr_expect_float_eq(again.recoverable_share, d.recoverable_share, 1e-9, "case %zu", i);
        struct fault_list faults = {0};
        struct workload w;
        workload_init(&w);
        w.training = (struct training){.stated = true, .tokens = 1e9};
        w.measured = d.measured;
        workload_check(&w, "/workload", true, &faults);
        cr_expect_eq(faults.n, 0u, "case %zu: %s", i, faults.items[0].detail);
    }
    /* graver figures that a caller adds overrule what the diagnosis said */
    struct diagnosis d = of_cards(cards[1], 2), again;
    struct err err = {0};
    d.measured.iteration_time_cv = 0.6;
    cr_assert_eq(diagnosis_from_measured(&d.measured, test_catalog(), arena, &again, &err), 0);
    IS(again, VERDICT_UNSTABLE_ITERATIONS);
}

/* People paste what they have into the first field: a log below a table is read as one, a table's memory is no peak. */
Test(iterations, a_log_counts_under_any_name)
{
    static const char log[] = "iter 1: loss 2.1, time 500.0ms\niter 2: loss 2.1, time 501.0ms\n"
                              "iter 3: loss 2.1, time 500.0ms\niter 4: loss 2.1, time 502.0ms\n"
                              "iter 5: loss 2.1, time 500.0ms\niter 6: loss 2.1, time 501.0ms\n"
                              "iter 7: loss 2.1, time 500.0ms\n";
    const struct card card = {97, 79000, 81920, 390, 400};
    const char *both = arena_printf(arena, "%s\n%s", csv(&card, 1), log);
    const struct diagnosis_input in[] = {
        {.nvidia_smi = both}, {.nvidia_smi_csv = both}, {.dmon = both}, {.topo = both}, {.training_log = both}};
    for (size_t i = 0; i < N(in); i++) {
        struct diagnosis d = run(in[i]);
        cr_expect_eq(d.cards.n, 1u, "member %zu", i);
        cr_expect_eq(d.iterations.n, 7u, "member %zu: %zu", i, d.iterations.n);
        cr_expect_float_eq(d.iterations.steady_mean_s, 0.500667, 1e-5, "member %zu", i);
        IS(d, VERDICT_REAL_NEED);
    }
    struct diagnosis d =
        run((struct diagnosis_input){.training_log = "Memory : 70000 MiB\nmemory 71000MiB / 81920MiB\n"});
    cr_expect(isnan(d.iterations.peak_memory_gb));
    cr_expect_not(d.iterations.read);
}

#define SMI_ROW(index, used, util, power)                                                                              \
#index ", NVIDIA A100-SXM4-80GB, " #util " %, " #used " MiB, 81920 MiB, " #power " W, 400 W\n"
#define SMI_HEAD                                                                                                       \
    "index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W], power.limit [W]\n"

/* Measured readings beat estimates: only what was read of the job itself, on a card that is known. */
Test(rules, measured_holds_the_job_and_nothing_else)
{
    static const char busy[] = SMI_HEAD SMI_ROW(0, 70000, 96, 380) SMI_ROW(1, 71000, 97, 381);
    static const char idle[] = SMI_HEAD SMI_ROW(0, 4, 0, 60) SMI_ROW(1, 4, 0, 60);
    static const char beside[] = SMI_HEAD SMI_ROW(0, 70000, 96, 380) SMI_ROW(1, 4, 0, 60);
    static const struct {
        const char *smi, *log;
        int gpus, nodes;
        double tokens, samples, step, peak;
    } rows[] = {
        {busy, NULL, 2, 0, 0, 0, 0, -1},
        {idle, NULL, 0, 0, 0, 0, 0, -1}, /* says nothing of a job */
        {beside, NULL, 1, 0, 0, 0, 0, -1},
        {busy, "step 1 tokens_per_second: 8000\n", 2, 0, 8000, 0, 0, -1},
        {busy, "Tokens/s/GPU: 4000\n", 2, 0, 8000, 0, 0, -1},
        {busy, "world_size ........ 8\nTokens/s/GPU: 4000\n", 8, 4, 32000, 0, 0, -1},
        {busy, "step 1 peak memory: 40.0 GiB\n", 2, 0, 0, 0, 0, 40 * 1.073741824}, /* a need; what is used is none */
        {busy, "samples/sec: 12.5\n", 2, 0, 0, 12.5, 0, -1},
        {busy, "iteration 1 | elapsed time per iteration (ms): 500 | global batch size: 64 |\n", 2, 0, 0, 0, 0.5, -1},
        {busy, "iteration 1 | elapsed time per iteration (ms): 500 |\n", 2, 0, 0, 0, 0, -1},
        {NULL, "samples/sec: 12.5\n", 0, 0, 0, 0, 0, -1}, /* of nobody knows which card */
        {"node1:\n" SMI_HEAD SMI_ROW(0, 70000, 96, 380) "node2:\n" SMI_HEAD SMI_ROW(0, 70000, 96, 380), NULL, 2, 2, 0,
         0, 0, -1},
    };
    for (size_t i = 0; i < N(rows); i++) {
        struct diagnosis d = run((struct diagnosis_input){.nvidia_smi_csv = rows[i].smi, .training_log = rows[i].log});
        const struct measured *m = &d.measured;
        cr_expect_eq(m->gpus, rows[i].gpus, "row %zu: %d cards", i, m->gpus);
        cr_expect_eq(m->nodes, rows[i].nodes, "row %zu: %d nodes", i, m->nodes);
        cr_expect_float_eq(m->tokens_per_s, rows[i].tokens, 1e-9, "row %zu: %g", i, m->tokens_per_s);
        cr_expect_float_eq(m->samples_per_s, rows[i].samples, 1e-9, "row %zu: %g", i, m->samples_per_s);
        cr_expect_float_eq(m->step_time_s, rows[i].step, 1e-9, "row %zu: %g", i, m->step_time_s);
        cr_expect_float_eq(m->peak_memory_gb, rows[i].peak, 1e-9, "row %zu: %g", i, m->peak_memory_gb);
        cr_expect_eq(m->gpu != NULL, rows[i].gpus > 0, "row %zu", i);
    }
}

Test(rules, one_card_in_several_outputs_is_one_card)
{
    static const char table[] = "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
                                "|   0  NVIDIA A40          On   | 00000000:4F:00.0 Off |                    0 |\n"
                                "| N/A   61C    P0   280W / 300W |  40000MiB / 46068MiB |     98%      Default |\n"
                                "|   1  NVIDIA A40          On   | 00000000:52:00.0 Off |                    0 |\n"
                                "| N/A   61C    P0   281W / 300W |  40000MiB / 46068MiB |     96%      Default |\n";
    static const char *const csvs[] = {
        "index, uuid, utilization.gpu [%]\n0, GPU-1d3a, 90 %\n1, GPU-77c2, 92 %\n",
        "index, pci.bus_id, utilization.gpu [%]\n0, 0000:4F:00.0, 90 %\n1, 0000:52:00.0, 92 %\n"};
    for (size_t i = 0; i < N(csvs); i++) {
        struct diagnosis d = run((struct diagnosis_input){
            .nvidia_smi = table, .nvidia_smi_csv = csvs[i], .dmon = "# gpu pwr sm mem\n 0 280 94 40\n 1 280 94 40\n"});
        cr_assert_eq(d.cards.n, 2u, "case %zu: %zu cards", i, d.cards.n);
        cr_expect_float_eq(d.cards.items[0].utilisation_pct, 94, 1e-9);
        cr_expect_float_eq(d.cards.items[1].memory_busy_pct, 40, 1e-9);
        cr_expect_eq(d.measured.gpus, 2);
    }
}

/* No verdict, but what to mend before money is spent. */
Test(rules, what_drivers_and_frameworks_complain_of_is_passed_on)
{
    static const struct {
        const char *smi, *log, *code;
    } rows[] = {
        {"Unable to determine the device handle for GPU 0000:41:00.0: GPU is lost.", NULL, "card_fault"},
        {NULL, "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", "out_of_memory"},
        {NULL, "The 'train_dataloader' does not have many workers which may be a bottleneck.", "loader_workers"},
        {NULL, "worker1:212:300 [3] NCCL WARN NET/IB : Got completion with error 12", "collective_trouble"},
        {NULL, "[stage3.py] 4 pytorch allocator cache flushes since last step", "allocator_flushes"},
    };
    for (size_t i = 0; i < N(rows); i++) {
        struct diagnosis d = run((struct diagnosis_input){.nvidia_smi = rows[i].smi, .training_log = rows[i].log});
        IS(d, VERDICT_INSUFFICIENT);
        cr_expect(says(&d, rows[i].code), "row %zu", i);
        cr_expect_eq(d.fault != NULL, rows[i].smi != NULL);
    }
    struct diagnosis d = run((struct diagnosis_input){.training_log = "step 1 loss 2.1"});
    for (size_t i = 0; i < N(rows); i++)
        cr_expect_not(says(&d, rows[i].code));
}

Test(rules, thresholds_are_assumptions_a_request_may_set)
{
    const struct catalog *c = test_catalog();
    struct param *rows = arena_array(arena, c->params.n, sizeof *rows);
    memcpy(rows, c->params.rows, c->params.n * sizeof *rows);
    const struct param_table mine = {rows, c->params.n};
    const struct param *p = param_find(&mine, "diagnosis_low_utilisation_pct");
    cr_assert_not_null(p);
    cr_expect(p->overridable);
    rows[p - rows].value = 30;
    struct workload w;
    workload_init(&w);
    w.measured = (struct measured){.stated = true,
                                   .gpu_util_pct = 35,
                                   .memory_used_pct = 95,
                                   .peak_memory_gb = -1,
                                   .comm_share_pct = -1,
                                   .iteration_time_cv = -1};
    struct diagnosis d;
    struct err err = {0};
    cr_assert_eq(diagnosis_of_measured(&w.measured, c, &mine, arena, &d, &err), 0);
    IS(d, VERDICT_HEALTHY);
    const struct catalog empty = {.arena = arena};
    cr_expect_eq(diagnosis_from_measured(&w.measured, &empty, arena, &d, &err), -1, "never a silent default");
    cr_expect_eq(err.code, ERR_NOT_FOUND);
}

static struct iteration_stats stats_of(const double *times, const bool *pauses, size_t n)
{
    struct iteration_stats s = {0};
    iteration_statistics(times, pauses, n, arena, &s);
    return s;
}

Test(iterations, several_warm_up_steps)
{
    static const double waveglow[] = {8.4, 2.85, 1.18, 1.19, 1.26, 1.09, 1.2, 1.28, 1.32, 1.26};
    struct iteration_stats s = stats_of(waveglow, NULL, N(waveglow));
    cr_expect_eq(s.warmup_left_out, 2u);
    cr_expect(s.cv > 0.9 && s.steady_cv < 0.1);
    cr_expect_eq(s.n, 10u);
}

Test(iterations, evaluation_pauses_but_not_a_stuttering_loader)
{
    double times[200];
    bool pause[200] = {false};
    for (int i = 0; i < 200; i++)
        times[i] = 1.0 + 0.01 * (i % 7);
    times[50] = times[100] = times[150] = 40; /* every 50 steps, nothing said about it */
    struct iteration_stats s = stats_of(times, NULL, 200);
    cr_expect_eq(s.pauses_left_out, 3u);
    cr_expect_lt(s.steady_cv, 0.1);
    times[50] = times[100] = times[150] = 2.2;
    pause[50] = pause[100] = pause[150] = true; /* a short evaluation that the log tells of */
    cr_expect_eq(stats_of(times, pause, 200).pauses_left_out, 3u);
    cr_expect_eq(stats_of(times, NULL, 200).pauses_left_out, 0u);
    for (int i = 0; i < 200; i += 8)
        times[i] = 5; /* eight workers: every eighth batch waits */
    s = stats_of(times, NULL, 200);
    cr_expect_gt(s.steady_cv, 0.3);
}

Test(iterations, a_lone_spike_and_regular_ones)
{
    double times[60];
    for (int i = 0; i < 60; i++)
        times[i] = 1.0 + 0.02 * (i % 3);
    times[13] = 15;
    cr_expect_eq(stats_of(times, NULL, 20).pauses_left_out, 1u);
    cr_expect_lt(stats_of(times, NULL, 20).steady_cv, 0.1);
    times[23] = times[33] = times[43] = 14; /* an evaluation every ten steps */
    cr_expect_eq(stats_of(times, NULL, 60).pauses_left_out, 4u);
    times[38] = 9; /* and one in between: no rule to it, the job swings */
    cr_expect_eq(stats_of(times, NULL, 60).pauses_left_out, 0u);
    cr_expect_gt(stats_of(times, NULL, 60).steady_cv, 0.3);
    for (int i = 0; i < 60; i++)
        times[i] = i % 16 == 5 ? 8 : 1; /* sixteen workers */
    cr_expect_gt(stats_of(times, NULL, 60).steady_cv, 0.3);
}

Test(iterations, few_and_none)
{
    static const double times[] = {1.2, 1}, start[] = {2, 1};
    struct iteration_stats s = stats_of(times, NULL, 2);
    cr_expect(s.read && s.n == 2 && s.steady_n == 2 && s.mean_s == 1.1);
    s = stats_of(start, NULL, 2);
    cr_expect(s.n == 2 && s.steady_n == 1 && s.steady_mean_s == 1, "of two the first may well be the start-up");
    s = stats_of(times, NULL, 1);
    cr_expect(s.read && isnan(s.cv));
    cr_expect_not(stats_of(times, NULL, 0).read);
}

Test(rules, product_names_of_the_driver_and_the_catalogs_cards)
{
    static const struct {
        const char *name;
        double total_mib, limit_w;
        const char *want;
    } cases[] = {
        {"NVIDIA A100-SXM4-80GB", 81920, 400, "a100-sxm4-80g"},
        {"A100-SXM4-40GB", 40536, 400, "a100-sxm4-40g"},
        {"NVIDIA A100-SXM...", 81251, 400, "a100-sxm4-80g"},
        {"NVIDIA A100-SXM...", 40536, 400, "a100-sxm4-40g"},
        {"NVIDIA A100 80GB PCIe", 81920, 300, "a100-pcie-80g"},
        {"NVIDIA A100 80G...", 81920, 300, "a100-pcie-80g"},
        {"A100-PCIE-40GB", 40536, 250, "a100-pcie-40g"},
        {"NVIDIA A800 80G...", 81920, 300, "a800-pcie-80g"},
        {"NVIDIA H100 80GB HBM3", 81559, 700, "h100-sxm5-80g"},
        {"NVIDIA H100 PCIe", 81559, 350, "h100-pcie-80g"},
        {"NVIDIA H100 NVL", 95830, 400, "h100-nvl-94g"},
        {"NVIDIA H800", 81559, 700, "h800-sxm5-80g"},
        {"NVIDIA H20", 97871, 500, "h20-sxm5-96g"},
        {"NVIDIA H20", 143771, 500, "h20-sxm5-141g"},
        {"NVIDIA H200", 143771, 700, "h200-sxm5-141g"},
        {"NVIDIA H200 NVL", 143771, 600, "h200-nvl-141g"},
        {"NVIDIA B200", 183359, 1000, "b200-sxm-180g"},
        {"GH200 120GB", 97871, 900, "gh200-96g"},
        {"NVIDIA GH200 480GB", 97871, 900, "gh200-96g"},
        {"Tesla V100-SXM2...", 32510, 300, "v100-sxm2-32g"},
        {"Tesla V100-SXM2-16GB", 16160, 300, "v100-sxm2-16g"},
        {"Tesla V100-PCIE-32GB", 32510, 250, "v100-pcie-32g"},
        {"Tesla T4", 15360, 70, "t4-16g"},
        {"NVIDIA A10", 23028, 150, "a10-24g"},
        {"NVIDIA A10G", 23028, 300, "a10g-24g"},
        {"NVIDIA A30", 24576, 165, "a30-24g"},
        {"NVIDIA A40", 46068, 300, "a40-48g"},
        {"NVIDIA L4", 23034, 72, "l4-24g"},
        {"NVIDIA L20", 46068, 350, "l20-48g"},
        {"NVIDIA L40", 46068, 300, "l40-48g"},
        {"NVIDIA L40S", 46068, 350, "l40s-48g"},
        {"NVIDIA RTX A6000", 49140, 300, "rtx-a6000-48g"},
        {"NVIDIA RTX A5000", 24564, 230, "rtx-a5000-24g"},
        {"NVIDIA RTX 6000 Ada Generation", 49140, 300, "rtx-6000-ada-48g"},
        {"NVIDIA GeForce RTX 4090", 24564, 450, "rtx-4090-24g"},
        {"NVIDIA GeForce RTX 4090", 49140, 450, "rtx-4090-48g"},
        {"NVIDIA GeForce RTX 4090 D", 24564, 425, "rtx-4090d-24g"},
        {"NVIDIA GeForce RTX 3090", 24576, 350, "rtx-3090-24g"},
        {"NVIDIA GeForce RTX 3090 Ti", 24564, 450, "rtx-3090ti-24g"},
        {"NVIDIA GeForce RTX 5090", 32607, 575, "rtx-5090-32g"},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, 600, "rtx-pro-6000-96g"},
        {"Quadro RTX 8000", 48601, 260, "rtx-8000-48g"},
        {"NVIDIA GeForce RTX 4080", 16376, 320, "rtx-4080-16g"},
        {"NVIDIA GeForce RTX 4080 SUPER", 16376, 320, NULL},
        {"GeForce GTX 105...", 4039, 75, NULL},
        {"NVIDIA GB10", NAN, NAN, NULL},
        {"Quadro GV100", 32506, 250, NULL},
        {"NVIDIA GeForce ...", 24576, 350, NULL},
        {"", 81920, 400, NULL},
        {"NVIDIA A100-SXM4-80GB", 16384, 400, NULL},
        {"Tesla K80", 11441, 149, NULL},
    };
    for (size_t i = 0; i < N(cases); i++) {
        const struct gpu *g = cards_match(test_catalog(), cases[i].name, cases[i].total_mib, cases[i].limit_w);
        cr_expect_str_eq(g == NULL ? "none" : g->id, cases[i].want == NULL ? "none" : cases[i].want, "%s with %g MiB",
                         cases[i].name, cases[i].total_mib);
    }
}

/* Half busy, memory half full, power in the middle: nothing is wrong and nothing is needed. */
Test(rules, healthy_steady_iterations_and_cards_with_room)
{
    static const struct card cards[] = {{70, 40000, 81920, 250, 400}, {72, 41000, 81920, 255, 400}};
    static const double times[] = {1.00, 1.01, 0.99, 1.00, 1.02, 1.00, 0.98, 1.01, 1.00, 1.00, 0.99, 1.01};
    struct diagnosis d = run((struct diagnosis_input){
        .nvidia_smi_csv = csv(cards, N(cards)), .iteration_times_s = times, .n_iteration_times = N(times)});
    cr_expect_eq(d.verdict, VERDICT_HEALTHY, "%d", (int)d.verdict);
    cr_expect(!verdict_not_cards(d.verdict));
}
