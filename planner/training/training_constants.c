/* training_constants.c — binds the rows of the calibration and assumption tables that training reads. */
#include "planner/training/training_constants.h"

#include <stddef.h>
#include <stdio.h>

#define ROW(member) PARAM_FIELD(struct training_constants, member, "train." #member)

static const struct param_field FIELDS[] = {
    ROW(power_exponent),
    ROW(tf32_share),
    ROW(fp32_share),
    ROW(fp8_gain),
    ROW(fp8_plain),
    ROW(fp8_plain_floor),
    ROW(fp8_mx),
    ROW(fp4_share),
    ROW(product_traffic),
    ROW(weight_traffic),
    ROW(area_half),
    ROW(misaligned),
    ROW(length_half),
    ROW(head_half),
    ROW(attention_backward),
    ROW(attention_modern),
    ROW(unaligned_heads),
    ROW(score_passes),
    ROW(memory_passes),
    ROW(memory_fused),
    ROW(memory_eager),
    ROW(memory_compiled),
    ROW(logit_passes),
    ROW(logit_eager),
    ROW(step_fixed),
    ROW(launch_blend),
    ROW(floor_fused),
    ROW(floor_eager),
    ROW(floor_adapter),
    ROW(floor_quant),
    ROW(floor_shard),
    ROW(adapter_passes),
    ROW(context_floor),
    ROW(dequant_bytes),
    ROW(selective_recompute),
    ROW(selective_native),
    ROW(recompute_cost),
    ROW(optimizer_passes),
    ROW(moe_share),
    ROW(moe_width_half),
    ROW(moe_tokens_half),
    ROW(expert_overhead),
    ROW(moe_recompute_cap),
    ROW(nvlink_share),
    ROW(nvlink_tp_share),
    ROW(mesh_share),
    ROW(rdma_share),
    ROW(roce_share),
    ROW(tcp_share),
    ROW(pcie3_board),
    ROW(pcie4_board),
    ROW(pcie5_board),
    ROW(pcie_server),
    ROW(host_link_share),
    ROW(tp_exposed),
    ROW(tp_async_exposed),
    ROW(pp_exposed),
    ROW(a2a_exposed),
    ROW(deepep_exposed),
    ROW(cp_exposed),
    ROW(shard_hidden),
    ROW(shard_hidden_eager),
    ROW(contention),
    ROW(collective_latency),
    ROW(node_latency),
    ROW(grad_hidden),
    ROW(node_leave),
    ROW(leave_assumed),
    ROW(node_skew),
    ROW(rank_skew),
    ROW(broadcast_rank_s),
    ROW(gradient_wire_bytes),
    ROW(spread_loss),
    ROW(gather_eager),
    ROW(ethernet_default_gbps),
    ROW(tcp_latency),
    ROW(host_update_gb_s),
    ROW(grad_bytes_ddp),
    ROW(grad_shard_bytes),
    ROW(flat_bytes),
    ROW(adapter_bytes),
    ROW(quant_bytes),
    ROW(quant_vocab_bytes),
    ROW(trained_vocab_bytes),
    ROW(dequant_copies),
    ROW(shard_units),
    ROW(shard_vocab),
    ROW(act_eager),
    ROW(act_fused),
    ROW(act_parallel),
    ROW(act_quant),
    ROW(selective_store),
    ROW(peak_overlap),
    ROW(logits_eager),
    ROW(logits_quant),
    ROW(logits_fused),
    ROW(logits_parallel),
    ROW(logits_chunked),
    ROW(logits_cut),
    ROW(overhead_one_gb),
    ROW(overhead_many_gb),
    ROW(overhead_pcie_gb),
    ROW(fragmentation),
    ROW(usable_share),
    ROW(moe_imbalance),
    ROW(run_small),
    ROW(run_medium),
    ROW(run_large),
    ROW(failure_gpu_hours),
    ROW(restart_hours),
    ROW(checkpoint_gb_s),
    ROW(evaluation_share),
    ROW(band_dense),
    ROW(band_adapter),
    ROW(band_moe),
    ROW(band_unknown),
    ROW(band_measured),
    ROW(band_memory),
    ROW(band_memory_adapter),
    ROW(band_scale_high),
    ROW(band_scale_mid),
    ROW(band_scale_low),
    ROW(band_shift),
    ROW(default_seq),
    ROW(default_pretrain_tokens),
    ROW(default_finetune_sequences),
    ROW(default_lora_rank),
    ROW(pad_unpacked),
    ROW(pipeline_from_params),
    ROW(reading_tolerance),
    ROW(reading_busy),
    ROW(bytes_per_token),
    ROW(encoder_positions),
    ROW(custom_share),
    ROW(custom_batch),
    ROW(host_contention_pcie),
    ROW(host_contention_link),
    ROW(gradient_share_of_state),
};

struct class_field {
    const char *name;
    size_t offset; /* of an array over GPU classes */
};

static const struct class_field BY_CLASS[] = {
    {"train.matmul", offsetof(struct training_constants, matmul)},
    {"train.attention", offsetof(struct training_constants, attention)},
    {"train.quant_share", offsetof(struct training_constants, quant_share)},
    {"train.attention_tuned", offsetof(struct training_constants, attention_tuned)},
    {"train.watts_per_tflop", offsetof(struct training_constants, watts_per_tflop)},
    {"train.fabric_gbps_per_card", offsetof(struct training_constants, fabric_gbps_per_card)},
};

size_t training_constants_size(void)
{
    return sizeof(struct training_constants);
}

int training_constants_bind(const struct param_table *params, struct training_constants *ret, struct err *err)
{
    struct training_constants k;
    if (param_bind(params, FIELDS, sizeof FIELDS / sizeof *FIELDS, &k, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof BY_CLASS / sizeof *BY_CLASS; i++) {
        for (int c = 0; c < GPU_CLASS_COUNT; c++) {
            char key[80];
            (void)snprintf(key, sizeof key, "%s/%s", BY_CLASS[i].name, gpu_class_name((enum gpu_class)c));
            struct param_field one = {key, BY_CLASS[i].offset + (size_t)c * sizeof(double)};
            if (param_bind(params, &one, 1, &k, err) != 0)
                return -1;
        }
    }
    *ret = k;
    return 0;
}
