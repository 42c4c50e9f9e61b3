/* training_constants.h — every fitted or assumed figure of training physics, bound by name from the calibration table.
 *
 * The rows (db/seed/calibration_training.csv, assumptions_training.csv) carry evidence, source and date; the field
 * names here follow their names. Nothing in this room is a number in code unless it is arithmetic (bytes of a bf16).
 */
#ifndef SUANPAN_PLANNER_TRAINING_CONSTANTS_H
#define SUANPAN_PLANNER_TRAINING_CONSTANTS_H

#include "planner/core/hardware.h"
#include "planner/training/training.h"

/* How the kernels of a job are written: what decides launch cost, fused passes and gradient width. */
enum stack {
    STACK_EAGER = 0, /* plain framework code: fine-tuning scripts */
    STACK_FUSED,     /* compiled or pretraining code on data parallelism */
    STACK_PARALLEL,  /* Megatron-class: tensor, pipeline, context or expert parallelism */
    STACK_COUNT
};

struct training_constants {
    /* compute */
    double matmul[GPU_CLASS_COUNT], attention[GPU_CLASS_COUNT], attention_tuned[GPU_CLASS_COUNT];
    double quant_share[GPU_CLASS_COUNT]; /* of that, where weights are expanded from a few bits first */
    double watts_per_tflop[GPU_CLASS_COUNT], power_exponent; /* what a generation's reference card has */
    double tf32_share, fp32_share, fp8_gain, fp8_plain, fp8_plain_floor, fp8_mx, fp4_share;
    double product_traffic, weight_traffic, area_half, misaligned;
    double length_half, head_half, attention_backward, attention_modern, unaligned_heads, score_passes;
    double memory_passes, memory_fused, memory_eager, memory_compiled, logit_passes, logit_eager;
    double step_fixed, launch_blend, floor_fused, floor_eager, floor_adapter, floor_quant, floor_shard;
    double context_floor, adapter_passes;
    double dequant_bytes, selective_recompute, selective_native, recompute_cost, optimizer_passes;
    double moe_share, moe_width_half, moe_tokens_half, expert_overhead, moe_recompute_cap;
    /* communication */
    double nvlink_share, nvlink_tp_share, mesh_share, rdma_share, roce_share, tcp_share;
    double pcie3_board, pcie4_board, pcie5_board, pcie_server, host_link_share;
    double tp_exposed, tp_async_exposed, pp_exposed, a2a_exposed, deepep_exposed, cp_exposed;
    double shard_hidden, shard_hidden_eager, contention, collective_latency, node_latency, grad_hidden;
    double node_leave, leave_assumed, node_skew, rank_skew, broadcast_rank_s, gradient_wire_bytes;
    double spread_loss, gather_eager; /* of the ring rate, per-parameter gathers of eager ZeRO-3 */
    double fabric_gbps_per_card[GPU_CLASS_COUNT], ethernet_default_gbps, tcp_latency;
    double host_update_gb_s;
    /* memory */
    double grad_bytes_ddp, grad_shard_bytes, flat_bytes, adapter_bytes, quant_bytes, quant_vocab_bytes,
        trained_vocab_bytes;
    double dequant_copies, shard_units, shard_vocab, act_eager, act_fused, act_parallel, act_quant, selective_store;
    double peak_overlap, logits_eager, logits_quant, logits_fused, logits_parallel, logits_chunked, logits_cut;
    double overhead_one_gb, overhead_many_gb, overhead_pcie_gb, fragmentation, usable_share, moe_imbalance;
    /* whole runs */
    double run_small, run_medium, run_large; /* share of step speed a pretraining keeps: <= 16, <= 128, more cards */
    double failure_gpu_hours, restart_hours, checkpoint_gb_s, evaluation_share;
    /* intervals: ln half-widths, and where the middle lies */
    double band_dense, band_adapter, band_moe, band_unknown, band_measured;
    double band_memory, band_memory_adapter, band_scale_high, band_scale_mid, band_scale_low, band_shift;
    /* assumptions */
    double default_seq, default_pretrain_tokens, default_finetune_sequences, default_lora_rank, pad_unpacked,
        pipeline_from_params, reading_tolerance, reading_busy;
    double bytes_per_token, encoder_positions;
    /* work that is no transformer */
    double custom_share, custom_batch, host_contention_pcie, host_contention_link, gradient_share_of_state;
};

#endif
