/* model.h — the architecture of a model: parameters, widths, what attention it has.
 *
 * Rows of the table `models`, a caller's own numbers, or a pasted config.json all become a `struct model`;
 * model_complete fills what was left out (from size alone if need be) and says what it assumed.
 */
#ifndef SUANPAN_PLANNER_CORE_MODEL_H
#define SUANPAN_PLANNER_CORE_MODEL_H

#include <stdbool.h>

#include "base/fault.h"
#include "planner/core/note.h"

enum ffn_kind { FFN_UNSTATED = 0, FFN_GATED, FFN_PLAIN };
enum tri { TRI_UNSTATED = 0, TRI_NO, TRI_YES };

struct model {
    const char *id; /* preset id, or "" for a caller's own */
    const char *name;
    double params;         /* total, count (not billions); 0 = not stated */
    double active_params;  /* per token; 0 = not stated, = params for dense */
    double counted_active; /* per token by the dimensions, where active_params is a figure that a publisher rounded:
                              what is computed; 0 = active_params is */
    int layers, hidden, heads, kv_heads, head_dim;
    int intermediate;        /* FFN width of one expert where MoE, of the FFN where dense */
    int dense_intermediate;  /* FFN width of the leading dense layers of a MoE; 0 = none */
    int dense_layers;        /* how many leading dense layers a MoE has */
    int shared_intermediate; /* total width of shared experts; 0 = none */
    int vocab;
    int embedding_width; /* of the vocabulary's matrix where a projection leads from it to `hidden` (ALBERT); 0 = none
                          */
    int experts, experts_per_token;                           /* 0 = dense */
    int moe_every;                                            /* a MoE layer every n layers; 0 or 1 = every layer */
    int kv_lora_rank, q_lora_rank, rope_head_dim, v_head_dim; /* MLA; 0 = none */
    int window;                                               /* sliding window; 0 = none */
    int full_attention_layers; /* layers with full-length KV; 0 = all. The rest have a window (window > 0) or are
                                  linear/state-space layers with constant state (window == 0) */
    int kv_layers; /* layers' worth of keys and values kept, where that is not what attends: 0 = the same (Gemma 3n:
                      late layers read an earlier one's; LongCat: two attentions a layer; Hunyuan-Large: pairs share) */
    /* Two stacks (Whisper, T5): an encoder reads the source once, a decoder writes and attends to both. 0 = one stack.
     * `layers` is what the model's source counts: all of them, or the decoder's. */
    int encoder_layers, decoder_layers;
    int encoder_positions; /* most that one pass of the encoder takes (Whisper: 1500, 30 s); 0 = any length */
    bool no_attention;     /* every layer keeps a constant state (Mamba, RWKV): no cache that grows */
    int max_context;
    enum ffn_kind ffn;
    enum tri tied_embeddings;
    enum tri causal; /* TRI_NO for encoders */
    enum tri qkv_bias, qk_norm;
    int norms_per_layer;   /* 0 = 2 (1: parallel attention and FFN, 4: Gemma-2/3) */
    enum tri norm_bias;    /* LayerNorm with a bias (RMSNorm: no) */
    enum tri linear_bias;  /* a bias on every attention and FFN matrix (GPT-2, BLOOM, OPT, BERT) */
    int learned_positions; /* rows of a learned position (and segment) table; 0 = rotary or ALiBi */
    /* Work that is no transformer (training.method custom) and diffusion/speech presets: */
    double flops_per_sample; /* forward, per sample or image; 0 = not stated */
    double
        published_bits; /* of its weights as published where that is not 16 (DeepSeek-V3: 8, gpt-oss: 4.25); 0 = 16 */
    double
        companion_params; /* networks beside it that run once a request (text encoders, image decoder): memory only */
    const char *source, *source_date, *confidence;
    const char *family; /* of a preset: model_type in its published config.json, several apart by blanks; "" = none */
    const char
        *uncounted; /* what of `params` these dimensions do not show (a tower, state spaces); "" or NULL = none */
    /* Set by model_complete: */
    bool architecture_known; /* layers and hidden were stated, not derived from size */
    bool size_only;          /* nothing but a parameter count was given */
};

/* Total and per-token parameters counted from the dimensions (exact where the architecture is one of those of
 * docs/planner-training.md; sources there). Needs layers, hidden, heads, intermediate, vocab. */
double model_count_params(const struct model *m);
double model_count_active(const struct model *m);
/* Parameters in matrix multiplications of one token: active without the input embedding (head included). */
double model_matmul_params(const struct model *m);
double model_embedding_params(const struct model *m); /* vocab x hidden, one matrix */

/* Layers that carry routed experts. */
int model_moe_layers(const struct model *m);
/* Parameters of the routed experts of all layers (0 for dense): what expert parallelism divides. */
double model_expert_params(const struct model *m);
/* Parameters of one layer's attention matrices and biases. */
double model_attention_params(const struct model *m);

/* KV-cache bytes of one token over all layers for unlimited attention (MLA: latent + rope), `bits` per element. */
double model_kv_bytes_per_token(const struct model *m, double bits);

/* Fills what is missing so that every dimension is > 0 (size-only: layers and hidden from the width/depth rule,
 * head_dim, GQA, intermediate, vocab by convention) and appends a note per assumption. Faults (appended with JSON
 * Pointers below `pointer`): nothing stated at all, kv_heads not dividing heads, more active than total, ... */
void model_complete(struct model *m, const char *pointer, struct note_list *assumed, struct fault_list *faults);

#endif
