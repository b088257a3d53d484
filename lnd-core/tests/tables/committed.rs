// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Generated files that are committed: compared by the tests, written anew with `UPDATE=1`.

use std::path::PathBuf;
use std::{env, fs};

/// Compares `text` with the committed file, or writes the file if `UPDATE` is `1`.
///
/// `path` is relative to the root of the workspace.
pub fn same(path: &str, text: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    if env::var("UPDATE").is_ok_and(|value| value == "1") {
        fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("creating it");
        fs::write(&file, text).expect("writing the file");
        return;
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    let differs = committed.lines().zip(text.lines()).position(|(a, b)| a != b);
    let line = differs.unwrap_or_else(|| committed.lines().count().min(text.lines().count()));
    assert!(
        committed == text,
        "{path} differs from line {}:\n  committed: {:?}\n  generated: {:?}\n\
         If the change is wanted: UPDATE=1 cargo test -p lnd-core --test tables",
        line + 1,
        committed.lines().nth(line),
        text.lines().nth(line),
    );
}
