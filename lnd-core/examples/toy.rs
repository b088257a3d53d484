// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An LND for a made-up NIC, whole: two nodes with mailboxes, whose NICs copy from each other's memory. A PUT that
//! fits its message travels inside; a larger one is staged, announced, and pulled by the other node's NIC.
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::mem::MaybeUninit;

use lnd_core::config::{Config, ConfigError};
use lnd_core::driver::{Driver, Identity, Inbound, Interrupt, Kind, Receive, Request};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
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
    completions: VecDeque<Completion>,
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

impl Engine for Toy {
    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        let [one] = bd.fragments else { return Err(PostError::Invalid) };
        let memory = Fragment::new(one.address, bd.length);
        nic(self.0, |it| it.posted.insert(bd.tag.index, (bd.tag, bd.motion, memory)));
        Ok(())
    }

    fn doorbell(&mut self) {
        for (tag, motion, to) in nic(self.0, |it| it.posted.clone()).into_values() {
            let Motion::Pull { from, source, .. } = motion else { continue };
            let found = nic(from, |it| match it.posted.get(&source.index) {
                Some(bd) if bd.0 == source && !it.stopped => Some(*bd),
                _ => None,
            });
            let mut data = vec![0; to.length as usize];
            let copied = found.is_some_and(|bd| Toy(from).read(bd.2.address, &mut data).is_ok());
            if copied && self.write(to.address, &data).is_ok() {
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
        // SAFETY: data moves in `doorbell` alone. Ours is not called before `reset`, and the other node's leaves
        // alone what a stopped NIC has staged.
        nic(self.0, |it| it.stopped).then(|| unsafe { Quiesced::assert_stopped(LINK) })
    }

    fn reclaim(&mut self, tag: Tag, _: &Quiesced) -> Option<Returned> {
        nic(self.0, |it| it.posted.remove(&tag.index)).map(|_| Returned::Touched)
    }

    fn reset(&mut self, _: Quiesced) {
        nic(self.0, |it| it.stopped = false);
    }

    fn link_up(&mut self) -> bool {
        true
    }
}

impl Toy {
    fn complete(&self, tag: Tag, returned: Returned) {
        nic(self.0, |it| {
            if it.posted.get(&tag.index).is_some_and(|bd| bd.0 == tag) {
                it.posted.remove(&tag.index);
                it.completions.push_back(Completion { tag, returned });
            }
        });
    }
}

impl Completions for Toy {
    fn pop(&mut self) -> Option<Completion> {
        nic(self.0, |it| it.completions.pop_front())
    }
}

impl Channel for Toy {
    fn reaches(&self, to: Nid) -> bool {
        to.raw() <= 2
    }

    fn immediate_max(&self) -> u32 {
        256
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn ends_at_once(&self) -> bool {
        true
    }

    fn ready(&mut self, _: LinkId, _: Nid, _: Lane) -> bool {
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

    fn valid(&self, fragment: &Fragment) -> bool {
        fragment.address + u64::from(fragment.length) <= 2 * SINK
    }
}

struct Node {
    driver: Driver<'static, Toy>,
    interrupt: Interrupt<'static, Toy>,
}

impl Node {
    fn new(nid: Nid) -> Result<Self, ConfigError> {
        nic(nid, |it| it.memory = vec![nid.raw() as u8; 2 * SINK as usize]);
        let config = Config { immediate_max: 256, ..Config::new(16, 4, 1) };
        let block = vec![MaybeUninit::uninit(); config.bytes_needed()].leak();
        let me = Identity { nid, incarnation: INCARNATION };
        let driver = Driver::create(block, config, me, [Toy(nid)], Toy(nid), Toy(nid), NoTrace)?;
        let interrupt = Interrupt::of_link(driver.irq_handle(), Toy(nid), LINK);
        Ok(Self { driver, interrupt })
    }

    /// Takes messages, completions and time in, and reports what has ended.
    fn run(&mut self, nid: Nid, now: Instant) {
        while let Some(owned) = nic(nid, |it| it.mailbox.pop_front()) {
            let message = owned.message();
            let inbound = self.driver.on_message(now, LINK, owned.envelope(), &message);
            if let Inbound::Request(request) = inbound {
                let (length, deadline) = (request.length(), now.after(Span::from_secs(50)));
                let sink = [Fragment::new(SINK, length)];
                let received = request.recv(&Receive { sink: &sink, length, deadline, user: 0 });
                println!("{nid:?} receives {length} bytes: {received:?}");
            }
        }
        self.driver.ring();
        let _ = self.interrupt.on_interrupt(now, 64, &mut NoTrace);
        let _ = self.driver.on_time(now);
        while let Some(report) = self.driver.next_report(now) {
            println!("{nid:?} reports {:?}: {:?}", report.role, report.status.delivery);
        }
    }
}

/// Two PUTs, one small and one large.
///
/// # Errors
/// A configuration that cannot be, or a message that is refused.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut nodes = [Node::new(NIDS[0])?, Node::new(NIDS[1])?];
    let mut now = Instant::ORIGIN;
    for length in [100, 4096] {
        for step in 0..100 {
            now = now.after(Span::from_millis(1));
            NIDS.iter().zip(&mut nodes).for_each(|(nid, node)| node.run(*nid, now));
            if step == 50 {
                let payload = &[Fragment::new(0, length)][..];
                let (kind, peer, header) = (Kind::Put, NIDS[1].into(), &b"match bits"[..]);
                let (link, routed, user, deadline) =
                    (None, false, 7, now.after(Span::from_secs(50)));
                let request = Request { kind, peer, link, routed, header, payload, deadline, user };
                println!(
                    "submitted: {:?}",
                    nodes[0].driver.submit(now, request).map_err(|it| it.why)?
                );
            }
        }
        let sunk = nic(NIDS[1], |it| it.memory[SINK as usize..][..length as usize].to_vec());
        assert!(sunk.iter().all(|&byte| byte == 1));
    }
    Ok(())
}
