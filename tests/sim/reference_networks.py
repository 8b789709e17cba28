#!/usr/bin/env python3
"""A second implementation of the networks, for tests.

    reference_networks.py MACHINE.json SCHEDULE.json      prints each rank's finish time in ps

It shares nothing with the engine and follows docs/networks.md alone. Every call's times are
equations that are evaluated recursively and remembered. Where messages race (wildcard receives,
shared links) decisions are taken one at a time, the earliest first: who takes which message, when
a message has left; an equation that needs a decision not yet taken is tried again later. Products
with a size, and the rates of flows, are exact fractions until their one rounding.

Machines and schedules are those of reference.py. In a schedule, a receive's "from" and "tag" (a
sendrecv's "recv_tag") may be "any", "bytes" then is the size of its buffer. A schedule's
"network" is an object with

    kind                       "datasheet", "loggps", "hops", "bus", "flow" or "packet"
    L, os, or, g               whole picoseconds
    G                          seconds per byte
    S                          bytes; left out: no rendezvous
    cut_through, block         hops; block left out: one block
    packet_size, buffer        packet
    piece                      packet, flow; bytes
    topology                   an expression as in docs/topology.md, latencies in ps, bandwidths
                               in B/s; left out: one rank per node
    graph                      instead of it: an object with processors, switches and links, a
                               list of [from, to, latency, bandwidth]
"""

import concurrent.futures
import functools
import heapq
import json
import sys
import threading

import reference
import reference_links
from reference import Stuck
from reference_messages import ANY, Schedule
from reference_ends import PS, Network

LINKS = {"flow": reference_links.Flows, "packet": reference_links.Packets}


class Undecided(Exception):
    """An equation needs a decision that has not been taken yet."""


