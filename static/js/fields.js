// fields.js — what the form asks, as a table. `path` is the member of the workload (docs/api.md), so that a refusal's
// JSON Pointer finds its field. `when` hides what does not apply; hidden fields are not sent.
const trains = (v) => v.goal !== 'serve';
const serves = (v) => v.goal !== 'train';
const own = (v) => v.model === '';
const custom = (v) => trains(v) && v.method === 'custom';
const transformer = (v) => trains(v) && v.method !== 'custom';
const adapters = (v) => trains(v) && (v.method === 'lora' || v.method === 'qlora');

const positive = { type: 'number', min: 0 };
const whole = { type: 'integer', min: 1 };

export const groups = [
  { id: 'goal', open: true, fields: [
    { id: 'goal', type: 'select', options: ['both', 'train', 'serve'], virtual: true, initial: 'both', wide: true },
    { id: 'name', type: 'text', path: 'name', maxlength: 200 },
    { id: 'priority', type: 'select', path: 'priority', options: ['balanced', 'cheapest', 'fastest'], initial: 'balanced' },
  ] },
  { id: 'model', open: true, fields: [
    { id: 'model', type: 'select', path: 'model.preset', source: 'models', empty: 'own', initial: 'qwen2.5-7b', wide: true },
    { id: 'params_b', ...positive, path: 'model.params_b', when: own, step: 'any' },
    { id: 'active_params_b', ...positive, path: 'model.active_params_b', when: own, step: 'any' },
    { id: 'layers', ...whole, path: 'model.layers', when: own },
    { id: 'hidden', ...whole, path: 'model.hidden', when: own },
    { id: 'heads', ...whole, path: 'model.heads', when: own },
    { id: 'kv_heads', ...whole, path: 'model.kv_heads', when: own },
    { id: 'intermediate', ...whole, path: 'model.intermediate', when: own },
    { id: 'vocab', ...whole, path: 'model.vocab', when: own },
    { id: 'experts', ...whole, path: 'model.experts', when: own },
    { id: 'experts_per_token', ...whole, path: 'model.experts_per_token', when: own },
    { id: 'config', type: 'json', path: 'model.config', when: own, wide: true },
  ] },
  { id: 'training', open: true, when: trains, fields: [
    { id: 'method', type: 'select', path: 'training.method', options: ['lora', 'qlora', 'full_finetune', 'pretrain', 'embedding', 'custom'], initial: 'lora' },
    { id: 'work_unit', type: 'select', options: ['tokens', 'samples', 'steps'], virtual: true, initial: 'tokens' },
    { id: 'tokens', ...positive, path: 'training.tokens', when: (v) => trains(v) && v.work_unit === 'tokens', step: 'any' },
    { id: 'samples', ...positive, path: 'training.samples', when: (v) => trains(v) && v.work_unit === 'samples', step: 'any' },
    { id: 'steps', ...positive, path: 'training.steps', when: (v) => trains(v) && v.work_unit === 'steps', step: 'any' },
    { id: 'epochs', ...positive, path: 'training.epochs', step: 'any' },
    { id: 'seq_len', ...whole, path: 'training.seq_len', when: transformer },
    { id: 'global_batch', ...whole, path: 'training.global_batch' },
    { id: 'lora_rank', ...whole, path: 'training.lora_rank', when: adapters },
    { id: 'runs', ...whole, path: 'training.runs' },
    { id: 'parallel_runs', ...whole, path: 'training.parallel_runs' },
    { id: 'shareable_runs', ...whole, min: 0, path: 'training.shareable_runs', when: (v) => trains(v) && Number(v.runs) > 1 },
    { id: 'precision', type: 'select', path: 'training.precision', options: ['bf16', 'fp16', 'fp8', 'fp4', 'tf32', 'fp32'], empty: 'auto', when: transformer },
    { id: 'optimizer', type: 'select', path: 'training.optimizer', options: ['adamw', 'adamw_8bit', 'adafactor', 'sgd', 'lion', 'muon'], empty: 'auto', when: transformer },
    { id: 'dataset_gb', ...positive, path: 'training.dataset_gb', step: 'any' },
    { id: 'checkpoints_kept', ...whole, path: 'training.checkpoints_kept' },
    { id: 'packed', type: 'checkbox', path: 'training.packed', when: transformer },
    { id: 'state_gb', ...positive, path: 'training.state_gb', when: custom, step: 'any' },
    { id: 'activation_gb_per_sample', ...positive, path: 'training.activation_gb_per_sample', when: custom, step: 'any' },
    { id: 'flops_per_sample', ...positive, path: 'training.flops_per_sample', when: custom, step: 'any' },
  ] },
  { id: 'measured', when: trains, fields: [
    { id: 'm_gpu', type: 'select', path: 'measured.gpu', source: 'gpus', empty: 'nothing', wide: true },
    { id: 'm_gpus', ...whole, path: 'measured.gpus', when: (v) => v.m_gpu !== '' },
    { id: 'm_nodes', ...whole, path: 'measured.nodes', when: (v) => v.m_gpu !== '' },
    { id: 'm_tokens_per_s', ...positive, path: 'measured.tokens_per_s', when: (v) => v.m_gpu !== '', step: 'any' },
    { id: 'm_samples_per_s', ...positive, path: 'measured.samples_per_s', when: (v) => v.m_gpu !== '', step: 'any' },
    { id: 'm_util', type: 'number', min: 0, max: 100, path: 'measured.gpu_util_pct', when: (v) => v.m_gpu !== '', step: 'any' },
    { id: 'm_memory', type: 'number', min: 0, max: 100, path: 'measured.memory_used_pct', when: (v) => v.m_gpu !== '', step: 'any' },
    { id: 'm_peak', ...positive, path: 'measured.peak_memory_gb', when: (v) => v.m_gpu !== '', step: 'any' },
    { id: 'm_comm', type: 'number', min: 0, max: 100, path: 'measured.comm_share_pct', when: (v) => v.m_gpu !== '', step: 'any' },
    { id: 'm_cv', ...positive, path: 'measured.iteration_time_cv', when: (v) => v.m_gpu !== '', step: 'any' },
    { id: 'm_speedup', ...positive, path: 'measured.two_node_speedup', when: (v) => v.m_gpu !== '', step: 'any' },
  ] },
  { id: 'serving', open: true, when: serves, fields: [
    { id: 'load_unit', type: 'select', options: ['none', 'requests_per_s', 'concurrency', 'users'], virtual: true, initial: 'requests_per_s' },
    { id: 'requests_per_s', ...positive, path: 'serving.requests_per_s', when: (v) => serves(v) && v.load_unit === 'requests_per_s', step: 'any' },
    { id: 'concurrency', ...positive, path: 'serving.concurrency', when: (v) => serves(v) && v.load_unit === 'concurrency', step: 'any' },
    { id: 'users', ...positive, path: 'serving.users', when: (v) => serves(v) && v.load_unit === 'users' },
    { id: 'requests_per_user_hour', ...positive, path: 'serving.requests_per_user_hour', when: (v) => serves(v) && v.load_unit === 'users', step: 'any' },
    { id: 'input_tokens', ...whole, path: 'serving.input_tokens' },
    { id: 'output_tokens', ...whole, path: 'serving.output_tokens' },
    { id: 'months', ...positive, path: 'serving.months', step: 'any' },
    { id: 'hours_per_day', type: 'number', min: 0, max: 24, path: 'serving.hours_per_day', step: 'any' },
    { id: 'batch_share', type: 'number', min: 0, max: 1, path: 'serving.batch_share', when: (v) => serves(v) && v.load_unit !== 'concurrency', step: 'any' },
    { id: 'peak_factor', ...positive, path: 'serving.peak_factor', step: 'any' },
    { id: 'ttft_ms', ...positive, path: 'serving.ttft_ms' },
    { id: 'tpot_ms', ...positive, path: 'serving.tpot_ms' },
    { id: 'spare_replicas', type: 'integer', min: 0, path: 'serving.spare_replicas' },
    { id: 'weight_format', type: 'select', path: 'serving.weight_format', options: ['bf16', 'fp8', 'int8', 'awq', 'gptq', 'nvfp4', 'mxfp4', 'gguf_q4_k_m'], empty: 'auto' },
    { id: 'engine', type: 'select', path: 'serving.engine', options: ['vllm', 'sglang', 'tensorrt_llm', 'lmdeploy', 'mindie', 'llama_cpp', 'tgi'], empty: 'auto' },
  ] },
  { id: 'constraints', open: true, fields: [
    { id: 'start_on', type: 'date', path: 'constraints.start_on' },
    { id: 'deadline_on', type: 'date', path: 'constraints.deadline_on' },
    { id: 'budget', type: 'decimal', path: 'constraints.budget.amount' },
    { id: 'currency', type: 'select', path: 'currency', options: ['CNY', 'USD'], initial: 'CNY' },
    { id: 'city', type: 'select', path: 'constraints.city', options: ['hefei', 'shenzhen', 'wuhan'], empty: 'anywhere', initial: 'hefei' },
    { id: 'team', type: 'select', path: 'constraints.team', options: ['none', 'single_node', 'slurm', 'kubernetes', 'expert'], empty: 'unsaid' },
    { id: 'max_nodes', ...whole, path: 'constraints.max_nodes' },
    { id: 'egress_gb', ...positive, path: 'constraints.egress_gb', step: 'any' },
    { id: 'data_sensitive', type: 'checkbox', path: 'constraints.data_sensitive' },
    { id: 'can_desensitise', type: 'checkbox', path: 'constraints.can_desensitise', when: (v) => v.data_sensitive },
    { id: 'allow_spot', type: 'checkbox', path: 'constraints.allow_spot' },
  ] },
];

export const fields = groups.flatMap((group) => group.fields.map((field) => ({ ...field, group })));
export const byId = new Map(fields.map((field) => [field.id, field]));

// "/workload/training/tokens" -> the field that owns it, or the nearest one above or below it.
export function fieldOfPointer(pointer) {
  const path = pointer.replace(/^#?\/workload\//, '').replaceAll('/', '.');
  return fields.find((f) => f.path === path)
    ?? fields.find((f) => f.path && (f.path.startsWith(`${path}.`) || path.startsWith(`${f.path}.`)))
    ?? null;
}

export function isShown(field, values) {
  return (!field.group.when || field.group.when(values)) && (!field.when || field.when(values));
}
