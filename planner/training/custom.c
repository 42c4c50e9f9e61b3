/* custom.c — scaling a known rate or known FLOPs per sample over cards by data parallelism.
 *
 * Nothing is known of the network but its cost per sample, so the model is plain: compute by a share of the peak (or
 * the caller's reading), gradients agreed on by a ring behind the backward pass, and a share lost for each further
 * card of a machine, because such work (images, sound) is decoded by the host the cards share.
 */
#include "planner/training/custom.h"

#include <math.h>

#include "planner/training/interval.h"

#define BACKWARD_PART (2.0 / 3)
#define GIGA 1e9

static bool behind_pcie(enum intra_link l)
{
    return l == INTRA_PCIE3 || l == INTRA_PCIE4 || l == INTRA_PCIE5 || l == INTRA_NVLINK_BRIDGE;
}

double custom_scaling(const struct training_constants *k, const struct shape *shape, double seconds,
                      double gradient_bytes)
{
    struct job j = {.k = k,
                    .gpu = shape->gpu,
                    .shape = *shape,
                    .gpus = shape_gpus(shape),
                    .compute_scale = 1,
                    .comm_scale = 1,
                    .network_scale = 1,
                    .time_scale = 1};
    if (j.shape.intra == INTRA_UNSTATED)
        j.shape.intra = hardware_default_intra(shape->gpu, shape->gpus_per_node);
    if (j.gpus < 2)
        return 1;
    struct fabric f;
    fabric_resolve(&j, &f);
    struct group all = {j.gpus, 1};
    double traffic = 2 * fabric_gather(&f, all, gradient_bytes, false);
    double exposed = fmax(0, traffic - k->shard_hidden * BACKWARD_PART * seconds);
    double contention = behind_pcie(j.shape.intra) ? k->host_contention_pcie : k->host_contention_link;
    double step = seconds * (1 + contention * (shape->gpus_per_node - 1)) + exposed;
    return j.gpus * seconds / step;
}

struct rates {
    double one_card; /* samples/s of one card */
    double batch;    /* samples of one card and step */
    double gradient_bytes;
    double peak; /* FLOP/s */
    bool measured;
};

static double peak_of(const struct gpu *g)
{
    double tflops = g->bf16_tflops > 0 ? g->bf16_tflops : g->fp16_tflops > 0 ? g->fp16_tflops : g->fp32_tflops;
    return tflops * 1e12;
}

static double cost_of_sample(const struct training_request *q)
{
    if (q->training->flops_per_sample > 0)
        return q->training->flops_per_sample;
    return q->model != NULL ? 3 * q->model->flops_per_sample : 0; /* forward, and twice that backward */
}

/* The batch a card takes where none is stated: it grows while memory lasts and gradients still show in the step. */
static double open_batch(const struct training_constants *k, const struct training_request *q, const struct rates *r)
{
    const struct training *t = q->training;
    double room = shape_usable_bytes(q->shape) * k->usable_share / GIGA - t->state_gb;
    double most = k->custom_batch * 8, batch = k->custom_batch, rate = r->peak * k->custom_share;
    if (t->activation_gb_per_sample > 0 && room > 0)
        most = fmin(most, fmax(1, floor(room / t->activation_gb_per_sample)));
    batch = fmin(batch, most);
    double cost = cost_of_sample(q), before = 0;
    for (double b = batch; b <= most && cost > 0 && rate > 0; b *= 2) {
        double speedup = custom_scaling(k, q->shape, b * cost / rate, r->gradient_bytes);
        if (speedup < before * 1.02)
            break;
        before = speedup;
        batch = b;
    }
    return batch;
}

static double batch_of(const struct training_constants *k, const struct training_request *q, const struct rates *r)
{
    if (q->layout != NULL && q->layout->micro_batch > 0)
        return q->layout->micro_batch;
    if (q->training->global_batch > 0)
        return fmax(1, (double)q->training->global_batch / shape_gpus(q->shape));
    return open_batch(k, q, r);
}

/* Samples/s of one card of the asked shape, out of a reading on any shape and card. */
static int measured_rate(const struct training_constants *k, const struct training_request *q, struct rates *r,
                         struct err *err)
{
    const struct measured *m = q->measured;
    double rate = m->samples_per_s;
    if (rate <= 0 && m->step_time_s > 0 && m->global_batch > 0)
        rate = m->global_batch / m->step_time_s;
    if (rate <= 0)
        return 0;
    const struct gpu *gpu = q->measured_gpu != NULL ? q->measured_gpu : q->shape->gpu;
    int gpus = m->gpus > 0 ? m->gpus : 1, nodes = m->nodes > 0 ? m->nodes : 1;
    struct shape bench = *q->shape;
    bench.gpu = gpu;
    bench.nodes = nodes;
    bench.gpus_per_node = gpus / nodes > 0 ? gpus / nodes : 1;
    if (gpu != q->shape->gpu)
        bench.intra = INTRA_UNSTATED;
    double cost = cost_of_sample(q), peak = peak_of(gpu);
    if (cost > 0 && peak > 0 && rate / gpus * cost > peak * k->reading_tolerance)
        return err_at(err, ERR_RANGE, "/workload/measured/samples_per_s",
                      "the reading means %.4g TFLOP/s a card, above the %.4g the card can do at most",
                      rate / gpus * cost / 1e12, peak / 1e12);
    /* The speed-up depends on the step time of one card, which depends on the speed-up: a few rounds settle it. */
    double one = rate / gpus;
    for (int i = 0; i < 12 && gpus > 1; i++)
        one = rate / custom_scaling(k, &bench, r->batch / one, r->gradient_bytes);
    r->one_card = one;
    if (gpu != q->shape->gpu && peak > 0 && r->peak > 0)
        r->one_card *= r->peak / peak;
    r->measured = true;
    return 0;
}

