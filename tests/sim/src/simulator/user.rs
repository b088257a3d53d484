// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A node's user: begins PUTs and GETs of all sizes, offers memory to others, and checks every byte
//! that is said to have arrived.

use std::collections::BTreeMap;

use lnd_core::fragment::MAX_FRAGMENT;
use lnd_core::time::{Instant, Span};

use super::book::{Book, Record};
use super::memory::{verify, Buffer, Pages};
use crate::fabric::{nid_of, node_of, MemoryWindow};
use crate::lnet::{slice, Event, Get, Lnet, Match, Md, Put, RequestHandle, RouterConfig, Target};
use crate::rng::Rng;

/// Portals for PUTs: number, bytes of each entry, entries offered at a time.
const PORTALS: [(u32, u32, u32); 3] = [(1, 8 << 10, 6), (2, 128 << 10, 3), (3, MAX_FRAGMENT, 1)];
/// The portal from which GETs read what never changes.
const SHELF: u32 = 9;
/// Bytes on the shelf.
const SHELF_BYTES: u32 = MAX_FRAGMENT;

/// The content of a node's shelf, the same in every incarnation.
const fn shelf_seed(node: u32) -> u64 {
    0x5e1f_0000_0000 + node as u64
}

/// Memory that was offered to others.
#[derive(Debug)]
struct Offer {
    buffer: Buffer,
    portal: usize,
}

/// A request under way.
#[derive(Debug)]
struct Asked {
    handle: RequestHandle,
    buffer: Buffer,
    /// When the user gives up waiting for the answer.
    due: Instant,
    expired: bool,
}

/// The user of one incarnation of one node.
#[derive(Debug)]
pub struct User<'m> {
    node: u32,
    habits: Habits,
    window: MemoryWindow<'m>,
    pages: Pages,
    rng: Rng,
    offers: BTreeMap<u64, Offer>,
    requests: BTreeMap<u64, Asked>,
    next_offer: u64,
    router: Vec<Buffer>,
}

/// A request to begin.
#[derive(Clone, Copy, Debug)]
pub struct Preference {
    /// Destination.
    pub to: u32,
    /// A GET, else a PUT.
    pub get: bool,
    /// Bytes.
    pub length: u32,
    /// PUT: an ACK is wanted.
    pub ack: bool,
    /// PUT: into memory that is surely large enough.
    pub exact: bool,
}

/// What a user goes by.
#[derive(Clone, Debug)]
pub struct Habits {
    /// Number of nodes.
    pub nodes: u32,
    /// How many of them, those that follow, it talks to.
    pub others: u32,
    /// The longest payload that travels inline.
    pub inline: u32,
    /// How long an answer is waited for.
    pub patience: Span,
    /// Nodes behind a router.
    pub far: Vec<u32>,
}

impl<'m> User<'m> {
    /// A user of `node`, with the whole window to itself.
    pub fn new(node: u32, window: MemoryWindow<'m>, rng: Rng, habits: Habits) -> Self {
        Self {
            node,
            habits,
            window,
            pages: Pages::new(window.bytes()),
            rng,
            offers: BTreeMap::new(),
            requests: BTreeMap::new(),
            next_offer: 0,
            router: Vec::new(),
        }
    }

    /// Memory for a router.
    pub fn router(&mut self) -> RouterConfig {
        for (bytes, count) in [(16 << 10, 6), (128 << 10, 2), (MAX_FRAGMENT, 1)] {
            for _ in 0..count {
                self.router.extend(Buffer::new(&mut self.pages, &mut self.rng, bytes, 2));
            }
        }
        let buffers = self.router.iter().map(|buffer| buffer.fragments.clone()).collect();
        RouterConfig { buffers, tiny: 16, max_hops: 3 }
    }

    /// Offers memory to others, for the first time.
    pub fn furnish(&mut self, lnet: &mut Lnet) {
        if let Some(shelf) = Buffer::new(&mut self.pages, &mut self.rng, SHELF_BYTES, 1) {
            shelf.fill(&mut self.window, shelf_seed(self.node), 0);
            let criteria = Match { portal: SHELF, ignore: u64::MAX, ..Match::default() };
            let memory = shelf.fragments.clone();
            let md = Md { memory, get: true, manage_remote: true, user: u64::MAX, ..Md::default() };
            // Memory of our own making is sound.
            let _ = lnet.attach(criteria, md);
            self.router.push(shelf);
        }
        for (portal, &(_, _, count)) in PORTALS.iter().enumerate() {
            for _ in 0..count {
                self.offer(lnet, portal);
            }
        }
    }