class Replay(reference.Replay):
    """What all networks have in common: decisions in the order of time."""

    def __init__(self, machine, schedule, network):
        super().__init__(machine, schedule)
        self.network = network
        # Where the schedule does not say it, the topology does.
        network.nodes = schedule.nodes
        schedule.nodes = [network.node(rank) for rank in range(len(schedule.calls))]
        # Set when the order of things at one instant follows from no rule.
        self.simultaneous = False
        self.links = LINKS.get(network.kind, reference_links.Medium)(network)

    def leave(self, at):
        try:
            return super().leave(at)
        finally:
            self.open.discard(at)

    def partner(self, table, at):
        if at not in table and self.schedule.races:
            raise Undecided
        return super().partner(table, at)

    def run(self):
        if self.schedule.races or self.network.is_shared or self.network.has_ports:
            self.decide()
        return super().run()

    # Events are (time, kind, rank, index): the posting of a receive, the arrival of a header, the
    # entry of a message into the shared links (REQUEST: of that of a rendezvous), the leaving of
    # the answer to a request, all of the call (rank, index).
    POSTED, HEADER, ENTERS, ANSWERS = 0, 1, 2, 3
    REQUEST, LATE = "request", "late"
    # What goes back of an access is (target, SENT_BACK, when the access began, its rank and index).
    SENT_BACK = 2**40

    def decide(self):
        self.events, self.frontier = [], [0] * len(self.schedule.calls)
        self.waiting_receives, self.waiting_messages = [], []
        # Sends whose event is not known yet.
        self.heading, self.asking, self.answering, self.entering = [], [], [], []
        self.returning = []
        self.last = (-1,)
        self.discover()
        while self.events or self.links.due() is not None:
            due = self.links.due()
            if due is not None and (not self.events or due <= self.events[0][0]):
                self.links.end(due)
            else:
                self.happen(heapq.heappop(self.events))
            self.discover()

    def happen(self, event):
        assert event[0] >= self.last[0]
        self.last = event
        time, kind, *at = event
        at = tuple(at)
        if kind == self.POSTED:
            self.posted(at)
        elif kind == self.HEADER:
            self.header_there(at)
        elif kind == self.ANSWERS:
            self.answers(at, time)
        elif self.REQUEST in at:
            self.links.enter(at, time, self.schedule.destination(at[:2]), 0)
        elif at[1] == self.SENT_BACK:
            self.links.enter(at, time, at[3], self.schedule.size_back(at[3:]))
        else:
            self.links.enter(at, time, self.schedule.destination(at), self.schedule.size(at),
                             self.is_rendezvous(at))

    def sent_back(self, at):
        """The message that goes back of an access or a lock."""
        return (self.schedule.destination(at), self.SENT_BACK, self.enter(at), *at)

    def answers(self, at, time):
        """Behind data that the rank is handing over."""
        at, waited = at[:2], self.LATE in at
        receiver = self.schedule.destination(at)
        taken_in = self.network.outer.overhead_recv
        backs = [n + taken_in for key, n in self.links.there.items()
                 if isinstance(key[1], tuple) and key[1][0] == receiver and n + taken_in <= time]
        until = max(backs, default=time) + self.network.outer.overhead_send
        if backs and until > time and not waited:
            self.push(until, self.ANSWERS, (*at, self.LATE))
        else:
            self.links.enter(self.answer(at), time, at[0], 0)

    def answer(self, at):
        """The answer to the request of a send, which goes the other way."""
        return (self.schedule.destination(at), at)

    def push(self, time, kind, at):
        event = (time, kind, *at)
        if kind == self.HEADER and event < self.last:
            self.simultaneous = True
        heapq.heappush(self.events, event)

    def discover(self):
        """Adds the events of every call whose entry has become known."""
        self.find_calls()
        self.push_known(self.heading, self.HEADER, self.header)
        self.push_known(self.asking, self.ENTERS, lambda at: self.left(at), self.REQUEST)
        self.push_known(self.answering, self.ANSWERS, lambda at: self.answer_leaves(at))
        self.push_known(self.entering, self.ENTERS, lambda at: self.entry(at)[0])
        for at in list(self.returning):
            try:
                self.push(self.back_enters(at), self.ENTERS, self.sent_back(at))
                self.returning.remove(at)
            except Undecided:
                pass

    def push_known(self, sends, kind, when, *part):
        for at in list(sends):
            try:
                self.push(when(at), kind, (*at, *part))
                sends.remove(at)
            except Undecided:
                pass

    def find_calls(self):
        grew = True
        while grew:
            grew = False
            for rank, calls in enumerate(self.schedule.calls):
                while self.frontier[rank] < len(calls):
                    at = (rank, self.frontier[rank])
                    try:
                        self.enter(at)
                    except Undecided:
                        break
                    self.frontier[rank] += 1
                    self.found(at)
                    grew = True

    def found(self, at):
        if self.schedule.races and self.schedule.receives(at):
            self.push(self.enter(at), self.POSTED, at)
        if self.schedule.sends(at):
            if self.schedule.races:
                self.heading.append(at)
            if self.network.is_shared and self.meets_others(at):
                self.entering.append(at)
                if self.is_rendezvous(at):
                    self.asking.append(at)
                    self.answering.append(at)
        if self.schedule.goes_back(at) and self.network.is_shared and self.meets_others(at):
            self.entering.append(at)
            self.returning.append(at)

    def posted(self, at):
        fitting = [send for send in self.waiting_messages if self.schedule.fits(send, at)]
        if not fitting:
            self.waiting_receives.append(at)
            return
        send = min(fitting, key=lambda s: (self.header(s), s))
        self.waiting_messages.remove(send)
        self.match(send, at)

    def header_there(self, at):
        fitting = [receive for receive in self.waiting_receives if self.schedule.fits(at, receive)]
        if not fitting:
            self.waiting_messages.append(at)
            return
        receive = min(fitting)  # of one rank, the first posted
        self.waiting_receives.remove(receive)
        self.match(at, receive)

    def match(self, send, receive):
        self.schedule.receive_of[send] = receive
        self.schedule.send_of[receive] = send


