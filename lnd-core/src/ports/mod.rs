// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the core needs from the world: one trait per piece of hardware (S0-22, R20).
//!
//! None of these calls may block, allocate or call back into the driver.

pub mod trace;

use core::num::NonZeroU32;

use crate::base::fragment::Fragment;
use crate::base::id::{LinkId, Nid, Tag};
use crate::base::key::Key;
use crate::base::message::{Envelope, Lane, Message};
use crate::base::time::Instant;
use crate::machines::link::{Connection, Quiesced};
use trace::Trace;

bitflags::bitflags! {
    impl Features: u32 {
        /// The engine of the pulled side reports the end of a pull itself (S3-4). Without it the
        /// puller sends PUT_DONE.
        const REMOTE_COMPLETION = 1 << 0;
        /// A descriptor that is invalidated before its first byte says so.
        const KNOWS_UNTOUCHED = 1 << 1;
        /// A one-sided read of an address that is not published ends with an access error and
        /// leaves both ends usable (S2-10, S2-12).
        const ILLEGAL_READ = 1 << 2;
        /// A one-sided read of no bytes ends well if the other engine answers.
        const ZERO_READ = 1 << 3;
        /// A one-sided read of the word that a peer has published (S2-9: optional).
        const PUBLISHED_READ = 1 << 4;
        /// The engine stops its connections one by one, by registers of its own
        /// (`docs/registers.md`).
        const CONNECTIONS = 1 << 5;
        /// No device's: the driver answers CANCEL. See [`Engine::SAFE_INVALIDATE`].
        const CANCEL = 1 << 31;
        // Bits of later devices survive.
        const _ = !0;
    }
}

/// What an engine can do. Unknown bits are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Features(pub u32);

/// Which way a descriptor moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Transmit side: memory to be pulled by one peer (S3-1).
    Stage {
        /// The only node that may pull it.
        to: Nid,
    },
    /// Receive side: pull what a peer has staged.
    Pull {
        /// The node to pull from.
        from: Nid,
        /// Its staged transfer.
        source: Tag,
        /// The [`key`](Engine::key) that its engine has for that, as the peer has sent it: any bytes, which
        /// the engine judges. Not empty where engines [have keys](Engine::has_keys).
        key: Key,
    },
}

/// One buffer descriptor (BD), as the core asks the engine to post it.
#[derive(Clone, Copy, Debug)]
pub struct Bd<'a> {
    /// Names the transfer; its index is the descriptor's index on every link.
    pub tag: Tag,
    /// Which way.
    pub motion: Motion,
    /// Bytes to move; may be less than the fragments hold, never more.
    pub length: u32,
    /// Where, in order.
    pub fragments: &'a [Fragment],
    /// The indirect list to use if the fragments do not fit the descriptor: `0..lists` of the
    /// configuration. `None` when there is at most one fragment.
    pub list: Option<u16>,
}

/// Why the engine did not take a descriptor. Nothing was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostError {
    /// Index, length or fragments are outside what the engine was set up for.
    Invalid,
    /// The descriptor of this index is still with the device.
    Busy,
    /// The ring is full.
    Full,
    /// The device says what no working device says: see [`Engine::is_gone`].
    Gone,
}

crate::sentences! { PostError {
    Self::Invalid => "the engine was not set up for such a descriptor",
    Self::Busy => "the descriptor is still with the device",
    Self::Full => "the ring is full",
    Self::Gone => "the device does not identify itself",
}}

/// How a descriptor came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returned {
    /// All bytes were moved.
    Ok,
    /// With an error, and the device vouches that not one byte was moved.
    Untouched,
    /// With an error, and bytes may have been moved.
    Touched,
}

/// One entry of a completion ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The descriptor's tag. Checked, never trusted.
    pub tag: Tag,
    /// How it came back.
    pub returned: Returned,
}

/// The DMA engine of one link, as seen by the thread that owns the shard.
///
/// There is no "is it busy?": the state of a transfer cannot be sampled (S0-5).
pub trait Engine {
    /// Whether engines of this type have connections that can be stopped one by one: see
    /// [`connection`](Self::connection). Without them the driver has no code for it.
    const CONNECTIONS: bool = false;

