# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Sourced by the tests of lnd_lnet.ko under LNet itself, and, with lnd=lnd_lnet_verbs, of the driver
# over verbs.
# shellcheck shell=sh disable=SC2034,SC2120 # used by those that source it
. ./lib.sh

# Words of the command line: this machine, the network of the driver's type, machines on the fabric.
me=$(word me 0)
net=$(word net bxi3f)
# NIDs of 16 bytes, where a network has them.
large=
[ "$(word large no)" = no ] || large=--large
lnd=${lnd:-lnd_lnet}
if [ "$lnd" = lnd_lnet ]; then
    if=ivshmem$me
    mine=$((me + 1))@$net
else
    if=eth0
    mine=10.0.0.$((me + 1))@$net
fi
root=/sys/kernel/debug/$lnd
export LD_LIBRARY_PATH=/lib LST_SESSION=1

# The counters of lnd_lnet, for all of its nodes here.
counted() { # NAME
    cat "$root"/*/lnet | awk -v name="_$1" '$1 ~ name "$" { sum += $2 } END { print sum + 0 }'
}

# loaded [PARAMETER=VALUE…]: LNet, with these parameters, and the driver.
loaded() {
    while read -r module; do
        insmod "./$module.ko" || die "insmod $module"
    done <others
    partitions=$(grep -c '^processor' /proc/cpuinfo)
    insmod ./libcfs.ko cpu_npartitions="$partitions" || die "insmod libcfs"
    insmod ./lnet.ko "$@" || die "insmod lnet"
    # A machine whose host is busy may stand still for a second: it is not taken for dead.
    parameter=transport=ivshmem
    [ "$lnd" = lnd_lnet ] || parameter=timeout=${ack:-18}
    insmod "./$lnd.ko" "$parameter" || die "insmod $lnd"
    case $* in
    *networks=*) lnetctl lnet configure --all || die "lnet configure --all" ;;
    *) lnetctl lnet configure $large || die "lnet configure $large" ;;
    esac
}

added() {
    lnetctl net add --net "$net" --if "$if"
}

# ethernet: a network of ksocklnd's between the same machines.
ethernet() {
    for module in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci \
        failover net_failover virtio_net ksocklnd; do
        insmod "./$module.ko" || die "insmod $module"
    done
    until_so 10 [ -e /sys/class/net/eth0 ] || die "no eth0"
    if [ -n "$large" ]; then
        ip addr add "fd00::$((me + 1))/64" dev eth0
    else
        ip addr add "10.9.0.$((me + 1))/24" dev eth0
    fi
    ip link set eth0 up
    # For connections of a machine with itself.
    ip link set lo up
    until_so 30 lnetctl net add --net tcp --if eth0 || die "net add tcp"
}

# The test of lst comes after the network: else it wants ksocklnd.
selftest() {
    insmod ./lnet_selftest.ko || die "insmod lnet_selftest"
}

answers() { # NID [MILLISECONDS]
    timeout 120 lnetctl ping --timeout "${2:-5000}" "$1" 2>&1 | grep -q 'primary nid'
}

gone() { # NID
    ! answers "$1" 2000
}

# status up|down [NETWORK]: one of the network's interfaces is.
status() {
    lnetctl net show --net "${2:-$net}" | grep -q "status: *$1"
}

# absent: no interface of machine 0 is up on the fabric. One without cables is.
absent() {
    [ "$(value "$root/$if/nodes" node0)" != 2 ]
}

# resent: messages that LNet has sent again.
resent() {
    lnetctl stats show | awk '/resend_count/ { print $2 }'
}

# blamed NID: errors that LNet has counted against an interface of this machine.
blamed() {
    lnetctl net show -v 3 2>/dev/null | awk -v nid="$1" '
        $1 == "-" && $2 == "nid:" { own = $3 == nid; health = 0 }
        /health stats:/ { health = own }
        health && /(interrupts|dropped|aborted|no route|timeouts|error):/ && !/fatal/ { sum += $NF }
        END { print sum + 0 }'
}

cable() { # LINK up|down
    echo "link $1 $2" >"$root/ivshmem$me/node$me/control" || die "link $1 $2"
}

# no_errors FILE: what lst says of two groups without an error.
no_errors() {
    [ "$(grep -c '^Total 0 error nodes' "$1")" = 2 ]
}
printf 'Total 0 error nodes in a\nTotal 1 error nodes in b\n' >/seeded
no_errors /seeded && die "an error of lst is not seen"

# rates FILE: each rate that lst gives is above 0.
rates() {
    awk '/RPC\/s/ { n++; bad += $3 <= 0 } END { exit !n || bad }' "$1"
}
printf '[R] Avg: 0 RPC/s\n' >/seeded
rates /seeded && die "a standstill of lst is not seen"

# groups NID NID: a session of lst with the groups a and b.
groups() {
    lst new_session --force --timeout 300 test >/dev/null || die "lst new_session"
    lst add_group a "$1" || die "lst add_group $1"
    lst add_group b "$2" || die "lst add_group $2"
}

# batch NAME CONCURRENCY WORDS…: a test from a to b begins.
batch() {
    name=$1 concurrency=$2
    shift 2
    lst add_batch "$name" || die "lst add_batch $name"
    lst add_test --batch "$name" --concurrency "$concurrency" --from a --to b "$@" ||
        die "lst add_test $name: $*"
    lst run "$name" || die "lst run $name"
}

# measured SECONDS: what lst has counted meanwhile, into /stat: nothing stands still, nothing fails.
measured() {
    timeout $(($1 * 10 + 60)) lst stat --delay "$1" --count 2 a b >/stat
    rates /stat || die "lst $name stands still: $(cat /stat)"
    lst show_error a b >/errors 2>&1
    no_errors /errors || die "lst $name: $(cat /errors)"
}

# rate: messages a second at the sender in /stat.
rate() {
    awk '/Rates of a/ { f = 1 } f && /^.W/ { print $3; exit }' /stat
}

# bulk read|write SIZE CONCURRENCY: with all bytes checked.
bulk() {
    batch "$1$2x$3" "$3" brw "$1" check=full size="$2"
    measured 2
    say "LST $1 $2 at $3: $(rate) RPC/s"
}

# net_count NETWORK send|recv|drop: messages by LNet's count.
net_count() {
    lnetctl net show --net "$1" -v | awk -v name="$2_count:" '$1 == name { print $2; exit }'
}

# code: where the modules lie, for the host, which counts what both machines execute between two
# marks (tests/kernel/executed).
code() {
    while read -r name size _ _ _ at _; do
        say "CODE $name $size $at"
    done </proc/modules
}

# mark begin|end NETWORK NAME MESSAGES: of an operation this machine receives so many.
mark() {
    received=$(net_count "$2" recv)
    read -r up _ </proc/uptime
    say "MARK $1 $2 $3 $up $((received / $4))"
}

# count_one NAME MESSAGES CONCURRENCY WORDS…: one kind of traffic by the network $by, counted.
count_one() {
    kind=$1 each=$2
    shift 2
    batch "$kind" "$@"
    # Connections and caches are warm.
    sleep 2
    mark begin "$by" "$kind" "$each"
    sleep "$(word seconds 6)"
    mark end "$by" "$kind" "$each"
    lst show_error a b >/errors 2>&1
    no_errors /errors || die "lst $kind: $(cat /errors)"
    lst stop "$kind"
}

# count_beside NETWORK NID NID: a round by one network. Of a write the server fetches what is
# written, and answers.
count_beside() {
    by=$1
    groups "$2" "$3"
    count_one ping-8 1 8 ping
    count_one ping-1 1 1 ping
    count_one write-4K-8 2 8 brw write size=4K
    count_one write-1M-8 2 8 brw write size=1M
    lst end_session >/dev/null
}

# unloaded: everything goes, and nothing is left.
unloaded() {
    [ ! -e /sys/module/lnet_selftest ] || rmmod lnet_selftest || die "rmmod lnet_selftest"
    lnetctl lnet unconfigure || die "lnet unconfigure"
    [ -e "$root" ] || die "$lnd is not loaded"
    balance='0 bytes, 0 pages, 0 messages, 0 threads, 0 interrupts not given back'
    for driver in lnd_lnet lnd_lnet_verbs; do
        [ -e /sys/module/$driver ] || continue
        rmmod $driver || die "rmmod $driver"
        [ ! -e /sys/kernel/debug/$driver ] || die "$driver has left files"
        dmesg | grep -q "$driver: unloaded; $balance" || die "$driver: something is not given back"
    done
    for module in ksocklnd ko2iblnd; do
        [ ! -e /sys/module/$module ] || rmmod $module || die "rmmod $module"
    done
    rmmod lnet || die "rmmod lnet"
    rmmod libcfs || die "rmmod libcfs"
    # What LNet says of errors that this test has caused is no complaint of ours.
    dmesg | grep -E 'lnd_lnet.*(BUG|WARN)|BUG:|WARNING:|Oops|INFO: task' &&
        die "the kernel complains"
    dmesg -c >/dev/null
    say "done"
}
