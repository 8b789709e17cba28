#!/usr/bin/env python3
"""Sixteen small programs of usual kinds, each run really and predicted by `foretrace validate`.

    bench/accuracy/mini_apps.py --mpi openmpi --machine here.toml [--tool FORETRACE] [--runs 5] [--keep FOLDER] [--only NAME ...]

Prints a table of errors on two ranks. The model is to be measured before (`foretrace measure -n 2`), and nothing else
may run meanwhile. With --keep, what `validate` says of each program stays in FOLDER, and is not made anew.
bench/accuracy/mini_apps has the programs. They were written by somebody who knew no part of Foretrace, and
their default sizes are the sizes used here; nothing was fitted to them.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parent / "mini_apps"
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
    """What `foretrace validate --json` says, or why there is nothing."""
    words = [tool, "validate", "-n", "2", "--runs", str(runs), "--machine", machine, "--json", "--", program]
    result = subprocess.run(words, cwd=program.parent, capture_output=True, text=True, timeout=LIMIT_S)
    try:
        return json.loads(result.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{program.name}: {result.stderr.strip()}")


def ms(seconds):
    return f"{1e3 * seconds:.3g}"


def row(name, found):
    errors = [f"{100 * way['error']:+.1f} %" for way in found["ways"]]
    parts = [f"{ms(part['measured']['median'])} / {ms(part['predicted']['median'])}"
             for part in (found["ways"][0]["parts"][each] for each in PARTS)]
    real = found["measured"]
    return f"| {name} | {ms(real['median'])} | {ms(real['low'])} to {ms(real['high'])} | " + " | ".join(errors + parts) + " |"


def summary(founds):
    """Mean, median and worst of each way."""
    for i, way in enumerate(founds[0]["ways"]):
        errors = [100 * abs(found["ways"][i]["error"]) for found in founds]
        yield (f"{way['way']}: mean {statistics.mean(errors):.1f}, median {statistics.median(errors):.1f}, "
               f"worst {max(errors):.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), required=True)
    parser.add_argument("--machine", type=pathlib.Path, required=True)
    parser.add_argument("--tool", default="foretrace")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    options = parser.parse_args()
    if not options.machine.is_file():
        parser.error(f"{options.machine}: no such file; foretrace measure -n 2 --mpi {options.mpi} -o {options.machine}")
    sources = sorted(path for path in SOURCES.iterdir() if path.suffix in COMPILERS)
    unknown = set(options.only or ()) - {source.stem for source in sources}
    if unknown:
        parser.error(f"no program {', '.join(sorted(unknown))}; there are {', '.join(source.stem for source in sources)}")
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    founds = []
    with tempfile.TemporaryDirectory() as work:
        kept = (options.keep or pathlib.Path(work)).resolve()
        kept.mkdir(parents=True, exist_ok=True)
        for source in sources:
            if options.only and source.stem not in options.only:
                continue
            place = kept / f"{options.mpi}-{source.stem}.json"
            if not place.exists():
                program = build(source, options.mpi, pathlib.Path(work))
                found = validate(options.tool, program, options.machine.resolve(), options.runs)
                place.write_text(json.dumps(found))
            found = json.loads(place.read_text())
            if not founds:
                ways = [way["way"] for way in found["ways"]]
                heads = ["program", "real, ms", "quartiles", *ways, *(f"{part}, ms" for part in PARTS)]
                print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
            founds.append(found)
            print(row(source.stem, found), flush=True)
    for line in summary(founds):
        print(line)


if __name__ == "__main__":
    main()
