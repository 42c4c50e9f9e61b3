/* workload.c — an empty workload, and the contradictions that only show when its members are read together. */
#include "planner/core/workload.h"

#include <stdio.h>
#include <string.h>

#define POINTER_MAX 128

void workload_init(struct workload *w)
{
    memset(w, 0, sizeof *w);
    memcpy(w->currency, "CNY", sizeof "CNY");
    w->measured.gpu_util_pct = w->measured.memory_used_pct = w->measured.peak_memory_gb = -1;
    w->measured.comm_share_pct = w->measured.iteration_time_cv = w->measured.recoverable_share = -1;
    w->serving.spare_replicas = -1;
    w->constraints.egress_gb = -1;
    w->training.shareable_runs = -1;
    w->constraints.start_on = w->constraints.deadline_on = DATE_NONE;
    for (int k = 0; k < KIND_COUNT; k++)
        w->constraints.kinds[k] = true;
}

struct place {
    const char *base;
    char text[POINTER_MAX];
};

static const char *at(struct place *p, const char *below)
{
    snprintf(p->text, sizeof p->text, "%s%s", p->base, below);
    return p->text;
}

static int count(bool a, bool b, bool c)
{
    return (int)a + (int)b + (int)c;
}

static void check_amount(const struct workload *w, struct place *p, bool need_amount, struct fault_list *faults)
{
    const struct training *t = &w->training;
    int stated = count(t->tokens > 0, t->samples > 0, t->steps > 0);
    if (stated > 1)
        fault_add(faults, at(p, "/training"), "mutually_exclusive",
                  "give one of tokens, samples and steps, not %d of them", stated);
    if (!need_amount)
        return;
    if (stated == 0)
        fault_add(faults, at(p, "/training"), "required",
                  "no amount of work: give one of tokens, samples (with seq_len) and steps (with global_batch)");
    if (stated == 1 && t->steps > 0 && t->global_batch == 0 && w->measured.global_batch == 0)
        fault_add(faults, at(p, "/training/global_batch"), "required",
                  "steps are an amount of work only with a global_batch");
}

static void check_custom(const struct workload *w, struct place *p, struct fault_list *faults)
{
    const struct measured *m = &w->measured;
    if (w->training.method != METHOD_CUSTOM || w->training.flops_per_sample > 0 || w->model.flops_per_sample > 0)
        return;
    if (m->tokens_per_s > 0 || m->samples_per_s > 0 || m->step_time_s > 0)
        return;
    fault_add(faults, at(p, "/training/flops_per_sample"), "required",
              "method custom needs flops_per_sample, or a measured throughput");
}

static void check_training(const struct workload *w, struct place *p, bool need_amount, struct fault_list *faults)
{
    const struct training *t = &w->training;
    check_amount(w, p, need_amount, faults);
    check_custom(w, p, faults);
    int runs = t->runs > 0 ? t->runs : 1;
    if (t->parallel_runs > runs)
        fault_add(faults, at(p, "/training/parallel_runs"), "impossible_pair",
                  "%d runs side by side, but only %d in all", t->parallel_runs, runs);
    if (t->shareable_runs > runs)
        fault_add(faults, at(p, "/training/shareable_runs"), "impossible_pair", "%d runs may leave, but only %d in all",
                  t->shareable_runs, runs);
    if (t->mean_len > 0 && t->seq_len > 0 && t->mean_len > t->seq_len)
        fault_add(faults, at(p, "/training/mean_len"), "impossible_pair",
                  "a mean of %g tokens does not fit sequences of %d", t->mean_len, t->seq_len);
    if (t->global_batch > 0 && t->grad_accumulation > 0 && t->global_batch % t->grad_accumulation != 0)
        fault_add(faults, at(p, "/training/grad_accumulation"), "impossible_pair",
                  "%d does not divide a global batch of %d", t->grad_accumulation, t->global_batch);
    if (t->fp8_mx && t->precision != PREC_UNSTATED && t->precision != PREC_FP8)
        fault_add(faults, at(p, "/training/fp8_recipe"), "impossible_pair", "fp8_recipe needs precision fp8, not %s",
                  workload_enum_name(ENUM_PRECISION, (int)t->precision));
}

static void check_serving(const struct serving *s, struct place *p, bool need_amount, bool trains,
                          struct fault_list *faults)
{
    int loads = count(s->requests_per_s > 0, s->concurrency > 0, s->users > 0);
    if (loads > 1)
        fault_add(faults, at(p, "/serving"), "mutually_exclusive",
                  "give one of requests_per_s, concurrency and users, not %d of them", loads);
    if (need_amount && !trains && loads == 0)
        fault_add(faults, at(p, "/serving"), "required", "no load: give one of requests_per_s, concurrency and users");
    if (s->requests_per_user_hour > 0 && s->users <= 0)
        fault_add(faults, at(p, "/serving/requests_per_user_hour"), "impossible_pair",
                  "requests_per_user_hour needs users");
    if (s->batch_share > 0 && s->concurrency > 0)
        fault_add(faults, at(p, "/serving/batch_share"), "impossible_pair",
                  "requests that can wait are an amount of work: give requests_per_s or users, not concurrency");
    static const char *const waiting[] = {"/serving/ttft_ms", "/serving/tpot_ms"};
    for (int i = 0; i < 2; i++)
        if (s->batch_share >= 1 && (i == 0 ? s->ttft_ms : s->tpot_ms) > 0)
            fault_add(faults, at(p, waiting[i]), "impossible_pair",
                      "where nobody waits for an answer (batch_share 1) there is no target for it");
    if (need_amount && !trains && s->months_stated && s->months <= 0)
        fault_add(faults, at(p, "/serving/months"), "impossible_pair", "0 months of serving and no training: no work");
}

