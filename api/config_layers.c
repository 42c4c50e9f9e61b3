/* config_layers.c — which layers attend to everything, which have a window, and which keep a constant state. */
#include <string.h>

#include "api/config_view.h"

static bool is_one_of(const char *s, const char *const *words)
{
    for (; *words; words++)
        if (strstr(s, *words))
            return true;
    return false;
}

/* A list with one word a layer; repeated where it is shorter than the model (a pattern). */
static bool by_words(const struct config_view *v, struct config_layers *l)
{
    static const char *const lists[] = {"layer_types", "layers_block_type", "block_types", "_block_types", NULL};
    static const char *const windows[] = {"sliding", "chunked", "local", NULL};
    static const char *const mixes[] = {"linear", "mamba", "conv", "recurrent", "ssm", NULL};
    for (size_t k = 0; lists[k]; k++) {
        json_t *list = config_member(v, lists[k]);
        size_t n = json_array_size(list);
        if (n == 0 || !json_is_string(json_array_get(list, 0)))
            continue;
        for (int i = 0; i < l->total; i++) {
            const char *word = json_string_value(json_array_get(list, (size_t)i % n));
            if (word && strcmp(word, "hybrid") == 0) { /* a shared attention block on top of the state space */
                l->mixed++;
                l->attention++;
            } else if (word && is_one_of(word, mixes))
                l->mixed++;
            else if (word && is_one_of(word, windows))
                l->windowed++;
            else
                l->attention++;
        }
        return true;
    }
    return false;
}

/* A list with one number a layer: 1 attends, 0 does not; or (MiMo) 1 has a window, 0 has none. */
static bool by_flags(const struct config_view *v, struct config_layers *l)
{
    json_t *list = config_member(v, "attn_type_list"), *windows = config_member(v, "hybrid_layer_pattern");
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (json_integer_value(item) == 1)
            l->attention++;
        else
            l->mixed++;
    }
    for (i = 0; i < json_array_size(windows) && json_array_size(list) == 0; i++)
        *(json_integer_value(json_array_get(windows, i)) == 1 ? &l->windowed : &l->attention) += 1;
    return json_array_size(list) > 0 || json_array_size(windows) > 0;
}

/* One letter a layer, each layer one thing only: M state space, * attention, - FFN, E experts. */
static bool by_letters(const struct config_view *v, struct config_layers *l)
{
    const char *pattern = config_string(v, "hybrid_override_pattern");
    for (const char *p = pattern; *p; p++) {
        l->mixed += *p == 'M';
        l->attention += *p == '*';
        l->moe += *p == 'E';
        l->feed_forward += *p == '-' || *p == 'E';
    }
    return *pattern != '\0';
}

/* The indices of the layers that attend. */
static bool by_indices(const struct config_view *v, struct config_layers *l)
{
    static const char *const lists[] = {"attn_layer_indices", "full_attn_idxs", "full_attn_layers", "attn_layer_idx",
                                        "hybrid_layer_ids"};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        json_t *list = config_member(v, lists[k]);
        if (!json_is_array(list) || json_array_size(list) == 0)
            continue;
        l->attention = (int)json_array_size(list);
        l->mixed = strcmp(lists[k], "hybrid_layer_ids") == 0 ? l->total : l->total - l->attention;
        return true;
    }
    return false;
}

/* How many tokens one entry of the cache stands for, layer by layer (DeepSeek-V4): what the layers keep of the whole
 * context comes to this many full ones; 0 is a layer with nothing but its window. */
static bool by_compression(const struct config_view *v, struct config_layers *l)
{
    json_t *list = config_member(v, "compress_ratios"), *item;
    double full = 0;
    size_t i;
    json_array_foreach(list, i, item)
    {
        if (json_number_value(item) >= 1 && (int)i < l->total)
            full += 1 / json_number_value(item);
    }
    if (full <= 0)
        return false;
    l->attention = (int)(full + 0.5);
    l->windowed = l->total - l->attention;
    return true;
}

/* One object a layer (models pruned by search): an attention or an FFN that is "no_op" is not there. */
static bool by_blocks(const struct config_view *v, struct config_layers *l)
{
    json_t *blocks = config_member(v, "block_configs"), *block;
    size_t i;
    json_array_foreach(blocks, i, block)
    {
        json_t *attention = json_object_get(block, "attention"), *ffn = json_object_get(block, "ffn");
        l->attention += !json_is_true(json_object_get(attention, "no_op")) &&
                        !json_is_true(json_object_get(attention, "replace_with_linear"));
        l->feed_forward += !json_is_true(json_object_get(ffn, "no_op"));
    }
    return json_array_size(blocks) > 0;
}

static int whole(const struct config_view *v, const char *name)
{
    return (int)config_number(v, (const char *const[]){name, NULL});
}

