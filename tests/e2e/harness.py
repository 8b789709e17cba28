"""What the end-to-end tests share: where the build is, how to run a command
with a hard limit on its time, how to compare traces.

A test file is started as

    X_test.py --mpi openmpi|mpich|standard|both --build BUILD_DIRECTORY [unittest arguments]

and ends with `harness.main()`. Everything is written below one temporary
directory a test, removed at its end (kept, and named, with FORETRACE_KEEP=1).
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MACHINES = SOURCE / "machines"
T3D = MACHINES / "cray-t3d.toml"
SPARC = MACHINES / "sparc-ethernet.toml"

# What two runs of a program may differ in: how often a loop polled (and so the number of events),
# and whether a posted wildcard receive names what it was given (simulate) or not (predict, record).
UNSPECIFIED = [(re.compile(r"^call MPI_(Test\w*|Iprobe|Improbe) .*\n", re.M), ""),
               (re.compile(r"^(rank \d+) \d+$", re.M), r"\1"),
               (re.compile(r"^(call .*) count=\d+", re.M), r"\1"),
               (re.compile(r"^(irecv .*) recv=[-0-9/]*(?=/any)", re.M), r"\1 recv=?")]

# For programs in C: so long of the calling thread's own time, however few cores it has.
COMPUTE = r"""
#include <time.h>
static void compute(double ms) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1e3 + (now.tv_nsec - begin.tv_nsec) * 1e-6 < ms);
}
"""

mpi = "openmpi"
build = SOURCE / "build"

# Shells let what they run in the background ignore it, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Result:
    """An ended command: its status (negative: killed by that signal) and output."""

    def __init__(self, command, status, out, err):
        self.command = [str(word) for word in command]
        self.status = status
        self.out = out
        self.err = err

    def __str__(self):
        return (f"$ {' '.join(self.command)}\nstatus {self.status}\n"
                f"stdout: {self.out[-3000:]}\nstderr: {self.err[-3000:]}")


class TookTooLong(Exception):
    pass


def environment(extra=None):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("FORETRACE_", "OMPI_", "PMI", "MPICH_", "SLURM_"))}
    # Open MPI refuses to start as root unless told twice. Of its ways to move messages it takes this
    # one on a host anyway; told so, it does not try the others first, which takes twice the time.
    # Both MPIs look at all devices of the machine, unless hwloc is told not to: a quarter of what a start takes.
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_pml="ob1", LC_ALL="C",
               HWLOC_COMPONENTS="-pci,-opencl,-linuxio")
    env.update(extra or {})
    return env


def run(command, limit=100, text_in="", env=None, cwd=None, binary=False):
    """Runs a command in a process group of its own, which is killed as a whole
    after `limit` seconds (TookTooLong)."""
    command = [str(word) for word in command]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True, cwd=cwd,
                               env=environment(env))
    try:
        out, err = process.communicate(text_in.encode(), timeout=limit)
    except subprocess.TimeoutExpired:
        kill(process)
        out, err = process.communicate()
        raise TookTooLong(f"killed after {limit} s: "
                          f"{Result(command, None, out.decode(errors='replace'), err.decode(errors='replace'))}"
                          ) from None
    except BaseException:
        kill(process)
        raise
    if not binary:
        out = out.decode(errors="replace")
    return Result(command, process.returncode, out, err.decode(errors="replace"))


def kill(process):
    """Kills the process's group, and what left the group: Open MPI's launcher
    puts every rank into a group of its own."""
    for child in descendants(process.pid):
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def descendants(root):
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # pid (name) state parent ...; the name may hold anything.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
        except (OSError, IndexError):
            pass
    found, todo = [], [root]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def has_page():
    """Whether this build can write HTML time lines."""
    return "FORETRACE_WEB:BOOL=OFF" not in (build / "CMakeCache.txt").read_text()


def tool():
    return build / "bin" / "foretrace"


def foretrace(*arguments, **options):
    return run([tool(), *arguments], **options)


def paper_program(name, which=None):
    return build / "programs" / (which or mpi) / name


def test_program(name, which=None):
    return build / "tests" / "programs" / (which or mpi) / name


def launcher(ranks, which=None):
    which = which or mpi
    return [f"mpirun.{which}"] + (["--oversubscribe"] if which == "openmpi" else []) + ["-n", ranks]


def has_launcher(which):
    return shutil.which(f"mpirun.{which}") is not None


def plain(ranks, command, which=None, **options):
    return run([*launcher(ranks, which), *command], **options)


class TestCase(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="foretrace-e2e-"))
        if os.environ.get("FORETRACE_KEEP"):
            print(f"{self.id()}: {self.directory}", file=sys.stderr)
        else:
            self.addCleanup(shutil.rmtree, self.directory, True)

    def ok(self, result, status=0):
        """The command ended with that status."""
        self.assertEqual(result.status, status, str(result))
        return result

    def foretrace(self, *arguments, status=0, **options):
        return self.ok(foretrace(*arguments, **options), status)

    def compile(self, text, name="program"):
        """A C program with the MPI's own compiler."""
        program = self.directory / name
        self.ok(run([f"mpicc.{mpi}", "-g", "-O1", f"-I{SOURCE / 'include'}", self.write(f"{name}.c", text), "-o", program]))
        return program

    def ticks(self, trace):
        """The trace as text, with all times in ps (programs/print_ticks.cpp)."""
        return self.ok(run([build / "tests" / "bin" / "print_ticks", trace])).out

    def events(self, trace):
        """For each rank a list of (kind, name, fields) with integer times."""
        ranks = []
        for line in self.ticks(trace).splitlines():
            words = line.split()
            if words[0] == "rank":
                ranks.append([])
                continue
            fields = {}
            for word in words[2:]:
                name, _, value = word.partition("=")
                fields[name] = int(value) if value.lstrip("-").isdigit() else value
            ranks[-1].append((words[0], words[1], fields))
        return ranks

    def specified_ticks(self, trace):
        text = self.ticks(trace)
        for pattern, replacement in UNSPECIFIED:
            text = pattern.sub(replacement, text)
        return text.splitlines()

    def assert_same_ticks(self, a, b):
        """Two traces hold the same events at the same times."""
        left, right = self.specified_ticks(a), self.specified_ticks(b)
        if left == right:
            return
        for number, (one, other) in enumerate(zip(left, right), 1):
            if one != other:
                rank = [line for line in left[:number] if line.startswith("rank ")][-1]
                self.fail(f"{a.name} and {b.name} differ in {rank}, line {number}:\n"
                          f"- {one}\n+ {other}")
        self.fail(f"{a.name} has {len(left)} lines, {b.name} {len(right)}")

    def assert_survives_text(self, trace):
        """Converted to text, which has a line for each event, and back, it has the same bytes."""
        text, back = self.directory / "as_text.txt", self.directory / "back.ftr"
        self.foretrace("convert", trace, text)
        self.foretrace("convert", text, back)
        self.assertEqual(back.read_bytes(), trace.read_bytes())
        definitions = ("foretrace-trace", "info", "rank", "name", "comm", "site", "in")
        lines = [line.split()[0] for line in text.read_text().splitlines()]
        self.assertEqual(sum(word not in definitions for word in lines),
                         sum(len(rank) for rank in self.events(trace)))

    def predict(self, ranks, command, machine=T3D, compute="annotated", name="predict.ftr",
                which=None, options=(), **rest):
        trace = self.directory / name
        self.result = self.foretrace("predict", "-n", ranks, "--machine", machine, "--compute",
                                     compute, *options, "-o", trace, "--", *command, **rest)
        return trace

    def record(self, ranks, command, name="record.ftr", **rest):
        trace = self.directory / name
        self.result = self.foretrace("record", "-n", ranks, "-o", trace, "--", *command, **rest)
        return trace

    def simulate(self, trace, machine=T3D, compute="annotated", name="simulate.ftr", **rest):
        predicted = self.directory / name
        self.result = self.foretrace("simulate", trace, "--machine", machine, "--compute",
                                     compute, "-o", predicted, **rest)
        return predicted

    def write(self, name, text):
        path = self.directory / name
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text)
        return path


