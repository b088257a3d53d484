// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a node with many peers needs, from the sizes that the crates report, and what the clients
//! of a rack send when it dies and returns. `docs/scale.md` shows both.

use std::fmt::Write as _;
use std::mem::MaybeUninit;

use lnd_core::config::Config;
use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Delivery, HealthClass};
use lnd_health::attempts::Terms;
use lnd_health::node::{Action, End, PeerSettings};
use lnd_health::prober::ProbeEnd;
use lnd_health::reconnect::Connected;
use lnd_health::{Health, HealthConfig, Object, PeerNiId};
use lnd_shortmsg::mailbox::MailboxGeometry;

/// Peers of the table.
pub const PEERS: [u32; 3] = [10_000, 100_000, 1_000_000];
/// Transfers that a node has under way at most, of the table.
const SLOTS: u32 = 65_536;
/// Most peers of one table of health.
const HEALTH_MOST: u32 = 16_384;
/// Bytes of the buffer of a short message, with an inline payload of 4 KiB and without.
const BUFFERS: [usize; 2] = [4352, 512];

fn driver(peers: u32, slots: u32) -> usize {
    Config::new(slots, peers, 1).bytes_needed()
}

fn health(peers: u32) -> usize {
    HealthConfig::new(2, peers, 2 * peers).bytes_needed()
}

/// A whole number with commas.
fn commas(number: usize) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut text = digits[..first].to_owned();
    for piece in digits.as_bytes()[first..].chunks(3) {
        if !text.is_empty() {
            text.push(',');
        }
        text.extend(piece.iter().copied().map(char::from));
    }
    text
}

fn mib(bytes: usize) -> String {
    commas(bytes.div_ceil(1 << 20))
}

/// Memory of a node by the number of its peers, as a table.
pub fn memory() -> String {
    let depth = usize::from(Config::new(SLOTS, 1, 1).depth);
    let many = PEERS[0];
    let peer = (driver(2 * many, SLOTS) - driver(many, SLOTS)) / many as usize;
    let slot = (driver(many, 2 * SLOTS) - driver(many, SLOTS)) / SLOTS as usize;
    let half = HEALTH_MOST / 2;
    let watched = (health(HEALTH_MOST) - health(half)) / half as usize;
    let mailbox = |slots, size| MailboxGeometry::new(slots, size).unwrap().bytes_needed();
    let boxes = mailbox(64, 4352) + mailbox(256, 192);
    let mut text = String::new();
    let mut line = |name: &str, each: usize, total: &dyn Fn(u32) -> usize| {
        let cells = PEERS.map(|peers| mib(total(peers)));
        let _ = writeln!(text, "| {name} | {} | {} |", commas(each), cells.join(" | "));
    };
    line("driver's table of peers, one link", peer, &|peers| peers as usize * peer);
    line("driver's table of 65,536 transfers", slot, &|_| SLOTS as usize * slot);
    line("health, 2 interfaces a peer", watched, &|peers| {
        let (full, rest) = (peers / HEALTH_MOST, peers % HEALTH_MOST);
        full as usize * health(HEALTH_MOST) + if rest > 0 { health(rest) } else { 0 }
    });
    for buffer in BUFFERS {
        let each = depth * buffer;
        let name = format!("receive buffers, {depth} of {} bytes a peer", commas(buffer));
        line(&name, each, &|peers| peers as usize * each);
    }
    line("mailboxes in place of those, one link", boxes, &|peers| peers as usize * boxes);
    let head = "| memory | bytes each | 10,000 peers, MiB | 100,000 | 1,000,000 |\n\
                |---|---|---|---|---|\n";
    format!("{head}{text}")
}

/// Servers that die together, and interfaces of each.
const SERVERS: u32 = 64;
const INTERFACES: u32 = 2;
/// The health of an interface that is fit.
const FIT: u16 = 1000;
/// When they return, and for how long the clients are watched: seconds.
const RETURN: u64 = 300;
const WATCHED: u64 = 2400;
/// Milliseconds in one count of what a server receives.
const STEP: u64 = 100;

