/* config_view.h — reading one pasted config.json: which object holds the language model, under which names.
 *
 * Shared by model_config.c (dimensions), config_count.c (parameters) and config_text.c (paste to object).
 */
#ifndef SUANPAN_API_CONFIG_VIEW_H
#define SUANPAN_API_CONFIG_VIEW_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "planner/core/catalog.h"
#include "planner/core/model.h"

enum { /* what kind of layer carries the tokens from one to the next */
       MIX_ATTENTION = 0,
       MIX_MAMBA1,
       MIX_MAMBA2,
       MIX_RWKV,
       MIX_DELTA,     /* gated delta net: qwen3-next, kimi linear */
       MIX_LIGHTNING, /* linear attention with full-size projections: MiniMax-01 */
       MIX_CONV,      /* LFM2 short convolution */
       MIX_RGLRU      /* RecurrentGemma */
};

enum {              /* traits of a family, as bits */
       F_PLAIN = 1, /* FFN of two matrices; gated without this bit */
       F_TIED = 2,  /* what an absent tie_word_embeddings means */
       F_QKV_BIAS = 4,
       F_OUT_BIAS = 8,
       F_MLP_BIAS = 16,
       F_NORM_BIAS = 32,
       F_ENCODER = 64, /* sees both ways, no cache, no head */
       F_ENCODER_DECODER = 128,
       F_POSITIONS = 256, /* a learned table of positions */
       F_ONE_NORM = 512,  /* attention and FFN in parallel behind one norm */
       F_FOUR_NORMS = 1024,
       F_QK_NORM = 2048,
       F_MULTI_QUERY = 4096, /* one key-value head unless stated */
       F_HALF_FFN = 8192,    /* the stated FFN width covers both branches */
       F_HEAD_BIAS = 16384,
       F_SEGMENTS = 32768,       /* BERT: segment table, pooler, norm behind the embedding */
       F_MIX_EVERYWHERE = 65536, /* layers that list no attention have none at all */
       F_FUSED = 131072,         /* attention and state space side by side in every layer with one way out */
       F_EXPERT_HEADS = 262144,  /* the experts are the attention's, too */
       F_ALL_BIAS = F_QKV_BIAS | F_OUT_BIAS | F_MLP_BIAS | F_NORM_BIAS
};

struct config_family {
    const char *name; /* of model_type, or the start of an architecture in lower case */
    unsigned traits;
    int mix; /* of the layers that are no attention */
    /* What its configuration class assumes when a key is absent; 0 = nothing. */
    int layers, hidden, heads, kv_heads, intermediate, vocab, context;
};

struct config_view {
    json_t *root, *text;                /* borrowed; text is root where nothing is nested */
    json_t *vision;                     /* NULL = none */
    char type[64];                      /* model_type of the text part, or made from its architecture; lower case */
    const struct config_family *family; /* never NULL */
    const struct param_table *params;   /* what towers weigh that a file only names; NULL = nothing is known of them */
    bool family_known, named;           /* named: the file itself says a type or an architecture */
};

/* Why an object is no model's configuration, or what of one is missing or contradicts itself: the key of a text
 * "text.config_<key>"; NULL when nothing is. */
const char *config_other_file(json_t *o);
const char *config_missing(const struct config_view *v, const struct model *m);

/* False when the object is no model's configuration; then *ret_why is the key of the reason. */
bool config_view_of(json_t *root, struct config_view *ret, const char **ret_why);

/* By the keys alone; "" when they say nothing. */
const char *config_guessed_type(json_t *o);
/* As if the file named this family (a preset's: the first of several). */
void config_view_as(struct config_view *v, const char *family);

/* First of the names (NULL-terminated list) with a number > 0, in the text part, its attn/ffn/ssm parts, the root.
 * A list of numbers gives its mean, a string none. 0 when absent. */
double config_number(const struct config_view *v, const char *const *names);
bool config_has(const struct config_view *v, const char *name);
/* -1 absent, 0 false, 1 true. */
int config_flag(const struct config_view *v, const char *name);
json_t *config_member(const struct config_view *v, const char *name);
const char *config_string(const struct config_view *v, const char *name); /* "" when absent */

/* The first half of an encoder-decoder alone (T5EncoderModel). */
bool config_encoder_only(const struct config_view *v);

/* An embedder, a judge: nothing that turns the last layer back into words. */
bool config_headless(const struct config_view *v);

