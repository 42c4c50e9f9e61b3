/* config_recognise.c — a pasted configuration that is a published model: who it is, and what of it was left out.
 *
 * The table of presets is the only source: a configuration that agrees with one of its family in everything it states
 * is that model, so its published size counts and its gaps (key-value heads, vocabulary, tied head) are filled. Models
 * of the same family and width share their grouping even where the depth is new. A mixture is known by its width, its
 * heads and its experts alone where its family was published in one size only. Nothing is taken silently.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/config_view.h"

#define AGREEING_MIN 3         /* dimensions that must be stated and agree */
#define AGREEING_MIN_UNNAMED 4 /* where the configuration names no family; the vocabulary is one of them */
#define SAME_SIZE 0.01         /* sizes of presets that are one model under several names */
#define DEPTH_SHARE_MAX 0.25   /* a mixture of other depth than this is a cut-down one */
#define KEY_MAX 72
#define MATCHES_MAX 24

/* "Qwen2MoeForCausalLM", "qwen2_moe" and "qwen2-moe" are one family: "qwen2moe". */
static void key_of(const char *name, size_t len, char out[KEY_MAX])
{
    static const char *const ends[] = {"withlmhead",     "forcausallm",  "forconditional", "formasked", "forsequence",
                                       "forpretraining", "fortoken",     "forquestion",    "forreward", "forimage",
                                       "lmheadmodel",    "encodermodel", "chatmodel",      NULL};
    size_t n = 0;
    for (size_t i = 0; i < len && n + 1 < KEY_MAX; i++)
        if (isalnum((unsigned char)name[i]) || name[i] == '+')
            out[n++] = (char)tolower((unsigned char)name[i]);
    out[n] = '\0';
    for (size_t i = 0; ends[i]; i++) {
        char *end = strstr(out, ends[i]);
        if (end && end > out)
            *end = '\0';
    }
    n = strlen(out);
    if (n > 5 && strcmp(out + n - 5, "model") == 0)
        out[n - 5] = '\0';
}

