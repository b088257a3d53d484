// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A run: traffic and faults, then calm, and everything must come to rest, work, and end.

use lnd_core::counters::Counters;
use lnd_core::time::{Instant, Span};
use lnd_shortmsg::wire::DecodeCounters;

use super::incarnation::Host;
use super::summary::{NodeSummary, Summary};
use super::world::World;
use super::ALL_TALK;
use crate::simulator::fail::Violation;
use crate::simulator::user::Preference;

/// Attempts at reaching a peer after the faults: its first message may have to find out that the
/// peer is in another incarnation.
const ATTEMPTS: u32 = 8;

impl World<'_> {
    /// The whole run.
    pub(super) fn play(&mut self, seed: u64) -> Result<Summary, Violation> {
        for node in self.all() {
            if self.is_lawless(node) {
                self.begin_byzantine(node)?;
            } else {
                self.start_host(node)?;
            }
        }
        self.schedule_plan();
        self.begin_phase("traffic and faults");
        self.run_until(self.end_of_traffic(), |_| false)?;
        self.traffic = false;
        self.begin_phase("calm");
        self.calm_down();
        self.come_to_rest()?;
        self.all_seen()?;
        self.begin_phase("each node reaches each");
        self.reach_everybody()?;
        self.compare_ends(|world, record| {
            let begun = world.hosts.get(record.to as usize).map_or(0, |host| host.incarnations);
            record.check_arrival(begun)
        })?;
        self.bystanders_end_well()?;
        self.all_seen()?;
        self.begin_phase("shutdown");
        self.end_all()?;
        Ok(self.summary(seed))
    }

    /// Without faults and without new work everything ends, and nothing is left.
    fn come_to_rest(&mut self) -> Result<(), Violation> {
        self.rest(self.layer.setup.patience())?;
        let goes_on = self.layer.goes_on().is_some();
        for node in self.all() {
            // A byzantine node that goes on keeps something of the others busy at any time.
            if goes_on {
                self.check_counters(node)?;
            } else {
                self.nothing_lent(node)?;
                self.check_counters(node)?;
                if let Some(incarnation) = self.incarnation(node) {
                    super::checks::clean(incarnation).map_err(|what| Violation::at(node, what))?;
                }
            }
        }
        Ok(())
    }

    /// Every node reaches every other: first after as many attempts as it takes to find out what
    /// has happened meanwhile, then at once.
    fn reach_everybody(&mut self) -> Result<(), Violation> {
        // Peers that were declared down are left alone for a while.
        self.run_until(self.now.after(self.layer.setup.hold_off()), |_| false)?;
        let honest: Vec<u32> = self.honest().map(|(node, _)| node).collect();
        let rounds = self.who_reaches_whom(&honest);
        for attempts in [ATTEMPTS, 1] {
            for pairs in &rounds {
                self.reach(pairs, attempts)?;
            }
        }
        Ok(())
    }

    /// Pairs of nodes: each of `honest` and each other, one after another. In a large world each
    /// node and those that it talks to, all nodes at a time: else every node would wait for all
    /// others.
    fn who_reaches_whom(&self, honest: &[u32]) -> Vec<Vec<(u32, u32)>> {
        let nodes = self.layer.setup.nodes;
        if nodes > ALL_TALK {
            let others = 1..=self.layer.setup.others();
            let round = |far: u32| {
                let pairs = honest.iter().map(move |&from| (from, (from + far) % nodes));
                pairs.filter(|&(_, to)| !self.is_lawless(to)).collect()
            };
            return others.map(round).collect();
        }
        let pairs = honest.iter().flat_map(|&from| honest.iter().map(move |&to| (from, to)));
        pairs.filter(|(from, to)| from != to).map(|pair| vec![pair]).collect()
    }

    fn reach(&mut self, pairs: &[(u32, u32)], attempts: u32) -> Result<(), Violation> {
        let of = |&(from, to): &(u32, u32)| {
            [(false, 5), (false, 5000), (true, 9), (true, 70_000)]
                .map(|(get, length)| (from, Preference { to, get, length, ack: true, exact: true }))
        };
        let mut preferences: Vec<(u32, Preference)> = pairs.iter().flat_map(of).collect();
        let mut left = attempts;
        for _ in 0..ATTEMPTS {
            let refused = self.without_lists();
            let numbers = self.ask_all(&preferences)?;
            // A destination without a fragment list says so, and is asked again.
            left -= u32::from(attempts > 1 || self.without_lists() == refused);
            let failed = |number: &u64| !self.book.get(*number).is_some_and(|r| r.answered);
            preferences = preferences
                .into_iter()
                .zip(&numbers)
                .filter(|(_, n)| failed(n))
                .map(|(w, _)| w)
                .collect();
            if preferences.is_empty() {
                return Ok(());
            }
            if left == 0 {
                break;
            }
            self.run_until(self.now.after(self.layer.setup.hold_off()), |_| false)?;
        }
        let Some(&(from, Preference { to, .. })) = preferences.first() else { return Ok(()) };
        let missing: Vec<_> = preferences.iter().filter(|it| it.0 == from).map(|it| it.1).collect();
        let what = format!("INV-15: liveness: node {to} is not reached: {missing:?}");
        Err(Violation::at(from, what))
    }

    /// Requests that were refused for want of a fragment list.
    fn without_lists(&self) -> u64 {
        let incarnations = self.hosts.iter().filter_map(|host| host.incarnation.as_ref());
        incarnations.filter_map(|incarnation| incarnation.node.stats.refused.get("NoLists")).sum()
    }

    /// Begins requests and waits for their ends.
    fn ask_all(&mut self, preferences: &[(u32, Preference)]) -> Result<Vec<u64>, Violation> {
        let mut numbers = Vec::new();
        for of_one in preferences.chunk_by(|a, b| a.0 == b.0) {
            for &(from, preference) in of_one {
                let begun = self.ask(from, preference);
                numbers.push(begun.ok_or_else(|| Violation::at(from, "liveness: no room to ask"))?);
            }
            of_one.first().into_iter().for_each(|&(from, _)| self.wake(from));
        }
        if self.all_over(&numbers, self.layer.setup.patience())? {
            Ok(numbers)
        } else {
            Err(self.restless())
        }
    }

    /// What ended OK was seen: no frame is under way any more.
    fn all_seen(&self) -> Result<(), Violation> {
        let Some(oracle) = &self.layer.tracking else { return Ok(()) };
        let seen = oracle.borrow_mut().at_rest();
        seen.map_err(|it| Violation { what: it.what, node: Some(it.node), tag: it.tag })
    }

    /// Every node shuts down, one after another or all at once.
    fn end_all(&mut self) -> Result<(), Violation> {
        // One after another takes time in which all others look about.
        let together = self.rng.below(2) == 0 || self.layer.setup.nodes > ALL_TALK;
        let bound =
            |world: &Self| world.now.after(world.layer.setup.patience()).after(Span::from_secs(1));
        for node in self.all() {
            let grace = Span::from_millis(self.rng.below(50));
            self.begin_to_end(node, grace, None);
            if !together {
                self.wait_for_end(bound(self), node)?;
            }
        }
        let bound = bound(self);
        (self.all()).try_for_each(|node| self.wait_for_end(bound, node))
    }

    fn wait_for_end(&mut self, bound: Instant, node: u32) -> Result<(), Violation> {
        let ended =
            |world: &Self| world.hosts.get(node as usize).is_none_or(|h| h.incarnation.is_none());
        if self.run_until(bound, ended)? {
            return Ok(());
        }
        let why = self
            .incarnation(node)
            .map_or(String::new(), |incarnation| super::checks::blockers(incarnation));
        Err(Violation::at(node, format!("INV-15: shutdown does not end: {why}")))
    }

    fn summary(&self, seed: u64) -> Summary {
        let node = |host: &Host<'_>| NodeSummary {
            incarnations: host.incarnations,
            traced: host.recorder.hash().1,
            stats: host.past.stats.clone(),
            counters: host.past.counters.clone(),
            forwarded: host.past.forwarded,
        };
        let nodes: Vec<_> = self.hosts.iter().map(node).collect();
        let mut counters = Counters::new();
        nodes.iter().for_each(|node| counters.merge(&node.counters));
        let mut refused = DecodeCounters::new();
        self.hosts.iter().for_each(|host| refused.merge(&host.past.refused));
        Summary {
            facts: self.facts(seed),
            links: self.layer.setup.links,
            routed: self.layer.setup.routed,
            beside: self.bystanders().filter(|(_, r)| r.answered).count() as u64,
            nodes,
            counters,
            refused,
            byzantine: self.layer.setup.lawless(),
        }
    }
}
