/* report.c — figures, intervals, verdict and notes of one estimate. */
#include "planner/training/report.h"

#include <math.h>

#include "planner/training/report_trace.h"

#define GIGA 1e9
#define COMMUNICATION_BOUND 0.4 /* docs/domain: the share at which a cluster is fabric bound */
#define DATA_BOUND 0.05

static void fill_memory(const struct report *r, struct estimate *e)
{
    const struct job *j = r->job;
    const struct memory *m = &r->found->best.memory;
    double offset = r->reading != NULL && r->reading->memory_used ? r->reading->memory_offset : 0;
    double total = fmax(0.1 * m->total, m->total + offset);
    struct interval i = interval_memory(j, &r->found->best.cut, r->reading);
    e->memory = (struct memory_estimate){
        .total_gb = total / GIGA,
        .usable_gb = shape_usable_bytes(&j->shape) / GIGA,
        .weights_gb = m->weights / GIGA,
        .gradients_gb = m->gradients / GIGA,
        .optimizer_gb = m->optimizer / GIGA,
        .activations_gb = m->activations / GIGA,
        .logits_gb = m->logits / GIGA,
        .buffers_gb = m->buffers / GIGA,
        .overhead_gb = (m->overhead + (total - m->total)) / GIGA,
        .low_gb = total * i.low / GIGA,
        .high_gb = total * i.high / GIGA,
        .tightest_term = memory_tightest(m),
    };
    const struct memory_estimate *v = &e->memory;
    e->fits = v->high_gb <= v->usable_gb ? FITS_YES : v->total_gb <= v->usable_gb ? FITS_TIGHT : FITS_NO;
}

/* The same cut on one node (one card where there is one node), weak scaling. 0 when it cannot be cut that small. */
static double reference_rate(const struct report *r)
{
    const struct candidate *best = &r->found->best;
    struct job j = *r->job;
    struct cut c = best->cut;
    int parts = j.shape.nodes > 1 ? j.shape.nodes : j.shape.gpus_per_node;
    if (parts == 1)
        return best->step.tokens_per_s;
    if (c.dp % parts != 0 || (c.shard < c.dp * c.cp && c.shard > c.dp / parts * c.cp))
        return 0;
    c.dp /= parts;
    c.shard = best->cut.shard < best->cut.dp * best->cut.cp ? best->cut.shard : 0;
    if (j.shape.nodes > 1)
        j.shape.nodes = 1;
    else
        j.shape.gpus_per_node = 1;
    j.gpus = shape_gpus(&j.shape);
    if (j.global_batch > 0)
        j.global_batch = j.global_batch / parts > 0 ? j.global_batch / parts : 1;
    double recompute = c.recompute_share, store = c.store_share;
    cut_derive(&j, &c);
    c.accumulation = best->cut.accumulation;
    c.global_batch = best->cut.global_batch / parts;
    c.recompute_share = recompute;
    c.store_share = store;
    struct fabric f;
    struct memory m;
    struct step s;
    fabric_resolve(&j, &f);
    memory_of(&j, &c, &m);
    step_time(&j, &f, &c, &m, &s);
    return s.tokens_per_s;
}

static double scaling_efficiency(const struct report *r)
{
    const struct step *s = &r->found->best.step;
    double parts = r->job->shape.nodes > 1 ? r->job->shape.nodes : r->job->shape.gpus_per_node;
    double rate = reference_rate(r);
    if (rate > 0)
        return s->tokens_per_s / parts / rate;
    return fmax(0, 1 - s->communication_share - s->bubble_share);
}

static void fill_training(const struct report *r, const struct run *run, struct estimate *e)
{
    const struct job *j = r->job;
    const struct candidate *b = &r->found->best;
    double each = b->step.tokens_per_s / j->gpus;
    double efficiency = 1;
    if (r->reading != NULL && r->reading->used)
        efficiency = each / (r->reading->tokens_per_s / r->reading->gpus);
    struct interval i = interval_speed(j, &b->cut, &b->step, r->reading, efficiency);
    double flops = each * job_flops_per_token(j) / j->real_share;
    e->training = (struct training_estimate){
        .step_time_s = b->step.total_s,
        .tokens_per_s = b->step.tokens_per_s,
        .tokens_per_s_per_gpu = each,
        .samples_per_s = b->cut.global_batch / b->step.total_s,
        .tflops_per_gpu = flops / 1e12,
        .mfu_pct = 100 * flops / j->peak,
        .communication_share = b->step.communication_share,
        .bubble_share = b->step.bubble_share,
        .data_wait_share = b->step.data_wait_share,
        .scaling_efficiency = scaling_efficiency(r),
        .gpu_hours = run->tokens > 0 ? run->gpu_hours : NAN,
        .wall_hours = run->tokens > 0 ? run->wall_hours : NAN,
        .tokens_per_s_per_gpu_low = each * i.low,
        .tokens_per_s_per_gpu_high = each * i.high,
        .global_batch = (int)fmin(2e9, b->cut.global_batch),
        .run_overhead = run->overhead,
        .checkpoint_gb = b->memory.checkpoint / GIGA,
        .checkpoint_interval_h = run->checkpoint_interval_h,
        .host_memory_gb = b->memory.host_bytes / GIGA,
        .precision = r->job->precision,
    };
    e->has_training = true;
}

static void note_memory(const struct report *r, struct estimate *e)
{
    const struct memory_estimate *m = &e->memory;
    const char *code = e->fits == FITS_NO ? "training_does_not_fit" : "training_memory_tight";
    if (e->fits == FITS_YES)
        return;
    struct note *n = note_add_once(&e->warnings, code);
    n->short_by = fmax(0, m->total_gb - m->usable_gb);
    note_text(note_num(note_num(n, "need_gb", m->total_gb), "usable_gb", m->usable_gb), "term", m->tightest_term);
    note_num(n, "high_gb", m->high_gb);
    (void)r;
}

