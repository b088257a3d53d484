# SPDX-License-Identifier: MIT OR GPL-2.0-only
# A machine on a fabric, and a process of the host as the other node. The process polls, rings no
# doorbell, and leaves first.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh

load transport=ivshmem poll_ms=1
until_so 30 heard 0 1 || die "the process has not connected"
job 30 put get count=60 workers=1 flight=4 max=131072 to=1
asked() { [ "$(of requested_ok)" -ge 60 ]; }
until_so 30 asked || die "the process asked only $(of requested_ok) times"
clean 60
summary "node 0"
say "node 0 was asked $(of requested_ok) times"
part 60 1
unload
no_leak
