#!/usr/bin/env python3
"""How far a machine model is from fresh runs at message sizes that it has not seen.

    validate.py BUILD_DIR --mpi MPI [--measure=WORDS | --model M.toml] [--under WORDS] [--load] [--json FILE]
    validate.py BUILD_DIR --compare A.toml B.toml
    validate.py BUILD_DIR --mpi MPI --twice=WORDS

Draws random sizes between 1 B and 4 MiB, none of them in the samples, and times send, recv, pingpong, sendrecv,
bcast and allreduce at them on 2 ranks with plain loops (fresh.c), in many launches in the state that the model was
measured in. `--measure=`, `--measure=--quick` measures first, with these words; after each of its launches some fresh
ones follow, because a minute later the machine may be another. --model says where the model stays, or which one
to judge. `--under "chrt -r 5"`: these words before mpirun, and before the load of `--load`. Prints by function the mean and the largest
relative error of the model and of its baseline of twelve forms, how far one half of the fresh launches is from the other
and how wide the 95 % interval of their middle is (half of it), and how many of the single launches' times lie within the
model's intervals of 95 %. Status 1 where a bar is missed: mean 4 %, largest 15 %, 90 % of all times within.

--compare: how far two models of one machine are apart, over all functions and sizes; bar: 4 % in the median. --twice
measures them first, one after the other.
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

from launches import (FUNCTIONS, SUMS, Launch, Samples, busy_core, by_launch, fresh, half_width, launcher, measured,
                      middles, percent, run, same_state)

MEAN_BAR = 0.04
LARGEST_BAR = 0.15
APART_BAR = 0.04
WITHIN_BAR = 0.90
MOST_BYTES = 4 << 20


def samples_of(model):
    """What lies beside the model; None: nothing."""
    path = model.with_suffix(".samples.csv")
    return Samples(path) if path.exists() else None


def random_sizes(count, seed, taken, multiple=1):
    """Evenly spread in the logarithm, in the order in which they were drawn; for sums of doubles whole ones."""
    generator = random.Random(f"{seed} {multiple}")
    sizes = []
    while len(sizes) < count:
        size = round(math.exp(generator.uniform(0, math.log(MOST_BYTES))))
        size = max(size // multiple, 1) * multiple
        # There are few small sizes, and nearly all of them are measured.
        if size not in taken and size not in sizes:
            sizes.append(size)
    return sizes


def some_of(values, count):
    """`count` of them, evenly apart; all where there are fewer."""
    return values if len(values) <= count else [values[i * (len(values) - 1) // (count - 1)] for i in range(count)]


def calc(build, model, functions, sizes):
    """(function, bytes) -> seconds for 2 ranks (avg, min, max), by `foretrace calc`."""
    # Two sizes at least: for a single time calc prints an object and no array.
    asked = sorted({*sizes, 0, 1})
    rows = json.loads(run([build / "bin" / "foretrace", "calc", model, ",".join(functions), "--ranks", "2",
                           "--bytes", ",".join(map(str, asked)), "--json"]))
    return {(row["function"], row["bytes"]): row for row in rows}


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


def shares(launches, told):
    """By function: how many of all launches' times at all sizes are (below, within, above) the model's intervals."""
    counts = {}
    for launch in launches:
        for point in launch.blocks:
            if point not in told:
                continue
            seconds = launch.middle(point)
            where = 0 if seconds < told[point]["min"] else 1 if seconds <= told[point]["max"] else 2
            counts.setdefault(point[0], [0, 0, 0])[where] += 1
    return counts


def judge(function, truth, launches, value_of):
    sizes = [size for name, size in truth if name == function]
    result = {}
    for which, value in value_of.items():
        errors = {s: relative(v, truth[function, s]) for s in sizes if (v := value(function, s)) is not None}
        result[which] = spread(errors)
    halves = middles(launches[0::2]), middles(launches[1::2])
    result["noise"] = spread({s: relative(halves[0][function, s], halves[1][function, s]) for s in sizes
                              if (function, s) in halves[0] and (function, s) in halves[1]})
    values = by_launch(launches)
    result["width"] = spread({s: half_width(values[function, s]) for s in sizes})
    return result


def cell(figures):
    if figures is None:
        return f"{'-':>24}"
    return f"{percent(figures['mean']):>7} {percent(figures['max']):>7} {figures['at']:>8}"


def fresh_launches(arguments, points, bounce, buffers):
    """Launches in the state `bounce`, in ns."""
    launches = []
    other = 0
    while len(launches) < arguments.launches:
        launch = fresh(arguments.build, arguments.mpi, points, arguments.blocks,
                       arguments.seed + len(launches) + other, arguments.start, buffers, arguments.under)
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
    return statistics.median(b for _ in range(3) for b in fresh(
        arguments.build, arguments.mpi, [("send", 8)], 1, 1, under=arguments.under).bounce)


def measure(arguments, words, model, launch):
    """Runs `foretrace measure` with the words; its ranks are started by `launch`."""
    tool = arguments.build / "bin" / "foretrace"
    print(run([tool, "measure", "-n", "2", "--mpi", arguments.mpi, *shlex.split(words),
               "--launch", shlex.join(map(str, launch)), "-o", model], limit=7200), flush=True)


def in_used_state(launches, used):
    """Of `launches`, by number of the launch that they followed, those in the state of the ones that followed one
    in `used`."""
    bounce = statistics.median(b for number in used for launch in launches[number] for b in launch.bounce)
    return [launch for number in sorted(launches) for launch in launches[number] if same_state(launch.bounce, bounce)]


def measure_in_turn(arguments, model, points, folder):
    """Measures; the fresh launches between the tool's own that found the machine in the same state."""
    plan = {"build": str(arguments.build), "mpi": arguments.mpi, "under": arguments.under, "points": points,
            "blocks": arguments.blocks, "seed": arguments.seed, "start": arguments.start, "folder": str(folder),
            "buffers": "cold" if "cold" in shlex.split(arguments.measure) else "warm", "launches": arguments.each}
    (folder / "plan.json").write_text(json.dumps(plan))
    between = pathlib.Path(__file__).resolve().with_name("between.py")
    measure(arguments, arguments.measure, model, [sys.executable, between, folder / "plan.json"])
    launches = {}
    for path in sorted(folder.glob("*.*.txt")):
        launches.setdefault(path.name.split(".")[0], []).append(Launch(path.read_text()))
    samples = samples_of(model)
    return in_used_state(launches, [number for number in launches if samples.used(number)])


