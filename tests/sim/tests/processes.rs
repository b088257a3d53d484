// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Separate processes over one fabric file; some are killed by SIGKILL in the middle of a transfer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A file large enough to be in the middle of for a while; smaller without optimisation.
const BIG: usize = if cfg!(debug_assertions) { 96 << 20 } else { 1 << 30 };
/// What the bound is made of here: the engines' retry bound and the drain bound, a second
/// each; ten times that, for machines that do other things as well.
const BOUND_MS: f64 = 20_000.0;

/// A directory of this test's own, and the processes started in it.
struct Place {
    dir: PathBuf,
}

impl Place {
    fn new(name: &str) -> Self {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        Self { dir }
    }

    fn lnd(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lnd"));
        command.args(args).current_dir(&self.dir).stdin(Stdio::null());
        command
    }

    /// Starts a process whose output goes to a file.
    fn start(&self, log: &str, args: &[&str]) -> Running {
        let file = fs::File::create(self.dir.join(log)).unwrap();
        let errors = file.try_clone().unwrap();
        let child = self.lnd(args).stdout(file).stderr(errors).spawn().unwrap();
        Running { child, log: self.dir.join(log) }
    }

    /// A node that is up.
    fn node(&self, log: &str) -> Running {
        let node = self.start(log, &["node", "--me", "1@soft", "--dir", "store"]);
        wait_until("the node is up", || node.log().contains("is up"));
        node
    }

    fn run(&self, args: &[&str]) -> Output {
        self.lnd(args).output().unwrap()
    }

    /// Runs a command that has to succeed; its output.
    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{args:?}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        text
    }

    fn write(&self, name: &str, bytes: usize) -> PathBuf {
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
    fn stored(&self) -> u64 {
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

impl Drop for Place {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// SIGKILL.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM, and the end in good order.
    fn stop(&mut self) -> String {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success(), "{}", self.log());
        self.log()
    }

    fn wait(&mut self) -> String {
        assert!(self.child.wait().unwrap().success(), "{}", self.log());
        self.log()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only a process that the test has not seen the end of.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < Duration::from_secs(120), "waited for: {what}");
        sleep(Duration::from_millis(5));
    }
}

/// The line that a survivor prints once nothing is outstanding with a dead peer: how many transfers
/// ended with an error, and after how many milliseconds.
fn drained(log: &str, dead: &str) -> Option<(u64, f64)> {
    let line = log.lines().find(|l| l.starts_with(dead) && l.contains("nothing outstanding"))?;
    let words: Vec<_> = line.split_whitespace().collect();
    let millis = words.iter().rev().nth(1)?.parse().ok()?;
    Some((words.get(1)?.parse().ok()?, millis))
}

