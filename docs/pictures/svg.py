# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The parts of a picture: text, lines and boxes, in the colours of two schemes."""

import html

MARGIN, LINE, PAD = 20, 16, 11
SANS, MONO = 6.9, 7.4  # px a character, of a wide font
# Light and dark: background, panel, box, border, text, muted, call, frame, data, lent, closed.
SCHEMES = {
    "light": (
        "#ffffff #f6f8fa #ffffff #d0d7de #1f2328 #59636e "
        "#1f2328 #0969da #1a7f37 #d4a72c #cf222e"
    ).split(),
    "dark": (
        "#0d1117 #151b23 #212830 #3d444d #f0f6fc #9198a1 "
        "#f0f6fc #4493f8 #3fb950 #bb8009 #f85149"
    ).split(),
}


class Mistake(Exception):
    """What is wrong with an input."""


def rules(colours):
    """The style of one scheme."""
    ground, panel, box, border, text, muted, call, frame, data, lent, closed = colours
    return (
        f".ground{{fill:{ground};stroke:{border}}}.bare{{fill:{ground}}}.panel{{fill:{panel}}}"
        f".box{{fill:{box};stroke:{border}}}.ours{{fill:{box};stroke:{frame};stroke-width:2}}"
        f".lane{{stroke:{border}}}text{{fill:{text}}}"
        f".over{{stroke:{panel}}}.muted{{fill:{muted}}}.wait{{stroke:{muted}}}"
        f".call,.back{{stroke:{call}}}.frame{{stroke:{frame}}}.data{{stroke:{data}}}"
        f".lost,.halt{{stroke:{closed}}}"
        f".tip-call,.tip-back{{fill:{call}}}.tip-frame{{fill:{frame}}}.tip-data{{fill:{data}}}"
        f".word-frame{{fill:{frame}}}.word-data{{fill:{data}}}.word-halt{{fill:{closed}}}"
        f".lent{{fill:{lent}}}.closed{{fill:{closed}}}"
    )


BASE = (
    'text{font:12px -apple-system,"Segoe UI",Helvetica,Arial,"DejaVu Sans",sans-serif;'
    "text-anchor:middle}"
    '.code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}'
    ".name{font-weight:600;font-size:13px}.left{text-anchor:start}.muted{font-style:italic}"
    "line,path{fill:none;stroke-width:1.5}.lane{stroke-width:1;stroke-dasharray:3 4}"
    ".back{stroke-dasharray:6 3}.frame{stroke-width:2}.data{stroke-width:5}"
    ".lost,.halt{stroke-width:2.5}.wait{stroke-dasharray:1 5;stroke-width:2}"
    ".over{stroke-width:4;stroke-linejoin:round;paint-order:stroke}"
)


def style(scheme):
    """Of one scheme, or of both by the reader's choice."""
    if scheme:
        return BASE + rules(SCHEMES[scheme])
    light, dark = rules(SCHEMES["light"]), rules(SCHEMES["dark"])
    return f"{BASE}{light}@media(prefers-color-scheme:dark){{{dark}}}"


def width(words):
    """Of the longest line, in px; `code` is wider."""
    def one(line):
        return sum(len(part) * (MONO if i % 2 else SANS) for i, part in enumerate(line.split("`")))
    return max(one(line) for line in words.split("|"))


def num(value):
    """A coordinate, the same on every machine."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def text(x, y, words, kind=""):
    """Lines of text, the last one at y; `code` in another font."""
    lines = words.split("|")
    for i, line in enumerate(lines):
        parts = [html.escape(part, quote=False) for part in line.strip().split("`")]
        parts[1::2] = [f'<tspan class="code">{part}</tspan>' for part in parts[1::2]]
        at = f'x="{num(x)}" y="{num(y - LINE * (len(lines) - 1 - i))}"'
        of_kind = f' class="{kind}"' if kind else ""
        yield f'<text {at}{of_kind}>{"".join(parts)}</text>'


def rect(x, y, w, h, kind, round_=6):
    return (f'<rect class="{kind}" x="{num(x)}" y="{num(y)}" width="{num(w)}" height="{num(h)}" '
            f'rx="{round_}"/>')


def line(x1, y1, x2, y2, kind):
    return f'<line class="{kind}" x1="{num(x1)}" y1="{num(y1)}" x2="{num(x2)}" y2="{num(y2)}"/>'


def arrow(x1, x2, y, kind, lost=False):
    """A horizontal arrow; one that is lost ends in a cross on its way."""
    way, tip = (1 if x2 > x1 else -1), (11 if kind == "data" else 8)
    if lost:
        x2 = x1 + (x2 - x1) * 0.62
        yield line(x1, y, x2, y, kind)
        yield f'<path class="lost" d="M{num(x2 - 6)} {num(y - 6)}l12 12m0 -12l-12 12"/>'
        return
    yield line(x1, y, x2 - way * tip, y, kind)
    back = num(x2 - way * (tip + 2))
    yield (f'<path class="tip-{kind}" style="stroke:none" '
           f'd="M{num(x2)} {num(y)}L{back} {num(y - tip / 1.6)}V{num(y + tip / 1.6)}Z"/>')


def statements(source):
    """Each line that is no comment: its number, whether it shares the row above, its words.

    A line that begins with `|` goes on with the one above."""
    found = []
    for number, words in enumerate(source.splitlines(), 1):
        words = words.split("# ")[0].strip() if words.startswith("#") else words.strip()
        if words.startswith("|") and found:
            found[-1][2] += words
        elif words and not words.startswith("#"):
            found.append([number, words.startswith("& "), words.removeprefix("& ")])
    return found
