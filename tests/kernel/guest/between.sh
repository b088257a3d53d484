# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The conformance suite on an LND between two machines. Machine 0 leads: it runs each case to the
# NI of machine 1, and afterwards each seeded violation, in the machine that ./seeds names. The
# machines talk over their second serial lines. Words of the command line as in conformance.sh; me.
# shellcheck shell=sh
. ./lib.sh

stub=/sys/kernel/debug/lnet_stub
lnd=$(word lnd lnd_lnet)
# What a failure shows of the driver.
root=/sys/kernel/debug/$lnd
me=$(word me 0)
seed=/sys/module/$lnd/parameters/seed
limit=/sys/module/lnet_stub/parameters/limit_ms
interface=$(word interfaces "" | cut -d, -f$((me + 1)))

# Over verbs, a network comes first.
if [ -e ./roce.sh ]; then
    . ./roce.sh
    soft_roce
fi

insmod ./lnet_stub.ko limit_ms=$((5000 * patience)) "interfaces=$interface" ||
    die "insmod lnet_stub.ko"
# shellcheck disable=SC2046 # words of parameters
insmod "./$lnd.ko" $(word args '' | tr , ' ') || die "insmod $lnd.ko"

# The line to the other machine. Each message begins with its sender's number: a line that is not
# set yet echoes.
exec 3<>/dev/ttyS1
stty -F /dev/ttyS1 raw -echo
tell() {
    echo "$me $*" >&3
}
# hear [SECONDS]: a line of the other machine's, into heard.
hear() {
    until_heard=$((${1:-300} * patience))
    # shellcheck disable=SC3045 # busybox has it
    while read -t $until_heard -r from heard <&3; do
        [ "$from" != $((1 - me)) ] || return 0
    done
    return 1
}
# expect WORD: a line that begins so; its rest into heard.
expect() {
    hear || die "the other machine does not say $1"
    case $heard in
    "$1" | "$1 "*) heard=${heard#"$1"} heard=${heard# } ;;
    *) die "the other machine says '$heard', not $1" ;;
    esac
}

# ledger: what this machine's operations were told.
ledger() {
    while read -r line; do
        tell "$line"
    done <$stub/ledger
    tell .
}
other_ledger() {
    while hear && [ "$heard" != . ]; do
        echo "$heard" >$stub/ledger || die "the ledger does not take $heard"
    done
    [ "$heard" = . ] || die "the other machine's ledger does not end"
}
result() {
    tail -n 1 $stub/report
}
# begin CASE SEED LIMIT: into begun whether it applies.
begin() {
    printf %s "$2" >"$seed"
    echo "$3" >$limit
    begun=yes
    echo "begin $1" >$stub/run 2>/dev/null || begun=no
}

# Which NID is this machine's?
echo start >$stub/run || die "the NI does not start"
mine=$(sed 's/^[^ ]* \([^ ]*\) .*/\1/;q' $stub/nis)
echo stop >$stub/run
if [ "$me" = 1 ]; then
    expect hello
    echo "far $heard" >$stub/run || die "far $heard"
    tell "hi $mine"
    while :; do
        hear 600 || die "the other machine says nothing"
        # shellcheck disable=SC2086 # words of a line
        set -- $heard
        case $1 in
        hello) tell "hi $mine" ;;
        begin)
            begin "$2" "$3" "$4"
            tell "begun $begun"
            ;;
        go)
            echo go >$stub/run || die "go"
            tell gone
            ;;
        ledger)
            ledger
            other_ledger
            tell told
            ;;
        end)
            echo end >$stub/run || die "end"
            printf none >"$seed"
            tell "result $(result)"
            ;;
        bye) break ;;
        *) die "the other machine says '$heard'" ;;
        esac
    done
else
    for _ in $(seq 100); do
        tell "hello $mine"
        ! hear 1 || break
    done
    case $heard in
    "hi "*) ;;
    *) die "the other machine is not there: $heard" ;;
    esac
    echo "near ${heard#hi }" >$stub/run || die "near $heard"

    # one CASE [NEAR'S SEED [FAR'S SEED [LIMIT]]]: the results, into near and far.
    one() {
        ms=${4:-$((5000 * patience))}
        tell "begin $1 ${3:-none} $ms"
        # A hello that was late has another answer.
        hear || die "the other machine does not begin"
        while [ "${heard%% *}" = hi ]; do
            hear || die "the other machine does not begin"
        done
        far_begun=${heard#begun }
        begin "$1" "${2:-none}" "$ms"
        [ "$begun" = "$far_begun" ] || die "$1: begun $begun here, $far_begun there"
        if [ "$begun" = no ]; then
            near=$(result) far=$near
            return
        fi
        tell go
        echo go >$stub/run || die "go"
        expect gone
        tell ledger
        other_ledger
        ledger
        expect told
        tell end
        echo end >$stub/run || die "end"
        printf none >"$seed"
        near=$(result)
        expect result
        far=$heard
    }

    passed=0
    alone=0
    while read -r case; do
        one "$case"
        echo "near: $near"
        echo "far: $far"
        case "$near $far" in
        "PASS $case: no violation PASS $case: no violation") passed=$((passed + 1)) ;;
        "NOT-APPLICABLE $case: "*" NOT-APPLICABLE "*) alone=$((alone + 1)) ;;
        *)
            dmesg | grep "$lnd: " | tail -n 30
            die "$case: the LND does not pass between two machines"
            ;;
        esac
    done <$stub/cases
    say "BETWEEN $lnd: $passed passed, $alone not applicable"
    [ $passed -gt 0 ] || die "no case was run"

    caught=0
    while read -r name where case says violation; do
        case $name in "" | "#"*) continue ;; esac
        here=none there=none
        if [ "$where" = near ]; then here=$name; else there=$name; fi
        one "$case" "$here" "$there" $((1500 * patience))
        if [ "$says" = near ]; then result=$near; else result=$far; fi
        echo "$name: near: $near; far: $far"
        echo "$result" | grep -qx "FAIL $case: $violation\*[0-9]*" ||
            die "the seeded violation $name is not what $case says"
        caught=$((caught + 1))
    done <./seeds
    say "SEEDS $caught caught between two machines"
    tell bye
fi
exec 3>&-
# What a transport has counted of its own.
counts=$root/verbs/verbs
[ ! -e "$counts" ] || say "VERBS $(grep -v '^peer' "$counts" | paste -sd ' ')"
# Where slots are few, a request that was delayed has found none.
case ,$(word args ''), in
*,slots=8,*) grep -q 'without_slot [1-9]' "$root"/*/lnet || die "every request has found a slot" ;;
esac
rmmod "$lnd" || die "rmmod $lnd"
rmmod lnet_stub || die "rmmod lnet_stub"
