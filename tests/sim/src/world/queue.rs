// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What will happen, in the order of its time; what happens at one time keeps the order in which it
//! was arranged.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lnd_core::id::LinkId;
use lnd_core::time::Instant;

use super::chaos::Blow;
use super::network::Lane;

/// A thing that will happen.
#[derive(Clone, Debug)]
pub enum Event {
    /// A frame reaches its mailbox.
    Frame(Lane, Frame),
    /// A short message completes.
    Sent(u64),
    /// The engine of a link has time to work.
    Engine(u32, LinkId),
    /// A link raises its interrupt.
    Interrupt(u32, LinkId),
    /// The node's thread runs.
    Thread(u32),
    /// The node's user does something.
    User(u32),
    /// The adversary strikes, or lets go.
    Blow(Blow),
    /// The byzantine node has an idea.
    Idea,
}

/// A frame under way.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What was sent, or what became of it.
    pub bytes: Vec<u8>,
    /// It takes a place in its mailbox: the sender has paid for it. Duplicates have none.
    pub placed: bool,
}

#[derive(Debug)]
struct Entry<E> {
    at: Instant,
    number: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    /// The soonest is the greatest, as the heap wants it.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

/// The future.
#[derive(Debug)]
pub struct Queue<E = Event> {
    heap: BinaryHeap<Entry<E>>,
    next: u64,
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), next: 0 }
    }
}

impl<E> Queue<E> {
    /// Arranges for something to happen.
    pub fn push(&mut self, at: Instant, event: E) {
        self.heap.push(Entry { at, number: self.next, event });
        self.next += 1;
    }

    /// What happens next, and when.
    pub fn pop(&mut self) -> Option<(Instant, E)> {
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }

    /// When something happens next.
    pub fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|entry| entry.at)
    }
}
