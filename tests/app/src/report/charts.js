// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Charts over time, and rows on the time line.
"use strict";

const BINS = 120;
const x = (ns) => LEFT + (WIDTH - LEFT - RIGHT) * (ns - range.from) / (range.to - range.from);
const binWidth = () => (range.to - range.from) / BINS;
const binOf = (ns) => Math.floor((ns - range.from) / binWidth());
const inRange = (ns) => ns >= range.from && ns <= range.to;

function picture(holder, height, label) {
  const size = `0 0 ${WIDTH} ${height}`;
  const svg = draw("svg", { viewBox: size, role: "img", "aria-label": label });
  svg.append(draw("title", {}, label));
  at(holder).replaceChildren(svg);
  return svg;
}

function timeAxis(svg, y) {
  svg.append(draw("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y }));
  for (let step = 0; step <= 5; step += 1) {
    const ns = range.from + (range.to - range.from) * step / 5;
    const anchor = step === 5 ? "end" : step === 0 ? "start" : "middle";
    svg.append(words(x(ns), y + 15, `${Math.round(ns / 1e4) / 100} ms`,
      { class: "soft", "text-anchor": anchor }));
  }
}

function valueAxis(svg, top, bottom, ticks) {
  ticks.forEach(([y, label]) => {
    svg.append(draw("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y }));
    svg.append(words(LEFT - 8, y + 4, label, { class: "soft", "text-anchor": "end" }));
  });
}

function legend(svg, entries) {
  entries.forEach(([style, label], number) => {
    const left = LEFT + number * 190;
    svg.append(draw("rect", { class: style, x: left, y: 4, width: 12, height: 12 }));
    svg.append(words(left + 18, 14, label));
  });
}

function line(values, scale) {
  let path = "", pen = "M";
  values.forEach((value, bin) => {
    if (value === null) { pen = "M"; return; }
    const middle = x(range.from + (bin + 0.5) * binWidth());
    path += `${pen}${middle.toFixed(1)} ${scale(value).toFixed(1)}`;
    pen = "L";
  });
  return path;
}

function points(svg, style, values, scale, label) {
  values.forEach((value, bin) => {
    if (value === null || value === 0) return;
    const middle = x(range.from + (bin + 0.5) * binWidth());
    const when = Math.round(range.from + bin * binWidth());
    svg.append(draw("circle", { class: style, cx: middle, cy: scale(value), r: 1.8 },
      tip(`${span(when)}: ${label(value)}`)));
  });
}

function throughput() {
  const bytes = new Array(BINS).fill(0);
  data.transfers.forEach((it) => {
    if (it.errno !== 0 || it.ended === null || !inRange(it.ended)) return;
    if (ARRIVES.has(text(it.role))) bytes[Math.min(binOf(it.ended), BINS - 1)] += it.bytes;
  });
  const seconds = binWidth() / 1e9;
  const values = bytes.map((sum) => sum / seconds);
  const most = Math.max(...values, 1);
  const total = bytes.reduce((a, b) => a + b, 0);
  const label = `Throughput over time: ${total.toLocaleString("en")} bytes arrived, `
    + `at most ${rate(most)}`;
  const svg = picture("throughput", 190, label);
  const scale = (value) => 160 - 130 * value / most;
  valueAxis(svg, 30, 160, [[30, rate(most)], [95, rate(most / 2)], [160, "0"]]);
  const width = (WIDTH - LEFT - RIGHT) / BINS;
  values.forEach((value, bin) => {
    if (value > 0) {
      const when = range.from + bin * binWidth();
      svg.append(draw("rect", {
        class: "c1 area", x: LEFT + bin * width, y: scale(value), width: Math.max(width - 1, 0.5),
        height: Math.max(160 - scale(value), 1),
      }, tip(`${span(Math.round(when))}: ${rate(value)}`)));
    }
  });
  legend(svg, [["c1", "payload that arrived"]]);
  timeAxis(svg, 160);
}

function latency() {
  const bins = Array.from({ length: BINS }, () => []);
  data.transfers.forEach((it) => {
    if (it.errno !== 0 || it.ended === null || !inRange(it.ended)) return;
    if (!SUBMITS.has(text(it.role))) return;
    bins[Math.min(binOf(it.ended), BINS - 1)].push(it.ended - it.begun);
  });
  const part = (list, share) => {
    if (list.length === 0) return null;
    return Math.max(list[Math.min(list.length - 1, Math.floor(list.length * share))], 1);
  };
  bins.forEach((list) => list.sort((a, b) => a - b));
  const median = bins.map((list) => part(list, 0.5));
  const high = bins.map((list) => part(list, 0.95));
  const worst = bins.map((list) => part(list, 1));
  const all = bins.flat().sort((a, b) => a - b);
  const known = all.length > 0;
  const label = known
    ? `Latency over time of ${all.length} transfers: median ${span(part(all, 0.5))}, `
      + `95 % below ${span(part(all, 0.95))}, at most ${span(part(all, 1))}`
    : "Latency over time: no transfer ended OK";
  const svg = picture("latency", 190, label);
  const low = Math.floor(Math.log10(known ? part(all, 0) : 1));
  const top = Math.max(Math.ceil(Math.log10(known ? part(all, 1) : 10)), low + 1);
  const scale = (value) => 160 - 130 * (Math.log10(value) - low) / (top - low);
  const ticks = [];
  for (let power = low; power <= top; power += 1) {
    ticks.push([scale(10 ** power), span(10 ** power)]);
  }
  valueAxis(svg, 30, 160, ticks);
  [["c1", median], ["c2", high], ["c4", worst]].forEach(([style, values]) => {
    if (style !== "c4") {
      svg.append(draw("path", { class: `${style} stroke`, d: line(values, scale) }));
    }
    points(svg, style, values, scale, span);
  });
  legend(svg, [["c1", "median"], ["c2", "95 %"], ["c4", "longest"]]);
  timeAxis(svg, 160);
}

// Adds to each bin for what share of its time something was so.
function cover(bins, from, to) {
  from = Math.max(from, range.from);
  to = Math.min(to, range.to);
  if (!(to > from)) return;
  const width = binWidth();
  for (let bin = Math.max(binOf(from), 0); bin < BINS; bin += 1) {
    const start = range.from + bin * width;
    if (start >= to) break;
    bins[bin] += (Math.min(to, start + width) - Math.max(from, start)) / width;
  }
}

function states() {
  const [queued, live, done] = [0, 1, 2].map(() => new Array(BINS).fill(0));
  data.transfers.forEach((it) => {
    const end = lastOf(it);
    const settled = Math.min(it.done ?? end, end);
    const posted = Math.min(it.live ?? settled, settled);
    cover(queued, it.begun, posted);
    cover(live, posted, settled);
    cover(done, settled, end);
  });
  const sums = queued.map((value, bin) => value + live[bin] + done[bin]);
  const most = Math.max(...sums, 0.01);
  const label = `Transfers by state over time: at most ${most.toPrecision(3)} at once, on average `
    + "over a bar's time";
  const svg = picture("states", 190, label);
  const scale = (value) => 160 - 130 * value / most;
  const [all, half] = [most.toPrecision(2), (most / 2).toPrecision(2)];
  valueAxis(svg, 30, 160, [[30, all], [95, half], [160, "0"]]);
  const width = (WIDTH - LEFT - RIGHT) / BINS;
  for (let bin = 0; bin < BINS; bin += 1) {
    let below = 0;
    [["c3", done], ["c1", live], ["c2", queued]].forEach(([style, values]) => {
      const value = values[bin];
      if (value > 0) {
        const top = scale(below + value);
        svg.append(draw("rect", {
          class: `${style} area`, x: LEFT + bin * width, y: top,
          width: Math.max(width - 0.5, 0.5), height: Math.max(scale(below) - top, 0.2),
        }));
      }
      below += value;
    });
  }
  legend(svg, [["c2", "queued"], ["c1", "live"], ["c3", "done, not reported"]]);
  timeAxis(svg, 160);
}

// ---- Rows on the time line ---------------------------------------------------------------------

const ROW = 20;
function bar(svg, row, style, from, to, label) {
  const start = Math.max(from, range.from), end = Math.min(to, range.to);
  if (end < start) return;
  svg.append(draw("rect", {
    class: style, x: x(start), y: row * ROW + 4, width: Math.max(x(end) - x(start), 1.5),
    height: ROW - 6,
  }, tip(label)));
}

// What of the time one thing was so: spans of [from, to, value].
function spans(changes, first) {
  const found = [];
  let [since, value] = [0, first];
  changes.forEach(([when, next]) => {
    if (next === value) return;
    found.push([since, when, value]);
    [since, value] = [when, next];
  });
  found.push([since, data.whole, value]);
  return found;
}

function group(list, key) {
  const groups = new Map();
  list.forEach((it) => {
    const name = key(it);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(it);
  });
  return groups;
}

function faults() {
  const line = data.timeline;
  const hosts = group(line.hosts, (it) => it[1]);
  const names = group(line.faults, (it) => text(it[1]));
  const events = group(line.events, (it) => it.name);
  const rows = 1 + hosts.size + events.size + names.size;
  const label = `Faults on the time line: ${line.faults.length} faults injected of ${names.size} `
    + `kinds, ${line.events.length} scheduled`;
  const svg = picture("faults", rows * ROW + 26, label);
  let row = 0;
  const name = (label) => {
    svg.append(words(LEFT - 8, row * ROW + 15, label, { "text-anchor": "end" }));
  };
  name("part of the run");
  line.phases.forEach(([when, phase], number) => {
    const end = number + 1 < line.phases.length ? line.phases[number + 1][0] : data.whole;
    bar(svg, row, number % 2 ? "phase-b" : "phase-a", when, end, `${phase}, from ${span(when)}`);
    if (x(Math.min(end, range.to)) - x(Math.max(when, range.from)) > phase.length * 6.5) {
      svg.append(words(x(Math.max(when, range.from)) + 4, row * ROW + 15, phase));
    }
  });
  row += 1;
  [...hosts.keys()].sort((a, b) => a - b).forEach((host) => {
    name(`node ${host}`);
    let [up, since, which] = [false, 0, 0];
    const close = (when) => bar(svg, row, up ? "up" : "away", since, when,
      up ? `node ${host}, incarnation ${which}, from ${span(since)} to ${span(when)}`
        : `node ${host} is away, from ${span(since)} to ${span(when)}`);
    hosts.get(host).forEach(([when, , starts, incarnation]) => {
      if (when > since) close(when);
      [up, since, which] = [starts, when, incarnation];
    });
    close(data.whole);
    row += 1;
  });
  events.forEach((list, event) => {
    name(event.length > 30 ? `${event.slice(0, 29)}…` : event);
    list.forEach((it) => bar(svg, row, "c2", it.at, it.at + it.lasts,
      `${it.name} at ${span(it.at)}${it.lasts > 0 ? ` for ${span(it.lasts)}` : ""}`));
    row += 1;
  });
  [...names.keys()].sort().forEach((fault) => {
    const list = names.get(fault);
    const shown = list.filter((it) => inRange(it[0]));
    name(`${fault} (${list.length})`);
    // Many in one place are one mark.
    const marks = new Map();
    shown.forEach(([when]) => {
      const place = Math.round(x(when));
      marks.set(place, (marks.get(place) || 0) + 1);
    });
    marks.forEach((count, place) => svg.append(draw("rect", {
      class: "tick", x: place, y: row * ROW + 4, width: 2, height: ROW - 6,
    }, tip(`${fault}: ${count}`))));
    row += 1;
  });
  timeAxis(svg, rows * ROW + 6);
}

function health() {
  const rows = [];
  if (data.rails) {
    at("about-health").textContent = "What each node thinks of an interface: green is full health "
      + "(1000), red is none. A row of another node is there when it has seen the interface ill.";
    const views = group(data.timeline.health, (it) => `${it[2]}|${it[1]}`);
    [...views.keys()].sort((a, b) => a.localeCompare(b, "en", { numeric: true })).forEach((key) => {
      const [unit, by] = key.split("|").map(Number);
      const changes = views.get(key);
      const own = hostOf(unit) === by;
      if (!own && changes.every((it) => it[3] === 1000)) return;
      rows.push({
        name: `${unitName(unit)} by ${own ? "itself" : `node ${by}`}`,
        spans: spans(changes.map((it) => [it[0], it[3]]), changes[0][3]),
        words: (value) => `health ${value}`,
        colour: (value) => `color-mix(in oklab, var(--good) ${value / 10}%, var(--bad))`,
      });
    });
  } else {
    at("about-health").textContent = "The links of each node: green is up; a red part has the "
      + "link's state as its text.";
    const links = group(data.timeline.links, (it) => text(it[1]));
    [...links.keys()].sort().forEach((link) => rows.push({
      name: link,
      spans: spans(links.get(link).map((it) => [it[0], text(it[2])]), "not started"),
      words: (state) => state,
      colour: (state) => (state === "up" ? "var(--good)"
        : state === "not started" ? "var(--line)" : "var(--bad)"),
    }));
  }
  const ill = rows.filter((row) => row.spans.length > 2).length;
  const svg = picture("health", rows.length * ROW + 26,
    `Health of ${rows.length} ${data.rails ? "interfaces, as nodes see them" : "links"}; `
    + `${ill} have changed more than once`);
  rows.forEach((it, row) => {
    svg.append(words(LEFT - 8, row * ROW + 15, it.name, { "text-anchor": "end" }));
    it.spans.forEach(([from, to, value]) => {
      const start = Math.max(from, range.from), end = Math.min(to, range.to);
      if (end <= start) return;
      svg.append(draw("rect", {
        x: x(start), y: row * ROW + 4, width: Math.max(x(end) - x(start), 1), height: ROW - 6,
        style: `fill: ${it.colour(value)}`,
      }, tip(`${it.name}: ${it.words(value)}, from ${span(from)} to ${span(to)}`)));
    });
  });
  timeAxis(svg, rows.length * ROW + 6);
}
