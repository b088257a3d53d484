# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Loop: link failure and peer death in the middle of traffic.
# shellcheck shell=sh
. ./lib.sh

# An answer that found no way waits for one, for a moment: until its peer is down, or can be
# reached.
nothing_waits() { [ -z "$(cat "$fabric"/node[01]/blocker)" ]; }

traffic() {
    [ "$(of ok)" -gt "$1" ]
}

load nodes=3 deadline_ms=$((1500 * patience))
client start put get workers=4 flight=8 max=262144
until_so 10 traffic 50 || die "no traffic"

# Every link of one node fails, and comes back.
control 1 link 0 down
control 1 link 1 down
until_so 5 failed 1 2 || die "node 1 has not noticed"
control 1 link 0 up
control 1 link 1 up
client stop
until_so 10 idle || die "not all ended after the link failure"
sound
summary "link failure"
client reset
job 10 put get count=20 workers=2 max=262144
clean 40
summary "after the link failure"

# A device's registers read all ones, while it goes on moving bytes: its link is failed (6), and no
# proof is accepted. The other link works. When the bus answers again, the device is stopped, and
# works again (1).
client reset
client start put get workers=2 flight=8 max=262144
until_so 10 traffic 50 || die "no traffic"
control 1 link 0 gone
until_so 10 link_is 1 0 6 || die "no node has noticed that the device does not answer"
ended=$(of ok)
until_so 10 traffic $((ended + 50)) || die "the other link does not work"
link_is 1 0 6 || die "a link without an answer is trusted"
say "gone: $(value "$fabric/node1/stats" link0_quarantined) transfers in quarantine"
control 1 link 0 back
until_so 10 link_is 1 0 1 || die "the link does not come back"
client stop
until_so 10 idle || die "not all ended after the bus was back"
sound
summary "device gone and back"
client reset
job 10 put get count=20 workers=2 max=262144
clean 40
summary "after it was back"

# A node dies: its peers finalize everything for it.
client reset
client start put get workers=2 flight=8 max=262144
until_so 10 traffic 20 || die "no traffic"
control 2 kill
begun=$(cut -d' ' -f1 /proc/uptime)
until_so 5 given_up || die "no node has noticed the death"
client stop
until_so 10 idle || die "not all ended after the death"
sound
until_so 10 nothing_waits || die "nodes still wait: $(cat "$fabric"/node[01]/blocker)"
summary "peer death, ended by $(cut -d' ' -f1 /proc/uptime) of $begun"
control 2 revive
until_so 10 revived 2 || die "no node has noticed that node 2 is back"
client reset
job 10 put get count=20 workers=3 max=262144
clean 60
summary "after the restart"

# Unload ends although a device never answers again.
client reset
client start put get workers=2 flight=8 max=262144
until_so 10 traffic 50 || die "no traffic"
control 1 link 0 gone
until_so 10 link_is 1 0 6 || die "no node has noticed that the device does not answer"

unload
