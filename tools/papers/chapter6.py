"""Chapter 6 of the thesis, and Demaine's paper: simulation, topologies, a real Ethernet of 10 Mbit/s."""

import statistics
import subprocess
import time

import draw
import judge
import page as pages
from workshop import SOURCE

SORTS = {"bubble": ("mergesort --algorithm bubble --size 10000", "bubble, 10,000"),
         "quick1": ("mergesort --algorithm quick --size 1000000", "quick, 1 million"),
         "quick2": ("mergesort --algorithm quick --size 2000000", "quick, 2 million")}
WORKSTATIONS = '[machine]\nname = "workstations"\nranks = 16\n[compute]\nstep = 1e-7\n'
ON = ("--compute annotated --loggps L=0,o=0,g=0,G=0 --network hops --block 1500 --collectives equation "
      "--topology '{shape}?latency=50us&bandwidth=1.25MB/s'")
TABLE1 = {"bubble sort, 20,000": "mergesort --algorithm bubble --size 20000",
          "quicksort, 400,000": "mergesort --algorithm quick --size 400000",
          "fan-in, 80": "cholesky --algorithm fan-in --size 80", "fan-out, 80": "cholesky --algorithm fan-out --size 80"}


def trees(shop, page, paper):
    times = {}
    for shape, ranks in (("tree:2,3", 8), ("fattree:2,3", 8), ("torus:4x4", 16), ("torus:2x2x4", 16), ("omega:16", 16)):
        goal = shop.folder / f"allreduce{ranks}.goal"
        goal.write_text(f"num_ranks {ranks}\nrank all {{ allreduce 1MB }}\n")
        trace = shop.trace("allreduce-" + shape.replace(":", "-").replace(",", "-"), "simulate", goal, "--network", "flow",
                           "--topology", f"{shape}?latency=1us&bandwidth=1GB/s", "--loggps", "o=0,g=0", "--collectives",
                           "allreduce=recursive_doubling")
        times[shape] = shop.report(trace)["time"], shop.drawn(trace)
    ratio = times["fattree:2,3"][0] / times["tree:2,3"][0]
    page.figure("Figures 6.5 to 6.10: an allreduce on trees, tori and an omega network (section 6.3.1)",
                [draw.timeline(times["tree:2,3"][1]), draw.timeline(times["fattree:2,3"][1]),
                 pages.table(["network", "time"], [[shape, draw.seconds(each)] for shape, (each, _) in times.items()])],
                paper["says"], [judge.compared("Fat tree over binary tree (1 MB, recursive doubling)", ratio, paper["ratio"], "")])


def taskfarm(shop, page, paper):
    for machine, title in (("cray-t3d", "Figure 6.16: the task farm on the T3D"),
                           ("sparc-ethernet", "Figure 6.18: the task farm on workstations")):
        trace = shop.live(f"farm-{machine}", 10, machine, "taskfarm --tasks 200 --mean-steps 700")
        workers = [rank for rank in shop.report(trace)["per_rank"] if 0 < rank["rank"] < 9]
        if machine == "cray-t3d":
            shares = [rank["mpi"] / rank["time"] for rank in workers]
            low, high = paper["share"]
            inside = low <= statistics.median(shares) <= high
            found = [(f"Communication takes {100 * min(shares):.0f} % to {100 * max(shares):.0f} % of the workers' time, in the "
                      f"text {100 * low:.0f} % to {100 * high:.0f} %: {'agrees' if inside else 'differs'}.",
                      "agrees" if inside else "differs")]
        else:
            factor = statistics.median(rank["mpi"] / rank["compute"] for rank in workers)
            found = [(f"Communication is {factor:.1f} times the computation of a worker (median), in the text over "
                      f"{paper['factor']} times.", "agrees" if factor > paper["factor"] else "differs")]
        page.figure(title + " (section 6.5.2)", [draw.timeline(shop.drawn(trace))], paper["says"], found)


