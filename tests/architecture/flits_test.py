#!/usr/bin/env python3
"""flits_test.py FORETRACE MPIRUN MPICC PROGRAM.c: programs on switches with virtual channels and credits.

Cases by hand from docs/traffic.md: without load a packet of f flits through h switches takes
3 h + 2 + (f - 1) cycles, here of 1 ns; then a real program, recorded and live.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

TOOL, MPICC, SOURCE = sys.argv[1:4]
OVERHEAD = 1_000_000  # ps, on each side

MACHINE = """[architecture]
name = "a machine"

[entity.router]
behaviour = "switch"
level = "vc"
parameters = {{ {parameters} }}

[composite.node]
ports = {{ net = "router.net" }}
[[composite.node.part]]
name = "cpu"
kind = "processor"
[[composite.node.part]]
name = "router"
kind = "router"
[[composite.node.link]]
from = "cpu.net"
to = "router.net"

[[composite.machine.part]]
name = "grid"
template = "{template}"
kind = "node"
{more}
"""


def run(*command, status=0):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout if status == 0 else done.stderr


def machine(template, parameters="", more=""):
    path = folder / "machine.arch.toml"
    path.write_text(MACHINE.format(template=template, parameters=parameters, more=more))
    return f"arch:{path}"


def picoseconds(network, ranks, sends, *options):
    """From rank 0's send to the end of the last receive: all are posted at once."""
    goal = f"num_ranks {ranks}\n"
    for rank in range(ranks):
        lines = [f"send {size}b to {to} tag {tag}" for tag, (source, to, size) in enumerate(sends) if source == rank]
        lines += [f"recv {size}b from {source} tag {tag}" for tag, (source, to, size) in enumerate(sends) if to == rank]
        goal += f"rank {rank} {{\n" + "".join(f"l{i}: {line}\n" for i, line in enumerate(lines or ["calc 0"])) + "}\n"
    (folder / "x.goal").write_text(goal)
    out = run(TOOL, "simulate", str(folder / "x.goal"), "--loggps", "o=1us,g=0s", "--network", network, *options, "--json")
    return round(json.loads(out)["time"] * 1e12)


def by_hand():
    # One flit through the 7 routers from corner to corner; 4 flits; at the ideal level as long.
    for size, flits in [(1, 1), (16, 1), (64, 4)]:
        expected = 2 * OVERHEAD + 1000 * (3 * 7 + 2 + flits - 1)
        assert picoseconds(machine("mesh:4x4"), 16, [(0, 15, size)]) == expected
        assert picoseconds(machine("mesh:4x4"), 16, [(0, 15, size)], "--level", "*router=crossbar") == expected
    # 4 packets of 64 flits follow each other without a gap.
    assert picoseconds(machine("mesh:4x4"), 16, [(0, 15, 4096)], "--packet-size", "1024") == 2 * OVERHEAD + 1000 * (23 + 255)
    # First the channel, then the switch: a cycle more in each router.
    assert picoseconds(machine("mesh:4x4", 'allocation = "sequential"'), 16, [(0, 15, 1)]) == 2 * OVERHEAD + 1000 * (4 * 7 + 2)
    # With room for one flit its credit comes back after 5 cycles.
    assert picoseconds(machine("mesh:4x1", "buffer = 1"), 4, [(0, 3, 96)]) == 2 * OVERHEAD + 1000 * (3 * 4 + 2 + 5 * 5)
    # Flits of 32 bytes in cycles of 2 ns.
    assert picoseconds(machine("mesh:4x1", 'flit = "32B", cycle = "2ns"'), 4, [(0, 3, 96)]) == 2 * OVERHEAD + 2000 * (3 * 4 + 2 + 2)
    # Ranks 0 and 1 send 256 flits each to rank 2 of a row, one flit a cycle into it: rank 1's
    # packet may be first or the two take turns, but the last flit is 256 cycles after what rank 1
    # alone would need, or, if rank 0's is the last, after what rank 0 alone would. Receives end
    # one overhead after the other.
    both = picoseconds(machine("mesh:3x1", "vcs = 2"), 3, [(0, 2, 4096), (1, 2, 4096)], "--packet-size", "4096")
    alone = picoseconds(machine("mesh:3x1", "vcs = 2"), 3, [(0, 2, 4096)], "--packet-size", "4096")
    assert alone == 2 * OVERHEAD + 1000 * (3 * 3 + 2 + 255)
    assert alone < both <= alone + OVERHEAD + 1000 * 256, (alone, both)