    fn offer(&mut self, lnet: &mut Lnet, portal: usize) {
        let Some(&(number, bytes, _)) = PORTALS.get(portal) else { return };
        let Some(buffer) = Buffer::new(&mut self.pages, &mut self.rng, bytes, 4) else { return };
        let criteria = Match { portal: number, ignore: u64::MAX, ..Match::default() };
        let user = self.next_offer;
        self.next_offer += 1;
        let md = Md {
            memory: buffer.fragments.clone(),
            put: true,
            truncate: self.rng.below(2) == 0,
            threshold: Some(1),
            unlink: true,
            user,
            ..Md::default()
        };
        let _ = lnet.attach(criteria, md);
        self.offers.insert(user, Offer { buffer, portal });
    }

    /// A length, biased to the edges.
    fn any_length(&mut self) -> u32 {
        let inline = self.habits.inline;
        let edges =
            [0, 1, 7, 8, inline.saturating_sub(1), inline, inline + 1, 4095, 4096, 4097, 65_536];
        match self.rng.below(100) {
            0..=39 => edges[self.rng.below(edges.len() as u64) as usize],
            40..=79 => self.rng.below(6 << 10) as u32,
            80..=97 => self.rng.below(100 << 10) as u32,
            98 => self.rng.below(u64::from(MAX_FRAGMENT)) as u32,
            _ => MAX_FRAGMENT,
        }
    }

    /// Has an idea or two.
    pub fn act(&mut self, lnet: &mut Lnet, now: Instant, book: &mut Book, incarnations: &[u32]) {
        let ideas = if self.rng.below(8) == 0 { self.rng.between(2, 10) } else { 1 };
        for _ in 0..ideas {
            let other = 1 + self.rng.below(u64::from(self.habits.others)) as u32;
            let preference = Preference {
                to: (self.node + other) % self.habits.nodes,
                get: self.rng.below(2) == 0,
                length: self.any_length(),
                ack: self.rng.below(2) == 0,
                exact: false,
            };
            self.begin(lnet, now, book, incarnations, preference);
        }
    }

    /// Begins a request; its number, unless something is short.
    pub fn begin(
        &mut self,
        lnet: &mut Lnet,
        now: Instant,
        book: &mut Book,
        incarnations: &[u32],
        preference: Preference,
    ) -> Option<u64> {
        let Preference { to, get, length, ack, exact } = preference;
        let buffer = Buffer::new(&mut self.pages, &mut self.rng, length, 6)?;
        let user = book.next_number();
        let memory = buffer.fragments.clone();
        let (offset, begun) = if get {
            buffer.poison(&mut self.window);
            let offset = self.rng.below(u64::from(SHELF_BYTES - length) + 1) as u32;
            let target = Target { portal: SHELF, offset, data: user, ..Target::default() };
            (offset, lnet.get(Get { to: nid_of(to), target, memory, user }))
        } else {
            buffer.fill(&mut self.window, user, 0);
            let portal = self.portal_for(length, exact);
            let target = Target { portal, data: user, ..Target::default() };
            (0, lnet.put(Put { to: nid_of(to), target, memory, ack, user }))
        };
        let Ok(handle) = begun else {
            buffer.free(&mut self.pages);
            return None;
        };
        let due = now.after(self.habits.patience);
        self.requests.insert(user, Asked { handle, buffer, due, expired: false });
        let incarnations = incarnations.get(to as usize).copied().unwrap_or(0);
        book.enter(Record {
            from: self.node,
            to,
            get,
            length,
            offset,
            straight: !self.habits.far.contains(&to),
            staged: length > self.habits.inline,
            incarnations,
            end: None,
            received: false,
            delivered: false,
            answered: false,
            over: false,
        });
        Some(user)
    }

    /// The portal of the smallest entries that will do; now and then a smaller one, whose entries
    /// cut the message or refuse it.
    fn portal_for(&mut self, length: u32, exact: bool) -> u32 {
        let fits = PORTALS.iter().position(|&(_, bytes, _)| bytes >= length).unwrap_or(0);
        let smaller = !exact && fits > 0 && self.rng.below(12) == 0;
        PORTALS.get(fits - usize::from(smaller)).map_or(1, |&(number, _, _)| number)
    }

    /// Gives up waiting for the answer to one request.
    pub(crate) fn expire(&mut self, lnet: &mut Lnet, number: u64) {
        if let Some(asked) = self.requests.get_mut(&number) {
            asked.expired = true;
            lnet.expire(asked.handle);
        }
    }

