// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The script: traffic, a link failure, a death, a rebirth, and the end.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant as Wall};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lnd_core::config::Config;
use lnd_core::counters::Counters;
use lnd_core::id::LinkId;
use lnd_core::sync::AtomicU32;
use lnd_core::time::{Instant, Span};

use super::files::{collect, generate, items, Item};
use super::life::{live, lock, Part, Remains, Stage, Stagehand};
use super::report::{Failure, Outcome};
use super::Options;
use crate::fabric::{nid_of, Fabric, Mapping, Shape};
use crate::files::{
    ClientConfig, Discard, FileClient, FileServer, FileSource, Job, MemoryStore, Pages,
    ServerConfig,
};
use crate::node::Hall;
use crate::rng::Rng;
use crate::runtime::{random_word, sharpen_timers, Bells, Clock};

type Broken = Box<dyn Error + Send + Sync>;

const A: u32 = 0;
const B: u32 = 1;
const LINKS: u8 = 2;
const WINDOW: u64 = 256 << 20;

/// Sizes and times of the demonstration's nodes.
fn config() -> Config {
    let mut config = Config::new(256, 4, LINKS);
    config.lists = 64;
    config.drain_bound = Span::from_millis(500);
    config.hello_timeout = Span::from_millis(100);
    config
}

pub fn tell(options: &Options) -> Result<Outcome, Broken> {
    let begin = Wall::now();
    let items = what_to_send(options)?;
    let shape = Shape::new(2, u32::from(LINKS), 256, WINDOW);
    let mapping = Mapping::anonymous(shape.bytes_needed())?;
    let fabric = Fabric::format(&mapping, shape)?;
    let (hall, violations) = (Hall::new(), AtomicU32::new(0));
    let bells = Bells::new(2, LINKS.into());
    sharpen_timers();
    let stage = Stage {
        hall: &hall,
        fabric: &fabric,
        clock: Clock::start(),
        config: config(),
        violations: &violations,
        bells: &bells,
    };
    let mut play = Play::new(options, &stage, &items, begin);
    play.run()?;
    Ok(play.outcome)
}

fn what_to_send(options: &Options) -> Result<Vec<Item>, Broken> {
    let mut rng = Rng::new(1);
    let paths = collect(&options.dir)?;
    let mut all = items("dir", &options.dir, &paths, &mut rng);
    if options.generated > 0 {
        generate(&options.scratch, options.generated)?;
        let paths = collect(&options.scratch)?;
        all.extend(items("generated", &options.scratch, &paths, &mut rng));
    }
    Ok(all)
}

/// Everything the script holds.
struct Play<'p, 'm> {
    options: &'p Options,
    stage: &'p Stage<'m>,
    items: &'p [Item],
    begin: Wall,
    store: MemoryStore,
    bars: (ProgressBar, ProgressBar),
    _screen: MultiProgress,
    outcome: Outcome,
}

impl<'p, 'm> Play<'p, 'm> {
    fn new(options: &'p Options, stage: &'p Stage<'m>, items: &'p [Item], begin: Wall) -> Self {
        let target = if options.progress {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let screen = MultiProgress::with_draw_target(target);
        let total: u64 = items.iter().map(|item| item.size).sum();
        let style = ProgressStyle::with_template(
            "{prefix:>4} {bar:40} {bytes:>11}/{total_bytes} {bytes_per_sec:>13} {msg}",
        )
        .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = |name: &'static str| {
            let bar = screen.add(ProgressBar::new(total));
            bar.set_style(style.clone());
            bar.with_prefix(name)
        };
        let bars = (bar("PUT"), bar("GET"));
        let store = MemoryStore::new();
        let outcome = Outcome::new(items.len(), total);
        Self { options, stage, items, begin, store, bars, _screen: screen, outcome }
    }

