#!/usr/bin/env python3
"""Debian's own MPI programs, as they come out of the package, with and without Foretrace.

    run_apps.py BUILD [--only WORD] [--mpi MPI] [--ranks 2,4,8] [--modes record,predict,...]
                      [--write FILE.md] [--list-packages]

Each program runs plainly under its own MPI, and then under each mode; of its output the lines that
hold results are compared, without times. `live` is `simulate -n`, which may have any number of ranks.
Prints a table, writes it with --write; what is not installed is left out. Ends with status 1 if a
result differs. `make test-apps` installs the programs and calls this; it takes many minutes.
"""

import argparse
import dataclasses
import gzip
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


def environment():
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")


@dataclasses.dataclass
class Ended:
    status: int
    text: str
    seconds: float


def prepare(app, folder):
    for name, text in app.files.items():
        (folder / name).write_text(text)
    for copy in app.copies:
        source, _, name = copy.partition(":")
        source = pathlib.Path(source)
        if source.suffix == ".gz":
            (folder / (name or source.stem)).write_bytes(gzip.decompress(source.read_bytes()))
        else:
            shutil.copy(source, folder / (name or source.name))
    if app.setup:
        subprocess.run(app.setup, cwd=folder, check=True, capture_output=True)


def run(app, command, limit):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        prepare(app, folder)
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


def verdict(app, plain, ended):
    """What is wrong with the run, or nothing."""
    if ended.status == TOOK_TOO_LONG:
        return "takes too long"
    if plain.status == 0 and ended.status != 0:
        return f"status {ended.status}"
    if not results(app, ended.text):
        return "no results"
    return "" if results(app, plain.text) == results(app, ended.text) else "differs"


def shown(mode, problem, plain, ended):
    if problem:
        return f"**{problem}**"
    return f"same, {ended.seconds:.1f} s"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path, nargs="?", default=ROOT / "build")
    parser.add_argument("--only", default="")
    parser.add_argument("--mpi", default="")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--limit", type=float, default=300, help="seconds a run")
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--list-packages", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print the output of what failed")
    arguments = parser.parse_args()
    if arguments.list_packages:
        print(*programs.packages())
        return
    build = arguments.build.resolve()
    modes = arguments.modes.split(",")
    table = [f"| program | MPI | ranks | result lines | plain | {' | '.join(modes)} |",
             "|---|---|---|---|---|" + "---|" * len(modes)]
    print(*table, sep="\n", flush=True)
    failures = 0
    for app in programs.all_apps():
        if arguments.only not in app.name or arguments.mpi not in app.mpi:
            continue
        if not programs.installed(app):
            print(f"(not installed: {app.package})", file=sys.stderr)
            continue
        for ranks in (int(n) for n in arguments.ranks.split(",")):
            if app.ranks and ranks not in app.ranks:
                continue
            plain = run(app, command_of(build, "plain", app, ranks, ""), arguments.limit)
            cells = []
            # Without a plain run there is nothing to compare with.
            if plain.status == TOOK_TOO_LONG:
                cells = ["not run"] * len(modes)
            for mode in modes[len(cells):]:
                with tempfile.TemporaryDirectory() as scratch:
                    ended = run(app, command_of(build, mode, app, ranks, scratch), arguments.limit)
                problem = verdict(app, plain, ended)
                failures += bool(problem)
                if problem and arguments.verbose:
                    print(f"--- {app.name} {mode}, {ranks} ranks: {problem}\n{ended.text[-3000:]}",
                          file=sys.stderr)
                cells.append(shown(mode, problem, plain, ended))
            first = (f"{plain.seconds:.1f} s" if plain.status == 0 else
                     f"more than {plain.seconds:.0f} s" if plain.status == TOOK_TOO_LONG else
                     f"status {plain.status}")
            table.append(f"| {app.name} | {app.mpi} | {ranks} | {len(results(app, plain.text))} | {first} | "
                         f"{' | '.join(cells)} |")
            print(table[-1], flush=True)
    if arguments.write:
        arguments.write.write_text("\n".join(table) + "\n")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
