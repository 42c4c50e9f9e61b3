/* decode_model.c — who the model is: a preset's name, its dimensions, or a pasted config.json. */
#include <string.h>

#include "api/decode.h"
#include "api/model_config.h"

struct model_input {
    struct model model;
    double params_b, active_params_b;
    const char *preset;
    bool config;
};

static void take_config(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    struct model_input *in = dest;
    in->config = true;
    model_config_decode(d, value, pointer, &in->model);
}

#define OF(member) offsetof(struct model_input, member)
#define DIM(name, min, max)                                                                                            \
    {                                                                                                                  \
#name, J_INT, OF(model.name), (min), (max), 0, 0, NULL, NULL                                                   \
    }

static const struct jfield model_fields[] = {
    {"preset", J_STRING, OF(preset), 1, 100, 0, 0, NULL, NULL},
    {"config", J_CUSTOM, 0, 0, 0, 0, 0, NULL, take_config},
    {"name", J_STRING, OF(model.name), 1, 200, 0, 0, NULL, NULL},
    {"params_b", J_NUMBER, OF(params_b), 0.0001, 100000, 0, 0, NULL, NULL},
    {"active_params_b", J_NUMBER, OF(active_params_b), 0.0001, 100000, 0, 0, NULL, NULL},
    DIM(layers, 1, 1000),
    DIM(hidden, 8, 131072),
    DIM(heads, 1, 2048),
    DIM(kv_heads, 1, 2048),
    DIM(head_dim, 1, 8192),
    DIM(intermediate, 1, 2097152),
    DIM(dense_intermediate, 0, 2097152),
    DIM(dense_layers, 0, 1000),
    DIM(shared_intermediate, 0, 2097152),
    DIM(vocab, 2, 16777216),
    DIM(experts, 0, 8192),
    DIM(experts_per_token, 0, 1024),
    DIM(moe_every, 0, 100),
    DIM(kv_lora_rank, 0, 65536),
    DIM(q_lora_rank, 0, 65536),
    DIM(rope_head_dim, 0, 8192),
    DIM(v_head_dim, 0, 8192),
    DIM(window, 0, 100000000),
    DIM(full_attention_layers, 0, 1000),
    DIM(max_context, 1, 1000000000),
    {"ffn", J_ENUM, OF(model.ffn), 0, 0, 0, ENUM_FFN, NULL, NULL},
    {"tied_embeddings", J_TRI, OF(model.tied_embeddings), 0, 0, 0, 0, NULL, NULL},
    {"causal", J_TRI, OF(model.causal), 0, 0, 0, 0, NULL, NULL},
    {"qkv_bias", J_TRI, OF(model.qkv_bias), 0, 0, 0, 0, NULL, NULL},
    {"qk_norm", J_TRI, OF(model.qk_norm), 0, 0, 0, 0, NULL, NULL},
    {"flops_per_sample", J_NUMBER, OF(model.flops_per_sample), 0, 1e20, J_EXCLUSIVE_MIN, 0, NULL, NULL},
};
const struct jspec spec_model = {JFIELDS(model_fields), JSPEC_NO_STATED};

/* Members that describe the architecture themselves, so that they contradict a preset or a config. */
static const char *architecture_member(json_t *value, bool with_size)
{
    const char *name;
    json_t *v;
    json_object_foreach(value, name, v)
    {
        if (json_is_null(v) || strcmp(name, "preset") == 0 || strcmp(name, "config") == 0 || strcmp(name, "name") == 0)
            continue;
        if (!with_size && (strcmp(name, "params_b") == 0 || strcmp(name, "active_params_b") == 0))
            continue;
        return name;
    }
    return NULL;
}

static void take_preset(struct decode *d, const struct model_input *in, const char *pointer, struct model *ret)
{
    char at[JSPEC_POINTER_MAX];
    jspec_pointer(at, pointer, "preset");
    const struct model *m = d->catalog ? catalog_model(d->catalog, in->preset) : NULL;
    if (m)
        *ret = *m;
    else
        jspec_unknown_value(d, at, "unknown_preset", in->preset, "");
}

void decode_model(struct decode *d, json_t *value, const char *pointer, struct model *ret, const char **ret_preset)
{
    struct model_input in = {.model = {.id = "", .name = ""}};
    size_t before = d->faults->n + d->faults->dropped;
    jspec_decode(d, &spec_model, value, pointer, &in);
    if (d->faults->n + d->faults->dropped != before)
        return;
    const char *extra = in.preset   ? architecture_member(value, true)
                        : in.config ? architecture_member(value, false)
                                    : NULL;
    if (in.preset && in.config)
        extra = "config";
    if (extra) {
        char at[JSPEC_POINTER_MAX];
        jspec_pointer(at, pointer, extra);
        jspec_fault(d, at, "one_of", in.preset ? "preset" : "config", extra);
        return;
    }
    if (in.preset) {
        take_preset(d, &in, pointer, ret);
        if (ret_preset)
            *ret_preset = in.preset;
        return;
    }
    if (in.params_b > 0)
        in.model.params = in.params_b * 1e9;
    if (in.active_params_b > 0)
        in.model.active_params = in.active_params_b * 1e9;
    *ret = in.model;
}
