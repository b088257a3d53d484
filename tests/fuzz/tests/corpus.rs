// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Plays the committed corpora, and some random inputs, on every target.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use lnd_fuzz::TARGETS;

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

#[test]
fn every_committed_input_is_dealt_with() {
    for (name, target) in TARGETS {
        let mut files: Vec<_> = fs::read_dir(folder(name))
            .unwrap_or_else(|error| panic!("the corpus of {name}: {error}"))
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "the corpus of {name} is empty");
        for file in files {
            println!("{}", file.display());
            target(&fs::read(file).unwrap());
        }
    }
}

#[test]
fn random_inputs_are_dealt_with() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for (name, target) in TARGETS {
        for round in 0..300 {
            let length = random() as usize % 600;
            let bytes: Vec<u8> = (0..length).map(|_| (random() >> 32) as u8).collect();
            println!("{name}: input {round}");
            target(&bytes);
        }
    }
}

#[test]
fn every_target_is_built_and_has_a_corpus() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    let manifest = manifest.unwrap();
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("path = \"targets/{name}.rs\"")), "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
}
