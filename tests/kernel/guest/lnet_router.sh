# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of three machines under LNet: machine 0 on the fabric, machine 2 on ethernet, and machine 1, a
# router, on both. With large=yes ethernet has addresses and NIDs of 16 bytes, this network those of
# 4; lnet_selftest knows no others, so that they are only pinged. With roce=NETWORK soft-RoCE is in
# the place of ethernet, with the driver over verbs.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lnet_lib.sh

# The network beyond the router.
beyond=$(word roce tcp)
if [ "$beyond" != tcp ]; then
    . ./roce.sh
    [ "$me" = 0 ] || soft_roce
fi
# The client's network is given to LNet as a parameter, as an installed machine has it.
networks=
[ "$me" != 0 ] || [ -n "$large" ] || networks="networks=$net($if)"
# A ping without a way back waits for LNet's three tries: for less than 120 s, after which the
# kernel complains of a task that is blocked.
loaded lnet_peer_discovery_disabled=1 ${networks:+"$networks"} lnet_transaction_timeout=100 \
    alive_router_check_interval=1 router_ping_timeout=1 tiny_router_buffers=512 \
    small_router_buffers=512 large_router_buffers=64
case $me$large in
1* | 0?*) added || die "net add" ;;
esac
if [ "$me" = 0 ]; then
    :
elif [ "$beyond" = tcp ]; then
    ethernet
else
    insmod ./lnd_lnet_verbs.ko timeout=18 || die "insmod lnd_lnet_verbs"
    lnetctl net add --net "$beyond" --if eth0 || die "net add $beyond"
fi
selftest
[ "$me" != 0 ] || answers "$mine" || die "no network by its parameter"
client=1@$net server=10.9.0.3@tcp gateway=10.9.0.2@tcp least=1000
[ "$beyond" = tcp ] || server=10.0.0.3@$beyond gateway=10.0.0.2@$beyond
[ -z "$large" ] || server=fd00::3@tcp gateway=fd00::2@tcp least=20

# reached NID: the route is up, and it answers. A route counts as up until LNet has asked the
# router, which may not route yet: it would drop the ping, and LNet wait for minutes.
reached() {
    sleep 3
    lnetctl route show --verbose | grep -q 'state: up' && answers "$1"
}

case $me in
0)
    lnetctl route add --net "$beyond" --gateway "2@$net" || die "route add"
    until_so 200 reached "$server" || die "no answer through the router"
    if [ -n "$large" ]; then
        lnetctl net show --net "$net" | grep -q "nid: $client\$" ||
            die "another NID: $(lnetctl net show)"
        lnetctl ping "fd00::2@$net" 2>&1 | grep -q 'primary nid' && die "a NID that cannot be"
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            answers "$server" 20000 || die "no answer of a NID of 16 bytes"
        done
        lnetctl discover "$server" | grep -q "nid: $server" ||
            die "no discovery of a NID of 16 bytes"
        say "LARGE $server answers $client"
        # The server needs an answer, too, and its route comes up later than this one's.
        sleep 60
        unloaded
        exit 0
    fi
    # A ping goes back the way it came. What the server sends by itself needs its route, which may
    # still count as down: then this fails after 30 s.
    lst new_session --force --timeout 300 test >/dev/null || die "lst new_session"
    lst add_group a "$client" || die "lst add_group $client"
    until_so 1 lst add_group b "$server" || die "lst add_group $server"
    for size in 4K 64K 1M; do
        for operation in write read; do
            bulk $operation $size 8
            lst stop "$name"
        done
    done
    # LNet's case 228: a route stays up when only health falls, that of the router among others.
    batch sick 8 brw write check=full size=4K
    none=$(dmesg | grep -c 'no route')
    lnetctl peer set --health 500 --all || die "peer set --health"
    measured 4
    lnetctl route show --verbose >/routes
    grep -q 'state: up' /routes || die "the route is down: $(cat /routes)"
    lnetctl peer set --health 1000 --all || die "peer set --health"
    [ "$(dmesg | grep -c 'no route')" = "$none" ] || die "there was no route: $(dmesg | tail)"
    lst stop sick
    say "HEALTH the route stays up"
    lst end_session >/dev/null
    ;;
1)
    lnetctl set routing 1 || die "set routing"
    # The last to go: the server would wait for a router that is not there.
    finished() {
        gone "$client" && gone "$server" && sleep 3 && gone "$client"
    }
    until_so 60 answers "$client" || die "the client does not answer"
    until_so 60 answers "$server" || die "the server does not answer"
    until_so 900 finished || die "the client does not go"
    # Of itself it sends a few pings.
    routed=$(counted sends)
    [ "$routed" -gt $least ] || die "only $routed messages were routed"
    say "ROUTED $routed messages"
    lnetctl set routing 0 || die "set routing"
    ;;
2)
    lnetctl route add --net "$net" --gateway "$gateway" || die "route add"
    until_so 200 reached "$client" || die "no answer through the router"
    finished() {
        gone "$client" && sleep 3 && gone "$client"
    }
    until_so 900 finished || die "the client does not go"
    ;;
esac
unloaded
