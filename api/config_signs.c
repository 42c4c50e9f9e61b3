/* config_signs.c — which family a file is of that names neither a type nor an architecture: by the keys that only one
 * class of configuration has. */
#include <string.h>

#include "api/config_view.h"

struct sign {
    const char *has, *also, *without; /* NULL = no matter */
    const char *type;
};

/* First match wins. */
static const struct sign signs[] = {
    {"state_size", NULL, "num_attention_heads", "mamba"},
    {"inner_hidden_size", "position_encoding_2d", NULL, "chatglm"},
    {"multi_query_group_num", NULL, NULL, "chatglm"},
    {"hybrid_override_pattern", NULL, NULL, "nemotron_h"},
    {"mamba_d_ssm", NULL, NULL, "falcon_h1"},
    {"kq_head_dim", "mamba_expand", NULL, "hymba"},
    {"num_mem_blocks", NULL, NULL, "zamba2"},
    {"attn_layer_period", "expert_layer_period", NULL, "jamba"},
    {"attn_layer_indices", "mamba_d_state", NULL, "bamba"},
    {"shared_intermediate_size", "mamba_d_state", NULL, "granitemoehybrid"},
    {"lru_width", NULL, NULL, "recurrent_gemma"},
    {"attention_hidden_size", NULL, "num_attention_heads", "rwkv"},
    {"linear_num_value_heads", "linear_num_key_heads", NULL, "qwen3_next"},
    {"linear_attn_config", "kv_lora_rank", NULL, "kimi_linear"},
    {"num_sparse_encoder_layers", NULL, NULL, "switch_transformers"},
    {"local_radius", "d_kv", NULL, "longt5"},
    {"d_kv", "d_ff", NULL, "t5"},
    {"relative_attention_num_buckets", "d_ff", NULL, "t5"},
    {"num_mel_bins", "decoder_layers", NULL, "whisper"},
    {"share_att_key", NULL, NULL, "deberta-v2"},
    {"relative_attention", "pos_att_type", NULL, "deberta"},
    {"num_hidden_groups", NULL, NULL, "albert"},
    {"global_attn_every_n_layers", NULL, NULL, "modernbert"},
    {"attention_window", "type_vocab_size", NULL, "longformer"},
    {"coordinate_size", "type_vocab_size", NULL, "layoutlm"},
    {"type_vocab_size", "qkv_proj_bias", NULL, "nomic_bert"},
    {"type_vocab_size", "pack_qkv", NULL, "new"},
    {"type_vocab_size", NULL, "num_key_value_heads", "bert"},
    {"untie_r", "d_inner", NULL, "xlnet"},
    {"word_embed_proj_dim", "ffn_dim", NULL, "opt"},
    {"do_layer_norm_before", "ffn_dim", NULL, "opt"},
    {"attention_types", "window_size", NULL, "gpt_neo"},
    {"expansion_ratio", "d_model", NULL, "mpt"},
    {"no_bias", "kv_channels", NULL, "qwen"},
    {"new_decoder_architecture", NULL, NULL, "falcon"},
    {"rotary_dim", "n_embd", NULL, "gptj"},
    {"multi_query", "n_embd", NULL, "gpt_bigcode"},
    {"n_inner", "n_embd", NULL, "gpt2"},
    {"n_positions", "n_embd", NULL, "gpt2"},
    {"rotary_pct", "use_parallel_residual", NULL, "gpt_neox"},
    {"query_pre_attn_scalar", "rope_local_base_freq", NULL, "gemma3_text"},
    {"query_pre_attn_scalar", "sliding_window_pattern", NULL, "gemma3_text"},
    {"query_pre_attn_scalar", NULL, NULL, "gemma2"},
    {"logit_scale", "use_qk_norm", NULL, "cohere"},
};

static bool stated(json_t *o, const char *name)
{
    return !name || json_object_get(o, name) != NULL;
}

const char *config_guessed_type(json_t *o)
{
    json_t *state_space = json_object_get(o, "ssm_cfg");
    if (state_space) {
        const char *layer = json_string_value(json_object_get(state_space, "layer"));
        return layer && strstr(layer, "2") ? "mamba2" : "mamba";
    }
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (stated(o, signs[i].has) && stated(o, signs[i].also) && !(signs[i].without && stated(o, signs[i].without)))
            return signs[i].type;
    bool litgpt =
        stated(o, "norm_class_name") || stated(o, "n_query_groups") || stated(o, "n_head_kv") || stated(o, "n_kv_head");
    if (stated(o, "block_size") && stated(o, "n_embd") && !litgpt)
        return "gpt2"; /* nanoGPT */
    return "";
}
