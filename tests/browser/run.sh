#!/bin/bash
# run.sh — the browser suite of `make check`: the form in Debian's Chromium.
set -u
log=$(mktemp)
node --test --test-reporter=tap tests/browser/*.test.mjs | tee "$log" | grep -E '^(not ok|ok|# (tests|pass|fail) )|^  +(error|message|expected|actual):|^    (not ok)|^ +[+-] '
status=${PIPESTATUS[0]}
passed=$(sed -n 's/^# pass //p' "$log") failed=$(sed -n 's/^# fail //p' "$log")
rm -f "$log"
echo "browser: ${passed:-0} passed, ${failed:-1} failed"
exit "$status"
