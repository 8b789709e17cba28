#!/usr/bin/env python3
"""A second implementation of the timing rules, for tests.

    reference.py MACHINE.json SCHEDULE.json      prints each rank's finish time in ps

It shares nothing with the engine: messages are paired beforehand by their order in the programs, then every
call's times are equations that are evaluated recursively and remembered; times are exact fractions until the
one rounding of each cost. The rules are those of docs/theory.md.

A schedule is a JSON object; an MPI program can execute it as it stands:
    ranks     number of ranks
    comms     the communicators: a list of lists of world ranks in local rank order;
              comms[0] is MPI_COMM_WORLD
    programs  for each rank the list of what it calls between MPI_Init and MPI_Finalize

What a rank calls is an object with "op" and

    compute                    steps: compute steps (FORETRACE_COMPUTE)
    send, isend                comm, to, tag, bytes, mode; isend: request
                               mode: "standard" (default), "synchronous", "buffered", "ready"
    recv, irecv                comm, from, tag, bytes; irecv: request
                               bytes: the message's size, and that of the buffer
    probe                      comm, from, tag: sees the message that the next receive gets
    sendrecv                   comm, to, tag, bytes, from, recv_tag, recv_bytes
    wait                       requests: completes them in this order (MPI_Waitall)
    access                     comm, to, bytes, what: "put", "get", "accumulate", "get_accumulate",
                               "fetch_and_op" or "compare_and_swap"; perhaps with request
    flush                      comm, to (-1: all); local: true for flush_local
    lock                       comm, to
    barrier, bcast, scatter, gather, reduce, allgather, alltoall, allreduce,
    reduce_scatter_block, scan, exscan
                               comm, bytes (d of the equation), root for the rooted ones; with
                               request: the non-blocking form

A receive with "any": "source" or "both" says MPI_ANY_SOURCE and gets the message from "from".
"to" and "from" are ranks in `comm`, -1 is MPI_PROC_NULL; "request" is a number > 0 that is
not in use by the rank. A machine is a JSON object:

    time_unit       seconds per unit of the coefficients
    element         bytes per unit of d
    compute_step    seconds per compute step
    sync_threshold  S in bytes, or null
    functions       by name: a list of regimes {to, c, f, s, g, k}, ascending: up to `to`
                    bytes t(p,d) = c + s f(p) + k g(p,d), f in "p", "ln p", "p^2", g in
                    "d", "p d", "ln p d", "p^2 d"
    node            left out: there are no paths; else {sync_threshold, functions} of the path
                    within a node
    untouched       left out: all data alike; else by function of the node (without paths: of the
                    machine) its time with untouched data, as a multiple

and a schedule may have "nodes", for each rank its node; a sending call "untouched".
"""

import json
import math
import sys
import threading
from fractions import Fraction

from reference_tables import BACK, OUT, STAND_INS, WAITS_FOR


class Stuck(Exception):
    """A time depends on itself: the schedule deadlocks on this machine."""


def half_away(value):
    """Nearest integer to a fraction, halves away from zero."""
    above, below = value.numerator, value.denominator
    floor = (2 * abs(above) + below) // (2 * below)
    return floor if above >= 0 else -floor


