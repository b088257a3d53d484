# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Sourced by kernel-debug after lib.sh: kernels built from Debian's sources to find bugs.
# shellcheck disable=SC2154 # set by lib.sh

# Of every machine: its limits in time are multiples of the stock kernel's; its log keeps many
# reports; KCSAN looks at one access of 500, not of 4,000: the tests are short.
patient="patience=10 log_buf_len=1M kcsan.skip_watch=500"

# debug_tools: what building a kernel takes.
debug_tools() {
    need_apt flex
    need_apt bison
    need_apt bc
    need_apt lz4
    [ -e /usr/include/libelf.h ] || need_apt a-program-that-is-never-there libelf-dev
    [ -e /usr/include/openssl/ssl.h ] || need_apt a-program-that-is-never-there libssl-dev
}

# debug_source: Debian's kernel sources, unpacked into $work/source.
debug_source() {
    [ ! -e "$work/source/.done" ] || return 0
    mkdir -p "$work/source"
    (
        cd "$work/source"
        apt-get download -qq linux-source-6.1 ||
            { alone apt-get update -qq && apt-get download -qq linux-source-6.1; }
        dpkg-deb --fsys-tarfile linux-source-6.1_*.deb | tar -xO ./usr/src/linux-source-6.1.tar.xz |
            tar -xJ --strip-components=1
        rm -f linux-source-6.1_*.deb
        touch .done
    ) || fail "linux-source-6.1 cannot be had"
}

# debug_kernel NAME FRAGMENT…: builds a kernel in $work/NAME; kept, if its configuration is the
# same.
debug_kernel() {
    local name=$1 out=$work/$1 fragments line begun=$EPOCHREALTIME
    shift
    fragments=("${@/#/$bench/config/}")
    mkdir -p "$out"
    # One run builds it, another one waits.
    exec 9>"$out.lock"
    flock 9
    if [ -e "$out/.done" ] && cmp -s "$out/.done" <(cat "${fragments[@]}"); then
        note "$name kernel: kept from before"
        exec 9>&-
        return
    fi
    rm -f "$out/.done"
    make -s -C "$work/source" O="$out" tinyconfig >/dev/null
    (
        cd "$out" &&
            "$work/source/scripts/kconfig/merge_config.sh" -m -O . .config "${fragments[@]}"
    ) >/dev/null
    make -s -C "$out" olddefconfig >"$work/logs/$name" 2>&1
    # What depends on something that is off is dropped without a word, and what something else
    # selects is on.
    while IFS= read -r line; do
        grep -qx "$line" "$out/.config" || fail "$name: the configuration has dropped $line"
    done < <(grep -h '^CONFIG' "${fragments[@]}")
    while IFS= read -r line; do
        ! grep -q "^$line=" "$out/.config" || fail "$name: the configuration has $line"
    done < <(sed -n 's/^# \(CONFIG_[A-Z0-9_]*\) is not set$/\1/p' "${fragments[@]}")
    # Modules, though there are none: that writes Module.symvers.
    make -s -C "$out" -j2 bzImage modules >"$work/logs/$name" 2>&1 || {
        tail "$work/logs/$name"
        fail "$name: the kernel does not build"
    }
    cat "${fragments[@]}" >"$out/.done"
    exec 9>&-
    note "$name kernel: built in $(since "$begun") s"
}

# instrumented_library OUT [CARGO ARGUMENTS]: the Rust library with each of its accesses reported to
# KASAN.
instrumented_library() {
    local flags checks stub=$work/stub
    # As the kernel's C is instrumented: every access calls, none is checked inline, so that 16-byte
    # copies are seen too; the memory functions are the kernel's checking ones.
    flags="-Z sanitizer=kernel-address -Z sanitizer-recover=kernel-address
        -C llvm-args=-asan-mapping-offset=0xdffffc0000000000 -C llvm-args=-asan-mapping-scale=3
        -C llvm-args=-asan-instrumentation-with-call-threshold=0 -C llvm-args=-asan-stack=0
        -C llvm-args=-asan-globals=0 -C llvm-args=-asan-kernel-mem-intrinsic-prefix=1"
    LND_RUSTFLAGS=$flags CARGO_TARGET_DIR=$target/kernel-kasan build_library "$@"
    # Instrumented, LLVM no longer proves of every panic that it cannot be; here one is an invalid
    # opcode.
    gcc -c -x assembler -o "$stub.o" - <<'STUB'
        .text
        .globl lnd_this_library_can_panic
        .type lnd_this_library_can_panic, @function
lnd_this_library_can_panic:
        ud2
        .size lnd_this_library_can_panic, . - lnd_this_library_can_panic
        .section .note.GNU-stack, "", @progbits
STUB
    # Without an index, which is not needed here: to make one, ar would ask LLVM's plugin about each
    # member.
    ar rS "$1" "$stub.o"
    ffi/kernel/prelink.sh "$1" "$stub-object.o"
    checks=$(objdump -dr "$stub-object.o" | grep -cE '__asan_(load|store)') || true
    [ "$checks" -gt 1000 ] || fail "the library reports only $checks accesses to KASAN"
    note "$checks accesses of the Rust library are checked by KASAN"
}

