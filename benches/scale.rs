// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Writes the tables of `docs/scale.md`: sizes, and the storm of a rack's clients in virtual time.
//! A smoke test has few clients, and writes nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_bench::scale::{memory, replaced, storm_table};
use lnd_bench::Options;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/scale.md");

fn main() {
    let options = Options::read();
    let sizes = memory();
    let storm = storm_table(options.scale(16_384, 16) as u32);
    print!("{sizes}\n{storm}");
    if options.smoke {
        return;
    }
    let page = std::fs::read_to_string(PAGE).unwrap();
    let page = replaced(&page, "memory", &sizes).expect("the page has marks");
    let page = replaced(&page, "storm", &storm).expect("the page has marks");
    std::fs::write(PAGE, page).unwrap();
}
