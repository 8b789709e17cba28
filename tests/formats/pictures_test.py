"""What is written for other tools to draw, decoded by readers made from the formats' own descriptions.

pictures_test.py --build BUILD
"""

import argparse
import csv
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

# Two ranks; a message of each kind, a phase, a mark; times in ps, two of them no whole ns.
TRACE = """foretrace-trace 1
info {"ranks":2,"clock":"virtual","program":"./halo -n \\"3\\""}
rank 0
name "MPI_Init"
name "MPI_Send"
name "MPI_Isend"
name "MPI_Wait"
name "solve, twice"
name "residual"
name "MPI_Finalize"
comm 0 0 1
init MPI_Init
phase_begin 4 compute=1000 enter=1000 leave=1000
send MPI_Send compute=1000 enter=2000 leave=5500 to=1 to_tag=7 to_bytes=800
isend MPI_Isend enter=6000 leave=7000 request=1 to=1 to_tag=7 to_bytes=16
complete MPI_Wait enter=8000 leave=9000 done=1
mark residual enter=9500 leave=9500 value=0.25
phase_end 4 enter=10000 leave=10000
finalize MPI_Finalize enter=20000 leave=20000
rank 1
name "MPI_Init"
name "MPI_Recv"
name "MPI_Irecv"
name "MPI_Waitall"
name "MPI_Finalize"
comm 0 0 1
init MPI_Init
recv MPI_Recv enter=1000 leave=6250 wait=4000 from=0 from_tag=7 from_bytes=800
irecv MPI_Irecv enter=6500 leave=7000 request=1 from_bytes=100 any_source=1 any_tag=1
complete MPI_Waitall enter=8000 leave=12000 done=1,0,7,16
finalize MPI_Finalize enter=20000 leave=20000
"""

CSV = """Timestamp (ns),Event Type,Name,Process
0,Enter,MPI_Init,0
0,Leave,MPI_Init,0
0,Enter,MPI_Init,1
0,Leave,MPI_Init,1
1,Enter,"solve, twice",0
1,Enter,MPI_Recv,1
2,Enter,MPI_Send,0
5.5,Leave,MPI_Send,0
6,Enter,MPI_Isend,0
6.25,Leave,MPI_Recv,1
6.5,Enter,MPI_Irecv,1
7,Leave,MPI_Isend,0
7,Leave,MPI_Irecv,1
8,Enter,MPI_Wait,0
8,Enter,MPI_Waitall,1
9,Leave,MPI_Wait,0
9.5,Instant,residual,0
10,Leave,"solve, twice",0
12,Leave,MPI_Waitall,1
20,Enter,MPI_Finalize,0
20,Leave,MPI_Finalize,0
20,Enter,MPI_Finalize,1
20,Leave,MPI_Finalize,1
"""


