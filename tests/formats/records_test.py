"""Paraver's and ALOG's traces: a hand-written one of each becomes what it says; ours come back.

records_test.py --build BUILD
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

# As Extrae writes it: task 1 sends by MPI_Isend, task 2 has posted the receive before; a broadcast of
# task 2 in a communicator of both.
PRV = """#Paraver (12/03/2019 at 10:11):1000_ns:1(2):1:2(1:1,1:1),1
c:1:1:2:1:2
1:1:1:1:1:0:100:1
2:1:1:1:1:0:50000003:31
2:2:1:2:1:0:50000003:31
2:1:1:1:1:10:50000003:0
2:2:1:2:1:12:50000003:0
2:2:1:2:1:20:50000001:4
2:2:1:2:1:25:50000001:0
2:1:1:1:1:30:50000001:3
3:1:1:1:1:30:31:2:1:2:1:20:90:800:7
2:1:1:1:1:35:50000001:0
2:2:1:2:1:40:50000001:5
2:1:1:1:1:50:50000001:6
2:1:1:1:1:60:50000001:0
2:2:1:2:1:95:50000001:0
2:2:1:2:1:100:50000002:7:50100001:64:50100002:0:50100003:1:50100004:1
2:1:1:1:1:110:50000002:7:50100001:0:50100002:64:50100004:1
2:2:1:2:1:120:50000002:0
2:1:1:1:1:130:50000002:0
2:1:1:1:1:200:50000003:32
2:1:1:1:1:210:50000003:0
2:2:1:2:1:200:50000003:32
2:2:1:2:1:210:50000003:0
"""

AS_TEXT = """rank 0
init MPI_Init enter=10000 leave=10000
isend MPI_Isend compute=20000 enter=30000 leave=35000 request=1 to=1 to_tag=7 to_bytes=800
complete MPI_Waitall compute=15000 enter=50000 leave=60000 done=1
collective MPI_Bcast compute=50000 enter=110000 leave=130000 collective=bcast bytes=64 root=1
finalize MPI_Finalize compute=70000 enter=200000 leave=210000
rank 1
init MPI_Init enter=12000 leave=12000
irecv MPI_Irecv compute=8000 enter=20000 leave=25000 request=1 from=0 from_tag=7 from_bytes=800
complete MPI_Wait compute=15000 enter=40000 leave=95000 done=1,0,7,800
collective MPI_Bcast compute=5000 enter=100000 leave=120000 collective=bcast bytes=64 root=1
finalize MPI_Finalize compute=80000 enter=200000 leave=210000
"""

# The sample in Howell's thesis, 2.4; times are microseconds.
ALOG = """1 1 0 0 0 680407 start broadcast
2 1 0 0 0 682514 end broadcast
7 1 0 0 0 682693 Start Sync
1 3 0 0 0 682774 start broadcast
2 3 0 0 0 683227 end broadcast
7 3 0 0 0 683322 Start Sync
2 0 0 0 0 687328 end broadcast
7 0 0 0 0 687417 Start Sync
8 0 0 0 0 690727 End Sync
3 0 0 0 0 690796 start compute
8 2 0 0 0 692187 End Sync
3 2 0 0 0 692361 start compute
8 1 0 0 0 695886 End Sync
"""

# What a trace of two ranks begins with, as text.
HEAD = """foretrace-trace 1
info {"ranks":2,"clock":"wall","program":"p","origin":"record","machine":"","options":"","mpi":""}
"""


class Records(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="foretrace-records-"))
        self.addCleanup(shutil.rmtree, self.directory, True)

    def run_tool(self, *arguments, status=0):
        result = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                                cwd=self.directory)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def events(self, name, text):
        """The events of a file, as lines of the text format without definitions; and what was said."""
        (self.directory / name).write_text(text)
        said = self.run_tool("convert", name, "out.txt").stderr
        lines = (self.directory / "out.txt").read_text().splitlines()
        kept = [line for line in lines if line.split()[0] not in ("foretrace-trace", "info", "name", "comm", "site")]
        return "\n".join(kept) + "\n", said

    def test_paraver(self):
        text, said = self.events("t.prv", PRV)
        self.assertEqual(text, AS_TEXT)
        self.assertNotIn("times:", said)

    def test_paraver_comes_back(self):
        """Nothing but names of what the format lacks is different."""
        self.events("t.prv", PRV)
        self.run_tool("convert", "out.txt", "a.ftr")
        said = self.run_tool("convert", "a.ftr", "b.prv").stderr
        self.assertIn("whole nanoseconds", said)
        self.assertEqual(sorted(path.name for path in self.directory.glob("b.*")), ["b.pcf", "b.prv", "b.row"])
        again, _ = self.events("c.prv", (self.directory / "b.prv").read_text())
        # Time now begins at the first event.
        self.assertEqual(again.count("\n"), AS_TEXT.count("\n"))
        for line in ("request=1 to=1 to_tag=7 to_bytes=800", "done=1,0,7,800", "collective=bcast bytes=64 root=1"):
            self.assertEqual(again.count(line), AS_TEXT.count(line), again)
        rows = (self.directory / "b.row").read_text()
        self.assertIn("LEVEL THREAD SIZE 2\nrank 0\nrank 1\n", rows)

    def test_paraver_keeps_calls_without_a_gap_apart(self):
        """A call that begins where the one before ends; posting takes no time at all."""
        text = HEAD + """rank 0
