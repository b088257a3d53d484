// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Joining, leaving, dying.

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Tag};
use lnd_dma::descriptor::{Content, Flags, Own, State};
use lnd_dma::regs::{ControlBits, Register, RegisterAccess};
use lnd_soft::{
    nid_of, node_of, DeclareError, Join, JoinError, Lease, NodeFlags, NodeSet, NodeState,
    SoftFabric, Watch,
};

use crate::land::{crash, join, land, shape};

const LOCKED: Join = Join { flags: NodeFlags::LOCKED, ..Join::new(7) };

#[test]
fn a_node_is_one_at_a_time_and_every_incarnation_is_another() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    assert_eq!(fabric.claim(3, &Join::new(1)).unwrap_err(), JoinError::NoSuchNode);
    let joining = fabric.claim(1, &Join::new(1)).unwrap();
    assert_eq!(fabric.state_of(1), NodeState::Joining);
    assert_eq!(fabric.claim(1, &Join::new(2)).unwrap_err(), JoinError::Taken);
    joining.abandon();
    let mut incarnations = std::collections::HashSet::new();
    for _ in 0..5 {
        let member = join(&fabric, 1, &Join::new(9)).unwrap();
        assert!(
            incarnations.insert(member.incarnation()),
            "the random word alone makes no incarnation"
        );
        assert_eq!(fabric.node(1).incarnation, Some(member.incarnation()));
        assert_eq!(fabric.claim(1, &Join::new(2)).unwrap_err(), JoinError::Taken);
        member.leave();
        assert_eq!(fabric.state_of(1), NodeState::Absent);
    }
}

/// R27: a death proven for one incarnation never hits the next one.
#[test]
fn a_late_proof_of_death_hits_none() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    assert_eq!(fabric.declare_dead(0, None), Err(DeclareError::NotThere));
    assert_eq!(fabric.declare_dead(3, None), Err(DeclareError::NoSuchNode));
    let first = join(&fabric, 0, &Join::new(1)).unwrap();
    let old = first.incarnation();
    first.leave();
    let second = join(&fabric, 0, &Join::new(2)).unwrap();
    assert_eq!(fabric.declare_dead(0, Some(old)), Err(DeclareError::OtherIncarnation));
    assert!(second.is_ours());
    assert_eq!(fabric.declare_dead(0, Some(second.incarnation())), Ok(()));
    assert_eq!(fabric.declare_dead(0, Some(second.incarnation())), Ok(()), "twice is once");
    assert!(!second.is_ours() && !second.announce());
    second.leave();
    assert_eq!(fabric.state_of(0), NodeState::Dead, "who is declared dead stays so");
    join(&fabric, 0, &Join::new(3)).unwrap();
}

#[test]
fn a_free_lock_proves_only_the_death_of_who_had_one() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let machine = join(&fabric, 0, &Join::new(1)).unwrap();
    assert!(!fabric.probe_death(0, || panic!("it never had a lock")));
    assert!(machine.is_ours());
    let process = join(&fabric, 1, &LOCKED).unwrap();
    assert!(!fabric.probe_death(1, || false));
    // It leaves, and another incarnation begins, while another context looks at its lock.
    let mut process = Some(process);
    let looked = fabric.probe_death(1, || {
        process.take().unwrap().leave();
        crash(join(&fabric, 1, &Join::new(5)).unwrap());
        true
    });
    assert!(!looked);
    assert_eq!(fabric.state_of(1), NodeState::Alive);
    let crashed = join(&fabric, 2, &LOCKED).unwrap();
    crash(crashed);
    assert!(fabric.probe_death(2, || true));
    assert_eq!(fabric.state_of(2), NodeState::Dead);
}

/// The former incarnation's engines see a stop before their memory is used again.
#[test]
fn a_claim_stops_the_links_of_the_former_incarnation() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    crash(join(&fabric, 0, &Join::new(1)).unwrap());
    let memories = [0, 1].map(|link| fabric.link_memory(0, LinkId::new(link).unwrap()).unwrap());
    for memory in &memories {
        memory.write(Register::Control, ControlBits::ENABLE.bits());
    }
    fabric.declare_dead(0, None).unwrap();
    let joining = fabric.claim(0, &Join::new(2)).unwrap();
    for memory in &memories {
        let control = ControlBits(memory.read(Register::Control));
        assert!(control.contains(ControlBits::STOP), "{control:?}");
    }
    joining.abandon();
}

/// R76: what a former incarnation had lent is not lent by the next one.
#[test]
fn leases_end_with_their_incarnation() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    crash(join(&fabric, 0, &Join::new(1)).unwrap());
    fabric.oracle().lend(0, &[Fragment::new(4096, 8192)], Lease::Write);
    assert_eq!(fabric.oracle().outstanding(0), 2);
    fabric.declare_dead(0, None).unwrap();
    join(&fabric, 0, &Join::new(2)).unwrap();
    assert_eq!(fabric.oracle().outstanding(0), 0);
    assert!(fabric.oracle().check(0, 4096, 1, Lease::Write).is_err());
}

