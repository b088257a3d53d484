// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A node's health has one owner at a time and no lock: the word that says that a thread is inside.

use core::mem::MaybeUninit;
use core::ptr::null_mut;
use std::rc::Rc;

use lnd_ffi::abi::{lnd_error, lnd_health_config, lnd_health_peer};
use lnd_ffi::health::{
    lnd_health, lnd_health_add_peer, lnd_health_config_init, lnd_health_create, lnd_health_destroy,
    lnd_health_size,
};
use lnd_ffi::version::LND_ABI_VERSION;
use lnd_loom::{explore, Bound};
use loom::sync::Condvar;
use loom::thread;

use super::host::{BUSY, NOW, OK};

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Unused([MaybeUninit<u8>; 64]);

struct Node {
    turn: Condvar,
    health: *mut lnd_health,
    _memory: Box<[Unused]>,
}

impl Node {
    fn new() -> Rc<Self> {
        // SAFETY: integers: zero is valid.
        let mut config: lnd_health_config = unsafe { core::mem::zeroed() };
        // SAFETY: a place for it.
        let made = unsafe { lnd_health_config_init(&raw mut config, LND_ABI_VERSION, 1, 4, 4) };
        assert_eq!(made, OK);
        (config.attempts, config.actions, config.incarnation) = (1, 1, 1);
        // SAFETY: a configuration.
        let lines = unsafe { lnd_health_size(&raw const config) }.div_ceil(64);
        let mut memory = vec![Unused([MaybeUninit::new(0); 64]); lines].into_boxed_slice();
        let (at, len) = (memory.as_mut_ptr().cast(), lines * 64);
        let mut health = null_mut();
        // SAFETY: the memory lives as long as the node, in which every context has a share.
        let made = unsafe { lnd_health_create(at, len, &raw const config, NOW, &raw mut health) };
        assert_eq!(made, OK);
        Rc::new(Self { turn: Condvar::new(), health, _memory: memory })
    }

    /// A peer more; its place.
    fn add_peer(&self) -> Result<u32, lnd_error> {
        self.turn.notify_one();
        let mut peer = lnd_health_peer::default();
        // SAFETY: the memory is still there, the place too.
        let error = unsafe { lnd_health_add_peer(self.health, 0, 0, &raw mut peer) };
        if error == OK {
            Ok(peer.index)
        } else {
            Err(error)
        }
    }

    fn destroy(&self) -> lnd_error {
        self.turn.notify_one();
        // SAFETY: the memory is still there.
        unsafe { lnd_health_destroy(self.health) }
    }
}

#[test]
fn r65_two_owners_of_one_health() {
    let ends = explore("health: call ‖ call", Bound::Exhaustive, || {
        let node = Node::new();
        let there = Rc::clone(&node);
        let other = thread::spawn(move || there.add_peer());
        let ends = [node.add_peer(), other.join().unwrap()];
        assert_ne!(ends[0], ends[1], "one after another they are different peers");
        let busy = ends.iter().filter(|&&end| end == Err(BUSY)).count();
        let added = ends.iter().filter(|end| end.is_ok()).count();
        assert_eq!(busy + added, 2);
        assert_eq!(node.add_peer(), Ok(added as u32), "who was told BUSY has added nothing");
        ends.map(|end| end.is_ok())
    });
    let all = [[false, true], [true, false], [true, true]];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn r65_health_call_against_destroy() {
    let ends = explore("health: call ‖ destroy", Bound::Exhaustive, || {
        let node = Node::new();
        let there = Rc::clone(&node);
        let other = thread::spawn(move || there.add_peer().err());
        let ours = node.destroy();
        let theirs = other.join().unwrap();
        match (ours, theirs) {
            (OK, None | Some(BUSY | lnd_error::LND_E_NI)) => {}
            (BUSY, None) => assert_eq!(node.destroy(), OK),
            other => panic!("{other:?}"),
        }
        assert_eq!(node.add_peer(), Err(lnd_error::LND_E_NI));
        (ours as u32, theirs.map(|error| error as u32))
    });
    let (ok, busy, none) = (OK as u32, BUSY as u32, lnd_error::LND_E_NI as u32);
    let all = [(ok, None), (ok, Some(none)), (ok, Some(busy)), (busy, None)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}
