/* model_complete.c — from what a caller knows of a model to every dimension that physics needs.
 *
 * A size alone must do. What is left out is first solved from what is stated (the FFN width that makes the stated
 * size come out, the depth, whether the head is tied), and only then taken from convention: the width-to-depth ratio
 * of published decoders, heads of 128, FFN of 8/3 or 4 widths. Every step that had to assume leaves a note.
 */
#include "planner/core/model.h"

#include <math.h>
#include <stdio.h>

/* Conventions of published decoders (docs/planner-training.md, "A model from its size"). */
#define WIDTH_PER_LAYER 128.0      /* hidden / layers of 7B to 405B */
#define FULL_RATIO_FROM_PARAMS 7e9 /* smaller models are deeper for their width */
#define HEAD_WIDTH 128
#define SMALL_HEAD_WIDTH 64
#define MODERN_VOCAB 128256
#define CLASSIC_VOCAB 50304
#define GROUPED_KV_HEADS 8
#define TIED_BELOW_PARAMS 4.5e9
#define DEFAULT_TOPK 8
#define MAX_DIM 4194304
#define SIZE_TOLERANCE 0.03

static int to_dim(double x, int multiple)
{
    double n = fmax(multiple, multiple * floor(x / multiple + 0.5));
    return (int)fmin(n, MAX_DIM);
}

struct place {
    char at[128];
};

static struct place below(const char *pointer, const char *member)
{
    struct place p;
    (void)snprintf(p.at, sizeof p.at, "%s%s", pointer, member);
    return p;
}

/* True when the model says something that can be completed. */
static bool check_stated(const struct model *m, const char *pointer, struct fault_list *faults)
{
    size_t before = faults->n + faults->dropped;
    if (m->params <= 0 && !(m->hidden > 0 && m->layers > 0))
        fault_add(faults, pointer, "model_unknown", "neither a size (params_b) nor layers and hidden are stated");
    if (m->heads > 0 && m->kv_heads > 0 && m->heads % m->kv_heads != 0)
        fault_add(faults, below(pointer, "/kv_heads").at, "kv_heads_not_dividing",
                  "kv_heads %d does not divide heads %d", m->kv_heads, m->heads);
    if (m->params > 0 && m->active_params > m->params)
        fault_add(faults, below(pointer, "/active_params_b").at, "active_above_total",
                  "%.6g active parameters of %.6g in total", m->active_params, m->params);
    if (m->experts > 0 && m->experts_per_token > m->experts)
        fault_add(faults, below(pointer, "/experts_per_token").at, "topk_above_experts", "%d experts a token of %d",
                  m->experts_per_token, m->experts);
    if (m->layers > 0 && m->dense_layers > m->layers)
        fault_add(faults, below(pointer, "/dense_layers").at, "dense_above_layers", "%d dense layers of %d",
                  m->dense_layers, m->layers);
    if (m->layers > 0 && m->full_attention_layers > m->layers)
        fault_add(faults, below(pointer, "/full_attention_layers").at, "full_attention_above_layers",
                  "%d full-attention layers of %d", m->full_attention_layers, m->layers);
    return faults->n + faults->dropped == before;
}

static void assume(struct note_list *assumed, const char *code, const char *arg, double value)
{
    if (assumed)
        note_num(note_add_once(assumed, code), arg, value);
}

static void complete_vocab(struct model *m, struct note_list *assumed)
{
    if (m->vocab > 0)
        return;
    double vocab = m->ffn == FFN_PLAIN ? CLASSIC_VOCAB : MODERN_VOCAB;
    /* Tiny models have tiny vocabularies: never more than a third of the stated size. */
    if (m->params > 0) {
        double width = m->hidden > 0 ? m->hidden : cbrt(m->params * 2);
        vocab = fmin(vocab, m->params / (3 * width));
    }
    m->vocab = to_dim(fmax(vocab, 64), 64);
    assume(assumed, "model_vocab_assumed", "vocab", m->vocab);
}

/* Parameters of one layer for a width of h, before heads and FFN are known: 12 h^2 for either FFN convention. */
static double layer_by_width(double h)
{
    return 12 * h * h;
}

static double body_params(const struct model *m)
{
    double body = m->active_params > 0 && m->active_params < m->params ? m->active_params : m->params;
    return fmax(body - model_embedding_params(m), 0.3 * body);
}

