# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Sourced by the tests over verbs, after lib.sh: soft-RoCE, and its network.
# shellcheck shell=sh disable=SC2154,SC2034 # set by lib.sh; used by those that source it

# This machine's place among the nodes; its address ends in one more.
me=$(word me 0)
other=$((1 - me))

# soft_roce: the kernel's own modules, the network, and an RDMA device over it. Frames of 4,096
# bytes and what RoCE adds to them go in one packet.
soft_roce() {
    while read -r module; do
        insmod "./modules/$module.ko" || die "insmod $module"
    done <./modules/order
    ip addr add "10.0.0.$((me + 1))/24" dev eth0
    ip link set eth0 mtu 4200 up
    ./rdma link add rxe0 type rxe netdev eth0 || die "no soft-RoCE"
    dmesg -c >/dev/null
}

# disturb WORDS…: what this machine sends is lost, late or out of order, as netem's words say.
disturb() {
    ./tc qdisc replace dev eth0 root netem limit 10000 "$@" || die "netem $*"
}

# lost_packets: how many packets of this machine were lost on purpose.
lost_packets() {
    ./tc -s qdisc show dev eth0 | sed -n 's/.*dropped \([0-9]*\),.*/\1/p' | head -n 1
}

calm_network() {
    ./tc qdisc del dev eth0 root || die "netem stays"
}

# tell WORD, told WORD: machine 0 tells it, and waits until machine 1 has asked; whether it does.
# The word goes by the network itself: connections of a driver's come and go.
tell() {
    echo "$1" | timeout $((90 * patience)) nc -l -p $((5000 + ${round:-0})) >/dev/null ||
        die "the other machine does not ask"
}
told() {
    [ "$(nc -w 2 10.0.0.1 $((5000 + ${round:-0})) </dev/null 2>/dev/null)" = "$1" ]
}
