// questions.js — what the form asks, as a table: every member of a workload (docs/api.md) has its row. `path` is the
// member, so that a refusal's JSON Pointer finds its field. `when` hides what does not apply; hidden fields are not
// sent. `more` holds what few requests need. `usual` names the assumption that counts where a field is left empty.
const trains = (v) => v.goal !== 'serve';
const serves = (v) => v.goal !== 'train';
const numbers = (v) => v.model_from === 'numbers';
const custom = (v) => trains(v) && v.method === 'custom';
const transformer = (v) => trains(v) && v.method !== 'custom';
const adapters = (v) => trains(v) && (v.method === 'lora' || v.method === 'qlora');
const quantised = (v) => trains(v) && v.method === 'qlora';
const byNumber = (v) => serves(v) && v.s_model_from === 'numbers';

const positive = { type: 'number', min: 0 };
const amount = { type: 'amount', min: 0 };
const whole = { type: 'integer', min: 1 };
const count = { type: 'integer', min: 0 };
const share = { type: 'number', min: 0, max: 100 };
const yesNo = { type: 'yes_no', options: ['true', 'false'], empty: 'auto' };
const choice = (options, empty = 'auto') => ({ type: 'select', options, empty });

const layoutMember = (name, kind) => ({ id: `ml_${name}`, ...kind, path: `measured.layout.${name}` });

const model = { id: 'model', open: true, fields: [
  { id: 'model_from', type: 'select', options: ['preset', 'numbers', 'config'], virtual: true, initial: 'preset', wide: true },
  { id: 'model', type: 'pick', path: 'model.preset', source: 'models', when: (v) => v.model_from === 'preset', initial: 'qwen2.5-7b', wide: true },
  { id: 'params_b', ...positive, path: 'model.params_b', when: numbers },
  { id: 'active_params_b', ...positive, path: 'model.active_params_b', when: numbers },
  { id: 'layers', ...whole, path: 'model.layers', when: numbers },
  { id: 'hidden', ...whole, path: 'model.hidden', when: numbers },
  { id: 'heads', ...whole, path: 'model.heads', when: numbers },
  { id: 'kv_heads', ...whole, path: 'model.kv_heads', when: numbers },
  { id: 'intermediate', ...whole, path: 'model.intermediate', when: numbers },
  { id: 'vocab', ...whole, path: 'model.vocab', when: numbers },
  { id: 'experts', ...count, path: 'model.experts', when: numbers },
  { id: 'experts_per_token', ...count, path: 'model.experts_per_token', when: numbers },
  { id: 'config', type: 'json', path: 'model.config', when: (v) => v.model_from === 'config', wide: true },
], more: [
  { id: 'model_name', type: 'text', path: 'model.name', maxlength: 200, when: numbers },
  ...['head_dim', 'max_context'].map((id) => ({ id, ...whole, path: `model.${id}`, when: numbers })),
  ...['dense_intermediate', 'dense_layers', 'shared_intermediate', 'moe_every', 'kv_lora_rank', 'q_lora_rank', 'rope_head_dim', 'v_head_dim',
    'window', 'full_attention_layers'].map((id) => ({ id, ...count, path: `model.${id}`, when: numbers })),
  { id: 'ffn', ...choice(['gated', 'plain']), path: 'model.ffn', when: numbers },
  ...['tied_embeddings', 'causal', 'qkv_bias', 'qk_norm'].map((id) => ({ id, ...yesNo, path: `model.${id}`, when: numbers })),
  { id: 'model_flops', ...positive, path: 'model.flops_per_sample', when: numbers },
] };

