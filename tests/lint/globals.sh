#!/bin/bash
# globals.sh LIBRARY: the planner keeps no state, so its objects have nothing that is writable.
set -eu
found=$(objdump -t "$1" | awk '
    /file format/ { file = $1 }
    NF > 3 && / O / && $(NF - 2) ~ /^\.(t?data|t?bss)(\.rel|\.rel\.local)?$/ { print file " " $NF " in " $(NF - 2) }')
[ -z "$found" ] || { echo "lint: mutable globals in $1:"; echo "$found"; exit 1; }
echo "lint: no mutable globals in $1"
