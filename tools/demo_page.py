"""The page of tools/demo: plain results in, one self-contained HTML file out.

Computes nothing but sentences; draws with inline SVG and no script.
"""

import html
import math

MPI_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}

STYLE = """
:root { color-scheme: light dark; --background: #ffffff; --panel: #f7f8fa; --text: #1d2330;
  --muted: #667085; --line: #dfe3ea; --accent: #1f6feb; --compute: #b7dcc4; --mpi: #2f74d0;
  --wait: #f2c48d; --predict: #d33f49; --simulate: #0f8577; }
@media (prefers-color-scheme: dark) { :root { --background: #14171d; --panel: #1a1e26;
  --text: #e4e7ee; --muted: #8f98a8; --line: #2c323d; --accent: #6cb0ff; --compute: #3f7357;
  --mpi: #4c92ee; --wait: #8a6130; --predict: #ee6a70; --simulate: #2eb3a2; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 28px 20px 60px; max-width: 1120px; background: var(--background);
  color: var(--text); font: 15px/1.55 system-ui, sans-serif; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 40px 0 6px; }
h3 { font-size: 15px; margin: 26px 0 8px; }
p { margin: 6px 0; max-width: 78ch; } .muted, figcaption { color: var(--muted); }
a { color: var(--accent); }
code { font: 13px ui-monospace, monospace; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 12px 0; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 14px 5px 0; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { font-weight: 600; color: var(--muted); font-size: 13px; }
th.l, td.l { text-align: left; }
td.chart { padding-right: 0; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(245px, 1fr)); gap: 12px; }
figure { margin: 0; padding: 12px 14px; background: var(--panel); border: 1px solid var(--line);
  border-radius: 8px; display: flex; flex-direction: column; gap: 6px; }
figure b { font-size: 20px; font-variant-numeric: tabular-nums; }
figure svg { width: 100%; height: 96px; display: block; }
figcaption { font-size: 13px; line-height: 1.4; flex: 1; }
.key span { display: inline-flex; align-items: center; gap: 6px; margin-right: 18px; font-size: 13px; }
.key i { width: 12px; height: 12px; border-radius: 3px; display: inline-block; }
"""


def seconds(value):
    """Three digits and a unit."""
    if value <= 0:
        return "0 s"
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            break
    scaled = value / size
    digits = max(0, 2 - math.floor(math.log10(scaled))) if scaled > 0 else 0
    return f"{scaled:.{digits}f} {unit}"


def per_cent(share):
    return f"{100 * share:.0f} %" if share >= 0.0995 or share == 0 else f"{100 * share:.1f} %"


def largest_call(case):
    """The MPI function with the most time over all ranks, and its share."""
    total = sum(case["states"].values())
    calls = {name: value for name, value in case["states"].items() if name != "COMPUTE"}
    name = max(calls, key=calls.get)
    return name, calls[name] / total if total > 0 else 0


def sentence(case, smaller):
    """What a prediction says, from its own numbers. `smaller` is the same
    program and machine on fewer ranks, or None."""
    name, share = largest_call(case)
    if case["speedup"] < 1:
        text = f"Slower than one processor, which would need {seconds(case['serial_time'])}: "
        text += f"{name} takes {per_cent(share)} of all time."
    elif case["efficiency"] >= 0.75:
        text = f"Ranks compute {per_cent(case['efficiency'])} of the time; {name} takes {per_cent(share)}."
    elif case["load_balance"] < case["communication_efficiency"]:
        text = (f"The busiest rank computes {1 / case['load_balance']:.1f} times the mean; "
                f"the others are done early or wait.")
    else:
        in_mpi = 1 - case["states"].get("COMPUTE", 0) / sum(case["states"].values())
        text = f"Ranks spend {per_cent(in_mpi)} of their time in MPI; the largest part is {name}, {per_cent(share)}."
    if smaller:
        gain = smaller["time"] / case["time"]
        comparison = f"{gain:.1f} times as fast as" if gain >= 1.05 else (
            "no faster than" if gain > 0.95 else f"{1 / gain:.1f} times as slow as")
        text += f" {comparison.capitalize()} on {smaller['ranks']} ranks."
    return text


def ratio(row, kind):
    """Predicted / measured, or nothing where other work disturbed the measurement."""
    return f"{row[kind]['ratio']:.3f}" if row["measured"]["quiet"] else ""


