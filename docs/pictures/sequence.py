# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A sequence picture: lanes side by side, and rows of what happens between them."""

import re

from svg import LINE, MARGIN, PAD, SANS, Mistake, arrow, line, num, rect, statements, text, width

HEAD, ROW, GAP, APART, LANE = 44, 35, 124, 42, 58
ARROWS = {"->": "call", "-->": "back", "=>": "frame", "=x": "frame", "~>": "data"}
BARS = {"lent": "memory lent to the driver", "closed": "gate closed"}
LEGEND = {
    "call": "call", "back": "completion, report", "frame": "short message",
    "data": "payload moved by DMA",
}
ARROW = re.compile(r"(\w+) (->|-->|=>|=x|~>) (\w+): (.+)")
AT = re.compile(r"(state|note|stop) (\w+)(?: (\w+))?: (.+)")
BAR = re.compile(r"(begin|end) (\w+) (lent|closed)")


class Sequence:
    """A sequence: lanes side by side, and rows of what happens."""

    def __init__(self, source):
        self.title = self.about = ""
        self.lanes, self.groups, self.rows = {}, [], []
        for number, shared, words in statements(source):
            try:
                self.take(shared, words)
            except (KeyError, ValueError, IndexError) as why:
                raise Mistake(f"line {number}: {words}: {why}") from why
        if not (self.title and self.about and self.lanes):
            raise Mistake("a title, an about and lanes are needed")
        self.place()

    def take(self, shared, words):
        """One statement."""
        key, _, rest = words.partition(": ")
        if key == "title":
            self.title = rest
        elif key == "about":
            self.about = f"{self.about} {rest}".strip()
        elif key == "lane":
            name, title, under = (part.strip() for part in rest.split("|"))
            self.lanes[name] = [0, title, under]
        elif key == "group":
            first, last, title = (part.strip() for part in rest.split("|"))
            self.groups.append((self.lanes[first] and first, self.lanes[last] and last, title))
        else:
            item = self.item(words)
            if self.rows and (shared or item[0] in ("begin", "end")):
                self.rows[-1].append(item)
            else:
                self.rows.append([item])

    def item(self, words):
        """What happens: (kind, lane, lane, words)."""
        if words.startswith("wait: "):
            return "wait", *self.ends(), words.removeprefix("wait: ")
        for form in (ARROW, AT, BAR):
            found = form.fullmatch(words)
            if found and form is ARROW:
                self.known(found[1], found[3])
                return found[2], found[1], found[3], found[4]
            if found and form is AT:
                self.known(found[2], found[3] or found[2])
                return found[1], found[2], found[3] or found[2], found[4]
            if found:
                self.known(found[2])
                return found[1], found[2], found[3], ""
        raise ValueError("no statement")

    def ends(self):
        names = list(self.lanes)
        return names[0], names[-1]

    def known(self, *names):
        for name in names:
            self.lanes[name]

    def place(self):
        """The lanes' places: as far apart as their labels ask for."""
        names = list(self.lanes)
        gaps = [GAP + (APART if self.apart(a, b) else 0) for a, b in zip(names, names[1:])]
        wanted = []
        for row in self.rows:
            for kind, a, b, words in row:
                if kind in ARROWS and a != b:
                    wanted.append((*sorted((names.index(a), names.index(b))), width(words) + 26))
        for first, last, need in sorted(wanted, key=lambda it: it[1] - it[0]):
            short = need - sum(gaps[first:last])
            for i in range(first, last):
                gaps[i] += max(0, short) / (last - first)
        x = MARGIN + PAD + LANE + 4
        for i, name in enumerate(names):
            self.lanes[name][0] = round(x)
            x += gaps[i] if i < len(gaps) else 0

    def apart(self, left, right):
        """Whether a group ends or begins between two neighbours."""
        ends = any(last == left for _, last, _ in self.groups)
        return ends or any(first == right for first, _, _ in self.groups)

    def x(self, name):
        return self.lanes[name][0]

    def extent(self, item):
        """From where to where a row's item reaches."""
        kind, a, b, words = item
        if kind in ARROWS:
            return min(self.x(a), self.x(b)) + 6, max(self.x(a), self.x(b)) - 6
        half = width(words) / 2 + (PAD if kind != "note" else 2)
        middle = (self.x(a) + self.x(b)) / 2
        return middle - half, middle + half

    def draw(self):
        """The parts behind and before, the size."""
        wide = max(self.x(name) for name in self.lanes) + MARGIN + PAD + LANE + 4
        top = MARGIN + 30 + (24 if self.groups else 0)
        y, behind, before, bars, used = top + HEAD + 12, [], [], {}, set()
        for row in self.rows:
            spans = sorted(self.extent(item) for item in row if item[0] not in ("begin", "end"))
            for (_, end), (start, _) in zip(spans, spans[1:]):
                if start < end:
                    raise Mistake(f"overlap in: {row}")
            if spans and (spans[0][0] < MARGIN or spans[-1][1] > wide - MARGIN):
                raise Mistake(f"too wide: {row}")
            if spans:
                y += ROW + LINE * max(item[3].count("|") for item in row)
            for item in row:
                before += self.item_at(item, y, bars, behind, used)
        bottom = y + 30
        for (name, kind), start in bars.items():
            behind.append(rect(self.x(name) - 4, start, 8, bottom - start, kind, 3))
        lanes = [part for name in self.lanes for part in self.lane(name, top, bottom)]
        panels = []
        for first, last, title in self.groups:
            left, right = self.x(first) - LANE - 4 - PAD, self.x(last) + LANE + 4 + PAD
            panels.append(rect(left, MARGIN + 26, right - left, bottom - MARGIN - 18, "panel", 10))
            panels += text((left + right) / 2, MARGIN + 45, title, "muted")
        legend, low = self.legend(used, bottom + 28, wide)
        heading = list(text(MARGIN, MARGIN + 8, self.title, "name left"))
        return panels + heading + lanes + behind + before + legend, wide, low + 22

    def item_at(self, item, y, bars, behind, used):
        """One item of a row."""
        kind, a, b, words = item
        xa, xb = self.x(a), self.x(b if kind not in ("begin", "end") else a)
        middle = (xa + xb) / 2
        if kind in ARROWS:
            style_ = ARROWS[kind]
            used.add(style_)
            yield from arrow(xa, xb, y, style_, kind == "=x")
            word = f" word-{style_}" if style_ in ("frame", "data") else ""
            yield from self.gap(middle, y - 8, words, *item[1:3])
            yield from text(middle, y - 8, words, "over" + word)
        elif kind == "begin":
            bars[a, b] = y + 6
            used.add(b)
        elif kind == "end":
            start = bars.pop((a, b), None)
            if start is None:
                raise Mistake(f"ends and has not begun: {a} {b}")
            behind.append(rect(xa - 4, start, 8, y - start + 6, b, 3))
        elif kind == "wait":
            yield line(MARGIN + PAD, y - 4, middle - width(words) / 2 - 10, y - 4, "wait")
            yield line(middle + width(words) / 2 + 10, y - 4, self.x(b) + LANE + 4, y - 4, "wait")
            yield from self.gap(middle, y, words)
            yield from text(middle, y, words, "muted")
        elif kind == "note":
            yield from text(middle, y, words, "over muted")
        else:
            high = 22 + LINE * words.count("|")
            half = width(words) / 2 + PAD
            if kind == "stop":
                yield f'<path class="halt" d="M{num(middle - half)} {num(y - 7)}l9 9m0 -9l-9 9"/>'
                yield from text(middle + 8, y + 2, words, "over word-halt")
            else:
                yield rect(middle - half, y + 8 - high, 2 * half, high, "box", 11)
                yield from text(middle, y + 1, words)

    def gap(self, middle, y, words, *ends):
        """Gaps in the lanes and bars that a label crosses, but for the ends of its arrow."""
        high = 17 + LINE * words.count("|")
        for name, (x, _, _) in self.lanes.items():
            if name not in ends and abs(x - middle) < width(words) / 2 + 4:
                inside = any(self.x(first) <= x <= self.x(last) for first, last, _ in self.groups)
                yield rect(x - 5, y + 4 - high, 10, high, "panel" if inside else "bare", 0)

    def lane(self, name, top, bottom):
        """The head of a lane and its line."""
        x, title, under = self.lanes[name]
        if max(width(title) * 1.2, width(under)) > 2 * LANE:
            raise Mistake(f"too wide: {title} | {under}")
        yield line(x, top + HEAD, x, bottom, "lane")
        yield rect(x - LANE, top, 2 * LANE, HEAD, "box")
        yield from text(x, top + (19 if under else 27), title, "name")
        if under:
            yield from text(x, top + 35, under, "muted")

    def legend(self, used, y, wide):
        """What the lines and bars mean, as many as there are."""
        parts, x = [], MARGIN + PAD
        for kind, words in {**LEGEND, **BARS}.items():
            if kind not in used:
                continue
            need = 30 + len(words) * SANS + 22
            if x + need > wide:
                x, y = MARGIN + PAD, y + 20
            if kind in BARS:
                parts.append(rect(x + 10, y - 11, 8, 14, kind, 3))
            else:
                parts += arrow(x, x + 24, y - 4, kind)
            parts += text(x + 30, y, words, "left")
            x += need
        return parts, y
