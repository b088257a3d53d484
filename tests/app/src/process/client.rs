// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd put`, `lnd get`, `lnd ping`: one job at a server.

use std::path::Path;

use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_sim::fabric::{node_of, MemoryWindow};
use lnd_sim::lnet::Event;
use lnd_sim::runtime::{random_word, Station};

use super::host::{host, Actor};
use super::input::{self, Out};
use super::patience::Patience;
use super::presence::{obstacle, stranger};
use super::{signals, Broken, Setup, GRACE};
use crate::files::{ClientConfig, FileClient, Job, JobDone, JobError, Pages, Room, WriteBehind};

type MakeJob<'j> = Box<dyn FnOnce() -> Job + 'j>;

/// So often the fabric's table is asked about the server.
const LOOK: Span = Span::from_millis(20);

struct Asking<'j> {
    setup: &'j Setup,
    server: Nid,
    make: Option<MakeJob<'j>>,
    client: Option<FileClient>,
    done: Option<JobDone>,
    looked: Instant,
    /// By the table the server could be reached, at some time.
    was_there: bool,
    /// Bytes have moved, at some time.
    has_moved: bool,
    /// Since when the server cannot be reached.
    lost: Option<Instant>,
    /// Why the server cannot be reached, by the last look.
    obstacle: Option<String>,
    patience: Patience,
    /// Why the job was given up.
    gave_up: Option<GaveUp>,
}

/// Why a job was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GaveUp {
    /// By the fabric's table the server is not there, and it has never served us.
    NotThere,
    /// Nothing has moved for too long.
    Silence,
}

/// What was going on, for messages about a job's end.
struct Words<'w> {
    what: &'w str,
    /// The file at this end.
    local: &'w Path,
}

fn ask(
    setup: &Setup,
    server: Nid,
    words: &Words<'_>,
    make: MakeJob<'_>,
) -> Result<JobDone, Broken> {
    let mut asking = Asking {
        setup,
        server,
        make: Some(make),
        client: None,
        done: None,
        looked: Instant::ORIGIN,
        was_there: false,
        has_moved: false,
        lost: None,
        obstacle: None,
        patience: Patience::new(Instant::ORIGIN, Span::from_secs(setup.timeout)),
        gave_up: None,
    };
    host(setup, &mut asking)?;
    let Words { what, local } = words;
    let obstacle = asking.obstacle.unwrap_or_else(|| format!("{server} does not answer"));
    // A job that was given up is ended as one that was stopped.
    let stopped = |done: &JobDone| done.error == Some(JobError::Stopped);
    let open = asking.done.as_ref().is_none_or(stopped);
    match asking.gave_up.filter(|_| open) {
        Some(GaveUp::NotThere) => return Err(obstacle.into()),
        Some(GaveUp::Silence) => {
            let seconds = setup.timeout;
            return Err(format!("{what}: no progress for {seconds} s; {obstacle}").into());
        }
        None => {}
    }
    let done = asking.done.ok_or_else(|| format!("{what}: stopped by a signal"))?;
    let local = match local.to_str() {
        Some("-") => "standard output".into(),
        _ => local.display().to_string(),
    };
    match done.error {
        None => Ok(done),
        Some(JobError::Source(kind)) => Err(format!("{local}: {kind}").into()),
        Some(JobError::Sink(kind)) => Err(format!("{local}: {kind}").into()),
        Some(JobError::Stopped) => Err(format!("{what}: stopped by a signal").into()),
        Some(error) => Err(format!("{what}: {error}").into()),
    }
}

fn notified(verb: &str, name: &str, done: &JobDone) {
    let seconds = done.duration().as_nanos() as f64 / 1e9;
    let mib = done.bytes as f64 / f64::from(1 << 20);
    crate::say!(
        "{verb} {name}: {mib:.1} MiB in {seconds:.2} s, {:.0} MiB/s, {} restarts, checksum {:016x}",
        mib / seconds.max(1e-9),
        done.restarts,
        done.checksum.unwrap_or_default()
    );
}

/// Sends a file, under its own name or another; `-` is standard input.
///
/// # Errors
/// The file, the fabric or the server.
pub fn put(setup: &Setup, file: &Path, name: Option<&str>, to: Nid) -> Result<(), Broken> {
    // Before signals are caught: reading may take for ever.
    let source = input::source(file)?;
    let own = || file.file_name()?.to_str();
    let unnamed = || format!("{}: has no name that is text; --name gives it one", file.display());
    let name = name.or_else(own).ok_or_else(unnamed)?;
    signals::catch();
    let words = Words { what: &format!("put {name} at {to}"), local: file };
    let make = || Job::put(to, name, source, Instant::NEVER);
    let done = ask(setup, to, &words, Box::new(make))?;
    notified("put", name, &done);
    Ok(())
}

