/* config_names.c — under which names files state a dimension, and which dimensions one states at all. */
#include <string.h>

#include "api/config_view.h"

const char *const config_depth_names[] = {"num_hidden_layers",
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
const char *const config_decoder_depth_names[] = {"decoder_layers", "num_decoder_layers", NULL};
const char *const config_width_names[] = {"hidden_size",      "d_model",   "n_embd",     "n_embed",         "dim",
                                          "model_dim",        "embed_dim", "hidden_dim", "word_embed_size", "width",
                                          "embedding_length", NULL};
const char *const config_vocab_names[] = {"vocab_size", "padded_vocab_size", "n_vocab", "vocabulary_size", NULL};
const char *const config_head_names[] = {"num_attention_heads",
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
const char *const config_kv_head_names[] = {"num_key_value_heads",
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
const char *const config_head_dim_names[] = {"head_dim",   "kv_channels",         "attention_head_dim",
                                             "d_kv",       "attention_head_size", "head_size",
                                             "key_length", "n_embd_head_k",       NULL};
const char *const config_ffn_names[] = {"intermediate_size",
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
const char *const config_expert_names[] = {
    "num_local_experts", "n_routed_experts",   "num_experts", "moe_num_experts", "num_moe_experts",
    "n_experts",         "num_routed_experts", "n_expert",    "expert_count",    NULL};
const char *const config_topk_names[] = {
    "num_experts_per_tok", "num_experts_per_token", "moe_top_k",       "moe_topk",          "moe_k",
    "n_experts_per_token", "num_selected_experts",  "moe_router_topk", "top_k_experts",     "router_topk",
    "experts_top_k",       "num_experts_per_layer", "n_expert_used",   "expert_used_count", NULL};
const char *const config_expert_width_names[] = {"moe_intermediate_size",    "moe_ffn_hidden_size",
                                                 "expert_ffn_hidden_size",   "ffn_hidden_size_expert",
                                                 "expert_intermediate_size", NULL};

#define DIMENSION_MAX 100000000.0

int config_whole(const struct config_view *v, const char *const *names)
{
    double n = config_number(v, names);
    return n > 0 && n < DIMENSION_MAX ? (int)(n + 0.5) : 0;
}

int config_either(int stated, int otherwise)
{
    return stated > 0 ? stated : otherwise;
}

bool config_is_t5(const struct config_view *v)
{
    return strncmp(v->type, "t5", 2) == 0;
}

/* T5 version 1.1 (FLAN-T5) has narrower, gated FFNs and a head of its own; its extracts say nothing else of it. */
bool config_is_t5_v1_1(const struct config_view *v)
{
    int width = config_whole(v, (const char *const[]){"d_ff", NULL});
    return config_is_t5(v) && !config_has(v, "feed_forward_proj") && !config_has(v, "is_gated_act") && width > 0 &&
           width < 3 * config_whole(v, (const char *const[]){"d_model", NULL});
}

int config_tying(const struct config_view *v)
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

/* What the file itself says; what it leaves to its class is open to the published model. */
struct config_stated config_stated_of(const struct config_view *v)
{
    bool both = v->family->traits & F_ENCODER_DECODER;
    return (struct config_stated){
        .layers = config_whole(v, both ? config_decoder_depth_names : config_depth_names) > 0,
        .hidden = config_whole(v, config_width_names) > 0,
        .heads = config_whole(v, config_head_names) > 0,
        .kv_heads =
            config_whole(v, config_kv_head_names) > 0 || config_has(v, "block_configs") || config_has(v, "multi_query"),
        .head_dim = config_whole(v, config_head_dim_names) > 0,
        .width = config_whole(v, config_ffn_names) > 0 || config_whole(v, config_expert_width_names) > 0 ||
                 config_has(v, "block_configs"),
        .vocab = config_whole(v, config_vocab_names) > 0,
        .experts = config_whole(v, config_expert_names) > 1,
        .topk = config_whole(v, config_topk_names) > 0,
        .tied = config_tying(v) >= 0,
    };
}

const char *config_impossible(const struct config_view *v)
{
    const char *const *const lists[] = {config_depth_names, config_width_names, config_head_names};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const char *wrong = NULL;
        if (config_whole(v, lists[k]) > 0)
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
