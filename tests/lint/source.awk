# source.awk: the rules for C sources, in one pass over all of them. Prints "FILE:LINE: RULE: what is wrong".
# Runs under mawk, so no gensub, no intervals.

function fault(rule, text) { print FILENAME ":" FNR ": " rule ": " text; n_faults++ }

function room_of(path,    parts, n) {
    n = split(path, parts, "/")
    if (n < 2) return "."
    if (parts[1] == "planner") return n > 2 ? "planner/" parts[2] : "planner"
    return parts[1]
}

# What a room may include, itself among it. tests/ may include everything.
BEGIN {
    may["base"] = " base "
    may["planner"] = " base "
    may["planner/core"] = " base planner/core "
    may["planner/training"] = " base planner/core planner/training "
    may["planner/serving"] = " base planner/core planner/serving "
    may["planner/diagnosis"] = " base planner/core planner/diagnosis "
    physics = " base planner/core planner/training planner/serving planner/diagnosis "
    may["planner/market"] = " base planner/core planner/market "
    may["planner/costing"] = " base planner/core planner/serving planner/market planner/costing "
    drafting = physics "planner/market planner/costing planner/drafting "
    may["planner/drafting"] = drafting
    may["planner/reserve"] = drafting "planner/reserve "
    offers = drafting "planner/reserve planner/offers "
    may["planner/offers"] = offers
    may["planner/takeaway"] = drafting "planner/takeaway "
    planner = offers "planner/takeaway planner/advice "
    may["planner/advice"] = planner
    may["db"] = planner "db "
    may["formats"] = planner "formats "
    may["api"] = planner "db formats api "
    may["server"] = planner "db formats api server "
    # Foreign headers and the rooms that own them.
    owner["microhttpd.h"] = " server "; owner["uv.h"] = " server "; owner["zlib.h"] = " server "
    owner["sqlite3.h"] = " db "; owner["libpq-fe.h"] = " db "
    owner["xlsxwriter.h"] = " formats "; owner["csv.h"] = " db formats "; owner["jansson.h"] = " api "
    n = split("sprintf vsprintf strcpy strcat strtok atoi atol atof gets strerror alloca setlocale", list, " ")
    for (i = 1; i <= n; i++) banned[list[i]] = 1
    # The planner is pure: no clock, no random source, no environment, no input or output.
    n = split("time clock clock_gettime gettimeofday localtime localtime_r gmtime gmtime_r mktime strftime rand srand random " \
              "srandom drand48 lrand48 getrandom arc4random getenv fopen printf fprintf puts fputs exit abort " \
              "system pthread_create", list, " ")
    for (i = 1; i <= n; i++) impure[list[i]] = 1
    n = split("time.h sys/time.h sys/random.h pthread.h unistd.h fcntl.h locale.h threads.h stdatomic.h", list, " ")
    for (i = 1; i <= n; i++) impure_header[list[i]] = 1
    FUNCTION_LINES = 60
    FILE_LINES = 500
}

FNR == 1 {
    room = room_of(FILENAME)
    is_test = room == "tests"
    in_comment = 0; in_function = 0; previous = ""
}

{
    line = $0
    # Strings and comments carry no code. Escaped quotes first, so that a string is "no quote between quotes".
    gsub(/\\\\/, "", line); gsub(/\\"/, "", line)
    raw = line
    if (line !~ /^[ \t]*#[ \t]*include/) gsub(/"[^"]*"/, "\"\"", line)
    if (in_comment) {
        if (match(line, /\*\//)) { line = substr(line, RSTART + 2); in_comment = 0 } else line = ""
    }
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
    if (match(line, /\/\*/)) { line = substr(line, 1, RSTART - 1); in_comment = 1 }
    sub(/\/\/.*/, "", line)
}

line ~ /^[ \t]*#[ \t]*include[ \t]*"/ {
    split(line, quoted, "\"")
    target = quoted[2]
    other = room_of(target)
    if (other == ".") fault("include-path", "\"" target "\" is not a path from the root")
    else if (!is_test && room in may && index(may[room], " " other " ") == 0)
        fault("layer", room " may not include " target)
    if (!is_test && room != "tests" && other == "tests") fault("layer", room " may not include " target)
}

line ~ /^[ \t]*#[ \t]*include[ \t]*</ {
    target = line; sub(/^[^<]*</, "", target); sub(/>.*/, "", target)
    if (target in owner && !is_test && index(owner[target], " " room " ") == 0)
        fault("foreign-header", "<" target "> belongs to" owner[target] "only")
    if (target in owner && is_test && target != "jansson.h" && target != "sqlite3.h" && target != "zlib.h" &&
        target != "csv.h" && target != "uv.h")
        fault("foreign-header", "tests reach <" target "> through its room")
    if (room ~ /^planner/ && target in impure_header) fault("pure", "<" target "> in the planner")
}

# Calls: a name followed by "(".
{
    rest = line
    while (match(rest, /[A-Za-z_][A-Za-z_0-9]*[ \t]*\(/)) {
        before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : ""
        name = substr(rest, RSTART, RLENGTH - 1); sub(/[ \t]+$/, "", name)
        rest = substr(rest, RSTART + RLENGTH)
        if (before == "." || before == ">") continue
        if (name in banned) fault("banned", name " is banned")
        if (room ~ /^planner/ && name in impure) fault("pure", name "() in the planner")
        if (name == "sqlite3_exec" && room == "db" && FILENAME !~ /migrat|pragma|sqlite/)
            fault("banned", "sqlite3_exec outside migrations and pragmas")
    }
}

# Functions start with a "{" alone in column one after a line that is no initialiser; they end with "}" in column one.
line ~ /^\{/ && previous !~ /=[ \t]*$/ { in_function = 1; first = FNR; function_name = previous }
in_function && line ~ /^\}/ {
    in_function = 0
    if (FNR - first - 1 > FUNCTION_LINES && !is_test) {
        sub(/\(.*/, "", function_name); sub(/.*[ *]/, "", function_name)
        fault("function-length", function_name " has " (FNR - first - 1) " lines, at most " FUNCTION_LINES)
    }
}
line ~ /^[A-Za-z_].*\)[ \t]*\{[ \t]*$/ && line !~ /=/ { fault("brace", "a function's brace stands on its own line") }
line ~ /^[A-Za-z_]/ { previous = line }

FNR == FILE_LINES + 1 && !is_test { fault("file-length", "more than " FILE_LINES " lines") }
FNR == 1 && $0 !~ /^\/\*/ && FILENAME !~ /\.def$/ { fault("head", "no head comment that says what the file is for") }

END { exit n_faults > 0 }
