// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A run, whole or step by step: traffic and faults, then calm, in which everything comes to rest,
//! heals, and is reached.

use lnd_core::counters::Counter;
use lnd_core::time::{Instant, Span};

use super::health_view::NiHealth;
use super::host::{Around, Counts, HostIncarnation};
use super::report::{NodeReport, Report, Sample};
use super::rules::Rule;
use super::world::{Rails, World};
use crate::simulator::book::Record;
use crate::simulator::fail::Violation;
use crate::simulator::user::Preference;

/// Samples of health in one run.
const SAMPLES: u64 = 20;
/// What cannot happen between nodes that keep to the protocol, whatever hardware does to them.
const IMPOSSIBLE: [Counter; 4] =
    [Counter::Misrouted, Counter::Protocol, Counter::BadCredits, Counter::DecisionLate];

impl<'m> World<'m> {
    /// A node's thread: what has ended, mailboxes, time, reports, the user's ears, and what there
    /// is to send. Ends come first: a message whose payload has come is received before a second
    /// copy of it is looked at, which would be refused else, although it has arrived (R45).
    pub(super) fn thread(&mut self, host: u32) -> Result<Option<u32>, Violation> {
        let now = self.now;
        if self.incarnation(host).is_none_or(|incarnation| incarnation.turns.thread_at != Some(now))
        {
            return Ok(None);
        }
        self.hear_ends(host);
        let mut again = self.read_all(host);
        let World { hosts, book, layer: Rails { rules, oracle, defect, .. }, .. } = self;
        let place = hosts.get_mut(host as usize);
        let Some(incarnation) = place.and_then(|place| place.incarnation.as_mut()) else {
            return Ok(None);
        };
        incarnation.turns.thread_at = None;
        let ending = incarnation.ending;
        let mut around = Around { now, rules, oracle, defect: *defect };
        let mut listen = |incarnation: &mut HostIncarnation<'m>| {
            incarnation
                .user
                .listen(&mut incarnation.lnet, book, ending)
                .map_err(|what| Violation::at(host, what))
        };
        listen(incarnation)?;
        let mut next = incarnation.run(&mut around);
        listen(incarnation)?;
        // What the user has said meanwhile, such as an ACK.
        incarnation.send_all(&mut around);
        for rail in &mut incarnation.rails {
            rail.driver.ring();
            let at = rail.driver.wake_up_at(now);
            next = [next, at].into_iter().flatten().min();
            again |= rail.waiting.offer_again(&mut rail.driver);
        }
        if again {
            next = Some(now);
        }
        if let Some(at) = next {
            self.run_thread_at(host, at.max(now.after(Span::from_nanos(100))));
        }
        Ok(Some(host))
    }

    fn hear_ends(&mut self, host: u32) {
        let World { now, hosts, layer: Rails { rules, oracle, defect, .. }, .. } = self;
        let incarnation = hosts.get_mut(host as usize).and_then(|place| place.incarnation.as_mut());
        if let Some(incarnation) = incarnation {
            incarnation.report_all(&mut Around { now: *now, rules, oracle, defect: *defect });
        }
    }

    /// Checks everything that the last step may have broken.
    pub(super) fn check(&mut self, host: u32) -> Result<(), Violation> {
        if let Some(what) = self.layer.oracle.violations.first() {
            return Err(Violation::at(host, what));
        }
        self.log_health(host);
        let Some(incarnation) = self.hosts.get(host as usize).and_then(|h| h.incarnation.as_ref())
        else {
            return Ok(());
        };
        if let Some(what) = incarnation.stats.violations.first() {
            return Err(Violation::at(host, format!("INV-1: {what}")));
        }
        if let Err(fault) = incarnation.lnet.audit() {
            return Err(Violation::at(host, format!("INV-1: upper layer's books: {fault:?}")));
        }
        for rail in &incarnation.rails {
            if let Err(broken) = rail.driver.audit() {
                let what = format!("interface {}: the driver's books: {broken:?}", rail.number);
                return Err(Violation::at(host, what));
            }
        }
        if self.step.is_multiple_of(64) {
            self.check_counters(host)?;
        }
        Ok(())
    }

    /// Writes what a node thinks of every interface into the log, where it has changed.
    fn log_health(&self, host: u32) {
        let Some(log) = self.tally.log() else { return };
        for number in 0..self.layer.specs.len() as u32 {
            if let Some(health) = self.seen(host, number) {
                log.add_health(host, number, health.value);
            }
        }
    }

    fn check_counters(&self, host: u32) -> Result<(), Violation> {
        let incarnation = self.hosts.get(host as usize).and_then(|h| h.incarnation.as_ref());
        for rail in incarnation.iter().flat_map(|incarnation| &incarnation.rails) {
            let counters = rail.all_counters();
            let impossible = IMPOSSIBLE.into_iter().find(|&counter| counters.value(counter) > 0);
            if let Some(counter) = impossible {
                let what = format!("impossible between correct nodes: {}", counter.name());
                return Err(Violation::at(host, what));
            }
        }
        Ok(())
    }

    /// Begins a PUT of `length` bytes from one node to another; its number.
    pub fn put(&mut self, from: u32, to: u32, length: u32, ack: bool) -> Option<u64> {
        self.ask_now(from, Preference { to, get: false, length, ack, exact: true })
    }

    /// Begins a GET.
    pub fn get(&mut self, from: u32, to: u32, length: u32) -> Option<u64> {
        self.ask_now(from, Preference { to, get: true, length, ack: false, exact: true })
    }

    fn ask_now(&mut self, from: u32, preference: Preference) -> Option<u64> {
        let number = self.ask(from, preference)?;
        self.wake(from);
        Some(number)
    }

    /// Lets so many milliseconds pass.
    ///
    /// # Errors
    /// The first rule that was broken.
    pub fn run_ms(&mut self, ms: u64) -> Result<(), Violation> {
        let bound = self.now.after(Span::from_millis(ms));
        self.run_until(bound, |_| false).map(|_| ())
    }

    /// Lets time pass until the given requests are over.
    ///
    /// # Errors
    /// The first rule that was broken; requests that do not end.
    pub fn wait_for(&mut self, numbers: &[u64]) -> Result<(), Violation> {
        if self.all_over(numbers, self.patience())? {
            return Ok(());
        }
        Err(self.restless())
    }

    /// One more fault rule.
    pub fn add_rule(&mut self, rule: Rule) {
        self.layer.rules.add(rule);
    }

    /// No fault rule holds any more.
    pub fn clear_rules(&mut self) {
        self.layer.rules.clear();
    }

    /// How many messages each rule has matched, and hit.
    pub fn rule_counts(&self) -> Vec<(u64, u32)> {
        self.layer.rules.counts()
    }

    /// What is known of a request.
    pub fn record(&self, number: u64) -> Option<&Record> {
        self.book.get(number)
    }

    /// What a node has counted, over all its incarnations.
    pub fn counts(&self, host: u32) -> Counts {
        self.hosts.get(host as usize).map_or_else(Counts::default, |host| host.all_counts())
    }

    /// A node's operator sets the health of one of its own interfaces.
    pub fn set_health(&mut self, host: u32, ni: u32, value: u16) {
        let now = self.now;
        if let Some(incarnation) = self.incarnation(host) {
            incarnation.health_view.set_health(now, ni as usize, value);
            self.run_thread_at(host, now);
        }
    }

    /// A node's view of the health of an interface, its own or a peer's.
    pub fn health(&self, at: u32, of: (u32, u32)) -> Option<NiHealth> {
        self.seen(at, self.number(of.0, of.1)?)
    }

    fn seen(&self, at: u32, number: u32) -> Option<NiHealth> {
        let spec = self.spec(number)?;
        let own = (spec.host == at).then_some(spec.ni as usize);
        self.hosts.get(at as usize)?.incarnation.as_ref()?.health_view.health_of(number, own)
    }

    /// A living node.
    pub fn node(&mut self, host: u32) -> Option<&mut HostIncarnation<'m>> {
        self.incarnation(host)
    }

    /// Milliseconds since the start.
    pub fn ms(&self) -> u64 {
        self.now.since(self.start).as_nanos() / 1_000_000
    }

    /// Time within which a world without faults must come to rest.
    fn patience(&self) -> Span {
        Span::from_nanos(self.layer.timeout().times(8).as_nanos() + 5_000_000_000)
    }

    /// Everything ends that is under way.
    ///
    /// # Errors
    /// The first rule that was broken, or what does not end.
    pub fn come_to_rest(&mut self) -> Result<(), Violation> {
        self.rest(self.patience())?;
        self.layer.oracle.at_rest();
        for host in self.all() {
            self.check(host)?;
            self.check_counters(host)?;
            self.nothing_lent(host)?;
        }
        Ok(())
    }

    /// Without faults every interface recovers fully (R47, R50).
    ///
    /// # Errors
    /// The first rule that was broken, or who does not recover.
    pub fn heal(&mut self) -> Result<(), Violation> {
        let bound = self.now.after(Span::from_secs(2_000));
        let well = |world: &Self| {
            world.hosts.iter().all(|h| {
                h.incarnation.as_ref().is_some_and(|incarnation| incarnation.health_view.all_well())
            })
        };
        if self.run_until(bound, well)? {
            return Ok(());
        }
        let mut hosts = (0_u32..).zip(&self.hosts);
        let ill = hosts.find(|(_, h)| {
            h.incarnation.as_ref().is_some_and(|incarnation| !incarnation.health_view.all_well())
        });
        let (host, what) = ill.map_or((0, String::new()), |(host, place)| {
            (
                host,
                place
                    .incarnation
                    .as_ref()
                    .map_or(String::new(), |incarnation| incarnation.health_view.illness()),
            )
        });
        Err(Violation::at(host, format!("R50: does not recover: {what}")))
    }

    /// Every node reaches every other.
    fn reach_everybody(&mut self) -> Result<(), Violation> {
        let hosts = self.hosts.len() as u32;
        // At first peers in another incarnation have to be found out.
        for (attempts, length) in [(4, 300), (4, 70_000), (1, 300), (1, 70_000)] {
            for (from, to) in (0..hosts).flat_map(|a| (0..hosts).map(move |b| (a, b))) {
                if from != to {
                    self.reach(from, to, length, attempts)?;
                }
            }
        }
        Ok(())
    }

    /// A PUT and a GET get through, one after another of several at the latest. A try that meets a
    /// former incarnation does not count: what is sent to it, or comes from it, is rightly dropped.
    fn reach(&mut self, from: u32, to: u32, length: u32, attempts: u32) -> Result<(), Violation> {
        let pairs = (self.layer.specs.len() * self.layer.specs.len()) as u64;
        let (first, mut left) = (self.former_incarnations_met(), attempts);
        while left > 0 {
            let before = self.former_incarnations_met();
            let begun = [self.put(from, to, length, true), self.get(from, to, length)];
            let numbers: Vec<u64> = begun.into_iter().flatten().collect();
            self.wait_for(&numbers)?;
            let answered = |n: &u64| self.book.get(*n).is_some_and(|r| r.answered);
            if numbers.len() == 2 && numbers.iter().all(answered) {
                return Ok(());
            }
            self.run_ms(500)?;
            let now = self.former_incarnations_met();
            // Each interface meets a former incarnation of each other a few times at most.
            if now == before || now > first + 4 * pairs {
                left -= 1;
            }
        }
        Err(Violation::at(from, format!("INV-15: node {to} is not reached")))
    }

    /// How often a driver has dropped what a former incarnation was sent, or has sent.
    fn former_incarnations_met(&self) -> u64 {
        let incarnations = self.hosts.iter().filter_map(|host| host.incarnation.as_ref());
        let counters =
            incarnations.flat_map(|incarnation| &incarnation.rails).map(|rail| rail.all_counters());
        counters.map(|c| c.value(Counter::Early) + c.value(Counter::PeersRestarted)).sum()
    }

    /// Every node shuts down.
    ///
    /// # Errors
    /// The first rule that was broken, or who does not end.
    pub fn end_all(&mut self) -> Result<(), Violation> {
        let now = self.now;
        for host in self.all() {
            if let Some(incarnation) = self.incarnation(host) {
                incarnation.shut_down(now);
            }
            self.wake(host);
        }
        let bound = now.after(self.patience());
        let ended = |world: &Self| {
            world.hosts.iter().all(|h| h.incarnation.as_ref().is_none_or(HostIncarnation::ended))
        };
        if self.run_until(bound, ended)? {
            return Ok(());
        }
        Err(self.restless())
    }

    /// The whole run.
    ///
    /// # Errors
    /// The first rule that was broken.
    pub fn play(&mut self, seed: u64) -> Result<Report, Violation> {
        self.begin_phase("traffic and faults");
        let mut samples = vec![self.sample()];
        let whole = Span::from_secs(u64::from(self.layer.plan.seconds));
        for slice in 1..=SAMPLES {
            let at = whole.as_nanos() * slice / SAMPLES;
            self.run_until(self.start.after(Span::from_nanos(at)), |_| false)?;
            samples.push(self.sample());
        }
        let rules = self.layer.rules.counts();
        self.begin_phase("calm");
        self.calm_down();
        self.come_to_rest()?;
        self.begin_phase("recovery");
        self.heal()?;
        samples.push(self.sample());
        let healed = self.now;
        self.begin_phase("each node reaches each");
        self.reach_everybody()?;
        self.compare_ends(|_, _| Ok(()))?;
        let report = self.report(seed, samples, rules, healed);
        self.begin_phase("shutdown");
        self.end_all()?;
        Ok(report)
    }

    fn sample(&self) -> Sample {
        let health = |at: u32| {
            let all = 0..self.layer.specs.len() as u32;
            all.map(|number| Some(self.seen(at, number)?.value)).collect()
        };
        Sample { ms: self.ms(), values: (self.all()).map(health).collect() }
    }

    fn report(
        &self,
        seed: u64,
        samples: Vec<Sample>,
        rules: Vec<(u64, u32)>,
        healed: Instant,
    ) -> Report {
        let name = |number: u32| {
            self.spec(number).map_or(String::new(), |spec| format!("{}.{}", spec.host, spec.ni))
        };
        let nodes = self.hosts.iter().map(|host| NodeReport {
            incarnations: host.incarnations,
            counts: host.all_counts(),
            journal: host.incarnation.as_ref().map_or(Vec::new(), |incarnation| {
                incarnation.health_view.journal(self.start, name)
            }),
        });
        Report {
            facts: self.facts(seed),
            plan: self.layer.plan.clone(),
            specs: self.layer.specs.to_vec(),
            healed_ms: healed.since(self.start).as_nanos() / 1_000_000,
            rules,
            samples,
            nodes: nodes.collect(),
        }
    }
}
