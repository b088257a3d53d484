# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines on a fabric: the other one is killed in the middle of traffic, and comes back.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh

load transport=ivshmem deadline_ms=$((2000 * patience))
node=${fabric##*ivshmem}
other=$((1 - node))
until_so 60 there $other || die "the other machine does not come"
client start put get workers=1 flight=8 max=262144 to=$other

ended_well() { [ "$(of ok)" -ge "$1" ]; }
until_so 30 ended_well 30 || die "no traffic"
say "IN-TRAFFIC"

until_so 30 given_up || die "the other machine's death was not noticed"
begun=$(cut -d. -f1 /proc/uptime)
client stop
until_so 5 idle ||
    die "not everything has ended $(($(cut -d. -f1 /proc/uptime) - begun)) s after the death"
sound
[ -z "$(cat "$fabric/node$node/blocker")" ] || die "something still waits"
summary "the other machine died"
say "SURVIVED"

# The restarted one: refused until it is there.
back() {
    client reset
    client start put count=1 max=4096 to=$other
    until_so 5 idle && [ "$(of ok)" = 1 ]
}
until_so 60 there $other || die "the other machine does not come back"
until_so 30 back || die "the restarted machine was not found"
client reset
job 20 put get count=30 flight=4 max=262144 to=$other
clean 15
summary "the other machine is back"
unload
no_leak