def pingpong(shop, page, paper):
    """Real times of both: mpirun, and the simulator with the same program."""
    title = "Figures 6.13 and 6.14: a ping-pong under an MPI and on the simulator"
    if not shop.measures:
        return page.unmeasured(title)
    program = shop.folder / "patterns"
    if not program.exists():
        shop.run(f"mpicc.{shop.mpi}", "-O1", SOURCE / "bench/live/patterns.c", "-o", program)
    kept = shop.folder / "pingpong.txt"
    if not kept.exists():
        rows = []
        for ranks in (2, 4, 8, 16, 32):
            took = []
            launcher = [f"mpirun.{shop.mpi}", *(["--oversubscribe"] if shop.mpi == "openmpi" else []), "-n", ranks, program]
            simulated = [shop.tool, "simulate", "-n", ranks, "--machine", "cray-t3d", "--compute", "none", "--", program]
            for command in (launcher, simulated):
                start = time.perf_counter()
                shop.run(*command, "pingpong", 1000, 4)
                took.append(time.perf_counter() - start)
            rows.append(f"{ranks} {took[0]} {took[1]}\n")
        kept.write_text("".join(rows))
    rows = [list(map(float, line.split())) for line in kept.read_text().splitlines()]
    ratios = [real / simulated for _, real, simulated in rows]
    return page.figure(title, [draw.lines([("mpirun", [(n, real) for n, real, _ in rows], False),
                             ("simulated", [(n, each) for n, _, each in rows], False)], "real time", label=draw.seconds)],
                paper["says"], notes=[judge.spread("mpirun's real time over the simulator's (printed: 2 to 3)", ratios)], quiet=True)


def sorting(shop, page, printed):
    (shop.folder / "workstations.toml").write_text(WORKSTATIONS)
    programs = "".join(f'[programs.{name}]\ncommand = "{shop.programs}/{command}"\nranks = "{{p}}"\n'
                       for name, (command, _) in SORTS.items())
    rows = shop.study("sorting", f"""
zip = [["p", "dim"]]
[parameters]
p = [2, 4, 8, 16]
dim = [1, 2, 3, 4]
{programs}
[ways.hypercube]
kind = "simulate"
machine = "workstations.toml"
options = "{ON.replace('{shape}', 'hypercube:{dim}')}"
[ways.ring]
kind = "simulate"
programs = ["bubble"]
machine = "workstations.toml"
options = "{ON.replace('{shape}', 'ring:{p}')}"
""")
    speedups = {}
    for row in rows:
        speedups.setdefault((row["program"], row["way"]), {})[row["ranks"]] = row["speedup"]
    bubble, ring = speedups["bubble", "hypercube"], speedups["bubble", "ring"]
    sublinear = all(value <= p for each in speedups.values() for p, value in each.items())
    same = max(abs(speedups["quick1", "hypercube"][p] / value - 1) for p, value in speedups["quick2", "hypercube"].items())
    page.figure("Demaine, figure 4: simulated speed-ups of the sorting programs on a fully connected Ethernet of 10 Mbit/s",
                [draw.lines([(SORTS[name][1], sorted(each.items()), False) for (name, way), each in speedups.items()
                             if way == "hypercube"], "speed-up", logarithmic=False)], printed["demaine_figure4"]["says"],
                [("All speed-ups are sublinear." if sublinear else "A speed-up is superlinear.",
                  "agrees" if sublinear else "differs"),
                 (f"One and two million integers differ by at most {100 * same:.1f} %.", "agrees" if same < 0.1 else "differs")],
                ["Each rank's links are those that the pattern needs (a hypercube), as in the paper. Computation is in steps of "
                 "0.1 us: no RS/6000 is here."])
    found = [(f"Four processors: {bubble[4]:.4g} and {ring[4]:.4g}, different.", "agrees" if bubble[4] != ring[4] else "differs"),
             (f"Eight: {bubble[8]:.4g} and {ring[8]:.4g}, {100 * (bubble[8] / ring[8] - 1):.0f} % apart.",
              "agrees" if bubble[8] / ring[8] < 1.25 else "differs"),
             (f"Sixteen: {bubble[16]:.4g} and {ring[16]:.4g}, {100 * (bubble[16] / ring[16] - 1):.0f} % apart.",
              "agrees" if bubble[16] / ring[16] > 1.25 else "differs")]
    page.figure("Demaine, table 2: bubble-merge sort of 10,000 integers on two topologies", [pages.table(
        ["processors", "hypercube", "ring"], [[p, f"{bubble[p]:.4g}", f"{ring[p]:.4g}"] for p in sorted(bubble)])],
        printed["demaine_table2"]["says"], found)


