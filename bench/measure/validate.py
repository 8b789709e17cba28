#!/usr/bin/env python3
"""How far a machine model is from fresh runs at message sizes that it has not seen.

    validate.py BUILD_DIR --mpi MPI [--model M.toml] [--measure=WORDS] [--load] [--json FILE]
    validate.py BUILD_DIR --compare A.toml B.toml

Draws random sizes between 1 B and 4 MiB, none of them in the samples, and times send, recv, pingpong, sendrecv,
bcast and allreduce at them on 2 ranks with plain loops (fresh.c), in several launches in the state that the model was
measured in. `--measure=` measures first, `--measure=--quick` with these words, and keeps the model if --model says
where. Prints by function the mean and the largest relative error of the model and of its baseline of twelve forms, and
how far one half of the fresh launches is from the other. Status 1 where a bar is missed: mean 4 %, largest 15 %.

--compare: how far two models of one machine are apart, over all functions and sizes; bar: 4 % in the median.
"""

import argparse
import json
import math
import os
import pathlib
import random
import shlex
import statistics
import sys
import tempfile
import tomllib

from launches import FUNCTIONS, SUMS, Samples, busy_core, fresh, measured, middles, percent, run, same_state

MEAN_BAR = 0.04
LARGEST_BAR = 0.15
APART_BAR = 0.04
MOST_BYTES = 4 << 20


def samples_of(model):
    """What lies beside the model; None: nothing."""
    path = model.with_suffix(".samples.csv")
    return Samples(path) if path.exists() else None


