/* config_count.c — every parameter of a configuration, part by part. */
#include <math.h>
#include <string.h>

#include "api/config_view.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static double number(const struct config_view *v, double otherwise, const char *const *names)
{
    double n = config_number(v, names);
    return n > 0 ? n : otherwise;
}

/* The family's traits as this file's own flags change them. */
static unsigned traits_of(const struct config_view *v)
{
    unsigned t = v->family->traits;
    static const struct {
        const char *flag;
        unsigned bits;
    } biases[] = {
        {"attention_bias", F_QKV_BIAS | F_OUT_BIAS},
        {"add_qkv_bias", F_QKV_BIAS},
        {"qkv_bias", F_QKV_BIAS},
        {"use_qkv_bias", F_QKV_BIAS},
        {"mlp_bias", F_MLP_BIAS},
        {"use_bias", F_QKV_BIAS | F_OUT_BIAS | F_MLP_BIAS},
        {"bias", F_QKV_BIAS | F_OUT_BIAS},
        {"add_bias_linear", F_OUT_BIAS | F_MLP_BIAS},
        {"use_qk_norm", F_QK_NORM},
        {"qk_layernorm", F_QK_NORM},
        {"lm_head_bias", F_HEAD_BIAS},
    };
    for (size_t i = 0; i < sizeof biases / sizeof *biases; i++) {
        int flag = config_flag(v, biases[i].flag);
        if (flag == 1)
            t |= biases[i].bits;
        else if (flag == 0)
            t &= ~biases[i].bits;
    }
    static const char *const rotary[] = {"alibi", "rope", "rotary", "nope"};
    for (size_t i = 0; i < sizeof rotary / sizeof *rotary; i++)
        if (strcmp(config_string(v, "position_embedding_type"), rotary[i]) == 0)
            t &= ~(unsigned)F_POSITIONS;
    if (config_flag(v, "static_position_embeddings") == 1)
        t &= ~(unsigned)F_POSITIONS;
    if (strcmp(v->type, "falcon") == 0 && config_flag(v, "bias") != 1)
        t &= ~(unsigned)(F_QKV_BIAS | F_OUT_BIAS | F_MLP_BIAS);
    return t;
}

/* DeBERTa: projections of the relative positions, unless keys and queries are shared with the content's. */
static double relative_positions(const struct config_view *v, const struct model *m)
{
    const char *kinds = config_string(v, "pos_att_type");
    json_t *list = config_member(v, "pos_att_type");
    double n = (strstr(kinds, "c2p") != NULL) + (strstr(kinds, "p2c") != NULL) + (double)json_array_size(list);
    bool own = config_flag(v, "relative_attention") == 1 && config_flag(v, "share_att_key") != 1;
    if (strncmp(v->type, "xlnet", 5) == 0)
        return (double)m->hidden * m->hidden;
    return own ? n * m->hidden * m->hidden : 0;
}

/* Of one layer; where the experts are heads, `experts` of them. */
static double attention(const struct config_view *v, const struct model *m, unsigned traits, double experts)
{
    double h = m->hidden, d = m->head_dim, a = m->heads, g = m->kv_heads, n;
    if (m->kv_lora_rank > 0) {
        double k = m->kv_lora_rank, q = m->q_lora_rank, rope = m->rope_head_dim,
               value = m->v_head_dim > 0 ? m->v_head_dim : d;
        n = q > 0 ? h * q + q + q * a * (d + rope) : h * a * (d + rope);
        return n + h * (k + rope) + k + k * a * (d + value) + a * value * h;
    }
    double q_rank = config_number(v, NAMES("q_lora_rank")), o_rank = config_number(v, NAMES("o_lora_rank"));
    double shared_q = config_number(v, NAMES("share_q_dim")); /* Step-3: all heads' queries from one narrow vector */
    if (shared_q > 0)
        return h * shared_q + shared_q * a * d + 2 * h * g * d + a * d * h;
    if (q_rank > 0 && o_rank > 0) /* DeepSeek-V4: keys are the values, the way out is narrow and in groups */
        return h * q_rank + q_rank * a * d + 3 * h * d + a * d * o_rank + number(v, 1, NAMES("o_groups")) * o_rank * h +
               q_rank * config_number(v, NAMES("index_n_heads")) * config_number(v, NAMES("index_head_dim"));
    if (traits & F_EXPERT_HEADS) /* JetMoE: an expert brings the queries and the way out of one group */
        return 2 * h * g * d + experts * 2 * h * g * d + h * m->experts;
    if (traits & F_FUSED) /* Hymba: the state space's way out is the attention's, too */
        return h * d * (a + g) + h * g * number(v, d, NAMES("v_head_dim"));
    n = 2 * h * a * d + 2 * h * g * d + relative_positions(v, m);
    if (v->family->mix == MIX_DELTA && strncmp(v->type, "qwen", 4) == 0)
        n += h * a * d; /* the query's gate */
    if (traits & F_QKV_BIAS)
        n += (a + 2 * g) * d;
    if (traits & F_OUT_BIAS)
        n += h;
    if (traits & F_QK_NORM)
        n += 2 * d;
    return n;
}

