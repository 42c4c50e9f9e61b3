/* report_trace.c — the "why" of training figures, outermost figure last so that a reader meets the parts first. */
#include "planner/training/report_trace.h"

#define GIGA 1e9

static void trace_states(const struct report *r, struct estimate *e)
{
    const struct job *j = r->job;
    const struct cut *c = &r->found->best.cut;
    const struct memory *m = &r->found->best.memory;
    struct trace *t = &e->trace;
    trace_add(t, "memory.rank_params", m->rank_params, "parameters",
              "(body / pp + vocabulary) / tp + experts / (pp * expert_ranks)", 6, "params", j->params, "experts",
              j->expert_total, "tp", (double)c->tp, "pp", (double)c->pp, "expert_ranks", c->expert_ranks, "vocabulary",
              j->embedding * j->vocab_matrices);
    trace_add(t, "memory.weights_gb", e->memory.weights_gb, "GB", "rank_params * bytes_per_weight / weight_shards", 2,
              "rank_params", m->rank_params, "shard", (double)c->shard);
    trace_add(t, "memory.gradients_gb", e->memory.gradients_gb, "GB",
              "trained_params * bytes_per_gradient / gradient_shards, where alive at the peak", 2, "trained_params",
              m->trained_params, "shard", (double)c->shard);
    trace_add(t, "memory.optimizer_gb", e->memory.optimizer_gb, "GB", "owned_params * (master + moments)", 1,
              "owned_params", m->owned_params);
    trace_add(t, "training.checkpoint_gb", e->training.checkpoint_gb, "GB",
              "trained parameters * (weights + master + moments)", 1, "trained",
              j->frozen ? j->adapter_params : j->params);
    trace_add(t, "training.host_memory_gb", e->training.host_memory_gb, "GB",
              "max(offloaded * 1.5 * cards of a node, 2 bytes a parameter where the base is quantised while it loads)",
              2, "params", j->quantised ? j->params : 0, "cards", (double)j->shape.gpus_per_node);
}

static void trace_memory(const struct report *r, struct estimate *e)
{
    const struct job *j = r->job;
    const struct cut *c = &r->found->best.cut;
    const struct memory_estimate *m = &e->memory;
    struct trace *t = &e->trace;
    trace_add(t, "memory.activations_gb", m->activations_gb, "GB",
              "tokens * layers * bytes_per_token_layer * kept_share * micro_batches_in_flight", 4, "tokens", c->tokens,
              "layers", c->stage_layers, "bytes_per_token_layer", job_activation_bytes(j, c->stack), "kept_share",
              c->store_share);
    trace_add(t, "memory.logits_gb", m->logits_gb, "GB", "tokens * vocabulary * bytes_per_logit / cut", 2, "tokens",
              c->tokens, "vocabulary", j->vocab);
    trace_add(t, "memory.buffers_gb", m->buffers_gb, "GB",
              "gathered units and flat buffers of sharding + the quantised matrix being expanded", 2, "shard",
              (double)c->shard, "rank_params", r->found->best.memory.rank_params);
    trace_add(t, "memory.overhead_gb", m->overhead_gb, "GB",
              "context and libraries + fragmentation * (activations + logits + buffers)", 4, "fragmentation",
              j->k->fragmentation, "activations", m->activations_gb, "logits", m->logits_gb, "buffers", m->buffers_gb);
    trace_add(t, "memory.total_gb", m->total_gb, "GB",
              "weights + gradients + optimizer + activations + logits + buffers + overhead", 7, "weights",
              m->weights_gb, "gradients", m->gradients_gb, "optimizer", m->optimizer_gb, "activations",
              m->activations_gb, "logits", m->logits_gb, "buffers", m->buffers_gb, "overhead", m->overhead_gb);
    trace_add(t, "memory.low_gb", m->low_gb, "GB", "total * low_factor", 2, "total", m->total_gb, "low_factor",
              m->low_gb / m->total_gb);
    trace_add(t, "memory.high_gb", m->high_gb, "GB", "total * high_factor", 2, "total", m->total_gb, "high_factor",
              m->high_gb / m->total_gb);
    trace_add(t, "memory.usable_gb", m->usable_gb, "GB", "what a framework sees of the card", 1, "label",
              j->gpu->memory_gb);
}

