# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines under LNet. Machine 1 is killed under load, and comes back: machine 0 notices
# by either driver, and how soon is measured.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lnet_lib.sh

theirs=$((2 - me))@$net
# LNet does not send again what failed: how soon the driver tells it is what is measured. The two
# networks are two peers, as long as LNet does not discover that they are one.
loaded lnet_peer_discovery_disabled=1 lnet_retry_count=0 lnet_transaction_timeout=20
added || die "net add"
ethernet
selftest
other=10.9.0.$((2 - me))@tcp

if [ "$me" = 1 ]; then
    until_so 120 answers "$theirs" || die "the other machine does not answer"
    until_so 120 answers "$other" || die "the other machine does not answer on $other"
    finished() {
        gone "$theirs" && sleep 3 && gone "$theirs"
    }
    until_so 900 finished || die "the other machine does not go"
    unloaded
    exit 0
fi

until_so 120 answers "$theirs" || die "the other machine does not answer"
until_so 120 answers "$other" || die "the other machine does not answer on $other"
groups "$mine" "$theirs"
bulk write 64K 16
say "IN-TRAFFIC"

# failing NID FILE: pings until one fails; when the last one went well and when that was known.
failing() {
    while :; do
        begun=$(cut -d' ' -f1 /proc/uptime)
        answers "$1" 100000 || break
        usleep 50000
    done
    read -r ended _ </proc/uptime
    awk -v a="$begun" -v b="$ended" 'BEGIN { printf "%.1f\n", b - a }' >"$2"
}
failing "$theirs" /ours &
failing "$other" /theirs &
wait
say "NOTICED after $(cat /ours) s on $net, $(cat /theirs) s on tcp"
lst stop write64Kx16 >/dev/null 2>&1
timeout 100 lst end_session >/dev/null 2>&1
# What lst has counted so far goes.
rmmod lnet_selftest || die "rmmod lnet_selftest"
selftest
say "SURVIVED"

until_so 300 answers "$theirs" || die "the restarted machine does not answer"
# lst there has to be loaded, too.
sleep 5
groups "$mine" "$theirs"
bulk write 64K 16
lst stop "$name"
bulk read 1M 8
lst stop "$name"
say "RESTARTED is served"
lst end_session >/dev/null
unloaded
