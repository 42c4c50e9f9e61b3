#!/bin/bash
# deps.sh [--check] GROUP...: installs the Debian packages that a group needs and this machine lacks, each named.
# Silent and instant when nothing is missing. --check only says what is missing and fails if anything is.
set -euo pipefail

packages() { # a package, or PACKAGE:COMMAND where the command may come from elsewhere
    case $1 in
    build) echo gcc:gcc make:make binutils:ld libc6-dev libmicrohttpd-dev libuv1-dev libjansson-dev libsqlite3-dev libcsv-dev zlib1g-dev ;;
    test) echo libcriterion-dev curl:curl procps:ps python3:python3 python3-yaml shellcheck:shellcheck ;;
    browser) echo nodejs:node npm:npm chromium:chromium fonts-noto-cjk ;;
    lint) echo shellcheck:shellcheck ;;
    format) echo clang-format:clang-format ;;
    fuzz) echo clang:clang libclang-rt-14-dev ;;
    coverage) echo gcovr:gcovr ;;
    bench) echo wrk:wrk curl:curl ;;
    accuracy) echo python3:python3 ;;
    *) echo "deps.sh: unknown group $1" >&2; exit 2 ;;
    esac
}

check_only=false
[ "${1:-}" != --check ] || { check_only=true; shift; }
wanted=() missing=()
for group in "$@"; do
    names=$(packages "$group")
    for name in $names; do
        if [[ $name == *:* ]]; then
            command -v "${name#*:}" >/dev/null || missing+=("${name%%:*}")
        else
            wanted+=("$name")
        fi
    done
done
if [ ${#wanted[@]} -gt 0 ]; then
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/ installed$//p' || true)
    for name in "${wanted[@]}"; do
        grep -qxF "$name" <<<"$installed" || missing+=("$name")
    done
fi
[ ${#missing[@]} -gt 0 ] || exit 0

echo "missing Debian packages ($*): ${missing[*]}"
! $check_only || { echo "install them with: make deps"; exit 1; }
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "neither root nor sudo; as root: apt-get install ${missing[*]}"; exit 1; }
    as_root=(sudo)
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
