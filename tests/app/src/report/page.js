// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The table of transfers, the swim-lane, and the page as a whole.
"use strict";

function endOf(it) {
  if (it.refused && it.ended === null) return "refused the request";
  if (it.ended === null) return it.cut === null ? "not ended" : "cut off: its node ended";
  return it.errno === 0 ? "OK" : `errno ${it.errno}, ${text(it.health)}`;
}
const kindOfEnd = (it) => (it.ended !== null ? (it.errno === 0 ? "ok" : "failed")
  : it.refused ? "refused" : "open");
const rowsOf = data.transfers.map((it, number) => ({
  number, it,
  role: text(it.role),
  node: unitName(it.unit),
  peer: it.peer === null ? "unknown" : unitName(it.peer),
  took: it.ended === null ? null : it.ended - it.begun,
  end: endOf(it),
  delivery: it.ended === null ? "" : text(it.delivery),
  evidence: text(it.evidence),
}));
rowsOf.forEach((row) => {
  row.words = `#${row.number} ${row.role} ${row.node} ${row.peer} ${row.it.bytes} ${row.end} `
    + `${row.delivery} ${row.evidence}`;
  row.words = row.words.toLowerCase();
});
const COLUMNS = [
  ["Transfer", (row) => row.number, (row) => `#${row.number}`, true],
  ["Begun, ms", (row) => row.it.begun, (row) => milliseconds(row.it.begun), true],
  ["Role", (row) => row.role, (row) => row.role],
  ["Node", (row) => row.it.unit, (row) => row.node],
  ["Peer", (row) => row.it.peer ?? -1, (row) => row.peer],
  ["Bytes", (row) => row.it.bytes, (row) => row.it.bytes.toLocaleString("en"), true],
  ["Took", (row) => row.took ?? Infinity, (row) => (row.took === null ? "" : span(row.took)), true],
  ["End", (row) => row.end, (row) => row.end],
  ["Delivery", (row) => row.delivery, (row) => row.delivery],
  ["Evidence", (row) => row.evidence, (row) => row.evidence],
];
const table = { column: 0, down: false, page: 0, rows: rowsOf, chosen: null };

function select(id, options) {
  at(id).replaceChildren(...options.map(([value, label]) => make("option", { value }, label)));
  at(id).addEventListener("change", filter);
}

function filter() {
  const wanted = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [role, end, node] = ["role", "end", "node"].map((id) => at(id).value);
  const whole = range.from === 0 && range.to >= data.whole;
  table.rows = rowsOf.filter((row) => (!role || row.role === role)
    && (!end || kindOfEnd(row.it) === end)
    && (!node || hostOf(row.it.unit) === Number(node))
    && (whole || (row.it.begun <= range.to && lastOf(row.it) >= range.from))
    && wanted.every((word) => row.words.includes(word)));
  const [, key] = COLUMNS[table.column];
  const sign = table.down ? -1 : 1;
  table.rows.sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    return sign * (left < right ? -1 : left > right ? 1 : a.number - b.number);
  });
  table.page = 0;
  show();
}

function show() {
  const { rows, page } = table;
  const count = (kind) => rows.filter((row) => kindOfEnd(row.it) === kind).length;
  at("counts").textContent = `${rows.length} of ${rowsOf.length} transfers: ${count("ok")} OK, `
    + `${count("failed")} failed, ${count("refused")} refusals, ${count("open")} without an end`;
  const pages = Math.max(Math.ceil(rows.length / PER_PAGE), 1);
  at("page").textContent = `Page ${page + 1} of ${pages}`;
  at("before").disabled = page === 0;
  at("after").disabled = page + 1 >= pages;
  const heads = COLUMNS.map(([name, , , isNumber], number) => {
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", () => {
      table.down = table.column === number && !table.down;
      table.column = number;
      filter();
      at("table").tHead.rows[0].cells[number].firstChild.focus();
    });
    const sorted = table.column !== number ? "none" : table.down ? "descending" : "ascending";
    return make("th", {
      scope: "col", "aria-sort": sorted, class: isNumber ? "number" : "",
    }, button);
  });
  at("table").tHead.rows[0].replaceChildren(...heads);
  const body = rows.slice(page * PER_PAGE, (page + 1) * PER_PAGE).map((row) => {
    const kind = kindOfEnd(row.it);
    const cells = COLUMNS.map(([, , shown, isNumber], number) => {
      const style = isNumber ? "number" : number === 7 ? "end" : "";
      if (number > 0) return make("td", style ? { class: style } : {}, shown(row));
      const button = make("button", {
        type: "button", "aria-label": `Swim-lane of transfer ${row.number}`,
      }, shown(row));
      button.addEventListener("click", () => swim(row.number, true));
      return make("td", { class: style }, button);
    });
    const chosen = row.number === table.chosen ? " chosen" : "";
    return make("tr", { class: kind + chosen, "data-transfer": row.number }, ...cells);
  });
  at("table").tBodies[0].replaceChildren(...body);
}