/* Every how many layers one has no window; 0 where nothing says so. */
static int window_period(const struct config_view *v, int layers)
{
    static const struct {
        const char *type;
        int period;
    } families[] = {{"gemma4", 6}, {"gemma3n", 5}, {"gemma3", 6}, {"gemma2", 2}, {"cohere2", 4}, {"llama4", 4}};
    int pattern = whole(v, "sliding_window_pattern");
    if (pattern == 0)
        pattern = whole(v, "layer_switch");
    for (size_t i = 0; pattern == 0 && i < sizeof families / sizeof *families; i++)
        if (strncmp(v->type, families[i].type, strlen(families[i].type)) == 0)
            pattern = families[i].period;
    return pattern == 6 && layers % 6 != 0 && whole(v, "hidden_size_per_layer_input") > 0 ? 5 : pattern;
}

/* Every n-th layer attends (to everything). */
static bool by_period(const struct config_view *v, struct config_layers *l)
{
    int period = whole(v, "attn_layer_period"), every = whole(v, "full_attention_interval");
    if (period > 0) {
        for (int i = 0; i < l->total; i++)
            l->attention += i % period == whole(v, "attn_layer_offset") % period;
        l->mixed = l->total - l->attention;
        return true;
    }
    if (every > 0 && v->family->mix) {
        l->attention = l->total / every;
        l->mixed = l->total - l->attention;
        return true;
    }
    int pattern = window_period(v, l->total);
    if (pattern > 1 && (whole(v, "sliding_window") > 0 || whole(v, "attention_chunk_size") > 0)) {
        l->attention = l->total / pattern;
        if (strncmp(v->type, "gemma4", 6) == 0 && l->total % pattern != 0)
            l->attention++; /* the last layer always sees everything */
        l->windowed = l->total - l->attention;
        return true;
    }
    return false;
}

/* Layers with experts, by whichever rule the family writes down. */
static int moe_layers(const struct config_view *v, const struct model *m, int total)
{
    if (m->experts <= 0)
        return 0;
    json_t *frequency = config_member(v, "moe_layer_freq"), *listed = config_member(v, "moe_layers");
    json_t *words = config_member(v, "mlp_layer_types");
    int sparse = 0;
    for (size_t i = 0; i < json_array_size(words); i++)
        sparse += json_is_string(json_array_get(words, i)) &&
                  strcmp(json_string_value(json_array_get(words, i)), "sparse") == 0;
    for (const char *p = config_string(v, "moe_layers_enum"); *p; p++) /* "4,5,6": the numbers of those layers */
        sparse += (*p >= '0' && *p <= '9') && (p[1] < '0' || p[1] > '9');
    if (sparse > 0)
        return sparse < total ? sparse : total;
    if (json_is_array(frequency))
        return (int)(config_number(v, (const char *const[]){"moe_layer_freq", NULL}) *
                         (double)json_array_size(frequency) +
                     0.5);
    if (json_is_array(listed) && json_array_size(listed) > 0)
        return (int)json_array_size(listed);
    int dense = m->dense_layers + (int)json_array_size(config_member(v, "mlp_only_layers"));
    static const char *const steps[] = {"decoder_sparse_step", "interleave_moe_layer_step", "expert_layer_period",
                                        "moe_layer_freq",      "moe_layer_interval",        "expert_interval"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (whole(v, steps[i]) > 1)
            return (total - dense) / whole(v, steps[i]);
    return total > dense ? total - dense : total;
}

int config_reusing_layers(const struct config_view *v)
{
    json_t *groups = config_member(v, "kv_reuse_group"), *group;
    size_t i, n = 0;
    json_array_foreach(groups, i, group)
    {
        n += json_array_size(group) > 1 ? json_array_size(group) - 1 : 0;
    }
    return (int)n;
}

void config_layers_of(const struct config_view *v, const struct model *m, struct config_layers *ret)
{
    struct config_layers l = {.total = m->layers};
    bool letters = by_letters(v, &l) || by_blocks(v, &l);
    bool found =
        letters || by_words(v, &l) || by_flags(v, &l) || by_indices(v, &l) || by_compression(v, &l) || by_period(v, &l);
    if (!found && (v->family->traits & F_MIX_EVERYWHERE))
        l.mixed = l.total;
    else if (!found)
        l.attention = l.total;
    if (strncmp(v->type, "falcon_h1", 9) == 0) /* both in every layer */
        l.attention = l.mixed = l.total;
    if (v->family->traits & F_FUSED) { /* so here, most of it with a window */
        int full = (int)json_array_size(config_member(v, "global_attn_idx"));
        l.mixed = l.total;
        l.attention = full > 0 && full < l.total ? full : l.total;
        l.windowed = l.total - l.attention;
    }
    if (!letters) {
        l.moe = moe_layers(v, m, l.total);
        l.feed_forward = v->family->traits & F_MIX_EVERYWHERE && v->family->mix != MIX_RWKV ? 0 : l.total;
    }
    *ret = l;
}