/// The words of an incarnation change while a node joins: until it is alive the table shows none.
#[test]
fn a_node_that_joins_shows_no_incarnation() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    crash(join(&fabric, 0, &Join::new(1)).unwrap());
    fabric.declare_dead(0, None).unwrap();
    assert!(fabric.node(0).incarnation.is_some());
    let joining = fabric.claim(0, &Join::new(2)).unwrap();
    let found = fabric.node(0);
    assert_eq!((found.state, found.incarnation), (NodeState::Joining, None));
    let member = joining.finish().unwrap();
    assert_eq!(fabric.node(0).incarnation, None);
    assert!(member.announce() && member.announce(), "twice is once");
    assert_eq!(fabric.node(0).incarnation, Some(member.incarnation()));
}

/// The low half of an incarnation's count is the turn that it is of.
#[test]
fn a_count_shows_the_turn_and_only_grows() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let (turn, count) = (fabric.offsets().nodes, fabric.offsets().nodes + 4);
    for (last_turn, last, expected) in [
        (0, 0, 1),
        (1, 7, 0x0001_0002),
        (0xfffe, 0xfffe, 0xffff),
        (0xffff, 0xffff, 0x0001_0000),
        (0xffff, 0xffff_ffff, 0x0001_0000),
        (4, 0xffff_0005, 5),
    ] {
        land.set(turn, last_turn << 16);
        land.set(count, last);
        let member = join(&fabric, 0, &Join::new(9)).unwrap();
        assert_eq!(member.incarnation().raw() as u32, expected, "after {last:x}");
        assert_eq!(fabric.declare_dead(0, Some(member.incarnation())), Ok(()));
        crash(member);
    }
}

/// A former incarnation's memory is formatted only when no living peer's engine reads it.
#[test]
fn joining_waits_for_those_who_still_read() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let first = join(&fabric, 0, &Join::new(1)).unwrap();
    let peer = join(&fabric, 1, &Join::new(1)).unwrap();
    let link = LinkId::new(1).unwrap();
    let tag = Tag { index: 2, generation: 1 };
    let content = Content {
        flags: Flags(0),
        fragments: 0,
        tag,
        length: 0,
        node: 1,
        source: tag,
        list: 0,
        address: 0,
        fragment: 0,
    };
    let memory = fabric.link_memory(0, link).unwrap();
    let descriptor = memory.descriptor(2).unwrap();
    descriptor.write(&content);
    descriptor.hand_over(1);
    assert!(descriptor.swap(descriptor.own(), Own::new(State::Owned, 1).busy(1)));
    crash(first);
    fabric.declare_dead(0, None).unwrap();
    let joining = fabric.claim(0, &Join::new(2)).unwrap();
    let (error, joining) = joining.finish().unwrap_err();
    assert_eq!(error, JoinError::Busy);
    // The peer dies in the middle: what it held is free.
    crash(peer);
    fabric.declare_dead(1, None).unwrap();
    assert!(!joining.is_held());
    joining.finish().unwrap().announce();
    assert!(descriptor.own().is(State::Free));
}

#[test]
fn what_a_dead_node_held_of_others_goes_back_when_it_is_restarted() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let _source = join(&fabric, 0, &Join::new(1)).unwrap();
    crash(join(&fabric, 1, &Join::new(1)).unwrap());
    let memory = fabric.link_memory(0, LinkId::new(0).unwrap()).unwrap();
    let descriptor = memory.descriptor(3).unwrap();
    assert!(descriptor.swap(descriptor.own(), Own::new(State::Owned, 1).busy(1)));
    fabric.declare_dead(1, None).unwrap();
    join(&fabric, 1, &Join::new(2)).unwrap();
    assert!(descriptor.own().is(State::Touched));
    assert_eq!(memory.dones().take_one(), Some(3), "and its engine is told");
}

#[test]
fn a_watch_tells_each_change_once() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let mut watch = Watch::new();
    assert!(watch.next(&fabric).is_none());
    let member = join(&fabric, 2, &LOCKED).unwrap();
    let (node, notified) = watch.next(&fabric).unwrap();
    assert_eq!(
        (node, notified.state, notified.incarnation),
        (2, NodeState::Alive, Some(member.incarnation()))
    );
    assert_eq!(notified.flags, NodeFlags::LOCKED);
    assert!(watch.next(&fabric).is_none());
    // A whole incarnation in between is still a change: the incarnation is another.
    member.leave();
    join(&fabric, 2, &LOCKED).unwrap();
    assert!(watch
        .next(&fabric)
        .is_some_and(|(node, notified)| node == 2 && notified.incarnation.is_some()));
    assert!(watch.next(&fabric).is_none());
}

/// Whatever a stranger writes into the table, every question has an answer.
#[test]
fn nonsense_in_the_table_is_none() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    for word in [4, 0xff, 0xffff_ff00, u32::MAX, 0x1234_5678] {
        land.set(fabric.offsets().nodes, word);
        assert_eq!(fabric.state_of(0), NodeState::Absent);
        assert!(!fabric.probe_death(0, || true));
        let member = join(&fabric, 0, &Join::new(1)).unwrap();
        assert_eq!(fabric.node(0).incarnation, Some(member.incarnation()));
        member.leave();
    }
}

#[test]
fn numbers_names_and_sets() {
    for node in 0..64 {
        assert_eq!(node_of(nid_of(node)), Some(node));
    }
    assert_eq!(node_of(nid_of(64)), None);
    let all = NodeSet::others(64, 5);
    assert_eq!(all.bits(), !(1 << 5));
    assert!(all.contains(63) && !all.contains(5) && !all.contains(64));
    assert_eq!(NodeSet::EMPTY.with(64).with(u32::MAX), NodeSet::EMPTY);
}
