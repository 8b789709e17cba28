"""What calls cost on a machine of reference.py, from docs/theory.md."""

import math
from fractions import Fraction

from reference_tables import BACK, OUT, STAND_INS


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
        self.attended_from = data.get("attended_from")
        self.functions = data["functions"]
        self.pieces = data.get("pieces", {})
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

    def rounded(self, value):
        """The nearest integer of what was computed in double."""
        if abs(abs(value) % 1 - 0.5) < 1e-6:
            self.doubtful = True
        return math.floor(value + 0.5)

    def in_pieces(self, side, size, piece):
        """What all pieces of a message take together."""
        known = {int(length): times for length, times in self.pieces.get(side, {}).items()}
        if not known or size == 0:
            return 0
        lengths = sorted(known)
        if len(lengths) == 1 or piece <= lengths[0]:
            return self.rounded(self.one_piece(known, lengths[0], size) * size / piece)
        if piece >= lengths[1]:
            return self.rounded(self.one_piece(known, lengths[1], size) * size / piece)
        share = math.log(piece / lengths[0]) / math.log(lengths[1] / lengths[0])
        one = ((1 - share) * self.one_piece(known, lengths[0], size)
               + share * self.one_piece(known, lengths[1], size))
        return self.rounded(one * size / piece)

    def one_piece(self, known, length, size):
        times = known[length]
        if size >= times[-1][0]:
            return times[-1][1] * length / times[-1][0]
        if size <= times[0][0]:
            return self.rounded(times[0][1] * size / times[0][0]) * length / size
        (a, low), (b, high) = next(pair for pair in zip(times, times[1:]) if pair[1][0] >= size)
        more = (high - low) * (size - a) / (b - a)
        return (low + (self.rounded(more) if more >= 0 else -self.rounded(-more))) * length / size

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

    def attends(self, mode, size):
        """Is such a send over only once its receiver is in MPI?"""
        if self.attended_from is None or mode == "buffered":
            return False
        return mode == "synchronous" or size >= self.attended_from

    def has_attended(self):
        return self.attended_from is not None or self.inside.attended_from is not None


class NodePath(Machine):
    """Own equations first, then the outer path's."""

    def __init__(self, data, outer):
        own = data["node"]
        super().__init__({key: value for key, value in data.items() if key != "node"})
        self.functions = own["functions"]
        self.pieces = own.get("pieces", self.pieces)
        if own["sync_threshold"] is not None:
            self.threshold = own["sync_threshold"]
        if own.get("attended_from") is not None:
            self.attended_from = own["attended_from"]
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
        self.attended_from = inside.attended_from

    def regimes(self, name):
        return self.within.regimes(name)

    def factor(self, regimes):
        return next((Fraction(self.own.get(name, 1)) for name, own in self.within.functions.items()
                     if own is regimes), 1)

    def cost(self, name, size, p=2):
        time = super().cost(name, size, p)
        self.outer.doubtful = self.outer.doubtful or self.doubtful
        return time
