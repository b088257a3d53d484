// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file declares what the core needs from its environment: one trait per piece of hardware
//! (S0-22, R20).
//!
//! No call may block, allocate or call back into the driver.

mod descriptor;
mod linear;
pub mod trace;
mod without;

use core::num::NonZeroU32;

use crate::base::fragment::Fragment;
use crate::base::id::{LinkId, Nid, Tag};
use crate::base::key::Key;
use crate::base::message::{Envelope, Lane, Message};
use crate::base::time::Instant;
use crate::machines::link::{Connection, Quiesced};
use trace::Trace;

pub use descriptor::{Bd, Completion, Features, Motion, PostError, Returned};
pub use linear::LinearMemory;
pub use without::WithoutEngine;

/// The DMA engine of one link, for the thread that owns the shard.
///
/// There is no "is it busy?" call: the state of a transfer cannot be sampled (S0-5).
///
/// The order of the calls in a recovery, on the engine of a link that has none:
///
/// ```
/// use lnd_core::host::WithoutEngine;
/// use lnd_core::id::{LinkId, Tag};
/// use lnd_core::ports::Engine;
///
/// let mut engine = WithoutEngine::new(LinkId::new(0).unwrap());
/// engine.stop();
/// // Only with the proof are descriptors taken back, and the reset uses it up.
/// if let Some(proof) = engine.quiesced() {
///     assert_eq!(engine.reclaim(Tag { index: 0, generation: 1 }, &proof), None);
///     engine.reset(proof);
/// }
/// assert!(engine.link_up());
/// ```
pub trait Engine {
    /// Whether engines of this type have connections that can be stopped one by one: see
    /// [`connection`](Self::connection). Without them the driver contains no code for it.
    const CONNECTIONS: bool = false;

    /// Whether engines of this type need more than a tag to pull: see [`key`](Self::key). The same
    /// at both ends: a pull without a key from the peer is refused. Without keys the driver
    /// contains no code for them.
    const KEYS: bool = false;

    /// Whether engines of this type may push: write into memory that the peer's engine has exposed
    /// for it (S3-11). A GET then takes two messages in place of three, and nothing of it is
    /// staged. Only engines with [`KEYS`](Self::KEYS) push. Which of them do, [`Features::PUSHES`]
    /// says: both ends must have it, on each link. Without it the driver contains no code for it.
    const PUSHES: bool = false;

    /// Whether staged memory may be [invalidated](Self::invalidate) while the peer may be pulling
    /// it, and exposed memory while the peer may be pushing into it. The pull or push then ends
    /// with an error at both ends. If not, the driver first sends CANCEL to the puller, and
    /// invalidates once no pull is under way. Without an answer within the drain bound the stop
    /// domain is stopped. The puller's driver answers if its own engine is of this kind too. If
    /// `true`, the driver contains no code for it.
    const SAFE_INVALIDATE: bool = true;

    /// What the engine can do. Constant while it works. Empty if it does not identify itself.
    #[inline]
    fn features(&self) -> Features {
        Features::empty()
    }

    /// Writes a descriptor and queues it. The device may not see it before
    /// [`doorbell`](Self::doorbell).
    ///
    /// # Errors
    /// [`PostError`]; nothing was posted.
    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError>;

    /// The key of what was staged or exposed under a tag, for the engine that pulls it or pushes
    /// into it. Called once, after the
    /// successful [`post`](Self::post) and its doorbell, and before the message to the peer. Only
    /// where [`KEYS`](Self::KEYS) is set. Must not be empty: the pull would be refused.
    ///
    /// It names this use of the memory alone. It is valid from the post until the descriptor comes
    /// back, also where registration is work that is posted in front of the message.
    #[inline]
    fn key(&self, _tag: Tag) -> Key {
        Key::NONE
    }

    /// Whether this engine has keys, where engines of its type may: see [`KEYS`](Self::KEYS).
    /// Constant.
    #[inline]
    fn has_keys(&self) -> bool {
        true
    }

    /// Whether this engine invalidates safely, where engines of its type may not: see
    /// [`SAFE_INVALIDATE`](Self::SAFE_INVALIDATE). Constant. One link that does not decides for all
    /// links of a driver.
    #[inline]
    fn safe_invalidate(&self) -> bool {
        Self::SAFE_INVALIDATE
    }

