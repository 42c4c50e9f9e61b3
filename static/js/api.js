// api.js — the calls this page makes, all to its own origin.
export async function catalog(name, language) {
  const items = [];
  let cursor = '';
  do {
    const reply = await fetch(`/api/v1/${name}?limit=500${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      { headers: { 'Accept-Language': language } });
    if (!reply.ok) throw new Error(`${name}: HTTP ${reply.status}`);
    const page = await reply.json();
    items.push(...page.items);
    cursor = page.next_cursor ?? '';
  } while (cursor);
  return items;
}

// {ok: true, plan} or {ok: false, status, problem, retryAfter}; a network failure has status 0.
export async function plan(workload, language, signal) {
  try {
    const reply = await fetch('/api/v1/plans', { method: 'POST', signal, body: JSON.stringify({ workload }),
      headers: { 'Content-Type': 'application/json', 'Accept-Language': language } });
    const body = await reply.json().catch(() => null);
    if (reply.ok) return { ok: true, plan: body };
    return { ok: false, status: reply.status, problem: body, retryAfter: Number(reply.headers.get('Retry-After') ?? 0) };
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return { ok: false, status: 0, problem: null, retryAfter: 0 };
  }
}