class Machine:
    def __init__(self, data):
        self.unit = Fraction(data["time_unit"])
        self.element = data["element"]
        self.step = Fraction(data["compute_step"])
        self.threshold = data["sync_threshold"]
        self.functions = data["functions"]
        self.known = {}
        self.computed = {}
        # What two ranks of one node have between them; this machine where it has no paths.
        self.inside = self
        if "node" in data:
            self.inside = NodePath(data, self)
        self.same = Untouched(data, self.inside, self) if "untouched" in data else self.inside
        # Set when a cost lies so close to half a picosecond that arithmetic in double
        # may round it to either side.
        self.doubtful = False

    def regimes(self, name):
        while name is not None and name not in self.functions:
            name = STAND_INS.get(name)
        return None if name is None else self.functions[name]

    def path(self, nodes, ranks, untouched=False):
        """The rules among these ranks; `nodes` is None where each rank has its own."""
        places = {rank if nodes is None else nodes[rank] for rank in ranks}
        if len(places) > 1:
            return self
        return self.same if untouched else self.inside

    def cost(self, name, size, p=2):
        key = (name, size, p)
        if key not in self.known:
            self.known[key] = self.evaluate(name, size, p)
        return self.known[key]

    def evaluate(self, name, size, p):
        regimes = self.regimes(name)
        if regimes is None:
            return 0
        regime = next((r for r in regimes if size <= r["to"]), regimes[-1])
        log = Fraction(math.log(p))
        d = Fraction(size, self.element)
        f = {"p": p, "ln p": log, "p^2": p * p}[regime["f"]]
        g = {"d": d, "p d": p * d, "ln p d": log * d, "p^2 d": p * p * d}[regime["g"]]
        time = (Fraction(regime["c"]) + Fraction(regime["s"]) * f + Fraction(regime["k"]) * g)
        exact = max(time, 0) * self.unit * 10**12 * self.factor(regimes)
        if abs(exact % 1 - Fraction(1, 2)) < exact / 10**14:
            self.doubtful = True
        return half_away(exact)

    def factor(self, _):
        return 1

    def sending_takes(self, size):
        if self.regimes("gap") is None:
            return 0
        return max(0, self.cost("sendrecv", size) - self.cost("recv", size))

    def receiving_takes(self, size):
        return max(0, self.cost("gap", size) - self.sending_takes(size))

    def access(self, what, size):
        """T_x(d) of an access."""
        time = self.cost(what, size)
        if self.regimes(what) is self.regimes("recv"):
            time += self.cost("recv", size if what in OUT and what in BACK else 0)
        return time

    def lock(self):
        if self.regimes("win_lock") is not None:
            return self.cost("win_lock", 0)
        return self.access("compare_and_swap", 8)

    def compute(self, steps):
        if steps not in self.computed:
            self.computed[steps] = half_away(Fraction(steps) * self.step * 10**12)
        return self.computed[steps]

    def meets(self, mode, size):
        """Does the sender wait for the receiver?"""
        if mode == "synchronous":
            return True
        if mode == "buffered" or self.threshold is None:
            return False
        return size >= self.threshold


class NodePath(Machine):
    """Own equations first, then the outer path's."""

    def __init__(self, data, outer):
        own = data["node"]
        super().__init__({key: value for key, value in data.items() if key != "node"})
        self.functions = own["functions"]
        if own["sync_threshold"] is not None:
            self.threshold = own["sync_threshold"]
        self.outer = outer

    def regimes(self, name):
        mine = super().regimes(name)
        if name == "gap" and self.functions:
            return mine
        return self.outer.regimes(name) if mine is None else mine

    def cost(self, name, size, p=2):
        time = super().cost(name, size, p)
        self.outer.doubtful = self.outer.doubtful or self.doubtful
        return time


class Untouched(Machine):
    """What two ranks of one node have between them, each function of theirs with its factor."""

    def __init__(self, data, inside, outer):
        super().__init__({key: value for key, value in data.items() if key not in ("node", "untouched")})
        self.own, self.within, self.outer = data["untouched"], inside, outer
        self.threshold = inside.threshold

    def regimes(self, name):
        return self.within.regimes(name)

    def factor(self, regimes):
        return next((Fraction(self.own.get(name, 1)) for name, own in self.within.functions.items()
                     if own is regimes), 1)

    def cost(self, name, size, p=2):
        time = super().cost(name, size, p)
        self.outer.doubtful = self.outer.doubtful or self.doubtful
        return time


class Schedule:
    """Calls by (rank, index), and who belongs to whom."""

    def __init__(self, data):
        self.comms = data["comms"]
        self.nodes = data.get("nodes")
        self.calls = []      # per rank: (steps before it, call)
        self.posted = {}     # (rank, index of a wait): the indices of the posting calls
        self.receive_of = {}  # (rank, index) of a sending call: that of the receiving one
        self.send_of = {}
        self.members = {}    # (rank, index) of a collective: the members' (rank, index)
        for rank, program in enumerate(data["programs"]):
            self.add_program(rank, program)
        self.pair_messages()
        self.pair_collectives()

    def add_program(self, rank, program):
        calls, steps, requests = [], 0, {}
        for call in program:
            if call["op"] == "compute":
                steps += call["steps"]
                continue
            here = (rank, len(calls))
            if "request" in call:
                requests[call["request"]] = here
            if call["op"] == "wait":
                self.posted[here] = [requests.pop(number) for number in call["requests"]]
            calls.append((steps, call))
            steps = 0
        calls.append((steps, {"op": "finalize"}))
        self.calls.append(calls)

    def call(self, at):
        return self.calls[at[0]][at[1]][1]

    def pair_messages(self):
        sends, receives, probes = {}, {}, []
        for rank, calls in enumerate(self.calls):
            for index, (_, call) in enumerate(calls):
                op = call["op"]
                if op in ("send", "isend", "sendrecv") and call["to"] >= 0:
                    to = self.comms[call["comm"]][call["to"]]
                    key = (call["comm"], rank, to, call["tag"])
                    sends.setdefault(key, []).append((rank, index))
                if op in ("recv", "irecv", "sendrecv", "probe") and call["from"] >= 0:
                    source = self.comms[call["comm"]][call["from"]]
                    tag = call["recv_tag"] if op == "sendrecv" else call["tag"]
                    key = (call["comm"], source, rank, tag)
                    before = receives.setdefault(key, [])
                    if op == "probe":
                        probes.append((key, len(before), (rank, index)))
                    else:
                        before.append((rank, index))
        for key, senders in sends.items():
            for send, receive in zip(senders, receives.get(key, [])):
                self.receive_of[send] = receive
                self.send_of[receive] = send
        for key, number, probe in probes:
            if number < len(sends.get(key, [])):
                self.send_of[probe] = sends[key][number]

    def pair_collectives(self):
        for number, comm in enumerate(self.comms):
            columns = [[(rank, i) for i, (_, call) in enumerate(self.calls[rank])
                        if call["op"] in WAITS_FOR and call["comm"] == number]
                       for rank in comm]
            for instance in zip(*columns):
                for member in instance:
                    self.members[member] = instance