static void complete_width_and_depth(struct model *m, struct note_list *assumed)
{
    m->architecture_known = m->layers > 0 && m->hidden > 0;
    m->size_only = m->layers == 0 && m->hidden == 0 && m->heads == 0;
    if (m->architecture_known)
        return;
    if (m->hidden == 0 && m->layers == 0) {
        double body = m->active_params > 0 && m->active_params < m->params ? m->active_params : m->params;
        double ratio = WIDTH_PER_LAYER * pow(fmin(1, m->params / FULL_RATIO_FROM_PARAMS), 0.25);
        double layers = cbrt(body / (12 * ratio * ratio));
        m->layers = to_dim(layers, 1);
        m->hidden = to_dim(sqrt(body / (12 * m->layers)), m->params > 1e8 ? 128 : 8);
    } else if (m->hidden == 0) {
        m->hidden = to_dim(sqrt(m->params / (12.0 * m->layers)), m->params > 1e8 ? 128 : 8);
    } else {
        complete_vocab(m, assumed);
        m->layers = to_dim(body_params(m) / layer_by_width(m->hidden), 1);
    }
    if (assumed)
        note_num(note_num(note_add_once(assumed, "model_shape_assumed"), "layers", m->layers), "hidden", m->hidden);
}

static void complete_heads(struct model *m, struct note_list *assumed)
{
    bool stated = m->heads > 0;
    if (m->heads == 0) {
        int width = m->head_dim > 0 ? m->head_dim : m->hidden >= 2048 ? HEAD_WIDTH : SMALL_HEAD_WIDTH;
        m->heads = to_dim((double)m->hidden / width, 1);
        if (m->kv_heads > 0)
            m->heads = to_dim(m->heads, m->kv_heads);
        /* A width that is only derived must not decide on the cache: heads come in groups, as in published decoders. */
        if (m->size_only && m->heads > 2 * GROUPED_KV_HEADS) {
            m->heads = to_dim(m->heads, GROUPED_KV_HEADS);
            m->head_dim = width;
        }
    }
    if (m->head_dim == 0) {
        m->head_dim = to_dim((double)m->hidden / m->heads, 1);
        if (stated && m->hidden % m->heads != 0)
            assume(assumed, "model_head_dim_assumed", "head_dim", m->head_dim);
    }
    if (m->kv_heads == 0) {
        bool grouped = m->size_only && m->ffn != FFN_PLAIN && m->kv_lora_rank == 0 && m->heads > GROUPED_KV_HEADS &&
                       m->heads % GROUPED_KV_HEADS == 0;
        m->kv_heads = grouped ? GROUPED_KV_HEADS : m->heads;
        if (m->kv_lora_rank == 0 && !m->no_attention)
            assume(assumed, "model_kv_heads_assumed", "kv_heads", m->kv_heads);
    }
}

/* The FFN width (of one expert) that makes the stated size come out; 0 when the size does not decide it. */
static double width_from_size(const struct model *m)
{
    if (m->params <= 0)
        return 0;
    struct model probe = *m;
    probe.intermediate = 0;
    double rest = m->params - model_count_params(&probe);
    probe.intermediate = 1024;
    double per_unit = (model_count_params(&probe) - (m->params - rest)) / 1024;
    double width = per_unit > 0 ? rest / per_unit : 0;
    return width >= 0.25 * m->hidden / (m->experts > 0 ? 16 : 1) && width <= 16.0 * m->hidden ? width : 0;
}

/* A mixture of experts known only by its two sizes: as many experts as make total and active come out. */
static void complete_experts(struct model *m, struct note_list *assumed)
{
    /* What a file or a preset says whole is no mixture for having tables that are only looked up. */
    bool whole = m->architecture_known && m->intermediate > 0 && m->uncounted && m->uncounted[0];
    bool mixture = m->experts > 0 || (m->active_params > 0 && m->active_params < 0.9 * m->params && !whole);
    if (!mixture)
        return;
    if (m->experts > 0) {
        if (m->experts_per_token == 0) {
            m->experts_per_token = m->experts < DEFAULT_TOPK * 2 ? (m->experts > 1 ? 2 : 1) : DEFAULT_TOPK;
            assume(assumed, "model_topk_assumed", "experts_per_token", m->experts_per_token);
        }
        return;
    }
    double trunk =
        m->layers * model_attention_params(m) + model_embedding_params(m) * (m->tied_embeddings == TRI_YES ? 1 : 2);
    double active_experts = fmax(m->active_params - trunk, 0.3 * m->active_params);
    double all_experts = fmax(m->params - trunk, active_experts);
    m->experts_per_token = DEFAULT_TOPK;
    m->experts = to_dim(DEFAULT_TOPK * all_experts / active_experts, 1);
    if (m->intermediate == 0 || m->intermediate > m->hidden)
        m->intermediate =
            to_dim(all_experts / ((m->ffn == FFN_PLAIN ? 2.0 : 3.0) * m->hidden * m->layers * m->experts), 1);
    if (assumed)
        note_num(note_num(note_add_once(assumed, "model_experts_assumed"), "experts", m->experts), "topk",
                 m->experts_per_token);
}