/* Whether the row is of the family; `want` is a key. */
static bool in_family(const struct model *row, const char *want)
{
    for (const char *p = row->family ? row->family : ""; *p;) {
        size_t n = strcspn(p, " ");
        char key[KEY_MAX];
        key_of(p, n, key);
        if (strcmp(key, want) == 0)
            return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

static bool family_exists(const struct catalog *c, const char *key)
{
    for (size_t i = 0; i < c->n_models; i++)
        if (in_family(&c->models[i], key))
            return true;
    return false;
}

/* The family's key: of the architecture where a preset has it, else of the type: of the whole where it has one of its
 * own, else of the part that is the language model. One with a tower is another model than the one without, whatever
 * the type says ("chatglm+vision"). */
static void family_key(const struct config_view *v, const struct catalog *c, char out[KEY_MAX])
{
    const char *type = json_string_value(json_object_get(v->root, "model_type"));
    const char *names[] = {json_string_value(json_array_get(json_object_get(v->root, "architectures"), 0)),
                           type ? type : v->type};
    for (size_t i = 0; i < 2; i++) {
        const char *name = names[i] ? names[i] : "";
        key_of(name, strlen(name), out);
        size_t n = strlen(out);
        const char *with = json_object_get(v->root, "gen_vision_config") ? "+drawing" : v->vision ? "+vision" : "";
        if (n + strlen(with) < KEY_MAX)
            memcpy(out + n, with, strlen(with) + 1);
        if (family_exists(c, out))
            return;
    }
}

/* One dimension: -1 contradicts, 0 says nothing, 1 agrees. */
static int agrees(bool stated, int has, int published)
{
    if (!stated || published == 0 || has == 0)
        return 0;
    return has == published ? 1 : -1;
}

/* Layers of the encoder before a decoder: presets count both stacks. */
static int first_stack(const struct config_view *v)
{
    bool both = v->family->traits & F_ENCODER_DECODER;
    return both ? (int)config_number(v,
                                     (const char *const[]){"encoder_layers", "num_encoder_layers", "num_layers", NULL})
                : 0;
}

static int depth_agrees(const struct config_view *v, const struct config_stated *s, const struct model *m,
                        const struct model *row)
{
    return agrees(s->layers, m->layers + first_stack(v), row->layers);
}

static int vocab_agrees(const struct config_view *v, const struct config_stated *s, const struct model *m,
                        const struct model *row)
{
    int multiple = (int)config_number(v, (const char *const[]){"pad_vocab_size_multiple", NULL});
    int padded = multiple > 1 ? (m->vocab + multiple - 1) / multiple * multiple : m->vocab;
    return padded == row->vocab ? agrees(s->vocab, padded, row->vocab) : agrees(s->vocab, m->vocab, row->vocab);
}

/* How many of the stated dimensions agree; -1 when one does not. */
static int agreement(const struct config_view *v, const struct config_stated *s, const struct model *m,
                     const struct model *row)
{
    int tied = m->tied_embeddings == TRI_UNSTATED || row->tied_embeddings == TRI_UNSTATED || row->causal == TRI_NO;
    const int found[] = {
        depth_agrees(v, s, m, row),
        agrees(s->hidden, m->hidden, row->hidden),
        agrees(s->heads, m->heads, row->heads),
        agrees(s->kv_heads && m->kv_lora_rank == 0, m->kv_heads, row->kv_heads),
        agrees(s->head_dim && m->kv_lora_rank == 0, m->head_dim, row->head_dim),
        agrees(s->width, m->intermediate, row->intermediate),
        vocab_agrees(v, s, m, row),
        agrees(s->experts, m->experts, row->experts),
        agrees(s->topk, m->experts_per_token, row->experts_per_token),
        agrees(true, m->kv_lora_rank, row->kv_lora_rank),
    };
    int n = 0;
    if ((s->tied && !tied && m->tied_embeddings != row->tied_embeddings) || (s->experts && row->experts == 0))
        return -1;
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        if (found[i] < 0)
            return -1;
        n += found[i];
    }
    return n;
}

static bool same_size(const struct model *a, const struct model *b)
{
    return fabs(a->params / b->params - 1) < SAME_SIZE && fabs(a->active_params / b->active_params - 1) < SAME_SIZE;
}

struct rows {
    const struct model *items[MATCHES_MAX];
    size_t n;
};

static bool one_size(const struct rows *r)
{
    for (size_t i = 1; i < r->n; i++)
        if (!same_size(r->items[0], r->items[i]))
            return false;
    return r->n > 0 && r->n < MATCHES_MAX;
}

static void add(struct rows *r, const struct model *row)
{
    if (r->n < MATCHES_MAX)
        r->items[r->n++] = row;
}

static void find_equal(const struct config_view *v, const struct catalog *c, const char *key,
                       const struct config_stated *s, const struct model *m, struct rows *ret)
{
    for (size_t i = 0; i < c->n_models; i++) {
        const struct model *row = &c->models[i];
        bool member = *key ? in_family(row, key) : row->family && *row->family && !strchr(row->family, '+');
        if (!member || row->hidden == 0 ||
            (!*key && (!s->vocab || row->vocab == 0 || (row->experts > 0) != s->experts)))
            continue;
        if (agreement(v, s, m, row) >= (*key ? AGREEING_MIN : AGREEING_MIN_UNNAMED))
            add(ret, row);
    }
}

/* Of the same family and width, whatever their depth. */
static void find_relatives(const struct catalog *c, const char *key, const struct config_stated *s,
                           const struct model *m, struct rows *ret)
{
    if (!*key || !s->hidden || !s->heads || !s->width)
        return;
    for (size_t i = 0; i < c->n_models; i++) {
        const struct model *row = &c->models[i];
        if (in_family(row, key) && row->hidden == m->hidden && row->heads == m->heads &&
            row->intermediate == m->intermediate)
            add(ret, row);
    }
}

/* The only published mixture of its family, by everything but depth and grouping. */
static const struct model *only_mixture(const struct catalog *c, const char *key, const struct config_stated *s,
                                        const struct model *m)
{
    struct rows family = {.n = 0};
    if (!*key || !s->layers || !s->hidden || !s->heads || !s->width || !s->experts || !s->topk)
        return NULL;
    for (size_t i = 0; i < c->n_models; i++)
        if (in_family(&c->models[i], key))
            add(&family, &c->models[i]);
    const struct model *row = one_size(&family) ? family.items[0] : NULL;
    bool same = row && row->hidden == m->hidden && row->heads == m->heads && row->intermediate == m->intermediate &&
                row->experts == m->experts && row->experts_per_token == m->experts_per_token;
    return same && fabs((double)m->layers / row->layers - 1) <= DEPTH_SHARE_MAX ? row : NULL;
}

/* The value all rows have; 0 when they differ. */
static int common(const struct rows *r, size_t offset)
{
    int value = 0;
    for (size_t i = 0; i < r->n; i++) {
        int has;
        memcpy(&has, (const char *)r->items[i] + offset, sizeof has);
        if (i > 0 && has != value)
            return 0;
        value = has;
    }
    return value;
}

static void taken(struct config_match *found, struct arena *arena, const char *name, int value)
{
    const char *before = found->facts ? found->facts : "";
    found->facts = arena_printf(arena, "%s%s%s %d", before, *before ? ", " : "", name, value);
}

/* Puts what all rows agree on where the configuration says nothing; `first`: layers of a first stack. */
static void fill(const struct rows *r, const struct config_stated *s, bool whole, int first, struct arena *arena,
                 struct model *m, struct config_match *found)
{
    bool mixture = whole && !s->experts, grouping = m->kv_lora_rank == 0;
    const struct {
        const char *name;
        bool open;
        size_t offset;
    } gaps[] = {
        {"num_hidden_layers", whole && !s->layers, offsetof(struct model, layers)},
        {"hidden_size", whole && !s->hidden, offsetof(struct model, hidden)},
        {"num_attention_heads", whole && !s->heads, offsetof(struct model, heads)},
        {"num_key_value_heads", grouping && !s->kv_heads, offsetof(struct model, kv_heads)},
        {"head_dim", grouping && !s->head_dim, offsetof(struct model, head_dim)},
        {"intermediate_size", whole && !s->width, offsetof(struct model, intermediate)},
        {"vocab_size", whole && !s->vocab, offsetof(struct model, vocab)},
        {"max_position_embeddings", whole && m->max_context == 0, offsetof(struct model, max_context)},
        {"num_experts", mixture, offsetof(struct model, experts)},
        {"shared_expert_intermediate_size", mixture, offsetof(struct model, shared_intermediate)},
        {"first_k_dense_replace", mixture, offsetof(struct model, dense_layers)},
        {"num_experts_per_tok", whole && !s->topk, offsetof(struct model, experts_per_token)},
    };
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        int value = gaps[i].open ? common(r, gaps[i].offset) : 0, has;
        if (gaps[i].offset == offsetof(struct model, layers) && value > first)
            value -= first;
        memcpy(&has, (const char *)m + gaps[i].offset, sizeof has);
        if (value == 0 || value == has)
            continue;
        memcpy((char *)m + gaps[i].offset, &value, sizeof value);
        taken(found, arena, gaps[i].name, value);
    }
    int tied = common(r, offsetof(struct model, tied_embeddings));
    if (whole && !s->tied && tied != TRI_UNSTATED && m->causal != TRI_NO && tied != (int)m->tied_embeddings) {
        m->tied_embeddings = tied == TRI_YES ? TRI_YES : TRI_NO;
        taken(found, arena, "tie_word_embeddings", tied == TRI_YES);
    }
}