class Replay:
    def __init__(self, machine, schedule):
        self.machine = machine
        self.schedule = schedule
        self.leaves = {}
        self.open = set()
        self.waits = {}
        self.accessed = {}  # by access: (its end, `free` after it)
        self.departures = {}  # by sending call: (when it leaves, when the next one can)
        self.busy = {}  # by rank and path: from when to when it has moved messages

    def run(self):
        """(enter of MPI_Finalize, [(leave, wait) of each call]) for each rank."""
        result = []
        for rank, calls in enumerate(self.schedule.calls):
            last = len(calls) - 1
            finish = self.enter((rank, last))
            result.append((finish, [(self.leave((rank, i)), self.waits[(rank, i)])
                                    for i in range(last)]))
        return result

    def enter(self, at):
        rank, index = at
        before = self.leave((rank, index - 1)) if index > 0 else 0
        return before + self.machine.compute(self.schedule.calls[rank][index][0])

    def leave(self, at):
        if at not in self.leaves:
            if at in self.open:
                raise Stuck(f"rank {at[0]}, call {at[1]}")
            self.open.add(at)
            call = self.schedule.call(at)
            if call["op"] not in WAITS_FOR:
                rule = getattr(self, call["op"])
            else:
                rule = self.post_collective if "request" in call else self.collective
            self.enter(at)  # all calls before it
            before = {key: self.busy[key] for key in self.busy if key[0] == at[0]}
            try:
                leave, alone = rule(at, call)
            except Exception:
                for key in [key for key in self.busy if key[0] == at[0]]:
                    del self.busy[key]
                self.busy.update(before)
                raise
            self.leaves[at] = leave
            self.waits[at] = max(0, leave - alone)
        return self.leaves[at]

    def finalize(self, at, call):
        return self.enter(at), self.enter(at)

    def partner(self, table, at):
        if at not in table:
            raise Stuck(f"rank {at[0]}, call {at[1]}: nobody is at the other end")
        return table[at]

    def rules(self, *ranks, untouched=False):
        return self.machine.path(self.schedule.nodes, ranks, untouched)

    def rules_to(self, at, partner):
        """Between the rank of a call and a rank of the call's communicator."""
        call = self.schedule.call(at)
        return self.rules(at[0], self.schedule.comms[call["comm"]][partner])

    def rules_of(self, at, receiver=None):
        """Of the message that a call sends."""
        call = self.schedule.call(at)
        to = self.schedule.comms[call["comm"]][call["to"]] if receiver is None else receiver
        return self.rules(at[0], to, untouched=call.get("untouched", False))

    def departure(self, at):
        return self.departure_and_next(at)[0]

    def departure_and_next(self, at):
        """Of a call that sends: not before what it sent on the same path has made room."""
        if at not in self.departures:
            call = self.schedule.call(at)
            rules = self.rules_to(at, call["to"])
            free = -math.inf
            for index in reversed(range(at[1])):
                other = self.schedule.call((at[0], index))
                if (other["op"] in ("send", "isend", "sendrecv") and other["to"] >= 0
                        and self.rules_to((at[0], index), other["to"]) is rules):
                    free = self.departure_and_next((at[0], index))[1]
                    break
            leaves = max(self.enter(at), free)
            self.departures[at] = leaves, leaves + self.rules_of(at).cost("gap", call["bytes"])
        return self.departures[at]

    def moved(self, rank, rules, end, takes):
        """When a transfer ends, of which the rank's part takes so long. Ranks ask in the order of
        their calls, since a call's leave needs those before it."""
        begin, until = self.busy.get((rank, rules), (-math.inf, -math.inf))
        if takes == 0 or end <= begin:
            return end
        if end - takes >= until:
            self.busy[rank, rules] = end - takes, end
            return end
        self.busy[rank, rules] = begin, max(end, until + takes)
        return self.busy[rank, rules][1]

    # Every rule below gives (leave, what it would be if nobody had been late).

    def send(self, at, call):
        start = self.enter(at)
        if call["to"] < 0:
            return start, start
        mode, size = call.get("mode", "standard"), call["bytes"]
        rules = self.rules_of(at)
        if rules.meets(mode, size):
            cost = rules.cost("ssend", size)
            other = self.enter(self.partner(self.schedule.receive_of, at))
            leaves = self.departure(at)
            return max(leaves, other) + cost, leaves + cost
        name = {"buffered": "bsend", "ready": "rsend"}.get(mode, "send")
        leave = start + rules.cost(name, size)
        return leave, leave

    def receive(self, at, source, size, cost_name):
        start = self.enter(at)
        if source < 0:
            return start, start
        origin = self.partner(self.schedule.send_of, at)
        sent = self.departure(origin)
        rules = self.rules_of(origin, at[0])
        ready = start + rules.cost("recvmin", size)
        cost = rules.cost(cost_name, size)
        if rules.meets(self.schedule.call(origin).get("mode", "standard"), size):
            end = max(start, sent) + cost
        else:
            end = max(ready, sent + cost)
        return self.moved(at[0], self.rules(at[0], origin[0]), end, rules.receiving_takes(size)), ready

    def recv(self, at, call):
        return self.receive(at, call["from"], call["bytes"], "recv")

    def probe(self, at, call):
        start = self.enter(at)
        cost = self.machine.cost("probe", 0, len(self.schedule.calls))
        seen = start if call["from"] < 0 else self.departure(self.partner(self.schedule.send_of, at))
        return max(start, seen) + cost, start + cost

    def sendrecv(self, at, call):
        out = self.send(at, call)
        back = self.receive(at, call["from"], call["recv_bytes"], "sendrecv")
        return max(out[0], back[0]), max(out[1], back[1])

    def isend(self, at, call):
        paid = 0
        if call["to"] >= 0:
            paid = self.rules_of(at).cost("isend1", call["bytes"])
        return self.enter(at) + paid, self.enter(at) + paid

    def irecv(self, at, call):
        paid = 0
        if call["from"] >= 0:
            # From any source: the outer path's.
            named = call.get("any") not in ("source", "both")
            rules = self.rules_to(at, call["from"]) if named else self.machine
            paid = rules.cost("irecv1", call["bytes"])
        return self.enter(at) + paid, self.enter(at) + paid

    def wait(self, at, call):
        clock = alone = ends = self.enter(at)
        for posted in self.schedule.posted[at]:
            if self.schedule.call(posted)["op"] == "access":
                ends = max(ends, self.request_end(posted))
                continue
            if self.schedule.call(posted)["op"] in WAITS_FOR:
                ends = max(ends, self.collective(posted, self.schedule.call(posted))[0])
                continue
            call = self.schedule.call(posted)
            if call["op"] == "isend":
                end, least = self.isend_end(posted)
            else:
                end, least = self.irecv_end(posted)
            if end is None:
                continue
            if call["op"] == "isend":
                rules = self.rules_to(posted, call["to"])
                takes = self.rules_of(posted).sending_takes(call["bytes"])
            else:
                origin = self.schedule.send_of[posted]
                rules = self.rules(posted[0], origin[0])
                takes = self.rules_of(origin, posted[0]).receiving_takes(self.size_received(posted))
            end = self.moved(posted[0], rules, end, takes)
            clock = max(clock + least, end)
            alone += least
        # A collective that goes on by itself costs nothing but time.
        return max(clock, ends), alone

    def size_received(self, posted):
        return self.schedule.call(posted)["bytes"]

    def access(self, at, call):
        rules = self.rules_to(at, call["to"])
        out = call["bytes"] if call["what"] in OUT else 0
        post = min(rules.cost("isend1", out), rules.access(call["what"], call["bytes"]))
        return self.enter(at) + post, self.enter(at) + post

    def access_end(self, at):
        return self.access_times(at)[0]

    def access_times(self, at):
        if at not in self.accessed:
            call = self.schedule.call(at)
            before = [i for i in range(at[1]) if self.schedule.call((at[0], i))["op"] == "access"]
            free = self.access_times((at[0], before[-1]))[1] if before else 0
            begin = max(self.enter(at), free)
            rules = self.rules_to(at, call["to"])
            whole = rules.access(call["what"], call["bytes"])
            carried = min(max(0, whole - rules.access(call["what"], 0)), whole)
            self.accessed[at] = begin + whole, begin + carried
        return self.accessed[at]

    def request_end(self, at):
        brings = self.schedule.call(at)["what"] in BACK
        return self.access_end(at) if brings else self.leave(at)

    def flush(self, at, call):
        """Of all accesses before it; those that were flushed before have ended."""
        start = leave = self.enter(at)
        for other in ((at[0], index) for index in range(at[1])):
            access = self.schedule.call(other)
            if access["op"] != "access" or access["comm"] != call["comm"]:
                continue
            if call["to"] not in (-1, access["to"]):
                continue
            if not call.get("local") or access["what"] in BACK:
                leave = max(leave, self.access_end(other))
        return leave, start

    def lock(self, at, call):
        leave = self.enter(at) + self.rules_to(at, call["to"]).lock()
        return leave, leave

    def post_collective(self, at, call):
        return self.enter(at), self.enter(at)

    def isend_end(self, posted):
        call = self.schedule.call(posted)
        if call["to"] < 0:
            return None, 0
        mode, size = call.get("mode", "standard"), call["bytes"]
        start = self.departure(posted)
        rules = self.rules_of(posted)
        if rules.meets(mode, size):
            start = max(start, self.enter(self.partner(self.schedule.receive_of, posted)))
        second = rules.cost("isend2", size)
        if mode == "synchronous":
            end = start + rules.cost("ssend", size)
        else:
            end = start + rules.cost("isend1", size) + second
        return end, max(0, second - rules.cost("isendoverlap", size))

    def irecv_end(self, posted):
        call = self.schedule.call(posted)
        if call["from"] < 0:
            return None, 0
        size = call["bytes"]
        origin = self.partner(self.schedule.send_of, posted)
        start = self.departure(origin)
        rules = self.rules_of(origin, posted[0])
        if rules.meets(self.schedule.call(origin).get("mode", "standard"), size):
            start = max(start, self.enter(posted))
        second = rules.cost("irecv2", size)
        end = start + rules.cost("irecv1", size) + second
        if rules.regimes("irecvoverlap") is None:
            return end, min(second, rules.cost("recvmin", size))
        return end, max(0, second - rules.cost("irecvoverlap", size))

    def collective(self, at, call):
        members = self.partner(self.schedule.members, at)
        mine = members.index(at)
        whose = WAITS_FOR[call["op"]]
        if whose == "root":
            needed = [members[call["root"]], at]
        elif whose == "prefix":
            needed = members[:mine + 1]
        elif whose == "at root" and mine != call["root"]:
            needed = [at]
        else:
            needed = members
        # What counts is what those give who are waited for and give anything; a prefix does not.
        givers = {"root": needed[:1], "prefix": []}.get(whose, needed)
        untouched = bool(givers) and all(self.schedule.call(giver).get("untouched") for giver in givers)
        rules = self.rules(*(member[0] for member in members), untouched=untouched)
        cost = rules.cost(call["op"], call["bytes"], len(members))
        return max(self.enter(other) for other in needed) + cost, self.enter(at) + cost


def replay(machine, schedule):
    """Runs `machine` (a Machine) and `schedule` (a JSON object)."""
    result = []

    def target():  # deep schedules need deep stacks
        try:
            result.append(Replay(machine, Schedule(schedule)).run())
        except Stuck as stuck:
            result.append(stuck)

    sys.setrecursionlimit(1_000_000)
    threading.stack_size(512 * 1024 * 1024)
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if not result:
        raise RuntimeError("the replay failed")
    if isinstance(result[0], Stuck):
        raise result[0]
    return result[0]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: reference.py MACHINE.json SCHEDULE.json")
    with open(sys.argv[1]) as machine, open(sys.argv[2]) as schedule:
        for finish, _ in replay(Machine(json.load(machine)), json.load(schedule)):
            print(finish)


if __name__ == "__main__":
    main()
