# SPDX-License-Identifier: MIT OR GPL-2.0-only
# ivshmem: as inject.sh, the module's start: mapping, interrupts. The driver stays when its device cannot be had.
# shellcheck shell=sh
. ./lib.sh

n=1
while :; do
    insmod ./lnd_soft.ko transport=ivshmem slots=32 fail=$n 2>/insmod
    rc=$?
    fired=$(cat /sys/module/lnd_soft/parameters/fired 2>/dev/null || echo 1)
    [ "$fired" = 1 ] || break
    [ ! -e $root/ivshmem0 ] || die "failure $n does not matter to the probe"
    [ $rc != 0 ] || rmmod lnd_soft || die rmmod
    dmesg -c >/log
    grep 'not given back' /log | tail -n 1 |
        grep -q "; 0 bytes, 0 pages, 0 messages, 0 threads, 0 interrupts not given back" || {
        cat /log
        die "failure $n: something is not given back"
    }
    ! grep -E 'WARNING|BUG|Oops|Call Trace' /log || die "the kernel complains"
    grep -q 'on request' /log || die "insmod: $(cat /insmod)"
    n=$((n + 1))
done
if [ "$rc" != 0 ] || [ ! -e "$root/ivshmem0" ]; then
    die "insmod: $(cat /insmod)"
fi
[ $n -gt 16 ] || die "only $((n - 1)) calls can fail at start"
grep -q lnd_soft /proc/interrupts || die "no interrupt"
say "INJECT ivshmem: $((n - 1)) failures, each taken back"
unload
no_leak
