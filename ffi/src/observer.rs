// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An observer for hosts in C: an object of its own, which the host feeds with the records of its
//! trace() operation.

use core::ffi::c_void;
use core::mem::{align_of, size_of, MaybeUninit};
use core::num::NonZeroU32;

use lnd_core::arena::{Arena, ArenaFull, LINE};
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::{Connection, LinkState};
use lnd_core::message::Lane;
use lnd_core::observe::{
    Account, Histogram, Observer, PeerLog, Point, Room, SizeClass, Wait, BUCKETS,
};
use lnd_core::peer::HelloState;
use lnd_core::ports::Tracer;
use lnd_core::sync::{AtomicU32, Guarded, Ordering};
use lnd_core::time::Instant;
use lnd_core::trace::Trace;
use lnd_core::transfer::{Cause, Debts, Delivery, Effect, Event, HealthClass, Place, Status, Word};

use crate::abi::{
    lnd_account, lnd_error, lnd_histogram, lnd_lane, lnd_link_state, lnd_peer_state, lnd_trace,
    lnd_trace_kind, lnd_transfer, lnd_wait, LND_BUCKETS, LND_NEVER, LND_POINTS, LND_WAITS,
};
use crate::config::LND_ALIGN;
use crate::errors::outcome;
use crate::input::{given, input, output, place, put};

const ALIVE: u32 = 0x4c4e_4456;
const DEAD: u32 = 0x6465_6176;
/// Most entries of each table.
const MOST: u32 = 1 << 20;

/// struct lnd_observer - Where the transfers of one NI spend their time. Opaque.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct lnd_observer {
    magic: AtomicU32,
    busy: AtomicU32,
    observer: Guarded<Observer<'static>>,
}

impl lnd_observer {
    /// Uses the object behind a caller's pointer.
    ///
    /// # Safety
    /// The pointer is null, or to memory that can be read as an observer.
    pub(crate) unsafe fn with<R>(
        it: *const Self,
        act: impl FnOnce(&mut Observer<'static>) -> Result<R, lnd_error>,
    ) -> Result<R, lnd_error> {
        if it.is_null() {
            return Err(lnd_error::LND_E_NULL);
        }
        if it as usize % align_of::<Self>() != 0 {
            return Err(lnd_error::LND_E_ALIGN);
        }
        // SAFETY: aligned, and readable by the caller's promise; an atomic is valid whatever it
        // holds.
        let magic = unsafe { &(*it).magic };
        // Relaxed: creation and destruction are ordered by the caller.
        if magic.load(Ordering::Relaxed) != ALIVE {
            return Err(lnd_error::LND_E_NI);
        }
        // SAFETY: it has the magic number, so `lnd_observer_create` made it.
        let this = unsafe { &*it };
        // Acquire: partner is the Release below.
        if this.busy.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return Err(lnd_error::LND_E_BUSY);
        }
        // SAFETY: `busy` was zero and is ours now: no other context is inside.
        let result = act(unsafe { &mut *this.observer.get() });
        // Release: partner is the Acquire above.
        this.busy.store(0, Ordering::Release);
        result
    }
}

/// Bytes of the tables, and of the object.
fn bytes(slots: u32, journal: u32, peers: u32) -> usize {
    if slots == 0 || slots > MOST || journal > MOST || peers > MOST {
        return 0;
    }
    // The object and its alignment come last.
    2 * LINE
        + Arena::table_bytes::<Account>(slots as usize)
        + Arena::table_bytes::<Account>(journal as usize)
        + Arena::table_bytes::<PeerLog>(peers as usize)
        + Arena::table_bytes::<lnd_observer>(1)
}

/// lnd_observer_size() - Bytes of memory for an observer.
/// @slots: those of the NI, 1 to 1,048,576.
/// @journal: transfers that have ended and stay known, at most 1,048,576.
/// @peers: peers whose last transitions are kept, at most 1,048,576.
///
/// Context: any.
/// Return: the bytes, or 0 if a number is out of range.
#[no_mangle]
pub extern "C" fn lnd_observer_size(slots: u32, journal: u32, peers: u32) -> usize {
    bytes(slots, journal, peers)
}