name "MPI_Send"
comm 0 0 1
send MPI_Send enter=10000 leave=20000 to=1 to_tag=1 to_bytes=8
send MPI_Send enter=20000 leave=30000 to=1 to_tag=2 to_bytes=8
name "MPI_Isend"
isend MPI_Isend enter=30000 leave=30000 request=1 to=1 to_tag=3 to_bytes=8
isend MPI_Isend enter=30000 leave=30000 request=2 to=1 to_tag=4 to_bytes=8 count=0
name "MPI_Waitall"
complete MPI_Waitall enter=30000 leave=90000 done=1;2
name "MPI_Comm_rank"
call MPI_Comm_rank enter=90000 leave=90000 count=303032
rank 1
name "MPI_Recv"
comm 0 0 1
recv MPI_Recv enter=10000 leave=40000 from=0 from_tag=1 from_bytes=8
recv MPI_Recv enter=40000 leave=50000 from=0 from_tag=2 from_bytes=8
name "MPI_Irecv"
irecv MPI_Irecv enter=50000 leave=60000 request=1 from=0 from_tag=3 from_bytes=8
irecv MPI_Irecv enter=60000 leave=70000 request=2 from=0 from_tag=4 from_bytes=8
name "MPI_Wait"
complete MPI_Wait enter=70000 leave=80000 done=2,0,4,8
complete MPI_Wait enter=80000 leave=90000 done=1,0,3,8
"""
        (self.directory / "gapless.txt").write_text(text)
        self.run_tool("convert", "gapless.txt", "a.ftr")
        self.run_tool("convert", "a.ftr", "b.prv")
        again, said = self.events("c.prv", (self.directory / "b.prv").read_text())
        self.assertNotIn("without a message", said)
        kept = [line for line in text.splitlines() if line.split()[0] not in ("foretrace-trace", "info", "name", "comm")]
        calls = [re.sub(r" (compute|enter|leave)=\d+", "", line) for line in kept]
        self.assertEqual([re.sub(r" (compute|enter|leave)=\d+", "", line) for line in again.splitlines()
                          if not line.startswith(("init", "finalize"))], calls)

    def test_paraver_keeps_receives_that_no_name_tells_of(self):
        """MPI_Start, MPI_Startall and MPI_Isendrecv post receives: as many as messages say, some in no time."""
        text = HEAD + """rank 0
