/* config_towers.c — what sits beside the language model: eyes, ears, a mouth, resamplers, adapters, picture tokens. */
#include <string.h>

#include "api/config_view.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static double number(const struct config_view *v, double otherwise, const char *const *names)
{
    double n = config_number(v, names);
    return n > 0 ? n : otherwise;
}

static struct config_view part_view(const struct config_view *v, json_t *part)
{
    return (struct config_view){.root = part, .text = part, .family = v->family};
}

static const char *member_text(json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

/* Parameters of the tower whose name is in this one ("config_tower/siglip-so400m" among the assumptions); 0 = unknown.
 */
static double tower_of(const struct config_view *v, const char *name)
{
    static const char prefix[] = "config_tower/";
    for (size_t i = 0; name && v->params && i < v->params->n; i++) {
        const struct param *p = &v->params->rows[i];
        if (strncmp(p->key, prefix, sizeof prefix - 1) == 0 && strstr(name, p->key + sizeof prefix - 1))
            return p->value;
    }
    return 0;
}

/* Towers known by the name of the weights they are loaded from. */
static double named_tower(const struct config_view *v)
{
    json_t *params = json_object_get(v->vision, "params");
    const char *names[] = {config_string(v, "mm_vision_tower"),
                           member_text(config_member(v, "img_processor"), "model_name"),
                           member_text(params, "model_name"),
                           member_text(json_object_get(params, "high_res_cfg"), "model_name"),
                           member_text(json_object_get(params, "low_res_cfg"), "model_name"),
                           member_text(json_object_get(v->root, "gen_vision_config"), "cls"),
                           member_text(v->vision, "architecture")};
    double n = 0;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        n += tower_of(v, names[k]);
    return n;
}

/* A head that draws: from the stream to picture tokens (Janus). */
static double drawing_head(const struct config_view *v, double text_hidden)
{
    struct config_view head = part_view(v, json_object_get(json_object_get(v->root, "gen_head_config"), "params"));
    if (!head.root)
        return 0;
    double width = number(&head, text_hidden, NAMES("image_token_embed", "n_embed"));
    return text_hidden * width + width * config_number(&head, NAMES("image_token_size")) +
           2 * text_hidden * text_hidden;
}

/* BERT with a fixed number of questions, every other layer of which looks at the picture (BLIP-2). */
static double questions(const struct config_view *v, double text_hidden)
{
    struct config_view part = part_view(v, json_object_get(v->root, "qformer_config"));
    double h = part.root ? number(&part, 768, NAMES("hidden_size")) : 0;
    double depth = part.root ? number(&part, 12, NAMES("num_hidden_layers")) : 0;
    double feed = 2 * h * number(&part, 4 * h, NAMES("intermediate_size"));
    double looking = depth / number(&part, 2, NAMES("cross_attention_frequency"));
    return part.root ? depth * (4 * h * h + feed) +
                           looking * 2 * h * (h + number(&part, 1408, NAMES("encoder_hidden_size"))) + h * text_hidden
                     : 0;
}

/* Layers that turn as many picture patches as there are into a fixed number of tokens (Idefics2). */
static double resampler(const struct config_view *v, const struct config_view *eye, double text_hidden)
{
    struct config_view part = part_view(v, json_object_get(v->root, "perceiver_config"));
    double depth = part.root ? config_number(&part, NAMES("resampler_depth")) : 0;
    if (depth <= 0)
        return 0;
    double heads = number(&part, 16, NAMES("resampler_n_heads")), d = number(&part, 96, NAMES("resampler_head_dim"));
    double kv = number(&part, heads, NAMES("num_key_value_heads"));
    double attention = 2 * text_hidden * d * (heads + kv), feed = 3 * text_hidden * 4 * text_hidden;
    double inner = config_number(v, NAMES("intermediate_size"));
    double door = inner * (2 * config_number(eye, NAMES("hidden_size")) + text_hidden);
    return depth * (attention + feed) + door;
}

/* Several towers side by side, each an object of its own below "width" (DeepSeek-VL, DeepSeek-OCR). */
static double towers(json_t *parts)
{
    const char *name;
    json_t *part;
    double n = 0;
    json_object_foreach(parts, name, part)
    {
        double width = json_number_value(json_object_get(part, "width"));
        n += json_number_value(json_object_get(part, "layers")) * 12 * width * width;
    }
    return n;
}

/* A tower that turns pictures into tokens, with its projector. */
static double vision(const struct config_view *v, double text_hidden)
{
    if (!v->vision || json_is_object(json_object_get(v->vision, "params")) ||
        json_is_string(json_object_get(v->vision, "architecture")))
        return named_tower(v);
    if (json_is_object(json_object_get(v->vision, "width")))
        return towers(json_object_get(v->vision, "width"));
    struct config_view eye = part_view(v, v->vision);
    double width = number(&eye, 768, NAMES("embed_dim", "width", "hidden_size", "vt_hidden_size"));
    double depth =
        number(&eye, 12, NAMES("depth", "num_hidden_layers", "layers", "num_layers", "vt_num_hidden_layers")) +
        config_number(&eye, NAMES("num_global_layers"));
    double ratio = number(&eye, 4, NAMES("mlp_ratio"));
    double inner = number(&eye, width * ratio, NAMES("intermediate_size", "ffn_hidden_size", "vt_intermediate_size"));
    if (strncmp(v->type, "glm4v", 5) == 0) /* states the merger's width, uses the text's */
        inner = number(&eye, inner, NAMES("out_hidden_size"));
    bool gated =
        strstr(config_string(&eye, "hidden_act"), "silu") || strstr(config_string(&eye, "hidden_act"), "swiglu");
    double patch = number(&eye, 14, NAMES("patch_size", "spatial_patch_size"));
    double merge = number(&eye, 1, NAMES("spatial_merge_size", "merge_kernel_size"));
    double image = config_number(&eye, NAMES("image_size"));
    double positions = image > 0 ? image / patch * (image / patch) : number(&eye, 0, NAMES("num_position_embeddings"));
    double layer = 4 * width * width + (gated ? 3 : 2) * width * inner + 4 * width + inner + 5 * width;
    double joined = width * merge * merge;
    double projector =
        merge > 1 ? joined * joined + joined * text_hidden : width * text_hidden + text_hidden * text_hidden;
    double frames = number(&eye, 1, NAMES("temporal_patch_size"));
    if (strncmp(v->type, "siglip", 6) == 0) /* on its own it pools by attention and has an FFN behind */
        projector = 4 * width * width + 2 * width * inner;
    double mergers = 1 + (double)json_array_size(config_member(&eye, "deepstack_visual_indexes"));
    return depth * layer + 3 * patch * patch * frames * width + positions * width + mergers * projector +
           resampler(v, &eye, text_hidden);
}

/* Two FFNs, attention and a gated convolution a layer (Conformer): plain FFNs of four widths in Gemma's, gated ones of
 * a stated width in Phi's. */
static double conformer(double width, double inner)
{
    double feeds = inner > 0 ? 2 * 3 * width * inner : 2 * 2 * width * 4 * width;
    return feeds + 4 * width * width + 4 * width * width;
}

static json_t *audio_part(const struct config_view *v)
{
    static const char *const names[] = {"audio_config", "audio_encoder_config", "speech_config", "audio"};
    json_t *part = NULL;
    for (size_t i = 0; !part && i < sizeof names / sizeof *names; i++)
        part = json_object_get(v->root, names[i]);
    if (!part)
        part = json_object_get(json_object_get(v->root, "thinker_config"), "audio_config");
    return part ? part : json_object_get(json_object_get(v->root, "audio_processor"), "config");
}

/* A tower that turns sound into tokens. */
static double audio(const struct config_view *v, double text_hidden)
{
    json_t *part = audio_part(v);
    if (!json_is_object(part))
        return 0;
    struct config_view ear = part_view(v, part);
    double width = config_number(&ear, NAMES("d_model", "hidden_size", "embed_dim", "attention_dim"));
    double depth = config_number(
        &ear, NAMES("encoder_layers", "num_hidden_layers", "depth", "num_blocks", "conf_num_hidden_layers"));
    double inner = number(&ear, 4 * width, NAMES("encoder_ffn_dim", "intermediate_size", "ffn_dim"));
    double mels = number(&ear, 80, NAMES("num_mel_bins", "input_size"));
    double units = config_number(&ear, NAMES("linear_units")), layer = 4 * width * width + 2 * width * inner;
    if (units > 0 || strncmp(v->type, "gemma", 5) == 0)
        layer = conformer(width, units);
    double doors = units > 0 ? 2 : 1; /* Phi projects sound alone and sound beside pictures by doors of their own */
    return depth * layer + 3 * mels * width + 3 * width * width +
           doors * (width * text_hidden + (units > 0 ? text_hidden * text_hidden : 0));
}

/* Pictures of Phi-4-multimodal: the file says that there is a tower (always SigLIP's), not which one. */
static double unnamed_tower(const struct config_view *v, double text_hidden)
{
    const double width = 1152;
    json_t *part = json_object_get(config_member(v, "embd_layer"), "image_embd_layer");
    if (!json_is_object(part) || json_is_object(config_member(v, "img_processor")))
        return 0;
    return tower_of(v, "siglip-so400m") + width * text_hidden + text_hidden * text_hidden;
}

/* Adapters that are part of the published weights: "vision_lora": {"r": 256, ...} on every matrix of every layer. */
static double adapters(const struct config_view *v, const struct model *m)
{
    double h = m->hidden, q = (double)m->heads * m->head_dim, kv = 2.0 * m->kv_heads * m->head_dim, f = m->intermediate;
    double per_rank = (h + q + kv) + (q + h) + (h + 2 * f) + (f + h), n = 0;
    const char *name;
    json_t *part;
    json_object_foreach(v->root, name, part)
    {
        size_t len = strlen(name);
        if (len > 5 && strcmp(name + len - 5, "_lora") == 0 && json_object_get(part, "layer"))
            n += m->layers * per_rank * json_number_value(json_object_get(part, "r"));
    }
    return n;
}

/* A second decoder that speaks what the first one thinks (Qwen-Omni's talker). */
double config_talker(const struct config_view *v)
{
    json_t *part = json_object_get(v->root, "talker_config"), *text = json_object_get(part, "text_config");
    part = json_is_object(text) ? text : part;
    if (!json_is_object(part))
        return 0;
    struct config_view mouth = part_view(v, part);
    double h = config_number(&mouth, NAMES("hidden_size")), layers = config_number(&mouth, NAMES("num_hidden_layers"));
    double heads = config_number(&mouth, NAMES("num_attention_heads"));
    double d = number(&mouth, heads > 0 ? h / heads : 0, NAMES("head_dim"));
    double kv = number(&mouth, heads, NAMES("num_key_value_heads")),
           experts = config_number(&mouth, NAMES("num_experts"));
    double width = experts > 0 ? experts * config_number(&mouth, NAMES("moe_intermediate_size")) +
                                     config_number(&mouth, NAMES("shared_expert_intermediate_size"))
                               : config_number(&mouth, NAMES("intermediate_size"));
    double tables = config_number(&mouth, NAMES("vocab_size")) * (h + number(&mouth, h, NAMES("embedding_size")));
    return layers * (2 * h * d * (heads + kv) + 3 * h * width) + tables;
}

double config_towers(const struct config_view *v, const struct model *m)
{
    double h = m->hidden;
    return vision(v, h) + questions(v, h) + unnamed_tower(v, h) + audio(v, h) + drawing_head(v, h) + adapters(v, m);
}
