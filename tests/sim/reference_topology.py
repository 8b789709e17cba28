"""Routes of small topologies, written from docs/topology.md, for reference_networks.py.

A route is a list of links (name, latency, bandwidth): names are equal where two routes use the same
link in the same direction. Latencies in ps, bandwidths in B/s, None where nobody gives them.
"""

import math
import re
from fractions import Fraction


def along_line(a, b):
    step = 1 if b > a else -1
    return [(x, x + step) for x in range(a, b, step)]


def around_ring(a, b, side):
    """The shorter way round; rising numbers where both are equal."""
    rising = (b - a) % side
    step, count = (1, rising) if 2 * rising <= side else (-1, side - rising)
    return [((a + step * i) % side, (a + step * (i + 1)) % side) for i in range(count)]


def through_grid(a, b, sides, ring):
    """Dimension order, the last dimension (which changes fastest) first."""
    links, stride = [], 1
    for side in reversed(sides):
        x, y = a // stride % side, b // stride % side
        for u, v in around_ring(x, y, side) if ring else along_line(x, y):
            links.append((a + (u - x) * stride, a + (v - x) * stride))
        a += (y - x) * stride
        stride *= side
    return links


def through_cube(a, b):
    links, bit = [], 1
    while a != b:
        if (a ^ b) & bit:
            links.append((a, a ^ bit))
            a ^= bit
        bit *= 2
    return links


def through_tree(a, b, children, parents):
    """Up to the common ancestor and down. A switch of level l is named by the subtree below it and
    by which parent was taken at each level: number (b / (w1..wl)) mod w(l+1)."""
    height = next(h for h in range(len(children) + 1)
                  if a // math.prod(children[:h]) == b // math.prod(children[:h]))
    taken = [b // math.prod(parents[:level]) % parents[level] for level in range(height)]

    def ends(of, level):
        below, above = of // math.prod(children[:level]), of // math.prod(children[:level + 1])
        return (level, below, *taken[:level]), (level + 1, above, *taken[:level + 1])

    up = [ends(a, level) for level in range(height)]
    down = [ends(b, level)[::-1] for level in reversed(range(height))]
    return up + down


def through_omega(a, b, size):
    """Between the stages a line's number is rotated left; a stage sets its last bit to the
    destination's next one, the highest first."""
    stages = size.bit_length() - 1
    line, links = a, [("line", 0, a)]
    for stage in range(stages):
        line = line * 2 % size | b >> (stages - 1 - stage) & 1
        links.append(("line", stage + 1, line))
    return links


def links_between(kind, sizes, a, b):
    """The links' names from processor a to another one, b."""
    numbers = [int(size) for size in re.findall(r"\d+", sizes)]
    if kind == "full":
        return [(a, b)]
    if kind == "bus":
        return ["medium"]  # the passage is one hop
    if kind == "crossbar":
        return [(a, numbers[0]), (numbers[0], b)]
    if kind == "star":
        return [(a, b)] if 0 in (a, b) else [(a, 0), (0, b)]
    if kind in ("ring", "torus"):
        return through_grid(a, b, numbers, True)
    if kind in ("array", "mesh"):
        return through_grid(a, b, numbers, False)
    if kind == "hypercube":
        return through_cube(a, b)
    if kind == "tree":
        return through_tree(a, b, [numbers[0]] * numbers[1], [1] * numbers[1])
    if kind == "fattree":
        levels = numbers[1]
        return through_tree(a, b, [numbers[0]] * levels, [1] + [numbers[0]] * (levels - 1))
    if kind == "xgft":
        height = numbers[0]
        return through_tree(a, b, numbers[1:1 + height], numbers[1 + height:])
    if kind == "omega":
        return through_omega(a, b, numbers[0])
    raise ValueError(f"no such topology: {kind}")


class Expression:
    """KIND:SIZES?KEY=VALUE&KEY=VALUE, latencies in ps, bandwidths in B/s, burst and header in bytes."""

    def __init__(self, text):
        shape, _, options = text.partition("?")
        self.kind, _, self.sizes = shape.partition(":")
        options = dict(option.split("=") for option in options.split("&") if option)
        self.ranks_per_node = int(options.get("ranks_per_node", 1))
        self.speed = self.read(options, "latency"), self.read(options, "bandwidth")
        self.burst = int(options.get("burst", 0))
        self.header = int(options.get("header", 0))
        self.inside = self.read(options, "intra_latency"), self.read(options, "intra_bandwidth")
        rings = self.kind in ("ring", "torus")
        self.sides = [int(size) for size in reversed(self.sizes.split("x"))] if rings else []

    @staticmethod
    def read(options, key):
        if key not in options:
            return None
        number = re.fullmatch(r"([0-9.e+]+)(ps|B/s)", options[key]).group(1)
        return Fraction(float(number))

    def route(self, a, b):
        return [(name, *self.speed) for name in links_between(self.kind, self.sizes, a, b)]

    def first_link(self):
        return self.speed

    @staticmethod
    def link_order(link):
        """Links are numbered by from and to."""
        return link

    def ring_of(self, link):
        """What ring of three nodes or more the link belongs to, if any: its dimension."""
        stride = 1
        for side in self.sides:
            if link[0] // stride % side != link[1] // stride % side:
                return stride if side > 2 else None
            stride *= side
        return None


class Graph:
    """Links one by one: fewest hops, the lowest-numbered next node where several are equal."""

    ranks_per_node = 1
    inside = None, None
    burst = 0
    header = 0

    def __init__(self, data):
        self.nodes = data["processors"] + data["switches"]
        self.speeds = {(a, b): (Fraction(latency), Fraction(bandwidth))
                       for a, b, latency, bandwidth in data["links"]}

    def distances(self, to):
        known = {to: 0}
        for _ in range(self.nodes):
            for a, b in self.speeds:
                if b in known:
                    known[a] = min(known.get(a, self.nodes), known[b] + 1)
        return known

    def route(self, a, b):
        distance, links = self.distances(b), []
        while a != b:
            following = min(y for x, y in self.speeds
                            if x == a and distance.get(y) == distance[a] - 1)
            links.append(((a, following), *self.speeds[(a, following)]))
            a = following
        return links

    def first_link(self):
        return self.speeds[min(self.speeds)]

    @staticmethod
    def link_order(link):
        return link

    @staticmethod
    def ring_of(_):
        return None
