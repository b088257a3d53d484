// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An engine whose connections are separate stop domains.

use core::num::NonZeroU32;

use lnd_core::id::{Nid, Tag};
use lnd_core::link::{Connection, Quiesced};
use lnd_core::ports::{Bd, Engine, Features, PostError, Returned};

use super::{Connections, MmioEngine, Nodes};
use crate::memory::LinkMemory;
use crate::regs::RegisterAccess;

/// The engine of one link behind its registers, with connections: one with each of the nodes 0 to
/// 63, if the engine has [`Features::CONNECTIONS`]. A stop of one connection does not affect the
/// other nodes.
#[derive(Debug)]
pub struct ConnectingEngine<'m, R, N> {
    engine: MmioEngine<'m, R, N>,
    connections: Connections,
}

impl<'m, R: RegisterAccess, N: Nodes> ConnectingEngine<'m, R, N> {
    /// The same engine with its connections; none is stopped.
    pub fn new(engine: MmioEngine<'m, R, N>) -> Self {
        let connections = Connections::new(&engine.registers);
        Self { engine, connections }
    }

    /// The engine's memory.
    pub const fn memory(&self) -> LinkMemory<'m> {
        self.engine.memory()
    }
}

impl<R: RegisterAccess, N: Nodes> Engine for ConnectingEngine<'_, R, N> {
    const CONNECTIONS: bool = true;

    fn features(&self) -> Features {
        self.engine.features()
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        self.engine.post(bd)
    }

    fn doorbell(&mut self) {
        self.engine.doorbell();
    }

    fn invalidate(&mut self, tag: Tag) {
        self.engine.invalidate(tag);
    }

    fn stop(&mut self) {
        self.engine.stop();
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        self.engine.quiesced()
    }

    fn is_gone(&self) -> bool {
        self.engine.is_gone()
    }

    fn connection(&self, peer: Nid) -> Option<NonZeroU32> {
        self.engine.nodes.node_of(peer).and_then(|node| self.connections.number(node))
    }

    fn stop_connection(&mut self, connection: Connection) {
        self.connections.cut(&self.engine.registers, connection.number);
    }

    fn connection_quiesced(&mut self, connection: Connection) -> Option<Quiesced> {
        if connection.link != self.engine.link() {
            return None;
        }
        let parted = self.connections.has_parted(&self.engine.registers, connection.number);
        self.engine.gone |= parted.is_none();
        // SAFETY: the device identifies itself before and after it has shown, in answer to this
        // very cut, that the connection has stopped, and lets nothing of it begin while it is cut.
        // This driver ends the cut in `reset` alone, for this very proof. A connection that no
        // longer exists was proven stopped before it was replaced.
        parted?.then(|| unsafe { Quiesced::assert_connection_stopped(connection) })
    }

    /// Both stops wait only for alive pullers that do not release their claims (REG-10, REG-18).
    fn link_proves_more(&self) -> bool {
        false
    }

    fn is_stuck(&self) -> bool {
        self.engine.is_stuck()
    }

    fn reclaim(&mut self, tag: Tag, proof: &Quiesced) -> Option<Returned> {
        match proof.connection() {
            None => self.engine.reclaim(tag, proof),
            Some(it) => {
                let ours = it.link == self.engine.link() && self.connections.is_present(it.number);
                ours.then(|| self.engine.take(tag)).flatten()
            }
        }
    }

    fn reset(&mut self, proof: Quiesced) {
        match proof.connection() {
            None => {
                if proof.link() == self.engine.link() {
                    self.connections.renew_all();
                }
                self.engine.reset(proof);
            }
            Some(it) if it.link == self.engine.link() => {
                // A device that did not hear of it is stopped and reset with all its connections.
                self.engine.gone |= !self.connections.renew(&self.engine.registers, it.number);
            }
            Some(_) => {}
        }
    }

    fn link_up(&mut self) -> bool {
        self.engine.link_up()
    }
}
