# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The conformance suite on an LND. Words of the command line: lnd (the module), args (its
# parameters, by commas), interfaces, bad; seeds=yes: afterwards each seeded violation of the
# reference LND.
# shellcheck shell=sh
. ./lib.sh

stub=/sys/kernel/debug/lnet_stub
lnd=$(word lnd lnd_reference)

# begin PARAMETERS: loads stub and LND. end: unloads them. suite CASE PARAMETERS: in between runs a
# case or all. The report: /report.
limit_ms=$((5000 * patience))
begin() {
    insmod ./lnet_stub.ko limit_ms=$limit_ms "interfaces=$(word interfaces ref1,ref2)" \
        "bad=$(word bad none)" || die "insmod lnet_stub.ko"
    # shellcheck disable=SC2086 # words of parameters
    insmod "./$lnd.ko" $1 || die "insmod $lnd.ko $1"
}
end() {
    rmmod "$lnd" || die "rmmod $lnd"
    rmmod lnet_stub || die "rmmod lnet_stub"
}
suite() {
    begin "$2"
    echo "$1" >$stub/run || die "the suite cannot run $1"
    cat $stub/report >/report
    end
}

# passes PARAMETERS: the LND passes every case that applies.
passes() {
    suite all "$1"
    cat /report
    case $(tail -n 1 /report) in
    "SUMMARY: "*" passed, 0 failed, "*) ;;
    *) die "the LND does not pass with '$1'" ;;
    esac
    ! grep '^NOT-APPLICABLE' /report || [ "$lnd" != lnd_reference ] || die "a case does not apply"
}
args=$(word args '' | tr , ' ')
few=$(word few '' | tr , ' ')
[ -z "$few" ] || passes "$args $few"
passes "$args"
say "$lnd: $(tail -n 1 /report)"

# A node of ours that LNet does not use is not started by hand: its events have no interface. And an
# interface keeps its module.
node=$(word node none)
if [ "$node" != none ]; then
    begin "$args"
    if echo revive >"/sys/kernel/debug/$lnd/$node/control"; then
        die "a node without an interface is alive"
    fi
    echo traffic.mixed >$stub/run &
    traffic=$!
    until [ "$(cat "/sys/module/$lnd/refcnt")" -gt 0 ]; do
        [ -e /proc/$traffic ] || die "an interface does not keep its module"
    done
    rmmod "$lnd" && die "unloaded under an interface"
    wait $traffic
    grep -q '^PASS traffic.mixed' $stub/report || die "traffic"

    # An interface without a link is marked, also one that starts so; one link is enough.
    control=/sys/kernel/debug/$lnd/$node/control
    marked() { # 0|1: what peers read of it goes with the mark
        status=$([ "$1" = 0 ] && echo up || echo down)
        grep -q "^$(word interfaces '' | cut -d, -f1) .* fatal $1 status $status\$" $stub/nis
    }
    relisted() {
        sed -n 's/^relisted //p' $stub/nis
    }
    echo start >$stub/run || die "the NIs do not start"
    until_so 10 marked 0 || die "an NI with its cables is marked: $(cat $stub/nis)"
    echo link 0 down >"$control"
    sleep 1
    marked 0 || die "one link is not enough"
    echo link 1 down >"$control"
    until_so 10 marked 1 || die "an NI without a link is not marked"
    echo stop >$stub/run
    echo start >$stub/run || die "the NIs do not start without cables"
    sleep 1
    marked 1 || die "an NI that starts without a link is not marked"
    echo stop >$stub/run
    # Messages fail at once without a link at either end. Who counts them has sent them.
    echo traffic.mixed >$stub/run
    grep -h failed_fast "/sys/kernel/debug/$lnd"/*/lnet >/fast || die "nothing is counted"
    ! grep ' 0$' /fast || die "messages without a link do not fail at once: $(cat $stub/report)"
    say "FAST $(paste -sd ' ' /fast)"
    echo start >$stub/run || die "the NIs do not start without cables"
    marked 1 || die "an NI that starts without a link is up for its peers"
    before=$(relisted)
    echo link 1 up >"$control"
    until_so 10 marked 0 || die "an NI whose link comes back is down: $(cat $stub/nis)"
    [ "$(relisted)" -gt "$before" ] || die "peers are not told that a link comes back"
    echo link 0 up >"$control"
    echo stop >$stub/run
    end
fi

# A device that goes under its interface leaves it marked, whatever its links say meanwhile.
if [ "$(word unplug no)" = yes ]; then
    begin "$args"
    echo start >$stub/run || die "the NIs do not start"
    until_so 10 marked 0 || die "an NI is marked: $(cat $stub/nis)"
    device=$(find "/sys/bus/pci/drivers/$lnd/" -name '0000:*' | sort | head -n 1)
    device=$(readlink -f "$device")
    echo 1 >"$device/remove" &
    until_so 10 marked 1 || die "an NI without a device is not marked"
    sleep 2
    marked 1 || die "an NI without a device is not marked any more"
    [ -e "$device" ] || die "the device has gone before its interface"
    echo stop >$stub/run
    wait
    [ ! -e "$device" ] || die "the device does not go"
    end
    say "UNPLUGGED"
fi
[ "$(word seeds no)" = yes ] || exit 0

# Exactly the violation that is named, in the case that is named.
caught=0
limit_ms=$((1500 * patience))
while read -r name case violation; do
    suite "$case" "seed=$name"
    if ! grep -qx "FAIL $case: $violation\*[0-9]*" /report; then
        cat /report
        die "the seeded violation $name is not what $case says"
    fi
    caught=$((caught + 1))
done <./seeds
say "SEEDS $caught caught"
