#!/usr/bin/env python3
"""Debian's own MPI programs, as they come out of the package, under `foretrace simulate`.

    apps.py BUILD [--only WORD] [--ranks 4,16,64] [--no-real]

Packages: hpcc, lammps, scalapack-mpi-test, mumps-test, netpipe-openmpi, netpipe-mpich2,
python3-mpi4py; what is not installed is left out. Each program runs under its own MPI at the first
number of ranks, and live at all of them. Of its output the lines that hold results are compared,
without times. Prints a table; ends with status 1 if a result differs. Not part of `make test`: it takes
minutes.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 300  # seconds a run
PYTHON = "/usr/bin/python3"  # Debian's, which sees Debian's modules
SCALAPACK = "/usr/lib/x86_64-linux-gnu/scalapack/{mpi}-tests"

MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 20
run 100
"""

MPI4PY = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
everyone = comm.allgather({"rank": rank, "text": "x" * rank})
assert [each["rank"] for each in everyone] == list(range(size))
assert comm.bcast(["from", 0] if rank == 0 else None) == ["from", 0]
right, left = (rank + 1) % size, (rank - 1) % size
assert comm.sendrecv(("hello", rank), dest=right, source=left) == ("hello", left)
request = comm.isend({rank}, dest=right, tag=3)
assert comm.recv(source=MPI.ANY_SOURCE, tag=3) == {left}
request.wait()
buffer = bytearray(8 * size)
comm.Allgather([rank.to_bytes(8, "little"), MPI.BYTE], [buffer, MPI.BYTE])
assert [int.from_bytes(buffer[8 * i:8 * i + 8], "little") for i in range(size)] == list(range(size))
half = comm.Split(rank % 2, rank)
total = half.allreduce(rank)
window = MPI.Win.Allocate(8, comm=comm)
window.Fence()
window.Put([rank.to_bytes(8, "little"), MPI.BYTE], right)
window.Fence()
assert int.from_bytes(window.tomemory(), "little") == left
window.Free()
results = comm.gather((rank, total), root=0)
if rank == 0:
    print("total", sum(total for _, total in results) > 0 or size < 3, "all checks passed")
