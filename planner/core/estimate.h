/* estimate.h — what physics answers for one workload on exactly one shape. Field names as on the wire (docs/api.md).
 *
 * GB = 1e9 bytes per GPU (serving weights_gb and kv_cache_gb: of the whole replica). low/high: ends of an 80 %
 * interval. NAN = not applicable (null on the wire).
 */
#ifndef SUANPAN_PLANNER_CORE_ESTIMATE_H
#define SUANPAN_PLANNER_CORE_ESTIMATE_H

#include <stdbool.h>

#include "planner/core/hardware.h"
#include "planner/core/note.h"
#include "planner/core/trace.h"
#include "planner/core/workload.h"

enum fits { FITS_NO = 0, FITS_TIGHT, FITS_YES };
enum confidence { CONF_ANALYTIC = 0, CONF_CALIBRATED, CONF_MEASURED };
const char *fits_name(enum fits f);
const char *confidence_name(enum confidence c);

struct memory_estimate {
    double total_gb, usable_gb;
    double weights_gb, gradients_gb, optimizer_gb, activations_gb, logits_gb, buffers_gb, overhead_gb, kv_cache_gb;
    double low_gb, high_gb;
    const char *tightest_term; /* name of the largest term that could be squeezed: "activations", "logits", ... */
};

struct training_estimate {
    double step_time_s, tokens_per_s, tokens_per_s_per_gpu, samples_per_s;
    double tflops_per_gpu, mfu_pct; /* model FLOPs, causal attention, against the dense peak of the precision */
    double communication_share, bubble_share, data_wait_share; /* of the step */
    double scaling_efficiency;    /* per-GPU throughput against one node of the same card (one GPU when one node) */
    double gpu_hours, wall_hours; /* one run, with run-level overheads; NAN without an amount of work */
    double tokens_per_s_per_gpu_low, tokens_per_s_per_gpu_high;
    int global_batch;
    double run_overhead;          /* share added by failures, checkpoints, evaluation: 0.03 */
    double checkpoint_gb;         /* size of one checkpoint */
    double checkpoint_interval_h; /* the best for what writing one costs and what a failure loses; 0 = not known */
    enum precision precision;     /* what the card runs, which may not be what was asked */
    double host_memory_gb;        /* needed per node */
    int searched; /* what the estimate cost to find: layouts tried, those that were timed counted three times */
};

struct serving_estimate {
    double weights_gb, kv_bytes_per_token, kv_cache_gb, kv_cache_tokens, max_concurrency;
    double output_tokens_per_s, total_tokens_per_s, requests_per_s, ttft_ms, tpot_ms;
    double output_tokens_per_s_low, output_tokens_per_s_high;
};

struct estimate {
    enum fits fits;
    struct memory_estimate memory;
    struct layout layout; /* used or found */
    bool has_training, has_serving;
    struct training_estimate training;
    struct serving_estimate serving;
    enum confidence confidence;
    struct note_list assumptions, warnings;
    struct trace trace; /* empty unless asked for */
    bool has_runner_up; /* the layout search's second best and why it lost */
    struct layout runner_up;
    struct note runner_up_reason;
};

#endif
