// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The upper layer's calls for its own messages: submit, withdraw.

use lnd_core::driver::{Kind, Request, Submitted, To};
use lnd_core::fragment::total;
use lnd_core::id::{LinkId, Nid};
use lnd_core::time::Instant;

use crate::abi::{
    lnd_error, lnd_kind, lnd_peer, lnd_report, lnd_role, lnd_send_request, lnd_transfer,
    LND_ANY_LINK,
};
use crate::errors::{of_why, outcome, outcome_of};
use crate::handle;
use crate::input::{fragments, given, header, input, output_if, place_if, put_if};
use crate::ni::lnd_ni;
use crate::run::ended;

/// A link by its number, or any.
pub(crate) fn link_preference(link: u32) -> Result<Option<LinkId>, lnd_error> {
    if link == LND_ANY_LINK {
        return Ok(None);
    }
    LinkId::new(link as usize).map(Some).ok_or(lnd_error::LND_E_LINK)
}

const fn kind(kind: u32) -> Result<Kind, lnd_error> {
    match kind {
        k if k == lnd_kind::LND_PUT as u32 => Ok(Kind::Put),
        k if k == lnd_kind::LND_ACK as u32 => Ok(Kind::Ack),
        k if k == lnd_kind::LND_GET as u32 => Ok(Kind::Get),
        k if k == lnd_kind::LND_REPLY as u32 => Ok(Kind::Reply),
        _ => Err(lnd_error::LND_E_ARGUMENT),
    }
}

/// The next hop that a request names.
fn next_hop(ni: &lnd_ni, it: &lnd_send_request) -> Result<To, lnd_error> {
    if it.peer == lnd_peer::default() {
        return Nid::from_raw(it.nid).map(To::Nid).ok_or(lnd_error::LND_E_NO_ROUTE);
    }
    let peer = handle::of_peer(ni.platform.id, it.peer)?;
    if it.nid != 0 && it.nid != it.peer.nid {
        return Err(lnd_error::LND_E_ARGUMENT);
    }
    Ok(To::Peer(peer))
}

/// lnd_submit() - Accepts a message for sending.
/// @ni: the NI.
/// @request: what to send; header and fragment vector are copied.
/// @now: the time.
/// @transfer: where the transfer's handle is written; after LND_DONE it names none; may be NULL.
/// @report: filled in on LND_DONE; the caller sets its size. NULL: finalize() reports every end.
///
/// On LND_OK exactly one finalize() follows, and the payload's memory is lent until then. On
/// LND_DONE the message has ended, @report is its only report, and nothing is lent. A short message
/// ends so if its peer has answered, no message waits before it, and the channel has
/// LND_ENDS_AT_ONCE. @error of that report may be other than 0. On an error nothing was kept.
///
/// A handle in @peer of @request is stale (LND_E_STALE) once the NI has removed that peer: send by
/// @nid then, and call lnd_peer_find() again.
///
/// The reply to an LND_GET goes into its memory if @routed is 0 and that memory is longer than
/// @immediate_max of struct lnd_config: ours, or the peer's if that is less and the peer has
/// answered a HELLO. Any other GET is sent as a header alone, and the peer receives it as an
/// LND_REQUEST_IMMEDIATE. Its report covers that message only: @bytes and @reply are 0, and its
/// memory is not touched. The answer is an LND_REPLY that arrives as a request.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_DONE, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT,
/// LND_E_REENTRY, LND_E_BUSY, LND_E_ARGUMENT (@kind, @reserved of a fragment, or @nid differs from
/// that of @peer), LND_E_HEADER, LND_E_FRAGMENTS, LND_E_ADDRESS, LND_E_TOO_LONG, LND_E_DEADLINE,
/// LND_E_LINK, LND_E_NO_ROUTE, LND_E_FOREIGN, LND_E_STALE, LND_E_PEER_DOWN, LND_E_PEERS_FULL,
/// LND_E_NO_SLOTS, LND_E_NO_LISTS, LND_E_SHUTTING_DOWN.
#[no_mangle]
pub unsafe extern "C" fn lnd_submit(
    ni: *mut lnd_ni,
    request: *const lnd_send_request,
    now: u64,
    transfer: *mut lnd_transfer,
    report: *mut lnd_report,
) -> lnd_error {
    outcome_of(given!(submit(ni, request, now, transfer, report)))
}

