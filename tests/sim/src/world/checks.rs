// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The invariants, checked after every step at the node that the step has touched. Nothing else can
//! change a node's books; what one node does to another's memory is checked by the memory oracle
//! at each access.

use lnd_core::counters::Counter;
use std::collections::BTreeMap;

use lnd_core::driver::{Blocker, Broken, CreditView, Driver, PeerView, Role};
use lnd_core::id::{Incarnation, LinkId, Tag};
use lnd_core::peer::HelloState;
use lnd_core::ports::Ports;
use lnd_core::time::Instant;
use lnd_dma::descriptor::State;

use super::defect::Defect;
use super::incarnation::HostIncarnation;
use super::world::World;
use crate::fabric::{nid_of, node_of};
use crate::node::{blocker_words, few, upper_words};
use crate::simulator::fail::Violation;

/// What cannot happen at a node that keeps to the protocol, whatever others and hardware do to it.
const IMPOSSIBLE: [Counter; 3] =
    [Counter::ForeignCompletion, Counter::SendFailed, Counter::DecisionLate];

/// What cannot happen between nodes that keep to the protocol.
const UNLAWFUL: [Counter; 3] = [Counter::Misrouted, Counter::Protocol, Counter::BadCredits];

/// Reports to the upper layer what has ended; as a host with a defect would, if it has one.
pub fn report(incarnation: &mut HostIncarnation<'_>, now: Instant, defect: Option<Defect>) {
    match defect {
        Some(Defect::LostReport) => {
            let _ = incarnation.node.driver.next_report(now);
        }
        Some(Defect::DoubleReport) => {
            if let Some(report) = incarnation.node.driver.next_report(now) {
                for _ in 0..2 {
                    let reply = report.reply.then_some(report.bytes);
                    let notified =
                        incarnation.node.lnet.on_finalized(report.user, report.status, reply);
                    if let Err(violation) = notified {
                        incarnation.node.stats.violations.push(violation.to_string());
                    }
                }
            }
        }
        _ => {}
    }
    incarnation.node.report_all(now);
}

/// What stands in the way of a node's rest, in words.
pub fn blockers(incarnation: &HostIncarnation<'_>) -> String {
    let mut text: Vec<String> = Vec::new();
    let mut from = 0;
    while let Some(blocker) = incarnation.node.driver.blocker(from) {
        text.push(blocker_words(&blocker));
        from = match blocker {
            Blocker::Transfer { tag, .. } | Blocker::Unreported { tag } => tag.index + 1,
            Blocker::Link { .. } => break,
        };
    }
    text.extend(incarnation.node.lnet.blockers().iter().map(upper_words));
    let links = (0..incarnation.ports.len()).filter_map(LinkId::new);
    let states = links.filter_map(|l| Some((l, incarnation.node.driver.link_state(l)?)));
    let run = incarnation.node.driver.run_state();
    let states = states.map(|(l, state)| format!("link {} is {state:?}", l.index()));
    let states = states.collect::<Vec<_>>().join("; ");
    format!("{}; {states}; the driver is {run:?}", few(text))
}

/// Whether a node that has come to rest holds nothing.
///
/// # Errors
/// What it holds.
pub fn clean(incarnation: &HostIncarnation<'_>) -> Result<(), String> {
    if incarnation.node.outstanding() > 0 {
        return Err(format!(
            "INV-1: {} messages were never reported",
            incarnation.node.outstanding()
        ));
    }
    if incarnation.node.driver.in_use() != (0, 0) {
        return Err(format!("INV-15: slots in use: {:?}", incarnation.node.driver.in_use()));
    }
    if let Some(blocker) = incarnation.node.driver.blocker(0) {
        return Err(format!("INV-15: {blocker:?}"));
    }
    Ok(())
}

/// One end's books on the other end.
struct End {
    /// The incarnation whose books they are.
    of: Incarnation,
    /// The other end's incarnation, as this one knows it.
    other: Option<Incarnation>,
    state: HelloState,
    credits: CreditView,
}

