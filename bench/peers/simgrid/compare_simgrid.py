#!/usr/bin/env python3
"""The network `flow` beside SimGrid's: the same time-independent traces through both.

    compare_simgrid.py --foretrace FORETRACE [--only WORD] [--speed] [--keep DIRECTORY]
    compare_simgrid.py --simgrid-only

Needs SimGrid (smpirun; Debian: libsimgrid-dev). Prints for each case the program's time in both,
their ratio and, where it is short, the time computed by hand; ends with status 1 if a ratio is
beyond 2 % or a hand-computed time is missed by more than 1e-5. --speed compares messages per CPU
second instead.

What makes SimGrid compute what docs/networks.md says of `flow`, with o = g = 0 and no S:

    network/model:CM02         max-min sharing without correction factors
    network/TCP-gamma:0        no bound on a flow's rate from its latency
    network/crosstraffic:0     nothing is taken for acknowledgements
    smpi/async-small-thresh    above all sizes: a message travels whether its receive is posted or not
    smpi/send-is-detached-thresh  above all sizes: a send does not wait for it

What remains:

    - SimGrid adds an envelope of 16 bytes to every message: its traces hold sizes 16 smaller.
    - It lets the latency pass before a message's bytes flow, `flow` after it. That is the same
      where all routes have the same latency (a star); hence no latency on the fat tree.
    - CM02 weighs flows by the inverse of their latencies; again the same where these are equal.
    - With a rendezvous (--rendezvous) SimGrid starts the flow when both are there, without request
      and answer: two latencies less, and its sender waits for the latency of the data, too.
"""

import argparse
import json
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

BANDWIDTH = 1_000_000  # B/s: SimGrid prints microseconds
LATENCY = 0.001        # s, of a link of the star
ENVELOPE = 16
OPTIONS = ["network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0"]
ALL_EAGER = ["smpi/async-small-thresh:1000000000", "smpi/send-is-detached-thresh:1000000000"]
ALL_RENDEZVOUS = ["smpi/async-small-thresh:0", "smpi/send-is-detached-thresh:0"]


class Star:
    """Every host has one link to and one from the switch: two hops between any two."""

    name = "star"

    def __init__(self, hosts):
        self.hosts = hosts
        self.latency = 2 * LATENCY
        self.expression = f"crossbar:{hosts}?latency={LATENCY}s&bandwidth={BANDWIDTH}B/s"
        self.attributes = f'lat="{LATENCY}s"'


class FatTree:
    """The k-ary 2-tree with k * k hosts: k leaf switches of k hosts, each with a link to every one
    of k roots. A message to another leaf goes over root (destination mod k)."""

    name = "fat tree"

    def __init__(self, hosts):
        self.hosts = hosts
        self.arity = round(hosts ** 0.5)
        self.latency = 0
        self.expression = f"fattree:{self.arity},2?latency=0s&bandwidth={BANDWIDTH}B/s"
        k = self.arity
        self.attributes = f'lat="0s" topology="FAT_TREE" topo_parameters="2;{k},{k};1,{k};1,1"'


class Programs:
    """The ranks' calls as lines of a time-independent trace: rank, call, peer, tag, bytes."""

    def __init__(self, ranks):
        self.calls = [[] for _ in range(ranks)]
        self.messages = 0

    def send(self, source, to, size, call="send"):
        self.calls[source].append((call, to, size))
        self.messages += 1

    def recv(self, to, source, size, call="recv"):
        self.calls[to].append((call, source, size))

    def exchange(self, transfers):
        """All receives are posted, all sends are, all are waited for. transfers: (from, to, size)."""
        for source, to, size in transfers:
            self.recv(to, source, size, "irecv")
        for source, to, size in transfers:
            self.send(source, to, size, "isend")
        involved = {rank for source, to, _ in transfers for rank in (source, to)}
        for rank in sorted(involved):
            self.calls[rank].append(("waitall", sum(rank == end for s, t, _ in transfers
                                                    for end in (s, t)), None))

    def text(self, envelope):
        lines = []
        for rank, calls in enumerate(self.calls):
            lines.append(f"{rank} init")
            for call, peer, size in calls:
                if size is None:
                    lines.append(f"{rank} {call} {peer}")
                else:
                    lines.append(f"{rank} {call} {peer} 0 {size - envelope} 6")
            lines.append(f"{rank} finalize")
        return "\n".join(lines) + "\n"


# Cases whose times are computed by hand: (programs, seconds).