static double mamba1(const struct config_view *v, double h)
{
    bool alone = v->family->traits & F_MIX_EVERYWHERE; /* then the one stated width is the state space's */
    double inner = number(v, number(v, 2, NAMES("expand", "mamba_expand")) * h,
                          NAMES("d_inner", alone ? "intermediate_size" : "d_inner"));
    double state = number(v, 16, NAMES("d_state", "state_size", "mamba_d_state"));
    double kernel = number(v, 4, NAMES("d_conv", "conv_kernel", "mamba_d_conv"));
    double rank = number(v, ceil(h / 16), NAMES("dt_rank", "time_step_rank", "mamba_dt_rank"));
    return h * 2 * inner + inner * (kernel + 1) + inner * (rank + 2 * state) + rank * inner + inner + inner * state +
           inner + inner * h;
}

static double mamba2(const struct config_view *v, double h)
{
    double head = number(v, 64, NAMES("mamba_head_dim", "mamba_d_head", "headdim", "mamba_headdim"));
    double heads = number(v, 0, NAMES("mamba_num_heads", "mamba_n_heads", "n_mamba_heads"));
    if (strcmp(v->type, "mamba2") == 0) {
        head = number(v, head, NAMES("head_dim", "headdim"));
        heads = number(v, heads, NAMES("num_heads"));
    }
    double inner = heads > 0
                       ? heads * head
                       : number(v, number(v, 2, NAMES("expand", "mamba_expand")) * h, NAMES("mamba_d_ssm", "d_inner"));
    heads = heads > 0 ? heads : inner / head;
    double groups = number(v, 1, NAMES("n_groups", "mamba_n_groups", "mamba_ngroups", "ngroups"));
    double state = number(v, 128, NAMES("ssm_state_size", "state_size", "mamba_d_state", "d_state"));
    double kernel = number(v, 4, NAMES("conv_kernel", "mamba_d_conv", "d_conv"));
    double conv = inner + 2 * groups * state;
    return h * (2 * inner + 2 * groups * state + heads) + conv * (kernel + 1) + 3 * heads + inner + inner * h;
}

static double delta(const struct config_view *v, const struct model *m)
{
    double h = m->hidden;
    double key_heads = number(v, number(v, m->heads, NAMES("num_heads")), NAMES("linear_num_key_heads"));
    double key_dim = number(v, 128, NAMES("linear_key_head_dim")) * key_heads;
    double value_heads = number(v, key_heads, NAMES("linear_num_value_heads"));
    double value_dim = number(v, 128, NAMES("linear_value_head_dim")) * value_heads;
    double n = h * (2 * key_dim + 2 * value_dim) + h * 2 * value_heads + (2 * key_dim + value_dim) * 4;
    return n + 2 * value_heads + value_dim / value_heads + value_dim * h;
}

