#!/usr/bin/env python3
"""How many fresh launches' times lie within the intervals that a machine model states.

    coverage.py BUILD_DIR --mpi MPI --model M.toml [--sizes N] [--launches N] [--seed S]

Times as validate.py does, at sizes that were not measured. What is counted is each launch's own middle at each size, not the
middle over launches: between `--bound min` and `max` 95 % of them should lie. Status 1 where the share over all
functions is below 90 %.
"""

import argparse
import json
import pathlib
import sys

from launches import FUNCTIONS, SUMS, Samples, fresh, measured, percent, run
from validate import random_sizes

BAR = 0.90


def bounds(build, model, functions, sizes):
    """(function, bytes) -> the two ends of the interval for 2 ranks, by `foretrace calc`."""
    # Two sizes at least: for a single time calc prints an object and no array.
    asked = sorted({*sizes, 0, 1})
    rows = json.loads(run([build / "bin" / "foretrace", "calc", model, ",".join(functions), "--ranks", "2",
                           "--bytes", ",".join(map(str, asked)), "--json"]))
    return {(row["function"], row["bytes"]): (row["min"], row["max"]) for row in rows}


def shares(launches, told):
    """By function: (below, within, above) of all launches' times at all sizes."""
    counts = {}
    for launch in launches:
        for (function, size) in launch.blocks:
            if (function, size) not in told:
                continue
            low, high = told[function, size]
            seconds = launch.middle((function, size))
            where = 0 if seconds < low else 1 if seconds <= high else 2
            counts.setdefault(function, [0, 0, 0])[where] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--functions", type=lambda text: text.split(","), default=FUNCTIONS, metavar="NAME,...")
    parser.add_argument("--sizes", type=int, default=30)
    parser.add_argument("--launches", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    samples = Samples(arguments.model.with_suffix(".samples.csv"))
    plain = random_sizes(arguments.sizes, arguments.seed, samples.sizes)
    doubles = random_sizes(arguments.sizes, arguments.seed, samples.sizes, 8)
    points = [(f, s) for f in measured(arguments.functions) for s in (doubles if f in SUMS else plain)]
    launches = [fresh(arguments.build, arguments.mpi, points, 5, arguments.seed + i, "rounds",
                      samples.facts.get("buffers", "warm")) for i in range(arguments.launches)]
    told = bounds(arguments.build, arguments.model, arguments.functions, {size for _, size in points})
    counts = shares(launches, told)
    print(f"{arguments.mpi}, {arguments.sizes} sizes, {len(launches)} launches: share of their times within the intervals of 95 %")
    print(f"{'function':12} {'below':>8} {'within':>8} {'above':>8}")
    total = [0, 0, 0]
    for function in arguments.functions:
        of = counts.get(function, [0, 0, 0])
        print(f"{function:12} " + " ".join(f"{percent(n / max(sum(of), 1)):>8}" for n in of))
        total = [a + b for a, b in zip(total, of)]
    within = total[1] / max(sum(total), 1)
    print(f"{'all':12} {'':8} {percent(within):>8} (bar {percent(BAR)})")
    return 0 if within >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