def points_at(functions, plain, doubles):
    return [(f, s) for f in measured(functions) for s in (doubles if f in SUMS else plain)]


def only(launches, points):
    """The launches' blocks at these points; recv's are at send's."""
    wanted = set(points) | {("recv", size) for function, size in points if function == "send"}
    for launch in launches:
        launch.blocks = {point: blocks for point, blocks in launch.blocks.items() if point in wanted}
    return launches


def new_sizes(arguments, taken, candidates=None):
    """Plain ones and whole doubles that no sample has; of the candidates, where there are any."""
    if candidates is None:
        return [random_sizes(arguments.sizes, arguments.seed, taken, multiple) for multiple in (1, 8)]
    return [[s for s in sizes if s not in taken][:arguments.sizes] for sizes in candidates]


def validate(arguments, model, folder):
    sampled = {}
    if arguments.measure is not None:
        # Which sizes will be measured is not known yet: enough for some to fall away.
        candidates = [random_sizes(2 * arguments.sizes, arguments.seed, set(), multiple) for multiple in (1, 8)]
        launches = measure_in_turn(arguments, model, points_at(arguments.functions, *candidates), folder)
        sizes = new_sizes(arguments, samples_of(model).sizes, candidates)
        launches = only(launches, points_at(arguments.functions, *sizes))
    else:
        samples = samples_of(model)
        points = points_at(arguments.functions, *new_sizes(arguments, samples.sizes if samples else set()))
        if arguments.at_samples:
            sampled = samples.middles()
            points = [(f, s) for f in measured(arguments.functions) for s in
                      some_of(sorted(b for name, b in sampled if name == f and b > 0), arguments.sizes)]
        launches = fresh_launches(arguments, points, arguments.bounce or state(arguments),
                                  samples.facts.get("buffers", "warm") if samples else "warm")
    return report(arguments, model, launches, sampled)


