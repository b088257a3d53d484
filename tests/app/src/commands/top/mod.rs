// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd top`: a live view of a running node, through its control socket.

mod draw;
mod view;

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use lnd_app::control::client::Client;
use lnd_app::process::Broken;
use lnd_app::say;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::Terminal;
use serde_json::{json, Value};

use super::control::WhichArgs;
use super::Done;
use view::View;

#[derive(Debug, clap::Args)]
pub struct TopArgs {
    /// Seconds between two looks at the node.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
    interval: f64,
    /// Print one view as text and end; for terminals that are none.
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    node: WhichArgs,
}

fn interval(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("'{text}' is no number"))?;
    let range = 0.1..=3600.0;
    range.contains(&seconds).then_some(seconds).ok_or("it is not 0.1 to 3600".into())
}

/// Columns and rows of a view that is printed.
const PRINTED: (u16, u16) = (100, 40);

impl TopArgs {
    pub fn run(self) -> Done {
        let mut view = View::default();
        let mut client = self.node.client()?;
        view.update(client.ask(dump())?);
        if self.once {
            print(&view)?;
            return Ok(());
        }
        if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return Err("standard input and output are no terminal; --once prints a view".into());
        }
        let mut terminal = ratatui::try_init()?;
        let asker = Asker::new(self.node.clone(), client);
        let ended = self.watch(&mut terminal, &mut view, &asker);
        ratatui::restore();
        Ok(ended?)
    }

    fn watch(
        &self,
        terminal: &mut ratatui::DefaultTerminal,
        view: &mut View,
        asker: &Asker,
    ) -> Result<(), Broken> {
        let every = Duration::from_secs_f64(self.interval);
        let (mut looked, mut is_asking) = (Instant::now(), false);
        loop {
            terminal.draw(|frame| draw::draw(frame, view))?;
            let left = every.saturating_sub(looked.elapsed());
            // A key is obeyed at once, also while the node takes its time.
            if event::poll(if is_asking { LOOK } else { left })? {
                if view_key(view, &event::read()?) {
                    return Ok(());
                }
                continue;
            }
            if is_asking {
                match asker.answers.try_recv() {
                    Ok(Ok(answer)) => view.update(answer),
                    Ok(Err(why)) => view.trouble = Some(why),
                    Err(TryRecvError::Empty) => continue,
                    Err(TryRecvError::Disconnected) => return Err("lnd top cannot ask".into()),
                }
                is_asking = false;
            } else {
                looked = Instant::now();
                is_asking = !view.is_paused && asker.ask.send(()).is_ok();
            }
        }
    }
}

/// Between two looks for an answer.
const LOOK: Duration = Duration::from_millis(20);

/// A thread that asks the node, so that waiting for it keeps no key from being obeyed.
struct Asker {
    ask: Sender<()>,
    answers: Receiver<Result<Value, String>>,
}

impl Asker {
    fn new(node: WhichArgs, client: Client) -> Self {
        let (ask, asked) = mpsc::channel();
        let (answered, answers) = mpsc::channel();
        // It ends with the program, or with the channels.
        thread::spawn(move || {
            let mut client = Some(client);
            while asked.recv().is_ok() {
                // A node that is gone may come back, as another incarnation.
                let found = client.take().map_or_else(|| node.client(), Ok);
                let found = found.and_then(|mut it| Ok((it.ask(dump())?, it)));
                let answer = found.map(|(answer, it)| {
                    client = Some(it);
                    answer
                });
                if answered.send(answer.map_err(|error| error.to_string())).is_err() {
                    return;
                }
            }
        });
        Self { ask, answers }
    }
}

fn dump() -> Value {
    json!({ "do": "show", "what": "dump" })
}

/// Does what a key says. Whether it says to end.
fn view_key(view: &mut View, event: &Event) -> bool {
    let Event::Key(key) = event else { return false };
    if key.kind == KeyEventKind::Release {
        return false;
    }
    let is_control_c =
        key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        _ if is_control_c => return true,
        KeyCode::Char('q') | KeyCode::Esc => return true,
        KeyCode::Char(' ' | 'p') => view.is_paused = !view.is_paused,
        KeyCode::Tab | KeyCode::Right => view.turn(1),
        KeyCode::BackTab | KeyCode::Left => view.turn(-1),
        KeyCode::Char(digit @ '1'..='9') => view.turn_to(digit as usize - '1' as usize),
        KeyCode::Down | KeyCode::Char('j') => view.scroll(1),
        KeyCode::Up | KeyCode::Char('k') => view.scroll(-1),
        KeyCode::PageDown => view.scroll(20),
        KeyCode::PageUp => view.scroll(-20),
        _ => {}
    }
    false
}

/// Prints every page of a view, without colours.
fn print(view: &View) -> Result<(), Broken> {
    let mut view = view.clone();
    for page in 0..view::PAGES.len() {
        view.turn_to(page);
        let mut terminal = Terminal::new(TestBackend::new(PRINTED.0, PRINTED.1))?;
        terminal.draw(|frame| draw::draw(frame, &view))?;
        let buffer = terminal.backend().buffer();
        let (columns, rows) = (usize::from(PRINTED.0), usize::from(PRINTED.1));
        let mut lines: Vec<String> = Vec::new();
        for cells in buffer.content().chunks(columns).take(rows) {
            let line: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
            lines.push(line.trim_end().to_owned());
        }
        lines.retain(|line| !line.is_empty());
        say!("{}", lines.join("\n"));
    }
    Ok(())
}
