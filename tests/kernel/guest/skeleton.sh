# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The least upper layer: loads, sends in both sizes, reports both ends of each message, unloads.
# shellcheck shell=sh
insmod ./lnd_skeleton.ko nodes=2 || exit 1
send=/sys/kernel/debug/lnd_skeleton/loop/send
for bytes in 1 100 4096; do
    echo "put $bytes" >$send || exit 1
done
if echo "get 1" >$send 2>/dev/null || echo "put 4097" >$send 2>/dev/null; then
    echo "a wrong word was taken"
    exit 1
fi
said() { dmesg | grep -c "lnd_skeleton: node $1: $2 $3 bytes, error 0"; }
for bytes in 1 100 4096; do
    tries=0
    until [ "$(said 0 sent $bytes)$(said 1 received $bytes)" = 11 ]; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || exit 1
        sleep 0.1
    done
done
rmmod lnd_skeleton || exit 1
dmesg | grep "lnd_skeleton: "
[ ! -e /sys/kernel/debug/lnd_skeleton ]
