# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines, which do the same: the phases that the command line names, each with the
# module loaded anew. A seeded defect must make its phase fail.
# shellcheck shell=sh disable=SC2317 # called by until_so
# shellcheck disable=SC2013 # names have no spaces
. ./lib.sh
. ./verbs_lib.sh

asked() {
    [ "$(of requested_ok)" -ge "$1" ]
}

# parting COUNT: this machine was asked COUNT times. One more message says that it has got its own
# answers; the other one may still wait for an answer's end.
parting() {
    client start put count=1 max=64 to="$other"
    until_so 30 asked $(($1 + 1)) || die "the other machine is not done"
    until_so 10 idle || die "the last message does not end"
    watched
    sound_verbs
}

# pushed COUNT: the peer's GETs were answered by so many WRITEs at least.
pushed() {
    [ "$(verbs writes)" -ge "$1" ] || die "only $(verbs writes) WRITEs"
}

# PUT and GET of all lengths.
sweep() {
    load_unhurried
    meet
    trace lnd_verbs
    job 60 put get sweep count=69 workers=2 flight=4 max=4194304 to="$other"
    until_so 60 asked 138 || die "the other machine asked only $(of requested_ok) times"
    # Each end of ours has one record.
    [ "$(($(hits 11) + $(hits 12)))" -ge 138 ] || die "the tracepoint: $(cat "$event/hist")"
    trace_end
    [ "$(verbs inlined)" -ge 69 ] || die "only $(verbs inlined) frames went inline"
    until_so 30 tried || die "the illegal READ was not tried"
    # Soft-RoCE answers it as it should, and takes both queue pairs into error (S2-12).
    grep -q '^illegal_read near_end_broken 10 5 5$' $fabric/verbs ||
        die "the trial has found $(grep illegal_read $fabric/verbs)"
    pushed 100
    clean_verbs 138
    parting 138
}

# part_in_turn: machine 0 ends the phase first, and the other one goes on until it is told so.
part_in_turn() {
    [ "$me" = 0 ] || until_so 90 told "$phase" || die "the other machine is not done"
    client stop
    until_so 30 idle || die "not everything ends"
    watched
    sound_verbs
    # What comes by a new connection is taken when it is open at this end.
    [ "$(verbs early)" = 0 ] || die "$(verbs early) pulls were early"
    [ "$me" = 1 ] || tell "$phase"
}

tried() { [ "$(verbs illegal_read)" != not_tried ]; }

# unbroken: the first connection is there, and nothing on it has failed.
unbroken() {
    [ "$(verbs opened) $(verbs errors)" = "1 0" ] ||
        die "the connection has failed: $(verbs opened) connections, $(verbs errors) errors"
}

# The same with fragments that do not follow each other, up to 27 in a payload.
gaps() {
    load_unhurried gap=40
    meet
    client start put get sweep count=69 workers=1 flight=2 max=4194304 to="$other"
    until_so 60 flooded || die "job is not done"
    unbroken
    until_so 60 asked 69 || die "the other machine asked only $(of requested_ok) times"
    [ "$(verbs indexed)" -ge 5 ] || die "only $(verbs indexed) descriptors of several segments"
    pushed 100
    clean_verbs 69
    parting 69
}

# The same with more gaps than segments: each second page ends early.
scatter() {
    load_unhurried gap=2
    meet
    client start put get sweep count=69 workers=1 flight=2 max=4194304 to="$other"
    until_so 60 flooded || die "job is not done"
    [ "$(verbs opened)" = 1 ] || die "the connection has failed: $(verbs opened) connections"
    until_so 60 asked 69 || die "the other machine asked only $(of requested_ok) times"
    [ "$(verbs bounced)" -ge 5 ] || die "only $(verbs bounced) descriptors were copied"
    pushed 100
    clean_verbs 69
    parting 69
}

# Each region is registered again, and that fails if its key is still valid. Payloads have one
# region: the peer's last frame invalidates its key, and this machine invalidates none itself.
keys() {
    load_unhurried inv=1
    keyed 150 150 put get
    [ "$(verbs chained)" = 0 ] || die "$(verbs chained) registrations are chained to frames"
}

# The same with registrations in front of their frames. Here a request that is sent again would
# register again, and fail: the acknowledge timeout is 9 s.
chain() {
    load_unhurried chain=1 inv=1 timeout=21
    keyed 150 150 put get
    all_chained
}

# The same, but each region is invalidated by its owner: in the queue that has registered it.
behind() {
    load_unhurried chain=1 inv=0 timeout=21
    keyed 150 150 put get
    all_chained
}

all_chained() {
    [ "$(verbs chained)" = "$(verbs registered)" ] ||
        die "$(verbs chained) of $(verbs registered) registrations are chained to frames"
}

# The same without any of it, to count what it spares.
plain() {
    load_unhurried inv=0
    keyed 150 150 put get
}

