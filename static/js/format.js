// format.js — figures as people read them. Money arrives as decimal text and is never turned into a rounded sum.
import { current, t } from './i18n.js';

// A minus sign as wide as a plus, on the line of its figure; what rounds to nothing has none.
const minus = (text) => text.replace('-', '−').replace(/^−(?=0%?$)/, '');

export const number = (value, digits = 0) =>
  value === null || value === undefined ? '–'
    : minus(new Intl.NumberFormat(current(), { maximumFractionDigits: digits }).format(value));

export const significant = (value, digits = 3) =>
  value === null || value === undefined ? '–'
    : new Intl.NumberFormat(current(), { maximumSignificantDigits: digits }).format(value);

// 36万 or 360K, as the reader's language has it.
export const compact = (value) => new Intl.NumberFormat(current(), { notation: 'compact', maximumFractionDigits: 1 }).format(value);

export const percent = (value, digits = 0) =>
  value === null || value === undefined ? '–'
    : minus(new Intl.NumberFormat(current(), { style: 'percent', maximumFractionDigits: digits }).format(value));

export const money = (m) =>
  m === null || m === undefined || m.amount === undefined ? '–'
    : new Intl.NumberFormat(current(), { style: 'currency', currency: m.currency, currencyDisplay: 'narrowSymbol' })
      .format(m.amount).replace('-', '−\u2060'); // a sign stays with its sum

// ¥32.6万 or ¥326.2K: for the ear, beside the sum itself.
export const roughly = (m) => new Intl.NumberFormat(current(), { style: 'currency', currency: m.currency, currencyDisplay: 'narrowSymbol', notation: 'compact', maximumFractionDigits: 1 }).format(m.amount);

export const amount = (m) => (m && m.amount !== undefined ? Number(m.amount) : 0);

export const date = (text) => text ?? '–';

export const days = (value) => (value === null || value === undefined ? '–' : t('days', { n: number(value, value < 10 ? 1 : 0) }));
