# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines on a fabric, whose links fail by the fabric's link registers. One fails: the
# other carries on. Both fail: an error. Both work again: all is well.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh

load transport=ivshmem deadline_ms=$((2000 * patience))
node=${fabric##*ivshmem}
other=$((1 - node))
until_so 60 there $other || die "the other machine does not come"
job 20 put get count=20 max=65536 to=$other
clean 10
summary "two links"

control "$node" link 0 down
until_so 5 failed "$node" 1 || die "link 0 does not fail"
client reset
job 10 put get count=10 max=65536 to=$other
sound
[ "$(of ok)" -ge 1 ] || die "nothing goes by the other link"
summary "one link"

control "$node" link 1 down
until_so 5 failed "$node" 2 || die "link 1 does not fail"
client reset
job 10 put count=5 max=65536 to=$other
sound
[ "$(of ok)" = 0 ] || die "something got through without a link"
summary "no link"

control "$node" link 0 up
control "$node" link 1 up
back() {
    client reset
    client start put count=1 max=4096 to=$other
    until_so 5 idle && [ "$(of ok)" = 1 ]
}
until_so 10 back || die "the links did not come back"
client reset
job 20 put get count=20 max=65536 to=$other
clean 10
summary "two links again"
say "link failures: $(value "$fabric/node$node/stats" links_failed)"
unload
