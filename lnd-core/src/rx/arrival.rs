// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds a peer's request between its channel and the upper layer's decision.
//!
//! The driver has not accepted it yet: its frame, its place in the window and the peer's credit are
//! unchanged. The decision accepts it. Only a request that outlives the call gets a slot (decision
//! 0021).

use core::fmt;

use super::request::Offer;
use super::rx_request::{Receive, RecvError, Reply, RequestKind, RxRequest};
use crate::base::fragment::Fragment;
use crate::base::id::{Nid, Tag};
use crate::base::message::{Envelope, Message, NakReason};
use crate::base::time::Instant;
use crate::machines::transfer::{Cause, Place, Status};
use crate::ports::Ports;
use crate::shard::Driver;
use crate::tx::{scatter, Why};

/// The result of a message.
#[derive(Debug)]
#[must_use]
pub enum Inbound<'d, 'm, 'f, P: Ports> {
    /// Handled, or dropped and counted. Its place in the channel is free.
    Handled,
    /// A request that needs the upper layer's decision (`lnet_parse`).
    Request(Arrival<'d, 'm, 'f, P>),
    /// A request that cannot be accepted now: no slot or no place in the peer table is free, its
    /// sender has not yet answered our hello, or the sender has reached its limit of requests
    /// without a decision. Leave it in the channel. Offer it again after a message of the control
    /// lane or an earlier request of its sender was accepted, and when
    /// [`offer_again`](crate::driver::Driver::offer_again) returns `true`.
    ///
    /// A host that does so, and that calls [`on_time`](crate::driver::Driver::on_time) at the
    /// returned times, waits for no promised request for ever: the driver remembers the node
    /// without a place, and sends it a hello once it has one.
    Wait,
}

/// The result of a request that was received.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a request that has ended is not reported again"]
pub enum Received {
    /// Exactly one [`Report`](crate::driver::Report) with this tag will follow. The buffers are
    /// lent until then.
    Pending(Tag),
    /// It has ended: all of it is in the buffers, or the status gives the reason. No report follows
    /// (INV-1).
    Done(Status),
}

/// A peer's request, with the driver that waits for the upper layer's decision:
/// [`recv`](Self::recv), [`reply`](Self::reply), [`nak`](Self::nak), or [`keep`](Self::keep)
/// to decide later.
///
/// A request that is dropped without a decision has changed nothing. As after [`Inbound::Wait`] the
/// frame stays in the channel and is offered again.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pair/mod.rs"));
/// fn decide(request: Arrival<'_, '_, '_, Set>, deadline: Instant) {
///     let (length, memory) = (request.length(), [Fragment::new(0, request.length())]);
///     match request.kind() {
///         _ if length > 64 => request.nak(NakReason::NoMatch),
///         RequestKind::Get => drop(request.reply(&Reply::new(&memory, length, deadline))),
///         // Inline: `Received::Done`. Staged: `Received::Pending`, and a report follows.
///         _ => drop(request.recv(&Receive::new(&memory, length, deadline))),
///     }
/// }
/// # fn main() {
/// # let mut w = World::new(4, |_| ());
/// # let deadline = w.now.after(Span::from_secs(50));
/// # w.put(32, deadline);
/// # for _ in 0..4 {
/// #     w.round(1, |request| { decide(request, deadline); true });
/// #     w.round(0, |_| false);
/// # }
/// # assert_eq!(w.bytes[1][31].get(), 0);
/// # }
/// ```
#[must_use = "a peer's request needs a decision"]
pub struct Arrival<'d, 'm, 'f, P: Ports> {
    driver: &'d mut Driver<'m, P>,
    now: Instant,
    offer: Offer,
    from: &'d Envelope,
    message: &'d Message<'f>,
}

impl<P: Ports> fmt::Debug for Arrival<'_, '_, '_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Arrival");
        shown.field("kind", &self.kind()).field("from", &self.from());
        shown.field("length", &self.length()).finish_non_exhaustive()
    }
}