    /// Whether engines of this type need more than a tag to pull: see [`key`](Self::key). The same at both
    /// ends: a pull for which the peer has sent no key is refused. Without them the driver has no code for it.
    const KEYS: bool = false;

    /// Whether staged memory may be [taken back](Self::invalidate) while the peer may be pulling it: the pull then
    /// ends with an error at both ends. If not, the driver asks the puller first (CANCEL), and takes back what
    /// that does not pull, or not any more. Without its word within the drain bound the stop domain is stopped.
    /// The puller's driver answers if its own engine is such a one too. Otherwise the driver has no code for it.
    const SAFE_INVALIDATE: bool = true;

    /// What the engine can do. Constant while it works; nothing if it does not identify itself.
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

    /// The key of what was staged under a tag, for the engine that pulls it. Asked once, behind the
    /// [`post`](Self::post) of the descriptor, which was taken, and its doorbell, and before the peer is told;
    /// only where [`KEYS`](Self::KEYS) says so. Not empty: such a pull is refused.
    ///
    /// It names this use of the memory alone. It is valid from the post on, also where registration is work
    /// that is posted in front of the message, and until the descriptor comes back.
    #[inline]
    fn key(&self, _tag: Tag) -> Key {
        Key::NONE
    }

    /// Whether this engine has keys, where engines of its type may: see [`KEYS`](Self::KEYS). Constant.
    #[inline]
    fn has_keys(&self) -> bool {
        true
    }

    /// Whether this engine recalls, where engines of its type may not: see [`SAFE_INVALIDATE`](Self::RECALLS). Constant,
    /// and the same for all links of a driver: one that does not recall speaks for all.
    #[inline]
    fn safe_invalidate(&self) -> bool {
        Self::SAFE_INVALIDATE
    }

    /// Tells the device of everything posted since the last doorbell. All writes to descriptors
    /// and their memory are visible to the device before it sees the doorbell.
    fn doorbell(&mut self);

    /// Asks for a descriptor back. Never waits; the descriptor comes back as a completion, with
    /// any outcome, or not at all (S0-6, S0-7). Asking twice is the same as asking once (R18).
    ///
    /// Unless the engine [recalls](Self::RECALLS), a staged descriptor is asked for only if its peer does not pull
    /// it, or not any more. [`Returned::Untouched`] still is the engine's own knowledge.
    fn invalidate(&mut self, tag: Tag);

    /// Asks the engine to stop. Never waits.
    fn stop(&mut self);

    /// The proof that the engine of this link has stopped, if the device identifies itself and its
    /// registers say so (INV-3, S0-10). A stop that has not reached the device is repeated.
    fn quiesced(&mut self) -> Option<Quiesced>;

    /// Whether a call of this port has found the device not to identify itself, or to say what no working
    /// device says, since the last proof or reset. Touches no register. What is found elsewhere is told by
    /// [`IrqHandle::device_gone`](crate::driver::Decider::device_gone).
    #[inline]
    fn is_gone(&self) -> bool {
        false
    }

    /// The number of the present connection with a peer, if this engine can stop its connections one by
    /// one: a queue pair, an endpoint. `None`: only the whole link can be stopped. Whether it is `None`
    /// is constant. Asked only where [`CONNECTIONS`](Self::CONNECTIONS) says so.
    #[inline]
    fn connection(&self, _peer: Nid) -> Option<NonZeroU32> {
        None
    }

    /// Asks for a stop of one connection. Never waits; where stopping takes a thread that sleeps, one is
    /// told. Called only where [`connection`](Self::connection) has said that there is one.
    fn stop_connection(&mut self, _connection: Connection) {}

    /// The proof that a connection has stopped, once it has: its work has ended and its keys are not
    /// valid. A connection that was never made, or that is gone, has stopped.
    fn connection_quiesced(&mut self, _connection: Connection) -> Option<Quiesced> {
        None
    }

    /// Whether the stop of the whole link may be proven where that of one connection is not. Then a connection that
    /// is not proven stopped within two drain bounds is stopped with its link. Where both wait for the same, as for
    /// a puller that neither lets go nor is dead, it is waited for, and the link's other peers go on.
    #[inline]
    fn link_proves_more(&self) -> bool {
        true
    }

    /// After the stop: what the descriptor's own memory says of its end, if it says anything. The
    /// descriptor is then taken away from the device (S0-12).
    fn reclaim(&mut self, tag: Tag, proof: &Quiesced) -> Option<Returned>;

