# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines under LNet with two networks over the same soft-RoCE: this driver and o2iblnd.
# The same traffic by either, in turn. With count=yes machine 0 has one processor, whose clock
# counts instructions, 2^shift ns each: what is not left over for the program spin was spent on the
# traffic.
# shellcheck shell=sh disable=SC2317 # called by until_so
lnd=lnd_lnet_verbs
# A machine that counts is slow to acknowledge.
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

if [ "$me" = 1 ]; then
    finished() {
        gone "$theirs" && sleep 3 && gone "$theirs"
    }
    until_so 3000 finished || die "the other machine does not go"
    unloaded
    exit 0
fi

counts=$(word count no)
if [ "$counts" != no ]; then
    ./spin /rounds &
    spin=$!
fi
# snapshot: ns, rounds, messages of LNet's that were sent and received.
snapshot() {
    messages=$(lnetctl stats show | awk '/(send|recv)_count/ { sum += $2 } END { print sum }')
    echo "$(awk '{ printf "%.0f", $1 * 1000000000 }' /proc/uptime)" \
        "$(od -A n -t u8 -N 8 /rounds) $messages"
}
# passed SECONDS: the snapshots before and after them. What a round takes is known from a time
# without traffic.
passed() {
    snapshot >/before
    sleep "$1"
    snapshot >/after
    paste -d ' ' /before /after
}
if [ "$counts" != no ]; then
    sleep 2
    round=$(passed 5 | awk '{ printf "%.3f", ($4 - $1) / ($5 - $2) }')
    say "ROUND $round ns"
fi

# one SECONDS NAME CONCURRENCY WORDS…: one kind of traffic: messages and MB a second, or
# instructions of this machine for each message of LNet's that it has sent or received.
one() {
    seconds=$1
    shift
    batch "$@"
    if [ "$counts" = no ]; then
        measured "$seconds"
        say "BESIDE $by $name $(rate)" \
            "$(awk '/Bandwidth of a/ { f = 1 } f && /^.W/ { print $3; exit }' /stat)"
    else
        # How many RPCs a second, from before the count: the tool is not to be in it.
        timeout 100 lst stat --delay 5 --count 2 a b >/stat
        say "COUNT $by $name $(passed "$seconds" |
            awk -v round="$round" -v each="$((1 << $(word shift 0)))" -v rate="$(rate)" '{
                busy = (($4 - $1) - ($5 - $2) * round) / each; messages = $6 - $3
                rpcs = rate * ($4 - $1) / 1000000000
                printf "%.0f instructions for each of %d messages", busy / messages, messages
                printf ", %.0f for each RPC at %s RPC/s", busy / rpcs, rate }')"
        lst show_error a b >/errors 2>&1
        no_errors /errors || die "lst $name: $(cat /errors)"
    fi
    lst stop "$name"
}

# beside NAME NID NID: a round by one network.
beside() {
    by=$1
    groups "$2" "$3"
    one 5 4Kw 8 brw write size=4K
    one 5 4Kr 8 brw read size=4K
    one 12 1Mw 8 brw write size=1M
    one 12 1Mr 8 brw read size=1M
    lst end_session >/dev/null
}
for turn in $(seq "$(word rounds 3)"); do
    say "round $turn"
    beside "$net" "$mine" "$theirs"
    beside o2ib "10.0.0.1@o2ib" "$other"
done
# How fast either is when packets are lost, and what fails.
lossy() { # NAME NID NID
    groups "$2" "$3"
    disturb loss 1%
    batch lossy 8 brw write check=full size=64K
    timeout 200 lst stat --delay 15 --count 2 a b >/stat
    lst show_error a b >/errors 2>&1
    say "LOSSY $1 $(rate) $(grep ^Total /errors | paste -sd ' ')"
    calm_network
    timeout 100 lst stop lossy >/dev/null 2>&1
    timeout 100 lst end_session >/dev/null 2>&1
}
if [ "$counts" = no ]; then
    lossy "$net" "$mine" "$theirs"
    lossy o2ib 10.0.0.1@o2ib "$other"
fi
[ "$counts" = no ] || kill "$spin"
unloaded
