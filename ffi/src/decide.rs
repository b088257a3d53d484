// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Carries out a decision on a peer's request, either while its frame is in the channel or after it
//! was kept.

use lnd_core::driver::{
    Arrival, Driver, Inbound, Receive, RecvError, Reply, RequestKind, RxRequest,
};
use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Tag};
use lnd_core::message::{Envelope, Message, NakReason};
use lnd_core::time::Instant;
use lnd_core::transfer::Status;

use crate::abi::{lnd_decision, lnd_error};
use crate::errors::of_why;
use crate::input::{fragments, given};
use crate::ni::Thread;
use crate::offered::Body;
#[cfg(not(feature = "compact"))]
use crate::offered::Request;
use crate::ports::Host;

/// A decision.
#[derive(Clone, Copy)]
pub(crate) enum What<'v> {
    Recv(Memory<'v>),
    Reply(Memory<'v>),
    Refuse(NakReason),
    Keep,
}

/// The memory that a decision lends.
#[derive(Clone, Copy)]
pub(crate) struct Memory<'v> {
    pub it: &'v lnd_decision,
    /// It may end at once: the caller takes the report.
    pub at_once: bool,
}

impl Memory<'_> {
    fn fragments(&self) -> Result<&[Fragment], lnd_error> {
        let memory = given!(fragments(self.it.frags, self.it.nfrags))?;
        if self.it.reserved == 0 {
            Ok(memory)
        } else {
            Err(lnd_error::LND_E_ARGUMENT)
        }
    }

    pub fn receive(&self) -> Result<Receive<'_>, lnd_error> {
        let deadline = Instant::from_nanos(self.it.deadline);
        let (length, user) = (self.it.len, self.it.user);
        Ok(Receive { sink: self.fragments()?, length, deadline, user })
    }

    pub fn reply(&self) -> Result<Reply<'_>, lnd_error> {
        let deadline = Instant::from_nanos(self.it.deadline);
        let (length, user) = (self.it.len, self.it.user);
        Ok(Reply { source: self.fragments()?, length, deadline, user })
    }
}

/// The result of a decision.
#[derive(Clone, Copy)]
pub(crate) enum Decided {
    /// Received, and ended; the sender's NID.
    Done(Status, u64),
    /// A report follows.
    Pending(Tag),
    Refused,
    /// Kept under this tag.
    Kept(Tag),
}

impl Thread {
    /// Takes the `RxRequest` of a kept request.
    fn unpark(&mut self, tag: Tag) -> Result<RxRequest<'static>, lnd_error> {
        let place = self.parked.get_mut(tag.index as usize);
        let rx_request =
            place.and_then(|place| place.take_if(|rx_request| rx_request.tag() == tag));
        rx_request.ok_or(lnd_error::LND_E_STALE)
    }

    /// Keeps an `RxRequest` without its frame until its decision.
    fn park(&mut self, rx_request: RxRequest<'_>) {
        if let Some(place) = self.parked.get_mut(rx_request.tag().index as usize) {
            *place = Some(rx_request.detach());
        }
    }

    /// Decides a kept request.
    #[inline(never)]
    pub(crate) fn decide_kept(
        &mut self,
        now: Instant,
        tag: Tag,
        what: &What<'_>,
    ) -> Result<Decided, lnd_error> {
        let rx_request = self.unpark(tag)?;
        self.settle(now, rx_request, what)
    }

    /// Carries out a decision on a request that has a slot. If that fails, the request stays kept.
    /// Not inlined: its frame must not be on the stack while the driver receives the message again.
    #[inline(never)]
    fn settle(
        &mut self,
        now: Instant,
        rx_request: RxRequest<'_>,
        what: &What<'_>,
    ) -> Result<Decided, lnd_error> {
        let decided = match what {
            What::Refuse(why) => {
                self.driver.nak(now, rx_request, *why);
                return Ok(Decided::Refused);
            }
            What::Keep => {
                let tag = rx_request.tag();
                self.park(rx_request);
                return Ok(Decided::Kept(tag));
            }
            What::Recv(it) => match it.receive() {
                Ok(it) => self.driver.recv(now, rx_request, &it),
                Err(error) => {
                    self.park(rx_request);
                    return Err(error);
                }
            },
            What::Reply(it) => match it.reply() {
                Ok(it) => self.driver.reply(now, rx_request, &it),
                Err(error) => {
                    self.park(rx_request);
                    return Err(error);
                }
            },
        };
        match decided {
            Ok(tag) => Ok(Decided::Pending(tag)),
            Err(RecvError::Gone) => Err(lnd_error::LND_E_GONE),
            Err(RecvError::Refused(rx_request, why)) => {
                self.park(rx_request);
                Err(of_why(why))
            }
        }
    }
}

