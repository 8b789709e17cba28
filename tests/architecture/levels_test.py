#!/usr/bin/env python3
"""levels_test.py FORETRACE [CHECK]: coarse and detailed levels of one box give the same times where the
coarse one is exact, and else what docs/architecture-files.md says; switching one box leaves the
others' traces as they are where they do not interact.

Times are compared to the picosecond.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

from networks_test import program, run, times

TOOL = sys.argv[1]
OVERHEAD = 1_000_000  # ps, on each side
HEAD = '[architecture]\nname = "a machine"\nlatency = "100ns"\nbandwidth = "1GB/s"\n'
NODE = 'include = ["nic-node.arch.toml"]\n'
NOTHING = 'latency = "0ps"\nbandwidth = "1000000000TB/s"\n'  # a byte in 0 ps

# Two sockets, their memory and a NIC. The parameter says what the memory takes.
SOCKETS = """
[composite.node]
ports = { net = "nic.net" }
[composite.node.parameters]
bandwidth = { type = "rate", default = "1000000000TB/s" }
[composite.node.levels.coarse]
kind = "processor"
parameters = { ranks = 2 }
[[composite.node.part]]
name = "socket"
kind = "processor"
count = 2
[[composite.node.part]]
name = "memory"
kind = "memory"
parameters = { bandwidth = "$bandwidth" }
[[composite.node.part]]
name = "nic"
kind = "nic"
parameters = { injection = "1000000000TB/s" }
[[composite.node.link]]
from = "socket.net"
to = "memory.port"
""" + NOTHING + """[[composite.node.link]]
from = "memory.port"
to = "nic.host"
""" + NOTHING


def machine(name, text):
    (folder / f"{name}.arch.toml").write_text(HEAD + text)
    return f"arch:{folder}/{name}.arch.toml"


def of(kind, template, more=""):
    return f'[[composite.machine.part]]\nname = "part"\nkind = "{kind}"\ntemplate = "{template}"\n{more}'


def goal(ranks, sends):
    """All sends and receives are posted at once."""
    text = f"num_ranks {ranks}\n"
    for rank in range(ranks):
        lines = [f"send {size}b to {to} tag {tag}" for tag, (source, to, size) in enumerate(sends) if source == rank]
        lines += [f"recv {size}b from {source} tag {tag}" for tag, (source, to, size) in enumerate(sends) if to == rank]
        text += f"rank {rank} {{\n" + "".join(f"l{i}: {line}\n" for i, line in enumerate(lines or ["calc 0"])) + "}\n"
    (folder / "x.goal").write_text(text)
    return str(folder / "x.goal")


def picoseconds(network, ranks, sends, *options):
    out = run("simulate", goal(ranks, sends), "--loggps", "o=1us,g=0s", "--network", network, *options, "--json")
    return round(json.loads(out)["time"] * 1e12)


def nodes_are_exact():
    """On random programs, whose messages are eager: with rendezvous a sender is free as soon as its NIC has
    the data, which the coarse node does not know."""
    plain = machine("plain", NODE + of("node", "crossbar:6"))
    tree = machine("tree", NODE + of("node", "fattree:2,3"))
    sockets = machine("sockets", SOCKETS + of("node", "crossbar:3"))
    for seed in range(1, 13):
        (folder / "x.goal").write_text(program(random.Random(seed), 6))
        common = ["--loggps", random.Random(seed).choice(["o=1us,g=0s", "o=100ns,g=50ns", "L=0s,o=0s,g=0s,G=0s"])]
        for network in (plain, tree, sockets):
            inside = times(folder, str(folder / "x.goal"), "--network", network, *common)
            for some in ("part[*]", "part[0]", "part[1..2]"):
                coarse = times(folder, str(folder / "x.goal"), "--network", network, "--level", f"{some}=coarse", *common)
                assert coarse == inside, (seed, network, some, first_difference(coarse, inside))


MODEL = """\
[machine]
name = "two paths"
time_unit = "us"
[[function]]
name = "send"
class = "point-to-point"
[[function.regime]]
c = 4.0
[[function]]
name = "recv"
class = "point-to-point"
[[function.regime]]
c = 30.0
k = 0.01
g = "d"
[[function]]
name = "recvmin"
class = "point-to-point"
[[function.regime]]
c = 10.0
[[path.node.function]]
name = "send"
class = "point-to-point"
[[path.node.function.regime]]
c = 2.0
[[path.node.function]]
name = "recv"
class = "point-to-point"
[[path.node.function.regime]]
c = 5.0
k = 0.002
g = "d"
[[path.node.function]]
name = "recvmin"
class = "point-to-point"
[[path.node.function.regime]]
c = 3.0
"""


def coarse_nodes_take_the_machines_equations():
    """Ranks of one coarse node exchange messages as the machine model's path within a node says: with
    equations of send and recv alone as on `packet` with the same model, and one message in the time of recv."""
    (folder / "m.toml").write_text(MODEL)
    model = ["--machine", str(folder / "m.toml")]
    network = machine("coarse", of("processor", "crossbar:3", "parameters = { ranks = 2 }\n"))
    star = ["packet", "--topology", "crossbar:3?latency=100ns&bandwidth=1GB/s&ranks_per_node=2"]
    for seed in range(1, 13):
        (folder / "x.goal").write_text(program(random.Random(seed), 6))
        found = times(folder, str(folder / "x.goal"), "--network", network, *model)
        expected = times(folder, str(folder / "x.goal"), "--network", *star, *model)
        assert found == expected, (seed, first_difference(found, expected))
    out = json.loads(run("simulate", goal(6, [(0, 1, 1000)]), "--network", network, *model, "--json"))
    assert abs(out["time"] - 7e-6) < 2e-9, out["time"]  # 5 us + 0.002 us a byte, of 1,000


def first_difference(a, b):
    return next(((x, y) for x, y in zip(a, b) if x != y), (len(a), len(b)))


def nodes_differ_by_their_services():
    """A message of n packets alone: the NIC takes its time for each, and its latency once."""
    network = machine("slow", NODE + of("node", "crossbar:4"))
    for injection, delay, size, packets in [("1GB/s", "0ns", 2048, [2048]), ("2GB/s", "300ns", 1000, [1000]),
                                            ("500MB/s", "70ns", 5000, [2048, 2048, 904])]:
        options = ["--parameter", f"part[*].injection={injection}", "--parameter", f"part[*].latency={delay}"]
        inside = picoseconds(network, 4, [(0, 3, size)], *options)
        coarse = picoseconds(network, 4, [(0, 3, size)], *options, "--level", "part[*]=coarse")
        per_byte = {"1GB/s": 1000, "2GB/s": 500, "500MB/s": 2000}[injection]
        # The links take 1,000 ps a byte, twice (to the switch and on). A NIC that is slower sets the
        # pace; the coarse node sends at the link's own. Both then wait for the last packet.
        through_nic = [per_byte * sum(packets[:i + 1]) for i in range(len(packets))]
        leaves = 0
        for packet, ready in zip(packets, through_nic):
            leaves = max(leaves, ready) + 1000 * packet
        expected = leaves - 1000 * sum(packets) + int(delay[:-2]) * 1000
        assert inside - coarse == expected, (injection, delay, size, inside - coarse, expected)


def memory_within_a_node():
    """The coarse node passes messages between its own ranks at once; inside they go through the memory."""
    network = machine("sockets", SOCKETS + of("node", "crossbar:2"))
    options = ["--parameter", "part[*].bandwidth=1GB/s"]
    coarse = picoseconds(network, 4, [(0, 1, 2000)], *options, "--level", "part[*]=coarse")
    assert coarse == 2 * OVERHEAD, coarse
    assert picoseconds(network, 4, [(0, 1, 2000)], *options) == coarse + 2000 * 1000


def buses():
    """`message` and `packet`: alike where each message is one packet; else packets of different stations
    mix, and the medium carries as much. `hops` is alike where nobody waits."""
    network = machine("bus", of("processor", "bus:6"))
    for seed in range(1, 9):
        rng = random.Random(seed)
        sends = [(s, (s + rng.randint(1, 5)) % 6, rng.randint(1, 2048)) for s in range(6)]
        whole = picoseconds(network, 6, sends, "--level", "*switch*=message")
        packet = picoseconds(network, 6, sends)
        # All are posted at 0 and enter after the overhead; the medium is never idle until the last is through.
        assert packet == whole >= 2 * OVERHEAD + 100_000 + 1000 * sum(size for _, _, size in sends), (seed, sends)
        alone = sends[:1]
        assert len({picoseconds(network, 6, alone, "--level", f"*switch*={level}") for level in ("packet", "message", "hops")}) == 1
    one_large = [(0, 5, 30_000)]
    assert picoseconds(network, 6, one_large) == picoseconds(network, 6, one_large, "--level", "*switch*=message")


def ethernet():
    """`collisions` and `packet`: alike but for the way from the middle to the receiver and what frames
    need beside their data, where stations send one after the other."""
    cable = of("processor", "bus:4", 'switch = "ethernet"\nlatency = "10ns"\n')
    network = machine("ether", cable + "switch_parameters = { gap = 0, preamble = 0, header = 0 }\n")
    for size in (64, 100, 1500):
        collisions = picoseconds(network, 4, [(0, 3, size)])
        assert collisions == picoseconds(network, 4, [(0, 3, size)], "--level", "*switch*=packet") + 10_000
    full = machine("full", cable)
    # 64 bits and 18 bytes around 1,000 bytes of data, at 1,000 ps a byte.
    assert picoseconds(full, 4, [(0, 3, 1000)]) == picoseconds(full, 4, [(0, 3, 1000)], "--level", "*switch*=packet") + 10_000 + 26_000


GRID = """
[composite.node]
ports = { net = "router.net" }
[[composite.node.part]]
name = "cpu"
kind = "processor"
[[composite.node.part]]
name = "router"
kind = "switch"
level = "vc"
parameters = { vcs = 2 }
[[composite.node.link]]
from = "cpu.net"
to = "router.net"
"""


def grid(name, template, more=""):
    (folder / f"{name}.arch.toml").write_text('[architecture]\nname = "a grid"\n' + GRID.replace("vcs = 2", "vcs = 2" + more) +
                                             of("node", template))
    return f"arch:{folder}/{name}.arch.toml"


def switches():
    """Packets of f flits through h switches alone: vc and crossbar take 3 h + 2 + (f - 1) cycles, and packet,
    which waits for the whole packet on each of the h + 1 links, (h + 1) f and the links' latencies."""
    network = grid("mesh", "mesh:4x4", "")
    timed = grid("timed", "mesh:4x4", "")
    (folder / "timed.arch.toml").write_text((folder / "timed.arch.toml").read_text().replace(
        'name = "a grid"', 'name = "a grid"\nlatency = "1ns"\nbandwidth = "16GB/s"'))
    for to, h in [(15, 7), (5, 3), (1, 2)]:
        for flits in (1, 4, 64):
            sends = [(0, to, 16 * flits)]
            vc = picoseconds(network, 16, sends)
            assert vc == 2 * OVERHEAD + 1000 * (3 * h + 2 + flits - 1)
            assert picoseconds(network, 16, sends, "--level", "*router=crossbar") == vc
            assert picoseconds(timed, 16, sends, "--level", "*router=packet") == 2 * OVERHEAD + 1000 * (h + 1) * (flits + 1)
    # Messages that do not meet are alone, too: each to its neighbour in a row.
    for seed in range(1, 6):
        rng = random.Random(seed)
        sends = [(row * 4 + column, row * 4 + column + 1, rng.randint(1, 2048)) for row in range(4) for column in (0, 2)]
        # Receives end one after the other at one rank alone; here each has one.
        assert picoseconds(network, 16, sends) == picoseconds(network, 16, sends, "--level", "*router=crossbar"), seed
    # Where they meet, the ideal switch is never slower: 15 to one.
    sends = [(s, 0, 1024) for s in range(1, 16)]
    vc, ideal = picoseconds(network, 16, sends), picoseconds(network, 16, sends, "--level", "*router=crossbar")
    assert ideal <= vc, (ideal, vc)


