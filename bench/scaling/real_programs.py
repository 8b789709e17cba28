#!/usr/bin/env python3
"""Scaling laws of real programs: fitted to few ranks, checked at many.

    real_programs.py BUILD [--mpi openmpi|mpich] [--machine cray-t3d] [--only life,sor] [--keep FOLDER]
                     [--fitted 2,4,8,16,32,64] [--checked 256,1024]

Runs five programs live at 2 to 64 ranks, each with one fixed problem (strong scaling), fits the
time that the ranks spend in each MPI function (the mean over them) with `foretrace fit`, and runs the programs
live at 256 and 1,024 ranks, which the fit has not seen. Prints a table, and the median error.
All times are virtual: the figures are the same on any machine. 1,024 ranks need some 10 GiB of memory.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

PROGRAMS = {  # chosen before any was run: neighbours, a solver, broadcasts, reductions, a tree
    "life": "--rows 1024 --cols 1024",
    "sor": "--size 1024 --iters 10 --tolerance 1e-300",
    "gauss": "--size 1024",
    "thresh": "--rows 1024 --cols 1024",
    "mergesort": "--size 1048576",
}

def numbers(text):
    return [int(each) for each in text.split(",")]


def foretrace(build, *words):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run([build / "bin/foretrace", *map(str, words)], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def communication(build, trace):
    """By MPI function: the seconds in it, the mean over the ranks."""
    report = json.loads(foretrace(build, "report", trace, "--json"))
    return {name: time / report["ranks"] for name, time in report["states"].items() if name.startswith("MPI_")}


def law(build, points, metric, ranks):
    return json.loads(foretrace(build, "fit", points, "--metric", metric, "--at", f"p={ranks}", "--json"))


def predict(build, points, times, fitted, ranks):
    """The sum of the laws of the functions; whether all can be told apart; the law of the largest as text."""
    laws = {}
    for name in sorted({name for each in times.values() for name in each}):
        if max(times[str(p)].get(name, 0) for p in fitted) > 0:
            laws[name] = law(build, points, name, ranks)
    largest = max(laws, key=lambda name: laws[name]["value"])
    return sum(each["value"] for each in laws.values()), all(each["identifiable"] for each in laws.values()), largest


def write_points(path, times, fitted):
    lines = []
    for p in fitted:
        each = times[str(p)]
        for name, seconds in [("communication", sum(each.values())), *each.items()]:
            if seconds > 0:
                lines.append(json.dumps({"params": {"p": p}, "metric": name, "value": seconds}))
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--machine", default="cray-t3d")
    parser.add_argument("--only", default=",".join(PROGRAMS))
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the times, which are not run again")
    parser.add_argument("--fitted", type=numbers, default=[2, 4, 8, 16, 32, 64])
    parser.add_argument("--checked", type=numbers, default=[256, 1024])
    options = parser.parse_args()
    errors = {ranks: [] for ranks in options.checked}
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(exist_ok=True)
        print("| program | ranks | live | predicted | error | of one law for all | most of it |\n|---|---|---|---|---|---|---|")
        for name in options.only.split(","):
            known = folder / f"{name}.json"
            times = json.loads(known.read_text()) if known.exists() else {}
            for ranks in options.fitted + options.checked:
                if str(ranks) in times:
                    continue
                trace = pathlib.Path(scratch) / "run.ftr"
                foretrace(options.build, "simulate", "-n", ranks, "--machine", options.machine, "--compute", "annotated", "-o",
                          trace, "--", options.build / "programs" / options.mpi / name, *PROGRAMS[name].split())
                times[str(ranks)] = communication(options.build, trace)
                trace.unlink()
                known.write_text(json.dumps(times))
            points = folder / f"{name}.jsonl"
            write_points(points, times, options.fitted)
            for ranks in options.checked:
                whole = law(options.build, points, "communication", ranks)
                value, told, largest = predict(options.build, points, times, options.fitted, ranks)
                truth = sum(times[str(ranks)].values())
                error = value / truth - 1
                errors[ranks].append(abs(error))
                print(f"| {name} | {ranks} | {1e3 * truth:.4g} ms | {1e3 * value:.4g} ms{'' if told else ' (not identifiable)'} | "
                      f"{100 * error:+.1f} % | {100 * (whole['value'] / truth - 1):+.1f} % | {largest} |", flush=True)
    for ranks, each in errors.items():
        print(f"{ranks} ranks: median error {100 * statistics.median(each):.1f} %, worst {100 * max(each):.1f} %")
    print(f"all: median error {100 * statistics.median(sum(errors.values(), [])):.1f} %")


if __name__ == "__main__":
    main()