const training = { id: 'training', open: true, when: trains, fields: [
  { id: 'method', type: 'select', path: 'training.method', options: ['lora', 'qlora', 'full_finetune', 'pretrain', 'embedding', 'custom'], initial: 'lora', absent: 'full_finetune' },
  { id: 'work_unit', type: 'select', options: ['tokens', 'samples', 'steps'], virtual: true, initial: 'tokens' },
  { id: 'tokens', ...amount, path: 'training.tokens', when: (v) => trains(v) && v.work_unit === 'tokens' },
  { id: 'samples', ...amount, path: 'training.samples', when: (v) => trains(v) && v.work_unit === 'samples' },
  { id: 'steps', ...amount, path: 'training.steps', when: (v) => trains(v) && v.work_unit === 'steps' },
  { id: 'epochs', ...positive, path: 'training.epochs' },
  { id: 'seq_len', ...whole, path: 'training.seq_len', when: transformer, usual: 'train.default_seq' },
  { id: 'global_batch', ...whole, path: 'training.global_batch' },
  { id: 'lora_rank', ...whole, path: 'training.lora_rank', when: adapters, usual: 'train.default_lora_rank' },
  { id: 'runs', ...whole, path: 'training.runs' },
  { id: 'parallel_runs', ...whole, path: 'training.parallel_runs' },
  { id: 'shareable_runs', ...count, path: 'training.shareable_runs', when: (v) => trains(v) && (Number(v.runs) > 1 || v.shareable_runs !== '') },
  { id: 'packed', ...yesNo, path: 'training.packed', empty: 'unsaid', when: transformer },
  { id: 'precision', ...choice(['bf16', 'fp16', 'fp8', 'fp4', 'tf32', 'fp32']), path: 'training.precision', when: trains },
  { id: 'optimizer', ...choice(['adamw', 'adamw_8bit', 'adafactor', 'sgd', 'lion', 'muon']), path: 'training.optimizer', when: trains },
  { id: 'dataset_gb', ...positive, path: 'training.dataset_gb' },
  { id: 'checkpoints_kept', ...count, path: 'training.checkpoints_kept', usual: 'checkpoints_kept' },
  { id: 'state_gb', ...positive, path: 'training.state_gb', when: custom },
  { id: 'activation_gb_per_sample', ...positive, path: 'training.activation_gb_per_sample', when: custom },
  { id: 'flops_per_sample', ...positive, path: 'training.flops_per_sample', when: (v) => custom(v) || (trains(v) && v.flops_per_sample !== '') },
], more: [
  { id: 'grad_accumulation', ...whole, path: 'training.grad_accumulation' },
  { id: 'mean_len', ...positive, path: 'training.mean_len' },
  { id: 'quant_bits', ...positive, path: 'training.quant_bits', when: (v) => quantised(v) || v.quant_bits !== '' },
  { id: 'loss_impl', ...choice(['eager', 'chunked', 'fused']), path: 'training.loss_impl' },
  { id: 'fp8_recipe', ...choice(['mxfp8', 'tensorwise']), path: 'training.fp8_recipe' },
  ...['compile', 'master_weights', 'train_embeddings', 'optimizer_in_backward'].map((id) => ({ id, ...yesNo, path: `training.${id}` })),
] };

