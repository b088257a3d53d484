// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fault plans: what the adversary does, when, and how often. `docs/simulator.md` explains every
//! key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::byzantine::Rates;
use crate::simulator::fault_rates::{EngineFaults, MessageFaults};
use crate::simulator::plan::{hundred, in_range, in_time, table_of, FaultPlan, PlanError};
use crate::simulator::shrink::Search;

/// What hosts do that is slow and allowed. Rates are per million decisions of their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostFaults {
    /// Requests that an upper layer keeps before it decides.
    pub keep: u32,
    /// Longest such time in microseconds.
    pub keep_us: u32,
    /// Hosts take frames in only when their thread runs, control messages first.
    pub polls: bool,
    /// Every node has small tables.
    pub small: bool,
}

/// What happens at a time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A node's link fails: its engine has no clock until the link is back.
    LinkDown,
    /// A node is told that a link has failed, and it has not.
    LinkAlarm,
    /// A node dies on the spot and comes back as another incarnation.
    Death,
    /// A node shuts down in good order and comes back.
    Restart,
    /// A node is told that a peer is down, and it is not.
    PeerAlarm,
    /// All links of a node fail at once; what goes on is its peers.
    LinksDown,
    /// A node does not run at all while the others do: neither its thread nor its user nor its
    /// interrupts. Frames wait in its mailboxes, and control messages come first when it runs
    /// again.
    Pause,
    /// The bus of a link does not answer: its registers read all ones and take no write.
    BlankRegisters,
    /// One word of a link's completion ring is overwritten.
    Scribble,
    /// A node is told that its connection with a peer by a link has failed. It is stopped, whatever
    /// moves on it, and made anew; the link's other peers go on.
    ConnectionDown,
    /// Two nodes cannot reach each other by messages; no node is told.
    Partition,
    /// A node's thread and user stand still, interrupts and engines do not: when it goes on, its
    /// clock has jumped.
    Freeze,
}

impl What {
    /// Whether it may keep back for a while what was asked for.
    const fn keeps_back(self) -> bool {
        use What::{BlankRegisters, Death, Freeze, LinkDown, LinksDown, Pause, Scribble};
        matches!(self, LinkDown | LinksDown | Death | Freeze | Pause | BlankRegisters | Scribble)
    }
}

/// One scheduled event. Times are in milliseconds since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scheduled {
    /// When.
    pub at_ms: u32,
    /// What.
    #[serde(rename = "do")]
    pub what: What,
    /// To which node.
    pub node: u32,
    /// LINK-*, CONNECTION-DOWN: which of its links.
    #[serde(default)]
    pub link: u32,
    /// PEER-ALARM, PARTITION, CONNECTION-DOWN: the other node.
    #[serde(default)]
    pub peer: Option<u32>,
    /// How long it lasts: the link is down, the node is dead, the peers cannot talk.
    #[serde(default = "hundred")]
    pub for_ms: u32,
    /// LINK-DOWN, DEATH: how long until the others (LINK-DOWN: the node) are told. DEATH: absent
    /// means that they are not told.
    #[serde(default)]
    pub noticed_ms: Option<u32>,
    /// DEATH: how long until there is proof that the node touches nothing any more (S0-9).
    #[serde(default = "ten")]
    pub proven_ms: u32,
    /// RESTART: how long transfers may end by themselves.
    #[serde(default)]
    pub grace_ms: u32,
}

const fn ten() -> u32 {
    10
}

/// A time in which other rates hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// From, in milliseconds since the start.
    pub from_ms: u32,
    /// To.
    pub to_ms: u32,
    /// The channel's faults in it.
    #[serde(default)]
    pub messages: MessageFaults,
    /// The engines' faults in it.
    #[serde(default)]
    pub engine: EngineFaults,
}

/// A fault plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Number of nodes, unless the caller says otherwise.
    pub nodes: Option<u32>,
    /// Number of links, unless the caller says otherwise.
    pub links: Option<u32>,
    /// Seconds of traffic, unless the caller says otherwise.
    pub seconds: Option<u32>,
    /// Whether node 1 routes between node 0 and the others.
    pub routed: Option<bool>,
    /// Whether everything that wraps begins just before it does.
    pub wraps: Option<bool>,
    /// Whether every message is followed from end to end, and a drawn plan has nodes that pause,
    /// requests that are kept and nodes without links.
    pub pauses: Option<bool>,
    /// How many connections may be out of service at once: engines stop them one by one. Zero, or
    /// absent: links are all that is stopped.
    pub connections: Option<u8>,
    /// Whether channels call themselves reliable: what is lost is not called sent.
    pub reliable: Option<bool>,
    /// Whether a message has ended when its channel has taken it, as in shared memory.
    pub ends_at_once: Option<bool>,
    /// The channel's faults.
    pub messages: MessageFaults,
    /// The engines' faults.
    pub engine: EngineFaults,
    /// Slow hosts.
    pub hosts: HostFaults,
    /// A node that keeps to nothing.
    pub byzantine: Option<Rates>,
    /// What happens at a time of its own.
    #[serde(rename = "event")]
    pub events: Vec<Scheduled>,
    /// Times in which other rates hold; the last one that is open counts.
    #[serde(rename = "window")]
    pub windows: Vec<Window>,
    /// Where it was read from.
    #[serde(skip)]
    pub name: Option<String>,
}