/// Fetches a file; `-` is standard output.
///
/// # Errors
/// The file, the fabric or the server.
pub fn get(setup: &Setup, name: &str, to: &Path, from: Nid) -> Result<(), Broken> {
    signals::catch();
    if to == Path::new("-") {
        crate::output::use_stderr();
    }
    // The node's thread fetches while this one's file system works.
    let sink = WriteBehind::new(Out::open(to)?);
    let words = Words { what: &format!("get {name} from {from}"), local: to };
    let make = || Job::get(from, name, sink, Instant::NEVER);
    let done = ask(setup, from, &words, Box::new(make))?;
    notified("got", name, &done);
    Ok(())
}

/// Has bytes sent back.
///
/// # Errors
/// The fabric or the server.
pub fn ping(setup: &Setup, to: Nid) -> Result<(), Broken> {
    signals::catch();
    let words = Words { what: &format!("ping {to}"), local: Path::new("") };
    let make = || Job::ping(to, b"lnd".to_vec(), Instant::NEVER);
    let done = ask(setup, to, &words, Box::new(make))?;
    crate::say!("{to} is alive: {:.1} µs", done.duration().as_nanos() as f64 / 1e3);
    Ok(())
}

impl Asking<'_> {
    /// Asks the fabric's table now and then whether the server can be reached. A server that has
    /// served us and is gone may come back until the job's time is over.
    fn look(&mut self, now: Instant, station: &Station<'_>) {
        if now.since(self.looked) < LOOK {
            return;
        }
        self.looked = now;
        let me = node_of(station.node.driver.identity().nid).unwrap_or_default();
        self.obstacle = obstacle(station.fabric(), me, self.server);
        self.was_there |= self.obstacle.is_none();
        self.lost = self.obstacle.is_some().then(|| self.lost.unwrap_or(now));
        let grace = Span::from_nanos(u64::try_from(GRACE.as_nanos()).unwrap_or(u64::MAX));
        let is_lost = self.lost.is_some_and(|since| now.since(since) >= grace);
        if is_lost && !self.has_moved {
            self.gave_up = Some(GaveUp::NotThere);
        }
        if !self.was_there && self.setup.started.elapsed() >= GRACE {
            self.gave_up = Some(GaveUp::NotThere);
        }
    }
}

impl Actor for Asking<'_> {
    fn begin(&mut self, station: &mut Station<'_>) -> Result<(), Broken> {
        if let Some(why) = stranger(station.fabric(), self.server) {
            return Err(why.into());
        }
        let mut config = ClientConfig::new(u64::from(random_word()));
        config.answers = Room { buffers: 2, bytes: 64 << 10 };
        config.longest_pause = Span::from_millis(200);
        let pages = Pages::new(0, station.fabric().window_bytes());
        let mut client = FileClient::new(config, pages, &mut station.node.lnet)
            .map_err(|error| format!("the fabric's windows are too small: {error:?}"))?;
        let make = self.make.take().ok_or("begun twice")?;
        client.add(make());
        self.patience = Patience::new(station.now(), Span::from_secs(self.setup.timeout));
        self.client = Some(client);
        Ok(())
    }

    fn on_event(
        &mut self,
        now: Instant,
        station: &mut Station<'_>,
        window: &mut MemoryWindow<'_>,
        event: Event,
    ) {
        if let Some(client) = &mut self.client {
            // What is not about the job is a drop notice, which the layer counts.
            let _ = client.on_event(now, &mut station.node.lnet, window, event);
        }
    }

    fn poll(
        &mut self,
        now: Instant,
        station: &mut Station<'_>,
        window: &mut MemoryWindow<'_>,
    ) -> bool {
        let Some(client) = &mut self.client else { return false };
        client.poll(now, &mut station.node.lnet, window);
        self.done = self.done.take().or_else(|| client.next_done());
        let (moved, restarts) = (client.progress().0, client.stats().restarts);
        self.has_moved |= moved > 0;
        let more = client.next_deadline().is_some_and(|due| due <= now);
        if self.patience.is_over(now, moved, restarts) {
            self.gave_up = Some(GaveUp::Silence);
        }
        self.look(now, station);
        more
    }

    fn on_peer_down(
        &mut self,
        now: Instant,
        station: &mut Station<'_>,
        window: &mut MemoryWindow<'_>,
        peer: Nid,
    ) {
        if let Some(client) = &mut self.client {
            client.on_server_down(now, &mut station.node.lnet, window, peer);
        }
    }

    fn is_done(&self) -> bool {
        self.done.is_some() || self.gave_up.is_some() || signals::stopped()
    }

    fn leave(&mut self, now: Instant, station: &mut Station<'_>, window: &mut MemoryWindow<'_>) {
        if let Some(client) = &mut self.client {
            client.leave(now, &mut station.node.lnet, window);
        }
    }

    fn has_left(&self) -> bool {
        // A server that cannot be reached finds out in time.
        self.obstacle.is_some() || self.client.as_ref().is_none_or(FileClient::is_quiet)
    }

    fn end(&mut self, now: Instant, station: &mut Station<'_>) {
        if let Some(client) = &mut self.client {
            client.stop(now, &mut station.node.lnet);
        }
    }
}
