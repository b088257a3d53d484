// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What `lnd top` shows: the last answers of the node, and which page is in front.

use serde_json::Value;

/// The pages, in order.
pub const PAGES: [&str; 4] = ["Overview", "Peers", "Transfers", "Counters"];
/// Looks that the course of the rates goes back.
const COURSE: usize = 120;

/// What is shown.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The last answer.
    pub now: Value,
    /// The one before.
    before: Value,
    /// Payload bytes a second, oldest first.
    pub course: Vec<u64>,
    /// Why there is no newer answer.
    pub trouble: Option<String>,
    /// Nothing is asked for now.
    pub is_paused: bool,
    /// The page in front.
    pub page: usize,
    /// Lines of it that have been left behind.
    pub line: usize,
}

impl View {
    /// A new answer has come.
    pub fn update(&mut self, answer: Value) {
        self.before = std::mem::replace(&mut self.now, answer);
        self.trouble = None;
        if let Some(rate) = self.rate(bytes) {
            // Less than a byte a second is none.
            self.course.push(rate as u64);
            let beyond = self.course.len().saturating_sub(COURSE);
            self.course.drain(..beyond);
        }
    }

    /// The interface.
    pub fn interface(&self) -> &Value {
        &self.now["net"][0]["local NI(s)"][0]
    }

    /// What a number of the statistics has grown by in a second. `None`: there is one answer only,
    /// or the node is another incarnation by now.
    pub fn rate(&self, number: impl Fn(&Value) -> f64) -> Option<f64> {
        let of = |it: &Value| it["net"][0]["local NI(s)"][0]["incarnation"].clone();
        if of(&self.now) != of(&self.before) {
            return None;
        }
        let (now, before) = (&self.now["statistics"], &self.before["statistics"]);
        let seconds = (now["at_ms"].as_f64()? - before["at_ms"].as_f64()?) / 1e3;
        let grown = number(now) - number(before);
        (seconds > 0.0 && grown >= 0.0).then(|| grown / seconds)
    }

    /// To another page.
    pub fn turn(&mut self, by: isize) {
        let pages = PAGES.len() as isize;
        self.turn_to((self.page as isize + by).rem_euclid(pages) as usize);
    }

    /// To this page, if there is one.
    pub fn turn_to(&mut self, page: usize) {
        if page < PAGES.len() {
            (self.page, self.line) = (page, 0);
        }
    }

    /// Down, or up, by so many lines; not beyond the last.
    pub fn scroll(&mut self, by: isize) {
        let last = self.rows().saturating_sub(1);
        self.line = self.line.saturating_add_signed(by).min(last);
    }

    /// Lines of the page in front.
    fn rows(&self) -> usize {
        let list = |it: &Value| it.as_array().map_or(0, Vec::len);
        match self.page {
            0 => list(&self.now["nodes"]),
            1 => list(&self.now["peer"]),
            2 => list(&self.now["transfers"]),
            _ => counters(&self.now).len(),
        }
    }
}

/// Payload bytes that have been moved, by all roles.
pub fn bytes(statistics: &Value) -> f64 {
    let ends = statistics["ends"].as_object();
    ends.into_iter().flatten().map(|(_, it)| it["bytes"].as_f64().unwrap_or(0.0)).sum()
}

/// Messages sent and received.
pub fn messages(statistics: &Value) -> f64 {
    let number = |name: &str| statistics["messages"][name].as_f64().unwrap_or(0.0);
    number("sent") + number("received")
}

/// Counters that are not zero.
pub fn counters(dump: &Value) -> Vec<(String, u64)> {
    let all = dump["statistics"]["counters"].as_object().into_iter().flatten();
    let all = all.map(|(name, value)| (name.clone(), value.as_u64().unwrap_or(0)));
    all.filter(|(_, value)| *value > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::{bytes, View};
    use serde_json::{json, Value};

    fn answer(at_ms: u64, moved: u64) -> Value {
        json!({
            "statistics": { "at_ms": at_ms, "ends": { "a": { "bytes": moved } } },
            "peer": [1, 2, 3],
        })
    }

    #[test]
    fn rates_need_two_answers_of_one_incarnation() {
        let mut view = View::default();
        view.update(answer(1000, 500));
        assert_eq!(view.rate(bytes), None);
        view.update(answer(3000, 2500));
        assert_eq!(view.rate(bytes), Some(1000.0));
        assert_eq!(view.course, [1000]);
        // The node has started again, and counts from zero.
        view.update(answer(10, 7));
        assert_eq!((view.rate(bytes), view.course.len()), (None, 1));
        // So it has, and has counted further than the one before.
        let mut other = answer(20, 100);
        other["net"] = json!([{ "local NI(s)": [{ "incarnation": "2" }] }]);
        view.update(other);
        assert_eq!(view.rate(bytes), None);
        // An answer that is none of a node's is no reason to panic.
        view.update(json!("nonsense"));
        assert_eq!(view.rate(bytes), None);
    }

    #[test]
    fn pages_turn_around_and_lines_end() {
        let mut view = View::default();
        view.update(answer(1, 1));
        view.turn(-1);
        assert_eq!(view.page, 3);
        view.turn(2);
        assert_eq!(view.page, 1);
        view.scroll(99);
        assert_eq!(view.line, 2);
        view.scroll(-99);
        view.turn_to(7);
        assert_eq!((view.page, view.line), (1, 0));
    }
}
