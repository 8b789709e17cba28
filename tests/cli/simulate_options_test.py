"""Wrong use of `foretrace simulate`: status 2, one line, and no simulation.

    simulate_options_test.py FORETRACE
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n"
MACHINE = """\
[machine]
name = "sends alone"
time_unit = "us"
[[function]]
name = "send"
class = "point-to-point"
[[function.regime]]
c = 1.0
"""
PACKET = ["--network", "packet", "--topology", "ring:2", "--loggps", "L=1us"]


class SimulateOptions(unittest.TestCase):
    def refused(self, *options, says):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "p.goal")
            program.write_text(PROGRAM)
            result = subprocess.run([FORETRACE, "simulate", program, *PACKET, *options],
                                    capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertIn(says, result.stderr)

    def test_sizes(self):
        """Negative sizes and those beyond 2^64 are no large numbers."""
        for option in ("--packet-size", "--block", "--derived-type"):
            for value in ("-1", "99999999999999999999", "KiB", "1e3"):
                with self.subTest(option=option, value=value):
                    self.refused(option + "=" + value, says=option)

    def test_sweep_factors(self):
        for values in ("latency=-1", "latency=nan", "bandwidth=0", "latency=1:2:0", "S=-1", "=", ""):
            with self.subTest(values=values):
                self.refused("--sweep", values, says="--sweep")

    def test_network_auto(self):
        """Without measured patterns there is nothing to choose by."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "p.goal")
            program.write_text(PROGRAM)
            result = subprocess.run([FORETRACE, "simulate", program, "--network", "auto"],
                                    capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("--network auto: there is no --machine", result.stderr)

    def test_advice(self):
        """Each of two messages takes 8 ms of its links, 16 ms together; the data sheet says 1 us."""
        with tempfile.TemporaryDirectory() as folder:
            program, machine = pathlib.Path(folder, "p.goal"), pathlib.Path(folder, "m.toml")
            program.write_text(PROGRAM)
            machine.write_text(MACHINE + """[[function]]
name = "recv"
class = "point-to-point"
[[function.regime]]
c = 1.0
[[pattern]]
name = "exchange_ring"
ranks = 4
bytes = [100000]
seconds = [0.016]
[topology]
expression = "crossbar:4?latency=1us&bandwidth=12.5MB/s"
""")
            words = [FORETRACE, "simulate", program, "--machine", machine]
            note = "--network auto takes that"
            told = subprocess.run(words, capture_output=True, text=True, timeout=60)
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertIn("the data sheet knows no links that messages share", told.stderr)
            self.assertIn(note, told.stderr)
            for network, says in (("datasheet", "of sends alone\n"), ("flow", "collectives openmpi"),
                                  ("auto", "collectives openmpi)\n")):
                said = subprocess.run([*words, "--network", network], capture_output=True, text=True, timeout=60)
                self.assertEqual(said.returncode, 0, said.stderr)
                self.assertNotIn(note, said.stderr)
                self.assertIn(says, said.stdout)

    def test_more_ranks_than_the_machine_has_places(self):
        """The message has the switch that would do, and with it the program runs."""
        with tempfile.TemporaryDirectory() as folder:
            program, machine = pathlib.Path(folder, "p.goal"), pathlib.Path(folder, "m.toml")
            program.write_text("num_ranks 5\nrank 0 { send 8b to 4 }\nrank 4 { recv 8b from 0 }\n")
            machine.write_text(MACHINE + "[loggps]\nL = 1e-6\no_s = 0.0\no_r = 0.0\ng = 0.0\nG = 1e-9\n[topology]\n"
                               'expression = "crossbar:2?latency=1us&bandwidth=12.5MB/s&ranks_per_node=2"\n')
            words = [FORETRACE, "simulate", program, "--machine", machine, "--network", "flow"]
            result = subprocess.run(words, capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("has places for 4 ranks, the program has 5", result.stderr)
            larger = result.stderr.split('"')[1]
            self.assertEqual(larger, "crossbar:3?latency=1000000ps&bandwidth=12500000.0B/s&ranks_per_node=2")
            result = subprocess.run([*words, "--topology", larger], capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 0, result.stderr)
            # Two links of 1 us and 8 bytes at 12.5 MB/s.
            self.assertIn("predicted time 2.64e-06 s", result.stdout)

    def test_combinations(self):
        self.refused("--sweep", "latency=1,2", "-o", "p.ftr", says="-o")
        self.refused("--sweep", "latency=1,2", "--links", says="--links")
        self.refused("--csv", says="--csv")
        self.refused("--seed", "7", says="--samples")
        self.refused("--sweep", "latency=1,2", "--csv", "--json", says="choose one")

    def test_launchers(self):
        """Several processes would each simulate the whole program."""
        result = subprocess.run(
            [FORETRACE, "simulate", "-n", "2", "--machine", "cray-t3d", "--", "/bin/true"],
            env={**os.environ, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"},
            capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("Open MPI's mpirun has started 2 processes already", result.stderr)

    def test_wildcards_of_live_runs(self):
        """They take what is there first; nothing else was recorded."""
        result = subprocess.run([FORETRACE, "simulate", "-n", "2", "--machine", "cray-t3d", "--wildcards", "arrival", "--",
                                 "/bin/true"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("--wildcards is for recorded runs", result.stderr)

    def test_messages_that_mpi_does_not_allow(self):
        """Text programs: messages that nobody receives, or that are longer than their receives, are told."""
        left = "1 message is never received: 8 bytes from rank 0 to rank 1, tag 1"
        long = "1 message is longer than its receive: 80 bytes from rank 0 to rank 1, tag 0, where there is room for 8"
        times = []
        for sends, receives, says in (
                ("send 80b to 1", "recv 80b from 0", []), ("send 80b to 1", "recv 100b from 0", []),
                ("send 80b to 1; send 8b to 1 tag 1", "recv 80b from 0", [left]),
                ("send 80b to 1", "recv 8b from 0", [long]), ("send 80b to 1", "recv 8b from any tag any", [long]),
                ("send 80b to 1; send 8b to 1 tag 1", "recv 8b from 0", [left, long]),
                ("repeat 3 { send 80b to 1; send 8b to 1 tag 1 }", "repeat 3 { recv 8b from 0 }",
                 ["3 messages are never received; the first: 8 bytes", "3 messages are longer than their receives"]),
                ("alltoallv 80b", "alltoallv 8b", [])):
            for network in (["--machine", "cray-t3d"], ["--loggps", "L=1us,S=8"], PACKET, [*PACKET, "--json"]):
                with self.subTest(sends=sends, receives=receives, network=network), \
                        tempfile.TemporaryDirectory() as folder:
                    program = pathlib.Path(folder, "p.goal")
                    rendezvous = "S=8" in network[-1]
                    if rendezvous and any("never received" in line for line in says):
                        continue
                    program.write_text(f"num_ranks 2\nrank 0 {{ {sends} }}\nrank 1 {{ {receives} }}\n")
                    result = subprocess.run([FORETRACE, "simulate", program, *network], capture_output=True, text=True,
                                            timeout=60)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    told = [line for line in result.stderr.splitlines() if "receive" in line]
                    self.assertEqual(len(told), len(says), result.stderr)
                    for line, expected in zip(told, says):
                        self.assertTrue(line.startswith("foretrace: " + expected), line)
                    if "room" not in "".join(told):
                        continue
                    # The time is the one with room for all.
                    program.write_text(program.read_text().replace("recv 8b", "recv 80b"))
                    roomy = subprocess.run([FORETRACE, "simulate", program, *network], capture_output=True, text=True,
                                           timeout=60)
                    # But for what is said of it.
                    times.append([re.sub(r'"notes": \[[^]]*\]', "", each.stdout) for each in (result, roomy)])
        self.assertTrue(times)
        for time, roomy in times:
            self.assertEqual(time, roomy)

    def test_functions_that_the_model_lacks(self):
        """What takes no time for want of an equation is named."""
        with tempfile.TemporaryDirectory() as folder:
            machine = pathlib.Path(folder, "m.toml")
            machine.write_text(MACHINE)
            program = pathlib.Path(folder, "p.ti")
            program.write_text("0 init\n1 init\n0 barrier\n1 barrier\n0 finalize\n1 finalize\n")
            result = subprocess.run([FORETRACE, "simulate", program, "--machine", machine],
                                    capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("nothing stands in, so these take no time: barrier\n", result.stderr)


if __name__ == "__main__":
    FORETRACE = sys.argv.pop(1)
    unittest.main()
