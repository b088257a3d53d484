// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The script: traffic, a link failure, a death, a restart, and the end.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant as Wall};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lnd_core::config::Config;
use lnd_core::counters::Counters;
use lnd_core::id::LinkId;
use lnd_core::sync::AtomicU32;
use lnd_core::time::{Instant, Span};
use lnd_sim::fabric::{nid_of, Fabric, Mapping, Shape};
use lnd_sim::node::Arena;
use lnd_sim::rng::Rng;
use lnd_sim::runtime::{random_word, sharpen_timers, Bells, Clock};

use super::files::{checksum, collect, items, Generated, GoOn, Item};
use super::incarnation::{live, lock, Part, Remains, Stage, Stagehand};
use super::report::{Failure, Outcome};
use super::Options;
use crate::files::{
    Chunks, ClientConfig, Discard, FileClient, FileServer, FileSource, Job, MemoryStore, Pages,
    ServerConfig,
};
use crate::process::signals;
use crate::say;

type Broken = Box<dyn Error + Send + Sync>;

const A: u32 = 0;
const B: u32 = 1;
const LINKS: u8 = 2;
const WINDOW: u64 = 256 << 20;
/// How long the cable is out, and how long the link has then before what happened is noted.
const CABLE_OUT: Duration = Duration::from_millis(200);
const SETTLING: Duration = Duration::from_millis(50);

/// Sizes and times of the demonstration's nodes.
fn config() -> Config {
    let mut config = Config::new(256, 4, LINKS);
    config.lists = 64;
    config.drain_bound = Span::from_millis(500);
    config.hello_timeout = Span::from_millis(100);
    config
}

pub fn run(options: &Options) -> Result<Outcome, Broken> {
    let begin = Wall::now();
    signals::catch();
    sharpen_timers();
    say!(
        "Node A sends files to node B by PUT and brings them back by GET; each node has two links."
    );
    let go_on = || still_wanted(begin, options.bound);
    // Removed when this function ends, however it does.
    let (items, _generated) = what_to_send(options, begin, &go_on)?;
    let shape = Shape::new(2, u32::from(LINKS), 256, WINDOW);
    let mapping = Mapping::anonymous(shape.bytes_needed())?;
    let fabric = Fabric::format(&mapping, shape)?;
    let (arena, violations) = (Arena::new(), AtomicU32::new(0));
    let bells = Bells::new(2, LINKS.into());
    let stage = Stage {
        arena: &arena,
        fabric: &fabric,
        clock: Clock::start(),
        config: config(),
        violations: &violations,
        bells: &bells,
    };
    let mut play = Play::new(options, &stage, &items, begin);
    play.run()?;
    play.outcome.find_changed(&items);
    if signals::stopped() {
        return Err("stopped by a signal".into());
    }
    Ok(play.outcome)
}

/// Asked between pieces of what is done before the traffic begins.
fn still_wanted(begin: Wall, bound: Duration) -> io::Result<()> {
    if signals::stopped() {
        return Err(io::Error::other("stopped by a signal"));
    }
    if begin.elapsed() > bound {
        let why = format!("not ready within {} s: --bound gives it longer", bound.as_secs());
        return Err(io::Error::other(why));
    }
    Ok(())
}

/// Where generated files lie if nothing else is said.
fn default_scratch() -> PathBuf {
    let build = Path::new("target");
    if build.is_dir() {
        build.to_owned()
    } else {
        std::env::temp_dir()
    }
}

fn what_to_send(
    options: &Options,
    begin: Wall,
    go_on: GoOn<'_>,
) -> Result<(Vec<Item>, Option<Generated>), Broken> {
    let mut rng = Rng::new(1);
    let named = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let paths = collect(&options.dir, go_on).map_err(|error| named(&options.dir, error))?;
    let mut all = items("dir", &options.dir, &paths, &mut rng);
    let bytes: u64 = all.iter().map(|item| item.size).sum();
    notified(begin, format_args!("{}, {}: found", options.dir.display(), amount(all.len(), bytes)));
    if options.generated == 0 {
        if all.is_empty() {
            let why = "no regular file below it, and none is generated: there is nothing to send";
            return Err(format!("{}: {why}", options.dir.display()).into());
        }
        return Ok((all, None));
    }
    let place = options.scratch.clone().unwrap_or_else(default_scratch);
    let set = Generated::begin(&place, options.generated, go_on);
    let set = set.map_err(|error| named(&place, error))?;
    let mib = options.generated >> 20;
    notified(
        begin,
        format_args!("{}, {mib} MiB: generating; removed at the end", set.dir().display()),
    );
    set.fill(options.generated, go_on).map_err(|error| named(set.dir(), error))?;
    let paths = collect(set.dir(), go_on)?;
    let generated = items("generated", set.dir(), &paths, &mut rng);
    notified(begin, format_args!("{}: generated", amount(generated.len(), options.generated)));
    all.extend(generated);
    Ok((all, Some(set)))
}

