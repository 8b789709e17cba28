"""Figures of the page of papers, as SVG: lines over ranks, time lines, pictures, distributions."""

import base64
import html
import math
import re
import struct
import zlib

COLOURS = ("#1f6feb", "#d33f49", "#0f8577", "#b7791f", "#7c3aed", "#64748b")
WIDTH, HEIGHT = 460, 260
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 10, 34


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{html.escape(words)}</text>'


def number(value):
    """Three digits at most."""
    if value and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.0e}"
    return f"{value:.3g}"


def seconds(value):
    """Three digits and a unit."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if abs(value) >= size:
            break
    return f"{value / size:.3g} {unit}"


class Axis:
    """Logarithmic where the values ask for it, else from 0."""

    def __init__(self, values, start, length, logarithmic):
        self.low, self.high = min(values), max(values)
        self.logarithmic = logarithmic and self.low > 0
        if not self.logarithmic:
            self.low = min(0, self.low)
        if self.low == self.high:
            self.high = self.low * 2 if self.low > 0 else self.low + 1
        self.start, self.length = start, length

    def at(self, value):
        if self.logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * self.length

    def ticks(self):
        if self.logarithmic:
            found = [10.0**e for e in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)]
            found = [each for each in found if self.low * 0.999 <= each <= self.high * 1.001]
            if len(found) < 2:
                found = [lead * 10.0**e for e in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
                         for lead in (1, 2, 5)]
                found = [each for each in found if self.low * 0.999 <= each <= self.high * 1.001]
            return found if len(found) > 1 else [self.low, self.high]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 2))
        while (self.high - self.low) / step > 6:
            step *= 2
        return [self.low + i * step for i in range(int((self.high - self.low) / step * 1.0001) + 1)]


def lines(series, y_name, logarithmic=True, x_name="ranks", x_log=True, label=number):
    """`series`: (name, [(x, y), ...], dashed). Dashed ones are what the programs do."""
    points = [point for _, each, _ in series for point in each]
    if not points:
        return "<p>Nothing to draw.</p>"
    x = Axis([p[0] for p in points], LEFT, WIDTH - LEFT - RIGHT, x_log)
    y = Axis([p[1] for p in points], HEIGHT - BOTTOM, -(HEIGHT - TOP - BOTTOM), logarithmic)
    out = [f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">']
    for tick in y.ticks():
        out.append(f'<path class="grid" d="M{LEFT} {y.at(tick):.1f}H{WIDTH - RIGHT}"/>')
        out.append(text(LEFT - 6, y.at(tick) + 4, label(tick), "end"))
    for tick in sorted({p[0] for p in points}) if len({p[0] for p in points}) < 10 else x.ticks():
        out.append(text(x.at(tick), HEIGHT - BOTTOM + 16, number(tick)))
    out.append(text(LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 4, x_name))
    out.append(text(12, TOP + 60, y_name, "middle", f'transform="rotate(-90 12 {TOP + 60})"'))
    names = list(dict.fromkeys(name for name, _, _ in series))
    for name, each, dashed in series:
        colour = COLOURS[names.index(name) % len(COLOURS)]
        path = "L".join(f"{x.at(a):.1f} {y.at(b):.1f}" for a, b in sorted(each))
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"'
                   + (' stroke-dasharray="5 4"' if dashed else "") + "/>")
        out += [f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="2.6" fill="{colour}">'
                f"<title>{html.escape(name)}: {number(a)}, {label(b)}</title></circle>" for a, b in each]
    key = "".join(f'<span><i style="background:{COLOURS[i % len(COLOURS)]}"></i>{html.escape(name)}</span>'
                  for i, name in enumerate(names))
    return "".join(out) + f'</svg><p class="key">{key}</p>'


def histogram(values, name, bins=40):
    """Which share of the values lies where; the last bin has all beyond the 99th percentile."""
    values = sorted(values)
    if not values:
        return "<p>Nothing to draw.</p>"
    low, high = values[0], values[min(len(values) - 1, int(len(values) * 0.99))]
    width = (high - low) / bins or max(high, 1e-12) / bins
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int((value - low) / width))] += 1
    points = [(low + (i + 0.5) * width, count / len(values)) for i, count in enumerate(counts)]
    x = Axis([low, low + bins * width], LEFT, WIDTH - LEFT - RIGHT, False)
    x.low, x.high = low, low + bins * width
    y = Axis([0, max(share for _, share in points)], HEIGHT - BOTTOM, -(HEIGHT - TOP - BOTTOM), False)
    out = [f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">']
    for tick in y.ticks():
        out.append(f'<path class="grid" d="M{LEFT} {y.at(tick):.1f}H{WIDTH - RIGHT}"/>')
        out.append(text(LEFT - 6, y.at(tick) + 4, number(tick), "end"))
    for tick in (low, (low + x.high) / 2, x.high):
        out.append(text(min(max(x.at(tick), LEFT + 12), WIDTH - 30), HEIGHT - BOTTOM + 16, seconds(tick)))
    for centre, share in points:
        left = x.at(centre - width / 2)
        out.append(f'<rect x="{left:.1f}" y="{y.at(share):.1f}" width="{x.at(centre + width / 2) - left:.1f}" '
                   f'height="{HEIGHT - BOTTOM - y.at(share):.1f}" fill="{COLOURS[0]}"/>')
    out.append(text(LEFT + 180, HEIGHT - 4, name))
    return "".join(out) + "</svg>"


COMPUTING, WAITING = "#b7dcc4", "#f2c48d"


def kinds(drawn):
    """What the letters mean: by letter, name and colour. The text's last line tells: "# computing  c collective"."""
    out = {}
    last = [line for line in drawn.splitlines() if line.strip()][-1:]
    for entry in re.split(r"\s{2,}", last[0].strip() if last else ""):
        letter, _, name = entry.partition(" ")
        others = len(out.keys() - {"#", "."})
        out[letter] = name, {"#": COMPUTING, ".": WAITING}.get(letter, COLOURS[others % len(COLOURS)])
    return out