impl<'d, 'm, 'f, P: Ports> Arrival<'d, 'm, 'f, P> {
    /// A request that was offered.
    #[inline]
    pub(crate) fn of(
        driver: &'d mut Driver<'m, P>,
        now: Instant,
        from: &'d Envelope,
        offer: Offer,
        message: &'d Message<'f>,
    ) -> Inbound<'d, 'm, 'f, P> {
        Inbound::Request(Self { driver, now, from, offer, message })
    }

    /// The hop it came from.
    pub const fn from(&self) -> Nid {
        self.from.from
    }

    /// The upper layer's header.
    pub const fn header(&self) -> &'f [u8] {
        self.message.header()
    }

    /// Bytes offered (PUT) or wanted (GET).
    #[inline]
    pub const fn length(&self) -> u32 {
        self.message.length()
    }

    /// The kind of the request.
    #[inline]
    pub const fn kind(&self) -> RequestKind {
        RequestKind::of(self.message)
    }

    /// The inline payload. Empty for the other kinds.
    #[inline]
    pub const fn payload(&self) -> &'f [u8] {
        self.message.payload()
    }

    /// Keeps the request in a slot for a later decision. The frame is then needed only for the
    /// payload of an inline message.
    #[inline(never)]
    pub fn keep(self) -> RxRequest<'f> {
        self.keep_for_now().0
    }

    fn keep_for_now(self) -> (RxRequest<'f>, &'d mut Driver<'m, P>) {
        let Self { driver, now, offer, message, from } = self;
        let (kind, header, payload) =
            (RequestKind::of(message), message.header(), message.payload());
        // The offer has checked for a slot, and the driver was borrowed since. So the tag names no
        // slot only if the tables contradict each other. A stale request is refused and counted.
        let tag = driver.take_up_request(now, &offer, from, message);
        let tag = tag.unwrap_or(Tag { index: u32::MAX, generation: 0 });
        (
            RxRequest { tag, kind, from: from.from, header, payload, length: message.length() },
            driver,
        )
    }

    /// Receives a PUT, all of it or its first `length` bytes (`lnd_recv`). A length of zero
    /// receives nothing and still ends the sender's transfer OK.
    ///
    /// # Errors
    /// [`RecvError::Refused`]: the request is kept and returned.
    #[inline]
    pub fn recv(self, it: &Receive<'_>) -> Result<Received, RecvError<'f>> {
        if let Message::Immediate { payload, .. } = *self.message {
            if it.length as usize <= payload.len() && self.fits(it) {
                return Ok(Received::Done(self.recv_inline(it, payload)));
            }
        }
        self.recv_pulled(it)
    }

    /// Receives a PUT that is pulled. Its slot belongs to the pull from the start, unless the call
    /// is refused or late.
    #[inline(never)]
    fn recv_pulled(mut self, it: &Receive<'_>) -> Result<Received, RecvError<'f>> {
        let now = self.now;
        // A wrong or late call keeps the request first, so that the refusal can return it.
        let in_time = it.deadline > now;
        if self.kind() == RequestKind::Put && in_time && it.length <= self.length() && self.fits(it)
        {
            let Self { driver, offer, message, from, .. } = &mut self;
            if let Some(tag) = driver.take_up_put(now, offer, from, message, it) {
                return Ok(Received::Pending(tag));
            }
        }
        let (rx_request, driver) = self.keep_for_now();
        driver.recv(now, rx_request, it).map(Received::Pending)
    }

    /// Receives an inline payload. It has then ended, and no report follows.
    ///
    /// # Errors
    /// The reason for which it cannot be received in this way; [`Why::WrongKind`] for a payload
    /// that is not inline. Nothing has changed: as after a dropped arrival, the frame stays in the
    /// channel.
    #[inline]
    pub fn recv_at_once(mut self, it: &Receive<'_>) -> Result<Status, Why> {
        self.check(self.kind() == RequestKind::Immediate, it.sink, it.length)?;
        let payload = self.payload();
        Ok(self.recv_inline(it, payload))
    }

    /// Whether a PUT can be received with these arguments once it is [kept](Self::keep). Nothing
    /// changes.
    ///
    /// # Errors
    /// The reason. It is counted as a refused call.
    pub fn check_recv(&mut self, it: &Receive<'_>) -> Result<(), Why> {
        self.check(self.kind() != RequestKind::Get, it.sink, it.length)
    }

    /// Whether a GET can be answered with these arguments once it is [kept](Self::keep). Nothing
    /// changes.
    ///
    /// # Errors
    /// The reason. It is counted as a refused call.
    pub fn check_reply(&mut self, it: &Reply<'_>) -> Result<(), Why> {
        self.check(self.kind() == RequestKind::Get, it.source, it.length)
    }

    /// Whether the driver accepts these buffers for the request. A refusal is counted.
    fn check(&mut self, kind_fits: bool, memory: &[Fragment], length: u32) -> Result<(), Why> {
        let listed = memory.len() > 1 && self.kind() != RequestKind::Immediate;
        let requested = self.length();
        let Self { driver, .. } = self;
        let checked = match driver.check_memory(memory) {
            _ if !kind_fits => Err(Why::WrongKind),
            Ok(room) if length > room || length > requested => Err(Why::TooLong),
            Ok(_) if listed && !driver.slots.lists.has_room() => Err(Why::NoLists),
            Ok(_) => Ok(()),
            Err(why) => Err(why),
        };
        checked.map_err(|why| driver.refuse_call(why))
    }

    #[inline]
    fn fits(&self, it: &Receive<'_>) -> bool {
        let room = self.driver.check_memory(it.sink);
        room.is_ok_and(|room| it.length <= room)
    }

    /// Copies an inline payload to the upper layer's buffers, which ends the request.
    #[inline]
    fn recv_inline(self, it: &Receive<'_>, payload: &[u8]) -> Status {
        let Self { driver, now, offer, from, .. } = self;
        // The credit returns before the copy. The frame is free after this call whether the copy
        // succeeds or not.
        driver.consume_offer(&offer, from);
        let payload = payload.get(..it.length as usize).unwrap_or(payload);
        let status = match scatter(&mut driver.memory, payload, it.sink) {
            Ok(()) => Status::OK,
            Err(_) => Status::of(driver.config.policy, Cause::Local, Place::Queue),
        };
        // The number of a former session would be mistaken for one of the present session.
        let sequence = if offer.former { 0 } else { from.sequence };
        driver.ended_at_once(now, (from.from, sequence), it.length, status);
        status
    }

    /// Answers a GET with `length` bytes of the upper layer: see [`Driver::reply`].
    ///
    /// # Errors
    /// The kept request and the reason. Nothing will be reported.
    pub fn reply(self, it: &Reply<'_>) -> Result<Tag, RecvError<'f>> {
        let now = self.now;
        let (rx_request, driver) = self.keep_for_now();
        driver.reply(now, rx_request, it)
    }

    /// Refuses the request. The sender of a PUT or GET gets a NAK. An inline message is dropped.
    pub fn nak(self, why: NakReason) {
        let now = self.now;
        if self.kind() == RequestKind::Immediate {
            self.driver.consume_offer(&self.offer, self.from);
            return;
        }
        let (rx_request, driver) = self.keep_for_now();
        driver.nak(now, rx_request, why);
    }
}
