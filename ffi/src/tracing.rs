// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Trace records for C, and the state changes among them, queued for `event()`.

use core::mem::size_of;

use heapless::Deque;
use lnd_core::id::Tag;
use lnd_core::link::LinkState;
use lnd_core::peer::HelloState;
use lnd_core::ports::Tracer;
use lnd_core::time::Instant;
use lnd_core::trace::Trace;
use lnd_core::transfer::{Effect, Event};

use crate::abi::{
    lnd_event, lnd_event_kind, lnd_link_state, lnd_peer_state, lnd_trace, lnd_trace_kind,
    LND_ANY_LINK,
};
use crate::platform::lane_number;
use crate::platform::Platform;

/// Most events that wait for the next `lnd_run`; more are an overrun.
const EVENTS: usize = 16;

/// A queue of events.
pub(crate) type Events = Deque<lnd_event, EVENTS>;

/// The shard's trace sink.
#[derive(Debug)]
pub(crate) struct Tracing {
    platform: &'static Platform,
    events: &'static mut Events,
    overrun: bool,
}

/// The interrupts' trace sink: they change neither peers nor links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IrqTrace(pub &'static Platform);

impl Tracing {
    pub const fn new(platform: &'static Platform, events: &'static mut Events) -> Self {
        Self { platform, events, overrun: false }
    }

    /// The next event, oldest first; an overrun comes last.
    pub fn next_event(&mut self) -> Option<lnd_event> {
        self.events.pop_front().or_else(|| {
            let lost = core::mem::take(&mut self.overrun);
            lost.then(|| event(lnd_event_kind::LND_EVENT_OVERRUN, 0, LND_ANY_LINK, 0))
        })
    }

    pub fn has_events(&self) -> bool {
        self.overrun || !self.events.is_empty()
    }

    /// Queues a change of state. Not inlined: nearly all records are of transfers.
    #[cold]
    #[inline(never)]
    fn keep(&mut self, trace: &Trace) {
        if !self.platform.wants_events() {
            return;
        }
        let (kind, nid, link, state) = match *trace {
            Trace::Peer { peer, state } => {
                let state = peer_state(state) as u32;
                (lnd_event_kind::LND_EVENT_PEER, peer.raw(), LND_ANY_LINK, state)
            }
            Trace::Link { link, state } => {
                let (link, state) = (link.index() as u32, link_state(state) as u32);
                (lnd_event_kind::LND_EVENT_LINK, 0, link, state)
            }
            Trace::Connection { connection: it, state } => {
                let (link, state) = (it.link.index() as u32, link_state(state) as u32);
                (lnd_event_kind::LND_EVENT_CONNECTION, it.peer.raw(), link, state)
            }
            _ => return,
        };
        if self.events.push_back(event(kind, nid, link, state)).is_err() {
            self.overrun = true;
        }
    }
}

impl Tracer for Tracing {
    fn record(&mut self, now: Instant, trace: Trace) {
        if matches!(trace, Trace::Peer { .. } | Trace::Link { .. } | Trace::Connection { .. }) {
            self.keep(&trace);
        }
        if self.platform.wants_trace() {
            publish(self.platform, now, &trace);
        }
    }
}

impl Tracer for IrqTrace {
    fn record(&mut self, now: Instant, trace: Trace) {
        if self.0.wants_trace() {
            publish(self.0, now, &trace);
        }
    }
}

/// Passes a record on. Not inlined: records are seldom read.
#[cold]
#[inline(never)]
fn publish(platform: &Platform, now: Instant, trace: &Trace) {
    platform.trace(&to_c(now, *trace));
}

const fn event(kind: lnd_event_kind, nid: u64, link: u32, state: u32) -> lnd_event {
    lnd_event { size: size_of::<lnd_event>() as u32, kind: kind as u32, nid, link, state }
}

pub(crate) const fn peer_state(state: HelloState) -> lnd_peer_state {
    match state {
        HelloState::Unknown => lnd_peer_state::LND_PEER_UNKNOWN,
        HelloState::Handshake => lnd_peer_state::LND_PEER_HANDSHAKE,
        HelloState::Good => lnd_peer_state::LND_PEER_GOOD,
        HelloState::Down => lnd_peer_state::LND_PEER_DOWN,
    }
}

