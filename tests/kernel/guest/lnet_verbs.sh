# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines under LNet over soft-RoCE: machine 0 drives lnet_selftest, machine 1 serves
# it. Packets are lost, too. Interfaces come and go.
# shellcheck shell=sh disable=SC2317 # called by until_so
lnd=lnd_lnet_verbs
. ./lnet_lib.sh
. ./roce.sh

soft_roce
theirs=10.0.0.$((2 - me))@$net
# A ping of a machine that has gone waits for LNet's three tries: for less than 120 s, after which
# the kernel complains of a task that is blocked.
loaded lnet_transaction_timeout=100
for none in eth7 lo; do
    lnetctl net add --net "$net" --if $none 2>/dev/null && die "$none is taken for an interface"
done
added || die "net add"
lnetctl net show --net "$net" | grep -q "nid: $mine" || die "not the NID of the address"
selftest
until_so 60 answers "$theirs" || die "the other machine does not answer"
answers "$mine" || die "our own NID does not answer"
lnetctl discover "$theirs" | grep -q "nid: $theirs" || die "discover"

if [ "$me" = 0 ]; then
    # A node that is not there, and nothing else is hurt by it.
    answers "10.0.0.77@$net" 2000 && die "a node answers that is not there"
    answers "$theirs" || die "no answer after a node that is not there"
    # Without its network device the interface is down, and messages fail at once.
    ip link set eth0 down
    until_so 10 status down || die "the network device is down, and the interface is not"
    before=$(counted failed_fast)
    answers "$theirs" 2000 && die "a ping through a network device that is down"
    [ "$(counted failed_fast)" -gt "$before" ] || die "no message has failed at once"
    ip link set eth0 up
    until_so 20 status up || die "the network device is up, and the interface is not"
    until_so 60 answers "$theirs" || die "no answer after the network device was down"
    groups "$mine" "$theirs"
    for size in 4K 64K 1M; do
        for operation in write read; do
            bulk $operation $size 8
            lst stop "$name"
        done
    done
    disturb loss 1%
    bulk write 64K 4
    lst stop "$name"
    say "LOST $(lost_packets) packets, and no message"
    calm_network
    # The last one goes on while its interface goes.
    batch last 8 brw read check=full size=64K
    measured 2
else
    finished() {
        gone "$theirs" && sleep 5 && gone "$theirs" && sleep 20 && gone "$theirs"
    }
    until_so 600 finished || die "the other machine does not go"
    [ "$(counted optimised_gets)" -gt 0 ] || die "no GET was optimised"
fi
say "sends $(counted sends) receives $(counted receives) optimised $(counted optimised_gets)"
lnetctl net del --net "$net" || die "net del under load"
if [ "$me" = 0 ]; then
    added || die "net add after traffic"
    timeout 200 lst stop last || die "lst stop last"
    timeout 100 lst end_session >/dev/null 2>&1
    lnetctl net del --net "$net" || die "net del after traffic"
fi
rounds=$(word rounds 20)
for round in $(seq "$rounds"); do
    added || die "net add, round $round"
    lnetctl net del --net "$net" || die "net del, round $round"
done
say "CYCLES $rounds"
unloaded
