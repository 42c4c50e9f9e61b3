/* serving_forward.c — see serving_forward.h; docs/planner-serving.md, "Forward-only work".
 *
 * Texts are prefill without decode: near-linear in dense FLOPs. Images are passes of stated FLOPs. Either fills the
 * card with few requests, so what runs together takes its turns.
 */
#include "planner/serving/serving_forward.h"

#include <math.h>

#define SHARED_WEIGHTS 1.5 /* layers that weigh more than all there is to weigh share their weights (ALBERT) */

bool forward_only(const struct replica *r)
{
    return r->m->flops_per_sample > 0 || (r->m->causal == TRI_NO && r->encoder_layers == 0);
}

double forward_token_flops(const struct replica *r, double length)
{
    const struct model *m = r->m;
    double half = m->causal == TRI_NO ? 1 : 0.5; /* encoders attend both ways */
    double body = r->params.attention + r->params.dense + r->params.encoder;
    double feed = (m->ffn == FFN_GATED ? 3.0 : 2.0) * m->hidden * m->intermediate;
    double stack = m->layers * (model_attention_params(m) + feed);
    if (!r->moe && stack > SHARED_WEIGHTS * body) /* every layer is computed, whoever's weights it uses */
        body = stack;
    if (r->moe)
        body += r->params.experts * m->experts_per_token / m->experts;
    return 2 * body + 4.0 * m->layers * m->heads * m->head_dim * length * half * r->k->embed_attention_quad;
}

double forward_share(const struct replica *r, bool image)
{
    if (image)
        return r->engine.eager ? r->k->image_share_eager : r->k->image_share;
    return r->engine.kind == EK_EAGER ? r->k->embed_share_plain : r->k->embed_share;
}

double forward_peak(const struct replica *r, bool image)
{
    if (r->wt.math != MATH_8)
        return r->card.f16;
    return image ? r->card.f16 * r->k->image_gain_8bit : r->card.f8; /* convolutions and norms stay in 16 bits */
}

struct load_speed forward_speed(const struct replica *r, const struct load_point *p)
{
    bool image = r->m->flops_per_sample > 0;
    double output = fmax(1, p->output), input = fmax(1, p->input), cards = (double)r->tp * r->pp;
    double flops = image ? r->m->flops_per_sample : forward_token_flops(r, input) * input / output;
    struct load_speed s = {.microbatch = fmax(1, p->batch)};
    s.step.math = flops / (forward_peak(r, image) * forward_share(r, image) * cards);
    s.step.linear = s.step.total = s.step.math;
    s.token_step = s.tpot = s.step.total * s.microbatch;
    s.requests_per_s = 1 / (output * s.step.total);
    s.output_tokens_per_s = s.requests_per_s * output;
    s.total_tokens_per_s = s.requests_per_s * (output + p->input);
    s.end_to_end = p->batch / s.requests_per_s;
    s.ttft = s.tpot;
    s.ttft_factor = 1;
    return s;
}