def ratio_chart(row):
    """Times over the measured median, 0.8 to 1.2: the measured range as a bar,
    predictions as dots; beyond the edges they sit on the edge."""
    width, low, high = 260, 0.8, 1.2

    def x(ratio):
        return 6 + (min(max(ratio, low), high) - low) / (high - low) * (width - 12)

    measured = row["measured"]
    left, right = (x(measured[end] / measured["median"]) for end in ("least", "most"))
    parts = [f'<line x1="6" y1="12" x2="{width - 6}" y2="12" stroke="var(--line)"/>']
    for tick in (0.8, 0.9, 1.0, 1.1, 1.2):
        parts.append(f'<line x1="{x(tick):.1f}" y1="8" x2="{x(tick):.1f}" y2="16" stroke="var(--line)"/>')
    parts.append(f'<rect x="{left:.1f}" y="7" width="{max(right - left, 2):.1f}" height="10" rx="3" '
                 f'fill="var(--muted)" opacity="0.45"/>')
    for kind in ("predict", "simulate"):
        parts.append(f'<circle cx="{x(row[kind]["ratio"]):.1f}" cy="12" r="4.5" fill="var(--{kind})">'
                     f'<title>{kind}: {row[kind]["ratio"]:.3f}</title></circle>')
    label = f"measured range, predict {row['predict']['ratio']:.3f}, simulate {row['simulate']['ratio']:.3f}"
    return (f'<svg width="{width}" height="24" viewBox="0 0 {width} 24" role="img" '
            f'aria-label="{label}">{"".join(parts)}</svg>')


def rank_bars(case):
    """One bar a rank, as long as the rank's time: compute, MPI, waiting."""
    width, height = 300, 96
    ranks = case["per_rank"]
    pitch = height / len(ranks)
    scale = width / case["time"] if case["time"] > 0 else 0
    parts = []
    for number, rank in enumerate(ranks):
        x = 0.0
        for value, colour in ((rank["compute"], "compute"), (rank["mpi"] - rank["wait"], "mpi"),
                              (rank["wait"], "wait")):
            parts.append(f'<rect x="{x:.2f}" y="{number * pitch:.2f}" width="{value * scale:.2f}" '
                         f'height="{pitch * 0.82:.2f}" fill="var(--{colour})"/>')
            x += value * scale
    return (f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img" '
            f'aria-label="computing, in MPI and waiting, for each rank">{"".join(parts)}</svg>')


def key(entries):
    spans = "".join(f'<span><i style="background:var(--{colour})"></i>{text}</span>'
                    for colour, text in entries)
    return f'<p class="key">{spans}</p>'


def local_table(rows):
    lines = ['<div class="scroll"><table><tr><th class="l">program</th><th class="l">MPI</th>'
             '<th>measured</th><th>least - most</th><th>predict</th><th>ratio</th>'
             '<th>record, simulate</th><th>ratio</th><th class="l">0.8 &hellip; 1.2 of measured</th></tr>']
    for row in rows:
        measured = row["measured"]
        mark = "" if measured["quiet"] else "&nbsp;&dagger;"
        lines.append(
            f'<tr><td class="l"><code>{html.escape(row["program"])}</code></td>'
            f'<td class="l">{MPI_NAMES[row["mpi"]]}</td><td>{seconds(measured["median"])}{mark}</td>'
            f'<td>{seconds(measured["least"])} - {seconds(measured["most"])}</td>'
            f'<td>{seconds(row["predict"]["median"])}</td><td>{ratio(row, "predict")}</td>'
            f'<td>{seconds(row["simulate"]["median"])}</td><td>{ratio(row, "simulate")}</td>'
            f'<td class="l chart">{ratio_chart(row) if measured["quiet"] else ""}</td></tr>')
    lines.append("</table></div>")
    return "\n".join(lines)


def scatter(row):
    """How far a program's measured times lie apart, as a share of their median."""
    measured = row["measured"]
    return (measured["most"] - measured["least"]) / measured["median"]