def ethernet(shop, page, paper):
    """Table 1: real runs on hosts made of network namespaces, and the simulator with a recording."""
    title = "Demaine, table 1: actual and simulated times on an Ethernet of 10 Mbit/s"
    if not shop.measures:
        return page.unmeasured(title)
    testbed = [SOURCE / "tools/testbed", "--name", "papers"]
    check = subprocess.run([SOURCE / "tools/testbed", "check"], capture_output=True, text=True)
    if check.returncode != 0 or shop.mpi != "openmpi":
        return page.missing(title, "no network namespaces here: " + (check.stderr or check.stdout).strip()[-200:])
    net = shop.folder / "ethernet.toml"
    names = {(what, ranks): f"table1-{what.split(',')[0].replace(' ', '-')}-{ranks}" for what in TABLE1 for ranks in (2, 4)}
    if not net.exists() or not all((shop.folder / f"{name}-actual.ftr").exists() for name in names.values()):
        shop.run(*testbed, "up", "--shape", "star", "--hosts", 4, "--rate", "10mbit")
        try:
            net.write_text(shop.run(*testbed, "topology"))
            for (what, ranks), name in names.items():
                actual = shop.folder / f"{name}-actual.ftr"
                if not actual.exists():
                    shop.run(*testbed, "run", "-n", ranks, "--", shop.tool, "record", "--clock", "wall", "-o",
                             actual.with_suffix(".new.ftr"), "--", *shop.program(TABLE1[what]))
                    actual.with_suffix(".new.ftr").rename(actual)
        finally:
            shop.run(*testbed, "down")
    rows, ratios = [], []
    for (what, ranks), name in names.items():
        actual = shop.report(shop.folder / f"{name}-actual.ftr")["time"]
        recording = shop.trace(f"{name}-recording", "record", "-n", ranks, "--", *shop.program(TABLE1[what]))
        simulated = shop.report(shop.trace(f"{name}-simulated", "simulate", recording, "--network", "flow", "--topology",
                                           "ethernet.toml", "--loggps", "L=40us,o=20us,G=800ns,S=65536"))["time"]
        ratios.append(simulated / actual)
        rows.append([what, ranks, draw.seconds(actual), draw.seconds(simulated), f"{100 * (simulated / actual - 1):+.0f} %"])
    return page.figure(title, [pages.table(["program and size", "processors", "actual", "simulated", "error"], rows)], paper["says"],
                notes=[judge.spread("Simulated over actual", ratios),
                       "Sizes are smaller than the paper's, which are a million integers and matrices of 1,000 and 2,000: hosts "
                       "are network namespaces that share this machine's processors. The numbers of its table are lost."],
                quiet=True)


def chapter(shop, page, printed):
    page.chapter("Howell's thesis, chapter 6: simulation")
    for part, key in ((trees, "trees"), (pingpong, "pingpong"), (taskfarm, "taskfarm")):
        print(f"  {part.__name__}", flush=True)
        part(shop, page, printed[key])
    page.chapter("Demaine: a pseudo-parallel MPI environment")
    print("  sorting, ethernet", flush=True)
    ethernet(shop, page, printed["demaine_table1"])
    sorting(shop, page, printed)
    page.missing("Demaine, figures 1 to 3: raw data of Ethernet and FDDI", "foretrace measure draws such data for the machine at "
                 "hand (docs/measure.md); there is no FDDI here")