    /// Notifies the device of everything posted since the last doorbell. All writes to descriptors
    /// and their memory are visible to the device before the doorbell.
    fn doorbell(&mut self);

    /// Requests the return of a descriptor. Never waits. The descriptor comes back as a completion
    /// with any outcome, or not at all (S0-6, S0-7). A repetition changes nothing (R18).
    ///
    /// Unless the engine [invalidates safely](Self::SAFE_INVALIDATE), a staged descriptor is
    /// invalidated only while its peer does not pull it. [`Returned::Untouched`] remains the
    /// engine's own knowledge.
    fn invalidate(&mut self, tag: Tag);

    /// Requests a stop of the engine. Never waits.
    fn stop(&mut self);

    /// The proof that the engine of this link has stopped, if the device identifies itself and its
    /// registers report it (INV-3, S0-10). A stop that has not reached the device is repeated.
    fn quiesced(&mut self) -> Option<Quiesced>;

    /// Whether a call of this port has found, since the last proof or reset, that the device does
    /// not identify itself or reports what no working device reports. Touches no register. Other
    /// contexts report their findings by
    /// [`IrqHandle::device_gone`](crate::driver::IrqHandle::device_gone).
    #[inline]
    fn is_gone(&self) -> bool {
        false
    }

    /// The number of the present connection with a peer (a queue pair, an endpoint), if this engine
    /// can stop its connections one by one. `None`: only the whole link can be stopped. Whether it
    /// is `None` is constant. Called only where [`CONNECTIONS`](Self::CONNECTIONS) is set.
    ///
    /// Two connections with a peer on a link never have the same number. It changes to that of the
    /// next connection in [`reset`](Self::reset), and at no other time. A connection that the
    /// transport has replaced by itself keeps its number until then, is reported by
    /// [`Driver::on_connection_down`](crate::driver::Driver::on_connection_down), and has stopped.
    #[inline]
    fn connection(&self, _peer: Nid) -> Option<NonZeroU32> {
        None
    }

    /// Requests a stop of one connection. Never waits: where a stop has to sleep, another thread
    /// does it. Called only where [`connection`](Self::connection) has returned a number.
    fn stop_connection(&mut self, _connection: Connection) {}

    /// The proof that a connection has stopped: its work has ended, and its keys are invalid. A
    /// connection that was never made, or that is gone, has stopped.
    fn connection_quiesced(&mut self, _connection: Connection) -> Option<Quiesced> {
        None
    }

    /// Whether the stop of the whole link may be proven where that of one connection is not. A
    /// connection without a proof within two drain bounds is then stopped with its link. `false`
    /// where both wait for the same puller: other peers of the link then go on meanwhile.
    #[inline]
    fn link_proves_more(&self) -> bool {
        true
    }

    /// Whether the completions of this link can no longer arrive, as far as the engine knows. Asked
    /// when a descriptor has not come back within the drain bound and its connection would be
    /// stopped. If so, the whole link is stopped: only its reset mends that.
    #[inline]
    fn is_stuck(&self) -> bool {
        false
    }

    /// After the stop: the outcome in the descriptor's own memory, if there is one. The descriptor
    /// is then taken away from the device (S0-12).
    fn reclaim(&mut self, tag: Tag, proof: &Quiesced) -> Option<Returned>;

    /// Resets the stopped engine, or the stopped connection that the proof names, and uses up the
    /// proof (S0-11). Earlier descriptors are gone. The connection may be made again from now on.
    ///
    /// The proof of a link covers its connections, and no proof of their own follows: each that was
    /// asked to stop or has failed is made again too, under another number.
    fn reset(&mut self, proof: Quiesced);

    /// Whether the link's own register reports that it works. An unfinished reset is repeated. By
    /// default it works: then a link is out of service only until its reset, also one that
    /// [`Driver::on_link`](crate::driver::Driver::on_link) reported down.
    #[inline]
    fn link_up(&mut self) -> bool {
        true
    }
}