impl End {
    /// A driver's books on a peer.
    fn of<P: Ports>(driver: &Driver<'_, P>, view: &PeerView) -> Option<Self> {
        Some(Self {
            of: driver.identity().incarnation,
            other: view.incarnation,
            state: view.state,
            credits: driver.credits_with(view.id)?,
        })
    }

    /// Whether both ends mean the same session of this end: only then are its credits conserved.
    fn means(&self, there: &Self) -> bool {
        self.other == Some(there.of)
            && there.other == Some(self.of)
            && self.state == HelloState::Good
            && there.credits.their_session == Some(self.credits.session)
    }
}

impl World<'_> {
    /// Checks everything that the last step may have broken.
    pub(super) fn check(&mut self, node: u32) -> Result<(), Violation> {
        if let Some(what) = self.layer.net.borrow_mut().violations.pop() {
            return Err(Violation::at(node, what));
        }
        let Some(host) = self.hosts.get(node as usize) else { return Ok(()) };
        if let Some(it) = self.layer.tracking.as_ref().and_then(|o| o.borrow_mut().take_broken()) {
            return Err(Violation { what: it.what, node: Some(it.node), tag: it.tag });
        }
        // What engines have done is in no book.
        if self.checked.get(node as usize) == Some(&true) {
            return self.check_now_and_then(node);
        }
        let finalized = host.recorder.take_finalized();
        let Some(incarnation) = &host.incarnation else { return Ok(()) };
        if let Some(what) = incarnation.node.stats.violations.first() {
            return Err(Violation::at(node, format!("INV-1: {what}")));
        }
        if let Err(broken) = incarnation.node.driver.audit() {
            return Err(self.audit_failed(node, broken));
        }
        if let Err(fault) = incarnation.node.lnet.audit() {
            return Err(Violation::at(node, format!("INV-1: upper layer's books: {fault:?}")));
        }
        for tag in finalized {
            self.check_finalized(node, tag)?;
        }
        self.check_credits(node)?;
        self.check_requests(node)?;
        if let Some(checked) = self.checked.get_mut(node as usize) {
            *checked = true;
        }
        self.check_now_and_then(node)
    }

    fn check_now_and_then(&self, node: u32) -> Result<(), Violation> {
        if self.step.is_multiple_of(64) {
            self.check_counters(node)?;
        }
        Ok(())
    }

    fn audit_failed(&self, node: u32, broken: Broken) -> Violation {
        let what = format!("the driver's books: {broken:?}");
        let slot = match broken {
            Broken::SlotState(slot) | Broken::QueueState(slot) | Broken::DoneOwes(slot) => slot,
            _ => return Violation::at(node, what),
        };
        match self.hosts.get(node as usize).and_then(|host| host.incarnation.as_ref()) {
            Some(incarnation) => {
                Violation::of(node, incarnation.node.driver.irq_handle().shared().tag(slot), what)
            }
            None => Violation::at(node, what),
        }
    }

    /// A transfer was reported: no node may have anything of it any more (INV-2, INV-5).
    fn check_finalized(&self, node: u32, tag: Tag) -> Result<(), Violation> {
        if self.layer.net.borrow().still_out(node, tag) {
            let what = "INV-5: reported while its short message had not ended";
            return Err(Violation::of(node, tag, what));
        }
        let Some(incarnation) =
            self.hosts.get(node as usize).and_then(|host| host.incarnation.as_ref())
        else {
            return Ok(());
        };
        for port in &incarnation.ports {
            let own = port.device.memory.descriptor(tag.index).map(|descriptor| descriptor.own());
            let held = own.is_some_and(|own| {
                let its = own.generation() == tag.generation as u16;
                its && (own.is(State::Owned) || own.is(State::Busy))
            });
            if held {
                let what = format!("INV-2: reported while the device had its descriptor: {own:?}");
                return Err(Violation::of(node, tag, what));
            }
        }
        Ok(())
    }

    /// Credits are conserved between each two ends that mean the same session (INV-12): left, in
    /// the channel or taken in, consumed and not yet told, and told on the way make up the depth.
    fn check_credits(&self, node: u32) -> Result<(), Violation> {
        let Some(incarnation) = self.alive(node) else { return Ok(()) };
        let driver = &incarnation.node.driver;
        for at in 0..driver.peers_known() {
            let Some(view) = driver.peer_view(at) else { continue };
            let Some(peer) = node_of(view.nid).filter(|&peer| !self.is_lawless(peer)) else {
                continue;
            };
            let Some(here) = End::of(driver, &view) else { continue };
            let Some(there) = self.view(peer, node) else { continue };
            for (asks, a, serves, b) in [(node, &here, peer, &there), (peer, &there, node, &here)] {
                if !a.means(b) {
                    continue;
                }
                let (ours, theirs) = (a.credits, b.credits);
                let [back, notified, consumed] = [
                    ours.sent.wrapping_sub(ours.returned),
                    theirs.announced.wrapping_sub(ours.returned),
                    theirs.consumed.wrapping_sub(ours.returned),
                ];
                if back > ours.depth || consumed > back || notified > consumed {
                    let what =
                        format!("INV-12: credits: {ours:?} of {asks}, {theirs:?} of {serves}");
                    return Err(Violation::at(node, what));
                }
            }
        }
        Ok(())
    }

    /// Requests of one peer that wait for their decision take no more slots than the peer has
    /// credits (INV-12).
    fn check_requests(&mut self, node: u32) -> Result<(), Violation> {
        let depth = usize::from(self.layer.setup.config.depth);
        let (slots, oracle) = (self.layer.setup.config.slots, self.layer.tracking.clone());
        let Some((oracle, incarnation)) = oracle.zip(self.incarnation(node)) else { return Ok(()) };
        if !std::mem::take(&mut incarnation.node.asked) {
            return Ok(());
        }
        let mut held: BTreeMap<u32, usize> = BTreeMap::new();
        for it in (0..slots).filter_map(|slot| incarnation.node.driver.transfer_view(slot)) {
            if let Some(peer) = it.peer.and_then(node_of).filter(|_| it.role == Role::RxRequest) {
                *held.entry(peer).or_default() += 1;
            }
        }
        let undisturbed = |peer| oracle.borrow().undisturbed(node, peer);
        match held.into_iter().find(|&(peer, count)| count > depth && undisturbed(peer)) {
            Some((peer, count)) => {
                let what =
                    format!("INV-12: {count} requests of node {peer}, and its depth is {depth}");
                Err(Violation::at(node, what))
            }
            None => Ok(()),
        }
    }

    /// What a node's driver has on another node.
    fn view(&self, node: u32, of: u32) -> Option<End> {
        let driver = &self.hosts.get(node as usize)?.incarnation.as_ref()?.node.driver;
        let id = driver.peer(nid_of(of))?;
        End::of(driver, &driver.peer_view(id.index() as u32)?)
    }

    pub(super) fn check_counters(&self, node: u32) -> Result<(), Violation> {
        let Some(incarnation) =
            self.hosts.get(node as usize).and_then(|host| host.incarnation.as_ref())
        else {
            return Ok(());
        };
        let counters = incarnation.all_counters();
        let unlawful = if self.layer.setup.lawless().is_none() { &UNLAWFUL[..] } else { &[] };
        // Who keeps a request and then does not run decides late.
        let may = |counter| counter == Counter::DecisionLate && self.layer.tracking.is_some();
        for &counter in IMPOSSIBLE.iter().chain(unlawful).filter(|&&counter| !may(counter)) {
            let count = counters.value(counter);
            if count > 0 {
                let what =
                    format!("impossible between correct nodes: {} = {count}", counter.name());
                return Err(Violation::at(node, what));
            }
        }
        let failed = counters.value(Counter::DrainBoundHit);
        if failed > 0 && self.layer.setup.plan.returns_everything() {
            let what = "R21: a link was failed by the drain bound, and nothing was kept back";
            return Err(Violation::at(node, what));
        }
        Ok(())
    }
}