# modules LIBRARY HEADERS OUT: the module, OUT.ko, and one with seeded defects, OUT-seeds.ko.
modules() {
    quiet_module "$3.ko" "$2" "$1"
    quiet_module "$3-seeds.ko" "$2" "$1" LND_CFLAGS=-DLND_HOST_SEEDS
}

# quiet_module OUT HEADERS LIBRARY [MAKE ARGUMENTS]: the module, without a warning.
quiet_module() {
    build_module "${@:2}"
    # The panic handler of an instrumented library comes back for objtool, and not for the compiler.
    ! grep -v 'rust_begin_unwind.*: unreachable instruction$' "$work/logs/make" || fail "warnings"
    cp "$work/module/kernel/lnd_soft.ko" "$1"
}

# guest TEST MODULE: a RAM disk, $work/TEST, with the module of that file.
guest() {
    mkdir -p "$work/ko"
    cp "$2" "$work/ko/lnd_soft.ko"
    initrd "$work/$1" "$bench/guest/$1.sh" "$work/ko/lnd_soft.ko"
}

# alone KERNEL TEST MODULE [WORDS]: a test in one machine.
alone() {
    guest "$2" "$3"
    VM_CPUS=2 VM_MEMORY=768 VM_LIMIT=3600 VM_APPEND="$patient ${4-}" \
        vm "$1-$2" "$work/$1/arch/x86/boot/bzImage" "$work/$2"
    passed "$1-$2"
    note "$1, $2: $vm_seconds s, $vm_cpu s of processors"
}

# seeded KERNEL MODULE SEED…: each seeded defect is found by the kernel.
seeded() {
    local seed seeds
    printf -v seeds '%s,' "${@:3}"
    # KASAN says nothing after its first report, unless told otherwise.
    alone "$1" seeds "$2" "kasan_multi_shot seeds=$seeds"
    for seed in "${@:3}"; do
        grep -q "SEEDS.* $seed\b" "$work/logs/$1-seeds" || fail "$1: seeded $seed was not found"
    done
    note "$1: seeded and found: ${*:3}"
}

# on_machine KERNEL NUMBER TEST NAME [WORDS]: starts a machine on the fabric; sets vm_pid.
on_machine() {
    local try
    on_fabric "$2"
    for try in 1 2 3; do
        VM_CPUS=1 VM_MEMORY=768 VM_APPEND="$patient ${5-}" \
            vm_start "$1-$4" "$work/$1/arch/x86/boot/bzImage" "$work/$3" "${on_fabric[@]}"
        # One in many emulated machines loses its timer while its kernel boots, and stands still:
        # nothing of ours runs on it yet.
        if wait_for 900 up_or_gone "$vm_pid" "$work/logs/$1-$4"; then
            return 0
        fi
        note "$1, $4: start $try did not get as far as its first process"
        kill -9 "$vm_pid"
        vm_wait "$vm_pid"
    done
    fail "$1, $4: the machine does not start"
}

# up_or_gone PID LOG: whether the machine has come to its first process, or has ended.
up_or_gone() {
    grep -qs 'VM up after' "$2" || ! kill -0 "$1" 2>/dev/null
}

# ended KERNEL NAME PID: waits for the machine, which must end well.
ended() {
    VM_LIMIT=3600 vm_wait "$3"
    passed "$1-$2"
}

# injected_on_fabric KERNEL MODULE: failures of a machine's start on a fabric.
injected_on_fabric() {
    guest inject_pci "$2"
    fabric_start 4 2 16
    on_fabric 0 2
    VM_CPUS=1 VM_MEMORY=768 VM_APPEND=$patient \
        vm_start "$1-inject_pci" "$work/$1/arch/x86/boot/bzImage" "$work/inject_pci" \
            "${on_fabric[@]}"
    ended "$1" inject_pci "$vm_pid"
    note "$1: failures: $(sed -n 's/.*INJECT //p' "$work/logs/$1-inject_pci" | tr -d '\r')"
}