impl Plan {
    /// Every rate of the plan, to be changed: those of the whole, then those of each window.
    pub(super) fn rates_mut(&mut self) -> Vec<&mut u32> {
        let mut all = Vec::from(self.messages.rates_mut());
        all.extend(self.engine.rates_mut());
        all.push(&mut self.hosts.keep);
        for window in &mut self.windows {
            all.extend(window.messages.rates_mut());
            all.extend(window.engine.rates_mut());
        }
        all.extend(self.byzantine.iter_mut().flat_map(Rates::rates_mut));
        all
    }

    /// Checks that all nodes and links named exist.
    ///
    /// # Errors
    /// The first one that does not.
    pub fn check(&self, nodes: u32, links: u32, routed: bool) -> Result<(), PlanError> {
        if let Some(rates) = self.byzantine {
            in_range("byzantine: node", rates.node, 0, nodes - 1)?;
            if routed && (rates.node == 1 || rates.goes_on) {
                // The router speaks for all behind it, and what comes through it is its own affair.
                let what = "byzantine: with a router it is not node 1, and falls silent";
                return Err(what.into());
            }
        }
        for (at, event) in self.events.iter().enumerate() {
            let wrong = |text: String| Err(format!("event {}: {text}", at + 1).into());
            if event.node >= nodes {
                return wrong(format!("node {}, and the nodes are 0..{nodes}", event.node));
            }
            use What::{BlankRegisters, ConnectionDown, LinkAlarm, LinkDown, Scribble};
            let of_link = matches!(
                event.what,
                LinkDown | LinkAlarm | BlankRegisters | Scribble | ConnectionDown
            );
            if of_link && event.link >= links {
                return wrong(format!("link {}, and the links are 0..{links}", event.link));
            }
            if matches!(event.what, What::PeerAlarm | What::Partition | ConnectionDown) {
                match event.peer {
                    None => return wrong("`peer` is missing".into()),
                    Some(peer) if peer >= nodes || peer == event.node => {
                        return wrong(format!("peer {peer} of node {}", event.node));
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Checks that every event and window begins before the traffic ends: later ones have no
    /// effect.
    ///
    /// # Errors
    /// The first that does not.
    pub(super) fn check_times(&self, seconds: u64) -> Result<(), PlanError> {
        in_time("event", self.events.iter().map(|event| event.at_ms), seconds)?;
        in_time("window", self.windows.iter().map(|window| window.from_ms), seconds)
    }

    /// The rates that hold at a time in milliseconds since the start.
    pub fn rates_at(&self, ms: u64) -> (MessageFaults, EngineFaults) {
        let open = |w: &&Window| (u64::from(w.from_ms)..u64::from(w.to_ms)).contains(&ms);
        match self.windows.iter().rfind(open) {
            Some(window) => (window.messages, window.engine),
            None => (self.messages, self.engine),
        }
    }

    /// Whether all that is asked back comes back by itself: no completion is lost or late, no
    /// engine loses its clock, no node dies.
    pub fn returns_everything(&self) -> bool {
        let rates = self.windows.iter().map(|w| (w.messages, w.engine));
        let harmless = |(m, e): (MessageFaults, EngineFaults)| {
            e == EngineFaults::default() && m.lost_completion == 0 && m.delay == 0
        };
        rates.chain([(self.messages, self.engine)]).all(harmless)
            && self.byzantine.is_none()
            && self.events.iter().all(|it| !it.what.keeps_back())
    }

    /// Times at which the rates may change, in milliseconds since the start.
    pub fn edges(&self) -> impl Iterator<Item = u32> + '_ {
        self.windows.iter().flat_map(|w| [w.from_ms, w.to_ms])
    }
}

impl FaultPlan for Plan {
    fn check_alone(&self) -> Result<(), PlanError> {
        let mut plan = self.clone();
        if let Some(rate) = plan.rates_mut().into_iter().find(|rate| **rate > 1_000_000) {
            return Err(format!("a rate of {rate} per million is more than all").into());
        }
        match self.windows.iter().position(|w| w.from_ms >= w.to_ms) {
            Some(at) => Err(format!("window {}: ends before it begins", at + 1).into()),
            None => Ok(()),
        }
    }

    fn named(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    fn usual() -> toml::Table {
        let rates = [
            ("messages", table_of(&MessageFaults::default())),
            ("engine", table_of(&EngineFaults::default())),
        ];
        let window: toml::Table =
            rates.into_iter().map(|(key, rates)| (key.into(), rates.into())).collect();
        let mut usual = table_of(&Self::default());
        usual.insert("byzantine".into(), table_of(&Rates::default()).into());
        usual.insert("window".into(), vec![window].into());
        usual
    }

    fn make_smaller(search: &mut Search<'_, Self>) {
        super::shrink::make_smaller(search);
    }
}