/* fp16 runs where bf16 does not, at a risk that the buyer has to know of. */
static void note_precision(const struct report *r, struct estimate *e)
{
    const struct gpu *g = r->job->gpu;
    if (r->job->precision == PREC_FP16)
        note_text(note_add_once(&e->warnings, g->bf16_tflops > 0 ? "training_fp16" : "training_fp16_for_bf16"), "gpu",
                  g->name);
}

static void note_speed(const struct report *r, struct estimate *e)
{
    const struct job *j = r->job;
    const struct cut *c = &r->found->best.cut;
    const struct training_estimate *t = &e->training;
    if (t->communication_share >= COMMUNICATION_BOUND)
        note_percent(note_add_once(&e->warnings, "training_communication_bound"), "share", t->communication_share);
    if (r->fabric->tcp && j->shape.nodes > 1 && c->sharding == SHARD_ZERO3 && c->shard * c->tp > j->shape.gpus_per_node)
        note_percent(note_add_once(&e->warnings, "training_sharding_over_ethernet"), "share", t->communication_share);
    if (j->shape.nodes > 1 && t->scaling_efficiency * j->shape.nodes < 1)
        note_num(note_add_once(&e->warnings, "training_slower_than_one_node"), "speedup",
                 t->scaling_efficiency * j->shape.nodes);
    if (t->data_wait_share >= DATA_BOUND)
        note_percent(note_add_once(&e->warnings, "training_data_bound"), "share", t->data_wait_share);
    if (r->found->tensor_across_nodes)
        note_num(note_add_once(&e->warnings, "training_tensor_across_nodes"), "tp", c->tp);
    if (j->shape.host_memory_gb > 0 && t->host_memory_gb > j->shape.host_memory_gb) {
        struct note *n = note_add_once(&e->warnings, "training_host_memory_short");
        e->fits = FITS_NO;
        n->short_by = t->host_memory_gb - j->shape.host_memory_gb;
        note_num(note_num(n, "need_gb", t->host_memory_gb), "have_gb", j->shape.host_memory_gb);
    }
}

static void note_assumptions(const struct report *r, struct estimate *e)
{
    const struct job *j = r->job;
    const struct cut *c = &r->found->best.cut;
    const struct layout *w = r->wanted;
    if (j->global_batch == 0)
        note_num(note_add_once(&e->assumptions, "training_batch_assumed"), "global_batch", c->global_batch);
    if ((w == NULL || w->recompute == RECOMPUTE_UNSTATED) && c->recompute_share > 0)
        note_percent(note_add_once(&e->assumptions, "training_recompute_assumed"), "share", c->recompute_share);
    else if (w == NULL || w->recompute == RECOMPUTE_UNSTATED)
        note_add_once(&e->assumptions, "training_recompute_none");
    if (r->fabric->assumed)
        note_num(note_add_once(&e->assumptions, "training_fabric_assumed"), "gbps",
                 j->k->fabric_gbps_per_card[j->gpu->gpu_class] * fmin(8, j->shape.gpus_per_node));
    if (w == NULL || w->offload == OFFLOAD_UNSTATED) {
        if (c->offload != OFFLOAD_NONE)
            note_add_once(&e->assumptions, "training_offload_chosen");
    }
    if (j->training->packed == TRI_NO && j->training->mean_len <= 0)
        note_percent(note_add_once(&e->assumptions, "training_padding_assumed"), "share", j->real_share);
    if (r->reading != NULL && r->reading->used)
        note_num(note_add_once(&e->assumptions, "training_from_measurement"), "tokens_per_s", r->reading->tokens_per_s);
}

static const char *lost_to(const struct candidate *a, const struct candidate *b)
{
    if (a->step.bubble_share > b->step.bubble_share + 0.02)
        return "bubble";
    if (a->step.communication_share > b->step.communication_share + 0.02)
        return "communication";
    if (a->cut.recompute_share > b->cut.recompute_share + 0.02)
        return "recompute";
    return "kernels";
}

static void fill_runner_up(const struct report *r, struct estimate *e)
{
    const struct found *f = r->found;
    e->has_runner_up = f->has_second;
    if (!f->has_second)
        return;
    e->runner_up = cut_layout(&f->second.cut);
    struct note *n = &e->runner_up_reason;
    *n = (struct note){.short_by = NAN};
    if (!f->second.fits && f->best.fits) {
        n->code = "layout_runner_up_memory";
        n->short_by = f->second.memory.total / GIGA - e->memory.usable_gb;
        note_num(n, "need_gb", f->second.memory.total / GIGA);
        return;
    }
    n->code = "layout_runner_up_slower";
    note_percent(n, "share", fmax(0, 1 - f->second.step.tokens_per_s / f->best.step.tokens_per_s));
    note_text(n, "cause", lost_to(&f->second, &f->best));
}

void report_fill(const struct report *r, bool want_trace, struct estimate *ret)
{
    const struct candidate *b = &r->found->best;
    struct run run;
    run_of(r->job, &b->cut, &b->memory, &b->step, &run);
    fill_memory(r, ret);
    fill_training(r, &run, ret);
    ret->layout = cut_layout(&b->cut);
    ret->confidence = interval_confidence(r->job, r->reading);
    note_memory(r, ret);
    note_precision(r, ret);
    note_speed(r, ret);
    note_assumptions(r, ret);
    fill_runner_up(r, ret);
    if (want_trace)
        report_trace(r, &run, ret);
}
