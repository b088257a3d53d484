// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Frames in, and the ends of frames that went out.

use core::ffi::c_void;
use core::mem::{size_of, transmute};

use lnd_core::defect::seeded;
use lnd_core::driver::{Inbound, RequestKind, Ticket};
use lnd_core::id::{LinkId, Nid};
use lnd_core::ports::Sent;
use lnd_core::sync::Ordering;
use lnd_core::time::Instant;
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::wire::{DecodeError, Frame};

use crate::abi::{
    lnd_arrival, lnd_error, lnd_message, lnd_request_kind, lnd_sent_how, LND_NEVER, LND_NID_UNKNOWN,
};
use crate::errors::outcome;
use crate::handle;
use crate::input::bytes;
use crate::ni::{lnd_ni, Inside};
use crate::tracing::IrqTrace;

/// lnd_frame_in() - A short message has arrived.
/// @ni: the NI.
/// @link: the link by which it came.
/// @sender: the NID of the node that has sent it, as the channel knows it: the writer of the mailbox,
///          the other end of the connection. LND_NID_UNKNOWN if the channel cannot tell.
/// @frame: its bytes; not needed any more when the call returns.
/// @len: their number.
/// @now: the time.
///
/// Frames of one peer, link and lane are given in their order. Calls parse(), with nothing held, if
/// it is a request; the control layer never gets so far. A frame that makes no sense, or is of
/// somebody who does not count, is dropped and counted.
///
/// A frame that names another sender than @sender is dropped and counted (lnd_stats.frames_forged).
/// With LND_NID_UNKNOWN the name in the frame is trusted: each node that reaches the channel can
/// send in the name of every other node, open and end its sessions, return its credits and fail its
/// requests. Take it only where every node that reaches the channel is trusted.
///
/// What a frame that waits leads to may be due before the time that the last lnd_run() gave: wake() comes.
///
/// Context: thread; also in finalize() and event(), not in parse(). Takes the lock.
/// Return: LND_OK (dealt with or dropped), LND_E_WAIT (no slot, no place for its sender among the
/// peers, or its sender has not answered our hello: keep it, and offer it again after wake(), after a
/// control frame, and when an earlier frame of its sender was taken), LND_E_FRAME (no
/// frame at all, or forged; dropped), LND_E_ARGUMENT (@sender is 0), LND_E_NULL, LND_E_ALIGN,
/// LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY (another thread is in parse(): offer it
/// again), LND_E_LINK.
#[no_mangle]
pub unsafe extern "C" fn lnd_frame_in(
    ni: *mut lnd_ni,
    link: u32,
    sender: u64,
    frame: *const c_void,
    len: usize,
    now: u64,
) -> lnd_error {
    // SAFETY: by the contract of the ABI.
    let ni = unsafe { lnd_ni::of(ni) };
    // SAFETY: by the contract of the ABI.
    let frame = unsafe { bytes(frame.cast(), len) };
    outcome(ni.and_then(|ni| frame_in(ni, link, sender, frame?, now)))
}

fn frame_in(ni: &lnd_ni, link: u32, sender: u64, frame: &[u8], now: u64) -> Result<(), lnd_error> {
    let me = ni.platform.self_id();
    // Relaxed: only we write our own name.
    if ni.parser.load(Ordering::Relaxed) == me {
        return Err(ni.misuse(lnd_error::LND_E_REENTRY, c"lnd_frame_in() in parse()"));
    }
    let link = LinkId::new(link as usize).ok_or(lnd_error::LND_E_LINK)?;
    let sender = match sender {
        LND_NID_UNKNOWN => Sender::Unknown,
        nid => Sender::Known(Nid::from_raw(nid).ok_or(lnd_error::LND_E_ARGUMENT)?),
    };
    let mut inside = ni.enter()?;
    let thread = inside.thread();
    if link.index() >= ni.irqs.len() {
        return Err(lnd_error::LND_E_LINK);
    }
    let time = Instant::from_nanos(now);
    // By reference: a copy of the messages would be as much again on the stack.
    match &decoded(&mut thread.receiver, sender, frame) {
        Err(_) => return Err(lnd_error::LND_E_FRAME),
        Ok(Frame::Control(envelope, ready)) => {
            thread.driver.on_pull_ready(time, link, envelope, ready);
        }
        Ok(Frame::Lnd(..)) if ni.parser.load(Ordering::Relaxed) != 0 => {
            return Err(lnd_error::LND_E_BUSY);
        }
        Ok(Frame::Lnd(envelope, message)) => {
            let ticket = match thread.driver.on_message(time, link, envelope, message) {
                Inbound::Handled => None,
                Inbound::Wait => {
                    thread.frame_waits = true;
                    let next = thread.driver.next_time(time).map_or(LND_NEVER, Instant::as_nanos);
                    let earlier = next < thread.next_run && !seeded("wait-without-a-run");
                    drop(inside);
                    // The host may sleep until the time that the last run gave.
                    if earlier {
                        ni.wake();
                    }
                    return Err(lnd_error::LND_E_WAIT);
                }
                Inbound::Request(arrival) => Some(arrival.keep()),
            };
            if let Some(ticket) = ticket {
                return announce(ni, inside, ticket, now);
            }
        }
    }
    drop(inside);
    ni.wake();
    Ok(())
}