pub(crate) const fn link_state(state: LinkState) -> lnd_link_state {
    match state {
        LinkState::Up => lnd_link_state::LND_LINK_UP,
        LinkState::Stalled => lnd_link_state::LND_LINK_STALLED,
        LinkState::Stopping => lnd_link_state::LND_LINK_STOPPING,
        LinkState::Reclaiming => lnd_link_state::LND_LINK_RECLAIMING,
        LinkState::Down => lnd_link_state::LND_LINK_DOWN,
        LinkState::Failed => lnd_link_state::LND_LINK_FAILED,
    }
}

/// A trace record with its kind and time only.
const fn blank(now: Instant, kind: lnd_trace_kind) -> lnd_trace {
    lnd_trace {
        size: size_of::<lnd_trace>() as u32,
        kind: kind as u32,
        now: now.as_nanos(),
        nid: 0,
        index: 0,
        generation: 0,
        link: LND_ANY_LINK,
        a: 0,
        b: 0,
        c: 0,
        d: 0,
        reserved: 0,
    }
}

const fn about(now: Instant, kind: lnd_trace_kind, tag: Tag) -> lnd_trace {
    lnd_trace { index: tag.index, generation: tag.generation, ..blank(now, kind) }
}

fn to_c(now: Instant, trace: Trace) -> lnd_trace {
    use lnd_trace_kind::*;
    match trace {
        Trace::Accepted { tag, peer, length } => {
            lnd_trace { nid: peer.raw(), a: length, ..about(now, LND_TRACE_ACCEPTED, tag) }
        }
        Trace::Step { tag, event, before, after, effect } => lnd_trace {
            a: before.bits(),
            b: after.bits(),
            c: event_number(event),
            d: effect_number(effect),
            ..about(now, LND_TRACE_STEP, tag)
        },
        Trace::Stale { tag } => about(now, LND_TRACE_STALE, tag),
        Trace::Posted { tag, link } => {
            lnd_trace { link: link.index() as u32, ..about(now, LND_TRACE_POSTED, tag) }
        }
        Trace::Invalidated { tag, link } => {
            lnd_trace { link: link.index() as u32, ..about(now, LND_TRACE_INVALIDATED, tag) }
        }
        Trace::Reclaimed { tag, link, real } => lnd_trace {
            link: link.index() as u32,
            a: u32::from(real),
            ..about(now, LND_TRACE_RECLAIMED, tag)
        },
        Trace::Sent { to, link, lane, sequence } => lnd_trace {
            nid: to.raw(),
            link: link.index() as u32,
            a: lane_number(lane),
            b: sequence,
            ..blank(now, LND_TRACE_SENT)
        },
        Trace::Received { from, lane, sequence, taken } => lnd_trace {
            nid: from.raw(),
            a: lane_number(lane),
            b: sequence,
            c: u32::from(taken),
            ..blank(now, LND_TRACE_RECEIVED)
        },
        Trace::Peer { peer, state } => {
            lnd_trace { nid: peer.raw(), a: peer_state(state) as u32, ..blank(now, LND_TRACE_PEER) }
        }
        Trace::Link { link, state } => lnd_trace {
            link: link.index() as u32,
            a: link_state(state) as u32,
            ..blank(now, LND_TRACE_LINK)
        },
        Trace::Connection { connection, state } => lnd_trace {
            nid: connection.peer.raw(),
            link: connection.link.index() as u32,
            a: link_state(state) as u32,
            b: connection.number.get(),
            ..blank(now, LND_TRACE_CONNECTION)
        },
        Trace::Ended { peer, sequence, length, status } => lnd_trace {
            nid: peer.raw(),
            a: status.errno.unsigned_abs(),
            b: status.health as u32,
            c: sequence,
            d: length,
            ..blank(now, LND_TRACE_ENDED)
        },
        Trace::Finalized { tag, status } => lnd_trace {
            a: status.errno.unsigned_abs(),
            b: status.health as u32,
            ..about(now, LND_TRACE_FINALIZED, tag)
        },
    }
}

