# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines under LNet on a kernel that looks for bugs: machine 0 drives lst for as long
# as it is told, with every byte checked, and machine 1 serves it. Between the rounds cables are
# pulled and machine 0 takes its interface away and brings it back. At the end both unload, nothing
# is lost, and the kernel has said nothing.
# shellcheck shell=sh disable=SC2317,SC2119 # called by until_so; loaded without parameters
. ./lnet_lib.sh

theirs=$((2 - me))@$net
loaded
added || die "net add"
selftest
insmod ./lst_quiet.ko || die "insmod lst_quiet"
until_so 60 answers "$theirs" || die "the other machine does not answer"
lnetctl discover "$theirs" | grep -q "nid: $theirs" || die "discover"

checked() {
    if blind || complains; then
        die "the kernel complains: $(cat /bad; dmesg | tail -n 60)"
    fi
}

# The kinds of traffic of a round.
kinds() {
    for size in 4K 64K 1M; do
        for operation in write read; do
            for concurrency in 1 8 32; do
                echo "$operation $size $concurrency"
            done
        done
    done
    for size in 8 1000 4104 65528 1048568; do
        echo "write $size 4"
        echo "read $size 4"
    done
}

read -r began _ </proc/uptime
began=${began%.*}
soak=$(word soak 1800)
lasted() {
    read -r up _ </proc/uptime
    [ $((${up%.*} - began)) -ge "$soak" ]
}

if [ "$me" = 0 ]; then
    rounds=0 tests=0 messages=0
    kinds >/kinds
    until lasted; do
        groups "$mine" "$theirs"
        while read -r operation size concurrency; do
            ! lasted || break
            batch "$operation${size}x$concurrency" "$concurrency" brw "$operation" check=full \
                size="$size"
            measured 10
            lst stop "$name" || die "lst stop $name"
            tests=$((tests + 1))
            messages=$(awk -v sum="$messages" -v rate="$(rate)" \
                'BEGIN { printf "%d", sum + rate * 10 }')
            checked
            # In turn one cable is pulled for as long as the next kind of traffic takes.
            cable $((tests % 2)) up
            cable $(((tests + 1) % 2)) down
        done </kinds
        cable 0 up
        cable 1 up
        lst end_session >/dev/null 2>&1 || die "lst end_session"
        for _ in 1 2 3; do
            lnetctl net del --net "$net" || die "net del"
            added || die "net add"
            until_so 60 answers "$theirs" || die "no answer after net del and add"
        done
        rounds=$((rounds + 1))
        checked
    done
    say "SOAK $soak s: $rounds rounds, $tests kinds of traffic, $messages messages measured;" \
        "sends $(counted sends), receives $(counted receives)," \
        "optimised $(counted optimised_gets)"
    [ "$messages" -gt 0 ] || die "nothing was measured"
else
    finished() {
        gone "$theirs" && sleep 20 && gone "$theirs" && sleep 20 && gone "$theirs"
    }
    tries=$((soak + 3600))
    until finished; do
        checked
        sleep 5
        tries=$((tries - 5))
        [ "$tries" -gt 0 ] || die "the other machine does not go"
    done
fi
checked
lnetctl net del --net "$net" || die "net del"
# lst_quiet looks at lnet_selftest until that has gone.
rmmod lnet_selftest || die "rmmod lnet_selftest"
unloaded
rmmod lst_quiet || die "rmmod lst_quiet"
if [ -e "$leaks" ]; then
    scan
    # What LNet itself loses is not judged here.
    grep -A 30 '^unreferenced' /leaks | grep -E 'lnd_' >/ours && die "lost: $(cat /leaks)"
    say "kmemleak: nothing of the driver's; of the kernel: $(grep -c '^unreferenced' /leaks)"
fi
seeded_are_seen
