"""Schedules with other calls, for tests: a second implementation of explain's rewrites.

Written from docs/explain.md, by brute force: each rule is tried as it stands there. Schedules are those of
tests/sim/reference.py. A rewrite gives a new schedule, whose computations are exact fractions of steps, so that
sums of rounded times stay what they are.
"""

from fractions import Fraction

import reference

SENDS = ("send", "isend", "sendrecv")
RECEIVES = ("recv", "irecv", "sendrecv")
FIRST_REQUEST = 1_000_000
FIRST_TAG = 1_000_000


class Program:
    """A rank's calls, with the picoseconds of computation before each; the last is finalize."""

    def __init__(self, machine, calls):
        self.before = [machine.compute(steps) for steps, _ in calls]
        self.calls = [dict(call) for _, call in calls]
        self.early = [[] for _ in calls]
        self.waits = [[] for _ in calls]
        self.late = [[] for _ in calls]
        self.gone = [False] * len(calls)

    def write(self, machine):
        """As a schedule has it."""
        result = []

        def compute(picoseconds):
            if picoseconds:
                result.append({"op": "compute",
                               "steps": Fraction(picoseconds) / (machine.step * 10**12)})

        for i, call in enumerate(self.calls):
            result.extend(self.early[i])
            compute(self.before[i])
            if self.waits[i]:
                result.append({"op": "wait", "requests": self.waits[i]})
            result.extend(self.late[i])
            if not self.gone[i] and call["op"] != "finalize":
                result.append(call)
        return result


def sends(call):
    return call["op"] in SENDS and call["to"] >= 0


def receives(call):
    return call["op"] in RECEIVES and call["from"] >= 0


def recv_tag(call):
    return call["recv_tag"] if call["op"] == "sendrecv" else call["tag"]


def recv_bytes(call):
    return call["recv_bytes"] if call["op"] == "sendrecv" else call["bytes"]


def bounds(call):
    return call["op"] == "finalize" or call["op"] in reference.WAITS_FOR


def without_barriers(machine, data):
    rewritten = dict(data, programs=[])
    for calls in reference.Schedule(data).calls:
        program = Program(machine, calls)
        for i, call in enumerate(program.calls):
            program.gone[i] = call["op"] == "barrier" and "request" not in call
        rewritten["programs"].append(program.write(machine))
    return rewritten


class Poster:
    """One rank's blocking messages, posted."""

    def __init__(self, program, places):
        self.program = program
        self.calls = program.calls
        self.chosen = [call["op"] in places and call["op"] in ("send", "recv", "sendrecv")
                       and (sends(call) or receives(call)) for call in self.calls]
        self.wait_send, self.wait_recv, self.posted = {}, {}, {}
        self.next_request = FIRST_REQUEST

    def same_in(self, a, b):
        a, b = self.calls[a], self.calls[b]
        return (receives(a) and receives(b) and a["op"] == b["op"] and a["comm"] == b["comm"]
                and a["from"] == b["from"] and recv_tag(a) == recv_tag(b))

    def same_out(self, a, b):
        a, b = self.calls[a], self.calls[b]
        return (sends(a) and sends(b) and a["op"] == b["op"] and a["comm"] == b["comm"]
                and a["to"] == b["to"] and a["tag"] == b["tag"])

    def conflict(self, a, b):
        a, b = self.calls[a], self.calls[b]
        return (receives(a) and receives(b) and a["comm"] == b["comm"] and a["from"] == b["from"]
                and recv_tag(a) == recv_tag(b))

    def first_after(self, i, stops):
        return next(k for k in range(i + 1, len(self.calls)) if bounds(self.calls[k]) or stops(k))

    def legal(self, i, spot):
        for between in range(spot[0], i):
            if bounds(self.calls[between]):
                return False
            if self.conflict(between, i) and not self.chosen[between]:
                return False
        for other in range(i):
            if not (self.chosen[other] and self.conflict(other, i)):
                continue
            least = (self.wait_recv[other], True) if self.same_in(other, i) else self.posted[other]
            if spot < least:
                return False
        return True

    def request(self):
        self.next_request += 1
        return self.next_request

    def post(self):
        for i, call in enumerate(self.calls):
            if not self.chosen[i]:
                continue
            self.program.gone[i] = True
            if sends(call):
                self.post_send(i, call)
            if receives(call):
                self.post_recv(i, call)

    def post_send(self, i, call):
        request = self.request()
        new = {key: call[key] for key in ("comm", "to", "tag", "bytes")}
        self.program.late[i].append(dict(new, op="isend", mode=call.get("mode", "standard"),
                                         request=request))
        self.program.waits[self.first_after(i, lambda k: self.same_out(i, k))].append(request)

    def post_recv(self, i, call):
        request = self.request()
        self.wait_recv[i] = self.first_after(i, lambda k: sends(self.calls[k])
                                             or self.same_in(i, k))
        spots = [(j, after) for j in range(i + 1) for after in (False, True)]
        self.posted[i] = next(spot for spot in spots if self.legal(i, spot))
        j, after = self.posted[i]
        new = {"op": "irecv", "comm": call["comm"], "from": call["from"], "tag": recv_tag(call),
               "bytes": recv_bytes(call), "request": request}
        if not after:
            self.program.early[j].append(new)
        elif j == i and sends(call):
            self.program.late[j].insert(len(self.program.late[j]) - 1, new)
        else:
            self.program.late[j].append(new)
        self.program.waits[self.wait_recv[i]].append(request)