/// Numbers of the events, in the order of their definition.
const fn event_number(event: Event) -> u32 {
    match event {
        Event::Arm(_) => 1,
        Event::Withdraw(..) => 2,
        Event::PayCpu => 3,
        Event::HwOk => 4,
        Event::HwUntouched => 5,
        Event::HwTouched => 6,
        Event::Stopped => 7,
        Event::MsgOk => 8,
        Event::MsgNotDelivered => 9,
        Event::MsgUnknown => 10,
        Event::Accepted => 11,
        Event::Done => 12,
        Event::Refused => 13,
        Event::Cancel(_) => 14,
    }
}

/// Numbers of the effects, in the order of their definition.
const fn effect_number(effect: Effect) -> u32 {
    match effect {
        Effect::None => 0,
        Effect::Finalize => 1,
        Effect::Invalidate => 2,
        Effect::StartPull => 3,
        Effect::Unqueue => 4,
        Effect::TooLate => 5,
        Effect::Late => 6,
        Effect::Repeat => 7,
        Effect::Misuse => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lnd_core::id::LinkId;
    use std::boxed::Box;

    unsafe extern "C" fn taken(_: *mut core::ffi::c_void, _: *const lnd_event) {}

    unsafe extern "C" fn count(ctx: *mut core::ffi::c_void, _: *const lnd_trace) {
        // SAFETY: the test's own number, which only this thread uses.
        unsafe { *ctx.cast::<u32>() += 1 };
    }

    #[test]
    fn records_come_while_they_are_read() {
        // SAFETY: integers, pointers and optional function pointers: zero is valid.
        let none: crate::abi::lnd_ops = unsafe { core::mem::zeroed() };
        let (counted, word) = (Box::into_raw(Box::new(0_u32)), Box::into_raw(Box::new(0_u32)));
        let records = |tracing: *const u32| {
            let ops = crate::abi::lnd_ops { trace: Some(count), tracing, ..none };
            let platform = Box::into_raw(Box::new(Platform::new(&ops, counted.cast(), 1)));
            let tag = Tag { index: 1, generation: 1 };
            // SAFETY: it stays until it is taken back below.
            IrqTrace(unsafe { &*platform }).record(Instant::ORIGIN, Trace::Stale { tag });
            // SAFETY: from the box; only the record above had it.
            drop(unsafe { Box::from_raw(platform) });
            // SAFETY: from the box; the operation has returned.
            unsafe { core::mem::take(&mut *counted) }
        };
        assert_eq!((records(core::ptr::null()), records(word)), (1, 0));
        // SAFETY: from the box, and not being read.
        unsafe { *word = u32::MAX };
        assert_eq!(records(word), 1);
        // SAFETY: from the box, and no platform that has it is left.
        drop(unsafe { Box::from_raw(counted) });
        // SAFETY: the same.
        drop(unsafe { Box::from_raw(word) });
    }

    #[test]
    fn event_that_find_no_room_are_told_of() {
        // SAFETY: integers and optional function pointers: zero is valid.
        let none: crate::abi::lnd_ops = unsafe { core::mem::zeroed() };
        let ops = crate::abi::lnd_ops { event: Some(taken), ..none };
        let platform = Box::into_raw(Box::new(Platform::new(&ops, core::ptr::null_mut(), 1)));
        let events = Box::into_raw(Box::<Events>::default());
        // SAFETY: both stay until they are taken back below.
        let mut tracing = Tracing::new(unsafe { &*platform }, unsafe { &mut *events });
        for count in [EVENTS, EVENTS + 1] {
            for _ in 0..count {
                let link = LinkId::new(0).unwrap();
                tracing.record(Instant::ORIGIN, Trace::Link { link, state: LinkState::Up });
            }
            for _ in 0..EVENTS {
                let pending = tracing.next_event().map(|event| event.kind);
                assert_eq!(pending, Some(lnd_event_kind::LND_EVENT_LINK as u32));
            }
            assert_eq!(tracing.has_events(), count > EVENTS);
            let last = tracing.next_event().map(|event| event.kind);
            let overrun = lnd_event_kind::LND_EVENT_OVERRUN as u32;
            assert_eq!(last, (count > EVENTS).then_some(overrun));
            assert!(tracing.next_event().is_none() && !tracing.has_events());
        }
        // SAFETY: from the box, and `tracing` is not used any more.
        drop(unsafe { Box::from_raw(platform) });
        // SAFETY: from the box; only `tracing` had it.
        drop(unsafe { Box::from_raw(events) });
    }
}
