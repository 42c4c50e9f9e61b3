/* serving_constants.h — every constant of this room, bound once per catalog snapshot from assumptions_serving.csv and
 * calibration_serving.csv. Meaning, evidence and source of each stand in those rows; docs/planner-serving.md explains
 * the terms they belong to.
 */
#ifndef SUANPAN_PLANNER_SERVING_SERVING_CONSTANTS_H
#define SUANPAN_PLANNER_SERVING_SERVING_CONSTANTS_H

/* X(member, key): all members are doubles. */
#define SERVING_CONSTANTS(X)                                                                                           \
    /* weights: bits per parameter of packed formats */                                                                \
    X(bits_gguf_q2_k, "serve.weight_bits/gguf_q2_k")                                                                   \
    X(bits_gguf_q3_k_m, "serve.weight_bits/gguf_q3_k_m")                                                               \
    X(bits_gguf_iq4_xs, "serve.weight_bits/gguf_iq4_xs")                                                               \
    X(bits_gguf_q4_k_m, "serve.weight_bits/gguf_q4_k_m")                                                               \
    X(bits_gguf_q5_k_m, "serve.weight_bits/gguf_q5_k_m")                                                               \
    X(bits_gguf_q6_k, "serve.weight_bits/gguf_q6_k")                                                                   \
    X(bits_gguf_q8_0, "serve.weight_bits/gguf_q8_0")                                                                   \
    X(bits_weight_only_4, "serve.weight_bits/weight_only_4")                                                           \
    X(bits_bnb4, "serve.weight_bits/bnb4")                                                                             \
    X(bits_nvfp4, "serve.weight_bits/nvfp4")                                                                           \
    X(bits_mxfp4, "serve.weight_bits/mxfp4")                                                                           \
    X(mxfp4_padding, "serve.mxfp4_expert_padding")                                                                     \
    /* memory beside weights and cache */                                                                              \
    X(util_vllm, "serve.memory_utilization/vllm")                                                                      \
    X(util_sglang, "serve.memory_utilization/sglang")                                                                  \
    X(util_compiled, "serve.memory_utilization/tensorrt_llm")                                                          \
    X(util_local, "serve.memory_utilization/local")                                                                    \
    X(util_unknown, "serve.memory_utilization/unknown")                                                                \
    X(util_most, "serve.memory_utilization/most")                                                                      \
    X(cache_least, "serve.cache_least_share")                                                                          \
    X(sampler_factor_old, "serve.sampler_peak_factor/vllm_0.8_0.16")                                                   \
    X(sampler_factor, "serve.sampler_peak_factor/vllm_0.17")                                                           \
    X(max_seqs_large_card, "serve.max_num_seqs/large_card")                                                            \
    X(max_seqs, "serve.max_num_seqs/other_card")                                                                       \
    X(batched_tokens_large_card, "serve.max_num_batched_tokens/large_card")                                            \
    X(batched_tokens, "serve.max_num_batched_tokens/other_card")                                                       \
    X(large_card_gib, "serve.large_card_gib")                                                                          \
    X(large_card_tflops, "serve.large_card_tflops")                                                                    \
    X(prefill_ffn, "serve.prefill_activation/ffn")                                                                     \
    X(prefill_hidden, "serve.prefill_activation/hidden")                                                               \
    X(non_torch_one_old_gib, "serve.non_torch_gib/one_gpu_before_0.17")                                                \
    X(non_torch_many_old_gib, "serve.non_torch_gib/several_gpus_before_0.17")                                          \
    X(non_torch_one_gib, "serve.non_torch_gib/one_gpu")                                                                \
    X(non_torch_many_gib, "serve.non_torch_gib/several_gpus")                                                          \
    X(graphs_gib, "serve.graphs_gib")                                                                                  \
    X(overhead_compiled_gib, "serve.engine_overhead_gib/tensorrt_llm")                                                 \
    X(overhead_sglang_gib, "serve.engine_overhead_gib/sglang")                                                         \
    X(overhead_local_gib, "serve.engine_overhead_gib/local")                                                           \
    X(overhead_eager_gib, "serve.engine_overhead_gib/eager")                                                           \
    X(overhead_unknown_gib, "serve.engine_overhead_gib/unknown")                                                       \
    X(overhead_unknown_share, "serve.engine_overhead_weight_share/unknown")                                            \
    X(tight_share, "serve.tight_share")                                                                                \
    X(memory_band_known, "serve.memory_band/known_version")                                                            \
    X(memory_band_unknown, "serve.memory_band/unknown_version")                                                        \
    X(block_tokens, "serve.kv_block_tokens")                                                                           \
    X(state_bytes_per_width, "serve.state_bytes_per_width")                                                            \
    /* decode */                                                                                                       \
    X(layer_us_dense, "serve.layer_us/dense")                                                                          \
    X(layer_us_moe, "serve.layer_us/moe")                                                                              \
    X(layer_us_mla, "serve.layer_us_extra/mla")                                                                        \
    X(layer_us_moe_fp8, "serve.layer_us_extra/moe_8bit")                                                               \
    X(layer_us_local, "serve.layer_us/local")                                                                          \
    X(layer_us_eager, "serve.layer_us/eager")                                                                          \
    X(layer_us_no_graphs, "serve.layer_us/no_graphs")                                                                  \
    X(layer_us_npu, "serve.layer_us/ascend")                                                                           \
    X(layer_factor_cdna3, "serve.layer_factor/cdna3")                                                                  \
    X(eager_factor_4bit, "serve.eager_layer_factor/4bit")                                                              \
    X(eager_factor_8bit, "serve.eager_layer_factor/8bit")                                                              \
    X(eager_factor_fp8, "serve.eager_layer_factor/fp8")                                                                \
    X(eager_kv_passes, "serve.eager_kv_passes")                                                                        \
    X(eager_copy_gb_s, "serve.eager_copy_gb_s")                                                                        \
    X(eager_expert_us, "serve.eager_expert_us")                                                                        \
    X(gptq_expert_us, "serve.gptq_expert_layer_us")                                                                    \
    X(eta_weights, "serve.bandwidth_share/weights")                                                                    \
    X(eta_weights_gddr, "serve.bandwidth_share/weights_gddr")                                                          \
    X(eta_weights_old, "serve.bandwidth_share/weights_ampere")                                                         \
    X(eta_weights_local_hbm, "serve.bandwidth_share/weights_local_hbm")                                                \
    X(local_4bit, "serve.bandwidth_factor/local_4bit")                                                                 \
    X(weight_only_4bit, "serve.bandwidth_factor/weight_only_4bit")                                                     \
    X(eta_experts, "serve.bandwidth_share/experts")                                                                    \
    X(eta_kv, "serve.bandwidth_share/kv")                                                                              \
    X(gemm16, "serve.gemm_share/16bit")                                                                                \
    X(gemm8, "serve.gemm_share/8bit")                                                                                  \
    X(gemm4, "serve.gemm_share/4bit")                                                                                  \
    X(gemm_decode, "serve.gemm_factor/decode")                                                                         \
    X(gemm_prefill_python, "serve.gemm_factor/prefill_python")                                                         \
    X(gemm_amd, "serve.gemm_factor/amd")                                                                               \
    X(gemm_amd_moe, "serve.gemm_factor/amd_moe")                                                                       \
    X(attention_share, "serve.attention_share")                                                                        \
    X(tile_rows, "serve.tile_rows/full")                                                                               \
    X(tile_rows_weight_only, "serve.tile_rows/weight_only")                                                            \
    X(expert_narrow, "serve.expert_narrow_width")                                                                      \
    X(expert_pad_rows, "serve.expert_pad_rows")                                                                        \
    X(expert_passes, "serve.expert_passes")                                                                            \
    X(all_reduce_us, "serve.all_reduce_us/nvlink")                                                                     \
    X(all_reduce_pcie_us, "serve.all_reduce_us/pcie")                                                                  \
    X(all_reduce_inter_us, "serve.all_reduce_us/inter_node")                                                           \
    X(link_share, "serve.link_share/nvlink")                                                                           \
    X(pcie4_gb_s, "serve.pcie4_gb_s")                                                                                  \
    X(inter_share, "serve.link_share/inter_node")                                                                      \
    X(link_assumed_gb_s, "serve.link_assumed/card")                                                                    \
    X(inter_assumed_gbps, "serve.link_assumed/inter_node")                                                             \
    X(all_reduce_old, "serve.all_reduce_factor/old_engine")                                                            \
    X(host_ms_old, "serve.host_step_ms/first_generation")                                                              \
    X(host_ms, "serve.host_step_ms/current")                                                                           \
    X(host_ms_local, "serve.host_step_ms/local")                                                                       \
    X(host_seq_us, "serve.host_sequence_us")                                                                           \
    X(host_grace, "serve.host_factor/grace")                                                                           \
    X(pipeline_bubble, "serve.pipeline_bubble")                                                                        \
    X(mtp_gain_few, "serve.mtp_gain/few")                                                                              \
    X(mtp_gain_many, "serve.mtp_gain/many")                                                                            \
    X(mtp_kept_sglang, "serve.mtp_gain_kept/sglang")                                                                   \
    /* under load */                                                                                                   \
    X(prefill_interference, "serve.prefill_interference")                                                              \
    X(ttft_factor, "serve.ttft_factor")                                                                                \
    X(ttft_band_low, "serve.ttft_band/low")                                                                            \
    X(ttft_band_high, "serve.ttft_band/high")                                                                          \
    X(batch_cap_compiled, "serve.batch_cap/tensorrt_llm")                                                              \
    /* what an unnamed engine costs against a tuned one */                                                             \
    X(unknown_engine_factor, "serve.unknown_engine_factor")                                                            \
    /* 80 % intervals: half-width factors */                                                                           \
    X(band_dense, "serve.band/dense")                                                                                  \
    X(band_dense_python, "serve.band/dense_python")                                                                    \
    X(band_moe, "serve.band/moe")                                                                                      \
    X(band_single, "serve.band/single_stream")                                                                         \
    X(band_single_eager, "serve.band/single_stream_eager")                                                             \
    X(band_tpot, "serve.band/time_per_token")                                                                          \
    X(band_single_multi, "serve.band/single_stream_several_gpus")                                                      \
    X(band_unknown_engine, "serve.band_extra/unknown_engine")                                                          \
    X(band_size_only, "serve.band_extra/size_only")                                                                    \
    X(band_rare_card, "serve.band_extra/rare_card")                                                                    \
    /* defaults of an operating point and of a sizing */                                                               \
    X(default_input, "serve_default_input_tokens")                                                                     \
    X(default_output, "serve_default_output_tokens")                                                                   \
    X(default_min_concurrency, "serve_min_concurrency_per_replica")                                                    \
    X(default_requests_per_user_hour, "serve_requests_per_user_hour")                                                  \
    X(default_peak_factor, "serve_peak_factor")                                                                        \
    X(default_ttft_ms, "serve_ttft_ms")                                                                                \
    X(default_tpot_ms, "serve_tpot_ms")                                                                                \
    X(default_utilisation, "serve_utilisation_target")                                                                 \
    X(max_wait_share, "serve_wait_share_of_ttft")                                                                      \
    X(shared_card_overhead_gib, "serve.shared_card_overhead_gib")                                                      \
    /* forward-only work */                                                                                            \
    X(embed_share, "serve.embedding_share")                                                                            \
    X(embed_share_plain, "serve.embedding_share/plain_library")                                                        \
    X(index_graph, "serve.index_graph_factor")                                                                         \
    X(image_share_eager, "serve.image_share/eager")                                                                    \
    X(image_gain_8bit, "serve.image_gain/8bit")                                                                        \
    X(image_activation_share, "serve.image_activation_share")                                                          \
    X(embed_attention_quad, "serve.embedding_attention")                                                               \
    X(image_share, "serve.image_share")                                                                                \
    X(two_stacks_share, "serve.two_stacks_share")                                                                      \
    X(speech_output, "serve_speech_output_tokens")                                                                     \
    X(image_passes, "serve_image_passes")                                                                              \
    X(band_embedding, "serve.band/embedding")

#define SERVING_AS_MEMBER(member, key) double member;
struct serving_constants {
    SERVING_CONSTANTS(SERVING_AS_MEMBER)
};

#endif