/// Not inlined, so that the decoder's stack is free again when the driver takes the message.
#[inline(never)]
fn decoded<'f>(
    receiver: &mut Receiver,
    sender: Sender,
    frame: &'f [u8],
) -> Result<Frame<'f>, DecodeError> {
    receiver.receive_from(sender, frame)
}

/// Has the upper layer look at a request. Not inlined, so that the arrival is not on the stack while
/// the driver takes the message.
#[inline(never)]
fn announce(
    ni: &lnd_ni,
    mut inside: Inside<'_>,
    ticket: Ticket<'_>,
    now: u64,
) -> Result<(), lnd_error> {
    let me = ni.platform.self_id();
    let arrival = arrival(ni.platform.id, &ticket, now);
    // Relaxed: all of `parser` and `attached` is written inside.
    ni.attached.store(arrival.request.index.wrapping_add(1), Ordering::Relaxed);
    ni.parser.store(me, Ordering::Relaxed);
    // SAFETY: only the lifetime changes. The frame is there until this function returns; before
    // that `attached` is cleared, without which nobody looks at a ticket's frame.
    inside.thread().park(unsafe { transmute::<Ticket<'_>, Ticket<'static>>(ticket) });
    drop(inside);

    ni.platform.parse(&arrival);

    // From inside, so that nobody is still copying out of the frame.
    let inside = ni.enter();
    if !seeded("frame-kept") {
        ni.attached.store(0, Ordering::Relaxed);
    }
    ni.parser.store(if seeded("parser-kept") { me } else { 0 }, Ordering::Relaxed);
    drop(inside?);
    ni.wake();
    Ok(())
}

fn arrival(ni: u32, ticket: &Ticket<'_>, now: u64) -> lnd_arrival {
    let kind = match ticket.kind() {
        RequestKind::Immediate => lnd_request_kind::LND_REQUEST_IMMEDIATE,
        RequestKind::Put => lnd_request_kind::LND_REQUEST_PUT,
        RequestKind::Get => lnd_request_kind::LND_REQUEST_GET,
    };
    let (header, payload) = (ticket.header, ticket.payload());
    lnd_arrival {
        size: size_of::<lnd_arrival>() as u32,
        kind: kind as u32,
        nid: ticket.from.raw(),
        request: handle::request(ni, ticket.tag()),
        header: header.as_ptr().cast(),
        payload: if payload.is_empty() { core::ptr::null() } else { payload.as_ptr().cast() },
        header_len: header.len() as u32,
        len: ticket.length,
        now,
    }
}

/// lnd_sent() - A short message has ended.
/// @ni: the NI.
/// @message: from struct lnd_frame; once for each tracked frame that is LND_SEND_PENDING.
/// @how: enum lnd_sent_how.
/// @now: the time.
///
/// A second end of the same message is counted and changes nothing.
///
/// Context: any, also in send(). Takes no lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_FOREIGN, LND_E_STALE (no handle of a
/// message), LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_sent(
    ni: *mut lnd_ni,
    message: lnd_message,
    how: u32,
    now: u64,
) -> lnd_error {
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_ni::of(ni) }.and_then(|ni| sent(ni, message, how, now)))
}

fn sent(ni: &lnd_ni, message: lnd_message, how: u32, now: u64) -> Result<(), lnd_error> {
    let how = match how {
        n if n == lnd_sent_how::LND_SENT_OK as u32 => Sent::Ok,
        n if n == lnd_sent_how::LND_SENT_NOT_DELIVERED as u32 => Sent::NotDelivered,
        n if n == lnd_sent_how::LND_SENT_UNKNOWN as u32 => Sent::Unknown,
        _ => return Err(lnd_error::LND_E_ARGUMENT),
    };
    let tag = handle::of_message(ni.platform.id, message)?;
    let (mut tally, mut trace) = (ni.tally, IrqTrace(ni.platform));
    let now = Instant::from_nanos(now);
    let wake = ni.decider.on_sent(now, tag, how, &mut tally, &mut trace);
    if wake {
        ni.wake();
    }
    Ok(())
}
