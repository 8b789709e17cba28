"""Every format that is written keeps the run's time and its calls, whatever becomes of messages.

kept_test.py --build BUILD
"""

import argparse
import collections
import csv
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from pictures_test import fields, one

# Rank 0 sends to itself in each way, sends what nobody receives, gives up a receive that nobody answers, calls
# collectives of MPI_COMM_SELF, and moves nothing; last comes an ordinary message. Times are whole microseconds.
RANK_0 = """init MPI_Init
sendrecv MPI_Sendrecv to=0 to_tag=1 to_bytes=8 from=0 from_tag=1 from_bytes=8
sendrecv MPI_Sendrecv to=0 to_tag=1 to_bytes=8 from=0 from_tag=1 from_bytes=8
isend MPI_Isend request=1 to=0 to_tag=2 to_bytes=16
recv MPI_Recv from=0 from_tag=2 from_bytes=16
complete MPI_Wait done=1
irecv MPI_Irecv request=2 from=0 from_tag=3 from_bytes=8
isend MPI_Isend request=3 to=0 to_tag=3 to_bytes=8
complete MPI_Waitall done=2,0,3,8;3
send MPI_Send comm=1 to=0 to_tag=4 to_bytes=8
recv MPI_Recv comm=1 from=0 from_tag=4 from_bytes=8 any_source=1
send MPI_Send to=1 to_tag=5 to_bytes=80
isend MPI_Isend request=4 to=1 to_tag=5 to_bytes=80
complete MPI_Wait done=4
send MPI_Send to=0 to_tag=6 to_bytes=8
irecv MPI_Irecv request=5 from=1 from_tag=7 from_bytes=8
complete MPI_Wait done=5,1,7,0,cancelled
collective MPI_Barrier comm=1 collective=barrier
collective MPI_Bcast comm=1 collective=bcast bytes=64 root=0
send MPI_Send to_bytes=8
recv MPI_Recv
sendrecv MPI_Sendrecv
complete MPI_Waitall
send MPI_Send to=1 to_tag=8 to_bytes=8
call MPI_Comm_rank
finalize MPI_Finalize
"""
RANK_1 = """init MPI_Init
recv MPI_Recv from=0 from_tag=8 from_bytes=8
collective MPI_Barrier comm=1 collective=barrier
finalize MPI_Finalize
"""
LONE = 3  # messages that nobody receives
CALLS = {0: RANK_0.splitlines(), 1: RANK_1.splitlines()}
# One after the other without a gap, but for MPI_Init, which takes no time.
END = len(CALLS[0]) - 1


def trace():
    text = 'foretrace-trace 1\ninfo {"ranks":2,"clock":"virtual","program":"p"}\n'
    for rank, calls in CALLS.items():
        text += f"rank {rank}\n"
        for name in sorted({call.split()[1] for call in calls}):
            text += f'name "{name}"\n'
        text += f"comm 0 0 1\ncomm {rank << 32 | 0xFFFFFFFF} {rank}\n"
        for at, call in enumerate(calls):
            begin, end = max(at - 1, 0), at
            if rank == 1 and at:
                begin, end = (0, END - 2) if at == 1 else (END - 4 + at, END - 3 + at)
            kind, name, rest = (call + " ").split(" ", 2)
            text += f"{kind} {name} enter={begin * 10**6} leave={end * 10**6} {rest}\n"
    return text


def calls_of_text(path):
    """(calls of each name, last time in microseconds) of a trace as text."""
    names, last = collections.Counter(), 0
    for line in path.read_text().splitlines():
        words = line.split()
        found = re.search(r" leave=(\d+)", line)
        if words[0] in ("foretrace-trace", "info", "incomplete", "rank", "name", "comm", "site"):
            continue
        names[words[1]] += 1
        last = max(last, int(found.group(1)) if found else 0)
    return names, last / 1e6


def calls_of_csv(path):
    rows = list(csv.DictReader(path.read_text().splitlines()))
    return (collections.Counter(row["Name"] for row in rows if row["Event Type"] == "Enter"),
            max(float(row["Timestamp (ns)"]) for row in rows) / 1e3)


def calls_of_chrome(path):
    calls = [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]
    return (collections.Counter(call["name"] for call in calls), max(call["ts"] + call["dur"] for call in calls))


def calls_of_paje(path):
    lines = path.read_text().splitlines()
    return (collections.Counter(line.split('"')[1] for line in lines if line.startswith("6 ")),
            max(float(line.split()[1]) for line in lines if line.startswith(("6 ", "7 "))) * 1e6)


def calls_of_perfetto(path):
    names, starts, last = {}, collections.Counter(), 0
    for _, packet in fields(path.read_bytes()):
        for field, entry in fields(one(packet, 12, b"")):
            names[one(packet, 10), field, one(entry, 1)] = one(entry, 2).decode()
        event = one(packet, 11)
        if event is not None:
            last = max(last, one(packet, 8))
            if one(event, 9) == 1:
                starts[names[one(packet, 10), 2, one(event, 10)]] += 1
    return starts, last / 1e3


def calls_of_clog2(path):
    data, position, starts, names, last = path.read_bytes(), 1024, collections.Counter(), {}, 0
    sizes = {0: 0, 1: 0, 2: 112, 3: 104, 5: 8, 6: 40, 7: 24, 9: 48}
    while True:
        time, kind = struct.unpack_from(">d12xi", data, position)
        body = data[position + 24:position + 24 + sizes[kind]]
        position += 24 + sizes[kind]
        if kind == 0:
            return starts, last * 1e6
        if kind == 2:
            names[struct.unpack_from(">4xi", body)[0]] = body[40:72].split(b"\0")[0].decode()
        elif kind == 5:
            last = max(last, time)
            number = struct.unpack_from(">i", body)[0]
            if number in names:
                starts[names[number]] += 1