def one_message(platform):
    """3 MB at 1 MB/s."""
    programs = Programs(platform.hosts)
    programs.send(0, 5, 3_000_000)
    programs.recv(5, 0, 3_000_000)
    return programs, 3 + platform.latency


def all_to_one(platform):
    """n - 1 messages of 1 MB through the one link into host 0, whatever shares of it they get."""
    programs = Programs(platform.hosts)
    for source in range(1, platform.hosts):
        programs.send(source, 0, 1_000_000)
        programs.recv(0, source, 1_000_000)
    return programs, platform.hosts - 1 + platform.latency


def unequal(platform):
    """1 MB and 2 MB from hosts 0 and 1 into host 2, and 2.5 MB from host 1 to 3. The link into 2
    is shared by two, that out of 1 by two: 0.5 MB/s each until the 1 MB is done at 2 s. Then the
    flow 1-2 has 1 MB to go and 1-3 1.5 MB, through the link out of 1 at 0.5 MB/s each: 1-2 is done
    at 4 s, when 1-3 has 0.5 MB left: at full speed, 4.5 s."""
    programs = Programs(platform.hosts)
    for source, to, size in ((0, 2, 1_000_000), (1, 2, 2_000_000), (1, 3, 2_500_000)):
        programs.send(source, to, size)
        programs.recv(to, source, size)
    return programs, 4.5 + platform.latency


def same_root(platform):
    """Fat tree: hosts 0 and 1 of leaf 0 send to the first hosts of leaves 1 and 2, both over
    root 0: they share the link from leaf 0 to it, 2 MB at 0.5 MB/s. Hosts 2 and 3 send to hosts 2
    and 3 of leaf 1, over roots 2 and 3: they share nothing. On a star nobody shares anything."""
    side = round(platform.hosts ** 0.5)
    programs = Programs(platform.hosts)
    transfers = [(0, side, 2_000_000), (1, 2 * side, 2_000_000), (2, side + 2, 2_000_000),
                 (3, side + 3, 2_000_000)]
    for source, to, size in transfers:
        programs.send(source, to, size)
        programs.recv(to, source, size)
    return programs, (4 if platform.name == "fat tree" else 2) + platform.latency


# Cases that only the two tools compute.


def sizes(rng):
    return rng.randint(50_000, 2_000_000)


def ring(platform, rounds=5):
    rng, programs, n = random.Random(1), Programs(platform.hosts), platform.hosts
    for _ in range(rounds):
        programs.exchange([(i, (i + way) % n, sizes(rng)) for i in range(n) for way in (1, -1)])
    return programs, None