def refused():
    network = machine("mesh:4x1", more='bandwidth = "1GB/s"')
    (folder / "x.goal").write_text("num_ranks 2\nrank 0 {\nl0: calc 1\n}\n")
    simulate = [TOOL, "simulate", str(folder / "x.goal"), "--loggps", "o=1us,g=0s", "--network"]
    said = run(*simulate, network, status=1)
    assert "1e+09 bytes a second" in said and "machine.arch.toml:" in said, said
    said = run(*simulate, machine("mesh:4x1"), "--level", "grid[1].router=packet", status=1)
    assert "'grid[1].router' has the level packet" in said, said
    network = nodes("mesh:2x2", memory="")
    bus = folder / "nodes.arch.toml"
    bus.write_text(bus.read_text().replace('kind = "memory"', 'kind = "bus"').replace("memory.port", "memory.net"))
    said = run(*simulate, network, status=1)
    assert "nodes.arch.toml:" in said and "is a bus" in said, said


# Two sockets, a memory and a NIC before each router of a mesh; what they take is said in each case.
NODES = """[architecture]
name = "nodes"

[composite.node]
ports = {{ net = "router.net" }}
[[composite.node.part]]
name = "socket"
kind = "processor"
count = 2
[[composite.node.part]]
name = "memory"
kind = "memory"
parameters = {{ {memory} }}
[[composite.node.part]]
name = "nic"
kind = "nic"
parameters = {{ {nic} }}
[[composite.node.part]]
name = "router"
kind = "switch"
level = "vc"
parameters = {{ vcs = 2, {router} }}
[[composite.node.link]]
from = "socket.net"
to = "memory.port"
latency = "0ps"
bandwidth = "1000000000TB/s"
[[composite.node.link]]
from = "memory.port"
to = "nic.host"
latency = "0ps"
bandwidth = "1000000000TB/s"
[[composite.node.link]]
from = "nic.net"
to = "router.net"

[[composite.machine.part]]
name = "grid"
template = "{template}"
kind = "node"
"""
QUICK = '"1000000000TB/s"'


def nodes(template="mesh:4x4", memory=f"bandwidth = {QUICK}", nic=f"injection = {QUICK}", router="buffer = 8"):
    path = folder / "nodes.arch.toml"
    path.write_text(NODES.format(template=template, memory=memory, nic=nic, router=router))
    return f"arch:{path}"


def nics_and_memories():
    """Ranks 2 n and 2 n + 1 are the sockets of node n. Switches as before; what lies before them passes whole packets."""
    for size, flits in [(1, 1), (64, 4)]:
        alone = 2 * OVERHEAD + 1000 * (3 * 7 + 2 + flits - 1)
        for level in ("vc", "crossbar"):
            assert picoseconds(nodes(), 32, [(0, 31, size)], "--level", f"*router={level}") == alone
        # The sender's NIC and both memories, each with its latency; the receiver's NIC takes nothing.
        slow = nodes(memory=f'bandwidth = {QUICK}, latency = "80ns"', nic=f'injection = {QUICK}, latency = "300ns"')
        assert picoseconds(slow, 32, [(0, 31, size)]) == alone + 80_000 + 300_000 + 80_000
    # 4 packets of 1,024 bytes, ready at the NIC every 512 ns; their 64 flits need 64 ns on a link.
    slow = nodes(nic='injection = "2GB/s"')
    assert picoseconds(slow, 32, [(0, 31, 4096)], "--packet-size", "1024") == 2 * OVERHEAD + 4 * 512_000 + 1000 * (23 + 63)
    # Both sockets share it: 8 packets.
    both = picoseconds(slow, 32, [(0, 31, 4096), (1, 29, 4096)], "--packet-size", "1024")
    assert 2 * OVERHEAD + 8 * 512_000 <= both <= 2 * OVERHEAD + 8 * 512_000 + 1000 * (23 + 63), both
    # Within a node nothing passes a switch: 1,000 bytes through the memory at 1 GB/s.
    assert picoseconds(nodes(memory='bandwidth = "1GB/s"'), 32, [(2, 3, 1000)]) == 2 * OVERHEAD + 1_000_000
    # A packet that comes between two cycles waits for the next: after 0.5 ns more, a whole one later.
    late = nodes(nic=f'injection = {QUICK}, latency = "500ps"')
    assert picoseconds(late, 32, [(0, 31, 1)]) == 2 * OVERHEAD + 1000 * 23 + 1000


