#!/usr/bin/env python3
"""Compares collectives with a count for each rank with the messages that they are made of.

    random_parts.py REPLAY_SCHEDULE [--count N] [--first SEED] [--kind KIND]

The engine gets the collectives and their counts; reference_networks.py gets the messages, which are
written down here from docs/collectives.md alone. Every call must leave when its last message does,
to the last picosecond.
"""

import json
import random
import sys

import random_networks
import random_schedules

KINDS = ["loggps", "hops", "bus", "flow", "packet"]
SIZES = [0, 0, 1, 30, 500, 1000, 4000, 33_000, 70_000, 100_001]
PIECE = 32 * 1024


class Moves:
    """What one rank does for its part: steps, each a list of (send or recv, partner, bytes).
    `posted`: all steps are posted, and waited for at the end."""

    def __init__(self, steps, posted=False):
        self.steps = [step for step in steps if step]
        self.posted = posted


def sends(to, size):
    return ("send", to, size)


def receives(source, size):
    return ("recv", source, size)


# Each gives the moves of all ranks.

def gatherv(parts, root, posted):
    at_root = [[receives(r, n)] for r, n in enumerate(parts) if r != root and n > 0]
    return [Moves(at_root, posted) if r == root else Moves([[sends(root, n)] if n > 0 else []])
            for r, n in enumerate(parts)]


def scatterv(parts, root, posted):
    at_root = [[sends(r, n)] for r, n in enumerate(parts) if r != root and n > 0]
    return [Moves(at_root, posted) if r == root else Moves([[receives(root, n)] if n > 0 else []])
            for r, n in enumerate(parts)]


def alltoallv_posted(rows, empty=False):
    """Receives upwards from the next rank, sends downwards. `empty`: also for parts of no bytes."""
    p = len(rows)
    moves = []
    for me in range(p):
        up = [(me + i) % p for i in range(1, p)]
        down = [(me - i) % p for i in range(1, p)]
        steps = [[receives(r, rows[r][me])] for r in up if rows[r][me] > 0 or empty]
        steps += [[sends(r, rows[me][r])] for r in down if rows[me][r] > 0 or empty]
        moves.append(Moves(steps, True))
    return moves


def alltoallv_pairwise(rows):
    p = len(rows)
    return [Moves([[sends((me + k) % p, rows[me][(me + k) % p]),
                    receives((me - k) % p, rows[(me - k) % p][me])] for k in range(1, p)])
            for me in range(p)]


def alltoallv_exchange(rows):
    p = len(rows)
    if p & (p - 1):
        return alltoallv_pairwise(rows)
    return [Moves([[sends(me ^ k, rows[me][me ^ k]), receives(me ^ k, rows[me ^ k][me])]
                   for k in range(1, p)]) for me in range(p)]


def gathered(parts, rounds):
    """Of an allgather: `rounds` gives for each round and rank (to, blocks sent); who sends to whom
    is who receives from whom."""
    steps = [[] for _ in parts]
    for plan in rounds:
        comes = {to: (me, blocks) for me, (to, blocks) in enumerate(plan)}
        for me, (to, blocks) in enumerate(plan):
            source, coming = comes[me]
            steps[me].append([sends(to, sum(parts[b] for b in blocks)),
                              receives(source, sum(parts[b] for b in coming))])
    return [Moves(each) for each in steps]


def ring(parts):
    p = len(parts)
    return gathered(parts, [[((me + 1) % p, [(me - k) % p]) for me in range(p)]
                            for k in range(p - 1)])


def bruck(parts):
    p, rounds, distance = len(parts), [], 1
    while distance < p:
        count = min(distance, p - distance)
        rounds.append([((me - distance) % p, [(me + i) % p for i in range(count)])
                       for me in range(p)])
        distance *= 2
    return gathered(parts, rounds)