/* ---- names (config_names.c) --------------------------------------------------------------------------------- */

extern const char *const config_depth_names[], *const config_decoder_depth_names[],
                                                   *const config_width_names[],
                                                       *const config_vocab_names[],
                                                           *const config_head_names[],
                                                               *const config_kv_head_names[],
                                                                   *const config_head_dim_names[],
                                                                       *const config_ffn_names[],
                                                                           *const config_expert_names[],
                                                                               *const config_topk_names[],
                                                                                   *const config_expert_width_names[];

/* The first of the names that states a whole number above zero; 0 for none. */
int config_whole(const struct config_view *v, const char *const *names);
int config_either(int stated, int otherwise); /* the first where it is above zero */
bool config_is_t5(const struct config_view *v);
/* T5 version 1.1 (FLAN-T5) has narrower, gated FFNs and a head of its own; its extracts say nothing else of it. */
bool config_is_t5_v1_1(const struct config_view *v);
int config_tying(const struct config_view *v); /* of the head to the embedding: -1 unstated, 0, 1 */
/* The name of a dimension that is stated and cannot be one; NULL when all can. */
const char *config_impossible(const struct config_view *v);

/* ---- the parts (config_ffn.c, config_layers.c, config_count.c, config_towers.c) ------------------------------ */

void config_read_ffn(const struct config_view *v, struct model *m);
void config_read_experts(const struct config_view *v, struct model *m);

/* The layers by kind, from whatever list or period says so. */
struct config_layers {
    int total, attention, windowed, mixed; /* attention: full-length ones; mixed: no attention at all */
    int moe, feed_forward;                 /* layers with experts; layers with any FFN */
};
void config_layers_of(const struct config_view *v, const struct model *m, struct config_layers *ret);
/* Layers that have no keys and values of their own but read an earlier one's, by "kv_reuse_group" (Hymba). */
int config_reusing_layers(const struct config_view *v);

/* Fills params and active_params from the dimensions in *m, the layers and the family; the vision part included. */
void config_count(const struct config_view *v, const struct config_layers *l, struct model *m);

/* The parts beside the language model, in parameters: towers with their projectors and adapters; and a second decoder
 * that speaks, which no token of text passes. */
double config_towers(const struct config_view *v, const struct model *m);
double config_talker(const struct config_view *v);

/* Which dimensions the file states itself; the others in *m are its class's defaults. */
struct config_stated {
    bool layers, hidden, heads, kv_heads, head_dim, width, vocab, experts, topk, tied;
};

struct config_stated config_stated_of(const struct config_view *v);

/* What the presets know of a configuration. */
struct config_match {
    const struct model *row; /* the published model it is; NULL = none, or several of different sizes */
    bool equal;              /* everything stated agrees with it (or with several) */
    bool unlike;             /* depth or grouping do not: known by width, heads and experts alone */
    const char *names;       /* of the presets that facts come from, three at most */
    const char *facts; /* "num_key_value_heads 8, vocab_size 128256": what was left out and is taken; NULL = none */
};

/* Looks the configuration up among the presets of `c` (NULL = none) and fills its gaps in *m. */
void config_recognise(const struct config_view *v, const struct catalog *c, const struct config_stated *s,
                      struct arena *arena, struct model *m, struct config_match *ret);

/* Puts the published sizes of a recognised model in place of the counted ones; `notes` (NULL = none) says what was
 * taken from where and where count and publication differ. */
void config_take_published(const struct config_view *v, struct config_match *found, struct note_list *notes,
                           struct model *m);

/* The first object in a pasted text that looks like a configuration; NULL when there is none. New reference. */
json_t *config_from_text(const char *text);
/* The configuration that a record's member holds as text; NULL when the record is one itself or holds none. */
json_t *config_from_member(json_t *record);

/* ---- what config_text.c finds a configuration with: config_block.c, config_pairs.c --------------------------- */

/* A block in braces as JSON, or as the near-JSON that people paste; NULL when it is neither. New reference. */
json_t *config_block(const char *s, size_t n);
/* Behind the block that opens at `at`; 0 when it never closes. */
size_t config_block_end(const char *s, size_t at);
bool config_has_dimensions(json_t *block);
/* Names and values without braces; NULL when they are no configuration. New reference. */
json_t *config_from_pairs(const char *text);

#endif
