# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines under LNet with two networks between them. What connects them fails, at either
# end, and each driver's network in turn: how soon machine 0 knows is measured.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lnet_lib.sh

theirs=$((2 - me))@$net
# As in lnet_kill.sh: how soon the driver tells LNet is what is measured.
loaded lnet_peer_discovery_disabled=1 lnet_retry_count=0 lnet_transaction_timeout=20
added || die "net add"
ethernet
other=10.9.0.$((2 - me))@tcp
until_so 120 answers "$theirs" || die "the other machine does not answer"
until_so 120 answers "$other" || die "the other machine does not answer on $other"

# cables up|down, card up|down: what is between the machines, at this end. ours up|down,
# tcp up|down: an interface of LNet.
cables() {
    cable 0 "$1"
    cable 1 "$1"
}
card() {
    ip link set eth0 "$1"
}
ours() {
    if [ "$1" = up ]; then added; else lnetctl net del --net "$net"; fi
}
tcp() {
    if [ "$1" = up ]; then lnetctl net add --net tcp --if eth0; else lnetctl net del --net tcp; fi
}

if [ "$me" = 1 ]; then
    # Each line that comes says what is to fail, and for how many seconds.
    while :; do
        nc -l -p 99 </dev/null >/line
        read -r what seconds </line || continue
        say "told: $what $seconds"
        [ "$what" != leave ] || break
        "$what" down
        sleep "$seconds"
        "$what" up || die "$what does not come back"
    done
    unloaded
    exit 0
fi

# told WORDS…: machine 1 does it.
told() {
    echo "$*" | timeout 20 nc 10.9.0.2 99
}

# failing NID FILE: pings until one fails; says when that was known.
failing() {
    while answers "$1" 100000; do
        usleep 20000
    done
    cut -d' ' -f1 /proc/uptime >"$2"
}

# breaks NAME NID NETWORK WHERE WHAT: something fails; seconds until a ping has failed, and until
# LNet takes the interface for down, or "-".
breaks() {
    until_so 120 answers "$2" || die "$2 does not answer before: $1"
    failing "$2" /failed &
    pings=$!
    sleep 1
    read -r cut _ </proc/uptime
    if [ "$4" = here ]; then "$5" down; else told "$5" 60; fi
    down=-
    while [ -e "/proc/$pings" ]; do
        if [ "$down" = - ] && status down "$3"; then
            read -r down _ </proc/uptime
        fi
        usleep 50000
    done
    wait
    say "FAILURE $1 $3 $(awk -v cut="$cut" -v down="$down" '
        { printf "%.1f %s", $1 - cut, down == "-" ? down : sprintf("%.1f", down - cut) }' /failed)"
    [ "$4" = there ] || "$5" up || die "$5 does not come back"
    until_so 120 answers "$2" || die "$2 does not answer after: $1"
}
fast=/sys/module/lnd_lnet/parameters/fail_fast
breaks own-link "$theirs" "$net" here cables
breaks own-link "$other" tcp here card
echo 0 >$fast
breaks own-link-waits "$theirs" "$net" here cables
echo 1 >$fast
breaks peers-link "$theirs" "$net" there cables
breaks peers-link "$other" tcp there card
breaks peers-interface "$theirs" "$net" there ours
breaks peers-interface "$other" tcp there tcp
told leave 0
unloaded
