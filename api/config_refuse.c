/* config_refuse.c — what is no language model's configuration, or too little of one, by the key of its reason.
 *
 * A reason is a text "text.config_<key>" of the message catalogs; it names what was pasted or what is missing.
 */
#include "api/config_view.h"

/* Files that lie beside a config.json and get pasted in its place, and networks that are no language models. */
const char *config_other_file(json_t *o)
{
    /* These are never a language model's, whatever else is there. */
    static const char *const alien[][2] = {
        {"block_out_channels", "diffusion_unet"}, {"_class_name", "diffusion_part"},
        {"_diffusers_version", "diffusion_part"}, {"joint_attention_dim", "diffusion_part"},
        {"use_timm_backbone", "detector"},        {"backbone_config", "detector"},
        {"mask_decoder_config", "segmentation"},  {"unet", "diffusion_part"},
    };
    static const char *const beside[][2] = {
        {"peft_type", "adapter"},
        {"tokenizer_class", "tokenizer_config"},
        {"weight_map", "weight_index"},
        {"feature_extractor_type", "preprocessor"},
        {"image_processor_type", "preprocessor"},
        {"zero_optimization", "deepspeed"},
        {"image_mean", "preprocessor"},
        {"log_history", "trainer_state"},
        {"word_embedding_dimension", "pooling"},
        {"compute_environment", "accelerate"},
        {"added_tokens", "tokenizer"},
        {"quant_algo", "quantisation"},
        {"do_sample", "generation"},
        {"max_new_tokens", "generation"},
        {"gradient_accumulation_steps", "trainer"},
        {"bos_token", "special_tokens"},
    };
    bool dimensions = json_object_get(o, "hidden_size") || json_object_get(o, "d_model") ||
                      json_object_get(o, "n_embd") || json_object_get(o, "num_hidden_layers") ||
                      json_object_get(o, "n_layer");
    for (size_t i = 0; i < sizeof alien / sizeof *alien; i++)
        if (json_object_get(o, alien[i][0]) && !json_is_null(json_object_get(o, alien[i][0])))
            return alien[i][1];
    for (size_t i = 0; !dimensions && i < sizeof beside / sizeof *beside; i++)
        if (json_object_get(o, beside[i][0]))
            return beside[i][1];
    return NULL;
}

/* Whatever keeps the dimensions from making a model; NULL when they do. */
const char *config_missing(const struct config_view *v, const struct model *m)
{
    if (m->layers == 0 && m->hidden == 0)
        return "no_layers_no_hidden";
    if (m->layers == 0)
        return "no_layers";
    if (m->hidden == 0)
        return "no_hidden";
    if (m->layers > 1000)
        return "too_deep";
    if (m->hidden > 131072)
        return "too_wide";
    if (m->heads == 0 && !(v->family->traits & F_MIX_EVERYWHERE))
        return "no_heads";
    if (m->heads > m->hidden)
        return "more_heads_than_hidden";
    if (m->kv_heads > 0 && m->heads % m->kv_heads != 0)
        return "kv_heads_not_dividing";
    if (m->experts_per_token > m->experts)
        return "more_topk_than_experts";
    if (m->dense_layers > m->layers)
        return "more_dense_than_layers";
    if (m->vocab == 0 && m->causal != TRI_NO)
        return "no_vocab";
    return NULL;
}
