// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Posting, reaping and looking: what a test does with the world's transfers.

use lnd_core::fragment::Fragment;
use lnd_core::id::Tag;
use lnd_core::key::Key;
use lnd_core::link::Quiesced;
use lnd_core::ports::{Bd, Completions, Engine, Motion, PostError, Returned};

use super::{nid, Access, At, Random, World, WINDOW};

/// Some of a node's memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub node: u32,
    pub fragments: Vec<Fragment>,
}

impl Buffer {
    pub fn len(&self) -> u32 {
        self.fragments.iter().map(|f| f.length).sum()
    }
}

impl World<'_> {
    /// Fresh memory in pieces of these lengths, with gaps between them.
    pub fn buffer(&mut self, node: u32, lengths: &[u32]) -> Buffer {
        let next = &mut self.next[node as usize];
        let place = |&length| {
            let fragment = Fragment::new(*next, length);
            *next += u64::from(length) + 3;
            fragment
        };
        Buffer { node, fragments: lengths.iter().map(place).collect() }
    }

    /// A buffer of one piece with random bytes in it.
    pub fn filled(&mut self, node: u32, length: u32) -> Buffer {
        let lengths: &[u32] = if length == 0 { &[] } else { &[length] };
        let buffer = self.buffer(node, lengths);
        self.fill(&buffer, u64::from(length) + 1);
        buffer
    }

    pub fn fill(&self, buffer: &Buffer, seed: u64) {
        let mut random = Random(seed);
        for fragment in &buffer.fragments {
            let bytes = random.bytes(fragment.length as usize);
            let payload = &self.plant.bus.node_memories[buffer.node as usize].payload;
            payload.write((fragment.address - WINDOW) as usize, &bytes);
        }
    }

    pub fn bytes(&self, buffer: &Buffer) -> Vec<u8> {
        let mut all = Vec::new();
        for fragment in &buffer.fragments {
            let mut bytes = vec![0; fragment.length as usize];
            let payload = &self.plant.bus.node_memories[buffer.node as usize].payload;
            payload.read((fragment.address - WINDOW) as usize, &mut bytes);
            all.extend(bytes);
        }
        all
    }

    /// Asks the driver of `at` to post, and notes whose the memory now is.
    pub fn post(
        &mut self,
        at: At,
        tag: Tag,
        motion: Motion,
        buffer: &Buffer,
        length: u32,
    ) -> Result<(), PostError> {
        let list = (buffer.fragments.len() > 1).then_some(tag.index as u16);
        let bd = Bd { tag, motion, length, fragments: &buffer.fragments, list };
        self.port(at).driver.post(&bd)?;
        let access = match motion {
            Motion::Stage { to } => Access::Read { by: to.raw() as u32 - 1 },
            _ => Access::Write,
        };
        self.plant.bus.grant(at.0, &buffer.fragments, access);
        self.live.insert((at, tag), buffer.fragments.clone());
        Ok(())
    }

    /// Stages all of a buffer for a node, and rings.
    pub fn stage(&mut self, at: At, tag: Tag, buffer: &Buffer, to: u32) {
        self.post(at, tag, Motion::Stage { to: nid(to) }, buffer, buffer.len()).unwrap();
        self.port(at).driver.doorbell();
    }

    /// Pulls `length` bytes of what a node has staged, and rings.
    pub fn pull(&mut self, at: At, tag: Tag, buffer: &Buffer, from: u32, source: Tag, length: u32) {
        let motion = Motion::Pull { from: nid(from), source, key: Key::NONE };
        self.post(at, tag, motion, buffer, length).unwrap();
        self.port(at).driver.doorbell();
    }

    /// Both halves of a transfer from `from` to `to`, over the same link.
    pub fn transfer(
        &mut self,
        from: At,
        to: At,
        source: Tag,
        sink: Tag,
        length: u32,
    ) -> [Buffer; 2] {
        let out = self.filled(from.0, length);
        let into = self.filled(to.0, length);
        self.fill(&into, 99);
        self.stage(from, source, &out, to.0);
        self.pull(to, sink, &into, from.0, source, length);
        [out, into]
    }

    fn end(&mut self, at: At, tag: Tag, returned: Returned) {
        self.ended.entry((at, tag)).or_default().push(returned);
        if let Some(fragments) = self.live.remove(&(at, tag)) {
            self.plant.bus.revoke(at.0, &fragments);
        }
    }

    /// Takes all completions of one link; how many. Memory is the driver's again.
    pub fn reap(&mut self, at: At) -> usize {
        let mut count = 0;
        while let Some(completion) = self.port(at).queue.pop() {
            self.end(at, completion.tag, completion.returned);
            count += 1;
        }
        count
    }

    pub fn reap_all(&mut self) -> usize {
        self.places().into_iter().map(|at| self.reap(at)).sum()
    }

    /// Takes a descriptor away from a stopped engine; what it had to say.
    pub fn reclaim(&mut self, at: At, tag: Tag, proof: &Quiesced) -> Option<Returned> {
        let returned = self.port(at).driver.reclaim(tag, proof);
        if let Some(fragments) = self.live.remove(&(at, tag)) {
            self.plant.bus.revoke(at.0, &fragments);
        }
        returned
    }

    /// What was posted here is of a former incarnation: no driver asks for it, and no engine may
    /// touch it.
    pub fn forget(&mut self, at: At) {
        let plant = self.plant;
        self.live.retain(|(place, _), fragments| {
            if *place == at {
                plant.bus.revoke(at.0, fragments);
            }
            *place != at
        });
    }

    pub fn invalidate(&mut self, at: At, tag: Tag) {
        self.port(at).driver.invalidate(tag);
    }

    /// How often a descriptor has come back, and how.
    pub fn ends(&self, at: At, tag: Tag) -> &[Returned] {
        self.ended.get(&(at, tag)).map_or(&[], Vec::as_slice)
    }

    /// How a descriptor came back, which it did exactly once.
    #[track_caller]
    pub fn once(&self, at: At, tag: Tag) -> Returned {
        match self.ends(at, tag) {
            [returned] => *returned,
            other => panic!("{tag:?} at {at:?} came back {} times: {other:?}", other.len()),
        }
    }

    /// Both sides of a transfer came back once, and as expected.
    #[track_caller]
    pub fn both(&self, source: (At, Tag), sink: (At, Tag), expected: Returned) {
        assert_eq!(self.once(source.0, source.1), expected, "source");
        assert_eq!(self.once(sink.0, sink.1), expected, "sink");
    }
}

/// Generation 1 of a descriptor.
pub const fn tag(index: u32) -> Tag {
    Tag { index, generation: 1 }
}
