"""The programs of `make accuracy`, the most telling first: ours, Debian's, and small patterns.

Arguments are fixed here, before any prediction was compared. In shared memory two ranks compute for a
tenth of a second to a second. On the testbed all hosts share this machine's cores, so programs there
compute little and send much; its patterns have sizes on both sides of the rendezvous threshold.
"""

import dataclasses
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/apps"))
import programs as debian  # noqa: E402

SHARED, TESTBED = "shared-memory", "testbed"


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    kind: str      # ours, debian, pattern
    words: tuple   # of the command, an int: how often on 2 ranks; of Debian's programs the name in tests/apps/programs.py
    sets: tuple

    def app(self, mpi):
        """Debian's program under that MPI, or None where there is none."""
        return next((app for app in debian.all_apps() if app.name == self.words[0] and app.mpi == mpi), None)


def ours(name, arguments, light=None):
    """With `light` arguments for the testbed, if it is to run there."""
    yield Program(name, "ours", (name, *arguments.split()), (SHARED,))
    if light is not None:
        yield Program(name, "ours", (name, *light.split()), (TESTBED,))


def debians(name):
    yield Program(name, "debian", (name,), (SHARED,))


def pattern(name, size, times=0, shared=0, untouched=False):
    """On the testbed TIMES times, or as often as the link's speed allows; in shared memory `shared` times,
    less often on more than 2 ranks, and there with data that nobody writes between two sends as well."""
    if shared:
        yield Program(f"{name} {size}", "pattern", (name, str(size), shared), (SHARED,))
    if untouched:
        words = (name, str(size), shared, "untouched")
        yield Program(f"{name} {size} untouched", "pattern", words, (SHARED,))
    yield Program(f"{name} {size}", "pattern", (name, str(size), str(times or "@TIMES@")), (TESTBED,))


def all_programs():
    yield from ours("elastic", "--size 128 --iters 120", "--size 32 --iters 20")
    yield from debians("LAMMPS melt")
    yield from pattern("halo", 100_000, shared=2000, untouched=True)
    yield from ours("mandel", "--rows 800 --cols 800 --iters 500")
    yield from pattern("allreduce", 100_000, shared=1500)
    yield from ours("life", "--rows 1600 --cols 1600 --iters 20", "--rows 160 --cols 160 --iters 10")
    yield from debians("HPCC")
    yield from pattern("all-to-one", 100_000)
    yield from ours("mergesort", "--size 2000000", "--size 100000")
    yield from pattern("alltoall", 20_000, shared=5000, untouched=True)
    yield from debians("Quantum ESPRESSO pw.x")
    yield from pattern("ring", 10_000, shared=10000)
    yield from ours("sor", "--size 2400", "--size 200")
    yield from pattern("halves", 100_000)
    yield from ours("cholesky", "--size 800")
    yield from debians("ExaML")
    yield from pattern("one-to-all", 100_000, shared=2000, untouched=True)
    yield from ours("gauss", "--size 1000")
    yield from pattern("pingpong", 1_000, shared=50000)
    yield from debians("Ray")
    yield from ours("invperc", "--rows 500 --cols 500", "")
    yield from pattern("bcast", 100_000, shared=4000)
    yield from ours("product", "--size 4000")
    yield from pattern("halo", 8_000, shared=20000)
    yield from debians("MUMPS dsimpletest")
    yield from pattern("work", 8_000, shared=2000)
    yield from ours("taskfarm", "--tasks 2000", "")
    yield from pattern("pipeline", 400_000, shared=1000)
    yield from ours("compositing", "--rows 1024 --cols 1024")
    yield from pattern("allgather", 20_000, shared=5000)
    yield from ours("registration", "--rows 1920 --cols 1600")
    yield from debians("ScaLAPACK xdlu")
    yield from pattern("ring", 1_000_000, times=3)
    yield from ours("winnow", "--rows 900 --cols 900")
    yield from pattern("gather", 50_000)
    yield from debians("ScaLAPACK xcllt")
    yield from pattern("allreduce", 8, shared=50000)
    yield from ours("norm", "--size 3000000")
    yield from pattern("barrier", 8, shared=50000)
    yield from debians("NetPIPE")
    yield from debians("mpi4py")
    yield from ours("thresh", "--rows 3000 --cols 3000")


def programs_of(set_name):
    return [program for program in all_programs() if set_name in program.sets]
