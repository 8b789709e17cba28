"""A network's parameters, for reference_networks.py: what one message needs alone."""

import functools
from fractions import Fraction

import reference
import reference_topology

PS = 10**12


class Ends:
    """What a path's ranks pay: L, o_s, o_r, g, G and S."""

    def __init__(self, data, machine):
        cost = machine.cost
        self.overhead_send = data.get("os", cost("send", 1))
        self.overhead_recv = data.get("or", cost("recv", 1))
        if "or" not in data:
            self.overhead_recv = cost("recvmin", 1)
        self.l = data.get("L", max(0, cost("recv", 1) - self.overhead_send - self.overhead_recv))
        self.g = data.get("g", 0)
        per_byte = Fraction(max(0, cost("recv", 65536) - cost("recv", 1)), 65535 * PS)
        self.per_byte = Fraction(data["G"]) if "G" in data else per_byte
        self.threshold = data.get("S", machine.threshold)

    def meets(self, mode, size):
        if mode == "synchronous":
            return True
        return mode != "buffered" and self.threshold is not None and size >= self.threshold


class Network:
    """What a message of k bytes from rank a to rank b needs when nobody else is there."""

    def __init__(self, data, machine):
        self.kind = data["kind"]
        self.machine = machine
        self.nodes = None  # by rank, if the schedule says it
        self.outer = Ends(data, machine)
        # What the schedule says is of the outer path.
        self.inside = Ends({}, machine.inside) if machine.inside is not machine else self.outer
        self.cut_through = data.get("cut_through", False)
        self.block = data.get("block")
        self.packet_size = data.get("packet_size", 2048)
        self.buffer = data.get("buffer", 16)
        self.piece = data.get("piece", 131072)
        self.topology = None
        if "topology" in data:
            self.topology = reference_topology.Expression(data["topology"])
        elif "graph" in data:
            self.topology = reference_topology.Graph(data["graph"])
        self.route = functools.lru_cache(None)(self.find_route)
        self.latency = functools.lru_cache(None)(self.find_latency)
        self.stream = functools.lru_cache(None)(self.find_stream)

    def ends(self, a, b):
        """On the path between two ranks."""
        return self.inside if self.node(a) == self.node(b) else self.outer

    def rounded(self, exact):
        """A sum of products in picoseconds, computed in double by the engine."""
        if exact != int(exact) and abs(exact % 1 - Fraction(1, 2)) < exact / 10**14:
            self.machine.doubtful = True
        return reference.half_away(exact)

    def gap_stream(self, size, ends):
        return self.rounded(max(0, size - 1) * ends.per_byte * PS)

    def node(self, rank):
        if self.nodes is not None:
            return self.nodes[rank]
        return rank if self.topology is None else rank // self.topology.ranks_per_node

    @property
    def is_shared(self):
        return self.kind in ("bus", "flow", "packet")

    @property
    def has_ports(self):
        return self.kind == "loggps"

    def meets_others(self, a, b):
        """On shared links or at ports."""
        return (self.is_shared or self.has_ports) and self.node(a) != self.node(b)

    def medium(self):
        """Latency in ps and seconds per byte."""
        latency, bandwidth = self.topology.first_link() if self.topology else (None, None)
        return (self.outer.l if latency is None else latency,
                self.outer.per_byte if bandwidth is None else 1 / bandwidth)

    def find_route(self, a, b):
        """(name, start-up, seconds per byte) of each link."""
        return [(name, self.outer.l if latency is None else latency,
                 self.outer.per_byte if bandwidth is None else 1 / bandwidth)
                for name, latency, bandwidth in self.topology.route(self.node(a), self.node(b))]

    def find_latency(self, a, b, size):
        if a == b:
            return 0
        if self.node(a) == self.node(b):
            inside = self.topology.inside[0] if self.topology else None
            return self.inside.l if inside is None else self.rounded(inside)
        if self.kind == "loggps":
            return self.outer.l
        if self.kind == "bus":
            return self.rounded(self.medium()[0])
        if self.kind == "packet":  # an empty message is a packet of one byte
            burst = self.topology.burst
            return sum(self.rounded(start_up) + max(0, self.rounded(per_byte * PS) -
                                                    self.rounded(burst * per_byte * PS))
                       for _, start_up, per_byte in self.route(a, b))
        blocks = 1
        if self.kind == "hops" and not self.cut_through and self.block is not None:
            blocks = max(1, -(-size // self.block))
        return self.rounded(sum(start_up * blocks for _, start_up, _ in self.route(a, b)))

    def find_stream(self, a, b, size):
        if a == b:
            return 0
        if self.node(a) == self.node(b):
            inside = self.topology.inside[1] if self.topology else None
            return self.gap_stream(size, self.inside) if inside is None else self.rounded(size / inside * PS)
        if self.kind == "loggps":
            return self.gap_stream(size, self.outer)
        if self.kind == "bus":
            return self.rounded(size * self.medium()[1] * PS)
        times = [size * per_byte * PS for _, _, per_byte in self.route(a, b)]
        return self.rounded(max(times) if self.cut_through else sum(times))
