#!/usr/bin/env python3
"""Compares the engine with reference.py on random schedules and machines.

    random_schedules.py REPLAY_SCHEDULE [--count N] [--first SEED]

Every call's leave and wait time and every rank's finish time must be equal to the last
picosecond. Schedules are made of acts; an act appends calls to the programs of all ranks that
take part in it at once. So the acts can be executed one after another, whatever blocks: no
schedule deadlocks.
"""

import argparse
import json
import random
import subprocess
import sys

import reference

FUNCTIONS = ["send", "ssend", "bsend", "rsend", "recv", "recvmin", "isend1", "isend2",
             "isendoverlap", "irecv1", "irecv2", "irecvoverlap", "sendrecv", "barrier", "bcast",
             "scatter", "gather", "reduce", "allgather", "alltoall", "allreduce",
             "reduce_scatter_block", "scan", "exscan", "put", "get", "accumulate", "get_accumulate",
             "fetch_and_op", "compare_and_swap", "win_lock"]
ACCESSES = ["put", "put", "get", "get", "accumulate", "get_accumulate", "fetch_and_op",
            "compare_and_swap"]
ROOTED = ["bcast", "scatter", "gather", "reduce"]
COLLECTIVES = ROOTED + ["barrier", "allgather", "alltoall", "allreduce", "reduce_scatter_block",
                        "scan", "exscan"]
SIZES = [0, 0, 1, 8, 31, 32, 100, 256, 257, 1000, 1023, 1024, 1025, 4096, 100_000]


def random_machine(rng):
    def regime(to):
        return {"to": to, "c": round(rng.uniform(0, 100), 10), "f": rng.choice(["p", "ln p", "p^2"]),
                "s": round(rng.choice([0, rng.uniform(0, 5)]), 10),
                "g": rng.choice(["d", "p d", "ln p d", "p^2 d"]),
                "k": round(rng.choice([0, rng.uniform(-0.01, 0.5)]), 10)}

    def some_functions(share):
        functions = {}
        for name in FUNCTIONS:
            if rng.random() < share:
                ends = rng.choice([[2**40], [256, 2**40], [32, 1024, 2**40]])
                functions[name] = [regime(to) for to in ends]
        return functions

    machine = {"time_unit": 1e-6, "element": rng.choice([1, 4, 8]), "compute_step": 1e-7,
               "sync_threshold": rng.choice([None, 1024, 1024, 0]),
               "functions": some_functions(0.75)}
    if rng.random() < 0.5:
        machine["node"] = {"sync_threshold": rng.choice([None, 256, 4096]),
                           "functions": some_functions(rng.choice([0.1, 0.5, 1]))}
    # With draws of its own: those of schedules do not depend on it.
    own = random.Random(json.dumps(machine))
    for functions in [machine["functions"], machine.get("node", machine)["functions"]]:
        if own.random() < 0.6:
            c, k = own.uniform(0, 100), own.uniform(0, 0.1)
            functions["gap"] = [{"to": 2**40, "c": round(c, 10), "f": "p", "s": 0, "g": "d",
                                 "k": round(k, 10)}]
    return machine


