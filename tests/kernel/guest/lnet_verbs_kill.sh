# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines under LNet over soft-RoCE, with two drivers: this one and, if it is here,
# o2iblnd. Machine 1 is killed under load, and comes back: how soon machine 0 notices is measured.
# shellcheck shell=sh disable=SC2317 # called by until_so
lnd=lnd_lnet_verbs
. ./lnet_lib.sh
. ./roce.sh

soft_roce
# Seven times 0.54 s without an acknowledgement are the end of a connection.
ack=17
theirs=10.0.0.$((2 - me))@$net
other=10.0.0.$((2 - me))@o2ib
loaded lnet_peer_discovery_disabled=1 lnet_retry_count=0 lnet_transaction_timeout=20
added || die "net add"
if [ -e ./ko2iblnd.ko ]; then
    insmod ./ko2iblnd.ko || die "insmod ko2iblnd"
    lnetctl net add --net o2ib --if eth0 || die "net add o2ib"
fi
selftest
both() { answers "$theirs" && { [ ! -e ./ko2iblnd.ko ] || answers "$other"; }; }
until_so 120 both || die "the other machine does not answer"

if [ "$me" = 1 ]; then
    finished() {
        gone "$theirs" && sleep 3 && gone "$theirs"
    }
    until_so 900 finished || die "the other machine does not go"
    unloaded
    exit 0
fi
groups "$mine" "$theirs"
bulk write 64K 8
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
echo none >/theirs
failing "$theirs" /ours &
[ ! -e ./ko2iblnd.ko ] || failing "$other" /theirs &
wait
say "NOTICED after $(cat /ours) s on $net, $(cat /theirs) s on o2ib"
lst stop write64Kx8 >/dev/null 2>&1
timeout 100 lst end_session >/dev/null 2>&1
rmmod lnet_selftest || die "rmmod lnet_selftest"
selftest
say "SURVIVED"

until_so 300 answers "$theirs" || die "the restarted machine does not answer"
sleep 5
groups "$mine" "$theirs"
bulk write 64K 8
lst stop "$name"
bulk read 1M 4
lst stop "$name"
say "RESTARTED is served"
lst end_session >/dev/null
unloaded
