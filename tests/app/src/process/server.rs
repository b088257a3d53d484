// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd node`: serves a directory until told to stop.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use lnd_core::counters::Counter;
use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_sim::fabric::MemoryWindow;
use lnd_sim::lnet::Event;
use lnd_sim::runtime::{random_word, Station};

use serde_json::{json, Value};

use super::host::{host, Actor};
use super::perf::PerfTarget;
use super::{signals, Broken, Setup};
use crate::control::OfProcess;
use crate::files::{DirStore, FileServer, Pages, ServerConfig};
use crate::metrics::Page;
use crate::text::directory_of;

struct Serving {
    metrics: Option<Page>,
    dir: PathBuf,
    /// Until when what is open may end; nothing new is taken.
    draining: Option<Instant>,
    drained: bool,
    perf: PerfTarget,
    server: Option<FileServer<DirStore>>,
    /// The server has heard of something since it had a turn.
    stirred: bool,
}

/// Serves `dir` until SIGINT or SIGTERM; and what it counts at `metrics`.
///
/// # Errors
/// The directory or the fabric cannot be used, or the end was not a clean one.
pub fn serve(setup: &Setup, dir: &Path, metrics: Option<SocketAddr>) -> Result<(), Broken> {
    refuse_fabric_within(dir, &setup.fabric)?;
    signals::catch();
    let open = |at| Page::open(at).map_err(|error| format!("metrics at {at}: {error}"));
    let mut serving = Serving {
        metrics: metrics.map(open).transpose()?,
        dir: dir.to_owned(),
        draining: None,
        drained: false,
        perf: PerfTarget::default(),
        server: None,
        stirred: false,
    };
    host(setup, &mut serving)?;
    crate::say!("left in good order");
    Ok(())
}

/// A client that may write a directory's files could replace the fabric among them.
fn refuse_fabric_within(dir: &Path, fabric: &Path) -> Result<(), Broken> {
    let (Ok(place), Ok(root)) = (directory_of(fabric), dir.canonicalize()) else { return Ok(()) };
    if !place.starts_with(&root) {
        return Ok(());
    }
    let (dir, fabric) = (dir.display(), fabric.display());
    Err(format!("{dir}: has the fabric {fabric} in it, and clients may replace what is there")
        .into())
}

impl Actor for Serving {
    fn begin(&mut self, station: &mut Station<'_>) -> Result<(), Broken> {
        let mut config = ServerConfig::new(u64::from(random_word()));
        // Longer than a machine that is busy keeps a client, or this process, from running.
        config.idle = Span::from_secs(60);
        let window = station.fabric().window_bytes();
        let me = station.node.driver.identity();
        // After the node was joined: a start that fails leaves the directory alone.
        let owner = format!("{}, process {}", me.nid, std::process::id());
        let mut store = DirStore::open_as(&self.dir, &owner, me.incarnation.raw())
            .map_err(|error| format!("{}: {error}", self.dir.display()))?;
        // Without the thread files are stored, more slowly.
        let _ = store.read_back_aside();
        let files = self.perf.begin(window, &mut station.node.lnet);
        let server = FileServer::new(config, Pages::new(0, files), store, &mut station.node.lnet)
            .map_err(|error| format!("the fabric's windows are too small: {error:?}"))?;
        self.server = Some(server);
        if let Some(page) = &self.metrics {
            crate::say!("metrics at http://{}/metrics", page.address());
        }
        crate::say!("{} is up, incarnation {:016x}", me.nid, me.incarnation.raw());
        Ok(())
    }

    fn on_event(
        &mut self,
        now: Instant,
        station: &mut Station<'_>,
        window: &mut MemoryWindow<'_>,
        event: Event,
    ) {
        if let Some(server) = &mut self.server {
            // What is about neither is a drop notice, which the layer counts.
            match server.on_event(now, &mut station.node.lnet, window, event) {
                Some(event) => self.perf.on_event(&mut station.node.lnet, event),
                None => self.stirred = true,
            }
        }
    }

