"""DUMPI's text: a hand-written trace becomes what it says, is replayed, and nonsense is refused.

dumpi_test.py --build BUILD
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

WORLD = "MPI_Comm comm=2 (MPI_COMM_WORLD)"
INT = "MPI_Datatype datatype=9 (MPI_INT)"


def call(name, enter, leave, *parameters, thread=0):
    """A call as dumpi2ascii prints it; times in microseconds."""
    def line(what, at):
        return f"{name} {what} at walltime 8000.{at:06d}000, cputime 0.{at:06d}000 seconds in thread {thread}."
    return "\n".join([line("entering", enter), *parameters, line("returning", leave)]) + "\n"


def status(*of):
    return "[" + ", ".join(f"{{bytes={b}, cancelled=0, source={s}, tag={t}, error=0}}" for b, s, t in of) + "]"


def rank_text(rank):
    """Three ranks: halo by posted receives, a split into {0, 2} and {1}, a broadcast there, a
    persistent pair, a receive from anybody."""
    right, left = (rank + 1) % 3, (rank + 2) % 3
    text = call("MPI_Initialized", 5, 6, "int result=0")
    text += call("MPI_Init", 10 + rank, 100 + rank, "int argc=1", 'string argv[1]=["a.out"]')
    text += call("MPI_Comm_split", 110, 120, "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)", f"int color={rank % 2}",
                 f"int key={-rank}", "MPI_Comm newcomm=4 (user-defined-comm)")
    text += call("MPI_Irecv", 200, 202, "int count=16", INT, f"int source={left}", "int tag=7", WORLD,
                 "MPI_Request request=[5]")
    text += call("MPI_Isend", 210, 212, "int count=16", INT, f"int dest={right}", "int tag=7", WORLD,
                 "MPI_Request request=[6]")
    text += call("MPI_Probe", 213, 214, "int source=0", "int tag=9", WORLD, "MPI_Status status=<IGNORED>", thread=1)
    text += call("MPI_Waitall", 220, 260, "int count=2", "MPI_Request requests[2]=[5, 6]",
                 f"MPI_Status statuses[2]={status((64, left, 7), (0, -1, -1))}")
    text += call("MPI_Type_vector", 261, 262, "int count=3", "int blocklength=2", "int stride=9",
                 "MPI_Datatype oldtype=14 (MPI_DOUBLE)", "MPI_Datatype newtype=28 (user-defined-datatype)")
    if rank != 1:  # local rank 0 of the new one is rank 2
        text += call("MPI_Bcast", 270, 280, "int count=2", "MPI_Datatype datatype=28 (user-defined-datatype)",
                     "int root=0", "MPI_Comm comm=4 (user-defined-comm)")
    if rank == 0:
        text += call("MPI_Recv", 300, 330, "int count=8", INT, "int source=-1 (MPI_ANY_SOURCE)",
                     "int tag=-1 (MPI_ANY_TAG)", WORLD, f"MPI_Status status={status((12, 2, 3))}")
    if rank == 2:
        text += call("MPI_Send_init", 300, 301, "int count=3", INT, "int dest=0", "int tag=3", WORLD,
                     "MPI_Request request=[8]")
        text += call("MPI_Start", 310, 311, "MPI_Request request=[8]")
        text += call("MPI_Test", 312, 313, "MPI_Request request=[8]", "int flag=0", "MPI_Status status=<IGNORED>")
        text += call("MPI_Wait", 315, 316, "MPI_Request request=[8]", "MPI_Status status=<IGNORED>")
    text += call("MPI_Alltoallv", 400, 420, "int commsize=3", "int sendcounts[3]=[1, 2, 3]",
                 "int senddispls[3]=[0, 0, 0]", "MPI_Datatype sendtype=9 (MPI_INT)", "int recvcounts[3]=[4, 4, 4]",
                 "int recvdispls[3]=[0, 0, 0]", "MPI_Datatype recvtype=9 (MPI_INT)", WORLD)
    text += call("MPI_Finalize", 500, 510)
    return text + "Datatype 9 (MPI_INT) has size 4\nMPI_Send called 0 times and ignored 0 times\n"


RANK_2 = """rank 2
init MPI_Init enter=2000000 leave=2000000
collective MPI_Comm_split compute=8000000 enter=10000000 leave=20000000 collective=comm_split
irecv MPI_Irecv compute=80000000 enter=100000000 leave=102000000 request=1 from=1 from_tag=7 from_bytes=64
isend MPI_Isend compute=8000000 enter=110000000 leave=112000000 request=2 to=0 to_tag=7 to_bytes=64
complete MPI_Waitall compute=8000000 enter=120000000 leave=160000000 done=1,1,7,64;2
call MPI_Type_vector compute=1000000 enter=161000000 leave=162000000
collective MPI_Bcast compute=8000000 enter=170000000 leave=180000000 comm=1 collective=bcast bytes=96 root=0
call MPI_Send_init compute=20000000 enter=200000000 leave=201000000
isend MPI_Start compute=9000000 enter=210000000 leave=211000000 request=3 to=0 to_tag=3 to_bytes=12
call MPI_Test compute=1000000 enter=212000000 leave=213000000
complete MPI_Wait compute=2000000 enter=215000000 leave=216000000 done=3
collective MPI_Alltoallv compute=84000000 enter=300000000 leave=320000000 collective=alltoallv bytes=16
finalize MPI_Finalize compute=80000000 enter=400000000 leave=410000000
"""


class Dumpi(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="foretrace-dumpi-"))
        self.addCleanup(shutil.rmtree, self.directory, True)
        (self.directory / "d.meta").write_text("hostname=here\nnumprocs=3\nfileprefix=d\n")
        for rank in range(3):
            (self.directory / f"d-{rank:04d}.txt").write_text(rank_text(rank))

    def run_tool(self, *arguments, status=0):
        result = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                                cwd=self.directory)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def change(self, rank, old, new):
        path = self.directory / f"d-{rank:04d}.txt"
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))

    def text(self):
        said = self.run_tool("convert", "d.meta", "d.txt").stderr
        return (self.directory / "d.txt").read_text(), said

    def test_what_it_says(self):
        text, said = self.text()
        kept = [line for line in text.splitlines() if line.split()[0] not in ("name", "comm", "site")]
        self.assertEqual("\n".join(kept[kept.index("rank 2"):]) + "\n", RANK_2)
        # The rank with the lesser key is the first.
        self.assertIn("comm 4 2 0\n", text)
        self.assertIn("recv MPI_Recv compute=20000000 enter=200000000 leave=230000000 from=2 from_tag=3 "
                      "from_bytes=12 any_source=1 any_tag=1\n", text)
        self.assertIn("3 times: a call of another thread than a rank's first; it is left out", said)
        self.assertEqual(said.count("times:"), 1)

    def test_it_is_replayed(self):
        for how in ("none", "measured"):
            said = self.run_tool("simulate", "d.meta", "--machine", "cray-t3d", "--compute", how).stdout
            self.assertRegex(said, r"predicted time 0\.\d+ s on 3 ranks")

    def test_clocks_of_their_own(self):
        """Ranks that are not in MPI_Init at the same time do not share a clock."""
        for rank in range(3):
            path = self.directory / f"d-{rank:04d}.txt"
            path.write_text(path.read_text().replace("8000.", f"{8000 + 17 * rank}."))
        text, said = self.text()
        self.assertIn("once: a clock that the ranks share", said)
        self.assertEqual(text.count("init MPI_Init\n"), 3, text[:2000])

    def test_a_file_that_ends_within_a_call(self):
        path = self.directory / "d-0001.txt"
        text = path.read_text()
        path.write_text(text[:text.index("MPI_Alltoallv returning") + 30])
        text, said = self.text()
        self.assertIn("\nincomplete\n", text)
        self.assertIn("in MPI_Alltoallv\n", text)

    def test_unknown_sizes_are_told(self):
        self.change(0, "newtype=28", "newtype=29")
        text, said = self.text()
        self.assertIn("once: the size of a datatype; its elements are taken as one byte each", said)

    def test_communicators_that_do_not_fit_are_told(self):
        self.change(1, "MPI_Comm_split", "MPI_Comm_split_type")
        self.change(1, "MPI_Comm_split returning", "MPI_Comm_split_type returning")
        text, said = self.text()
        self.assertIn("2 times: that all of a communicator made another of it", said)
        self.assertIn("2 times: who is in a communicator; MPI_Bcast there is a call without partners", said)

    def test_what_makes_no_sense_is_refused_with_its_place(self):
        for rank, old, new, place in (
                (0, "MPI_Init returning at walltime 8000", "MPI_Init returning at walltime soon",
                 r"d-0000\.txt:4: expected a walltime in seconds, found 'soon"),
                (1, "int source=0\nint tag=7", "int source=9\nint tag=7", r"d-0001\.txt:14: expected a rank below 3, found 9"),
                (2, "int dest=0", "int dust=0", None),
                (1, "requests[2]=[5, 6]", "requests[2]=[5; 6]", r"d-0001\.txt:\d+: expected numbers requests, found '; 6"),
                (0, "bytes=64", "bites=64", r"d-0000\.txt:\d+: expected a status"),
                (0, "int tag=7\n", "", r"d-0000\.txt:\d+: expected MPI_Irecv with 'tag', found none"),
                (2, "MPI_Init returning", "MPI_Exit returning", r"d-0002\.txt:4: expected the end of MPI_Init, found 'MPI_Exit'")):
            with self.subTest(old=old):
                self.setUp()
                self.change(rank, old, new)
                said = self.run_tool("convert", "d.meta", "never.ftr", status=0 if place is None else 1).stderr
                if place is not None:
                    self.assertRegex(said, place)
                    self.assertEqual(list(self.directory.glob("never*")), [])

    def test_files_that_are_not_there(self):
        (self.directory / "d-0002.txt").unlink()
        said = self.run_tool("convert", "d.meta", "never.ftr", status=1).stderr
        self.assertIn("d-0002.txt: cannot open the file; dumpi2ascii -a makes it of the rank's .bin", said)
        (self.directory / "d.meta").write_text("hostname=here\n")
        said = self.run_tool("convert", "d.meta", "never.ftr", status=1).stderr
        self.assertIn("d.meta: expected DUMPI's NAME.meta with a line numprocs=N, found none", said)
        said = self.run_tool("convert", "life.ftr", "d.meta", status=2).stderr
        self.assertIn("dumpi is read only, not written", said)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    TOOL = (options.build / "bin" / "foretrace").resolve()
    unittest.main(argv=[sys.argv[0], *rest])