/// lnd_observer_create() - Creates an observer in the caller's memory.
/// @mem: the memory, aligned to LND_ALIGN; the object's until lnd_observer_destroy().
/// @len: its bytes, at least lnd_observer_size().
/// @slots: those of the NI.
/// @journal: transfers that have ended and stay known.
/// @peers: peers whose last transitions are kept.
/// @observer: where the object's pointer is written.
///
/// Create it before the NI, and feed it from trace(). It takes no call of the NI, and the NI knows
/// nothing of it.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_CONFIG, LND_E_MEMORY.
#[no_mangle]
pub unsafe extern "C" fn lnd_observer_create(
    mem: *mut c_void,
    len: usize,
    slots: u32,
    journal: u32,
    peers: u32,
    observer: *mut *mut lnd_observer,
) -> lnd_error {
    let create = || {
        place(observer)?;
        let needed = bytes(slots, journal, peers);
        if needed == 0 {
            return Err(lnd_error::LND_E_CONFIG);
        }
        if mem.is_null() {
            return Err(lnd_error::LND_E_NULL);
        }
        if mem as usize % LND_ALIGN != 0 {
            return Err(lnd_error::LND_E_ALIGN);
        }
        if len < needed || len > isize::MAX as usize {
            return Err(lnd_error::LND_E_MEMORY);
        }
        // SAFETY: by the contract of the ABI the memory is ours until the object is destroyed: that
        // is what `'static` means here.
        let memory = unsafe { core::slice::from_raw_parts_mut(mem.cast::<MaybeUninit<u8>>(), len) };
        let mut arena = Arena::new(memory);
        let mut room = Some(Room {
            slots: arena.table(slots as usize, |_| Account::EMPTY)?,
            journal: arena.table(journal as usize, |_| Account::EMPTY)?,
            peers: arena.table(peers as usize, |_| PeerLog::EMPTY)?,
            stamps: &[],
        });
        let nothing = || Room { slots: &mut [], journal: &mut [], peers: &mut [], stamps: &[] };
        let made = arena.table(1, |_| lnd_observer {
            magic: AtomicU32::new(ALIVE),
            busy: AtomicU32::new(0),
            observer: Guarded::new(Observer::new(room.take().unwrap_or_else(nothing))),
        })?;
        let made = made.first_mut().ok_or(ArenaFull)?;
        given!(put(observer, core::ptr::from_mut(made)))
    };
    outcome(create())
}

/// lnd_observer_destroy() - Ends an observer; its memory is the caller's again.
/// @observer: the object.
///
/// Context: any; no other call is under way or follows.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_observer_destroy(observer: *mut lnd_observer) -> lnd_error {
    let enter = |_: &mut Observer<'static>| Ok(());
    outcome(given!(lnd_observer::with(observer, enter)).map(|()| {
        // SAFETY: just found alive.
        let magic = unsafe { &(*observer).magic };
        magic.store(DEAD, Ordering::Relaxed);
    }))
}

/// lnd_observer_record() - Takes a record of the NI's trace().
/// @observer: the object.
/// @trace: the record.
///
/// Constant work. All records of an NI go to one observer, in their order, by one context at a
/// time: a host whose interrupts trace, too, takes a lock of its own, or queues the records and
/// feeds them later. Of messages without a slot the trace has no cause: those that fail are counted
/// as failures of the channel.
///
/// Context: any, also inside trace().
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT (no
/// such record).
#[no_mangle]
pub unsafe extern "C" fn lnd_observer_record(
    observer: *mut lnd_observer,
    trace: *const lnd_trace,
) -> lnd_error {
    let record = |it: &mut Observer<'static>| {
        let given = given!(input(trace))?;
        let known = understand(given, it).ok_or(lnd_error::LND_E_ARGUMENT)?;
        it.record(Instant::from_nanos(given.now), known);
        Ok(())
    };
    outcome(given!(lnd_observer::with(observer, record)))
}

/// lnd_observer_account_get() - Where a transfer spent its time, who gave it up, on what evidence.
/// @observer: the object.
/// @transfer: the transfer, also one that has ended, while the journal has it.
/// @account: filled in; the caller sets its size.
///
/// Visits the journal at most.
///
/// Context: one at a time.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_STALE (it is
/// not known, or not any more).
#[no_mangle]
pub unsafe extern "C" fn lnd_observer_account_get(
    observer: *mut lnd_observer,
    transfer: lnd_transfer,
    account: *mut lnd_account,
) -> lnd_error {
    let read = |it: &mut Observer<'static>| {
        let place = given!(output(account))?;
        let tag = Tag { index: transfer.index, generation: transfer.generation };
        *place = to_c(it.account(tag).ok_or(lnd_error::LND_E_STALE)?);
        Ok(())
    };
    outcome(given!(lnd_observer::with(observer, read)))
}

