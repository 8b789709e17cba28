"""Runs that are killed at any moment, full disks, and much of everything: what was recorded until then
is there and makes sense, and the program's results are those of a plain run.

With FORETRACE_FAULTS=all in the environment a run is killed 100 times, instead of 8, and there are 10,000
communicators and 100,000 requests.
"""

import fcntl
import json
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import termios
import time
import unittest

import harness

ALL = os.environ.get("FORETRACE_FAULTS") == "all"
KILLS = 100 if ALL else 8
COMMUNICATORS = 10_000 if ALL else 1000
REQUESTS = 100_000 if ALL else 10_000
CALLS = 100_000 if ALL else 10_000
# Calls of `faults ring` that count; whatever else the run calls has another name.
COUNTED = "MPI_Irecv|MPI_Isend|MPI_Waitall|MPI_Sendrecv|MPI_Allreduce"


def program(*arguments):
    return [harness.test_program("faults"), *arguments]


class Kills(harness.TestCase):
    RANKS = 2
    MODES = (["record"], ["record", "--clock", "wall"], ["predict", "--machine", harness.T3D, "--compute", "measured"])

    def start(self, mode):
        self.counters = self.directory / "counters"
        self.counters.unlink(missing_ok=True)
        self.trace = self.directory / "run.ftr"
        command = [harness.build / "bin" / "foretrace", *mode, "-n", self.RANKS, "-o", self.trace, "--",
                   *program("ring", self.counters)]
        return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                start_new_session=True, env=harness.environment())

    def returned(self):
        """How many calls have returned, by rank."""
        try:
            data = self.counters.read_bytes()
        except FileNotFoundError:
            return [0] * self.RANKS
        return list(struct.unpack(f"<{len(data) // 8}Q", data)) or [0] * self.RANKS

    def wait_until_under_way(self, process):
        end = time.monotonic() + 60
        while min(self.returned()) == 0:
            self.assertIsNone(process.poll(), "the run ended before it was killed")
            self.assertLess(time.monotonic(), end, "the run does not begin")
            time.sleep(0.01)

    def victims(self, process, whom):
        """Process numbers, by what /proc says that they run."""
        if whom == "tool":
            return [process.pid]
        found = []
        for pid in harness.descendants(process.pid):
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            name = os.path.basename(words[0].decode())
            if (name == "faults" and whom == "rank") or (name.startswith(("mpirun", "mpiexec")) and whom == "launcher"):
                found.append(pid)
        return sorted(found)

    def kill_once(self, number, rng):
        mode = self.MODES[number % len(self.MODES)]
        whom = ("rank", "rank", "launcher", "tool")[number % 4]
        process = self.start(mode)
        try:
            self.wait_until_under_way(process)
            time.sleep(rng.uniform(0, 0.05))
            victims = self.victims(process, whom)
            self.assertTrue(victims, f"no {whom} to kill")
            ranks = self.victims(process, "rank")
            os.kill(rng.choice(victims), signal.SIGKILL)
            if whom == "tool":
                process.wait()
            else:
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    self.fail(f"kill {number} of a {whom}: the run does not end")
                self.assertNotEqual(process.returncode, 0)
        finally:
            harness.kill(process)
            process.stderr.close()
            process.wait()
        # Ranks that lost their launcher may live on until they notice.
        for pid in ranks:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.check(f"kill {number} of a {whom} under {' '.join(map(str, mode))}", ranks)

    def check(self, what, ranks):
        end = time.monotonic() + 30
        while any(os.path.exists(f"/proc/{pid}") for pid in ranks) and time.monotonic() < end:
            time.sleep(0.01)
        trace = self.trace if self.trace.exists() else self.directory / "run.ftr.part"
        self.assertTrue(trace.exists(), what)
        text = self.directory / "run.txt"
        self.foretrace("convert", trace, text, "--from", "trace")  # status 1 if anything is damaged
        lines = text.read_text().split("\nrank ")
        self.assertIn("\nincomplete\n", lines[0] + "\n", what)
        for rank, returned in enumerate(self.returned()):
            recorded = len(re.findall(rf"^\w+ ({COUNTED}) ", lines[1 + rank], re.M))
            self.assertIn(recorded - returned, (0, 1), f"{what}: rank {rank} made {returned} calls")
        report = json.loads(self.foretrace("report", trace, "--json").out)
        self.assertFalse(report["complete"], what)
        self.assertEqual(report["damage"], [], what)
        for path in (trace, text):
            path.unlink()

    def test_kills(self):
        rng = random.Random(f"{harness.mpi} {KILLS}")
        for number in range(KILLS):
            self.kill_once(number, rng)


