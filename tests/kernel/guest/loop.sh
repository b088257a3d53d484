# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Loop: PUT and GET of all sizes, from four CPUs, with completions in hard interrupts.
# shellcheck shell=sh
. ./lib.sh

load nodes=3 completion=hard
job 20 put get sweep count=138 workers=1
clean 138
summary "1 B to 4 MiB"

client reset
job 20 put get count=60 workers=4 flight=8 max=1048576
clean 240
summary "4 CPUs, hard interrupt"

# The verifier: a byte that is changed under way is found.
client reset
client spoil
job 10 put count=4 min=8192 max=8192 to=1
[ "$(of corrupt).$(of verified)" = 1.3 ] || die "the seeded wrong byte was not found"
say "a seeded wrong byte is found"
unload