def fields(data):
    """(number, value) of a protobuf message; protobuf.dev/programming-guides/encoding."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
        elif kind == 1:
            yield key >> 3, struct.unpack_from("<Q", data, at)[0]
            at += 8
        elif kind == 2:
            length = varint()
            yield key >> 3, data[at:at + length]
            at += length
        else:
            raise AssertionError(f"wire type {kind}")
    assert at == len(data), "a message is cut off"


def one(data, number, default=None):
    found = [value for key, value in fields(data) if key == number]
    return found[-1] if found else default


class Pictures(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="foretrace-pictures-"))
        self.addCleanup(shutil.rmtree, self.directory, True)
        (self.directory / "t.txt").write_text(TRACE)

    def made(self, ending):
        out = self.directory / f"t.{ending}"
        result = subprocess.run([TOOL, "convert", self.directory / "t.txt", out], capture_output=True,
                                text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("in this format", result.stderr)  # what is lost is said
        return out

    def test_csv(self):
        path = self.made("csv")
        self.assertEqual(path.read_text(), CSV)
        rows = list(csv.DictReader(path.read_text().splitlines()))
        self.assertEqual(list(rows[0]), ["Timestamp (ns)", "Event Type", "Name", "Process"])

    def test_csv_is_what_pandas_reads(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        table = pandas.read_csv(self.made("csv"), skipinitialspace=True)
        self.assertEqual(set(table["Event Type"]), {"Enter", "Leave", "Instant"})
        self.assertEqual(table["Timestamp (ns)"].max(), 20)
        self.assertTrue(table["Timestamp (ns)"].is_monotonic_increasing)

    def test_chrome(self):
        events = json.loads(self.made("json").read_text())["traceEvents"]
        send = next(e for e in events if e["name"] == "MPI_Send")
        self.assertEqual((send["ph"], send["tid"], send["ts"], send["dur"]), ("X", 0, 0.002, 0.0035))
        self.assertEqual(send["args"], {"to": 1, "tag": 7, "bytes": 800})
        starts = {e["id"]: e for e in events if e["ph"] == "s"}
        ends = {e["id"]: e for e in events if e["ph"] == "f"}
        self.assertEqual(starts.keys(), ends.keys())
        self.assertEqual(sorted((starts[i]["ts"], ends[i]["ts"]) for i in starts),
                         [(0.002, 0.00625), (0.006, 0.012)])
        self.assertEqual([e["args"]["value"] for e in events if e["ph"] == "C"], [0.25])
        self.assertEqual([(e["ph"], e["ts"]) for e in events if e["name"] == "solve, twice"],
                         [("B", 0.001), ("E", 0.01)])

    def test_perfetto(self):
        """docs.perfetto.dev/reference/trace-packet-proto: packets of sequences with interned names."""
        tracks, names, slices, values, cleared = {}, {}, [], [], set()
        for key, packet in fields(self.made("pftrace").read_bytes()):
            self.assertEqual(key, 1)
            sequence = one(packet, 10)
            interned = one(packet, 12, b"")
            for field, entry in fields(interned):
                names[sequence, field, one(entry, 1)] = one(entry, 2).decode()
            if one(packet, 60) is not None:
                descriptor = one(packet, 60)
                tracks[one(descriptor, 1)] = (one(descriptor, 2, b"").decode(), one(descriptor, 5))
            event = one(packet, 11)
            if event is None:
                continue
            flags = one(packet, 13)
            if sequence not in cleared:
                self.assertEqual(flags & 1, 1, "the first event of a sequence clears its state")
                cleared.add(sequence)
            self.assertEqual(flags & 2, 2)
            kind, track = one(event, 9), one(event, 11)
            self.assertIn(track, tracks, "a track is described before its events")
            if kind == 4:
                values.append((one(packet, 8), struct.unpack("<d", struct.pack("<Q", one(event, 44)))[0]))
                continue
            notes = {names[sequence, 3, one(note, 1)]: one(note, 3, one(note, 4))
                     for field, note in fields(event) if field == 4}
            slices.append((tracks[track][0], kind, one(packet, 8), names.get((sequence, 2, one(event, 10))),
                           [v for f, v in fields(event) if f == 47], [v for f, v in fields(event) if f == 48],
                           notes))
        self.assertEqual({name for name, _ in tracks.values()}, {"", "rank 0", "rank 1", "residual"})
        self.assertEqual(values, [(9, 0.25)])
        begins = [s for s in slices if s[1] == 1]
        self.assertEqual([(s[0], s[2], s[3]) for s in begins],
                         [("rank 0", 0, "MPI_Init"), ("rank 0", 1, "solve, twice"), ("rank 0", 2, "MPI_Send"),
                          ("rank 0", 6, "MPI_Isend"), ("rank 0", 8, "MPI_Wait"), ("rank 0", 20, "MPI_Finalize"),
                          ("rank 1", 0, "MPI_Init"), ("rank 1", 1, "MPI_Recv"), ("rank 1", 6, "MPI_Irecv"),
                          ("rank 1", 8, "MPI_Waitall"), ("rank 1", 20, "MPI_Finalize")])
        self.assertEqual(len(begins), sum(s[1] == 2 for s in slices), "what begins ends")
        flows = {s[3]: s[4] for s in begins if s[4]}
        ends = {s[3]: s[5] for s in begins if s[5]}
        self.assertEqual((flows["MPI_Send"], flows["MPI_Isend"]), (ends["MPI_Recv"], ends["MPI_Waitall"]))
        self.assertNotEqual(flows["MPI_Send"], flows["MPI_Isend"])
        self.assertEqual(next(s[6] for s in begins if s[3] == "MPI_Send"), {"to": 1, "tag": 7, "bytes": 800})

    @unittest.skipUnless(shutil.which("pj_dump"), "pajeng is not installed")
    def test_clog2(self):
        """As clog_record.h, clog_preamble.c and clog_commset.c of MPE lay it out."""
        data = self.made("clog2").read_bytes()
        words = [word.decode() for word in data[:1024].split(b"\0")]
        self.assertEqual(words[:5], ["CLOG-02.44", "is_big_endian=", "TRUE ", "is_finalzed=", "TRUE "])
        at = {name: int(value) for name, value in zip(words[5:-1:2], words[6::2]) if name.endswith("=") and value.lstrip("-").isdigit()}
        self.assertEqual((at["max_comm_world_size="], at["user_stateID_count="], at["user_solo_eventID_count="]), (2, 9, 1))
        giga, unit, rest = (int(word) for word in words[words.index("commtable_fptr=") + 1:][:3])
        table = giga * unit + rest
        self.assertEqual((table - 1024) % at["block_size="], 0)
        self.assertEqual(struct.unpack(">i32x2i", data[table:]), (1, 0, 1))
        sizes = {0: 0, 1: 0, 2: 112, 3: 104, 5: 8, 6: 40, 7: 24, 9: 48}
        text = lambda bytes_: bytes_.split(b"\0")[0].decode()
        starts, ends, solos, events = {}, {}, {}, []
        position = 1024
        while True:
            time, comm, rank, thread, kind = struct.unpack_from(">d4i", data, position)
            body = data[position + 24:position + 24 + sizes[kind]]
            position += 24 + sizes[kind]
            self.assertEqual((comm, thread), (0, 0))
            if kind == 0:
                break
            if kind == 2:
                state, start, end = struct.unpack_from(">3i", body)
                self.assertEqual((start, end), (2 * state, 2 * state + 1))
                starts[start] = ends[end] = text(body[40:72])
            elif kind == 3:
                solos[struct.unpack_from(">i", body)[0]] = (text(body[32:64]), text(body[64:]))
            elif kind == 9:
                self.assertEqual(struct.unpack_from(">4i", body), (0, 0, rank, rank))
            else:
                number = struct.unpack_from(">i", body)[0]
                what = (f"send to {struct.unpack_from('>5i', body)[2:]}" if number == -101
                        else f"receive from {struct.unpack_from('>5i', body)[2:]}" if number == -102
                        else f"{solos[number][0]}={struct.unpack_from('>d', body, 8)[0]}" if kind == 6
                        else f"+{starts[number]}" if number in starts else f"-{ends[number]}")
                events.append((round(time * 1e12), rank, what))
        self.assertEqual(events, sorted(events, key=lambda event: event[0]))
        self.assertEqual([event[0::2] for event in events if event[1] == 0], [
            (0, "+MPI_Init"), (0, "-MPI_Init"), (1000, "+solve, twice"), (2000, "+MPI_Send"), (2000, "send to (1, 7, 800)"),
            (5500, "-MPI_Send"), (6000, "+MPI_Isend"), (6000, "send to (1, 7, 16)"), (7000, "-MPI_Isend"), (8000, "+MPI_Wait"),
            (9000, "-MPI_Wait"), (9500, "residual=0.25"), (10000, "-solve, twice"), (20000, "+MPI_Finalize"), (20000, "-MPI_Finalize")])
        self.assertEqual([event[0::2] for event in events if "receive" in event[2]], [
            (6250, "receive from (0, 7, 800)"), (12000, "receive from (0, 7, 16)")])

    def test_clog2_of_many_blocks(self):
        """Records do not cross blocks, and the table is where the preamble says."""
        sends = "".join(f"send MPI_Send compute=10 enter={20 * i + 10} leave={20 * i + 20} to=0 to_tag=1 to_bytes=8\n"
                        for i in range(1, 3000))
        (self.directory / "many.txt").write_text(
            'foretrace-trace 1\ninfo {"ranks":1,"clock":"virtual"}\nrank 0\nname "MPI_Init"\nname "MPI_Send"\n'
            'comm 0 0\ninit MPI_Init\n' + sends)
        subprocess.run([TOOL, "convert", self.directory / "many.txt", self.directory / "many.clog2"], check=True,
                       capture_output=True, timeout=60)
        data = (self.directory / "many.clog2").read_bytes()
        sizes = {0: 0, 1: 0, 2: 112, 3: 104, 5: 8, 6: 40, 7: 24, 9: 48}
        blocks, messages, kind = 0, 0, 1
        while kind == 1:
            position = 1024 + 65536 * blocks
            kind = None
            while kind not in (0, 1):
                kind = struct.unpack_from(">i", data, position + 20)[0]
                position += 24 + sizes[kind]
                messages += kind == 7
            blocks += 1
            self.assertLessEqual(position, 1024 + 65536 * blocks)
        self.assertEqual(messages, 2999)
        self.assertGreater(blocks, 3)
        self.assertEqual(len(data), 1024 + 65536 * blocks + 44)

    def test_picl(self):
        """As coNCePTuaL's manual shows it: kind, event, seconds, process, task, count, type, values."""
        text = self.made("trf").read_text()
        lines = [line.split() for line in text.splitlines()]
        for words in lines:
            self.assertEqual(len(words), 6 + (1 + int(words[5]) if words[5] != "0" else 0), words)
            self.assertEqual(words[4], "0")
        times = [float(words[2]) for words in lines if words[1] != "-901"]
        self.assertEqual(times, sorted(times))
        of = lambda rank: [line for line in text.splitlines() if line.split()[3] == rank]
        self.assertEqual(of("0"), [
            "-3 -901 0 0 0 0", "-3 1 0 0 0 0", "-4 1 0 0 0 0", "-3 2 0.000000001 0 0 0",
            "-3 -21 0.000000002 0 0 4 2 800 7 1 0", "-4 -21 0.0000000055 0 0 0",
            "-3 -27 0.000000006 0 0 4 2 16 7 1 0", "-4 -27 0.000000007 0 0 1 2 1",
            "-3 -31 0.000000008 0 0 1 2 1", "-4 -31 0.000000009 0 0 0",
            "-2 3 0.0000000095 0 0 0", "-4 2 0.00000001 0 0 0",
            "-3 4 0.00000002 0 0 0", "-4 4 0.00000002 0 0 0", "-4 -901 0.00000002 0 0 0"])
        self.assertEqual(of("1")[3:9], [
            "-3 -52 0.000000001 1 0 3 2 7 0 0", "-4 -52 0.00000000625 1 0 4 2 800 7 0 0",
            "-3 -57 0.0000000065 1 0 3 2 -1 -1 0", "-4 -57 0.000000007 1 0 1 2 1",
            "-3 -61 0.000000008 1 0 1 2 1", "-4 -61 0.000000012 1 0 4 2 16 7 0 0"])

    def test_picl_collectives(self):
        """The values that coNCePTuaL writes; processes are numbered where they are not all."""
        (self.directory / "all.txt").write_text("".join(
            ('foretrace-trace 1\ninfo {"ranks":3,"clock":"virtual"}\n' if rank == 0 else "") +
            f'rank {rank}\nname "MPI_Init"\nname "MPI_Bcast"\nname "MPI_Reduce"\nname "MPI_Allreduce"\nname "MPI_Barrier"\ncomm 0 0 1 2\n'
            + ("comm 7 1 2\n" if rank else "") + "init MPI_Init\ncollective MPI_Bcast enter=0 leave=10 collective=bcast bytes=64 root=1\n"
            "collective MPI_Reduce enter=10 leave=20 collective=reduce bytes=8 root=0\n"
            + ("collective MPI_Allreduce enter=20 leave=30 collective=allreduce bytes=16 comm=1\ncollective MPI_Barrier enter=30 leave=40 collective=barrier comm=1\n" if rank else "")
            for rank in range(3)))
        subprocess.run([TOOL, "convert", self.directory / "all.txt", self.directory / "all.trf"], check=True, capture_output=True, timeout=60)
        rest = [line.split(" ", 5)[5] for line in (self.directory / "all.trf").read_text().splitlines()
                if line.split()[3] == "1" and line.split()[1] in ("-785", "-790", "-782", "-402")]
        self.assertEqual(rest, ["3 2 64 1 -1", "1 2 64", "3 2 8 0 -1", "1 2 -1", "2 2 16 0", "1 2 0", "1 2 0", "0"])
        self.assertIn("-202 -812 0.00000000002 -1 -1 3 2 0 1 2\n", (self.directory / "all.trf").read_text())

    def test_paje(self):
        result = subprocess.run(["pj_dump", self.made("paje")], capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        rows = [[word.strip() for word in line.split(",")] for line in result.stdout.splitlines()]
        links = sorted(row[3:6] + row[-3:-1] for row in rows if row[0] == "Link")
        self.assertEqual(links, [["0.000000", "0.000000", "0.000000", "rank 0", "rank 1"]] * 2)
        states = [(row[1], row[-1]) for row in rows if row[0] == "State" and row[2] == "Call"]
        self.assertEqual(len(states), 10)
        self.assertIn(("rank 1", "MPI_Waitall"), states)
        text = (self.directory / "t.paje").read_text()
        self.assertIn("6 0.000000002 S r0 \"MPI_Send\"\n", text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    TOOL = (options.build / "bin" / "foretrace").resolve()
    unittest.main(argv=[sys.argv[0], *rest])