/* A configuration that names no family gets the kind of the model it is, too. */
static void fill_kind(const struct model *row, struct model *m)
{
    m->ffn = row->ffn;
    m->causal = row->causal;
}

/* Of models that are alike in everything else, the one with this context comes first. */
static void by_context(struct rows *r, int max_context)
{
    for (size_t i = 1; i < r->n; i++)
        if (r->items[i]->max_context == max_context && r->items[0]->max_context != max_context) {
            const struct model *first = r->items[0];
            r->items[0] = r->items[i];
            r->items[i] = first;
        }
}

static const char *names_of(const struct rows *r, struct arena *arena)
{
    const char *names = "";
    for (size_t i = 0; i < r->n && i < 3; i++)
        names = arena_printf(arena, "%s%s%s", names, i > 0 ? " / " : "", r->items[i]->name);
    return names ? names : "";
}

void config_recognise(const struct config_view *v, const struct catalog *c, const struct config_stated *s,
                      struct arena *arena, struct model *m, struct config_match *ret)
{
    char key[KEY_MAX];
    struct rows rows = {.n = 0};
    memset(ret, 0, sizeof *ret);
    if (!c)
        return;
    family_key(v, c, key);
    find_equal(v, c, key, s, m, &rows);
    bool equal = rows.n > 0;
    if (!equal) {
        ret->row = only_mixture(c, key, s, m);
        ret->unlike = ret->row != NULL;
        find_relatives(c, key, s, m, &rows);
    } else if (one_size(&rows)) {
        by_context(&rows, m->max_context);
        ret->row = rows.items[0];
        if (!*key)
            fill_kind(ret->row, m);
    }
    ret->equal = equal;
    ret->names = names_of(&rows, arena);
    fill(&rows, s, equal, first_stack(v), arena, m, ret);
}
