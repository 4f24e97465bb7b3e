# SPDX-License-Identifier: Apache-2.0
"""Spreads of several arms as one picture: a bar from the least to the 99th percentile of each, with the median marked."""
import math
from xml.sax.saxutils import escape

WIDTH, LEFT, ROW, TOP = 760, 190, 34, 56


def ticks(most):
    """1, 2 and 5 times powers of ten, on a logarithmic scale in milliseconds."""
    step, found = 0.1, []
    while step <= most:
        found += [step * factor for factor in (1, 2, 5) if step * factor <= most]
        step *= 10
    return found


def spreads(title, rows):
    """`rows`: {name: {"min", "p50", "p99"}} in milliseconds. Gives SVG text; its background is clear, its ink fits light and dark."""
    least = min(row["min"] for row in rows.values()) * 0.8
    most = max(row["p99"] for row in rows.values()) * 1.1

    def across(value):
        return LEFT + (WIDTH - LEFT - 20) * (math.log(value) - math.log(least)) / (math.log(most) - math.log(least))

    height = TOP + ROW * len(rows) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13" fill="#808080">',
           f"<title>{escape(title)}</title>", f'<text x="10" y="22" font-size="15">{escape(title)}</text>']
    for tick in (t for t in ticks(most) if t >= least):
        x = across(tick)
        out.append(f'<line x1="{x:.1f}" y1="{TOP - 14}" x2="{x:.1f}" y2="{height - 26}" stroke="#808080" stroke-opacity="0.25"/>')
        out.append(f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle" font-size="11">{tick:g} ms</text>')
    for number, (name, row) in enumerate(rows.items()):
        y = TOP + ROW * number
        colour = "#2a7de1" if name.startswith("cordon") else "#9a9a9a"
        out.append(f'<text x="{LEFT - 10}" y="{y + 5}" text-anchor="end">{escape(name)}</text>')
        out.append(f'<rect x="{across(row["min"]):.1f}" y="{y - 6}" width="{across(row["p99"]) - across(row["min"]):.1f}" height="12" rx="3" '
                   f'fill="{colour}" fill-opacity="0.45"/>')
        out.append(f'<rect x="{across(row["p50"]) - 2:.1f}" y="{y - 10}" width="4" height="20" fill="{colour}"/>')
        out.append(f'<text x="{across(row["p50"]) + 6:.1f}" y="{y - 9}" font-size="11">{row["p50"]:.2f}</text>')
    return "\n".join([*out, "</svg>", ""])