unsafe fn submit(
    ni: *mut lnd_ni,
    request: *const lnd_send_request,
    now: u64,
    transfer: *mut lnd_transfer,
    report: *mut lnd_report,
) -> Result<lnd_error, lnd_error> {
    let ni = given!(lnd_ni::of(ni))?;
    place_if(transfer)?;
    let report = given!(output_if(report))?;
    let it = given!(input(request))?;
    let header = given!(header(it.header.cast(), it.header_len))?;
    let payload = given!(fragments(it.frags, it.nfrags))?;
    let request = Request {
        kind: kind(it.kind)?,
        peer: next_hop(ni, it)?,
        link: link_preference(it.link)?,
        routed: it.routed != 0,
        header,
        payload,
        deadline: Instant::from_nanos(it.deadline),
        user: it.user,
    };
    let (end, handle) = accept(ni, it, request, Instant::from_nanos(now), report)?;
    given!(put_if(transfer, handle))?;
    Ok(end)
}

fn accept(
    ni: &lnd_ni,
    it: &lnd_send_request,
    request: Request<'_>,
    now: Instant,
    report: Option<&mut lnd_report>,
) -> Result<(lnd_error, lnd_transfer), lnd_error> {
    let mut entered = ni.enter()?;
    let driver = &mut entered.thread().driver;
    let submitted = match report {
        Some(_) => driver.submit(now, request),
        None => driver.submit_pending(now, request).map(Submitted::Pending),
    };
    // A refused message may have begun a handshake, whose timer the host must hear of.
    ni.exit(entered, now);
    let submitted = submitted.map_err(|refused| of_why(refused.why))?;
    match (submitted, report) {
        (Submitted::Done(status), Some(report)) => {
            // A GET that ends at once was sent as a header alone.
            let get = request.kind == Kind::Get;
            let bytes = if get { 0 } else { total(request.payload).unwrap_or(0) };
            let nid = if it.nid == 0 { it.peer.nid } else { it.nid };
            let role = lnd_role::LND_ROLE_IMMEDIATE as u32;
            *report = lnd_report { role, nid, ..ended(&status, bytes, it.user) };
            Ok((lnd_error::LND_DONE, lnd_transfer::default()))
        }
        (submitted, _) => {
            let handle = submitted.tag().map(|tag| handle::transfer(ni.platform.id, tag));
            Ok((lnd_error::LND_OK, handle.unwrap_or_default()))
        }
    }
}

/// lnd_withdraw() - Cancels a transfer.
/// @ni: the NI.
/// @transfer: its handle.
/// @now: the time.
///
/// finalize() follows as usual, once the memory is safe. Its cause is LND_CAUSE_WITHDRAWN, unless
/// the transfer ended before. A second call has no further effect.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_FOREIGN, LND_E_STALE (it has been reported, or is no transfer of this side's).
#[no_mangle]
pub unsafe extern "C" fn lnd_withdraw(
    ni: *mut lnd_ni,
    transfer: lnd_transfer,
    now: u64,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| withdraw(ni, transfer, now)))
}

fn withdraw(ni: &lnd_ni, transfer: lnd_transfer, now: u64) -> Result<(), lnd_error> {
    let mut entered = ni.enter()?;
    let tag = handle::of_transfer(ni.platform.id, transfer)?;
    let own = entered.thread().driver.withdraw(Instant::from_nanos(now), tag);
    drop(entered);
    if !own {
        return Err(lnd_error::LND_E_STALE);
    }
    ni.wake();
    Ok(())
}
