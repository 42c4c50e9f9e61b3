#!/bin/bash
# run.sh BUILD: plans per second and latency of three examples beside a static body of the same size from the same
# server, in one run on loopback; then the planner's own costs. Ratios are what to compare between machines.
set -euo pipefail
build=$1
seconds=${SECONDS_EACH:-4} connections=${CONNECTIONS:-8}
folder=$(mktemp -d)
pids=()
cleanup() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap cleanup EXIT

address() { # address FILE: waits for the address a server prints
    local i
    for ((i = 0; i < 200; i++)); do
        if grep -q 'listens on' "$1" 2>/dev/null; then
            sed -nE 's,.*listens on (http://[^ ]*).*,\1,p' "$1" | head -1
            return
        fi
        sleep 0.05
    done
    echo "bench: no server: $(cat "$1.log")" >&2
    return 1
}
load() { # load URL [BODY]: prints "rate p50 p99"
    local result
    result=$(BODY=${2:-} wrk -t1 -c"$connections" -d"${seconds}s" -s tests/bench/plan.lua "$1" | sed -n 's/^RESULT //p')
    [ "$(cut -d' ' -f4 <<<"$result")" = 0 ] || { echo "bench: $1 has failures: $result" >&2; return 1; }
    cut -d' ' -f1-3 <<<"$result"
}

examples=(01-lora-7b 06-pretrain-130b 08-serve-70b-latency)
"$build/suanpan" serve --port 0 --db "$folder/plans.db" --log-level warn >"$folder/plans" 2>"$folder/plans.log" &
pids+=($!)
plans=$(address "$folder/plans")
sizes=()
for example in "${examples[@]}"; do
    sizes+=("$(curl -sf "$plans/api/v1/plans" -H 'Content-Type: application/json' --data-binary "@examples/$example.json" | wc -c)")
done
"$build/bench_static" "$folder/static.db" "${sizes[@]}" >"$folder/static" 2>"$folder/static.log" &
pids+=($!)
static=$(address "$folder/static")

echo "$connections connections, ${seconds}s each, $(nproc) cores shared with wrk"
printf '%-24s %8s | %9s %8s %8s | %9s %8s %8s | %s\n' example bytes 'plans/s' p50_ms p99_ms 'static/s' p50_ms p99_ms 'a plan costs'
for i in "${!examples[@]}"; do
    read -r rate p50 p99 < <(load "$plans/api/v1/plans" "examples/${examples[$i]}.json")
    read -r srate sp50 sp99 < <(load "$static/body-$i")
    printf '%-24s %8d | %9.1f %8.2f %8.2f | %9.1f %8.2f %8.2f | 1/%.1f of the rate, %.1f x p50, %.1f x p99\n' "${examples[$i]}" "${sizes[$i]}" \
        "$rate" "$p50" "$p99" "$srate" "$sp50" "$sp99" \
        "$(awk "BEGIN { print $srate / $rate }")" "$(awk "BEGIN { print $p50 / $sp50 }")" "$(awk "BEGIN { print $p99 / $sp99 }")"
done
echo
"$build/bench_micro"
