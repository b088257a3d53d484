# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines: machine 0 asks for GETs, which go by push and by pull in turn, with the
# module loaded anew for each turn. Packets are counted here, instructions by the host
# (tests/kernel/executed). The shortest payload is a little longer than what goes inside a frame.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh
. ./verbs_lib.sh

# packets: those of the RDMA device, both ways.
packets() {
    cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts \
        /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts |
        awk '{ sum += $1 } END { print sum }'
}

mark() { # begin|end
    read -r up _ </proc/uptime
    ok=$(of ok)
    say "MARK $1 $by get-$size $up $ok"
}

# gets SIZE: GETs of one length, four at a time. What is between the marks is the GETs' alone.
gets() {
    size=$1
    client start get workers=1 flight=4 min="$size" max="$size" to=1
    sleep 2
    mark begin
    gone=$(packets) first=$ok
    sleep 10
    last=$(packets)
    mark end
    say "PACKETS $by $size $(awk "BEGIN { printf \"%.1f\", ($last - $gone) / ($ok - $first) }")"
    client stop
    until_so 60 idle || die "not everything ends"
}

# turn push|pull
turn() {
    by=$1
    round=$((round + 1))
    push=1
    [ "$by" = push ] || push=0
    load_unhurried watch_ms=0 timeout=21 push=$push
    while read -r name bytes _ _ _ at _; do
        say "CODE $name $bytes $at"
    done </proc/modules
    if [ "$me" = 1 ]; then
        # A look now and then: all that this machine does is counted.
        until told "$by"; do sleep 10; done
    else
        meet
        gets 4104
        gets 65536
        gets 1048576
        [ "$(verbs opened) $(verbs errors)" = "1 0" ] || die "the connection has failed"
        tell "$by"
    fi
    sound_verbs
    unload_verbs
}

soft_roce
for _ in $(seq "$(word rounds 3)"); do
    turn push
    turn pull
done
