#!/bin/bash
# selftest.sh: plants one violation at a time in an empty tree and demands that lint.sh names the rule, and that a
# clean tree passes. A linter that cannot fail is worth nothing.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d) && trap 'rm -rf "$tree"' EXIT
failed=0 n=0

plant() { # plant PATH: standard input becomes that file
    mkdir -p "$tree/$(dirname "$1")" && cat >"$tree/$1"
}
lint() { "$here/../lint.sh" "$tree" 2>&1; }
expect() { # expect RULE PATH: the planted tree must fail by exactly this rule
    local out
    n=$((n + 1))
    if out=$(lint) || ! grep -q "^$2:[0-9]*:.*$1" <<<"$out"; then
        echo "selftest: rule $1 does not bite on $2; lint said:"
        echo "$out"
        failed=$((failed + 1))
    fi
    rm -rf "${tree:?}"/* "${tree:?}"/.ci
}
body() { printf '/* x.c: sample. */\n%s\n' "$1"; }
repeat() { local i; for ((i = 0; i < $1; i++)); do printf '%s\n' "$2"; done; }

# RULE | PATH | one line of C
while IFS='|' read -r rule path text; do
    body "${text/%@/ }" | plant "$path" # @ at the end stands for a blank
    expect "$rule" "$path"
done <<'CASES'
layer|base/x.c|#include "planner/core/model.h"
layer|planner/core/x.c|#include "planner/training/training.h"
layer|planner/training/x.c|#include "planner/serving/serving.h"
layer|planner/serving/x.c|#include "planner/training/training.h"
layer|planner/training/x.c|#include "planner/offers/answer.h"
layer|planner/market/x.c|#include "planner/costing/draft.h"
layer|planner/market/x.c|#include "planner/serving/serving.h"
layer|planner/costing/x.c|#include "planner/drafting/build.h"
layer|planner/costing/x.c|#include "planner/training/training.h"
layer|planner/drafting/x.c|#include "planner/reserve/reserve.h"
layer|planner/reserve/x.c|#include "planner/offers/candidate.h"
layer|planner/takeaway/x.c|#include "planner/offers/candidate.h"
layer|planner/offers/x.c|#include "planner/takeaway/takeaway.h"
layer|planner/offers/x.c|#include "db/db.h"
layer|planner/offers/x.c|#include "planner/advice/rank.h"
layer|db/x.c|#include "formats/csv.h"
layer|formats/x.c|#include "db/db.h"
layer|db/x.c|#include "api/api.h"
layer|api/x.h|#include "server/log.h"
layer|api/x.c|#include "tests/support/x.h"
include-path|api/x.c|#include "api.h"
foreign-header|api/x.c|#include <microhttpd.h>
foreign-header|api/x.c|#include <uv.h>
foreign-header|server/x.c|#include <jansson.h>
foreign-header|api/x.c|#include <sqlite3.h>
foreign-header|api/x.c|#include <xlsxwriter.h>
foreign-header|planner/core/x.c|#include <jansson.h>
pure|planner/core/x.c|#include <time.h>
pure|planner/offers/x.c|long now(void) { return time(0); }
pure|planner/offers/x.c|int r(void) { return rand(); }
banned|api/x.c|void f(char *a, char *b) { strcpy(a, b); }
banned|server/x.c|void f(char *a) { sprintf (a, "x"); }
banned|tests/unit/x.c|int f(char *a) { return atoi(a); }
banned|db/rows.c|int f(void *d) { return sqlite3_exec(d, 0, 0, 0, 0); }
brace|api/x.c|int f(void) {
white-space|api/x.c|int x;@
machine-path|api/x.c|/* see /home/someone/notes */
CASES

{ body 'int f(void)'; echo '{'; repeat 61 '    g();'; echo '}'; } | plant api/x.c
expect function-length api/x.c
{ body 'int x;'; repeat 500 ''; } | plant api/x.c
expect file-length api/x.c
echo 'int x;' | plant api/x.c
expect head api/x.c
printf 'X(1001, gone, 404, "gone")\n' | plant api/errors.def
expect error-registry api/errors.def
printf 'X(1001, gone, 404, "gone")\nX(1001, lost, 404, "lost")\n' | plant api/errors.def
echo '1001 gone lost' | plant docs/errors.md
expect 'there twice' api/errors.def
printf '{\n  "note.a": "x",\n  "note.b": "y"\n}\n' | plant api/messages/core.en.json
printf '{\n  "note.a": "x"\n}\n' | plant api/messages/core.zh-CN.json
expect messages api/messages/core.en.json
printf '{\n  "note.a": "costs {amount}"\n}\n' | plant api/messages/core.en.json
printf '{\n  "note.a": "costs {total}"\n}\n' | plant api/messages/core.zh-CN.json
expect messages api/messages/core.en.json
printf '{\n  "note.a": "x"\n}\n' | plant api/messages/core.zh-CN.json
expect messages api/messages/core.zh-CN.json
for file in core api; do
    printf '{\n  "note.a": "x"\n}\n' | tee >(plant api/messages/$file.zh-CN.json) | plant api/messages/$file.en.json
done
expect 'messages: note.a stands in' api/messages/core.en.json
printf '{\n  "note.a": "x"\n}\n' | tee >(plant api/messages/core.zh-CN.json) | plant api/messages/core.en.json
body 'void f(struct note_list *l) { note_add(l, "unheard_of"); }' | plant planner/offers/x.c
expect note-text planner/offers/x.c
printf '#!/bin/bash\nrm %s1/*\n' '$' | plant tests/x.sh
expect shellcheck tests/x.sh

# And nothing is said of a clean tree: strings and comments are not code, members are not calls.
body '/* sprintf( in a comment */ static const char *s = "strcpy(";  int f(struct x *p) { return p->time(1) + p->gets (2); }' |
    plant planner/core/x.c
n=$((n + 1))
lint >/dev/null || { echo "selftest: a clean tree is refused:"; lint; failed=$((failed + 1)); }

# Mutable state is seen in the objects; constant tables are not state.
object() { printf '%s\n' "$1" | gcc -x c -fPIE -c -o "$tree/x.o" - && ar rcs "$tree/$2.a" "$tree/x.o"; }
object 'static int calls; int f(void); int f(void) { return calls++; }' stateful
object 'static const char *const name[] = {"a"}; const char *f(int i); const char *f(int i) { return name[i]; }' constant
n=$((n + 2))
! "$here/globals.sh" "$tree/stateful.a" >/dev/null || { echo "selftest: globals.sh misses a counter"; failed=$((failed + 1)); }
"$here/globals.sh" "$tree/constant.a" >/dev/null || { echo "selftest: globals.sh refuses a constant"; failed=$((failed + 1)); }

# So are calls that come back to where they started.
source_of() { printf '%s\n' "$2" | gcc -x c -fPIE -c -o "$tree/$1.o" -; }
source_of low 'int low(void); int low(void) { return 1; }'
source_of high 'int low(void); int high(void); int high(void) { return low(); }'
n=$((n + 2))
"$here/circles.sh" "$tree/low.o" "$tree/high.o" >/dev/null || { echo "selftest: circles.sh refuses two floors"; failed=$((failed + 1)); }
source_of low 'int high(void); int low(void); int low(void) { return high(); }'
! "$here/circles.sh" "$tree/low.o" "$tree/high.o" >/dev/null || { echo "selftest: circles.sh misses a circle"; failed=$((failed + 1)); }

# check.sh: a report, a crash, a silent suite and a failing script each turn the run red; a good run is green.
suite() { # suite NAME: standard input is the suite's script
    mkdir -p "$tree/build/v/tests" && cat >"$tree/build/v/tests/$1_suite" && chmod +x "$tree/build/v/tests/$1_suite"
}
good='echo "[====] Synthesis: Tested: 2 | Passing: 2 | Failing: 0 | Crashing: 0 "'
printf '#!/bin/bash\n%s\n' "$good" | suite good
# shellcheck disable=SC2016
printf '#!/bin/bash\necho leak > "${ASAN_OPTIONS##*log_path=}.1"\n%s\n' "$good" | suite leaks
printf '#!/bin/bash\n%s\nexit 3\n' "$good" | suite dies
printf '#!/bin/bash\necho hello\n' | suite silent
mkdir -p "$tree/tests/script" && printf '#!/bin/bash\necho "script: 3 passed, 1 failed"\n' >"$tree/tests/script/run.sh" && chmod +x "$tree/tests/script/run.sh"
for suite in good leaks dies silent script; do
    n=$((n + 1))
    (cd "$tree" && "$here/../check.sh" v "$suite" >"$tree/said" 2>&1)
    status=$?
    case $suite:$status in good:0 | leaks:1 | dies:1 | silent:1 | script:1) ;; *)
        echo "selftest: check.sh leaves with $status on a suite that is $suite:"; cat "$tree/said"; failed=$((failed + 1)) ;;
    esac
done

echo "lint selftest: $((n - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