def random_sizes(count, seed, taken, multiple=1):
    """Evenly spread in the logarithm; for sums of doubles whole ones."""
    generator = random.Random(f"{seed} {multiple}")
    sizes = set()
    while len(sizes) < count:
        size = round(math.exp(generator.uniform(0, math.log(MOST_BYTES))))
        size = max(size // multiple, 1) * multiple
        # There are few small sizes, and nearly all of them are measured.
        if size not in taken and size not in sizes:
            sizes.add(size)
    return sorted(sizes)


def some_of(values, count):
    """`count` of them, evenly apart; all where there are fewer."""
    return values if len(values) <= count else [values[i * (len(values) - 1) // (count - 1)] for i in range(count)]


def calc(build, model, functions, sizes):
    """(function, bytes) -> seconds for 2 ranks, by `foretrace calc`."""
    # Two sizes at least: for a single time calc prints an object and no array.
    asked = sorted({*sizes, 0, 1})
    rows = json.loads(run([build / "bin" / "foretrace", "calc", model, ",".join(functions), "--ranks", "2",
                           "--bytes", ",".join(map(str, asked)), "--json"]))
    return {(row["function"], row["bytes"]): row["avg"] for row in rows}


def coefficient(regime, key):
    value = regime.get(key, 0)
    return value[0] if isinstance(value, list) else value


F = {"p": lambda p: p, "ln p": math.log, "p^2": lambda p: p * p}
G = {"d": lambda p, d: d, "p d": lambda p, d: p * d, "ln p d": lambda p, d: math.log(p) * d,
     "p^2 d": lambda p, d: p * p * d}
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def twelve_forms(model, regimes, size):
    """Seconds by the papers' form, for 2 ranks; a second reading of docs/machine-file.md."""
    d = size / model["machine"].get("element_bytes", 1)
    at = [r for r in regimes if r.get("bytes", [0])[0] <= size] or regimes[:1]
    regime = at[-1]
    value = coefficient(regime, "c")
    if "s" in regime:
        value += coefficient(regime, "s") * F[regime["f"]](2)
    if "k" in regime:
        value += coefficient(regime, "k") * G[regime["g"]](2, d)
    return max(value, 0) * UNITS[model["machine"].get("time_unit", "us")]


class Baseline:
    """The twelve forms that stand in the model beside its own equations; none: no figure."""

    def __init__(self, path):
        self.model = tomllib.loads(path.read_text())
        self.regimes = {f["name"]: f["baseline"] for f in self.model.get("function", []) if "baseline" in f}

    def seconds(self, function, size):
        regimes = self.regimes.get(function)
        return twelve_forms(self.model, regimes, size) if regimes else None


def relative(value, truth):
    return abs(value - truth) / truth


def spread(errors):
    """Mean, largest, and where; `errors` by size."""
    if not errors:
        return None
    worst = max(errors, key=errors.get)
    return {"mean": statistics.fmean(errors.values()), "max": errors[worst], "at": worst}


def judge(function, truth, halves, value_of):
    sizes = [size for name, size in truth if name == function]
    result = {}
    for which, value in value_of.items():
        errors = {s: relative(v, truth[function, s]) for s in sizes if (v := value(function, s)) is not None}
        result[which] = spread(errors)
    result["noise"] = spread({s: relative(halves[0][function, s], halves[1][function, s]) for s in sizes
                              if (function, s) in halves[0] and (function, s) in halves[1]})
    return result


def cell(figures):
    if figures is None:
        return f"{'-':>26}"
    return f"{percent(figures['mean']):>8} {percent(figures['max']):>8} {figures['at']:>8}"


def fresh_launches(arguments, points, bounce, buffers):
    """Launches in the state `bounce`, in ns."""
    launches = []
    other = 0
    while len(launches) < arguments.launches:
        launch = fresh(arguments.build, arguments.mpi, points, arguments.blocks,
                       arguments.seed + len(launches) + other, arguments.start, buffers)
        if same_state(launch.bounce, bounce):
            launches.append(launch)
            continue
        other += 1
        print(f"a launch in another state: {launch.bounce} ns for {bounce:.0f}; again", file=sys.stderr)
        if other > 2 * arguments.launches:
            raise SystemExit("the machine is not in the state that the model was measured in: measure again")
    return launches


def state(arguments):
    """The bounce of launches that measure next to nothing, ns."""
    return statistics.median(b for _ in range(3)
                             for b in fresh(arguments.build, arguments.mpi, [("send", 8)], 1, 1).bounce)


def measure(arguments, model):
    tool = arguments.build / "bin" / "foretrace"
    before = state(arguments)
    print(run([tool, "measure", "-n", "2", "--mpi", arguments.mpi, *shlex.split(arguments.measure), "-o", model]))
    after = state(arguments)
    if not same_state([before], after):
        raise SystemExit(f"the machine changed its state while it was measured: {before:.0f} to {after:.0f} ns")
    return after


def validate(arguments, model):
    bounce = arguments.bounce
    if arguments.measure is not None:
        bounce = measure(arguments, model)
    samples = samples_of(model)
    buffers = samples.facts.get("buffers", "warm") if samples else "warm"
    taken = samples.sizes if samples else set()
    wanted = measured(arguments.functions)
    sampled = samples.middles() if samples and arguments.at_samples else {}
    if arguments.at_samples:
        points = [(f, s) for f in wanted
                  for s in some_of(sorted(b for name, b in sampled if name == f and b > 0), arguments.sizes)]
    else:
        plain = random_sizes(arguments.sizes, arguments.seed, taken)
        doubles = random_sizes(arguments.sizes, arguments.seed, taken, 8)
        points = [(f, s) for f in wanted for s in (doubles if f in SUMS else plain)]
    launches = fresh_launches(arguments, points, bounce or state(arguments), buffers)
    truth = middles(launches)
    halves = middles(launches[0::2]), middles(launches[1::2])
    told = calc(arguments.build, model, arguments.functions, {size for _, size in truth})
    value_of = {"model": lambda f, s: told[f, s], "twelve forms": Baseline(model).seconds}
    if arguments.at_samples:
        value_of["twelve forms"] = lambda f, s: sampled.get((f, s))
    results = {f: judge(f, truth, halves, value_of) for f in arguments.functions}
    disturbed = sum(l.disturbed for l in launches) / max(sum(l.total for l in launches), 1)
    bounces = [b for l in launches for b in l.bounce]
    print(f"{arguments.mpi}, 2 ranks, {arguments.sizes} sizes, {len(launches)} launches, {buffers} buffers"
          f"{', one core busy' if arguments.load else ''}; bounce {min(bounces):.0f} to {max(bounces):.0f} ns, "
          f"load {os.getloadavg()[0]:.1f}, blocks disturbed {percent(disturbed)}")
    print(f"{'relative error':10}  {'mean':>4} {'largest':>8} {'at':>8}")
    second = "samples" if arguments.at_samples else "twelve forms"
    print(f"{'':10} {'model':>26} {second:>26} {'fresh against fresh':>26}")
    missed = []
    for function, result in results.items():
        print(f"{function:10} {cell(result['model'])} {cell(result['twelve forms'])} {cell(result['noise'])}")
        figures = result["model"]
        if figures is None or figures["mean"] > MEAN_BAR or figures["max"] > LARGEST_BAR:
            missed.append(function)
    if arguments.details:
        for (function, size), seconds in sorted(truth.items()):
            if function not in arguments.functions:
                continue
            print(f"{function:10} {size:8} fresh {seconds:.4g} model {told[function, size]:.4g}"
                  f" samples {sampled.get((function, size), 0):.4g} halves {halves[0].get((function, size), 0):.4g} {halves[1].get((function, size), 0):.4g}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"mpi": arguments.mpi, "results": results}, indent=1) + "\n")
    print(f"missed (mean {percent(MEAN_BAR)}, largest {percent(LARGEST_BAR)}): {', '.join(missed) or 'none'}")
    return 1 if missed else 0


def compare(arguments):
    """Both models at the same sizes, for every function that both have."""
    models = [tomllib.loads(path.read_text()) for path in arguments.compare]
    names = [{f["name"] for f in model["function"]} for model in models]
    sizes = random_sizes(arguments.sizes, arguments.seed, set())
    apart = {}
    common = sorted(names[0] & names[1])
    if not common:
        raise SystemExit("the models have no function in common")
    first, second = (calc(arguments.build, path, common, sizes) for path in arguments.compare)
    for function in common:
        pairs = [(first[function, s], second[function, s]) for s in sizes]
        apart[function] = [abs(a - b) / (0.5 * (a + b)) if a + b > 0 else 0.0 for a, b in pairs]
    print(f"{'apart':14} {'median':>8} {'largest':>8} {'at':>8}")
    for function, values in apart.items():
        worst = max(range(len(sizes)), key=values.__getitem__)
        print(f"{function:14} {percent(statistics.median(values)):>8} {percent(values[worst]):>8} {sizes[worst]:>8}")
    overall = statistics.median(v for values in apart.values() for v in values)
    print(f"median over {len(apart)} functions and {len(sizes)} sizes: {percent(overall)} (bar {percent(APART_BAR)})")
    return 1 if overall > APART_BAR else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--measure", metavar="WORDS", help="measure first; WORDS go to foretrace measure")
    parser.add_argument("--compare", type=pathlib.Path, nargs=2, metavar="M.toml")
    parser.add_argument("--functions", type=lambda text: text.split(","), default=FUNCTIONS, metavar="NAME,...")
    parser.add_argument("--sizes", type=int, default=30)
    parser.add_argument("--launches", type=int, default=24)
    parser.add_argument("--blocks", type=int, default=5, help="undisturbed blocks of each point and launch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-samples", action="store_true",
                        help="at sizes that were measured: what the samples themselves are off, and the fit")
    parser.add_argument("--start", choices=("rounds", "each"), default="rounds")
    parser.add_argument("--bounce", type=float, help="ns: the state that the model was measured in")
    parser.add_argument("--load", action="store_true", help="another process keeps one core busy all the time")
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.compare:
        return compare(arguments)
    if arguments.model is None and arguments.measure is None:
        parser.error("give --model M.toml, --measure=WORDS, or --compare A.toml B.toml")
    with tempfile.TemporaryDirectory() as scratch, busy_core(arguments.load):
        return validate(arguments, arguments.model or pathlib.Path(scratch) / "measured.toml")


if __name__ == "__main__":
    sys.exit(main())