# two_machines KERNEL MODULE: PUT and GET between two machines.
two_machines() {
    local first begun=$EPOCHREALTIME
    guest pair "$2"
    fabric_start 2 1 16
    on_machine "$1" 0 pair pair-0
    first=$vm_pid
    on_machine "$1" 1 pair pair-1
    ended "$1" pair-1 "$vm_pid"
    ended "$1" pair-0 "$first"
    note "$1, two machines: $(since "$begun") s"
}

# one_is_killed KERNEL MODULE: one of two machines is killed in the middle of traffic, and is born
# again.
one_is_killed() {
    local survivor begun=$EPOCHREALTIME log=$work/logs/$1-survivor
    rm -f "$log"
    guest survivor "$2"
    guest peer "$2"
    fabric_start 2 1 16
    on_machine "$1" 0 survivor survivor
    survivor=$vm_pid
    on_machine "$1" 1 peer victim role=victim
    wait_for 1800 grep -qs IN-TRAFFIC "$log" || fail "$(tail "$log")"
    kill -9 "$vm_pid"
    vm_wait "$vm_pid"
    [ "$vm_status" = 137 ] || fail "the victim ended with $vm_status"
    wait_for 1800 grep -qs SURVIVED "$log" || fail "$(tail "$log")"
    grep -q 'machine 1 died' "$work/logs/doorbell" || fail "no node has declared the victim dead"
    on_machine "$1" 1 peer restarted
    ended "$1" survivor "$survivor"
    ended "$1" restarted "$vm_pid"
    note "$1, one is killed and restarted: $(since "$begun") s;" \
        "$(sed -n 's/.*the other machine died: //p' "$log" | tr -d '\r')"
}

# with_a_process KERNEL MODULE: a machine, and a process of this one.
with_a_process() {
    local begun=$EPOCHREALTIME
    guest process "$2"
    fabric_start 2 1 16
    on_machine "$1" 0 process process
    "$work/host" node "$fabric/memory" 1 0 60 1800 >"$work/logs/host" || {
        cat "$work/logs/host"
        fail "the process"
    }
    ended "$1" process "$vm_pid"
    note "$1, machine and process: $(since "$begun") s; $(tail -n 1 "$work/logs/host")"
}

# judge_of_reports: what guest/../complaints makes of KCSAN's reports, shown on reports that are
# made up.
judge_of_reports() {
    local fake=$work/fake bar='<3>[ 1.0] ====================' report
    mkdir -p "$fake"
    printf '#!/bin/sh\ncat %q\n' "$fake/log" >"$fake/dmesg"
    chmod +x "$fake/dmesg"
    report=$(printf '<3>[ 1.0] %s\n' 'BUG: KCSAN: data-race in core_a / core_b' \
        'write by task 1 on cpu 0:' ' core_a+0x1/0x2')
    printf '%s\n' "$bar" "$report" "$bar" >"$fake/log"
    grep -q '^ELSEWHERE: .*core_a' <(PATH=$fake:$PATH sh "$bench/complaints") ||
        fail "a report about the kernel itself is not said, or is judged"
    for seed in ' lnd_host_a+0x1/0x2 [lnd_soft]' 'WARNING: of another processor'; do
        printf '%s\n' "$bar" "$report" "<4>[ 1.0] $seed" "$bar" >"$fake/log"
        ! PATH=$fake:$PATH sh "$bench/complaints" >/dev/null || fail "a report is not judged: $seed"
    done
    printf '%s\n' "$bar" "$report" >"$fake/log"
    ! PATH=$fake:$PATH sh "$bench/complaints" >/dev/null ||
        fail "a report without an end is not judged"
}

# elsewhere KERNEL: how many reports about the kernel itself its machines have shown, and in which
# functions.
elsewhere() {
    local found machine
    found=$(for machine in "${machines[@]}"; do
        [[ $machine != "$1"-* ]] ||
            sed -n 's/^ELSEWHERE: .*BUG: KCSAN: //p' "$work/logs/${machine% *}"
    done | tr -d '\r' | sort | uniq -c | sort -nr | awk '{ $1 = $1 "x"; print }')
    note "$1: reports about the kernel itself, which are not judged: ${found:-none}"
}