class Much(harness.TestCase):
    # Of the second half of a run, beyond what a plain run takes; what a block of the trace takes is less.
    MOST_KIB = 2048

    def check(self, *arguments, ranks=2, limit=240):
        """The results of a plain run, and no more memory for twice as many rounds."""
        plain = self.ok(harness.plain(ranks, program(*arguments), limit=limit))
        traces = []
        for name, run in (("record", self.record), ("predict", self.predict)):
            with self.subTest(mode=name):
                traces.append(run(ranks, program(*arguments), limit=limit))
                self.assertEqual(self.result.out, plain.out)
                own, without = (int(re.search(r"second half: (\d+) KiB", result.err).group(1))
                                for result in (self.result, plain))
                self.assertLess(own, without + self.MOST_KIB)
        return traces

    def count(self, trace, function):
        report = json.loads(self.foretrace("report", trace, "--json").out)
        self.assertTrue(report["complete"])
        return next(f["calls"] for f in report["functions"] if f["name"] == function)

    def test_communicators(self):
        for trace in self.check("many_comms", COMMUNICATORS):
            for function in ("MPI_Comm_split", "MPI_Comm_free"):
                self.assertEqual(self.count(trace, function), 2 * COMMUNICATORS)

    def test_requests(self):
        """The second half has three times as many as are under way at once at first: what each of
        them left behind would show."""
        for trace in self.check("many_requests", REQUESTS // 2):
            self.assertEqual(self.count(trace, "MPI_Isend"), 6 * REQUESTS)
            self.assertEqual(self.count(trace, "MPI_Irecv"), 6 * REQUESTS)

    def test_tags(self):
        for trace in self.check("many_tags", CALLS):
            self.assertEqual(self.count(trace, "MPI_Sendrecv"), 2 * CALLS)

    def test_calls(self):
        for trace in self.check("calls", CALLS):
            self.assertEqual(self.count(trace, "MPI_Sendrecv_replace"), 2 * CALLS)


class FullDisk(harness.TestCase):
    ROUNDS = 5000  # more than four times what there is room for
    ROOM = 64  # KiB

    def plain(self):
        return harness.plain(2, program("calls", self.ROUNDS)).out

    def check_said(self, result, *words):
        """The program's own output, our status, one sentence why, and no figure."""
        self.assertEqual(result.out, self.plain())
        self.ok(result, 1)
        said = [line for line in result.err.splitlines() if "could not" in line or "cannot" in line]
        self.assertEqual(len(said), 1, str(result))
        self.assertRegex(said[0], r"^foretrace: ")
        for word in words:
            self.assertIn(word, result.err, str(result))
        self.assertNotRegex(result.err, r"(predicted|CPU|measured) time")

    def check(self, result, trace):
        """A trace with what had room; whoever computes with it is told."""
        self.check_said(result, "found no room", "figures are of these alone")
        report = json.loads(self.foretrace("report", trace, "--json", status=1).out)
        self.assertFalse(report["complete"])
        calls = next(f["calls"] for f in report["functions"] if f["name"] == "MPI_Sendrecv_replace")
        self.assertGreater(calls, 1000)
        self.assertLess(calls, 2 * self.ROUNDS)
        refused = self.foretrace("simulate", trace, "--machine", harness.T3D, status=1)
        self.assertEqual(refused.out, "")
        self.assertIn("found no room", refused.err)

    def modes(self, directory, *more):
        for mode in (["record"], ["predict", "--machine", harness.T3D, "--compute", "none"]):
            trace = directory / f"{mode[0]}.ftr"
            yield trace, [harness.build / "bin" / "foretrace", *mode, "-n", 2, "-o", trace, "--",
                          *program("calls", self.ROUNDS, *more)]

    def profile(self, output, *more):
        return [harness.build / "bin" / "foretrace", "profile", "-n", 2, "-o", output, "--",
                *program("calls", self.ROUNDS, *more)]

    def disk(self, kib):
        disk = self.directory / f"disk{kib}"
        disk.mkdir()
        if os.geteuid() != 0 or harness.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", disk]).status != 0:
            self.skipTest("only root can make a small disk")
        self.addCleanup(harness.run, ["umount", disk])
        return disk

    def test_largest_file(self):
        for trace, command in self.modes(self.directory, self.ROOM):
            with self.subTest(mode=trace.stem):
                self.check(harness.run(command), trace)

    def test_nothing_may_be_written(self):
        """The disk is full from the beginning, or has room for the first rank alone."""
        for room in (4, 12):
            disk = self.disk(room)
            for trace, command in self.modes(disk):
                with self.subTest(mode=trace.stem, room=room):
                    self.check_said(harness.run(command), "the program runs on without Foretrace", "no trace was written")
            with self.subTest(mode="profile", room=room):
                self.check_said(harness.run(self.profile(disk / "p.fprof")),
                                "the program runs on without Foretrace", "no profile was written")
            self.assertEqual(list(disk.iterdir()), [])

    def test_small_disk(self):
        disk = self.disk(self.ROOM)
        for trace, command in self.modes(disk):
            with self.subTest(mode=trace.stem):
                self.check(harness.run(command), trace)
                trace.unlink()

    def test_no_room_to_seal(self):
        """All that happened is there, and can be read."""
        whole = self.record(2, program("calls", 100))
        disk = self.disk(20)
        trace = disk / "a.ftr"
        result = self.foretrace("record", "-n", 2, "-o", trace, "--", *program("calls", 100), status=1)
        self.assertIn("a.ftr: cannot write: No space left on device; the trace stays unsealed", result.err)
        self.assertNotIn("before MPI_Finalize", result.err)
        self.assertEqual([file.name for file in disk.iterdir()], ["a.ftr"])
        calls = [[f["calls"] for f in json.loads(self.foretrace("report", file, "--json").out)["functions"]]
                 for file in (trace, whole)]
        self.assertEqual(calls[0], calls[1])

    def test_files_of_the_tool(self):
        """What cannot be written whole is not there, and what was there before stays."""
        trace = self.record(2, program("calls", self.ROUNDS))
        disk = self.disk(16)
        for name, *command in (("a.ftr", "simulate", trace, "--machine", harness.T3D, "-o"),
                               ("a.txt", "convert", trace),
                               ("b.ftr", "convert", trace),
                               ("a.html", "timeline", trace, "-o")):
            with self.subTest(name=name):
                result = self.foretrace(*command, disk / name, status=1)
                # What was computed is known all the same.
                (self.assertRegex if command[0] == "simulate" else self.assertNotRegex)(result.out, "^predicted time ")
                self.assertRegex(result.err, rf"foretrace: .*/{name}: .*(cannot|could not)")
                self.assertEqual(list(disk.iterdir()), [])
        with open("/dev/full", "w") as full:
            command = [str(harness.build / "bin" / "foretrace"), "report", str(trace)]
            process = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((process.returncode, process.stderr),
                         (1, "foretrace: cannot write the output: No space left on device\n"))


    def test_live_run(self):
        """The run's own output and ours; what was there before stays. What was computed is known all the same."""
        for kib, begins in ((16, False), (64, True)):
            with self.subTest(kib=kib):
                disk = self.disk(kib)
                trace = disk / "a.ftr"
                precious = "FORETRC\nprecious"
                trace.write_text(precious)
                result = self.foretrace("simulate", "-n", 2, "--machine", harness.T3D, "--compute", "none", "-o", trace,
                                        "--", *program("calls", self.ROUNDS), status=1)
                self.assertRegex(result.err, r"foretrace: .*/a\.ftr.*(cannot .*No space left on device|could not)")
                self.assertEqual("predicted time" in result.out, begins)
                self.assertEqual([(file.name, file.read_text()) for file in disk.iterdir()], [("a.ftr", precious)])


class Interrupted(harness.TestCase):
    """Ctrl-C, which a terminal sends to all of a job: the status that shells make 130 of, and nothing left running."""

    def interrupt(self, command, has_begun, env=None, by=signal.SIGINT):
        """What it says on standard error."""
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=self.directory,
                                   env=harness.environment(env))
        try:
            end = time.monotonic() + 60
            while not has_begun() and process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            self.assertIsNone(process.poll(), "it has ended before")
            others = harness.descendants(process.pid)
            os.killpg(process.pid, by)
            _, err = process.communicate(timeout=30)
            self.assertEqual(process.returncode, -by, err)
            while (left := [pid for pid in others if os.path.exists(f"/proc/{pid}")]) and time.monotonic() < end + 30:
                time.sleep(0.01)
            self.assertEqual(left, [])
            return err
        finally:
            harness.kill(process)
            process.stderr.close()
            process.wait()

    def test_runs(self):
        counters = self.directory / "counters"
        tool = harness.build / "bin" / "foretrace"
        for by, *words in ((signal.SIGINT, "record", "-o", "r.ftr"), (signal.SIGTERM, "record", "-o", "t.ftr"),
                           (signal.SIGINT, "predict", "--machine", harness.T3D, "-o", "p.ftr"),
                           (signal.SIGTERM, "profile", "-o", "p.txt")):
            with self.subTest(by=by, words=words[0]):
                counters.unlink(missing_ok=True)
                err = self.interrupt([tool, words[0], "-n", 2, *words[1:], "--", *program("ring", counters)],
                                     counters.exists, by=by)
                self.assertIn("p.txt" if words[0] == "profile" else "the run ended before MPI_Finalize", err)
                self.assertTrue((self.directory / words[-1]).exists(), err)

    WARNED = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