def doubling(parts):
    p = len(parts)
    if p & (p - 1):
        return bruck(parts)
    have, rounds = [[me] for me in range(p)], []
    for k in range(p.bit_length() - 1):
        rounds.append([(me ^ 1 << k, have[me]) for me in range(p)])
        have = [have[me] + have[me ^ 1 << k] for me in range(p)]
    return gathered(parts, rounds)


def neighbours(parts):
    """Pairs swap, now to one side, now to the other; first one part each, then both parts of the
    first pair, then what came last."""
    p = len(parts)
    if p % 2:
        return ring(parts)
    rounds, last = [], [[me] for me in range(p)]
    for k in range(p // 2):
        upwards = [(me + k) % 2 == 0 for me in range(p)]
        partner = [(me + 1 if upwards[me] else me - 1) % p for me in range(p)]
        rounds.append([(partner[me], last[me]) for me in range(p)])
        last = [last[me] + last[partner[me]] if k == 0 else last[partner[me]] for me in range(p)]
    return gathered(parts, rounds)


def pipelined(parts):
    """As the ring, but in pieces; each rank has a list of what it sends and one of what it gets,
    and goes through both at once. A part of no bytes is one piece, for which nothing is done."""
    p = len(parts)
    most = max(min(parts), PIECE)

    def pieces(first):
        for i in range(p - 1):
            size = parts[(first - i) % p]
            yield from [most] * (size // most)
            if size % most or size == 0:
                yield size % most

    moves = []
    for me in range(p):
        out, into = list(pieces(me)), list(pieces((me - 1) % p))
        steps = []
        for k in range(max(len(out), len(into))):
            step = [sends((me + 1) % p, out[k])] if k < len(out) and out[k] else []
            if k < len(into) and into[k]:
                step.append(receives((me - 1) % p, into[k]))
            steps.append(step)
        moves.append(Moves(steps))
    return moves


def scattered_pairwise(parts):
    p = len(parts)
    return [Moves([[sends((me + k) % p, parts[(me + k) % p]), receives((me - k) % p, parts[me])]
                   for k in range(1, p)]) for me in range(p)]


def scattered_ring(parts):
    p = len(parts)
    return [Moves([[sends((me + 1) % p, parts[(me - k) % p]),
                    receives((me - 1) % p, parts[(me - k - 1) % p])] for k in range(1, p)])
            for me in range(p)]


def halving(parts):
    """The even ranks of the first pairs give all they have to the odd ones, which work for both."""
    p = len(parts)
    power = 1 << (p.bit_length() - 1)
    rest = p - power
    total = sum(parts)
    workers = [2 * i + 1 if i < rest else i + rest for i in range(power)]
    worth = [parts[w] + (parts[w - 1] if i < rest else 0) for i, w in enumerate(workers)]
    steps = [[] for _ in parts]
    for i in range(rest):
        steps[2 * i].append([sends(2 * i + 1, total)])
        steps[2 * i + 1].append([receives(2 * i, total)])

    def split(first, count):
        if count == 1:
            return
        half = count // 2
        for i in range(half):
            low, high = workers[first + i], workers[first + half + i]
            lower, upper = sum(worth[first:first + half]), sum(worth[first + half:first + count])
            for me, other, out, into in ((low, high, upper, lower), (high, low, lower, upper)):
                steps[me].append(([sends(other, out)] if out else []) +
                                 ([receives(other, into)] if into else []))
        split(first, half)
        split(first + half, half)

    split(0, power)
    for i in range(rest):
        if parts[2 * i]:
            steps[2 * i + 1].append([sends(2 * i, parts[2 * i])])
            steps[2 * i].append([receives(2 * i + 1, parts[2 * i])])
    return [Moves(each) for each in steps]


ROOTED = {"linear": False, "linear_posted": True}
ALLGATHERV = {"ring": ring, "bruck": bruck, "recursive_doubling": doubling,
              "neighbour_exchange": neighbours, "pipelined_ring": pipelined}
ALLTOALLV = {"linear": alltoallv_posted, "scattered": alltoallv_posted,
             "pairwise": alltoallv_pairwise, "pairwise_exchange": alltoallv_exchange}
REDUCE_SCATTER = {"pairwise": scattered_pairwise, "ring": scattered_ring,
                  "recursive_halving": halving}


def told(counts, each_knows_its_own):
    return len(set(counts)) > 1 or (each_knows_its_own and counts[0] == 0)


class Case:
    """The same program twice: with collectives, and with messages."""

    def __init__(self, rng, ranks):
        self.rng = rng
        self.comms = [list(range(ranks))]
        for _ in range(rng.randint(0, 2)):
            self.comms.append(rng.sample(range(ranks), rng.randint(1, ranks)))
        self.chosen = {"gatherv": rng.choice(list(ROOTED)), "scatterv": rng.choice(list(ROOTED)),
                       "allgatherv": rng.choice(list(ALLGATHERV)),
                       "alltoallv": rng.choice(list(ALLTOALLV)),
                       "alltoallw": rng.choice(list(ALLTOALLV)),
                       "reduce_scatter": rng.choice(list(REDUCE_SCATTER))}
        self.collectives = [[] for _ in range(ranks)]
        self.messages = [[] for _ in range(ranks)]
        self.last = [[] for _ in range(ranks)]  # by call, how many message calls until its end
        self.tag = 0
        self.serial = [0] * ranks
        for _ in range(rng.randint(1, 6)):
            self.compute()
            self.call()

    def compute(self):
        for both in zip(self.collectives, self.messages):
            steps = self.rng.choice([0, self.rng.randint(0, 5000)])
            for program in both:
                program.append({"op": "compute", "steps": steps})

    def parts(self, p):
        kind = self.rng.random()
        if kind < 0.2:  # one has all
            parts = [0] * p
            parts[self.rng.randrange(p)] = self.rng.choice(SIZES)
            return parts
        if kind < 0.3:
            return [self.rng.choice(SIZES)] * p
        return [self.rng.choice(SIZES) for _ in range(p)]

    def call(self):
        op = self.rng.choice(list(self.chosen))
        comm = self.rng.randrange(len(self.comms))
        p = len(self.comms[comm])
        algorithm = self.chosen[op]
        if op in ("gatherv", "scatterv"):
            root, parts = self.rng.randrange(p), self.parts(p)
            moves = {"gatherv": gatherv, "scatterv": scatterv}[op](parts, root, ROOTED[algorithm])
            calls = [self.described(op, comm, parts if me == root else [parts[me]],
                                    sum(parts) // p if me == root else parts[me], True, root)
                     for me in range(p)]
        elif op in ("alltoallv", "alltoallw"):
            rows = [self.parts(p) for _ in range(p)]
            moves = (alltoallv_posted(rows, True) if (op, algorithm) == ("alltoallv", "linear")
                     else ALLTOALLV[algorithm](rows))
            calls = [self.described(op, comm, rows[me] + [row[me] for row in rows],
                                    sum(rows[me]) // p, True) for me in range(p)]
        else:
            parts = self.parts(p)
            if sum(parts) == 0:  # all know that, and its empty messages go
                parts[0] = 1
            table = ALLGATHERV if op == "allgatherv" else REDUCE_SCATTER
            moves = table[algorithm](parts)
            size = sum(parts) // p if op == "allgatherv" else sum(parts)
            calls = [self.described(op, comm, parts, size, False) for me in range(p)]
        self.tag += 1
        for me, rank in enumerate(self.comms[comm]):
            self.collectives[rank].append(calls[me])
            self.add_messages(rank, comm, moves[me])

    @staticmethod
    def described(op, comm, counts, size, each_knows_its_own, root=None):
        call = {"op": op, "comm": comm, "bytes": size}
        if told(counts, each_knows_its_own):
            call["counts"] = counts
        if root is not None:
            call["root"] = root
        return call

    def add_messages(self, rank, comm, moves):
        program, requests = self.messages[rank], []
        for step in moves.steps:
            moved = {what: (partner, size) for what, partner, size in step}
            call = {"comm": comm, "tag": self.tag}
            if moves.posted:
                self.serial[rank] += 1
                requests.append(self.serial[rank])
                call["request"] = self.serial[rank]
            if len(moved) == 2:
                call.update(op="sendrecv", to=moved["send"][0], bytes=moved["send"][1],
                            recv_tag=self.tag, recv_bytes=moved["recv"][1])
                call["from"] = moved["recv"][0]
            elif "send" in moved:
                call.update(op="isend" if moves.posted else "send", to=moved["send"][0],
                            bytes=moved["send"][1], mode="standard")
            else:
                call.update(op="irecv" if moves.posted else "recv", bytes=moved["recv"][1])
                call["from"] = moved["recv"][0]
            program.append(call)
        if requests:
            program.append({"op": "wait", "requests": requests})
        self.last[rank].append(sum(call["op"] != "compute" for call in program))

    def schedule(self, programs):
        return {"ranks": len(programs), "comms": self.comms, "programs": programs}


def random_case(seed, kind):
    rng = random.Random(seed)
    kind = kind or rng.choice(KINDS)
    machine = random_schedules.random_machine(rng)
    machine["compute_step"] = rng.choice([0, 1e-9, 1e-11, 1e-7])
    case = Case(rng, rng.randint(2, 9))
    network = random_networks.random_network(rng, kind, len(case.messages), False)
    messages = {"machine": machine, "schedule": case.schedule(case.messages)}
    collectives = {"machine": machine, "schedule": case.schedule(case.collectives)}
    for each in (messages, collectives):
        each["schedule"]["network"] = network
    choices = ",".join(f"{op}={algorithm}" for op, algorithm in case.chosen.items())
    collectives["schedule"]["collectives"] = "openmpi," + choices
    return case, messages, collectives


def compare(seed, case, collectives, expected, found):
    network = json.dumps(collectives["schedule"]["network"])
    if "deadlock" in (expected, found):
        if expected != found:
            sys.exit(f"seed {seed}, {network}: expected {str(expected)[:200]}, found {found}")
        return
    for rank, (times, calls) in enumerate(zip(expected, found)):
        for number, last in enumerate(case.last[rank]):
            if last == 0 or (number > 0 and last == case.last[rank][number - 1]):
                continue  # no message of its own
            if times[last][0] != calls[number + 1][0]:
                op = [c for c in case.collectives[rank] if c["op"] != "compute"][number]
                sys.exit(f"seed {seed}, {network}: rank {rank}, {op}, {case.chosen[op['op']]}: "
                         f"expected {times[last][0]}, found {calls[number + 1][0]}")
        if times[0] != calls[0]:
            sys.exit(f"seed {seed}, {network}: rank {rank} ends at {calls[0]}, expected {times[0]}")


def run(options):
    seeds = range(options.first, options.first + options.count)
    cases = [random_case(seed, options.kind) for seed in seeds]
    engine = random_networks.engine_times(options.replay_schedule,
                                          [collectives for _, _, collectives in cases])
    compared, calls = {}, 0
    for seed, (case, messages, collectives), found in zip(seeds, cases, engine):
        expected, doubtful = random_networks.expected_times(messages)
        if doubtful:
            continue
        compare(seed, case, collectives, expected, found)
        kind = collectives["schedule"]["network"]["kind"]
        compared[kind] = compared.get(kind, 0) + 1
        calls += sum(map(len, case.last))
    number = sum(compared.values())
    print(f"{number} programs ({', '.join(f'{k}: {n}' for k, n in sorted(compared.items()))}), "
          f"{calls} calls: all times equal; {len(cases) - number} not compared")
    if number * 10 < len(cases) * 8:
        sys.exit("too few programs were compared")


if __name__ == "__main__":
    random_networks.main(run, KINDS)
