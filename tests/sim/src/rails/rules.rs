// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fault rules as LNet has them (`lctl net_drop_add`, `net_delay_add`): which messages, how many of
//! them, and what becomes of them.
//!
//! Rates count exactly: of each `rate` messages that match, the first is hit. (LNet draws one of
//! them, so only a rate of 1, and of 2 for the first one, can be relied upon in its tests.)

use std::fmt;
use std::str::FromStr;

use lnd_core::time::{Instant, Span};
use lnd_core::transfer::Delivery;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::class::Class;

/// One end of a message: any node, one node, or one interface of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(\\*|[0-9]+(\\.[0-9]+)?)$"))]
pub struct Who {
    host: Option<u32>,
    ni: Option<u32>,
}

impl Who {
    /// Any node.
    pub const ANY: Self = Self { host: None, ni: None };

    /// One node.
    pub const fn host(host: u32) -> Self {
        Self { host: Some(host), ni: None }
    }

    /// One interface of a node.
    pub const fn ni(host: u32, ni: u32) -> Self {
        Self { host: Some(host), ni: Some(ni) }
    }

    fn is(self, (host, ni): (u32, u32)) -> bool {
        self.host.is_none_or(|h| h == host) && self.ni.is_none_or(|n| n == ni)
    }
}

impl FromStr for Who {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.parse().map_err(|_| format!("{text:?} is no `*`, `node` or `node.interface`"))
        };
        match text.split_once('.') {
            _ if text == "*" => Ok(Self::ANY),
            None => Ok(Self::host(number(text)?)),
            Some((host, ni)) => Ok(Self::ni(number(host)?, number(ni)?)),
        }
    }
}

impl TryFrom<String> for Who {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Who> for String {
    fn from(who: Who) -> Self {
        who.to_string()
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.host, self.ni) {
            (None, _) => f.write_str("*"),
            (Some(host), None) => write!(f, "{host}"),
            (Some(host), Some(ni)) => write!(f, "{host}.{ni}"),
        }
    }
}

/// Types of message.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Type {
    /// PUT.
    Put,
    /// ACK.
    Ack,
    /// GET.
    Get,
    /// REPLY.
    Reply,
    /// A recovery ping.
    Ping,
}

/// What becomes of a message that is hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InjectedFault {
    /// It is dropped.
    #[default]
    Drop,
    /// It is sent later.
    Delay,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// What becomes of those that are hit.
    #[serde(rename = "do")]
    pub injected: InjectedFault,
    /// The sender.
    pub from: Who,
    /// The next hop.
    pub to: Who,
    /// Which types; none named: all.
    pub types: Vec<Type>,
    /// Only PUTs and GETs for this portal.
    pub portal: Option<u32>,
    /// One in so many; 0 stands for 1.
    pub rate: u32,
    /// Instead: one in so many milliseconds.
    pub interval_ms: u32,
    /// At most so many in all.
    pub times: Option<u32>,
    /// DROP: what the sender is told; left out: that all is well.
    pub health: Option<Class>,
    /// DROP with a class that does not exclude it: the message arrives all the same.
    pub arrives: bool,
    /// DELAY: for so long.
    pub latency_ms: u32,
    /// Not before, in milliseconds since the start.
    pub from_ms: u32,
    /// Not after.
    pub to_ms: Option<u32>,
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            injected: InjectedFault::Drop,
            from: Who::ANY,
            to: Who::ANY,
            types: Vec::new(),
            portal: None,
            rate: 1,
            interval_ms: 0,
            times: None,
            health: None,
            arrives: false,
            latency_ms: 0,
            from_ms: 0,
            to_ms: None,
        }
    }
}

impl Rule {
    /// Drops PUTs and GETs and shows their sender this class.
    pub fn simulate(health: Class) -> Self {
        Self { types: vec![Type::Put, Type::Get], health: Some(health), ..Self::default() }
    }

    /// Whether the rule makes sense.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self) -> Result<(), String> {
        let excluded = |class: Class| class.status().delivery == Delivery::NotDelivered;
        if self.arrives && self.health.is_none_or(excluded) {
            return Err("`arrives` needs a `health` that leaves delivery open".into());
        }
        if self.injected == InjectedFault::Delay && self.latency_ms == 0 {
            return Err("a delay without `latency_ms`".into());
        }
        if self.interval_ms > 0 && self.rate > 1 {
            return Err("`rate` and `interval_ms` exclude each other".into());
        }
        Ok(())
    }
}

/// A message as rules see it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The sender: node and interface.
    pub from: (u32, u32),
    /// The next hop.
    pub to: (u32, u32),
    /// What it is.
    pub kind: Type,
    /// PUT, GET: the portal.
    pub portal: Option<u32>,
}

/// What a rule does to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// No node gets it; the sender is told that all is well.
    Lost,
    /// The sender is shown this; whether the message arrives all the same.
    Shown(Class, bool),
    /// It is sent after this time.
    Delayed(Span),
}

