// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Worlds of nodes with several interfaces: each has a driver of its own, and its node keeps their
//! health.

use std::rc::Rc;

use lnd_core::time::Span;

use super::faults::Own;
use super::host::HostIncarnation;
use super::oracle::{Defect, Oracle};
use super::plan::{Plan, Scheduled};
use super::rail::{the_link, Common, Rail, SLOTS};
use super::rules::Rules;
use crate::simulator::device::Pace;
use crate::simulator::fail::Violation;
use crate::simulator::layer::{Layer, Place};
use crate::simulator::network::Network;

/// Who an interface is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NiSpec {
    /// Its node.
    pub host: u32,
    /// Its place among the node's interfaces.
    pub ni: u32,
    /// Its network.
    pub net: usize,
}

/// All interfaces, by number: first the first ones of all nodes, so that a node's number is the
/// number of its first interface (its primary NID); then the others.
pub(super) fn number_all(plan: &Plan) -> Vec<NiSpec> {
    let spec = |host: usize, ni: usize, name: &String| {
        Some(NiSpec { host: host as u32, ni: ni as u32, net: plan.net(name)? })
    };
    let all = || {
        plan.hosts.iter().enumerate().flat_map(move |(host, it)| {
            it.nis.iter().enumerate().filter_map(move |(ni, name)| spec(host, ni, name))
        })
    };
    all().filter(|s| s.ni == 0).chain(all().filter(|s| s.ni > 0)).collect()
}

/// What such a world is besides nodes, time and users.
pub struct Rails<'m> {
    pub(super) common: Common<'m>,
    pub(super) plan: Plan,
    pub(super) defect: Option<Defect>,
    pub(super) specs: Rc<[NiSpec]>,
    pub(super) rules: Rules,
    pub(super) oracle: Oracle,
}

/// The world.
pub type World<'m> = crate::simulator::World<'m, Rails<'m>>;

impl<'m> Layer<'m> for Rails<'m> {
    type HostIncarnation = HostIncarnation<'m>;
    type Scheduled = Scheduled;
    type Own = Own;

    const LOOKS_OFTEN: bool = false;
    const USERS_STAY: bool = false;

    fn places(&self, host: u32) -> Vec<Place> {
        let own = (0_u32..).zip(self.specs.iter()).filter(|(_, spec)| spec.host == host);
        own.map(|(number, spec)| Place { number, link: the_link(), net: spec.net }).collect()
    }

    fn host_of(&self, number: u32) -> Option<u32> {
        self.specs.get(number as usize).map(|spec| spec.host)
    }

    fn pace(&self, host: u32, at: usize) -> Pace {
        let kind = |place: &Place| self.common.kinds.get(place.net).map(|kind| kind.slowness());
        let slowness = self.places(host).get(at).and_then(kind).unwrap_or(0);
        Pace { budget: 16, slowness, doublings: 10 }
    }

    fn slots(&self) -> u32 {
        SLOTS
    }

    fn pause(&self) -> Span {
        Span::from_millis(u64::from(self.plan.pause_ms))
    }

    fn is_at_rest(&self, incarnation: &HostIncarnation<'m>) -> bool {
        incarnation.at_rest()
    }

    fn thread(world: &mut World<'m>, host: u32) -> Result<Option<u32>, Violation> {
        world.thread(host)
    }

    fn own(world: &mut World<'m>, event: Own) -> Result<Option<u32>, Violation> {
        world.own(event);
        world.stir_all();
        Ok(None)
    }

    fn begin(world: &mut World<'m>, it: Scheduled) {
        world.happens(it);
    }

    fn link_up(world: &mut World<'m>, host: u32, at: usize) {
        world.link_works_again(host, at);
    }

    fn new_incarnation(world: &mut World<'m>, host: u32) -> Result<HostIncarnation<'m>, String> {
        world.new_incarnation(host)
    }

    fn forget(world: &mut World<'m>, host: u32) {
        world.layer.oracle.mark_dead(host);
    }

    fn check(world: &mut World<'m>, host: u32) -> Result<(), Violation> {
        world.check(host)
    }
}

impl Rails<'_> {
    /// A message's whole time.
    pub(super) fn timeout(&self) -> Span {
        Span::from_millis(u64::from(self.plan.timeout_ms))
    }
}

impl World<'_> {
    pub(super) fn spec(&self, number: u32) -> Option<NiSpec> {
        self.layer.specs.get(number as usize).copied()
    }

    /// Reads what waits in the mailboxes of a node. Whether something is to be offered again at
    /// once.
    pub(super) fn read_all(&mut self, host: u32) -> bool {
        let (now, nets) = (self.now, self.nets.clone());
        let incarnation =
            self.hosts.get_mut(host as usize).and_then(|host| host.incarnation.as_mut());
        let Some(incarnation) = incarnation else { return false };
        let mut again = false;
        for ni in 0..incarnation.rails.len() {
            let Some((number, net)) = incarnation.rails.get(ni).map(|r| (r.number, r.net)) else {
                break;
            };
            let Some(net) = nets.get(net) else { continue };
            let waiting = net.borrow().waiting(number);
            let held = |rail: &Rail<'_>, lane| rail.waiting.holds(lane);
            for lane in waiting {
                if incarnation.rails.get(ni).is_none_or(|rail| held(rail, lane)) {
                    continue;
                }
                let reading = Network::read(net, lane, u32::MAX, |bytes| {
                    incarnation.on_frame(now, ni, lane.from, bytes, &mut self.layer.oracle)
                });
                let rail = incarnation.rails.get_mut(ni);
                again |= rail.is_some_and(|rail| rail.waiting.note(lane, reading));
            }
        }
        again
    }

    /// The link of an interface works or does not.
    pub(super) fn turn_link(&mut self, number: u32, up: bool) {
        let Some(spec) = self.spec(number) else { return };
        self.set_link(spec.host, spec.ni as usize, up);
        self.wake(spec.host);
    }
}