class DatasheetReplay(Replay):
    """The equations alone, with wildcard receives."""

    def header(self, at):
        return self.departure(at)

    def size_received(self, posted):
        return self.size_of_message(posted)

    def size_of_message(self, at):
        return self.schedule.call(self.partner(self.schedule.send_of, at))["bytes"]

    def receive(self, at, source, size, cost_name):
        if source == ANY or source >= 0:
            source, size = 0, self.size_of_message(at)
        return super().receive(at, source, size, cost_name)

    def irecv(self, at, call):
        if call["from"] != ANY:
            return super().irecv(at, call)
        posted = self.enter(at) + self.machine.cost("irecv1", call["bytes"])  # the outer path's
        return posted, posted

    def irecv_end(self, posted):
        """As in reference.py, but posting costs by the buffer, the rest by the message."""
        call = self.schedule.call(posted)
        if call["from"] != ANY and call["from"] < 0:
            return None, 0
        origin = self.partner(self.schedule.send_of, posted)
        sent, size = self.schedule.call(origin), self.size_of_message(posted)
        start = self.departure(origin)
        rules = self.rules(posted[0], origin[0])
        if rules.meets(sent.get("mode", "standard"), size):
            start = max(start, self.enter(posted))
        cost = rules.cost
        end = start + cost("irecv1", size) + cost("irecv2", size)
        if rules.regimes("irecvoverlap") is None:
            return end, min(cost("irecv2", size), cost("recvmin", size))
        return end, max(0, cost("irecv2", size) - cost("irecvoverlap", size))


class EndpointReplay(Replay):
    """The endpoints of docs/networks.md."""

    def __init__(self, machine, schedule, network):
        super().__init__(machine, schedule, network)
        self.free = {}       # by call: send_free after it
        # What depends on the schedule alone, and is asked again at each try of an equation.
        self.ends = functools.cache(self.ends)
        self.is_rendezvous = functools.cache(self.is_rendezvous)
        self.meets_others = functools.cache(self.meets_others)

    # Sending.

    def begin(self, at):
        rank, index = at
        return max(self.enter(at), self.free_after((rank, index - 1)))

    def free_after(self, at):
        rank, index = at
        while index >= 0 and (rank, index) not in self.free:
            if self.schedule.injects((rank, index)):
                self.free[(rank, index)] = self.begin((rank, index)) + self.ends((rank, index)).g
                break
            index -= 1
        return self.free[(rank, index)] if index >= 0 else 0

    def left(self, at):
        """x: the processor is done with the send."""
        return self.begin(at) + self.ends(at).overhead_send

    def header(self, at):
        return self.left(at) + self.network.latency(at[0], self.schedule.destination(at), 0)

    def is_rendezvous(self, at):
        call = self.schedule.call(at)
        if self.schedule.goes_back(at):
            return False
        return self.ends(at).meets(call.get("mode", "standard"), call["bytes"])

    def ends(self, at):
        """Of the path of a send's message."""
        return self.network.ends(at[0], self.schedule.destination(at))

    def entry(self, at):
        """(when the data enters the network, the receiver's delay)."""
        if not self.is_rendezvous(at):
            return self.left(at), 0
        back, delay = self.answered(at)
        return back + self.ends(at).overhead_send, delay

    def request_there(self, at):
        """q"""
        there = self.decided(self.links.there, (*at, self.REQUEST)) if self.meets_others(at) else \
            self.header(at)
        return there + self.ends(at).overhead_recv

    def answer_leaves(self, at):
        """m"""
        receive = self.partner(self.schedule.receive_of, at)
        return max(self.request_there(at), self.enter(receive))

    def answer_back(self, at):
        """n"""
        taken_in = self.ends(at).overhead_recv
        if self.meets_others(at):
            return self.decided(self.links.there, self.answer(at)) + taken_in
        receiver = self.schedule.destination(at)
        return self.answer_leaves(at) + self.network.latency(receiver, at[0], 0) + taken_in

    def answered(self, at):
        """(when the answer to a rendezvous' request is back, the receiver's delay)."""
        return self.answer_back(at), self.answer_leaves(at) - self.request_there(at)

    def meets_others(self, at):
        return self.network.meets_others(at[0], self.schedule.destination(at))

    def sent(self, at):
        """When the last byte of a rendezvous has left."""
        if self.meets_others(at):
            return self.decided(self.links.out, at)
        return self.entry(at)[0] + self.stream(at)

    def arrival(self, at):
        """y: when the last byte is there."""
        if self.meets_others(at):
            return self.decided(self.links.there, at)
        size, to = self.schedule.size(at), self.schedule.destination(at)
        return self.entry(at)[0] + self.network.latency(at[0], to, size) + self.stream(at)

    def stream(self, at):
        return self.network.stream(at[0], self.schedule.destination(at), self.schedule.size(at))

    # Accesses and locks.

    def back_enters(self, at):
        return self.arrival(at) + self.ends(at).overhead_send

    def access_end(self, at):
        if self.meets_others(at):
            return self.decided(self.links.there, self.sent_back(at))
        to, size = self.schedule.destination(at), self.schedule.size_back(at)
        return (self.back_enters(at) + self.network.latency(to, at[0], size) +
                self.network.stream(to, at[0], size))

    def access(self, at, call):
        return self.left(at), self.left(at)

    def lock(self, at, call):
        return self.access_end(at), self.access_end(at)

    @staticmethod
    def decided(times, at):
        if at not in times:
            raise Undecided
        return times[at]

    # Receiving.

    def receive_one(self, at):
        """(when its message is there, what the receiver pays then)."""
        origin = self.partner(self.schedule.send_of, at)
        return self.arrival(origin), self.ends(origin).overhead_recv

    # Every rule below gives (leave, what it would be if nobody had been late).

    def send(self, at, call):
        if not self.schedule.sends(at):
            return self.enter(at), self.enter(at)
        if not self.is_rendezvous(at):
            return self.left(at), self.left(at)
        return self.sent(at), self.sent(at) - self.entry(at)[1]

    def recv(self, at, call):
        start = self.enter(at)
        if not self.schedule.receives(at):
            return start, start
        there, paid = self.receive_one(at)
        return max(start, there) + paid, start + paid

    def sendrecv(self, at, call):
        leave, alone = self.send(at, call)
        if self.schedule.receives(at):
            there, paid = self.receive_one(at)
            leave, alone = max(leave, there) + paid, alone + paid
        return leave, alone

    def isend(self, at, call):
        leave = self.left(at) if self.schedule.sends(at) else self.enter(at)
        return leave, leave

    def irecv(self, at, call):
        return self.enter(at), self.enter(at)

    def wait(self, at, call):
        clock = alone = ends = self.enter(at)
        messages = []
        for order, posted in enumerate(self.schedule.posted[at]):
            if self.schedule.goes_back(posted):
                ends = max(ends, self.request_end(posted))
            elif self.schedule.sends(posted):
                end = self.sent(posted) if self.is_rendezvous(posted) else self.left(posted)
                clock = max(clock, end)
            elif self.schedule.receives(posted):
                there, paid = self.receive_one(posted)
                messages.append((there, order, paid))
        for there, _, paid in sorted(messages):
            clock = max(clock, there) + paid
            alone += paid
        return max(clock, ends), alone


