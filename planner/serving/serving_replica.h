/* serving_replica.h — one replica with everything resolved that memory and speed depend on: what the engine is like,
 * how weights are stored and multiplied, what the card can do, how the work is cut.
 */
#ifndef SUANPAN_PLANNER_SERVING_SERVING_REPLICA_H
#define SUANPAN_PLANNER_SERVING_SERVING_REPLICA_H

#include <stdbool.h>

#include "base/err.h"
#include "planner/core/hardware.h"
#include "planner/core/workload.h"
#include "planner/serving/serving_constants.h"

/* Engines of one kind share their overheads; names do not matter, kinds do. */
enum engine_kind {
    EK_PYTHON,   /* vLLM, SGLang, TGI, MindIE, ATOM: Python scheduler, CUDA graphs */
    EK_COMPILED, /* TensorRT-LLM, LMDeploy: compiled scheduler and kernels */
    EK_LOCAL,    /* llama.cpp, ExLlamaV2, MLC, AutoAWQ: one user on few cards */
    EK_EAGER     /* transformers: a kernel launch per operation */
};

struct engine_traits {
    enum engine id;
    enum engine_kind kind;
    bool known; /* named by the caller */
    bool version_known;
    double version; /* major * 1000 + minor + patch / 1000: 0.19 -> 19, 1.2 -> 1002; the newest class when not stated */
    bool old_collectives;
    bool overlapped_host; /* scheduler runs beside the GPU (SGLang, TensorRT-LLM 1.x) */
    bool tuned_cdna3;     /* its layers with experts cost no more there than elsewhere */
    bool eager;           /* no CUDA graphs */
};

/* What is multiplied: decides the peak rate. */
enum math_kind { MATH_16, MATH_8, MATH_4 };

struct weight_traits {
    double body_bits, vocab_bits, attention_bits, expert_bits;
    enum math_kind math;
    bool weight_only; /* stored narrow, multiplied in 16 bits */
    bool four_bit;
    bool gguf, fp8;
};

struct card_traits {
    double bw;          /* bytes/s */
    double f16, f8, f4; /* FLOP/s; f8 and f4 fall back to the next wider where the card lacks them */
    double usable;      /* bytes a framework sees */
    double label;       /* bytes on the label */
    bool amd, npu, hbm, old_hbm, grace, has_fp8, has_fp4, cdna3;
    bool large;     /* vLLM's large-card defaults */
    bool multicast; /* its switch reduces (Hopper and newer) */
    bool rare;      /* few or no measurements of its class */
};

/* Bytes of weights by kind, of the whole model (one copy). */
struct weight_bytes {
    double attention, dense, experts, vocab; /* vocab: all vocabulary matrices */
    double head;                             /* the part of vocab read each step */
    double encoder;                          /* read once a source, not once a token */
    double companions;                       /* networks that run once a request, in 16 bits */
    double replicated;                       /* held by every rank besides its share (latent down-projections) */
    double total;
};

/* Parameters by kind. */
struct weight_params {
    double attention, dense, experts, head;
    double encoder,
        cross; /* of an encoder; matrices that make its keys and values for the decoder (in attention too) */
};

struct replica {
    const struct serving_constants *k;
    const struct model *m;
    const struct shape *shape;
    struct engine_traits engine;
    struct weight_traits wt;
    struct card_traits card;
    struct weight_params params;
    struct weight_bytes bytes;
    int tp, pp, ep;
    int moe_layers;
    bool attention_dp, mtp, moe, mla;
    double kv_bits;
    double full_layers, window_layers; /* layers with a growing cache; with a window (the rest has constant state) */
    double pool_layers;                /* layers the pool reserves room for: hybrid allocators pad to equal groups */
    double kv_kept;                    /* share of them that keep their own; the rest read an earlier one's */
    double pass_layers;                /* layers' worth of kernels in one pass */
    double state_layers, state_layer_bytes; /* linear and state-space layers: constant state of a sequence */
    int encoder_layers;                     /* that read the source once; 0 = one stack */
    double source_positions;                /* most that one pass of them takes; 0 = any */
    double kv_layer_bytes;                  /* per token and layer, all heads */
    double kv_share;                        /* of them on one rank */
    enum intra_link link;
    double link_bw;  /* bytes/s one way, effective, of one card inside the tensor-parallel group */
    double link_lat; /* s of one all-reduce */
};

/* Resolves. ERR_UNSUPPORTED names a figure of the card that is missing and cannot be derived. */
int replica_resolve(const struct serving_constants *k, const struct model *m, const struct serving *s,
                    const struct shape *shape, const struct layout *layout, struct replica *ret, struct err *err);

/* The same replica with attention data-parallel: each rank its own requests, only experts cut. */
struct replica replica_attention_dp(const struct replica *r);

/* Parts of it, for tests. */
struct engine_traits engine_traits_of(enum engine e, const char *version, bool enforce_eager);
int card_traits_of(const struct serving_constants *k, const struct shape *shape, struct card_traits *ret,
                   struct err *err);
struct weight_traits weight_traits_of(const struct serving_constants *k, const struct serving *s, const struct model *m,
                                      const struct card_traits *card);

#endif
