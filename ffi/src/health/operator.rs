// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Maintenance: interfaces out of use, preferred paths, and the journal of changes.

use core::mem::size_of;

use ::lnd_health::journal::{Entry, Evidence};
use ::lnd_health::select::{Match, Rule};
use ::lnd_health::NiStatus;
use lnd_core::id::Nid;
use lnd_core::time::Instant;
use lnd_core::transfer::HealthClass as Class;

use super::tables::nid_of;
use super::{lnd_health, names, Whole};
use crate::abi::{
    lnd_error, lnd_evidence, lnd_health_change, lnd_health_ni, lnd_health_peer, lnd_rule,
    lnd_rule_kind, LND_MAX_RULES, LND_NO_SENSITIVITY,
};
use crate::errors::outcome;
use crate::input::{given, inputs, output, place, place_if, put, put_if, value};

/// lnd_health_drain_local() - Takes a local interface out of use for maintenance, or back into use.
/// @health: the object.
/// @local: the interface.
/// @drain: 1: no new message is sent through it; 0: it is used again.
/// @now: the time.
/// @remaining: where the number of messages under way through it is written; may be NULL. Call
///             until it is 0.
///
/// Messages under way end as usual. The interface's health does not change.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_WRONG_KIND (a peer's interface).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_drain_local(
    health: *mut lnd_health,
    local: lnd_health_ni,
    drain: u32,
    now: u64,
    remaining: *mut u32,
) -> lnd_error {
    let drained = |id, whole: &mut Whole| {
        place_if(remaining)?;
        let local = whole.local(id, local)?;
        whole.health.drain_local(Instant::from_nanos(now), local, drain != 0);
        let left = whole.health.local(local).map_or(0, |ni| ni.in_flight());
        given!(put_if(remaining, left))
    };
    outcome(given!(lnd_health::with(health, drained)))
}

/// lnd_health_drain_peer() - Does the same for all current interfaces of a peer.
/// @health: the object.
/// @peer: the peer.
/// @drain: 1: no new message is sent to it; 0: it is used again.
/// @now: the time.
/// @remaining: where the number of messages under way to it is written, including those between two
///             tries; may be NULL.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_drain_peer(
    health: *mut lnd_health,
    peer: lnd_health_peer,
    drain: u32,
    now: u64,
    remaining: *mut u32,
) -> lnd_error {
    let drained = |id, whole: &mut Whole| {
        place_if(remaining)?;
        let peer = whole.peer(id, peer)?;
        whole.health.drain_peer(Instant::from_nanos(now), peer, drain != 0);
        let left = whole.health.peer(peer).map_or(0, |peer| peer.attempts());
        given!(put_if(remaining, left))
    };
    outcome(given!(lnd_health::with(health, drained)))
}

/// lnd_health_set_credits() - Sets an interface's remaining send credits, for selection.
/// @health: the object.
/// @ni: the interface, local or a peer's.
/// @credits: credits left, less the messages that wait for one.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_set_credits(
    health: *mut lnd_health,
    ni: lnd_health_ni,
    credits: i32,
) -> lnd_error {
    let set = |id, whole: &mut Whole| {
        let object = whole.object(id, ni)?;
        whole.health.set_credits(object, credits);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, set)))
}

/// lnd_health_set_sensitivity() - Sets by how much a failure decrements an interface's health.
/// @health: the object.
/// @ni: the interface, local or a peer's.
/// @sensitivity: 0 to 1000; LND_NO_SENSITIVITY: as in the configuration.
///
/// With 0 the health stays as it is: answered pings do not raise it either. An interface that is
/// down is first set up with lnd_health_set().
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_FOREIGN,
/// LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_set_sensitivity(
    health: *mut lnd_health,
    ni: lnd_health_ni,
    sensitivity: u32,
) -> lnd_error {
    let set = |id, whole: &mut Whole| {
        let sensitivity = match sensitivity {
            LND_NO_SENSITIVITY => None,
            given => {
                let given = u16::try_from(given).ok().filter(|v| *v <= ::lnd_health::MAX_HEALTH);
                Some(given.ok_or(lnd_error::LND_E_ARGUMENT)?)
            }
        };
        let object = whole.object(id, ni)?;
        whole.health.set_sensitivity(object, sensitivity);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, set)))
}

