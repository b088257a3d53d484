# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Sourced by the conformance parts after lib.sh: the suite's modules, and the suite on an LND.
# shellcheck disable=SC2154 # set by lib.sh

# quiet LOG: what compiler and checkers have said is nothing. Debian's headers come without the
# kernel's own type information; to objtool an instrumented library's panic handler comes back.
quiet() {
    sed -i -e '/Skipping BTF generation/d' \
        -e '/rust_begin_unwind.*: unreachable instruction$/d' "$1"
    [ ! -s "$1" ] || fail "warnings: $(cat "$1")"
}

# suite_modules HEADERS [MAKE ARGUMENTS]: stub and reference LND, in a copy of the sources.
suite_modules() {
    local folder log
    rm -rf "$work/lnet"
    cp -r ffi/lnet "$work/lnet"
    for folder in stub reference; do
        log=$work/logs/make-$folder
        make -s -C "$work/lnet/$folder" KDIR="$1" "${@:2}" >"$log" 2>&1 || {
            cat "$log"
            fail "ffi/lnet/$folder does not build"
        }
        quiet "$log"
    done
    # The seeds as the guest reads them: name, case, violation.
    sed -n 's/^\tX(\([a-z_]*\), "\([a-z_.]*\)", "\([A-Z_]*\)").*/\1 \2 \3/p' \
        ffi/lnet/reference/seeds.h >"$work/seeds"
}

# own_lnd HEADERS LIBRARY [MAKE FLAGS]: the project's own LND, built for the contract; sets module.
# With VERBS=1 the one over verbs.
own_lnd() {
    rm -rf "$work/own-build"
    module=$(LND_LIB=$2 MAKEFLAGS="-j$(nproc) ${*:3}" ffi/lnet/conformance "$1" \
        "$work/lnet/stub/Module.symvers" "$work/own-build" 2>"$work/logs/make-own") || {
        cat "$work/logs/make-own"
        fail "ffi/lnet does not build"
    }
    quiet "$work/logs/make-own"
}

# conforms KERNEL NAME MODULE WORDS [QEMU ARGUMENTS]: the suite on an LND; WORDS for the guest.
conforms() {
    local lnd
    lnd=$(basename "$3" .ko)
    initrd "$work/$2.initrd" "$bench/guest/conformance.sh" "$work/lnet/stub/lnet_stub.ko" "$3" \
        "$work/seeds"
    VM_APPEND="lnd=$lnd $4" vm "$2" "$1" "$work/$2.initrd" "${@:5}"
    passed "$2"
    note "$(sed -n 's/.*\] \('"$lnd"': SUMMARY.*\|SEEDS.*\)/\1/p' "$work/logs/$2" |
        tr -d '\r' | paste -sd ';')"
}

# reference_conforms KERNEL [WORDS]: the reference LND; each of its seeds is caught.
reference_conforms() {
    local caught
    conforms "$1" reference "$work/lnet/reference/lnd_reference.ko" \
        "seeds=yes interfaces=ref1,ref2 bad=none ${2-}"
    caught=$(sed -n 's/.*SEEDS \([0-9]*\) caught.*/\1/p' "$work/logs/reference")
    [ "$(wc -l <"$work/seeds")" = "$caught" ] || fail "not every seed was run"
}

# own_conforms KERNEL [WORDS]: the LND that own_lnd has built.
own_conforms() {
    conforms "$1" own "$module" "$(sed -n 's/^# conformance: //p' ffi/lnet/conformance) ${2-}"
}

# own_conforms_ivshmem KERNEL: the same LND between two devices of one machine, with their doorbells
# and interrupts; a device is removed under its interface. Needs build_host.
own_conforms_ivshmem() {
    local devices words
    fabric_start 2 1 16
    on_fabric 0
    devices=("${on_fabric[@]}")
    on_fabric 1 1 more
    words="interfaces=ivshmem0,ivshmem1 bad=ivshmem9 args=transport=ivshmem"
    words="$words node=ivshmem0/node0 unplug=yes"
    conforms "$1" ivshmem "$module" "$words" "${devices[@]}" "${on_fabric[@]}"
}

# between_seeds quick|long: which violations of seeded/ are tried, those that take little time or
# each.
between_seeds() {
    mkdir -p "$work/between"
    awk -v all="$1" '!/^#/ && (all == "long" || $6 != "long") { print $1, $2, $3, $4, $5 }' \
        "$work/lnet/seeded/seeds" >"$work/between/seeds"
}

# between_start NAME MACHINE KERNEL DISK WORDS [QEMU ARGUMENTS]: one of two machines, with a serial
# line of the file $line between them.
between_start() {
    local server=,server=on,wait=off
    [ "$2" = 0 ] || server=
    VM_APPEND="me=$2 $5" vm_start "$1-$2" "$3" "$4" \
        -chardev "socket,id=line,path=$line$server" -serial chardev:line "${@:6}"
    machine_pid[$2]=$vm_pid
    wait_for 60 [ -S "$line" ] || fail "QEMU does not listen"
}

# between_end NAME: both machines have passed, and each seed was run.
between_end() {
    local machine caught
    for machine in 0 1; do
        vm_wait "${machine_pid[machine]}"
        passed "$1-$machine"
    done
    note "$(sed -n 's/.*\] \(BETWEEN.*\|SEEDS.*\)/\1/p' "$work/logs/$1-0" |
        tr -d '\r' | paste -sd ';')"
    caught=$(sed -n 's/.*SEEDS \([0-9]*\) caught between.*/\1/p' "$work/logs/$1-0")
    [ "$(wc -l <"$work/between/seeds")" = "$caught" ] ||
        fail "not every seed was run between two machines"
}

# own_conforms_between KERNEL quick|long: the same LND in two machines, and violations of seeded/,
# those that take little time or each. Needs build_host; own_lnd has been built with SEEDED=1.
own_conforms_between() {
    local machine words
    fabric_start 2 1 16
    line=$fabric/line
    between_seeds "$2"
    initrd "$work/between.initrd" "$bench/guest/between.sh" "$work/lnet/stub/lnet_stub.ko" \
        "$module" "$work/between/seeds"
    words="lnd=lnd_lnet interfaces=ivshmem0,ivshmem1 args=transport=ivshmem"
    for machine in 0 1; do
        on_fabric "$machine"
        between_start between "$machine" "$1" "$work/between.initrd" "$words" "${on_fabric[@]}"
    done
    between_end between
}

# verbs_conforms_between KERNEL quick|long: the same over verbs, on soft-RoCE. Needs verbs.sh; LND
# over verbs that own_lnd has built with SEEDED=1 and VERBS=1.
verbs_conforms_between() {
    local machine words few root
    line=$(mktemp -d /dev/shm/lnd-kernel.XXXXXX)
    fabrics+=("$line")
    line+=/line
    between_seeds "$2"
    root=$(mktemp -d)
    roce_root "$root"
    cp "$work/lnet/stub/lnet_stub.ko" "$module" "$work/between/seeds" "$root/t"
    initrd_of "$root" "$work/between-verbs.initrd" "$bench/guest/between.sh"
    rm -rf "$root"
    words="lnd=lnd_lnet_verbs interfaces=eth0,eth0 args=timeout=18,connect_ms=4000"
    # In machine 1 sends of reentry.parse take all slots, and a request that is delayed finds none.
    few=('' ',slots=8')
    for machine in 0 1; do
        network between "$machine" 2
        between_start between-verbs "$machine" "$1" "$work/between-verbs.initrd" \
            "$words${few[machine]}" "${network[@]}"
        [ "$machine" != 0 ] || network_ready between 2
    done
    between_end between-verbs
}