    fn run(&mut self) -> Result<(), Broken> {
        let mut errors = Vec::new();
        let jobs = self.jobs(&mut errors);
        self.outcome.unreadable = errors;
        let total = self.outcome.bytes;
        let (hand_a, hand_b, hand_c) =
            (Stagehand::default(), Stagehand::default(), Stagehand::default());
        let stage = self.stage;
        let started = Wall::now();
        thread::scope(|scope| {
            let server = self.server();
            let first_b = scope.spawn(|| live(stage, B, &hand_b, server));
            wait_for(&hand_b);
            let client = client_part(jobs);
            let a = scope.spawn(|| live(stage, A, &hand_a, client));
            wait_for(&hand_a);
            let mut b = (&hand_b, first_b);
            if self.options.failures {
                self.until(&hand_a, total / 5);
                self.fail_link(&hand_a, &hand_b);
                self.until(&hand_a, total / 2);
                let remains = self.kill(b.0, b.1, &hand_a);
                self.outcome.lives.push(("B, first life", remains));
                let server = self.server();
                b = (&hand_c, scope.spawn(|| live(stage, B, &hand_c, server)));
                wait_for(b.0);
                self.note("node B is reborn");
            }
            self.until(&hand_a, u64::MAX);
            self.outcome.elapsed = started.elapsed();
            for (name, hand, thread) in [("A", &hand_a, a), ("B", b.0, b.1)] {
                hand.leave.store(true, Ordering::Relaxed);
                self.stage.bells.ring_host(if name == "A" { A } else { B });
                let late = self.begin.elapsed() > self.options.bound;
                hand.kill.fetch_or(late, Ordering::Relaxed);
                self.outcome.lives.push((name, join(thread)));
            }
        });
        self.bars.0.finish();
        self.bars.1.finish();
        self.outcome.oracle = self.stage.violations.load(lnd_core::sync::Ordering::Relaxed);
        Ok(())
    }

    /// Two jobs a file: there by PUT, back by GET, to be compared with the file itself.
    fn jobs(&self, errors: &mut Vec<String>) -> Vec<(Job, Job)> {
        let deadline = self.stage.clock.now().after(Span::from_nanos(
            u64::try_from(self.options.bound.as_nanos()).unwrap_or(u64::MAX),
        ));
        let mut jobs = Vec::new();
        for item in self.items {
            match (FileSource::open(&item.path), checksum(&item.path)) {
                (Ok(source), Ok(sum)) => {
                    let put = Job::put(nid_of(B), &item.name, source, deadline);
                    let get = Job::get(nid_of(B), &item.name, Discard, deadline);
                    let get = get.with_chunk(item.chunk).expecting(sum);
                    jobs.push((put.with_chunk(item.chunk), get));
                }
                (Err(error), _) | (_, Err(error)) => {
                    errors.push(format!("{}: {error}", item.path.display()));
                }
            }
        }
        jobs
    }

    fn server(&self) -> Part {
        let store = self.store.clone();
        Part::Server {
            server: Box::new(move |station| {
                let mut config = ServerConfig::new(u64::from(random_word()));
                config.idle = Span::from_secs(5);
                let pages = Pages::new(0, WINDOW);
                match FileServer::new(config, pages, store, &mut station.node.lnet) {
                    Ok(server) => server,
                    Err(error) => unreachable!("the window is large enough: {error:?}"),
                }
            }),
        }
    }

    fn note(&self, text: &str) {
        let at = self.begin.elapsed().as_secs_f64();
        self.bars.0.suspend(|| crate::say!("{at:7.3} s  {text}"));
    }

