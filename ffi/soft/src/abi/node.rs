// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This host's nodes: joining and leaving.

use core::ffi::c_void;

use lnd_core::arena::{Arena, LINE};
use lnd_core::ports::Features;
use lnd_dma::driver::Connections;
use lnd_dma::memory::LinkMemory;
use lnd_dma::read::RemoteReads;
use lnd_shortmsg::mailbox::spsc::Producer;
use lnd_shortmsg::mailbox::Consumer;

use super::error::{lnd_error, outcome};
use super::fabric::{fabric_of, lnd_soft_fabric};
use super::memory::{arena, given, input, object, put, put_if, Kind, Object, Part};
use super::types::{lnd_soft_join_args, LND_SOFT_LEASES};
use crate::fabric::SoftFabric;
use crate::inbox::Inbox;
use crate::join::{Join, Joining, Membership};
use crate::nodes::{NodeFlags, Watch};
use crate::outbox::Outbox;
use crate::set::NodeSet;

type Outlets = &'static mut [Option<Producer<'static>>];
/// The remote reads of a link.
pub(super) type Reads = RemoteReads<LinkMemory<'static>>;
type Boxes = &'static mut [Option<Consumer<'static>>];

/// The state of a node.
#[derive(Debug)]
pub(super) enum NodeSlot {
    /// A call is under way, or the node has left.
    Empty,
    Joining(Joining<'static>),
    Joined(Membership<'static>),
}

/// The sending half: memory for it, or the half itself.
#[derive(Debug)]
pub(super) enum Sending {
    Memory(Outlets),
    Open(Outbox<'static, Outlets>),
    Gone,
}

/// The receiving half.
#[derive(Debug)]
pub(super) enum Receiving {
    Memory(Boxes),
    Open(Inbox<'static, Boxes>),
    Gone,
}

/// struct lnd_soft_node - A node of this host in a fabric; opaque.
///
/// Sending, receiving, watching, and joining or leaving are separate parts. One context at a time
/// may use each; several contexts may use different ones concurrently.
#[derive(Debug)]
#[repr(C)]
pub struct lnd_soft_node {
    kind: Kind,
    pub(super) fabric: SoftFabric<'static>,
    pub(super) number: u32,
    pub(super) slot: Part<NodeSlot>,
    pub(super) sending: Part<Sending>,
    pub(super) receiving: Part<Receiving>,
    pub(super) watch: Part<Watch>,
    /// For each link; none before its first use.
    #[cfg(feature = "connections")]
    pub(super) connections: Part<&'static mut [Option<Connections>]>,
    /// For each link; none before its first use.
    #[cfg(feature = "reads")]
    pub(super) reads: Part<&'static mut [Option<Reads>]>,
}

// SAFETY: `repr(C)`, the kind first.
unsafe impl Object for lnd_soft_node {
    const KIND: u32 = 0x4c53_4e02;
}

impl lnd_soft_node {
    fn others(&self) -> u64 {
        NodeSet::others(self.fabric.shape().nodes, self.number).bits()
    }
}

/// lnd_soft_node_size() - Bytes of memory for a node's object.
/// @fabric: the fabric.
///
/// Context: any.
/// Return: the bytes, or 0 if this is no fabric.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_node_size(fabric: *const lnd_soft_fabric) -> usize {
    given!(fabric_of(fabric)).map_or(0, |fabric| {
        let (boxes, links) = (fabric.shape().mailboxes(), fabric.shape().links as usize);
        LINE + Arena::table_bytes::<lnd_soft_node>(1)
            + Arena::table_bytes::<Option<Producer<'static>>>(boxes)
            + Arena::table_bytes::<Option<Consumer<'static>>>(boxes)
            + bytes_of_links::<Connections>(cfg!(feature = "connections"), links)
            + bytes_of_links::<Reads>(cfg!(feature = "reads"), links)
    })
}

/// Bytes for a table with an entry for each link, if this archive has such a table.
const fn bytes_of_links<T>(wanted: bool, links: usize) -> usize {
    if wanted {
        Arena::table_bytes::<Option<T>>(links)
    } else {
        0
    }
}

/// lnd_soft_join() - Begins to join a fabric.
/// @mem: memory for the object, until lnd_soft_leave().
/// @len: its bytes, at least lnd_soft_node_size().
/// @fabric: the fabric.
/// @args: the node and how it joins.
/// @node: where the object's pointer is written.
///
/// Releases what a former incarnation of the node held of other nodes, and stops its links. Takes
/// time linear in the fabric's descriptors. Continue with lnd_soft_prepare().
///
/// Context: thread.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_MEMORY, LND_E_ARGUMENT (no
/// such node or flag), LND_E_BUSY (another member has the node, or its death was not declared),
/// LND_E_STALE (declared dead in the meantime).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_join(
    mem: *mut c_void,
    len: usize,
    fabric: *const lnd_soft_fabric,
    args: *const lnd_soft_join_args,
    node: *mut *mut lnd_soft_node,
) -> lnd_error {
    let join = || {
        let fabric = given!(fabric_of(fabric))?;
        let args = given!(input(args))?;
        if args.flags & !LND_SOFT_LEASES != 0 {
            return Err(lnd_error::LND_E_ARGUMENT);
        }
        let mut memory = given!(arena(mem, len))?;
        given!(put(node, core::ptr::null_mut()))?;
        let made = furnish(&mut memory, fabric, args.node)?;
        let usual = Join::new(args.random);
        let wanted = Join {
            features: Features::from_bits_retain(args.features).intersection(usual.features),
            start: args.start,
            flags: NodeFlags((args.flags & 0xff) as u8),
            ..usual
        };
        match fabric.claim(args.node, &wanted) {
            Ok(joining) => *made.slot.enter()? = NodeSlot::Joining(joining),
            Err(error) => {
                made.kind.end();
                return Err(error.into());
            }
        }
        given!(put(node, made))
    };
    outcome(join())
}

/// A node that has not joined. Not inlined: see `finish`.
#[inline(never)]
fn furnish(
    memory: &mut Arena<'static>,
    fabric: SoftFabric<'static>,
    number: u32,
) -> Result<&'static mut lnd_soft_node, lnd_error> {
    let full = |_| lnd_error::LND_E_MEMORY;
    let boxes = fabric.shape().mailboxes();
    let outlets = memory.table(boxes, |_| None).map_err(full)?;
    let inlets = memory.table(boxes, |_| None).map_err(full)?;
    let node = lnd_soft_node {
        kind: Kind::of::<lnd_soft_node>(),
        fabric,
        number,
        slot: Part::new(NodeSlot::Empty),
        sending: Part::new(Sending::Memory(outlets)),
        receiving: Part::new(Receiving::Memory(inlets)),
        watch: Part::new(Watch::new()),
        #[cfg(feature = "connections")]
        connections: Part::new(
            memory.table(fabric.shape().links as usize, |_| None).map_err(full)?,
        ),
        #[cfg(feature = "reads")]
        reads: Part::new(memory.table(fabric.shape().links as usize, |_| None).map_err(full)?),
    };
    memory.place(node).map_err(full)
}

/// lnd_soft_prepare() - Formats the node's link memories and mailboxes.
/// @node: the node.
///
/// No peer's engine may read the memory of its former incarnation any more.
///
/// Context: thread.
/// Return: LND_OK; LND_E_WAIT (not yet: call again a millisecond later); LND_E_NULL, LND_E_ALIGN,
/// LND_E_NI, LND_E_BUSY (another context calls it), LND_E_STALE (declared dead in the meantime),
/// LND_E_RING (the link memories do not fit). A failed call may be repeated until the node can send
/// and receive.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_prepare(node: *mut lnd_soft_node) -> lnd_error {
    let prepare = || {
        let node = given!(object(node))?;
        let mut slot = node.slot.enter()?;
        if !matches!(&*slot, NodeSlot::Joined(_)) {
            finish(&mut slot)?;
        }
        let NodeSlot::Joined(membership) = &*slot else { return Err(lnd_error::LND_E_GONE) };
        open(node, membership)
    };
    outcome(prepare())
}

