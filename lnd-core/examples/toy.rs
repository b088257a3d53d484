// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An LND for a made-up NIC, whole. Two nodes have mailboxes; their NICs copy from each other's
//! memory. A PUT that fits its message travels inside; a larger one is staged, announced, and
//! pulled by the other node's NIC.
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::error::Error;
use std::mem::{take, MaybeUninit};
use std::rc::Rc;

use lnd_core::prelude::*;

const LINK: LinkId = LinkId::new(0).unwrap();
const NIDS: [Nid; 2] = [Nid::from_raw(1).unwrap(), Nid::from_raw(2).unwrap()];
const SINK: u64 = 1 << 15;
const TIMEOUT: Span = Span::from_secs(50);
const INLINE: usize = 256;

/// A node's hardware.
#[derive(Default)]
struct Nic {
    mail: Rc<RefCell<Backlog<INLINE, 8>>>,
    memory: LinearMemory<'static>,
    posted: BTreeMap<Tag, (Motion, Fragment)>,
    completions: Vec<Completion>,
    stopped: bool,
}

thread_local!(static NICS: [RefCell<Nic>; 2] = Default::default());

fn nic<R>(node: Nid, work: impl FnOnce(&mut Nic) -> R) -> R {
    NICS.with(|nics| work(&mut nics[node.raw() as usize - 1].borrow_mut()))
}

/// Ends what was posted. A tag of an earlier use ends nothing.
fn complete(node: Nid, tag: Tag, returned: Returned) {
    nic(node, |it| {
        it.completions.extend(it.posted.remove(&tag).map(|_| Completion { tag, returned }));
    });
}

/// The engine and the channel of a node.
struct Toy(Nid);
type Node = Driver<'static, (Toy, Toy, LinearMemory<'static>, NoTrace)>;

impl Engine for Toy {
    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        let memory = bd.single().ok_or(PostError::Invalid)?;
        nic(self.0, |it| it.posted.insert(bd.tag, (bd.motion, memory)));
        Ok(())
    }
    fn doorbell(&mut self) {
        for (tag, (motion, to)) in nic(self.0, |it| it.posted.clone()) {
            let Motion::Pull { from, source, .. } = motion else { continue };
            let staged = nic(from, |it| it.posted.get(&source).copied().filter(|_| !it.stopped));
            let Some((_, at)) = staged.filter(|_| !nic(self.0, |it| it.stopped)) else { continue };
            let mut data = vec![0; to.length as usize];
            let read = nic(from, |it| it.memory.read(at.address, &mut data));
            if read.and_then(|()| nic(self.0, |it| it.memory.write(to.address, &data))).is_ok() {
                complete(self.0, tag, Returned::Ok);
            }
        }
    }
    fn invalidate(&mut self, tag: Tag) {
        complete(self.0, tag, Returned::Touched);
    }
    fn stop(&mut self) {
        nic(self.0, |it| it.stopped = true);
    }
    fn quiesced(&mut self) -> Option<Quiesced> {
        // SAFETY: data moves in `doorbell` alone, which moves nothing of a stopped NIC: neither its
        // own pulls, nor what it has staged.
        nic(self.0, |it| it.stopped).then(|| unsafe { Quiesced::assert_stopped(LINK) })
    }
    fn reclaim(&mut self, tag: Tag, _: &Quiesced) -> Option<Returned> {
        nic(self.0, |it| it.posted.remove(&tag)).map(|_| Returned::Touched)
    }
    fn reset(&mut self, _: Quiesced) {
        nic(self.0, |it| it.stopped = false);
    }
}

impl Channel for Toy {
    fn immediate_max(&self) -> u32 {
        INLINE as u32
    }
    fn is_reliable(&self) -> bool {
        true
    }
    fn ends_at_once(&self) -> bool {
        true
    }
    fn send(
        &mut self,
        _: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        _: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        let kept = nic(envelope.to, |it| it.mail.borrow_mut().push(envelope, message));
        kept.map(|()| Some(Sent::Ok))
    }
}

fn node(nid: Nid) -> Result<Node, ConfigError> {
    let memory = LinearMemory::new(vec![Cell::new(nid.raw() as u8); 2 * SINK as usize].leak());
    nic(nid, |it| it.memory = memory);
    let config = Config { lists: 0, ..Config::new(16, 4, 1) };
    let block = vec![MaybeUninit::uninit(); config.bytes_needed()].leak();
    // A real node takes the clock of the calendar: each start is another incarnation.
    let me = Identity { nid, incarnation: Incarnation::from_clock(1) };
    Driver::create(block, config, me, [Toy(nid)], Toy(nid), memory, NoTrace)
}

/// Takes messages, completions and time in, and prints the reports.
fn run(driver: &mut Node, nid: Nid, now: Instant) {
    let mail = nic(nid, |it| it.mail.clone());
    mail.borrow_mut().offer(now, LINK, driver, |request| {
        let length = request.length();
        let sink = [Fragment::new(SINK, length)];
        let received = request.recv(&Receive::new(&sink, length, now.after(TIMEOUT)));
        println!("{nid:?} receives {length} bytes: {received:?}");
        true
    });
    driver.run_once(now, nic(nid, |it| take(&mut it.completions)), |report| {
        println!("{nid:?} reports {:?}: {:?}", report.role, report.status.delivery);
    });
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
            // Half of the steps are for what precedes it, half for its way to the end.
            if step == 50 {
                let payload = [Fragment::new(0, length)];
                let request = Request::put(NIDS[1], b"match bits", &payload, now.after(TIMEOUT));
                println!("submitted: {:?}", nodes[0].submit(now, request).map_err(|it| it.why)?);
            }
        }
        let mut received = vec![0; length as usize];
        nic(NIDS[1], |it| it.memory.read(SINK, &mut received))?;
        assert!(received.iter().all(|&byte| byte == 1), "{length} bytes");
    }
    Ok(())
}
