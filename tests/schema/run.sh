#!/bin/bash
# run.sh — the schema suite of `make check`: what the API suite recorded, against api/openapi.json.
set -u
here=$(dirname "$0")
build=$(dirname "${TEST_SERVER:-build/release/suanpan}")
[ -d "$here/node_modules" ] || (cd "$here" && npm ci --no-audit --no-fund --loglevel=error) || { echo "schema: 0 passed, 1 failed"; exit 1; }
# Left by an older suite: no longer what the service says.
find "$build/recorded" -name '*.json' ! -newer "$build/tests/api_suite" -delete 2>/dev/null
node "$here/validate.mjs" api/openapi.json "$build/recorded"