static void trace_compute(const struct report *r, struct estimate *e)
{
    const struct job *j = r->job;
    const struct cut *c = &r->found->best.cut;
    const struct compute *k = &r->found->best.step.compute;
    struct trace *t = &e->trace;
    trace_add(t, "training.flops_per_token", job_flops_per_token(j), "FLOP",
              "passes * matmul_params + 12 * layers * width * attended + 6 * adapters", 5, "matmul_params",
              model_matmul_params(j->model), "layers", j->layers, "width", j->attention_width, "attended", j->attended,
              "adapters", j->adapter_params);
    trace_add(t, "training.matmul_s", k->matmul_s + k->expert_s, "s", "passes * flops / (tensor_peak * reached_share)",
              4, "tokens", c->tokens, "layers", c->stage_layers, "tensor_peak", j->peak, "reached_share",
              k->matmul_share);
    trace_add(t, "training.attention_s", k->attention_s, "s", "flops of scores / (peak16 * attention_share)", 2,
              "attended", j->attended, "peak16", j->peak16);
    trace_add(t, "training.elementwise_s", k->elementwise_s, "s", "activation_bytes * passes / memory_bandwidth", 2,
              "bytes_per_token_layer", job_activation_bytes(j, c->stack), "memory_bandwidth", j->bandwidth);
    const double kernels = k->matmul_s + k->expert_s + k->attention_s + k->elementwise_s + k->dequant_s;
    trace_add(t, "training.layers_s", k->layers_s, "s",
              "((measured_scale * kernels)^blend + (max(1, measured_scale) * launch_floor)^blend)^(1 / blend)", 5,
              "blend", j->k->launch_blend, "measured_scale", j->compute_scale, "kernels", kernels, "dequantisation",
              k->dequant_s, "launch_floor", k->floor_s);
    trace_add(t, "training.micro_batch_compute_s", k->total_s, "s", "layers + head_and_logits", 2, "layers",
              k->layers_s, "head_and_logits", k->ends_s);
}

static void trace_rates(const struct report *r, struct estimate *e)
{
    const struct job *j = r->job;
    const struct training_estimate *v = &e->training;
    struct trace *t = &e->trace;
    const double each = v->tokens_per_s_per_gpu;
    trace_add(t, "training.global_batch", v->global_batch, "sequences", "micro_batch * data_parallel * accumulation", 3,
              "micro_batch", (double)r->found->best.cut.micro_batch, "data_parallel", (double)r->found->best.cut.dp,
              "accumulation", r->found->best.cut.accumulation);
    trace_add(t, "training.samples_per_s", v->samples_per_s, "samples/s", "global_batch / step_time", 2, "global_batch",
              r->found->best.cut.global_batch, "step_time", v->step_time_s);
    trace_add(t, "training.tflops_per_gpu", v->tflops_per_gpu, "TFLOP/s",
              "tokens_per_s_per_gpu / real_share * flops_per_token / 1e12", 3, "tokens_per_s_per_gpu", each,
              "real_share", j->real_share, "flops_per_token", job_flops_per_token(j));
    trace_add(t, "training.mfu_pct", v->mfu_pct, "%", "100 * tflops_per_gpu * 1e12 / tensor_peak", 2, "tflops_per_gpu",
              v->tflops_per_gpu, "tensor_peak", j->peak);
    trace_add(t, "training.tokens_per_s_per_gpu_low", v->tokens_per_s_per_gpu_low, "tokens/s",
              "tokens_per_s_per_gpu * low_factor", 2, "tokens_per_s_per_gpu", each, "low_factor",
              v->tokens_per_s_per_gpu_low / each);
    trace_add(t, "training.tokens_per_s_per_gpu_high", v->tokens_per_s_per_gpu_high, "tokens/s",
              "tokens_per_s_per_gpu * high_factor", 2, "tokens_per_s_per_gpu", each, "high_factor",
              v->tokens_per_s_per_gpu_high / each);
}

