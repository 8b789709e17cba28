#!/usr/bin/env python3
"""debian_test.py FORETRACE SOURCE: Debian's own MPI programs on the nodes of docs/architecture-examples.md.

mpi4py's ring test (package python3-mpi4py) and LAMMPS (package lammps), as they come out of the package,
run live on 32 ranks on the fat tree and on the dragonfly: with the results of a plain run, in the same time
each time, and slower with slower cards. What is not installed is left out; status 77 if nothing is there.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOOL, SOURCE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
sys.path[:0] = [str(SOURCE / "tests/docs"), str(SOURCE / "tests/apps")]
import programs  # noqa: E402
import run_apps  # noqa: E402
import run_examples  # noqa: E402

RING = programs.App("mpi4py ring test", "python3-mpi4py", "openmpi",
                    [programs.PYTHON, "-m", "mpi4py.bench", "ringtest", "-n", "50000"], r"time for \d+ loops", any_ranks=True)


def simulated(app, network, trace, *options):
    command = [TOOL, "simulate", "-n", 32, "--mpi", app.mpi, "--compute", "none", "--loggps", "o=1us,g=0s", "--network",
               f"arch:{folder}/{network}-nodes.arch.toml", *options, "-o", trace, "--", *app.command]
    ended = run_apps.run(app, 32, command, 300)
    assert ended.status == 0, ended.text[-3000:]
    report = subprocess.run([TOOL, "report", trace, "--json"], capture_output=True, text=True, check=True).stdout
    return json.loads(report)["time"], run_apps.results(app, ended.text)


def check(app):
    plain = run_apps.run(app, 2, run_apps.command_of(pathlib.Path(), "plain", app, 2, ""), 300)
    expected = run_apps.results(app, plain.text)
    assert expected, plain.text[-3000:]
    trace = f"{folder}/run.ftr"
    times = {}
    for network in ("fattree", "dragonfly"):
        times[network], results = simulated(app, network, trace)
        assert results == expected, (network, results, expected)
        assert simulated(app, network, trace)[0] == times[network], network
        slow, _ = simulated(app, network, trace, "--parameter", "node[*].injection=100MB/s")
        assert slow > times[network] * 1.05, (network, slow, times)
        coarse, _ = simulated(app, network, trace, "--level", "node[*]=coarse")
        assert coarse < times[network], (network, coarse, times)
    print("ok", app.name, times, flush=True)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for step in run_examples.read_page((SOURCE / "docs/architecture-examples.md").read_text().splitlines()):
        if isinstance(step, run_examples.File):
            (folder / step.name).write_text(step.text)
    apps = [app for app in [RING, *programs.all_apps()] if app.name in (RING.name, "LAMMPS melt")]
    there = [app for app in apps if os.path.exists(app.program or app.command[0])
             and (app is not RING or subprocess.run([programs.PYTHON, "-c", "import mpi4py"], capture_output=True).returncode == 0)]
    for app in there:
        check(app)
sys.exit(0 if there else 77)
