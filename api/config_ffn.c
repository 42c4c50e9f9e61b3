/* config_ffn.c — the feed-forward part of a layer: its kind and width, experts and what runs beside them. */
#include <math.h>
#include <string.h>

#include "api/config_view.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define DIMENSION_MAX 100000000.0

static bool has_glu(const struct config_view *v)
{
    static const char *const names[] = {"hidden_act",      "activation_function", "hidden_activation", "activation",
                                        "activation_type", "feed_forward_proj",   "dense_act_fn",      "ffn_type",
                                        "ffn_act_fn",      "feed_forward_type"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *s = config_string(v, names[i]);
        if (strstr(s, "glu") || strstr(s, "gated") || strcmp(s, "gegelu") == 0)
            return true;
    }
    return config_flag(v, "is_gated_act") == 1 || config_flag(v, "gated_mlp") == 1 || config_is_t5_v1_1(v);
}

static void read_ffn_kind(const struct config_view *v, struct model *m)
{
    const char *act = config_string(v, "hidden_act");
    act = *act ? act : config_string(v, "activation_function");
    bool plain = v->family->traits & F_PLAIN;
    if (!v->family_known && !plain) /* by the activation: GELU and ReLU go with two matrices, SiLU with three */
        plain = (strstr(act, "gelu") || strstr(act, "relu") || strcmp(act, "xielu") == 0 ||
                 (!*act && config_has(v, "n_embd") && config_has(v, "n_inner"))) &&
                !strstr(act, "silu");
    bool old_chatglm = strncmp(v->type, "chatglm", 7) == 0 && config_has(v, "inner_hidden_size");
    m->ffn = (plain || old_chatglm) && !has_glu(v) ? FFN_PLAIN : FFN_GATED;
}

/* Meta's params.json states the FFN only by a multiplier. */
static int width_by_multiple(const struct config_view *v, const struct model *m)
{
    int multiple = config_whole(v, NAMES("multiple_of"));
    double factor = config_number(v, NAMES("ffn_dim_multiplier"));
    if (multiple <= 0)
        return 0;
    int width = (int)(8.0 * m->hidden / 3);
    if (factor > 0)
        width = (int)(factor * width);
    return multiple * ((width + multiple - 1) / multiple);
}

/* Models pruned by search state width and grouping for every layer: the mean width, the first grouping. */
static void read_blocks(const struct config_view *v, struct model *m)
{
    json_t *blocks = config_member(v, "block_configs"), *block;
    double widths = 0, layers = 0;
    int group = 0;
    size_t i;
    json_array_foreach(blocks, i, block)
    {
        double mult = json_number_value(json_object_get(json_object_get(block, "ffn"), "ffn_mult"));
        int stated = (int)json_integer_value(json_object_get(json_object_get(block, "ffn"), "intermediate_size"));
        double width = stated > 0 ? stated : 256 * ceil(floor(2 * mult * m->hidden / 3) / 256);
        if (width > 0 && width < DIMENSION_MAX) {
            widths += width;
            layers++;
        }
        if (group == 0)
            group = (int)json_integer_value(json_object_get(json_object_get(block, "attention"), "n_heads_in_group"));
    }
    if (layers > 0)
        m->intermediate = (int)(widths / layers + 0.5);
    if (group > 0 && group <= m->heads && m->heads % group == 0)
        m->kv_heads = m->heads / group;
}

void config_read_ffn(const struct config_view *v, struct model *m)
{
    read_ffn_kind(v, m);
    double ratio = config_number(v, NAMES("expansion_ratio", "mlp_ratio", "ffn_multipliers"));
    int width = config_whole(v, config_ffn_names);
    if (width == m->hidden && !config_has(v, "intermediate_size") && config_has(v, "hidden_dim"))
        width = 0;
    bool half = (v->family->traits & F_HALF_FFN) || (config_has(v, "mlp_hidden_size") && m->ffn == FFN_GATED);
    if (half)
        width /= 2;
    if (config_flag(v, "block_auto_adjust_ff_dim") == 1) /* LFM2 states the width of two matrices, uses three */
        width = 256 * ((2 * width / 3 + 255) / 256);
    if (width == 0)
        width = width_by_multiple(v, m);
    if (width == 0 && (strncmp(v->type, "rwkv5", 5) == 0 || strncmp(v->type, "rwkv6", 5) == 0))
        width = (int)(3.5 * m->hidden) / 32 * 32;
    if (width == 0 && ratio > 0) /* the first OLMo's covers both branches */
        width = (int)(ratio * m->hidden / (half || (m->ffn == FFN_GATED && config_has(v, "activation_type")) ? 2 : 1));
    if (width == 0 && v->family->hidden == m->hidden && v->family->intermediate > 0)
        width = v->family->intermediate / (half ? 2 : 1);
    if (width == 0)
        width = m->ffn == FFN_PLAIN ? 4 * m->hidden : 256 * ((8 * m->hidden / 3 + 255) / 256);
    m->intermediate = width;
    read_blocks(v, m);
}

/* A dense FFN beside the experts in the same layer is a shared expert by another name. */
static void read_parallel_ffn(const struct config_view *v, struct model *m)
{
    if (config_flag(v, "residual_moe") == 1) /* Grok-2 */
        m->shared_intermediate += m->dense_intermediate;
    else if (config_flag(v, "parallel_attn_mlp_res") == 1) /* Arctic: as wide as the model */
        m->shared_intermediate += m->hidden;
    else if (strncmp(v->type, "longcat", 7) == 0) /* two sublayers each with its own */
        m->shared_intermediate += 2 * m->dense_intermediate;
    else
        return;
    m->dense_intermediate = 0;
}

void config_read_experts(const struct config_view *v, struct model *m)
{
    m->experts = config_whole(v, config_expert_names);
    if (m->experts <= 1) {
        m->experts = 0;
        return;
    }
    int usual = strncmp(v->type, "switch", 6) == 0 ? 1 : 2;
    m->experts_per_token = config_either(config_whole(v, config_topk_names), usual);
    int own = config_whole(v, config_expert_width_names);
    int dense = config_whole(v, NAMES("intermediate_size_mlp"));
    if (own > 0) {
        m->dense_intermediate = m->intermediate;
        m->intermediate = own;
    } else if (dense > 0) {
        m->dense_intermediate = dense;
    }
    m->dense_layers = config_whole(v, NAMES("first_k_dense_replace", "moe_layer_start_index", "num_dense_layers"));
    double shared = config_number(v, NAMES("n_shared_experts", "num_shared_experts", "num_shared_expert",
                                           "moe_num_shared_experts", "num_share_expert"));
    m->shared_intermediate =
        config_whole(v, NAMES("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                              "shared_intermediate_size", "moe_shared_intermediate_size", "share_expert_dim"));
    if (m->shared_intermediate == 0 && shared > 0)
        m->shared_intermediate = (int)(shared * m->intermediate);
    if (m->shared_intermediate == 0 && strncmp(v->type, "llama4", 6) == 0)
        m->shared_intermediate = m->intermediate; /* always one, never stated */
    read_parallel_ffn(v, m);
}
