# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines under LNet with two networks between them: lnd_lnet over ivshmem, ksocklnd
# over virtio. The same traffic by either, in turn.
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

if [ "$me" = 1 ]; then
    finished() {
        gone "$theirs" && sleep 3 && gone "$theirs"
    }
    until_so 1500 finished || die "the other machine does not go"
    unloaded
    exit 0
fi

# one NAME CONCURRENCY WORDS…: one kind of traffic: messages and MB a second.
one() {
    batch "$@"
    measured 5
    say "BESIDE $by $name $(rate)" \
        "$(awk '/Bandwidth of a/ { f = 1 } f && /^.W/ { print $3; exit }' /stat)"
    lst stop "$name"
}

# beside NAME NID NID: a round by one network.
beside() {
    by=$1
    groups "$2" "$3"
    one ping 8 ping
    one 4K 8 brw write size=4K
    one 1M 8 brw write size=1M
    lst end_session >/dev/null
}
for round in $(seq "$(word rounds 3)"); do
    say "round $round"
    beside "$net" "$mine" "$theirs"
    beside tcp "10.9.0.1@tcp" "$other"
done
unloaded
