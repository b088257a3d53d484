#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# prelink.sh LIBRARY.a OBJECT.o [USER.o…]: makes one relocatable object of the Rust archive, as
# Kbuild links it: the exported functions that the users call, or all of them, and what they need.
# Nothing else is global. check-object.sh checks it.
set -eu

library=$(realpath "$1")
object=$(realpath -m "$2")
shift 2
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/members"
(cd "$work/members" && ar x "$library")

# LLVM's linker plugin, if binutils find one, claims every object with embedded bitcode.
# A kernel of 6.1 has no __asan_mem*: its plain mem* are the checking ones.
for member in "$work"/members/*.o; do
    objcopy -R .llvmbc -R .llvmcmd --redefine-sym __asan_memcpy=memcpy \
        --redefine-sym __asan_memmove=memmove --redefine-sym __asan_memset=memset "$member"
done

# The kernel has memcpy and the like. Those of compiler_builtins must not be used instead.
for name in memcpy memmove memset memcmp bcmp strlen; do
    echo "$name builtin_$name"
done >"$work/renames"
for member in "$work"/members/*compiler_builtins*.o; do
    [ ! -e "$member" ] || objcopy --redefine-syms="$work/renames" "$member"
done

# A jump through a thunk takes 57 bytes of a module's file: the jump, its relocation, and an entry
# in the list of sites with another relocation; a call of memcpy takes 29. So the library has one
# jump to each of the kernel's functions, and its own functions use that.
nm -u "$work"/members/*.o | awk '$2 ~ /^(__x86_|mem)/ { print $2, "lnd_to_" $2 }' |
    sort -u >"$work/imports"
for member in "$work"/members/*.o; do
    objcopy --redefine-syms="$work/imports" "$member"
done
while read -r import jump; do
    printf '.globl %s\n.type %s, @function\n%s: cs jmp %s\nint3\n.size %s, . - %s\n' \
        "$jump" "$jump" "$jump" "$import" "$jump" "$jump"
done <"$work/imports" | as --64 --noexecstack -o "$work/members/imports.o"

nm -g --defined-only "$work"/members/*.o 2>/dev/null |
    awk '$2 == "T" && $3 ~ /^lnd_/ && $3 !~ /^lnd_to_/ { print $3 }' | sort -u >"$work/exported"
if [ $# -gt 0 ]; then
    nm -u "$@" | awk '$1 == "U" { print $2 }' | sort -u >"$work/wanted"
    comm -12 "$work/exported" "$work/wanted" >"$work/called"
    mv "$work/called" "$work/exported"
fi
[ -s "$work/exported" ] || {
    echo "prelink: $library exports nothing that is called" >&2
    exit 1
}

# Functions in one section, as objtool and the module loader expect; no unwind tables (ORC replaces
# them), no notes.
cat >"$work/merge.lds" <<'LDS'
SECTIONS {
    .text   0 : { *(.text .text.*) }
    .rodata 0 : { *(.rodata .rodata.* .data.rel.ro .data.rel.ro.*) }
    .data   0 : { *(.data .data.*) }
    .bss    0 : { *(.bss .bss.*) *(COMMON) }
    /DISCARD/ : { *(.eh_frame* .gcc_except_table* .init_array* .comment .note* .llvm* .debug*) }
}
LDS
ar rcs "$work/all.a" "$work"/members/*.o
# shellcheck disable=SC2046 # a word for each function
ld -m elf_x86_64 -r --gc-sections $(sed 's/^/-u /' "$work/exported") \
    -T "$work/merge.lds" -o "$work/all.o" "$work/all.a"
# The C sources return by the same jump (whole.sh).
objcopy --strip-debug --keep-global-symbols="$work/exported" \
    --keep-global-symbol=lnd_to___x86_return_thunk "$work/all.o" "$work/out.o"

sh "$here/check-object.sh" "$work/out.o"
mv "$work/out.o" "$object"