def queues():
    """Two servers in a row of which the second takes no time are the first."""
    text = """
[composite.station]
ports = { in = "first.in", out = "second.out" }
[composite.station.levels.coarse]
kind = "queue"
parameters = { service = "7us", distribution = "constant" }
[[composite.station.part]]
name = "first"
kind = "queue"
parameters = { service = "7us", distribution = "constant" }
[[composite.station.part]]
name = "second"
kind = "queue"
parameters = { service = "0us", distribution = "constant" }
[[composite.station.link]]
from = "first.out"
to = "second.in"
""" + NOTHING + """[[composite.machine.part]]
name = "jobs"
kind = "source"
[[composite.machine.part]]
name = "station"
kind = "station"
[[composite.machine.part]]
name = "done"
kind = "sink"
[[composite.machine.link]]
from = "jobs.out"
to = "station.in"
[[composite.machine.link]]
from = "station.out"
to = "done.in"
"""
    machine("queues", text)
    found = []
    for level in ("inside", "coarse"):
        out = json.loads(run("architecture", "run", str(folder / "queues.arch.toml"), "--parameter", "jobs.interval=10us",
                             "--until", "100ms", "--level", f"station={level}", "--json"))
        found.append([one for one in out["entities"] if one["path"] == "done"])
    assert found[0] == found[1] and found[0][0]["received"] > 9000, found


