# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines: its connections are cut in the middle of traffic, then the other machine is
# killed, and comes back.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh
. ./verbs_lib.sh

soft_roce
load_verbs deadline_ms=$((2000 * patience)) timeout=16
meet
client start put get workers=1 flight=8 max=1048576 to="$other"

ended_well() { [ "$(of ok)" -ge "$1" ]; }
opened() { [ "$(verbs opened)" -ge "$1" ]; }
until_so 30 ended_well 20 || die "no traffic"

# All connections fail, with READs and SENDs under way at both ends. What was under way ends with an
# error, and what follows goes by the next connection.
for cut in 1 2 3; do
    control "$me" link 0 down
    until_so 10 opened $((cut + 1)) || die "no connection after cut $cut"
    until_so 30 ended_well $(($(of ok) + 10)) || die "no traffic after cut $cut"
    sound_now
done
say "cut: $(verbs closings) closings, $(of ok) ok, $(of error) failed"
say "IN-TRAFFIC"

# The other machine is killed now. Nothing tells us but our own queue pair.
lost_now() { ! connected; }
until_so 30 lost_now || die "the other machine's death was not noticed"
begun=$(cut -d. -f1 /proc/uptime)
client stop
until_so 10 idle ||
    die "not everything has ended $(($(cut -d. -f1 /proc/uptime) - begun)) s after the death"
until_so 30 down || die "the dead machine is not down"
say "it is down $(($(cut -d. -f1 /proc/uptime) - begun)) s after its connection"
watched
sound_verbs
summary "the other machine died"
say "SURVIVED"

# The restarted one is found by messages that are tried again and again.
meet
client start put get count=30 flight=4 max=1048576 to="$other"
until_so 20 idle || die "the job is not done"
sound_verbs
[ "$(of error) $(of refused) $(of requested_error)" = "$before" ] || die "not everything ended well"
say "node $me: $(grep -v ^peer $fabric/verbs | paste -sd ' ')"
summary "the other machine is back"
watched
sound_verbs
unload_verbs
