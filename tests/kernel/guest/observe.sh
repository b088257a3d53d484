# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Loop, with the module that has an observer: what it has measured agrees with what the client has
# done and with the counters; what blocks a node is named. The files go to the console, where the
# host reads the JSON.
# shellcheck shell=sh
. ./lib.sh

load nodes=3 deadline_ms=$((1500 * patience))
[ -z "$(cat "$fabric/node0/blockers")" ] || die "an idle node is blocked"
trace lnd_soft
job 20 put get count=40 workers=2 flight=8 min=65536 max=262144
clean 40

# transfers NODE: how many have ended, by the histograms of all sizes.
transfers() {
    awk '/^transfer\{/ { for (i = 2; i < NF; i++) if ($i == "count") n += $(i + 1) }
        END { print n + 0 }' "$fabric/node$1/waits"
}

all=0
for node in 0 1 2; do
    # A report is counted by both, and nothing is under way.
    ended=$(($(value "$fabric/node$node/metrics" finalized_ok) +
        $(value "$fabric/node$node/metrics" finalized_error)))
    short=$(awk '/^short\{/ { n += $2 } /^short_failed / { n += $2 } END { print n }' \
        "$fabric/node$node/waits")
    [ "$(($(transfers $node) + short))" = "$ended" ] ||
        die "node $node: $(transfers $node) transfers and $short short ones, $ended ends"
    all=$((all + ended))
    [ "$(transfers $node)" -ge 20 ] || die "node $node has measured only $(transfers $node)"
    for name in accepted requests posted; do
        [ "$(value "$fabric/node$node/metrics" $name)" = \
            "$(value "$fabric/node$node/stats" $name)" ] || die "node $node: two values of $name"
    done
done

# Each end has one record: that of a transfer (11), or of a message without a slot (12).
[ "$(($(hits 11) + $(hits 12)))" = "$all" ] || die "$all ends: $(cat "$event/hist")"
[ "$(hits 2)" -ge 60 ] || die "only $(hits 2) steps: $(cat "$event/hist")"
steps=$(hits 2)
trace_end
say "tracepoint: $steps steps, $all ends"

# Both files have all health classes, by one name each.
classes=$(sed -n 's/^ended{class="\([a-z_]*\)".*/\1/p' "$fabric/node0/waits" | uniq)
counted=$(cut -d' ' -f1 "$fabric/node0/health")
[ "$(echo "$classes" | wc -l)" = 11 ] || die "health classes: $classes"
[ "$classes" = "$counted" ] || die "health classes: $classes; $(cat "$fabric/node0/health")"

# Frames to a node whose cables are pulled wait: they are named, with what they wait for.
blocked() { grep -q "^transfer .* LND_WAIT_" "$fabric/node0/blockers"; }
control 1 link 0 down
control 1 link 1 down
client start put count=8 workers=1 min=65536 max=65536 to=1
until_so 10 blocked || die "nothing is named: $(cat "$fabric/node0/blockers")"
say "blocked: $(head -n 1 "$fabric/node0/blockers")"
control 1 link 0 up
control 1 link 1 up
client stop
until_so 20 idle || die "not all ended"
for file in metrics waits; do
    sed "s/^/JSON $file /" "$fabric/node0/$file.json"
done
unload

# A link that flaps has a few lines in the log, and no change is left out of them: what flapping has
# added to the log's changes of a life of the module is what the tracepoint has counted of it.
lines() { dmesg | tail -n +"$before" | grep "lnd_soft: node 1: link "; }
records() { awk '/^ *Hits: / { print $2 }' "$event/hist"; }
few() { [ "$(records)" -ge $((4 * $(lines | wc -l))) ]; }
stands() { link_is 1 0 "$1" && link_is 1 1 1; }
life() { # WHETHER IT FLAPS
    before=$(($(dmesg | wc -l) + 1))
    load nodes=2
    until_so 10 stands 1 || die "the links do not come up"
    echo 'hist:keys=kind if node == 1 && kind == 10' >"$event/trigger" || die "no trigger"
    flaps=0
    until [ "$1" = no ] || few; do
        flaps=$((flaps + 1))
        [ $flaps -le 100 ] || die "a line for each change: $(records) changes, $(lines | wc -l)"
        control 1 link 0 down
        until_so 10 stands 5 || die "link 0 does not fail"
        control 1 link 0 up
        until_so 10 stands 1 || die "link 0 does not come back"
    done
    counted=$(records)
    echo '!hist:keys=kind if node == 1 && kind == 10' >"$event/trigger" || die "the trigger stays"
    unload
    lines | tail -n 1 | grep -q LND_LINK_DOWN || die "the log ends before the links: $(lines)"
    changes=$(lines | awk '{ n += $NF } END { print n + 0 }')
}
life no
calm=$changes
life yes
[ $((changes - calm)) = "$counted" ] ||
    die "$counted changes by flapping, and the log has $((changes - calm)): $(lines)"
say "log: $(lines | wc -l) lines for $changes changes, $flaps flaps"