static void trace_step(const struct report *r, struct estimate *e)
{
    const struct job *j = r->job;
    const struct cut *c = &r->found->best.cut;
    const struct step *s = &r->found->best.step;
    struct trace *t = &e->trace;
    trace_add(t, "training.micro_batch_s", s->micro_s, "s",
              "compute + tensor + context + experts + stages + sharding + offload (exposed parts)", 7, "compute",
              s->compute.total_s, "tensor", s->tensor_s, "context", s->context_s, "experts", s->expert_s, "stages",
              s->pipeline_s, "sharding", s->shard_s, "offload", s->offload_s);
    trace_add(
        t, "training.step_time_s", s->total_s, "s",
        "max(measured_rest * (accumulation * micro_batch + bubble + gradients + optimizer + skew), data) + waiting", 9,
        "accumulation", c->accumulation, "micro_batch", s->micro_s, "bubble", s->bubble_s, "gradients", s->gradient_s,
        "optimizer", s->optimizer_s, "skew", s->skew_s, "data", s->data_s, "waiting", s->wait_s, "measured_rest",
        j->time_scale);
    trace_add(t, "training.communication_share", s->communication_share, "share",
              "(accumulation * exposed + gradients + skew) / step_time", 5, "accumulation", c->accumulation, "exposed",
              s->tensor_s + s->context_s + s->expert_s + s->pipeline_s + s->shard_s + s->offload_s, "gradients",
              s->gradient_s, "skew", s->skew_s, "step_time", s->total_s);
    trace_add(t, "training.bubble_share", s->bubble_share, "share", "bubble / step_time", 2, "bubble", s->bubble_s,
              "step_time", s->total_s);
    trace_add(t, "training.data_wait_share", s->data_wait_share, "share",
              "what storage, host and data add to the step / step_time", 3, "data", s->data_s, "waiting", s->wait_s,
              "step_time", s->total_s);
    trace_add(t, "training.tokens_per_s", e->training.tokens_per_s, "tokens/s",
              "global_batch * seq_len * real_share / step_time", 4, "global_batch", c->global_batch, "seq_len", j->seq,
              "real_share", j->real_share, "step_time", s->total_s);
    trace_add(t, "training.tokens_per_s_per_gpu", e->training.tokens_per_s_per_gpu, "tokens/s", "tokens_per_s / gpus",
              2, "tokens_per_s", e->training.tokens_per_s, "gpus", (double)j->gpus);
    trace_rates(r, e);
    trace_add(t, "training.scaling_efficiency", e->training.scaling_efficiency, "share",
              "tokens_per_s_per_gpu / the same on one node (one card)", 1, "gpus", (double)j->gpus);
}

void report_trace(const struct report *r, const struct run *run, struct estimate *ret)
{
    const struct job *j = r->job;
    struct trace *t = &ret->trace;
    trace_states(r, ret);
    trace_memory(r, ret);
    trace_compute(r, ret);
    trace_step(r, ret);
    if (r->reading != NULL && r->reading->used)
        trace_add(t, "training.measured_scale", j->compute_scale, "ratio", "modelled speed / measured speed", 3,
                  "measured_tokens_per_s", r->reading->tokens_per_s, "measured_gpus", (double)r->reading->gpus,
                  "communication_scale", j->comm_scale);
    trace_add(t, "training.run_overhead", run->overhead, "share",
              "(1 + failures + checkpoints + evaluation) / effectiveness - 1", 5, "failures", run->failures_share,
              "checkpoints", run->checkpoint_share, "evaluation", run->evaluation_share, "effectiveness",
              run->effectiveness, "hours_between_failures", run->mean_between_failures_h);
    if (run->tokens > 0) {
        trace_add(t, "training.wall_hours", run->wall_hours, "h", "tokens / tokens_per_s / 3600 * (1 + run_overhead)",
                  3, "tokens", run->tokens, "tokens_per_s", ret->training.tokens_per_s, "run_overhead", run->overhead);
        trace_add(t, "training.gpu_hours", run->gpu_hours, "h", "wall_hours * gpus", 2, "wall_hours", run->wall_hours,
                  "gpus", (double)j->gpus);
    }
}
