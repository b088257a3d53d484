// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `docs/registers.md` says what the code does: offsets, bits and descriptor words.

use std::collections::BTreeMap;

use bitflags::Flags;
use lnd_core::id::Tag;
use lnd_core::ports::Features;
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_dma::descriptor::{Content, Flags as Direction, State};
use lnd_dma::regs::{
    ControlBits, ErrorBits, InterruptBits, LinkBits, RegisterBlock, StatusBits, MAGIC, VERSION,
};
use memoffset::offset_of;

use crate::harness::{Plant, Shape};

const DOCUMENT: &str = include_str!("../../../docs/registers.md");

/// Rows of all tables whose header begins with these cells.
fn table(header: &[&str]) -> Vec<Vec<&'static str>> {
    let mut rows = Vec::new();
    let mut inside = false;
    for line in DOCUMENT.lines() {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        if !line.starts_with('|') {
            inside = false;
        } else if inside && !cells[0].starts_with("---") {
            rows.push(cells);
        } else if cells.starts_with(header) {
            inside = true;
        }
    }
    rows
}

#[test]
fn registers() {
    macro_rules! offsets {
        ($($field:ident)*) => {
            BTreeMap::from([
                $((stringify!($field).to_uppercase(), offset_of!(RegisterBlock, $field))),*
            ])
        };
    }
    let coded = offsets!(
        magic version features descriptors post_size completion_size lists node control post_tail
        completion_head stage_bell invalidate_bell interrupt_mask status post_head completion_tail
        interrupt error errors link read_node read_key read_length read_bell published_key
        published_word post_start completion_start read_done read_end read_word parted_low
        parted_high parted_round cut_low cut_high cut_round
    );
    let notified: BTreeMap<_, _> = table(&["offset", "register"])
        .iter()
        .map(|row| (row[1].to_string(), row[0].parse::<usize>().unwrap()))
        .collect();
    assert_eq!(notified, coded);
}

#[test]
fn reset_values() {
    let shape = Shape { start: 77, descriptors: 5, ..Shape::default() };
    let plant = Plant::new(shape);
    let registers = plant.format(1, 0).registers();
    // SAFETY: a register block is 64 words, all of them atomics.
    let words = unsafe {
        std::slice::from_raw_parts(std::ptr::from_ref(registers).cast::<AtomicU32>(), 64)
    };
    let mut left: Vec<_> = words.iter().map(|word| word.load(Ordering::Relaxed)).collect();
    for row in table(&["offset", "register"]) {
        let value = match (row[1], row[3]) {
            (_, "i") => 77,
            (_, "D") => 5,
            (_, "R") => 8,
            (_, "L") => shape.lists,
            ("FEATURES", "set") => 63,
            ("NODE", "set") => 1,
            ("MAGIC", notified) => {
                assert_eq!(notified, format!("`{MAGIC:#x}`"));
                MAGIC
            }
            ("VERSION", notified) => {
                assert_eq!(notified, VERSION.to_string());
                VERSION
            }
            ("CONTROL", "round") => ControlBits::empty().in_round(1).bits(),
            (_, number) => number.parse().unwrap(),
        };
        let word = &mut left[row[0].parse::<usize>().unwrap() / 4];
        assert_eq!(*word, value, "{}", row[1]);
        *word = 0;
    }
    assert!(left.iter().all(|&word| word == 0), "a word that the document does not name");
}

/// Every bit of a kind of register, as the document's table names it.
fn bits<F: Flags<Bits = u32>>(register: &str) -> Vec<(String, String, u32)> {
    let named = F::FLAGS.iter().filter(|flag| !flag.name().is_empty());
    named
        .map(|flag| (register.into(), flag.name().into(), flag.value().bits().trailing_zeros()))
        .collect()
}

#[test]
fn register_bits() {
    let mut coded = bits::<Features>("FEATURES");
    coded.extend(bits::<ControlBits>("CONTROL"));
    coded.extend(bits::<StatusBits>("STATUS"));
    coded.extend(bits::<InterruptBits>("INTERRUPT"));
    coded.extend(bits::<LinkBits>("LINK"));
    coded.extend(bits::<ErrorBits>("ERROR"));
    coded.sort();
    let rows = table(&["register", "bit"]);
    let (rounds, rows): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row[2] == "ROUND");
    let mut notified: Vec<_> = rows
        .iter()
        .map(|row| (row[0].to_string(), row[2].to_string(), row[1].parse::<u32>().unwrap()))
        .collect();
    notified.sort();
    assert_eq!(notified, coded);
    assert!(rounds.iter().all(|row| row[1] == "31:16"));
    assert_eq!(ControlBits(0x1234_5678).round(), 0x1234);
    assert_eq!(StatusBits::STOPPED.in_round(0x1_2345).0, 0x2345_0002);
}

#[test]
fn descriptor_words() {
    let plant = Plant::new(Shape::default());
    let memory = plant.format(0, 0);
    let descriptor = memory.descriptor(3).unwrap();
    descriptor.write(&Content {
        flags: Direction::PULL | Direction::INDIRECT,
        fragments: 256,
        tag: Tag { index: 2, generation: 3 },
        length: 4,
        node: 5,
        source: Tag { index: 6, generation: 7 },
        list: 8,
        address: 11 << 32 | 10,
        fragment: 9,
    });
    descriptor.mark_invalidate(12);
    descriptor.hand_over(0xabcd_1234);
    let coded = BTreeMap::from([
        ("OWN", 0x1234_0000 + State::Owned as u32),
        ("FLAGS", 256 << 16 | 3),
        ("INDEX", 2),
        ("GENERATION", 3),
        ("LENGTH", 4),
        ("NODE", 5),
        ("SOURCE_INDEX", 6),
        ("SOURCE_GENERATION", 7),
        ("LIST", 8),
        ("FRAGMENT_LENGTH", 9),
        ("FRAGMENT_LOW", 10),
        ("FRAGMENT_HIGH", 11),
        ("INVALIDATE", 12),
        ("", 0),
    ]);
    // SAFETY: a descriptor is 16 words, all of them atomics.
    let words = unsafe {
        std::slice::from_raw_parts(std::ptr::from_ref(descriptor).cast::<AtomicU32>(), 16)
    };
    // The other table of words is the completion entry's.
    let rows: Vec<_> = table(&["byte", "word"]).into_iter().take(coded.len()).collect();
    for row in rows {
        let word = &words[row[0].parse::<usize>().unwrap() / 4];
        assert_eq!(word.load(Ordering::Relaxed), coded[row[1]], "{}", row[1]);
    }
}

#[test]
fn states_and_notes() {
    use lnd_dma::descriptor::Own;
    let numbers = [
        (State::Free, 0),
        (State::Owned, 1),
        (State::Busy, 2),
        (State::Done, 3),
        (State::Untouched, 4),
        (State::Touched, 5),
    ];
    for (state, number) in numbers {
        assert!(DOCUMENT.contains(&format!("{number} {state:?}")), "{state:?}");
        assert_eq!(Own::new(state, 0x1_0002).0, 0x2_0000 | number);
    }
    assert_eq!(Own(6).state(), None);
    assert_eq!(Own(7).state(), None);
    let busy = Own::new(State::Owned, 9).busy(0x1ff);
    assert_eq!(busy.0, 9 << 16 | 0xff00 | 2);
    assert_eq!(busy.invalidating().0, busy.0 | 8);
    assert_eq!(busy.into(State::Done).reporting().0, 9 << 16 | 3 | 8);
}
