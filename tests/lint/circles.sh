#!/bin/bash
# circles.sh OBJECT... — every file stands on a floor: no two of these call each other, however long the way round.
set -euo pipefail
export LC_ALL=C
calls=$(nm -A "$@" | awk '
    { file = $1; sub(/:.*/, "", file); sub(/^build\/[^\/]*\//, "", file); sub(/\.o$/, "", file) }
    $(NF - 1) ~ /^[TDRBC]$/ { at[$NF] = file }
    $(NF - 1) == "U" { n++; from[n] = file; name[n] = $NF }
    END { for (i = 1; i <= n; i++) if (name[i] in at && at[name[i]] != from[i]) print from[i], at[name[i]] }' | sort -u)
if ! said=$(tsort <<<"$calls" 2>&1 >/dev/null); then
    sed 's/^tsort: -: .*/circle: these files call each other in a loop:/; s/^tsort: /    /' <<<"$said"
    exit 1
fi
echo "lint: no circle of calls in $# files"
