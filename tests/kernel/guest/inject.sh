# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Loop: each call that may fail in the module's start, in decisions on requests and in the work that
# brings memory fails once, in turn; the module ends in each way that it may. Nothing leaks, unload
# ends, and each exit path of the list in ffi/kernel/host/faults.h was taken. The command line says
# how many links; lose=… is a seeded defect.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh

links=$(word links 1)
lose=$(word lose none)
deep=$(word deep 24)
parameters=/sys/module/lnd_soft/parameters

# Start: insmod fails with every failure, and is as if it had not been.
phase="load loop"
n=1
while :; do
    if insmod ./lnd_soft.ko nodes=2 links="$links" slots=32 window_mib=1 lose="$lose" fail=$n \
        2>/insmod; then
        [ "$(cat $parameters/fired)" = 1 ] || break
        die "failure $n at start does not matter to insmod: $(dmesg | grep 'on request')"
    fi
    taken_back "failure $n"
    # Of which version the library is, is looked at before there is anything to be taken back.
    grep -Eq 'not loaded|: abi fails' /log ||
        die "failure $n: the module does not say what it holds"
    grep -q 'on request' /log || die "insmod: $(cat /insmod)"
    [ ! -e $root ] || die "files are left after failure $n"
    n=$((n + 1))
done
cat $parameters/points >/points
say "INJECT start: $((n - 1)) failures, each taken back"
every_path load loop
phase=stop
rmmod lnd_soft || die rmmod
balanced unloaded

# What cannot be is refused, and leaves nothing.
for wrong in slots=4 slots=5000 drain_ms=0 deadline_ms=0 completion=firm transport=pigeon \
    nodes=1 nodes=17 links=0 links=5 window_mib=0 window_mib=1000000 window_mib=4294967295 \
    "transport=ivshmem shards=0" "transport=ivshmem shards=9"; do
    # shellcheck disable=SC2086 # some are two words
    ! insmod ./lnd_soft.ko $wrong 2>/insmod || die "insmod $wrong is not refused"
    taken_back "$wrong"
    [ ! -e $root ] || die "files are left after $wrong"
done
say "INJECT parameters: 15 refused"

# A node's start in the middle of the fabric's life.
load nodes=2 links="$links" slots=32 window_mib=1
phase=revival
control 1 kill
threads() { grep threads $root/memory; }
held=$(threads)
n=1
while :; do
    echo $n >$parameters/fail
    if echo revive >"$fabric/node1/control" 2>/dev/null; then
        [ "$(cat $parameters/fired)" = 1 ] || break
        die "failure $n does not matter to a node's start"
    fi
    [ "$(cat $parameters/fired)" = 1 ] || die "a node does not start again"
    [ "$(threads)" = "$held" ] || die "after failure $n of a node's start: $(threads)"
    n=$((n + 1))
done
echo 0 >$parameters/fail
revived_1() { [ "$(value "$fabric/nodes" node1)" = 2 ] && heard 0 1; }
job 30 put count=4 max=4096 to=1
until_so 30 revived_1 || die "no node has noticed that node 1 is back"
sound
say "INJECT a node's start: $((n - 1)) failures, each taken back"
phase=stop
unload
balanced unloaded

# A node that is down, and one whose device does not answer any more.
load nodes=2 links="$links" slots=32 window_mib=1
control 1 kill
unload
balanced unloaded
load nodes=2 links="$links" slots=32 window_mib=4
flowing() { [ "$(of ok)" -gt 20 ]; }
client start put get workers=1 flight=8 min=60000 max=60000 to=1
until_so 30 flowing || die "no traffic"
control 1 link 0 gone
until_so 10 link_is 1 0 6 || die "no node has noticed that the device does not answer"
unload
balanced unloaded

