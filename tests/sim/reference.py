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
    attended_from   P in bytes; left out or null: messages move by themselves
    functions       by name: a list of regimes {to, c, f, s, g, k}, ascending: up to `to`
                    bytes t(p,d) = c + s f(p) + k g(p,d), f in "p", "ln p", "p^2", g in
                    "d", "p d", "ln p d", "p^2 d"
    node            left out: there are no paths; else {sync_threshold, attended_from, functions}
                    of the path within a node
    untouched       left out: all data alike; else by function of the node (without paths: of the
                    machine) its time with untouched data, as a multiple
    pieces          left out: data in pieces takes no longer; else for "send" and "recv" by the bytes
                    of a piece a list of [bytes, ps], ascending; so in "node", in its place

and a schedule may have "nodes", for each rank its node; a sending call "untouched" and "piece", the
bytes of a piece of what it sends, a receiving one "recv_piece".
"""

import json
import math
import sys
import threading

from reference_machine import Machine, half_away  # noqa: F401 (others take it from here)
from reference_progress import ALWAYS, LEAST_MESSAGE, InMpi
from reference_tables import BACK, OUT, WAITS_FOR


class Stuck(Exception):
    """A time depends on itself: the schedule deadlocks on this machine."""


class Schedule:
    """Calls by (rank, index), and who belongs to whom."""

    def __init__(self, data):
        self.comms = data["comms"]
        self.nodes = data.get("nodes")
        self.calls = []      # per rank: (steps before it, call)
        self.posted = {}     # (rank, index of a wait): the indices of the posting calls
        self.completed_by = {}  # the other way round
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
                self.completed_by.update({posted: here for posted in self.posted[here]})
            calls.append((steps, call))
            steps = 0
        calls.append((steps, {"op": "finalize"}))
        self.calls.append(calls)

    def call(self, at):
        return self.calls[at[0]][at[1]][1]

    def getting(self, send):
        """The call that gets the message of a send: a blocking receive, or that which completes a posted one."""
        receive = self.receive_of.get(send)
        posted = receive is not None and self.call(receive)["op"] == "irecv"
        return self.completed_by.get(receive) if posted else receive

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
    def __init__(self, machine, schedule, in_mpi=ALWAYS):
        self.machine = machine
        self.schedule = schedule
        self.in_mpi = in_mpi
        self.leaves = {}
        self.open = set()
        self.waits = {}
        self.unpacked = {}  # by call: how long it takes apart what it has received, last of all
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
        return before + self.machine.compute(self.schedule.calls[rank][index][0]) + self.packing(at)

    def packing(self, at):
        """What the call sends is put together before all else."""
        call = self.schedule.call(at)
        if call.get("piece", 0) == 0 or call["to"] < 0:
            return 0
        return self.rules_to(at, call["to"]).in_pieces("send", call["bytes"], call["piece"])

    def unpacking(self, receive):
        """Of the call that receives, or has posted a receive."""
        call = self.schedule.call(receive)
        if call.get("recv_piece", 0) == 0 or call["from"] < 0:
            return 0
        origin = self.schedule.send_of[receive]
        return self.rules(receive[0], origin[0]).in_pieces("recv", self.schedule.call(origin)["bytes"],
                                                           call["recv_piece"])

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
            if call["op"] == "wait":
                self.unpacked[at] = sum(self.unpacking(posted) for posted in self.schedule.posted[at]
                                        if self.schedule.call(posted)["op"] == "irecv")
            else:
                self.unpacked[at] = self.unpacking(at) if call["op"] in ("recv", "sendrecv") else 0
            self.leaves[at] = leave + self.unpacked[at]
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
            return self.meeting(at) + cost, self.departure(at) + cost
        name = {"buffered": "bsend", "ready": "rsend"}.get(mode, "send")
        leave = start + rules.cost(name, size)
        return self.attended(at, leave), leave

    def receiver(self, send):
        call = self.schedule.call(send)
        return self.schedule.comms[call["comm"]][call["to"]]

    def attended(self, send, end):
        """The end of an eager send that would end then if messages moved by themselves."""
        call = self.schedule.call(send)
        if not self.rules_of(send).attends(call.get("mode", "standard"), call["bytes"]):
            return end
        end = max(end, self.enter(send) + LEAST_MESSAGE)
        getting = self.schedule.getting(send)
        if getting is not None and self.in_mpi.has_entered(getting, end):
            return end
        return self.in_mpi.from_(self.receiver(send), end)

    def meeting(self, send):
        """When both ends of a rendezvous are there."""
        receive = self.partner(self.schedule.receive_of, send)
        call, rules = self.schedule.call(send), self.rules_of(send)
        mode, size = call.get("mode", "standard"), call["bytes"]
        both = max(self.departure(send), self.enter(receive))
        if self.schedule.call(receive)["op"] != "irecv" or not rules.attends(mode, size):
            return both
        empty = min(both + takes for d in (0, size)
                    for takes in (self.sender_takes(call, rules, d), self.posted_receive_takes(rules, d)))
        empty = max(empty, both + LEAST_MESSAGE)
        there = self.in_mpi.from_(receive[0], empty)
        return max(self.departure(send), there) if there > empty else both

    def sender_takes(self, call, rules, size):
        """From when a rendezvous can start to the send's end."""
        if call["op"] != "isend" or call.get("mode") == "synchronous":
            return rules.cost("ssend", size)
        return rules.cost("isend1", size) + rules.cost("isend2", size)

    def posted_receive_takes(self, rules, size):
        return rules.cost("irecv1", size) + rules.cost("irecv2", size)

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
                ends = max(ends, self.posted_collective_end(posted))
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
        rules = self.rules_of(posted)
        least = max(0, rules.cost("isend2", size) - rules.cost("isendoverlap", size))
        takes = self.sender_takes(call, rules, size)
        if rules.meets(mode, size):
            return self.meeting(posted) + takes, least
        return self.attended(posted, self.departure(posted) + takes), least

    def irecv_end(self, posted):
        call = self.schedule.call(posted)
        if call["from"] < 0:
            return None, 0
        size = call["bytes"]
        origin = self.partner(self.schedule.send_of, posted)
        start = self.departure(origin)
        rules = self.rules_of(origin, posted[0])
        if rules.meets(self.schedule.call(origin).get("mode", "standard"), size):
            start = self.meeting(origin)
        second = rules.cost("irecv2", size)
        end = start + self.posted_receive_takes(rules, size)
        if rules.regimes("irecvoverlap") is None:
            return end, min(second, rules.cost("recvmin", size))
        return end, max(0, second - rules.cost("irecvoverlap", size))

    def collective(self, at, call):
        start, cost, _ = self.collective_parts(at, call)
        return start + cost, self.enter(at) + cost

    def collective_parts(self, at, call):
        """When all have come whom a member waits for, what its part takes, and by which rules."""
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
        return max(self.enter(other) for other in needed), cost, rules

    def posted_collective_end(self, at):
        call = self.schedule.call(at)
        start, cost, rules = self.collective_parts(at, call)
        # The library moves messages in calls, or by itself, whatever path they take.
        if not self.machine.has_attended():
            return start + cost
        members = self.schedule.members[at]
        whose = WAITS_FOR[call["op"]]
        attend = [at]
        if len(members) > 2 or rules.attends("standard", call["bytes"]):
            if whose == "all" or (whose == "at root" and at == members[call["root"]]):
                attend = members
            elif whose == "root":
                attend = [at, members[call["root"]]]
        return max(self.in_mpi.from_(member[0], start) for member in attend) + cost


def settle(machine, schedule):
    """Replays with the times at which ranks were in MPI in the pass before, until they stay. No
    rank is in MPI by what happens later, so each pass has at least the next event right."""
    schedule = Schedule(schedule)
    in_mpi = ALWAYS
    for _ in range(2 + sum(len(calls) for calls in schedule.calls)):
        run = Replay(machine, schedule, in_mpi)
        result = run.run()
        found = InMpi(run)
        if not machine.has_attended() or found == in_mpi:
            return result
        in_mpi = found
    raise RuntimeError("the times at which ranks are in MPI do not settle")


def replay(machine, schedule):
    """Runs `machine` (a Machine) and `schedule` (a JSON object)."""
    result = []

    def target():  # deep schedules need deep stacks
        try:
            result.append(settle(machine, schedule))
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
