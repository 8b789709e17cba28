#!/usr/bin/env python3
"""Errors on the raw sets of SimGrid's platform-calibration: ours at sizes that the fit did not see,
and those of SMPI's own fit, whose authors gave it all sizes and set its break points by hand.

    bench/imported/calibration_errors.py [--data FOLDER] [--tool FORETRACE]

The truth at a size: the interquartile mean over passes of each pass's calls' interquartile mean.
Noise: the mean distance of one pass from that of the other passes, which no fit can undercut by much.
"""

import argparse
import bisect
import collections
import gzip
import os
import pathlib
import re
import subprocess
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SETS = ["stampede-inter", "taurus", "taurus-loopback", "graphene", "sirocco"]


def middle(values):
    """Mean of those between the quartiles."""
    values = sorted(values)
    cut = len(values) // 4
    inner = values[cut:len(values) - cut]
    return sum(inner) / len(inner)


def by_pass(rows):
    """{size: [middle of each pass]} of (size, seconds) in the order of the file."""
    visits = collections.defaultdict(list)
    last = None
    for size, seconds in rows:
        if size != last:
            visits[size].append([])
            last = size
        visits[size][-1].append(seconds)
    passes = min(map(len, visits.values()))
    sizes = {}
    for size, seen in visits.items():
        parts = collections.defaultdict(list)
        for visit, seconds in enumerate(seen):
            parts[visit * passes // len(seen)] += seconds
        sizes[size] = [middle(part) for part in parts.values()]
    return sizes


def raw(folder):
    def rows(name):
        with gzip.open(folder / name, "rt") as file:
            for line in file:
                _, size, _, seconds = line.split(",")
                yield int(size), float(seconds)

    pairs = list(rows("PingPong.csv.gz"))
    trips = [(size, send + recv) for (size, send), (_, recv) in zip(pairs[::2], pairs[1::2])]
    return {"pingpong": by_pass(trips), "recvmin": by_pass(rows("Recv.csv.gz")), "isend1": by_pass(rows("Isend.csv.gz"))}


class Smpi:
    def __init__(self, folder):
        xml = (folder / "smpi_output.xml").read_text()
        config = (folder / "config.xml").read_text()
        self.ranges = {name: [tuple(map(float, item.split(":"))) for item in text.split(";")]
                       for name, text in re.findall(r'smpi/([\w-]+)" value="([^"]*:[^"]*)"', xml)}
        self.bandwidth, self.latency = (float(re.search(rf'{name} value="([^"]+)"', config).group(1))
                                        for name in ("expected_bandwidth", "expected_latency"))

    def at(self, name, size):
        ranges = self.ranges[name]
        return ranges[max(0, bisect.bisect_right([r[0] for r in ranges], size) - 1)]

    def time(self, function, size):
        _, intercept, slope = self.at("ois" if function == "isend1" else "or", size)
        cost = intercept + slope * size
        if function != "pingpong":
            return cost
        transfer = self.latency * self.at("lat-factor", size)[1] \
            + size / (self.bandwidth * self.at("bw-factor", size)[1])
        return 2 * transfer + cost


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def noise(passes_of):
    return mean(mean(abs(one / middle([o for o in passes if o is not one]) - 1) for one in passes)
                for passes in passes_of.values() if len(passes) > 1) if any(
                    len(p) > 1 for p in passes_of.values()) else None


def smpi_error(smpi, function, passes_of):
    errors = []
    for size, passes in passes_of.items():
        fitted = smpi.time(function, size)
        # From the detached threshold on SMPI's or is 0: the transfer holds it.
        if fitted > 0:
            truth = middle(passes)
            errors.append(abs(fitted - truth) / truth)
    return mean(errors)


def percent(share):
    return "-" if share is None else f"{100 * share:.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("FORETRACE_DATA", ROOT.parent / "shared" / "data")))
    parser.add_argument("--tool", default=ROOT / "build" / "bin" / "foretrace")
    options = parser.parse_args()
    print("| set | function | sizes | regimes | threshold found | ours, held out | SMPI's fit | noise of a pass |")
    print("|---|---|---|---|---|---|---|---|")
    for name in SETS:
        folder = options.data / "platform-calibration" / name
        with tempfile.TemporaryDirectory() as scratch:
            model_file = pathlib.Path(scratch) / "m.toml"
            subprocess.run([options.tool, "import", "simgrid-csv", folder / "PingPong.csv.gz", folder / "Recv.csv.gz",
                            folder / "Isend.csv.gz", "-o", model_file], check=True, stdout=subprocess.DEVNULL)
            model = tomllib.loads(model_file.read_text())
        threshold = model.get("loggps", {}).get("S")
        smpi = Smpi(folder) if (folder / "smpi_output.xml").exists() else None
        functions = {function["name"]: function for function in model["function"]}
        for function, passes_of in raw(folder).items():
            ours = functions[function]
            print(f"| {name} | {function} | {len(passes_of)} | {len(ours['regime'])} | "
                  f"{threshold or '-'} | {percent(ours['held_out'][0])} | "
                  f"{percent(smpi_error(smpi, function, passes_of) if smpi else None)} | "
                  f"{percent(noise(passes_of))} |", flush=True)


if __name__ == "__main__":
    main()
