"""Wrong use, broken input and runs that die: clear messages, the right status, nothing lost."""

import json
import re
import subprocess
import time

import harness


class Errors(harness.TestCase):
    def refused(self, status, *arguments, says, **options):
        """One line on standard error that starts with our name, and the status."""
        result = self.ok(harness.foretrace(*arguments, **options), status)
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 1, str(result))
        self.assertTrue(lines[0].startswith("foretrace: "), str(result))
        for word in says:
            self.assertIn(str(word), lines[0])
        return lines[0]

    def mandel(self, *more):
        return [harness.paper_program("mandel"), "--rows", 9, "--cols", 9, *more]

    def trace(self, name="run.ftr", ranks=2):
        return self.record(ranks, self.mandel(), name=name)


class MachineFiles(Errors):
    def refuse_machine(self, text, *says):
        model = self.write("m.toml", text)
        recorded = self.trace()
        for arguments in (["calc", model, "send"], ["simulate", recorded, "--machine", model],
                          ["predict", "-n", 2, "--machine", model, "-o", self.directory / "p.ftr",
                           "--", *self.mandel()]):
            self.refused(1, *arguments, says=[f"{model}:", *says])
        self.assertFalse((self.directory / "p.ftr").exists())

    def test_typo(self):
        """Line 14 of a file whose line 14 says c = 3O.0, with a letter."""
        good = harness.T3D.read_text().splitlines()
        number = next(i for i, line in enumerate(good) if line.startswith("c = "))
        good[number] = "c = 3O.0"
        self.refuse_machine("\n".join(good), f"m.toml:{number + 1}")

    def test_measurement_that_is_not_to_be_trusted(self):
        """Every command that takes times from it says so, once, and goes on."""
        text = harness.SPARC.read_text()
        reasons = 'reasons = ["there were more ranks than cores", "busy"]'
        bad = self.write("bad.toml", f"{text}\n[measurement]\nvalid = false\n{reasons}\n")
        good = self.write("good.toml", f"{text}\n[measurement]\nvalid = true\n")
        recorded = self.trace()
        says = f"foretrace: WARNING: the measurement in {bad} is not to be trusted: there were more ranks than cores; busy"
        for model, times in ((bad, 1), (good, 0)):
            for arguments in (["calc", model, "send", "--bytes", 8], ["simulate", recorded, "--machine", model],
                              ["datasheet", model, "--format", "text"],
                              ["predict", "-n", 2, "--machine", model, "-o", self.directory / "p.ftr",
                               "--", *self.mandel()]):
                result = self.foretrace(*arguments)
                self.assertEqual(result.err.count(says), times, str(result))
                self.assertEqual(result.err.count("not to be trusted"), times, str(result))

    def test_function_that_no_prediction_asks_for(self):
        """A mistyped name would leave the function's time to its stand-in, or to nothing."""
        regime = "[[function.regime]]\nc = 1\n"
        names = ("sendd", "MPI_Recv", "ibcast1", "comm_rank", "recvmin")
        model = self.write("m.toml", "[machine]\nname = 'm'\n" + "".join(
            f"[[function]]\nname = '{name}'\n{regime}" for name in names)
            + "[[path.node.function]]\nname = 'isent1'\n" + regime.replace("function", "path.node.function"))
        recorded = self.trace()
        says = [f"foretrace: {model}: no prediction asks for the function '{name}': neither MPI nor foretrace "
                f"measure has one of that name; {meant}"
                for name, meant in (("MPI_Recv", "models call it 'recv'"), ("sendd", "did you mean 'send'?"),
                                    ("isent1", "did you mean 'isend1'?"))]
        for arguments in (["calc", model, "ibcast1"], ["simulate", recorded, "--machine", model],
                          ["datasheet", model, "--format", "text"],
                          ["predict", "-n", 2, "--machine", model, "-o", self.directory / "p.ftr",
                           "--", *self.mandel()]):
            result = self.foretrace(*arguments)
            told = [line for line in result.err.splitlines() if "no prediction asks for" in line]
            self.assertEqual(told, says, str(result))

    def test_unknown_key(self):
        text = harness.SPARC.read_text()
        line = text.count("\n") + 2
        self.refuse_machine(text + "[loggps]\nlatency = 3\n", f"m.toml:{line}", "latency")

    def test_missing(self):
        missing = self.directory / "none.toml"
        self.refused(1, "calc", missing, "send", says=[missing])
        self.refused(1, "predict", "-n", 2, "--machine", missing, "-o", self.directory / "p.ftr",
                     "--", *self.mandel(), says=[missing])


