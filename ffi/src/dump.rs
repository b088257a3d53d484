// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Writes the state as text, one part at a time.

use core::ffi::c_char;

use lnd_core::counters::Counter;
use lnd_core::driver::{PeerView, Role, TransferView};
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::LinkState;
use lnd_core::peer::HelloState;
use lnd_core::time::Instant;
use lnd_core::transfer::{Cause, Debts, Phase, Place, Word};

use crate::abi::{lnd_dump_what, lnd_error};
use crate::errors::outcome;
use crate::input::given;
use crate::ni::{lnd_ni, Thread};
use crate::pieces::{fill, Piece};
use crate::text::Text;

/// lnd_dump() - Writes a part of the state as text.
/// @ni: the NI.
/// @what: enum lnd_dump_what.
/// @cursor: 0 at first, then unchanged from the call before: where to continue.
/// @buf: where to write; no zero is appended.
/// @len: its bytes; 256 are enough for every line.
/// @written: where the number of bytes written is stored: whole lines only.
///
/// Call it until it returns LND_E_END. The last lines come with that call: use @written then, too.
/// A change between two calls may appear twice or not at all.
///
/// Context: thread. Takes the lock. Its work is bounded by the lines that fit @len bytes, and by
/// 1,024 free slots.
/// Return: LND_OK, LND_E_END (all has been written), LND_E_NULL, LND_E_ALIGN, LND_E_NI,
/// LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY, LND_E_ARGUMENT, LND_E_ROOM (no line fits).
#[no_mangle]
pub unsafe extern "C" fn lnd_dump(
    ni: *const lnd_ni,
    what: u32,
    cursor: *mut u32,
    buf: *mut c_char,
    len: usize,
    written: *mut usize,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        let piece = Piece { cursor, buf, len, written };
        let write = |from, text: &mut Text<'_>| {
            let section = Section::of(what)?;
            ni.enter()?.thread().dump(ni, section, from, text)
        };
        given!(fill(piece, write))
    }))
}

#[derive(Clone, Copy)]
enum Section {
    Links,
    Peers,
    Transfers,
    Counters,
}

impl Section {
    const fn of(what: u32) -> Result<Self, lnd_error> {
        match what {
            w if w == lnd_dump_what::LND_DUMP_LINKS as u32 => Ok(Self::Links),
            w if w == lnd_dump_what::LND_DUMP_PEERS as u32 => Ok(Self::Peers),
            w if w == lnd_dump_what::LND_DUMP_TRANSFERS as u32 => Ok(Self::Transfers),
            w if w == lnd_dump_what::LND_DUMP_COUNTERS as u32 => Ok(Self::Counters),
            _ => Err(lnd_error::LND_E_ARGUMENT),
        }
    }
}

/// Most places without a line that one call visits.
const LOOKS: u32 = 1_024;

impl Thread {
    /// Writes lines from place `from` on. Returns the place to continue at, and whether it is the
    /// end.
    fn dump(
        &mut self,
        ni: &lnd_ni,
        section: Section,
        from: u32,
        text: &mut Text<'_>,
    ) -> Result<(u32, bool), lnd_error> {
        self.follow(ni);
        let places = match section {
            Section::Links => ni.irqs.len() as u32,
            Section::Peers => self.driver.peers_known(),
            Section::Transfers => self.driver.config().slots,
            Section::Counters => Counter::ALL.len() as u32,
        };
        let mut looks = LOOKS;
        for at in from..places {
            if !self.line(section, at, text) {
                looks = looks.saturating_sub(1);
                if looks == 0 {
                    return Ok((at, false));
                }
            } else if !text.end_line() {
                return if text.len() == 0 { Err(lnd_error::LND_E_ROOM) } else { Ok((at, false)) };
            }
        }
        Ok((places.max(from), true))
    }

    /// Writes the line of one place, if the place is in use.
    fn line(&self, section: Section, at: u32, text: &mut Text<'_>) -> bool {
        match section {
            Section::Links => LinkId::new(at as usize)
                .and_then(|link| Some((link, self.driver.link_state(link)?)))
                .map(|(link, state)| {
                    let held = self.driver.quarantined(link);
                    link_line(text, link, state, held, self.driver.time_to_quiesce(link));
                })
                .is_some(),
            Section::Peers => {
                self.driver.peer_view(at).map(|peer| peer_line(text, &peer)).is_some()
            }
            Section::Transfers => {
                self.driver.transfer_view(at).map(|it| transfer_line(text, &it)).is_some()
            }
            Section::Counters => match Counter::ALL.get(at as usize) {
                Some(counter) => {
                    text.str(counter.name()).str(" ").dec(self.counter(*counter));
                    true
                }
                None => false,
            },
        }
    }
}

