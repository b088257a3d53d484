# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Sourced by the parts of lnd_verbs after verbs.sh: its machines, and pairs of them.
# shellcheck disable=SC2154 # set by lib.sh

# disk OUT TEST MODULE [FILE…]: an initial RAM disk with soft-RoCE, the module and files.
disk() {
    local root
    root=$(mktemp -d)
    roce_root "$root"
    strip --strip-debug -o "$root/t/lnd_verbs.ko" "$3"
    cp "$bench/guest/verbs_lib.sh" "${@:4}" "$root/t/"
    initrd_of "$root" "$1" "$bench/guest/$2.sh"
    rm -rf "$root"
}

# machine NAME DISK NUMBER WORDS [QEMU ARGUMENTS]: starts a machine. each: words of every machine.
nodes=2 each=
machine() {
    network verbs "$3" "$nodes"
    # shellcheck disable=SC2154 # set by stock_kernel
    VM_APPEND="$each me=$3 $4" vm_start "$1" "$vmlinux" "$2" "${network[@]}" "${@:5}"
    [ "$3" != 0 ] || network_ready verbs "$nodes"
}

# said NAME WORDS: a machine's console has the words, a pattern.
said() {
    grep -qs "$2" "$work/logs/$1"
}

# over NAME: the test in a machine has ended.
over() {
    said "$1" 'VM done'
}

# dead NAME PID: the machine has gone, and its test has not ended: its kernel went down.
dead() {
    ! kill -0 "$2" 2>/dev/null && ! over "$1"
}

# pair_wait NAME PID NAME PID: two machines that end well. One that fails ends the part at once: the
# other one would wait for it.
pair_limit=600
pair_wait() {
    wait_for $pair_limit pair_over "$@" || fail "machines do not end: $1, $3"
    if dead "$3" "$4" || said "$3" FAILED; then
        vm_wait "$4"
        passed "$3"
    fi
    vm_wait "$2"
    passed "$1"
    vm_wait "$4"
    passed "$3"
}
pair_over() {
    { over "$1" && over "$3"; } || said "$1" FAILED || said "$3" FAILED || dead "$1" "$2" ||
        dead "$3" "$4"
}