def in_order():
    """A small message does not overtake the large one before it, whatever way it takes."""
    def arrival(network, first, *options):
        # Rank 0 sends a large and a small message to rank 15; rank 15 waits for `first` alone, then for the other.
        sizes = {1: 60_000, 2: 1}
        second = 3 - first
        (folder / "x.goal").write_text(f"num_ranks 16\nrank 0 {{\nl0: send 60000b to 15 tag 1\nl1: send 1b to 15 tag 2\nl1 requires l0\n}}\n"
                                       f"rank 15 {{\nl0: recv {sizes[first]}b from 0 tag {first}\nl1: recv {sizes[second]}b from 0 tag {second}\nl1 requires l0\n}}\n")
        run(TOOL, "simulate", str(folder / "x.goal"), "--loggps", "o=1us,g=0s", "--network", network, *options, "-o", str(folder / "p.ftr"))
        run(TOOL, "convert", str(folder / "p.ftr"), str(folder / "p.txt"))
        trace = (folder / "p.txt").read_text().split("\nrank 15\n")[1]
        return int(re.search(r"complete .*?leave=(\d+)", trace)[1])

    for routing in ("random", "adaptive", "table"):
        network = machine("torus:4x4", f'vcs = 4, routing = "{routing}"')
        assert arrival(network, 2) >= arrival(network, 1) > 3_750_000, routing
    # Two rails, which messages take in turn.
    (folder / "rails.arch.toml").write_text("""[architecture]
name = "rails"
latency = "100ns"
bandwidth = "1GB/s"
[composite.node]
ports = { left = "nic.net", right = "nic.net" }
[[composite.node.part]]
name = "cpu"
kind = "processor"
[[composite.node.part]]
name = "nic"
kind = "nic"
[[composite.node.link]]
from = "cpu.net"
to = "nic.host"
[[composite.machine.part]]
name = "node"
kind = "node"
count = 16
[[composite.machine.part]]
name = "rail"
kind = "switch"
count = 2
[[composite.machine.link]]
from = "node.left"
to = "rail[0].net"
[[composite.machine.link]]
from = "node.right"
to = "rail[1].net"
""")
    network = f"arch:{folder}/rails.arch.toml"
    assert arrival(network, 2) >= arrival(network, 1) > 60_000_000


def programs():
    """A real program: the same times recorded and live, on every level."""
    program = str(folder / "exchange")
    run(MPICC, SOURCE, "-o", program)
    recorded = str(folder / "exchange.ftr")
    run(TOOL, "record", "-n", "4", "-o", recorded, "--", program)
    times = {}
    for level in ["vc", "crossbar", "packet"]:
        network = ["--compute", "none", "--loggps", "o=100ns,g=0s,S=16384", "--network", machine("torus:2x2", "vcs = 2"),
                   "--level", f"*router={level}"]
        if level == "packet":
            network[3] = "o=100ns,g=0s,S=16384,L=1ns,G=0.0625ns"
        out = run(TOOL, "simulate", recorded, *network, "--json")
        live = run(TOOL, "simulate", "-n", "4", *network, "--json", "--", program)
        times[level] = json.loads(out)["time"]
        assert json.loads(live)["time"] == times[level], (level, times)
    # At most 64 flits of 16 bytes wait in a switch, so the levels differ by little here.
    assert abs(times["vc"] / times["crossbar"] - 1) < 0.05, times
    page = folder / "watch.html"
    run(TOOL, "simulate", recorded, "--compute", "none", "--loggps", "o=100ns,g=0s", "--network", machine("torus:2x2", "vcs = 2"),
        "--watch", str(page))
    assert '"records":[[0,' in page.read_text()
    return times


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    by_hand()
    refused()
    nics_and_memories()
    in_order()
    print("ok", programs())
