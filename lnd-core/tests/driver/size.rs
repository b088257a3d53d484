// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory: what is asked for is enough and is what is used (R61, INV-14).

use std::mem::MaybeUninit;

use lnd_core::arena::LINE;
use lnd_core::config::{Config, ConfigError, MAX_PEERS, MAX_SLOTS};
use lnd_core::driver::{Driver, Identity, Kind};
use lnd_core::id::{Incarnation, MAX_LINKS};

use super::fabric::{nid, Fabric, Shared};
use super::ports::{Log, Mock, MockChannel, MockEngine, MockMemory};
use super::world::World;

/// Creates a driver in `memory`, audits it and drops it.
fn create(memory: &mut [MaybeUninit<u8>], config: Config) -> Result<(), ConfigError> {
    let fabric = Shared::default();
    *fabric.borrow_mut() = Fabric::without_memory(1, MAX_LINKS);
    let me = Identity { nid: nid(0), incarnation: Incarnation::from_raw(1).unwrap() };
    let engine = |link| MockEngine { fabric: fabric.clone(), node: 0, link };
    let driver = Driver::<Mock>::create(
        memory,
        config,
        me,
        (0..config.links as usize).map(engine),
        MockChannel { fabric: fabric.clone(), node: 0 },
        MockMemory { fabric: fabric.clone(), node: 0 },
        Log::default(),
    )?;
    assert_eq!(driver.audit(), Ok(()));
    Ok(())
}

/// Memory of `length` bytes that begins `offset` bytes behind a multiple of the line.
pub fn with_memory<R>(
    length: usize,
    offset: usize,
    f: impl FnOnce(&mut [MaybeUninit<u8>]) -> R,
) -> R {
    let mut memory = vec![MaybeUninit::uninit(); length + 2 * LINE];
    let lost = memory.as_ptr().align_offset(LINE);
    f(&mut memory[lost + offset..][..length])
}

fn sweep() -> Vec<Config> {
    let mut configs = Vec::new();
    for (slots, peers) in [(2, 1), (3, 2), (31, 5), (32, 64), (33, 65), (500, 100)] {
        for links in [1, 3, 8] {
            let mut config = Config::new(slots, peers, links);
            (config.lists, config.immediate_max) = (slots.min(20) as u16, 100);
            configs.push(config);
            (config.lists, config.immediate_max) = (0, 0);
            configs.push(config);
            (config.lists, config.immediate_max) = (slots.min(3) as u16, 8192);
            configs.push(config);
        }
    }
    configs
}

#[test]
fn what_is_asked_for_is_enough_whatever_the_alignment() {
    for config in sweep() {
        let bytes = config.bytes_needed();
        for offset in [0, 1, LINE / 2, LINE - 1] {
            let made = with_memory(bytes, offset, |memory| create(memory, config));
            assert_eq!(made, Ok(()), "{config:?} at {offset}");
        }
    }
}

#[test]
fn one_byte_less_than_the_tables_take_is_refused() {
    // `LINE` of what is asked for is for alignment: aligned memory may be that much smaller.
    for config in sweep() {
        for offset in [0, 1, LINE - 1] {
            let lost = if offset == 0 { 0 } else { LINE - offset };
            let exact = config.bytes_needed() - LINE + lost;
            assert_eq!(with_memory(exact, offset, |memory| create(memory, config)), Ok(()));
            let made = with_memory(exact - 1, offset, |memory| create(memory, config));
            assert_eq!(made, Err(ConfigError::Memory), "{config:?} at {offset}");
        }
    }
    assert_eq!(create(&mut [], Config::new(2, 1, 1)), Err(ConfigError::Memory));
}

#[test]
fn the_largest_configuration_can_be_created() {
    let config = Config::new(MAX_SLOTS, MAX_PEERS, MAX_LINKS as u8);
    let bytes = config.bytes_needed();
    assert_eq!(with_memory(bytes, 1, |memory| create(memory, config)), Ok(()));
}

#[test]
fn a_slot_costs_188_bytes_and_an_idle_peer_160() {
    let bytes = |slots, peers| {
        let mut config = Config::new(slots, peers, 1);
        (config.lists, config.immediate_max) = (0, 0);
        config.bytes_needed()
    };
    let slot = (bytes(MAX_SLOTS, 1) - bytes(MAX_SLOTS / 2, 1)) / (MAX_SLOTS as usize / 2);
    assert!(slot <= 188, "a slot costs {slot} bytes");
    let peer = (bytes(2, MAX_PEERS) - bytes(2, MAX_PEERS / 2)) / (MAX_PEERS as usize / 2);
    assert!(peer <= 160, "a peer costs {peer} bytes");
    // The worst case of the index: just above a power of two.
    let peers = (MAX_PEERS / 2 + 1) as usize;
    let worst = (bytes(2, peers as u32) - bytes(2, 1)).div_ceil(peers);
    assert!(worst <= 168, "a peer costs {worst} bytes at worst");
}

#[test]
fn engines_must_be_as_many_as_links() {
    let config = Config::new(8, 2, 2);
    let fabric = Shared::default();
    *fabric.borrow_mut() = Fabric::without_memory(1, 16);
    for engines in [0, 1, 3, 9] {
        let mut memory = vec![MaybeUninit::uninit(); config.bytes_needed()];
        let made = Driver::<Mock>::create(
            &mut memory,
            config,
            Identity { nid: nid(0), incarnation: Incarnation::from_raw(1).unwrap() },
            (0..engines).map(|link| MockEngine { fabric: fabric.clone(), node: 0, link }),
            MockChannel { fabric: fabric.clone(), node: 0 },
            MockMemory { fabric: fabric.clone(), node: 0 },
            Log::default(),
        );
        assert_eq!(made.err(), Some(ConfigError::Engines), "{engines}");
    }
}

#[test]
fn two_slots_are_enough_for_everything() {
    let mut config = Config::new(2, 1, 1);
    (config.depth, config.batch, config.lists, config.immediate_max) = (1, 1, 1, 64);
    let mut w = World::on(Fabric::new(2, 1), 2, config);
    (w.node(0).pieces, w.node(1).pieces) = (4, 4);
    for round in 0..10 {
        for (kind, length) in [(Kind::Put, 10), (Kind::Put, 5000), (Kind::Get, 5000)] {
            // Both at once: each has one slot of its own and one for the other.
            let (a, b) = (w.submit(kind, 0, 1, length), w.submit(kind, 1, 0, length));
            w.settle();
            for (node, tag) in [(0, a), (1, b)] {
                let status = w.report(node, tag.unwrap()).status;
                let lists = status.errno != 0 && length > 64;
                assert!(status.errno == 0 || lists, "{round} {kind:?} {status:?}");
            }
            for node in 0..2 {
                w.node(node).pieces = 1;
            }
        }
    }
    w.assert_drained();
}
