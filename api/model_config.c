/* model_config.c — a pasted config.json as a struct model: names, nesting and conventions by family. */
#include "api/model_config.h"

#include <stdio.h>
#include <string.h>

#include "api/config_view.h"
#include "api/message.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void read_width_and_depth(const struct config_view *v, struct model *m)
{
    bool both = v->family->traits & F_ENCODER_DECODER;
    m->layers = both ? config_whole(v, NAMES("decoder_layers", "num_decoder_layers", "num_layers", "num_hidden_layers"))
                     : config_whole(v, config_depth_names);
    m->hidden = config_whole(v, config_width_names);
    m->vocab = config_whole(v, config_vocab_names);
    if (strncmp(v->type, "chatglm", 7) == 0)
        m->vocab = config_either(config_whole(v, NAMES("padded_vocab_size")), m->vocab);
    m->max_context = config_whole(v, NAMES("max_position_embeddings", "n_positions", "max_seq_len", "seq_length",
                                           "n_ctx", "max_sequence_length", "max_target_positions", "model_max_length",
                                           "max_seq_length", "context_length", "max_trained_positions", "block_size",
                                           "n_ctx_train", "max_encoder_position_embeddings"));
    /* A part of a bigger model may leave out what its class assumes; a file of its own never says so little. */
    bool nested = v->text != v->root;
    if (v->family->hidden > 0 && (m->hidden > 0 || m->layers > 0 || nested)) {
        m->layers = config_either(m->layers, v->family->layers);
        m->hidden = config_either(m->hidden, v->family->hidden);
    }
    if (m->vocab == 0 && config_has(v, "multiple_of")) /* Meta's first files leave it to the tokenizer (-1) */
        m->vocab = 32000;
    m->vocab = config_either(m->vocab, v->family->vocab);
    if (strcmp(v->family->name, "pictures") == 0)
        m->vocab = 0; /* BEiT's are visual tokens, which only its training has */
    m->max_context = config_either(m->max_context, v->family->context);
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

static bool differs_by_layer(const struct config_view *v)
{
    bool list = config_has(v, "block_configs");
    for (size_t i = 0; config_kv_head_names[i]; i++)
        list = list || json_is_array(config_member(v, config_kv_head_names[i]));
    for (size_t i = 0; config_head_names[i]; i++)
        list = list || json_is_array(config_member(v, config_head_names[i]));
    return list;
}

static void read_heads(const struct config_view *v, struct model *m)
{
    bool same_width = v->family->hidden == m->hidden;
    m->heads = config_whole(v, config_head_names);
    if (m->heads == 0 && (same_width || v->text != v->root))
        m->heads = v->family->heads;
    m->kv_heads = config_whole(v, config_kv_head_names);
    if (m->heads == 0 && (v->family->traits & F_EXPERT_HEADS)) /* each chosen expert brings one group's queries */
        m->heads = m->kv_heads * config_either(config_whole(v, config_topk_names), 2);
    int several = multi_query_heads(v);
    if (several && (m->kv_heads == 0 || m->kv_heads == m->heads) && config_flag(v, "new_decoder_architecture") != 1)
        m->kv_heads = m->kv_heads && several != 1 ? m->kv_heads : several;
    if (m->kv_heads == 0 && v->text != v->root)
        m->kv_heads = v->family->kv_heads;
    m->kv_heads = config_either(m->kv_heads, m->heads);
    m->head_dim = config_whole(v, config_head_dim_names);
    if (m->head_dim == 0 && strncmp(v->type, "gemma", 5) == 0)
        m->head_dim = 256;
    if (m->head_dim == 0 && (config_is_t5(v) || strstr(v->type, "mt5")))
        m->head_dim = 64;
    if (m->head_dim == 0 && m->heads > 0)
        m->head_dim = m->hidden / m->heads;
    if (m->heads > 0 && m->kv_heads > 0 && differs_by_layer(v)) /* means over layers that differ */
        while (m->kv_heads > 1 && m->heads % m->kv_heads != 0)
            m->kv_heads--;
}

static void read_latent_attention(const struct config_view *v, struct model *m)
{
    m->kv_lora_rank = config_whole(v, NAMES("kv_lora_rank"));
    if (m->kv_lora_rank == 0 || config_flag(v, "use_mla") == 0) {
        m->kv_lora_rank = 0;
        return;
    }
    m->q_lora_rank = config_whole(v, NAMES("q_lora_rank"));
    m->rope_head_dim = config_either(config_whole(v, NAMES("qk_rope_head_dim")), 64);
    m->head_dim = config_either(config_whole(v, NAMES("qk_nope_head_dim")), 128);
    m->v_head_dim = config_either(config_whole(v, NAMES("v_head_dim")), m->head_dim);
    m->kv_heads = m->heads;
}

static void read_cache(const struct config_view *v, const struct config_layers *l, struct model *m)
{
    int window = config_whole(v, NAMES("sliding_window", "attention_chunk_size", "attention_window_size"));
    bool used =
        config_flag(v, "use_sliding_window") != 0 && window > 0 && (m->max_context == 0 || window < m->max_context);
    m->window = used && (l->mixed == 0 || l->windowed > 0) ? window : 0;
    if (l->attention == 0 && l->windowed == 0)
        m->no_attention = true;
    if (m->window > 0 && l->windowed > 0)
        m->full_attention_layers = l->attention;
    else if (!m->no_attention && l->attention + l->windowed < l->total)
        m->full_attention_layers = l->attention + l->windowed;
    int shared = config_whole(v, NAMES("num_kv_shared_layers")); /* Gemma 3n: late layers read an earlier one's */
    int group = config_whole(v, NAMES("cla_share_factor"));      /* Hunyuan: one keeps for a group */
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

static void read_tying(const struct config_view *v, struct model *m)
{
    int flag = config_tying(v);
    bool old_chatglm = strncmp(v->type, "chatglm", 7) == 0 && config_has(v, "inner_hidden_size");
    bool family = (v->family->traits & F_TIED) && !config_is_t5_v1_1(v);
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

static void read_dimensions(struct decode *d, const struct config_view *v, struct model *m, struct config_match *found)
{
    struct config_stated stated = config_stated_of(v);
    read_width_and_depth(v, m);
    read_heads(v, m);
    read_tying(v, m);
    read_latent_attention(v, m);
    config_read_ffn(v, m);
    config_read_experts(v, m);
    config_recognise(v, d->catalog, &stated, d->arena, m, found);
}

/* Nothing is named, but no published model but one is like it: it is read as what that is, if that fits. */
static void read_as_recognised(struct decode *d, struct config_view *v, struct model *m, struct config_match *found)
{
    struct model other = *m;
    struct config_match again;
    struct config_view as = *v;
    read_dimensions(d, v, m, found);
    if (v->type[0] || !found->row)
        return;
    config_view_as(&as, found->row->family);
    read_dimensions(d, &as, &other, &again);
    if (again.row != found->row) {
        found->row = NULL;
        return;
    }
    *v = as;
    *m = other;
    *found = again;
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
    const char *wrong = config_impossible(&v);
    if (wrong) {
        refuse(d, pointer, "impossible", wrong);
        return;
    }
    v.params = d->catalog ? &d->catalog->params : NULL;
    read_as_recognised(d, &v, &m, &found);
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
