// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Links with the board's memory map.

fn main() {
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo:rustc-link-arg-bins=-T{here}/memory.ld");
    println!("cargo:rerun-if-changed=memory.ld");
}
