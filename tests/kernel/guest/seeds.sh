# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Seeded defects on a kernel that looks for bugs; the kernel's log must say what each is.
# shellcheck shell=sh
. ./lib.sh

load nodes=2 slots=32 window_mib=1
job 30 put count=4 max=4096
echo "seed misuse" >"$fabric/node0/control" || die "a misuse was not refused"
say "every misuse is refused"
dmesg | grep -q "thread call in an interrupt" || die "the library has not told of the call in an interrupt"

case $(cat /proc/cmdline) in
*only=misuse*)
    dmesg -c >/dev/null
    unload
    exit 0
    ;;
esac

found() { # SEED WORDS
    control 0 seed "$1"
    usleep 100000
    dmesg | grep -q "$2" || die "seeded $1: the kernel did not say $2"
    say "seeded $1 is found: $(dmesg | grep "$2" | head -n 1)"
}
if grep -q kasan_report /proc/kallsyms; then
    found uaf "KASAN: .*use-after-free in lnd_\|KASAN: .*use-after-free in .*lnd_"
fi
found sleep "scheduling while atomic\|sleeping function called from invalid context"
if [ -e /sys/kernel/debug/kmemleak ]; then
    control 0 seed leak
    sleep 6
    for _ in 1 2 3; do
        echo scan >/sys/kernel/debug/kmemleak
        sleep 1
    done
    grep -q "size 1024\|size 1000" /sys/kernel/debug/kmemleak || die "the seeded leak was not found"
    say "the seeded leak is found"
fi
# The log is full of what was seeded.
dmesg -c >/dev/null
exit 0
