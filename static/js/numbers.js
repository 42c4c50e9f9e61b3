// numbers.js — figures as people type them: 2e9, 2,000,000, full-width digits, and for amounts 20亿, 300M.
const scales = { 万: 1e4, 亿: 1e8, 万亿: 1e12, k: 1e3, m: 1e6, b: 1e9, g: 1e9, t: 1e12 };

const plain = (text) => text.normalize('NFKC').trim().replace(/(?<=\d)[,_\s](?=\d{3}(\D|$))/g, '');

// The number, or null where the text is none.
export function readNumber(text, { amount = false } = {}) {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(万亿|亿|万|[kmbgt])?$/i.exec(plain(text));
  if (!match || (match[2] && !amount)) return null;
  const value = Number(match[1]) * (match[2] ? scales[match[2].toLowerCase()] : 1);
  if (!Number.isFinite(value)) return null;
  return amount && Math.abs(value - Math.round(value)) < 1e-6 * Math.abs(value) ? Math.round(value) : value;
}

// Money stays decimal text: "200,000" -> "200000.00", "20万" -> "200000.00".
export function readDecimal(text) {
  const bare = plain(text);
  const exact = /^(\d+)(?:\.(\d{1,2}))?$/.exec(bare);
  if (exact) return `${exact[1]}.${(exact[2] ?? '').padEnd(2, '0')}`;
  const value = readNumber(text, { amount: true });
  return value === null ? null : value.toFixed(2);
}
