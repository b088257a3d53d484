// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where the parts of a link's memory lie, and what its words are made of (`docs/registers.md`).

use lnd_core::fragment::{Fragment, MAX_FRAGMENTS};
use lnd_core::ports::Returned;
use lnd_dma::completion::{decode, encode};
use lnd_dma::descriptor::{Own, State};
use lnd_dma::memory::{LayoutError, LinkGeometry, LinkMemory};
use lnd_dma::regs::{ControlBits, ErrorBits, StatusBits};

use crate::harness::{Plant, Shape};

#[test]
fn tables_have_at_most_so_many_entries() {
    let plant = Plant::new(Shape::default());
    let block = &plant.bus.node_memories[0].links[0];
    let refused = |descriptors: u32, lists: u32| {
        let geometry = LinkGeometry { descriptors, lists };
        // SAFETY: the block lives as long as the plant, and no engine works on it.
        unsafe { LinkMemory::format(block.base(), block.len(), geometry, 0, 0, 0) }.err()
    };
    assert_eq!(refused((1 << 20) + 1, 0), Some(LayoutError::Geometry));
    assert_eq!(refused(1, 65_537), Some(LayoutError::Geometry));
    assert_eq!(refused(u32::MAX, u32::MAX), Some(LayoutError::Geometry));
    // They may have so many, and then the block is too small.
    assert_eq!(refused(1 << 20, 0), Some(LayoutError::Size));
    assert_eq!(refused(1, 65_536), Some(LayoutError::Size));
}

/// `address low, address high, length, reserved`, 16 bytes each, 256 in a list.
#[test]
fn lists_lie_one_behind_the_other() {
    let plant = Plant::new(Shape { lists: 3, ..Shape::default() });
    let memory = plant.format(0, 0);
    let block = &plant.bus.node_memories[0].links[0];
    let first = block.len() - 3 * 4096;
    let places = [(0, 0), (0, 1), (1, 0), (2, MAX_FRAGMENTS - 1)];
    for (n, (list, at)) in (1..).zip(places) {
        assert!(memory.write_fragment(list, at, &Fragment::new(n << 32 | 0xabc0 | n, n as u32)));
    }
    for (n, (list, at)) in (1..).zip(places) {
        let mut bytes = [0; 16];
        block.read(first + list as usize * 4096 + at * 16, &mut bytes);
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words, [0xabc0 | n, n, n, 0], "{at} of {list}");
        let (address, length) = (u64::from(n) << 32 | u64::from(0xabc0 | n), n);
        assert_eq!(memory.read_fragment(list, at), Some(Fragment::new(address, length)));
    }
}

/// `reason 16 | code 16`.
#[test]
fn a_completion_says_how_and_why() {
    let ends = [(Returned::Ok, 1), (Returned::Untouched, 2), (Returned::Touched, 3)];
    for (returned, code) in ends {
        assert_eq!(encode(returned, ErrorBits::empty()), code);
        assert_eq!(encode(returned, ErrorBits::INVALIDATED), 0x20_0000 | code);
        assert_eq!(decode(code), Some(returned));
        assert_eq!(decode(0x20_0000 | code), Some(returned));
    }
    for code in [0, 4, 0xffff, 0x1_0000] {
        assert_eq!(decode(code), None);
    }
}

#[test]
fn a_note_is_made_once() {
    let busy = Own::new(State::Owned, 0x1_2345).busy(0x177);
    assert_eq!(busy, Own(0x2345_7702));
    assert!(!busy.invalidated());
    let invalidated = busy.invalidating();
    assert_eq!(invalidated, Own(0x2345_770a));
    assert!(invalidated.invalidated());
    assert_eq!(invalidated.invalidating(), invalidated);
    let back = busy.into(State::Done);
    assert!(!back.reported());
    let reported = back.reporting();
    assert_eq!(reported, Own(0x2345_000b));
    assert!(reported.reported());
    assert_eq!(reported.reporting(), reported);
}

#[test]
fn rounds_have_sixteen_bits() {
    assert_eq!(StatusBits::STOPPED.in_round(0x7_1234), StatusBits(0x1234_0002));
    assert_eq!(StatusBits(0x1234_0002).round(), 0x1234);
    assert_eq!(ControlBits::STOP.in_round(0x7_1234), ControlBits(0x1234_0002));
    assert_eq!(ControlBits(0x1234_0002).round(), 0x1234);
}
