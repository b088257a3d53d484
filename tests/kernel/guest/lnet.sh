# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines under LNet: machine 0 drives lnet_selftest, machine 1 serves it. Both load,
# ping, discover, take their interfaces away under load or after it, add and delete them again and
# again, and unload.
# shellcheck shell=sh disable=SC2317,SC2119 # called by until_so; loaded without parameters
. ./lnet_lib.sh

theirs=$((2 - me))@$net
loaded
lnetctl net add --net "$net" --if ivshmem7 2>/dev/null &&
    die "an interface that is not there is added"
lnetctl net add --net "$net" --if "$if" --credits 4 --peer-credits 8 2>/dev/null &&
    die "credits that contradict each other are taken"
dmesg | grep -q 'lnd_lnet: credits 4, of a peer 8' || die "no reason is given for credits"
added || die "net add"

# The driver's own tunables: shown, exported, refused, set with an interface and while it is up.
# LNet 2.15 cannot ask for them.
shows() { # WORD VALUE
    lnetctl net show --net "$net" -v 2 >/shown || die "net show"
    lnetctl export --backup >/exported || die "export"
    for file in /shown /exported; do
        grep -q " $1: $2\$" $file || die "$1 is not $2: $(cat $file)"
    done
}
tunables() {
    shows timeout 0
    shows fail_fast 0
    lnetctl net del --net "$net" || die "net del"
    for pair in "timeout -1" "fail_fast 2" "timeout 100000"; do
        # shellcheck disable=SC2086 # word and value
        ./tunable add "$net" "$if" $pair && die "$pair is taken"
    done
    dmesg | grep -q 'lnd_lnet: timeout 100000 s' || die "no reason is given for a timeout"
    ./tunable add "$net" "$if" timeout 7 || die "a timeout is not taken: $?"
    shows timeout 7
    shows fail_fast 0
    ./tunable set timeout 5000000000 && die "a timeout of more than 32 bits is taken"
    shows timeout 7
    ./tunable set timeout 0 || die "timeout is not set: $?"
    shows timeout 0
    say "TUNABLES by netlink: shown, exported, refused, set"
}
# What lnetctl exports it imports. It asks for a network device of the interface's name.
imports() {
    insmod ./dummy.ko numdummies=0 || die "insmod dummy"
    ip link add "$if" type dummy || die "no network device $if"
    ip addr add "10.8.0.$((me + 1))/24" dev "$if"
    ip link set "$if" up
    lnetctl net del --net "$net" || die "net del"
    lnetctl net add --net "$net" --if "$if" --peer-credits 4 --credits 64 || die "net add"
    lnetctl export --backup >/exported || die "export"
    lnetctl net del --net "$net" || die "net del"
    lnetctl import </exported || die "import: $(cat /exported)"
    lnetctl net show --net "$net" -v >/shown
    for words in "nid: $mine" "peer_credits: 4" " credits: 64"; do
        grep -q "$words\$" /shown || die "not $words after an import: $(cat /shown)"
    done
    lnetctl net del --net "$net" || die "net del after an import"
    ip link del "$if"
    rmmod dummy || die "rmmod dummy"
    say "IMPORT credits as exported"
    added || die "net add after an import"
}
owns=no
! lnetctl net show -v 2 | grep -q 'lnd tunables' || owns=yes
if [ $owns = yes ]; then
    tunables
    imports
else
    say "IMPORT NOT RUN: this LNet is not asked by netlink"
fi
selftest

until_so 60 answers "$theirs" || die "the other machine does not answer"
answers "$mine" || die "our own NID does not answer"
lnetctl discover "$theirs" | grep -q "nid: $theirs" || die "discover"

# What lnetctl exports has the interface.
lnetctl export --backup >/exported || die "export"
for word in "net type: $net" "$if"; do
    grep -q "$word" /exported || die "exported: $(cat /exported)"
done

# What the driver knows of a peer.
lnetctl debug peer --nid "$theirs" || die "debug peer"
dmesg | grep -q 'lnd_lnet: peer [0-9]* state' || die "debug peer says nothing"