/// lnd_observer_histogram_get() - How long transfers took, or waited.
/// @observer: the object.
/// @wait: enum lnd_wait.
/// @bytes: of transfers of this size class; LND_ANY_SIZE: of all sizes.
/// @histogram: filled in; the caller sets its size.
///
/// Size classes end at 0, 64, 512, 4,096, 32,768, 262,144 and 1,048,576 bytes. LND_WAIT_LATE is of
/// all sizes. Two readings are subtracted, field by field, except @min and @max.
///
/// Context: one at a time.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_observer_histogram_get(
    observer: *mut lnd_observer,
    wait: u32,
    bytes: u32,
    histogram: *mut lnd_histogram,
) -> lnd_error {
    let read = |it: &mut Observer<'static>| {
        let place = given!(output(histogram))?;
        let measures = it.measures();
        if wait == lnd_wait::LND_WAIT_LATE as u32 {
            *place = histogram_to_c(measures.late());
            return Ok(());
        }
        let mut sum = Histogram::new();
        for size in SizeClass::ALL {
            if bytes != LND_ANY_SIZE && size != SizeClass::of(bytes) {
                continue;
            }
            let one = if wait == lnd_wait::LND_WAIT_WHOLE as u32 {
                measures.whole(size)
            } else {
                let wait = Wait::ALL.get(wait as usize).ok_or(lnd_error::LND_E_ARGUMENT)?;
                measures.waited(*wait, size)
            };
            one.into_iter().for_each(|one| sum.merge(one));
        }
        *place = histogram_to_c(&sum);
        Ok(())
    };
    outcome(given!(lnd_observer::with(observer, read)))
}

/// All sizes.
pub const LND_ANY_SIZE: u32 = 0xffff_ffff;

fn histogram_to_c(it: &Histogram) -> lnd_histogram {
    let mut buckets = [0; LND_BUCKETS];
    let places = buckets.iter_mut().take(BUCKETS).enumerate();
    places.for_each(|(at, place)| *place = it.bucket(at));
    lnd_histogram {
        size: size_of::<lnd_histogram>() as u32,
        reserved: 0,
        count: it.count(),
        sum: it.sum(),
        min: it.min().unwrap_or(0),
        max: it.max().unwrap_or(0),
        buckets,
    }
}

fn to_c(it: &Account) -> lnd_account {
    let time = |at: Option<Instant>| at.map_or(LND_NEVER, Instant::as_nanos);
    let (mut points, mut waits) = ([LND_NEVER; LND_POINTS], [0; LND_WAITS]);
    for (place, point) in points.iter_mut().zip(Point::ALL) {
        *place = time(it.at(point));
    }
    for (place, wait) in waits.iter_mut().zip(Wait::ALL) {
        *place = it.waited(wait).as_nanos();
    }
    let ended = (Wait::Report, it.at(Point::Reported).unwrap_or(Instant::NEVER));
    let (wait, since) = it.waiting().unwrap_or(ended);
    let status = it.status();
    lnd_account {
        size: size_of::<lnd_account>() as u32,
        wait: wait as u32,
        nid: it.peer().map_or(0, Nid::raw),
        points,
        waits,
        since: since.as_nanos(),
        given_up: time(it.given_up().map(|(at, _)| at)),
        deadline: time(it.deadline_passed()),
        given_up_in: it.given_up().map_or(0, |(_, wait)| wait as u32),
        len: it.length(),
        steps: it.steps(),
        ended: u32::from(status.is_some()),
        error: status.map_or(0, |status| status.errno.unsigned_abs()),
        health_class: status.map_or(0, |status| status.health as u32),
        cause: it.evidence().map_or(0, |(cause, _)| cause as u32),
        place: it.evidence().map_or(0, |(_, place)| place as u32),
    }
}

/// The status of a record, with what is known of its evidence.
fn status(errno: u32, class: u32, evidence: (Cause, Place)) -> Option<Status> {
    let health = *HealthClass::ALL.get(class as usize)?;
    if errno == 0 {
        return Some(Status::OK);
    }
    Some(Status {
        errno: 0_i32.wrapping_sub(errno as i32),
        health,
        delivery: Delivery::Unknown,
        resend: false,
        evidence: Some(evidence),
    })
}

