# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines under LNet with two networks over the same soft-RoCE: this driver and o2iblnd.
# The same traffic by either, in turn, counted by the host; then with lost packets.
# shellcheck shell=sh disable=SC2317 # called by until_so
lnd=lnd_lnet_verbs
# A machine that is counted is slow to acknowledge.
ack=20
. ./lnet_lib.sh
. ./roce.sh

soft_roce
theirs=10.0.0.$((2 - me))@$net
other=10.0.0.$((2 - me))@o2ib
loaded lnet_peer_discovery_disabled=1
added || die "net add"
insmod ./ko2iblnd.ko || die "insmod ko2iblnd"
lnetctl net add --net o2ib --if eth0 || die "net add o2ib"
selftest
both() { answers "$theirs" && answers "$other"; }
until_so 120 both || die "the other machine does not answer"
code

if [ "$me" = 1 ]; then
    # A look now and then: all that this machine does is counted.
    until told over; do sleep 10; done
    unloaded
    exit 0
fi

for turn in $(seq "$(word rounds 3)"); do
    say "round $turn"
    count_beside "$net" "$mine" "$theirs"
    count_beside o2ib 10.0.0.1@o2ib "$other"
done

# How fast either is when packets are lost, and what fails.
lossy() { # NAME NID NID
    groups "$2" "$3"
    disturb loss 1%
    batch lossy 8 brw write check=full size=64K
    timeout 200 lst stat --delay 15 --count 2 a b >/stat
    lst show_error a b >/errors 2>&1
    say "LOSSY $1 $(rate) RPC/s $(grep ^Total /errors | paste -sd ' ')"
    calm_network
    timeout 100 lst stop lossy >/dev/null 2>&1
    timeout 100 lst end_session >/dev/null 2>&1
}
lossy "$net" "$mine" "$theirs"
lossy o2ib 10.0.0.1@o2ib "$other"
tell over
unloaded
