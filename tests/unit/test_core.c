/* test_core.c — notes, traces, parameters, wire names, and the contradictions of a workload. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "planner/core/catalog.h"
#include "planner/core/estimate.h"
#include "planner/core/hardware.h"
#include "planner/core/note.h"
#include "planner/core/params.h"
#include "planner/core/trace.h"
#include "planner/core/workload.h"

#define N(a) (sizeof(a) / sizeof *(a))

Test(note, codes_and_arguments)
{
    struct arena *a = arena_new(1 << 16);
    struct note_list l;
    note_list_init(&l, a);
    note_money(note_num(note_text(note_add(&l, "memory_wall"), "gpu", "A100"), "need_gb", 91.5), "sum", 1234);
    note_percent(note_date(note_add_once(&l, "memory_wall"), "on", 20000), "share", 0.5);
    cr_assert_eq(l.n, 1u);
    const struct note *n = note_find(&l, "memory_wall");
    cr_assert_not_null(n);
    cr_expect(isnan(n->short_by));
    cr_expect_eq(n->n_args, 5u);
    cr_expect_str_eq(n->args[0].text, "A100");
    cr_expect_eq(n->args[1].number, 91.5);
    cr_expect_eq(n->args[2].minor, 1234);
    cr_expect_eq(n->args[3].date, 20000);
    cr_expect_eq(n->args[4].number, 0.5);
    cr_expect_null(note_find(&l, "other"));
    note_add(&l, "memory_wall");
    cr_expect_eq(l.n, 2u);
    arena_free(a);
    a = arena_new(16); /* too small for one: the note goes nowhere, the arena says so */
    note_list_init(&l, a);
    note_num(note_add(&l, "x"), "y", 1);
    cr_expect_eq(l.n, 0u);
    cr_expect(arena_failed(a));
    arena_free(a);
}

Test(trace, steps_with_their_inputs)
{
    struct arena *a = arena_new(1 << 16);
    struct trace t;
    trace_init(&t, a);
    trace_add(NULL, "off", 1, "s", "x", 0);
    trace_add(&t, "step", 9.1, "s", "a + b", 2, "a", 4.0, "b", 5.1);
    cr_assert_eq(t.n, 1u);
    cr_expect_eq(t.items[0].n_inputs, 2u);
    cr_expect_str_eq(t.items[0].inputs[1].name, "b");
    cr_expect_eq(t.items[0].inputs[1].value, 5.1);
    arena_free(a);
}

Test(params, binds_all_or_names_the_first_missing)
{
    const struct param rows[] = {{.key = "a", .value = 1}, {.key = "b/hopper", .value = 2}, {.key = "c", .value = 3}};
    const struct param_table t = {rows, N(rows)};
    struct {
        double c, b;
    } bound = {0};
    const struct param_field fields[] = {{"c", 0}, {"b/hopper", sizeof(double)}};
    struct err err = {0};
    cr_assert_eq(param_bind(&t, fields, 2, &bound, &err), 0);
    cr_expect(bound.c == 3 && bound.b == 2);
    const struct param_field missing[] = {{"b", 0}};
    cr_expect_eq(param_bind(&t, missing, 1, &bound, &err), -1);
    cr_expect_eq(err.code, ERR_NOT_FOUND);
    cr_expect_str_eq(err.pointer, "b");
}

