"""options.py: the options each tool has, as its released versions name them (read in the tools' own documentation and
argument parsers, 2026-11). The launch texts may use no other."""

TORCHRUN = set("""nnodes nproc-per-node node-rank master-addr master-port standalone rdzv-id rdzv-backend
rdzv-endpoint""".split())  # torch.distributed.run, PyTorch 2.0 on

TRAINER = set("""deepspeed model_name_or_path max_seq_length per_device_train_batch_size gradient_accumulation_steps
learning_rate bf16 fp16 tf32 gradient_checkpointing optim output_dir max_steps num_train_epochs save_strategy save_steps
save_total_limit""".split())  # transformers.TrainingArguments; TRL's max_seq_length
FACTORY = {"lora_rank", "quantization_bit", "use_muon"}  # LLaMA-Factory
OPTIM = {"adamw_bnb_8bit", "adafactor", "sgd"}  # of transformers.training_args.OptimizerNames

MEGATRON = set("""tensor-model-parallel-size pipeline-model-parallel-size sequence-parallel
num-layers-per-virtual-pipeline-stage decoder-last-pipeline-num-layers context-parallel-size expert-model-parallel-size
expert-tensor-parallel-size use-megatron-fsdp use-distributed-optimizer data-parallel-sharding-strategy ckpt-format
no-gradient-accumulation-fusion overlap-grad-reduce overlap-param-gather optimizer-cpu-offload
use-precision-aware-optimizer recompute-granularity recompute-method recompute-num-layers num-layers hidden-size
num-attention-heads ffn-hidden-size group-query-attention num-query-groups multi-latent-attention kv-lora-rank
qk-pos-emb-head-dim kv-channels swiglu normalization position-embedding-type disable-bias-linear add-qkv-bias
qk-layernorm make-vocab-size-divisible-by untie-embeddings-and-output-weights num-experts moe-router-topk
moe-ffn-hidden-size moe-token-dispatcher-type moe-grouped-gemm moe-shared-expert-intermediate-size micro-batch-size
global-batch-size seq-length max-position-embeddings train-iters train-samples lr attention-dropout hidden-dropout bf16
fp16 fp8-format fp8-recipe data-path tokenizer-type tokenizer-model pretrained-checkpoint load save save-interval
exit-duration-in-mins""".split())  # Megatron-LM, core 0.14 on (Megatron-FSDP under that name)

SBATCH = set("""job-name partition nodes ntasks-per-node gpus-per-node gres requeue exclusive cpus-per-task time
array""".split())  # Slurm 22.05 on

SERVE = {
    "vllm serve": set("""tensor-parallel-size pipeline-parallel-size enable-expert-parallel max-model-len kv-cache-dtype
quantization enforce-eager""".split()),
    "sglang.launch_server": set("""model-path tp-size pp-size ep-size context-length kv-cache-dtype quantization
load-format""".split()),
    "lmdeploy serve api_server": {"tp", "ep", "session-len", "quant-policy", "model-format"},
    "trtllm-serve": {"tp_size", "pp_size", "ep_size", "max_seq_len"},
    "llama-server": {"model", "ctx-size", "cache-type-k", "cache-type-v", "n-gpu-layers"},
    "text-generation-launcher": {"model-id", "num-shard", "max-total-tokens", "kv-cache-dtype", "quantize"},
}

# "a.b": b inside the object a. DeepSpeed 0.14 to 0.17; later ones have no mics_shard_size.
DEEPSPEED = set("""train_batch_size train_micro_batch_size_per_gpu gradient_accumulation_steps gradient_clipping bf16
bf16.enabled fp16 fp16.enabled fp16.loss_scale fp16.initial_scale_power optimizer optimizer.type optimizer.params
optimizer.params.lr zero_allow_untested_optimizer zero_force_ds_cpu_optimizer activation_checkpointing
activation_checkpointing.partition_activations activation_checkpointing.cpu_checkpointing zero_optimization
zero_optimization.stage zero_optimization.overlap_comm zero_optimization.contiguous_gradients
zero_optimization.reduce_scatter zero_optimization.stage3_gather_16bit_weights_on_model_save
zero_optimization.mics_shard_size zero_optimization.offload_optimizer zero_optimization.offload_optimizer.device
zero_optimization.offload_optimizer.pin_memory zero_optimization.offload_param zero_optimization.offload_param.device
zero_optimization.offload_param.pin_memory""".split())
