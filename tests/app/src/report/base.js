// SPDX-License-Identifier: MIT OR GPL-2.0-only
// What the page's scripts have in common: the data, elements, numbers in words.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const text = (number) => data.strings[number];
const unitName = (unit) => (data.units[unit] ? data.units[unit][1] : "unknown");
const hostOf = (unit) => (data.units[unit] ? data.units[unit][0] : unit);
const SVG = "http://www.w3.org/2000/svg";
const PER_PAGE = 25;
const WIDTH = 1000, LEFT = 235, RIGHT = 12;
const ROLES = ["send inline", "receive inline", "PUT, source", "PUT, sink", "GET, source",
  "GET, sink", "not sent"];
const ARRIVES = new Set(["receive inline", "PUT, sink", "GET, sink"]);
const SUBMITS = new Set(["send inline", "PUT, source", "GET, sink"]);

// When a transfer has ended, or was seen last.
const lastOf = (it) => it.ended ?? it.cut ?? (it.refused ? it.done : null) ?? data.whole;

// The part that is shown, in nanoseconds.
const range = { from: 0, to: Math.max(data.whole, 1) };

function make(name, attributes, ...children) {
  const it = document.createElement(name);
  Object.entries(attributes || {}).forEach(([key, value]) => it.setAttribute(key, value));
  it.append(...children);
  return it;
}
function draw(name, attributes, ...children) {
  const it = document.createElementNS(SVG, name);
  Object.entries(attributes || {}).forEach(([key, value]) => it.setAttribute(key, value));
  it.append(...children);
  return it;
}
function tip(words) { return draw("title", {}, words); }
function words(x, y, it, more) { return draw("text", { x, y, ...more }, it); }

function milliseconds(ns) {
  return (ns / 1e6).toLocaleString("en", { minimumFractionDigits: 6, maximumFractionDigits: 6 });
}
function span(ns) {
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toPrecision(4)} µs`;
  if (ns < 1e9) return `${(ns / 1e6).toPrecision(4)} ms`;
  return `${(ns / 1e9).toPrecision(4)} s`;
}
function rate(bytes) {
  const units = ["B/s", "KiB/s", "MiB/s", "GiB/s"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) { bytes /= 1024; unit += 1; }
  return `${bytes.toPrecision(3)} ${units[unit]}`;
}
