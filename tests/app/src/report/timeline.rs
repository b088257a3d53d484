// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What happened to nodes, links and interfaces, and what was done to them. Times are nanoseconds
//! since the run's start.

use lnd_core::link::LinkState;
use lnd_core::trace::Trace;
use lnd_sim::simulator::run_log::{Entry, Logged};
use serde::Serialize;

use super::strings::Strings;
use crate::recorded::Cast;

/// Something that the plan schedules.
#[derive(Debug, Serialize)]
pub struct Scheduled {
    at: u64,
    /// How long it lasts, in nanoseconds.
    lasts: u64,
    name: String,
}

/// The time line.
#[derive(Debug, Default, Serialize)]
pub struct Timeline {
    /// Parts of the run: when each begins, and its name.
    phases: Vec<(u64, &'static str)>,
    /// Nodes that start and end: when, node, whether it has started, which incarnation.
    hosts: Vec<(u64, u32, bool, u32)>,
    /// Changes of links: when, link, state.
    links: Vec<(u64, u32, u32)>,
    /// Changes of health: when, node, interface, value.
    health: Vec<(u64, u32, u32, u16)>,
    /// What the plan schedules.
    events: Vec<Scheduled>,
    /// Faults injected: when, name.
    faults: Vec<(u64, u32)>,
}

impl Timeline {
    /// What the log has.
    pub fn of(entries: &[Entry], cast: &Cast, start: u64, strings: &mut Strings) -> Self {
        let mut this = Self::default();
        for entry in entries {
            let at = entry.at.as_nanos().saturating_sub(start);
            match entry.what {
                Logged::Phase { name } => this.phases.push((at, name)),
                Logged::Host { host, up, incarnation } => {
                    this.hosts.push((at, host, up, incarnation));
                }
                Logged::Health { host, unit, value } => {
                    this.health.push((at, host, unit, value));
                }
                Logged::Fault { what } => this.faults.push((at, strings.of(what))),
                Logged::Event { ref name, host, link, peer, for_ms } => {
                    let part = if cast.rails { "interface" } else { "link" };
                    let link = link.map_or(String::new(), |link| format!(", {part} {link}"));
                    let peer = peer.map_or(String::new(), |peer| format!(", peer {peer}"));
                    let name = format!("{name}: node {host}{link}{peer}");
                    this.events.push(Scheduled { at, lasts: u64::from(for_ms) * 1_000_000, name });
                }
                Logged::Trace { unit, trace: Trace::Link { link, state }, .. } => {
                    let name = strings.of(&cast.link_name(unit, link.index()));
                    this.links.push((at, name, strings.of(link_words(state))));
                }
                _ => {}
            }
        }
        this
    }
}

const fn link_words(state: LinkState) -> &'static str {
    match state {
        LinkState::Up => "up",
        LinkState::Stalled => "stalled",
        LinkState::Stopping => "stopping",
        LinkState::Failed => "failed",
        LinkState::Reclaiming => "reclaiming",
        LinkState::Down => "down",
    }
}
