# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of three machines, each of which has traffic with both others, on a network that loses one
# packet of a hundred. The connections of the last machine fail again and again: those of the others
# with each other are not touched by that.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh
. ./verbs_lib.sh

# here PEER [NUMBER]: the connection with a node takes frames; it is the one of this number.
here() { grep -q "^peer$(($1 + 1)) up number ${2:-[0-9]*} " $fabric/verbs; }
number_of() { sed -n "s/^peer$(($1 + 1)) [a-z]* number \([0-9]*\) .*/\1/p" $fabric/verbs; }
all_here() {
    client start put count=1 max=64
    until_so 10 idle || return 1
    for node in 0 1 2; do
        [ $node = "$me" ] || here $node || return 1
    done
}
asked() { [ "$(of requested_ok)" -ge "$1" ]; }

soft_roce
disturb loss 1%
load_verbs peers=10.0.0.1,10.0.0.2,10.0.0.3 timeout=15
until_so 60 all_here || die "not all machines come"
client start put get workers=2 flight=4 max=262144
until_so 60 asked 20 || die "no traffic"
if [ "$me" = 2 ]; then
    for cut in 1 2 3; do
        before=$(number_of 0)
        control 2 link 0 down
        again() { here 0 && here 1 && [ "$(number_of 0)" -gt "$before" ]; }
        until_so 60 again || die "no connections after cut $cut"
        until_so 60 asked $(($(of requested_ok) + 10)) || die "no traffic after cut $cut"
        sound_now
    done
    say "three: $(number_of 0) connections with node 0, $(number_of 1) with node 1"
else
    # The last machine leaves first, then the first one. What one end of a connection sees, the
    # other one sees as well: the first machine looks.
    first=$(number_of 1)
    until_so 300 lost "$me" $((2 - 2 * me)) || die "node $((2 - 2 * me)) stays"
    if [ "$me" = 0 ]; then
        [ "$(number_of 2)" -ge 4 ] || die "only connection $(number_of 2) with the last machine"
        here 1 "$first" || die "a connection of others ended: $first, $(number_of 1)"
    fi
fi
say "$(lost_packets) packets lost"
client stop
until_so 60 idle || die "not everything ends"
watched
sound_verbs
summary "three: node $me"
unload_verbs