def with_threshold(text, threshold):
    """A machine file's text with S = `threshold` bytes; None: as it is."""
    return text if threshold is None else f"{text}\n[loggps]\nS = {threshold}\n"


def with_gap(text, gap, small=None):
    """A machine file's text with a gap of so many of its time units, for up to 256 bytes of `small`."""
    text += '\n[[function]]\nname = "gap"\n'
    for bytes, each in (((0, 256), gap if small is None else small), ((257,), gap)):
        text += f"[[function.regime]]\nbytes = {list(bytes)}\nc = {each}\n"
    return text


def run_together(number, first):
    """All tests of the file, each in a process of its own, so many at a time. Status 1 if one fails."""
    import concurrent.futures  # of no use to most tests, and takes a tenth of their start

    cases = [value for value in vars(sys.modules["__main__"]).values()
             if isinstance(value, type) and issubclass(value, unittest.TestCase)]
    names = [f"{case.__name__}.{name}" for case in cases for name in unittest.defaultTestLoader.getTestCaseNames(case)]
    names.sort(key=lambda name: name.rpartition(".")[2] not in first)
    under_way = []

    def one(name):
        process = subprocess.Popen([sys.executable, sys.argv[0], "--mpi", mpi, "--build", build, name],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        under_way.append(process)
        said = process.communicate()[0]
        print(f"{name}:\n{said}", end="", file=sys.stderr)
        return process.returncode

    with concurrent.futures.ThreadPoolExecutor(number) as pool:
        results = [pool.submit(one, name) for name in names]
        try:
            sys.exit(any([result.result() for result in results]))
        finally:
            for result in results:
                result.cancel()
            for process in under_way:
                process.terminate()


def main(together=1, first=()):
    """Runs the tests. `together`: so many at a time, where they wait for real time to pass; `first`: of these the
    longest."""
    global mpi, build
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--mpi", default=mpi, choices=["openmpi", "mpich", "standard", "both"])
    parser.add_argument("--build", default=build, type=pathlib.Path)
    options, rest = parser.parse_known_args()
    mpi, build = options.mpi, options.build.resolve()
    # Whoever ends this test must not leave its ranks running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    if together > 1 and not rest:
        run_together(together, first)
    unittest.main(argv=[sys.argv[0], *rest])