/* Four to five square matrices; the fourth to sixth versions have one more in the FFN, the later ones narrow pairs. */
static double rwkv(const struct config_view *v, double h)
{
    bool fifth = strncmp(v->type, "rwkv5", 5) == 0, sixth = strncmp(v->type, "rwkv6", 5) == 0;
    if (strncmp(v->type, "rwkv7", 5) != 0)
        return (fifth || sixth ? 6 : 5) * h * h + 5 * h + (sixth ? 0.1 * h * h : 0);
    double narrow = config_number(v, NAMES("a_low_rank_dim")) + config_number(v, NAMES("decay_low_rank_dim")) +
                    config_number(v, NAMES("gate_low_rank_dim")) + config_number(v, NAMES("v_low_rank_dim"));
    return 4 * h * h + 2 * h * narrow + 16 * h;
}

/* The part of a layer that is no attention and no FFN. */
static double mixer(const struct config_view *v, const struct model *m)
{
    double h = m->hidden, width;
    switch (v->family->mix) {
    case MIX_MAMBA1:
        return mamba1(v, h);
    case MIX_MAMBA2:
        return mamba2(v, h);
    case MIX_RWKV:
        return rwkv(v, h);
    case MIX_DELTA:
        return delta(v, m);
    case MIX_LIGHTNING:
        return 5 * h * m->heads * m->head_dim;
    case MIX_CONV:
        return 4 * h * h + h * number(v, 3, NAMES("conv_L_cache"));
    case MIX_RGLRU:
        width = number(v, h, NAMES("lru_width"));
        return 3 * h * width + width * 5 + 2 * width * width / number(v, 1, NAMES("num_attention_heads")) + 3 * width +
               2 * width;
    default:
        return 0;
    }
}

static double ffn(const struct model *m, double width, unsigned traits)
{
    double matrices = m->ffn == FFN_PLAIN ? 2 : 3;
    return matrices * m->hidden * width + (traits & F_MLP_BIAS ? (matrices - 1) * width + m->hidden : 0);
}

/* Convolutions in front of a tower of layers (wav2vec 2.0, HuBERT), with the one that tells positions. */
static double sound_front(const struct config_view *v, double h)
{
    json_t *widths = config_member(v, "conv_dim"), *kernels = config_member(v, "conv_kernel");
    double n = 0, before = 1, positions = config_number(v, NAMES("num_conv_pos_embeddings"));
    for (size_t i = 0; i < json_array_size(widths) && i < json_array_size(kernels); i++) {
        double width = json_number_value(json_array_get(widths, i));
        n += before * width * json_number_value(json_array_get(kernels, i));
        before = width;
    }
    if (n <= 0 || positions <= 0)
        return 0;
    return n + before * h + h * h / number(v, 16, NAMES("num_conv_pos_embedding_groups")) * positions;
}

/* A second table: what every layer is told of a token besides the stream (Gemma 3n, Gemma 4 E2B). Looked up, so no
 * work. */
static double layer_tables(const struct config_view *v, const struct model *m)
{
    double width = config_number(v, NAMES("hidden_size_per_layer_input"));
    return width * m->layers * number(v, m->vocab, NAMES("vocab_size_per_layer_input"));
}

/* Rows of learned positions; two stacks have a table each. */
static double positions(const struct config_view *v, const struct model *m, unsigned traits)
{
    double extra = strncmp(v->type, "opt", 3) == 0 || strstr(v->type, "bart") ? 2 : 0;
    if (!(traits & F_ENCODER_DECODER) || config_has(v, "max_source_positions"))
        return m->max_context + extra;
    return number(v, m->max_context, NAMES("max_encoder_position_embeddings")) +
           number(v, m->max_context, NAMES("max_decoder_position_embeddings")) + 2 * extra;
}

/* Width of the vocabulary's matrix where it is stated apart. */
static double narrow_embedding(const struct config_view *v)
{
    return config_number(v, NAMES("embedding_size", "input_embedding_size", "word_embed_proj_dim"));
}

