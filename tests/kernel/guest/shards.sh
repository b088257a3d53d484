# SPDX-License-Identifier: MIT OR GPL-2.0-only
# One of two machines with two shards each, submitting from four threads bound to its CPUs: every
# shard sends to both shards of the other machine, and answers them.
# shellcheck shell=sh disable=SC2317 # called by until_so
. ./lib.sh

load transport=ivshmem shards=2
first=${fabric##*ivshmem}
other=$((2 - first))
say "nodes $first and $((first + 1)) are up, on $(nproc) CPUs"
both() { there $other && there $((other + 1)); }
until_so 60 both || die "the other machine does not come"
for to in $other $((other + 1)); do
    job 30 put get count=15 workers=4 flight=4 max=65536 to="$to"
done
asked() { [ "$(of requested_ok)" -ge 120 ]; }
until_so 30 asked || die "the other machine asked only $(of requested_ok) times"
clean 120
summary "nodes $first and $((first + 1))"
for node in $first $((first + 1)); do
    busy "$node" 60
done
part 120 $other
unload