/// What the clients of a rack do.
#[derive(Debug, Default)]
pub struct Storm {
    /// Pings and attempts to connect that one server would receive, and receives: the most in one
    /// step while it is dead, and after its return; and all of them.
    pub dead: (u32, u64),
    /// The same after its return.
    pub back: (u32, u64),
    /// Seconds after the return until half of the interfaces were fit again, and all but one in a
    /// thousand; `None`: not within the time.
    pub fit: [Option<u64>; 2],
}

/// Kills a rack under so many clients, and brings it back. What is sent is answered at once, well
/// or ill, so that no client waits: that gives the most.
pub fn storm(clients: u32) -> Storm {
    let mut arrivals = vec![0_u32; (WATCHED * 1000 / STEP) as usize * SERVERS as usize];
    let mut fit = vec![0_u64; (WATCHED - RETURN) as usize];
    for client in 0..clients {
        run_client(client, &mut arrivals, &mut fit);
    }
    let mut storm = Storm::default();
    for (at, &count) in arrivals.iter().enumerate() {
        let step = (at / SERVERS as usize) as u64 * STEP;
        let into = if step < RETURN * 1000 { &mut storm.dead } else { &mut storm.back };
        *into = (into.0.max(count), into.1 + u64::from(count));
    }
    let all = u64::from(clients * SERVERS * INTERFACES);
    let mut so_far = 0;
    for (second, count) in fit.into_iter().enumerate() {
        so_far += count;
        let reached = |share: u64| so_far * 1000 >= all * share;
        for (place, share) in storm.fit.iter_mut().zip([500, 999]) {
            if place.is_none() && reached(share) {
                *place = Some(second as u64);
            }
        }
    }
    storm
}

fn run_client(client: u32, arrivals: &mut [u32], fit: &mut [u64]) {
    let mut config = HealthConfig::new(INTERFACES as u8, SERVERS, SERVERS * INTERFACES);
    config.seed = client.wrapping_mul(0x9e37_79b9) | 1;
    let mut memory = vec![MaybeUninit::uninit(); config.bytes_needed()];
    // Each client notices in its own moment of the first second.
    let mut now = Instant::from_nanos(u64::from(config.seed) % 1_000_000_000);
    let mut health = Health::create(&mut memory, config, now).unwrap();
    let nid = |network: u32, address: u32| {
        Nid::from_raw(u64::from(network) << 32 | u64::from(address)).unwrap()
    };
    for n in 0..INTERFACES {
        health.add_local(nid(n, 1)).unwrap();
    }
    for server in 0..SERVERS {
        let peer = health.add_peer(PeerSettings::default()).unwrap();
        let ids = [0, 1].map(|n| health.add_peer_ni(peer, nid(n, 100 + server)).unwrap());
        ids.iter().for_each(|&id| health.received(now, id, None));
        for id in ids {
            // A message to each interface is lost.
            let mut terms = Terms::new(0, now.after(Span::from_secs(1)));
            (terms.destination, terms.resend) = (Some(id), false);
            let mut attempts = health.open(peer, terms).unwrap();
            let choice = health.choose(&attempts, &[]).unwrap();
            assert!(health.begin(now, &mut attempts, &choice));
            let lost = End::failed(HealthClass::RemoteTimeout, Delivery::Unknown);
            let _ = health.outcome(now, attempts, lost);
            assert_ne!(health.peer_ni(id).unwrap().health().get(), FIT);
        }
    }
    let mut is_fit = vec![false; (SERVERS * INTERFACES) as usize];
    let end = Instant::from_nanos(WATCHED * 1_000_000_000);
    let back = Instant::from_nanos(RETURN * 1_000_000_000);
    let mut count = |now: Instant, server: u32| {
        let step = now.as_nanos() / 1_000_000 / STEP;
        arrivals[(step * u64::from(SERVERS) + u64::from(server)) as usize] += 1;
    };
    loop {
        now = now.max(health.next_deadline());
        if now >= end {
            return;
        }
        let is_back = now >= back;
        match health.next_action(now) {
            Some(Action::Ping(ping)) => {
                let Object::Peer(id) = ping.object else {
                    health.answered(now, ping, End::OK);
                    continue;
                };
                count(now, id.raw() / INTERFACES);
                let lost = End::failed(HealthClass::NetworkTimeout, Delivery::NotDelivered);
                health.answered(now, ping, if is_back { End::OK } else { lost });
                note_fit(&health, id, now, &mut is_fit, fit);
            }
            Some(Action::Connect(attempt)) => {
                let id = attempt.peer_ni;
                count(now, id.raw() / INTERFACES);
                let how = if is_back { Connected::Yes } else { Connected::No };
                health.connected(now, attempt, how);
                note_fit(&health, id, now, &mut is_fit, fit);
            }
            Some(Action::Probe(probe)) => {
                let id = probe.peer_ni;
                count(now, id.raw() / INTERFACES);
                let end = if is_back { ProbeEnd::Success } else { ProbeEnd::RetryExceeded };
                let _ = health.probed(now, probe, end);
                note_fit(&health, id, now, &mut is_fit, fit);
            }
            // The budget of this moment is spent: the next one.
            None => now = now.after(Span::from_millis(1)),
        }
    }
}