/// The completion ring of one link, for its interrupt.
pub trait Completions {
    /// Pops the next completion, or `None`. Invalid entries are counted and skipped, a bounded
    /// number of them per call.
    fn pop(&mut self) -> Option<Completion>;
}

/// The channel had no room. The message was not sent and never will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelFull;

crate::sentences! { ChannelFull { Self => "the channel has no room" }}

/// The end of a short message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sent {
    /// The channel has done its part. The peer may not have read it yet.
    Ok,
    /// Failed, and the channel knows that it was not delivered.
    NotDelivered,
    /// Failed, and whether it was delivered is unknown.
    Unknown,
}

/// The short-message channel: fire and forget (S0-1 to S0-4).
///
/// A channel over memory that the sender itself writes:
///
/// ```
/// use std::cell::RefCell;
/// use lnd_core::prelude::*;
///
/// /// Writes to the peer's backlog.
/// struct Post<'m>(&'m RefCell<Backlog<256, 8>>);
///
/// impl Channel for Post<'_> {
///     fn immediate_max(&self) -> u32 {
///         256
///     }
///     fn is_reliable(&self) -> bool {
///         true
///     }
///     /// `send` never returns `Ok(None)`: `submit` may say that a small PUT is done.
///     fn ends_at_once(&self) -> bool {
///         true
///     }
///     fn ready(&mut self, _: LinkId, _: Nid, lane: Lane) -> bool {
///         self.0.borrow().has_room(lane)
///     }
///     fn send(
///         &mut self,
///         _: LinkId,
///         envelope: &Envelope,
///         message: &Message<'_>,
///         _: Option<Tag>,
///     ) -> Result<Option<Sent>, ChannelFull> {
///         self.0.borrow_mut().push(envelope, message).map(|()| Some(Sent::Ok))
///     }
/// }
/// ```
pub trait Channel {
    /// Whether any path leads to this node. Without routes there is one to each node.
    #[inline]
    fn reaches(&self, _to: Nid) -> bool {
        true
    }

    /// Largest IMMEDIATE payload in bytes this node can send and receive with a header of
    /// [`MAX_HEADER`](crate::message::MAX_HEADER) bytes.
    fn immediate_max(&self) -> u32;

    /// Whether a message that ended with [`Sent::Ok`] reaches the peer's driver for certain and
    /// once, even if that does not run for long, unless its incarnation ends: shared memory,
    /// reliable connections. One lane of one link then keeps its order too: a request that waits
    /// holds up those behind it, and may wait for one before it. Constant, and the same at both
    /// ends.
    ///
    /// If not, an inline message that ended well is reported as
    /// [`Delivery::Sent`](crate::transfer::Delivery::Sent), and requests in flight across a resync
    /// are given up.
    fn is_reliable(&self) -> bool;

    /// Of a channel that is not [reliable](Self::is_reliable): whether it loses messages only with
    /// a connection or a link that [stops](Engine::stop_connection). A message that ended with
    /// [`Sent::Ok`] then reaches the peer's driver once, however long it waits there, unless its
    /// connection ends before it has arrived. Constant, and the same at both ends.
    #[inline]
    fn is_connected(&self) -> bool {
        false
    }

    /// Whether every message has ended when [`send`](Self::send) returns, as in memory that the
    /// sender itself writes. Constant. Such a message needs no slot: the call that sends it returns
    /// its end.
    #[inline]
    fn ends_at_once(&self) -> bool {
        false
    }

    /// Whether a lane has room for one more message. `true` guarantees that the next
    /// [`send`](Self::send) of this driver into that lane to that node finds room. A channel that
    /// is never full has room.
    #[inline]
    fn ready(&mut self, _link: LinkId, _to: Nid, _lane: Lane) -> bool {
        true
    }

    /// Hands a message over, irrevocably (INV-5, R5). If it has ended when this call returns, the
    /// result is its end and its only report. Otherwise the end of a message with a `tag` is
    /// reported later by [`IrqHandle::on_sent`](crate::driver::IrqHandle::on_sent), exactly once,
    /// possibly in another context before this call returns. Without a tag there is no report.
    ///
    /// A tag with an index beyond all slots names a hello. Of its end only [`Sent::NotDelivered`]
    /// need be reported, in either of the two ways: it ends the wait for an answer.
    ///
    /// # Errors
    /// [`ChannelFull`]: nothing was sent and nothing will be reported.
    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull>;

