# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Loop: four CPUs, a shard for each, completions in softirqs; and unloaded in the middle of traffic.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh

load nodes=4 completion=soft
job 20 put get count=60 workers=4 flight=8 max=262144
clean 240
summary "4 CPUs, softirq"
for node in 0 1 2 3; do
    busy "$node" 60
done

# A back-trace out of an operation of the library's goes through the library to where the thread
# began.
trace=/sys/kernel/debug/tracing
echo stacktrace:1 >$trace/events/lnd_soft/lnd_soft/trigger || die "no tracepoint"
job 10 put count=1 max=4096
grep -q '=> ret_from_fork' $trace/trace || die "a back-trace ends early: $(tail -n 20 $trace/trace)"
echo '!stacktrace:1' >$trace/events/lnd_soft/lnd_soft/trigger || die "the trigger stays"

flowing() { [ "$(of ok)" -gt 300 ]; }
client start put get workers=4 flight=8
until_so 10 flowing || die "no traffic"
unload
say "unloaded under traffic"
