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

# shellcheck disable=SC2086 # LD is a command with its flags
$LD -r -o "$whole" "$work"/*.o "$library"
"$resolve" "$whole"
"$OBJCOPY" --wildcard --keep-global-symbol=init_module --keep-global-symbol=cleanup_module \
    --keep-global-symbol='__mod_*' -R .comment "$whole"
