// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a byzantine node knows: every frame that was sent, and what it says.

use std::collections::{BTreeMap, VecDeque};

use lnd_core::id::{Incarnation, Tag};
use lnd_core::message::{Envelope, Message};
use lnd_shortmsg::wire::{decode, Checksum};

use crate::fabric::node_of;
use crate::rng::Rng;

use crate::simulator::mailbox::Lane;

/// Frames and cookies remembered.
const MEMORY: usize = 96;

/// What it knows of one node, and how far it has come in playing by the rules with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// Its incarnation.
    pub incarnation: Option<Incarnation>,
    /// The session that it has opened with us.
    pub theirs: u32,
    /// Its requests that we have taken.
    pub consumed: u16,
    /// The session that we have opened last, and whether it was answered.
    pub ours: u32,
    /// It has answered.
    pub open: bool,
    /// Requests that we have sent in it.
    pub sequence: u32,
}

/// All that it knows.
#[derive(Debug, Default)]
pub struct Captured {
    frames: VecDeque<Vec<u8>>,
    cookies: VecDeque<Tag>,
    nodes: BTreeMap<u32, Known>,
}

impl Captured {
    /// Takes in what was overheard.
    pub fn learn(&mut self, heard: &mut VecDeque<(Lane, Vec<u8>)>) {
        for (_, bytes) in heard.drain(..) {
            if let Ok(frame) = decode(&bytes, Checksum::On) {
                let (envelope, message) = frame.into_parts();
                self.note(&envelope, &message);
            }
            if self.frames.len() == MEMORY {
                self.frames.pop_front();
            }
            self.frames.push_back(bytes);
        }
    }

    /// Notes lives and cookies.
    pub fn note(&mut self, envelope: &Envelope, message: &Message<'_>) {
        if let Some(node) = node_of(envelope.from) {
            self.node(node).incarnation = Some(envelope.from_incarnation);
        }
        let tags = match *message {
            Message::PutReq { source: tag, .. }
            | Message::PutNak { source: tag, .. }
            | Message::PutDone { source: tag, .. }
            | Message::GetReq { sink: tag, .. }
            | Message::GetNak { sink: tag, .. }
            | Message::GetDone { sink: tag, .. }
            | Message::CancelPush { sink: tag, .. } => [Some(tag), None],
            Message::PullReady(ready) => [Some(ready.sink), Some(ready.source)],
            _ => [None, None],
        };
        for tag in tags.into_iter().flatten() {
            if self.cookies.len() == MEMORY {
                self.cookies.pop_front();
            }
            self.cookies.push_back(tag);
        }
    }

    /// What is known of a node.
    pub fn node(&mut self, node: u32) -> &mut Known {
        self.nodes.entry(node).or_default()
    }

    /// Some frame that was sent.
    pub fn frame(&self, rng: &mut Rng) -> Option<Vec<u8>> {
        self.frames.get(rng.below(self.frames.len() as u64) as usize).cloned()
    }

    /// Some cookie that was in use, with a bias to the last ones.
    pub fn cookie(&self, rng: &mut Rng) -> Option<Tag> {
        let many = self.cookies.len() as u64 >> rng.below(5);
        let back = 1 + rng.below(many) as usize;
        self.cookies.get(self.cookies.len().checked_sub(back)?).copied()
    }
}
