// validate.mjs OPENAPI FOLDER: every recorded pair must be described, and what it holds must be as described.
//
// Answers are held to more than the document promises to clients: a member that it does not name fails here, so that
// nothing is answered that is not written down. Requests that were answered with 2xx must satisfy the request schema.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const [, , documentPath, folder] = process.argv;
const openapi = JSON.parse(readFileSync(documentPath, 'utf8'));

// Objects with named members accept no others.
function close(node) {
  if (Array.isArray(node)) return node.map(close);
  if (node === null || typeof node !== 'object') return node;
  const copy = Object.fromEntries(Object.entries(node).map(([k, v]) => [k, close(v)]));
  if (copy.type === 'object' && copy.properties && copy.additionalProperties === undefined) copy.additionalProperties = false;
  return copy;
}

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, strictRequired: false });
addFormats(ajv);
ajv.addKeyword('components').addKeyword('x-columns').addKeyword('x-columns-note');
ajv.addSchema({ $id: 'openapi', components: { schemas: close(openapi.components.schemas) } });

const compiled = new Map();
function check(schema, value) {
  const key = JSON.stringify(schema);
  if (!compiled.has(key)) {
    const located = JSON.parse(key.replaceAll('"#/components/schemas/', '"openapi#/components/schemas/'));
    compiled.set(key, ajv.compile(close(located)));
  }
  const validate = compiled.get(key);
  return validate(value) ? [] : validate.errors.map((e) => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`);
}

const resolve = (node) => (node?.$ref ? node.$ref.split('/').slice(1).reduce((at, k) => at[k], openapi) : node);

// The path of the document that a recorded path is an instance of; literal segments win over {id}.
function templateOf(raw) {
  let path;
  try { path = decodeURIComponent(raw); } catch { return undefined; }
  const parts = path.split('/');
  return Object.keys(openapi.paths)
    .filter((t) => {
      const want = t.split('/');
      return want.length === parts.length && want.every((w, i) => w === parts[i] || (w.startsWith('{') && parts[i]));
    })
    .sort((a, b) => (a.match(/\{/g) ?? []).length - (b.match(/\{/g) ?? []).length)[0];
}

function faultsOf(pair) {
  const method = (pair.method === 'HEAD' ? 'GET' : pair.method).toLowerCase();
  const template = templateOf(pair.path);
  const problem = { $ref: '#/components/schemas/Problem' };
  // Refusals of the router itself belong to no operation: unknown path, wrong method, broken encoding, OPTIONS.
  const operation = template && openapi.paths[template][method];
  if (!operation) {
    if (pair.method === 'OPTIONS' && pair.status === 204) return [];
    if (![400, 404, 405].includes(pair.status)) return [`${pair.method} ${pair.path} is not described`];
    return check(problem, pair.response);
  }
  const response = resolve(operation.responses[pair.status]);
  if (!response) return [`status ${pair.status} is not described`];
  const faults = [];
  if (pair.response !== null) {
    const type = pair.content_type.split(';')[0];
    const content = response.content?.[type];
    if (!content) return [`content type ${type} is not described for ${pair.status}`];
    faults.push(...check(content.schema, pair.response));
    if (content.schema['x-columns'] || content['x-columns']) {
      const header = pair.response.replace(/^\uFEFF/, '').split('\r\n')[0].split(',');
      const columns = content['x-columns'] ?? content.schema['x-columns'];
      const suffix = header.find((c) => /^net_[a-z]{3}$/.test(c))?.slice(3) ?? '_cny';
      const expected = columns.map((c) => c.replace('_cny', suffix)).join();
      const selected = new URLSearchParams(pair.query).has('cols');
      if (selected ? header.some((c) => !expected.split(',').includes(c.replace('_cny', suffix)))
        : !/[^\x00-\x7F]/.test(header.join()) && header.join() !== expected) faults.push(`columns ${header.join()}`);
    }
  } else if (response.content && pair.method !== 'HEAD') {
    faults.push('no body where one is described');
  }
  const body = operation.requestBody?.content['application/json'].schema;
  if (body && pair.status < 300) faults.push(...check(body, pair.request).map((f) => `request ${f}`));
  const named = new Set(operation.parameters.map(resolve).filter((p) => p.in === 'query').map((p) => p.name));
  if (pair.status < 300)
    for (const name of new URLSearchParams(pair.query).keys())
      if (!named.has(name) && !name.includes('.')) faults.push(`parameter ${name} is not described`);
  return faults;
}

// The document itself: references resolve, operations have names of their own, path parameters are declared.
function faultsOfDocument() {
  const faults = [], ids = new Set();
  (function walk(node, at) {
    if (node === null || typeof node !== 'object') return;
    if (typeof node.$ref === 'string' && resolve(node) === undefined) faults.push(`${at}: ${node.$ref} leads nowhere`);
    for (const [k, v] of Object.entries(node)) walk(v, `${at}/${k}`);
  })(openapi, '#');
  for (const [path, methods] of Object.entries(openapi.paths))
    for (const [method, operation] of Object.entries(methods)) {
      if (ids.has(operation.operationId)) faults.push(`${operation.operationId} is there twice`);
      ids.add(operation.operationId);
      const declared = operation.parameters.map(resolve).filter((p) => p.in === 'path').map((p) => p.name);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]);
      if (declared.join() !== inPath.join()) faults.push(`${method} ${path} declares ${declared} in its path`);
    }
  for (const name of Object.keys(openapi.components.schemas)) ajv.getSchema(`openapi#/components/schemas/${name}`);
  return faults;
}

let passed = 0, failed = 0;
for (const fault of faultsOfDocument()) {
  failed++;
  console.log(fault);
}
const seen = new Set();
let files = [];
try { files = readdirSync(folder).filter((f) => f.endsWith('.json')).sort(); } catch { /* counted below */ }
for (const file of files) {
  const pair = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const faults = faultsOf(pair);
  if (faults.length === 0) passed++;
  else {
    failed++;
    console.log(`${file}: ${pair.method} ${pair.path}?${pair.query} ${pair.status}\n  ${faults.slice(0, 6).join('\n  ')}`);
  }
  const template = templateOf(pair.path);
  if (template && pair.status < 300) seen.add(`${pair.method} ${template}`);
}
// Every operation that this suite can reach must have been seen to succeed at least once.
for (const [path, methods] of Object.entries(openapi.paths))
  for (const method of Object.keys(methods))
    if ((path.startsWith('/api/') || path === '/openapi.json') && !seen.has(`${method.toUpperCase()} ${path}`)) {
      failed++;
      console.log(`never answered: ${method.toUpperCase()} ${path}`);
    }
if (files.length === 0) { failed++; console.log(`no recordings in ${folder}: run the api suite first`); }
console.log(`schema: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
