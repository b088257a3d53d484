# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A picture of boxes on a grid, and of arrows between points of it."""

from svg import LINE, MARGIN, Mistake, arrow, line, num, rect, statements, text, width

CELL, ROW, GUTTER = 92, 26, 12


class Boxes:
    """Boxes on a grid, and arrows between points of it."""

    def __init__(self, source):
        self.title = self.about = ""
        self.parts, self.right, self.low = [], 0, 0
        for number, _, words in statements(source):
            try:
                self.take(words)
            except (KeyError, ValueError, IndexError) as why:
                raise Mistake(f"line {number}: {words}: {why}") from why
        if not (self.title and self.about):
            raise Mistake("a title and an about are needed")

    def take(self, words):
        """One statement."""
        key, _, rest = words.partition(": ")
        if key == "title":
            self.title = rest
        elif key == "about":
            self.about = f"{self.about} {rest}".strip()
        elif key in ("panel", "box", "ours", "label"):
            numbers, _, words = rest.partition(" | ")
            self.box(key, *(float(number) for number in numbers.split()), words)
        elif key in ("call", "back", "frame", "data"):
            numbers, _, words = rest.partition(" | ")
            self.arrow(key, *(float(number) for number in numbers.split()), words)
        else:
            raise ValueError("no statement")

    def box(self, key, column, row, columns, rows, words):
        x, y = MARGIN + column * CELL, MARGIN + row * ROW
        w, h = columns * CELL - GUTTER, rows * ROW - GUTTER
        self.right, self.low = max(self.right, x + w), max(self.low, y + h)
        if width(words) > w - 8:
            raise Mistake(f"too wide: {words}")
        if key != "label":
            self.parts.append(rect(x, y, w, h, key, 8))
        lines = words.split("|")
        if key == "panel":
            self.parts += text(x + w / 2, y + 19, words, "muted")
            return
        first = y + h / 2 - (len(lines) - 1) * LINE / 2 + 4
        for i, one in enumerate(lines):
            kind = "muted" if key == "label" else "name" if i == 0 else ""
            self.parts += text(x + w / 2, first + i * LINE, one, kind)

    def arrow(self, kind, column, row, column2, row2, words):
        x, y, x2, y2 = (
            MARGIN + column * CELL, MARGIN + row * ROW, MARGIN + column2 * CELL,
            MARGIN + row2 * ROW,
        )
        if y == y2:
            self.parts += arrow(x, x2, y, kind)
            self.parts += text((x + x2) / 2, y - 8, words, f"over word-{kind}") if words else []
            return
        way = 1 if y2 > y else -1
        self.parts.append(line(x, y, x2, y2 - way * 8, kind))
        self.parts.append(
            f'<path class="tip-{kind}" style="stroke:none" '
            f'd="M{num(x2)} {num(y2)}l-5 {-way * 10}h10Z"/>'
        )
        self.parts += text(x + 8, (y + y2) / 2 + 4, words, "over left") if words else []

    def draw(self):
        return self.parts, self.right + MARGIN, self.low + MARGIN
