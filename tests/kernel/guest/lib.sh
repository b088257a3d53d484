# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Sourced by the tests that run in a virtual machine.
# shellcheck shell=sh

root=/sys/kernel/debug/lnd_soft
leaks=/sys/kernel/debug/kmemleak
# What the test is at, for log.
phase=job

# Every limit is a multiple of it: what the checks of this kernel cost, 1 for the distribution's
# kernel; and how long this machine took to start, 2 or 3 s on a host that has time for it.
patience=$(sed -n 's/.*patience=\([0-9]*\).*/\1/p' /proc/cmdline)
patience=${patience:-1}
[ "$patience" -ge "${BOOTED:-0}" ] || patience=$BOOTED

# A scan takes longer than most tests: only when it is asked for.
[ ! -e $leaks ] || echo scan=off >$leaks

say() {
    read -r up _ </proc/uptime
    echo "[$up] $*"
}

die() {
    say "FAILED: $*"
    for file in "$root"/memory "$root"/*/client "$root"/*/verbs "$root"/*/node*/blocker \
        "$root"/*/node*/transfers; do
        [ -e "$file" ] && { echo "== $file"; cat "$file"; }
    done
    exit 1
}

# load PARAMETER=VALUE…: loads the module; sets fabric, its directory.
load() {
    # The one that is said last holds.
    insmod ./lnd_soft.ko deadline_ms=$((5000 * patience)) drain_ms=$((500 * patience)) "$@" ||
        die "insmod $*"
    for fabric in "$root"/*/; do
        fabric=${fabric%/}
    done
    [ -e "$fabric/client" ] || die "no fabric after insmod $*"
}

unload() {
    rmmod lnd_soft || die rmmod
    [ ! -e "$root" ] || die "the module has left files"
}

# value FILE NAME: a number of a file of names and numbers.
value() {
    awk -v name="$2" '$1 == name { print $2; found = 1 } END { exit !found }' "$1"
}

# of NAME: a number of the client's.
of() {
    value "$fabric/client" "$1" || die "the client counts no $1"
}

client() {
    echo "$*" >"$fabric/client" || die "client: $*"
}

control() { # NODE COMMAND
    node=$1
    shift
    echo "$*" >"$fabric/node$node/control" || die "node $node: $*"
}

# scan: what kmemleak takes for lost, into /leaks. Only the second scan finds that a block has not
# changed since the one before it, and that the index has none of it.
scan() {
    for _ in 1 2; do
        echo scan >$leaks || die "kmemleak does not scan"
        # What is younger is not taken for lost yet.
        sleep 6
    done
    cat $leaks >/leaks || die "kmemleak says nothing"
}

# no_leak: nothing that was allocated is lost, on a kernel that knows.
no_leak() {
    [ -e $leaks ] || return 0
    scan
    [ ! -s /leaks ] || die "lost: $(cat /leaks)"
    say "kmemleak: nothing"
}

# lockdep looks no more after its first report; complains: the kernel has said something.
blind() { ! grep -q 'debug_locks: *1' /proc/lockdep_stats; }
complains() { dmesg | grep -E 'BUG:|WARNING:|Oops|INFO: ' >/bad; }

# seeded_are_seen: the same checks find what ./seeded.ko does.
seeded_are_seen() {
    insmod ./seeded.ko || die "insmod seeded"
    blind || die "locks in either order are not seen"
    complains || die "a use after free is not seen"
    grep -q 'KASAN: .*use-after-free' /bad || die "a use after free is not seen: $(cat /bad)"
    dmesg -c >/dev/null
    say "SEEDED use after free, locks"
}

# until_so SECONDS COMMAND…: waits for a command to succeed.
until_so() {
    tries=$(($1 * 10 * patience))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        usleep 100000
    done
}

idle() {
    [ "$(of working)" = 0 ] && [ "$(of under_way)" = 0 ]
}

# there NODE: is a node of the fabric alive?
there() {
    [ "$(value "$fabric/nodes" "node$1")" = 2 ]
}

# job SECONDS WORDS…: a job from start to end.
job() {
    limit=$1
    shift
    client start "$@"
    until_so "$limit" idle || die "job is not done after $((limit * patience)) s: $*"
}

# failed NODE COUNT: a node of ours knows that so many links have failed.
failed() {
    [ "$(value "$fabric/node$1/stats" links_failed)" -ge "$2" ]
}

# link_is NODE LINK STATE: how a link of a node of ours stands, by enum lnd_link_state.
link_is() {
    [ "$(value "$fabric/node$1/stats" "link$2_state")" = "$3" ]
}

# heard NODE OTHER, lost NODE OTHER: does a node of ours take another one for alive? (Its NID is one
# more.)
heard() {
    grep -q "^$(($2 + 1)) state 2" "$fabric/node$1/peers"
}

lost() {
    ! heard "$1" "$2"
}

# revived NODE: the other two of three nodes have noticed that it is back: they refuse nothing to
# it.
revived() {
    for other in 0 1 2; do
        [ $other = "$1" ] || ! grep -q "^$(($1 + 1)) state 3" "$fabric/node$other/peers" || return 1
    done
}

# A node has noticed that messages cannot arrive.
given_up() {
    [ "$(of refused)" -ge 1 ] || [ "$(of error)" -ge 1 ]
}

# Everything that was accepted has ended once; nothing arrived wrong; nothing was touched that
# engines may not touch; no caller broke a rule of the library.
sound() {
    # lockdep gives up after its first report, or when its tables are full.
    [ ! -e /proc/lockdep_stats ] || grep -q 'debug_locks: *1' /proc/lockdep_stats ||
        die "lockdep has given up"
    [ "$(of submitted)" = $(($(of ok) + $(of error) + $(of crashed))) ] ||
        die "not every message ended once"
    [ "$(of corrupt)" = 0 ] || die "corrupt payload"
    for stats in "$fabric"/node*/stats; do
        [ -s "$stats" ] || continue
        for name in bugs misuses link0_violations link1_violations; do
            [ "$(value "$stats" $name)" = 0 ] || die "$stats: $name"
        done
    done
}

