// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How `lnd top` looks.

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph, Row, Sparkline, Table, Tabs};
use ratatui::Frame;
use serde_json::Value;

use super::view::{bytes, counters, messages, View, PAGES};

/// Draws the whole view.
pub fn draw(frame: &mut Frame<'_>, view: &View) {
    let parts =
        [Constraint::Length(2), Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)];
    let [head, tabs, body, foot] = Layout::vertical(parts).areas(frame.area());
    frame.render_widget(Paragraph::new(heading(view)), head);
    let titles = PAGES.iter().enumerate().map(|(number, name)| format!("{} {name}", number + 1));
    let chosen = Style::new().add_modifier(Modifier::REVERSED);
    frame.render_widget(Tabs::new(titles).select(view.page).highlight_style(chosen), tabs);
    match view.page {
        0 => overview(frame, body, view),
        1 => peers(frame, body, view),
        2 => transfers(frame, body, view),
        _ => counted(frame, body, view),
    }
    let keys = "q quit   Tab page   arrows scroll   space pause";
    let foot_line = match (&view.trouble, view.is_paused) {
        (Some(why), _) => Line::styled(why.clone(), Style::new().fg(Color::Red)),
        (None, true) => Line::styled("paused", Style::new().fg(Color::Yellow)),
        (None, false) => Line::styled(keys, Style::new().add_modifier(Modifier::DIM)),
    };
    frame.render_widget(Paragraph::new(foot_line), foot);
}

/// A value as a cell: text without quotes, nothing for null.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".into(),
        other => other.to_string(),
    }
}

fn heading(view: &View) -> Vec<Line<'static>> {
    let it = view.interface();
    let seconds = view.now["statistics"]["at_ms"].as_f64().unwrap_or(0.0) / 1e3;
    let rate = |rate: Option<f64>| rate.map_or("-".into(), |it| format!("{it:.0}"));
    let mib = view.rate(bytes).map_or("-".into(), |it| format!("{:.1}", it / f64::from(1 << 20)));
    let first = format!(
        "{}  {}  {}  incarnation {}  up {seconds:.0} s",
        cell(&it["nid"]),
        cell(&it["state"]),
        cell(&it["status"]),
        cell(&it["incarnation"])
    );
    let second = format!(
        "{mib} MiB/s  {} messages/s  slots {} of {}  failures {}",
        rate(view.rate(messages)),
        cell(&it["slots"]["in use"]),
        cell(&it["slots"]["all"]),
        cell(&view.now["statistics"]["counters"]["finalized_error"]),
    );
    let color = if it["status"] == "up" { Color::Green } else { Color::Red };
    vec![Line::styled(first, Style::new().fg(color)), Line::from(second)]
}

/// A table whose first lines have been left behind.
fn table(frame: &mut Frame<'_>, area: Rect, line: usize, head: &[&str], rows: Vec<Vec<String>>) {
    let widths: Vec<Constraint> = head
        .iter()
        .enumerate()
        .map(|(column, name)| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            Constraint::Length(u16::try_from(widest.max(name.len())).unwrap_or(u16::MAX))
        })
        .collect();
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let header = Row::new(head.iter().map(|name| (*name).to_owned())).style(bold);
    let shown = rows.into_iter().skip(line).map(Row::new);
    frame.render_widget(Table::new(shown, widths).header(header).column_spacing(2), area);
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn overview(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let links = list(&view.interface()["links"]).count() as u16;
    let parts = [Constraint::Length(links + 2), Constraint::Length(5), Constraint::Min(1)];
    let [top, course, below] = Layout::vertical(parts).areas(area);
    let up = |value: &Value| if value == &Value::Bool(true) { "up" } else { "down" };
    let rows = list(&view.interface()["links"])
        .map(|it| {
            vec![
                cell(&it["link"]),
                cell(&it["state"]),
                up(&it["carrier"]).into(),
                cell(&it["engine"]),
            ]
        })
        .collect();
    table(frame, top, 0, &["link", "state", "carrier", "engine"], rows);
    let width = usize::from(course.width);
    let last = &view.course[view.course.len().saturating_sub(width)..];
    let line = Sparkline::default().data(last.iter().copied());
    frame.render_widget(line.block(Block::bordered().title("payload bytes a second")), course);
    let rows = list(&view.now["nodes"])
        .map(|it| vec![cell(&it["nid"]), cell(&it["state"]), cell(&it["incarnation"])])
        .collect();
    table(frame, below, view.line, &["node", "state", "incarnation"], rows);
}

fn peers(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let head = [
        "peer",
        "state",
        "heard ms",
        "session",
        "credits",
        "of",
        "in flight",
        "transfers",
        "pulls",
        "waiting",
    ];
    let names = [
        "primary nid",
        "state",
        "last_heard_ms",
        "session",
        "available_tx_credits",
        "max_tx_credits",
        "in_flight",
        "transfers",
        "pulls",
        "pulls_waiting",
    ];
    let rows =
        list(&view.now["peer"]).map(|it| names.iter().map(|name| cell(&it[*name])).collect());
    table(frame, area, view.line, &head, rows.collect());
}

fn transfers(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let head = ["transfer", "role", "peer", "link", "bytes", "left ms", "owes"];
    let names = ["transfer", "role", "peer", "link", "bytes", "left_ms", "word"];
    let rows =
        list(&view.now["transfers"]).map(|it| names.iter().map(|name| cell(&it[*name])).collect());
    table(frame, area, view.line, &head, rows.collect());
}

fn counted(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let rows = counters(&view.now)
        .into_iter()
        .map(|(name, value)| {
            let of = |statistics: &Value| statistics["counters"][&name].as_f64().unwrap_or(0.0);
            let rate = view.rate(of).map_or("-".into(), |it| format!("{it:.1}"));
            vec![name.clone(), value.to_string(), rate]
        })
        .collect();
    table(frame, area, view.line, &["counter", "value", "a second"], rows);
}
