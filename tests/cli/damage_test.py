#!/usr/bin/env python3
"""damage_test.py FORETRACE SOURCE: every kind of file that the tool reads, damaged, in every command that reads it.

Bits are flipped, ends cut off, blocks doubled, blocks filled with zeros; the seed is fixed. Wanted: no crash, no
hang, no huge memory; a status of 0, 1 or 2, and where it is not 0 a message that names the file. What carries
checksums never gives another result with status 0. FORETRACE_DAMAGE=N in the environment: N times as many cases.
"""

import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

CASES = 25 * int(os.environ.get("FORETRACE_DAMAGE", "1"))  # of each command and input
LIMIT = 100  # seconds
MEMORY = 2 << 30

MACHINE = "cray-t3d"
GOAL = "num_ranks 4\n" + "".join(
    f"rank {r} {{\na: calc 100000\nb: send 1000b to {(r + 1) % 4} tag 1\nc: recv 1000b from {(r + 3) % 4} tag 1\n"
    "b requires a\nc requires b\n}\n" for r in range(4))
TI = "".join(f"{r} init\n{r} compute 1e6\n{r} allreduce 8 1000\n" + ("0 send 1 0 1000\n", "1 recv 0 0 1000\n")[r] +
             f"{r} finalize\n" for r in range(2))
TABLE = """source = "four nodes"
[elsewhere]
time = "measured"
scale = 0.5
[[region]]
phase = "relax"
visit = ["3us", "1us"]
[[region]]
phase = "sort"
step = "1.2ns"
"""
PLACEMENT = "3\n2\n1\n0\n"


def old_profile():
    """A profile as the first version wrote it: two ranks, each with one call site."""
    texts = b"./app\0openmpi\0MPI_Send\0MPI_Recv\0"
    file = struct.pack("<8s4I", b"FTPROF01", 2, 1, 4, len(texts)) + texts
    file += bytes(-len(file) % 4096)
    for rank in range(2):
        record = struct.pack("<IIiIII64s7Qddd3Q", 1, 2, 0, 0, 1, 77, b"node", 1000, 0, 2_001_000, 1_000_000,
                             2_001_000, 0, 0, 0.0, 0.0, 0.0, 0, 0, 0)
        record += bytes(-len(record) % 8) + struct.pack("<Q", 0)
        site = struct.pack("<HHI8Q7Q", 1, 1 - rank, 1, 0x1234, *[0] * 7, 10, 400_000, 90_000, 80, 80, 0, 10)
        peer = struct.pack("<IIQQ", 1, 1 - rank, 10, 80)
        for kind, body in ((1, record), (3, site), (6, peer)):
            head = struct.pack("<6IQ", 0x43505446, kind, rank, 1, len(body), 1, 64 + len(body))
            file += head.ljust(64, b"\0") + body
    return file


