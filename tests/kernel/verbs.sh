# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Sourced by the parts over soft-RoCE after lib.sh: the kernel's own modules and tools, and a
# network between virtual machines.
# shellcheck disable=SC2154 # set by lib.sh

# roce_tools: what the machines need. Sets roce, where the kernel's modules are kept.
roce_tools() {
    need_apt rdma iproute2
    need_apt tc iproute2
    roce=$work/roce
    # In the order in which they are loaded: what each needs comes before it.
    local order="virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci failover
        net_failover virtio_net crc32_generic udp_tunnel ip6_udp_tunnel ib_core ib_uverbs rdma_rxe
        configfs ib_cm iw_cm rdma_cm sch_netem"
    # shellcheck disable=SC2086 # a word for each module
    if [ ! -e "$roce/sch_netem.ko" ]; then
        mkdir -p "$roce"
        kernel_modules "$roce" $order
    fi
    # shellcheck disable=SC2086
    printf '%s\n' $order >"$roce/order"
}

# roce_built_in: the same for a kernel that has soft-RoCE built in.
roce_built_in() {
    need_apt rdma iproute2
    need_apt tc iproute2
    roce=$work/roce-built-in
    mkdir -p "$roce"
    : >"$roce/order"
}

# roce_root ROOT: puts soft-RoCE into an initial RAM disk's folder: modules, the tool that makes its
# device, the tool that disturbs its network.
roce_root() {
    local file
    mkdir -p "$1/t"
    cp -r "$roce" "$1/t/modules"
    cp "$(command -v rdma)" "$(command -v tc)" "$1/t/"
    ldd "$1/t/rdma" "$1/t/tc" | grep -o '/[^ ]*' | grep -v ':$' | sort -u |
        while read -r file; do
            mkdir -p "$1$(dirname "$file")"
            cp -L "$file" "$1$file"
        done
    cp "$bench/guest/roce.sh" "$1/t/"
}

# network NAME MACHINE NODES: QEMU's arguments for a machine on a network of so many, into network.
# Machine 0 holds the network's ends: a cable to each other one, and with a third machine a hub.
# Started first; network_ready waits for its ends.
network() {
    local cable=stream,addr.type=unix,addr.path=$work/network-$1 i
    if [ "$2" != 0 ]; then
        network=(-netdev "$cable-$2,id=n0,server=off")
    elif [ "$3" = 2 ]; then
        network=(-netdev "$cable-1,id=n0,server=on")
    else
        network=()
        for ((i = 1; i < $3; i++)); do
            network+=(-netdev "$cable-$i,id=cable$i,server=on"
                -netdev "hubport,hubid=0,id=port$i,netdev=cable$i")
        done
        network+=(-netdev "hubport,hubid=0,id=n0")
    fi
    [ "$2" != 0 ] || rm -f "$work/network-$1"-*
    network+=(-device
        "virtio-net-pci,netdev=n0,romfile=,speed=10000,duplex=full,mac=52:54:00:00:00:0$2")
}
network_ready() { # NAME NODES
    local i
    for ((i = 1; i < $2; i++)); do
        wait_for 60 test -S "$work/network-$1-$i" || fail "QEMU makes no network"
    done
}
