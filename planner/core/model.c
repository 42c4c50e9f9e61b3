/* model.c — what an architecture amounts to: parameters, matrix-multiplied parameters, cache bytes.
 *
 * Counts are exact for the families of docs/planner-training.md ("Parameters"): decoders with gated or plain FFN,
 * GQA and MLA, routed and shared experts, leading dense layers, LayerNorm or RMSNorm, learned positions, encoders
 * without a head. Multimodal towers and state-space layers are not counted from dimensions; a stated total is then
 * the better figure, and model_complete keeps it.
 */
#include "planner/core/model.h"

#include <math.h>

static double matrices_per_ffn(const struct model *m)
{
    return m->ffn == FFN_PLAIN ? 2 : 3;
}

double model_embedding_params(const struct model *m)
{
    if (m->embedding_width > 0 && m->embedding_width < m->hidden)
        return (double)m->vocab * m->embedding_width;
    return (double)m->vocab * m->hidden;
}

int model_moe_layers(const struct model *m)
{
    if (m->experts <= 0)
        return 0;
    int routed = m->layers - m->dense_layers;
    if (routed < 0)
        routed = 0;
    return m->moe_every > 1 ? routed / m->moe_every : routed;
}

double model_attention_params(const struct model *m)
{
    double h = m->hidden, a = m->heads, d = m->head_dim;
    if (m->kv_lora_rank > 0) {
        double k = m->kv_lora_rank, q = m->q_lora_rank, rope = m->rope_head_dim;
        double v = m->v_head_dim > 0 ? m->v_head_dim : d;
        double query = q > 0 ? h * q + q + q * a * (d + rope) : h * a * (d + rope);
        return query + h * (k + rope) + k + k * a * (d + v) + a * v * h;
    }
    double g = m->kv_heads;
    double n = 2 * h * a * d + 2 * h * g * d;
    if (m->qkv_bias == TRI_YES || m->linear_bias == TRI_YES)
        n += (a + 2 * g) * d;
    if (m->linear_bias == TRI_YES)
        n += h;
    if (m->qk_norm == TRI_YES)
        n += 2 * d;
    return n;
}

/* One FFN of this width, with its biases. */
static double ffn_params(const struct model *m, double width)
{
    double n = matrices_per_ffn(m) * m->hidden * width;
    if (m->linear_bias == TRI_YES)
        n += (matrices_per_ffn(m) - 1) * width + m->hidden;
    return n;
}

static double dense_width(const struct model *m)
{
    return m->dense_intermediate > 0 ? m->dense_intermediate : m->intermediate;
}

double model_expert_params(const struct model *m)
{
    return model_moe_layers(m) * (double)m->experts * ffn_params(m, m->intermediate);
}

/* Everything, with `experts` routed experts counted in each MoE layer. */
static double count_with(const struct model *m, double experts)
{
    double h = m->hidden, layers = m->layers;
    double moe_layers = model_moe_layers(m), dense_layers = layers - moe_layers;
    double norm = (m->norm_bias == TRI_YES ? 2 : 1) * h;
    double norms = m->norms_per_layer > 0 ? m->norms_per_layer : 2;
    double n = layers * (model_attention_params(m) + norms * norm) + norm;
    n += dense_layers * ffn_params(m, dense_width(m));
    n += moe_layers * (experts * ffn_params(m, m->intermediate) + h * m->experts);
    if (m->shared_intermediate > 0)
        n += moe_layers * matrices_per_ffn(m) * h * m->shared_intermediate;
    bool one_matrix = m->tied_embeddings == TRI_YES || m->causal == TRI_NO; /* an encoder has no output head */
    return n + model_embedding_params(m) * (one_matrix ? 1 : 2) + (double)m->learned_positions * h;
}

double model_count_params(const struct model *m)
{
    return count_with(m, m->experts);
}

double model_count_active(const struct model *m)
{
    return count_with(m, m->experts_per_token);
}

double model_matmul_params(const struct model *m)
{
    double active = m->counted_active > 0  ? m->counted_active
                    : m->active_params > 0 ? m->active_params
                                           : model_count_active(m);
    bool head_counted_apart = m->tied_embeddings != TRI_YES || m->causal == TRI_NO;
    double n = head_counted_apart ? active - model_embedding_params(m) : active;
    /* A stated size smaller than its own vocabulary matrix is a contradiction elsewhere; stay positive here. */
    return fmax(n, 0.1 * active);
}

double model_kv_bytes_per_token(const struct model *m, double bits)
{
    /* Linear and state-space layers keep a constant state; windowed layers grow until their window is full. */
    double layers = m->full_attention_layers > 0 && m->window == 0 ? m->full_attention_layers : m->layers;
    if (m->kv_layers > 0)
        layers = m->kv_layers;
    if (m->causal == TRI_NO || m->no_attention)
        return 0; /* an encoder keeps nothing between tokens, a state-space model nothing that grows */
    if (m->kv_lora_rank > 0)
        return layers * (m->kv_lora_rank + m->rope_head_dim) * bits / 8;
    return 2 * layers * m->kv_heads * (double)m->head_dim * bits / 8;
}
