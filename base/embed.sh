#!/bin/sh
# embed.sh SYMBOL FOLDER OUT.c OUT.S FILE... — compiles files into the binary.
# Writes an assembler file with the bytes and a C table `const struct embed_table SYMBOL` sorted by name.
set -eu
export LC_ALL=C
symbol=$1 folder=$2 out_c=$3 out_s=$4
shift 4
files=$(printf '%s\n' "$@" | sort)
{
    printf '#include "base/embed.h"\n'
    i=0
    for f in $files; do
        printf 'extern const unsigned char %s_%d[], %s_%d_end[];\n' "$symbol" $i "$symbol" $i
        i=$((i + 1))
    done
    printf 'extern const struct embed_table %s;\n' "$symbol"
    printf 'static const struct embed_file files[] = {\n'
    i=0
    for f in $files; do
        size=$(wc -c <"$f")
        printf '    {"%s", %s_%d, %d},\n' "${f#"$folder"/}" "$symbol" $i "$size"
        i=$((i + 1))
    done
    printf '};\nconst struct embed_table %s = {files, sizeof files / sizeof *files};\n' "$symbol"
} >"$out_c"
{
    printf '.section .rodata\n'
    i=0
    for f in $files; do
        printf '.global %s_%d\n.global %s_%d_end\n.balign 16\n%s_%d:\n.incbin "%s"\n%s_%d_end:\n.byte 0\n' \
            "$symbol" $i "$symbol" $i "$symbol" $i "$f" "$symbol" $i
        i=$((i + 1))
    done
    printf '.section .note.GNU-stack,"",%%progbits\n'
} >"$out_s"