# traffic FAIL SIZE [KINDS]: messages of that size, each of which ends once, while a call fails.
traffic() {
    echo 0 >$parameters/fail
    client reset
    echo "$1" >$parameters/fail
    # shellcheck disable=SC2086 # words
    job 30 ${3:-put get} count=16 workers=1 flight=8 min="$2" max="$2" to=1
    sound
    [ "$(cat $parameters/fired)" = 1 ] ||
        die "call $1 did not fail: $(cat $parameters/fail_at $parameters/fail_in)"
}

# memory_in THREADS SIZE COUNT: each of the first calls for memory in these threads fails once, in
# turn, while messages of that size come: a spare message has 5, one of 60,000 bytes then has its
# vectors, 14 pages, its fragments.
memory_in() {
    only memory "$1"
    n=1
    while [ $n -le "$3" ]; do
        traffic $n "$2"
        # What the node's thread does not get now is brought, and waited for.
        [ "$(of error).$(of refused)" = 0.0 ] || [ "$1" != lnd_node ] ||
            die "call $n: a request is lost"
        n=$((n + 1))
    done
    log
    calm
    say "INJECT $1, $2 bytes: $3 failures:" \
        "$(sed -n 's/.*on request: \(.*\) fails.*/\1/p' /log | sort | uniq -c | tr -s '\n ' ' ')"
}

load nodes=2 links="$links" slots=32 window_mib=4
phase=job
memory_in lnd_node 100 5
memory_in lnd_node 60000 "$deep"
for call in memory_message memory_vectors memory_page memory_fragments room submit; do
    only $call lnd_client
    traffic 1 60000
    [ "$(of error)" = 0 ] || die "$call: a message of ours is lost"
done
for n in 1 2; do
    only client_thread sh
    echo $n >$parameters/fail
    ! echo "start put workers=2 count=4 max=4096" 2>/dev/null >"$fabric/client" ||
        die "a job without a thread"
    until_so 10 idle || die "not all ended that a job without a thread has begun"
done
only none none
client reset
job 30 put get count=16 workers=2 max=65536
clean 32
log
calm

# No memory without waiting: everything is brought by the work, and ends well.
echo Y >$parameters/starve
client reset
job 30 put get sweep count=138 workers=1 flight=8 max=262144 to=1
clean 138
summary "without memory that is there at once"
memory_in kworker 60000 "$deep"
for call in room accept stale; do
    only $call kworker
    traffic 1 60000
done

# No memory at all for requests: they stay where they are; unload ends.
only memory kworker
echo Y >$parameters/fail_on
echo 1 >$parameters/fail
client start put get workers=2 flight=8 max=65536
fired() { [ "$(cat $parameters/fired)" -ge 5 ]; }
until_so 20 fired || die "nothing was asked for"
phase=stop
unload
balanced unloaded
say "INJECT unloaded without memory"

# Unload while a request waits for memory: the work has brought a spare message for it, and then
# nothing any more.
load nodes=2 links="$links" slots=32 window_mib=4
echo Y >$parameters/starve
hungry() { grep -q "peer's" "$fabric/node1/transfers"; }
for _ in 1 2 3 4 5; do
    echo N >$parameters/fail_on
    only supply_late kworker
    client stop
    until_so 30 idle || die "not all ended"
    echo Y >$parameters/fail_on
    echo 2 >$parameters/fail
    client start put workers=1 flight=8 min=60000 max=60000 to=1
    # The work may have been quick enough to find the request.
    until_so 3 hungry && break
done
hungry || die "no request waits"
unload
balanced unloaded

# What is refused. A GET whose REPLY does not come ends with its time.
load nodes=2 links="$links" slots=32 window_mib=4 deadline_ms=$((1000 + 200 * patience))
for call in header spare room reply_match reply_accept reply_submit accept stale; do
    only $call lnd_node
    traffic 1 100
    traffic 2 100
    [ $call = "${call#reply_}" ] || continue
    traffic 1 60000 put
    traffic 1 60000 get
done
only room lnd_node
traffic 1 100 get
log
calm
only none none
client reset
job 30 put get count=16 workers=2 max=65536
clean 32
phase=stop
unload
balanced unloaded
every_path load loop parse supply client job stop
no_leak