# GETs alone: the peer writes into all regions of this machine, and reads none. A payload takes two
# WRITEs.
push() {
    load_unhurried inv=0
    keyed 0 600 get min=100000 max=100000
}

# One of the two machines does not push: all GETs of both go by pulls.
pulls() {
    load_unhurried inv=0 push="$me"
    keyed 300 0 put get
}

# keyed READS WRITES WORDS…: 300 messages of one region each, by the client's words, take so many
# READs and WRITEs at either end.
keyed() {
    moves="$1 $2"
    shift 2
    meet
    client start count=150 workers=2 flight=4 min=8192 max=8192 to="$other" "$@"
    until_so 60 keyed_over || die "job is not done: asked $(of requested_ok) times"
    unbroken
    clean_verbs 300
    parting 300
    [ "$(verbs reads) $(verbs writes)" = "$moves" ] ||
        die "$(verbs reads) READs and $(verbs writes) WRITEs, not $moves"
    # Each key was valid once, and was made invalid once.
    regions=$(verbs registered)
    [ "$regions" -ge 300 ] || die "only $regions regions were registered"
    ours=$(verbs invalidated)
    theirs=$(verbs invalidated_by_peer)
    [ "$((ours + theirs))" = "$regions" ] ||
        die "$regions keys: $ours invalidated here, $theirs by the peer"
    if [ "$(cat /sys/module/lnd_verbs/parameters/inv)" = 0 ]; then
        [ "$theirs" = 0 ] || die "the peer has invalidated $theirs keys"
    else
        [ "$ours" = 0 ] || die "$ours keys were not invalidated by the peer"
    fi
    [ "$(verbs other_key)" = 0 ] || die "$(verbs other_key) frames have invalidated another key"
}

keyed_over() {
    { idle && asked 300; } || [ "$(verbs opened)" -gt 1 ] || [ "$(verbs errors)" -gt 0 ]
}

# More messages at once than there are receives, in both lanes; with the answers, fewer than slots.
flood() {
    load_unhurried
    meet
    client start put get count=300 workers=2 flight=20 max=2048 to="$other"
    until_so 30 flooded || die "job is not done"
    [ "$(verbs opened)" = 1 ] || die "the connection has failed: $(verbs opened) connections"
    [ "$(verbs fed)" -gt 0 ] || die "messages have waited for room that was there"
    until_so 30 asked 600 || die "the other machine asked only $(of requested_ok) times"
    clean_verbs 600
    parting 600
}

flooded() { idle || [ "$(verbs opened)" -gt 1 ] || [ "$(verbs errors)" -gt 0 ]; }

# Deadlines that end in the middle of READs, and before them. The network is so slow that a READ is
# under way for longer than it takes to poison what was reported. late_gets: in the middle of
# WRITEs.
late_gets() { late get; }
late() {
    load_verbs deadline_ms=$((100 * patience))
    until_so 30 answered || die "the other machine does not come"
    disturb delay 20ms
    job 60 "${1:-put}" count=40 workers=2 flight=16 min=500000 max=1048576 to="$other"
    watched
    [ "$(of error)" -gt 0 ] || die "no message was late"
    calm_network
    sound_verbs
}

# All connections fail again and again, with READs and SENDs under way at both ends. Each message
# ends with its connection: none waits for its deadline, which is far away. Payloads are longer than
# a short message, here and in what follows: the answer to a short GET is a message of its own, and
# what waits for one that was lost is the upper layer. cut_gets: all that is under way are WRITEs.
cut_gets() { cut get; }
cut() {
    # The seeded defect leaves memory to the peer for a second. None may be used again by then.
    watch=2000
    load_unhurried
    until_so 30 answered || die "the other machine does not come"
    client start get "${1:-put}" workers=2 flight=8 min=500000 max=1048576 to="$other"
    until_so 30 going 4 || die "no traffic"
    for time in 1 2 3 4 5; do
        [ "$me" = 0 ] || break
        goal=$(($(of ok) + 3))
        until_so 30 going $goal || die "no traffic before cut $time"
        opened=$(verbs opened)
        control "$me" link 0 down
        until_so 20 reopened || die "no connection after cut $time"
        sound_now
    done
    part_in_turn
}
going() { [ "$(of ok)" -ge "$1" ]; }
reopened() { [ "$(verbs opened)" -gt "$opened" ]; }