static void fill_memory(const struct training_constants *k, const struct training_request *q, double batch,
                        struct memory_estimate *m)
{
    const struct training *t = q->training;
    m->usable_gb = shape_usable_bytes(q->shape) / GIGA;
    m->optimizer_gb = t->state_gb;
    m->activations_gb = t->activation_gb_per_sample * batch;
    m->overhead_gb = k->overhead_one_gb * 1.073741824;
    m->total_gb = m->optimizer_gb + m->activations_gb + m->overhead_gb;
    m->low_gb = m->total_gb * exp(-k->band_memory);
    m->high_gb = m->total_gb * exp(k->band_memory);
    m->tightest_term = m->activations_gb > m->optimizer_gb ? "activations" : "optimizer";
}

static void fill_speed(const struct training_constants *k, const struct training_request *q, const struct rates *r,
                       struct training_estimate *e)
{
    const struct training *t = q->training;
    int gpus = shape_gpus(q->shape);
    double seconds = r->batch / r->one_card;
    double speedup = custom_scaling(k, q->shape, seconds, r->gradient_bytes);
    e->global_batch = (int)fmin(2e9, r->batch * gpus);
    e->samples_per_s = r->one_card * speedup;
    e->step_time_s = r->batch * gpus / e->samples_per_s;
    e->tokens_per_s = e->tokens_per_s_per_gpu = e->tokens_per_s_per_gpu_low = e->tokens_per_s_per_gpu_high = NAN;
    double cost = cost_of_sample(q);
    e->tflops_per_gpu = cost > 0 ? e->samples_per_s / gpus * cost / 1e12 : NAN;
    e->mfu_pct = cost > 0 && r->peak > 0 ? 100 * e->tflops_per_gpu * 1e12 / r->peak : NAN;
    e->communication_share = fmax(0, 1 - speedup / gpus);
    e->scaling_efficiency = speedup / gpus;
    if (q->shape->nodes > 1) {
        struct shape node = *q->shape;
        node.nodes = 1;
        e->scaling_efficiency = speedup / q->shape->nodes / custom_scaling(k, &node, seconds, r->gradient_bytes);
    }
    double epochs = t->epochs > 0 ? t->epochs : 1;
    double samples = t->samples > 0 ? t->samples * epochs : t->steps > 0 ? t->steps * e->global_batch : 0;
    double data = t->samples > 0 && t->dataset_gb > 0 ? e->samples_per_s * t->dataset_gb / t->samples : 0;
    if (q->shape->storage_gb_s > 0 && data > q->shape->storage_gb_s) {
        double slower = data / q->shape->storage_gb_s;
        e->data_wait_share = 1 - 1 / slower;
        e->samples_per_s /= slower;
        e->step_time_s *= slower;
    }
    e->run_overhead = 1 / k->run_small - 1 + k->evaluation_share;
    e->wall_hours = samples > 0 ? samples / e->samples_per_s / 3600 * (1 + e->run_overhead) : NAN;
    e->gpu_hours = e->wall_hours * gpus;
    e->checkpoint_gb = t->state_gb;
}

static void trace_memory(const struct training_request *q, double batch, const struct memory_estimate *m,
                         struct trace *t)
{
    trace_add(t, "memory.optimizer_gb", m->optimizer_gb, "GB", "state_gb, as stated", 1, "state_gb",
              q->training->state_gb);
    trace_add(t, "memory.activations_gb", m->activations_gb, "GB", "activation_gb_per_sample * batch of a card", 2,
              "activation_gb_per_sample", q->training->activation_gb_per_sample, "batch", batch);
    trace_add(t, "memory.overhead_gb", m->overhead_gb, "GB", "context and libraries", 0);
    trace_add(t, "memory.total_gb", m->total_gb, "GB", "optimizer + activations + overhead", 3, "optimizer",
              m->optimizer_gb, "activations", m->activations_gb, "overhead", m->overhead_gb);
    trace_add(t, "memory.low_gb", m->low_gb, "GB", "total * low_factor", 2, "total", m->total_gb, "low_factor",
              m->low_gb / m->total_gb);
    trace_add(t, "memory.high_gb", m->high_gb, "GB", "total * high_factor", 2, "total", m->total_gb, "high_factor",
              m->high_gb / m->total_gb);
    trace_add(t, "memory.usable_gb", m->usable_gb, "GB", "what a framework sees of the card", 1, "label",
              q->shape->gpu->memory_gb);
}