/// Receives a message, for frames and for decisions. Not inlined: its frame must not be on the
/// stack while the upper layer's memory is copied.
#[inline(never)]
pub(crate) fn on_message<'d, 'f>(
    driver: &'d mut Driver<'static, Host>,
    now: Instant,
    link: LinkId,
    from: &'d Envelope,
    message: &'d Message<'f>,
) -> Inbound<'d, 'static, 'f, Host> {
    driver.on_message(now, link, from, message)
}

impl Thread {
    /// Stores what a link's frame requests, and returns its name.
    pub fn offer(&mut self, link: LinkId, from: &Envelope, message: &Message<'_>) -> Tag {
        let index = link.index() as u32;
        let Some(place) = self.offered.get_mut(link.index()) else {
            return Tag { index, generation: 0 };
        };
        Tag { index, generation: place.put(from, message) }
    }

    /// Decides a request whose frame is still in the channel. If that fails, the request still
    /// waits.
    ///
    /// # Errors
    /// `LND_E_STALE`: already decided, or a later frame has arrived. `LND_E_GONE`: ended.
    /// `LND_E_WAIT`: no room any more; another decision may need none. Else the reason why the
    /// decision cannot be carried out.
    pub fn decide_offered(
        &mut self,
        now: Instant,
        offered: Tag,
        what: &What<'_>,
    ) -> Result<Decided, lnd_error> {
        let link = LinkId::new(offered.index as usize).ok_or(lnd_error::LND_E_STALE)?;
        let place = self.offered.get_mut(link.index()).ok_or(lnd_error::LND_E_STALE)?;
        let found = place.get(offered.generation).ok_or(lnd_error::LND_E_STALE)?;
        let refused = matches!((what, found.body), (What::Refuse(_), Body::Immediate { .. }));
        // A host may have passed the payload on: nothing can keep such a request.
        if refused {
            self.driver.nak_immediate(link, &found.from);
            place.decided();
            return Ok(Decided::Refused);
        }
        let request = *found;
        #[cfg(not(feature = "compact"))]
        if let What::Recv(it) = what {
            if let Some(decided) = recv_next(self.driver, now, link, &request, it)? {
                place.decided();
                return Ok(decided);
            }
        }
        // SAFETY: the frame of an undecided request is there, by the contract of `lnd_frame_in`.
        let message = unsafe { request.body.message() };
        let begun = match on_message(self.driver, now, link, &request.from, &message) {
            Inbound::Handled => Err(lnd_error::LND_E_GONE),
            Inbound::Wait => {
                self.frame_waits = true;
                return Err(lnd_error::LND_E_WAIT);
            }
            Inbound::Request(arrival) => Ok(begin(arrival, what)?),
        };
        place.decided();
        let rx_request = match begun? {
            Begun::Kept(rx_request) => rx_request,
            Begun::Ended(decided) => return Ok(decided),
        };
        self.settle(now, rx_request, what)
    }
}

/// Receives the usual short message without looking at it as if it might be any other. `None`: it
/// is not of that kind, and nothing was done.
#[cfg(not(feature = "compact"))]
#[inline(never)]
fn recv_next(
    driver: &mut Driver<'static, Host>,
    now: Instant,
    link: LinkId,
    request: &Request,
    it: &Memory<'_>,
) -> Result<Option<Decided>, lnd_error> {
    if !it.at_once {
        return Ok(None);
    }
    // SAFETY: the frame of an undecided request is there, by the contract of `lnd_frame_in`.
    let Some(payload) = (unsafe { request.body.payload() }) else { return Ok(None) };
    let Some(next) = driver.on_immediate(now, link, &request.from, payload) else {
        return Ok(None);
    };
    let it = it.receive()?;
    let status = next.recv(it.sink, it.length).map_err(of_why)?;
    Ok(Some(Decided::Done(status, request.from.from.raw())))
}

/// The first stage of a decision.
enum Begun<'f> {
    /// Decided without a slot.
    Ended(Decided),
    Kept(RxRequest<'f>),
}

/// Decides requests that need no slot. Keeps the others if the decision can be carried out. Not
/// inlined, for the same reason as `settle`.
#[inline(never)]
fn begin<'f>(
    mut arrival: Arrival<'_, 'static, 'f, Host>,
    what: &What<'_>,
) -> Result<Begun<'f>, lnd_error> {
    let inline = arrival.kind() == RequestKind::Immediate;
    match what {
        What::Recv(it) if inline && it.at_once => {
            let nid = arrival.from().raw();
            let status = arrival.recv_at_once(&it.receive()?).map_err(of_why)?;
            return Ok(Begun::Ended(Decided::Done(status, nid)));
        }
        What::Recv(it) => arrival.check_recv(&it.receive()?).map_err(of_why)?,
        What::Reply(it) => arrival.check_reply(&it.reply()?).map_err(of_why)?,
        What::Refuse(_) | What::Keep => {}
    }
    Ok(Begun::Kept(arrival.keep()))
}
