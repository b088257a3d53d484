# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Counts what a message between two nodes of this machine costs it: instructions, by thread, how
# often threads were woken, and context switches. The machine has one processor, whose clock counts
# instructions: a nanosecond of a thread is an instruction of it. Each figure is the difference of
# two jobs, of which the second is twice as long, so that what both cost alike is not in it.
# shellcheck shell=sh
. ./lib.sh

# Wake-ups are counted only when they are asked for.
echo 1 >/proc/sys/kernel/sched_schedstats || die "this kernel counts no wake-ups"
load nodes=2 completion=hard

# spent: name, instructions, times run, and number of the whole machine and of each thread of the
# module.
spent() {
    awk '$1 == "cpu0" { print "all", $8, $10; print "wake-ups", 0, $6 }' /proc/schedstat
    awk '$1 == "ctxt" { print "switches", 0, $2 }' /proc/stat
    for at in /proc/[0-9]*; do
        read -r thread <"$at/comm" || continue
        case $thread in
        lnd_*)
            read -r nanos _ runs <"$at/schedstat" || continue
            echo "$thread $nanos $runs ${at#/proc/}"
            ;;
        esac
    done
}

# costs COUNT WORDS…: what a job of so many messages costs, into /cost: name, instructions, runs.
costs() {
    messages=$1
    shift
    spent >/before
    client start "$@" "count=$messages"
    # Virtual seconds: nothing of this machine runs while they pass, but the job.
    sleep 20
    spent >/after
    idle || die "$* is not done"
    # Each job has a worker of its own: a thread that was not there before has spent nothing then.
    awk 'NR == FNR { ns[$1 $4] = $2; n[$1 $4] = $3; next }
        { print $1, $2 - ns[$1 $4], $3 - n[$1 $4] }' /before /after >/cost
}

# count NAME MESSAGES WORDS…
count() {
    name=$1
    twice=$(($2 * 2)) once=$2
    shift 2
    costs "$once" "$@"
    mv /cost /once
    costs "$twice" "$@"
    awk -v name="$name" -v messages="$once" '
        NR == FNR { ns[$1] = $2; n[$1] = $3; next }
        {
            each = ($2 - ns[$1]) / messages; runs = ($3 - n[$1]) / messages
            printf "COUNT %s|%s|%.0f|%.2f\n", name, $1, each, runs
        }' /once /cost
}

costs 200 put min=8 max=8 to=1 workers=1 flight=1
count "PUT, 8 bytes, one at a time" 1000 put min=8 max=8 to=1 workers=1 flight=1
count "PUT, 8 bytes, 16 at a time" 2000 put min=8 max=8 to=1 workers=1 flight=16
count "PUT, 64 KiB, one at a time" 200 put min=65536 max=65536 to=1 workers=1 flight=1
count "GET, 64 KiB, 8 at a time" 400 get min=65536 max=65536 to=1 workers=1 flight=8
clean 1
unload
