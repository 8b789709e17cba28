#!/usr/bin/env python3
"""Compares the engine with reference_networks.py on random schedules and networks.

    random_networks.py REPLAY_SCHEDULE [--count N] [--first SEED] [--kind KIND]

Every call's leave and wait time and every rank's finish time must be equal to the last
picosecond, and a schedule that deadlocks in one must do so in the other. The acts of
random_schedules.py are joined by some with wildcard receives. Half of the parameters are multiples
of a nanosecond, so that many things happen at the same time.
"""

import argparse
import json
import random
import subprocess
import sys

import random_schedules
import reference
import reference_networks

KINDS = ["datasheet", "loggps", "hops", "bus", "flow", "packet"]


class Generator(random_schedules.Generator):
    def __init__(self, rng, wild):
        super().__init__(rng)
        self.plain = len(self.comms)
        self.wild = wild
        self.tags = 100
        if wild:  # for receives with any tag, which would take other acts' messages
            self.comms.append(rng.sample(range(self.ranks), self.ranks))

    def comm(self, least):
        fitting = [i for i, members in enumerate(self.comms[:self.plain]) if len(members) >= least]
        return self.rng.choice(fitting)

    def message(self):
        act = super().message
        if self.wild and self.rng.random() < 0.5:
            act = self.rng.choice([self.farm, self.farm, self.mixed, self.wild_shift])
        act()

    def posted_collective(self):
        """reference_networks.py has blocking ones only."""
        self.collective()

    def receive(self, comm, to, source, tag, size, blocking):
        """With a buffer that may be larger than the message."""
        self.post_recv(comm, to, source, tag, max(random_schedules.SIZES), blocking)

    def farm(self):
        """Several messages to one rank, from any source, perhaps with any tag."""
        any_tag = self.rng.random() < 0.4
        comm = self.plain if any_tag else self.comm(1)
        members = len(self.comms[comm])
        to = self.rng.randrange(members)
        self.tags += 1
        sources = [self.rng.randrange(members) for _ in range(self.rng.randint(1, 6))]
        for source in sources:
            tag = self.rng.randrange(3) if any_tag else self.tags
            self.post_send(comm, source, to, tag, self.rng.choice(random_schedules.SIZES),
                           source != to and self.rng.random() < 0.5)
        for _ in sources:
            self.receive(comm, to, "any", "any" if any_tag else self.tags, 0,
                         self.rng.random() < 0.4)

    def mixed(self):
        """Receives from any source and from a named one for messages of the same tag."""
        comm = self.comm(2)
        to, *others = self.rng.sample(range(len(self.comms[comm])), len(self.comms[comm]))
        self.tags += 1
        for source in others:
            self.post_send(comm, source, to, self.tags, self.rng.choice(random_schedules.SIZES),
                           False)
        # The named ones are posted first, so that none is left without a message.
        named = self.rng.sample(others, self.rng.randint(0, len(others) - 1))
        for source in named + ["any"] * (len(others) - len(named)):
            self.receive(comm, to, source, self.tags, 0, False)

    def wild_shift(self):
        """MPI_Sendrecv around a ring, receiving from any source."""
        comm = self.comm(2)
        members = self.comms[comm]
        order = self.rng.sample(range(len(members)), self.rng.randint(2, len(members)))
        self.tags += 1
        for i, local in enumerate(order):
            self.programs[members[local]].append(
                {"op": "sendrecv", "comm": comm, "tag": self.tags, "recv_tag": self.tags,
                 "bytes": self.rng.choice(random_schedules.SIZES), "from": "any",
                 "recv_bytes": max(random_schedules.SIZES), "to": order[(i + 1) % len(order)]})


