# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Nodes' threads that look for work for a while before they sleep (busy_poll_us): fewer sleeps for
# the same messages, and none but sleep when nothing comes. It is changed while the module is in
# use.
# shellcheck shell=sh
. ./lib.sh

load nodes=2
bound=/sys/module/lnd_soft/parameters/busy_poll_us
[ "$(cat $bound)" = 0 ] || die "threads look for work without being asked to"

# slept: how often the nodes' threads have gone to sleep.
slept() {
    for at in /proc/[0-9]*; do
        read -r thread <"$at/comm" || continue
        case $thread in
        lnd_node*) awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "$at/status" ;;
        esac
    done | awk '{ sum += $1 } END { print sum + 0 }'
}

# sleeps: how often they do for 400 messages, one after the other.
sleeps() {
    before=$(slept)
    job 60 put count=400 min=8 max=8 to=1 workers=1 flight=1
    echo $(($(slept) - before))
}
# The first messages make the peers known.
job 60 put count=1 to=1 workers=1 flight=1
without=$(sleeps)
echo 100000 >$bound || die "busy_poll_us cannot be changed"
with=$(sleeps)
say "BUSY sleeps of 400 messages: $without, and $with of threads that look for 100 ms"
[ "$without" -ge 400 ] || die "threads that do not look sleep $without times only"
[ $((2 * with)) -lt "$without" ] || die "threads that look sleep $with times, others $without"

# With nothing to do they sleep: their timers are far apart.
echo 1000 >$bound
sleep 1
spent() {
    for at in /proc/[0-9]*; do
        read -r thread <"$at/comm" || continue
        case $thread in
        lnd_node*) read -r nanos _ <"$at/schedstat" && echo "$nanos" ;;
        esac
    done | awk '{ sum += $1 } END { printf "%.0f\n", sum / 1000000 }'
}
before=$(spent)
sleep 2
idle=$(($(spent) - before))
say "BUSY idle: $idle ms of processor time in 2 s"
[ "$idle" -lt 1000 ] || die "idle threads took $idle ms of processor time in 2 s"
clean 801
unload
