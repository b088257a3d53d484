// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd_health_*` from C: what use from outside has found.
#![allow(clippy::unwrap_used, clippy::multiple_unsafe_ops_per_block)]

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::mem::{size_of, zeroed};
use std::ptr::null_mut;

use lnd_ffi::abi::*;
use lnd_ffi::config::*;
use lnd_ffi::health::*;
use lnd_ffi::version::*;

const MS: u64 = 1_000_000;

struct Node {
    mem: *mut u8,
    layout: Layout,
    config: lnd_health_config,
    health: *mut lnd_health,
}

fn create(now: u64) -> Node {
    // SAFETY: everything pointed to is there.
    unsafe {
        let mut config: lnd_health_config = zeroed();
        let ok = lnd_health_config_init(&mut config, LND_ABI_VERSION, 2, 2, 4);
        assert_eq!(ok, lnd_error::LND_OK);
        config.incarnation = 3;
        let layout = Layout::from_size_align(lnd_health_size(&config), LND_ALIGN).unwrap();
        let mem = alloc_zeroed(layout);
        let mut node = Node { mem, layout, config, health: null_mut() };
        node.again(now);
        node
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; nothing uses it any more.
        unsafe { dealloc(self.mem, self.layout) }
    }
}

impl Node {
    fn again(&mut self, now: u64) {
        // SAFETY: as above.
        unsafe {
            let made = lnd_health_create(
                self.mem.cast(),
                self.layout.size(),
                &self.config,
                now,
                &mut self.health,
            );
            assert_eq!(made, lnd_error::LND_OK);
        }
    }

    fn furnish(&self, suppresses: u32) -> lnd_health_peer {
        let (mut it, mut peer) = (lnd_health_ni::default(), lnd_health_peer::default());
        // SAFETY: as above.
        unsafe {
            for n in 1..=2 {
                assert_eq!(lnd_health_add_local(self.health, n, &mut it), lnd_error::LND_OK);
            }
            assert_eq!(
                lnd_health_add_peer(self.health, 0, suppresses, &mut peer),
                lnd_error::LND_OK
            );
            for n in 11..=12 {
                assert_eq!(
                    lnd_health_add_peer_ni(self.health, peer, n, &mut it),
                    lnd_error::LND_OK
                );
            }
            assert_eq!(lnd_health_peer_incarnation(self.health, peer, 7), lnd_error::LND_OK);
        }
        peer
    }

    fn open(&self, peer: lnd_health_peer) -> lnd_attempts {
        let mut attempts = lnd_attempts::default();
        // SAFETY: as above.
        let ok = unsafe { lnd_health_open(self.health, peer, 1000 * MS, 1, 7, &mut attempts) };
        assert_eq!(ok, lnd_error::LND_OK);
        attempts
    }

    fn begin(&self, attempts: lnd_attempts) -> lnd_path {
        // SAFETY: as above.
        unsafe {
            let mut path: lnd_path = zeroed();
            path.size = size_of::<lnd_path>() as u32;
            assert_eq!(lnd_health_begin(self.health, attempts, MS, &mut path), lnd_error::LND_OK);
            path
        }
    }

    fn ended(
        &self,
        attempts: lnd_attempts,
        class: lnd_health_class,
        delivery: lnd_delivery,
    ) -> lnd_outcome {
        // SAFETY: as above.
        unsafe {
            let mut report: lnd_report = zeroed();
            report.size = size_of::<lnd_report>() as u32;
            (report.health, report.delivery) = (class as u32, delivery as u32);
            let mut end: lnd_outcome = zeroed();
            end.size = size_of::<lnd_outcome>() as u32;
            let ok = lnd_health_ended(self.health, attempts, &report, 2 * MS, &mut end);
            assert_eq!(ok, lnd_error::LND_OK);
            end
        }
    }
}

/// The first message's number is not "none": sent without one it could not be recognised, and must
/// not be sent again when it may have arrived.
#[test]
fn a_message_without_a_number_is_not_repeated_in_doubt() {
    for suppresses in [0, 1] {
        let node = create(0);
        let peer = node.furnish(suppresses);
        let attempts = node.open(peer);
        let path = node.begin(attempts);
        let end = node.ended(
            attempts,
            lnd_health_class::LND_HEALTH_NETWORK_TIMEOUT,
            lnd_delivery::LND_DELIVERY_UNKNOWN,
        );
        assert!(
            !(path.stamp.number == 0 && end.next == lnd_next::LND_NEXT_AGAIN as u32),
            "sent without a number (0: none), may have arrived, and is sent again"
        );
        // A peer that recognises copies gets one, the first message too.
        assert_eq!(path.stamp.number != 0, suppresses == 1);
        assert_eq!(end.next == lnd_next::LND_NEXT_AGAIN as u32, suppresses == 1);
        assert_eq!(end.delivery, lnd_delivery::LND_DELIVERY_UNKNOWN as u32);
    }
}

/// A health object that is destroyed and made again in the same memory: old handles are stale.
#[test]
fn handles_of_a_former_object_are_stale() {
    let mut node = create(5);
    let (old_peer, old) = {
        let peer = node.furnish(1);
        (peer, node.open(peer))
    };
    // SAFETY: as above.
    assert_eq!(unsafe { lnd_health_destroy(node.health) }, lnd_error::LND_OK);
    node.again(5);
    let peer = node.furnish(1);
    let _new = node.open(peer);
    // SAFETY: as above.
    let error = unsafe { lnd_health_give_up(node.health, old, null_mut()) };
    assert_ne!(error, lnd_error::LND_OK, "ended another's message");
    // SAFETY: as above.
    let error = unsafe { lnd_health_remove_peer(node.health, old_peer) };
    assert_eq!(error, lnd_error::LND_E_FOREIGN, "removed another's peer");
}
