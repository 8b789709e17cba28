"""Foretrace beside what real programs do around MPI (programs/attach.c): children, exec, threads,
scripts, MPI that is loaded late or finalised late. The output is that of a plain run, and the calls
are seen."""

import unittest

import harness


SESSIONS = """
#include <mpi.h>
#include <stdio.h>
int main(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int one = 1, sum = 0, size = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "tag", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  printf("%d of %d\\n", sum, size);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  return 0;
}
"""


class Attach(harness.TestCase):
    ranks = 3

    def run_modes(self, *command, options=(), calls=("MPI_Allreduce",), modes=("record", "predict")):
        """Runs the command plainly and in each mode; every rank's `calls` have to be in the traces."""
        plain = self.ok(harness.plain(self.ranks, command)).out
        for mode in modes:
            with self.subTest(mode=mode):
                trace = self.directory / f"{mode}.ftr"
                machine = ["--machine", harness.T3D] if mode == "predict" else []
                ended = self.foretrace(mode, *machine, "-n", self.ranks, *options, "-o", trace, "--", *command)
                self.assertEqual(sorted(ended.out.splitlines()), sorted(plain.splitlines()))
                for events in self.events(trace):
                    names = [event[1] for event in events]
                    for call in calls:
                        self.assertEqual(names.count(call), 1, names)
                    self.assertEqual(names[-1], "MPI_Finalize")
        live = self.foretrace("simulate", "-n", self.ranks, "--machine", harness.T3D, *options, "-o",
                              self.directory / "live.ftr", "--", *command)
        self.assertEqual(sorted(line for line in live.out.splitlines()
                                if not line.startswith(("predicted time", "serial time"))),
                         sorted(plain.splitlines()))

    def program(self, way):
        return [harness.test_program("attach"), way]

    def test_plain(self):
        self.run_modes(*self.program("plain"))

    def test_children(self):
        self.run_modes(*self.program("forks"))

    def test_becomes_itself(self):
        self.run_modes(*self.program("execs"))

    def test_finalize_at_exit(self):
        self.run_modes(*self.program("at_exit"))

    def test_threads(self):
        self.run_modes(*self.program("threads"), calls=())

    def test_script(self):
        script = self.write("run.sh", f"#!/bin/sh\ncd / && exec {harness.test_program('attach')} plain\n")
        script.chmod(0o755)
        refused = self.foretrace("record", "-n", 2, "--", script, status=2)
        self.assertIn("--mpi openmpi or --mpi mpich", refused.err)
        self.run_modes(script, options=("--mpi", harness.mpi))

    def test_loaded_late(self):
        module = harness.build / "tests/programs" / harness.mpi / "late_module.so"
        self.run_modes(harness.build / "tests/bin/loads_late", module, options=("--mpi", harness.mpi),
                       calls=("MPI_Allreduce", "MPI_Barrier"))

    def test_never_initialised(self):
        ended = self.foretrace("record", "-n", 2, "-o", self.directory / "r.ftr", "--",
                               *self.program("never"), status=1)
        self.assertEqual(ended.out, "not initialised\n" * 2)
        self.assertIn("no rank came to MPI_Init", ended.err)
        self.assertFalse((self.directory / "r.ftr").exists())

    def test_found_by_dlsym(self):
        """As Julia and Python's ctypes call MPI: nothing is recorded, and the line says what may be why."""
        library = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}[harness.mpi]
        source = self.write("finds.c", FINDS)
        program = self.directory / "finds"
        self.ok(harness.run(["cc", f'-DLIBRARY="{library}"', source, "-o", program, "-ldl"]))
        ended = self.foretrace("record", "-n", 2, "--mpi", harness.mpi, "-o", self.directory / "r.ftr", "--", program,
                               status=1)
        self.assertEqual(ended.out.count("done"), 2)
        self.assertIn("no rank came to MPI_Init", ended.err)
        self.assertIn("by dlsym", ended.err)

    def test_sessions_alone(self):
        """Nothing is recorded, and one line says why."""
        source = self.write("sessions.c", SESSIONS)
        program = self.directory / "sessions"
        if harness.run([f"mpicc.{harness.mpi}", source, "-o", program]).status != 0:
            self.skipTest(f"{harness.mpi} has no MPI sessions here")
        for mode in (["record"], ["profile"], ["predict", "--machine", harness.T3D]):
            with self.subTest(mode=mode[0]):
                ended = self.foretrace(*mode, "-n", 2, "--", program, cwd=self.directory)
                self.assertEqual(ended.out, "2 of 2\n" * 2)
                self.assertEqual(ended.err.count("\n"), 1, str(ended))
                self.assertIn("MPI sessions alone are not followed; no ", ended.err)
                self.assertEqual({path.name for path in self.directory.iterdir()}, {"sessions", "sessions.c"})

    def test_static(self):
        source = self.write("hello.c", '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n')
        program = self.directory / "hello"
        self.ok(harness.run(["cc", "-static", source, "-o", program]))
        for options in ((), ("--mpi", harness.mpi)):
            ended = self.foretrace("record", "-n", 2, *options, "--", program, status=2)
            self.assertIn("is statically linked", ended.err)
            self.assertEqual(ended.out, "")
        inside = harness.run([*harness.launcher(2), harness.build / "bin/foretrace", "record", "--mpi",
                              harness.mpi, "-o", self.directory / "r.ftr", "--", program])
        self.assertNotEqual(inside.status, 0)
        self.assertIn("is statically linked", inside.err)

    def test_static_mpi(self):
        """MPI itself linked into the program: calls between its parts pass nobody."""
        if harness.mpi != "mpich":
            self.skipTest("only MPICH comes as a static library")
        program = self.directory / "static_mpi"
        source = harness.SOURCE / "tests/e2e/programs/late_module.c"
        self.write("main.c", "void run(void);\nint main(void) { run(); return 0; }\n")
        built = harness.run(["mpicc.mpich", "-static-mpi", self.directory / "main.c", source, "-o", program])
        if built.status != 0:
            self.skipTest("cannot link MPICH statically here")
        for options in ((), ("--mpi", "mpich")):
            ended = self.foretrace("record", "-n", 2, *options, "-o", self.directory / "r.ftr", "--", program,
                                   status=2)
            self.assertIn("MPI is linked into it statically", ended.err)


FINDS = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  int (*init)(void *, void *) = (int (*)(void *, void *))dlsym(library, "MPI_Init");
  int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
  init(0, 0);
  finalize();
  puts("done");
  return 0;
}
"""


if __name__ == "__main__":
    harness.main()
