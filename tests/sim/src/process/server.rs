// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd node`: serves a directory until told to stop.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use lnd_core::counters::Counter;
use lnd_core::time::{Instant, Span};

use super::host::{host, Actor};
use super::{Broken, Setup};
use crate::fabric::Window;
use crate::files::{DirStore, FileServer, Pages, ServerConfig};
use crate::lnet::Event;
use crate::runtime::{random_word, Station};

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(_signal: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

struct Serving {
    store: Option<DirStore>,
    server: Option<FileServer<DirStore>>,
}

/// Serves `dir` until SIGINT or SIGTERM.
///
/// # Errors
/// The directory or the fabric cannot be used, or the end was not a clean one.
pub fn serve(setup: &Setup, dir: &Path) -> Result<(), Broken> {
    let store = DirStore::open(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores to an atomic, which is safe in a signal handler.
        unsafe { libc::signal(signal, on_signal as *const () as libc::sighandler_t) };
    }
    let mut serving = Serving { store: Some(store), server: None };
    host(setup, &mut serving)?;
    crate::say!("left in good order");
    Ok(())
}

impl Actor for Serving {
    fn begin(&mut self, station: &mut Station<'_>) -> Result<(), Broken> {
        let mut config = ServerConfig::new(u64::from(random_word()));
        config.idle = Span::from_secs(3);
        let window = station.fabric().window_bytes();
        let store = self.store.take().ok_or("begun twice")?;
        let server = FileServer::new(config, Pages::new(0, window), store, &mut station.node.lnet)
            .map_err(|error| format!("the fabric's windows are too small: {error:?}"))?;
        self.server = Some(server);
        let me = station.node.driver.identity();
        crate::say!("{} is up, life {:016x}", me.nid, me.life.raw());
        Ok(())
    }

    fn on_event(
        &mut self,
        now: Instant,
        station: &mut Station<'_>,
        window: &mut Window<'_>,
        event: Event,
    ) {
        if let Some(server) = &mut self.server {
            // What is not about a file is a drop notice, which the layer counts.
            let _ = server.on_event(now, &mut station.node.lnet, window, event);
        }
    }

    fn poll(&mut self, now: Instant, station: &mut Station<'_>, window: &mut Window<'_>) -> bool {
        let Some(server) = &mut self.server else { return false };
        let busy = server.next_deadline() == Some(Instant::ORIGIN);
        server.poll(now, &mut station.node.lnet, window);
        busy
    }

    fn is_done(&self) -> bool {
        STOP.load(Ordering::Relaxed)
    }

    fn end(&mut self, _now: Instant, station: &mut Station<'_>) {
        let Some(server) = &mut self.server else { return };
        let stats = *server.stats();
        server.stop(&mut station.node.lnet);
        crate::say!(
            "{} files stored, {} chunks in, {} chunks out",
            stats.commits,
            stats.chunks,
            stats.gets
        );
        let counters = station.node.driver.counters();
        let shown = [
            Counter::FinalizedOk,
            Counter::FinalizedError,
            Counter::WrongLife,
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
