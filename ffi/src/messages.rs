// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Received frames, the ends of sent frames, and what one of them is about.

use core::ffi::c_void;

use lnd_core::driver::{Arrival, Inbound, RequestKind};
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::ports::Sent;
use lnd_core::time::Instant;
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::wire::{about, About, DecodeError, Frame};

use crate::abi::{
    lnd_about, lnd_arrival, lnd_error, lnd_frame, lnd_message, lnd_request, lnd_request_kind,
    lnd_sent_how, lnd_tag, LND_NID_UNKNOWN,
};
use crate::decide::on_message;
use crate::errors::{outcome, outcome_of};
use crate::handle;
use crate::input::{bytes, given, input, output, put};
use crate::ni::lnd_ni;
use crate::platform::OPERATIONS;
use crate::ports::Host;
use crate::tracing::IrqTrace;

/// lnd_frame_in() - A short message has arrived.
/// @ni: the NI.
/// @link: the link on which it arrived.
/// @sender: the NID of the node that has sent it, as the channel knows it: the writer of the
///          mailbox, the other end of the connection. LND_NID_UNKNOWN if the channel does not know
///          it.
/// @frame: its bytes. Except after LND_REQUEST they may be reused when the call returns.
/// @len: their number.
/// @now: the time.
/// @arrival: filled in on LND_REQUEST; the caller sets its size.
///
/// Pass frames of one peer, link and lane in their order. The library handles the control layer's
/// frames and answers itself. A frame that is malformed, or whose sender is not valid, is dropped
/// and counted.
///
/// On LND_REQUEST the frame is a peer's request, which the host decides: lnd_recv() (PUT),
/// lnd_reply() (GET), lnd_nak(), or lnd_keep() to decide later. Until then nothing of it has an
/// effect, and the frame must stay unchanged: @header and @payload of @arrival point into it. Its
/// place in the channel is free once one of these calls has returned LND_OK, LND_DONE or
/// LND_E_GONE. All other calls are allowed before. A request that is not decided stays in the
/// channel and is offered again, as after LND_E_WAIT. The next frame on the same link makes its
/// handle stale.
///
/// A frame that names another sender than @sender is dropped and counted (lnd_stats.frames_forged).
/// With LND_NID_UNKNOWN the sender in the frame is trusted: each node that reaches the channel can
/// then send in the name of every other node, open and end its sessions, return its credits and
/// fail its requests. Use it only where every node that reaches the channel is trusted.
///
/// The effects of a waiting frame may be due earlier than the time that the last lnd_run() gave:
/// wake() is called then.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK (handled or dropped), LND_REQUEST, LND_E_WAIT (no slot, no free entry in the
/// table of peers, the sender has not answered our HELLO, or has reached its limit of undecided
/// requests: keep the frame, and offer it again after wake(), after a control frame, and when an
/// earlier frame of its sender was taken), LND_E_FRAME (malformed or forged; dropped),
/// LND_E_ARGUMENT (@sender is 0), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT,
/// LND_E_REENTRY, LND_E_BUSY, LND_E_LINK.
#[no_mangle]
pub unsafe extern "C" fn lnd_frame_in(
    ni: *mut lnd_ni,
    link: u32,
    sender: u64,
    frame: *const c_void,
    len: usize,
    now: u64,
    arrival: *mut lnd_arrival,
) -> lnd_error {
    let ni = given!(lnd_ni::of(ni));
    let frame = given!(bytes(frame.cast(), len));
    let arrival = given!(output(arrival));
    outcome_of(ni.and_then(|ni| frame_in(ni, link, sender, frame?, now, arrival?)))
}

fn frame_in(
    ni: &lnd_ni,
    link: u32,
    sender: u64,
    frame: &[u8],
    now: u64,
    found: &mut lnd_arrival,
) -> Result<lnd_error, lnd_error> {
    let link = LinkId::new(link as usize).ok_or(lnd_error::LND_E_LINK)?;
    let sender = match sender {
        LND_NID_UNKNOWN => Sender::Unknown,
        nid => Sender::Known(Nid::from_raw(nid).ok_or(lnd_error::LND_E_ARGUMENT)?),
    };
    let mut entered = ni.enter()?;
    let thread = entered.thread();
    thread.offered.get_mut(link.index()).ok_or(lnd_error::LND_E_LINK)?.forget();
    let time = Instant::from_nanos(now);
    // By reference: a copy of the messages would double their share of the stack.
    match &decoded(&mut thread.receiver, sender, frame) {
        Err(_) => return Err(lnd_error::LND_E_FRAME),
        Ok(Frame::Control(envelope, ready)) => {
            thread.driver.on_pull_ready(time, link, envelope, ready);
        }
        Ok(Frame::Lnd(envelope, message)) => {
            match on_message(thread.driver, time, link, envelope, message) {
                Inbound::Handled => {}
                Inbound::Wait => {
                    thread.frame_waits = true;
                    let earlier = thread.next_time(time) < thread.next_run;
                    drop(entered);
                    // The host may sleep until the time that the last run returned.
                    if earlier {
                        ni.wake();
                    }
                    return Err(lnd_error::LND_E_WAIT);
                }
                Inbound::Request(arrival) => {
                    describe(&arrival, now, found);
                    let offered = thread.offer(link, envelope, message);
                    found.request = handle::offered(ni.platform.id, offered);
                    ni.exit(entered, time);
                    return Ok(lnd_error::LND_REQUEST);
                }
            }
        }
    }
    ni.exit(entered, time);
    Ok(lnd_error::LND_OK)
}

