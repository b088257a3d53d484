// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Ports of which nothing is known: every answer comes from a foreign function, every value handed
//! over is seen by one.

use core::ffi::c_void;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{
    BadAddress, Bd, Channel, ChannelFull, Completion, Completions, Engine, Features, Memory, Ports,
    PostError, Returned, Sent, Tracer,
};
use lnd_core::time::Instant;
use lnd_core::trace::Trace;

extern "C" {
    fn lnd_port_ask() -> u64;
    fn lnd_port_show(thing: *const c_void);
    fn lnd_port_fill(bytes: *mut u8, length: usize);
}

pub fn ask() -> u64 {
    // SAFETY: linked for inspection, never run.
    unsafe { lnd_port_ask() }
}

pub fn yes() -> bool {
    ask() != 0
}

pub fn show<T>(thing: &T) {
    // SAFETY: as above.
    unsafe { lnd_port_show(core::ptr::from_ref(thing).cast()) }
}

fn returned() -> Option<Returned> {
    match ask() {
        0 => None,
        1 => Some(Returned::Ok),
        2 => Some(Returned::Untouched),
        _ => Some(Returned::Touched),
    }
}

pub struct Foreign;

impl Ports for Foreign {
    type Engine = Self;
    type Channel = Self;
    type Memory = Self;
    type Tracer = Self;
}

impl Engine for Foreign {
    fn features(&self) -> Features {
        Features(ask() as u32)
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        show(bd);
        match ask() {
            0 => Ok(()),
            1 => Err(PostError::Invalid),
            2 => Err(PostError::Busy),
            _ => Err(PostError::Full),
        }
    }

    fn doorbell(&mut self) {
        ask();
    }

    fn invalidate(&mut self, tag: Tag) {
        show(&tag);
    }

    fn stop(&mut self) {
        ask();
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        let link = LinkId::new(ask() as usize)?;
        // SAFETY: linked for inspection, never run.
        Some(unsafe { Quiesced::assert_stopped(link) })
    }

    fn reclaim(&mut self, tag: Tag, _: &Quiesced) -> Option<Returned> {
        show(&tag);
        returned()
    }

    fn reset(&mut self, proof: Quiesced) {
        show(&proof);
    }

    fn is_gone(&self) -> bool {
        yes()
    }

    fn link_up(&mut self) -> bool {
        yes()
    }
}

impl Completions for Foreign {
    fn pop(&mut self) -> Option<Completion> {
        let tag = Tag::from_cookie(ask());
        returned().map(|returned| Completion { tag, returned })
    }
}

impl Channel for Foreign {
    fn reaches(&self, to: Nid) -> bool {
        show(&to);
        yes()
    }

    fn is_reliable(&self) -> bool {
        yes()
    }

    fn immediate_max(&self) -> u32 {
        ask() as u32
    }

    fn ready(&mut self, link: LinkId, to: Nid, lane: Lane) -> bool {
        show(&(link, to, lane));
        yes()
    }

    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        show(&(link, envelope, message, tag));
        let ended = yes().then_some(Sent::Ok);
        yes().then_some(ended).ok_or(ChannelFull)
    }

    fn quiesce(&mut self, link: LinkId, _: &Quiesced) {
        show(&link);
    }
}

impl Memory for Foreign {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        show(&address);
        // SAFETY: linked for inspection, never run.
        unsafe { lnd_port_fill(into.as_mut_ptr(), into.len()) };
        yes().then_some(()).ok_or(BadAddress)
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), BadAddress> {
        show(&(address, from));
        yes().then_some(()).ok_or(BadAddress)
    }

    fn valid(&self, fragment: &Fragment) -> bool {
        show(fragment);
        yes()
    }
}

impl Tracer for Foreign {
    fn record(&mut self, now: Instant, trace: Trace) {
        show(&(now, trace));
    }
}