class PortReplay(EndpointReplay):
    """loggps: the endpoints with ports, one message at a time, first come, first served."""

    CALLS = -1  # the event of a send's entry, before the others of its instant

    def __init__(self, machine, schedule, network):
        super().__init__(machine, schedule, network)
        self.send_free = [0] * len(schedule.calls)
        self.receive_free = [0] * len(schedule.calls)
        self.started = {}  # b of a send
        self.data = {}     # b of a rendezvous' data
        self.through = {}  # y; of requests, q
        self.back = {}     # n

    def begin(self, at):
        return self.decided(self.started, at)

    def found(self, at):
        super().found(at)
        if self.schedule.injects(at):
            self.push(self.enter(at), self.CALLS, at)

    def happen(self, event):
        time, kind, *at = event
        at = tuple(at)
        if kind == self.CALLS:
            self.last = event
            self.call_sends(at, time)
        elif kind == self.ENTERS:
            self.last = event
            if at[1] == self.SENT_BACK:
                self.goes_back(at, time)
            elif self.REQUEST not in at and self.is_rendezvous(at) and at not in self.data:
                self.data[at] = self.hold(at[0], time, self.network.outer.g, self.stream(at))
                self.pass_or_wait(at, time, self.data[at])
            else:
                self.pass_port(at, time)
        elif kind == self.ANSWERS:
            self.last = event
            start = self.hold(self.schedule.destination(at), time, self.network.outer.g, 0)
            self.back[at] = start + self.network.outer.l
        else:
            super().happen(event)

    def hold(self, rank, time, gap, held):
        start = max(time, self.send_free[rank])
        self.send_free[rank] = start + gap + held
        return start

    def call_sends(self, at, time):
        meets, asks = self.meets_others(at), self.is_rendezvous(at)
        held = self.stream(at) if meets and not asks else 0
        self.started[at] = self.hold(at[0], time, self.ends(at).g, held)
        if not meets:
            return
        self.pass_or_wait((*at, self.REQUEST) if asks else at, time, self.started[at])
        if asks:
            self.answering.append(at)
            self.entering.append(at)
        if self.schedule.goes_back(at):
            self.returning.append(at)

    def goes_back(self, at, time):
        stream = self.network.stream(at[0], at[3], self.schedule.size_back(at[3:]))
        if at not in self.data:
            self.data[at] = self.hold(at[0], time, self.network.outer.g, stream)
            return self.pass_or_wait(at, time, self.data[at])
        self.pass_port(at, time)

    def back_enters(self, at):
        return self.arrival(at) if self.meets_others(at) else super().back_enters(at)

    def access_end(self, at):
        if self.meets_others(at):
            return self.decided(self.through, self.sent_back(at))
        return super().access_end(at)

    def pass_or_wait(self, at, time, start):
        if start == time:
            self.pass_port(at, time)
        else:
            self.push(start, self.ENTERS, at)

    def pass_port(self, at, start):
        if at[1] == self.SENT_BACK:
            to, held = at[3], self.network.stream(at[0], at[3], self.schedule.size_back(at[3:]))
        else:
            to = self.schedule.destination(at[:2])
            held = 0 if self.REQUEST in at else self.stream(at)
        first = start + self.network.outer.overhead_send + self.network.outer.l
        self.through[at] = max(first, self.receive_free[to]) + held
        self.receive_free[to] = self.through[at] + self.network.outer.g

    def entry(self, at):
        if self.meets_others(at) and self.is_rendezvous(at):
            return self.answered(at)  # when the data comes to the port
        return super().entry(at)

    def request_there(self, at):
        if self.meets_others(at):
            return self.decided(self.through, (*at, self.REQUEST)) + self.network.outer.overhead_recv
        return super().request_there(at)

    def answer_back(self, at):
        if self.meets_others(at):
            return self.decided(self.back, at) + self.network.outer.overhead_recv
        return super().answer_back(at)

    def sent(self, at):
        if not self.meets_others(at):
            return super().sent(at)
        return self.decided(self.data, at) + self.network.outer.overhead_send + self.stream(at)

    def arrival(self, at):
        return self.decided(self.through, at) if self.meets_others(at) else super().arrival(at)


class Result:
    """Per rank (finish, [(leave, wait) of each call]); `doubtful` if rounding or the order of
    simultaneous things may go either way."""

    def __init__(self, times, doubtful):
        self.times = times
        self.doubtful = doubtful


def replay(machine, data):
    """Runs a machine and a schedule, both JSON objects. Raises Stuck on a deadlock."""
    model = reference.Machine(machine)
    network = Network(data["network"], model)
    kind = {"datasheet": DatasheetReplay, "loggps": PortReplay}.get(network.kind, EndpointReplay)
    replaying = kind(model, Schedule(data), network)
    try:
        times = replaying.run()
    except Undecided:
        raise Stuck("a decision is never taken") from None
    return Result(times, model.doubtful or replaying.simultaneous)


def run_deep(work):
    """The result of work(); deep schedules need deep stacks."""
    sys.setrecursionlimit(1_000_000)
    threading.stack_size(512 * 1024 * 1024)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: reference_networks.py MACHINE.json SCHEDULE.json")
    with open(sys.argv[1]) as machine, open(sys.argv[2]) as schedule:
        inputs = json.load(machine), json.load(schedule)
    for finish, _ in run_deep(lambda: replay(*inputs)).times:
        print(finish)


if __name__ == "__main__":
    main()
