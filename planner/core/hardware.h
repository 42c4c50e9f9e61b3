/* hardware.h — GPUs, links, and one shape of machine, independent of who sells it.
 *
 * GB = 1e9 bytes, GiB = 2^30; bandwidths in GB/s; rates in TFLOP/s (1e12) dense, FP32 accumulation; 0 = not known.
 */
#ifndef SUANPAN_PLANNER_CORE_HARDWARE_H
#define SUANPAN_PLANNER_CORE_HARDWARE_H

#include <stdbool.h>

/* Architecture generation: what calibration rows are keyed by. Names: see gpu_class_name. */
enum gpu_class {
    GPU_CLASS_OTHER = 0,
    GPU_VOLTA,          /* V100 */
    GPU_TURING,         /* T4, RTX 8000 */
    GPU_AMPERE,         /* A100, A800, A30 (HBM) */
    GPU_AMPERE_GDDR,    /* A10, A40, A5000, A6000, RTX 30 */
    GPU_ADA,            /* L4, L20, L40, L40S, RTX 40, 6000 Ada */
    GPU_HOPPER,         /* H100, H800, H20, H200, GH200 */
    GPU_BLACKWELL,      /* B200, B300, GB200, GB300 */
    GPU_BLACKWELL_GDDR, /* RTX 5090, RTX PRO 6000 */
    GPU_CDNA2,          /* MI210, MI250X */
    GPU_CDNA3,          /* MI300X, MI325X */
    GPU_CDNA4,          /* MI350X, MI355X */
    GPU_ASCEND,
    GPU_CLASS_COUNT
};

const char *gpu_class_name(enum gpu_class c); /* "hopper" */
int gpu_class_parse(const char *name, enum gpu_class *ret);

#define BYTES_PER_GIB 1073741824.0

struct gpu {
    const char *id;   /* "a100-sxm4-80g", as the API uses it */
    const char *name; /* "A100-80G-SXM4" */
    const char *vendor, *form_factor, *memory_type, *link_type;
    enum gpu_class gpu_class;
    double memory_gb;     /* label: 80 */
    double usable_gib;    /* what a framework sees; always > 0 once loaded (0.99 x label HBM, 0.925 GDDR with ECC) */
    bool usable_measured; /* usable_gib was read on a machine, not derived */
    double mem_bw_gb_s;
    double bf16_tflops, fp16_tflops, fp8_tflops, fp4_tflops, int8_tops, fp32_tflops, tf32_tflops;
    double link_gb_s_bidir; /* card-to-card link, total of both directions; 0 = none */
    bool through_host;      /* may not reach other cards directly: every byte goes through host memory (GeForce) */
    bool link_mesh;         /* its link joins every card of a board to every other, without a switch */
    bool coherent_host;     /* soldered to its own processor by a coherent link (Grace) */
    int rack_cards;         /* joined by one link domain across the nodes of a rack; 0 = a node is a domain */
    int pcie_gen;           /* 3, 4, 5; 0 = not known */
    double tdp_w;
    int year;
    bool rentable;          /* someone sells it in our catalog's market */
    const char *confidence; /* high, medium, low */
    const char *source;
    const char *source_date;
    const char *note; /* "" or what a reader must know, including which figures are unverified */
};

enum intra_link {
    INTRA_UNSTATED = 0,
    INTRA_NONE, /* one card */
    INTRA_NVSWITCH,
    INTRA_NVLINK,
    INTRA_NVLINK_BRIDGE, /* pairs */
    INTRA_XGMI,
    INTRA_HCCS,
    INTRA_PCIE3,
    INTRA_PCIE4,
    INTRA_PCIE5,
    INTRA_COUNT
};

enum inter_link { INTER_NONE = 0, INTER_INFINIBAND, INTER_ROCE, INTER_ETHERNET, INTER_COUNT };

const char *intra_link_name(enum intra_link l); /* wire name: "nvswitch"; NULL for UNSTATED and NONE */
int intra_link_parse(const char *name, enum intra_link *ret);
const char *inter_link_name(enum inter_link l);
int inter_link_parse(const char *name, enum inter_link *ret);

/* One shape: everything physics may depend on. Same shape, same physics, whoever sells it. */
struct shape {
    const struct gpu *gpu;
    int gpus_per_node;     /* >= 1 */
    int nodes;             /* >= 1 */
    enum intra_link intra; /* INTRA_UNSTATED: the card's own best (hardware_default_intra) */
    enum inter_link
        inter; /* INTER_NONE with nodes > 1: not stated; a good fabric of the card's generation is assumed */
    double inter_gbps_per_node; /* Gbit/s of one node; 0 = not stated */
    double gpu_memory_gb;       /* label override (e.g. a 96 GB variant); 0 = the card's */
    double host_memory_gb;      /* 0 = not stated */
    double storage_gb_s;        /* shared storage read rate of the whole job; 0 = not stated (never a bottleneck) */
};

/* Runs the software that most projects are written for; elsewhere a project has to be moved first. */
bool gpu_runs_cuda(const struct gpu *g);

int shape_gpus(const struct shape *s);
/* Member by member, the card by identity. */
bool shape_same(const struct shape *a, const struct shape *b);
enum intra_link hardware_default_intra(const struct gpu *gpu, int gpus_per_node);
/* Bytes a framework may use on one card of this shape (usable_gib, scaled where gpu_memory_gb overrides the label). */
double shape_usable_bytes(const struct shape *s);

#endif