/* Embedding, positions, segments, head. */
static double tables(const struct config_view *v, const struct model *m, unsigned traits)
{
    double h = m->hidden, multiple = config_number(v, NAMES("pad_vocab_size_multiple"));
    double vocab = multiple > 1 ? multiple * ceil(m->vocab / multiple) : m->vocab;
    double n = vocab * h,
           head = m->tied_embeddings == TRI_YES || m->causal == TRI_NO || config_headless(v) ? 0 : vocab * h;
    double narrow = narrow_embedding(v);
    if (narrow > 0 && narrow < h)
        n = vocab * narrow + narrow * h;
    if (strncmp(v->type, "bloom", 5) == 0)
        n += 2 * h;
    if (traits & F_POSITIONS)
        n += positions(v, m, traits) * (narrow > 0 && narrow < h && (traits & F_ENCODER) ? narrow : h);
    if (traits & F_SEGMENTS)
        n += number(v, 1, NAMES("type_vocab_size")) * h + 2 * h + h * h + h;
    n += 3 * h * m->layers * config_number(v, NAMES("hidden_size_per_layer_input")) + sound_front(v, h);
    double patch = config_number(v, NAMES("patch_size")), image = config_number(v, NAMES("image_size"));
    if (m->vocab == 0 && v->text == v->root && patch > 0 && image > 0) /* pictures: a projection and a place a patch */
        n += 3 * patch * patch * h + (image / patch * (image / patch) + 1) * h;
    if (config_has(v, "attention_window")) /* Longformer, LED: projections of their own for global tokens */
        n += 3 * h * (h + 1) * number(v, m->layers, NAMES("encoder_layers"));
    return n + head + (traits & F_HEAD_BIAS && head > 0 ? vocab : 0);
}

static double norms_of(const struct model *m, unsigned traits)
{
    double count = traits & F_ONE_NORM ? 1 : traits & F_FOUR_NORMS ? 4 : 2;
    return count * m->hidden * (traits & F_NORM_BIAS ? 2 : 1);
}

static double encoder_layers(const struct config_view *v, const struct model *m)
{
    return number(v, m->layers, NAMES("encoder_layers", "num_encoder_layers", "num_layers"));
}

/* T5, BART, Whisper: the stated layers are the decoder's; the encoder has its own number of them. */
static double encoder_decoder(const struct config_view *v, const struct model *m, unsigned traits, double experts)
{
    double encoder = encoder_layers(v, m);
    double one = attention(v, m, traits, 0), feed = ffn(m, m->intermediate, traits), norm = norms_of(m, traits) / 2;
    double source = config_number(v, NAMES("max_source_positions")) * m->hidden;
    double mels = config_number(v, NAMES("num_mel_bins"));
    if (mels > 0)
        source += 3 * mels * m->hidden + 3 * (double)m->hidden * m->hidden;
    if (experts > 0) /* Switch, NLLB-MoE: every few layers as many FFNs as experts */
        source +=
            (experts - 1) * feed *
            (number(v, encoder / number(v, 2, NAMES("encoder_sparse_step")), NAMES("num_sparse_encoder_layers")) +
             number(v, m->layers / number(v, 2, NAMES("decoder_sparse_step")), NAMES("num_sparse_decoder_layers")));
    if (config_encoder_only(v))
        return encoder * (one + feed + 2 * norm) + source + norm;
    return encoder * (one + feed + 2 * norm) + m->layers * (2 * one + feed + 3 * norm) + source + 2 * norm;
}

/* Zamba: one or two blocks of attention and FFN, twice as wide at their door, used again every few layers. */
static double shared_blocks(const struct config_view *v, const struct config_layers *l, const struct model *m)
{
    double h = m->hidden, wide = number(v, 2 * h, NAMES("attention_hidden_size")), rank = 0;
    double block = 3 * 2 * h * wide + wide * h + ffn(m, m->intermediate, 0);
    if (config_flag(v, "use_shared_mlp_adapter") == 1)
        rank = config_number(v, NAMES("adapter_rank"));
    return number(v, 1, NAMES("num_mem_blocks")) * block + l->attention * (h * h + rank * (h + 2.0 * m->intermediate)) +
           l->mixed * (mixer(v, m) + h);
}

