// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd put`, `lnd get`, `lnd ping`: jobs at a server, one after another.

use std::path::Path;

use indicatif::ProgressBar;
use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_sim::fabric::{node_of, Mapping, MemoryWindow};
use lnd_sim::lnet::Event;
use lnd_sim::runtime::{random_word, Station};

use serde_json::json;

use super::host::{host, Actor};
use super::input::{self, Out};
use super::patience::Patience;
use super::presence::{obstacle, stranger};
use super::{signals, Broken, Setup, GRACE};
use crate::files::{ClientConfig, FileClient, Job, JobDone, JobError, Pages, Room, WriteBehind};
use crate::progress;
use crate::text::is_same;

/// What a client does next.
pub(super) enum Next {
    /// This job.
    Job(Job),
    /// Nothing before this time.
    At(Instant),
    /// Nothing any more.
    End,
}

/// Says what to do at first, behind each end of a job, and when its time has come.
type Jobs<'j> = Box<dyn FnMut(Instant, Option<&JobDone>) -> Next + 'j>;

/// One job and no more.
fn once<'j>(make: impl FnOnce() -> Job + 'j) -> Jobs<'j> {
    let mut make = Some(make);
    Box::new(move |_, _| make.take().map_or(Next::End, |make| Next::Job(make())))
}

/// So often the fabric's table is asked about the server.
const LOOK: Span = Span::from_millis(20);

/// How a client reports on its job.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// As JSON.
    pub json: bool,
    /// Without a bar.
    pub quiet: bool,
}

struct Asking<'j> {
    setup: &'j Setup,
    bar: &'j ProgressBar,
    server: Nid,
    jobs: Jobs<'j>,
    /// When the next job is to be begun.
    pause: Option<Instant>,
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
pub(super) struct Words<'w> {
    pub what: &'w str,
    /// What shows how far it is.
    pub bar: ProgressBar,
    /// The file at this end.
    pub local: &'w Path,
}

pub(super) fn ask(
    setup: &Setup,
    server: Nid,
    words: &Words<'_>,
    jobs: Jobs<'_>,
) -> Result<JobDone, Broken> {
    let mut asking = Asking {
        setup,
        bar: &words.bar,
        server,
        jobs,
        pause: None,
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
    let hosted = host(setup, &mut asking);
    words.bar.finish_and_clear();
    hosted?;
    let Words { what, local, .. } = words;
    let in_the_way = asking.obstacle.clone();
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
        Some(error @ JobError::Changed) => Err(format!("{local}: {error}").into()),
        Some(JobError::Stopped) => Err(format!("{what}: stopped by a signal").into()),
        Some(error) => {
            let why = in_the_way.map_or(String::new(), |why| format!("; {why}"));
            Err(format!("{what}: {error}{why}").into())
        }
    }
}

fn notified(verb: &str, name: &str, done: &JobDone, manner: Manner) {
    let seconds = done.duration().as_nanos() as f64 / 1e9;
    if manner.json {
        let sum = done.checksum.map(|it| format!("{it:016x}"));
        crate::output::document(&json!({
            verb: name, "bytes": done.bytes, "seconds": seconds, "restarts": done.restarts,
            "checksum": sum,
        }));
        return;
    }
    let mib = done.bytes as f64 / f64::from(1 << 20);
    let verb = if verb == "get" { "got" } else { verb };
    // A small file measures nothing.
    let size = if mib < 1.0 {
        format!("{} bytes in {seconds:.3} s", done.bytes)
    } else {
        format!("{mib:.1} MiB in {seconds:.2} s, {:.0} MiB/s", mib / seconds.max(1e-9))
    };
    let anew = match done.restarts {
        0 => String::new(),
        1 => ", begun anew once".into(),
        times => format!(", begun anew {times} times"),
    };
    let sum = done.checksum.unwrap_or_default();
    crate::say!("{verb} {name}: {size}{anew}, checksum {sum:016x}");
}

/// Whether the capture, if there is to be one, is a file of its own.
fn check_capture(setup: &Setup, file: &Path, what: &str) -> Result<(), Broken> {
    let Some(capture) = &setup.capture else { return Ok(()) };
    if file != Path::new("-") && is_same(capture, file) {
        let capture = capture.display();
        return Err(format!("{capture}: is {what}, and no place for a capture").into());
    }
    Ok(())
}

