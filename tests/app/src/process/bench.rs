// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd bench`: the file jobs beside `cp`, in one run and on one file system.
//!
//! Speed alone says little of a machine that others use too. Each figure is a ratio to copies that
//! `cp` makes just before and just after.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lnd_sim::fabric::free_bytes;
use lnd_sim::rng::Rng;
use serde_json::json;

use super::child::{end_with_parent, remove_leftovers};
use super::{signals, Broken};

/// Begins the names of directories; the number of the process follows.
const PREFIX: &str = "lnd-bench-";
/// Files of the size that is measured that there are at a time: source, two copies, the server's.
const FILES: u64 = 4;
/// What the fabric takes, and what stays free.
const MARGIN: u64 = 1 << 30;

/// A directory of its own, and the server that works in it. Both are gone when it is dropped.
pub(super) struct Bench {
    dir: PathBuf,
    server: Option<Child>,
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            // It may have ended by itself. Nothing of it is needed any more.
            let _ = server.kill();
            let _ = server.wait();
        }
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Measures `runs` times how long `cp`, `lnd put` and `lnd get` of one file take, in a directory
/// below `place`.
///
/// # Errors
/// There is no room, a command fails, or a file does not come back as it was.
pub fn bench(place: Option<&Path>, mib: u64, runs: u32, json: bool) -> Result<(), Broken> {
    signals::catch();
    if json {
        crate::output::use_stderr();
    }
    let memory = Path::new("/dev/shm");
    let temporary = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let place = place.map_or(temporary, Path::to_owned);
    let named = |error: std::io::Error| format!("{}: {error}", place.display());
    let free = File::open(&place).and_then(|place| free_bytes(&place)).map_err(named)?;
    let needed = FILES * (mib << 20) + MARGIN;
    if free.is_some_and(|free| free < needed) {
        let mib = needed >> 20;
        return Err(format!("{}: the files and the fabric need {mib} MiB", place.display()).into());
    }
    let mut bench = Bench::within(&place)?;
    bench.write_source(mib)?;
    bench.start()?;
    crate::say!("{mib} MiB in {}: seconds, and cp's seconds to those", place.display());
    // The first round is not counted: memory is used for the first time in it.
    bench.round("not counted")?;
    let mut ratios = [Vec::new(), Vec::new()];
    for run in 1..=runs {
        let found = bench.round(&format!("{run} of {runs}"))?;
        ratios.iter_mut().zip(found).for_each(|(all, one)| all.push(one));
    }
    let mut shown = json!({ "mib": mib, "dir": place.display().to_string(), "runs": runs });
    for (name, mut all) in ["put", "get"].into_iter().zip(ratios) {
        all.sort_by(f64::total_cmp);
        let at = |index: usize| all.get(index).copied().unwrap_or(0.0);
        let (least, middle, most) = (at(0), at(all.len() / 2), at(all.len().saturating_sub(1)));
        crate::say!("lnd {name}: {middle:.2} x cp (least {least:.2}, most {most:.2})");
        shown[name] = json!({ "of_cp": middle, "least": least, "most": most, "all": all });
    }
    if json {
        crate::output::document(&shown);
    }
    Ok(())
}

impl Bench {
    /// A new directory below `place`.
    pub fn within(place: &Path) -> Result<Self, Broken> {
        // What cannot be removed is in the way of nothing but its room.
        let _ = remove_leftovers(place, PREFIX, &|| Ok(()));
        let dir = place.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&dir).map_err(|error| format!("{}: {error}", place.display()))?;
        Ok(Self { dir, server: None })
    }

    /// A place in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn write_source(&self, mib: u64) -> Result<(), Broken> {
        let mut file = File::create_new(self.path("source"))?;
        let mut rng = Rng::new(mib);
        let mut piece = vec![0; 1 << 20];
        for _ in 0..mib {
            let (words, _) = piece.as_chunks_mut::<8>();
            words.iter_mut().for_each(|word| *word = rng.next().to_le_bytes());
            file.write_all(&piece)?;
        }
        Ok(())
    }

    /// This program with some arguments, on the fabric.
    fn lnd(&self, arguments: &[&str]) -> Result<Command, Broken> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments).arg("--fabric").arg(self.path("fabric")).stdout(Stdio::null());
        Ok(command)
    }

    /// Starts the server.
    pub fn start(&mut self) -> Result<(), Broken> {
        let store = self.path("store");
        let mut node = self.lnd(&["node", "--me", "1@soft"])?;
        end_with_parent(&mut node);
        self.server = Some(node.arg("--dir").arg(store).spawn()?);
        for _ in 0..100 {
            let ping =
                self.lnd(&["ping", "1@soft", "--timeout", "5"])?.stderr(Stdio::null()).status();
            if ping?.success() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err("the server does not answer".into())
    }

    /// One round: the ratios of put and get.
    fn round(&self, which: &str) -> Result<[f64; 2], Broken> {
        let [source, copy, back] = ["source", "copy", "back"].map(|name| self.path(name));
        let stored = self.path("store").join("source");
        let mut cp = Command::new("cp");
        cp.arg(&source).arg(&copy);
        let before = timed(&mut cp, &copy)?;
        let put = timed(self.lnd(&["put"])?.arg(&source).arg("1@soft"), &stored)?;
        let middle = timed(&mut cp, &copy)?;
        let get = timed(self.lnd(&["get", "source", "1@soft"])?.arg("--out").arg(&back), &back)?;
        let after = timed(&mut cp, &copy)?;
        if !Command::new("cmp").arg(&source).arg(&back).status()?.success() {
            return Err("the file did not come back as it was".into());
        }
        let ratios = [(before + middle) / 2.0 / put, (middle + after) / 2.0 / get];
        crate::say!(
            "{which}: cp {before:.2} {middle:.2} {after:.2}, put {put:.2} ({:.2}), \
             get {get:.2} ({:.2})",
            ratios[0],
            ratios[1]
        );
        Ok(ratios)
    }
}

/// Runs a command that makes the file `made`, which is not there before. Returns its seconds.
fn timed(command: &mut Command, made: &Path) -> Result<f64, Broken> {
    if signals::stopped() {
        return Err("stopped by a signal".into());
    }
    if made.exists() {
        fs::remove_file(made)?;
    }
    let begin = Instant::now();
    let status = command.status()?;
    let seconds = begin.elapsed().as_secs_f64().max(1e-9);
    if status.success() {
        Ok(seconds)
    } else {
        Err(format!("{}: {status}", command.get_program().display()).into())
    }
}
