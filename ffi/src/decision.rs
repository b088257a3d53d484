// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Decisions on peers' requests: at once, while the frame is in the channel, or later.

use lnd_core::message::NakReason;
use lnd_core::time::Instant;

use crate::abi::{lnd_decision, lnd_error, lnd_report, lnd_request, lnd_role, lnd_transfer};
use crate::decide::{Decided, Memory, What};
use crate::errors::{outcome, outcome_of};
use crate::handle;
use crate::input::{given, input, output_if, place, place_if, put, put_if};
use crate::ni::lnd_ni;
use crate::run::ended;

/// Decides a request of either kind. Context: thread.
fn decide(
    ni: &lnd_ni,
    request: lnd_request,
    now: Instant,
    what: &What<'_>,
) -> Result<Decided, lnd_error> {
    let mut entered = ni.enter()?;
    let thread = entered.thread();
    let keep = matches!(what, What::Keep);
    let decided = if keep || handle::is_offered(request) {
        let offered = handle::of_offered(ni.platform.id, request)?;
        thread.decide_offered(now, offered, what)
    } else {
        thread.decide_kept(now, handle::of_request(ni.platform.id, request)?, what)
    };
    ni.exit(entered, now);
    decided
}

/// lnd_recv() - Takes a peer's PUT, all of it or its first bytes.
/// @ni: the NI.
/// @request: the request, of kind LND_REQUEST_IMMEDIATE or LND_REQUEST_PUT.
/// @decision: where to, and how much; a length of 0 receives nothing and still ends the request
///            well.
/// @now: the time.
/// @transfer: where the transfer's handle is written; after LND_DONE it names none; may be NULL.
/// @report: filled in on LND_DONE; the caller sets its size. NULL: finalize() reports every end.
///
/// On LND_OK exactly one finalize() follows, and the memory is lent until then. On LND_DONE the
/// transfer has ended, @report is its only report, and nothing is lent: this is the end of an
/// LND_REQUEST_IMMEDIATE whose frame is still in the channel. On LND_E_GONE the request has ended,
/// and so has a kept request on LND_E_STALE: its slot is in use again. On LND_E_WAIT the request
/// waits for its next offer, see lnd_frame_in(), or for another decision. On any other error it
/// still waits for its decision.
///
/// The payload of an LND_REQUEST_IMMEDIATE can be received only while its frame is in the channel.
/// After lnd_keep(), lnd_recv() of more than 0 bytes returns LND_E_TOO_LONG. A host that needs more
/// time copies the payload first and later ends the request with lnd_nak(), which sends nothing to
/// the peer.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_DONE, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT,
/// LND_E_REENTRY, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE, LND_E_ARGUMENT, LND_E_GONE, LND_E_WAIT,
/// LND_E_WRONG_KIND, LND_E_FRAGMENTS, LND_E_ADDRESS, LND_E_TOO_LONG, LND_E_NO_LISTS.
#[no_mangle]
pub unsafe extern "C" fn lnd_recv(
    ni: *mut lnd_ni,
    request: lnd_request,
    decision: *const lnd_decision,
    now: u64,
    transfer: *mut lnd_transfer,
    report: *mut lnd_report,
) -> lnd_error {
    given!(lend(false, ni, request, decision, now, transfer, report))
}

/// lnd_reply() - Answers a peer's GET with local memory.
/// @ni: the NI.
/// @request: the request, of kind LND_REQUEST_GET.
/// @decision: where from, and how much.
/// @now: the time.
/// @transfer: where the transfer's handle is written; may be NULL.
///
/// As lnd_recv(), in the other direction. It never ends at once.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: as lnd_recv(), without LND_DONE.
#[no_mangle]
pub unsafe extern "C" fn lnd_reply(
    ni: *mut lnd_ni,
    request: lnd_request,
    decision: *const lnd_decision,
    now: u64,
    transfer: *mut lnd_transfer,
) -> lnd_error {
    given!(lend(true, ni, request, decision, now, transfer, core::ptr::null_mut()))
}