def parts(network, group, *options):
    """The trace's lines of the ranks in the group; what moved over links among these ranks' entities."""
    watched = folder / "watched.json"
    run("simulate", str(folder / "x.goal"), "--loggps", "o=1us,g=0s", "--network", network, *options, "-o", str(folder / "p.ftr"),
        "--watch", str(watched))
    run("convert", str(folder / "p.ftr"), str(folder / "p.txt"))
    ranks = (folder / "p.txt").read_text().split("\nrank ")[1:]
    lines = [line for rank in group for line in ranks[rank].splitlines()]
    data = json.loads(watched.read_text())
    names = [entity[0] for entity in data["entities"]]
    inside = [any(name.startswith(f"part[{rank}]") for rank in group) for name in names]
    records = sorted((kind, names[a], names[b], *rest) for kind, _, a, b, *rest in data["records"] if inside[a] and inside[b])
    return lines, records


def others_stay():
    """Rows of a torus that exchange messages among themselves: what row 0 runs at changes it alone."""
    network = grid("torus", "torus:4x4", ', buffer = 2')
    row = lambda r: [4 * r + i for i in range(4)]
    rng = random.Random(3)
    sends = [(4 * r + i, 4 * r + (i + 2) % 4, rng.randint(1, 4000)) for r in (0, 2) for i in range(4) for _ in range(3)]
    sends += [(4 * r + i, 4 * r + (i + 1) % 4, rng.randint(1, 4000)) for r in (0, 2) for i in range(4) for _ in range(2)]
    goal(16, sends)
    usual = {r: parts(network, row(r)) for r in (0, 2)}
    assert len(usual[0][0]) >= 40 and len(usual[2][1]) >= 60, (len(usual[0][0]), len(usual[2][1]))
    for options in (["--level", "part[0..3].router=crossbar"], ["--parameter", "part[0..3].router.buffer=1"],
                    ["--parameter", "part[0..3].router.routing=table"]):
        assert parts(network, row(2), *options) == usual[2], options
        assert parts(network, row(0), *options) != usual[0], options
    # Nodes with a NIC, one of them coarse: pairs 0-1 and 2-3 meet in the switch only, which has a queue for each.
    nodes = machine("pairs", NODE + of("node", "crossbar:4"))
    goal(4, [(a, b, rng.randint(1, 9000)) for a, b in [(0, 1), (1, 0), (2, 3), (3, 2)] for _ in range(4)])
    slow = ["--parameter", "part[*].injection=500MB/s"]
    usual = {pair: parts(nodes, pair, *slow) for pair in [(0, 1), (2, 3)]}
    for level in ("part[0]=coarse", "part[0..1]=coarse"):
        assert parts(nodes, (2, 3), *slow, "--level", level) == usual[2, 3]
        assert parts(nodes, (0, 1), *slow, "--level", level) != usual[0, 1]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for check in (nodes_are_exact, coarse_nodes_take_the_machines_equations, nodes_differ_by_their_services, memory_within_a_node, buses, ethernet, switches, queues, others_stay):
        if check.__name__ in sys.argv[2:] or len(sys.argv) == 2:
            check()
            print("ok", check.__name__, flush=True)