fn amount(files: usize, bytes: u64) -> String {
    format!("{files} files of {:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Tells what happens, and when.
fn notified(begin: Wall, what: std::fmt::Arguments<'_>) {
    say!("{:7.3} s  {what}", begin.elapsed().as_secs_f64());
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
        let jobs = self.jobs(&mut errors)?;
        self.outcome.unreadable = errors;
        let total = self.outcome.bytes;
        let (hand_a, hand_b, hand_c) =
            (Stagehand::default(), Stagehand::default(), Stagehand::default());
        let stage = self.stage;
        self.note("the traffic begins");
        thread::scope(|scope| {
            let server = self.server();
            let first_b = scope.spawn(|| live(stage, B, &hand_b, server));
            wait_for(&hand_b);
            let client = client_part(jobs);
            let a = scope.spawn(|| live(stage, A, &hand_a, client));
            wait_for(&hand_a);
            let mut b = (&hand_b, first_b);
            if self.options.failures {
                self.until(&hand_a, total / 10);
                self.fail_link(&hand_a, &hand_b);
                self.until(&hand_a, total / 2);
                let remains = self.kill(b.0, b.1, &hand_a);
                self.outcome.incarnations.push(("B, first incarnation", remains));
                let server = self.server();
                b = (&hand_c, scope.spawn(|| live(stage, B, &hand_c, server)));
                wait_for(b.0);
                self.note("node B starts again");
            }
            self.until(&hand_a, u64::MAX);
            for (name, hand, thread) in [("A", &hand_a, a), ("B", b.0, b.1)] {
                hand.leave.store(true, Ordering::Relaxed);
                self.stage.bells.ring_host(if name == "A" { A } else { B });
                let late = self.begin.elapsed() > self.options.bound || signals::stopped();
                hand.kill.fetch_or(late, Ordering::Relaxed);
                self.outcome.incarnations.push((name, join(thread)));
            }
        });
        self.bars.0.finish();
        self.bars.1.finish();
        self.outcome.oracle = self.stage.violations.load(lnd_core::sync::Ordering::Relaxed);
        Ok(())
    }

    /// Two jobs a file: there by PUT, back by GET, to be compared with the file itself.
    fn jobs(&self, errors: &mut Vec<String>) -> io::Result<Vec<(Job, Job)>> {
        let left = self.options.bound.saturating_sub(self.begin.elapsed());
        let left = Span::from_nanos(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
        let deadline = self.stage.clock.now().after(left);
        let go_on = || still_wanted(self.begin, self.options.bound);
        let mut jobs = Vec::new();
        for item in self.items {
            match (FileSource::open(&item.path), checksum(&item.path, &go_on)?) {
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
        Ok(jobs)
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
        self.bars.0.suspend(|| notified(self.begin, format_args!("{text}")));
    }

    /// Waits until so many bytes have crossed, or all jobs are done, or the time is over.
    fn until(&mut self, hand: &Stagehand<'_>, bytes: u64) {
        loop {
            let sent = hand.sent.load(Ordering::Relaxed);
            let fetched = hand.fetched.load(Ordering::Relaxed);
            self.bars.0.set_position(sent.min(self.outcome.bytes));
            self.bars.1.set_position(fetched.min(self.outcome.bytes));
            let done = hand.jobs_left.load(Ordering::Relaxed) == 0;
            let over = self.begin.elapsed() > self.options.bound || signals::stopped();
            if sent >= bytes || done || over {
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
            if let Some(irq_handle) = &*lock(&hand.irq_handle) {
                irq_handle.link_failed(link);
            }
            self.stage.bells.ring_host(node);
        }
        thread::sleep(CABLE_OUT);
        for node in [A, B] {
            self.stage.fabric.set_link(node, link, true);
        }
        self.note("link 1 works again");
        thread::sleep(SETTLING);
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
            let ended = a.jobs_left.load(Ordering::Relaxed) == 0;
            if lock(&a.seen).in_use.0 >= 4 || ended || signals::stopped() {
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
        let notified = self.stage.clock.now();
        lock(&a.down).push(nid_of(B));
        self.stage.bells.ring_host(A);
        let drained = self.drained(a, &before, notified);
        let seen = lock(&a.seen).clone();
        self.outcome.failures.push(Failure::new(
            "node B was killed",
            "A",
            &before,
            &seen.counters,
            drained,
        ));
        remains
    }

    /// Waits until A has nothing left with its dead peer; how long that took.
    fn drained(&self, a: &Stagehand<'_>, before: &Counters, notified: Instant) -> Option<Span> {
        use lnd_core::counters::Counter::PeersDown;
        for _ in 0..4000 {
            let seen = lock(&a.seen).clone();
            let down = seen.counters.value(PeersDown) > before.value(PeersDown);
            if signals::stopped() || self.begin.elapsed() > self.options.bound {
                return None;
            }
            if down && seen.in_use == (0, 0) {
                return Some(self.stage.clock.now().since(notified));
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
            (config.timeout, config.longest_pause) = (Span::from_secs(15), Span::from_millis(200));
            config.max_records = 1 << 20;
            // Together fewer than the driver sends to a peer at a time: none waits for those before
            // it.
            config.max_chunks = Chunks { small: 3, large: 3 };
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
