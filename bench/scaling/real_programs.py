#!/usr/bin/env python3
"""Scaling laws of real programs: fitted to few ranks, checked at many.

    real_programs.py BUILD [--mpi openmpi|mpich] [--machine cray-t3d] [--only life,sor] [--keep FOLDER]

Runs five programs live at 2 to 64 ranks, each with one fixed problem (strong scaling), fits the
communication time (what the ranks spend in MPI, the mean over them) with `foretrace fit`, and runs the
programs live at 256 and 1,024 ranks, which the fit has not seen. Prints a table, and the median error.
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
    "mergesort": "--elements 1048576",
}
FITTED = [2, 4, 8, 16, 32, 64]
CHECKED = [256, 1024]


def foretrace(build, *words):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run([build / "bin/foretrace", *map(str, words)], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def communication(build, trace):
    """Seconds in MPI, the mean over the ranks."""
    report = json.loads(foretrace(build, "report", trace, "--json"))
    return sum(time for name, time in report["states"].items() if name.startswith("MPI_")) / report["ranks"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--machine", default="cray-t3d")
    parser.add_argument("--only", default=",".join(PROGRAMS))
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the times, which are not run again")
    options = parser.parse_args()
    errors = {ranks: [] for ranks in CHECKED}
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(exist_ok=True)
        print("| program | law | ranks | predicted | 95 % interval | live | error |\n|---|---|---|---|---|---|---|")
        for name in options.only.split(","):
            known = folder / f"{name}.json"
            times = json.loads(known.read_text()) if known.exists() else {}
            for ranks in FITTED + CHECKED:
                if str(ranks) in times:
                    continue
                trace = pathlib.Path(scratch) / "run.ftr"
                foretrace(options.build, "simulate", "-n", ranks, "--machine", options.machine, "--compute", "annotated", "-o",
                          trace, "--", options.build / "programs" / options.mpi / name, *PROGRAMS[name].split())
                times[str(ranks)] = communication(options.build, trace)
                trace.unlink()
                known.write_text(json.dumps(times))
            lines = [json.dumps({"params": {"p": p}, "metric": "communication", "value": times[str(p)]}) for p in FITTED]
            points = folder / f"{name}.jsonl"
            points.write_text("\n".join(lines) + "\n")
            for ranks in CHECKED:
                law = json.loads(foretrace(options.build, "fit", points, "--metric", "communication", "--at", f"p={ranks}", "--json"))
                truth = times[str(ranks)]
                error = law["value"] / truth - 1
                errors[ranks].append(abs(error))
                low, high = law["interval"]
                told = "" if law["identifiable"] else ", not identifiable"
                print(f"| {name} | {law['form']}{told} | {ranks} | {1e3 * law['value']:.4g} ms | {1e3 * low:.4g} to {1e3 * high:.4g} ms "
                      f"| {1e3 * truth:.4g} ms | {100 * error:+.1f} % |", flush=True)
    for ranks, each in errors.items():
        print(f"{ranks} ranks: median error {100 * statistics.median(each):.1f} %, worst {100 * max(each):.1f} %")
    print(f"all: median error {100 * statistics.median(errors[256] + errors[1024]):.1f} %")


if __name__ == "__main__":
    main()
