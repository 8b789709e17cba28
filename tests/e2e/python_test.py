"""Python programs: where they make their calls, in every mode, also where the interpreter's lock is given up."""

import json
import os
import pathlib
import re
import subprocess
import unittest

import harness

# A library as mpi4py is one: MPI_Barrier without the interpreter's lock. And as NumPy is one: 20 ms of CPU time without it.
LIBRARY = r"""
#include <Python.h>
#include <mpi.h>
#include <time.h>
static PyObject *begin(PyObject *self, PyObject *none) {
  int provided;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
  Py_RETURN_NONE;
}
static PyObject *end(PyObject *self, PyObject *none) {
  MPI_Finalize();
  Py_RETURN_NONE;
}
static void finalize(void) {
  int over;
  MPI_Finalized(&over);
  if (!over) MPI_Finalize();
}
static PyObject *at_exit(PyObject *self, PyObject *none) { return PyLong_FromLong(Py_AtExit(finalize)); }
static PyObject *barrier(PyObject *self, PyObject *none) {
  Py_BEGIN_ALLOW_THREADS
  MPI_Barrier(MPI_COMM_WORLD);
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}
static PyObject *compute(PyObject *self, PyObject *none) {
  struct timespec begin, now;
  Py_BEGIN_ALLOW_THREADS
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 20000000);
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"begin", begin, METH_NOARGS, ""}, {"end", end, METH_NOARGS, ""},
                                {"at_exit", at_exit, METH_NOARGS, ""},
                                {"barrier", barrier, METH_NOARGS, ""}, {"compute", compute, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "library", "", -1, methods};
PyMODINIT_FUNC PyInit_library(void) { return PyModule_Create(&module); }
"""

SCRIPT = """\
import library
def each(numbers):
    for n in numbers:
        yield n
        library.barrier()
class Thing:
    def __enter__(self): library.barrier()
    def __exit__(self, *rest): pass
library.begin()
assert sum(each(range(3))) == 3
with Thing(): library.barrier()
(lambda: library.barrier())()
exec("library.barrier()")
library.end()
"""
LINES = ["script.py:5", "script.py:5", "script.py:5", "script.py:7", "script.py:11", "script.py:12", "<string>:1"]

# Calls while another thread computes, and at the interpreter's end.
THREADS = """\
import library, threading, time
library.begin()
library.at_exit()
stop = False
def compute():
    while not stop: sum(range(1000))
others = [threading.Thread(target=compute) for _ in range(2)]
for other in others: other.start()
def barriers():
    for _ in range(4): library.barrier()
caller = threading.Thread(target=barriers)
caller.start()
caller.join()
stop = True
for other in others: other.join()
"""

# Another thread is through before the first one, which was in a call meanwhile, waits for it: here, not on the target.
LATE = """\
import concurrent.futures, library, os, queue, sys, threading
library.begin()
reads, writes = os.pipe()
def by_thread():
    def work(): library.compute(), os.write(writes, b"x")
    thread = threading.Thread(target=work)
    thread.start(), os.read(reads, 1)
    while os.path.exists(f"/proc/self/task/{thread.native_id}"): os.sched_yield()
    library.barrier(), thread.join()
def by_event():
    done = threading.Event()
    def work(): library.compute(), done.set(), os.write(writes, b"x")
    threading.Thread(target=work).start()
    os.read(reads, 1), library.barrier(), done.wait()
def by_queue():
    done = queue.Queue()
    def work(): library.compute(), done.put(1), os.write(writes, b"x")
    threading.Thread(target=work).start()
    os.read(reads, 1), library.barrier(), done.get()
pool = concurrent.futures.ThreadPoolExecutor(1)
def by_future():
    future = pool.submit(library.compute)
    future.add_done_callback(lambda _: os.write(writes, b"x"))
    os.read(reads, 1), library.barrier(), future.result()
for _ in range(3):
    globals()["by_" + sys.argv[1]]()
    library.barrier()
library.end()
"""

# Two threads compute 20 ms each, at the same time or with the interpreter's lock in turns.
LOCK = """\
import hashlib, library, sys, threading, time
library.begin()
data = bytes(int(sys.argv[2]))
def compute():
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        if sys.argv[1] == "outside": hashlib.sha256(data)
for _ in range(3):
    other = threading.Thread(target=compute)
    other.start(), compute(), other.join()
    library.barrier()
library.end()
"""

# Calls in an interpreter beside the program's own; FIRST: it also begins.
INTERPRETERS = """\
import library, sys
try: import _xxsubinterpreters as interpreters
except ImportError: import _interpreters as interpreters
FIRST = False
if not FIRST: library.begin()
inner = interpreters.create()
text = "import sys\\nsys.path[:] = {}\\nimport library\\nif {}: library.begin()\\nfor _ in range(3): library.barrier()"
interpreters.run_string(inner, text.format(sys.path, FIRST))
interpreters.destroy(inner)
library.barrier()
library.end()
"""

PYTHON = "/usr/bin/python3"
HEADERS = subprocess.run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('include'))"],
                         capture_output=True, text=True).stdout.strip() if pathlib.Path(PYTHON).exists() else ""
MPI4PY = "import mpi4py.MPI as m; print(m.get_vendor()[0].replace(' ', '').lower())"


