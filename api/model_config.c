/* model_config.c — a pasted config.json as a struct model: names, nesting and conventions by family. */
#include "api/model_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/config_view.h"
#include "api/message.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define DIMENSION_MAX 100000000.0

static const char *const depth_names[] = {"num_hidden_layers",
                                          "n_layer",
                                          "n_layers",
                                          "num_layers",
                                          "decoder_layers",
                                          "num_hidden_layer",
                                          "num_transformer_layers",
                                          "depth",
                                          "layers",
                                          "block_count",
                                          NULL};
static const char *const decoder_depth_names[] = {"decoder_layers", "num_decoder_layers", NULL};
static const char *const width_names[] = {"hidden_size",      "d_model",   "n_embd",     "n_embed",         "dim",
                                          "model_dim",        "embed_dim", "hidden_dim", "word_embed_size", "width",
                                          "embedding_length", NULL};
static const char *const vocab_names[] = {"vocab_size", "padded_vocab_size", "n_vocab", "vocabulary_size", NULL};
static const char *const head_names[] = {"num_attention_heads",
                                         "n_head",
                                         "n_heads",
                                         "num_heads",
                                         "decoder_attention_heads",
                                         "attention_heads",
                                         "num_query_heads",
                                         "encoder_attention_heads",
                                         "head_count",
                                         "num_decoder_attention_heads",
                                         NULL};
static const char *const kv_head_names[] = {"num_key_value_heads",
                                            "num_kv_heads",
                                            "n_head_kv",
                                            "n_kv_heads",
                                            "kv_n_heads",
                                            "multi_query_group_num",
                                            "num_query_groups",
                                            "num_key_value_groups",
                                            "n_query_groups",
                                            "n_kv_head",
                                            "num_multi_query_heads",
                                            "head_count_kv",
                                            "num_key_value_heads_per_layer",
                                            "num_attention_groups",
                                            NULL};
static const char *const head_dim_names[] = {"head_dim",   "kv_channels",         "attention_head_dim",
                                             "d_kv",       "attention_head_size", "head_size",
                                             "key_length", "n_embd_head_k",       NULL};
static const char *const ffn_names[] = {"intermediate_size",
                                        "ffn_hidden_size",
                                        "ffn_dim",
                                        "d_ff",
                                        "n_inner",
                                        "inner_hidden_size",
                                        "decoder_ffn_dim",
                                        "encoder_ffn_dim",
                                        "mlp_hidden_size",
                                        "feed_forward_size",
                                        "intermediate_dim",
                                        "block_ff_dim",
                                        "filter_size",
                                        "hidden_dim",
                                        "ff_intermediate_size",
                                        "feed_forward_length",
                                        "n_ff",
                                        NULL};
static const char *const expert_names[] = {
    "num_local_experts", "n_routed_experts",   "num_experts", "moe_num_experts", "num_moe_experts",
    "n_experts",         "num_routed_experts", "n_expert",    "expert_count",    NULL};
static const char *const topk_names[] = {
    "num_experts_per_tok", "num_experts_per_token", "moe_top_k",       "moe_topk",          "moe_k",
    "n_experts_per_token", "num_selected_experts",  "moe_router_topk", "top_k_experts",     "router_topk",
    "experts_top_k",       "num_experts_per_layer", "n_expert_used",   "expert_used_count", NULL};
static const char *const expert_width_names[] = {"moe_intermediate_size",    "moe_ffn_hidden_size",
                                                 "expert_ffn_hidden_size",   "ffn_hidden_size_expert",
                                                 "expert_intermediate_size", NULL};

static int whole(const struct config_view *v, const char *const *names)
{
    double n = config_number(v, names);
    return n > 0 && n < DIMENSION_MAX ? (int)(n + 0.5) : 0;
}

static int either(int stated, int otherwise)
{
    return stated > 0 ? stated : otherwise;
}

