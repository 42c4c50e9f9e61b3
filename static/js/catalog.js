// catalog.js — the lists of the catalog that the page names things by, in the reader's language.
import * as api from './api.js';

const wanted = { models: ['models'], gpus: ['gpus'], providers: ['providers'], networks: ['networks'], storages: ['storages'], schedulers: ['schedulers'],
  taxes: ['tax-codes'], assumptions: ['assumptions', '&overridable=true'] };

// A list that does not come is empty: the form still works with what is typed, and asking says what is wrong.
export async function loadLists(language) {
  const names = Object.keys(wanted);
  const lists = await Promise.all(names.map((name) => api.catalog(wanted[name][0], language, wanted[name][1]).catch(() => [])));
  return Object.fromEntries(names.map((name, i) => [name, lists[i]]));
}

export const taxName = (lists, code) => lists.taxes?.find((tax) => tax.code === code && tax.valid_to === null)?.name ?? code;
