#!/usr/bin/env python3
"""Other people's programs: what explain promises of a remedy, and what the remedy brings.

    run_remedies.py BUILD --machine M.toml [--only WORD] [--runs 9]

Each case is a program as Debian packages it, an input whose work lies unevenly on two ranks, and the
program's own option against that. The run without the remedy is recorded and explained; its first finding
is the promise. The run with the remedy is recorded and simulated. Then both run really, in turns, without
Foretrace, and the medians of their wall times are compared: starting the program is in both, so that their
difference is the remedy's. The machine's load is told with them.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "apps"))

import programs  # noqa: E402
import run_apps  # noqa: E402

RANKS = 2

# A drop of atoms that fills the lower third of a long box; the rest of it is empty.
DROP = """units lj
atom_style atomic
lattice fcc 0.9
region box block 0 48 0 12 0 12
create_box 1 box
region drop block 0 16 0 12 0 12
create_atoms 1 region drop
mass 1 1.0
velocity all create 0.3 4711 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 10 delay 0 check yes
if "${even} == 1" then "balance 1.02 shift x 20 1.02"
fix 1 all nve
thermo 50
run 500
"""

# Three points in the reciprocal lattice: of two pools one has two of them.
SILICON = programs.SILICON.replace(" 2 2 2 1 1 1", " 2 2 2 0 0 0").replace("ecutwfc=12.0",
                                                                               "ecutwfc=90.0, nbnd=20")


@dataclass
class Case:
    name: str
    remedy: str
    app: programs.App  # its command is that without the remedy
    mended: list = field(default_factory=list)


def cases():
    lammps = ["/usr/bin/lmp", "-in", "drop.in", "-log", "none", "-var", "even"]
    yield Case("LAMMPS, a drop in a box", "balance shift x",
               programs.App("", "", "openmpi", [*lammps, "0"], "", {"drop.in": DROP}), [*lammps, "1"])
    silicon = ["/usr/bin/pw.x", "-in", "si.in", "-nk"]
    yield Case("Quantum ESPRESSO pw.x, 3 points in 2 pools", "-nk 1",
               programs.App("", "", "openmpi", [*silicon, "2"], "", {"si.in": SILICON},
                            [f"{programs.EXAMPLES}/EPW/sic/pp/Si.pz-vbc.UPF.gz"]), [*silicon, "1"])


def call(words, folder):
    result = subprocess.run(words, cwd=folder, env=run_apps.environment(), capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {result.returncode}\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return result.stdout


def explained(foretrace, machine, command, folder):
    call([foretrace, "record", "-n", str(RANKS), "-o", "run.ftr", "--", *command], folder)
    return json.loads(call([foretrace, "explain", "run.ftr", "--machine", machine, "--allow-invalid",
                            "--json"], folder))


def wall_time(command, folder):
    start = time.monotonic()
    call(["mpirun.openmpi", "-n", str(RANKS), *command], folder)
    return time.monotonic() - start


def place(finding):
    return " in phase ".join(word for word in (finding["place"] or finding["function"], finding["phase"]) if word)


def check(case, options):
    foretrace = str(pathlib.Path(options.build).resolve() / "bin" / "foretrace")
    machine = str(pathlib.Path(options.machine).resolve()) if options.machine.endswith(".toml") else options.machine
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        run_apps.prepare(case.app, RANKS, folder)
        before = explained(foretrace, machine, case.app.command, folder)
        after = explained(foretrace, machine, case.mended, folder)
        times = ([], [])
        for _ in range(options.runs):
            for into, command in zip(times, (case.app.command, case.mended)):
                into.append(wall_time(command, folder))
    first = before["findings"][0]
    was, now = (statistics.median(some) for some in times)
    print(f"{case.name}; remedy: {case.remedy}")
    print(f"  first finding: {first['kind']} at {place(first)}, ranks {first['ranks']}: {first['gain']:.3f} s of "
          f"{before['time']:.3f} s ({first['gain'] / before['time']:.1%})")
    print(f"  with the remedy, predicted: {after['time']:.3f} s, {before['time'] - after['time']:.3f} s less "
          f"({1 - after['time'] / before['time']:.1%})")
    print(f"  really, medians of {options.runs} runs: {was:.3f} s and {now:.3f} s, {was - now:.3f} s less "
          f"({1 - now / was:.1%}); "
          f"from {min(times[0]):.3f} to {max(times[0]):.3f} s, and {min(times[1]):.3f} to {max(times[1]):.3f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--machine", required=True, help="a model of this machine, by foretrace measure")
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    for case in cases():
        if options.only in case.name:
            load = os.getloadavg()[0]
            check(case, options)
            print(f"  load of the machine: {load:.1f} before, {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
