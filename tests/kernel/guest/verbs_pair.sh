# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines: PUT and GET of all lengths to the other one, answers for the other one.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh
. ./verbs_lib.sh

soft_roce
load_verbs
count=$(word count 63)
say "node $me is up"
asked() {
    [ "$(of requested_ok)" -ge "$1" ]
}
meet
job 20 put get sweep count="$count" workers=2 flight=4 max=1048576 to=$other
until_so 20 asked $((2 * count)) || die "the other machine asked only $(of requested_ok) times"
clean_verbs $((2 * count))
summary "node $me"
say "node $me: $(grep -v ^peer $fabric/verbs | paste -sd ' ')"
# The other one may still wait for our answer's end.
client start put count=1 max=64 to=$other
until_so 30 asked $((2 * count + 1)) || die "the other machine is not done"
until_so 10 idle || die "the last message does not end"
watched
sound_verbs
unload_verbs