@unittest.skipUnless(HEADERS and (pathlib.Path(HEADERS) / "Python.h").exists(), "no headers of Python")
class Python(harness.TestCase):
    def program(self, text):
        ending = subprocess.run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"],
                                capture_output=True, text=True).stdout.strip()
        library = self.directory / f"library{ending}"
        if not library.exists():
            source = self.write("library.c", LIBRARY)
            self.ok(harness.run([f"mpicc.{harness.mpi}", "-shared", "-fPIC", f"-I{HEADERS}", source, "-o", library]))
        return [PYTHON, self.write("script.py", text)]

    def modes(self, program, *functions):
        """A trace or profile of each mode."""
        for mode, options in {"record": [], "predict": ["--machine", harness.T3D],
                              "simulate": ["--machine", harness.T3D], "profile": []}.items():
            out = self.directory / (mode + (".fprof" if mode == "profile" else ".ftr"))
            with self.subTest(mode=mode):
                self.foretrace(mode, "-n", 2, "--mpi", harness.mpi, *options, "-o", out, "--", *program)
                yield mode, out

    def places(self, mode, out):
        """Of rank 0's barriers."""
        if mode == "profile":
            sites = json.loads(self.foretrace("profile", "--read", out, "--json").out)["sites"]
            frames = [(site["frames"][0], site["calls"]) for site in sites if site["function"] == "MPI_Barrier"]
            return sorted(f"{pathlib.Path(frame['file']).name}:{frame['line']}"
                          for frame, calls in frames for _ in range(calls // 2))
        text = self.directory / "text.txt"
        self.foretrace("convert", out, text)
        rank0 = text.read_text().split("\nrank 0\n")[1].split("\nrank 1\n")[0]
        sites = re.findall(r"(?m)^site .* # (.*)$", rank0)
        return [sites[int(number) - 1] for number in re.findall(r"(?m)^i?collective MPI_Barrier.* site=(\d+)", rank0)]

    def test_lines(self):
        for mode, out in self.modes(self.program(SCRIPT)):
            found = self.places(mode, out)
            self.assertEqual(found, sorted(LINES) if mode == "profile" else LINES)

    def test_threads_and_the_end(self):
        for mode, out in self.modes(self.program(THREADS)):
            self.assertEqual(set(self.places(mode, out)), {"script.py:10"})

    def test_interpreters(self):
        """Calls in another interpreter are at a line of it, at that which entered it, or in the library. Where it
        made the first one as well, no line is known."""
        for first in (False, True):
            program = self.program(INTERPRETERS.replace("FIRST = False", f"FIRST = {first}"))
            for mode, out in self.modes(program):
                places = self.places(mode, out)
                self.assertEqual(len(places), 4, places)
                self.assertEqual("script.py:10" in places, not first, places)
                for place in places:
                    self.assertRegex(place, r"^(script\.py:(8|10)|<string>:5|:0|.*library.*)$")

    def test_what_a_thread_computed_that_is_waited_for_late(self):
        command = self.program(LATE)
        for form in ("thread", "event", "queue", "future"):
            for verb, machine in (("record", ()), ("predict", ("--machine", harness.T3D)), ("simulate", ("--machine", harness.T3D))):
                trace = self.directory / f"{verb}-late.ftr"
                with self.subTest(form=form, verb=verb):
                    self.foretrace(verb, "-n", 1, "--mpi", harness.mpi, *machine, "-o", trace, "--", *command, form)
                    computed = sum(fields.get("compute", 0) for _, _, fields in self.events(trace)[0]) * 1e-9
                    # Three times 20 ms, and what the interpreter does.
                    self.assertTrue(59 < computed < 75, computed)

    def test_threads_with_and_without_the_lock(self):
        """However few cores they share."""
        command = self.program(LOCK)
        for (where, size), each in {("outside", 10000): 20, ("outside", 1000000): 20, ("inside", 0): 40}.items():
            for verb, machine in (("record", ()), ("predict", ("--machine", harness.T3D)), ("simulate", ("--machine", harness.T3D))):
                trace = self.directory / f"{verb}-lock.ftr"
                with self.subTest(where=where, size=size, verb=verb):
                    for last in (False, False, True):
                        self.ok(harness.run(["taskset", "-c", min(os.sched_getaffinity(0)), harness.tool(), verb, "-n", 1, "--mpi",
                                             harness.mpi, *machine, "-o", trace, "--", *command, where, size],
                                            env={"OMPI_MCA_hwloc_base_binding_policy": "none"}))
                        computed = sum(fields.get("compute", 0) for _, _, fields in self.events(trace)[0]) * 1e-9
                        if 0.97 * 3 * each < computed < 1.15 * 3 * each + 6:
                            break
                        self.assertFalse(last, computed)

    def test_mpi4py(self):
        vendor = subprocess.run([PYTHON, "-c", MPI4PY], capture_output=True, text=True, env=harness.environment())
        if harness.mpi not in vendor.stdout:
            self.skipTest("no mpi4py for this MPI")
        script = self.write("script.py", "from mpi4py import MPI\n\nMPI.COMM_WORLD.barrier()\n"
                                         "assert MPI.COMM_WORLD.allreduce(1) == 2\n")
        for mode, out in self.modes([PYTHON, script]):
            self.assertEqual(self.places(mode, out), ["script.py:3"])


if __name__ == "__main__":
    harness.main()
