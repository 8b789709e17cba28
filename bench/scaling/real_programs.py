#!/usr/bin/env python3
"""Scaling laws of real programs: fitted to few ranks, checked at many.

    real_programs.py BUILD [--mpi openmpi|mpich] [--machine cray-t3d] [--only life,sor] [--keep FOLDER]
                     [--fitted 2,4,8,16,32,64] [--checked 256,1024]

Runs five programs live at 2 to 64 ranks, each with one fixed problem (strong scaling), and asks `foretrace fit` what
their calls take at 256 and 1,024 ranks: with the machine's data sheet, and by laws alone. Then it runs the programs live
at these, which the fit has not seen. Prints a table, and the median errors of the time in MPI functions (the mean over
the ranks). All times are virtual: the figures are the same on any machine. 1,024 ranks need some 10 GiB of memory.
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
    """The seconds in MPI functions, the mean over the ranks."""
    report = json.loads(foretrace(build, "report", trace, "--json"))
    return sum(time for name, time in report["states"].items() if name.startswith("MPI_")) / report["ranks"]


def run(options, name, ranks, folder):
    """The trace of the program at so many ranks."""
    trace = folder / f"{name}-{ranks}.ftr"
    if not trace.exists():
        foretrace(options.build, "simulate", "-n", ranks, "--machine", options.machine, "--compute", "annotated", "-o", trace,
                  "--", options.build / "programs" / options.mpi / name, *PROGRAMS[name].split())
    return trace


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--machine", default="cray-t3d")
    parser.add_argument("--only", default=",".join(PROGRAMS))
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the traces, which are not run again")
    parser.add_argument("--fitted", type=numbers, default=[2, 4, 8, 16, 32, 64])
    parser.add_argument("--checked", type=numbers, default=[256, 1024])
    options = parser.parse_args()
    ways = {"with the data sheet": ["--machine", options.machine], "laws alone": []}
    errors = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(exist_ok=True)
        print("| program | ranks | live | " + " | ".join(f"{way} | error | within" for way in ways) + " | most of it |")
        print("|---|---|---|" + "---|---|---|" * len(ways) + "---|")
        for name in options.only.split(","):
            traces = [run(options, name, ranks, folder) for ranks in options.fitted]
            for ranks in options.checked:
                truth = communication(options.build, run(options, name, ranks, folder))
                row = f"| {name} | {ranks} | {1e3 * truth:.4g} ms |"
                for way, words in ways.items():
                    law = json.loads(foretrace(options.build, "fit", *traces, *words, "--at", f"p={ranks}", "--json"))
                    told = law["communication"]
                    error = told["value"] / truth - 1
                    errors[way].append(abs(error))
                    low, high = told["interval"]  # times are rounded to whole picoseconds
                    held = low * (1 - 1e-6) <= truth <= high * (1 + 1e-6)
                    row += f" {1e3 * told['value']:.4g} ms | {100 * error:+.1f} % | {'yes' if held else 'no'} |"
                print(f"{row} {law['sites'][0]['function']} |", flush=True)
    for way, each in errors.items():
        print(f"{way}: median error {100 * statistics.median(each):.1f} %, worst {100 * max(each):.1f} %")


if __name__ == "__main__":
    main()