const measured = { id: 'measured', when: trains, fields: [
  { id: 'm_gpu', type: 'pick', path: 'measured.gpu', source: 'gpus', wide: true },
  { id: 'm_gpus', ...whole, path: 'measured.gpus' },
  { id: 'm_nodes', ...whole, path: 'measured.nodes' },
  { id: 'm_tokens_per_s', ...positive, path: 'measured.tokens_per_s' },
  { id: 'm_samples_per_s', ...positive, path: 'measured.samples_per_s' },
  { id: 'm_step_time', ...positive, path: 'measured.step_time_s' },
  { id: 'm_util', ...share, path: 'measured.gpu_util_pct' },
  { id: 'm_memory', ...share, path: 'measured.memory_used_pct' },
  { id: 'm_peak', ...positive, path: 'measured.peak_memory_gb' },
  { id: 'm_comm', ...share, path: 'measured.comm_share_pct' },
  { id: 'm_cv', ...positive, path: 'measured.iteration_time_cv' },
  { id: 'm_speedup', ...positive, path: 'measured.two_node_speedup' },
  { id: 'm_verdict', ...choice(['healthy', 'real_need', 'data_pipeline', 'bandwidth_bound', 'unstable_iterations', 'waiting', 'pcie_bound', 'insufficient'], 'nothing'), path: 'measured.verdict' },
  { id: 'm_recoverable', type: 'number', min: 0, max: 1, path: 'measured.recoverable_share' },
], more: [
  { id: 'm_seq_len', ...whole, path: 'measured.seq_len' },
  { id: 'm_batch', ...whole, path: 'measured.global_batch' },
  { id: 'm_file_system', ...positive, path: 'measured.parallel_file_system_gbps' },
  ...['tp', 'pp', 'vpp', 'dp', 'cp', 'ep', 'shard_group', 'micro_batch'].map((name) => layoutMember(name, whole)),
  layoutMember('sharding', choice(['none', 'zero1', 'zero2', 'zero3'], 'unsaid')),
  layoutMember('offload', choice(['none', 'optimizer', 'parameters', 'activations'], 'unsaid')),
  layoutMember('recompute', choice(['none', 'selective', 'full'], 'unsaid')),
  layoutMember('grad_sync', choice(['each', 'last'], 'unsaid')),
  layoutMember('ep_dispatch', choice(['alltoall', 'deepep'], 'unsaid')),
  ...['flash_attention', 'vocab_parallel', 'async_tp'].map((name) => layoutMember(name, { ...yesNo, empty: 'unsaid' })),
] };

const serving = { id: 'serving', open: true, when: serves, fields: [
  { id: 'load_unit', type: 'select', options: ['none', 'requests_per_s', 'concurrency', 'users'], virtual: true, initial: 'requests_per_s' },
  { id: 'requests_per_s', ...positive, path: 'serving.requests_per_s', when: (v) => serves(v) && v.load_unit === 'requests_per_s' },
  { id: 'concurrency', ...positive, path: 'serving.concurrency', when: (v) => serves(v) && v.load_unit === 'concurrency' },
  { id: 'users', ...amount, path: 'serving.users', when: (v) => serves(v) && v.load_unit === 'users' },
  { id: 'requests_per_user_hour', ...positive, path: 'serving.requests_per_user_hour', when: (v) => serves(v) && v.load_unit === 'users' },
  { id: 'input_tokens', ...whole, path: 'serving.input_tokens', usual: 'serve_default_input_tokens' },
  { id: 'output_tokens', ...whole, path: 'serving.output_tokens', usual: 'serve_default_output_tokens' },
  { id: 'months', ...positive, path: 'serving.months' },
  { id: 'hours_per_day', type: 'number', min: 0, max: 24, path: 'serving.hours_per_day' },
  { id: 'batch_share', type: 'number', min: 0, max: 1, path: 'serving.batch_share', when: (v) => serves(v) && v.load_unit !== 'concurrency' },
  { id: 'peak_factor', type: 'number', min: 1, path: 'serving.peak_factor' },
  { id: 'ttft_ms', ...positive, path: 'serving.ttft_ms' },
  { id: 'tpot_ms', ...positive, path: 'serving.tpot_ms' },
  { id: 'spare_replicas', ...count, path: 'serving.spare_replicas' },
  { id: 'weight_format', ...choice(['bf16', 'fp16', 'fp32', 'fp8', 'fp8_fbgemm', 'int8', 'int8_weight_only', 'gptq', 'awq', 'int4', 'bnb4', 'nvfp4', 'mxfp4',
    'q4f16', 'exl2', 'gguf', 'gguf_f16', 'gguf_q2_k', 'gguf_q3_k_m', 'gguf_iq4_xs', 'gguf_q4_k_m', 'gguf_q5_k_m', 'gguf_q6_k', 'gguf_q8_0']), path: 'serving.weight_format' },
  { id: 'engine', ...choice(['vllm', 'sglang', 'tensorrt_llm', 'lmdeploy', 'mindie', 'llama_cpp', 'tgi', 'transformers', 'exllamav2', 'mlc', 'autoawq', 'atom']), path: 'serving.engine' },
], more: [
  { id: 's_model_from', type: 'select', options: ['same', 'preset', 'numbers', 'config'], virtual: true, initial: 'same', wide: true },
  { id: 's_model', type: 'pick', path: 'serving.model.preset', source: 'models', when: (v) => serves(v) && v.s_model_from === 'preset', wide: true },
  { id: 's_params_b', ...positive, path: 'serving.model.params_b', when: byNumber },
  { id: 's_active_params_b', ...positive, path: 'serving.model.active_params_b', when: byNumber },
  { id: 's_config', type: 'json', path: 'serving.model.config', when: (v) => serves(v) && v.s_model_from === 'config', wide: true },
  { id: 'weight_bits', ...positive, path: 'serving.weight_bits' },
  { id: 'kv_bits', ...positive, path: 'serving.kv_bits' },
  { id: 'engine_version', type: 'text', path: 'serving.engine_version', maxlength: 40 },
  { id: 'speculative', ...choice(['mtp', 'none']), path: 'serving.speculative' },
  { id: 'attention_dp', ...yesNo, path: 'serving.attention_dp' },
  { id: 'enforce_eager', ...yesNo, path: 'serving.enforce_eager' },
] };

