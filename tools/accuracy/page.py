"""Rows to one self-contained HTML page: errors as dots by program and way, and the tables' figures.

Colours are those of all pages, src/views/draw/colours.css. Computes nothing.
"""

import html

import figures
from program_list import ROOT
from tables import NAMES, by_setting, cell, per_cent, seconds, ways_of

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 70rem;
  margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h2 { margin-top: 2.4rem; border-bottom: 1px solid var(--rule); }
p { max-width: 48rem; } .soft { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .8rem .22rem .2rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
tbody tr:nth-child(even) { background: var(--row); }
th:first-child, td:first-child { text-align: left; }
svg text { fill: currentColor; font-size: 12px; } svg .soft { fill: var(--soft); }
.key span { margin-right: 1.2em; white-space: nowrap; }
.key i { display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin-right: .35em; }
"""
COLOURS = dict(zip(figures.WAYS, ("c0", "c1", "c2", "c3", "c4", "c5", "accent", "soft", "bad"), strict=True))
WIDEST = 0.5  # errors beyond stand on the edge, as triangles
LEFT, WIDTH, PITCH = 190, 620, 22


def colour(way):
    return f"var(--{COLOURS[way]})"


def edge_of(group):
    """The error at the chart's edges: as wide as needed, within limits."""
    sizes = [abs(error) for row in group for error in row.errors.values()]
    return min(WIDEST, max([0.1, *sizes]) * 1.05)


def mark(way, error, x, y):
    told = f"<title>{NAMES[way]}: {per_cent(error, signed=True)}</title>"
    if abs(error) <= WIDEST:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour(way)}">{told}</circle>'
    side = 1 if error > 0 else -1
    return (f'<path d="M{x:.1f} {y - 5:.1f} l{7 * side} 5 l{-7 * side} 5 z" fill="{colour(way)}">{told}</path>')


def chart(setting, group):
    """One line a program: a bar from quartile to quartile of the real runs, a dot for each way."""
    group = [row for row in group if row.real]
    edge = edge_of(group)
    height = PITCH * len(group) + 30

    def x(error):
        return LEFT + WIDTH * (min(max(error, -edge), edge) / edge + 1) / 2

    parts = []
    for share in (-1, -0.5, 0, 0.5, 1):
        at = x(share * edge)
        parts.append(f'<line x1="{at:.1f}" y1="0" x2="{at:.1f}" y2="{height - 22}" stroke="var(--rule)"/>'
                     f'<text class="soft" x="{at:.1f}" y="{height - 6}" text-anchor="middle">'
                     f'{per_cent(share * edge, signed=True)}</text>')
    for number, row in enumerate(group):
        y = PITCH * (number + 0.5)
        left, right = (x(time / row.real.median - 1) for time in (row.real.first, row.real.third))
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{html.escape(row.program)}</text>'
                     f'<rect x="{left:.1f}" y="{y - 6:.1f}" width="{max(right - left, 1):.1f}" height="12" '
                     f'fill="var(--soft)" opacity="0.3"><title>{seconds(row.real.median)}, quartiles '
                     f'{seconds(row.real.first)} and {seconds(row.real.third)}</title></rect>')
        parts += [mark(way, error, x(error), y) for way, error in row.errors.items()]
    return (f'<svg viewBox="0 0 {LEFT + WIDTH + 40} {height}" width="{LEFT + WIDTH + 40}" role="img" '
            f'aria-label="errors by program and way, {html.escape(setting.title)}">{"".join(parts)}</svg>')


def key(ways):
    spans = "".join(f'<span><i style="background:{colour(way)}"></i>{NAMES[way]}</span>' for way in ways)
    return f'<p class="key">{spans}<span class="soft">grey: quartiles of the real runs</span></p>'


def table(head, rows):
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return (f'<div class="wide"><table><thead><tr>{"".join(f"<th>{text}</th>" for text in head)}</tr></thead>'
            f"<tbody>{lines}</tbody></table></div>")


def overview(rows):
    lines = []
    for setting, group in by_setting(rows):
        for way in ways_of(group):
            made = figures.summary(group, way)
            if made:
                lines.append([setting.title, NAMES[way], str(made.rows), per_cent(made.mean), per_cent(made.median),
                              per_cent(made.worst), made.program, per_cent(figures.scatter(group))])
    return table(["setting", "way", "rows", "mean", "median", "worst", "", "real runs' scatter"], lines)


def section(setting, group):
    ways = ways_of(group)
    lines = [[row.program, seconds(row.real.median) if row.real else "failed", *(cell(row, way) for way in ways)]
             for row in group]
    why = sorted({f"{row.program}, {way}: {text}" for row in group for way, text in row.failed.items()})
    failed = "".join(f"<li>{html.escape(line)}</li>" for line in why)
    return (f"<h2>{html.escape(setting.title)}</h2>{key(ways)}<div class='wide'>{chart(setting, group)}</div>"
            + table(["program", "real", *(NAMES[way] for way in ways)], lines)
            + (f"<p>What failed:</p><ul>{failed}</ul>" if failed else ""))


def render(rows, facts):
    """The page. `facts`: lines on the machine and the runs."""
    colours = (ROOT / "src/views/draw/colours.css").read_text()
    sections = "".join(section(setting, group) for setting, group in by_setting(rows))
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Foretrace: how good are the predictions?</title><style>{colours}{STYLE}</style></head><body><main>
<h1>How good are the predictions?</h1>
<p>{html.escape(" ".join(facts))}</p>
<p class="soft">An error is predicted / measured - 1, of the medians. A bar is where the middle half of the real runs lies: an
error within it says nothing.</p>
{overview(rows)}
{sections}
</main></body></html>
"""
