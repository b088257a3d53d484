# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Sourced by the tests of lnd_verbs, after lib.sh: soft-RoCE, the module, and what must hold.
# shellcheck shell=sh disable=SC2154 # set by lib.sh
. ./roce.sh

root=/sys/kernel/debug/lnd_verbs
fabric=$root/verbs
# Of the phases of this machine; each has a port of rdma_cm of its own. Else a module that is loaded
# anew may meet the one of the phase before it, which is about to leave.
round=0
# ms for which memory is watched after its report.
watch=300

# try_verbs PARAMETER=VALUE…: loads the module, with the seeded defect of the command line; whether
# it does.
try_verbs() {
    defect=$(word defect none)
    [ "$defect" = none ] || set -- "$@" defect="$defect"
    # The one that is said last holds. A machine whose host is busy may stand still for a second: it
    # is not taken for dead. A packet takes a kernel that looks for bugs longer than that.
    ack=18
    [ "$patience" = 1 ] || ack=21
    insmod ./lnd_verbs.ko number="$me" peers=10.0.0.1,10.0.0.2 port=$((987 + round)) \
        watch_ms=$watch timeout=$ack \
        connect_ms=$((1000 * patience)) deadline_ms=$((5000 * patience)) \
        drain_ms=$((500 * patience)) "$@"
}

load_verbs() {
    try_verbs "$@" || die "insmod $*"
    [ -e $fabric/client ] || die "no fabric after insmod $*"
}

# load_unhurried PARAMETER=VALUE…: the same for phases in which nothing may be late. A message that
# is answered ends by the deadline of the machine that answers, too, and fails at the other one then
# (errno 121): and how long machines took to start is not the same on both.
load_unhurried() {
    load_verbs deadline_ms=600000 "$@"
}

unload_verbs() {
    rmmod lnd_verbs || die rmmod
    [ ! -e $root ] || die "the module has left files"
    balanced unloaded
}

# no_objects: the RDMA devices go, and the kernel counts no domain, queue pair, region or key of
# theirs that was left.
no_objects() {
    for device in /sys/class/infiniband/*; do
        ./rdma link delete "${device##*/}" || die "$device stays"
    done
    log
    calm
}

# verbs NAME: a number of the transport's.
verbs() {
    value $fabric/verbs "$1" || die "the transport counts no $1"
}

# connected: the connection with the other machine takes frames.
connected() {
    grep -q "^peer$((other + 1)) up " $fabric/verbs
}

# down: the other machine is taken for down, not only asked.
down() {
    grep -q "^$((other + 1)) state 3" "$fabric/node$me/peers"
}

# answered: one message has arrived.
answered() {
    ok=$(of ok)
    client start put count=1 max=64 to="$other"
    until_so 10 idle && [ "$(of ok)" -gt "$ok" ]
}

# answered_as_known: the same; what asks for a connection is a node, or the test has failed.
answered_as_known() {
    answered && return
    [ "$(verbs strangers)" = 0 ] || die "a stranger has asked"
    false
}

# meet: waits for the other machine, which may start later. What is refused until then is no fault.
meet() {
    until_so 30 answered_as_known || die "the other machine does not come"
    before="$(of error) $(of refused) $(of requested_error)"
}

# sound_now: nothing arrived wrong; nothing was touched after its report; no SEND has found that
# there is no receive; no rule was broken.
sound_now() {
    [ "$(of corrupt)" = 0 ] || die "corrupt payload"
    for name in touched not_ready no_region; do
        [ "$(verbs $name)" = 0 ] || die "$name: $(verbs $name)"
    done
    for name in bugs misuses link0_violations; do
        [ "$(value $fabric/node"$me"/stats $name)" = 0 ] || die "$name"
    done
}

# sound_verbs: as that, and every message that was accepted has ended once.
sound_verbs() {
    [ "$(of submitted)" = $(($(of ok) + $(of error) + $(of crashed))) ] ||
        die "not every message ended once"
    sound_now
}

# clean_verbs COUNT: as sound_verbs; everything ended well, on one connection.
clean_verbs() {
    [ "$(verbs errors)" = 0 ] || die "errors: $(verbs errors)"
    [ "$(verbs opened)" = 1 ] || die "$(verbs opened) connections"
    sound_verbs
    [ "$(of error) $(of refused) $(of requested_error)" = "$before" ] ||
        die "not everything ended well: $(grep errno $fabric/client)"
    [ "$(of verified)" -ge "$1" ] || die "only $(of verified) payloads verified"
}

# watched: what was poisoned until now has been looked at.
watched() {
    usleep $((watch * 1000 + 200000))
}