# Machine 0, which has a build for tests: the first calls of each kind that may fail in the module's
# start fail, one each time; then each one with which connections are made, while both machines ask
# for them. Nothing leaks, and the next attempt works.
inject() {
    parameters=/sys/module/lnd_verbs/parameters
    load_unhurried
    if [ "$me" = 0 ]; then
        works_for=connect
        cat $parameters/points >/points
        unload_verbs
        phase=verbs
        starts=0
        for name in $(sed -n 's/^\([a-z_]*\) .*verbs$/\1/p' /points); do
            n=1
            while [ $n -le 6 ] && ! try_verbs deadline_ms=600000 fail_in=insmod fail_at="$name" \
                fail=$n 2>/insmod; do
                taken_back "failure $n of $name"
                grep -q 'on request' /log || die "insmod: $(cat /insmod)"
                [ ! -e $root ] || die "files are left after failure $n of $name"
                n=$((n + 1))
            done
            starts=$((starts + n - 1))
            [ ! -e $fabric ] || {
                [ "$(cat $parameters/fired)" = 0 ] || die "$name does not matter to insmod"
                unload_verbs
            }
        done
        say "INJECT verbs: $starts failures, each taken back"
        every_path verbs
        phase=inject
        load_unhurried
    fi
    until_so 60 answered || die "the other machine does not come"
    if [ "$me" = 0 ]; then
        client start put workers=1 flight=1 max=64 to="$other"
        for name in $(sed -n 's/^\([a-z_]*\) connect$/\1/p' /points); do
            [ "$name" = cm_accept ] || fails_once "$name" ok
        done
        client stop
        until_so 30 idle || die "not everything ends"
        tell accept
        fails_once cm_accept requested_ok
        log
        every_path connect
    else
        until_so 300 told accept || die "the other machine is not done"
        client start put workers=1 flight=1 max=64 to="$other"
    fi
    part_in_turn
}
# fails_once CALL COUNT: the call fails in the next connection, and the one after it carries
# messages.
fails_once() {
    only "$1" kworker
    echo 1 >"$parameters/fail"
    until_so 30 fails || die "$1 does not fail"
    goal=$(($(of "$2") + 1))
    counted=$2
    until_so 60 counts || die "no connection after $1 has failed"
    sound_now
}
# fails: a new connection is needed, and the call has failed.
fails() {
    control "$me" link 0 down
    until_so 2 fired
}
fired() { [ "$(cat "$parameters/fired")" = 1 ]; }
counts() { [ "$(of "$counted")" -ge "$goal" ]; }

# The RDMA device of one machine is taken away, with traffic in both directions, and another one
# comes.
device() {
    load_unhurried
    until_so 30 answered || die "the other machine does not come"
    client start put get workers=2 flight=8 min=8192 max=1048576 to="$other"
    until_so 30 going 10 || die "no traffic"
    opened=1
    if [ "$me" = 0 ]; then
        opened=$(verbs opened)
        ./rdma link delete rxe0 || die "the device stays"
        ! connected || die "the device is gone, and the connection is not"
        until_so 10 link_is "$me" 0 5 || die "the device is gone, and the library does not know it"
        ./rdma link add rxe1 type rxe netdev eth0 || die "no other device"
        until_so 10 link_is "$me" 0 1 || die "there is a device, and the link is not up"
    fi
    until_so 60 reopened || die "no connection afterwards"
    goal=$(($(of ok) + 20))
    until_so 60 going $goal || die "no traffic afterwards"
    part_in_turn
}

# A network device goes down under traffic, and comes up: first one machine's, then the other one's.
link() {
    load_unhurried
    # A seeded defect makes it wait in vain.
    limit=60
    [ "$(word defect none)" = none ] || limit=10
    until_so 30 answered || die "the other machine does not come"
    client start put get workers=2 flight=8 min=8192 max=1048576 to="$other"
    until_so 60 asked 10 || die "no traffic"
    opened=1
    [ "$me" = 0 ] || until_so 90 reopened || die "no connection after the other machine's turn"
    until_so 60 going $(($(of ok) + 10)) || die "no traffic before this machine's turn"
    opened=$(verbs opened)
    say "the link goes down: $(of ok) ok, $opened connections"
    ip link set eth0 down
    until_so 20 silence || die "the link is down, and the connection is not"
    until_so 10 link_is "$me" 0 5 || die "the link is down, and the library does not know it"
    sleep 1
    ip link set eth0 up
    say "the link is up again"
    until_so "$limit" reopened || die "no connection after this machine's turn"
    opened=$((opened + 1))
    until_so 60 going $(($(of ok) + 10)) || die "no traffic after this machine's turn"
    if [ "$me" = 0 ]; then
        until_so 90 reopened || die "no connection after the other machine's turn"
        until_so 60 going $(($(of ok) + 10)) || die "no traffic after the other machine's turn"
    fi
    part_in_turn
}

