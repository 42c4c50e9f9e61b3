// api.js — the calls this page makes, all to its own origin.
export async function catalog(name, language, filter = '') {
  const items = [];
  let cursor = '';
  do {
    const reply = await fetch(`/api/v1/${name}?limit=500${filter}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      { headers: { 'Accept-Language': language } });
    if (!reply.ok) throw new Error(`${name}: HTTP ${reply.status}`);
    const page = await reply.json();
    items.push(...page.items);
    cursor = page.next_cursor ?? '';
  } while (cursor);
  return items;
}

// {ok: true, body} or {ok: false, status, problem, retryAfter}; a network failure has status 0.
async function post(path, request, language, { accept = 'application/json', signal } = {}) {
  try {
    const reply = await fetch(path, { method: 'POST', signal, body: JSON.stringify(request),
      headers: { 'Content-Type': 'application/json', Accept: accept, 'Accept-Language': language } });
    if (reply.ok) return { ok: true, body: accept === 'application/json' ? await reply.json() : await reply.blob() };
    return { ok: false, status: reply.status, problem: await reply.json().catch(() => null), retryAfter: Number(reply.headers.get('Retry-After') ?? 0) };
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return { ok: false, status: 0, problem: null, retryAfter: 0 };
  }
}

export const plan = (workload, language, signal) => post('/api/v1/plans', { workload }, language, { signal });

// One row an option, as spreadsheets of the language want it.
export const planCsv = (workload, language) => post(`/api/v1/plans${language === 'zh-CN' ? '?headers=zh' : ''}`, { workload }, language, { accept: 'text/csv' });

export const diagnosis = (readings, language) => post('/api/v1/diagnoses', { ...readings, language }, language);
