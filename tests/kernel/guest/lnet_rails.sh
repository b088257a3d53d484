# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Two machines with two interfaces each, each interface in a partition of its own. Machine 0 fails
# one of its own by LNet's simulation, by its cables, by taking its device away: LNet sends by the
# other what was not delivered.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lnet_lib.sh

theirs=$((2 - me))@$net
second=$((me + 3))@$net
# What is sent to a machine that has gone ends soon.
loaded lnet_transaction_timeout=20

devices() {
    find /sys/bus/pci/drivers/lnd_lnet/ -name '0000:*' | sort
}
[ "$(devices | wc -l)" = 2 ] || die "devices: $(devices)"

# free NODE: memory of a NUMA node that nothing uses, in bytes. A processor keeps some pages for
# itself, which it takes 63 at a time: they are not used either.
free() {
    echo 1 >/proc/sys/vm/stat_refresh
    awk -v node="$1," '$1 == "Node" { here = $2 == node }
        here && $1 == "pages" && $2 == "free" { pages += $3 }
        here && $1 == "count:" { pages += $2 }
        END { print pages * 4096 }' /proc/zoneinfo
}

# Partition p is processor p with its memory.
grep -q '^1[^0-9]*: 1$' /sys/kernel/debug/lnet/cpu_partition_table ||
    die "partitions: $(cat /sys/kernel/debug/lnet/cpu_partition_table)"

# placed NODE PARTITION: the interface is added to a partition, and all of it is there.
placed() {
    held=$(value "$root/memory" bytes)
    sync
    near=$(free "$2") far=$(free $((1 - $2)))
    lnetctl net add --net "$net" --if "ivshmem$1" --cpt "$2" || die "net add --cpt $2"
    near=$((near - $(free "$2"))) far=$((far - $(free $((1 - $2)))))
    held=$(($(value "$root/memory" bytes) - held))
    say "PLACED ivshmem$1 in partition $2: $held bytes held," \
        "$near bytes of its memory taken, $far of the other's"
    if [ "$near" -lt $((held * 3 / 4)) ] || [ "$far" -ge $((held / 4)) ]; then
        die "the memory of ivshmem$1 is not in partition $2"
    fi
    threads=0
    for at in /proc/[0-9]*; do
        case $(cat "$at/comm" 2>/dev/null) in
        lnd_node/$1.* | lnd_eng/$1.*)
            threads=$((threads + 1))
            grep -q "^Cpus_allowed_list:[^0-9]*$2\$" "$at/status" ||
                die "$(cat "$at/comm"): $(grep Cpus_allowed_list "$at/status")"
            ;;
        esac
    done
    [ "$threads" = 3 ] || die "ivshmem$1 has $threads threads"
    lnetctl net show --net "$net" -v 2>/dev/null | grep -A40 "ivshmem$1\$" |
        grep -q "dev cpt: $2\$" || die "LNet does not know where ivshmem$1 is"
}

# interrupts NODE CPU: of the interface's doorbell at a processor.
interrupts() {
    awk -v irq="$(irq_of "$1")" -v cpu="$2" '$1 == irq ":" { print $(cpu + 2) }' /proc/interrupts
}
irq_of() {
    device=$(devices | head -n 1)
    [ "$1" = "$me" ] || device=$(devices | tail -n 1)
    ls "$device/msi_irqs"
}
placed "$me" 1
placed "$((me + 2))" 0
until_so 60 answers "$theirs" || die "the other machine does not answer"

if [ "$me" = 1 ]; then
    finished() {
        absent && gone "$theirs" && sleep 5 && gone "$theirs"
    }
    until_so 1000 finished || die "the other machine does not go"
    unloaded
    exit 0
fi

peers_rails() {
    lnetctl discover "$theirs" | grep -c 'nid: .*@'"$net"
}
two_rails() {
    [ "$(peers_rails)" -ge 2 ]
}
until_so 60 two_rails || die "the other machine is not known to have two interfaces"
# each_answers: the other machine answers each of the two interfaces.
each_answers() {
    for from in "$mine" "$second"; do
        timeout 120 lnetctl ping --timeout 20000 --source "$from" "$theirs" |
            grep -q 'primary nid' || return 1
    done
}
# The kernel moves a doorbell to its processor when it has rung once more.
near() { echo "$(interrupts "$me" 1) $(interrupts $((me + 2)) 0)"; }
far() { echo $(($(interrupts "$me" 0) + $(interrupts $((me + 2)) 1))); }
moved() {
    each_answers && case " $(near) " in *' 0 '*) false ;; esac
}
until_so 60 moved || die "a doorbell is not in its partition: $(grep lnd_lnet /proc/interrupts)"
before=$(near) astray=$(far)
for _ in 1 2 3 4 5 6 7 8 9 10; do
    answers "$theirs" 20000 || die "no answer by two interfaces"
done
# LNet may have had all of them by one.
each_answers || die "no answer to $from"
if [ "$(far)" != "$astray" ] || [ "$(near)" = "$before" ]; then
    die "interrupts outside of the partitions: $(grep lnd_lnet /proc/interrupts)"
fi

whole() {
    lnetctl net set --all --health 1000 >/dev/null &&
        lnetctl peer set --all --health 1000 >/dev/null
}

