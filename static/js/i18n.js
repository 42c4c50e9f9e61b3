// i18n.js — two languages from equal message catalogs; the page never contains a sentence of its own.
let messages = {};
let language = 'zh-CN';

export const current = () => language;

export function initialLanguage() {
  const asked = new URLSearchParams(location.search).get('lang') ?? sessionStorage.getItem('suanpan.lang');
  if (asked === 'en' || asked === 'zh-CN') return asked;
  return (navigator.language ?? '').toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

export async function load(name) {
  const reply = await fetch(`/i18n/${name}.json`);
  messages = await reply.json();
  language = name;
  document.documentElement.lang = name;
  sessionStorage.setItem('suanpan.lang', name);
}

// t('finish.days', {n: 3}); an unknown key shows itself, which the tests look for.
export function t(key, values = {}) {
  const text = messages[key] ?? `[${key}]`;
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? `{${name}}`);
}

export const has = (key) => key in messages;

export function translatePage() {
  for (const node of document.querySelectorAll('[data-t]')) node.textContent = t(node.dataset.t);
  for (const button of document.querySelectorAll('[data-lang]'))
    button.setAttribute('aria-pressed', String(button.dataset.lang === language));
}