name "MPI_Startall"
comm 0 0 1
irecv MPI_Startall enter=10000 leave=20000 request=1 from=1 from_tag=1 from_bytes=8
irecv MPI_Startall enter=20000 leave=30000 request=2 from=1 from_tag=2 from_bytes=16 count=0
name "MPI_Waitall"
complete MPI_Waitall enter=30000 leave=90000 done=1,1,1,8;2,1,2,16
name "MPI_Start"
irecv MPI_Start enter=90000 leave=90000 request=3 from=1 from_tag=3 from_bytes=24
name "MPI_Recv"
recv MPI_Recv enter=90000 leave=95000 from=1 from_tag=4 from_bytes=32
name "MPI_Wait"
complete MPI_Wait enter=95000 leave=99000 done=3,1,3,24
rank 1
name "MPI_Send"
comm 0 0 1
send MPI_Send enter=40000 leave=50000 to=0 to_tag=1 to_bytes=8
send MPI_Send enter=50000 leave=60000 to=0 to_tag=2 to_bytes=16
send MPI_Send enter=70000 leave=80000 to=0 to_tag=4 to_bytes=32
send MPI_Send enter=92000 leave=93000 to=0 to_tag=3 to_bytes=24
"""
        (self.directory / "started.txt").write_text(text)
        self.run_tool("convert", "started.txt", "a.ftr")
        self.run_tool("convert", "a.ftr", "b.prv")
        prv = (self.directory / "b.prv").read_text()
        again, said = self.events("b.prv", prv)
        self.assertNotIn("received by none", said)
        self.assertIn("done=1,1,1,8;2,1,2,16", again)
        self.assertIn("done=3,1,3,24", again)
        self.assertRegex(again, r"recv MPI_Recv .*from=1 from_tag=4 from_bytes=32")
        self.assertEqual(again.count("irecv MPI_Start"), 3)
        # A message whose receive lies in no call is told.
        _, said = self.events("b.prv", "".join(line for line in prv.splitlines(True) if not line.startswith("2:1:1:1:1:9")))
        self.assertIn("the call that received a message", said)

    def test_paraver_tells_of_calls_that_it_does_not_say_enough_about(self):
        """Windows, files, and the making of communicators have no records: a replay cannot time them."""
        calls = ("MPI_Win_allocate", "MPI_Win_fence", "MPI_Put", "MPI_File_open", "MPI_File_write_at",
                 "MPI_File_write_all_begin", "MPI_Comm_split_type", "MPI_Waitany", "MPI_Iallgatherv")
        local = ("MPI_Comm_rank", "MPI_Win_sync", "MPI_File_seek", "MPI_File_write_all_end", "MPI_Comm_free")
        text = '''foretrace-trace 1
info {"ranks":1,"clock":"wall","program":"p","origin":"record","machine":"","options":"","mpi":""}
rank 0
''' + "".join(f'name "{name}"\ncall {name} enter={10000 * n} leave={10000 * n + 5000}\n'
                for n, name in enumerate(calls + local, 1))
        (self.directory / "calls.txt").write_text(text)
        self.run_tool("convert", "calls.txt", "a.ftr")
        self.run_tool("convert", "a.ftr", "b.prv")
        said = self.run_tool("convert", "b.prv", "out.txt").stderr
        told = re.findall(r"(\w+) without what it was about", said)
        self.assertEqual(sorted(told), sorted(calls))

    def test_paraver_values_have_names(self):
        self.events("t.prv", PRV)
        self.run_tool("convert", "t.prv", "b.ftr")
        self.run_tool("convert", "b.ftr", "b.prv")
        names = (self.directory / "b.pcf").read_text()
        for line in (self.directory / "b.prv").read_text().splitlines():
            words = line.split(":")
            if words[0] != "2":
                continue
            for kind, value in zip(words[6::2], words[7::2]):
                self.assertIn(f"0    {kind}    ", names)
                if kind.startswith("5000000") and value != "0":
                    block = names[names.index(f"0    {kind}    "):].split("\n\n")[0]
                    self.assertIn(f"\n{value}   MPI_", block)

    def test_paraver_needs_times(self):
        """Calls without times would come back in another order and number."""
        self.events("t.prv", PRV)
        text = (self.directory / "out.txt").read_text().replace('"clock":"wall"', '"clock":"cpu"')
        text = re.sub(r" (enter|leave)=\d+", "", text)
        (self.directory / "cpu.txt").write_text(text)
        self.run_tool("convert", "cpu.txt", "cpu.ftr")
        said = self.run_tool("convert", "cpu.ftr", "never.prv", status=1).stderr
        self.assertIn("cpu.ftr: a recording by CPU time does not know when its calls were", said)
        self.assertEqual(list(self.directory.glob("never*")), [])

    def test_a_cut_paraver_file_keeps_what_is_whole(self):
        cut = PRV[:PRV.index("2:2:1:2:1:120") + 9]
        text, said = self.events("cut.prv", cut)
        self.assertIn(f"cut off at offset {PRV.index('2:2:1:2:1:120')}", said)
        self.assertIn("complete MPI_Waitall", text)
        self.assertNotIn("leave=120000", text)
        self.assertIn("\nincomplete\n", (self.directory / "out.txt").read_text())

    def test_alog(self):
        text, said = self.events("t.alog", ALOG)
        self.assertIn("call broadcast leave=2107000000\n", text)
        self.assertIn("call Sync compute=179000000 enter=2286000000 leave=15479000000\n", text)
        self.assertIn("mark compute compute=69000000 enter=10389000000 leave=10389000000 value=1\n", text)
        self.assertIn("once: a call of broadcast that ended without having begun", said)
        self.assertIn("messages", said)

    def test_alog_is_not_simulated(self):
        """Without its messages a run would be its computation alone."""
        self.events("t.alog", ALOG)
        self.run_tool("convert", "t.alog", "t.ftr")
        for name in ("t.alog", "t.ftr"):
            for command in ("simulate", "explain"):
                done = self.run_tool(command, name, "--machine", "cray-t3d", status=1)
                self.assertIn(f"{name}: was made of an ALOG file, which tells no messages", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_what_is_written_only_is_named(self):
        self.events("t.prv", PRV)
        self.run_tool("convert", "t.prv", "t.ftr")
        for ending, name in (("clog2", "clog2"), ("json", "chrome"), ("csv", "csv"), ("paje", "paje"), ("trf", "picl"),
                             ("pftrace", "perfetto")):
            self.run_tool("convert", "t.ftr", f"t.{ending}")
            for command in (["report"], ["timeline"], ["compare", "t.ftr"], ["simulate", "--machine", "cray-t3d"]):
                said = self.run_tool(*command, f"t.{ending}", status=1).stderr
                self.assertIn(f"t.{ending}: ends as files of the format {name} do, which foretrace writes but does not read",
                              said)
        # A trace may have any name.
        shutil.copy(self.directory / "t.ftr", self.directory / "t.csv")
        self.run_tool("report", "t.csv")

    def test_alog_out(self):
        self.events("t.alog", ALOG)
        self.run_tool("convert", "out.txt", "b.alog")
        lines = (self.directory / "b.alog").read_text().splitlines()
        self.assertRegex("\n".join(lines), r"(?m)^\d+ 1 0 0 0 2286 start Sync$")
        times = [int(line.split()[5]) for line in lines if not line.startswith("-")]
        self.assertEqual(times, sorted(times))

    def test_what_makes_no_sense_is_refused_with_its_place(self):
        for name, text, place in (("a.prv", PRV.replace("12:50000003:0", "x:50000003:0"), r"a\.prv: offset \d+: "),
                                  ("b.prv", "Paraver\n", r"b\.prv: offset 0: expected '#Paraver"),
                                  ("c.prv", PRV.replace("2:2:1:2:1:20", "2:2:1:3:1:20"), r"offset \d+: expected a task"),
                                  ("d.alog", ALOG.replace("682693", "soon"), r"d\.alog:3: expected a time, found 'soon"),
                                  ("e.alog", "", r"e\.alog: expected events"),
                                  ("f.otf2", "nothing", r"f\.otf2: offset 0: expected the anchor")):
            with self.subTest(name=name):
                (self.directory / name).write_text(text)
                said = self.run_tool("convert", name, "never.ftr", status=1).stderr
                self.assertRegex(said, place)
                self.assertEqual(said.count("\n"), 1)
                self.assertEqual(list(self.directory.glob("never*")), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    TOOL = (options.build / "bin" / "foretrace").resolve()
    unittest.main(argv=[sys.argv[0], *rest])