def with_posted_messages(machine, data, places):
    rewritten = dict(data, programs=[])
    for calls in reference.Schedule(data).calls:
        program = Program(machine, calls)
        Poster(program, places).post()
        rewritten["programs"].append(program.write(machine))
    return rewritten


def groups_of(schedule, rank, places):
    """Lists of the calls whose messages become one."""
    found, open_groups = [], {}

    def close(channel):
        found.append(open_groups.pop(channel, []))

    for i, (_, call) in enumerate(schedule.calls[rank]):
        op = call["op"]
        only_sends = op == "wait" and all(schedule.call(at)["op"] == "isend"
                                          for at in schedule.posted[(rank, i)])
        if op not in ("send", "isend", "irecv") and not only_sends:
            for channel in list(open_groups):
                close(channel)
        if op not in SENDS or call["to"] < 0:
            continue
        channel = (call["comm"], call["to"])
        itself = schedule.comms[call["comm"]][call["to"]] == rank
        if (op in places and op != "sendrecv" and not itself
                and call.get("mode", "standard") == "standard"):
            open_groups.setdefault(channel, []).append(i)
        else:
            close(channel)
    return [group for group in found if len(group) > 1]


def with_merged_messages(machine, data, places):
    schedule = reference.Schedule(data)
    programs = [Program(machine, calls) for calls in schedule.calls]
    where = {(rank, i): (rank, wait) for (rank, wait), posted in schedule.posted.items()
             for _, i in posted}
    tag = FIRST_TAG
    for rank in range(len(programs)):
        for group in groups_of(schedule, rank, places):
            tag += 1
            merge(schedule, programs, where, rank, group, tag)
    return dict(data, programs=[program.write(machine) for program in programs])


def wait_otherwise(program, index, requests, instead):
    """The wait no longer waits for `requests`, but, if not None, for `instead`."""
    call, new = program.calls[index], []
    for request in call["requests"]:
        if request not in requests:
            new.append(request)
        elif instead is not None:
            new.append(instead)
            instead = None
    call["requests"] = new
    program.gone[index] = not new


def merge(schedule, programs, where, rank, group, tag):
    if any((rank, i) not in schedule.receive_of for i in group):
        return
    members = [schedule.receive_of[(rank, i)] for i in group]
    if any(schedule.call(at)["op"] == "sendrecv" for at in members):
        return
    sender, receiver = programs[rank], programs[members[0][0]]
    size = sum(schedule.calls[rank][i][1]["bytes"] for i in group)

    for i in group[:-1]:
        sender.gone[i] = True
        if (rank, i) in where:
            wait_otherwise(sender, where[(rank, i)][1], [sender.calls[i]["request"]], None)
    sender.calls[group[-1]].update(bytes=size, tag=tag)

    first = min(at[1] for at in members)
    needed = min(where[at][1] if at in where else at[1] for at in members)
    kept = receiver.calls[first]
    kept.update(bytes=size, tag=tag)
    requests = [schedule.call(at)["request"] for at in members if at in where]
    for at in members:
        receiver.gone[at[1]] = at[1] != first
    if kept["op"] == "irecv" and receiver.calls[needed]["op"] == "recv":
        receiver.calls[needed] = {"op": "wait", "requests": [kept["request"]]}
        receiver.gone[needed] = False
    for index in {where[at][1] for at in members if at in where}:
        here = kept["op"] == "irecv" and index == needed
        wait_otherwise(receiver, index, requests, kept["request"] if here else None)
