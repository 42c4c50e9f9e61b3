#!/bin/bash
# check.sh VARIANT SUITE...: runs test suites that are already built, and closes with one line over all of them.
# A suite is a Criterion binary build/VARIANT/tests/SUITE_suite, or a script tests/SUITE/run.sh whose last line reads
# "...: N passed, N failed". Fails on a failing or crashing test, on a suite that says nothing, and, in sanitizer
# builds, on any report (Criterion itself would let a leak pass).
set -u
variant=$1; shift
build=build/$variant
logs=$build/log
rm -rf "$logs" && mkdir -p "$logs"
tested=0 passing=0 failing=0 crashing=0 rows=()

export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:${ASAN_OPTIONS:-}
export TEST_SERVER=${CHECK_SERVER:-$PWD/$build/suanpan}

add() { # add SUITE TESTED PASSING FAILING CRASHING SECONDS
    echo "---- $1 took $6 s"
    tested=$((tested + $2)) passing=$((passing + $3)) failing=$((failing + $4)) crashing=$((crashing + $5))
    rows+=("$(printf '%-12s %5d tested %5d passing %4d failing %4d crashing %5ds' "$@")")
}

reports() { # sanitizer reports of a suite, as failures
    local found n=0
    for found in "$logs/$1".san.*; do
        [ -s "$found" ] || continue
        n=$((n + 1))
        [ $n -gt 3 ] || { echo "---- $found"; head -40 "$found"; }
    done
    [ $n -eq 0 ] || echo "---- $1: $n sanitizer reports in $logs"
    return $n
}

for suite in "$@"; do
    started=$SECONDS
    echo "==== $suite ($variant)"
    log=$logs/$suite.txt
    if [ -x "tests/$suite/run.sh" ]; then
        "tests/$suite/run.sh" 2>&1 | tee "$log"
        status=${PIPESTATUS[0]}
        read -r p f < <(sed -nE 's/.*[^0-9]([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' "$log" | tail -1)
        [ -n "${p:-}" ] || { echo "$suite closes without a count"; p=0 f=1; }
        [ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
        add "$suite" $((p + f)) "$p" "$f" 0 $((SECONDS - started))
    else
        export ASAN_OPTIONS=$ASAN_OPTIONS:log_path=$PWD/$logs/$suite.san
        export UBSAN_OPTIONS=print_stacktrace=1:log_path=$PWD/$logs/$suite.san
        export TSAN_OPTIONS=log_path=$PWD/$logs/$suite.san:exitcode=66
        timeout -k 10 "${SUITE_TIMEOUT:-900}" "$build/tests/${suite}_suite" -j"${JOBS:-2}" --timeout "${TEST_TIMEOUT:-60}" 2>&1 | tee "$log"
        status=${PIPESTATUS[0]}
        read -r t p f c < <(sed -nE 's/.*Synthesis: Tested: ([0-9]+) \| Passing: ([0-9]+) \| Failing: ([0-9]+) \| Crashing: ([0-9]+).*/\1 \2 \3 \4/p' "$log" | tail -1)
        [ -n "${t:-}" ] || { echo "$suite closes without a synthesis"; t=1 p=0 f=1 c=1; }
        [ "$status" -eq 0 ] || [ $((f + c)) -gt 0 ] || { echo "$suite exits with $status"; t=$((t + 1)) f=$((f + 1)) c=$((c + 1)); }
        reports "$suite" || { t=$((t + 1)); f=$((f + 1)); }
        add "$suite" "$t" "$p" "$f" "$c" $((SECONDS - started))
    fi
    unset t p f c
done

echo
printf '%s\n' "${rows[@]}"
echo "[====] Synthesis: Tested: $tested | Passing: $passing | Failing: $failing | Crashing: $crashing" | tee "$logs/synthesis"
[ $tested -gt 0 ] && [ $((failing + crashing)) -eq 0 ]
