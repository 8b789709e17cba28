"""Chapters 2 and 4 of the thesis: the programs measured here, the models beside the programs."""

import json

import draw
import judge

PICTURES = [("2.1", "mandel", "--iters 45", "pgm"), ("2.2", "randmat", "--rows 40 --cols 40", "pgm"),
            ("2.3", "half", "", "pgm"), ("2.4", "life", "--iters 20", "pgm"), ("2.5", "thresh", "--rows 60 --cols 60", "pgm"),
            ("2.6", "outer", "--size 60", "pgm"), ("2.8", "invperc", "", "pgm"), ("2.9", "norm", "--size 200", "pgm")]
MEASURED = {"mandel": "--rows 600 --cols 600 --iters 200", "randmat": "--rows 2000 --cols 2000", "half": "--rows 1200 --cols 1200",
            "life": "--rows 800 --cols 800", "thresh": "--rows 2000 --cols 2000", "outer": "--size 1500",
            "elastic": "--size 40", "invperc": "--rows 150 --cols 150", "product": "--size 2000",
            "sor": "--size 1000", "gauss": "--size 300", "norm": "--size 1000000",
            "winnow": "--rows 600 --cols 600", "vecdiff": "--size 2000000"}


def pictures(shop, page):
    shown = []
    for number, name, options, ending in PICTURES:
        path = shop.folder / f"picture-{name}.{ending}"
        if not path.exists():
            shop.foretrace("simulate", "-n", 2, "--machine", "cray-t3d", "--compute", "none", "--",
                           *shop.program(f"{name} {options} --image {path}"))
        shown.append(draw.picture(path.read_bytes()))
    page.figure("Figures 2.1 to 2.6, 2.8 and 2.9: what the programs make", ["".join(shown)],
                notes=["From left to right: " + ", ".join(f"{name} ({number})" for number, name, _, _ in PICTURES) + ". "
                       "Figure 2.7 (steps of the elastic net) has no option for a picture here; figure 2.10 is "
                       "foretrace compare, with the thesis's own example in docs/compare.md."])


def measured(shop, page):
    """Scaling on this machine, by programs that are run."""
    title = "Chapter 2: measured scaling of each program on this machine"
    if not shop.measures:
        return page.unmeasured(title)
    programs = "".join(f'[programs.{name}]\ncommand = "{shop.programs / name} {options}"\nranks = "{{p}}"\n'
                       for name, options in MEASURED.items())
    rows = shop.study("measured", f"[study]\nlaunches = [3, 6]\nquiet_seconds = 1\n[parameters]\np = [1, 2, 4]\n{programs}"
                                  "[ways.measured]\n")
    times = {name: sorted((row["ranks"], row["time"]) for row in rows if row["program"] == name) for name in MEASURED}
    charts = [draw.lines([(name, [(p, each[0][1] / time) for p, time in each], False) for name, each in part], "speed-up",
                         logarithmic=False) for part in (list(times.items())[i:i + 5] for i in (0, 5, 10))]
    two = {name: each[0][1] / each[1][1] for name, each in times.items()}
    return page.figure(title, charts,
                "The suite of real MPI programs used for evaluating the design techniques (section 2.6).",
                notes=[judge.spread("Speed-up at 2 ranks", list(two.values())),
                       f"Best {max(two, key=two.get)}, worst {min(two, key=two.get)}. This machine has "
                       f"{__import__('os').cpu_count()} processors: more ranks share them."], quiet=True)


def ranks_of(machine):
    return [1, 2, 4, 8, 16, 32] if machine == "cray-t3d" else [1, 2, 4, 8, 16]


