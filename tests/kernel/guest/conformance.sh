# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The conformance suite on an LND. Words of the command line: lnd (the module), args (its
# parameters, by commas), interfaces, bad; seeds=yes: afterwards each seeded violation of the
# reference LND.
# shellcheck shell=sh
. ./lib.sh

stub=/sys/kernel/debug/lnet_stub
lnd=$(word lnd lnd_reference)

# suite CASE PARAMETERS: loads stub and LND, runs a case or all, and unloads. The report: /report.
limit_ms=$((5000 * patience))
suite() {
    insmod ./lnet_stub.ko limit_ms=$limit_ms "interfaces=$(word interfaces ref1,ref2)" \
        "bad=$(word bad none)" || die "insmod lnet_stub.ko"
    # shellcheck disable=SC2086 # words of parameters
    insmod "./$lnd.ko" $2 || die "insmod $lnd.ko $2"
    echo "$1" >$stub/run || die "the suite cannot run $1"
    cat $stub/report >/report
    rmmod "$lnd" || die "rmmod $lnd"
    rmmod lnet_stub || die "rmmod lnet_stub"
}

suite all "$(word args '' | tr , ' ')"
cat /report
case $(tail -n 1 /report) in
"SUMMARY: "*" passed, 0 failed, "*) ;;
*) die "the LND does not pass" ;;
esac
! grep '^NOT-APPLICABLE' /report || [ "$lnd" != lnd_reference ] || die "a case does not apply"
say "$lnd: $(tail -n 1 /report)"
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
