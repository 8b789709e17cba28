#!/usr/bin/env python3
"""Whether `foretrace measure --thresholds` finds what trying every size finds.

    thresholds.py BUILD_DIR [--mpi MPI] [--runs N]

The exhaustive search (thresholds.c) tries sizes 512 bytes apart up to 64 KiB, and then every size around each place
where the answer changes. local: the last size whose send completes with the receiver outside MPI. sync: the first
size whose send waits for its receive though the receiver is inside MPI. Status 1 if a run differs.
"""

import argparse
import pathlib
import sys

from launches import launcher, run

MOST = 65536
STEP = 512
AROUND = 40
FACTS = ("local_threshold", "sync_threshold")


def tried(build, mpi, first, last, step=1):
    """By size: whether a send completed, with the receiver outside MPI and polling."""
    program = build / "programs" / mpi / "bench_thresholds"
    lines = run([*launcher(mpi), program, first, last, step]).splitlines()
    return {int(size): (outside == "1", polling == "1")
            for size, outside, polling in (line.split(",") for line in lines)}


def last_completed(build, mpi, which, coarse):
    """The last size that completes, each around it tried; None: all or none do."""
    completed = [size for size, answers in coarse.items() if answers[which]]
    if not completed or len(completed) == len(coarse):
        return None
    low = max(completed)
    answers = {size: a[which] for size, a in tried(build, mpi, low, low + STEP, 16).items()}
    low = max(size for size, done in answers.items() if done)
    near = tried(build, mpi, max(low - AROUND, 0), low + AROUND)
    sizes = [size for size, a in near.items() if a[which]]
    if sizes != list(range(min(near), max(sizes) + 1)):
        raise SystemExit(f"{mpi}: no single place where sends cease to complete: {sizes}")
    return max(sizes)


def exhaustive(build, mpi):
    coarse = tried(build, mpi, 0, MOST, STEP)
    local = last_completed(build, mpi, 0, coarse)
    eager = last_completed(build, mpi, 1, coarse)
    return {"local_threshold": local, "sync_threshold": None if eager is None else eager + 1}


def found(build, mpi):
    """What the tool prints, as in a samples file."""
    text = run([build / "bin" / "foretrace", "measure", "-n", "2", "--mpi", mpi, "--thresholds"])
    facts = dict(line[1:].split("=", 1) for line in text.splitlines() if line.startswith("#") and "=" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    return {key: int(facts[key]) if key in facts else None for key in FACTS}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), action="append")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--exhaustive-only", action="store_true")
    arguments = parser.parse_args()
    wrong = 0
    for mpi in arguments.mpi or ("openmpi", "mpich"):
        truth = exhaustive(arguments.build, mpi)
        print(f"{mpi}: by trying every size: {truth}", flush=True)
        if arguments.exhaustive_only:
            continue
        answers = [found(arguments.build, mpi) for _ in range(arguments.runs)]
        for answer in answers:
            if answer != truth:
                print(f"{mpi}: measure found {answer}")
        right = sum(answer == truth for answer in answers)
        wrong += arguments.runs - right
        print(f"{mpi}: {right} of {arguments.runs} runs found the same", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
