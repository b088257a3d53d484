# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Sourced by the tests that run in a virtual machine.
# shellcheck shell=sh

root=/sys/kernel/debug/lnd_soft

say() {
    read -r up _ </proc/uptime
    echo "[$up] $*"
}

die() {
    say "FAILED: $*"
    for file in "$root"/memory "$root"/*/client "$root"/*/node*/blocker "$root"/*/node*/transfers; do
        [ -e "$file" ] && { echo "== $file"; cat "$file"; }
    done
    exit 1
}

# load PARAMETER=VALUE…: loads the module; sets fabric, its directory.
load() {
    insmod ./lnd_soft.ko "$@" || die "insmod $*"
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

# until_so SECONDS COMMAND…: waits for a command to succeed.
until_so() {
    tries=$(($1 * 10))
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
    until_so "$limit" idle || die "job is not done after $limit s: $*"
}

# Everything that was accepted has ended once; nothing arrived wrong; nothing was touched that engines
# may not touch; nobody broke a rule of the library.
sound() {
    [ "$(of submitted)" = $(($(of ok) + $(of error) + $(of crashed))) ] || die "not every message ended once"
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
    for name in error refused asked_error; do
        [ "$(of $name)" = 0 ] || die "$name: $(of $name): $(grep errno "$fabric/client")"
    done
    [ "$(of verified)" -ge "$1" ] || die "only $(of verified) payloads verified"
}

# busy NODE COUNT: a node of ours has sent as many messages, has been asked, and its engines have worked.
busy() {
    stats=$fabric/node$1/stats
    [ "$(value "$stats" accepted)" -ge "$2" ] || die "node $1 has sent only $(value "$stats" accepted) messages"
    for name in requests completions interrupts; do
        [ "$(value "$stats" $name)" -ge 1 ] || die "node $1: no $name"
    done
    say "node $1: $(value "$stats" accepted) messages, $(value "$stats" requests) requests," \
        "$(value "$stats" completions) completions in $(value "$stats" interrupts) interrupts"
}

summary() {
    say "$1: $(of submitted) messages, $(of ok) ok, $(of error) failed, $(of refused) refused," \
        "$(of verified) verified, $(($(of bytes) >> 20)) MiB, longest $(of longest_ms) ms"
}
