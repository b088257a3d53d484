// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One pull: the receive side moves the bytes (S3-1, S3-4).

use lnd_core::defect::fenced;
use lnd_core::id::LinkId;
use lnd_core::sync::Ordering;
use lnd_core::time::Instant;

use super::cursor::Cursor;
use super::{BusAddress, Fabric, Faults, Progress, Settings};
use crate::descriptor::{Content, Descriptor, Flags, Own, State};
use crate::memory::LinkMemory;
use crate::regs::{ControlBits, ErrorBits, LinkBits, Register, RegisterAccess};

/// Most fragments crossed in one chunk: bounds the work of a step.
const PIECES: u32 = 64;

/// One pull under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pull<'m> {
    content: Content,
    since: Instant,
    source: Option<Source<'m>>,
    sink: Cursor,
    moved: u32,
    /// Its end, once it has one: the source is released, and the completion waits for room.
    pub end: Option<End>,
    /// The source is released, and its engine was not notified.
    untold: bool,
}

/// The end of a pull, and its reason.
pub(super) type End = (State, ErrorBits);

/// The claimed descriptor of the other side.
#[derive(Clone, Copy, Debug)]
struct Source<'m> {
    memory: LinkMemory<'m>,
    content: Content,
    own: Own,
    cursor: Cursor,
}

/// All parts of an engine except its table of pulls, which one pull needs.
pub(super) struct Mover<'e, 'm, F, A> {
    pub node: u32,
    pub link: LinkId,
    pub memory: &'e LinkMemory<'m>,
    pub fabric: &'e mut F,
    pub faults: &'e mut A,
    pub settings: &'e Settings,
    pub progress: &'e mut Progress,
}

/// The result of reaching the source.
enum Reach<'m> {
    /// It is present and claimed.
    Held(LinkMemory<'m>),
    /// It does not answer for now.
    Silent,
    /// It is not available, or no longer.
    Gone(ErrorBits),
}

impl<'m> Pull<'m> {
    /// A pull that begins at `now`.
    pub fn new(content: Content, now: Instant) -> Self {
        let sink = Cursor::default();
        Self { content, since: now, source: None, sink, moved: 0, end: None, untold: false }
    }

    /// The pull's own descriptor.
    pub const fn index(&self) -> u32 {
        self.content.tag.index
    }

    /// The node that it pulls from.
    pub const fn node(&self) -> u32 {
        self.content.node
    }

    /// Aborts the pull, unless it has already ended. A claimed source goes back with an error.
    pub fn break_off(&mut self, cause: ErrorBits) -> End {
        if let Some(end) = self.end {
            return end;
        }
        let state = if self.moved == 0 { State::Untouched } else { State::Touched };
        self.untold = self.source.as_ref().is_some_and(|source| source.settle(state));
        (state, cause)
    }

    /// All bytes are moved: the source is returned first, then the own descriptor. An invalidation
    /// during the last chunk has lost the race (S0-16).
    fn finish(&mut self) -> End {
        self.untold = self.source.as_ref().is_some_and(|source| source.settle(State::Done));
        if self.untold {
            (State::Done, ErrorBits::empty())
        } else {
            // This node was declared dead and the source was taken back: the data read is not
            // valid.
            (State::Touched, ErrorBits::REMOTE_ACCESS)
        }
    }

    /// The memory and the returned descriptor of which the source's engine must be notified; once.
    pub fn take_untold(&mut self) -> Option<(LinkMemory<'m>, u32)> {
        let untold = core::mem::take(&mut self.untold);
        self.source.as_ref().filter(|_| untold).map(|s| (s.memory, s.content.tag.index))
    }

    /// Notifies the source's engine that its descriptor is back, once. Returns whether that was
    /// due.
    pub fn notify(&mut self) -> bool {
        let untold = self.take_untold();
        untold.inspect(|(memory, index)| memory.dones().set(*index)).is_some()
    }
}

impl<'m, F: Fabric<'m>, A: Faults> Mover<'_, 'm, F, A> {
    /// Moves one chunk of one pull. Returns its end, if it has ended.
    pub fn advance(&mut self, now: Instant, pull: &mut Pull<'m>) -> Option<End> {
        let memory = match self.reach(pull) {
            Reach::Held(memory) => memory,
            Reach::Silent if now.since(pull.since) < self.settings.retry_bound => return None,
            Reach::Silent => return Some(pull.break_off(ErrorBits::UNREACHABLE)),
            Reach::Gone(cause) => return Some(pull.break_off(cause)),
        };
        pull.since = now;
        if let Err(cause) = self.chunk(pull, &memory) {
            return Some(pull.break_off(cause));
        }
        (pull.moved >= pull.content.length).then(|| pull.finish())
    }

