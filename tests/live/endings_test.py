"""How runs end that do not end well: ranks that die, abort, exit or wait for ever, and launchers that are
killed. Each ends with a status and a line that says who and why, leaves a trace that can be read, and
no process, no shared memory and no file behind."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import harness_live
from harness_live import harness

# Each rank prints 200 lines, and is ended.
PRINTS = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 200; ++i) printf("rank %d says that this is line %03d\n", rank, i);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(argv[1], "abort") && rank == 2) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Recv(&value, 1, MPI_INT, (rank + 1) % 3, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""

PATIENCE = 30  # seconds until what has to go is gone

DEADLOCK = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, size, value = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  switch (atoi(argv[1])) {
    case 0: MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
    case 1: MPI_Ssend(&value, 1, MPI_INT, (rank + 1) % size, 6, MPI_COMM_WORLD); break;
    case 2:
      if (rank > 0) MPI_Barrier(MPI_COMM_WORLD);
      else MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      break;
    case 3:
      MPI_Irecv(&value, 1, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 4: MPI_Probe((rank + 1) % size, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
    default: /* one is gone, the other waits for it */
      if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
"""

MISTAKES = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, sum, values[4] = {0};
  double one = 1, all;
  MPI_Request request;
  MPI_Datatype pair;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  switch (atoi(argv[1])) {
    case 0:
      if (rank == 0) MPI_Send(values, 4, MPI_INT, 1, 3, MPI_COMM_WORLD);
      else MPI_Recv(values, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      break;
    case 1:
      if (rank == 0) MPI_Bcast(values, 1, MPI_INT, 0, MPI_COMM_WORLD);
      else MPI_Allreduce(values, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      break;
    case 3:
      MPI_Finalize();
      MPI_Barrier(MPI_COMM_WORLD);
      return 0;
    case 4:
      MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);
      break;
    case 5:
    case 6:
      MPI_Type_contiguous(2, MPI_INT, &pair);
      MPI_Type_commit(&pair);
      if (atoi(argv[1]) == 6) MPI_Type_set_name(pair, "my pair");
      MPI_Allreduce(values, values + 2, 1, pair, MPI_SUM, MPI_COMM_WORLD);
      break;
    default:
      if (rank == 0) MPI_Send(values, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
      else MPI_Irecv(values, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &request);
  }
  MPI_Finalize();
  return 0;
}
"""

FOREVER = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, value, self = getpid(), last;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(&self, &last, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) { printf("ready\n%d\n", last); fflush(stdout); }
  if (!strcmp(argv[1], "compute") && rank == 1) for (volatile long i = 0;; ++i) {}
  if (!strcmp(argv[1], "polls") && rank == 1)
    for (int flag = 0; ; ) MPI_Iprobe(0, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), MPI_Wtime();
  MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""


# Rank 0, or two ranks, look for a message that never comes; rank 2 waits in a barrier.
LOOKS = r"""
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, flag = 0, value, lookers = 1;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!strcmp(argv[1], "both")) lookers = 2;
  if (!strcmp(argv[1], "test")) MPI_Irecv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
  while (rank < lookers && !flag) {
    if (!strcmp(argv[1], "computes")) for (volatile int i = 0; i < 3000000; ++i) {}
    if (!strcmp(argv[1], "test")) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    else MPI_Iprobe((rank + 1) % 2, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Wtime();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


# Ranks from a number on leave when all is done, but without MPI_Finalize.
LEAVES = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, value, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0) MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank >= atoi(argv[1]) && rank > 0) exit(0);
  for (int i = 1; rank == 0 && i < 3; ++i)
    MPI_Recv(&value, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank < atoi(argv[1])) MPI_Finalize();
  return 0;
}
"""


LEAVES_EARLY = r"""
#include <mpi.h>
#include <signal.h>
int main(int argc, char **argv) {
  int rank, value;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 4) raise(SIGKILL);
  if (rank == 3) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