Test(names, every_enum_value_goes_out_and_comes_back)
{
    static const struct {
        enum workload_enum e;
        int first, last;
    } enums[] = {
        {ENUM_METHOD, METHOD_PRETRAIN, METHOD_CUSTOM},
        {ENUM_PRECISION, PREC_BF16, PREC_FP32},
        {ENUM_OPTIMIZER, OPT_ADAMW, OPT_MUON},
        {ENUM_LOSS_IMPL, LOSS_EAGER, LOSS_FUSED},
        {ENUM_SHARDING, SHARD_NONE, SHARD_ZERO3},
        {ENUM_OFFLOAD, OFFLOAD_NONE, OFFLOAD_ACTIVATIONS},
        {ENUM_RECOMPUTE, RECOMPUTE_NONE, RECOMPUTE_FULL},
        {ENUM_GRAD_SYNC, GRAD_SYNC_EACH, GRAD_SYNC_LAST},
        {ENUM_EP_DISPATCH, EP_DISPATCH_ALLTOALL, EP_DISPATCH_DEEPEP},
        {ENUM_TEAM, TEAM_NONE, TEAM_EXPERT},
        {ENUM_PRIORITY, PRIORITY_CHEAPEST, PRIORITY_FASTEST},
        {ENUM_KIND, KIND_SINGLE_MACHINE, KIND_UNIVERSITY_TIME},
        {ENUM_LANGUAGE, LANG_ZH_CN, LANG_EN},
        {ENUM_ENGINE, ENGINE_VLLM, ENGINE_ATOM},
        {ENUM_WEIGHT_FORMAT, WF_BF16, WF_GGUF_Q8_0},
        {ENUM_SCENARIO, SCEN_FIXED_BATCH, SCEN_SINGLE_STREAM},
        {ENUM_FFN, FFN_GATED, FFN_PLAIN},
        {ENUM_VERDICT, VERDICT_INSUFFICIENT, VERDICT_DATA_PIPELINE},
    };
    for (size_t i = 0; i < N(enums); i++) {
        for (int v = enums[i].first; v <= enums[i].last; v++) {
            const char *name = workload_enum_name(enums[i].e, v);
            int back = -1;
            cr_assert_not_null(name, "enum %zu value %d", i, v);
            cr_expect_eq(workload_enum_parse(enums[i].e, name, &back), 0);
            cr_expect_eq(back, v, "%s", name);
            cr_expect_not_null(strstr(workload_enum_choices(enums[i].e), name));
        }
        cr_expect_null(workload_enum_name(enums[i].e, enums[i].last + 1), "enum %zu is longer than this test", i);
        int kept = 42;
        cr_expect_eq(workload_enum_parse(enums[i].e, "nonsense", &kept), -1);
        cr_expect_eq(workload_enum_parse(enums[i].e, NULL, &kept), -1);
        cr_expect_eq(kept, 42);
    }
    cr_expect_str_eq(workload_enum_choices(ENUM_PRECISION), "bf16, fp16, fp8, fp4, tf32, fp32");
    cr_expect_null(workload_enum_name(ENUM_METHOD, METHOD_UNSTATED));
    enum price_unit unit;
    for (int u = 0; u < UNIT_COUNT; u++)
        cr_expect(price_unit_parse(price_unit_name((enum price_unit)u), &unit) == 0 && unit == (enum price_unit)u);
    enum price_subject subject;
    for (int s = 0; s < SUBJECT_COUNT; s++)
        cr_expect(price_subject_parse(price_subject_name((enum price_subject)s), &subject) == 0 &&
                  subject == (enum price_subject)s);
    enum gpu_class class;
    for (int g = 0; g < GPU_CLASS_COUNT; g++)
        cr_expect(gpu_class_parse(gpu_class_name((enum gpu_class)g), &class) == 0 && class == (enum gpu_class)g);
    enum intra_link intra;
    for (int l = INTRA_NVSWITCH; l < INTRA_COUNT; l++)
        cr_expect(intra_link_parse(intra_link_name((enum intra_link)l), &intra) == 0 && intra == (enum intra_link)l);
    cr_expect_null(intra_link_name(INTRA_NONE));
    cr_expect_str_eq(fits_name(FITS_TIGHT), "tight");
    cr_expect_str_eq(confidence_name(CONF_MEASURED), "measured");
}