def random_network(rng, kind, ranks, wild):
    coarse = rng.random() < 0.5

    def time(most, least=0):
        if coarse:
            return 1000 * rng.randint(least, max(least, most // 1000))
        return rng.choice([least, rng.randint(least, most)])

    network = {"kind": kind}
    if kind == "datasheet":
        return network
    # With neither latency nor overhead the order at one instant would follow from no rule.
    network["L"] = time(20_000, 1)
    for name in ("os", "or", "g"):
        network[name] = time(5000)
    network["G"] = rng.choice([1e-9, 2e-9, 0.0]) if coarse else rng.uniform(0, 3e-9)
    if rng.random() < 0.1:
        for name in ("L", "g", "G", "os", "or"):  # derived from the machine's equations
            if name != "L" or not (wild or kind == "bus"):
                network.pop(name)
    if rng.random() < 0.7:
        network["S"] = rng.choice([0, 32, 1000, 1024])
    if kind == "hops":
        network["cut_through"] = rng.random() < 0.4
        if rng.random() < 0.6:
            network["block"] = rng.choice([1, 100, 1000, 1024, 65536])
    if kind == "packet":
        network["packet_size"] = rng.choice([500, 1024, 10_000])
        network["buffer"] = rng.choice([2, 3, 16])
    if kind in ("flow", "packet") and rng.random() < 0.8:
        network["piece"] = rng.choice([1, 500, 3000, 20_000])
    add_topology(rng, network, kind, ranks, coarse, time)
    return network


def add_topology(rng, network, kind, ranks, coarse, time):
    if kind in ("loggps", "bus") and rng.random() < 0.5:
        return
    if kind in ("hops", "flow") and rng.random() < 0.25:
        network["graph"] = random_graph(rng, ranks, time)
        return
    per_node = rng.choice([1, 1, 2, 3])
    nodes = -(-ranks // per_node)
    cubes = (nodes - 1).bit_length()
    shapes = [f"full:{nodes}", f"array:{nodes}", f"crossbar:{nodes}", f"mesh:{-(-nodes // 3)}x3",
              f"torus:{-(-nodes // 2)}x2", f"torus:3x{-(-nodes // 3)}",
              f"mesh:2x{-(-nodes // 4)}x2", f"hypercube:{max(1, cubes)}", f"tree:3,2",
              f"fattree:2,{max(1, cubes)}", "xgft:2;3,3;2,2", f"omega:{2 ** max(1, cubes)}",
              f"ring:{max(3, nodes)}", f"star:{max(2, nodes)}"]
    shape = f"bus:{max(2, nodes)}" if kind == "bus" else rng.choice(shapes)
    options = {}
    if rng.random() < 0.9:
        options["latency"] = f"{time(5000, 1)}ps"
    bandwidth = rng.choice([1e9, 5e8, 2.5e8]) if coarse else rng.uniform(1e8, 1e10)
    if rng.random() < 0.9:
        options["bandwidth"] = f"{bandwidth!r}B/s"
    if kind in ("flow", "packet") and rng.random() < 0.5:
        options["burst"] = rng.choice([1, 700, 5000, 100_000])
    if kind in ("flow", "packet") and rng.random() < 0.4:
        options["header"] = rng.choice([1, 96, 3000])
    if per_node > 1:
        options["ranks_per_node"] = per_node
        if rng.random() < 0.6:
            options["intra_latency"] = f"{time(2000, 1)}ps"
        if rng.random() < 0.6:
            options["intra_bandwidth"] = f"{rng.uniform(1e9, 1e11)!r}B/s"
    text = "&".join(f"{key}={value}" for key, value in options.items())
    network["topology"] = shape + ("?" + text if text else "")


def random_graph(rng, ranks, time):
    """A connected graph whose links differ."""
    switches = rng.randint(0, 3)
    nodes = ranks + switches
    pairs = {(i, rng.randrange(i)) for i in range(1, nodes)}
    pairs |= {(b, a) for a, b in pairs}
    for _ in range(rng.randint(0, nodes)):
        pairs.add(tuple(rng.sample(range(nodes), 2)))
    return {"processors": ranks, "switches": switches,
            "links": [[a, b, time(5000, 1), rng.uniform(1e8, 1e10)] for a, b in sorted(pairs)]}


def random_case(seed, kind, generator=Generator):
    rng = random.Random(seed)
    kind = kind or rng.choice(KINDS)
    wild = kind == "datasheet" or (kind != "flow" and rng.random() < 0.5)
    machine = random_schedules.random_machine(rng)
    machine["compute_step"] = rng.choice([0, 1e-9, 1e-11, 1e-7])
    schedule = generator(rng, wild).schedule()
    network = schedule["network"] = random_network(rng, kind, schedule["ranks"], wild)
    # On a topology ranks fill the nodes.
    if "topology" in network or "graph" in network or kind == "bus":
        schedule.pop("nodes", None)
    return {"machine": machine, "schedule": schedule}


def expected_times(case):
    """(times or "deadlock", doubtful)."""
    try:
        result = reference_networks.replay(case["machine"], case["schedule"])
    except reference.Stuck:
        return "deadlock", False
    return [[finish] + [list(pair) for pair in times] for finish, times in result.times], \
        result.doubtful


def compare(seed, case, expected, found):
    if found == expected:
        return
    network = json.dumps(case["schedule"]["network"])
    if "deadlock" in (expected, found):
        sys.exit(f"seed {seed}, {network}: expected {str(expected)[:200]}, found {str(found)[:200]}")
    different = [(max(x, y), f"seed {seed}, rank {rank}, call {i}: expected {x}, found {y}")
                 for rank, (a, b) in enumerate(zip(expected, found))
                 for i, (x, y) in enumerate(zip(a[1:], b[1:])) if x != y]
    for _, line in sorted(different)[:10]:  # the first in time: the others follow from them
        print(line)
    sys.exit(f"seed {seed}, {network}: the engine differs from the reference")


def engine_times(replay_schedule, cases):
    """What the engine says of each case."""
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    engine = subprocess.run([replay_schedule], input=lines, text=True, check=True,
                            stdout=subprocess.PIPE).stdout.splitlines()
    if len(engine) != len(cases):
        sys.exit(f"expected {len(cases)} results, found {len(engine)}")
    return map(json.loads, engine)


def run(options):
    seeds = range(options.first, options.first + options.count)
    cases = [random_case(seed, options.kind) for seed in seeds]
    calls, compared, deadlocks = 0, {}, 0
    for seed, case, found in zip(seeds, cases, engine_times(options.replay_schedule, cases)):
        expected, doubtful = expected_times(case)
        if doubtful:
            continue
        compare(seed, case, expected, found)
        if expected == "deadlock":
            deadlocks += 1
            continue
        kind = case["schedule"]["network"]["kind"]
        compared[kind] = compared.get(kind, 0) + 1
        calls += sum(len(rank) for rank in expected)
    number = sum(compared.values())
    print(f"{number} schedules ({', '.join(f'{k}: {n}' for k, n in sorted(compared.items()))}), "
          f"{calls} calls: all times equal; {deadlocks} deadlocks; {len(cases) - number - deadlocks} "
          "not compared, for a time within rounding error of half a picosecond or an order that "
          "no rule tells")
    if number * 10 < len(cases) * 8:
        sys.exit("too few schedules were compared")


def main(compare_all, kinds):
    parser = argparse.ArgumentParser()
    parser.add_argument("replay_schedule")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--kind", choices=kinds)
    options = parser.parse_args()
    reference_networks.run_deep(lambda: compare_all(options))


if __name__ == "__main__":
    main(run, KINDS)
