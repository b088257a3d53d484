// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Defects found from outside: joins that fail, deaths that are declared late.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use core::mem::{size_of, zeroed};
use core::ptr::null_mut;
use lnd_error::*;
use lnd_shortmsg::mailbox::MailboxGeometry;
use lnd_soft::abi::*;
use lnd_soft::{DeclareError, Join, JoinError, NodeState, SoftFabric};

use crate::land::{crash, join, land, shape, Land};

/// A mailbox of ours is damaged. Prepare does not say OK for a node that can neither send nor
/// receive.
#[test]
fn prepare_does_not_succeed_after_it_has_failed() {
    // SAFETY: everything pointed to is there.
    unsafe {
        let mut c_shape: lnd_soft_shape = zeroed();
        c_shape.size = size_of::<lnd_soft_shape>() as u32;
        assert_eq!(lnd_soft_shape_init(&mut c_shape, 2, 1, 4, 8192), LND_OK);
        let region = Land::new(lnd_soft_region_size(&c_shape));
        let base = region.base().as_ptr().cast();
        assert_eq!(lnd_soft_format(base, region.len(), &c_shape), LND_OK);
        let object = Land::new(lnd_soft_fabric_size());
        let mut fabric = null_mut();
        let mem = object.base().as_ptr().cast();
        assert_eq!(lnd_soft_attach(mem, object.len(), base, region.len(), &mut fabric), LND_OK);

        let rust = SoftFabric::attach(region.region()).unwrap();
        // Node 1 has been there: it has made the mailboxes that node 0 writes to.
        let _one = join(&rust, 1, &Join::new(1)).unwrap();
        let (slots, bytes) = rust.shape().requests;
        let each =
            MailboxGeometry::new(slots, bytes).unwrap().bytes_needed().next_multiple_of(4096);
        // From 0 to 1 over link 0 is number 1; the consumed word, which is node 1's, is at 128.
        let consumed = rust.offsets().boxes + each + 128;
        assert_eq!(region.get(consumed), 0);
        region.set(consumed, 0x7fff_0000);

        let mut args: lnd_soft_join_args = zeroed();
        args.size = size_of::<lnd_soft_join_args>() as u32;
        (args.node, args.random, args.features) = (0, 77, u32::MAX);
        let memory = Land::new(lnd_soft_node_size(fabric));
        let mut node = null_mut();
        let mem = memory.base().as_ptr().cast();
        assert_eq!(lnd_soft_join(mem, memory.len(), fabric, &args, &mut node), LND_OK);
        let first = lnd_soft_prepare(node);
        let again = lnd_soft_prepare(node);
        let announced = lnd_soft_announce(node, null_mut());
        let mut sent = 9;
        let sending = lnd_soft_send(node, 0, 1, 1, b"x".as_ptr().cast(), 1, &mut sent);
        assert_eq!(first, again, "what has failed fails again");
        assert_ne!(
            (again, announced, sending),
            (LND_OK, LND_OK, LND_E_GONE),
            "prepared and announced, and can neither send nor receive"
        );
    }
}

/// The process that becomes the node was stopped between the exchange and the words of its
/// incarnation: an agent that is late with the proof of the former incarnation's death must not hit
/// it.
#[test]
fn a_late_declaration_does_not_hit_a_node_that_has_just_begun_to_join() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let member = join(&fabric, 1, &Join::new(5)).unwrap();
    let incarnation = member.incarnation();
    crash(member);
    fabric.declare_dead(1, Some(incarnation)).unwrap();
    // What `claim` does first; `begin_incarnation` has not run yet.
    let word = fabric.offsets().nodes + 64;
    let turn = (land.get(word) >> 16) + 1;
    land.set(word, turn << 16 | NodeState::Joining as u32);
    assert_eq!(fabric.declare_dead(1, Some(incarnation)), Err(DeclareError::OtherIncarnation));
    assert_eq!(fabric.state_of(1), NodeState::Joining);
}

/// What follows: another takes the place; the first, going on, writes over its incarnation.
#[test]
fn a_claim_that_was_overtaken_does_not_spoil_the_next_incarnation() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let first = fabric.claim(1, &Join::new(5)).unwrap();
    // Declared dead while it is joining, by an agent that has no incarnation to name.
    fabric.declare_dead(1, None).unwrap();
    let second = join(&fabric, 1, &Join::new(9)).unwrap();
    // The first finds out.
    let error = first.finish().map(|_| ()).map_err(|(error, first)| {
        first.abandon();
        error
    });
    assert_eq!(error, Err(JoinError::Lost));
    assert_eq!(fabric.node(1).incarnation, Some(second.incarnation()));
    assert_eq!(fabric.state_of(1), NodeState::Alive);
}

/// One damaged mailbox of one peer keeps a node out of the whole fabric.
#[test]
fn one_peers_damaged_mailbox_does_not_keep_a_node_out() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let _members: Vec<_> =
        [1, 2].iter().map(|&n| join(&fabric, n, &Join::new(n)).unwrap()).collect();
    let me = join(&fabric, 0, &Join::new(3)).unwrap();
    crash(me);
    fabric.declare_dead(0, None).unwrap();
    // Node 1 scribbles on the magic of the mailbox that it writes to node 0: 1 → 0, link 0.
    let (slots, bytes) = shape().requests;
    let each = MailboxGeometry::new(slots, bytes).unwrap().bytes_needed().next_multiple_of(4096);
    let number = 3 * 2;
    land.set(fabric.offsets().boxes + number * each + 4, 99);
    assert!(join(&fabric, 0, &Join::new(4)).is_ok(), "node 2 and 0 have done nothing wrong");
}

/// A failure stays one: also of a node that was declared dead while it was joining.
#[test]
fn a_node_declared_dead_while_it_joins_is_not_alive_and_never_prepared() {
    let host = crate::abi::host();
    let (_memory, node) = crate::abi::begin_to_join(&host, 0);
    // SAFETY: everything pointed to is there.
    unsafe {
        assert_eq!(lnd_soft_is_alive(node), 1);
        assert_eq!(lnd_soft_declare_dead(host.fabric, 0, 0, null_mut()), LND_OK);
        assert_eq!(lnd_soft_is_alive(node), 0);
        for _ in 0..3 {
            assert_eq!(lnd_soft_prepare(node), LND_E_STALE);
        }
        assert_eq!(lnd_soft_announce(node, null_mut()), LND_E_GONE);
        assert_eq!(lnd_soft_leave(node, null_mut()), LND_OK);
    }
}