Test(hardware, a_cards_own_link)
{
    static const struct {
        const char *link, *form;
        double gb_s;
        int gen, gpus;
        enum intra_link want;
    } cases[] = {
        {"NVLink 4", "SXM5", 900, 5, 8, INTRA_NVSWITCH},
        {"NVLink 4", "SXM5", 900, 5, 1, INTRA_NONE},
        {"NVLink 2", "SXM2", 300, 3, 8, INTRA_NVLINK},
        {"NVLink 3 bridge (pairs)", "PCIe", 600, 4, 8, INTRA_PCIE4},
        {"NVLink 3 bridge (pairs)", "PCIe", 600, 4, 2, INTRA_NVLINK_BRIDGE},
        {"none", "PCIe", 0, 4, 8, INTRA_PCIE4},
        {"", "PCIe", 0, 3, 4, INTRA_PCIE3},
        {"", "PCIe", 0, 5, 4, INTRA_PCIE5},
        {"HCCS", "module", 392, 0, 8, INTRA_HCCS},
        {"UB", "module", 784, 0, 16, INTRA_HCCS},
        {"xGMI", "OAM", 1075, 5, 8, INTRA_XGMI},
        {"Infinity Fabric", "OAM", 896, 5, 8, INTRA_XGMI},
        {"MetaXLink", "OAM", 0, 0, 8, INTRA_PCIE4},
        {"MTLink 2", "OAM", 784, 0, 8, INTRA_NVLINK},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct gpu g = {.link_type = cases[i].link,
                        .form_factor = cases[i].form,
                        .link_gb_s_bidir = cases[i].gb_s,
                        .pcie_gen = cases[i].gen,
                        .memory_gb = 80,
                        .usable_gib = 79};
        cr_expect_eq(hardware_default_intra(&g, cases[i].gpus), cases[i].want, "case %zu", i);
        struct shape s = {.gpu = &g, .gpus_per_node = cases[i].gpus, .nodes = 2};
        cr_expect_eq(shape_gpus(&s), 2 * cases[i].gpus);
        cr_expect_float_eq(shape_usable_bytes(&s), 79.0 * 1073741824.0, 1);
        s.gpu_memory_gb = 40;
        cr_expect_float_eq(shape_usable_bytes(&s), 39.5 * 1073741824.0, 1);
    }
}

static struct workload trained(void)
{
    struct workload w;
    workload_init(&w);
    w.training = (struct training){.stated = true, .method = METHOD_FULL_FINETUNE, .tokens = 1e9, .seq_len = 4096};
    w.model = (struct model){.heads = 32, .layers = 32};
    return w;
}

static void expect_fault(const struct workload *w, bool need_amount, const char *pointer, const char *code, int line)
{
    static struct fault_list faults;
    faults.n = faults.dropped = 0;
    workload_check(w, "/workload", need_amount, &faults);
    if (pointer == NULL) {
        cr_expect_eq(faults.n, 0u, "line %d: %s %s", line, faults.items[0].pointer, faults.items[0].detail);
        return;
    }
    cr_assert_eq(faults.n, 1u, "line %d: %zu faults, %s", line, faults.n, faults.items[0].detail);
    cr_expect_str_eq(faults.items[0].pointer, pointer, "line %d", line);
    cr_expect_str_eq(faults.items[0].code, code, "line %d", line);
}
#define FAULT(need, pointer, code) expect_fault(&w, need, pointer, code, __LINE__)

Test(workload, an_empty_one_has_every_marker_in_place)
{
    struct workload w;
    workload_init(&w);
    cr_expect_str_eq(w.currency, "CNY");
    cr_expect(w.measured.gpu_util_pct < 0 && w.measured.iteration_time_cv < 0 && w.serving.spare_replicas < 0);
    cr_expect(w.constraints.deadline_on == DATE_NONE && w.constraints.kinds[KIND_UNIVERSITY_TIME]);
    FAULT(false, "/workload", "required");
}

Test(workload, contradictions_of_training)
{
    struct workload w = trained();
    FAULT(true, NULL, NULL);
    w.training.steps = 10;
    FAULT(false, "/workload/training", "mutually_exclusive");
    w = trained();
    w.training.tokens = 0;
    FAULT(false, NULL, NULL);
    FAULT(true, "/workload/training", "required");
    w.training.steps = 100;
    FAULT(true, "/workload/training/global_batch", "required");
    w.training.global_batch = 64;
    FAULT(true, NULL, NULL);
    w.training.grad_accumulation = 5;
    FAULT(true, "/workload/training/grad_accumulation", "impossible_pair");
    w = trained();
    w.training.runs = 2, w.training.parallel_runs = 3;
    FAULT(true, "/workload/training/parallel_runs", "impossible_pair");
    w = trained();
    w.training.mean_len = 5000;
    FAULT(true, "/workload/training/mean_len", "impossible_pair");
    w = trained();
    w.training.fp8_mx = true, w.training.precision = PREC_BF16;
    FAULT(true, "/workload/training/fp8_recipe", "impossible_pair");
    w = trained();
    w.training.method = METHOD_CUSTOM;
    FAULT(true, "/workload/training/flops_per_sample", "required");
    w.training.flops_per_sample = 1e12;
    FAULT(true, NULL, NULL);
}