static double body(const struct config_view *v, const struct config_layers *l, const struct model *m, unsigned traits,
                   double experts)
{
    double h = m->hidden;
    double dense_width = m->dense_intermediate > 0 ? m->dense_intermediate : m->intermediate;
    double n = (l->attention + l->windowed) * attention(v, m, traits, experts) + l->mixed * mixer(v, m);
    double layers = l->total;
    if (strncmp(v->type, "zamba", 5) == 0)
        return shared_blocks(v, l, m);
    n -= config_reusing_layers(v) * h * m->kv_heads * (m->head_dim + number(v, m->head_dim, NAMES("v_head_dim")));
    if (strncmp(v->type, "longcat", 7) == 0) /* two attentions a layer */
        n *= 2;
    if (strncmp(v->type, "albert", 6) == 0) { /* one set of weights for all layers */
        double groups = number(v, 1, NAMES("num_hidden_groups"));
        n = n / layers * groups;
        layers = groups;
    }
    double dense = l->feed_forward > l->moe ? l->feed_forward - l->moe : 0;
    n += (dense < layers ? dense : layers) * ffn(m, dense_width, traits);
    if (config_flag(v, "use_double_wide_mlp") == 1)
        n += config_number(v, NAMES("num_kv_shared_layers")) * ffn(m, dense_width, traits);
    n += l->moe * (experts * ffn(m, m->intermediate, traits) + h * m->experts);
    n += l->moe * (m->ffn == FFN_PLAIN ? 2 : 3) * h * m->shared_intermediate;
    double norms = norms_of(m, traits);
    if (l->feed_forward < l->total) /* one part a layer, one norm a layer */
        norms = h;
    return n + layers * norms + h * (traits & F_NORM_BIAS ? 2 : 1);
}

void config_count(const struct config_view *v, const struct config_layers *l, struct model *m)
{
    unsigned traits = traits_of(v);
    double narrow = narrow_embedding(v);
    m->embedding_width = narrow > 0 && narrow < m->hidden ? (int)narrow : 0;
    double towers = config_towers(v, m), fixed = tables(v, m, traits), lookup = layer_tables(v, m) + config_talker(v);
    if (traits & F_ENCODER_DECODER) {
        m->encoder_layers = (int)encoder_layers(v, m);
        m->decoder_layers = config_encoder_only(v) ? 0 : m->layers;
        m->encoder_positions = (int)config_number(v, NAMES("max_source_positions"));
        m->params = fixed + towers + encoder_decoder(v, m, traits, m->experts);
        m->active_params = fixed + towers + encoder_decoder(v, m, traits, m->experts_per_token);
        return;
    }
    double picked = m->experts_per_token, nothing = config_number(v, NAMES("zero_expert_num"));
    if (m->experts > 0 && nothing > 0) /* some of those picked do nothing */
        picked *= m->experts / (m->experts + nothing);
    double kinds = 1; /* ERNIE-VL: as many experts again for pictures, of another width */
    if (json_array_size(config_member(v, "moe_intermediate_size")) > 1)
        kinds = fmax(1, (double)json_array_size(config_member(v, "moe_num_experts")));
    m->params = fixed + towers + body(v, l, m, traits, kinds * m->experts);
    /* Of a mixture, cards and schedules mean a token of text, which no tower sees. */
    m->active_params = m->experts > 0 ? fixed + body(v, l, m, traits, picked) : m->params;
    if (strncmp(v->type, "cogvlm", 6) == 0) /* tokens of pictures have layers of their own */
        m->params += body(v, l, m, traits, m->experts);
    m->params += lookup;
    m->qkv_bias = traits & F_QKV_BIAS ? TRI_YES : TRI_NO;
    m->qk_norm = traits & F_QK_NORM ? TRI_YES : TRI_NO;
    m->norm_bias = traits & F_NORM_BIAS ? TRI_YES : TRI_NO;
    m->linear_bias = (traits & F_MLP_BIAS) && (traits & F_OUT_BIAS) ? TRI_YES : TRI_NO;
    m->norms_per_layer = traits & F_ONE_NORM ? 1 : traits & F_FOUR_NORMS ? 4 : 2;
    m->learned_positions = traits & F_POSITIONS ? m->max_context : 0;
}
