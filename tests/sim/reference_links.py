"""Links that messages share, slowly and exactly, for reference_networks.py: the networks `bus`,
`flow` and `packet` of docs/networks.md.

A message (a tuple: the sending rank, and whatever tells it from others) enters at a time, never
earlier than the last one, as do requests and answers, which are empty; due() is when something
happens next, if that is known; end(time) lets happen what is due then. `out` tells when a message's
last byte has left its source, `there` when it is at its destination.
"""

import math
from fractions import Fraction

import reference

PS = 10**12


class Medium:
    """The bus: one message after the other."""

    def __init__(self, network):
        self.network = network
        self.free = 0
        self.entered = 0
        self.waiting = []  # (time, node, number, message, destination, bytes)
        self.out = {}      # by message: when its last byte has left
        self.there = {}    # and when it is there

    def enter(self, at, time, to, size, _=False):
        self.waiting.append((time, self.network.node(at[0]), self.entered, at, to, size))
        self.entered += 1

    def due(self):
        """When the first message has left that waits."""
        if not self.waiting:
            return None
        time, _, _, at, to, size = min(self.waiting)
        return max(time, self.free) + self.network.stream(at[0], to, size)

    def end(self, time):
        self.free = time
        first = min(self.waiting)
        self.waiting.remove(first)
        _, _, _, at, to, size = first
        self.out[at] = time
        self.there[at] = time + self.network.latency(at[0], to, size)


class Connection:
    """Messages of one sending and one receiving rank: (message, bytes, whether it may pause)."""

    def __init__(self):
        self.current = None
        self.first, self.later = [], []  # requests, answers, eager messages; data of rendezvous


