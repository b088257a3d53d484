// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd put`, `lnd get`, `lnd ping`: one job at a server.

use std::path::Path;

use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};

use super::host::{host, Actor};
use super::{Broken, Setup};
use crate::fabric::Window;
use crate::files::{ClientConfig, FileClient, FileSink, FileSource, Job, JobDone, Pages, Room};
use crate::lnet::Event;
use crate::runtime::{random_word, Station};

type MakeJob<'j> = Box<dyn FnOnce(Instant) -> Result<Job, Broken> + 'j>;

struct Asking<'j> {
    make: Option<MakeJob<'j>>,
    patience: Span,
    client: Option<FileClient>,
    done: Option<JobDone>,
}

fn ask(setup: &Setup, make: MakeJob<'_>) -> Result<JobDone, Broken> {
    let patience = Span::from_secs(setup.timeout);
    let mut asking = Asking { make: Some(make), patience, client: None, done: None };
    host(setup, &mut asking)?;
    let done = asking.done.ok_or("stopped before the job was done")?;
    match &done.error {
        None => Ok(done),
        Some(error) => Err(format!("{} at {}: {error}", done.job.name, done.job.server).into()),
    }
}

fn told(verb: &str, name: &str, done: &JobDone) {
    let seconds = done.duration().as_nanos() as f64 / 1e9;
    let mib = done.bytes as f64 / f64::from(1 << 20);
    crate::say!(
        "{verb} {name}: {mib:.1} MiB in {seconds:.2} s, {:.0} MiB/s, begun anew {} times, checksum {:016x}",
        mib / seconds.max(1e-9),
        done.restarts,
        done.checksum.unwrap_or_default()
    );
}

/// Sends a file, under its own name or another.
///
/// # Errors
/// The file, the fabric or the server.
pub fn put(setup: &Setup, file: &Path, name: Option<&str>, to: Nid) -> Result<(), Broken> {
    let own = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.map(str::to_owned).or(own).ok_or("the file has no name")?;
    let source = FileSource::open(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let make = |deadline| Ok(Job::put(to, &name, source, deadline));
    let done = ask(setup, Box::new(make))?;
    told("put", &name, &done);
    Ok(())
}

/// Fetches a file.
///
/// # Errors
/// The file, the fabric or the server.
pub fn get(setup: &Setup, name: &str, to: &Path, from: Nid) -> Result<(), Broken> {
    let sink = FileSink::create(to).map_err(|error| format!("{}: {error}", to.display()))?;
    let make = |deadline| Ok(Job::get(from, name, sink, deadline));
    let done = ask(setup, Box::new(make))?;
    told("got", name, &done);
    Ok(())
}

/// Has bytes sent back.
///
/// # Errors
/// The fabric or the server.
pub fn ping(setup: &Setup, to: Nid) -> Result<(), Broken> {
    let make = |deadline| Ok(Job::ping(to, b"lnd".to_vec(), deadline));
    let done = ask(setup, Box::new(make))?;
    crate::say!("{to} is alive: {:.1} µs", done.duration().as_nanos() as f64 / 1e3);
    Ok(())
}

impl Actor for Asking<'_> {
    fn begin(&mut self, station: &mut Station<'_>) -> Result<(), Broken> {
        let mut config = ClientConfig::new(u64::from(random_word()));
        config.answers = Room { buffers: 2, bytes: 64 << 10 };
        config.longest_pause = Span::from_millis(200);
        let pages = Pages::new(0, station.fabric().window_bytes());
        let mut client = FileClient::new(config, pages, &mut station.node.lnet)
            .map_err(|error| format!("the fabric's windows are too small: {error:?}"))?;
        let make = self.make.take().ok_or("begun twice")?;
        client.add(make(station.now().after(self.patience))?);
        self.client = Some(client);
        Ok(())
    }

    fn on_event(
        &mut self,
        now: Instant,
        station: &mut Station<'_>,
        window: &mut Window<'_>,
        event: Event,
    ) {
        if let Some(client) = &mut self.client {
            // What is not about the job is a drop notice, which the layer counts.
            let _ = client.on_event(now, &mut station.node.lnet, window, event);
        }
    }

    fn poll(&mut self, now: Instant, station: &mut Station<'_>, window: &mut Window<'_>) -> bool {
        let Some(client) = &mut self.client else { return false };
        client.poll(now, &mut station.node.lnet, window);
        self.done = self.done.take().or_else(|| client.next_done());
        false
    }

    fn is_done(&self) -> bool {
        self.done.is_some()
    }

    fn end(&mut self, now: Instant, station: &mut Station<'_>) {
        if let Some(client) = &mut self.client {
            client.stop(now, &mut station.node.lnet);
        }
    }
}
