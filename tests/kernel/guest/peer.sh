# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines on a fabric: with traffic of its own if it is to be killed, else it answers
# until the other one has left.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh

load transport=ivshmem
node=${fabric##*ivshmem}
other=$((1 - node))
case $(cat /proc/cmdline) in
*role=victim*)
    client start put get flight=8 max=262144 to=$other
    sleep $((60 * patience))
    die "this machine was not killed"
    ;;
esac
until_so 30 heard "$node" $other || die "no peer has connected"
until_so 60 lost "$node" $other || die "the other machine stays"
sound
summary "node $node"
# The other one has asked at least 31 times; the last of these may have ended with its leaving.
[ "$(of requested_ok)" -ge 20 ] || die "asked $(of requested_ok) times"
unload
no_leak
