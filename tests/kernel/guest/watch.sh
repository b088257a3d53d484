# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Loop, watched by perf trace and bpftrace: each of the examples of docs/operations.md, whose output
# goes to the console. What they count is what the kernel's own histogram has counted meanwhile.
# shellcheck shell=sh
. ./lib.sh

event=/sys/kernel/tracing/events/lnd_soft/lnd_soft

# As the command that perf and bpftrace start: their probes are attached by then.
if [ "${1-}" = job ]; then
    fabric=$2
    echo 'hist:keys=kind' >$event/trigger || die "no trigger"
    job 60 put get count=10 workers=2 flight=4 min=65536 max=262144
    cat $event/hist >/hist
    echo '!hist:keys=kind' >$event/trigger || die "the trigger stays"
    exit 0
fi

mount -t tracefs trace /sys/kernel/tracing || die "no tracefs"
load nodes=3
# shown NAME COMMAND…: runs an example; its output is in /out, and on the console.
shown() {
    name=$1
    shift
    client reset
    "$@" >/out 2>&1 || die "$name: $(cat /out)"
    sed "s/^/EXAMPLE $name /" /out
    clean 20
}
# hits KIND: records of a kind, by enum lnd_trace_kind.
hits() {
    awk -v kind="$1" '/^\{ kind:/ && $3 == kind { n = $NF } END { print n + 0 }' /hist
}
all() { awk '/^ *Hits: / { print $2 }' /hist; }
agrees() { [ "$1" = "$2" ] && [ "$2" -ge 20 ]; } # COUNT COUNT
same() { # WHAT COUNT COUNT
    agrees "$2" "$3" || die "$name: $1: $2, and the kernel has counted $3"
}
bpf() { sed -n "s/^@\[$1\]: //p" /out; }

watched="/bin/sh /t/test.sh job $fabric"
# shellcheck disable=SC2086 # a command and its arguments
shown perf perf trace -a --no-syscalls -e lnd_soft:lnd_soft $watched
same records "$(grep -c 'lnd_soft:lnd_soft(' /out)" "$(all)"

shown kinds bpftrace -c "$watched" -e '
tracepoint:lnd_soft:lnd_soft { @[args->kind] = count(); }'
for kind in 1 2 11; do
    same "kind $kind" "$(bpf $kind)" "$(hits $kind)"
done
# One that misses the records of a node would be found.
shown seed bpftrace -c "$watched" -e '
tracepoint:lnd_soft:lnd_soft /args->node != 0/ { @[args->kind] = count(); }'
! agrees "$(bpf 11)" "$(hits 11)" || die "a program that misses records is accepted"

shown times bpftrace -c "$watched" -e '
tracepoint:lnd_soft:lnd_soft /args->kind == 1/ {
    @began[args->node, args->index, args->generation] = nsecs;
}
tracepoint:lnd_soft:lnd_soft
/args->kind == 11 && @began[args->node, args->index, args->generation]/ {
    @us = hist((nsecs - @began[args->node, args->index, args->generation]) / 1000);
    delete(@began[args->node, args->index, args->generation]);
}'
# Of transfers that were accepted, those that were reported.
same transfers "$(awk '/^\[/ { n += $3 } END { print n + 0 }' /out)" "$(hits 11)"
unload
