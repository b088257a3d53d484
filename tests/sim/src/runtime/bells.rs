// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who wakes whom within a process, and how long an idle thread waits if no bell rings: nodes of
//! other processes ring none.

use std::thread;
use std::time::Duration;

use lnd_core::id::LinkId;

use super::clock::Wake;

/// Looks at the work without letting another thread run.
const SPINS: u32 = 50;
/// Looks with other threads between. A nap costs more than all of them: what it waits for may be a
/// message of another process, which rings no bell.
const YIELDS: u32 = 200;
/// First and longest sleep, in microseconds.
const NAPS: (u32, u32) = (100, 1000);

/// The bells of all nodes: one for each node's own thread, one for each of its engines'.
#[derive(Debug)]
pub struct Bells {
    hosts: Vec<Wake>,
    engines: Vec<Wake>,
    links: usize,
}

impl Bells {
    /// Bells for `nodes` nodes of `links` links.
    pub fn new(nodes: u32, links: u32) -> Self {
        let wakes = |count: u32| (0..count).map(|_| Wake::default()).collect();
        Self { hosts: wakes(nodes), engines: wakes(nodes * links), links: links as usize }
    }

    /// The bell of a node's own thread.
    pub fn host(&self, node: u32) -> Option<&Wake> {
        self.hosts.get(node as usize)
    }

    /// The bell of an engine's thread.
    pub fn engine(&self, node: u32, link: LinkId) -> Option<&Wake> {
        let first = node as usize * self.links;
        self.engines.get(first + link.index()).filter(|_| link.index() < self.links)
    }

    /// Wakes a node's own thread.
    pub fn ring_host(&self, node: u32) {
        self.host(node).into_iter().for_each(Wake::wake);
    }

    /// Wakes an engine's thread.
    pub fn ring_engine(&self, node: u32, link: LinkId) {
        self.engine(node, link).into_iter().for_each(Wake::wake);
    }

    /// Wakes the threads of all engines of a node.
    pub fn ring_engines(&self, node: u32) {
        let links = (0..self.links).filter_map(LinkId::new);
        links.for_each(|link| self.ring_engine(node, link));
    }

    /// Wakes the threads of all nodes but one: it has sent something.
    pub fn ring_other_hosts(&self, node: u32) {
        let others = self.hosts.iter().enumerate().filter(|(other, _)| *other != node as usize);
        others.for_each(|(_, wake)| wake.wake());
    }
}

/// How long a thread has had nothing to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Idle(u32);

impl Idle {
    /// There was something to do.
    pub fn reset(&mut self) {
        self.0 = 0;
    }

    /// Whether the next [`rest`](Self::rest) lets no other thread run.
    pub const fn spins(&self) -> bool {
        self.0 < SPINS
    }

    /// Waits until there may be something to do: shortly at first, then until `wake` or for a nap,
    /// at most for `most`.
    pub fn rest(&mut self, wake: Option<&Wake>, most: Duration) {
        let looks = self.0;
        self.0 = looks.saturating_add(1);
        if looks < SPINS {
            core::hint::spin_loop();
        } else if looks < SPINS + YIELDS {
            thread::yield_now();
        } else {
            let doublings = ((looks - SPINS - YIELDS) / 4).min(10);
            let nap = Duration::from_micros((NAPS.0 << doublings).min(NAPS.1).into()).min(most);
            match wake {
                Some(wake) if wake.sleep(nap) => self.reset(),
                Some(_) => {}
                None => thread::sleep(nap),
            }
        }
    }
}

/// Makes sleeps of this thread, and of those that it starts, as short as they say they are.
pub fn sharpen_timers() {
    const SLACK: libc::c_ulong = 1000;
    // SAFETY: this option takes a number and touches no memory of ours. Where the system refuses
    // it, sleeps are 50 µs longer.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, SLACK) };
}
