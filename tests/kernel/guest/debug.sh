# SPDX-License-Identifier: MIT OR GPL-2.0-only
# On a kernel that looks for bugs: everything that loop.sh, faults.sh and reload.sh do, in small,
# while a process reads every file; no report.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh

load nodes=3
tracing=/sys/kernel/debug/tracing
echo 1 >$tracing/events/lnd_soft/enable || die "no tracepoint"
job 60 put get sweep count=69 workers=1 max=262144
clean 69
summary "all sizes"
echo 0 >$tracing/events/lnd_soft/enable
traced=$(grep -c lnd_soft: $tracing/trace)
[ "$traced" -gt 69 ] || die "only $traced records of the tracepoint"
say "tracepoint: $traced records"

while [ ! -e /enough ]; do
    cat "$fabric"/* "$fabric"/node*/* >/read 2>/dev/null
    [ ! -s /read ] || : >/has-read
    usleep 50000
done &
reader=$!
client reset
job 60 put get count=20 workers=4 max=65536
clean 80
summary "4 workers"
flowing() { [ "$(of ok)" -ge "$1" ]; }
client reset
client start put get workers=4 flight=4 max=65536
until_so 30 flowing 20 || die "no traffic"
control 1 link 0 down
control 1 link 1 down
until_so 10 failed 1 2 || die "no node has noticed the links' failure"
control 1 link 0 up
control 1 link 1 up
control 2 kill
until_so 10 lost 0 2 || die "node 0 has not noticed the death"
client stop
until_so 30 idle || die "not all ended"
sound
control 2 revive
until_so 10 revived 2 || die "no node has noticed that node 2 is back"
client reset
job 60 put get count=10 workers=3 max=65536
clean 30
summary "after link failure, death and restart"
[ -e /has-read ] || die "no process has read the files"
client start put get workers=4 max=65536
until_so 30 flowing 40 || die "no traffic"
# A module of which a file is being read is not unloaded.
: >/enough
wait $reader
unload
say "unloaded under traffic"

for _ in 1 2 3; do
    load nodes=2 window_mib=8 completion=soft
    job 60 put get count=20 workers=2 max=65536
    clean 40
    unload
done
say "loaded again 3 times"
no_leak