# simulated ERROR: each interface fails like this one time in two; counts what was sent again.
simulated() {
    whole || die "net set --health"
    before=$(resent)
    for from in "$mine" "$second"; do
        for to in $((2 - me))@"$net" $((4 - me))@"$net"; do
            lnetctl fault drop add -s "$from" -d "$to" -m GET -r 1 -e "$1" >/dev/null ||
                die "fault drop add $1"
        done
    done
    answers "$theirs" 20000 && die "$1: an answer"
    lnetctl fault drop del -a >/dev/null || die "fault drop del"
    again=$(($(resent) - before))
}
for error in local_interrupt local_dropped local_aborted local_no_route local_timeout \
    remote_dropped; do
    simulated $error
    [ "$again" -gt 0 ] || die "$error: not sent again"
done
for error in local_error remote_error remote_timeout; do
    simulated $error
    [ "$again" = 0 ] || die "$error: sent again $again times, though it may have arrived"
done
whole
until_so 60 answers "$theirs" || die "no answer after simulated errors"

# Now and then one is dropped: it is sent again, and nothing fails (233). Each goes well by one
# interface, so that no message is dropped each time that it is sent. LNet chooses the interface
# that is near to the processor that asks, so each of them asks in turn.
for error in local_interrupt local_dropped local_aborted local_no_route local_timeout \
    remote_dropped; do
    whole
    before=$(resent) pings=0
    for from in "$mine" "$second"; do
        for to in $((2 - me))@"$net" $((4 - me))@"$net"; do
            case $error:$from:$to in
            local_*:"$mine":* | remote_*:*:$((2 - me))@"$net")
                lnetctl fault drop add -s "$from" -d "$to" -m GET -r 2 -e "$error" >/dev/null ||
                    die "fault drop add $error"
                ;;
            esac
        done
    done
    until [ "$pings" -ge 6 ] && [ "$(resent)" -gt "$before" ]; do
        taskset -p $((1 << pings % 2)) $$ >/dev/null || die "no taskset"
        answers "$theirs" 20000 || die "$error now and then: no answer"
        pings=$((pings + 1))
        [ "$pings" -lt 60 ] || die "$error now and then: nothing was sent again"
    done
    lnetctl fault drop del -a >/dev/null || die "fault drop del"
done
taskset -p 3 $$ >/dev/null || die "no taskset"
whole

# recovers local|peer NID: does LNet try to recover it?
recovers() {
    lnetctl debug recovery "--$1" | grep -qw "nid-[0-9]*: $2"
}
recovers_not() {
    ! recovers "$1" "$2"
}

# What an interface sends to itself fails by its own fault, not by its peer's (216).
for from in "$mine" "$second"; do
    for to in "$mine" "$second"; do
        lnetctl fault drop add -s "$from" -d "$to" -r 1 -e network_timeout >/dev/null ||
            die "fault"
    done
done
answers "$mine" 20000 && die "an answer of our own NID that was to fail"
recovers_not peer "$mine" || die "our own NID is to recover as a peer's"
recovers local "$mine" || recovers local "$second" || die "no interface is to recover"
lnetctl fault drop del -a >/dev/null || die "fault drop del"

# One that fails only to itself recovers by the other one (218).
whole
lnetctl fault drop add -s "$mine" -d "$mine" -r 1 -e local_error >/dev/null || die "fault"
timeout 120 lnetctl ping --timeout 20000 --source "$mine" "$mine" 2>&1 |
    grep -q 'primary nid' && die "an answer of our own NID that was to fail"
healthy() {
    [ "$(lnetctl net show --net "$net" -v 2 | grep -c 'health value: 1000')" = 2 ]
}
until_so 30 healthy || die "an interface that fails to itself does not recover by the other one"
lnetctl fault drop del -a >/dev/null || die "fault drop del"

whole
until_so 60 answers "$theirs" || die "no answer after simulated errors of our own"

# One interface of two without a cable: nothing fails.
before=$(resent)
cable 0 down
cable 1 down
answered=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
    if answers "$theirs" 20000; then
        answered=$((answered + 1))
    fi
done
say "RAILS $answered of 10 pings with one interface of two cut; $(($(resent) - before)) sent again"
[ "$answered" = 10 ] ||
    die "one interface is not enough: $(lnetctl net show -v 3; lnetctl peer show -v 3)"
cable 0 up
cable 1 up
up() {
    ! status down
}
until_so 60 up || die "the interface does not come back"

# The second interface's device goes with the interface up, and comes back.
device=$(readlink -f "$(devices | tail -n 1)")
echo 1 >"$device/remove" &
until_so 60 status down || die "an interface without a device is not down"
for _ in 1 2 3 4 5; do
    answers "$theirs" 20000 ||
        die "one interface is not enough when the other one's device has gone"
done
[ -e "$device" ] || die "the device has gone before its interface"
lnetctl net del --net "$net" --if "ivshmem$((me + 2))" ||
    die "net del of an interface without a device"
wait
[ ! -e "$device" ] || die "the device does not go"
lnetctl net add --net "$net" --if "ivshmem$((me + 2))" 2>/dev/null && die "net add without a device"
answers "$theirs" 20000 || die "the first interface does not answer after the second one has gone"
echo 1 >/sys/bus/pci/rescan
[ "$(devices | wc -l)" = 2 ] || die "the device does not come back"
lnetctl net add --net "$net" --if "ivshmem$((me + 2))" ||
    die "net add after the device has come back"
answers "$theirs" 20000 || die "no answer with both interfaces"
say "UNPLUGGED and back"
unloaded
