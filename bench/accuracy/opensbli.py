#!/usr/bin/env python3
"""OpenSBLI's Taylor-Green vortex of 1024^3 points on ARCHER2, predicted from its published source's pattern.

    bench/accuracy/opensbli.py [--data FOLDER] [--tool FORETRACE] [--docs PAGE.md] [--keep FOLDER]

Prints the table of docs/accuracy.md: seconds an iteration at 256 to 4,096 ranks under two transports.

The pattern is read off the published source (github.com/hpc-uk/archer-benchmarks, apps/OpenSBLI: which
loop reads which array with which stencil) and off OPS, which exchanges the borders of what a loop reads
in one message for each side, dimension after dimension. It becomes a text program for each number of
ranks. The machine comes from the OSU collectives of the same machine, never from OpenSBLI's times:

  latency within a node    allreduce of 4 B on 128 ranks, over its 7 steps
  latency between nodes    what the same takes longer on 256 ranks, which is one step more
  rate within a node       alltoall of the largest size on 128 ranks: what each rank sends, halved, since
                           a rank exchanges with two at once and all share the memory
  rate of a node's links   alltoall of the largest size on 256 ranks: what leaves a node

Computation is memory traffic, counted from the same loops (8 B for each array read, 16 B for each
written). No published microbenchmark of that machine says how fast it is, so the table has three:
at the memory's nominal peak, which is a bound; and scaled from one run, that of OFI on 256 ranks, where
only the other nine rows say anything: with equal time for each point, and with the layer condition.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/accuracy"))
import tables  # noqa: E402

SIDE, HALO, STAGES, ITERATIONS = 1024, 2, 3, 2
RANKS_A_NODE = 128
# The profile's "% of nominal peak": 22.80 GB/s are 11.1 % of a socket's eight channels.
PEAK_A_NODE = 2 * 204.8e9
# 16 MiB for each four cores (AMD EPYC 7742). The usual layer condition lets planes stay in half of it.
CACHE_A_RANK = 2 ** 24 / 4
CACHE_SHARE = 0.5
TRANSPORTS = ("OFI", "UCX")
BEGIN, END = "<!-- opensbli.py writes from here -->\n", "<!-- to here, opensbli.py -->\n"

# Arrays read and written by the loops of one stage (written ones are read into the cache first): the
# primitive variables; nine derivatives; the residual; the two updates (what the second adds to counts as
# written). Then the one that saves, once.
READ_WRITTEN = [(5, 5)] + 9 * [(1, 1)] + [(19, 5), (10, 5), (5, 5)]
SAVED = (5, 5)
# Of the residual's 19, those that are read from five planes along the slowest dimension.
PLANES, ARRAYS_BY_PLANES = 5, 14
# Borders that are exchanged before loops: (dimension, arrays). The residual's come together.
EXCHANGES = [(2, 1), (1, 1), (0, 1), (1, 1), (0, 1), (1, 1), (0, 1), (2, 1), (2, 1), (0, 7), (1, 9), (2, 11)]
PERIODIC = 5  # arrays that go around the domain's ends


def doubles_a_stage(fits):
    """Moved to and from memory for each point."""
    total = sum(read + 2 * written for read, written in READ_WRITTEN)
    return total if fits else total + (PLANES - 1) * ARRAYS_BY_PLANES


def bytes_a_point(local, layers):
    """Of one iteration; `layers`: whether five planes of all those arrays stay in a rank's share of the cache."""
    fits = not layers or (PLANES - 1) * ARRAYS_BY_PLANES * local[0] * local[1] * 8 <= CACHE_SHARE * CACHE_A_RANK
    return 8 * (STAGES * doubles_a_stage(fits) + SAVED[0] + 2 * SAVED[1])


def border(local, dimension, arrays):
    """Bytes of a message to one side."""
    size = 8 * HALO * arrays
    for other in range(3):
        if other != dimension:
            size *= local[other] + 2 * HALO
    return size


def exchange(grid, dimension, size):
    """With both neighbours, not around the ends."""
    step = [grid[1] * grid[2], grid[2], 1][dimension]
    place = f"(me/{step})%{grid[dimension]}"
    lines = []
    for word, peer in (("send", "to"), ("recv", "from")):
        lines.append(f"{word} {size}b {peer} me+{step} if {place}<{grid[dimension] - 1}")
        lines.append(f"{word} {size}b {peer} me-{step} if {place}>0")
    return lines + ["wait"]


def around(grid, dimension, size):
    """From each end of the domain to the other, one way and then the other."""
    step = [grid[1] * grid[2], grid[2], 1][dimension]
    last = grid[dimension] - 1
    place, far = f"(me/{step})%{grid[dimension]}", step * last
    return [f"send {size}b to me+{far} if {place}==0", f"recv {size}b from me-{far} if {place}=={last}", "wait",
            f"send {size}b to me-{far} if {place}=={last}", f"recv {size}b from me+{far} if {place}==0", "wait"]