Test(workload, contradictions_of_serving_constraints_and_measurements)
{
    struct workload w;
    workload_init(&w);
    w.serving.stated = true;
    FAULT(false, NULL, NULL);
    FAULT(true, "/workload/serving", "required");
    w.serving.requests_per_s = 4;
    FAULT(true, NULL, NULL);
    w.serving.concurrency = 8;
    FAULT(true, "/workload/serving", "mutually_exclusive");
    w.serving.concurrency = 0, w.serving.requests_per_user_hour = 3;
    FAULT(true, "/workload/serving/requests_per_user_hour", "impossible_pair");
    w = trained();
    w.constraints.start_on = date_from_civil(2027, 1, 4), w.constraints.deadline_on = date_from_civil(2027, 1, 3);
    FAULT(true, "/workload/constraints/deadline_on", "impossible_pair");
    w.constraints.deadline_on = w.constraints.start_on;
    FAULT(true, NULL, NULL);
    memset(w.constraints.kinds, 0, sizeof w.constraints.kinds);
    FAULT(true, "/workload/constraints/kinds", "required");
    w = trained();
    w.measured.stated = true, w.measured.tokens_per_s = 1000;
    FAULT(true, "/workload/measured/gpu", "required");
    w.measured.gpu = "a100-sxm4-80g";
    FAULT(true, NULL, NULL);
    w.measured.layout.tp = 5;
    FAULT(true, "/workload/measured/layout/tp", "impossible_pair");
}

Test(workload, layouts_that_cannot_be)
{
    const struct model dense = {.heads = 32, .layers = 40};
    const struct model moe = {.heads = 32, .layers = 40, .experts = 64, .experts_per_token = 8};
    static const struct {
        struct layout l;
        int gpus;
        bool experts;
        const char *pointer;
    } cases[] = {
        {{0}, 8, false, NULL},
        {{.tp = 8}, 8, false, NULL},
        {{.tp = 8, .pp = 2, .dp = 8}, 128, false, NULL},
        {{.tp = 3}, 9, false, "/layout/tp"},
        {{.tp = 16}, 8, false, "/layout"},
        {{.tp = 8, .pp = 2, .dp = 4}, 128, false, "/layout"},
        {{.dp = 7}, 8, false, "/layout"},
        {{.pp = 43}, 43, false, "/layout/pp"}, /* 42 could count embedding and head */
        {{.pp = 8, .vpp = 6}, 8, false, "/layout/pp"},
        {{.pp = 1, .vpp = 2}, 8, false, "/layout/vpp"},
        {{.ep = 8}, 8, false, "/layout/ep"},
        {{.ep = 8}, 8, true, NULL},
        {{.ep = 48}, 96, true, "/layout/ep"},
        {{.ep = 16}, 8, true, "/layout/ep"},
        {{.dp = 16, .shard_group = 8}, 16, false, NULL},
        {{.dp = 16, .shard_group = 12}, 16, false, "/layout/shard_group"},
        {{.sharding = SHARD_ZERO2, .offload = OFFLOAD_PARAMETERS}, 8, false, "/layout/offload"},
        {{.sharding = SHARD_ZERO3, .offload = OFFLOAD_PARAMETERS}, 8, false, NULL},
    };
    for (size_t i = 0; i < N(cases); i++) {
        static struct fault_list faults;
        faults.n = 0;
        layout_check(&cases[i].l, cases[i].experts ? &moe : &dense, cases[i].gpus, "/layout", &faults);
        cr_expect_eq(faults.n, cases[i].pointer != NULL, "case %zu: %zu faults", i, faults.n);
        if (cases[i].pointer != NULL && faults.n > 0)
            cr_expect_str_eq(faults.items[0].pointer, cases[i].pointer, "case %zu: %s", i, faults.items[0].detail);
    }
}