// ---- The swim-lane -----------------------------------------------------------------------------

// Everything about a transfer and its other end, in the order of time.
function steps(it) {
  const all = [];
  const ends = [it];
  if (it.other !== null) ends.push(data.transfers[it.other]);
  const frames = new Set();
  ends.forEach((end) => {
    end.lines.forEach(([when, line, order]) => all.push({
      when, order, unit: end.unit, words: text(line),
    }));
    if (end.cut !== null) {
      all.push({
        when: end.cut, order: Infinity, unit: end.unit, words: "its node ends", bad: true,
      });
    }
    end.frames.forEach((number) => frames.add(number));
  });
  frames.forEach((number) => {
    const frame = data.frames[number];
    const kind = text(frame.kind), fault = text(frame.fault);
    const more = fault ? ` (${fault})` : "";
    const common = { frame: number, kind };
    all.push({
      ...common, when: frame.sent[0], order: frame.sent[1], unit: frame.from, out: true,
      words: `sends ${kind}${more}`,
    });
    frame.arrived.forEach(([when, what, order]) => all.push({
      ...common, when, order, unit: frame.to,
      words: `${kind} arrives${text(what) ? ` (${text(what)})` : ""}`,
    }));
    if (frame.lost !== null) {
      // It leaves and is lost in one entry.
      all.push({
        ...common, when: frame.lost[0], order: frame.lost[1] + 0.5, unit: frame.to, lost: true,
        bad: true, words: `${kind} is lost`,
      });
    }
  });
  return all.sort((a, b) => a.when - b.when || a.order - b.order);
}

function swim(number, moves) {
  const row = rowsOf[number];
  if (!row) return;
  const it = row.it;
  const all = steps(it);
  const units = [it.unit];
  const other = it.other !== null ? data.transfers[it.other].unit : it.peer;
  if (other !== null && other !== it.unit) units.push(other);
  const A = 560, B = 710, STEP = 21, TOP = 44;
  const svg = draw("svg", {
    viewBox: `0 0 1270 ${TOP + all.length * STEP + 20}`, role: "img",
    "aria-label": `Swim-lane of transfer ${number}: ${all.length} steps, also below as a list`,
  });
  const laneOf = (unit) => (unit === it.unit ? A : B);
  const bottom = TOP + all.length * STEP + 4;
  units.forEach((unit) => {
    const lane = laneOf(unit);
    const role = unit === it.unit ? row.role : it.other !== null ? rowsOf[it.other].role : "";
    svg.append(draw("line", { class: "lane", x1: lane, x2: lane, y1: TOP - 12, y2: bottom }));
    svg.append(words(lane, 14, unitName(unit), { "text-anchor": "middle", "font-weight": "600" }));
    svg.append(words(lane, 28, role, { "text-anchor": "middle", class: "soft" }));
  });
  const sent = new Map();
  all.forEach((step, order) => {
    const y = TOP + order * STEP + 6;
    const lane = laneOf(step.unit);
    const end = step.words.startsWith("finalized");
    const style = step.bad || (end && !step.words.startsWith("finalized, OK")) ? "dot bad"
      : end ? "dot good" : "dot";
    svg.append(words(4, y + 4, `+${span(step.when - it.begun)}`, { class: "soft" }));
    if (step.out) sent.set(step.frame, y);
    if (step.frame !== undefined && !step.out && sent.has(step.frame)) {
      const from = laneOf(data.frames[step.frame].from);
      const start = sent.get(step.frame);
      const stop = step.lost ? (from + lane) / 2 : lane;
      svg.append(draw("line", {
        class: step.lost ? "wire lost" : "wire", x1: from, y1: start, x2: stop, y2: y,
      }));
      if (!step.lost) {
        const back = from < lane ? -7 : 7;
        svg.append(draw("polygon", {
          class: "head", points: `${stop},${y} ${stop + back},${y - 4} ${stop + back},${y + 4}`,
        }));
      }
      const [middle, height] = [(from + lane) / 2, (start + y) / 2 - 3];
      svg.append(words(middle, height, step.kind, { "text-anchor": "middle" }));
    }
    svg.append(draw("circle", { class: style, cx: lane, cy: y, r: 3.5 }));
    const left = step.unit === it.unit;
    const anchor = left ? "end" : "start";
    svg.append(words(left ? lane - 9 : lane + 9, y + 4, step.words, { "text-anchor": anchor }));
  });
  at("lanes").replaceChildren(svg);
  at("h-swim").textContent = `Swim-lane of transfer #${number}`;
  at("about-swim").textContent = `${row.role}, ${row.node} with ${row.peer}, `
    + `${it.bytes.toLocaleString("en")} bytes, begun at ${milliseconds(it.begun)} ms: ${row.end}`
    + (it.other !== null ? `. The other end is transfer #${it.other}.` : ".");
  at("steps").replaceChildren(...all.map((step) => make("li", {},
    `${milliseconds(step.when)} ms, ${unitName(step.unit)}: ${step.words}`)));
  at("as-list").hidden = false;
  at("swim-controls").hidden = false;
  table.chosen = number;
  document.querySelectorAll("tr.chosen").forEach((chosen) => chosen.classList.remove("chosen"));
  document.querySelector(`tr[data-transfer="${number}"]`)?.classList.add("chosen");
  history.replaceState(null, "", `#transfer-${number}`);
  if (moves) {
    at("h-swim").focus({ preventScroll: true });
    at("swim").scrollIntoView();
  }
}