def damage(data, rng):
    data = bytearray(data)
    at = rng.randrange(len(data))
    length = rng.randrange(1, 1 + min(len(data) - at, rng.choice((4, 64, 4096))))
    how = rng.randrange(4)
    if how == 0:
        for _ in range(rng.choice((1, 1, 3))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif how == 1:
        del data[at:]
    elif how == 2:
        data[at:at] = data[at:at + length]
    else:
        data[at:at + length] = bytes(length)
    return bytes(data)


class Damage(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "a.goal").write_text(GOAL)

    def run_tool(self, *words):
        return subprocess.run([FORETRACE, *map(str, words)], cwd=self.folder, capture_output=True, timeout=LIMIT,
                              stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))

    def prepare(self, *words):
        result = self.run_tool(*words)
        self.assertEqual(result.returncode, 0, result.stderr)

    def results(self, result, written):
        return result.stdout, [path.read_bytes() if (path := self.folder / name).exists() else None for name in written]

    def check(self, name, *commands, data=None, sealed=False):
        """`commands` read the file `name`; those that write do so into out.*."""
        good = (self.folder / name).read_bytes() if data is None else data
        rng = random.Random(name)
        for words in commands:
            written = [word for word in words if str(word).startswith("out.")]
            (self.folder / name).write_bytes(good)
            before = self.run_tool(*words)
            self.assertEqual(before.returncode, 0, f"{words}: {before.stderr.decode()}")
            expected = self.results(before, written)
            for case in range(CASES):
                bad = damage(good, rng)
                for each in written:
                    (self.folder / each).unlink(missing_ok=True)
                (self.folder / name).write_bytes(bad)
                with self.subTest(command=words[0], file=name, case=case):
                    try:
                        result = self.run_tool(*words)
                    except subprocess.TimeoutExpired:
                        self.keep(bad, name)
                        self.fail("it hangs")
                    self.judge(result, name, bad, sealed, self.results(result, written) == expected)
        (self.folder / name).write_bytes(good)

    def keep(self, bad, name):
        kept = pathlib.Path(tempfile.gettempdir(), f"damaged-{name}")
        kept.write_bytes(bad)
        return kept

    def judge(self, result, name, bad, sealed, same):
        said = result.stderr.decode(errors="replace")
        try:
            self.assertIn(result.returncode, (0, 1, 2), said)
            self.assertNotRegex(said, r"std::|bad_alloc|basic_string|vector|terminate|what\(\)|stoul|stod")
            if result.returncode != 0:
                self.assertRegex(said, r"(?m)^foretrace: ")
                # A program as text may be whole, and wait for ever.
                if "deadlock on the target" not in said:
                    self.assertIn(name, said)
            elif sealed:
                self.assertTrue(same, "another result, and nobody is told")
        except AssertionError as error:
            raise AssertionError(f"{error}\nthe file is kept as {self.keep(bad, name)}") from None

    def test_machine(self):
        self.check("m.toml", ["calc", "m.toml", "all", "--bytes", "64"],
                   ["datasheet", "m.toml", "-o", "out.txt"],
                   ["simulate", "a.goal", "--machine", "m.toml"],
                   data=(SOURCE / "machines" / f"{MACHINE}.toml").read_bytes())

    def test_topology(self):
        run = ["simulate", "a.goal", "--machine", MACHINE, "--network", "flow", "--topology"]
        for name in ("ring-as-lists.toml", "two-clusters.toml"):
            self.check(name, ["topology", name], [*run, name], data=(SOURCE / "topologies" / name).read_bytes())

    def test_programs_as_text(self):
        self.check("b.goal", ["simulate", "b.goal", "--machine", MACHINE], ["explain", "b.goal", "--machine", MACHINE],
                   data=GOAL.encode())
        self.check("b.ti", ["simulate", "b.ti", "--machine", MACHINE], data=TI.encode())

    def test_cut_off_texts_are_told(self):
        """Half a number is a number as well, and a trace without its end is one of a shorter run."""
        def run(*words):
            return subprocess.run([FORETRACE, *words], cwd=self.folder, capture_output=True, text=True, timeout=LIMIT)

        (self.folder / "w.goal").write_text(GOAL)
        self.prepare("simulate", "w.goal", "--machine", MACHINE, "-o", "w.ftr")
        self.prepare("convert", "w.ftr", "w.txt")
        text = (self.folder / "w.txt").read_text()
        graph = "# 1 9\ncompute 8.5\ntotal 8.75\n# 2 9\ncompute 4.5\ntotal 4.75\n"
        for name, command, text, begin in (
                ("w.txt", ["report", "w.txt"], text, text.index("\ninit MPI_Init", text.index("rank 3")) + 20),
                ("w.ti", ["simulate", "w.ti", "--machine", MACHINE], TI, 6),
                ("w.graph", ["results", "w.graph"], graph, graph.index("# 2") + 1)):
            (self.folder / name).write_text(text)
            whole = run(*command)
            self.assertEqual((whole.returncode, whole.stderr), (0, ""), name)
            for cut in range(begin, len(text), 3 if name == "w.txt" else 1):
                (self.folder / name).write_text(text[:cut])
                result = run(*command)
                if result.returncode == 0 and result.stdout != whole.stdout:
                    self.assertRegex(result.stdout + result.stderr, "incomplete|cut off",
                                     f"{name}, {cut} of {len(text)}")

    def test_placement(self):
        self.check("p.txt", ["simulate", "a.goal", "--machine", MACHINE, "--network", "flow", "--topology",
                             "ring:4?latency=5us&bandwidth=1MB/s", "--placement", "p.txt"], data=PLACEMENT.encode())

    def test_traces(self):
        self.prepare("simulate", "a.goal", "--machine", MACHINE, "-o", "t.ftr")
        self.check("t.ftr", ["report", "t.ftr"], ["timeline", "t.ftr"], ["compare", "t.ftr", "t.ftr"],
                   ["explain", "t.ftr", "--machine", MACHINE], ["simulate", "t.ftr", "--machine", MACHINE],
                   ["convert", "t.ftr", "out.txt"], ["timeline", "t.ftr", "-o", "out.html"], sealed=True)
        self.prepare("convert", "t.ftr", "t.txt")
        self.check("t.txt", ["convert", "t.txt", "out.ftr"])

    def test_compute_table(self):
        self.prepare("simulate", "a.goal", "--machine", MACHINE, "-o", "t.ftr")
        self.check("c.toml", ["simulate", "t.ftr", "--machine", MACHINE, "--compute", "table:c.toml"],
                   data=TABLE.encode())

    def test_profiles(self):
        (self.folder / "old.fprof").write_bytes(old_profile())
        self.prepare("profile", "--read", "old.fprof", "-o", "p.fprof")
        self.assertEqual(self.run_tool("profile", "--read", "p.fprof").stdout,
                         self.run_tool("profile", "--read", "old.fprof").stdout)
        (self.folder / "cut.fprof").write_bytes((self.folder / "p.fprof").read_bytes()[:-1])
        cut = self.run_tool("profile", "--read", "cut.fprof")
        self.assertEqual((cut.returncode, cut.stdout), (1, b""))
        self.assertIn(b"the file is cut off here; nothing is shown of a damaged profile", cut.stderr)
        self.check("old.fprof", ["profile", "--read", "old.fprof"])
        self.check("p.fprof", ["profile", "--read", "p.fprof"], ["compare", "p.fprof", "p.fprof"],
                   ["profile", "--read", "p.fprof", "-o", "out.html"], sealed=True)

    def test_samples(self):
        sys.path.insert(0, str(SOURCE / "tests" / "measure"))
        import known_machine_test
        known_machine_test.write_samples(self.folder / "s.samples.csv", 0, 0, 1)
        self.check("s.samples.csv", ["measure", "--refit", "-o", "s.toml"])


if __name__ == "__main__":
    FORETRACE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
    del sys.argv[1:3]
    unittest.main()
