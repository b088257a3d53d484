// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What connects engines: the other nodes' link memories, their states, and the bus.

use lnd_core::id::LinkId;

use crate::descriptor::State;
use crate::memory::LinkMemory;

/// A bus address of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusAddress {
    /// The node's number in the fabric.
    pub node: u32,
    /// The bus address within the node.
    pub address: u64,
}

/// An access outside of memory. Nothing was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusFault;

lnd_core::sentences! { BusFault { Self => "the access lies outside of memory" }}

/// One engine's view of the fabric.
pub trait Fabric<'m> {
    /// The memory of another node's link of the same number, if the node is present.
    fn memory_of(&self, node: u32, link: LinkId) -> Option<LinkMemory<'m>>;

    /// Whether a node is alive. `false` is a *proof* that none of its engines accesses memory any
    /// more (S0-9: after a node's death all its traffic is done within a bounded time). Without a
    /// proof the node counts as alive. A dead node counts as alive again only after [`let_go_of`]
    /// has released what its former incarnation held, and no engine holds anything of its former
    /// memory.
    fn alive(&self, node: u32) -> bool;

    /// Moves `length` bytes.
    ///
    /// # Errors
    /// [`BusFault`] if any byte lies outside its node's memory.
    fn copy(&mut self, from: BusAddress, to: BusAddress, length: u32) -> Result<(), BusFault>;

    /// A descriptor that `node` had staged was returned, and its engine has work: a sleeping engine
    /// must be woken.
    fn returned(&mut self, _node: u32) {}
}

/// Returns every descriptor of `memory` that an engine of `node` held at its death: the new
/// incarnation does not use them. Call it for each other node's memory, before the node counts as
/// alive again, while none of its engines runs. Takes time linear in the descriptors. Context:
/// thread.
pub fn let_go_of(memory: &LinkMemory<'_>, node: u32) {
    for index in 0..memory.geometry().descriptors {
        let Some(descriptor) = memory.descriptor(index) else { continue };
        let own = descriptor.own();
        let held = own.is(State::Busy) && own.puller() == node;
        if held && descriptor.swap(own, own.into(State::Touched)) {
            memory.dones().set(index);
        }
    }
}