static void complete_ffn(struct model *m, struct note_list *assumed)
{
    if (m->intermediate > 0)
        return;
    if (m->ffn == FFN_PLAIN && m->experts == 0) {
        m->intermediate = 4 * m->hidden;
        return;
    }
    double width = width_from_size(m);
    double usual = m->kv_heads < m->heads ? 3.5 * m->hidden : 8.0 / 3 * m->hidden;
    if (m->experts > 0 && width <= 0)
        width = usual / fmax(1, m->experts_per_token);
    m->intermediate = to_dim(width > 0 ? width : usual, m->hidden >= 1024 && m->experts == 0 ? 64 : 1);
    assume(assumed, "model_ffn_assumed", "intermediate", m->intermediate);
}

/* How far a choice of the head is from what the stated size says: the size it gives where all dimensions are known,
 * and where only the FFN width is open, the width it would need against the usual one. */
static double off_with(const struct model *m, enum tri tied)
{
    struct model probe = *m;
    probe.tied_embeddings = tied;
    if (m->intermediate > 0 || m->ffn == FFN_PLAIN) {
        if (m->intermediate == 0)
            probe.intermediate = 4 * m->hidden;
        return fabs(model_count_params(&probe) - m->params);
    }
    double width = width_from_size(&probe), usual = m->kv_heads < m->heads ? 3.5 : 8.0 / 3;
    return width > 0 ? fabs(log(width / m->hidden / usual)) : 1e3;
}

/* A tied head is what the stated size says it is; without a size, small models share the matrix. */
static void complete_tying(struct model *m)
{
    if (m->tied_embeddings != TRI_UNSTATED)
        return;
    if (m->causal == TRI_NO) {
        m->tied_embeddings = TRI_YES;
        return;
    }
    if (m->params > 0 && m->architecture_known && m->experts == 0 && m->heads > 0) {
        m->tied_embeddings = off_with(m, TRI_YES) < off_with(m, TRI_NO) ? TRI_YES : TRI_NO;
        return;
    }
    bool small = m->params > 0 && m->params < TIED_BELOW_PARAMS;
    m->tied_embeddings = m->ffn == FFN_PLAIN || small ? TRI_YES : TRI_NO;
}

static void complete_sizes(struct model *m, struct note_list *assumed)
{
    double counted = model_count_params(m), active = model_count_active(m);
    bool explained = m->uncounted && m->uncounted[0];
    if (m->params <= 0) {
        m->params = counted;
    } else if (m->architecture_known && !explained && fabs(counted / m->params - 1) > SIZE_TOLERANCE && assumed) {
        note_num(note_num(note_add_once(assumed, "model_size_differs"), "stated_b", m->params / 1e9), "counted_b",
                 counted / 1e9);
    }
    if (m->active_params <= 0)
        m->active_params = m->experts > 0 ? fmin(m->params, active * fmin(1, m->params / counted)) : m->params;
}

void model_complete(struct model *m, const char *pointer, struct note_list *assumed, struct fault_list *faults)
{
    if (!check_stated(m, pointer, faults))
        return;
    if (m->id == NULL)
        m->id = "";
    if (m->name == NULL)
        m->name = m->id;
    if (m->causal == TRI_UNSTATED)
        m->causal = TRI_YES;
    if (m->ffn == FFN_UNSTATED)
        m->ffn = m->causal == TRI_NO ? FFN_PLAIN : FFN_GATED;
    complete_width_and_depth(m, assumed);
    complete_vocab(m, assumed);
    complete_heads(m, assumed);
    complete_tying(m);
    complete_experts(m, assumed);
    if (m->kv_lora_rank > 0 && m->rope_head_dim == 0)
        m->rope_head_dim = SMALL_HEAD_WIDTH;
    complete_ffn(m, assumed);
    complete_sizes(m, assumed);
}
