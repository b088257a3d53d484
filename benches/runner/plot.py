# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Bars as SVG, on a logarithmic scale. Light and dark pages are both served."""

import math

WIDTH, LEFT, RIGHT, BAR, GAP, TOP = 760, 210, 90, 13, 10, 46
COLOURS = ("#2f6fb2", "#8a8f98", "#c9762b", "#4c9a5b", "#9a5bb0", "#b04a5a")
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
    'font-family="sans-serif" font-size="12">\n<title>{title}</title>\n'
    "<style>text{{fill:#24292f}}line{{stroke:#d0d7de}}"
    "@media(prefers-color-scheme:dark){{text{{fill:#c9d1d9}}line{{stroke:#484f58}}}}</style>\n"
)


def _escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text(x, y, text, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_escape(text)}</text>'


def bars(title, unit, groups):
    """An SVG of `groups`: a label, and a figure for each name. None of them may be zero."""
    names = list(dict.fromkeys(name for _, figures in groups for name in figures))
    values = [value for _, figures in groups for value in figures.values()]
    low = 10 ** math.floor(math.log10(min(values)))
    high = 10 ** math.ceil(math.log10(max(values) * 1.01))

    def place(value):
        share = math.log(value / low) / math.log(high / low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    height = TOP + sum(len(figures) * BAR + GAP for _, figures in groups) + 24
    parts = [HEAD.format(width=WIDTH, height=height, title=_escape(title))]
    at = LEFT
    for name, colour in zip(names, COLOURS):
        parts.append(f'<rect x="{at}" y="12" width="10" height="10" fill="{colour}"/>')
        parts.append(_text(at + 14, 21, name))
        at += 30 + 7 * len(name)
    parts.append(_text(8, 21, unit))
    tick = low
    while tick <= high * 1.001:
        x = place(tick)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{height - 20}"/>')
        parts.append(_text(x, height - 6, f"{tick:,g}", "middle"))
        tick *= 10
    y = TOP
    for label, figures in groups:
        middle = y + len(figures) * BAR / 2 + 4
        parts.append(_text(LEFT - 8, middle, label, "end"))
        for name, value in figures.items():
            colour = COLOURS[names.index(name) % len(COLOURS)]
            wide = max(1.0, place(value) - LEFT)
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{wide:.1f}" height="{BAR - 2}" '
                         f'fill="{colour}"/>')
            parts.append(_text(LEFT + wide + 4, y + BAR - 3, f"{value:,.3g}"))
            y += BAR
        y += GAP
    return "\n".join(parts) + "\n</svg>\n"
