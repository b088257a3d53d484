# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Sourced by the parts under LNet itself after lib.sh.
# shellcheck disable=SC2154 # set by lib.sh

# lustre_root ROOT MODULE…: modules and tools of the tree LUSTRE, as they are, without what is for
# debuggers, in an initial RAM disk's folder. What the modules need of the kernel's own comes with
# them, in the file "others". A module that the tree has not is left out if its name begins with
# "?".
lustre_root() {
    local root=$1 name found tools library file others modules=()
    rm -rf "$root"
    mkdir -p "$root/bin" "$root/lib" "$root/lib64" "$root/t"
    for name in "${@:2}"; do
        found=$(find "$LUSTRE" -path '*/kconftest*' -prune -o -name "${name#\?}.ko" -print -quit)
        if [ -z "$found" ]; then
            [ "$name" != "${name#\?}" ] || fail "$LUSTRE has no $name.ko: build it first"
            continue
        fi
        [ "$(modinfo -F vermagic "$found" | cut -d' ' -f1)" = "$kernel" ] ||
            fail "$found is not for $kernel"
        strip --strip-debug -o "$root/t/${name#\?}.ko" "$found"
        modules+=("$found")
    done
    mapfile -t others < <(modinfo -F depends "${modules[@]}" | tr ',' '\n' |
        grep -vxE '|libcfs|lnet|rdma_cm|ib_core' | sort -u)
    : >"$root/t/others"
    if [ "${#others[@]}" -gt 0 ]; then
        printf '%s\n' "${others[@]}" >"$root/t/others"
        kernel_modules "$root/t" "${others[@]}"
    fi
    tools=("$LUSTRE/lnet/utils/.libs/lnetctl" "$LUSTRE/lnet/utils/.libs/lst")
    cp "${tools[@]}" "$root/bin" || fail "$LUSTRE has no lnetctl and lst: build them first"
    library=$(find "$LUSTRE/lnet" -name 'liblnetconfig.so.[0-9]' -print -quit)
    cp -L "$library" "$root/lib"
    for file in "${tools[@]}" "$library"; do
        LD_LIBRARY_PATH=$root/lib ldd "$file"
    done | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | grep -v "^$root" |
        xargs cp -L -t "$root/lib"
    cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64"
}

# lustre_lnd MODULE KIB LIBRARY [MAKE ARGUMENTS]: builds the driver for the tree LUSTRE without a
# warning, and puts it into the folder root. Stripped it takes so many KiB at most.
lustre_lnd() {
    local own=$work/own-$1 bytes
    rm -rf "$own"
    make -s -C ffi/lnet LUSTRE="$LUSTRE" KDIR="$headers" LND_LIB="$3" BUILD="$own" "${@:4}" \
        >"$work/logs/make" 2>&1 || {
        cat "$work/logs/make"
        fail "$1.ko does not build for $LUSTRE"
    }
    sed -i '/Skipping BTF generation/d' "$work/logs/make"
    [ ! -s "$work/logs/make" ] || fail "warnings: $(cat "$work/logs/make")"
    strip --strip-unneeded -o "$root/t/$1.ko" "$own/kernel/$1.ko"
    bytes=$(stat -c %s "$root/t/$1.ko")
    [ "$bytes" -le $(($2 * 1024)) ] ||
        fail "the stripped module takes $bytes bytes, more than $2 KiB"
    note "$1.ko: $bytes bytes stripped"
}

# ended TEST MACHINE…: waits until these machines have ended, well.
ended() {
    local number
    for number in "${@:2}"; do
        VM_LIMIT=3000 vm_wait "${machine_pid[number]}"
        passed "lnet-$1-$number"
    done
}

# said TEST MACHINE WORD: what a machine has said with this word.
said() {
    sed -n "s/.*\] $3 //p" "$work/logs/lnet-$1-$2" | tr -d '\r'
}

# until_said TEST MACHINE WORD: waits until a machine has said it; one that has ended never will.
until_said() {
    local log=$work/logs/lnet-$1-$2 pid=${machine_pid[$2]}
    # shellcheck disable=SC2317 # called by wait_for
    said_or_ended() {
        grep -qs "$1" "$log" || ! kill -0 "$pid" 2>/dev/null
    }
    wait_for 900 said_or_ended "$3" || true
    grep -qs "$3" "$log" || fail "$(tail "$log")"
}

# counted_machine NUMBER TEST [QEMU ARGUMENTS]: a machine whose instructions are counted. It has one
# processor: QEMU counts what such a machine executes exactly.
counts=()
counted_machine() {
    if [ "$1" = 0 ]; then
        counts=()
        gcc -shared -fPIC -O2 -Wall -Wextra -Werror -o "$work/executed.so" "$bench/executed.c"
    fi
    VM_CPUS=1 machine "$@" -plugin "$work/executed.so,counts=$work/counts-$1"
    counts+=("${machine_pid[$1]}:$work/counts-$1:$work/logs/lnet-$2-$1")
}

# counted_beside TEST NETWORK OTHER: what two such machines did for each message by either network,
# when they have ended (tests/kernel/executed).
counted_beside() {
    local reader line
    wait_for 60 test -e "$work/logs/lnet-$1-0"
    "$bench/executed" "${counts[@]}" >"$work/logs/executed" 2>&1 &
    reader=$!
    # shellcheck disable=SC2004,SC2034 # kernel/lib.sh's, by process
    started[$reader]=executed
    ended "$1" 0 1
    wait "$reader" || fail "$(cat "$work/logs/executed")"
    unset "started[$reader]"
    rm -f "$work"/counts-*
    note "$2 beside $3: medians, for each message of both machines together:"
    while read -r line; do
        note "  $line"
    done < <("$bench/executed" --table "$2" "$3" "$work/logs/executed")
}
