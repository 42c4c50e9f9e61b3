#!/bin/bash
# run.sh — the fit suite of `make check`: the fit measures what the accuracy suite measures, and it finds its way back: a
# fit begun from what was believed before any fit ends near the figures of today's constants.
set -u
build=${SUANPAN_BUILD:-build/release}
passed=0 failed=0

judge() { # judge WHAT CONDITION(awk)
    if awk "BEGIN { exit !($2) }"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "fit: $1: not ($2)"; fi
}

figure() { # figure SUITE COLUMN: of a report on stdin, its last
    awk -v suite="$1" -v column="$2" '$1 == suite { found = $column } END { print found + 0 }'
}

stands=$("$build/fit" serving --rounds 0 tests/data/accuracy)
scored=$("$build/accuracy" --suite serve-throughput tests/data/accuracy | sed -nE 's/^serve-throughput .*median +([0-9.]+).*/\1/p' | head -1)
median=$(figure serve-throughput 3 <<<"$stands")
judge "the median of serving is the accuracy suite's" "\"$scored\" != \"\" && $median > 0 && $median - $scored < 0.06 && $scored - $median < 0.06"

again=$("$build/fit" training --from-priors tests/data/accuracy tests/fit/extra)
for suite in train-throughput train-memory; do
    begun=$(sed '/^fitted/q' <<<"$again" | figure "$suite" 3)
    reached=$(figure "$suite" 3 <<<"$again")
    today=$(figure "$suite" 3 <<<"$("$build/fit" training --rounds 0 tests/data/accuracy)")
    judge "$suite gets better from the priors" "$reached < $begun"
    judge "$suite ends within a fifth of today's median" "$reached > 0 && $reached < 1.2 * $today"
done
echo "fit: $passed passed, $failed failed"
[ "$failed" = 0 ]
