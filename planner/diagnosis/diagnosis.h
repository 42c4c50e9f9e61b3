/* diagnosis.h — pasted readings in, a verdict out: are more cards the answer, or is something else?
 *
 * Rules: docs/domain.md section 4, each by its name there. Thresholds are assumptions (diagnosis_* rows), bound from
 * the catalog's parameters. Texts are what people paste: any driver version, cut, quoted, coloured, commented.
 * Nothing here guesses: what cannot be read is NAN, and too little to judge is VERDICT_INSUFFICIENT.
 */
#ifndef SUANPAN_PLANNER_DIAGNOSIS_DIAGNOSIS_H
#define SUANPAN_PLANNER_DIAGNOSIS_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "planner/core/catalog.h"
#include "planner/core/note.h"
#include "planner/core/workload.h"

const char *verdict_name(enum verdict v); /* "data_pipeline": wire name and code of its finding */
/* More cards would not help: waiting, bandwidth_bound, unstable_iterations, data_pipeline. */
bool verdict_not_cards(enum verdict v);

/* What was pasted; every member may be NULL. A text that holds another kind (a topology matrix below an nvidia-smi
 * table) is read for that too. */
struct diagnosis_input {
    const char *nvidia_smi, *nvidia_smi_csv, *dmon, *topo, *training_log;
    const double *iteration_times_s;
    size_t n_iteration_times;
};

struct card_reading {
    int index;                                /* as printed; by order where the paste lacks it */
    const char *name;                         /* as printed, maybe cut ("Tesla V100-SXM2..."); NULL when not there */
    const char *bus_id;                       /* NULL when not there */
    const struct gpu *gpu;                    /* NULL: none or more than one card of the catalog fits the name */
    double memory_used_mib, memory_total_mib; /* as printed */
    double memory_used_gb, memory_total_gb;   /* GB = 1e9 bytes */
    double memory_pct;                        /* in use, where the tool prints only that */
    double utilisation_pct;                   /* mean over samples */
    double memory_busy_pct;                   /* memory controller, mean over samples */
    double memory_busy_working_pct;           /* the same over the samples in which the card worked */
    double power_w, power_limit_w;
    unsigned samples; /* readings of this card averaged */
    bool mig;         /* utilisation is not reported under MIG */
    int mig_devices;
    enum verdict verdict;
};

struct topology {
    bool read;
    int gpus, nics;
    const char *link;         /* GPU0 to GPU1 as printed: "NV12", "PHB"; NULL with fewer than two cards */
    const char *const *kinds; /* distinct GPU-to-GPU links, sorted */
    size_t n_kinds;
    const char *const *nic_links; /* GPU0 to each NIC, where the paste has those columns */
    size_t n_nic_links;
    int nvlink_pairs, pcie_pairs;
    bool nvlink_connected; /* every card reaches every other over NVLink alone */
    bool pcie_bound;
};

struct iteration_stats {
    bool read;
    const char *framework;                            /* "Megatron-LM", ...; NULL = not recognised */
    size_t n;                                         /* iteration times read */
    double mean_s, median_s, cv;                      /* over all of them */
    double steady_mean_s, steady_median_s, steady_cv; /* warm-up and pauses left out; NAN below 2 */
    size_t steady_n, warmup_left_out, pauses_left_out;
    bool smoothed;     /* only a progress bar's running mean: no basis for a variation */
    double data_share; /* share of an iteration spent waiting for data, where printed */
    double samples_per_s, tokens_per_s, tokens_per_s_per_gpu; /* as printed last, NAN when not */
    double peak_memory_gb;
    int global_batch, seq_len, world_size; /* 0 = not printed */
};

struct finding {
    struct note note;        /* code and figures, rendered from api/messages */
    enum verdict verdict;    /* what it speaks for */
    const char *metric;      /* "utilisation_pct", "iteration_time_cv", ... */
    double value, threshold; /* NAN where it makes no sense */
    int card;                /* index of the card it is about; -1 = all */
};

struct finding_list {
    struct arena *arena;
    struct finding *items;
    size_t n, cap;
};

struct card_list {
    struct arena *arena;
    struct card_reading *items;
    size_t n, cap;
};

struct diagnosis {
    enum verdict verdict;
    bool expand;              /* adding cards is right */
    double recoverable_share; /* of the present time, by mending what is wrong; 0 where nothing is, or nobody knows */
    bool recoverable_read;    /* it follows from the readings; else it is the guides' */
    struct finding_list findings; /* the verdict's own first */
    struct card_list cards;
    int hosts; /* machines that the paste names; 0 = none named */
    struct topology topology;
    struct iteration_stats iterations;
    const char *driver, *cuda;                                        /* NULL when not there */
    const char *fault;                                                /* what the driver complains of; NULL = nothing */
    double mean_utilisation_pct, mean_memory_share, mean_power_share; /* over cards; NAN when not read */
    struct measured measured; /* ready for a workload; .stated false when nothing of it was read */
};

/* ERR_NOT_FOUND: a threshold is missing from the catalog's parameters; ERR_NOMEM. Never fails on the texts. */
int diagnosis_run(const struct diagnosis_input *in, const struct catalog *c, struct arena *arena, struct diagnosis *ret,
                  struct err *err);

/* The same verdict from a workload's measured block (no cards, no topology). `params`: the thresholds, with what a
 * request overrides; NULL = the catalog's own. */
int diagnosis_of_measured(const struct measured *m, const struct catalog *c, const struct param_table *params,
                          struct arena *arena, struct diagnosis *ret, struct err *err);
int diagnosis_from_measured(const struct measured *m, const struct catalog *c, struct arena *arena,
                            struct diagnosis *ret, struct err *err);

#endif
