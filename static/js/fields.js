// fields.js — finding a question of the form: by its id, by the member it stands for, and whether it is asked now.
import { groups } from './questions.js';

export { groups };
export const fields = groups.flatMap((group) => [...group.fields, ...(group.more ?? [])].map((field) => ({ ...field, group })));
export const byId = new Map(fields.map((field) => [field.id, field]));

const decoded = (step) => step.replaceAll('~1', '/').replaceAll('~0', '~');

// "#/workload/training/tokens" -> ['training', 'tokens']; null where it is no member of the workload.
export function stepsOfPointer(pointer) {
  const [root, ...steps] = pointer.replace(/^#/, '').split('/').slice(1).map(decoded);
  return root === 'workload' ? steps : null;
}

// The field that owns the member, or the nearest one above or below it, or of its group; what is asked now comes first,
// and where a whole group is at fault the amount it turns on.
export function fieldOfPointer(pointer, values = null) {
  const steps = stepsOfPointer(pointer);
  if (!steps?.length) return null;
  const path = steps.join('.');
  const asked = (f) => values === null || isShown(f, values);
  const near = fields.filter((f) => f.path && (f.path.startsWith(`${path}.`) || path.startsWith(`${f.path}.`)));
  const kin = fields.filter((f) => f.path?.startsWith(`${steps[0]}.`));
  return [fields.filter((f) => f.path === path), near.filter((f) => f.type === 'amount'), near, kin].flat().find(asked)
    ?? fields.find((f) => f.path === path) ?? near[0] ?? null;
}

export function isShown(field, values) {
  return (!field.group.when || field.group.when(values)) && (!field.when || field.when(values));
}