static volatile sig_atomic_t told;
static void count(int which) { (void)which; ++told; }
int main(int argc, char **argv) {
  int rank, all = 0;
  signal(SIGUSR1, count);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fclose(fopen(argv[1], "w"));
  for (const time_t end = time(NULL) + 30; !told && time(NULL) < end;) {}
  int own = told;
  MPI_Reduce(&own, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("told %d\n", all);
  MPI_Finalize();
  return 0;
}
"""

    def test_warnings_go_to_the_ranks(self):
        """Signals of a batch system, or of who wants a checkpoint."""
        command = self.compile(self.WARNED, "warned")
        ready = self.directory / "ready"
        machine = ("--machine", harness.T3D)
        for out, *words in (("r.ftr", "record"), ("p.ftr", "predict", *machine), ("p.txt", "profile"), ("s.ftr", "simulate", *machine)):
            with self.subTest(words=words[0]):
                ready.unlink(missing_ok=True)
                process = subprocess.Popen([str(word) for word in (harness.build / "bin" / "foretrace", *words, "-n", 2, "-o",
                                            self.directory / out, "--", command, ready)],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=harness.environment(None))
                try:
                    end = time.monotonic() + 30
                    while not ready.exists() and time.monotonic() < end:
                        time.sleep(0.01)
                    process.send_signal(signal.SIGUSR1)
                    out, err = process.communicate(timeout=60)
                    self.assertEqual(process.returncode, 0, err)
                    self.assertIn("told 2\n", out)
                finally:
                    harness.kill(process)

    LAUNCHER = r"""
#include <signal.h>
#include <stdio.h>
#include <time.h>
static volatile sig_atomic_t told;
static void count(int which) { (void)which; ++told; }
int main(void) {
  signal(SIGINT, count);
  fclose(fopen("ready", "w"));
  for (const time_t end = time(NULL) + 30; !told && time(NULL) < end;) {}
  const time_t more = time(NULL) + 2;
  while (time(NULL) < more) {}
  fprintf(stderr, "told %d times\n", (int)told);
  return 1;
}
"""

    def test_launcher_is_told_once(self):
        """Whoever sends the signal, and to whom: one that is told twice leaves its ranks' shared memory behind."""
        (self.directory / "bin").mkdir()
        launcher = self.compile(self.LAUNCHER, f"bin/mpirun.{harness.mpi}")
        command = [str(word) for word in (harness.build / "bin" / "foretrace", "profile", "-n", 2, "-o", "p.txt", "--",
                                          *program("ring", "counters"))]
        env = harness.environment({"PATH": f"{launcher.parent}:{os.environ['PATH']}"})
        ready = self.directory / "ready"
        for whom in ("process", "group", "timeout", "terminal"):
            with self.subTest(whom=whom):
                ready.unlink(missing_ok=True)
                keyboard, terminal = os.openpty()
                process = subprocess.Popen(["timeout", "-s", "INT", "3", *command] if whom == "timeout" else command,
                                           stdin=terminal, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                           start_new_session=True, cwd=self.directory, env=env,
                                           preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
                try:
                    end = time.monotonic() + 30
                    while not ready.exists() and time.monotonic() < end:
                        time.sleep(0.01)
                    if whom == "process":
                        os.kill(process.pid, signal.SIGINT)
                    elif whom == "group":
                        os.killpg(process.pid, signal.SIGINT)
                    elif whom == "terminal":
                        os.write(keyboard, b"\x03")
                    _, err = process.communicate(timeout=30)
                    self.assertEqual(process.returncode, 124 if whom == "timeout" else -signal.SIGINT, err)
                    self.assertEqual(re.findall("^told.*", err, re.M), ["told 1 times"], err)
                finally:
                    harness.kill(process)
                    process.stderr.close()
                    process.wait()
                    os.close(keyboard)
                    os.close(terminal)

    def test_measure(self):
        """Neither the file on which the file functions are measured, nor anything else."""
        folder = self.directory / "here"
        folder.mkdir()
        self.interrupt([harness.build / "bin" / "foretrace", "measure", "-n", 2, "--mpi", harness.mpi, "--quick",
                        "-o", folder / "m.toml"], lambda: list(folder.glob("*.tmp")))
        self.assertEqual(list(folder.glob("*.tmp")), [])


class CutOff(harness.TestCase):
    def test_every_command_says_so(self):
        trace = self.record(2, program("calls", 2000))
        data = trace.read_bytes()
        cut = self.directory / "cut.ftr"
        for length in (100, 4096, 8192, 8200, len(data) // 2, len(data) - 1):
            cut.write_bytes(data[:length])
            where = f"file offset {length}: the file is cut off here" if length >= 8192 else f"offset {length}: the file is cut off"
            for command in (["report", cut], ["timeline", cut], ["compare", trace, cut],
                            ["simulate", cut, "--machine", harness.T3D], ["regions", cut, "-o", self.directory / "r.toml"],
                            ["convert", cut, self.directory / "cut.txt"]):
                with self.subTest(length=length, command=command[0]):
                    result = self.foretrace(*command, status=1)
                    self.assertIn(where, result.err)
                    self.assertNotIn("did not reach its end", result.out + result.err)
                    if command[0] in ("simulate", "regions"):
                        self.assertEqual(result.out, "")
                    if length >= 8192:
                        self.assertRegex(result.err, r"left are \d+ events of \d of 2 ranks, until ")
        self.assertFalse((self.directory / "r.toml").exists())


class EndedEarly(harness.TestCase):
    """A run that was killed: whatever is computed of its trace is of a part, is said to be, and is no success."""

    def test_every_command_says_so(self):
        trace = self.directory / "r.ftr"
        result = harness.foretrace("record", "-n", 3, "-o", trace, "--", harness.test_program("misbehave"), "kill")
        self.assertNotEqual(result.status, 0)
        self.assertRegex(result.err, r"foretrace: rank 1 was last seen after MPI_Recv \(event \d+\) at misbehave")
        says = r"run did not reach its end \(or still runs\); there are [1-9]\d* events of 3 of 3 ranks, until \S+ s; " \
               "figures are of these alone\n"
        predicted = self.directory / "p.ftr"
        machine = ["--machine", harness.T3D]
        result = harness.foretrace("predict", "-n", 3, *machine, "-o", predicted, "--", harness.test_program("misbehave"),
                                   "kill")
        self.assertRegex(result.err, r"foretrace: rank 1 was last seen after MPI_Recv \(event \d+\) at misbehave")
        for words in (["simulate", trace, *machine], ["simulate", trace, *machine, "-o", predicted],
                      ["simulate", trace, *machine, "--json", "-o", predicted],
                      ["simulate", trace, *machine, "--sweep", "compute=1,2"],
                      ["simulate", predicted, *machine], ["explain", trace, *machine],
                      ["explain", trace, *machine, "--speed", "MPI_Comm_rank=2", "-o", predicted]):
            with self.subTest(words=words):
                result = self.foretrace(*words, status=1)
                self.assertRegex(result.err, says)
                if words[0] == "simulate" and "--sweep" not in words and "--json" not in words:
                    self.assertRegex(result.out, r"predicted time \S+ s on 3 ranks of Cray T3D, as far as the run came\n")
                if "-o" in words:
                    self.assertFalse(json.loads(self.foretrace("report", predicted, "--json").out)["complete"])


if __name__ == "__main__":
    harness.main()