fn same(a: &Path, b: &Path) -> bool {
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

#[test]
fn the_receiver_is_killed_in_the_middle_and_reborn() {
    let place = Place::new("receiver-killed");
    let big = place.write("big.bin", BIG);
    let mut node = place.node("node.log");
    let mut put = place.start("put.log", &["put", "big.bin", "1@soft", "--timeout", "110"]);
    wait_until("a third has crossed", || place.stored() > BIG as u64 / 3);
    node.kill();
    // S0-9, INV-9: everything the survivor had with the dead ends within the bound.
    wait_until("the sender has seen the death", || drained(&put.log(), "1@soft0").is_some());
    let (_, millis) = drained(&put.log(), "1@soft0").unwrap();
    assert!(millis < BOUND_MS, "{millis} ms");
    let mut node = place.node("reborn.log");
    let told = put.wait();
    assert!(told.contains("put big.bin"), "{told}");
    place.ok(&["get", "big.bin", "1@soft", "--out", "back.bin"]);
    assert!(same(&big, &place.dir.join("back.bin")));
    node.stop();
}

#[test]
fn the_sender_is_killed_in_the_middle_and_reborn() {
    let place = Place::new("sender-killed");
    let big = place.write("big.bin", BIG);
    let mut node = place.node("node.log");
    let me = ["--me", "3@soft"];
    let mut put = place
        .start("put.log", &[&["put", "big.bin", "1@soft", "--name", "first"], &me[..]].concat());
    wait_until("a third has crossed", || place.stored() > BIG as u64 / 3);
    put.kill();
    wait_until("the node has seen the death", || drained(&node.log(), "3@soft0").is_some());
    let (_, millis) = drained(&node.log(), "3@soft0").unwrap();
    assert!(millis < BOUND_MS, "{millis} ms");
    // The same NID with another life: what the former one has left in mailboxes and tables changes
    // nothing but counters (R29).
    place.ok(&[&["put", "big.bin", "1@soft", "--name", "second"], &me[..]].concat());
    place.ok(&[&["get", "second", "1@soft", "--out", "back.bin"], &me[..]].concat());
    assert!(same(&big, &place.dir.join("back.bin")));
    // The end in good order includes: all memory given back, no oracle violation.
    let told = node.stop();
    assert!(told.contains("left in good order"), "{told}");
    let restarted: u64 = counter(&told, "peers_restarted");
    assert!(restarted >= 1, "{told}");
}

fn counter(log: &str, name: &str) -> u64 {
    let line = log.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn ping_and_small_files() {
    let place = Place::new("small");
    let mut node = place.node("node.log");
    assert!(place.ok(&["ping", "1@soft"]).contains("1@soft0 is alive"));
    for size in [0, 8, 4096, 70_000, 5 << 20] {
        let name = format!("f{size}");
        let file = place.write(&name, size);
        place.ok(&["put", &name, "1@soft"]);
        place.ok(&["get", &name, "1@soft", "--out", "back"]);
        assert!(same(&file, &place.dir.join("back")), "{size}");
    }
    let gone = place.run(&["get", "no-such-file", "1@soft", "--out", "nothing"]);
    assert!(!gone.status.success());
    assert!(String::from_utf8_lossy(&gone.stderr).contains("NotFound"));
    let taken = place.run(&["ping", "1@soft", "--me", "1@soft"]);
    assert!(String::from_utf8_lossy(&taken.stderr).contains("another process is this node"));
    let far = place.run(&["ping", "2@soft", "--timeout", "1"]);
    assert!(!far.status.success(), "nobody is there");
    node.stop();
}

#[test]
fn a_corrupt_or_foreign_fabric_is_refused_with_a_clear_error() {
    let place = Place::new("foreign");
    let refused = |name: &str, why: &str| {
        let before = fs::metadata(place.dir.join(name)).unwrap().len();
        let output = place.run(&["ping", "1@soft", "--fabric", name]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{name}");
        assert!(told.contains(name) && told.contains(why), "{name}: {told}");
        assert_eq!(fs::metadata(place.dir.join(name)).unwrap().len(), before, "left alone");
    };
    place.write("noise", 1 << 20);
    refused("noise", "not a fabric file");
    fs::write(place.dir.join("short"), b"LNDFabrc").unwrap();
    refused("short", "not a fabric file");
    // A sound one, made by a node; then spoiled word by word.
    let mut node = place.start("n.log", &["node", "--me", "1@soft", "--fabric", "sound"]);
    wait_until("the node is up", || node.log().contains("is up"));
    node.stop();
    let head: Vec<u8> = fs::read(place.dir.join("sound")).unwrap()[..8192].to_vec();
    for (name, at, why) in
        [("version", 8, "version"), ("numbers", 16, "damaged"), ("magic", 0, "not a fabric file")]
    {
        let mut bytes = head.clone();
        bytes[at] ^= 0x20;
        fs::write(place.dir.join(name), bytes).unwrap();
        refused(name, why);
    }
    fs::write(place.dir.join("cut"), &head).unwrap();
    refused("cut", "needs");
    for bad in ["0@soft", "1@tcp", "1", "999@soft"] {
        assert!(!place.run(&["ping", bad]).status.success(), "{bad}");
    }
}

/// The lines of `lnd fabric show` about one node: its own, then its links'.
fn shown(place: &Place, node: u32) -> Vec<String> {
    let all = place.ok(&["fabric", "show", "f"]);
    let mine = all.lines().skip_while(|line| !line.starts_with(&format!("node {node} ")));
    let rest = mine.clone().skip(1).take_while(|line| line.starts_with("  link"));
    mine.take(1).chain(rest).map(str::to_owned).collect()
}

/// A command that must fail, and what it says.
fn refused(place: &Place, args: &[&str]) -> String {
    let output = place.run(args);
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_fabric_command_formats_shows_declares_deaths_and_pulls_cables() {
    let place = Place::new("fabric");
    let shape = ["--nodes", "3", "--links", "2", "--window", "64"];
    let told = place.ok(&[&["fabric", "format", "f"], &shape[..]].concat());
    let bytes = fs::metadata(place.dir.join("f")).unwrap().len();
    assert!(bytes.is_power_of_two() && told.contains(&format!("{bytes} bytes")), "{told}");
    // What is there is left alone, and what cannot be is not made.
    assert!(refused(&place, &["fabric", "format", "f"]).contains("f: "));
    assert_eq!(fs::metadata(place.dir.join("f")).unwrap().len(), bytes);
    assert!(refused(&place, &["fabric", "format", "g", "--nodes", "0"]).contains("lnd: "));
    assert!(!place.dir.join("g").exists());

    let told = place.ok(&["fabric", "show", "f"]);
    assert!(told.starts_with("3 nodes, 2 links, 256 descriptors"), "{told}");
    assert!(told.contains("windows of 64 MiB"), "{told}");
    assert_eq!(shown(&place, 1), ["node 1 (2@soft0): absent, life -"]);
    let gone = refused(&place, &["fabric", "link", "f", "1", "0", "down"]);
    assert!(gone.contains("node 1 has no link 0 yet"), "{gone}");

    // A node that lives, as others see it; its links' cables.
    let mut node = place.start("n.log", &["node", "--me", "1@soft", "--fabric", "f"]);
    wait_until("the node is up", || node.log().contains("is up"));
    wait_until("its engines run", || {
        shown(&place, 0).iter().filter(|line| line.ends_with("up, engine running")).count() == 2
    });
    let alive = &shown(&place, 0)[0];
    assert!(alive.starts_with("node 0 (1@soft0): alive, life "), "{alive}");
    assert!(alive.ends_with("held by a lock"), "{alive}");
    assert_eq!(place.ok(&["fabric", "link", "f", "0", "1", "down"]), "node 0 link 1: down\n");
    wait_until("the engine has lost its clock", || {
        shown(&place, 0)[2] == "  link 1: down, engine not running"
    });
    assert_eq!(shown(&place, 0)[1], "  link 0: up, engine running");
    place.ok(&["fabric", "link", "f", "0", "1", "up"]);
    wait_until("the engine runs again", || shown(&place, 0)[2] == "  link 1: up, engine running");
    for wrong in [["0", "1", "sideways"], ["0", "9", "up"], ["7", "0", "up"]] {
        refused(&place, &[&["fabric", "link", "f"], &wrong[..]].concat());
    }

    // A death is declared of one life only, and only once.
    node.kill();
    let life = alive.split("life ").nth(1).unwrap()[..16].to_owned();
    let other = format!("{:016x}", u64::from_str_radix(&life, 16).unwrap() ^ 1);
    refused(&place, &["fabric", "dead", "f", "0", "--life", &other]);
    refused(&place, &["fabric", "dead", "f", "0", "--life", "zebra"]);
    refused(&place, &["fabric", "dead", "f", "2"]);
    assert!(shown(&place, 0)[0].contains("alive"), "nobody has proven its death");
    let told = place.ok(&["fabric", "dead", "f", "0", "--life", &life]);
    assert_eq!(told, "node 0 is dead\n");
    assert!(shown(&place, 0)[0].starts_with("node 0 (1@soft0): dead, life "));
    for args in [["fabric", "show", "h"], ["fabric", "show", "n.log"]] {
        assert!(refused(&place, &args).contains(args[2]), "{args:?}");
    }
}
