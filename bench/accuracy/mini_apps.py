#!/usr/bin/env python3
"""Sixteen small programs of usual kinds, each run really and predicted by `foretrace validate`.

    bench/accuracy/mini_apps.py --mpi openmpi --machine here.toml [--tool FORETRACE] [--runs 5] [--only NAME ...]

Prints a table of errors on two ranks. The model is to be measured before (`foretrace measure -n 2`), and nothing else
may run meanwhile. bench/accuracy/mini_apps has the programs. They were written by somebody who knew no part of
Foretrace; each stands by itself, their default sizes are the sizes used here, and nothing was fitted to them.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "bench/accuracy/mini_apps"
COMPILERS = {".c": "mpicc", ".cpp": "mpicxx", ".f90": "mpifort"}
PARTS = ("computation", "transfer", "waiting")
LIMIT_S = 600


def build(source, mpi, folder):
    """The program, compiled. Modules that it makes stay in the folder."""
    program = folder / source.stem
    words = [f"{COMPILERS[source.suffix]}.{mpi}", "-O2", "-w", source, "-o", program, "-lm"]
    subprocess.run(words, cwd=folder, check=True)
    return program


def validate(tool, program, machine, runs):
    """What `foretrace validate --json` says. Ends the script where it fails."""
    words = [tool, "validate", "-n", "2", "--runs", str(runs), "--machine", machine, "--json", "--", program]
    try:
        result = subprocess.run(words, cwd=program.parent, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        sys.exit(f"{program.name}: more than {LIMIT_S} s")
    if result.returncode != 0:
        sys.exit(f"{program.name}: {result.stderr.strip()}")
    return json.loads(result.stdout)


def ms(seconds):
    return f"{1e3 * seconds:.3g}"


def row(name, found):
    errors = [f"{100 * way['error']:+.1f} %" for way in found["ways"]]
    parts = [f"{ms(part['measured']['median'])} / {ms(part['predicted']['median'])}"
             for part in (found["ways"][0]["parts"][each] for each in PARTS)]
    real = found["measured"]
    cells = [name, ms(real["median"]), f"{ms(real['low'])} to {ms(real['high'])}", *errors, *parts, str(found["runs"])]
    other = found.get("other_state")
    cells += [""] * (1 + len(errors)) if other is None else [
        f"{ms(other['measured']['median'])}, {other['runs']} {'run' if other['runs'] == 1 else 'runs'}",
        *(f"{100 * way['error']:+.1f} %" for way in other["ways"])]
    return "| " + " | ".join(cells) + " |"


def summary(founds):
    """Mean, median and worst of each way, in the state that most runs of a program found, and in the other one."""
    others = [found["other_state"] for found in founds if "other_state" in found]
    for where, parts in (("most runs", founds), ("other state", others)):
        for i, way in enumerate(founds[0]["ways"]):
            errors = [100 * abs(part["ways"][i]["error"]) for part in parts]
            if errors:
                yield (f"{where}, {way['way']}: {len(parts)} programs, mean {statistics.mean(errors):.1f}, "
                       f"median {statistics.median(errors):.1f}, worst {max(errors):.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), required=True)
    parser.add_argument("--machine", type=pathlib.Path, required=True)
    parser.add_argument("--tool", default=str(ROOT / "build/bin/foretrace"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    options = parser.parse_args()
    if not shutil.which(options.tool):
        parser.error(f"{options.tool}: no such program; build Foretrace, or name it by --tool")
    if not options.machine.is_file():
        parser.error(f"{options.machine}: no such file; foretrace measure -n 2 --mpi {options.mpi} -o {options.machine}")
    sources = {path.stem: path for path in sorted(SOURCES.iterdir()) if path.suffix in COMPILERS}
    unknown = set(options.only or ()) - set(sources)
    if unknown:
        parser.error(f"no program {', '.join(sorted(unknown))}; there are {', '.join(sources)}")
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    founds = []
    with tempfile.TemporaryDirectory() as work:
        for name in options.only or sources:
            program = build(sources[name], options.mpi, pathlib.Path(work))
            found = validate(options.tool, program, options.machine.resolve(), options.runs)
            if not founds:
                heads = ["program", "real, ms", "quartiles", *(way["way"] for way in found["ways"]),
                         *(f"{part}, ms: real / predicted" for part in PARTS), "runs",
                         "in the other state: real, ms", *(way["way"] for way in found["ways"])]
                print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
            founds.append(found)
            print(row(name, found), flush=True)
    for line in summary(founds):
        print(line)


if __name__ == "__main__":
    main()
