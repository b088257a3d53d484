# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Loop: loaded and unloaded, as often as the command line says, with and without traffic.
# shellcheck shell=sh
. ./lib.sh

# Bytes of kernel memory that cannot be reclaimed, in KiB.
held() {
    awk '$1 == "SUnreclaim:" || $1 == "KernelStack:" || $1 == "PageTables:" { sum += $2 }
        END { print sum }' /proc/meminfo
}

rounds=$(sed 's/.*rounds=\([0-9]*\).*/\1/' /proc/cmdline)
round=1
while [ $round -le "$rounds" ]; do
    load nodes=2 links=1 slots=32 window_mib=1
    # Every fifth one is unloaded in the middle of traffic.
    if [ $((round % 5)) = 0 ]; then
        client start put get workers=2 flight=4 max=65536
        usleep 20000
    fi
    unload
    # What is made once, by the first loads, is no leak.
    [ $round != 5 ] || before=$(held)
    round=$((round + 1))
done
after=$(held)
say "$rounds loads; kernel memory from $before to $after KiB since the fifth"
left=$(dmesg | grep -c ' 0 bytes, 0 pages, 0 messages, 0 threads, 0 interrupts not given back')
[ "$left" = "$rounds" ] || die "$left of $rounds unloads gave everything back"
[ $((after - before)) -lt 1024 ] || die "kernel memory grows"
grep -q lnd_ /proc/vmallocinfo && die "vmalloc areas are left"
exit 0
