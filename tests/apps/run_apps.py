#!/usr/bin/env python3
"""Debian's own MPI programs, as they come out of the package, with and without Foretrace.

    run_apps.py BUILD [--only WORD] [--mpi MPI] [--ranks 2,4,8] [--modes record,predict,...]
                      [--live-ranks 16,64] [--runs FILE [--known]] [--write FILE.md] [--list-packages]

Each program runs plainly under its own MPI, and then under each mode; of its output the lines that
hold results are compared, without times. Where they differ, the program runs plainly once more: some
programs' results differ from run to run. With --live-ranks they run only live, on more ranks than a small
machine can host otherwise: results that are the same on any number of ranks are compared with the plain
run on the fewest of --ranks, of the others the program's own judgement counts.
Prints a table; --write puts it into a page, in place of the one between the page's two marks. What is
not installed is left out. Every run is added to the file of --runs; runs that are there already are not
made again, so what was interrupted, or done in parts, goes on; with --known none is made, and rows whose
runs are not all there are left out. Ends with status 1 if a result differs.
`make test-apps` installs the programs and calls this; it takes many minutes.
"""

import argparse
import dataclasses
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "machines/cray-t3d.toml"
TOOK_TOO_LONG = -1  # as a status
MODES = ("record", "predict", "profile", "live")
MARKS = ("<!-- the table of run_apps.py -->\n", "<!-- end of the table -->\n")
LIVE_MARKS = ("<!-- the table of run_apps.py --live-ranks -->\n", "<!-- end of the table of --live-ranks -->\n")


def environment():
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")


@dataclasses.dataclass
class Ended:
    status: int
    text: str
    seconds: float