static void read_width_and_depth(const struct config_view *v, struct model *m)
{
    bool both = v->family->traits & F_ENCODER_DECODER;
    m->layers = both ? whole(v, NAMES("decoder_layers", "num_decoder_layers", "num_layers", "num_hidden_layers"))
                     : whole(v, depth_names);
    m->hidden = whole(v, width_names);
    m->vocab = whole(v, vocab_names);
    if (strncmp(v->type, "chatglm", 7) == 0)
        m->vocab = either(whole(v, NAMES("padded_vocab_size")), m->vocab);
    m->max_context = whole(v, NAMES("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx",
                                    "max_sequence_length", "max_target_positions", "model_max_length", "max_seq_length",
                                    "context_length", "max_trained_positions", "block_size", "n_ctx_train",
                                    "max_encoder_position_embeddings"));
    /* A part of a bigger model may leave out what its class assumes; a file of its own never says so little. */
    bool nested = v->text != v->root;
    if (v->family->hidden > 0 && (m->hidden > 0 || m->layers > 0 || nested)) {
        m->layers = either(m->layers, v->family->layers);
        m->hidden = either(m->hidden, v->family->hidden);
    }
    if (m->vocab == 0 && config_has(v, "multiple_of")) /* Meta's first files leave it to the tokenizer (-1) */
        m->vocab = 32000;
    m->vocab = either(m->vocab, v->family->vocab);
    if (strcmp(v->family->name, "pictures") == 0)
        m->vocab = 0; /* BEiT's are visual tokens, which only its training has */
    m->max_context = either(m->max_context, v->family->context);
}

static int multi_query_heads(const struct config_view *v)
{
    int flag = config_flag(v, "multi_query");
    if (flag < 0)
        flag = config_flag(v, "multi_query_attention");
    bool one = flag == 1 || (flag < 0 && (v->family->traits & F_MULTI_QUERY));
    bool grouped = strcmp(v->type, "falcon") == 0 && config_flag(v, "new_decoder_architecture") == 1;
    return grouped ? 8 : one ? 1 : 0;
}

static bool is_t5(const struct config_view *v)
{
    return strncmp(v->type, "t5", 2) == 0;
}

/* T5 version 1.1 (FLAN-T5) has narrower, gated FFNs and a head of its own; its extracts say nothing else of it. */
static bool is_t5_v1_1(const struct config_view *v)
{
    int width = whole(v, NAMES("d_ff"));
    return is_t5(v) && !config_has(v, "feed_forward_proj") && !config_has(v, "is_gated_act") && width > 0 &&
           width < 3 * whole(v, NAMES("d_model"));
}

static bool differs_by_layer(const struct config_view *v)
{
    bool list = config_has(v, "block_configs");
    for (size_t i = 0; kv_head_names[i]; i++)
        list = list || json_is_array(config_member(v, kv_head_names[i]));
    for (size_t i = 0; head_names[i]; i++)
        list = list || json_is_array(config_member(v, head_names[i]));
    return list;
}

static void read_heads(const struct config_view *v, struct model *m)
{
    bool same_width = v->family->hidden == m->hidden;
    m->heads = whole(v, head_names);
    if (m->heads == 0 && (same_width || v->text != v->root))
        m->heads = v->family->heads;
    m->kv_heads = whole(v, kv_head_names);
    if (m->heads == 0 && (v->family->traits & F_EXPERT_HEADS)) /* each chosen expert brings one group's queries */
        m->heads = m->kv_heads * either(whole(v, topk_names), 2);
    int several = multi_query_heads(v);
    if (several && (m->kv_heads == 0 || m->kv_heads == m->heads) && config_flag(v, "new_decoder_architecture") != 1)
        m->kv_heads = m->kv_heads && several != 1 ? m->kv_heads : several;
    if (m->kv_heads == 0 && v->text != v->root)
        m->kv_heads = v->family->kv_heads;
    m->kv_heads = either(m->kv_heads, m->heads);
    m->head_dim = whole(v, head_dim_names);
    if (m->head_dim == 0 && strncmp(v->type, "gemma", 5) == 0)
        m->head_dim = 256;
    if (m->head_dim == 0 && (is_t5(v) || strstr(v->type, "mt5")))
        m->head_dim = 64;
    if (m->head_dim == 0 && m->heads > 0)
        m->head_dim = m->hidden / m->heads;
    if (m->heads > 0 && m->kv_heads > 0 && differs_by_layer(v)) /* means over layers that differ */
        while (m->kv_heads > 1 && m->heads % m->kv_heads != 0)
            m->kv_heads--;
}

static void read_latent_attention(const struct config_view *v, struct model *m)
{
    m->kv_lora_rank = whole(v, NAMES("kv_lora_rank"));
    if (m->kv_lora_rank == 0 || config_flag(v, "use_mla") == 0) {
        m->kv_lora_rank = 0;
        return;
    }
    m->q_lora_rank = whole(v, NAMES("q_lora_rank"));
    m->rope_head_dim = either(whole(v, NAMES("qk_rope_head_dim")), 64);
    m->head_dim = either(whole(v, NAMES("qk_nope_head_dim")), 128);
    m->v_head_dim = either(whole(v, NAMES("v_head_dim")), m->head_dim);
    m->kv_heads = m->heads;
}

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
    return config_flag(v, "is_gated_act") == 1 || config_flag(v, "gated_mlp") == 1 || is_t5_v1_1(v);
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
    int multiple = whole(v, NAMES("multiple_of"));
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

