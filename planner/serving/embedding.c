/* embedding.c — work that only goes forward: embedding and reranking a corpus, speech, images.
 *
 * docs/planner-serving.md, "Forward-only work". Texts are prefill without decode: near-linear in dense FLOPs. Models
 * that state FLOPs a sample (speech, diffusion) are reckoned by those.
 */
#include <math.h>

#include "planner/serving/serving.h"
#include "planner/serving/serving_forward.h"

#define GB 1e9
#define DEFAULT_SEQUENCE 512

struct forward {
    double flops;       /* of one token, or of one sample */
    double tokens;      /* of one sample; 1 where samples are counted */
    double rate;        /* tokens/s (samples/s) of one card */
    double peak, share; /* of one card, and what is reached of it */
    bool samples;
};

static struct forward forward_of(const struct replica *r, const struct training *work)
{
    const struct model *m = r->m;
    double per_sample = m->flops_per_sample > 0 ? m->flops_per_sample : work->flops_per_sample;
    struct forward f = {.samples = per_sample > 0, .flops = per_sample, .tokens = 1};
    if (!f.samples) {
        double longest = work->seq_len > 0 ? work->seq_len : DEFAULT_SEQUENCE;
        f.tokens = work->mean_len > 0 ? fmin(work->mean_len, longest) : longest;
        f.flops = forward_token_flops(r, f.tokens);
    }
    f.share = forward_share(r, f.samples);
    f.peak = forward_peak(r, f.samples);
    f.rate = f.peak * f.share / f.flops;
    return f;
}

static void fill_memory(const struct serving_constants *k, const struct replica *r, const struct forward *f,
                        struct estimate *e)
{
    double weights = r->bytes.total, overhead = k->overhead_eager_gib * BYTES_PER_GIB;
    double batch_tokens = k->batched_tokens_large_card;
    double width = k->prefill_ffn * r->m->intermediate + k->prefill_hidden * r->m->hidden;
    double activation = f->samples ? k->image_activation_share * weights : 2 * batch_tokens * width;
    double needed = weights + overhead + activation, usable = r->card.usable;
    double gray = k->tight_share * usable;
    e->fits = needed <= usable - gray ? FITS_YES : needed <= usable + gray ? FITS_TIGHT : FITS_NO;
    e->memory = (struct memory_estimate){.total_gb = needed / GB,
                                         .usable_gb = usable / GB,
                                         .weights_gb = weights / GB,
                                         .activations_gb = activation / GB,
                                         .overhead_gb = overhead / GB,
                                         .low_gb = needed / k->memory_band_unknown / GB,
                                         .high_gb = needed * k->memory_band_unknown / GB,
                                         .tightest_term = weights > activation ? "weights" : "activations"};
    e->serving.weights_gb = weights / GB;
}

/* Samples (texts) of one pass over the corpus, however the request counts them. */
static double samples_of(const struct training *work, const struct forward *f)
{
    if (work->samples > 0)
        return work->samples;
    if (work->steps > 0)
        return work->steps * fmax(1, work->global_batch);
    return f->samples ? 0 : work->tokens / f->tokens;
}

static void fill_work(const struct training *work, const struct forward *f, int cards, struct estimate *e)
{
    struct training_estimate *t = &e->training;
    double rate = f->rate * cards;
    double epochs = work->epochs > 0 ? work->epochs : 1;
    double amount = !f->samples && work->tokens > 0 ? work->tokens : samples_of(work, f) * f->tokens;
    *t = (struct training_estimate){.step_time_s = NAN, .mfu_pct = 100 * f->share, .scaling_efficiency = 1};
    t->tokens_per_s = f->samples ? NAN : rate;
    t->tokens_per_s_per_gpu = f->samples ? NAN : f->rate;
    t->samples_per_s = rate / f->tokens;
    t->tflops_per_gpu = f->rate * f->flops / 1e12;
    t->gpu_hours = amount > 0 ? amount * epochs / f->rate / 3600 : NAN;
    t->wall_hours = amount > 0 ? t->gpu_hours / cards : NAN;
}

/* What the vectors take where they are searched: 32-bit floats, and a graph over them. */
static void tell_index(const struct serving_constants *k, const struct replica *r, const struct training *work,
                       const struct forward *f, struct estimate *e)
{
    double texts = samples_of(work, f);
    double gb = texts * r->m->hidden * 4 / GB;
    if (texts > 0)
        note_num(note_num(note_num(note_add(&e->assumptions, "embedding_index"), "texts", texts), "gb", gb), "graph_gb",
                 gb * k->index_graph);
}

int embedding_estimate(const struct serving_constants *k, const struct model *model, const struct training *work,
                       const struct shape *shape, struct arena *arena, struct estimate *ret, struct err *err)
{
    *ret = (struct estimate){.has_training = true, .confidence = CONF_ANALYTIC};
    note_list_init(&ret->assumptions, arena);
    note_list_init(&ret->warnings, arena);
    trace_init(&ret->trace, arena);
    struct serving as_served = {.spare_replicas = -1}; /* a tuned server */
    if (work->precision == PREC_FP8)
        as_served.weight_format = WF_FP8;
    struct layout one = {.tp = 1, .pp = 1, .dp = shape_gpus(shape), .ep = 1};
    struct replica r;
    if (replica_resolve(k, model, &as_served, shape, &one, &r, err) != 0)
        return -1;
    struct forward f = forward_of(&r, work);
    if (!(f.flops > 0))
        return err_at(err, ERR_UNSUPPORTED, "/workload/model", "flops_per_sample is not known");
    ret->layout = one;
    fill_memory(k, &r, &f, ret);
    fill_work(work, &f, shape_gpus(shape), ret);
    ret->training.tokens_per_s_per_gpu_low = ret->training.tokens_per_s_per_gpu / k->band_embedding;
    ret->training.tokens_per_s_per_gpu_high = ret->training.tokens_per_s_per_gpu * k->band_embedding;
    if (work->seq_len <= 0 && !f.samples)
        note_num(note_add(&ret->assumptions, "embedding_length_assumed"), "tokens", DEFAULT_SEQUENCE);
    if (f.samples)
        note_add(&ret->assumptions, "embedding_sample_is_pass");
    else if (model->causal == TRI_NO)
        tell_index(k, &r, work, &f, ret);
    trace_add(&ret->trace, f.samples ? "training.samples_per_s" : "training.tokens_per_s_per_gpu", f.rate,
              f.samples ? "samples/s" : "tokens/s", "peak * share / flops", 3, "peak", f.peak, "share", f.share,
              "flops", f.flops);
    return arena_failed(arena) ? err_set(err, ERR_NOMEM, "arena full") : 0;
}
