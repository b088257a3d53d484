# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Loop: each call that may fail in the module's start, in parse() and in the work that brings memory fails once, in
# turn, until nothing is left to fail: every exit path is taken, nothing leaks, unload ends. Then there is no memory
# at all for peers' requests. The command line says how many links; lose=… is a seeded defect.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh

word() { # NAME DEFAULT: a word of the command line
    found=$(sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" /proc/cmdline)
    echo "${found:-$2}"
}

links=$(word links 1)
lose=$(word lose none)
deep=$(word deep 24)
parameters=/sys/module/lnd_soft/parameters

# balanced WHEN: the module's last words are that it holds nothing any more.
balanced() {
    dmesg -c >/log
    grep 'not given back' /log | tail -n 1 |
        grep -q "$1; 0 bytes, 0 pages, 0 messages, 0 threads, 0 interrupts not given back" || {
        cat /log
        die "$1: something is not given back"
    }
    # What was said is not lost to the check at the end.
    ! grep -E 'WARNING|BUG|Oops|Call Trace' /log || die "the kernel complains"
}

# Start: insmod fails with every failure, and is as if it had not been.
n=1
while :; do
    if insmod ./lnd_soft.ko nodes=2 links="$links" slots=32 window_mib=1 lose="$lose" fail=$n 2>/insmod; then
        [ "$(cat $parameters/fired)" = 1 ] || break
        die "failure $n at start does not matter to insmod: $(dmesg | grep 'on request')"
    fi
    balanced "not loaded"
    grep -q 'on request' /log || die "insmod: $(cat /insmod)"
    [ ! -e $root ] || die "files are left after failure $n"
    n=$((n + 1))
done
started=$((n - 1))
[ $started -ge 20 ] || die "only $started calls can fail at start"
say "INJECT start: $started failures, each taken back"
rmmod lnd_soft || die rmmod
balanced unloaded

# traffic FAIL SIZE: PUT and GET of that size, each of which ends once, while a call fails.
traffic() {
    echo 0 >$parameters/fail
    client reset
    echo "$1" >$parameters/fail
    job 30 put get count=16 workers=1 flight=8 min="$2" max="$2" to=1
    sound
}

# each_in THREADS SIZE COUNT: each of the first calls of these threads that may fail while messages of that size come
# fails once, in turn: a spare message has 5, one of 60,000 bytes then has its vectors, 14 pages, its fragments.
each_in() {
    # A newline would be a part of the name.
    printf %s "$1" >$parameters/fail_in
    n=1
    while [ $n -le "$3" ]; do
        traffic $n "$2"
        [ "$(cat $parameters/fired)" = 1 ] || die "$1: call $n did not fail"
        # What the node's thread does not get now is brought, and waited for.
        [ "$(of error).$(of refused)" = 0.0 ] || [ "$1" != lnd_node ] || die "call $n: a request is lost"
        n=$((n + 1))
    done
    echo 0 >$parameters/fail
    say "INJECT $1, $2 bytes: $3 failures: $(dmesg -c | sed -n 's/.*on request: \(.*\) fails.*/\1/p' | sort | uniq -c | tr -s '\n ' ' ')"
}

load nodes=2 links="$links" slots=32 window_mib=4
each_in lnd_node 100 6
each_in lnd_node 60000 "$deep"

# No memory without waiting: everything is brought by the work, and ends well.
echo Y >$parameters/starve
client reset
job 30 put get sweep count=138 workers=1 flight=8 max=262144 to=1
clean 138
summary "without memory that is there at once"
each_in kworker 60000 "$deep"

# No memory at all for requests: they stay where they are; unload ends.
echo 1 >$parameters/fail_on
echo 1 >$parameters/fail
client start put get workers=2 flight=8 max=65536 to=1
fired() { [ "$(cat $parameters/fired)" -ge 5 ]; }
until_so 20 fired || die "nothing was asked for"
unload
balanced unloaded
say "INJECT unloaded without memory"
no_leak
