"""The page: sections of figures, each with what its paper says and what the comparison found."""

import html

STYLE = """
:root { color-scheme: light dark; --bg: #fff; --panel: #f7f8fa; --text: #1d2330; --muted: #667085; --line: #dfe3ea; }
@media (prefers-color-scheme: dark) { :root { --bg: #14171d; --panel: #1a1e26; --text: #e4e7ee; --muted: #8f98a8;
  --line: #2c323d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px 20px 60px; max-width: 1060px; background: var(--bg); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 25px; margin: 0 0 6px; } h2 { font-size: 19px; margin: 36px 0 8px; } h3 { font-size: 15px; margin: 0 0 6px; }
p { margin: 6px 0; max-width: 90ch; } blockquote { margin: 6px 0; padding-left: 10px; border-left: 3px solid var(--line);
  color: var(--muted); }
section { break-inside: avoid; padding: 12px 14px; margin: 12px 0; background: var(--panel);
  border: 1px solid var(--line); border-radius: 8px; }
svg { width: 100%; max-width: 920px; height: auto; display: block; } svg.chart { max-width: 500px; } svg text { fill: var(--muted); font-size: 11px; }
.grid { stroke: var(--line); fill: none; } .charts { display: grid; gap: 14px;
  grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); }
.key { font-size: 13px; color: var(--muted); } .key span { margin-right: 14px; } .key i { display: inline-block; width: 11px;
  height: 11px; border-radius: 3px; margin-right: 5px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { padding: 3px 14px 3px 0; text-align: right; border-bottom: 1px solid var(--line); } td:first-child, th:first-child
  { text-align: left; } .wide { overflow-x: auto; } img { width: 150px; image-rendering: pixelated; margin: 4px 10px 4px 0; }
.agrees { color: #0f8577; } .near { color: #b7791f; } .differs { color: #d33f49; } .quiet { color: var(--muted); font-size: 13px; }
@media print { body { max-width: none; padding: 0; } }
"""


def table(head, rows):
    cells = "".join(f"<th>{html.escape(str(each))}</th>" for each in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(each))}</td>" for each in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{cells}</tr>{body}</table></div>'


class Page:
    def __init__(self):
        self.parts = []
        self.counts = {"agrees": 0, "near": 0, "differs": 0}

    def chapter(self, title, words=""):
        self.parts.append(f"<h2>{html.escape(title)}</h2>" + (f"<p>{html.escape(words)}</p>" if words else ""))

    def figure(self, title, drawn, says="", found=(), notes=(), quiet=False):
        """`says`: the paper's text; `found`: (sentence, agrees|near|differs); `notes`: sentences."""
        out = [f"<section><h3>{html.escape(title)}</h3>"]
        if says:
            out.append(f"<blockquote>{html.escape(says)}</blockquote>")
        out.append("".join(drawn) if len(drawn) < 2 else '<div class="charts"><div>' + "</div><div>".join(drawn) + "</div></div>")
        for sentence, word in found:
            self.counts[word] += 1
            out.append(f'<p class="{word}">{html.escape(sentence)}</p>')
        out += [f"<p>{html.escape(each)}</p>" for each in notes]
        if quiet:
            out.append('<p class="quiet">Measured in real time: needs a machine that has nothing else to do.</p>')
        self.parts.append("".join(out) + "</section>")

    def unmeasured(self, title):
        self.missing(title, "it measures real time, and --virtual-only was given.")

    def missing(self, title, why):
        self.parts.append(f"<section><h3>{html.escape(title)}</h3><p>Not here: {html.escape(why)}</p></section>")

    def text(self, about):
        total = sum(self.counts.values())
        summary = (f"{total} comparisons with numbers and statements of the papers: {self.counts['agrees']} agree, "
                   f"{self.counts['near']} are within a factor of two, {self.counts['differs']} differ.")
        return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>The papers redone</title>'
                f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style><h1>The papers redone</h1>'
                f"<p>{html.escape(summary)}</p><p>{html.escape(about)}</p>" + "".join(self.parts) + "</html>\n")
