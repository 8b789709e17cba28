#!/usr/bin/env python3
"""What-ifs on random schedules: the graph, a fresh simulation and reference.py must agree.

    random_what_ifs.py EXPLAIN_SCHEDULE [--count N] [--first SEED]

explain_schedule compares each what-if of the graph with a simulation of the edited operations. Here
the run time without each single wait is computed a third time, by the equations of reference.py.
On networks on which ranks are taken up in the order of time, simulations with calls that do not
wait are compared with reference_networks.py. Runs with L, o and G added to the equations are compared
with reference.py, by the table of docs/explain.md. Runs with other calls (merged messages, posted ones, no
barriers) are compared with what both references give for the schedules of reference_rewrites.py.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sim"))

import random_networks  # noqa: E402
import random_schedules  # noqa: E402
import reference  # noqa: E402
import reference_networks  # noqa: E402
import reference_rewrites  # noqa: E402

# How many of the waits of a schedule are computed by the reference.
MOST_WAITS = 3


class WithoutWindows:
    """Accesses wait for each other, so that their graph is not exact."""

    def accesses(self):
        pass

    flush = fence = lock = accesses


class Generator(WithoutWindows, random_schedules.Generator):
    pass


class OnNetworks(WithoutWindows, random_networks.Generator):
    pass


class Waitless(reference.Replay):
    """A replay in which one call need not wait."""

    def __init__(self, machine, schedule, chosen):
        super().__init__(machine, schedule)
        self.chosen = chosen

    def leave(self, at):
        fresh = at not in self.leaves
        leave = super().leave(at)
        if fresh and at == self.chosen:
            leave -= self.waits[at]
            self.leaves[at] = leave
        return leave


def time_without(machine, schedule, chosen):
    replay = Waitless(machine, schedule, chosen)
    return max(finish for finish, _ in replay.run())


class AddedMachine:
    """A machine with L, o_s, o_r and G (picoseconds) added to its equations."""

    def __init__(self, machine, added):
        self.machine = machine
        self.added = added

    def __getattr__(self, name):
        return getattr(self.machine, name)

    def path(self, nodes, ranks, untouched=False):
        return AddedMachine(self.machine.path(nodes, ranks, untouched), self.added)

    def cost(self, name, size, p=2):
        return self.machine.cost(name, size, p) + self.more(name, size, p)

    def more(self, name, size, p=2):
        send, receive = self.added["overhead_send"], self.added["overhead_recv"]
        way, stream = self.added["latency"], self.added["per_byte"] * size
        if name in ("send", "bsend", "rsend", "isend1"):
            return send
        if name == "recvmin":
            return receive
        if name == "irecvoverlap":
            return send + way + stream
        if name in ("recv", "sendrecv", "irecv2", "ssend"):
            return send + way + stream + receive
        if name in ("isend2", "isendoverlap", "irecv1"):
            return 0
        return (send + way + receive) * (p - 1).bit_length() + stream


class AddedReplay(reference.Replay):
    def isend_end(self, posted):
        end, least = super().isend_end(posted)
        call = self.schedule.call(posted)
        if end is None or call.get("mode") == "synchronous":
            return end, least
        rules = self.rules_to(posted, call["to"])
        if rules.meets(call.get("mode", "standard"), call["bytes"]):
            end += rules.more("ssend", call["bytes"]) - rules.more("isend1", call["bytes"])
        return end, least


def check_added(seed, machine, schedule, found):
    """How many were compared."""
    compared = 0
    for added in found.get("added", []):
        exact = reference.Machine(machine)
        replay = AddedReplay(AddedMachine(exact, added), reference.Schedule(schedule))
        expected = max(finish for finish, _ in replay.run())
        if exact.doubtful:
            continue
        if expected != added["time"]:
            sys.exit(f"seed {seed}, {added}: expected {expected}")
        compared += 1
    return compared


def check(seed, machine, schedule, found):
    exact = reference.Machine(machine)
    parsed = reference.Schedule(schedule)
    if time_without(exact, parsed, None) != found["time"] and not exact.doubtful:
        sys.exit(f"seed {seed}: another time without any edit")
    if not found["fixed"]:
        sys.exit(f"seed {seed}: the data sheet's graph is not fixed")
    waits = random.Random(seed).sample(found["waits"], min(MOST_WAITS, len(found["waits"])))
    for rank, call, time in waits:
        # MPI_Init is the engine's first call.
        expected = time_without(exact, parsed, (rank, call - 1))
        if expected != time and not exact.doubtful:
            sys.exit(f"seed {seed}, rank {rank}, call {call}: expected {expected}, found {time}")
    return len(waits)


def without_gap(machine):
    """With it messages of a rank wait for each other, and the graph is not exact."""
    for functions in [machine["functions"], machine.get("node", machine)["functions"]]:
        functions.pop("gap", None)
    return machine


# A call that need not wait takes as long as it did without its wait; one that cannot wait as ever.
def waitless_replay(case, calls):
    """The run time and whether it is certain; `calls` do not wait."""
    model = reference.Machine(case["machine"])
    network = reference_networks.Network(case["schedule"]["network"], model)
    kind = {"datasheet": reference_networks.DatasheetReplay,
            "loggps": reference_networks.PortReplay}.get(network.kind,
                                                         reference_networks.EndpointReplay)
    schedule = reference_networks.Schedule(case["schedule"])
    base = kind(model, schedule, network)
    base.run()
    alone = {at: base.leave(at) - base.waits[at] - base.enter(at) for at in calls}

    class Edited(kind):
        def leave(self, at):
            if at not in alone or not self.can_wait(at):
                return super().leave(at)
            self.waits[at] = 0
            self.leaves[at] = self.enter(at) + alone[at]
            return self.leaves[at]

        def can_wait(self, at):
            call = self.schedule.call(at)
            if call["op"] == "send":
                return call["to"] >= 0 and self.waits_for_receiver(at, call)
            return call["op"] not in ("isend", "irecv") and "request" not in call

        def waits_for_receiver(self, at, call):
            rules = self.rules_to(at, call["to"]) if network.kind == "datasheet" else self.ends(at)
            return rules.meets(call.get("mode", "standard"), call["bytes"])

    edited = Edited(model, reference_networks.Schedule(case["schedule"]), network)
    time = max(finish for finish, _ in edited.run())
    return time, not (model.doubtful or base.simultaneous or edited.simultaneous)


def check_network(seed, case, found):
    """How many simulations without waits were compared."""
    compared = 0
    for edited in found.get("edited", []):
        # MPI_Init is the engine's first call.
        calls = [(rank, call - 1) for rank, call in edited["calls"]]
        try:
            expected, certain = waitless_replay(case, calls)
        except (reference.Stuck, reference_networks.Undecided):
            expected, certain = "deadlock", True
        kind = case["schedule"]["network"]["kind"]
        if not certain:
            continue
        if expected != edited["time"]:
            sys.exit(f"seed {seed}, {kind}, without the waits of {calls}: expected {expected}, "
                     f"found {edited['time']}")
        compared += 1
    return compared


def replay_time(case, schedule):
    """The run time and whether it is certain."""
    model = reference.Machine(case["machine"])
    if "network" not in schedule:
        finishes = reference.Replay(model, reference.Schedule(schedule)).run()
        return max(finish for finish, _ in finishes), not model.doubtful
    network = reference_networks.Network(schedule["network"], model)
    kind = {"datasheet": reference_networks.DatasheetReplay,
            "loggps": reference_networks.PortReplay}.get(network.kind,
                                                         reference_networks.EndpointReplay)
    replay = kind(model, reference_networks.Schedule(schedule), network)
    time = max(finish for finish, _ in replay.run())
    return time, not (model.doubtful or replay.simultaneous)


def check_rewrites(seed, case, found):
    """How many simulations with other calls were compared, and how many of them had any."""
    compared = changed = 0
    machine = reference.Machine(case["machine"])
    for rewritten in found.get("rewrites", []):
        how, places = rewritten["rewrite"], rewritten["places"]
        if how == "barriers":
            schedule = reference_rewrites.without_barriers(machine, case["schedule"])
        elif how == "merge":
            schedule = reference_rewrites.with_merged_messages(machine, case["schedule"], places)
        else:
            schedule = reference_rewrites.with_posted_messages(machine, case["schedule"], places)
        try:
            expected, certain = replay_time(case, schedule)
        except (reference.Stuck, reference_networks.Undecided):
            expected, certain = "deadlock", True
        if not certain:
            continue
        kind = case["schedule"].get("network", {}).get("kind")
        if expected != rewritten["time"]:
            sys.exit(f"seed {seed}, {kind}, {how} {places}: expected {expected}, found "
                     f"{rewritten['time']}")
        compared += 1
        changed += rewritten["changed"] > 0
    return compared, changed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("explain_schedule")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.count)
    cases = []
    for seed in seeds:
        rng = random.Random(seed)
        cases.append((without_gap(random_schedules.random_machine(rng)),
                      Generator(rng).schedule()))
    networks = [random_networks.random_case(seed, None, OnNetworks) for seed in seeds[: options.count // 5]]
    for case in networks:
        without_gap(case["machine"])
    lines = "".join(json.dumps({"machine": m, "schedule": s}) + "\n" for m, s in cases)
    lines += "".join(json.dumps(case) + "\n" for case in networks)
    found = subprocess.run([options.explain_schedule], input=lines, text=True, check=False,
                           stdout=subprocess.PIPE)
    results = [json.loads(line) for line in found.stdout.splitlines()]
    if found.returncode != 0:
        sys.exit(f"seed {options.first + len(results)} fails")
    waits = sum(check(seed, machine, schedule, result)
                for seed, (machine, schedule), result in zip(seeds, cases, results))
    on_networks = reference_networks.run_deep(lambda: sum(
        check_network(seed, case, result)
        for seed, case, result in zip(seeds, networks, results[len(cases):])
        if result != "deadlock"))
    rewrites = reference_networks.run_deep(lambda: [
        check_rewrites(seed, case, result)
        for seed, case, result in zip(
            [*seeds, *seeds], [{"machine": m, "schedule": s} for m, s in cases] + networks, results)
        if result != "deadlock"])
    rewritten, changed = (sum(column) for column in zip(*rewrites))
    added = reference_networks.run_deep(lambda: sum(
        check_added(seed, machine, schedule, result)
        for seed, (machine, schedule), result in zip(seeds, cases, results)
        if result != "deadlock"))
    single = sum(len(result["waits"]) for result in results if result != "deadlock")
    print(f"{len(cases)} schedules, {single} single waits against a simulation, {waits} of them against the "
          f"reference; {on_networks} simulations without waits on {len(networks)} other networks")
    print(f"{added} runs with L, o and G added to the equations against the reference")
    print(f"{rewritten} runs with other calls against the references, {changed} of them with changes")
    if added < options.count:
        sys.exit("too few runs with additions were compared")
    if changed < options.count:
        sys.exit("too few runs with other calls were compared")
    if waits < options.count or on_networks < len(networks):
        sys.exit("too few waits were compared")


if __name__ == "__main__":
    main()
