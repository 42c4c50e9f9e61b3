#!/bin/bash
# lint.sh [ROOT]: the rules of the house that no compiler knows. Prints one line a fault and fails on the first run
# that has any. tests/lint/selftest.sh proves that each rule bites.
set -u
root=${1:-$(dirname "$0")/..}
here=$(cd "$(dirname "$0")" && pwd)
cd "$root" || exit 2
out=$(mktemp) && trap 'rm -f "$out"' EXIT

list() { # list NAME-PATTERN...: files of ours
    local args=() p
    for p in "$@"; do args+=(-o -name "$p"); done
    find . \( -name .git -o -name build -o -name node_modules \) -prune -o -type f \( "${args[@]:1}" \) -print |
        sed 's,^\./,,' | LC_ALL=C sort
}

# 1. C: layers, foreign headers, banned calls, purity of the planner, lengths.
mapfile -t c_files < <(list '*.c' '*.h')
[ ${#c_files[@]} -eq 0 ] || awk -f "$here/lint/source.awk" "${c_files[@]}" >>"$out"

# 2. Text: white space, machine paths, lengths of scripts and of the form's own files.
mapfile -t text_files < <(list '*.c' '*.h' '*.def' '*.sql' '*.md' '*.sh' '*.js' '*.mjs' '*.css' '*.html' '*.json' '*.csv' \
    '*.awk' '*.yml' '*.lua' Makefile Dockerfile run | grep -v '^tests/.*corpus/')
if [ ${#text_files[@]} -gt 0 ]; then
    {
        grep -nE '[[:blank:]]+$' "${text_files[@]}" /dev/null | grep -v '^[^:]*\.csv:' |
            sed -E 's/^([^:]*:[0-9]*):.*/\1: white-space: trailing/'
        grep -nE '/(home|root)/[a-z]|(^|[^a-zA-Z0-9_.-])/(wor[k]|far[m])/|registry\.npmj[s]|(deb|snapshot)\.debia[n]' "${text_files[@]}" /dev/null |
            grep -v '^tests/lint/selftest.sh:' | sed -E 's/^([^:]*:[0-9]*):.*/\1: machine-path: names a place on one machine/'
        printf '%s\n' "${text_files[@]}" | grep -E '\.(js|mjs|css|sh|awk)$' | grep -v '^tests/' |
            xargs -r -d '\n' awk 'FNR == 501 { print FILENAME ":501: file-length: more than 500 lines" }'
    } >>"$out"
fi

# 3. Error registry: numbers and slugs are unique and documented.
if [ -f api/errors.def ]; then
    awk -v doc="$(cat docs/errors.md 2>/dev/null)" '
        /^[ \t]*X\(/ {
            split($0, part, /[(,]/); number = part[2] + 0; slug = part[3]; gsub(/[ \t]/, "", slug)
            if (number in seen) print FILENAME ":" FNR ": error-registry: " number " is there twice"
            if (slug in seen) print FILENAME ":" FNR ": error-registry: " slug " is there twice"
            seen[number] = seen[slug] = 1
            if (index(doc, number) == 0 || index(doc, slug) == 0)
                print FILENAME ":" FNR ": error-registry: " number " " slug " is not in docs/errors.md"
        }' api/errors.def >>"$out"
fi

# 4. Message catalogs: both languages have the same keys and, for each, the same placeholders; one key a line.
catalog_keys() { # prints "KEY {placeholders sorted}"
    awk '/^[ \t]*"[^"]*"[ \t]*:/ {
        key = $0; sub(/^[ \t]*"/, "", key); sub(/".*/, "", key)
        rest = $0; sub(/^[ \t]*"[^"]*"[ \t]*:/, "", rest); n = 0
        while (match(rest, /\{[a-z_0-9]+\}/)) { word[++n] = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH) }
        for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (word[j] < word[i]) { t = word[i]; word[i] = word[j]; word[j] = t }
        line = key; last = ""
        for (i = 1; i <= n; i++) if (word[i] != last) { line = line " " word[i]; last = word[i] }
        print line
    }' "$1" | LC_ALL=C sort
}
for en in api/messages/*.en.json static/i18n/en.json; do
    [ -f "$en" ] || continue
    case $en in static/*) zh=static/i18n/zh-CN.json ;; *) zh=${en%.en.json}.zh-CN.json ;; esac
    [ -f "$zh" ] || { echo "$en:1: messages: $zh is missing" >>"$out"; continue; }
    diff <(catalog_keys "$en") <(catalog_keys "$zh") | sed -nE "s,^< (.*),$en:1: messages: only here\\, or other placeholders: \\1,p; s,^> (.*),$zh:1: messages: only here\\, or other placeholders: \\1,p" >>"$out"
    catalog_keys "$en" | cut -d' ' -f1 | uniq -d | sed "s,^,$en:1: messages: twice: ," >>"$out"
done
# All files of one language are merged, so a key stands in one of them only.
for language in en zh-CN; do
    for file in api/messages/*."$language".json; do
        [ ! -f "$file" ] || catalog_keys "$file" | cut -d' ' -f1 | sed "s,\$, $file,"
    done | LC_ALL=C sort | awk '$1 == last && $2 != where { print $2 ":1: messages: " $1 " stands in " where " too" } { last = $1; where = $2 }' >>"$out"
done
for zh in api/messages/*.zh-CN.json; do
    [ ! -f "$zh" ] || [ -f "${zh%.zh-CN.json}.en.json" ] || echo "$zh:1: messages: ${zh%.zh-CN.json}.en.json is missing" >>"$out"
done

# 5. A note that the planner or the API emits has a text.
if [ -d api/messages ]; then
    cat api/messages/*.en.json 2>/dev/null | sed -nE 's/^[ \t]*"note\.([a-z0-9_]+)".*/\1/p' | LC_ALL=C sort -u >"$out.texts"
    find planner api -name '*.c' -exec grep -HnoE 'note_add(_once)?\([^,()]*(\([^()]*\))?[^,()]*, *"[a-z0-9_]+"' {} + |
        sed -E 's/^([^:]*:[0-9]*):.*"([a-z0-9_]+)"$/\2 \1/' | LC_ALL=C sort |
        LC_ALL=C join -v1 - "$out.texts" | sed -E 's/^([^ ]*) (.*)/\2: note-text: note.\1 has no text in api\/messages/' >>"$out"
    rm -f "$out.texts"
fi

# 6. Scripts.
if command -v shellcheck >/dev/null; then
    mapfile -t scripts < <({ list '*.sh'; [ ! -f .ci/run ] || echo .ci/run; } | grep -v '^tests/lint/bad/')
    [ ${#scripts[@]} -eq 0 ] || shellcheck -f gcc "${scripts[@]}" | sed 's/$/ (shellcheck)/' >>"$out"
fi

cat "$out"
n=$(wc -l <"$out")
[ "$n" -eq 0 ] || { echo "lint: $n faults"; exit 1; }
echo "lint: clean (${#c_files[@]} C files, ${#text_files[@]} text files)"
