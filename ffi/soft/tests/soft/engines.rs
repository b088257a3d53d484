// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two nodes in one address space: a pull, whom it rings, and what the oracle sees.

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Tag};
use lnd_core::key::Key;
use lnd_core::ports::{Bd, Completions, Engine, Memory, Motion, Returned};
use lnd_core::time::Instant;
use lnd_dma::driver::{CompletionQueue, MmioEngine};
use lnd_dma::soft::{NoFaults, Settings, SoftEngine};
use lnd_soft::{
    nid_of, Bus, Join, Lease, MemoryWindow, NodeFlags, NodeNumbers, NodeSet, SoftFabric,
};

use crate::land::{join, land, shape};

const BYTES: u32 = 5000;
const FROM: Fragment = Fragment::new(100, BYTES);
const TO: Fragment = Fragment::new(4097, BYTES);

/// Moves 5000 bytes from node 0 to node 1; violations at the puller, and whom it rings.
fn pull(flags: [NodeFlags; 2], lend: bool) -> (u64, NodeSet) {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let link = LinkId::new(1).unwrap();
    let _members = [0, 1].map(|node: u32| {
        join(&fabric, node, &Join { flags: flags[node as usize], ..Join::new(1) }).unwrap()
    });
    let memory = [0, 1].map(|node| fabric.link_memory(node, link).unwrap());
    let mut drivers = memory.map(|memory| MmioEngine::new(link, memory, memory, NodeNumbers));
    let mut engines = [0, 1].map(|node| {
        let bus = Bus::alone(&fabric);
        let settings = Settings { chunk: 1000, ..Settings::default() };
        SoftEngine::new(node, link, memory[node as usize], bus, NoFaults, settings)
    });
    let data: Vec<u8> = (0..BYTES).map(|i| (i * 7 / 3) as u8).collect();
    let (mut source, sink) = (MemoryWindow::new(&fabric, 0), MemoryWindow::new(&fabric, 1));
    source.write(FROM.address, &data).unwrap();
    if lend {
        fabric.oracle().lend(0, &[FROM], Lease::Read);
        fabric.oracle().lend(1, &[TO], Lease::Write);
    }
    let staged = Tag { index: 1, generation: 5 };
    let motion = Motion::Stage { to: nid_of(1) };
    let bd = Bd { tag: staged, motion, length: BYTES, fragments: &[FROM], list: None };
    drivers[0].post(&bd).unwrap();
    drivers[0].doorbell();
    let motion = Motion::Pull { from: nid_of(0), source: staged, key: Key::NONE };
    let tag = Tag { index: 3, generation: 9 };
    let bd = Bd { tag, motion, length: BYTES, fragments: &[TO], list: None };
    drivers[1].post(&bd).unwrap();
    drivers[1].doorbell();
    let (mut steps, mut rung) = (0, NodeSet::EMPTY);
    while rung.is_empty() {
        engines[1].step(Instant::ORIGIN, 8);
        rung = engines[1].fabric_mut().signals();
        steps += 1;
        assert!(steps <= 10, "bounded steps");
    }
    assert!(steps >= 5, "a step moves a chunk");
    let mut queues = memory.map(|memory| CompletionQueue::new(memory, memory));
    assert!(queues[1].pop().is_some_and(|c| c.tag == tag && c.returned == Returned::Ok));
    assert!(queues[0].pop().is_none(), "node 0's engine has not been told yet");
    engines[0].step(Instant::ORIGIN, 8);
    assert!(queues[0].pop().is_some_and(|c| c.tag == staged && c.returned == Returned::Ok));
    let mut got = vec![0; BYTES as usize];
    sink.read(TO.address, &mut got).unwrap();
    assert!(got == data);
    (engines[1].fabric_mut().violations().0, rung)
}

#[test]
fn a_peer_that_gets_a_descriptor_back_is_rung() {
    let (_, rung) = pull([NodeFlags(0); 2], false);
    assert_eq!(rung, NodeSet::EMPTY.with(0));
}

/// R76: the oracle sees what was not lent, at the nodes that tell it.
#[test]
fn the_oracle_watches_those_who_keep_leases() {
    assert_eq!(pull([NodeFlags(0); 2], false).0, 0);
    assert_eq!(pull([NodeFlags::LEASES; 2], true).0, 0);
    let one = pull([NodeFlags::LEASES, NodeFlags(0)], false).0;
    assert!(one > 0);
    assert_eq!(pull([NodeFlags::LEASES; 2], false).0, 2 * one);
}

#[test]
fn nothing_outside_of_a_window_is_reached() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let mut window = MemoryWindow::new(&fabric, 2);
    let end = window.bytes();
    assert!(window.write(end - 4, &[1; 4]).is_ok());
    for address in [end - 3, end, u64::MAX - 3, u64::MAX, 1 << 40] {
        assert!(window.write(address, &[1; 4]).is_err());
        assert!(window.read(address, &mut [0; 4]).is_err());
        assert!(!window.valid(&Fragment::new(address, 4)));
        fabric.oracle().lend(2, &[Fragment::new(address, 4)], Lease::Write);
    }
    assert!(MemoryWindow::new(&fabric, 3).read(0, &mut []).is_err());
}