    fn on_peer_down(
        &mut self,
        _now: Instant,
        station: &mut Station<'_>,
        _window: &mut MemoryWindow<'_>,
        peer: Nid,
    ) {
        if let Some(server) = &mut self.server {
            server.on_client_down(&mut station.node.lnet, peer);
            self.stirred = true;
        }
    }

    fn poll(
        &mut self,
        now: Instant,
        station: &mut Station<'_>,
        window: &mut MemoryWindow<'_>,
    ) -> bool {
        if let Some(page) = &mut self.metrics {
            page.board.publish(now, station);
        }
        let Some(server) = &mut self.server else { return false };
        let busy = server.next_deadline().is_some_and(|due| due <= now);
        if std::mem::take(&mut self.stirred) || busy || !server.is_at_rest() {
            server.poll(now, &mut station.node.lnet, window);
        }
        self.perf.poll(&mut station.node.lnet);
        while let Some(trouble) = server.next_trouble() {
            let path = self.dir.join(&trouble.name);
            let (error, client) = (trouble.error, trouble.client);
            crate::complain!("{}: {error} (asked by {client})", path.display());
        }
        if let Some(until) = self.draining {
            self.drained = now >= until || server.open_files() == (0, 0);
        }
        busy
    }

    fn is_done(&self) -> bool {
        self.drained || signals::stopped()
    }

    fn show(&self) -> Value {
        let Some(server) = &self.server else { return Value::Null };
        let (stats, (writes, reads)) = (server.stats(), server.open_files());
        json!({
            "calls": stats.calls, "bad_calls": stats.bad_calls, "refused": stats.refused,
            "busy": stats.busy, "answers": stats.answers,
            "files_stored": stats.commits, "mismatches": stats.mismatches,
            "chunks_in": stats.chunks, "bytes_in": stats.chunk_bytes,
            "chunks_out": stats.gets, "bytes_out": stats.get_bytes,
            "gets_failed": stats.gets_failed,
            "open_writes": writes, "open_reads": reads,
            "expired_writes": stats.expired_writes, "expired_reads": stats.expired_reads,
            "draining": self.draining.is_some(),
        })
    }

    fn knobs(&self) -> OfProcess {
        let mut all = vec![("log_times", u64::from(crate::output::has_times()))];
        if let Some(server) = &self.server {
            let limits = server.limits();
            all.extend([
                ("file_idle_ms", limits.idle.as_nanos() / 1_000_000),
                ("file_bytes_max", limits.file_bytes),
                ("files_written_max", limits.writes as u64),
                ("files_read_max", limits.reads as u64),
            ]);
        }
        all
    }

    fn set(&mut self, name: &str, value: u64) {
        if name == "log_times" {
            crate::output::use_times(value > 0);
        }
        let Some(server) = &mut self.server else { return };
        let mut limits = server.limits();
        match name {
            "file_idle_ms" => limits.idle = Span::from_millis(value),
            "file_bytes_max" => limits.file_bytes = value,
            "files_written_max" => limits.writes = value as usize,
            "files_read_max" => limits.reads = value as usize,
            _ => {}
        }
        server.set_limits(limits);
    }

    fn drain(&mut self, until: Instant) -> Result<(), String> {
        crate::say!("draining: takes nothing new");
        self.draining = Some(until);
        if let Some(server) = &mut self.server {
            server.drain();
        }
        Ok(())
    }

    fn end(&mut self, _now: Instant, station: &mut Station<'_>) {
        let Some(server) = &mut self.server else { return };
        let stats = *server.stats();
        server.stop(&mut station.node.lnet);
        self.perf.stop();
        crate::say!(
            "{} files stored, {} chunks in, {} chunks out, {} forgotten while open",
            stats.commits,
            stats.chunks,
            stats.gets,
            stats.expired_writes + stats.expired_reads
        );
        let counters = station.node.driver.counters();
        let shown = [
            Counter::FinalizedOk,
            Counter::FinalizedError,
            Counter::WrongIncarnation,
            Counter::Early,
            Counter::StaleAnswer,
            Counter::PeersDown,
            Counter::PeersRestarted,
        ];
        for counter in shown {
            crate::say!("{} {}", counter.name(), counters.value(counter));
        }
    }
}
