#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# check-object.sh OBJECT.o: checks that an object may go into a kernel module. Reports all errors.
set -eu

object=$1
bad=0
complain() {
    echo "kernel object: $1" >&2
    bad=1
}
# one_line: words of standard input, joined.
one_line() {
    sort -u | tr '\n' ' '
}

# Undefined: the kernel's own mem*, mitigation thunks, and sanitizer hooks of a debug build.
allowed='^(mem(cpy|move|set|cmp)|bcmp|strlen|__x86_[a-z0-9_]*|__asan_[a-zA-Z0-9_]*)$'
missing=$(nm -u "$object" | awk '{ print $2 }' | grep -vE "$allowed" | one_line) || true
case $missing in
*lnd_this_library_can_panic*) complain "the library can panic" ;;
esac
[ -z "$missing" ] || complain "undefined symbols: $missing"

others=$(nm -g --defined-only "$object" | awk '{ print $3 }' | grep -v '^lnd_' | one_line) || true
[ -z "$others" ] || complain "global symbols of others: $others"

# What the module loader of Linux 6.1 relocates.
known='^R_X86_64_(64|32|32S|PC32|PLT32|PC64)$'
relocations=$(readelf -rW "$object" | awk '/R_X86_64_/ { print $3 }' | grep -vE "$known" |
    one_line) || true
[ -z "$relocations" ] || complain "relocations that the module loader refuses: $relocations"

# Without addresses and the names of symbols: fadd is a number, too.
code=$(objdump -d --no-show-raw-insn "$object" | sed 's/<[^>]*>//g; s/^ *[0-9a-f]*:\t/=/')
simd='%[xyz]?mm[0-9]|%st\b|^=(f(ld|st|add|mul|div|sub|ild|ist)[a-z]*|fxsave|emms)\b'
vector=$(printf '%s\n' "$code" | grep -cE "$simd") || true
[ "$vector" = 0 ] || complain "$vector instructions on SSE or x87 registers"

naked=$(printf '%s\n' "$code" | grep -cE '\b(ret[ql]?$|ret[ql]? |(call|jmp)[ql]? +\*)') || true
[ "$naked" = 0 ] || complain "$naked returns or indirect branches without a thunk"

writable=$(size -A "$object" | awk '$1 ~ /^\.(data|bss)/ { n += $2 } END { print n + 0 }')
[ "$writable" = 0 ] || complain "$writable bytes of writable statics"

[ "$bad" = 0 ]