def entries_of_picl(path):
    """How many events are entered: one for each half of a call that sends and receives, and for each request that a
    call completes."""
    lines = [line.split() for line in path.read_text().splitlines()]
    return (sum(words[0] == "-3" and words[1] != "-901" for words in lines), max(float(words[2]) for words in lines) * 1e6)


def entries(call):
    words = call.split()
    if words[0] == "complete":
        return max(call.count(";") + 1, 1)
    return 2 if "to=" in call and "from=" in call else 1


DRAWN = {"csv": calls_of_csv, "json": calls_of_chrome, "paje": calls_of_paje, "pftrace": calls_of_perfetto,
         "clog2": calls_of_clog2}
READ_BACK = ("ftr", "txt", "otf2", "prv", "alog")


class Kept(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="foretrace-kept-"))
        self.addCleanup(shutil.rmtree, self.directory, True)
        (self.directory / "t.txt").write_text(trace())
        self.convert("t.txt", "t.ftr")
        self.calls = collections.Counter(call.split()[1] for calls in CALLS.values() for call in calls)

    def convert(self, source, target):
        result = subprocess.run([TOOL, "convert", source, target], capture_output=True, text=True, timeout=60,
                                cwd=self.directory)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def test_every_written_format_is_looked_at(self):
        usage = subprocess.run([TOOL, "convert", "--help"], capture_output=True, text=True, timeout=60).stdout
        endings = set(re.findall(r"\(\.(\w+)\)", usage))
        self.assertEqual(endings - {"meta"}, {*DRAWN, *READ_BACK, "trf"})

    def test_formats_that_are_read_back(self):
        for ending in READ_BACK:
            with self.subTest(ending=ending):
                if ending == "otf2" and not HAS_OTF2:
                    self.skipTest("built without OTF2")
                self.convert("t.ftr", f"there.{ending}")
                self.convert(f"there.{ending}", "back.ftr")
                self.convert("back.ftr", "back.txt")
                self.assertEqual(calls_of_text(self.directory / "back.txt"), (self.calls, END))

    def test_formats_to_look_at(self):
        for ending, decode in DRAWN.items():
            with self.subTest(ending=ending):
                self.convert("t.ftr", f"there.{ending}")
                calls, last = decode(self.directory / f"there.{ending}")
                self.assertEqual(calls, self.calls)
                self.assertAlmostEqual(last, END, places=6)

    def test_picl(self):
        self.convert("t.ftr", "there.trf")
        found, last = entries_of_picl(self.directory / "there.trf")
        self.assertEqual(found, sum(entries(call) for calls in CALLS.values() for call in calls))
        self.assertAlmostEqual(last, END, places=6)

    def test_messages_to_oneself_arrive(self):
        """Five of rank 0 to itself, and one to rank 1."""
        self.convert("t.ftr", "there.prv")
        lines = (self.directory / "there.prv").read_text().splitlines()
        tasks = sorted((words[3], words[9]) for words in (line.split(":") for line in lines) if words[0] == "3")
        self.assertEqual(tasks, [("1", "1")] * 5 + [("1", "2")])
        self.convert("t.ftr", "there.json")
        events = json.loads((self.directory / "there.json").read_text())["traceEvents"]
        starts, arrivals = ({event["id"]: event["ts"] for event in events if event["ph"] == phase} for phase in "sf")
        self.assertEqual((len(starts), len(arrivals), len(starts.keys() - arrivals.keys())), (6 + LONE, 6, LONE))
        self.assertTrue(all(starts[each] < arrivals[each] for each in arrivals))

    def test_messages_that_nobody_receives_are_told(self):
        for ending in ("prv", "paje"):
            self.assertIn(f"there.{ending}: {LONE} messages have one end only in the trace",
                          self.convert("t.ftr", f"there.{ending}"))

    def test_what_a_file_does_not_tell_stays_with_the_trace(self):
        self.convert("t.ftr", "there.prv")
        told = self.convert("there.prv", "back.ftr").splitlines()
        notes = [line.removeprefix("foretrace: ") for line in told if " times: " in line or " once: " in line]
        self.assertTrue(notes, told)

        def foretrace(*words):
            return subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=60, cwd=self.directory)

        words = ("simulate", "back.ftr", "--loggps", "L=1us", "--compute", "none", "-o", "again.ftr")
        for note in notes:
            self.assertIn(f"foretrace: {note}\n", foretrace(*words).stderr)
            self.assertIn(f"note: {note}\n", foretrace("report", "back.ftr").stdout)
            self.assertIn(f"note: {note}\n", foretrace("report", "again.ftr").stdout)
            self.assertIn(f"note: {note}\n", foretrace("report", "there.prv").stdout)

    @unittest.skipUnless(shutil.which("pj_dump"), "pajeng is not installed")
    def test_paje_is_read_by_others(self):
        """pj_dump refuses a link without an end."""
        self.convert("t.ftr", "there.paje")
        result = subprocess.run(["pj_dump", self.directory / "there.paje"], capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sum(line.startswith("Link,") for line in result.stdout.splitlines()), 6)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    TOOL = (options.build / "bin" / "foretrace").resolve()
    HAS_OTF2 = "otf2_absent" not in (options.build / "build.ninja").read_text()
    unittest.main(argv=[sys.argv[0], *rest])