static void trace_speed(const struct training_request *q, const struct rates *r, const struct training_estimate *e,
                        struct trace *t)
{
    const double gpus = shape_gpus(q->shape);
    trace_add(t, "training.one_card_samples_per_s", r->one_card, "samples/s",
              r->measured ? "the reading, divided by the speed-up of its cards" : "tensor_peak * reached_share / cost",
              2, "tensor_peak", r->peak, "cost", cost_of_sample(q));
    trace_add(t, "training.global_batch", e->global_batch, "samples", "batch of a card * gpus", 2, "batch", r->batch,
              "gpus", gpus);
    trace_add(t, "training.samples_per_s", e->samples_per_s, "samples/s",
              "one card * speed-up (gradients beside the backward pass, host shared by the cards), within the storage",
              3, "one_card", r->one_card, "gradient_bytes", r->gradient_bytes, "gpus", gpus);
    trace_add(t, "training.step_time_s", e->step_time_s, "s", "global_batch / samples_per_s", 2, "global_batch",
              r->batch * gpus, "samples_per_s", e->samples_per_s);
    trace_add(t, "training.communication_share", e->communication_share, "share", "1 - speed-up / gpus", 1, "gpus",
              gpus);
    trace_add(t, "training.data_wait_share", e->data_wait_share, "share", "1 - storage rate / rate of reading", 1,
              "storage_gb_s", q->shape->storage_gb_s);
    trace_add(t, "training.scaling_efficiency", e->scaling_efficiency, "share",
              "speed-up of a card against one node (one card)", 1, "gpus", gpus);
    if (isfinite(e->tflops_per_gpu)) {
        trace_add(t, "training.tflops_per_gpu", e->tflops_per_gpu, "TFLOP/s", "samples_per_s / gpus * cost / 1e12", 3,
                  "samples_per_s", e->samples_per_s, "gpus", gpus, "cost", cost_of_sample(q));
        trace_add(t, "training.mfu_pct", e->mfu_pct, "%", "100 * tflops_per_gpu * 1e12 / tensor_peak", 2,
                  "tflops_per_gpu", e->tflops_per_gpu, "tensor_peak", r->peak);
    }
    trace_add(t, "training.run_overhead", e->run_overhead, "share", "1 / kept share + evaluation - 1", 0);
    trace_add(t, "training.checkpoint_gb", e->checkpoint_gb, "GB", "state_gb, as stated", 1, "state_gb",
              q->training->state_gb);
    if (isfinite(e->wall_hours)) {
        trace_add(t, "training.wall_hours", e->wall_hours, "h", "samples / samples_per_s / 3600 * (1 + run_overhead)",
                  2, "samples_per_s", e->samples_per_s, "run_overhead", e->run_overhead);
        trace_add(t, "training.gpu_hours", e->gpu_hours, "h", "wall_hours * gpus", 2, "wall_hours", e->wall_hours,
                  "gpus", gpus);
    }
}

int custom_estimate(const struct training_constants *k, const struct training_request *q, struct arena *arena,
                    struct estimate *ret, struct err *err)
{
    (void)arena;
    int gpus = shape_gpus(q->shape);
    struct rates r = {.peak = peak_of(q->shape->gpu),
                      .gradient_bytes = k->gradient_share_of_state * q->training->state_gb * GIGA};
    r.batch = batch_of(k, q, &r);
    if (q->measured != NULL && q->measured->stated && measured_rate(k, q, &r, err) != 0)
        return -1;
    double cost = cost_of_sample(q);
    if (!r.measured) {
        if (cost <= 0)
            return err_at(err, ERR_INVALID, "/workload/training",
                          "custom work needs flops_per_sample or a measured rate in samples");
        if (r.peak <= 0)
            return err_at(err, ERR_UNSUPPORTED, "/hardware/gpu", "card '%s' has no known peak (bf16_tflops)",
                          q->shape->gpu->id);
        r.one_card = r.peak * k->custom_share / cost;
    }
    fill_memory(k, q, r.batch, &ret->memory);
    fill_speed(k, q, &r, &ret->training);
    if (q->want_trace) {
        trace_memory(q, r.batch, &ret->memory, &ret->trace);
        trace_speed(q, &r, &ret->training, &ret->trace);
    }
    ret->has_training = true;
    ret->fits = ret->memory.high_gb <= ret->memory.usable_gb    ? FITS_YES
                : ret->memory.total_gb <= ret->memory.usable_gb ? FITS_TIGHT
                                                                : FITS_NO;
    ret->confidence = r.measured ? CONF_MEASURED : CONF_ANALYTIC;
    ret->layout = (struct layout){.tp = 1,
                                  .pp = 1,
                                  .vpp = 1,
                                  .dp = gpus,
                                  .cp = 1,
                                  .ep = 1,
                                  .sharding = SHARD_NONE,
                                  .offload = OFFLOAD_NONE,
                                  .recompute = RECOMPUTE_NONE,
                                  .micro_batch = (int)fmin(1e6, r.batch)};
    return 0;
}