static void check_measured(const struct workload *w, struct place *p, struct fault_list *faults)
{
    const struct measured *m = &w->measured;
    bool throughput = m->tokens_per_s > 0 || m->samples_per_s > 0 || m->step_time_s > 0;
    if (throughput && (m->gpu == NULL || m->gpu[0] == '\0'))
        fault_add(faults, at(p, "/measured/gpu"), "required", "a measured throughput needs the card it was read on");
    char below[POINTER_MAX];
    snprintf(below, sizeof below, "%s/measured/layout", p->base);
    layout_check(&m->layout, &w->model, 0, below, faults);
}

static void check_constraints(const struct constraints *c, struct place *p, struct fault_list *faults)
{
    if (c->start_on != DATE_NONE && c->deadline_on != DATE_NONE && c->deadline_on < c->start_on) {
        char start[DATE_TEXT_MAX], deadline[DATE_TEXT_MAX];
        date_text(c->start_on, start);
        date_text(c->deadline_on, deadline);
        fault_add(faults, at(p, "/constraints/deadline_on"), "impossible_pair",
                  "the deadline %s is before the start %s", deadline, start);
    }
    bool any = false;
    for (int k = 0; k < KIND_COUNT; k++)
        any = any || c->kinds[k];
    if (!any)
        fault_add(faults, at(p, "/constraints/kinds"), "required", "at least one kind of supply must be allowed");
}

void workload_check(const struct workload *w, const char *pointer, bool need_amount, struct fault_list *faults)
{
    struct place p = {.base = pointer};
    if (!w->training.stated && !w->serving.stated)
        fault_add(faults, at(&p, ""), "required", "give training, serving or both");
    if (w->training.stated)
        check_training(w, &p, need_amount, faults);
    if (w->serving.stated)
        check_serving(&w->serving, &p, need_amount, w->training.stated, faults);
    if (w->measured.stated)
        check_measured(w, &p, faults);
    check_constraints(&w->constraints, &p, faults);
}

static void check_against_model(const struct layout *l, const struct model *m, struct place *p,
                                struct fault_list *faults)
{
    if (l->tp > 1 && m->heads > 0 && m->heads % l->tp != 0)
        fault_add(faults, at(p, "/tp"), "impossible_pair", "tp %d does not divide %d attention heads", l->tp, m->heads);
    int64_t stages = (int64_t)(l->pp > 0 ? l->pp : 1) * (l->vpp > 0 ? l->vpp : 1);
    /* Schedulers may count the embedding and the head as layers of their own: 96 stages of 94 layers are in use. */
    if (m->layers > 0 && stages > m->layers + 2)
        fault_add(faults, at(p, "/pp"), "impossible_pair", "%lld pipeline stages of %d layers", (long long)stages,
                  m->layers);
    bool mixture_by_size = m->active_params > 0 && m->active_params < m->params;
    if (l->ep > 1 && m->experts == 0 && !mixture_by_size)
        fault_add(faults, at(p, "/ep"), "impossible_pair", "ep %d, but the model has no experts", l->ep);
    if (l->ep > 1 && m->experts > 0 && m->experts % l->ep != 0)
        fault_add(faults, at(p, "/ep"), "impossible_pair", "ep %d does not divide %d experts", l->ep, m->experts);
}

static void check_against_gpus(const struct layout *l, int gpus, struct place *p, struct fault_list *faults)
{
    int64_t product = 1;
    const int factors[] = {l->tp, l->pp, l->dp, l->cp};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        if (factors[i] > 0 && product <= gpus)
            product *= factors[i];
    bool all = l->tp > 0 && l->pp > 0 && l->dp > 0;
    if (product > gpus || gpus % product != 0 || (all && product != gpus))
        fault_add(faults, at(p, ""), "impossible_pair", "tp x pp x dp x cp = %lld does not make up %d GPUs",
                  (long long)product, gpus);
    if (l->ep > 1 && gpus % l->ep != 0)
        fault_add(faults, at(p, "/ep"), "impossible_pair", "ep %d does not divide %d GPUs", l->ep, gpus);
}

void layout_check(const struct layout *l, const struct model *m, int gpus, const char *pointer,
                  struct fault_list *faults)
{
    struct place p = {.base = pointer};
    if (m != NULL)
        check_against_model(l, m, &p, faults);
    if (gpus > 0)
        check_against_gpus(l, gpus, &p, faults);
    if (l->vpp > 1 && l->pp == 1)
        fault_add(faults, at(&p, "/vpp"), "impossible_pair", "virtual stages need a pipeline: pp is 1");
    int64_t ranks = (int64_t)l->dp * (l->cp > 0 ? l->cp : 1);
    if (l->shard_group > 0 && l->dp > 0 && (l->shard_group > ranks || ranks % l->shard_group != 0))
        fault_add(faults, at(&p, "/shard_group"), "impossible_pair", "groups of %d do not divide %lld ranks",
                  l->shard_group, (long long)ranks);
    if (l->offload == OFFLOAD_PARAMETERS && (l->sharding == SHARD_ZERO1 || l->sharding == SHARD_ZERO2))
        fault_add(faults, at(&p, "/offload"), "impossible_pair", "parameters can be offloaded with zero3 only, not %s",
                  workload_enum_name(ENUM_SHARDING, (int)l->sharding));
}