def pairs(platform, rounds=5):
    rng, programs, n = random.Random(2), Programs(platform.hosts), platform.hosts
    for _ in range(rounds):
        programs.exchange([(i, (i + n // 2) % n, sizes(rng)) for i in range(n)])
    return programs, None


def permutations(platform, rounds=5):
    rng, programs = random.Random(3), Programs(platform.hosts)
    for _ in range(rounds):
        to = rng.sample(range(platform.hosts), platform.hosts)
        programs.exchange([(i, to[i], sizes(rng)) for i in range(platform.hosts) if i != to[i]])
    return programs, None


def random_traffic(platform, messages=150):
    """Blocking sends and receives in a random order that cannot deadlock."""
    rng, programs = random.Random(4), Programs(platform.hosts)
    for _ in range(messages):
        source, to = rng.sample(range(platform.hosts), 2)
        size = sizes(rng)
        programs.send(source, to, size)
        programs.recv(to, source, size)
    return programs, None


def allreduce(platform, rounds=1, size=1_000_000):
    """Recursive doubling, as messages."""
    programs, n = Programs(platform.hosts), platform.hosts
    for _ in range(rounds):
        distance = 1
        while distance < n:
            programs.exchange([(i, i ^ distance, size) for i in range(n)])
            distance *= 2
    return programs, None


def alltoall(platform):
    rng, programs, n = random.Random(5), Programs(platform.hosts), platform.hosts
    programs.exchange([(i, j, sizes(rng)) for i in range(n) for j in range(n) if i != j])
    return programs, None


CASES = [one_message, all_to_one, unequal, same_root, ring, pairs, permutations, random_traffic,
         allreduce, alltoall]


class Failed(Exception):
    pass


class Tools:
    def __init__(self, directory, foretrace, rendezvous):
        self.directory = directory
        self.foretrace_command = foretrace
        self.rendezvous = rendezvous

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return path

    def run(self, command):
        """(output, CPU seconds)"""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([str(word) for word in command], text=True, cwd=self.directory,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise Failed(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}")
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return done.stdout, seconds

    def simgrid(self, platform, programs):
        n = platform.hosts
        xml = self.write("platform.xml", f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-{n - 1}" speed="1Gf" bw="{BANDWIDTH}Bps"
           sharing_policy="SPLITDUPLEX" {platform.attributes}/>
</platform>
""")
        hosts = self.write("hosts", "".join(f"node-{i}\n" for i in range(n)))
        trace = self.write("simgrid.ti", programs.text(ENVELOPE))
        listed = self.write("simgrid.list", f"{trace}\n")
        options = OPTIONS + (ALL_RENDEZVOUS if self.rendezvous else ALL_EAGER)
        output, seconds = self.run(["smpirun", "-np", n, "-platform", xml, "-hostfile", hosts,
                                    "-replay", listed, *[f"--cfg={o}" for o in options]])
        return float(re.search(r"Simulation time ([0-9.]+)", output).group(1)), seconds

    def foretrace(self, platform, programs):
        trace = self.write("foretrace.ti", programs.text(0))
        parameters = "o=0s,g=0s,S=" + ("0" if self.rendezvous else "none")
        output, seconds = self.run([self.foretrace_command, "simulate", trace, "--network", "flow",
                                    "--topology", platform.expression, "--loggps", parameters,
                                    "--json"])
        return json.loads(output)["time"], seconds


def compare(tools, only):
    good = True
    print(f"{'platform':10}{'case':16}{'messages':>9}{'by hand':>10}{'SimGrid':>13}{'Foretrace':>13}"
          f"{'ratio':>10}")
    for platform in (Star(16), FatTree(16)):
        for case in CASES:
            if only not in case.__name__:
                continue
            programs, by_hand = case(platform)
            if tools.rendezvous:
                by_hand = None
            times = [tools.simgrid(platform, programs)[0]]
            if tools.foretrace_command:
                times.append(tools.foretrace(platform, programs)[0])
            ratio = times[-1] / times[0]
            good = good and abs(ratio - 1) < 0.02
            good = good and all(by_hand is None or abs(t / by_hand - 1) < 1e-5 for t in times)
            shown = "".join(f"{t:13.6f}" for t in times) + " " * 13 * (2 - len(times))
            print(f"{platform.name:10}{case.__name__:16}{programs.messages:9}"
                  f"{'' if by_hand is None else f'{by_hand:.4f}':>10}{shown}{ratio:10.6f}")
    return good


def compare_speed(tools):
    """CPU seconds for the whole command, starting and reading included."""
    print(f"{'platform':10}{'case':16}{'ranks':>7}{'messages':>10}  messages per CPU second")
    for platform, name, (programs, _) in (
            (Star(256), "ring", ring(Star(256), 20)), (Star(1024), "ring", ring(Star(1024), 10)),
            (Star(1024), "allreduce", allreduce(Star(1024), 3)),
            (Star(64), "alltoall", alltoall(Star(64))),
            (FatTree(256), "permutations", permutations(FatTree(256), 20))):
        words = [f"SimGrid {programs.messages / tools.simgrid(platform, programs)[1]:,.0f}"]
        if tools.foretrace_command:
            rate = programs.messages / tools.foretrace(platform, programs)[1]
            words.append(f"Foretrace {rate:,.0f}")
        print(f"{platform.name:10}{name:16}{platform.hosts:7}{programs.messages:10}  "
              + ", ".join(words))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--foretrace", type=pathlib.Path)
    parser.add_argument("--simgrid-only", action="store_true")
    parser.add_argument("--only", default="", help="cases whose name holds this word")
    parser.add_argument("--rendezvous", action="store_true", help="S = 0 instead of none")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="leave the files in this directory")
    options = parser.parse_args()
    if not options.foretrace and not options.simgrid_only:
        parser.error("give --foretrace or --simgrid-only")
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or pathlib.Path(temporary)
        directory.mkdir(exist_ok=True)
        tools = Tools(directory.resolve(), options.foretrace and options.foretrace.resolve(),
                      options.rendezvous)
        try:
            if options.speed:
                compare_speed(tools)
            elif not compare(tools, options.only):
                sys.exit("the times differ by more than 2 %, or from those computed by hand")
        except Failed as failed:
            sys.exit(str(failed))


if __name__ == "__main__":
    main()