fn link_line(
    text: &mut Text<'_>,
    link: LinkId,
    state: LinkState,
    held: u32,
    quiesce: Option<lnd_core::time::Span>,
) {
    text.str("link ").dec(link.index() as u64).str(match state {
        LinkState::Up => " up",
        LinkState::Stalled => " stalled",
        LinkState::Stopping => " stopping",
        LinkState::Reclaiming => " reclaiming",
        LinkState::Down => " down",
        LinkState::Failed => " failed",
    });
    if held != 0 {
        text.str(" quarantined ").dec(u64::from(held));
    }
    if let Some(span) = quiesce {
        text.str(" last_stop_ns ").dec(span.as_nanos());
    }
}

fn nid(text: &mut Text<'_>, nid: Option<Nid>) {
    match nid {
        Some(nid) => text.hex(nid.raw()),
        None => text.str("-"),
    };
}

fn peer_line(text: &mut Text<'_>, peer: &PeerView) {
    text.str("peer ");
    nid(text, Some(peer.nid));
    text.str(match peer.state {
        HelloState::Unknown => " unknown",
        HelloState::Handshake => " handshake",
        HelloState::Good => " good",
        HelloState::Down => " down",
    });
    text.str(" incarnation ").hex(peer.incarnation.map_or(0, |incarnation| incarnation.raw()));
    text.str(" transfers ").dec(u64::from(peer.transfers));
    text.str(" credits ").dec(u64::from(peer.credits));
    text.str(" in_flight ").dec(u64::from(peer.in_flight));
    text.str(" pulls ").dec(u64::from(peer.pulls));
    text.str(" pulls_waiting ").dec(u64::from(peer.pulls_waiting));
    text.str(" last_heard_ns ").dec(peer.last_heard.as_nanos());
}

fn tag(text: &mut Text<'_>, tag: Tag) {
    text.dec(u64::from(tag.index)).str(":").hex(u64::from(tag.generation));
}

fn transfer_line(text: &mut Text<'_>, it: &TransferView) {
    text.str("transfer ");
    tag(text, it.tag);
    text.str(" ").str(role(it.role)).str(" peer ");
    nid(text, it.peer);
    if let Some(link) = it.link {
        text.str(" link ").dec(link.index() as u64);
    }
    text.str(" bytes ").dec(u64::from(it.length)).str(" ");
    word(text, it.word);
    if let Some(until) = it.until.filter(|until| *until != Instant::NEVER) {
        text.str(" until_ns ").dec(until.as_nanos());
    }
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::Immediate => "immediate",
        Role::PutSource => "put_source",
        Role::GetSink => "get_sink",
        Role::GetPull => "get_pull",
        Role::RxRequest => "request",
        Role::InlineSink => "inline_sink",
        Role::PutSink => "put_sink",
        Role::GetSource => "get_source",
        Role::NakPut => "nak_put",
        Role::NakGet => "nak_get",
        Role::PutDone => "put_done",
        Role::PushSink => "push_sink",
        Role::PushSource => "push_source",
        Role::GetDone => "get_done",
    }
}

/// Writes what a transfer waits for, and why it is ending.
fn word(text: &mut Text<'_>, word: Word) {
    text.str(match word.phase() {
        Phase::Free => "free",
        Phase::Queued => "queued",
        Phase::Live => "live",
        Phase::Done => "ended",
    });
    for (debt, waits) in [
        (Debts::CPU, if word.phase() == Phase::Queued { "queue" } else { "cpu" }),
        (Debts::HW, "engine"),
        (Debts::MSG, "message"),
        (Debts::PEER, "answer"),
    ] {
        if word.owes(debt) {
            text.str(" waits:").str(waits);
        }
    }
    if let Some(cause) = word.cause() {
        text.str(" because:").str(cause_name(cause));
    }
    if let Some(place) = word.place().filter(|_| word.lost()) {
        text.str(" lost:").str(place_name(place));
    }
}

pub(crate) const fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::PeerDown => "peer_down",
        Cause::PeerRestarted => "peer_restarted",
        Cause::LinkDown => "link_down",
        Cause::Deadline => "deadline",
        Cause::Shutdown => "shutdown",
        Cause::Withdrawn => "withdrawn",
        Cause::Refused => "refused",
        Cause::Channel => "channel",
        Cause::Device => "device",
        Cause::Local => "local",
        Cause::Protocol => "protocol",
        Cause::ConnectionDown => "connection_down",
    }
}

pub(crate) const fn place_name(place: Place) -> &'static str {
    match place {
        Place::Queue => "queue",
        Place::Message => "message",
        Place::Answer => "answer",
        Place::Staged => "staged",
        Place::Moving => "moving",
    }
}