class Flows:
    """Messages that share links max-min fairly. Between two of the times at which a message
    enters or ends all rates are constant."""

    def __init__(self, network):
        self.network = network
        self.now = 0
        self.lines = {}    # by sending and receiving rank
        self.pausing = set()
        self.routes = {}   # of the messages under way: the names of their links
        self.left = {}     # bytes
        self.buckets = {}  # by link: [ps that it lacks, since when]
        self.rates = {}    # bytes per second
        self.ends = {}     # when all will be sent, as long as rates stay as they are
        self.speeds = {}   # by link: bytes per second
        self.out, self.there = {}, {}

    def enter(self, at, time, to, size, in_pieces=False):
        self.go_to(time)
        line = self.lines.setdefault((at[0], to), Connection())
        if line.current is None:  # what goes behind others is in one stream of bytes with them
            size += self.network.topology.header
        (line.later if in_pieces else line.first).append((at, size, in_pieces))
        if line.current is None:
            self.begin(line, to)
            self.share()
        elif not in_pieces and line.current[2]:
            self.pause(line)

    def pause(self, line):
        """What is under way leaves the rest when it has sent the piece that it is at."""
        at, size, _ = line.current
        piece = self.network.piece
        sent = size - self.left[at]
        if sent > 0 and min(sent % piece, -sent % piece) < Fraction(1, 1000):
            self.network.machine.doubtful = True
        rest = size - (sent // piece + 1) * piece
        line.current = (at, size, False)
        if rest > 0:
            self.left[at] -= rest
            self.ends.pop(at, None)
            self.pausing.add(at)
            line.later.insert(0, (at, rest, True))

    def begin(self, line, to):
        """The first of the line flows; what takes no time makes room for the next one."""
        while line.first or line.later:
            line.current = (line.first or line.later).pop(0)
            at, size, _ = line.current
            links = [(name, per_byte) for name, _, per_byte in self.network.route(at[0], to)
                     if per_byte > 0]
            at_once = self.take_burst(links, size)
            if size > at_once and links:
                self.speeds.update((name, 1 / per_byte) for name, per_byte in links)
                self.routes[at] = {name for name, _ in links}
                self.left[at] = Fraction(size - at_once)
                for name, _ in links:
                    self.buckets[name][1] = self.now
                return
            self.ended(at, self.now, to)
        line.current = None

    def take_burst(self, links, size):
        """What passes at once: as much as all the links' buckets have, each of which fills while
        nothing is under way on its link. What a bucket lacks is counted in whole ps."""
        taken = size
        for name, per_byte in links:
            bucket = self.buckets.setdefault(name, [0, self.now])
            if not any(name in route for route in self.routes.values()):
                bucket[0] = max(0, bucket[0] - (self.now - bucket[1]))
            bucket[1] = self.now
            burst = self.network.topology.burst
            taken = min(taken, max(0, burst - math.ceil(bucket[0] / float(per_byte * PS))))
        for name, per_byte in links:
            self.buckets[name][0] += reference.half_away(taken * per_byte * PS)
        return taken

    def ended(self, at, time, to):
        self.out[at] = time
        self.there[at] = time + self.network.latency(at[0], to, 0)

    def end_of(self, at):
        if at not in self.ends:
            self.ends[at] = reference.half_away(self.now + self.left[at] / self.rates[at] * PS)
        return self.ends[at]

    def due(self):
        return min(map(self.end_of, self.left), default=None)

    def end(self, time):
        over = [at for at in self.left if self.end_of(at) == time]
        self.go_to(time)
        for at in over:
            for name in self.routes[at]:
                self.buckets[name][1] = time
            del self.left[at], self.routes[at]
        for (_, to), line in self.lines.items():
            if line.current and line.current[0] in over:
                at = line.current[0]
                if at in self.pausing:
                    self.pausing.remove(at)
                else:
                    self.ended(at, time, to)
                self.begin(line, to)
        self.share()

    def go_to(self, time):
        for at in self.left:
            self.left[at] -= self.rates[at] * (time - self.now) / PS
        self.now = time

    def share(self):
        """All rates grow together; those through a link that is full stay as they are."""
        self.rates = dict.fromkeys(self.routes, Fraction(0))
        self.ends = {}
        room = {link: self.speeds[link] for route in self.routes.values() for link in route}
        growing = set(self.routes)
        while growing:
            users = {}
            for at in growing:
                for link in self.routes[at]:
                    users[link] = users.get(link, 0) + 1
            most = min(room[link] / count for link, count in users.items())
            for at in growing:
                self.rates[at] += most
            for link, count in users.items():
                room[link] -= most * count
            full = {link for link in users if room[link] == 0}
            growing = {at for at in growing if not self.routes[at] & full}


class Packet:
    def __init__(self, message, size, number, last, route):
        self.message = message
        self.size = size
        self.number = number  # in its message
        self.last = last    # of its message
        self.route = route  # (name, start-up, seconds per byte) of each link
        self.position = 0   # in the route: the link that it waits for or is on
        self.key = None     # when it came to the node, and what goes first at the same time

    def link(self):
        return self.route[self.position][0]


class Packets:
    """Every change of state is an event; at each instant all changes happen first, then every link
    that can start a packet does. Minimal routes; topologies whose routes cannot wait in a circle,
    but for rings."""

    def __init__(self, network):
        self.network = network
        self.out = {}      # by message: its last packet has left the source
        self.there = {}    # by message: its last packet is at the destination
        self.changes = {}  # by time: a list of ("left" or "arrives", packet, position)
        self.waiting = {}  # by link: packets
        self.sending = set()
        self.taken = {}    # by link: places taken in the buffer at its end
        self.own = {}        # by link: messages of its source, their packets that have not come yet
        self.own_waits = {}  # by link: whether one of them waits or is on the link
        self.full_at = {}    # by link: when its bucket is full
        self.known = {}      # by link and bytes: what they take
        self.leaves = {}     # by message: when its last packet leaves the source
        self.sent = {}       # by sending and receiving rank: messages

    def enter(self, message, time, to, size, in_pieces=False):
        route = self.network.route(message[0], to)
        before = self.sent.setdefault((message[0], to), [])
        if all(self.leaves.get(other, math.inf) <= time for other in before):
            size += self.network.topology.header
        before.append(message)
        most = self.network.packet_size
        sizes = [min(most, size - start) for start in range(0, size, most)] or [1]
        own = []
        for number, part in enumerate(sizes):
            packet = Packet(message, part, number, number == len(sizes) - 1, route)
            own.append(packet)
        self.own.setdefault(packet.link(), []).append((own, in_pieces))
        if not self.own_waits.get(packet.link()):
            self.next_own(time, packet.link())
        self.start_all(time)

    def next_own(self, time, link):
        """The source's next packet comes to the node when the one before has left."""
        queue = self.own[link]
        self.own_waits[link] = bool(queue)
        if self.own_waits[link]:
            packets, in_pieces = queue[0]
            packet = packets.pop(0)
            if not packets:
                queue.pop(0)
            elif in_pieces and self.ends_piece(packet.number):
                queue.append(queue.pop(0))
            packet.key = (time, 1, 0)
            self.waiting.setdefault(link, []).append(packet)

    def ends_piece(self, number):
        """Each piece is of the same number of packets, the fewest that have so many bytes."""
        packets = -(-self.network.piece // self.network.packet_size)
        return (number + 1) % packets == 0

    def due(self):
        return min(self.changes, default=None)

    def end(self, time):
        for what, packet, position in self.changes.pop(time):
            getattr(self, what)(time, packet, position)
        self.start_all(time)

    def left(self, time, packet, position):
        self.sending.discard(packet.route[position][0])
        if position > 0:
            self.taken[packet.route[position - 1][0]] -= 1
        else:
            if packet.last:
                self.out[packet.message] = time
            self.next_own(time, packet.link())

    def arrives(self, time, packet, position):
        link = packet.route[position][0]
        if position == len(packet.route) - 1:
            self.taken[link] -= 1
            if packet.last:
                self.there[packet.message] = time
            return
        packet.position += 1
        packet.key = (time, 0, self.network.topology.link_order(link))
        self.waiting.setdefault(packet.link(), []).append(packet)

    def start_all(self, time):
        for link, packets in self.waiting.items():
            if link in self.sending:
                continue
            free = self.network.buffer - self.taken.get(link, 0)
            may_start = [p for p in packets if free >= (2 if self.enters_ring(p) else 1)]
            if not may_start:
                continue
            packet = min(may_start, key=lambda p: p.key)
            packets.remove(packet)
            self.start(time, packet)

    def enters_ring(self, packet):
        ring = self.network.topology.ring_of(packet.link())
        if ring is None:
            return False
        before = packet.position - 1
        return before < 0 or self.network.topology.ring_of(packet.route[before][0]) != ring

    def start(self, time, packet):
        link, start_up, per_byte = packet.route[packet.position]
        self.sending.add(link)
        self.taken[link] = self.taken.get(link, 0) + 1
        if (link, packet.size) not in self.known:
            self.known[(link, packet.size)] = [
                self.network.rounded(exact) for exact in
                (packet.size * per_byte * PS, self.network.topology.burst * per_byte * PS, start_up)]
        takes, depth, later = self.known[(link, packet.size)]
        self.full_at[link] = max(self.full_at.get(link, 0), time) + takes
        left = max(time, self.full_at[link] - depth)
        if packet.last and packet.position == 0:
            self.leaves[packet.message] = left
        there = left + later
        self.changes.setdefault(left, []).append(("left", packet, packet.position))
        self.changes.setdefault(there, []).append(("arrives", packet, packet.position))
