# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines under LNet with two networks between them: lnd_lnet over ivshmem, ksocklnd
# over virtio. The same traffic by either, in turn. The host counts what both machines execute
# between two marks (tests/kernel/executed).
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lnet_lib.sh

theirs=$((2 - me))@$net
loaded lnet_peer_discovery_disabled=1
added || die "net add"
ethernet
selftest
other=10.9.0.$((2 - me))@tcp
until_so 120 answers "$theirs" || die "the other machine does not answer"
until_so 120 answers "$other" || die "the other machine does not answer on $other"

# totals: what was sent and received on each network so far, while nothing is under way.
totals() {
    for network in "$net" tcp; do
        say "TOTAL $network sent $(net_count "$network" send)" \
            "received $(net_count "$network" recv) dropped $(net_count "$network" drop)"
    done
    say "LOOPS $(counted loops)"
}

code
if [ "$me" = 1 ]; then
    # A ping would be a message that is counted: the region says when the other one has gone.
    left() {
        [ "$(value "$root/ivshmem1/nodes" node0)" != 2 ]
    }
    until_so 1500 left || die "the other machine does not go"
    totals
    unloaded
    exit 0
fi

for round in $(seq "$(word rounds 3)"); do
    say "round $round"
    count_beside "$net" "$mine" "$theirs"
    count_beside tcp "10.9.0.1@tcp" "$other"
done
sleep 3
totals
unloaded