    /// Waits until so many bytes have crossed, or all jobs are done, or the time is over.
    fn until(&mut self, hand: &Stagehand<'_>, bytes: u64) {
        loop {
            let sent = hand.sent.load(Ordering::Relaxed);
            let fetched = hand.fetched.load(Ordering::Relaxed);
            self.bars.0.set_position(sent.min(self.outcome.bytes));
            self.bars.1.set_position(fetched.min(self.outcome.bytes));
            let done = hand.jobs_left.load(Ordering::Relaxed) == 0;
            if sent >= bytes || done || self.begin.elapsed() > self.options.bound {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Pulls the cable of the second link, and puts it back.
    fn fail_link(&mut self, a: &Stagehand<'m>, b: &Stagehand<'m>) {
        let Some(link) = LinkId::new(1) else { return };
        let before = [lock(&a.seen).counters.clone(), lock(&b.seen).counters.clone()];
        self.note("link 1 fails: the cable is pulled");
        for (node, hand) in [(A, a), (B, b)] {
            self.stage.fabric.set_link(node, link, false);
            if let Some(decider) = &*lock(&hand.decider) {
                decider.link_failed(link);
            }
            self.stage.bells.ring_host(node);
        }
        thread::sleep(Duration::from_millis(400));
        for node in [A, B] {
            self.stage.fabric.set_link(node, link, true);
        }
        self.note("link 1 works again");
        thread::sleep(Duration::from_millis(100));
        for ((name, hand), before) in [("A", a), ("B", b)].into_iter().zip(before) {
            let seen = lock(&hand.seen).clone();
            let quiesced = seen.quiesced.get(link.index()).copied().flatten();
            let failure = Failure::new("link 1 failed", name, &before, &seen.counters, quiesced);
            self.outcome.failures.push(failure);
        }
    }

    /// Kills B where it stands; once its last thread has ended its death is proven, and the
    /// platform tells A.
    fn kill(
        &mut self,
        b: &Stagehand<'_>,
        thread: thread::ScopedJoinHandle<'_, Remains>,
        a: &Stagehand<'_>,
    ) -> Remains {
        // At a moment when it hurts: with transfers under way.
        for _ in 0..2000 {
            if lock(&a.seen).in_use.0 >= 4 {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        let before = lock(&a.seen).counters.clone();
        self.note("node B is killed");
        b.kill.store(true, Ordering::Relaxed);
        self.stage.bells.ring_host(B);
        let remains = join(thread);
        self.stage.fabric.declare_dead(B);
        let told = self.stage.clock.now();
        lock(&a.down).push(nid_of(B));
        self.stage.bells.ring_host(A);
        let drained = self.drained(a, &before, told);
        let seen = lock(&a.seen).clone();
        self.outcome.failures.push(Failure::new(
            "node B died",
            "A",
            &before,
            &seen.counters,
            drained,
        ));
        remains
    }

    /// Waits until A has nothing left with its dead peer; how long that took.
    fn drained(&self, a: &Stagehand<'_>, before: &Counters, told: Instant) -> Option<Span> {
        use lnd_core::counters::Counter::PeersDown;
        for _ in 0..4000 {
            let seen = lock(&a.seen).clone();
            let down = seen.counters.value(PeersDown) > before.value(PeersDown);
            if down && seen.in_use == (0, 0) {
                return Some(self.stage.clock.now().since(told));
            }
            thread::sleep(Duration::from_millis(1));
        }
        None
    }
}

fn client_part(pairs: Vec<(Job, Job)>) -> Part {
    Part::Client {
        client: Box::new(|station| {
            let mut config = ClientConfig::new(u64::from(random_word()));
            config.timeout = Span::from_secs(15);
            config.longest_pause = Span::from_millis(200);
            config.max_records = 1 << 20;
            match FileClient::new(config, Pages::new(0, WINDOW), &mut station.node.lnet) {
                Ok(client) => client,
                Err(error) => unreachable!("the window is large enough: {error:?}"),
            }
        }),
        pairs,
    }
}

fn wait_for(hand: &Stagehand<'_>) {
    for _ in 0..5000 {
        if hand.ready.load(Ordering::Acquire) {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn join(thread: thread::ScopedJoinHandle<'_, Remains>) -> Remains {
    thread.join().unwrap_or_else(|_| Remains {
        error: Some("a node's thread has panicked".to_owned()),
        ..Remains::default()
    })
}

/// The checksum of a file as it lies on disk.
fn checksum(path: &Path) -> std::io::Result<u64> {
    use std::io::Read;
    let mut file = std::fs::File::open(path)?;
    let (mut hash, mut buffer) = (crate::files::Hash::new(), vec![0; 1 << 20]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hash.finish());
        }
        hash.update(&buffer[..read]);
    }
}