/// Not inlined, like `open`: a kernel's stack never holds both at once.
#[inline(never)]
fn finish(slot: &mut NodeSlot) -> Result<(), lnd_error> {
    let joining = match core::mem::replace(slot, NodeSlot::Empty) {
        NodeSlot::Joining(joining) => joining,
        other => {
            *slot = other;
            return Err(lnd_error::LND_E_GONE);
        }
    };
    match joining.finish() {
        Ok(membership) => {
            *slot = NodeSlot::Joined(membership);
            Ok(())
        }
        Err((error, joining)) => {
            *slot = NodeSlot::Joining(joining);
            Err(error.into())
        }
    }
}

/// Opens both halves unless they are open.
#[inline(never)]
fn open(node: &lnd_soft_node, membership: &Membership<'static>) -> Result<(), lnd_error> {
    // Both first: a context in one of them must not leave the node half open.
    let mut sending = node.sending.enter()?;
    let mut receiving = node.receiving.enter()?;
    match core::mem::replace(&mut *sending, Sending::Gone) {
        Sending::Memory(outlets) => {
            // SAFETY: by the contract of the ABI a node of this host leaves before it joins again,
            // and this is its only outbox.
            *sending = Sending::Open(unsafe { Outbox::new(membership, outlets) });
        }
        other => *sending = other,
    }
    match core::mem::replace(&mut *receiving, Receiving::Gone) {
        Receiving::Memory(boxes) => {
            // SAFETY: by the contract of the ABI a node of this host leaves before it joins again,
            // and this is its only inbox.
            *receiving = Receiving::Open(unsafe { Inbox::new(membership, boxes) });
        }
        other => *receiving = other,
    }
    match (&*sending, &*receiving) {
        (Sending::Open(_), Receiving::Open(_)) => Ok(()),
        _ => Err(lnd_error::LND_E_GONE),
    }
}