# One machine's address is taken away, and comes back, before there is a connection.
address() {
    load_unhurried
    if [ "$me" = 0 ]; then
        until_so 10 link_is "$me" 0 1 || die "the link is not up"
        ip addr del 10.0.0.1/24 dev eth0 || die "the address stays"
        until_so 10 link_is "$me" 0 5 || die "there is no address, and the link is up"
        ip addr add 10.0.0.1/24 dev eth0 || die "no address"
        until_so 10 link_is "$me" 0 1 || die "there is an address, and the link is not up"
    else
        until_so 60 asked 1 || die "the other machine does not come"
    fi
    meet
    job 60 put get count=10 workers=2 flight=2 max=65536 to="$other"
    until_so 60 asked 20 || die "the other machine asked only $(of requested_ok) times"
    clean_verbs 20
    parting 20
}

# A network that loses packets and changes their order, at both ends. Nothing is lost by that: while
# the connection lasts every message ends well.
lossy() {
    load_unhurried timeout=15
    meet
    jobs=0
    for how in "loss 1%" "loss 10%" "delay 2ms reorder 30% 50%"; do
        # shellcheck disable=SC2086 # netem's words
        disturb $how
        job 60 put get count=10 workers=2 flight=2 max=1048576 to="$other"
        jobs=$((jobs + 1))
        until_so 60 asked $((20 * jobs)) || die "$how: asked only $(of requested_ok) times"
        say "$how: $(lost_packets) packets lost, longest $(of longest_ms) ms"
        [ "${how#loss}" = "$how" ] || [ "$(lost_packets)" -gt 0 ] || die "$how: none is lost"
        calm_network
        sound_now
    done
    clean_verbs 60
    parting 60
}

# An idle connection is probed, and stays; then nothing of one machine arrives any more, which both
# notice without a message.
silent() {
    load_verbs timeout=15 probe_ms=500
    meet
    limit=60
    [ "$(word defect none)" = none ] || limit=10
    until_so 30 watches || [ "$limit" = 10 ] || die "only $(verbs probes) probes"
    if [ "$me" = 1 ]; then
        connected || die "an idle connection has ended"
        disturb loss 100%
    fi
    until_so "$limit" silence || die "nothing is noticed"
    [ "$me" = 0 ] || calm_network
    until_so 60 answered || die "no message afterwards"
    part_in_turn
}
silence() { ! connected; }
# Machine 1 decides when the silence begins: machine 0 may have probed less by then.
watches() { probed 3 || { [ "$me" = 0 ] && silence; }; }

# One machine's node ends without a goodbye, and with it the connection. The other one has a message
# for it, and no attempt at a connection comes up: it asks, and takes the node for down. The node
# comes back.
deserted() {
    load_unhurried connect_ms=$((400 * patience))
    meet
    if [ "$me" = 1 ]; then
        until_so 60 asked 2 || die "the other machine does not come"
        control 1 kill
        until_so 120 told "$phase" || die "the other machine is not done"
        control 1 revive
        until_so 60 answered || die "no message by the node that came back"
    else
        limit=60
        [ "$(word defect none)" = none ] || limit=20
        client start put count=1 max=64 to="$other"
        until_so 60 silence || die "the node has ended, and the connection has not"
        until_so 30 idle || die "the message before the end does not end"
        client start put count=1 max=64 to="$other"
        # Other network devices come up meanwhile. That is no news of the peer.
        until_so $((limit / 5)) sees_down || die "the peer is not down"
        until_so 10 idle || die "a message waits for a peer that is down"
        tell "$phase"
        until_so 60 answered || die "no message to the node that came back"
    fi
    watched
    sound_verbs
}

sees_down() {
    ip link set lo down
    ip link set lo up
    sleep 1
    down
}

# One machine is gone, without a word. The other one has nothing to send to it: it finds that its
# connection is dead, asks by a hello, and takes it for down. The last phase: nothing follows it.
vanish() {
    load_verbs timeout=15 probe_ms=500 connect_ms=$((400 * patience))
    meet
    if [ "$me" = 1 ]; then
        until_so 60 asked 1 || die "the other machine does not come"
        say "VM done: it vanishes"
        leave 16
    fi
    limit=60
    [ "$(word defect none)" = none ] || limit=10
    until_so 60 silence || die "nothing is noticed"
    until_so "$limit" down || die "the peer is not down"
    [ "$(verbs silences)" = 1 ] || die "$(verbs silences) connections have ended in silence"
    watched
    sound_verbs
}
probed() { [ "$(verbs probes)" -ge "$1" ]; }

for phase in $(word phases sweep | tr , ' '); do
    # Without a device: a kernel that has RDMA built in has the folder from the start.
    [ -n "$(ls /sys/class/infiniband 2>/dev/null)" ] || soft_roce
    round=$((round + 1)) watch=300
    $phase
    summary "$phase on node $me"
    say "$phase on node $me: $(grep -v ^peer $fabric/verbs | paste -sd ' ')"
    unload_verbs
done
no_objects
no_leak
if [ -e ./seeded.ko ]; then
    if blind || complains; then
        die "the kernel complains: $(cat /bad; dmesg | tail -n 60)"
    fi
    seeded_are_seen
fi
