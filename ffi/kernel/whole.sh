#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# whole.sh RESOLVE WHOLE.o LIBRARY.o OBJECT.o…: links the prelinked library and the objects of the C
# sources into one object, with LD (and its flags) and OBJCOPY of Kbuild. Only the symbols that the
# module loader needs stay global.
set -eu

resolve=$1 whole=$2 library=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A return takes 57 bytes of a module's file: the return, its relocation, and an entry in the list
# of sites with another. So the C functions return through the library's jump. objtool has already
# checked their objects. Lock prefixes that are patched out on one processor take 28 bytes each; the
# library's are not listed.
jump=lnd_to___x86_return_thunk
nm "$library" | grep -q " T $jump\$" || jump=__x86_return_thunk
sites=.return_sites
[ $jump != __x86_return_thunk ] || sites=.none
for object; do
    "$OBJCOPY" --redefine-sym __x86_return_thunk=$jump -R $sites -R .smp_locks "$object" \
        "$work/$(basename "$object")"
done

# A call of the kernel takes 29 bytes, of which 24 are its relocation. What the C functions call
# more than twice has one jump, as in the library. Thunks and static calls are patched where they
# are.
# shellcheck disable=SC2086 # LD is a command with its flags
$LD -r -o "$work/first" "$work"/*.o "$library"
readelf -rW "$work/first" | awk '$3 == "R_X86_64_PLT32" { calls[$5]++; next } { others[$5] = 1 }
    END { for (name in calls) if (calls[name] > 2 && !(name in others)) print name }' |
    grep -v '^__x86_\|^__SCT__' | sort >"$work/often"
nm -u "$work/first" | awk '{ print $2 }' | sort | comm -12 - "$work/often" |
    awk '{ print $1, "lnd_call_" $1 }' >"$work/jumps"
for object in "$work"/*.o; do
    "$OBJCOPY" --redefine-syms="$work/jumps" "$object"
done
while read -r import jump; do
    printf '.globl %s\n.type %s, @function\n%s: jmp %s\nint3\n.size %s, . - %s\n' \
        "$jump" "$jump" "$jump" "$import" "$jump" "$jump"
done <"$work/jumps" | as --64 --noexecstack -o "$work/jumps.o"

# shellcheck disable=SC2086 # LD is a command with its flags
$LD -r -o "$whole" "$work"/*.o "$library"
"$resolve" "$whole"
"$OBJCOPY" --wildcard --keep-global-symbol=init_module --keep-global-symbol=cleanup_module \
    --keep-global-symbol='__mod_*' -R .comment "$whole"
