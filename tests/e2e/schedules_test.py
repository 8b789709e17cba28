"""Random schedules run as real MPI programs.

Every call's leave and wait time under `predict --compute annotated` equals that of
tests/sim/reference.py to the picosecond, and `record` followed by `simulate` gives the same
trace, event by event. On networks, where collectives are messages, posted ones too, a live run and
record followed by simulate give the same trace.
"""

import json
import os
import random
import subprocess
import sys
import unittest

import harness

sys.path.insert(0, str(harness.SOURCE / "tests" / "sim"))
import random_schedules  # noqa: E402
import reference  # noqa: E402

SCHEDULES = 13
STAR = "star:8?latency=5us&bandwidth=10MB/s"
NETWORKS = [["loggps"], ["hops", "--topology", STAR], ["bus", "--topology", "bus:8?latency=5us&bandwidth=10MB/s"],
            ["flow", "--topology", STAR], ["packet", "--topology", STAR]]
NOT_IN_THE_SCHEDULE = ("call", "init", "finalize", "phase_begin", "phase_end")


class Generator(random_schedules.Generator):
    """Schedules that a real MPI may run: ready sends find their receive posted, the blocks of
    Reduce_scatter_block are whole, few ranks; and wildcards where only one message fits."""

    def __init__(self, rng, ranks, comms=None):
        super().__init__(rng)
        self.ranks = ranks
        self.comms = [list(range(ranks))]
        for _ in range(rng.randint(1, 3) if comms is None else comms):
            self.comms.append(rng.sample(range(ranks), rng.randint(1, ranks)))
        self.programs = [[] for _ in range(ranks)]
        self.requests = [[] for _ in range(ranks)]
        self.serial = [0] * ranks
        self.unique = 100

    def schedule(self, acts):
        kinds = [self.message] * 6 + [self.collective] * 4 + [self.posted_collective] * 3 + [self.wait] * 4 + [self.compute] * 3
        kinds += [self.batch, self.batch, self.shift, self.shift, self.nowhere, self.ready_send,
                  self.any_source, self.any_tag, self.any_message, self.probed]
        for _ in range(acts):
            self.rng.choice(kinds)()
        for rank in range(self.ranks):
            self.complete(rank, len(self.requests[rank]))
        return {"ranks": self.ranks, "comms": self.comms, "programs": self.programs}

    def mode(self):
        return self.rng.choice(["standard"] * 6 + ["synchronous", "buffered"])

    def any_collective(self):
        call = super().any_collective()
        if call["op"] == "reduce_scatter_block":
            call["bytes"] -= call["bytes"] % len(self.comms[call["comm"]])
        elif call["op"] == "barrier":
            call["bytes"] = 0
        return call

    def pair(self):
        comm = self.comm(2)
        source, to = self.rng.sample(range(len(self.comms[comm])), 2)
        return comm, source, to, self.rng.choice(random_schedules.SIZES)

    def ready_send(self):
        comm, source, to, size = self.pair()
        self.unique += 1
        self.post_recv(comm, to, source, self.unique, size, False)
        self.post_send(comm, to, source, 3, 0, True)
        self.post_recv(comm, source, to, 3, 0, True)
        self.post_send(comm, source, to, self.unique, size, self.rng.random() < 0.5)
        self.programs[self.comms[comm][source]][-1]["mode"] = "ready"

    def wild(self, comm, source, to, tag, size, wildcard, blocking):
        self.post_send(comm, source, to, tag, size, self.rng.random() < 0.5)
        self.post_recv(comm, to, source, tag, size, blocking)
        self.programs[self.comms[comm][to]][-1]["any"] = wildcard

    def any_source(self):
        """A tag that no other message has."""
        comm, source, to, size = self.pair()
        self.unique += 1
        self.wild(comm, source, to, self.unique, size, "source", self.rng.random() < 0.5)

    def any_tag(self):
        """Messages of one source arrive in order, and all before this one have receives that
        were posted before."""
        comm, source, to, size = self.pair()
        self.wild(comm, source, to, self.rng.randrange(2), size, "tag", self.rng.random() < 0.5)

    def probed(self):
        comm, source, to, size = self.pair()
        tag = self.rng.randrange(2)
        self.post_send(comm, source, to, tag, size, self.rng.random() < 0.5)
        self.programs[self.comms[comm][to]].append(
            {"op": "probe", "comm": comm, "from": source, "tag": tag})
        if self.rng.random() < 0.5:
            self.programs[self.comms[comm][to]].append({"op": "compute", "steps": self.rng.randint(0, 5000)})
        self.post_recv(comm, to, source, tag, size, self.rng.random() < 0.5)

    def any_message(self):
        """Nobody sends more before the receive is done."""
        comm, source, to, size = self.pair()
        self.wild(comm, source, to, self.rng.randrange(2), size, "both", True)
        for rank in self.comms[comm]:
            self.programs[rank].append({"op": "barrier", "comm": comm, "bytes": 0})


def machine_text(machine):
    """A machine of reference.py as a machine file."""
    lines = ["[machine]", 'name = "random"', 'time_unit = "us"',
             f"element_bytes = {machine['element']}", "[compute]",
             f"step = {machine['compute_step']!r}"]
    lines += path_lines(machine, "")
    if "node" in machine:
        lines += path_lines(machine["node"], "path.node.")
    return "\n".join(lines) + "\n"