static void read_ffn(const struct config_view *v, struct model *m)
{
    read_ffn_kind(v, m);
    double ratio = config_number(v, NAMES("expansion_ratio", "mlp_ratio", "ffn_multipliers"));
    int width = whole(v, ffn_names);
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

static void read_experts(const struct config_view *v, struct model *m)
{
    m->experts = whole(v, expert_names);
    if (m->experts <= 1) {
        m->experts = 0;
        return;
    }
    int usual = strncmp(v->type, "switch", 6) == 0 ? 1 : 2;
    m->experts_per_token = either(whole(v, topk_names), usual);
    int own = whole(v, expert_width_names);
    int dense = whole(v, NAMES("intermediate_size_mlp"));
    if (own > 0) {
        m->dense_intermediate = m->intermediate;
        m->intermediate = own;
    } else if (dense > 0) {
        m->dense_intermediate = dense;
    }
    m->dense_layers = whole(v, NAMES("first_k_dense_replace", "moe_layer_start_index", "num_dense_layers"));
    double shared = config_number(v, NAMES("n_shared_experts", "num_shared_experts", "num_shared_expert",
                                           "moe_num_shared_experts", "num_share_expert"));
    m->shared_intermediate =
        whole(v, NAMES("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                       "shared_intermediate_size", "moe_shared_intermediate_size", "share_expert_dim"));
    if (m->shared_intermediate == 0 && shared > 0)
        m->shared_intermediate = (int)(shared * m->intermediate);
    if (m->shared_intermediate == 0 && strncmp(v->type, "llama4", 6) == 0)
        m->shared_intermediate = m->intermediate; /* always one, never stated */
    read_parallel_ffn(v, m);
}

static void read_cache(const struct config_view *v, const struct config_layers *l, struct model *m)
{
    int window = whole(v, NAMES("sliding_window", "attention_chunk_size", "attention_window_size"));
    bool used =
        config_flag(v, "use_sliding_window") != 0 && window > 0 && (m->max_context == 0 || window < m->max_context);
    m->window = used && (l->mixed == 0 || l->windowed > 0) ? window : 0;
    if (l->attention == 0 && l->windowed == 0)
        m->no_attention = true;
    if (m->window > 0 && l->windowed > 0)
        m->full_attention_layers = l->attention;
    else if (!m->no_attention && l->attention + l->windowed < l->total)
        m->full_attention_layers = l->attention + l->windowed;
    int shared = whole(v, NAMES("num_kv_shared_layers")); /* Gemma 3n: late layers read an earlier one's */
    int group = whole(v, NAMES("cla_share_factor"));      /* Hunyuan: one keeps for a group */
    int crossed = (int)json_array_size(config_member(v, "cross_attention_layers")); /* attend to the picture only */
    shared += config_reusing_layers(v);
    if (shared > 0 && shared < l->total)
        m->kv_layers = l->total - shared;
    else if (group > 1 && config_flag(v, "use_cla") == 1)
        m->kv_layers = (l->total + group - 1) / group;
    else if (strncmp(v->type, "longcat", 7) == 0)
        m->kv_layers = 2 * l->total;
    else if (crossed > 0 && crossed < l->total)
        m->kv_layers = l->total - crossed;
    m->moe_every = l->moe > 0 && l->moe < l->total - m->dense_layers ? (l->total - m->dense_layers) / l->moe : 0;
}

/* -1 unstated, 0, 1. */
static int stated_tying(const struct config_view *v)
{
    static const char *const names[] = {"tie_word_embeddings",
                                        "tie_embeddings",
                                        "tie_embedding",
                                        "share_input_output_layers",
                                        "share_embeddings_and_output_weights",
                                        "weight_tying"};
    int flag = -1, untied = config_flag(v, "untie_embeddings_and_output_weights");
    for (size_t i = 0; flag < 0 && i < sizeof names / sizeof *names; i++)
        flag = config_flag(v, names[i]);
    return flag < 0 && untied >= 0 ? !untied : flag;
}

static void read_tying(const struct config_view *v, struct model *m)
{
    int flag = stated_tying(v);
    bool old_chatglm = strncmp(v->type, "chatglm", 7) == 0 && config_has(v, "inner_hidden_size");
    bool family = (v->family->traits & F_TIED) && !is_t5_v1_1(v);
    bool tied = flag < 0 ? family || old_chatglm : flag == 1;
    m->tied_embeddings = tied ? TRI_YES : TRI_NO;
    bool decoder_flag = config_flag(v, "is_decoder") == 1;
    m->causal = ((v->family->traits & F_ENCODER) && !decoder_flag) || config_encoder_only(v) ? TRI_NO : TRI_YES;
}

/* `why` is the key of a text below "text.config_"; `what` (NULL = nothing) goes behind it. */
static void refuse(struct decode *d, const char *pointer, const char *why, const char *what)
{
    char text[240];
    const char *type = what && *what ? what : NULL, *words = message_find(d->language, "text.config_", why);
    (void)snprintf(text, sizeof text, "%s%s%s%s", words ? words : why, type ? " (" : "", type ? type : "",
                   type ? ")" : "");
    jspec_fault(d, pointer, "config_not_understood", text, NULL);
}

/* What the file itself says; what it leaves to its class is open to the published model. */
static struct config_stated stated_of(const struct config_view *v)
{
    bool both = v->family->traits & F_ENCODER_DECODER;
    return (struct config_stated){
        .layers = whole(v, both ? decoder_depth_names : depth_names) > 0,
        .hidden = whole(v, width_names) > 0,
        .heads = whole(v, head_names) > 0,
        .kv_heads = whole(v, kv_head_names) > 0 || config_has(v, "block_configs") || config_has(v, "multi_query"),
        .head_dim = whole(v, head_dim_names) > 0,
        .width = whole(v, ffn_names) > 0 || whole(v, expert_width_names) > 0 || config_has(v, "block_configs"),
        .vocab = whole(v, vocab_names) > 0,
        .experts = whole(v, expert_names) > 1,
        .topk = whole(v, topk_names) > 0,
        .tied = stated_tying(v) >= 0,
    };
}

static void read_dimensions(struct decode *d, const struct config_view *v, struct model *m, struct config_match *found)
{
    struct config_stated stated = stated_of(v);
    read_width_and_depth(v, m);
    read_heads(v, m);
    read_tying(v, m);
    read_latent_attention(v, m);
    read_ffn(v, m);
    read_experts(v, m);
    config_recognise(v, d->catalog, &stated, d->arena, m, found);
}

/* The name of a dimension that is stated and cannot be one; NULL when all can. */
static const char *impossible(const struct config_view *v)
{
    const char *const *const lists[] = {depth_names, width_names, head_names};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const char *wrong = NULL;
        if (whole(v, lists[k]) > 0)
            continue;
        for (const char *const *name = lists[k]; *name && !wrong; name++) {
            json_t *value = json_object_get(v->text, *name);
            wrong = json_is_number(value) || json_is_string(value) ? *name : NULL;
        }
        if (wrong && (strcmp(wrong, "num_attention_heads") != 0 || !(v->family->traits & F_MIX_EVERYWHERE)))
            return wrong;
    }
    return NULL;
}

static void read_model(struct decode *d, json_t *root, const char *pointer, struct model *ret)
{
    struct config_view v;
    struct config_layers layers;
    struct config_match found;
    const char *why;
    struct model m = {.id = "", .name = "", .uncounted = "a pasted configuration is counted part by part"};
    if (!config_view_of(root, &v, &why)) {
        refuse(d, pointer, why, NULL);
        return;
    }
    const char *wrong = impossible(&v);
    if (wrong) {
        refuse(d, pointer, "impossible", wrong);
        return;
    }
    read_dimensions(d, &v, &m, &found);
    why = config_missing(&v, &m);
    if (why) {
        refuse(d, pointer, why, v.type);
        return;
    }
    config_layers_of(&v, &m, &layers);
    read_cache(&v, &layers, &m);
    config_count(&v, &layers, &m);
    const char *name = config_string(&v, "_name_or_path");
    m.name = arena_strdup(d->arena, strlen(name) < 200 ? name : "");
    config_take_published(&v, &found, d->notes, &m);
    *ret = m;
}

void model_config_decode(struct decode *d, json_t *value, const char *pointer, struct model *ret)
{
    if (json_is_object(value)) {
        json_t *inside = config_from_member(value);
        read_model(d, inside ? inside : value, pointer, ret);
        json_decref(inside);
        return;
    }
    if (!json_is_string(value)) {
        jspec_wrong_type(d, pointer, "object", value);
        return;
    }
    json_t *root = config_from_text(json_string_value(value));
    if (root)
        read_model(d, root, pointer, ret);
    else
        refuse(d, pointer, "no_object", NULL);
    json_decref(root);
}