fn rule(given: &lnd_rule) -> Result<Rule, lnd_error> {
    let priority = u16::try_from(given.priority).map_err(|_| lnd_error::LND_E_ARGUMENT)?;
    let to = match given.kind {
        k if k == lnd_rule_kind::LND_RULE_NETWORK as u32 => Match::Net(given.network),
        k if k == lnd_rule_kind::LND_RULE_NID as u32 => Match::Nid(nid_of(given.nid)?),
        k if k == lnd_rule_kind::LND_RULE_PAIR as u32 => {
            Match::Pair { local: nid_of(given.nid)?, peer: nid_of(given.peer_nid)? }
        }
        k if k == lnd_rule_kind::LND_RULE_GATEWAY as u32 => Match::Gateway(nid_of(given.nid)?),
        _ => return Err(lnd_error::LND_E_ARGUMENT),
    };
    Ok(Rule { to, priority })
}

/// lnd_health_set_rules() - Replaces the user-defined selection policies.
/// @health: the object.
/// @rules: the rules; a later one overrides an earlier one; may be NULL if there are none.
/// @count: how many, 0 to LND_MAX_RULES.
///
/// The rules apply to what exists now: call again after an interface, a peer or a route was added.
/// What matches no rule has priority 0 and no preference. A route's own priority, from
/// lnd_health_set_route(), is added to that of its gateway's rule.
///
/// Context: the owner's. Visits all tables for each rule.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_set_rules(
    health: *mut lnd_health,
    rules: *const lnd_rule,
    count: u32,
) -> lnd_error {
    let set = |_, whole: &mut Whole| {
        if count > LND_MAX_RULES {
            return Err(lnd_error::LND_E_ARGUMENT);
        }
        let rules = given!(inputs(rules, count))?;
        // An error must change nothing, so all rules are read before the first one is applied.
        for given in rules {
            rule(given)?;
        }
        whole.health.set_rules(rules.iter().filter_map(|given| rule(given).ok()));
        Ok(())
    };
    outcome(given!(lnd_health::with(health, set)))
}

/// lnd_health_journal_next() - Reads the next entry of health's journal.
/// @health: the object.
/// @next: the number of the change to read, 0 at first; the number after it is written there.
/// @change: filled in; the caller sets its size.
///
/// An entry states which interface changed, when, and on which evidence.
///
/// The journal keeps the number of changes in the configuration. A slow reader misses the oldest
/// changes, and detects it by the @number of the change.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_END (no such change yet), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI,
/// LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_journal_next(
    health: *mut lnd_health,
    next: *mut u64,
    change: *mut lnd_health_change,
) -> lnd_error {
    let read = |id, whole: &mut Whole| {
        place(next)?;
        let change = given!(output(change))?;
        let from = given!(value(next))?;
        let found = whole.health.journal().since(from);
        let (number, entry) = found.ok_or(lnd_error::LND_E_END)?;
        let nid = whole.health.ni(entry.object).and_then(|ni| ni.nid());
        *change = to_c(id, number, nid, entry);
        given!(put(next, number.wrapping_add(1)))
    };
    outcome(given!(lnd_health::with(health, read)))
}

fn to_c(id: u32, number: u64, nid: Option<Nid>, entry: &Entry) -> lnd_health_change {
    let (evidence, class) = match entry.evidence {
        Evidence::Message(class) => (lnd_evidence::LND_EVIDENCE_MESSAGE, class),
        Evidence::Refusal(class) => (lnd_evidence::LND_EVIDENCE_REFUSAL, class),
        Evidence::Ping(class) => (lnd_evidence::LND_EVIDENCE_PING, class),
        Evidence::Heard => (lnd_evidence::LND_EVIDENCE_HEARD, Class::Ok),
        Evidence::NoResponse => (lnd_evidence::LND_EVIDENCE_NO_RESPONSE, Class::Ok),
        Evidence::Probe => (lnd_evidence::LND_EVIDENCE_PROBE, Class::Ok),
        Evidence::Fabric => (lnd_evidence::LND_EVIDENCE_FABRIC, Class::Ok),
        Evidence::Operator => (lnd_evidence::LND_EVIDENCE_OPERATOR, Class::Ok),
    };
    lnd_health_change {
        size: size_of::<lnd_health_change>() as u32,
        evidence: evidence as u32,
        number,
        at: entry.at.as_nanos(),
        cookie: entry.message,
        ni: names::object(id, entry.object),
        nid: nid.map_or(0, Nid::raw),
        from: u32::from(entry.from),
        to: u32::from(entry.to),
        up: u32::from(entry.status == NiStatus::Up),
        health_class: class as u32,
    }
}
