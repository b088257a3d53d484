// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Plays the committed corpora, and some random inputs, on every target. A corpus is an archive,
//! `corpus/TARGET.tar`, and named inputs, `corpus/TARGET/NAME.bin`; `tests/fuzz/pack` says how.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::ops::Range;
use std::path::Path;

use lnd_fuzz::TARGETS;

/// What one block of an archive has: a header, or a part of a file.
const BLOCK: usize = 512;
/// Where a header has its checksum.
const SUM: Range<usize> = 148..156;

/// An octal number of a header.
fn octal(field: &[u8]) -> usize {
    let text = std::str::from_utf8(field).expect("a header in ASCII");
    usize::from_str_radix(text.trim_matches(['\0', ' ']), 8).expect("an octal number")
}

/// The name and size in a header, whose checksum is right.
fn header(block: &[u8]) -> (String, usize) {
    let bytes = block.iter().enumerate();
    let sum: usize =
        bytes.map(|(at, byte)| usize::from(if SUM.contains(&at) { b' ' } else { *byte })).sum();
    assert_eq!(octal(&block[SUM]), sum, "the archive is damaged");
    assert_eq!(
        (&block[257..262], block[156]),
        (&b"ustar"[..], b'0'),
        "not a file of an ustar archive"
    );
    let name = String::from_utf8_lossy(&block[..100]);
    (name.trim_end_matches('\0').to_string(), octal(&block[124..136]))
}

/// The inputs of an archive. It is whole, and ends as it should.
fn archived(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let (mut inputs, mut at) = (Vec::new(), 0);
    loop {
        let block = bytes.get(at..at + BLOCK).expect("the archive ends too early");
        if block.iter().all(|byte| *byte == 0) {
            assert!(bytes.len() >= at + 2 * BLOCK, "the archive ends too early");
            assert!(bytes[at..].iter().all(|byte| *byte == 0), "something follows the end");
            return inputs;
        }
        let (name, size) = header(block);
        at += BLOCK;
        let data = bytes.get(at..at + size).expect("the archive ends too early");
        inputs.push((name, data.to_vec()));
        at += size.next_multiple_of(BLOCK);
    }
}

/// Every committed input of a target, by name.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let (archive, mut inputs) = (folder.with_extension("tar"), Vec::new());
    if archive.exists() {
        inputs = archived(&fs::read(archive).unwrap());
        assert!(!inputs.is_empty(), "the archive of {target} is empty");
    }
    if folder.exists() {
        for entry in fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            inputs.push((name, fs::read(file).unwrap()));
        }
    }
    inputs.sort();
    inputs
}

#[test]
fn every_committed_input_is_dealt_with() {
    for (name, target) in TARGETS {
        let inputs = corpus(name);
        assert!(!inputs.is_empty(), "the corpus of {name} is empty");
        for (file, input) in inputs {
            println!("{name}: {file}");
            target(&input);
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
fn every_target_is_built() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    let manifest = manifest.unwrap();
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("path = \"targets/{name}.rs\"")), "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
}
