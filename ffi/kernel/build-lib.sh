#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# build-lib.sh OUT.a [cargo arguments]: the Rust library as code for this kind of kernel (x86-64
# with return thunks and retpolines), with the code generation options of the kernel's own C.
#
# RUSTC_BOOTSTRAP=1 makes a stable compiler accept -Z options, as the kernel's own Rust support
# does. `core` is built from source (rust-src): the precompiled one calls through the GOT, which the
# module loader refuses. LND_RUSTFLAGS adds options; docs/kernel.md lists those of other kernels.
set -eu

out=$(realpath -m "$1")
shift
cd "$(dirname "$0")/rust"

export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="-C relocation-model=static -C relro-level=off
    -C force-frame-pointers=yes -C force-unwind-tables=no -C jump-tables=no
    -C symbol-mangling-version=v0
    -Z function-return=thunk-extern -Z retpoline-external-thunk -Z indirect-branch-cs-prefix
    -C target-feature=+harden-sls-ijmp,+harden-sls-ret ${LND_RUSTFLAGS-}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../../../target}/kernel-lib"
cargo build --release --target x86_64-unknown-none -Zbuild-std=core "$@"
mkdir -p "$(dirname "$out")"
cp "$CARGO_TARGET_DIR/x86_64-unknown-none/release/liblnd_kernel.a" "$out"