# LNet's own failures by one rail: what it simulates fails and is not sent again, what is local and
# nothing else counts against our own interface, and everything ends.
faults() {
    for error in local_interrupt local_dropped local_aborted local_no_route local_timeout \
        local_error remote_error remote_dropped remote_timeout network_timeout; do
        before=$(resent) blamed=$(blamed "$mine")
        lnetctl fault drop add -s "$mine" -d "$theirs" -m GET -r 1 -e $error >/dev/null ||
            die "fault drop add $error"
        answers "$theirs" && die "$error: an answer"
        lnetctl fault drop del -a >/dev/null || die "fault drop del"
        case $error in
        local_*) [ "$(blamed "$mine")" -gt "$blamed" ] || die "$error: not counted" ;;
        *) [ "$(blamed "$mine")" = "$blamed" ] || die "$error: counted as our own" ;;
        esac
        [ "$(resent)" = "$before" ] || die "$error: sent again"
        until_so 60 answers "$theirs" || die "no answer after $error"
    done
    before=$(counted delayed)
    lnetctl fault delay add -s "$theirs" -d "$mine" -r 1 -l 1 >/dev/null || die "fault delay add"
    answers "$theirs" 20000 || die "no answer after a delay"
    lnetctl fault delay del -a >/dev/null || die "fault delay del"
    [ "$(counted delayed)" -gt "$before" ] || die "nothing was delayed"
    say "FAULTS ten classes, and delays"
}

# One link is enough; without any the interface is known to be bad, and errors come soon.
cables() {
    cable 0 down
    for _ in 1 2 3; do
        answers "$theirs" 20000 || die "one link is not enough"
    done
    cable 1 down
    dark() {
        gone "$theirs" && status down
    }
    fast=/sys/module/lnd_lnet/parameters/fail_fast
    until_so 60 dark ||
        die "an interface without a link is not down: $(lnetctl net show --net "$net" -v)"
    before=$(counted failed_fast)
    [ "$before" -gt 0 ] || die "nothing has failed at once"
    # By choice what is sent now waits for a link.
    echo 0 >$fast
    gone "$theirs" || die "an answer without a link"
    [ "$(counted failed_fast)" = "$before" ] || die "messages fail at once, and were told to wait"
    if [ $owns = yes ]; then
        ./tunable set fail_fast 1 || die "fail_fast is not set: $?"
        gone "$theirs" || die "an answer without a link"
        ./tunable set fail_fast 0 || die "fail_fast is not set back: $?"
        [ "$(counted failed_fast)" -gt "$before" ] || die "fail_fast of an interface does nothing"
    fi
    echo 1 >$fast
    cable 0 up
    cable 1 up
    until_so 60 answers "$theirs" || die "the links do not come back"
    say "CABLES one, none, both"
}

if [ "$me" = 0 ]; then
    if ruled=$(lnetctl fault drop add -s "$mine" -d "$theirs" -r 100 2>&1); then
        lnetctl fault drop del -a >/dev/null
        faults
    else
        say "FAULTS NOT RUN: this lnetctl adds no rule: $(echo "$ruled" | tr '\n' ' ')"
    fi
    cables
    lnetctl discover "$theirs" >/dev/null
    groups "$mine" "$theirs"
    for size in 4K 64K 1M; do
        for operation in write read; do
            for concurrency in 1 8 32; do
                bulk $operation $size $concurrency
                lst stop "$name"
            done
        done
    done
    for size in 8 1000 4104 65528 1048568; do
        for operation in write read; do
            bulk $operation $size 4
            lst stop "$name"
        done
    done
    # What is moved goes by the link that has both its cables.
    cable 0 down
    for operation in write read; do
        bulk $operation 64K 7
        lst stop "$name"
    done
    cable 0 up
    # The last one goes on while its interface goes.
    batch last 32 brw read check=full size=64K
    measured 2
else
    # Machine 0 takes its interface away under load: it does not come back for long enough. While
    # its cables are out it is still there.
    finished() {
        absent && gone "$theirs" && sleep 5 && gone "$theirs" && sleep 20 && gone "$theirs"
    }
    until_so 600 finished || die "the other machine does not go"
    # What a client writes, its server gets.
    [ "$(counted optimised_gets)" -gt 0 ] || die "no GET was optimised"
fi
say "sends $(counted sends) receives $(counted receives) optimised $(counted optimised_gets)"

lnetctl net del --net "$net" || die "net del under load"
# The test of lst has to stand before its session ends: in lnet_selftest of 2.17 the last RPC of a
# session that is gone waits for its own work item, and rmmod waits for it without end.
if [ "$me" = 0 ]; then
    added || die "net add after traffic"
    timeout 200 lst stop last || die "lst stop last"
    timeout 100 lst end_session >/dev/null 2>&1
    lnetctl net del --net "$net" || die "net del after traffic"
fi
rounds=$(word rounds 200)
for round in $(seq "$rounds"); do
    added || die "net add, round $round"
    lnetctl net del --net "$net" || die "net del, round $round"
done
say "CYCLES $rounds"
unloaded
