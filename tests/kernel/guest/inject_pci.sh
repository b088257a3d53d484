# SPDX-License-Identifier: MIT OR GPL-2.0-only
# ivshmem: as inject.sh, the module's start: mapping, interrupts, with two nodes on the machine. The
# driver stays when its device cannot be had.
# shellcheck shell=sh
. ./lib.sh

# not_there: what insmod, which ended with $rc, has left is a driver without a device.
not_there() {
    [ ! -e $root/ivshmem0 ] || die "$1 does not matter to the probe"
    [ $rc != 0 ] || rmmod lnd_soft || die rmmod
    taken_back "$1"
}

phase="load ivshmem"
n=1
while :; do
    insmod ./lnd_soft.ko transport=ivshmem shards=2 slots=32 fail=$n 2>/insmod
    rc=$?
    fired=$(cat /sys/module/lnd_soft/parameters/fired 2>/dev/null || echo 1)
    [ "$fired" = 1 ] || break
    not_there "failure $n"
    grep -Eq 'not loaded|unloaded|: abi fails' /log ||
        die "failure $n: the module does not say what it holds"
    grep -q 'on request' /log || die "insmod: $(cat /insmod)"
    n=$((n + 1))
done
if [ "$rc" != 0 ] || [ ! -e "$root/ivshmem0" ]; then
    die "insmod: $(cat /insmod)"
fi
cat /sys/module/lnd_soft/parameters/points >/points
[ "$(grep -c lnd_soft /proc/interrupts)" = 2 ] || die "not two interrupts"
say "INJECT ivshmem: $((n - 1)) failures, each taken back"
every_path load ivshmem
phase=stop
unload
balanced unloaded

# More transfers than the fabric has descriptors; more nodes than the machine has.
for wrong in slots=4096 shards=4; do
    insmod ./lnd_soft.ko transport=ivshmem $wrong 2>/insmod
    rc=$?
    not_there $wrong
done
no_leak
