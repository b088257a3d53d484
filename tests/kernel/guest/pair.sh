# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines on a fabric: PUT and GET to the other one, answers for the other one, then
# waits for the other one's end of it.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh

load transport=ivshmem
node=${fabric##*ivshmem}
say "node $node is up"
until_so 60 there $((1 - node)) || die "the other machine does not come"
job 30 put get count=60 workers=1 flight=4 max=262144 to=$((1 - node))
asked() {
    [ "$(of requested_ok)" -ge 60 ]
}
until_so 30 asked || die "the other machine asked only $(of requested_ok) times"
clean 60
summary "node $node"
part 60 $((1 - node))
unload
no_leak
