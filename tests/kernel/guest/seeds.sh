# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Misuse, which the library refuses on every kernel; and seeded defects on a kernel that looks for
# bugs, of which the kernel's log must say what each is.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh

load nodes=2 slots=32 window_mib=1
job 30 put count=4 max=4096
echo "seed misuse" >"$fabric/node0/control" || die "a misuse was not refused"
say "every misuse is refused"
dmesg -c | grep -q "thread call in an interrupt" ||
    die "the library has not told of the call in an interrupt"

# found PLACE WORDS: the log, since the seed, names the words and the place.
found() {
    until_so 5 told "$1" "$2" || {
        cat /log
        die "seeded $seed: the kernel did not say: $2, $1"
    }
    say "SEED $seed is found: $(grep "$2" /log | grep "$1" | head -n 1)"
}

told() {
    dmesg -c >>/log
    grep "$2" /log | grep -q "$1"
}

# KCSAN looks at a few accesses of many: a race is tried again.
found_race() {
    for _ in 1 2 3 4 5 6 7 8 9; do
        until_so 1 told "$1" "$2" && break
        control 0 seed "$seed"
    done
    found "$1" "$2"
}

found_leak() {
    scan
    grep -q lnd_host_seed /leaks || {
        cat /leaks
        die "the seeded leak was not found"
    }
    say "SEED leak is found: $(grep -c "^unreferenced" /leaks) objects"
}

# All C functions of the module are called lnd_host_…, so what is in another one is the library's.
rust=' in \(lnd_[a-gi-z]\|_R\)'
all=
for seed in $(sed -n 's/.*seeds=\([a-z,]*\).*/\1/p' /proc/cmdline | tr , ' '); do
    : >/log
    control 0 seed "$seed"
    case $seed in
    uaf | ni) found "$rust" "KASAN: .*use-after-free" ;;
    oob) found "$rust" "KASAN: .*out-of-bounds" ;;
    race) found_race lnd_host_racer "KCSAN: data-race" ;;
    sleep) found "include/linux/sched/mm.h" "sleeping function called from invalid context" ;;
    leak) found_leak ;;
    # The first of them: lockdep gives up after its first report.
    lock) found "possible circular locking dependency" "WARNING" ;;
    *) die "what is $seed?" ;;
    esac
    all="$all $seed"
done
# In one line of the console, into which the kernel says nothing.
dmesg -n 1
say "SEEDS$all"
dmesg -c >/dev/null
unload