const constraints = { id: 'constraints', open: true, fields: [
  { id: 'start_on', type: 'date', path: 'constraints.start_on' },
  { id: 'deadline_on', type: 'date', path: 'constraints.deadline_on' },
  { id: 'budget', type: 'decimal', path: 'constraints.budget.amount' },
  { id: 'budget_currency', ...choice(['CNY', 'USD'], 'same'), path: 'constraints.budget.currency', when: (v) => v.budget !== '' },
  { id: 'currency', type: 'select', path: 'currency', options: ['CNY', 'USD'], initial: 'CNY', absent: 'CNY' },
  { id: 'city', ...choice(['hefei', 'shenzhen', 'wuhan'], 'anywhere'), path: 'constraints.city', initial: 'hefei' },
  { id: 'team', ...choice(['none', 'single_node', 'slurm', 'kubernetes', 'expert'], 'unsaid'), path: 'constraints.team' },
  { id: 'egress_gb', ...positive, path: 'constraints.egress_gb' },
  { id: 'max_nodes', ...whole, path: 'constraints.max_nodes' },
  { id: 'data_sensitive', type: 'checkbox', path: 'constraints.data_sensitive' },
  { id: 'can_desensitise', type: 'checkbox', path: 'constraints.can_desensitise', when: (v) => v.data_sensitive },
  { id: 'allow_spot', type: 'checkbox', path: 'constraints.allow_spot' },
], more: [
  { id: 'kinds', type: 'many', path: 'constraints.kinds', options: ['single_machine', 'small_cluster', 'hybrid_cloud', 'university_time'], wide: true },
  { id: 'gpus', type: 'many', path: 'constraints.gpus', source: 'gpus', wide: true },
  { id: 'providers', type: 'many', path: 'constraints.providers', source: 'providers', wide: true },
  { id: 'wan_gbps', ...positive, path: 'constraints.wan_gbps', usual: 'wan_gbps' },
  { id: 'mix_gpus', type: 'checkbox', path: 'constraints.mix_gpus' },
  { id: 'assumptions', type: 'figures', path: 'assumptions', source: 'assumptions', wide: true },
] };

export const groups = [
  { id: 'goal', open: true, fields: [
    { id: 'goal', type: 'select', options: ['both', 'train', 'serve'], virtual: true, initial: 'both', wide: true },
    { id: 'name', type: 'text', path: 'name', maxlength: 200, wide: true },
    { id: 'priority', type: 'select', path: 'priority', options: ['balanced', 'cheapest', 'fastest'], initial: 'balanced', absent: 'balanced' },
  ] },
  model, training, measured, serving, constraints,
];