// The transfer before or behind the one that is shown, among those that the table has.
function neighbour(step) {
  const place = table.rows.findIndex((row) => row.number === table.chosen);
  const next = table.rows[place + step];
  if (next) swim(next.number, false);
}

// ---- The page ----------------------------------------------------------------------------------

function drawAll() { [throughput, latency, states, faults, health].forEach((chart) => chart()); }

function setRange(from, to) {
  range.from = Math.max(from, 0);
  range.to = Math.max(Math.min(to, data.whole), range.from + 1000);
  at("from").value = range.from / 1e6;
  at("to").value = range.to / 1e6;
  drawAll();
  filter();
}

function begin() {
  document.title = `${data.ok ? "" : "FAILED: "}${data.command}`;
  at("outcome").textContent = data.ok ? "no rule was broken" : "FAILED";
  at("outcome").classList.add(data.ok ? "good" : "bad");
  at("command").textContent = data.command;
  at("broken").textContent = data.broken;
  at("broken").hidden = data.ok;
  at("left-out").textContent = `${data.left_out} entries had no room in the log: `
    + "the end of the run is not shown.";
  at("left-out").hidden = data.left_out === 0;
  at("figures").replaceChildren(...data.figures.map(({ name, label, value }) => make("div", {},
    make("dt", {}, label), make("dd", { "data-figure": name }, value))));
  at("printed").textContent = data.printed;
  select("role", [["", "all"], ...ROLES.filter((role) => rowsOf.some((row) => row.role === role))
    .map((role) => [role, role])]);
  select("end", [["", "all"], ["ok", "OK"], ["failed", "failed"], ["refused", "refusals"],
    ["open", "without an end"]]);
  const hosts = [...new Set(rowsOf.map((row) => hostOf(row.it.unit)))].sort((a, b) => a - b);
  select("node", [["", "all"], ...hosts.map((host) => [host, `node ${host}`])]);
  at("search").addEventListener("input", filter);
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("before").addEventListener("click", () => { table.page -= 1; show(); });
  at("after").addEventListener("click", () => { table.page += 1; show(); });
  at("swim-before").addEventListener("click", () => neighbour(-1));
  at("swim-after").addEventListener("click", () => neighbour(1));
  at("range").addEventListener("submit", (event) => {
    event.preventDefault();
    setRange(Number(at("from").value) * 1e6, Number(at("to").value) * 1e6);
  });
  at("whole").addEventListener("click", () => setRange(0, data.whole));
  at("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  setRange(0, data.whole);
  const asked = /^#transfer-(\d+)$/.exec(location.hash);
  if (asked) swim(Number(asked[1]), true);
}

begin();