/// The event of a step. What the number leaves out is in the words.
fn event(number: u32, before: Word, after: Word) -> Option<Event> {
    let gone = Debts(before.debts().0 & !after.debts().0);
    let cause = after.cause().unwrap_or(Cause::Local);
    Some(match number {
        1 => Event::Arm(Debts(after.debts().0 & !before.debts().0)),
        2 => Event::Withdraw(gone, cause),
        3 => Event::PayCpu,
        4 => Event::HwOk,
        5 => Event::HwUntouched,
        6 => Event::HwTouched,
        7 => Event::Stopped,
        8 => Event::MsgOk,
        9 => Event::MsgNotDelivered,
        10 => Event::MsgUnknown,
        11 => Event::Accepted,
        12 => Event::Done,
        13 => Event::Refused,
        14 => Event::Cancel(cause),
        _ => return None,
    })
}

fn link_state(state: u32) -> Option<LinkState> {
    use lnd_link_state::*;
    Some(match state {
        it if it == LND_LINK_UP as u32 => LinkState::Up,
        it if it == LND_LINK_STALLED as u32 => LinkState::Stalled,
        it if it == LND_LINK_STOPPING as u32 => LinkState::Stopping,
        it if it == LND_LINK_RECLAIMING as u32 => LinkState::Reclaiming,
        it if it == LND_LINK_DOWN as u32 => LinkState::Down,
        it if it == LND_LINK_FAILED as u32 => LinkState::Failed,
        _ => return None,
    })
}

fn peer_state(state: u32) -> Option<HelloState> {
    use lnd_peer_state::*;
    Some(match state {
        it if it == LND_PEER_UNKNOWN as u32 => HelloState::Unknown,
        it if it == LND_PEER_HANDSHAKE as u32 => HelloState::Handshake,
        it if it == LND_PEER_GOOD as u32 => HelloState::Good,
        it if it == LND_PEER_DOWN as u32 => HelloState::Down,
        _ => return None,
    })
}

fn lane(lane: u32) -> Lane {
    if lane == lnd_lane::LND_LANE_REQUEST as u32 {
        Lane::Request
    } else {
        Lane::Control
    }
}

/// The record in the core's words, as far as an observer reads it.
fn understand(it: &lnd_trace, observer: &Observer<'static>) -> Option<Trace> {
    use lnd_trace_kind::*;
    let tag = Tag { index: it.index, generation: it.generation };
    let (nid, link) = (Nid::from_raw(it.nid), LinkId::new(it.link as usize));
    Some(match it.kind {
        kind if kind == LND_TRACE_ACCEPTED as u32 => {
            Trace::Accepted { tag, peer: nid?, length: it.a }
        }
        kind if kind == LND_TRACE_STEP as u32 => {
            let (before, after) = (Word::from_bits(it.a), Word::from_bits(it.b));
            let event = event(it.c, before, after)?;
            Trace::Step { tag, event, before, after, effect: Effect::None }
        }
        kind if kind == LND_TRACE_POSTED as u32 => Trace::Posted { tag, link: link? },
        kind if kind == LND_TRACE_SENT as u32 => {
            Trace::Sent { to: nid?, link: link?, lane: lane(it.a), sequence: it.b }
        }
        kind if kind == LND_TRACE_PEER as u32 => {
            Trace::Peer { peer: nid?, state: peer_state(it.a)? }
        }
        kind if kind == LND_TRACE_LINK as u32 => {
            Trace::Link { link: link?, state: link_state(it.a)? }
        }
        kind if kind == LND_TRACE_CONNECTION as u32 => {
            let number = NonZeroU32::new(it.b)?;
            let connection = Connection { link: link?, peer: nid?, number };
            Trace::Connection { connection, state: link_state(it.a)? }
        }
        kind if kind == LND_TRACE_FINALIZED as u32 => {
            // The word has the evidence; without it, that of a word without any.
            let evidence = observer.account(tag).and_then(Account::evidence);
            let status = status(it.a, it.b, evidence.unwrap_or((Cause::Local, Place::Moving)))?;
            Trace::Finalized { tag, status }
        }
        kind if kind == LND_TRACE_ENDED as u32 => {
            let status = status(it.a, it.b, (Cause::Channel, Place::Message))?;
            Trace::Ended { peer: nid?, sequence: it.c, length: it.d, status }
        }
        kind if kind == LND_TRACE_STALE as u32
            || kind == LND_TRACE_INVALIDATED as u32
            || kind == LND_TRACE_RECLAIMED as u32
            || kind == LND_TRACE_RECEIVED as u32 =>
        {
            Trace::Stale { tag }
        }
        _ => return None,
    })
}