/// lnd_soft_announce() - Makes the node alive: its engines are ready.
/// @node: the node, prepared.
/// @ring: where the set of nodes to ring is written, or NULL.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_GONE (not prepared, or
/// left), LND_E_STALE (declared dead in the meantime).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_announce(node: *mut lnd_soft_node, ring: *mut u64) -> lnd_error {
    let announce = || {
        let node = given!(object(node))?;
        match &*node.slot.enter()? {
            NodeSlot::Joined(membership) if membership.announce() => {}
            NodeSlot::Joined(_) => return Err(lnd_error::LND_E_STALE),
            _ => return Err(lnd_error::LND_E_GONE),
        }
        given!(put_if(ring, node.others()))
    };
    outcome(announce())
}

/// lnd_soft_is_alive() - Whether the node was not declared dead; also valid while it joins.
/// @node: the node.
///
/// A node that has been declared dead although it runs must stop at once: no peer waits for it.
///
/// Context: any.
/// Return: 1 or 0.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_is_alive(node: *mut lnd_soft_node) -> u32 {
    let Ok(node) = given!(object(node)) else { return 0 };
    match node.slot.enter() {
        Ok(slot) => match &*slot {
            NodeSlot::Joined(membership) => u32::from(membership.is_ours()),
            NodeSlot::Joining(joining) => u32::from(joining.is_ours()),
            NodeSlot::Empty => 0,
        },
        // The node is joining or leaving.
        Err(_) => 1,
    }
}

/// lnd_soft_leave() - Leaves in good order, or gives up joining.
/// @node: the node. Its NI is destroyed, its engines are stopped and no longer stepped, and no
///        other call of it is under way or follows.
/// @ring: where the set of nodes to ring is written, or NULL.
///
/// The object's memory is the caller's again.
///
/// Context: thread.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY (a call is under way).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_leave(node: *mut lnd_soft_node, ring: *mut u64) -> lnd_error {
    let leave = || {
        let node = given!(object(node))?;
        let mut slot = node.slot.enter()?;
        let mut sending = node.sending.enter()?;
        let mut receiving = node.receiving.enter()?;
        given!(put_if(ring, node.others()))?;
        if !node.kind.end() {
            return Err(lnd_error::LND_E_NI);
        }
        *sending = Sending::Gone;
        // Consumers publish on close, so that what was released stays released.
        if let Receiving::Open(mut inbox) = core::mem::replace(&mut *receiving, Receiving::Gone) {
            inbox.close();
        }
        match core::mem::replace(&mut *slot, NodeSlot::Empty) {
            NodeSlot::Joined(membership) => membership.leave(),
            NodeSlot::Joining(joining) => joining.abandon(),
            NodeSlot::Empty => {}
        }
        Ok(())
    };
    outcome(leave())
}

/// lnd_soft_incarnation() - The node's incarnation, for lnd_config.incarnation.
/// @node: the node.
///
/// Context: any.
/// Return: the incarnation, or 0 if the node is not prepared, or is not a node.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_incarnation(node: *mut lnd_soft_node) -> u64 {
    let Ok(node) = given!(object(node)) else { return 0 };
    node.slot.enter().map_or(0, |slot| match &*slot {
        NodeSlot::Joined(membership) => membership.incarnation().raw(),
        _ => 0,
    })
}