def verdict(rows):
    """The typical and the worst error, and how far the runs themselves differ."""
    quiet = [row for row in rows if row["measured"]["quiet"]]
    busy = ""
    if len(quiet) < len(rows):
        busy = (f"<p><strong>The machine was busy with other work</strong> during the measured runs marked "
                f"&dagger;: {'they' if len(rows) - len(quiet) > 1 else 'it'} had to share the cores, so there "
                f"is no ratio: it would say nothing about the prediction. Run <code>make demo</code> again when nothing else runs.</p>")
    if not quiet:
        return busy
    text = []
    for kind, verb in (("predict", "<code>predict</code>"),
                       ("simulate", "<code>record</code> and <code>simulate</code>")):
        errors = sorted(abs(row[kind]["ratio"] - 1) for row in quiet)
        worst = max(quiet, key=lambda row: abs(row[kind]["ratio"] - 1))
        text.append(f"{verb}: off by {per_cent(errors[len(errors) // 2])} in the middle and "
                    f"{per_cent(errors[-1])} at worst ({worst['program']}, {MPI_NAMES[worst['mpi']]})")

    widest = max(quiet, key=scatter)
    return (f"<p>{'; '.join(text)}. The measured times of one program lie up to "
            f"{per_cent(scatter(widest))} apart ({widest['program']}, {MPI_NAMES[widest['mpi']]}): "
            f"an error within that spread says nothing.</p>{busy}")


def local_section(results):
    rows = results["this_machine"]
    sizes = "; ".join(f"<code>{r['program']} {r['arguments']}</code>" for r in rows if r["mpi"] == "openmpi")
    disturbed = sum(row["measured"]["disturbed"] for row in rows if row["measured"]["quiet"])
    dropped = ""
    if disturbed:
        dropped = (f" {disturbed} measured runs during which other work took more than a tenth of a core "
                   f"were repeated and are not counted.")
    return f"""<h2>Is it right? This machine, predicted and measured</h2>
<p>Foretrace measured this machine's MPI on two ranks (<code>foretrace measure --quick</code>) and predicted
four programs from that model alone: once with the program running in virtual time
(<code>predict</code>), once from a recording of its calls and CPU times (<code>record</code>, <code>simulate</code>).
And the same programs ran for real (<code>record --clock wall</code>). A ratio of 1 is a perfect prediction.</p>
{local_table(rows)}
{key((("muted", "least to most of the measured runs"), ("predict", "predict"), ("simulate", "record, simulate")))}
{verdict(rows)}
<p class="muted">Medians of {results['runs']} measured and {(results['runs'] + 1) // 2} predicted runs; every run is a launch
of its own.{dropped} {sizes}.</p>
"""


def card(case, smaller):
    return f"""<figure><span class="muted">{html.escape(case['machine'])}, {case['ranks']} ranks</span>
<span><b>{seconds(case['time'])}</b> &nbsp; speed-up {case['speedup']:.3g}</span>
{rank_bars(case)}
<figcaption>{html.escape(sentence(case, smaller))}</figcaption>
<a href="{html.escape(case['page'])}">time line</a></figure>"""


def remote_section(results):
    cases = results["predictions"]
    find = {(c["program"], c["file"], c["ranks"]): c for c in cases}
    ranks = sorted({c["ranks"] for c in cases})
    files = list(dict.fromkeys(c["file"] for c in cases))
    blocks = []
    for program in dict.fromkeys(c["program"] for c in cases):
        cards = []
        for file in files:
            for i, count in enumerate(ranks):
                smaller = find[program, file, ranks[i - 1]] if i else None
                cards.append(card(find[program, file, count], smaller))
        arguments = find[program, files[0], ranks[0]]["arguments"]
        blocks.append(f"<h3><code>{program} {arguments}</code></h3><div class='grid'>{''.join(cards)}</div>")
    return f"""<h2>What is it good for? The same programs on other machines</h2>
<p>The programs ran here, on {results['cores']} cores, once on {ranks[0]} and once on {ranks[-1]} ranks; the
recordings were then replayed on two machine models of 1996 that ship with Foretrace. Computation is counted by the
programs' own annotations, one microsecond a step. One bar is one rank, as
long as the rank's time, with the sums of what it did; the time line has them in their order.</p>
<p class="muted">The workstations' model was measured on 8 ranks: 32 ranks of it are an
extrapolation of its equations.</p>
{key((("compute", "computing"), ("mpi", "in MPI"), ("wait", "waiting for others")))}
{"".join(blocks)}
"""


def render(results):
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Foretrace: demonstration</title><style>{STYLE}</style></head><body>
<h1>Foretrace</h1>
<p class="muted">What an MPI program will do on a machine, before it runs there.
Made by <code>make demo</code> in {results['seconds']:.0f} s.</p>
{local_section(results)}
{remote_section(results)}
<h2>Go on</h2>
<p>The models that were measured here lie beside this page (<code>this-machine-*.toml</code>), the predicted
traces in <code>traces/</code>; look into one with <code>foretrace report</code>, set two side by side with <code>foretrace
compare</code>. <code>docs/tutorial.md</code> does the same with a program of your own.</p>
</body></html>
"""