/// Counts an interface once it is as fit as it was.
fn note_fit(health: &Health<'_>, id: PeerNiId, now: Instant, is_fit: &mut [bool], fit: &mut [u64]) {
    let known = &mut is_fit[id.raw() as usize];
    let value = health.peer_ni(id).unwrap().health().get();
    if now.as_nanos() >= RETURN * 1_000_000_000 && !*known && value == FIT {
        *known = true;
        fit[(now.as_nanos() / 1_000_000_000 - RETURN) as usize] += 1;
    }
}

/// The storm in words of a table.
pub fn storm_table(clients: u32) -> String {
    let found = storm(clients);
    let per_second = |(most, _): (u32, u64)| commas(most as usize * (1000 / STEP) as usize);
    let each = |(_, all): (u32, u64)| commas((all / u64::from(SERVERS)) as usize);
    let when = |fit: Option<u64>| fit.map_or("not within the time".into(), |s| format!("{s} s"));
    let mut text = String::from("| of one server | |\n|---|---|\n");
    let mut line = |name: &str, value: String| _ = writeln!(text, "| {name} | {value} |");
    line("clients", commas(clients as usize));
    line("sent to it while it was dead, 300 s", each(found.dead));
    line("most a second of these", per_second(found.dead));
    line("sent to it after its return", each(found.back));
    line("most a second of these", per_second(found.back));
    line("half of the clients' interfaces fit again after", when(found.fit[0]));
    line("999 of 1,000 fit again after", when(found.fit[1]));
    text
}

/// Replaces what lies between two marks of a page. `None`: the page has no such marks.
pub fn replaced(page: &str, mark: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- begin: {mark} -->\n"), format!("<!-- end: {mark} -->"));
    let (head, rest) = page.split_once(&begin)?;
    let (_, tail) = rest.split_once(&end)?;
    Some(format!("{head}{begin}{text}{end}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_the_sizes_of_this_code() {
        let page = include_str!("../../docs/scale.md");
        let now = replaced(page, "memory", &memory()).expect("the marks are there");
        assert!(now == page, "write it again: cargo bench -p lnd-bench --bench scale");
    }

    #[test]
    fn clients_of_a_dead_rack_stay_within_their_budget_and_recover() {
        let clients = 8;
        let found = storm(clients);
        // A client sends up to its burst at once, and then one in ten milliseconds, to all servers.
        let most = clients * (100 + STEP as u32 / 10);
        assert!(found.dead.0 <= most && found.back.0 <= most, "{found:?}");
        assert!(found.dead.1 > 0 && found.back.1 > 0, "{found:?}");
        assert!(found.fit[1].is_some(), "{found:?}");
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!(
            ["0", "999", "1,000", "65,536", "1,000,000"].map(str::to_owned),
            [0, 999, 1000, 65_536, 1_000_000].map(commas)
        );
    }
}