#[derive(Clone, Debug)]
struct Armed {
    rule: Rule,
    matched: u64,
    hit: u32,
    next: Instant,
}

/// All rules in force, with their counts.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<Armed>,
    start: Instant,
}

impl Rules {
    /// Rules whose times count from `start`.
    pub fn new(rules: &[Rule], start: Instant) -> Self {
        let mut all = Self { rules: Vec::new(), start };
        rules.iter().for_each(|rule| all.add(rule.clone()));
        all
    }

    /// One more rule.
    pub fn add(&mut self, rule: Rule) {
        self.rules.push(Armed { rule, matched: 0, hit: 0, next: Instant::ORIGIN });
    }

    /// No more rules.
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// How many messages each rule has matched, and hit.
    pub fn counts(&self) -> Vec<(u64, u32)> {
        self.rules.iter().map(|armed| (armed.matched, armed.hit)).collect()
    }

    /// What the first rule that hits a message does to it.
    pub fn strike(&mut self, now: Instant, seen: Seen) -> Option<Hit> {
        let ms = now.since(self.start).as_nanos() / 1_000_000;
        self.rules.iter_mut().find_map(|armed| armed.strike(now, ms, seen))
    }
}

impl Armed {
    fn strike(&mut self, now: Instant, ms: u64, seen: Seen) -> Option<Hit> {
        let rule = &self.rule;
        let open = ms >= u64::from(rule.from_ms) && rule.to_ms.is_none_or(|to| ms < u64::from(to));
        let matches = open
            && rule.from.is(seen.from)
            && rule.to.is(seen.to)
            && (rule.types.is_empty() || rule.types.contains(&seen.kind))
            && rule.portal.is_none_or(|portal| seen.portal == Some(portal));
        if !matches {
            return None;
        }
        let first = self.matched.is_multiple_of(u64::from(rule.rate.max(1)));
        self.matched += 1;
        let due = if rule.interval_ms > 0 { now >= self.next } else { first };
        if !due || rule.times.is_some_and(|times| self.hit >= times) {
            return None;
        }
        self.hit += 1;
        self.next = now.after(Span::from_millis(u64::from(rule.interval_ms)));
        Some(match (rule.injected, rule.health) {
            (InjectedFault::Delay, _) => {
                Hit::Delayed(Span::from_millis(u64::from(rule.latency_ms)))
            }
            (InjectedFault::Drop, None) => Hit::Lost,
            (InjectedFault::Drop, Some(class)) => Hit::Shown(class, rule.arrives),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUT: Seen = Seen { from: (0, 0), to: (1, 1), kind: Type::Put, portal: Some(3) };

    fn hits(rule: Rule, seen: Seen) -> Vec<usize> {
        let mut rules = Rules::new(&[rule], Instant::ORIGIN);
        let at = |n: usize| Instant::ORIGIN.after(Span::from_millis(10 * n as u64));
        (0..6).filter(|&n| rules.strike(at(n), seen).is_some()).collect()
    }

    #[test]
    fn rates_intervals_times_and_windows() {
        assert_eq!(hits(Rule::default(), PUT), [0, 1, 2, 3, 4, 5]);
        assert_eq!(hits(Rule { rate: 2, ..Rule::default() }, PUT), [0, 2, 4]);
        assert_eq!(hits(Rule { interval_ms: 25, ..Rule::default() }, PUT), [0, 3]);
        assert_eq!(hits(Rule { times: Some(1), ..Rule::default() }, PUT), [0]);
        assert_eq!(hits(Rule { from_ms: 20, to_ms: Some(40), ..Rule::default() }, PUT), [2, 3]);
    }

    #[test]
    fn selectors() {
        let all = [0, 1, 2, 3, 4, 5];
        for (from, to, hit) in [
            ("*", "*", true),
            ("0", "1", true),
            ("0.0", "1.1", true),
            ("1", "*", false),
            ("*", "1.0", false),
        ] {
            let rule =
                Rule { from: from.parse().unwrap(), to: to.parse().unwrap(), ..Rule::default() };
            assert_eq!(hits(rule, PUT), if hit { &all[..] } else { &[] }, "{from} {to}");
        }
        assert!(hits(Rule { types: vec![Type::Get], ..Rule::default() }, PUT).is_empty());
        assert_eq!(hits(Rule { portal: Some(3), ..Rule::default() }, PUT), all);
        assert!(hits(Rule { portal: Some(2), ..Rule::default() }, PUT).is_empty());
        assert!("1.x".parse::<Who>().is_err());
    }

    #[test]
    fn a_class_that_excludes_delivery_cannot_arrive() {
        for class in Class::ALL {
            let rule = Rule { arrives: true, ..Rule::simulate(class) };
            let open = class.status().delivery == Delivery::Unknown;
            assert_eq!(rule.check().is_ok(), open, "{class:?}");
        }
    }
}