def random_nodes(rng, ranks):
    """For each rank its node."""
    return [rng.randrange(rng.randint(1, ranks)) for _ in range(ranks)]


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.ranks = rng.randint(2, 9)
        self.comms = [list(range(self.ranks))]
        for _ in range(rng.randint(0, 3)):
            members = rng.sample(range(self.ranks), rng.randint(1, self.ranks))
            self.comms.append(members)
        self.programs = [[] for _ in range(self.ranks)]
        self.requests = [[] for _ in range(self.ranks)]
        self.serial = [0] * self.ranks

    def schedule(self):
        acts = [self.message, self.message, self.message, self.batch, self.shift,
                self.collective, self.posted_collective, self.wait, self.wait, self.compute,
                self.nowhere, self.accesses, self.accesses, self.flush, self.fence, self.lock]
        for _ in range(self.rng.randint(10, 80)):
            self.rng.choice(acts)()
        for rank in range(self.ranks):
            self.complete(rank, len(self.requests[rank]))
        schedule = {"ranks": self.ranks, "comms": self.comms, "programs": self.programs}
        if self.rng.random() < 0.7:
            schedule["nodes"] = random_nodes(self.rng, self.ranks)
        return schedule

    def comm(self, least):
        fitting = [i for i, members in enumerate(self.comms) if len(members) >= least]
        return self.rng.choice(fitting)

    def request(self, rank):
        self.serial[rank] += 1
        self.requests[rank].append(self.serial[rank])
        return self.serial[rank]

    def complete(self, rank, count):
        if count == 0:
            return
        chosen = self.rng.sample(self.requests[rank], count)
        self.requests[rank] = [r for r in self.requests[rank] if r not in chosen]
        self.programs[rank].append({"op": "wait", "requests": chosen})

    def mode(self):
        return self.rng.choice(["standard"] * 6 + ["synchronous", "buffered", "ready"])

    def post_send(self, comm, source, to, tag, size, blocking):
        rank = self.comms[comm][source]
        call = {"op": "send" if blocking else "isend", "comm": comm, "to": to, "tag": tag,
                "bytes": size, "mode": self.mode()}
        if not blocking:
            call["request"] = self.request(rank)
        self.programs[rank].append(call)

    def post_recv(self, comm, to, source, tag, size, blocking):
        rank = self.comms[comm][to]
        call = {"op": "recv" if blocking else "irecv", "comm": comm, "from": source, "tag": tag,
                "bytes": size}
        if not blocking:
            call["request"] = self.request(rank)
        self.programs[rank].append(call)

    def message(self):
        comm = self.comm(1)
        members = len(self.comms[comm])
        source, to = self.rng.randrange(members), self.rng.randrange(members)
        tag, size = self.rng.randrange(2), self.rng.choice(SIZES)
        # To itself a rank must post before it blocks.
        self.post_send(comm, source, to, tag, size, source != to and self.rng.random() < 0.5)
        self.post_recv(comm, to, source, tag, size, self.rng.random() < 0.5)

    def batch(self):
        """Several posted messages whose receives are posted in another order."""
        comm = self.comm(2)
        source, to = self.rng.sample(range(len(self.comms[comm])), 2)
        sizes = [self.rng.choice(SIZES) for _ in range(self.rng.randint(2, 4))]
        for tag, size in enumerate(sizes):
            self.post_send(comm, source, to, 10 + tag, size, False)
        for tag in self.rng.sample(range(len(sizes)), len(sizes)):
            self.post_recv(comm, to, source, 10 + tag, sizes[tag], False)

    def shift(self):
        """MPI_Sendrecv around a ring, or along a line with open ends."""
        comm = self.comm(2)
        members = self.comms[comm]
        order = self.rng.sample(range(len(members)), self.rng.randint(2, len(members)))
        ring = self.rng.random() < 0.5
        sizes = [self.rng.choice(SIZES) for _ in order]
        tag = self.rng.randrange(2)
        for i, local in enumerate(order):
            last, first = i == len(order) - 1, i == 0
            self.programs[members[local]].append(
                {"op": "sendrecv", "comm": comm, "tag": tag, "bytes": sizes[i],
                 "to": order[(i + 1) % len(order)] if ring or not last else -1,
                 "from": order[i - 1] if ring or not first else -1,
                 "recv_tag": tag, "recv_bytes": sizes[i - 1]})

    def any_collective(self):
        comm = self.comm(1)
        call = {"op": self.rng.choice(COLLECTIVES), "comm": comm, "bytes": self.rng.choice(SIZES)}
        if call["op"] in ROOTED:
            call["root"] = self.rng.randrange(len(self.comms[comm]))
        return call

    def collective(self):
        call = self.any_collective()
        for rank in self.comms[call["comm"]]:
            self.programs[rank].append(dict(call))

    def posted_collective(self):
        call = self.any_collective()
        for rank in self.comms[call["comm"]]:
            self.programs[rank].append(dict(call, request=self.request(rank)))

    def wait(self):
        rank = self.rng.randrange(self.ranks)
        self.complete(rank, self.rng.randint(0, len(self.requests[rank])))

    def compute(self):
        rank = self.rng.randrange(self.ranks)
        self.programs[rank].append({"op": "compute", "steps": self.rng.randint(0, 5000)})

    def accesses(self):
        """Some of one rank, perhaps with requests."""
        comm = self.comm(1)
        members = self.comms[comm]
        rank = self.rng.choice(members)
        for _ in range(self.rng.randint(1, 4)):
            call = {"op": "access", "what": self.rng.choice(ACCESSES), "comm": comm,
                    "to": self.rng.randrange(len(members)), "bytes": self.rng.choice(SIZES)}
            if self.rng.random() < 0.3 and call["what"] not in ("fetch_and_op", "compare_and_swap"):
                call["request"] = self.request(rank)
            self.programs[rank].append(call)

    def flush(self):
        comm = self.comm(1)
        members = self.comms[comm]
        call = {"op": "flush", "comm": comm, "to": self.rng.randrange(-1, len(members))}
        if self.rng.random() < 0.3:
            call["local"] = True
        self.programs[self.rng.choice(members)].append(call)

    def fence(self):
        comm = self.comm(1)
        for rank in self.comms[comm]:
            self.programs[rank].append({"op": "flush", "comm": comm, "to": -1})
            self.programs[rank].append({"op": "barrier", "comm": comm, "bytes": 0})

    def lock(self):
        comm = self.comm(1)
        members = self.comms[comm]
        self.programs[self.rng.choice(members)].append(
            {"op": "lock", "comm": comm, "to": self.rng.randrange(len(members))})

    def nowhere(self):
        rank = self.rng.randrange(self.ranks)
        size = self.rng.choice(SIZES)
        calls = [{"op": "send", "comm": 0, "to": -1, "tag": 0, "bytes": size},
                 {"op": "recv", "comm": 0, "from": -1, "tag": 0, "bytes": size},
                 {"op": "isend", "comm": 0, "to": -1, "tag": 0, "bytes": size},
                 {"op": "irecv", "comm": 0, "from": -1, "tag": 0, "bytes": size}]
        call = self.rng.choice(calls)
        if call["op"] in ("isend", "irecv"):
            call["request"] = self.request(rank)
        self.programs[rank].append(call)


