// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Plans of multi-rail worlds: who has which interfaces, what is done to them, when. A TOML file
//! with `[[network]]` in it is one of these. `docs/simulator.md` explains every key.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::rules::Rule;
use crate::simulator::plan::{hundred, in_range, in_time, table_of, FaultPlan, PlanError};
use crate::simulator::shrink::Search;

/// A network: interfaces on it reach each other.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Net {
    /// Its name.
    pub name: String,
    /// Its kind of fabric (S4-4).
    pub kind: Kind,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The network of each of its interfaces, by name.
    pub nis: Vec<String>,
    /// It passes on messages of others.
    #[serde(default)]
    pub router: bool,
}

/// Which behaviour is wanted (R43).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The 2017 design.
    #[default]
    Seed,
    /// What public Lustre does.
    LnetCompat,
}

/// What happens at a time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// An interface's link loses its clock.
    NiDown,
    /// The same, while the transport moves the path elsewhere and says so (S2-8).
    Migration,
    /// Messages between an interface and a peer's are lost; no node is told.
    Cut,
    /// A node dies on the spot and comes back as another incarnation.
    Death,
    /// An interface takes nothing new (maintenance).
    Drain,
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
    pub host: u32,
    /// To which of its interfaces.
    #[serde(default)]
    pub ni: u32,
    /// CUT: the other node.
    #[serde(default)]
    pub peer: Option<u32>,
    /// CUT: the other node's interface.
    #[serde(default)]
    pub peer_ni: u32,
    /// How long it lasts.
    #[serde(default = "hundred")]
    pub for_ms: u32,
    /// NI-DOWN: how long until the node is told by a fatal event; DEATH: until the others are told;
    /// left out: never.
    #[serde(default)]
    pub noticed_ms: Option<u32>,
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Seconds of traffic and faults.
    pub seconds: u32,
    /// Average pause between two ideas of a user, in milliseconds; 0: no traffic of its own.
    pub pause_ms: u32,
    /// A message's whole time, in milliseconds (LNet: transaction timeout).
    pub timeout_ms: u32,
    /// An operator's limit of a message's resends (LNet: retry count); left out: the profile's own.
    pub retries: Option<u8>,
    /// Health lost by a failure and gained by a success; 0: health is off.
    pub sensitivity: u16,
    /// For how long a silent interface is pinged, in seconds; 0: for ever.
    pub recovery_limit_s: u32,
    /// Which behaviour.
    pub profile: Profile,
    /// Idle peers are probed.
    pub probes: bool,
    /// The networks.
    #[serde(rename = "network")]
    pub networks: Vec<Net>,
    /// The nodes.
    #[serde(rename = "host")]
    pub hosts: Vec<Host>,
    /// Fault rules.
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
    /// What happens at a time of its own.
    #[serde(rename = "event")]
    pub events: Vec<Scheduled>,
    /// Where it was read from.
    #[serde(skip)]
    pub name: Option<String>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seconds: 2,
            pause_ms: 0,
            timeout_ms: 2_000,
            retries: None,
            sensitivity: 100,
            recovery_limit_s: 0,
            profile: Profile::Seed,
            probes: false,
            networks: Vec::new(),
            hosts: Vec::new(),
            rules: Vec::new(),
            events: Vec::new(),
            name: None,
        }
    }
}

impl Plan {
    /// Nodes that have the given interfaces, on networks of the kinds `verbs`, `tagged` and
    /// `stream` whose names are `a`, `b` and `c`: `["ab", "ab"]` is two nodes with two rails.
    pub fn of(hosts: &[&str]) -> Self {
        let networks = ["a", "b", "c"].iter().zip(Kind::ALL);
        let used: BTreeSet<char> = hosts.iter().flat_map(|nis| nis.chars()).collect();
        Self {
            networks: networks
                .filter(|(name, _)| name.chars().all(|c| used.contains(&c)))
                .map(|(&name, kind)| Net { name: name.into(), kind })
                .collect(),
            hosts: hosts
                .iter()
                .map(|nis| Host { nis: nis.chars().map(String::from).collect(), router: false })
                .collect(),
            ..Self::default()
        }
    }

    /// Most tries that a message may have: LNet's retry count is 2, the 2017 design has none.
    pub fn most_tries(&self) -> Option<usize> {
        let profiles_own = match self.profile {
            Profile::Seed => None,
            Profile::LnetCompat => Some(2),
        };
        // Without sensitivity there are no resends, as in LNet.
        let limit = if self.sensitivity == 0 { Some(0) } else { self.retries.or(profiles_own) };
        limit.map(|retries| 1 + usize::from(retries))
    }

    /// Whether a plan's text is one of these.
    pub fn is_meant_by(text: &str) -> bool {
        text.lines().any(|line| line.starts_with("[[network]]") || line.starts_with("network ="))
    }

    /// Number of a network.
    pub fn net(&self, name: &str) -> Option<usize> {
        self.networks.iter().position(|net| net.name == name)
    }

    /// Checks that every event begins before the traffic ends: later ones have no effect.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check_times(&self) -> Result<(), PlanError> {
        in_time("event", self.events.iter().map(|event| event.at_ms), u64::from(self.seconds))
    }
}

impl FaultPlan for Plan {
    /// Checks that everything named exists and every number can be.
    fn check_alone(&self) -> Result<(), PlanError> {
        in_range("seconds", self.seconds, 0, 36_000)?;
        in_range("timeout_ms", self.timeout_ms, 10, 1_000_000)?;
        in_range("retries", u32::from(self.retries.unwrap_or(0)), 0, 254)?;
        in_range("sensitivity", u32::from(self.sensitivity), 0, 1000)?;
        in_range("number of hosts", self.hosts.len() as u32, 2, 8)?;
        in_range("number of networks", self.networks.len() as u32, 1, 8)?;
        for (number, host) in self.hosts.iter().enumerate() {
            in_range(&format!("interfaces of host {number}"), host.nis.len() as u32, 1, 4)?;
            for name in &host.nis {
                self.net(name).ok_or_else(|| format!("host {number}: no network {name}"))?;
            }
        }
        for (at, event) in self.events.iter().enumerate() {
            let ends = [(Some(event.host), event.ni), (event.peer, event.peer_ni)];
            for (host, ni) in ends.into_iter().filter_map(|(host, ni)| Some((host?, ni))) {
                if self.hosts.get(host as usize).is_none_or(|h| ni as usize >= h.nis.len()) {
                    return Err(
                        format!("event {}: there is no interface {host}.{ni}", at + 1).into()
                    );
                }
            }
            if event.what == What::Cut && event.peer.is_none() {
                return Err(format!("event {}: `peer` is missing", at + 1).into());
            }
        }
        self.rules.iter().enumerate().try_for_each(|(at, rule)| {
            rule.check().map_err(|error| format!("rule {}: {error}", at + 1).into())
        })
    }

    fn named(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    fn usual() -> toml::Table {
        let mut usual = table_of(&Self::default());
        usual.insert("rule".into(), vec![table_of(&Rule::default())].into());
        usual
    }

    fn make_smaller(search: &mut Search<'_, Self>) {
        super::shrink::make_smaller(search);
    }
}