def program(grid):
    """The text program, without computation: all ranks compute the same, so that only adds."""
    local = [SIDE // side for side in grid]
    lines = [f"num_ranks {grid[0] * grid[1] * grid[2]}", f"rank all {{ repeat {ITERATIONS * STAGES} {{"]
    for dimension, arrays in EXCHANGES:
        lines += exchange(grid, dimension, border(local, dimension, arrays))
    for dimension in range(3):
        lines += around(grid, dimension, border(local, dimension, PERIODIC))
    return "\n".join(lines + ["} }", ""])


def sent_a_rank(grid):
    """Mean bytes of one iteration, for the check against the profile."""
    local = [SIDE // side for side in grid]
    inner = sum(2 * (grid[d] - 1) / grid[d] * border(local, d, arrays) for d, arrays in EXCHANGES)
    ends = sum(2 / grid[d] * border(local, d, PERIODIC) for d in range(3))
    return STAGES * (inner + ends)


def osu(data, transport, benchmark, nodes):
    """{size: seconds}."""
    path, = (data / "osu" / transport).glob(f"osu_{benchmark}_{nodes}nodes_*.dat")
    rows = re.findall(r"^(\d+)\s+([\d.]+)\s*$", path.read_text(), re.M)
    return {int(size): float(us) * 1e-6 for size, us in rows}


def topology(data, transport, nodes):
    """The machine's parameters, by the rules above, as a star of nodes."""
    step = [osu(data, transport, "allreduce", count)[4] for count in (1, 2)]
    inside, outside = (osu(data, transport, "alltoall", count) for count in (1, 2))
    size = max(inside)
    within = (RANKS_A_NODE - 1) * size / inside[size] / 2
    size = max(outside)
    link = RANKS_A_NODE * RANKS_A_NODE * size / outside[size]
    return (f"star:{nodes}?latency={(step[1] - step[0]) / 2 * 1e9:.0f}ns&bandwidth={link / 1e9:.3f}GB/s"
            f"&ranks_per_node={RANKS_A_NODE}&intra_latency={step[0] / 7 * 1e9:.0f}ns&intra_bandwidth={within / 1e9:.3f}GB/s")


def published(data, transport):
    """[(ranks, grid, seconds an iteration)]"""
    rows = []
    for path in (data / "opensbli" / transport).glob("*.out"):
        text = path.read_text()
        grid = tuple(map(int, re.search(r"processor grid of (\d+) x (\d+) x (\d+)", text).groups()))
        rows.append((grid[0] * grid[1] * grid[2], grid, float(re.search(r"1 iteration, ([\d.]+)", text)[1])))
    return sorted(rows)


def communication(tool, folder, grid, network):
    """Seconds of an iteration."""
    path = pathlib.Path(folder, f"opensbli-{'x'.join(map(str, grid))}.goal")
    path.write_text(program(grid))
    told = subprocess.run([tool, "simulate", path, "--network", "flow", "--topology", network], check=True,
                          capture_output=True, text=True).stdout
    return float(re.search(r"predicted time (\S+) s", told)[1]) / ITERATIONS


def traffic(grid, layers):
    """Seconds of an iteration's computation at the memory's peak."""
    nodes = grid[0] * grid[1] * grid[2] / RANKS_A_NODE
    return SIDE ** 3 * bytes_a_point([SIDE // side for side in grid], layers) / nodes / PEAK_A_NODE


def predict(cases, layers, scaled):
    """{(transport, ranks): seconds}; `scaled`: computation from the first case."""
    _, _, grid, real, moved = cases[0]
    factor = (real - moved) / traffic(grid, layers) if scaled else 1
    return {(transport, ranks): factor * traffic(grid, layers) + moved
            for transport, ranks, grid, _, moved in cases}


def rows(cases):
    ways = [predict(cases, False, False), predict(cases, False, True), predict(cases, True, True)]
    for case in cases:
        transport, ranks, _, real, moved = case
        cells = [f"{way[transport, ranks]:.3f} ({tables.per_cent(way[transport, ranks] / real - 1, signed=True)})"
                 for way in ways]
        if case is cases[0]:
            cells[1:] = ["given", "given"]
        yield f"| {transport} | {ranks:,} | {real:.3f} | {moved:.4f} | {' | '.join(cells)} |"


def signs(cases):
    """Which transport is faster, published and predicted."""
    real = {(transport, ranks): (time, moved) for transport, ranks, _, time, moved in cases}
    for ranks in sorted({ranks for _, ranks in real}):
        time, moved = (real["UCX", ranks][i] - real["OFI", ranks][i] for i in (0, 1))
        yield f"| {ranks:,} | {1e3 * time:+.1f} ms | {1e3 * moved:+.1f} ms | {'yes' if time * moved > 0 else 'no'} |"


def table(cases):
    lines = ["| transport | ranks | published, s | messages, s | at the memory's peak | from one run, equal points | "
             "from one run, layers |", "|---|---|---|---|---|---|---|", *rows(cases), "",
             "| ranks | UCX less OFI, published | predicted | same sign |", "|---|---|---|---|", *signs(cases)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("FORETRACE_DATA", ROOT.parent / "shared" / "data")))
    parser.add_argument("--tool", default=ROOT / "build/bin/foretrace")
    parser.add_argument("--docs", type=pathlib.Path, help="the page to write the table into")
    parser.add_argument("--keep", type=pathlib.Path, help="leave the text programs there")
    options = parser.parse_args()
    data = options.data / "archer2-osu"
    cases = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for transport in TRANSPORTS:
            print(f"{transport}: {topology(data, transport, 'N')}", file=sys.stderr)
            for ranks, grid, seconds in published(data, transport):
                network = topology(data, transport, ranks // RANKS_A_NODE)
                cases.append((transport, ranks, grid, seconds, communication(options.tool, folder, grid, network)))
                print(f"{transport}, {ranks} ranks: {sent_a_rank(grid) / 1e6:.2f} MB a rank and iteration",
                      file=sys.stderr, flush=True)
    text = table(cases)
    print(text, end="")
    if options.docs:
        page = options.docs.read_text()
        options.docs.write_text(tables.replace_between(page, text, (BEGIN, END)))


if __name__ == "__main__":
    main()
