# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Sourced by every part: set-up on a fresh machine (Debian 12 with rustup), and how a part ends.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Where cargo builds; the parts that build differently use folders inside it.
# shellcheck disable=SC2034
target=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TERM_COLOR=never

# The crates that go into kernels and firmware.
# shellcheck disable=SC2034
shipped=(lnd-core lnd-dma lnd-shortmsg lnd-health lnd-ffi lnd-soft)

# The C programs that test the C ABI: all that there are. ffi/examples/world.c goes with each;
# panic.c is a hook of theirs, and seed.c has what checkers must find.
c_programs=()
for program in ffi/examples/*.c tests/abi/*.c; do
    case "${program##*/}" in world.c | panic.c | seed.c) ;; *) c_programs+=("$program") ;; esac
done

# Something for the summary's table.
note() {
    printf '%s\n' "$*"
    printf '%s\n' "$*" >>"${LND_NOTE:-/dev/null}"
}

# Ends the part without a verdict. The list says whether CI puts up with it.
skip() {
    printf 'SKIPPED: %s\n' "$*"
    printf '%s\n' "$*" >"${LND_SKIP:-/dev/null}"
    exit 77
}

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

# alone COMMAND…: not while the other lane sets something up.
alone() {
    local lock status=0
    mkdir -p "$target"
    exec {lock}>"$target/setting-up"
    flock "$lock"
    "$@" || status=$?
    exec {lock}>&-
    return "$status"
}

# need_apt PROGRAM [PACKAGE…]: installs Debian packages if the program is missing.
need_apt() {
    command -v "$1" >/dev/null || alone install_apt "$@"
}

apt_lists_are_fresh=
install_apt() {
    local program=$1 packages=("${@:2}")
    command -v "$program" >/dev/null && return
    [ "${#packages[@]}" -gt 0 ] || packages=("$program")
    [ "$(id -u)" = 0 ] || fail "$program is missing; as root: apt-get install ${packages[*]}"
    if [ -z "$apt_lists_are_fresh" ]; then
        apt-get update -qq || fail "$program is missing, and apt-get update failed"
        apt_lists_are_fresh=1
    fi
    DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${packages[@]}" ||
        fail "$program is missing; apt-get install ${packages[*]} failed"
}

# need_target TRIPLE…: the standard library of other targets.
need_target() {
    alone install_target "$@"
}

install_target() {
    local installed triple
    installed=$(rustup target list --installed)
    for triple in "$@"; do
        grep -qx "$triple" <<<"$installed" || rustup target add "$triple" ||
            fail "missing: rustup target add $triple"
    done
}

# need_component NAME [TOOLCHAIN]: a component such as clippy.
need_component() {
    alone install_component "$@"
}

install_component() {
    local args=(${2:+--toolchain "$2"})
    grep -q "^$1\b" <(rustup component list --installed "${args[@]}") ||
        rustup component add "${args[@]}" "$1" || fail "missing: rustup component add ${args[*]} $1"
}

# need_nightly [COMPONENT…]: the nightly toolchain, for sanitizers, Miri and coverage.
need_nightly() {
    alone install_nightly "$@"
}

install_nightly() {
    local component
    rustup run nightly rustc --version >/dev/null 2>&1 ||
        rustup toolchain install nightly --profile minimal ||
        fail "missing: rustup toolchain install nightly"
    for component in "$@"; do
        install_component "$component" nightly
    done
}

# install_quickly ARGUMENTS: cargo install of what runs for less time than it takes to be built.
install_quickly() {
    CARGO_PROFILE_DEV_DEBUG=false cargo install --debug "$@"
}

# need_cargo_tool NAME: a cargo subcommand.
need_cargo_tool() {
    command -v "$1" >/dev/null || (unset CARGO_TARGET_DIR && install_quickly --locked "$1") ||
        fail "missing: cargo install --locked $1"
}

# need_tool NAME VERSION [ARGUMENT…]: a program of crates.io, of this version, in target/tools.
need_tool() {
    local name=$1 version=$2
    [ "$(cat "$target/tools/$name.version" 2>/dev/null)" != "$version" ] || return 0
    CARGO_TARGET_DIR=$target/tools/build install_quickly --quiet --locked --force \
        --root "$target/tools" --version "$version" "${@:3}" "$name" ||
        fail "missing: cargo install $name@$version"
    echo "$version" >"$target/tools/$name.version"
}

# cargo_tests ARGUMENTS: cargo test, counted; what has failed is named last. To run no test is a
# failure.
cargo_tests() {
    local out ran ignored status=0
    out=$(mktemp)
    cargo test --no-fail-fast "$@" 2>&1 | tee "$out" || status=$?
    if [ "$status" != 0 ]; then
        failed_tests "$out"
        rm -f "$out"
        fail "cargo test $*: exit $status"
    fi
    ran=$(sum_of passed "$out")
    ignored=$(sum_of ignored "$out")
    rm -f "$out"
    [ "$ran" -gt 0 ] || fail "cargo test $* ran no test"
    if [ "$ignored" -gt 0 ]; then
        note "$ran tests, $ignored IGNORED"
    else
        note "$ran tests"
    fi
}

# The tests that failed in the output of cargo test, each as the command that runs it again.
failed_tests() { # file
    awk '/^test .* \.\.\. FAILED$/ { names[++n] = $2 }
        /to rerun pass `/ {
            split($0, part, "`")
            for (i = 1; i <= n; i++) print "cargo test " part[2] " " names[i]
            n = 0
        }' "$1"
}

sum_of() { # passed|failed|ignored file
    sed -n "s/^test result:.* \([0-9]*\) $1;.*/\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

# Every part builds something for this machine, for which rustc wants a linker.
need_apt cc gcc libc6-dev
command -v rustup >/dev/null || fail "rustup is missing: https://rustup.rs"
