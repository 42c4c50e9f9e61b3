#!/bin/bash
# run.sh — the launch suite of `make check`: the launch texts of the examples and of random plans, from the real binary.
set -u
here=$(dirname "$0")
server=${TEST_SERVER:-build/release/suanpan}
folder=$(mktemp -d)
env -u SUANPAN_SHARED -u SUANPAN_BUILD "$server" serve --host 127.0.0.1 --port 0 --db "$folder/launch.db" >"$folder/log" 2>&1 &
pid=$!
trap 'kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; rm -rf "$folder"' EXIT
address=
for _ in $(seq 100); do
    address=$(sed -nE 's/.*event=listening address=(\S+).*/\1/p' "$folder/log")
    [ -z "$address" ] || break
    sleep 0.1
done
[ -n "$address" ] || { cat "$folder/log"; echo "launch: 0 passed, 1 failed"; exit 1; }
python3 "$here/check.py" "$address" examples/*.json