# Rank 1 does not come to MPI_Init. The others wait for all, or only for each other.
EARLY = r"""
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, value = 0;
  const char *place = getenv("OMPI_COMM_WORLD_RANK");
  if (atoi(place ? place : getenv("PMI_RANK")) == 1) {
    if (!strcmp(argv[1], "signal")) raise(atoi(argv[2]));
    exit(atoi(argv[2]));
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 3) MPI_Barrier(MPI_COMM_WORLD);
  else if (rank == 0) MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
  else MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""

MEETS = r"""
#include <mpi.h>
int main(void) {
  MPI_Init(0, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


def shared_memory():
    return {path.name for path in pathlib.Path("/dev/shm").iterdir() if "foretrace" in path.name}


class Endings(harness_live.TestCase):
    def setUp(self):
        super().setUp()
        self.before = shared_memory()

    def misbehave(self, *arguments):
        """A copy whose path is in no other process's command line."""
        program = self.directory / "misbehave"
        if not program.exists():
            shutil.copy(harness.test_program("misbehave"), program)
        return [program, *arguments]

    def nothing_is_left(self, *more):
        """No process, no shared memory; nothing but the trace and what was there."""
        end = time.monotonic() + PATIENCE
        while True:
            processes = harness_live.processes_with(str(self.directory))
            memory = shared_memory() - self.before
            if not processes and not memory:
                break
            if time.monotonic() > end:
                self.fail(f"left behind: processes {processes}, shared memory {sorted(memory)}")
            time.sleep(0.05)
        files = {path.name for path in self.directory.iterdir()}
        self.assertLessEqual(files, {"live.ftr", "misbehave", "program", "program.c", *more})

    def readable(self, complete):
        report = self.report(self.directory / "live.ftr")
        self.assertEqual(report["complete"], complete, report)
        return report

    def ends(self, arguments, status, *says, ranks=3, complete=False):
        result = harness.run(self.live_command(ranks, self.misbehave(*arguments)), limit=100)
        self.ok(result, status)
        for words in says:
            self.assertIn(words, result.err, str(result))
        self.nothing_is_left()
        self.readable(complete)
        return result

    def test_signal(self):
        result = self.ends(["segv"], 128 + signal.SIGSEGV, "rank 1")
        self.assertRegex(result.err, r"rank 1.*(SIGSEGV|Segmentation fault|signal 11)")

    def test_killed(self):
        result = self.ends(["kill"], 128 + signal.SIGKILL, "rank 1")
        self.assertRegex(result.err, r"rank 1.*(SIGKILL|Killed|signal 9)")

    def test_what_is_left_is_told(self):
        """Where the ranks were, those in one place together, and what the trace holds."""
        program = self.compile(LEAVES_EARLY)
        result = self.ok(harness.run(self.live_command(6, [program]), limit=100), 128 + signal.SIGKILL)
        trace = self.directory / "live.ftr"
        events = sum(len(rank) for rank in self.events(trace))
        places = {}
        for ranks, place in re.findall(r"^foretrace: ranks? ([0-9, -]+): last seen ((?:in|after) \w+ at \S+)$", result.err, re.M):
            for first, last in re.findall(r"(\d+)(?:-(\d+))?", ranks):
                places.update((rank, place) for rank in range(int(first), int(last or first) + 1))
        # Who had no core before the signal came had not come further than MPI_Init.
        init, recv, barrier = "MPI_Init at program.c:6", "in MPI_Recv at program.c:9", "in MPI_Barrier at program.c:10"
        inits = [f"in {init}", f"after {init}", "after MPI_Comm_rank at program.c:7"]
        self.assertEqual(sorted(places), list(range(6)), result.err)
        for rank, place in places.items():
            self.assertIn(place, inits + ([recv] if rank == 3 else [barrier]), result.err)
        self.assertEqual(places[4], inits[-1])
        self.assertRegex(result.err, rf"foretrace: {trace} holds what happened until then: {events} events of \d of 6 "
                                     r"ranks, until \S+ s\n")
        untraced = [word for word in self.live_command(6, [program]) if word not in ("-o", trace)]
        result = self.ok(harness.run(untraced, limit=100), 128 + signal.SIGKILL)
        self.assertRegex(result.err, "rank.*: last seen in MPI_")
        self.assertNotIn("holds what happened", result.err)

    def test_exit_without_finalize(self):
        self.ends(["exit", 7], 7, "rank 1: exited with status 7 without MPI_Finalize", "rank 1: last seen after MPI_")

    def test_exit_with_0_without_finalize(self):
        """It is told; nothing else depends on it."""
        program = self.compile(LEAVES)
        for argument, text in ((0, "rank 0 and 2 others"), (1, "ranks 1 and 2"), (2, "rank 2")):
            result = self.ok(harness.run(self.live_command(3, [program, argument]), limit=100))
            self.assertIn(f"foretrace: {text} ended without MPI_Finalize; what was computed there after the last "
                          "call of MPI is left out\n", result.err, str(result))
            self.assertNotIn("no FORETRACE_COMPUTE seen", result.err)  # it may be what is left out
            self.nothing_is_left()
            self.assertEqual(self.readable(True)["ranks"], 3)

    def test_exit_with_0_before_others_are_done(self):
        """They wait for it for ever."""
        result = harness.run(self.live_command(3, self.misbehave("exit", 0)), limit=100)
        self.ok(result, 1)
        self.assertIn("rank 1 ended without MPI_Finalize", result.err)
        self.assertIn("MPI_Barrier", result.err)
        self.nothing_is_left()

    def test_what_was_printed_is_there(self):
        """Whole lines, however the ranks end: standard output is a pipe here."""
        program = self.compile(PRINTS)
        for how, status in (("abort", 3), ("deadlock", 1)):
            with self.subTest(how=how):
                result = self.ok(harness.run(self.live_command(3, [program, how]), limit=100), status)
                lines = re.findall(r"(?m)^rank \d says that this is line \d{3}$", result.out)
                self.assertEqual(len(set(lines)), 600, str(result)[:2000])
                self.nothing_is_left()

    def test_abort(self):
        self.ends(["abort", 5], 5, "rank 1", "MPI_Abort")

    def test_status_after_finalize(self):
        self.ends(["status", 4], 4, complete=True)

    def test_exit_before_init(self):
        """All of them: it cannot have been what was asked for."""
        for status in (0, 3):
            result = harness.run(self.live_command(3, self.misbehave("exit_before_init", status)), limit=100)
            self.ok(result, status or 1)
            self.nothing_is_left()

    def test_one_fails_before_init(self):
        """It ends the run as one does that fails later, whether others wait for it or not."""
        program = self.compile(EARLY)
        for how, number, status, says in (
                ("signal", signal.SIGSEGV, 128 + signal.SIGSEGV, r"killed by signal 11 \(.*\) before MPI_Init"),
                ("exit", 3, 3, "exited with status 3 without MPI_Init")):
            for waits in ([], ["all"]):
                with self.subTest(how=how, waits=waits):
                    result = self.ok(harness.run(self.live_command(3, [program, how, number, *waits]), limit=30),
                                     status)
                    self.assertRegex(result.err, f"foretrace: rank 1: {says}\n")
                    self.assertEqual(result.out, "", "a prediction")
                    self.nothing_is_left()

    def test_one_leaves_before_init(self):
        """With status 0 that is an error only if others wait for it."""
        program = self.compile(EARLY)
        result = self.ok(harness.run(self.live_command(3, [program, "exit", 0, "all"]), limit=30), 1)
        self.assertIn("deadlock on the target: rank 1 ended without MPI_Init", result.err)
        self.assertIn("ranks 0, 2: last seen in MPI_Barrier", result.err)
        self.assertEqual(result.out, "", "a prediction")
        self.nothing_is_left()
        result = self.ok(harness.run(self.live_command(3, [program, "exit", 0]), limit=30))
        self.assertIn("predicted time", result.out)
        self.assertIn("rank 1's trace ends at event 0 (it ended without MPI_Init)", result.err)

    def script(self, text):
        """A script that gets the program as its first argument."""
        script = self.write("script.sh", "#!/bin/sh\n" + text + "\n")
        script.chmod(0o755)
        return script

    def test_second_program_of_a_script(self):
        """It is refused, whether the first one has ended or not, and whatever the script makes of that."""
        program = self.compile(MEETS)
        for text in ('"$1"; "$1"; true', '"$1" & "$1"; wait', 'while true; do "$1"; done'):
            with self.subTest(script=text):
                command = self.live_command(2, [self.script(text), program], options=["--mpi", harness.mpi])
                result = self.ok(harness.run(command, limit=30), 3)
                lines = [line for line in result.err.splitlines() if "holds what happened until then" not in line]
                self.assertEqual(len(lines), 1, result.err)
                self.assertIn("foretrace: a second program comes to MPI_Init on one rank", lines[0])
                self.assertEqual(result.out, "", "a prediction")
                self.nothing_is_left("script.sh")

    def test_program_of_a_script_that_waits_for_ever(self):
        """It is not the script's process."""
        script = self.script('"$1" 0; true')
        command = self.live_command(2, [script, self.compile(DEADLOCK)], options=["--mpi", harness.mpi])
        result = self.ok(harness.run(command, limit=30), 1)
        self.assertIn("deadlock", result.err)
        self.nothing_is_left("script.sh")

    def test_no_such_program(self):
        result = harness.run(self.live_command(3, [self.directory / "none"]), limit=100)
        self.assertNotEqual(result.status, 0)
        self.assertEqual(len(result.err.splitlines()), 1, str(result))
        self.assertIn("none", result.err)
        self.nothing_is_left()

    def test_output_passes(self):
        result = self.ends(["print"], 0, complete=True)
        for rank in range(3):
            for where in ("between", "after MPI_Finalize"):
                self.assertIn(f"rank {rank} says hello to stdout {where}", result.out)
                self.assertIn(f"rank {rank} says hello to stderr {where}", result.err)

    def test_deadlocks(self):
        """Every rank is named with its call, partner and tag."""
        program = self.compile(DEADLOCK)
        expected = [
            r"rank {0}\b.*MPI_Recv.*rank {1}\b.*tag 5", r"rank {0}\b.*MPI_Ssend.*rank {1}\b.*tag 6", None,
            r"rank {0}\b.*MPI_Wait", r"rank {0}\b.*MPI_Probe"]
        for which, pattern in enumerate(expected):
            with self.subTest(which=which):
                result = self.ok(harness.run(self.live_command(3, [program, which]), limit=100), 1)
                self.assertIn("deadlock", result.err, str(result))
                self.assertIn("program.c:", result.err, "no source line")
                for rank in range(3):
                    if pattern:
                        self.assertRegex(result.err, pattern.format(rank, (rank + 1) % 3))
                if not pattern:
                    self.assertRegex(result.err, r"rank 0\b.*MPI_Recv.*any.*tag 7")
                    self.assertRegex(result.err, r"rank 2\b.*MPI_Barrier")
                self.nothing_is_left()
                self.readable(False)
        result = self.ok(harness.run(self.live_command(2, [program, 5]), limit=100), 1)
        self.assertRegex(result.err, r"rank 0\b.*MPI_Recv.*rank 1\b.*tag 10")
        self.nothing_is_left()

    def test_ranks_that_only_look(self):
        """A loop that polls for what never comes is told once, with where all ranks are; the run goes on. One that
        computes between its looks, or has others that do, is not."""
        program = self.compile(LOOKS)
        says = "for 15 seconds no rank has done anything but look for what does not come:"
        waits = {}
        for which in ("iprobe", "test", "both", "computes"):
            command = [str(word) for word in self.live_command(3, [program, which], compute="none",
                                                                        name=f"{which}.ftr")]
            with open(self.directory / f"{which}.err", "w") as err:
                waits[which] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err,
                                                start_new_session=True, env=harness.environment())
            self.addCleanup(harness.kill, waits[which])

        def said(which):
            return (self.directory / f"{which}.err").read_text()

        end = time.monotonic() + 15 + PATIENCE
        while not all(says in said(which) for which in ("iprobe", "test", "both")) and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(4)  # for what must not come: a second time, and of the one that computes
        for which, run in waits.items():
            with self.subTest(which=which):
                self.assertIsNone(run.poll(), "the run has ended")
                run.send_signal(signal.SIGINT)
                run.wait(timeout=PATIENCE)
                told = said(which).partition("foretrace: interrupted")[0]
                if which == "computes":
                    self.assertEqual(told, "")
                    continue
                self.assertEqual(told.count(says), 1, told)
                call = "MPI_Test" if which == "test" else "MPI_Iprobe"
                self.assertRegex(told, rf"ranks? 0(, 1)?: last seen (in|after) {call} at program\.c:\d+\n")
                self.assertRegex(told, r"ranks? (1, )?2: last seen in MPI_Barrier at program\.c:\d+\n")
                self.assertIn("the run goes on; Ctrl-C ends it\n", told)

    def mistake(self, which, *says):
        result = harness.run(self.live_command(2, [self.compile(MISTAKES), which]), limit=100)
        for words in says:
            self.assertIn(words, result.err, str(result))
        self.nothing_is_left()
        return result

    def test_message_longer_than_its_buffer(self):
        result = self.mistake(0, "rank 1: MPI_Recv: MPI_ERR_TRUNCATE", "16 bytes from rank 0 with tag 3")
        self.assertNotEqual(result.status, 0)

    def test_operation_without_a_meaning_for_the_type(self):
        for which, says in ((4, "datatype MPI_DOUBLE"), (5, "a derived datatype without a name"), (6, "datatype my pair")):
            result = self.mistake(which, f"MPI_Allreduce: MPI_ERR_OP: the operation is not defined for {says}\n")
            self.assertNotEqual(result.status, 0)

    def test_different_collectives(self):
        result = self.mistake(1, "rank 0 calls MPI_Bcast", "rank 1 calls MPI_Allreduce")
        self.assertEqual(result.status, 1)

    def test_call_after_the_end(self):
        result = self.mistake(3, "MPI_Barrier is called before MPI_Init or after MPI_Finalize")
        self.assertEqual(result.status, 1)

    def test_left_at_the_end(self):
        result = self.mistake(2, "from rank 0 to rank 1, tag 5, 4 bytes", "rank 1 left 1 request")
        self.assertEqual(result.status, 0)

    def launcher_gets(self, number, what):
        program = self.compile(FOREVER)
        command = [str(word) for word in self.live_command(4, [program, what])]
        launcher = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    stdin=subprocess.DEVNULL, start_new_session=True,
                                    env=harness.environment())
        try:
            self.assertEqual(launcher.stdout.readline(), b"ready\n")
            time.sleep(0.3)
            if number == signal.SIGINT:
                os.killpg(launcher.pid, number)  # as a terminal does
            else:
                os.kill(launcher.pid, number)
            launcher.communicate(timeout=20)
            self.assertNotEqual(launcher.returncode, 0)
            # Who is killed cannot give the trace its name.
            self.nothing_is_left(*["live.ftr.part", "live.ftr.lock"] if number == signal.SIGKILL else [])
        finally:
            harness.kill(launcher)
            launcher.wait()

    def test_interrupted(self):
        self.launcher_gets(signal.SIGINT, "compute")

    def test_terminated(self):
        self.launcher_gets(signal.SIGTERM, "compute")

    def test_launcher_killed(self):
        for what in ("compute", "polls"):
            with self.subTest(what=what):
                self.launcher_gets(signal.SIGKILL, what)

    def test_rank_killed_from_outside(self):
        program = self.compile(FOREVER)
        command = [str(word) for word in self.live_command(4, [program, "compute"])]
        launcher = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    stdin=subprocess.DEVNULL, start_new_session=True,
                                    env=harness.environment())
        try:
            self.assertEqual(launcher.stdout.readline(), "ready\n")
            # Not any of the program's processes: from one of them others are made.
            os.kill(int(launcher.stdout.readline()), signal.SIGKILL)
            _, said = launcher.communicate(timeout=20)
            self.assertNotEqual(launcher.returncode, 0)
            self.assertRegex(said, r"rank \d")
            self.nothing_is_left()
            self.readable(False)
        finally:
            harness.kill(launcher)
            launcher.wait()


if __name__ == "__main__":
    harness.main(together=2, first=["test_ranks_that_only_look"])
