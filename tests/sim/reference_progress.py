"""When ranks are in MPI (docs/theory.md, "Receivers that compute"), for reference.py."""

import bisect
import math

from reference_tables import WAITS_FOR

LEAST_MESSAGE = 1  # ps
MOVES = ("recv", "sendrecv", "probe", "wait", "access", "flush", "lock")


class Always:
    """No rank is ever outside MPI."""

    def from_(self, rank, time):
        return time

    def has_entered(self, call, time):
        return True


ALWAYS = Always()


class InMpi:
    """By the times of a replay."""

    def __init__(self, replay):
        self.enters, self.leaves, self.entered = [], [], {}
        for rank, calls in enumerate(replay.schedule.calls):
            self.entered.update({(rank, index): replay.enter((rank, index)) for index in range(len(calls))})
            spans = [(0, 0)]  # MPI_Init
            spans += [(replay.enter(at), replay.leave(at) - replay.unpacked[at]) for at in
                      ((rank, index) for index in range(len(calls) - 1)) if moves(replay, at)]
            spans.append((replay.enter((rank, len(calls) - 1)), math.inf))
            self.enters.append([enter for enter, _ in spans])
            self.leaves.append([leave for _, leave in spans])

    def __eq__(self, other):
        return isinstance(other, InMpi) and self.entered == other.entered and self.leaves == other.leaves

    def from_(self, rank, time):
        """A(rank, time): the first moment from `time` on at which the rank is in MPI."""
        return max(time, self.enters[rank][bisect.bisect_left(self.leaves[rank], time)])

    def has_entered(self, call, time):
        """Whether the rank of the call, (rank, index), had entered it by then."""
        return self.entered[call] <= time


def moves(replay, at):
    """Does this call wait or look, so that messages to its rank move in it?"""
    call = replay.schedule.call(at)
    if call["op"] == "send" and call["to"] >= 0:
        rules, mode, size = replay.rules_of(at), call.get("mode", "standard"), call["bytes"]
        return rules.meets(mode, size) or rules.attends(mode, size)
    return call["op"] in MOVES or (call["op"] in WAITS_FOR and "request" not in call)