"""


@dataclasses.dataclass
class App:
    name: str
    mpi: str
    command: list
    results: str                 # regular expression: lines of output that have to be equal
    files: dict = dataclasses.field(default_factory=dict)
    copies: list = dataclasses.field(default_factory=list)
    output: str = ""             # a file that counts as output
    ranks: tuple = ()            # else those of the command line
    digits: int = 0              # of numbers in results, where sums may be in another order
    compute: str = "none"


def scalapack(mpi, name, data):
    folder = SCALAPACK.format(mpi=mpi)
    return App(f"scalapack {name}, {mpi}", mpi, [f"{folder}/{name}"],
               r"^ *(Finished|\d+ +tests)|^(Passed|Failed|End of tests)", copies=[f"{folder}/{data}"])


def apps():
    found = []
    for mpi in ("mpich", "openmpi"):
        for name, data in (("xdlu", "LU.dat"), ("xcllt", "LLT.dat"), ("xdqr", "QR.dat"),
                           ("xzinv", "INV.dat"), ("xdls", "LS.dat"), ("xdbrd", "BRD.dat"),
                           ("xdsvd", "SVD.dat"), ("xshrd", "HRD.dat")):
            found.append(scalapack(mpi, name, data))
    for name, kind in (("dsimpletest", "real"), ("zsimpletest", "cmplx")):
        found.append(App(f"mumps {name}", "openmpi",
                         ["sh", "-c", f"exec /usr/lib/mumps/{name} < /usr/lib/mumps/input_simpletest_{kind}"],
                         r"Solution is", digits=5))
    found.append(App("lammps melt", "openmpi", ["/usr/bin/lmp", "-in", "melt.in", "-log", "none"],
                     r"^ +\d+ +[-\d.]+ +[-\d.]+ +0 ", files={"melt.in": MELT}, digits=4))
    found.append(App("hpcc", "openmpi", ["/usr/bin/hpcc"],
                     r"^(Success=|MPIRandomAccess_Errors=|PTRANS_residual=)|PASSED$|tests completed and (passed|failed)",
                     copies=["/usr/share/doc/hpcc/examples/_hpccinf.txt:hpccinf.txt"],
                     output="hpccoutf.txt", ranks=(4,)))
    for mpi, name in (("openmpi", "NPopenmpi"), ("mpich", "NPmpich2")):
        found.append(App(f"netpipe, {mpi}", mpi, [f"/usr/bin/{name}", "-u", "65536", "-i"],
                         r"Integrity check (passed|failed)$", ranks=(2,)))
    found.append(App("mpi4py", "openmpi", [PYTHON, "mpi4py_program.py"], r"checks passed",
                     files={"mpi4py_program.py": MPI4PY}))
    return [app for app in found if installed(app)]


def installed(app):
    if app.name == "mpi4py":
        probe = [PYTHON, "-c", "import mpi4py.MPI"]
        return subprocess.run(probe, capture_output=True).returncode == 0
    words = " ".join(app.command).replace("exec ", "").split()
    return any(os.access(word, os.X_OK) for word in words if word.startswith("/"))


def environment():
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")


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
        if pathlib.Path(source).suffix == ".gz" or not pathlib.Path(source).exists():
            continue
        shutil.copy(source, folder / (name or pathlib.Path(source).name))


def run(app, command):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        prepare(app, folder)
        start = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], cwd=folder, env=environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace",
                                   start_new_session=True)
        try:
            text, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
            return Ended(-1, text, LIMIT)
        if app.output and (folder / app.output).exists():
            text += (folder / app.output).read_text(errors="replace")
        return Ended(process.returncode, text, time.monotonic() - start)


def results(app, text):
    lines = []
    for line in text.splitlines():
        if re.search(app.results, line):
            if line.endswith("Integrity check passed"):
                line = "Integrity check passed"  # without the times, and how often
            if app.name.startswith("scalapack xdsvd"):
                line = line.split()[0]
            if app.digits:
                line = re.sub(r"-?\d+\.\d+(?:[ED][-+]?\d+)?",
                              lambda m: f"{float(m[0].replace('D', 'E')):.{app.digits - 1}e}", line)
            lines.append(" ".join(line.split()))
    return lines


def same(app, real, ours):
    """NetPIPE tries as many sizes as time allows."""
    if app.name.startswith("netpipe"):
        return set(real) == set(ours)
    return real == ours


def launch(mpi, ranks, command):
    return [f"mpirun.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else []), "-n", ranks, *command]


def live(build, app, ranks, command, trace):
    return [build / "bin/foretrace", "simulate", "-n", ranks, "--machine", ROOT / "machines/cray-t3d.toml",
            "--compute", app.compute, "--mpi", app.mpi, "-o", trace, "--", *command]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--ranks", default="4,16,64")
    parser.add_argument("--no-real", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print the output of what failed")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    failures = 0
    print("| program | ranks | result lines | real, s | live, s | |\n|---|---|---|---|---|---|", flush=True)
    for app in apps():
        if arguments.only not in app.name:
            continue
        counts = app.ranks or tuple(int(n) for n in arguments.ranks.split(","))
        real = None if arguments.no_real else run(app, launch(app.mpi, counts[0], app.command))
        for ranks in counts:
            with tempfile.TemporaryDirectory() as scratch:
                ended = run(app, live(build, app, ranks, app.command, f"{scratch}/live.ftr"))
            ours = results(app, ended.text)
            if ended.status != 0:
                verdict = f"status {ended.status}"
            elif real and real.status != 0:
                verdict = f"the real MPI: status {real.status}"
            elif not ours:
                verdict = "no results"
            elif real and ranks == counts[0]:
                verdict = "equal" if same(app, results(app, real.text), ours) else "differs"
            else:
                failed = any(re.search(r"\b[1-9]\d* tests completed and failed|check failed", line)
                             for line in ours)
                verdict = "failed checks" if failed else "passed"
            if verdict not in ("equal", "passed"):
                failures += 1
                if arguments.verbose:
                    print(ended.text[-3000:], file=sys.stderr)
            shown = f"{real.seconds:.1f}" if real and ranks == counts[0] else "-"
            print(f"| {app.name} | {ranks} | {len(ours)} | {shown} | {ended.seconds:.1f} | {verdict} |",
                  flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