    /// Gives up waiting for answers that are overdue; all of them if the node is ending.
    pub fn give_up(&mut self, lnet: &mut Lnet, now: Instant, all: bool) {
        for asked in self.requests.values_mut() {
            if !asked.expired && (all || asked.due <= now) {
                asked.expired = true;
                lnet.expire(asked.handle);
            }
        }
    }

    /// Requests that have not ended.
    pub fn waiting(&self) -> usize {
        self.requests.len()
    }

    /// Entries that are still offered.
    pub fn offered(&self) -> usize {
        self.offers.len()
    }

    /// Hears what has happened, and checks it.
    ///
    /// # Errors
    /// What cannot be.
    pub fn listen(&mut self, lnet: &mut Lnet, book: &mut Book, ending: bool) -> Result<(), String> {
        while let Some(event) = lnet.next_event() {
            match event {
                Event::PutReceived {
                    user, from, data, offset, length, sent, status, ack, ..
                } => {
                    let from = node_of(from).unwrap_or(u32::MAX);
                    if !book.trusts(from) {
                        // Whatever it is: it lies in memory that was offered to every node.
                        ack.map(|due| lnet.send_ack(due).is_ok());
                        continue;
                    }
                    let ok = status.errno == 0;
                    self.put_received(book, user, (from, data, offset, length, sent), ok)
                        .map_err(|what| format!("PUT {data}: {what}"))?;
                    // No room for an ACK is no harm: the sender gives up some day.
                    ack.map(|due| lnet.send_ack(due).is_ok());
                }
                Event::SendDone { user, end, .. } => {
                    let record = book.get_mut(user).ok_or("SendDone of nothing")?;
                    if record.end.replace(end).is_some() {
                        return Err(format!("INV-1: message {user} was sent twice"));
                    }
                    record.check().map_err(|what| format!("PUT {user}: {what}"))?;
                }
                Event::Ack { user, .. } => {
                    let honest = book.get(user).is_some_and(|record| book.trusts(record.to));
                    let record = book.get_mut(user).ok_or("ACK of nothing")?;
                    if !record.delivered && honest {
                        return Err(format!("S1-12: ACK of PUT {user}, which was not delivered"));
                    }
                    record.answered = true;
                }
                Event::Reply { user, length, status, .. } if status.errno == 0 => {
                    self.reply(book, user, length).map_err(|what| format!("GET {user}: {what}"))?;
                }
                Event::RequestDone { user, .. } => {
                    let asked = self.requests.remove(&user);
                    let asked = asked.ok_or(format!("INV-1: request {user} ended twice"))?;
                    asked.buffer.free(&mut self.pages);
                    if let Some(record) = book.get_mut(user) {
                        record.over = true;
                    }
                }
                Event::Unlinked { user, .. } if user != u64::MAX => {
                    let offer = self.offers.remove(&user).ok_or("an entry was unlinked twice")?;
                    offer.buffer.free(&mut self.pages);
                    if !ending {
                        self.offer(lnet, offer.portal);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A PUT has ended here: `(from, number, offset, length taken, length sent)`.
    fn put_received(
        &self,
        book: &mut Book,
        entry: u64,
        (from, number, offset, length, sent): (u32, u64, u32, u32, u32),
        ok: bool,
    ) -> Result<(), String> {
        let record = book.get_mut(number).ok_or("it was never sent")?;
        if record.get || record.from != from || record.to != self.node || record.length != sent {
            return Err(format!("misdelivered to node {}: {record:?}", self.node));
        }
        record.received = true;
        if !ok {
            return Ok(());
        }
        if record.delivered {
            return Err("delivered twice".into());
        }
        record.delivered = true;
        record.check()?;
        let offer = self.offers.get(&entry).ok_or("into memory that was not offered")?;
        let memory = slice(&offer.buffer.fragments, offset, length);
        verify(&self.window, &memory, number, 0, length)
            .map_err(|at| format!("INV-4: OK, and byte {at} of {length} is wrong"))
    }

    fn reply(&self, book: &mut Book, number: u64, length: u32) -> Result<(), String> {
        if book.get(number).is_some_and(|record| !book.trusts(record.to)) {
            return Ok(());
        }
        let record = book.get_mut(number).ok_or("it was never asked for")?;
        if !record.get || record.length != length {
            return Err(format!("{length} bytes for {record:?}"));
        }
        record.answered = true;
        let asked = self.requests.get(&number).ok_or("over already")?;
        let (seed, from) = (shelf_seed(record.to), u64::from(record.offset));
        verify(&self.window, &asked.buffer.fragments, seed, from, length)
            .map_err(|at| format!("INV-4: OK, and byte {at} of {length} is wrong"))
    }
}
