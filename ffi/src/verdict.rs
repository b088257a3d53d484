// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Verdicts on peers' requests, within `parse()` or later.

use lnd_core::driver::{Give, Receive, RecvError, Ticket};
use lnd_core::id::Tag;
use lnd_core::message::Refusal;
use lnd_core::sync::Ordering;
use lnd_core::time::Instant;

use crate::abi::{lnd_error, lnd_request, lnd_transfer, lnd_verdict};
use crate::errors::{of_why, outcome};
use crate::handle;
use crate::input::{fragments, input, place_if, put_if};
use crate::ni::{lnd_ni, Thread};

/// Which verdict.
#[derive(Clone, Copy)]
enum What {
    Recv,
    Give,
}

impl Thread {
    /// Takes the ticket of a request that waits for its verdict.
    fn unpark(&mut self, ni: &lnd_ni, tag: Tag) -> Result<Ticket<'static>, lnd_error> {
        let place = self.parked.get_mut(tag.index as usize);
        let ticket = place.and_then(|place| place.take_if(|ticket| ticket.tag() == tag));
        let ticket = ticket.ok_or(lnd_error::LND_E_STALE)?;
        // The frame is there only while its parse is under way. Relaxed: written inside, as this is
        // read.
        let attached = ni.attached.load(Ordering::Relaxed) == tag.index.wrapping_add(1);
        Ok(if attached { ticket } else { ticket.detach() })
    }

    /// Keeps a ticket until its verdict.
    pub(crate) fn park(&mut self, ticket: Ticket<'static>) {
        if let Some(place) = self.parked.get_mut(ticket.tag().index as usize) {
            *place = Some(ticket);
        }
    }
}

/// lnd_recv() - Takes a peer's PUT, all of it or its first bytes.
/// @ni: the NI.
/// @request: the request, of kind LND_REQUEST_IMMEDIATE or LND_REQUEST_PUT.
/// @verdict: where to, and how much; a length of 0 takes nothing and still ends it well.
/// @now: the time.
/// @transfer: where the transfer's handle is written; may be NULL.
///
/// On LND_OK there will be exactly one finalize() for it, and the memory is lent until then. On
/// LND_E_GONE the request has ended. On any other error it still waits for its verdict.
///
/// The payload of an LND_REQUEST_IMMEDIATE can be received only until parse() returns; afterwards
/// lnd_recv() of more than no bytes is LND_E_TOO_LONG. A host that needs longer copies the payload in
/// parse() and ends the request later by lnd_refuse(), of which the sender does not hear.
///
/// Context: thread; also in parse(), finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
/// LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE, LND_E_ARGUMENT, LND_E_GONE, LND_E_WRONG_KIND,
/// LND_E_FRAGMENTS, LND_E_ADDRESS, LND_E_TOO_LONG, LND_E_NO_LISTS.
#[no_mangle]
pub unsafe extern "C" fn lnd_recv(
    ni: *mut lnd_ni,
    request: lnd_request,
    verdict: *const lnd_verdict,
    now: u64,
    transfer: *mut lnd_transfer,
) -> lnd_error {
    // SAFETY: by the contract of the ABI.
    unsafe { decide(What::Recv, ni, request, verdict, now, transfer) }
}

/// lnd_give() - Answers a peer's GET with memory of ours.
/// @ni: the NI.
/// @request: the request, of kind LND_REQUEST_GET.
/// @verdict: where from, and how much.
/// @now: the time.
/// @transfer: where the transfer's handle is written; may be NULL.
///
/// As lnd_recv(), the other way round.
///
/// Context: thread; also in parse(), finalize() and event(). Takes the lock.
/// Return: as lnd_recv().
#[no_mangle]
pub unsafe extern "C" fn lnd_give(
    ni: *mut lnd_ni,
    request: lnd_request,
    verdict: *const lnd_verdict,
    now: u64,
    transfer: *mut lnd_transfer,
) -> lnd_error {
    // SAFETY: by the contract of the ABI.
    unsafe { decide(What::Give, ni, request, verdict, now, transfer) }
}

unsafe fn decide(
    what: What,
    ni: *mut lnd_ni,
    request: lnd_request,
    verdict: *const lnd_verdict,
    now: u64,
    transfer: *mut lnd_transfer,
) -> lnd_error {
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_ni::of(ni) }.and_then(|ni| {
        place_if(transfer)?;
        // SAFETY: by the contract of the ABI.
        let verdict = unsafe { input(verdict)? };
        let tag = decided(what, ni, request, verdict, Instant::from_nanos(now))?;
        ni.wake();
        // SAFETY: checked above; writable by the contract of the ABI.
        unsafe { put_if(transfer, handle::transfer(ni.platform.id, tag)) }
    }))
}

fn decided(
    what: What,
    ni: &lnd_ni,
    request: lnd_request,
    it: &lnd_verdict,
    now: Instant,
) -> Result<Tag, lnd_error> {
    let mut inside = ni.enter()?;
    let thread = inside.thread();
    let ticket = thread.unpark(ni, handle::of_request(ni.platform.id, request)?)?;
    // SAFETY: by the contract of the ABI.
    let (ticket, error) = match unsafe { fragments(it.frags, it.nfrags) } {
        Ok(memory) if it.reserved == 0 => {
            let (length, user, deadline) = (it.len, it.user, Instant::from_nanos(it.deadline));
            let decided = match what {
                What::Recv => {
                    let it = Receive { sink: memory, length, deadline, user };
                    thread.driver.recv(now, ticket, &it)
                }
                What::Give => {
                    let it = Give { source: memory, length, deadline, user };
                    thread.driver.give(now, ticket, &it)
                }
            };
            match decided {
                Ok(tag) => return Ok(tag),
                Err(RecvError::Gone) => return Err(lnd_error::LND_E_GONE),
                Err(RecvError::Refused(ticket, why)) => (ticket, of_why(why)),
            }
        }
        Ok(_) => (ticket, lnd_error::LND_E_ARGUMENT),
        Err(error) => (ticket, error),
    };
    thread.park(ticket);
    Err(error)
}

/// lnd_refuse() - Refuses a peer's request. Nothing will be reported.
/// @ni: the NI.
/// @request: the request.
/// @refusal: enum lnd_refusal; the peer is told, unless the payload came along.
/// @now: the time.
///
/// Of a request that has ended meanwhile nothing is left to refuse: LND_OK, where lnd_recv() and
/// lnd_give() return LND_E_GONE.
///
/// Context: thread; also in parse(), finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_FOREIGN, LND_E_STALE, LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_refuse(
    ni: *mut lnd_ni,
    request: lnd_request,
    refusal: u32,
    now: u64,
) -> lnd_error {
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_ni::of(ni) }.and_then(|ni| refuse(ni, request, refusal, now)))
}

fn refuse(ni: &lnd_ni, request: lnd_request, refusal: u32, now: u64) -> Result<(), lnd_error> {
    let why = u8::try_from(refusal).ok().and_then(Refusal::from_wire);
    let why = why.ok_or(lnd_error::LND_E_ARGUMENT)?;
    let mut inside = ni.enter()?;
    let thread = inside.thread();
    let ticket = thread.unpark(ni, handle::of_request(ni.platform.id, request)?)?;
    thread.driver.refuse(Instant::from_nanos(now), ticket, why);
    drop(inside);
    ni.wake();
    Ok(())
}