def report(arguments, model, launches, sampled):
    truth = middles(launches)
    told = calc(arguments.build, model, arguments.functions, {size for _, size in truth})
    value_of = {"model": lambda f, s: told[f, s]["avg"], "twelve forms": Baseline(model).seconds}
    if arguments.at_samples:
        value_of["twelve forms"] = lambda f, s: sampled.get((f, s))
    results = {f: judge(f, truth, launches, value_of) for f in arguments.functions}
    counts = shares(launches, told)
    disturbed = sum(l.disturbed for l in launches) / max(sum(l.total for l in launches), 1)
    bounces = [b for l in launches for b in l.bounce]
    print(f"{arguments.mpi}, 2 ranks, {arguments.sizes} sizes, {len(launches)} fresh launches"
          f"{', one core busy' if arguments.load else ''}; bounce {min(bounces):.0f} to {max(bounces):.0f} ns, "
          f"load {os.getloadavg()[0]:.1f}, blocks disturbed {percent(disturbed)}")
    second = "samples" if arguments.at_samples else "twelve forms"
    print("relative error: mean, largest, at")
    print(f"{'':10} {'model':>24} {second:>24} {'fresh against fresh':>24} {'half width of fresh':>24} {'within':>8}")
    missed = []
    for function, result in results.items():
        of = counts[function]
        result["within"] = of[1] / sum(of)
        print(f"{function:10} {cell(result['model'])} {cell(result['twelve forms'])} {cell(result['noise'])}"
              f" {cell(result['width'])} {percent(result['within']):>8}")
        figures = result["model"]
        if figures is None or figures["mean"] > MEAN_BAR or figures["max"] > LARGEST_BAR:
            missed.append(function)
    total = [sum(counts[f][i] for f in results) for i in range(3)]
    print("single launches' times below, within and above the model's intervals: "
          + ", ".join(percent(n / sum(total)) for n in total))
    if total[1] < WITHIN_BAR * sum(total):
        missed.append("intervals")
    if arguments.details:
        for (function, size), seconds in sorted(truth.items()):
            if function not in arguments.functions:
                continue
            row = told[function, size]
            print(f"{function:10} {size:8} fresh {seconds:.4g} model {row['avg']:.4g} [{row['min']:.4g}, {row['max']:.4g}]"
                  f" samples {sampled.get((function, size), 0):.4g} launches "
                  + " ".join(f"{l.middle((function, size)) or 0:.4g}" for l in launches))
    if arguments.json:
        arguments.json.write_text(json.dumps({"mpi": arguments.mpi, "results": results}, indent=1) + "\n")
    print(f"missed (mean {percent(MEAN_BAR)}, largest {percent(LARGEST_BAR)}, within {percent(WITHIN_BAR)}): "
          f"{', '.join(missed) or 'none'}")
    return 1 if missed else 0


def measure_twice(arguments, folder):
    """Two measurements that know nothing of each other."""
    models = [folder / "first.toml", folder / "second.toml"]
    for number, model in enumerate(models):
        words = f"{arguments.twice} --seed {arguments.seed + number}"
        measure(arguments, words, model, launcher(arguments.mpi, arguments.under))
    return models


def compare(arguments, paths):
    """Both models at the same sizes, for every function that both have."""
    models = [tomllib.loads(path.read_text()) for path in paths]
    names = [{f["name"] for f in model["function"]} for model in models]
    sizes = sorted(random_sizes(arguments.sizes, arguments.seed, set()))
    apart = {}
    common = sorted(names[0] & names[1])
    if not common:
        raise SystemExit("the models have no function in common")
    first, second = (calc(arguments.build, path, common, sizes) for path in paths)
    for function in common:
        pairs = [(first[function, s]["avg"], second[function, s]["avg"]) for s in sizes]
        apart[function] = [abs(a - b) / (0.5 * (a + b)) if a + b > 0 else 0.0 for a, b in pairs]
    print(f"{'apart':14} {'median':>8} {'largest':>8} {'at':>8}")
    for function, values in apart.items():
        worst = max(range(len(sizes)), key=values.__getitem__)
        print(f"{function:14} {percent(statistics.median(values)):>8} {percent(values[worst]):>8} {sizes[worst]:>8}")
    overall = statistics.median(v for values in apart.values() for v in values)
    largest = max(v for values in apart.values() for v in values)
    print(f"over {len(apart)} functions and {len(sizes)} sizes: median {percent(overall)} (bar {percent(APART_BAR)}), "
          f"largest {percent(largest)}")
    return 1 if overall > APART_BAR else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--measure", metavar="WORDS", help="measure first; WORDS go to foretrace measure")
    parser.add_argument("--twice", metavar="WORDS", help="measure twice with them, and compare")
    parser.add_argument("--under", type=shlex.split, default=[], metavar="WORDS", help="words before mpirun")
    parser.add_argument("--compare", type=pathlib.Path, nargs=2, metavar="M.toml")
    parser.add_argument("--functions", type=lambda text: text.split(","), default=FUNCTIONS, metavar="NAME,...")
    parser.add_argument("--sizes", type=int, default=30)
    parser.add_argument("--launches", type=int, default=24, help="fresh ones, where --model is judged")
    parser.add_argument("--each", type=int, default=4, help="fresh ones after each of the tool's, with --measure")
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
        return compare(arguments, arguments.compare)
    if arguments.model is None and arguments.measure is None and arguments.twice is None:
        parser.error("give --model M.toml, --measure=WORDS, --twice=WORDS, or --compare A.toml B.toml")
    with tempfile.TemporaryDirectory() as scratch, busy_core(arguments.load, arguments.under):
        folder = pathlib.Path(scratch)
        if arguments.twice is not None:
            return compare(arguments, measure_twice(arguments, folder))
        return validate(arguments, arguments.model or folder / "measured.toml", folder)


if __name__ == "__main__":
    sys.exit(main())