    /// As [`send`](Self::send) of an IMMEDIATE without a tag. `gather` writes the payload into
    /// memory of the length of `scratch`, whose contents are arbitrary. A channel that encodes into
    /// memory of its own lets `gather` write there. Other channels use `scratch`, as this default
    /// does.
    ///
    /// `None`: `gather`, which is called at most once, has returned `false`. Nothing was sent.
    #[inline]
    fn send_inline(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        header: &[u8],
        scratch: &mut [u8],
        gather: impl FnOnce(&mut [u8]) -> bool,
    ) -> Option<Result<Option<Sent>, ChannelFull>> {
        if !gather(scratch) {
            return None;
        }
        Some(self.send(link, envelope, &Message::Immediate { header, payload: scratch }, None))
    }

    /// The link, or the connection of the proof, has stopped. The channel must not report messages
    /// handed over on it before. The driver reports them itself. Nothing is to be done where
    /// messages [end at once](Self::ends_at_once).
    #[inline]
    fn quiesce(&mut self, _link: LinkId, _proof: &Quiesced) {}
}

/// An address that the port cannot reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAddress;

crate::sentences! { BadAddress { Self => "the port cannot reach the address" }}

/// The processor's access to the memory of fragments, for payload that travels inline.
///
/// ```
/// use lnd_core::ports::{BadAddress, Memory};
///
/// /// A window whose addresses begin at zero.
/// struct Window([u8; 64]);
///
/// impl Memory for Window {
///     fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
///         let tail = usize::try_from(address).ok().and_then(|at| self.0.get(at..));
///         into.copy_from_slice(tail.and_then(|it| it.get(..into.len())).ok_or(BadAddress)?);
///         Ok(())
///     }
///     fn write(&mut self, address: u64, from: &[u8]) -> Result<(), BadAddress> {
///         let tail = usize::try_from(address).ok().and_then(|at| self.0.get_mut(at..));
///         tail.and_then(|it| it.get_mut(..from.len())).ok_or(BadAddress)?.copy_from_slice(from);
///         Ok(())
///     }
/// }
///
/// let mut window = Window([0; 64]);
/// assert_eq!(window.write(60, b"four"), Ok(()));
/// assert_eq!(window.write(61, b"four"), Err(BadAddress));
/// ```
pub trait Memory {
    /// Copies out of memory.
    ///
    /// # Errors
    /// [`BadAddress`]; `into` may have been written in part.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress>;

    /// Copies into memory.
    ///
    /// # Errors
    /// [`BadAddress`]; nothing was written.
    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), BadAddress>;

    /// Whether the engine and this port may reach all of a fragment. Without protection they may.
    #[inline]
    fn valid(&self, _fragment: &Fragment) -> bool {
        true
    }
}

/// The receiver of transitions. Called with the shard held: must be short and must not call back.
pub trait Tracer {
    /// Records one event.
    fn record(&mut self, now: Instant, trace: Trace);
}

/// A tracer that records nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTrace;

impl Tracer for NoTrace {
    #[inline]
    fn record(&mut self, _now: Instant, _trace: Trace) {}
}

/// One environment's set of ports.
pub trait Ports {
    /// The engine of each link.
    type Engine: Engine;
    /// The short-message channel.
    type Channel: Channel;
    /// Payload memory.
    type Memory: Memory;
    /// The trace sink.
    type Tracer: Tracer;
}

/// The ports in this order are a set of ports: a host needs no type of its own for that.
///
/// ```
/// use lnd_core::driver::Driver;
/// use lnd_core::host::{LinearMemory, WithoutEngine};
/// use lnd_core::ports::{Channel, NoTrace};
///
/// struct MyHost<'m, C: Channel> {
///     driver: Driver<'m, (WithoutEngine, C, LinearMemory<'m>, NoTrace)>,
/// }
/// ```
impl<E: Engine, C: Channel, M: Memory, T: Tracer> Ports for (E, C, M, T) {
    type Engine = E;
    type Channel = C;
    type Memory = M;
    type Tracer = T;
}
