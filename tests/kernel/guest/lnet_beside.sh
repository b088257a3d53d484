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

# net_count NETWORK send|recv|drop: messages by LNet's count.
net_count() {
    lnetctl net show --net "$1" -v | awk -v name="$2_count:" '$1 == name { print $2; exit }'
}

# totals: what was sent and received on each network so far, while nothing is under way.
totals() {
    for network in "$net" tcp; do
        say "TOTAL $network sent $(net_count "$network" send)" \
            "received $(net_count "$network" recv) dropped $(net_count "$network" drop)"
    done
    say "LOOPS $(counted loops)"
}

while read -r name size _ _ _ at _; do
    say "CODE $name $size $at"
done </proc/modules

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

# mark begin|end NETWORK NAME MESSAGES: of an operation this machine receives so many.
mark() {
    received=$(net_count "$2" recv)
    read -r up _ </proc/uptime
    say "MARK $1 $2 $3 $up $((received / $4))"
}

# one NAME MESSAGES CONCURRENCY WORDS…: one kind of traffic.
one() {
    kind=$1 each=$2
    shift 2
    batch "$kind" "$@"
    # Connections and caches are warm.
    sleep 2
    mark begin "$by" "$kind" "$each"
    sleep "$(word seconds 6)"
    mark end "$by" "$kind" "$each"
    lst show_error a b >/errors 2>&1
    no_errors /errors || die "lst $kind: $(cat /errors)"
    lst stop "$kind"
}

# beside NETWORK NID NID: a round by one network.
beside() {
    by=$1
    groups "$2" "$3"
    one ping-8 1 8 ping
    one ping-1 1 1 ping
    # The server fetches what is written, and answers.
    one write-4K-8 2 8 brw write size=4K
    one write-1M-8 2 8 brw write size=1M
    lst end_session >/dev/null
}
for round in $(seq "$(word rounds 3)"); do
    say "round $round"
    beside "$net" "$mine" "$theirs"
    beside tcp "10.9.0.1@tcp" "$other"
done
sleep 3
totals
unloaded
