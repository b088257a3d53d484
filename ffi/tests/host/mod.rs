// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What tests of an NI have in common: its memory, its configuration, its birth and its end.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::ffi::c_void;
use std::ptr::{null_mut, NonNull};

use lnd_ffi::abi::*;
use lnd_ffi::config::*;
use lnd_ffi::create::*;
use lnd_ffi::lnd_ni;
use lnd_ffi::run::lnd_run;
use lnd_ffi::shutdown::{lnd_run_state_get, lnd_shutdown};
use lnd_ffi::version::LND_ABI_VERSION;

/// Aligned memory that is given back at the end.
pub struct Block {
    base: NonNull<u8>,
    layout: Layout,
}

impl Block {
    pub fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes, LND_ALIGN).unwrap();
        // SAFETY: not of size zero.
        let base = unsafe { alloc_zeroed(layout) };
        Self { base: NonNull::new(base).unwrap(), layout }
    }

    pub fn at(&self) -> *mut c_void {
        self.base.as_ptr().cast()
    }

    pub fn len(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: from `alloc_zeroed` with this layout.
        unsafe { dealloc(self.base.as_ptr(), self.layout) }
    }
}

/// No operation.
pub fn no_ops() -> lnd_ops {
    // SAFETY: integers and optional function pointers: zero is valid.
    let none: lnd_ops = unsafe { std::mem::zeroed() };
    lnd_ops { size: size_of::<lnd_ops>() as u32, ..none }
}

/// Eight slots, two peers and one link, without memory for that.
pub fn config() -> lnd_config {
    // SAFETY: integers and pointers: zero is valid.
    let mut config: lnd_config = unsafe { std::mem::zeroed() };
    // SAFETY: a place for it.
    let made = unsafe { lnd_config_init(&mut config, LND_ABI_VERSION, 8, 2, 1) };
    assert_eq!(made, lnd_error::LND_OK);
    config.immediate_max = 0;
    config.nid = 1;
    config.incarnation = 99;
    config
}

/// Memory for the link of a configuration, which is told.
pub fn ring_for(config: &mut lnd_config) -> Block {
    // SAFETY: a configuration.
    let ring = Block::new(unsafe { lnd_ring_size(config) });
    config.rings[0] = lnd_ring { base: ring.at(), len: ring.len() };
    ring
}

/// An NI in memory of its own. Dropped without having been destroyed, it is just gone.
pub struct Ni {
    pub ni: *mut lnd_ni,
    _memory: Block,
    _ring: Block,
}

impl Ni {
    /// Made with these operations, which get `host`.
    ///
    /// # Safety
    /// The host lives as long as the NI, and is what the operations take it for.
    pub unsafe fn new<T>(mut config: lnd_config, ops: &lnd_ops, host: &T) -> Self {
        let ring = ring_for(&mut config);
        // SAFETY: the ring's own memory, of its own size.
        let made = unsafe { lnd_ring_format(&config, ring.at(), ring.len(), 0, 0) };
        assert_eq!(made, lnd_error::LND_OK);
        if ops.engine_post.is_some() {
            // An engine of the host's own has no ring.
            config.rings[0] = lnd_ring { base: null_mut(), len: 0 };
        }
        // SAFETY: a configuration.
        let memory = Block::new(unsafe { lnd_ni_size(&config) });
        let ctx = std::ptr::from_ref(host).cast_mut().cast();
        let mut ni = null_mut();
        // SAFETY: memory and ring live as long as the NI, the host by the caller's promise.
        let made = unsafe { lnd_ni_create(memory.at(), memory.len(), &config, ops, ctx, &mut ni) };
        assert_eq!(made, lnd_error::LND_OK);
        Self { ni, _memory: memory, _ring: ring }
    }

    /// Shuts the NI down, until nothing is left of it.
    pub fn shut_down(&self) {
        let mut state = 0;
        // SAFETY: the NI is alive.
        assert_eq!(unsafe { lnd_shutdown(self.ni, 2, 2) }, lnd_error::LND_OK);
        for now in 2..100 {
            // SAFETY: the NI is alive.
            assert_eq!(unsafe { lnd_run(self.ni, now, 4, null_mut()) }, lnd_error::LND_OK);
        }
        // SAFETY: the NI is alive, and the place is there.
        assert_eq!(unsafe { lnd_run_state_get(self.ni, &mut state) }, lnd_error::LND_OK);
        assert_eq!(state, lnd_run_state::LND_QUIESCENT as u32);
    }

    /// Ends the NI.
    pub fn destroy(&self) -> lnd_error {
        // SAFETY: its memory is still there.
        unsafe { lnd_ni_destroy(self.ni) }
    }
}

/// A PUT of 100 bytes to a peer that the NI does not know yet.
pub fn put(frag: &lnd_frag, user: u64) -> lnd_send_request {
    // SAFETY: integers and pointers: zero is valid.
    let none: lnd_send_request = unsafe { std::mem::zeroed() };
    lnd_send_request {
        size: size_of::<lnd_send_request>() as u32,
        kind: lnd_kind::LND_PUT as u32,
        nid: 2,
        link: LND_ANY_LINK,
        frags: std::ptr::from_ref::<lnd_frag>(frag),
        nfrags: 1,
        deadline: LND_NEVER,
        user,
        ..none
    }
}

/// The memory of that PUT.
pub const FRAG: lnd_frag = lnd_frag { addr: 0, len: 100, reserved: 0 };
