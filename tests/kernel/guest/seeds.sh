# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Misuse, which the library refuses on every kernel; and seeded defects on a kernel that looks for bugs, of
# which the kernel's log must say what each is.
# shellcheck shell=sh
. ./lib.sh

load nodes=2 slots=32 window_mib=1
job 30 put count=4 max=4096
echo "seed misuse" >"$fabric/node0/control" || die "a misuse was not refused"
say "every misuse is refused"
dmesg -c | grep -q "thread call in an interrupt" ||
    die "the library has not told of the call in an interrupt"

# found PLACE WORDS: the log names the words and the place.
found() {
    usleep 100000
    dmesg -c >/log
    grep "$2" /log | grep -q "$1" || {
        cat /log
        die "seeded $seed: the kernel did not say: $2, $1"
    }
    say "SEED $seed is found: $(grep "$2" /log | grep "$1" | head -n 1)"
}

found_leak() {
    # Younger ones are not taken for lost yet.
    sleep 6
    for _ in 1 2; do
        echo scan >/sys/kernel/debug/kmemleak
        sleep 1
    done
    cat /sys/kernel/debug/kmemleak >/log
    grep -q lnd_host_seed /log || {
        cat /log
        die "the seeded leak was not found"
    }
    say "SEED leak is found: $(grep -c "^unreferenced" /log) objects"
}

# All C functions of the module are called lnd_host_…, so what is in another one is the library's.
rust=' in \(lnd_[a-gi-z]\|_R\)'
for seed in $(sed -n 's/.*seeds=\([a-z,]*\).*/\1/p' /proc/cmdline | tr , ' '); do
    control 0 seed "$seed"
    case $seed in
    uaf | ni) found "$rust" "KASAN: .*use-after-free" ;;
    oob) found "$rust" "KASAN: .*out-of-bounds" ;;
    race) found lnd_host_racer "KCSAN: data-race" ;;
    sleep) found "include/linux/sched/mm.h" "sleeping function called from invalid context" ;;
    leak) found_leak ;;
    # The first of them: lockdep gives up after the first report of anybody.
    lock) found "possible circular locking dependency" "WARNING" ;;
    *) die "what is $seed?" ;;
    esac
done
dmesg -c >/dev/null
unload