def timeline(drawn):
    """What `foretrace timeline` writes as text, in colours: a row a rank."""
    rows = []
    below = False  # the axis, and above what the letters mean
    for line in drawn.splitlines():
        name, _, rest = line.strip().partition(" ")
        if below and name:
            rows.append((name, rest))
        below = below and bool(name) or line.lstrip().startswith("|-")
    if not rows:
        return "<p>Nothing to draw.</p>"
    columns = max(len(row) for _, row in rows)
    height = 14 if len(rows) < 12 else 7
    scale = 880 / columns
    out = [f'<svg viewBox="0 0 920 {len(rows) * height + 4}" role="img">']
    known = kinds(drawn)
    for i, (name, row) in enumerate(rows):
        if height > 10 or i % 8 == 0 or name == "All":
            out.append(text(30, i * height + height - 1, name, "end", f'font-size="{min(11, height + 2)}"'))
        start = 0
        for end in range(1, len(row) + 1):
            if end < len(row) and row[end] == row[start]:
                continue
            kind = row[start]
            if kind != " ":
                colour = known.get(kind, ("", "#64748b"))[1]
                out.append(f'<rect x="{34 + start * scale:.1f}" y="{i * height}" width="{(end - start) * scale:.2f}" '
                           f'height="{height - 1}" fill="{colour}"/>')
            start = end
    key = "".join(f'<span><i style="background:{colour}"></i>{name}</span>'
                  for name, colour in known.values())
    first = next((line for line in drawn.splitlines() if "a column is" in line), "")
    return "".join(out) + f'</svg><p class="key">{key} {html.escape(first)}</p>'


def picture(pnm):
    """A PGM or PPM file as an image within the page."""
    parts, at = [], 0
    while len(parts) < 4:
        end = at
        while not pnm[end:end + 1].isspace():
            end += 1
        parts.append(pnm[at:end])
        at = end + 1
    kind, width, height = parts[0], int(parts[1]), int(parts[2])
    deep = 3 if kind == b"P6" else 1
    if kind not in (b"P5", b"P6"):
        values = [int(word) * 255 // max(1, int(parts[3])) for word in pnm[at:].split()]
        deep = 3 if kind == b"P3" else 1
        pixels = bytes(values)
    else:
        pixels = pnm[at:]
    row = width * deep
    raw = b"".join(b"\0" + pixels[i * row:(i + 1) * row] for i in range(height))

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2 if deep == 3 else 0, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