    /// The source's memory, with its descriptor claimed.
    fn reach(&mut self, pull: &mut Pull<'m>) -> Reach<'m> {
        let node = pull.content.node;
        if !self.fabric.alive(node) {
            return match pull.source {
                Some(_) => Reach::Gone(ErrorBits::UNREACHABLE),
                None => Reach::Silent,
            };
        }
        let Some(memory) = self.fabric.memory_of(node, self.link) else { return Reach::Silent };
        let Some(descriptor) = memory.descriptor(pull.content.source.index) else {
            return Reach::Gone(ErrorBits::REMOTE_ACCESS);
        };
        let control = control_of(&memory);
        if control.contains(ControlBits::STOP) {
            // Claimed or not: stop at once.
            return Reach::Gone(ErrorBits::UNREACHABLE);
        }
        if !has_link(&memory) {
            return Reach::Silent;
        }
        match &pull.source {
            Some(source) => self.still_held(descriptor, source, memory),
            None => self.claim(descriptor, pull, memory, control.round()),
        }
    }

    fn still_held(
        &self,
        descriptor: &Descriptor,
        source: &Source<'m>,
        memory: LinkMemory<'m>,
    ) -> Reach<'m> {
        let own = descriptor.own();
        if own == source.own {
            Reach::Held(memory)
        } else if own == source.own.invalidating() {
            Reach::Gone(ErrorBits::INVALIDATED)
        } else {
            Reach::Gone(ErrorBits::REMOTE_ACCESS)
        }
    }

    fn claim(
        &mut self,
        descriptor: &Descriptor,
        pull: &mut Pull<'m>,
        memory: LinkMemory<'m>,
        round: u32,
    ) -> Reach<'m> {
        let own = descriptor.own();
        let content = descriptor.read();
        let wanted = pull.content.source;
        let fits = own.is(State::Owned)
            && own.generation() == wanted.generation as u16
            && content.tag == wanted
            && !content.flags.contains(Flags::PULL)
            && content.node == self.node
            && content.length >= pull.content.length;
        let busy = own.busy(self.node);
        if !fits || !descriptor.swap(own, busy) {
            return Reach::Gone(ErrorBits::REMOTE_ACCESS);
        }
        pull.source = Some(Source { memory, content, own: busy, cursor: Cursor::default() });
        self.faults.claimed(wanted);
        // Partner: the fence in the other engine's `stop_some`: it sees the claim, or we see its
        // stop. If the stop is already over, we see it by the round.
        fenced("no-fence-after-claim", Ordering::SeqCst);
        let control = control_of(&memory);
        if control.contains(ControlBits::STOP) || control.round() != round {
            return Reach::Gone(ErrorBits::UNREACHABLE);
        }
        Reach::Held(memory)
    }

    /// Moves up to one chunk.
    fn chunk(&mut self, pull: &mut Pull<'m>, remote: &LinkMemory<'_>) -> Result<(), ErrorBits> {
        let left = pull.content.length.saturating_sub(pull.moved);
        let mut budget = self.faults.chunk(self.settings.chunk).min(left);
        let Some(source) = &mut pull.source else { return Err(ErrorBits::REMOTE_ACCESS) };
        for _ in 0..PIECES {
            if budget == 0 {
                return Ok(());
            }
            let from = source.cursor.rest(remote, &source.content);
            let to = pull.sink.rest(self.memory, &pull.content);
            let (Some((from, readable)), Some((to, writable))) = (from, to) else {
                return Err(ErrorBits::BAD_DESCRIPTOR);
            };
            let bytes = budget.min(readable).min(writable);
            let from = BusAddress { node: pull.content.node, address: from };
            let to = BusAddress { node: self.node, address: to };
            self.fabric.copy(from, to, bytes).map_err(|_| ErrorBits::ADDRESS)?;
            source.cursor.advance(bytes);
            pull.sink.advance(bytes);
            pull.moved += bytes;
            budget -= bytes;
            self.progress.bytes = self.progress.bytes.saturating_add(bytes);
        }
        Ok(())
    }
}

impl Source<'_> {
    /// Returns the source in `state`, invalidated or not, in the memory where it was claimed.
    /// Returns whether it was still claimed.
    fn settle(&self, state: State) -> bool {
        let index = self.content.tag.index;
        let Some(descriptor) = self.memory.descriptor(index) else { return false };
        let (held, back) = (self.own, self.own.into(state));
        // The only possible change in between is one invalidation.
        descriptor.swap(held, back) || descriptor.swap(held.invalidating(), back)
    }
}

pub(super) fn control_of(memory: &LinkMemory<'_>) -> ControlBits {
    ControlBits::from_bits_retain(memory.read(Register::Control))
}

pub(super) fn has_link(memory: &LinkMemory<'_>) -> bool {
    LinkBits::from_bits_retain(memory.read(Register::Link)).contains(LinkBits::UP)
}
