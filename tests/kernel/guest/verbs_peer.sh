# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines: with traffic of its own if it is to be killed, else it answers until the
# other one has left.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh
. ./verbs_lib.sh

soft_roce
load_verbs deadline_ms=$((2000 * patience))
if [ "$(word role answer)" = victim ]; then
    until_so 30 answered || die "the other machine does not come"
    client start put get flight=8 max=1048576 to="$other"
    sleep $((60 * patience))
    die "this machine was not killed"
fi
until_so 60 connected || die "the other machine does not connect"
gone() { ! connected; }
until_so 60 gone || die "the other machine stays"
watched
sound_verbs
[ "$(of requested_ok)" -ge 20 ] || die "asked $(of requested_ok) times"
summary "node $me"
unload_verbs
