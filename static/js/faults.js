// faults.js — what the service refused, each fault at its field and all of them in one list that takes the focus.
import { h } from './h.js';
import { t } from './i18n.js';
import * as form from './form.js';
import { fieldOfPointer, stepsOfPointer } from './fields.js';

let counting = null;

export function clearFaults(box) {
  clearInterval(counting);
  form.clearFaults();
  box.hidden = true;
}

// Too busy: counts down to when asking again is welcome.
function busy(head, button, seconds) {
  const until = Date.now() + seconds * 1000;
  const tell = () => {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    head.textContent = left ? t('error.busy', { s: left }) : t('error.again');
    button.disabled = left > 0;
    if (!left) clearInterval(counting);
  };
  counting = setInterval(tell, 250);
  tell();
}

export function showFaults(box, result, retry) {
  clearFaults(box);
  const values = form.read();
  const entries = (result.problem?.errors ?? []).map((fault) => {
    const field = fieldOfPointer(fault.pointer ?? '', values);
    const text = fault.detail ?? fault.code;
    const figure = field?.type === 'figures' ? stepsOfPointer(fault.pointer).slice(1).join('/') : null;
    if (field) form.markFault(field.id, text, figure);
    return h('li', {}, field ? h('a', { href: `#f-${field.id}`, onclick: (event) => { event.preventDefault(); form.focus(field.id, figure); } },
      `${t(`field.${field.id}`)}: ${text}`) : `${fault.pointer ?? ''} ${text}`);
  });
  const waits = result.status === 503 || result.status === 429;
  const head = h('strong', {}, result.status === 0 ? t('error.offline') : result.problem?.title ?? t('error.http', { status: result.status }));
  const detail = entries.length ? h('ul', {}, entries) : result.problem?.detail ? h('p', {}, result.problem.detail) : '';
  const again = h('button', { type: 'button', onclick: () => { box.hidden = true; retry(); } }, t('error.retry'));
  box.replaceChildren(head, detail, result.status === 0 || result.status >= 429 ? again : '');
  if (waits) busy(head, again, result.retryAfter || 1);
  box.hidden = false;
  box.focus();
}