    /// Resets the stopped engine, or the stopped connection that the proof is of; the proof is used up
    /// (S0-11). Descriptors of before are gone. A connection may be made anew from here on.
    fn reset(&mut self, proof: Quiesced);

    /// Whether the link itself works (its own register, not a guess). A reset that has not reached
    /// the device is repeated.
    fn link_up(&mut self) -> bool;
}

/// The completion ring of one link, as seen by its interrupt.
pub trait Completions {
    /// Takes the next completion, or `None`. Entries that make no sense are counted and skipped;
    /// a call skips a bounded number of them.
    fn pop(&mut self) -> Option<Completion>;
}

/// The channel had no room. The message was not sent and will not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelFull;

crate::sentences! { ChannelFull { Self => "the channel has no room" }}

/// How a short message ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sent {
    /// The channel has done its part. It does not say that anybody has read it.
    Ok,
    /// Failed, and the channel knows that it was not delivered.
    NotDelivered,
    /// Failed, and nobody knows whether it was delivered.
    Unknown,
}

/// The short-message channel: fire and forget (S0-1 to S0-4).
pub trait Channel {
    /// Whether there is a way to this node at all.
    fn reaches(&self, to: Nid) -> bool;

    /// Largest IMMEDIATE payload in bytes this node can send and receive with a header of
    /// [`MAX_HEADER`](crate::message::MAX_HEADER) bytes.
    fn immediate_max(&self) -> u32;

    /// Whether a message whose end was [`Sent::Ok`] reaches the peer's driver for sure and once, however
    /// long that does not run, unless its incarnation ends: shared memory, reliable connections. One
    /// lane of one link then keeps its order as well: a request that waits holds up those behind it,
    /// and may wait for one before it.
    /// Constant, and the same at both ends. If not, an inline message that ended well is reported as
    /// [`Delivery::Sent`](crate::transfer::Delivery::Sent), and requests in flight across a resync are
    /// given up.
    fn is_reliable(&self) -> bool;

    /// Whether every message that [`send`](Self::send) takes has ended when it returns, as in memory that
    /// the sender writes itself. Constant. Such a message needs no slot: the call that sends it says how
    /// it ended.
    #[inline]
    fn ends_at_once(&self) -> bool {
        false
    }

    /// Whether there is room for one more message in a lane. `true` is a promise that the next
    /// [`send`](Self::send) of this driver into that lane to that node finds room.
    fn ready(&mut self, link: LinkId, to: Nid, lane: Lane) -> bool;

    /// Hands a message over, irrevocably (INV-5, R5). If it has ended when this call returns, the
    /// answer says how, and that is its only report. Else the end of a message with a `tag` is
    /// reported later by [`IrqHandle::on_sent`](crate::driver::Decider::on_sent), exactly once,
    /// possibly before this call returns in another context; without a tag nobody is told.
    ///
    /// A tag whose index no slot has names a hello. Of its end only [`Sent::NotDelivered`] need be
    /// reported, by the same two ways: then there is nothing to wait for.
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

    /// As [`send`](Self::send) of an IMMEDIATE without a tag. `gather` writes the payload, of which it has
    /// as many bytes as `scratch`; what it is given holds anything. A channel that encodes into memory of
    /// its own lets it write there. The others use `scratch`, as this default does.
    ///
    /// `None`: `gather`, which is called once at most, has said `false`. Nothing was sent.
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

    /// The link, or the connection of the proof, has been stopped: no message handed over on it before may
    /// be reported any more. The driver reports them itself. Nothing is to be done where messages
    /// [end at once](Self::ends_at_once).
    #[inline]
    fn quiesce(&mut self, _link: LinkId, _proof: &Quiesced) {}
}

/// An address outside of what the port can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAddress;

crate::sentences! { BadAddress { Self => "the port cannot reach the address" }}

/// The processor's access to the memory that fragments name, for payload that travels inline.
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

    /// Whether the engine and this port may reach all of a fragment.
    fn valid(&self, fragment: &Fragment) -> bool;
}

/// Where transitions are told. Called with the shard held: must be short and may not call back.
pub trait Tracer {
    /// One happening.
    fn record(&mut self, now: Instant, trace: Trace);
}

/// A tracer that forgets.
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