def path_lines(path, prefix):
    lines = []
    known = {"S": path["sync_threshold"], "P": path.get("attended_from")}
    if any(size is not None for size in known.values()):
        lines += [f"[{prefix}loggps]"] + [f"{key} = {size}" for key, size in known.items() if size is not None]
    for name, regimes in path["functions"].items():
        lines += [f"[[{prefix}function]]", f'name = "{name}"']
        start = 0
        for number, regime in enumerate(regimes):
            end = [] if number == len(regimes) - 1 else [regime["to"]]
            lines += [f"[[{prefix}function.regime]]", f"bytes = {[start] + end}",
                      f"c = {float(regime['c'])!r}", f"s = {float(regime['s'])!r}",
                      f'f = "{regime["f"]}"', f"k = {float(regime['k'])!r}",
                      f'g = "{regime["g"]}"']
            start = regime["to"] + 1
    # run_schedule makes its communicators before the schedule's time begins.
    lines += [f"[[{prefix}function]]", 'name = "comm_create"', f"[[{prefix}function.regime]]",
              "bytes = [0]", "c = 0"]
    return lines


def make_case(seed):
    """A machine whose costs all round safely, and a schedule with its times."""
    rng = random.Random(seed)
    ranks = 2 + seed % 4 if harness.mpi == "openmpi" else 2 + seed % 3
    schedule = Generator(rng, ranks).schedule(rng.randint(25, 35) * ranks)
    while True:
        machine = random_schedules.random_machine(rng)
        # With everything by rendezvous (S = 0), thresholds, and none.
        machine["sync_threshold"] = [1024, None, 0, 1024][seed % 4]
        random_schedules.add_attended(machine, schedule)
        exact = reference.Machine(machine)
        times = reference.replay(exact, schedule)
        if not exact.doubtful:
            return machine, schedule, times


class Schedules(harness.TestCase):
    def check(self, seed):
        machine, schedule, times = make_case(seed)
        model = self.write("machine.toml", machine_text(machine))
        command = [harness.test_program("run_schedule"),
                   self.write("schedule.json", json.dumps(schedule))]
        ranks = schedule["ranks"]
        nodes = schedule.get("nodes", range(ranks))
        placed = ("--placement", self.write("nodes.txt", "".join(f"n{n}\n" for n in nodes)))
        predicted = self.predict(ranks, command, model, options=placed)
        self.compare(predicted, times)
        recorded = self.record(ranks, command)
        simulated = self.directory / "simulate.ftr"
        self.foretrace("simulate", recorded, "--machine", model, "--compute", "annotated", *placed,
                       "-o", simulated)
        self.assert_same_ticks(predicted, simulated)

    def check_network(self, seed, network):
        """Of one communicator: who makes others live learns first with whom, which traces do not tell."""
        ranks = 2 + seed % 3
        schedule = Generator(random.Random(seed), ranks, comms=0).schedule(30 * ranks)
        command = [harness.test_program("run_schedule"),
                   self.write("schedule.json", json.dumps(schedule))]
        ways = {"live": ["-n", ranks], "replayed": [self.record(ranks, command)]}
        traces = {way: self.directory / f"{way}.ftr" for way in ways}
        for way, words in ways.items():
            self.foretrace("simulate", *words, "--machine", harness.T3D, "--compute", "annotated",
                           "--network", *network, "-o", traces[way],
                           *(["--", *command] if way == "live" else []))
        self.assert_same_ticks(traces["live"], traces["replayed"])
        # Where several threads may call, blocking collectives are posted; they end at the same time.
        several = self.directory / "several.ftr"
        self.foretrace("simulate", "-n", ranks, "--machine", harness.T3D, "--compute", "annotated", "--network", *network,
                       "-o", several, "--", *command, "multiple")
        ends = [[events[-1][2]["enter"] for events in self.events(trace)] for trace in (several, traces["live"])]
        self.assertEqual(ends[0], ends[1])

    def compare(self, trace, times):
        for rank, (events, (finish, calls)) in enumerate(zip(self.events(trace), times)):
            found = [(name, f["leave"], f["wait"]) for kind, name, f in events
                     if kind not in NOT_IN_THE_SCHEDULE and name != "MPI_Comm_create_group"]
            self.assertEqual(len(found), len(calls), f"rank {rank}: number of calls")
            for i, ((name, leave, wait), expected) in enumerate(zip(found, calls)):
                self.assertEqual((leave, wait), expected, f"rank {rank}, call {i}, {name}")
            self.assertEqual(events[-1][0], "finalize")
            self.assertEqual(events[-1][2]["enter"], finish, f"rank {rank}: finish")

    def test_on_networks(self):
        for seed, network in enumerate(NETWORKS):
            with self.subTest(network=network):
                self.check_network(seed, network)

    def test_on_busy_cores(self):
        """Other processes on all cores change nothing."""
        loads = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                 for _ in range(os.cpu_count() or 1)]
        try:
            self.check(1000)
        finally:
            for load in loads:
                load.kill()
                load.wait()


def add_test(seed):
    setattr(Schedules, f"test_seed_{seed:02}", lambda self: self.check(seed))


for each in range(SCHEDULES):
    add_test(each)

if __name__ == "__main__":
    harness.main()
