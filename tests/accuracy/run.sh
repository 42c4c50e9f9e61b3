#!/bin/sh
# run.sh — the accuracy suite of `make check`: every suite of measurements holds its recorded floor, and a floor that
# nothing reaches, in each of its columns, is not held.
score="${SUANPAN_BUILD:-build/release}/accuracy"
floors=$(mktemp) || exit 1
trap 'rm -f "$floors"' EXIT
for floor in '"median": 0.001' '"p90": 0.001' '"source_mean": 0.001' '"inside_low": 0.999' '"inside_high": 0.001'; do
    printf '{"train-scaling": {%s}}\n' "$floor" > "$floors"
    if "$score" --suite train-scaling --floors "$floors" tests/data/accuracy > /dev/null 2>&1; then
        echo "accuracy: a floor of $floor is held by nothing, and passed"
        exit 1
    fi
done
"$score" --floors tests/accuracy/floors.json tests/data/accuracy