def prepare(app, ranks, folder):
    rows = max(n for n in range(1, ranks + 1) if n * n <= ranks and ranks % n == 0)
    for name, text in app.files.items():
        (folder / name).write_text(text.replace("@P@", str(rows)).replace("@Q@", str(ranks // rows)))
    for copy in app.copies:
        source, _, name = copy.partition(":")
        source = pathlib.Path(source)
        if source.suffix == ".gz":
            (folder / (name or source.stem)).write_bytes(gzip.decompress(source.read_bytes()))
        else:
            shutil.copy(source, folder / (name or source.name))
    if app.setup:
        subprocess.run(app.setup, cwd=folder, check=True, capture_output=True)


def run(app, ranks, command, limit):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        prepare(app, ranks, folder)
        start = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], cwd=folder, env=environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace",
                                   start_new_session=True)
        try:
            text, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
            return Ended(TOOK_TOO_LONG, text, limit)
        seconds = time.monotonic() - start
        if app.output and (folder / app.output).exists():
            text += (folder / app.output).read_text(errors="replace")
        return Ended(process.returncode, text, seconds)


def results(app, text):
    lines = []
    for line in text.splitlines():
        match = re.search(app.results, line)
        if not match:
            continue
        groups = [group for group in match.groups() if group is not None]
        found = " ".join(" ".join(groups or [match[0]]).split())
        if app.digits:
            found = re.sub(r"-?\d+\.\d+(?:[EDed][-+]?\d+)?",
                           lambda m: f"{float(re.sub('[Dd]', 'e', m[0])):.{app.digits - 1}e}", found)
        lines.append(found)
    return sorted(set(lines)) if app.as_set else lines


def command_of(build, mode, app, ranks, scratch):
    tool = build / "bin/foretrace"
    if mode == "plain":
        over = ["--oversubscribe"] if app.mpi == "openmpi" else []
        return [f"mpirun.{app.mpi}", *over, "-n", ranks, *app.command]
    trace = ["-o", f"{scratch}/run.ftr"]
    words = {"record": ["record", *trace],
             "predict": ["predict", "--machine", MODEL, "--wtime", "real", *trace],
             "profile": ["profile"],
             "live": ["simulate", "--machine", MODEL, "--compute", "none", *trace]}[mode]
    return [tool, *words, "-n", ranks, "--mpi", app.mpi, "--", *app.command]


class Missing(Exception):
    """A run that is not known and may not be made."""


class Runs:
    """What was run: one line of JSON a run, in a file if there is one."""

    def __init__(self, path, may_make):
        self.path = path
        self.may_make = may_make
        self.known = {}
        if path and path.exists():
            for line in path.read_text().splitlines():
                key, run_data = json.loads(line)
                self.known[tuple(key)] = run_data

    def get(self, app, ranks, mode, make):
        key = (app.name, app.mpi, ranks, mode)
        if key not in self.known:
            if not self.may_make:
                raise Missing
            self.known[key] = make()
            if self.path:
                with self.path.open("a") as file:
                    file.write(json.dumps([key, self.known[key]]) + "\n")
        return self.known[key]


def measured(build, app, ranks, mode, limit):
    with tempfile.TemporaryDirectory() as scratch:
        ended = run(app, ranks, command_of(build, mode, app, ranks, scratch), limit)
    return {"status": ended.status, "seconds": ended.seconds, "results": results(app, ended.text),
            "end": ended.text[-3000:]}


def verdict(plain, run_data):
    """What is wrong with the run, or nothing."""
    if run_data["status"] == TOOK_TOO_LONG:
        return f"more than {run_data['seconds']:.0f} s"
    if plain["status"] == 0 and run_data["status"] != 0:
        return f"status {run_data['status']}"
    if not run_data["results"]:
        return "no results"
    return "" if plain["results"] == run_data["results"] else "differs"


def row_of(app, ranks, modes, get, verbose):
    """A row of the table, and how many runs gave other results."""
    plain = get("plain")
    if plain["status"] == TOOK_TOO_LONG:  # nothing to compare with
        first, cells = f"more than {plain['seconds']:.0f} s", ["not run"] * len(modes)
    elif not plain["results"]:
        first, cells = f"status {plain['status']}", ["not run"] * len(modes)
    else:
        first, cells = f"{plain['seconds']:.1f} s", []
    failures = 0
    for mode in modes[len(cells):]:
        run_data = get(mode)
        problem = verdict(plain, run_data)
        if problem == "differs" and get("plain, again")["results"] != plain["results"]:
            cells.append(f"differs, as plain runs do, {run_data['seconds']:.1f} s")
            continue
        failures += bool(problem)
        if problem and verbose:
            print(f"--- {app.name} {mode}, {ranks} ranks: {problem}\n{run_data['end']}", file=sys.stderr)
        cells.append(f"**{problem}**" if problem else f"same, {run_data['seconds']:.1f} s")
    return (f"| {app.name} | {programs.version(app)} | {programs.MPI_NAMES[app.mpi]} | {ranks} | "
            f"{len(plain['results'])} | {first} | {' | '.join(cells)} |", failures)


def live_row(app, all_ranks, plain, get, verbose):
    """A row of the table of live runs on many ranks, and how many of them were not right."""
    cells, failures = [], 0
    for ranks in all_ranks:
        run_data = get(ranks)
        if app.any_ranks:
            problem = verdict(plain, run_data)
        else:
            problem = verdict({"status": 0, "results": run_data["results"]}, run_data)
            if not problem and any(re.search(app.wrong, line) for line in run_data["results"]):
                problem = "fails its own checks"
        failures += bool(problem)
        if problem and verbose:
            print(f"--- {app.name} live, {ranks} ranks: {problem}\n{run_data['end']}", file=sys.stderr)
        right = "same" if app.any_ranks else "passes"
        cells.append(f"**{problem}**" if problem else f"{right}, {run_data['seconds']:.1f} s")
    against = f"plain run on {plain['ranks']} ranks" if app.any_ranks else "its own checks"
    return f"| {app.name} | {programs.MPI_NAMES[app.mpi]} | {against} | {' | '.join(cells)} |", failures


def write_table(page, table, marks):
    text = page.read_text()
    before, mark, rest = text.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not end:
        sys.exit(f"{page} has no lines {marks[0].strip()} and {marks[1].strip()}")
    page.write_text(before + mark + "\n".join(table) + "\n" + end + after)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path, nargs="?", default=ROOT / "build")
    parser.add_argument("--only", default="")
    parser.add_argument("--mpi", default="")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--limit", type=float, default=300, help="seconds a run")
    parser.add_argument("--live-ranks", default="", help="make the table of live runs on many ranks")
    parser.add_argument("--runs", type=pathlib.Path, help="go on from the runs in this file")
    parser.add_argument("--known", action="store_true", help="make no runs, show those of --runs")
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--list-packages", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print the output of what failed")
    arguments = parser.parse_args()
    if arguments.list_packages:
        print(*programs.packages())
        return
    build = arguments.build.resolve()
    modes = arguments.modes.split(",")
    all_ranks = [int(n) for n in arguments.ranks.split(",")]
    live_ranks = [int(n) for n in arguments.live_ranks.split(",") if n]
    table = [f"| program | MPI | compared with | {' | '.join(f'{ranks} ranks' for ranks in live_ranks)} |",
             "|---|---|---|" + "---|" * len(live_ranks)] if live_ranks else \
            [f"| program | package | MPI | ranks | result lines | plain | {' | '.join(modes)} |",
             "|---|---|---|---|---|---|" + "---|" * len(modes)]
    print(*table, sep="\n", flush=True)
    runs = Runs(arguments.runs, not arguments.known)
    failures = 0
    for app in programs.all_apps():
        if arguments.only not in app.name or arguments.mpi not in app.mpi:
            continue
        if not programs.installed(app):
            print(f"(not installed: {app.package})", file=sys.stderr)
            continue

        def get(ranks, mode):
            return runs.get(app, ranks, mode, lambda: measured(
                build, app, ranks, mode.partition(",")[0], arguments.limit))

        if live_ranks and (app.ranks or not (app.any_ranks or app.wrong)):
            continue
        for ranks in all_ranks[:1] if live_ranks else all_ranks:
            if app.ranks and ranks not in app.ranks:
                continue
            try:
                if live_ranks:
                    plain = dict(get(ranks, "plain"), ranks=ranks) if app.any_ranks else None
                    row, failed = live_row(app, live_ranks, plain, lambda n: get(n, "live"), arguments.verbose)
                else:
                    row, failed = row_of(app, ranks, modes, lambda mode: get(ranks, mode), arguments.verbose)
            except Missing:
                continue
            failures += failed
            table.append(row)
            print(row, flush=True)
    if arguments.write:
        write_table(arguments.write, table, LIVE_MARKS if live_ranks else MARKS)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