/// Not inlined, so that the decoder's stack is free again when the driver receives the message.
#[inline(never)]
fn decoded<'f>(
    receiver: &mut Receiver,
    sender: Sender,
    frame: &'f [u8],
) -> Result<Frame<'f>, DecodeError> {
    receiver.receive_from(sender, frame)
}

/// Describes a request. The caller fills in its handle.
fn describe(arrival: &Arrival<'_, '_, '_, Host>, now: u64, found: &mut lnd_arrival) {
    let kind = match arrival.kind() {
        RequestKind::Immediate => lnd_request_kind::LND_REQUEST_IMMEDIATE,
        RequestKind::Put => lnd_request_kind::LND_REQUEST_PUT,
        RequestKind::Get => lnd_request_kind::LND_REQUEST_GET,
    };
    let (header, payload) = (arrival.header(), arrival.payload());
    *found = lnd_arrival {
        size: found.size,
        kind: kind as u32,
        nid: arrival.from().raw(),
        request: lnd_request::default(),
        header: header.as_ptr().cast(),
        payload: if payload.is_empty() { core::ptr::null() } else { payload.as_ptr().cast() },
        header_len: header.len() as u32,
        len: arrival.length(),
        now,
    };
}

/// lnd_sent() - A short message has ended.
/// @ni: the NI.
/// @message: from struct lnd_frame; once for each tracked frame after LND_SEND_PENDING.
/// @how: enum lnd_sent_how.
/// @now: the time.
///
/// A second end of the same message is counted and has no effect.
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
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| sent(ni, message, how, now)))
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
    let wake = ni.irq_handle.on_sent(now, tag, how, &mut tally, &mut trace);
    if wake {
        ni.wake();
    }
    Ok(())
}

/// lnd_frame_about() - The staged descriptor that a frame is about.
/// @frame: the frame, as lnd_ops.send() was given it.
/// @tag: receives the descriptor's tag, or 0.
///
/// For engines that are operations and chain their own work to frames: a registration in front of
/// the frame that carries its key, an invalidation of the peer's key behind a pull or push. A frame
/// that ends one and had to wait for its way is LND_ABOUT_NOTHING: the peer may have been told
/// otherwise meanwhile, and has taken its memory back by itself.
///
/// Context: any, while lnd_ops.send() has the frame. Takes no lock.
/// Return: enum lnd_about; LND_ABOUT_NOTHING also for a pointer that is wrong, and in a library
/// without engines that are operations.
#[no_mangle]
pub unsafe extern "C" fn lnd_frame_about(frame: *const lnd_frame, tag: *mut lnd_tag) -> u32 {
    let (kind, found) = match given!(found_in(frame)) {
        Ok(Some(About::Staged(tag))) => (lnd_about::LND_ABOUT_STAGED, tag),
        Ok(Some(About::Pulled(tag))) => (lnd_about::LND_ABOUT_PULLED, tag),
        Ok(None) | Err(_) => (lnd_about::LND_ABOUT_NOTHING, Tag { index: 0, generation: 0 }),
    };
    match given!(put(tag, lnd_tag { index: found.index, generation: found.generation })) {
        Ok(()) => kind as u32,
        Err(_) => lnd_about::LND_ABOUT_NOTHING as u32,
    }
}

/// What is found in a frame.
///
/// # Safety
/// As for [`input`]; the frame's bytes can be read.
unsafe fn found_in(frame: *const lnd_frame) -> Result<Option<About>, lnd_error> {
    if !OPERATIONS {
        return Ok(None);
    }
    // SAFETY: by the caller's promise.
    let frame = unsafe { input(frame)? };
    // SAFETY: `send` was given these bytes, and has not returned.
    let content = unsafe { bytes(frame.bytes.cast(), frame.len as usize)? };
    Ok(about(content).filter(|it| match it {
        About::Staged(_) => true,
        // The end of a pull is sent untracked, at once. In a slot of its own it has waited.
        About::Pulled(_) => frame.tracked == 0,
    }))
}
