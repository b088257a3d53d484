// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An LND for a made-up NIC, whole. Two nodes have mailboxes; their NICs copy from each other's
//! memory. A PUT that fits its message travels inside; a larger one is staged, announced, and
//! pulled by the other node's NIC.
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::mem::MaybeUninit;

use lnd_core::config::{Config, ConfigError};
use lnd_core::driver::{Driver, Identity, Inbound, Receive, Request};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Message};
use lnd_core::owned::OwnedMessage;
use lnd_core::ports::*;
use lnd_core::time::{Instant, Span};

const LINK: LinkId = LinkId::new(0).unwrap();
const NIDS: [Nid; 2] = [Nid::from_raw(1).unwrap(), Nid::from_raw(2).unwrap()];
const INCARNATION: Incarnation = Incarnation::from_raw(1).unwrap();
const SINK: u64 = 1 << 15;

/// A node's hardware.
#[derive(Default)]
struct Nic {
    memory: Vec<u8>,
    mailbox: VecDeque<OwnedMessage<256>>,
    posted: BTreeMap<u32, (Tag, Motion, Fragment)>,
    completions: Vec<Completion>,
    stopped: bool,
}

thread_local!(static NICS: [RefCell<Nic>; 2] = Default::default());

fn nic<R>(node: Nid, work: impl FnOnce(&mut Nic) -> R) -> R {
    NICS.with(|nics| work(&mut nics[node.raw() as usize - 1].borrow_mut()))
}

/// All ports of a node.
struct Toy(Nid);

impl Ports for Toy {
    type Engine = Self;
    type Channel = Self;
    type Memory = Self;
    type Tracer = NoTrace;
}

impl Toy {
    fn complete(&self, tag: Tag, returned: Returned) {
        nic(self.0, |it| {
            // A tag of an earlier use completes nothing.
            if it.posted.get(&tag.index).is_some_and(|bd| bd.0 == tag) {
                it.posted.remove(&tag.index);
                it.completions.push(Completion { tag, returned });
            }
        });
    }
}

impl Engine for Toy {
    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        let [one] = bd.fragments else { return Err(PostError::Invalid) };
        let memory = Fragment::new(one.address, bd.length);
        nic(self.0, |it| it.posted.insert(bd.tag.index, (bd.tag, bd.motion, memory)));
        Ok(())
    }
    fn doorbell(&mut self) {
        if nic(self.0, |it| it.stopped) {
            return;
        }
        for (tag, motion, to) in nic(self.0, |it| it.posted.clone()).into_values() {
            let Motion::Pull { from, source, .. } = motion else { continue };
            let staged =
                nic(from, |it| it.posted.get(&source.index).copied().filter(|_| !it.stopped));
            let mut data = vec![0; to.length as usize];
            let Some((_, _, at)) = staged.filter(|bd| bd.0 == source) else { continue };
            if Toy(from)
                .read(at.address, &mut data)
                .and_then(|()| self.write(to.address, &data))
                .is_ok()
            {
                self.complete(tag, Returned::Ok);
            }
        }
    }
    fn invalidate(&mut self, tag: Tag) {
        self.complete(tag, Returned::Touched);
    }
    fn stop(&mut self) {
        nic(self.0, |it| it.stopped = true);
    }
    fn quiesced(&mut self) -> Option<Quiesced> {
        // SAFETY: data moves in `doorbell` alone, which moves nothing of a stopped NIC: neither its own
        // pulls, nor what it has staged.
        nic(self.0, |it| it.stopped).then(|| unsafe { Quiesced::assert_stopped(LINK) })
    }
    fn reclaim(&mut self, tag: Tag, _: &Quiesced) -> Option<Returned> {
        nic(self.0, |it| it.posted.remove(&tag.index)).map(|_| Returned::Touched)
    }
    fn reset(&mut self, _: Quiesced) {
        nic(self.0, |it| it.stopped = false);
    }
}

impl Channel for Toy {
    fn immediate_max(&self) -> u32 {
        256
    }
    fn is_reliable(&self) -> bool {
        true
    }
    fn send(
        &mut self,
        _: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        _: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        let owned = OwnedMessage::new(envelope, message).ok_or(ChannelFull)?;
        nic(envelope.to, |it| it.mailbox.push_back(owned));
        Ok(Some(Sent::Ok))
    }
}

impl Memory for Toy {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        nic(self.0, |it| into.copy_from_slice(&it.memory[at as usize..][..into.len()]));
        Ok(())
    }
    fn write(&mut self, at: u64, from: &[u8]) -> Result<(), BadAddress> {
        nic(self.0, |it| it.memory[at as usize..][..from.len()].copy_from_slice(from));
        Ok(())
    }
}

fn node(nid: Nid) -> Result<Driver<'static, Toy>, ConfigError> {
    nic(nid, |it| it.memory = vec![nid.raw() as u8; 2 * SINK as usize]);
    let config = Config { immediate_max: 256, ..Config::new(16, 4, 1) };
    let block = vec![MaybeUninit::uninit(); config.bytes_needed()].leak();
    let me = Identity { nid, incarnation: INCARNATION };
    Driver::create(block, config, me, [Toy(nid)], Toy(nid), Toy(nid), NoTrace)
}

/// Takes messages, completions and time in, and prints the reports.
fn run(driver: &mut Driver<'static, Toy>, nid: Nid, now: Instant) {
    while let Some(owned) = nic(nid, |it| it.mailbox.pop_front()) {
        let message = owned.message();
        let inbound = driver.on_message(now, LINK, owned.envelope(), &message);
        if let Inbound::Request(request) = inbound {
            let (length, deadline) = (request.length(), now.after(Span::from_secs(50)));
            let sink = [Fragment::new(SINK, length)];
            let received = request.recv(&Receive { sink: &sink, length, deadline, user: 0 });
            println!("{nid:?} receives {length} bytes: {received:?}");
        }
    }
    driver.ring();
    let completions = nic(nid, |it| std::mem::take(&mut it.completions));
    completions.into_iter().for_each(|it| driver.on_completion(now, it));
    let _ = driver.on_time(now);
    while let Some(report) = driver.next_report(now) {
        println!("{nid:?} reports {:?}: {:?}", report.role, report.status.delivery);
    }
}

/// Two PUTs, one small and one large.
///
/// # Errors
/// A configuration that cannot be, or a message that is refused.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut nodes = [node(NIDS[0])?, node(NIDS[1])?];
    let mut now = Instant::ORIGIN;
    for length in [100, 4096] {
        for step in 0..100 {
            now = now.after(Span::from_millis(1));
            NIDS.iter().zip(&mut nodes).for_each(|(nid, node)| run(node, *nid, now));
            if step == 50 {
                let (payload, deadline) =
                    ([Fragment::new(0, length)], now.after(Span::from_secs(50)));
                let request = Request::put(NIDS[1], b"match bits", &payload, deadline);
                println!("submitted: {:?}", nodes[0].submit(now, request).map_err(|it| it.why)?);
            }
        }
        let received = nic(NIDS[1], |it| it.memory[SINK as usize..][..length as usize].to_vec());
        assert!(received.iter().all(|&byte| byte == 1), "{length} bytes");
    }
    Ok(())
}
