// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Short messages.

use core::ffi::c_void;
use core::mem::size_of;

use lnd_core::id::LinkId;
use lnd_core::message::Lane;

use super::error::{lnd_error, outcome};
use super::memory::{bytes, bytes_mut, fill, given, input, object, put_if};
use super::node::{lnd_soft_node, Receiving, Sending};
use super::types::lnd_soft_arrival;
use crate::outbox::{lane_number, OutboxError};

/// Numbers of `enum lnd_send`.
const DONE: u32 = 0;
const FAILED: u32 = 2;
const FULL: u32 = 3;
const TOO_LONG: u32 = 4;

impl From<OutboxError> for lnd_error {
    fn from(error: OutboxError) -> Self {
        match error {
            OutboxError::NoSuchNode => Self::LND_E_NO_ROUTE,
            OutboxError::Full => Self::LND_E_WAIT,
            OutboxError::TooLong => Self::LND_E_TOO_LONG,
            OutboxError::LinkDown => Self::LND_E_LINK,
            OutboxError::Broken => Self::LND_E_RING,
        }
    }
}

fn lane_of(lane: u32) -> Result<Lane, lnd_error> {
    match lane {
        0 => Ok(Lane::Request),
        1 => Ok(Lane::Control),
        _ => Err(lnd_error::LND_E_ARGUMENT),
    }
}

/// lnd_soft_send() - Puts a frame into a node's mailbox.
/// @node: this host's node, prepared.
/// @link: the link.
/// @lane: enum lnd_lane.
/// @to: the receiving node's number. Ring that node afterwards.
/// @frame: the frame.
/// @len: its bytes.
/// @sent: if not NULL: where the enum lnd_send is written that lnd_ops.send must return. Written
///        also with an error: LND_SEND_FULL for LND_E_WAIT and LND_E_BUSY, LND_SEND_TOO_LONG for
///        LND_E_TOO_LONG, else LND_SEND_FAILED.
///
/// Context: any; one at a time for a node.
/// Return: LND_OK; LND_E_WAIT (no room, or the receiver has never joined); LND_E_LINK (no such
/// link, or this end of it has no clock); LND_E_NO_ROUTE; LND_E_TOO_LONG; LND_E_NULL, LND_E_ALIGN,
/// LND_E_NI, LND_E_ARGUMENT, LND_E_BUSY (another context sends), LND_E_GONE (not prepared, or
/// left), LND_E_RING (the mailbox is damaged).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_send(
    node: *mut lnd_soft_node,
    link: u32,
    lane: u32,
    to: u32,
    frame: *const c_void,
    len: usize,
    sent: *mut u32,
) -> lnd_error {
    let send = || {
        let node = given!(object(node))?;
        let frame = given!(bytes(frame, len))?;
        let link = LinkId::new(link as usize).ok_or(lnd_error::LND_E_LINK)?;
        let lane = lane_of(lane)?;
        match &mut *node.sending.enter()? {
            Sending::Open(outbox) => Ok(outbox.send(link, to, lane, frame)?),
            _ => Err(lnd_error::LND_E_GONE),
        }
    };
    let result = send();
    let injected = match result {
        Ok(()) => DONE,
        Err(lnd_error::LND_E_WAIT | lnd_error::LND_E_BUSY) => FULL,
        Err(lnd_error::LND_E_TOO_LONG) => TOO_LONG,
        Err(_) => FAILED,
    };
    let notified = given!(put_if(sent, injected));
    outcome(result.and(notified))
}

/// lnd_soft_ready() - Whether the next frame into a mailbox finds room, and a request has its way:
/// for lnd_ops.ready.
/// @node: this host's node, prepared.
/// @link: the link.
/// @lane: enum lnd_lane.
/// @to: the receiving node's number.
///
/// A request does not go by a link without a cable at the other end, if another link has both.
///
/// Context: any; one at a time for a node, and not concurrently with lnd_soft_send().
/// Return: 1 or 0.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_ready(
    node: *mut lnd_soft_node,
    link: u32,
    lane: u32,
    to: u32,
) -> u32 {
    let ready = || {
        let node = given!(object(node)).ok()?;
        let (link, lane) = (LinkId::new(link as usize)?, lane_of(lane).ok()?);
        match &mut *node.sending.enter().ok()? {
            Sending::Open(outbox) => Some(outbox.ready(link, to, lane)),
            _ => None,
        }
    };
    u32::from(ready().unwrap_or(false))
}

/// lnd_soft_receive() - Copies the next frame from this node's mailboxes.
/// @node: this host's node, prepared.
/// @budget: most frames from one mailbox in one pass, at least 1.
/// @into: room for the frame, initialised.
/// @room: its bytes, at least lnd_soft_frame_max().
/// @arrival: the caller sets its size; filled.
///
/// Visits the mailboxes in passes, control lanes first. LND_E_END ends a pass, and the next call
/// begins another. The frame stays in its mailbox until lnd_soft_release(). If the next receive
/// comes before, the frame and all those behind it wait for the next pass: do so when
/// lnd_frame_in() returns LND_E_WAIT. A pass that returned a frame may have left others.
///
/// Context: any; one at a time for a node.
/// Return: LND_OK, LND_E_END, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_ROOM, LND_E_BUSY
/// (another context receives), LND_E_GONE (not prepared, or left).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_receive(
    node: *mut lnd_soft_node,
    budget: u32,
    into: *mut c_void,
    room: usize,
    arrival: *mut lnd_soft_arrival,
) -> lnd_error {
    let receive = || {
        let node = given!(object(node))?;
        // SAFETY: by the contract of the ABI. Checked first: a frame whose report cannot be written
        // is not received.
        unsafe { input(arrival.cast_const()) }?;
        if room < node.fabric.shape().frame_max() {
            return Err(lnd_error::LND_E_ROOM);
        }
        let into = given!(bytes_mut(into, room))?;
        let mut receiving = node.receiving.enter()?;
        let Receiving::Open(inbox) = &mut *receiving else { return Err(lnd_error::LND_E_GONE) };
        let found = inbox.next(budget, into).ok_or(lnd_error::LND_E_END)?;
        let notified = lnd_soft_arrival {
            size: size_of::<lnd_soft_arrival>() as u32,
            from: found.from,
            link: found.link.index() as u32,
            lane: lane_number(found.lane) as u32,
            len: found.length as u32,
            reserved: 0,
        };
        given!(fill(arrival, notified))
    };
    outcome(receive())
}

/// lnd_soft_release() - Removes the last received frame from its mailbox.
/// @node: this host's node. Without such a frame the call has no effect.
///
/// Context: as lnd_soft_receive().
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_GONE.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_release(node: *mut lnd_soft_node) -> lnd_error {
    let release = || {
        let node = given!(object(node))?;
        match &mut *node.receiving.enter()? {
            Receiving::Open(inbox) => {
                inbox.release();
                Ok(())
            }
            _ => Err(lnd_error::LND_E_GONE),
        }
    };
    outcome(release())
}