def add_untouched(machine, schedule):
    """With draws of its own: factors, and which calls send untouched data."""
    rng = random.Random(json.dumps([machine, schedule]))
    if rng.random() < 0.5:
        return
    inner = machine.get("node", machine)["functions"]
    machine["untouched"] = {name: rng.choice([0.25, 0.5, 0.75]) for name in inner if rng.random() < 0.7}
    for program in schedule["programs"]:
        for call in program:
            if "to" in call and call["op"] in ("send", "isend", "sendrecv"):
                call["untouched"] = rng.random() < 0.6
            # It takes all members, or the root alone.
            if call["op"] in reference.WAITS_FOR:
                call["untouched"] = rng.random() < (0.5 if reference.WAITS_FOR[call["op"]] == "root" else 0.9)


def random_pieces(rng):
    def times():
        sizes = sorted(rng.sample((1, 64, 257, 1000, 4096, 20000), rng.randint(1, 3)))
        return [[size, rng.randint(0, 3000) * size] for size in sizes]
    return {side: {length: times() for length in rng.sample((8, 64), rng.randint(1, 2))}
            for side in ("send", "recv") if rng.random() < 0.8}


def add_pieces(machine, schedule):
    """With draws of its own: what data takes longer that does not lie together, and what does not."""
    rng = random.Random("pieces" + json.dumps([machine, schedule]))
    if rng.random() < 0.5:
        return
    machine["pieces"] = random_pieces(rng)
    if "node" in machine and rng.random() < 0.5:
        own = random_pieces(rng)
        if own:
            machine["node"]["pieces"] = own
    for program in schedule["programs"]:
        for call in program:
            if call["op"] in ("send", "isend", "sendrecv") and rng.random() < 0.5:
                call["piece"] = rng.choice([1, 7, 8, 63, 4093])
            if call["op"] in ("recv", "irecv", "sendrecv") and rng.random() < 0.5:
                call["recv_piece"] = rng.choice([1, 7, 8, 63, 4093])


def add_attended(machine, schedule):
    """With draws of its own: from which size on messages move in calls of MPI alone."""
    rng = random.Random("P" + json.dumps([machine, schedule]))
    if rng.random() < 0.4:
        return
    machine["attended_from"] = rng.choice([None, 0, 1, 257, 1024])
    if "node" in machine:
        machine["node"]["attended_from"] = rng.choice([None, 0, 1, 257, 1024])


class ProbingGenerator(Generator):
    """Before some receives the rank probes for their messages."""

    def post_recv(self, comm, to, source, tag, size, blocking):
        if self.rng.random() < 0.5:
            self.programs[self.comms[comm][to]].append({"op": "probe", "comm": comm, "from": source, "tag": tag})
            if self.rng.random() < 0.5:
                self.programs[self.comms[comm][to]].append({"op": "compute", "steps": self.rng.randint(0, 5000)})
        super().post_recv(comm, to, source, tag, size, blocking)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("replay_schedule")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=1)
    options = parser.parse_args()
    cases = []
    for seed in range(options.first, options.first + options.count):
        rng = random.Random(seed)
        machine = random_machine(rng)
        machine["functions"]["probe"] = [{"to": 2**40, "c": 3.25, "f": "p", "s": 0.5, "g": "d", "k": 0}]
        generator = ProbingGenerator if seed % 2 == 0 else Generator
        schedule = generator(rng).schedule()
        add_untouched(machine, schedule)
        add_pieces(machine, schedule)
        add_attended(machine, schedule)
        cases.append((seed, machine, schedule))
    lines = "".join(json.dumps({"machine": m, "schedule": s}) + "\n" for _, m, s in cases)
    engine = subprocess.run([options.replay_schedule], input=lines, text=True, check=True,
                            stdout=subprocess.PIPE).stdout.splitlines()
    if len(engine) != len(cases):
        sys.exit(f"expected {len(cases)} results, found {len(engine)}")
    calls = doubtful = 0
    for (seed, machine, schedule), line in zip(cases, engine):
        exact = reference.Machine(machine)
        expected = [[finish] + [list(pair) for pair in times]
                    for finish, times in reference.replay(exact, schedule)]
        if exact.doubtful:
            doubtful += 1
            continue
        found = json.loads(line)
        if found != expected:
            for rank, (a, b) in enumerate(zip(expected, found)):
                for i, (x, y) in enumerate(zip(a, b)):
                    if x != y:
                        print(f"seed {seed}, rank {rank}, call {i - 1}: expected {x}, found {y}")
            sys.exit(f"seed {seed}: the engine differs from the reference")
        calls += sum(len(rank) for rank in expected)
    print(f"{len(cases) - doubtful} schedules, {calls} calls: all times equal; {doubtful} schedules "
          "not compared, for a cost within rounding error of half a picosecond")
    if doubtful * 10 > len(cases):
        sys.exit("too few schedules were compared")


if __name__ == "__main__":
    main()