class Traces(Errors):
    def test_truncated(self):
        """Cut off anywhere, a trace is refused in one line or read as far as it goes."""
        whole = self.trace()
        simulated = self.simulate(whole, compute="none")
        for source in (whole, simulated):
            data = source.read_bytes()
            cuts = sorted({0, 1, 7, 8, 15, 16, 100, 4095, 4096, 4097, len(data) // 2, len(data) - 1,
                           *range(4096, len(data), max(1, (len(data) - 4096) // 25))})
            for cut in cuts:
                with self.subTest(source=source.name, cut=cut):
                    self.check_cut(self.write("cut.ftr", data[:cut]), cut < 4096)

    def check_cut(self, cut, refuse):
        page = self.directory / "page.html"
        for arguments in (["report", cut, "--json"], ["timeline", cut], ["compare", cut, cut],
                          ["timeline", cut, "-o", page],
                          ["simulate", cut, "--machine", harness.T3D]):
            result = harness.foretrace(*arguments, limit=100)
            if refuse:
                self.ok(result, 1)
                self.assertEqual(len(result.err.splitlines()), 1, str(result))
                self.assertIn(str(cut), result.err)
            else:
                self.assertIn(result.status, (0, 1), str(result))
                self.assertTrue(result.status == 0 or "foretrace: " in result.err, str(result))
            if not refuse and arguments[0] == "report" and result.status == 0:
                self.assertFalse(json.loads(result.out)["complete"])

    def test_kept(self):
        """What stands before the cut is there."""
        whole = self.trace()
        data = whole.read_bytes()
        cut = self.write("cut.ftr", data[:-60])
        before = self.ticks(whole).splitlines()
        after = self.ticks(cut).splitlines()
        events = [line for line in after if not line.startswith("rank ")]
        self.assertGreater(len(events), 0)
        for line in events:
            self.assertIn(line, before)
        self.assertIn(f"damaged: file offset {len(data) - 60}: the file is cut off here",
                      self.foretrace("report", cut, status=1).out)

    def test_flipped_bytes(self):
        """Wrong bytes anywhere crash nothing."""
        data = self.trace().read_bytes()
        for at in range(8, len(data), max(1, len(data) // 60)):
            broken = bytearray(data)
            broken[at] ^= 0xff
            path = self.write("broken.ftr", bytes(broken))
            for arguments in (["report", path], ["timeline", path],
                              ["simulate", path, "--machine", harness.T3D]):
                result = harness.foretrace(*arguments, limit=100)
                self.assertIn(result.status, (0, 1), f"byte {at}: {result}")

    def test_no_trace(self):
        for path in (self.write("empty.ftr", ""), self.write("text.ftr", "hello\n" * 2000),
                     self.directory / "none.ftr", self.directory):
            for arguments in (["report", path], ["timeline", path], ["compare", path, path],
                              ["simulate", path, "--machine", harness.T3D]):
                self.refused(1, *arguments, says=[path])


class Usage(Errors):
    def setUp(self):
        super().setUp()
        self.output = self.write("old.ftr", "FORETRC\nprecious")

    def tearDown(self):
        self.assertEqual(self.output.read_bytes(), b"FORETRC\nprecious")

    def refuse_run(self, *arguments, status=2, says=()):
        for sub in (["record"], ["predict", "--machine", harness.T3D]):
            self.refused(status, *sub, "-o", self.output, *arguments, says=says)

    def test_program(self):
        missing = self.directory / "none"
        self.refuse_run("-n", 2, "--", missing, says=[missing])
        self.refuse_run("-n", 2, "--", "no-such-program-anywhere", says=["no-such-program-anywhere"])
        self.refuse_run("-n", 2, "--", "/bin/true", says=["/bin/true", "MPI"])
        self.refuse_run("-n", 2, "--", __file__, says=[__file__])
        self.refuse_run("-n", 2)
        self.refuse_run("--", *self.mandel(), says=["-n"])
        self.refuse_run("-n", 0, "--", *self.mandel(), says=["-n"])

    def test_static_program(self):
        source = self.write("static.c", "int main(void) { return 0; }\n")
        program = self.directory / "static"
        compiled = subprocess.run(["cc", "-static", source, "-o", program], capture_output=True)
        if compiled.returncode != 0:
            self.skipTest("no static libraries here")
        self.refuse_run("-n", 2, "--", program, says=["statically"])

    def test_missing_library(self):
        """A program whose libraries are not found may well be one of MPI."""
        library = self.directory / "liblost.so"
        (self.directory / "lost.c").write_text("int lost(void) { return 0; }\n")
        (self.directory / "main.c").write_text("int lost(void); int main(void) { return lost(); }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", self.directory / "lost.c", "-o", library], check=True)
        program = self.directory / "finds_none"
        subprocess.run(["gcc", self.directory / "main.c", library, "-o", program], check=True)
        library.unlink()
        for words in (["record", "-n", 2], ["simulate", "-n", 2, "--machine", harness.T3D]):
            result = self.foretrace(*words, "--", program, status=2)
            self.assertIn("liblost.so: cannot open shared object file", result.err)
            self.assertIn(f"foretrace: cannot run {program}: the dynamic linker does not find all", result.err)

    def test_options(self):
        self.refuse_run("-n", 2, "--bogus", "--", *self.mandel(), says=["--bogus"])
        self.refuse_run("-n", 2, "--mpi", "lam", "--", *self.mandel(), says=["lam", "openmpi"])
        self.refused(2, "record", "-o", self.output, "-n", 2, "--clock", "sundial", "--",
                     *self.mandel(), says=["sundial"])
        for compute in ("some", "measured:x", "measured:-1"):
            self.refused(2, "predict", "--machine", harness.T3D, "-o", self.output, "-n", 2,
                         "--compute", compute, "--", *self.mandel(), says=[compute])
        self.refused(2, "frobnicate", says=["frobnicate", "foretrace help"])
        self.refused(2, says=[])
        self.refused(2, "report", says=["trace"])
        self.refused(2, "report", self.output, "--bogus", says=["--bogus"])
        self.refused(2, "simulate", self.output, says=["--machine"])
        self.refused(2, "calc", harness.T3D, "frobnicate", says=["frobnicate"])
        self.refused(2, "calc", harness.T3D, "send", "--ranks", "0", says=["--ranks"])

    def test_output_directory(self):
        missing = self.directory / "none" / "out.ftr"
        for sub in (["record"], ["predict", "--machine", harness.T3D]):
            self.refused(2, *sub, "-n", 2, "-o", missing, "--", *self.mandel(), says=[missing])
        recorded = self.trace()
        self.refused(2, "simulate", recorded, "--machine", harness.T3D, "-o", missing,
                     says=[missing, f"there is no folder {missing.parent}"])
        self.refused(2, "convert", recorded, missing.with_suffix(".csv"), says=[f"there is no folder {missing.parent}"])
        if harness.has_page():
            page = missing.with_suffix(".html")
            self.refused(2, "timeline", recorded, "-o", page, says=[page, f"there is no folder {page.parent}"])

    def test_default_names(self):
        """A run without -o never takes the place of another, and says where it goes; -o does take it."""
        for number, name in enumerate(("foretrace.ftr", "foretrace-2.ftr", "foretrace-3.ftr"), 1):
            result = self.foretrace("record", "-n", 2, "--", *self.mandel("--iters", number), cwd=self.directory)
            said = [line for line in result.err.splitlines() if "is there already" in line]
            self.assertEqual(said, [] if number == 1 else [
                f"foretrace: foretrace.ftr is there already; this run goes to {name} (-o overwrites)"])
            self.assertIn(f"--iters {number}", self.foretrace("report", self.directory / name).out)
        self.foretrace("record", "-n", 2, "-o", "foretrace.ftr", "--", *self.mandel("--iters", 9), cwd=self.directory)
        self.assertIn("--iters 9", self.foretrace("report", self.directory / "foretrace.ftr").out)
        self.assertIn("--iters 2", self.foretrace("report", self.directory / "foretrace-2.ftr").out)
        inside = self.ok(harness.run([*harness.launcher(2), harness.tool(), "profile", "--", *self.mandel()],
                                     cwd=self.directory))
        self.assertNotIn("is there already", inside.err)
        inside = self.ok(harness.run([*harness.launcher(2), harness.tool(), "profile", "--", *self.mandel()],
                                     cwd=self.directory))
        self.assertEqual(inside.err.count("this run goes to foretrace-2.fprof"), 1)
        self.assertEqual(sorted(path.name for path in self.directory.glob("foretrace*")),
                         ["foretrace-2.fprof", "foretrace-2.ftr", "foretrace-3.ftr", "foretrace.fprof", "foretrace.ftr"])

    def start_slowly(self, *arguments):
        """A run whose ranks have been started, and come to MPI_Init when they are let go."""
        began, self.go = self.directory / "began", self.directory / "go"
        for file in (began, self.go):
            file.unlink(missing_ok=True)  # of a run before
        # Nor does it wait for ever where the test has failed before.
        script = self.write("slow.sh", f"#!/bin/sh\ntouch {began}\nuntil [ -e {self.go} ] || [ ! -e {began} ]; do sleep 0.02; done\n"
                                       "exec \"$@\"\n")
        script.chmod(0o755)
        slow = subprocess.Popen([str(word) for word in (harness.tool(), *arguments, "--mpi", harness.mpi, "--", script,
                                                        *self.mandel("--iters", 1))],
                                cwd=self.directory, env=harness.environment(None), stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)
        while not began.exists() and slow.poll() is None:
            time.sleep(0.01)
        return slow

    def test_two_runs_for_one_output(self):
        """The second is refused before it starts a rank, however far the first one is."""
        target = ["--machine", harness.T3D]
        for mode in (["record"], ["predict", *target], ["simulate", *target]):
            with self.subTest(mode=mode[0]):
                command = [*mode, "-n", 2, "-o", "run.ftr"]
                slow = self.start_slowly(*command)
                says = ["run.ftr: another run is writing it", "-o FILE"]
                self.refused(1, *command, "--", *self.mandel("--iters", 2), cwd=self.directory, says=says)
                self.go.touch()
                self.assertEqual((slow.communicate(timeout=60)[1].count("another run"), slow.returncode), (0, 0))
                self.assertIn("--iters 1", self.foretrace("report", self.directory / "run.ftr").out)
                self.assertEqual([path.name for path in self.directory.glob("run*")], ["run.ftr"])

    def test_two_runs_without_an_output(self):
        slow = self.start_slowly("record", "-n", 2)
        second = self.foretrace("record", "-n", 2, "--", *self.mandel("--iters", 2), cwd=self.directory)
        self.assertIn("foretrace.ftr is being written by another run; this run goes to foretrace-2.ftr\n", second.err)
        self.go.touch()
        slow.communicate(timeout=60)
        for name, number in (("foretrace.ftr", 1), ("foretrace-2.ftr", 2)):
            self.assertIn(f"--iters {number}", self.foretrace("report", self.directory / name).out)

    def test_nothing_written(self):
        """What is there under the name is of another run: neither the line nor the status hides that."""
        old = self.write("earlier.ftr", self.trace("good.ftr").read_bytes())
        stays = f"no trace was written; {old} is of an earlier run and was left as it is\n"
        fine = self.foretrace("record", "-n", 2, "--mpi", harness.mpi, "-o", old, "--", "/bin/true", status=1)
        self.assertIn("no rank came to MPI_Init", fine.err)
        self.assertIn(stays, fine.err)
        self.foretrace("record", "-n", 2, "--mpi", harness.mpi, "--", "/bin/true", cwd=self.directory)
        for mode in (["record"], ["predict", "--machine", harness.T3D]):
            failed = self.foretrace(*mode, "-n", 2, "--mpi", harness.mpi, "-o", old, "--", "/bin/false", status=1)
            self.assertIn(f"foretrace: the ranks ended with status 1 before MPI_Init; {stays}", failed.err)

    def test_a_trace_beside_n(self):
        recorded = self.trace()
        for name in (recorded, recorded.name):
            self.refused(2, "simulate", "-n", 4, name, "--machine", harness.T3D, cwd=self.directory,
                         says=["-n starts a program live", f"{name} is a trace", "leave out -n"])

    def test_old_output_stays(self):
        """A run that never gets to MPI_Init, and a simulation that fails, leave what was there,
        and do not pass it off as theirs."""
        recorded = self.trace("good.ftr")
        before = recorded.read_bytes()
        old = self.write("other.ftr", before)
        result = harness.foretrace("record", "-n", 2, "-o", old, "--",
                                   harness.test_program("misbehave"), "exit_before_init", 5)
        self.assertNotEqual(result.status, 0, str(result))
        self.assertEqual(old.read_bytes(), before)
        self.assertNotIn("longest CPU time", result.err)
        model = self.write("bad.toml", "[machine]\nnme = 3\n")
        self.ok(harness.foretrace("simulate", recorded, "--machine", model, "-o", old), 1)
        self.assertEqual(old.read_bytes(), before)


class Deaths(Errors):
    def die(self, subcommand, behaviour, *arguments):
        """Rank 1 of 2 dies after a barrier; what was before is in the trace."""
        command = [harness.test_program("misbehave"), behaviour, *arguments]
        trace = self.directory / "dead.ftr"
        machine = ["--machine", harness.T3D, "--compute", "none"] if subcommand == "predict" else []
        # mpirun.mpich kills the other ranks, and now and then reports that (9, or 1) instead of
        # the dead one's status, without Foretrace as well: 5 of 80 plain runs on busy cores.
        for _ in range(4):
            without = harness.plain(2, command, limit=100)
            result = harness.foretrace(subcommand, "-n", 2, *machine, "-o", trace, "--", *command,
                                       limit=100)
            if result.status == without.status:
                break
        self.assertNotEqual(without.status, 0, str(without))
        self.assertEqual(result.status, without.status, str(result))
        self.assertTrue(trace.exists(), str(result))
        report = self.foretrace("report", trace)
        self.assertIn("incomplete", report.out)
        for events in self.events(trace):
            self.assertIn("MPI_Barrier", [name for kind, name, f in events])
        self.foretrace("timeline", trace)
        ours = [line for line in result.err.splitlines() if line.startswith("foretrace: ")]
        return "\n".join(ours)

    def check(self, behaviour, *arguments, says):
        for subcommand in ("record", "predict"):
            with self.subTest(subcommand=subcommand):
                said = self.die(subcommand, behaviour, *arguments)
                for word in says:
                    self.assertIn(word, said)

    def test_segv(self):
        self.check("segv", says=["rank 1"])

    def test_kill(self):
        self.check("kill", says=["rank 1"])

    def test_exit(self):
        self.check("exit", 4, says=["rank 1", "MPI_Finalize"])

    def test_abort(self):
        self.check("abort", 3, says=["rank 1 called MPI_Abort with code 3"])

    def test_status_is_passed_on(self):
        for number in (0, 3):
            command = [harness.test_program("misbehave"), "status", number]
            without = harness.plain(2, command)
            for subcommand in (["record"], ["predict", "--machine", harness.T3D]):
                result = harness.foretrace(*subcommand, "-n", 2, "-o", self.directory / "s.ftr",
                                           "--", *command)
                self.assertEqual(result.status, without.status, str(result))
                self.assertIn("true", self.complete())

    def test_leaving_without_finalize(self):
        """Never status 0, though MPICH's launcher may end with it; after MPI_Abort the program's own. That launcher ends
        the other ranks as soon as one has left, and with 9 if it found one running."""
        source = self.write("leave.c", "#include <mpi.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n"
                            "MPI_Init(&argc, &argv); MPI_Barrier(MPI_COMM_WORLD);\n"
                            "if (argc > 1) MPI_Abort(MPI_COMM_WORLD, 0);\nreturn 0; }\n")
        program = self.directory / "leave"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-o", program, source]))
        aborted = harness.plain(2, [program, "abort"]).status
        several = (1, 9) if harness.mpi == "mpich" else (1,)
        for subcommand in (["record", "-o", "s.ftr"], ["predict", "--machine", harness.T3D, "-o", "s.ftr"],
                           ["profile", "-o", "s.fprof"]):
            for ranks, arguments, statuses in ((1, [], (1,)), (2, [], several), (2, ["abort"], (aborted,))):
                with self.subTest(subcommand=subcommand[0], ranks=ranks, arguments=arguments):
                    result = harness.foretrace(*subcommand, "-n", ranks, "--", program, *arguments, cwd=self.directory)
                    self.assertIn(result.status, statuses, str(result))
                    self.assertIn("the run ended before MPI_Finalize", result.err)

    def test_who_left_is_told_by_the_replay(self):
        program = self.compile("#include <mpi.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n"
                               "int rank;\nMPI_Init(&argc, &argv);\nMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                               "if (rank == 1) exit(3);\nMPI_Barrier(MPI_COMM_WORLD);\nMPI_Finalize();\nreturn 0; }\n", "leave")
        result = harness.foretrace("record", "-n", 2, "-o", self.directory / "r.ftr", "--", program)
        self.assertIn("rank 1 left without MPI_Finalize, after MPI_Comm_rank", result.err)
        result = harness.foretrace("simulate", self.directory / "r.ftr", "--machine", harness.T3D)
        self.assertIn("rank 1's trace ends at event 2 (it left without MPI_Finalize)", result.err)

    def test_computation_before_leaving(self):
        """What is computed after the last call of MPI counts, in all ways; what ends by MPI_Finalize after main() is whole."""
        program = self.compile("#include <mpi.h>\n#include <stdlib.h>\n#include <foretrace.h>\n"
                               "static void finalize(void) { MPI_Finalize(); }\nint main(int argc, char **argv) {\n"
                               "if (argv[1][0] == 'f') atexit(finalize);\n"
                               "MPI_Init(&argc, &argv);\nMPI_Barrier(MPI_COMM_WORLD);\nFORETRACE_COMPUTE(2000);\n"
                               "if (argv[1][0] == 'e') exit(0);\nif (argv[1][0] == '_') _Exit(0);\nreturn 0; }\n", "leave")
        for way in ("exit", "return", "finalize", "_Exit"):
            with self.subTest(way=way):
                whole, steps = way == "finalize", 0 if way == "_Exit" else 2000
                traces = self.directory / "p.ftr", self.directory / "r.ftr"
                for trace, subcommand in zip(traces, (["predict", "--machine", harness.T3D, "--compute", "annotated"], ["record"])):
                    result = harness.foretrace(*subcommand, "-n", 1, "-o", trace, "--", program, way)
                    self.assertEqual(result.status, 0 if whole else 1, str(result))
                    if steps and not whole:
                        self.assertIn("rank 0 left without MPI_Finalize, after MPI_Barrier (event 2) at leave.c:8\n", result.err)
                events = self.events(traces[0])[0]
                simulated = self.directory / "s.ftr"
                harness.foretrace("simulate", traces[1], "--machine", harness.T3D, "--compute", "annotated", "-o", simulated)
                self.assertEqual(events, self.events(simulated)[0])
                self.assertEqual(sum(fields.get("steps", 0) for _, _, fields in events), steps)
                if steps:  # of 1 us
                    self.assertEqual(events[-1][:2], ("finalize", "MPI_Finalize" if whole else "exit"))
                    self.assertEqual(events[-1][2]["enter"] - events[-2][2]["leave"], 2_000_000_000)

    def complete(self):
        return json.dumps(json.loads(
            self.foretrace("report", self.directory / "s.ftr", "--json").out)["complete"])

    def test_refused_calls(self):
        """A call that MPI refuses gives the same error, tells the same handler once, and leaves
        nothing behind, even if one rank alone made it. (Where ranks answer each other's rendezvous
        they meet before a collective, so there all must make it.)"""
        threshold = self.write("m.toml", harness.with_threshold(harness.T3D.read_text(), 4096))
        profile = ["profile", "-o", self.directory / "s.json"]
        for word, modes in (("everywhere", (["record"], profile, ["predict", "--machine", threshold])),
                            ("alone", (["record"], ["predict", "--machine", harness.T3D]))):
            command = [harness.test_program("refused"), word]
            without = self.ok(harness.plain(2, command))
            self.assertEqual(len(re.findall("^[01] sum 3, from the left [12]$", without.out, re.M)), 2)
            for mode in modes:
                trace = [] if mode is profile else ["-o", self.directory / "s.ftr"]
                result = self.foretrace(*mode, *trace, "-n", 2, "--", *command, limit=100)
                self.assertEqual(result.out.splitlines(), without.out.splitlines())

    def test_refused_calls_take_no_time(self):
        """By predict and by record and simulate, though their functions have equations."""
        command = [harness.test_program("refused"), "everywhere"]
        predicted = self.predict(2, command, limit=100)
        for events in self.events(predicted):
            refused = [fields for kind, name, fields in events
                       if kind == "call" and name in ("MPI_Bcast", "MPI_Allreduce", "MPI_Scan", "MPI_Alltoall")]
            self.assertGreater(len(refused), 3)
            for fields in refused:
                self.assertEqual(fields["leave"], fields["enter"])
        self.assert_same_ticks(predicted, self.simulate(self.record(2, command, limit=100)))

    def test_output_is_passed_on(self):
        command = [harness.test_program("misbehave"), "print"]
        without = self.ok(harness.plain(2, command))
        for subcommand in (["record"], ["predict", "--machine", harness.T3D]):
            result = self.foretrace(*subcommand, "-n", 2, "-o", self.directory / "s.ftr", "--",
                                    *command)
            self.assertEqual(sorted(result.out.splitlines()), sorted(without.out.splitlines()))
            rest = [line for line in result.err.splitlines() if not line.startswith("foretrace: ")]
            self.assertEqual(sorted(rest), sorted(without.err.splitlines()))


if __name__ == "__main__":
    harness.main()
