/* serving_point.c — memory first, throughput second: how many requests are really in flight, and how fast that is. */
#include "planner/serving/serving_point.h"

#include <math.h>

struct point point_resolve(const struct replica *r, const struct serving *s, const struct operating_point *at)
{
    const struct serving_constants *k = r->k;
    struct point p = {.scenario = SCEN_UNSTATED};
    bool lengths = s->input_tokens > 0 || s->output_tokens > 0;
    p.input = s->input_tokens;
    p.output = s->output_tokens;
    if (at != NULL && at->stated) {
        if (at->input_tokens > 0 || at->output_tokens > 0) {
            lengths = true;
            p.input = at->input_tokens;
            p.output = at->output_tokens;
        }
        p.batch = at->batch;
        p.decode_only = at->decode_only;
        p.scenario = at->scenario;
        p.memory.utilisation = at->gpu_memory_utilization;
        p.memory.max_seqs = at->max_num_seqs;
        p.memory.batched_tokens = at->max_num_batched_tokens;
        p.memory.max_len = at->max_model_len;
    }
    if (!lengths) {
        p.input = k->default_input;
        p.output = k->default_output;
        if (r->m->flops_per_sample > 0) { /* passes of an image; nothing is read before */
            p.input = 0;
            p.output = k->image_passes;
        } else if (r->source_positions > 0) { /* speech: one pass of the encoder */
            p.input = r->source_positions;
            p.output = k->speech_output;
        }
    }
    /* vLLM refuses to start where one sequence of the whole context does not fit; others just serve shorter ones. */
    bool whole_context = !lengths && r->engine.id == ENGINE_VLLM && at != NULL && at->stated;
    if (p.memory.max_len <= 0)
        p.memory.max_len = fmax(whole_context ? r->m->max_context : 0, p.input + p.output);
    if (p.scenario == SCEN_SINGLE_STREAM && p.batch <= 0)
        p.batch = 1;
    p.saturated = p.batch <= 0;
    p.memory.in_flight = 1;
    return p;
}

static double admission_cap(const struct replica *r, const struct point *p)
{
    const struct serving_constants *k = r->k;
    if (p->memory.max_seqs > 0)
        return p->memory.max_seqs;
    if (r->engine.kind == EK_COMPILED)
        return k->batch_cap_compiled * (r->attention_dp ? r->tp : 1);
    return r->card.large ? k->max_seqs_large_card : k->max_seqs;
}

static double band_of(const struct replica *r, const struct point *p)
{
    const struct serving_constants *k = r->k;
    if (!p->saturated && p->batch <= 1) {
        if (r->engine.kind == EK_EAGER)
            return k->band_single_eager;
        return r->tp * r->pp > 1 ? k->band_single_multi : k->band_single;
    }
    if (r->moe)
        return k->band_moe;
    return r->engine.kind == EK_COMPILED ? k->band_dense : k->band_dense_python;
}

/* What is known less well widens both. */
static double widened(const struct replica *r, double band, bool size_only)
{
    const struct serving_constants *k = r->k;
    if (!r->engine.known)
        band *= k->band_unknown_engine;
    if (size_only)
        band *= k->band_size_only;
    if (r->card.rare)
        band *= k->band_rare_card;
    return band;
}

struct replica_room replica_room_at(const struct replica *r, const struct point *p)
{
    struct replica_room a = {.memory = serving_memory_of(r, &p->memory)};
    double room = serving_concurrency(r, &a.memory, p->input + p->output);
    /* Where weights leave no room the speed is still told, as if one request fitted. */
    a.admitted = fmax(1, fmin(floor(room), admission_cap(r, p)));
    return a;
}

static struct replica_answer answer_of(const struct replica *r, const struct point *p)
{
    const struct replica_room room = replica_room_at(r, p);
    struct replica_answer a = {.memory = room.memory, .admitted = room.admitted};
    a.in_flight = p->saturated ? a.admitted : fmin(p->batch, a.admitted);
    struct load_point at = {.batch = a.in_flight,
                            .input = p->input,
                            .output = p->output,
                            .decode_only = p->decode_only,
                            .together = p->scenario == SCEN_FIXED_BATCH};
    a.speed = serving_speed(r, &at);
    double band = band_of(r, p);
    a.band = widened(r, band, r->m->size_only);
    a.tpot_band = widened(r, fmax(band, a.in_flight > 1 ? r->k->band_tpot : 1), r->m->size_only);
    return a;
}

/* Latent attention with expert parallelism: whoever cuts the experts by rank turns attention-DP on where it pays, that
 * is where many requests would have every rank hold and read the same cache. */
struct replica_answer replica_answer_at(const struct replica *r, const struct point *p)
{
    struct replica_answer a = answer_of(r, p);
    if (!r->mla || r->attention_dp || r->ep < 2 || r->tp < 2)
        return a;
    struct replica d = replica_attention_dp(r);
    struct replica_answer b = answer_of(&d, p);
    if (b.memory.kv_room <= 0 || b.speed.output_tokens_per_s <= a.speed.output_tokens_per_s)
        return a;
    b.memory = a.memory; /* memory is told for the layout as stated */
    return b;
}