def both(shop, name, program):
    """Times of the model and of the program, run live: {(way, machine, d): {p: time}}."""
    sizes = program["sizes"]
    at = f',{program["at"]}' if "at" in program else ""
    rows = shop.study(f"model-{name}", f"""
zip = [["d", "n"]]
[study]
where = "machine = 'cray-t3d' or p <= 16"
[parameters]
p = [1, 2, 4, 8, 16, 32]
d = {sizes}
n = {[d * 5 // 2 for d in sizes]}
machine = ["cray-t3d", "sparc-ethernet"]
[programs.{name}]
command = "{shop.programs}/{program['command']}"
ranks = "{{p}}"
[ways.model]
file = "{name}"
machine = "{{machine}}"
at = "p={{p}},d={{d}},c={program['c']}{at}"
[ways.live]
machine = "{{machine}}"
options = "--compute annotated:{program['c']}"
""")
    out = {}
    for row in rows:
        d = row.get("d")
        d = sizes[[each * 5 // 2 for each in sizes].index(row["n"])] if d is None else d
        out.setdefault((row["way"], row["machine"], d), {})[row["ranks"]] = row["time"]
    return out


def model_alone(shop, figure, program, d, c, at=""):
    more = "".join(f",{each}" for each in (program.get("at", ""), at) if each)
    told = shop.foretrace("model", figure["program"], "--machine", figure["machine"], "--at", f"d={d},c={c}{more}", "--sweep",
                          "p=" + ",".join(map(str, ranks_of(figure["machine"]))), "--json")
    return {point["at"]["p"]: point["total"]["avg"] for point in json.loads(told)}


def curve(draw_what, times):
    one = times[min(times)]
    return [(p, one / time if draw_what == "speed-up" else time) for p, time in sorted(times.items())]


def figure(shop, page, entry, program, results):
    """One of the figures 4.8 to 4.43: lines of the model and dashed of the program, each size a colour."""
    sizes, machine = program["sizes"], entry["machine"]
    series = []
    if "steps" in entry:
        series = [(f"step {c}", curve(entry["draw"], model_alone(shop, entry, program, sizes[-1], c)), False)
                  for c in entry["steps"]]
        series.append(("program, step " + program["c"], curve(entry["draw"], results["live", machine, sizes[-1]]), True))
    else:
        for d in sizes:
            series.append((f"d = {d}", curve(entry["draw"], results["model", machine, d]), False))
            series.append((f"d = {d}", curve(entry["draw"], results["live", machine, d]), True))
    found = []
    for claim in entry.get("claims", []):
        d = sizes[0] if claim.get("of") == "least" else sizes[-1]
        c = claim.get("c", program["c"])
        words, verdict = judge.shape(claim["claim"], model_alone(shop, entry, program, d, c, claim.get("at", "")),
                                     claim.get("value"))
        more = f", {claim['at']}" if "at" in claim else ""
        found.append((f"Model at d = {d}, step {c}{more}: {words}", verdict))
    ratios = {d: [results["model", machine, d][p] / time for p, time in results["live", machine, d].items()] for d in sizes}
    notes = [f"The model's time, divided by the program's in a simulated run: {min(ratios[d]):.3g} to {max(ratios[d]):.3g} "
             f"for d = {d}." for d in (sizes[0], sizes[-1])]
    what = "speed-up" if entry["draw"] == "speed-up" else "time"
    page.figure(f"Figure {entry['number']}: {entry['program']}, {what}, "
                f"{'Cray T3D' if machine == 'cray-t3d' else 'workstations'} (section {entry['section']})",
                [draw.lines(series, what, label=draw.seconds if what == "time" else draw.number)], entry["says"], found, notes)


def chapter(shop, page, printed):
    page.chapter("Howell's thesis, chapter 2: the programs")
    pictures(shop, page)
    measured(shop, page)
    page.chapter("Howell's thesis, chapter 4: analytical models",
                 "Lines: the model of the thesis on its machine. Dashed: the program itself, run on the simulator for that "
                 "machine. (The measurements of 1996 are lost with the figures; where the text tells their shape, it stands "
                 "above each comparison.) The sizes are ours, as the thesis's are not printed: what slows down at its sizes may "
                 "speed up at the largest one here. The model leaves out the broadcast of the arguments and the gathering of "
                 "results.")
    page.missing("Figures 4.1 to 4.7: mandel with assumed times", "the matrix size and the number of iterations are not "
                 "printed, so the minimum at 70 processors (figure 4.6) cannot be computed. Figure 4.37 is a drawing.")
    results = {}
    for entry in printed["figure"]:
        name = entry["program"]
        if name not in results:
            print(f"  {name}", flush=True)
            results[name] = both(shop, name, printed["programs"][name])
        figure(shop, page, entry, printed["programs"][name], results[name])