/// Sends a file, under its own name or another; `-` is standard input.
///
/// # Errors
/// The file, the fabric or the server.
pub fn put(
    setup: &Setup,
    file: &Path,
    name: Option<&str>,
    to: Nid,
    manner: Manner,
) -> Result<(), Broken> {
    // The capture is cut before it is written, and the file may not have been read by then.
    check_capture(setup, file, "the file that is sent")?;
    // Before signals are caught: reading may take for ever.
    let source = input::source(file)?;
    let own = || file.file_name()?.to_str();
    let unnamed = || format!("{}: has no name that is text; --name gives it one", file.display());
    let name = name.or_else(own).ok_or_else(unnamed)?;
    signals::catch();
    if manner.json {
        crate::output::use_stderr();
    }
    let bar = progress::bytes(name, manner.quiet);
    let words = Words { what: &format!("put {name} at {to}"), local: file, bar };
    let make = || Job::put(to, name, source, Instant::NEVER);
    let done = ask(setup, to, &words, once(make))?;
    notified("put", name, &done, manner);
    Ok(())
}

/// Fetches a file; `-` is standard output.
///
/// # Errors
/// The file, the fabric or the server.
pub fn get(setup: &Setup, name: &str, to: &Path, from: Nid, manner: Manner) -> Result<(), Broken> {
    check_capture(setup, to, "the file that is written")?;
    // Its nodes would go on with a file that has no name any more.
    if to.is_file() && Mapping::is_fabric(to) {
        return Err(format!("{}: is a fabric, and no place for a file", to.display()).into());
    }
    signals::catch();
    if to == Path::new("-") || manner.json {
        crate::output::use_stderr();
    }
    // The node's thread fetches while this one's file system works.
    let out = Out::open(to)?;
    let fetched = out.for_stdout()?;
    let sink = WriteBehind::new(out);
    let bar = progress::bytes(name, manner.quiet);
    let words = Words { what: &format!("get {name} from {from}"), local: to, bar };
    let make = || Job::get(from, name, sink, Instant::NEVER);
    let done = ask(setup, from, &words, once(make))?;
    if let Some(fetched) = fetched {
        signals::release();
        input::deliver(fetched)?;
    }
    notified("get", name, &done, manner);
    Ok(())
}

impl Asking<'_> {
    /// Goes on with the next job, or is done with the last.
    fn go_on(&mut self, now: Instant, done: Option<JobDone>) {
        self.pause = None;
        match (self.jobs)(now, done.as_ref()) {
            Next::Job(job) => {
                self.patience = Patience::new(now, Span::from_secs(self.setup.timeout));
                if let Some(client) = &mut self.client {
                    client.add(job);
                }
            }
            Next::At(time) => self.pause = Some(time),
            Next::End => self.done = done.or(self.done.take()),
        }
    }

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
        let me = node_of(station.node.driver.identity().nid).unwrap_or_default();
        if let Some(why) = stranger(station.fabric(), me, self.server) {
            return Err(why.into());
        }
        let mut config = ClientConfig::new(u64::from(random_word()));
        config.answers = Room { buffers: 2, bytes: 64 << 10 };
        config.longest_pause = Span::from_millis(200);
        let pages = Pages::new(0, station.fabric().window_bytes());
        let client = FileClient::new(config, pages, &mut station.node.lnet)
            .map_err(|error| format!("the fabric's windows are too small: {error:?}"))?;
        self.client = Some(client);
        self.go_on(station.now(), None);
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
        let done = client.next_done();
        let ((moved, whole), restarts) = (client.progress(), client.stats().restarts);
        if whole > 0 && !self.bar.is_hidden() {
            self.bar.set_length(whole);
            self.bar.set_position(moved);
        }
        self.has_moved |= moved > 0;
        let more = done.is_some() || client.next_deadline().is_some_and(|due| due <= now);
        if self.pause.is_some() {
            self.patience = Patience::new(now, Span::from_secs(self.setup.timeout));
        }
        if done.is_some() || self.pause.is_some_and(|time| now >= time) {
            self.go_on(now, done);
        }
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
        if peer == self.server && self.has_moved {
            crate::say!("waiting up to {} s for {peer} to start again", self.setup.timeout);
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
