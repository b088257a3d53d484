// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A directory with processes of `lnd` in it.
// Each test binary uses a part.
#![allow(dead_code)]

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A directory of this test's own, and the processes started in it.
pub struct Place {
    pub dir: PathBuf,
}

impl Place {
    pub fn new(name: &str) -> Self {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        Self { dir }
    }

    pub fn lnd(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lnd"));
        command.args(args).current_dir(&self.dir).stdin(Stdio::null());
        heeds_hang_up(&mut command);
        command
    }

    /// Starts a process whose output goes to a file.
    pub fn start(&self, log: &str, args: &[&str]) -> Running {
        let file = fs::File::create(self.dir.join(log)).unwrap();
        let errors = file.try_clone().unwrap();
        let child = self.lnd(args).stdout(file).stderr(errors).spawn().unwrap();
        Running { child, log: self.dir.join(log) }
    }

    /// A process that was started otherwise, and its log.
    pub fn adopt(&self, log: &str, child: Child) -> Running {
        Running { child, log: self.dir.join(log) }
    }

    /// A node that is up.
    pub fn node(&self, log: &str) -> Running {
        let mut node = self.start(log, &["node", "--me", "1@soft", "--dir", "store"]);
        node.wait_until("the node is up", |log| log.contains("is up"));
        node
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.lnd(args).output().unwrap()
    }

    /// A node with a small fabric that is up.
    pub fn small_node(&self) -> Running {
        let args = ["node", "--me", "1@soft", "--dir", "store", "--nodes", "3", "--window", "34"];
        let mut node = self.start("node.log", &args);
        node.wait_until("the node is up", |log| log.contains("is up"));
        node
    }

    /// A command that has to fail; what it says to standard error.
    pub fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code().map(|code| code > 0), Some(true), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// The names in a directory of the place, in order.
    pub fn names(&self, dir: &str) -> Vec<String> {
        let entries = fs::read_dir(self.dir.join(dir)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs a command that has to succeed; its output.
    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{args:?}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        text
    }

    pub fn write(&self, name: &str, bytes: usize) -> PathBuf {
        let path = self.dir.join(name);
        let mut file = std::io::BufWriter::new(fs::File::create(&path).unwrap());
        let mut x = 0x1234_5678_9abc_def1_u64 ^ bytes as u64;
        for _ in 0..bytes / 8 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            file.write_all(&(x ^ x >> 29).to_le_bytes()).unwrap();
        }
        file.flush().unwrap();
        path
    }

    /// Bytes in the server's directory, drafts included.
    pub fn stored(&self) -> u64 {
        fn below(dir: &Path) -> u64 {
            let Ok(entries) = fs::read_dir(dir) else { return 0 };
            entries
                .flatten()
                .map(|entry| match entry.metadata() {
                    Ok(m) if m.is_dir() => below(&entry.path()),
                    // What was written, not the size that was set beforehand.
                    Ok(m) => std::os::unix::fs::MetadataExt::blocks(&m) * 512,
                    Err(_) => 0,
                })
                .sum()
        }
        below(&self.dir.join("store"))
    }
}

/// The process is ended by a terminal that is closed, although `nohup` may have started this test.
pub fn heeds_hang_up(command: &mut Command) {
    let usual = || {
        // SAFETY: the default action is always allowed.
        match unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) } {
            libc::SIG_ERR => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: the function calls `signal`, which is allowed between fork and exec.
    unsafe { command.pre_exec(usual) };
}

impl Drop for Place {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

pub struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal, such as `-TERM`.
    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Keeps the process from running for so long.
    pub fn pause(&self, time: Duration) {
        self.signal("-STOP");
        sleep(time);
        self.signal("-CONT");
    }

    /// SIGTERM, and the end in good order.
    pub fn stop(&mut self) -> String {
        self.signal("-TERM");
        self.wait()
    }

    /// Waits for the end, which has to be a good one; the log.
    pub fn wait(&mut self) -> String {
        let status = self.end();
        assert!(status.success(), "{status}: {}", self.log());
        self.log()
    }

    /// Waits for the end.
    pub fn end(&mut self) -> ExitStatus {
        let mut ended = None;
        wait_until("the end of the process", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        ended.unwrap()
    }

    /// Whether the process has ended, well or not.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for something that this process brings about, as its log shows it. Fails at once if
    /// the process has ended without.
    pub fn wait_until(&mut self, what: &str, mut done: impl FnMut(&str) -> bool) -> Pace {
        wait_until(what, || {
            let ended = self.child.try_wait().unwrap();
            let log = self.log();
            let reached = done(&log);
            let status = ended.filter(|_| !reached);
            assert!(status.is_none(), "waited for: {what}; ended, {status:?}: {log}");
            reached
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only a process that the test has not seen the end of.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How fast this machine is now, by the naps of a waiting thread: 1 if each was as long as it
/// should.
#[derive(Clone, Copy, Debug)]
pub struct Pace(f64);

impl Pace {
    /// A bound for a machine with nothing else to do, as long as it has to be on this one.
    pub fn stretch(self, bound: f64) -> f64 {
        bound * self.0.max(1.0)
    }
}

/// Between two looks.
const NAP: Duration = Duration::from_millis(5);
/// Looks before a wait has failed: two minutes of naps, and longer where naps are.
const LOOKS: u32 = 24_000;

/// Waits. The bound is in naps of this thread, not in time: they are late on a machine that does
/// other things as well.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) -> Pace {
    let begin = Instant::now();
    for looks in 1..=LOOKS {
        if done() {
            return Pace(begin.elapsed().as_secs_f64() / (f64::from(looks) * NAP.as_secs_f64()));
        }
        sleep(NAP);
    }
    panic!("waited for: {what}, {LOOKS} looks, {:?}", begin.elapsed());
}

/// Whether two files have the same content.
pub fn same(a: &Path, b: &Path) -> bool {
    use std::io::Read;
    let (mut a, mut b) = (fs::File::open(a).unwrap(), fs::File::open(b).unwrap());
    if a.metadata().unwrap().len() != b.metadata().unwrap().len() {
        return false;
    }
    let (mut x, mut y) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    loop {
        let n = a.read(&mut x).unwrap();
        if n == 0 {
            return true;
        }
        b.read_exact(&mut y[..n]).unwrap();
        if x[..n] != y[..n] {
            return false;
        }
    }
}