# clean: as sound, and everything ended well.
clean() {
    sound
    for name in error refused requested_error; do
        [ "$(of $name)" = 0 ] || die "$name: $(of $name): $(grep errno "$fabric/client")"
    done
    [ "$(of verified)" -ge "$1" ] || die "only $(of verified) payloads verified"
}

# part COUNT NODE: before this machine leaves. It has been asked COUNT times, and has ended all that
# it was asked and all that it has asked for: it says so, by one more PUT. NODE may still wait for
# the end of what it has asked for, until it says the same, or has left, which it does only then.
part() {
    client start put count=1 max=64 to="$2"
    told=$(($1 + 1))
    until_so 30 parted "$2" || die "the other machine is not done"
}

parted() {
    [ "$(of requested)" -ge "$told" ] || ! there "$1"
}

# busy NODE COUNT: a node of ours has sent as many messages, has been asked, and its engines have
# worked.
busy() {
    stats=$fabric/node$1/stats
    [ "$(value "$stats" accepted)" -ge "$2" ] ||
        die "node $1 has sent only $(value "$stats" accepted) messages"
    for name in requests completions interrupts; do
        [ "$(value "$stats" $name)" -ge 1 ] || die "node $1: no $name"
    done
    say "node $1: $(value "$stats" accepted) messages, $(value "$stats" requests) requests," \
        "$(value "$stats" completions) completions in $(value "$stats" interrupts) interrupts"
}

# word NAME DEFAULT: a word of the command line.
word() {
    found=$(sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" /proc/cmdline)
    echo "${found:-$2}"
}

# log: what the kernel has said since the last time, into /log. The exit paths that were taken go to
# /taken, "PATH WHERE" a line (ffi/kernel/host/faults.h); phase says where what no thread of the
# module's does lies, works_for where what a worker does lies.
log() {
    dmesg -r -c >/log
    sed -n -e 's/.*on request: \([a-z_]*\) fails in \(.*\)$/\1 \2/p' \
        -e 's/.* taken: \([a-z_]*\) in \(.*\)$/\1 \2/p' /log |
        while read -r name thread; do
            case $thread in
            lnd_node*) places=parse ;;
            lnd_client*) places=client ;;
            kworker*) places=${works_for:-supply} ;;
            *) places=$phase ;;
            esac
            for place in $places; do
                echo "$name $place"
            done
        done >>/taken
}

# calm: nothing in /log is a complaint but the module's own words about a start that has failed.
calm() {
    grep -v '^<[0-9]*>\[[^]]*\] lnd_\(soft\|verbs\): ' /log >/others
    sh ./complaints /others || die "the kernel complains"
}

# taken_back WHAT: after something that was not to be, the module holds nothing any more.
taken_back() {
    log
    ! grep 'not given back' /log |
        grep -v '; 0 bytes, 0 pages, 0 messages, 0 threads, 0 interrupts not given back' ||
        die "$1: something is not given back"
    calm
}

# balanced WHEN: the module's last words are that it holds nothing any more.
balanced() {
    log
    grep 'not given back' /log | tail -n 1 |
        grep -q "$1; 0 bytes, 0 pages, 0 messages, 0 threads, 0 interrupts not given back" || {
        cat /log
        die "$1: something is not given back"
    }
    calm
}

# every_path PLACE…: each exit path of these places, by the module's list, was taken.
every_path() {
    paths=0
    missing=
    while read -r name places; do
        for place in $places; do
            case $place in
            load | loop | ivshmem | verbs | parse | supply | client | job | connect | stop) ;;
            *) die "nothing takes the exit paths of $place" ;;
            esac
            case " $* " in
            *" $place "*)
                paths=$((paths + 1))
                grep -qx "$name $place" /taken || missing="$missing $name/$place"
                ;;
            esac
        done
    done </points
    [ $paths -gt 0 ] || die "there is no exit path: $*"
    [ -z "$missing" ] || die "never taken:$missing"
    say "INJECT $*: $paths exit paths, each taken"
}

summary() {
    say "$1: $(of submitted) messages, $(of ok) ok, $(of error) failed, $(of refused) refused," \
        "$(of verified) verified, $(($(of bytes) >> 20)) MiB, longest $(of longest_ms) ms"
}

# trace MODULE: the kernel counts the records of the module's tracepoint (docs/operations.md).
trace() {
    event=/sys/kernel/debug/tracing/events/$1/$1
    echo 'hist:keys=kind' >"$event/trigger" || die "no tracepoint"
}

# trace_end: no more. A module whose tracepoint is read must not be unloaded.
trace_end() {
    echo '!hist:keys=kind' >"$event/trigger" || die "the trigger stays"
}

# hits KIND: records of a kind, by enum lnd_trace_kind.
hits() {
    awk -v kind="$1" '/^\{ kind:/ && $3 == kind { n = $NF } END { print n + 0 }' "$event/hist"
}

# only CALLS THREADS: failures on request count these calls, in these threads. $parameters has the
# module's parameters. A newline would be a part of the name.
# shellcheck disable=SC2154 # set by the test
only() {
    echo 0 >"$parameters/fail"
    printf %s "$1" >"$parameters/fail_at"
    printf %s "$2" >"$parameters/fail_in"
}