unsafe fn lend(
    give: bool,
    ni: *mut lnd_ni,
    request: lnd_request,
    decision: *const lnd_decision,
    now: u64,
    transfer: *mut lnd_transfer,
    report: *mut lnd_report,
) -> lnd_error {
    outcome_of(given!(lnd_ni::of(ni)).and_then(|ni| {
        place_if(transfer)?;
        let report = given!(output_if(report))?;
        let it = given!(input(decision))?;
        let memory = Memory { it, at_once: report.is_some() };
        let what = if give { What::Reply(memory) } else { What::Recv(memory) };
        let (end, handle) = match decide(ni, request, Instant::from_nanos(now), &what)? {
            Decided::Done(status, nid) => {
                if let Some(report) = report {
                    let role = lnd_role::LND_ROLE_INLINE_SINK as u32;
                    *report = lnd_report { role, nid, ..ended(&status, it.len, it.user) };
                }
                (lnd_error::LND_DONE, lnd_transfer::default())
            }
            Decided::Pending(tag) | Decided::Kept(tag) => {
                (lnd_error::LND_OK, handle::transfer(ni.platform.id, tag))
            }
            Decided::Refused => (lnd_error::LND_OK, lnd_transfer::default()),
        };
        given!(put_if(transfer, handle))?;
        Ok(end)
    }))
}

/// lnd_keep() - Keeps a peer's request for a later decision.
/// @ni: the NI.
/// @request: the request, from lnd_frame_in().
/// @now: the time.
/// @kept: where its handle from now on is written.
///
/// On LND_OK the frame may be released: copy header and payload before the call. The request then
/// holds a slot and the peer's credit until lnd_recv(), lnd_reply() or lnd_nak(). It ends by itself
/// after @decision_bound of struct lnd_config, or, with LND_CANCEL_FIRST, when its sender cancels
/// it.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_FOREIGN, LND_E_STALE (also if it was kept before), LND_E_GONE, LND_E_WAIT (see
/// lnd_frame_in()).
#[no_mangle]
pub unsafe extern "C" fn lnd_keep(
    ni: *mut lnd_ni,
    request: lnd_request,
    now: u64,
    kept: *mut lnd_request,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        place(kept)?;
        match decide(ni, request, Instant::from_nanos(now), &What::Keep)? {
            Decided::Kept(tag) => {
                let handle = handle::request(ni.platform.id, tag);
                given!(put(kept, handle))
            }
            // `What::Keep` has no other result.
            _ => Err(lnd_error::LND_E_GONE),
        }
    }))
}

/// lnd_nak() - Refuses a peer's request. No report follows.
/// @ni: the NI.
/// @request: the request.
/// @refusal: enum lnd_nak_reason. A NAK is sent to the peer, unless the payload was in the message.
/// @now: the time.
///
/// An LND_REQUEST_IMMEDIATE whose frame is still in the channel needs no slot for this, and is over
/// whatever has happened since its offer. So a host may copy or pass on its payload first, and end
/// it by this call.
///
/// For a request that has already ended this returns LND_OK, where lnd_recv() and lnd_reply()
/// return LND_E_GONE. A kept request whose slot is in use again has ended, too: LND_E_STALE.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_FOREIGN, LND_E_STALE, LND_E_ARGUMENT, LND_E_WAIT (see lnd_frame_in()).
#[no_mangle]
pub unsafe extern "C" fn lnd_nak(
    ni: *mut lnd_ni,
    request: lnd_request,
    refusal: u32,
    now: u64,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        let why = u8::try_from(refusal).ok().and_then(NakReason::from_wire);
        let why = why.ok_or(lnd_error::LND_E_ARGUMENT)?;
        match decide(ni, request, Instant::from_nanos(now), &What::Refuse(why)) {
            Ok(_) | Err(lnd_error::LND_E_GONE) => Ok(()),
            Err(error) => Err(error),
        }
    }))
}
