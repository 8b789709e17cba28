#!/usr/bin/env python3
"""recording_test.py FORETRACE: what `--watch` records of a run, as data: how much, from when to when, of
what, and no more than so many; caches, by hand; the changes of a plug-in's numbers."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)

CACHE = """[architecture]
name = "two cores, a cache, a memory"
latency = "0ns"
bandwidth = "1GB/s"
[[composite.machine.part]]
name = "core"
kind = "processor"
count = 2
[[composite.machine.part]]
name = "cache"
kind = "cache"
parameters = { size = "1000B", bandwidth = "2GB/s", latency = "10ns" }
[[composite.machine.part]]
name = "memory"
kind = "memory"
parameters = { bandwidth = "1GB/s" }
[[composite.machine.link]]
from = "core.net"
to = "cache.core"
[[composite.machine.link]]
from = "cache.memory"
to = "memory.port"
"""

PLUGIN = """#include <foretrace_entity.hpp>
using namespace foretrace::entity;
class Doubling final : public Behaviour {
 public:
  explicit Doubling(const Parameters&) {}
  Task run() override {
    while (true) {
      const Received next = co_await receive();
      window_ = window_ == 8 ? 1 : 2 * window_;
      co_await delay(1000);
      send(1, next.packet);
    }
  }
 private:
  Recorded<int> window_{*this, "window", 1};
};
FORETRACE_ENTITY(Doubling)
"""
STATION = """[architecture]
name = "doubling"
[entity.station]
plugin = "doubling.so"
ports = ["in", "out"]
[[composite.machine.part]]
name = "jobs"
kind = "source"
parameters = { interval = "10ns", distribution = "constant", packets = 5 }
[[composite.machine.part]]
name = "station"
kind = "station"
[[composite.machine.part]]
name = "done"
kind = "sink"
[[composite.machine.link]]
from = "jobs.out"
to = "station.in"
[[composite.machine.link]]
from = "station.out"
to = "done.in"
"""


class Recordings(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.addCleanup(self.scratch.cleanup)
        self.write("cache.arch.toml", CACHE)
        self.message(1000)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def message(self, *sizes):
        """One send after the other without waiting, from rank 0 to rank 1."""
        sends = "".join(f"s{i}: send {size}b to 1 tag {i}\n" for i, size in enumerate(sizes))
        receives = "".join(f"r{i}: recv {size}b from 0 tag {i}\n" for i, size in enumerate(sizes))
        self.write("message.goal", f"num_ranks 2\nrank 0 {{\n{sends}}}\nrank 1 {{\n{receives}}}\n")

    def run_tool(self, *words, status=0):
        done = subprocess.run([TOOL, *words], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def simulate(self, *words, status=0):
        return self.run_tool("simulate", "message.goal", "--loggps", "o=1us,g=0s", "--network", "arch:cache.arch.toml", *words, status=status)

    def watched(self, *words):
        self.simulate("--watch", "run.json", *words)
        return json.loads((self.folder / "run.json").read_text())

    def time(self, *words):
        return float(self.simulate(*words)[0].split()[2])

    def test_what_fits_into_a_cache_goes_no_further(self):
        # Two overheads; over a link, through the cache (0.5 us and 10 ns), over a link.
        self.assertEqual(self.time(), 4.51e-6)
        # Else also over a link to the memory, through it, back, and through the cache again.
        self.assertEqual(self.time("--parameter", "cache.size=999B"), 8.02e-6)

    def test_cores_share_the_room_in_a_cache(self):
        self.message(600, 600)
        data = self.watched("--watch-what", "states")
        names = [e[0] for e in data["entities"]]
        into_memory = [r for r in data["records"] if r[0] == 1 and names[r[3]] == "memory"]
        self.assertEqual([r[1] for r in into_memory], [1], "the second does not fit beside the first")
        held = [q for q, (entity, name, *_) in enumerate(data["quantities"]) if name == "held"]
        self.assertEqual([value for _, q, value in data["states"] if q == held[0]], [600, 0])

    def test_levels_of_detail(self):
        found = {what: self.watched("--watch-what", what) for what in ("statistics", "messages", "states")}
        self.assertEqual([(len(d["records"]), bool(d["states"])) for d in found.values()], [(0, False), (4, False), (4, True)])
        for data in found.values():
            self.assertEqual(data["sums"], found["states"]["sums"], "sums do not depend on it")
            self.assertEqual(data["latencies"], found["states"]["latencies"])
        self.assertEqual([s[2:] for s in found["states"]["sums"]], [[1, 1000, 1_000_000]] * 2)
        self.assertEqual(found["states"]["latencies"]["most"], 2_510_000)
        again = self.watched("--watch-what", "states")
        self.assertEqual(again, found["states"])

    def test_bounded(self):
        data = self.watched("--watch-most", "3")
        self.assertEqual((len(data["records"]), data["lost"]), (3, 1))
        self.assertEqual((len(data["calls"]), data["lostCalls"] > 0), (3, True))
        self.assertEqual(data["latencies"]["count"], 1, "sums are of all")

    def test_from_and_to(self):
        # The packet is on its second link from 1 + 1 + 0.51 us on.
        data = self.watched("--watch-from", "2.2us", "--watch-to", "2.4us", "--watch-what", "states")
        self.assertEqual(data["records"], [])
        data = self.watched("--watch-from", "2.6us", "--watch-to", "3us")
        self.assertEqual([r[5:] for r in data["records"] if r[0] == 1], [[2_510_000, 3_510_000]])
        self.assertEqual([s[4] for s in data["sums"]], [400_000])

    def test_only(self):
        data = self.watched("--watch-only", "core[1]", "--watch-what", "states")
        names = [e[0] for e in data["entities"]]
        self.assertTrue(data["records"])
        for record in data["records"]:
            self.assertIn("core[1]", (names[record[2]], names[record[3]]))
        data = self.watched("--watch-only", "cache.held", "--watch-what", "states")
        self.assertEqual(data["records"], [])
        self.assertEqual({data["quantities"][q][1] for _, q, _ in data["states"]}, {"held"})

    def test_where_ranks_stand(self):
        data = self.watched()
        place = {(rank, data["names"][name]): data["places"][p] for rank, _, _, name, p in data["calls"]}
        self.assertEqual(place[0, "MPI_Isend"], "message.goal:3")
        self.assertEqual(place[1, "MPI_Irecv"], "message.goal:6")
        self.assertEqual(data["ranks"], [0, 1])

    def test_arbiters_of_a_bus(self):
        """Ranks 0 and 1 send three packets each to rank 2, by NICs that have them at once; rank 1 is first by 100 ns."""
        parts = "".join(f'[[composite.machine.part]]\nname = "{name}"\nkind = "{kind}"\ncount = 3\n' for name, kind in (("core", "processor"), ("nic", "nic")))
        links = "".join(f'[[composite.machine.link]]\nfrom = "{a}"\nto = "{b}"\n{speed}' for a, b, speed in (
            ("core[0..2].net", "nic[0..2].host", 'bandwidth = "1000GB/s"\n'), ("nic[0..2].net", "bus.net", "")))
        self.write("cache.arch.toml", '[architecture]\nname = "bus"\nlatency = "0ns"\nbandwidth = "1GB/s"\n' + parts +
                   '[[composite.machine.part]]\nname = "bus"\nkind = "bus"\n' + links)
        self.write("message.goal", "num_ranks 3\nrank 0 {\nc: calc 100\ns: send 6144b to 2 tag 1\ns requires c\n}\nrank 1 {\ns: send 6144b to 2 tag 2\n}\n"
                   "rank 2 {\na: recv 6144b from 0 tag 1\nb: recv 6144b from 1 tag 2\n}\n")
        for arbiter, order in (("fifo", "111000"), ("round-robin", "101010"), ("priority", "100011")):
            data = self.watched("--parameter", f"bus.arbiter={arbiter}")
            names = [e[0] for e in data["entities"]]
            passes = sorted((r[5], names[r[2]]) for r in data["records"] if r[0] == 1 and names[r[2]].startswith("nic") and names[r[3]] != "core[2]")
            self.assertEqual("".join(name[4] for _, name in passes), order, arbiter)

    def test_flits_in_switches(self):
        self.write("cache.arch.toml", '[architecture]\nname = "four"\ninclude = ["node.arch.toml"]\n[[composite.machine.part]]\nname = "grid"\n'
                   'template = "mesh:2x2"\nkind = "node"\nparameters = { vcs = 2 }\n')
        # Two messages of 20 flits each meet on the link to rank 3, so that one waits.
        self.write("message.goal", "num_ranks 4\nrank 0 {\ns: send 320b to 3 tag 1\n}\nrank 2 {\ns: send 320b to 3 tag 2\n}\n"
                   "rank 3 {\na: recv 320b from 0 tag 1\nb: recv 320b from 2 tag 2\n}\n")
        data = self.watched("--watch-what", "states")
        of = {q: data["entities"][entity][0] for q, (entity, name, *_) in enumerate(data["quantities"]) if name == "flits"}
        self.assertEqual(sorted(of.values()), [f"grid[{i}].router" for i in range(4)])
        last = {q: value for _, q, value in data["states"] if q in of}
        self.assertEqual(set(last.values()), {0}, "in the end they are empty")
        self.assertTrue(any(value > 1 for _, q, value in data["states"] if q in of))
        for q in last:
            most = max(value for _, number, value in data["states"] if number == q)
            self.assertEqual(data["quantities"][q][3], most)

    def test_numbers_of_a_plugin(self):
        self.write("doubling.cpp", PLUGIN)
        self.write("doubling.arch.toml", STATION)
        self.run_tool("architecture", "build", "doubling.cpp", "-o", "doubling.so")
        out, _ = self.run_tool("architecture", "run", "doubling.arch.toml", "--until", "1us")
        self.assertEqual(out, self.run_tool("architecture", "run", "doubling.arch.toml", "--until", "1us", "--watch", "run.json", "--watch-what", "states")[0],
                         "it changes nothing to look")
        data = json.loads((self.folder / "run.json").read_text())
        window = next(q for q, (_, name, *_) in enumerate(data["quantities"]) if name == "window")
        self.assertEqual([(t, v) for t, q, v in data["states"] if q == window], [(0, 1), (10_000, 2), (20_000, 4), (30_000, 8), (40_000, 1), (50_000, 2)])
        self.assertEqual(len([r for r in data["records"] if r[0] == 1]), 10)
        self.run_tool("architecture", "run", "doubling.arch.toml", "--until", "1us", "--watch", "run.json", "--watch-what", "states", "--watch-only", "station.window")
        data = json.loads((self.folder / "run.json").read_text())
        self.assertEqual({data["quantities"][q][1] for _, q, _ in data["states"]}, {"window"})

    def test_two_pages_beside_each_other(self):
        for name, size in (("a", "1000B"), ("b", "999B")):
            self.simulate("--watch", f"{name}.html", "--parameter", f"cache.size={size}")
        self.run_tool("architecture", "beside", "a.html", "b.html", "-o", "both.html")
        text = (self.folder / "both.html").read_text()
        runs = json.loads(text.split('<script id="data" type="application/json">')[1].split("</script>")[0])
        self.assertEqual([run["to"] for run in runs], [4_510_000, 8_020_000])
        # Neither a page of two, nor something else.
        self.assertIn("expected a page of one run, found 2 runs", self.run_tool("architecture", "beside", "a.html", "both.html", "-o", "c.html", status=1)[1])
        self.assertIn("expected a page of one run, found none", self.run_tool("architecture", "beside", "a.html", "message.goal", "-o", "c.html", status=1)[1])

    def test_wrong_words(self):
        for words, message in (
            (["--watch", "a.html", "--watch-what", "much"], "--watch-what: expected statistics, messages or states, found 'much'"),
            (["--watch", "a.html", "--watch-only", "core[9]"], "--watch-only core[9]: no box and no quantity has such a path"),
            (["--watch", "a.html", "--watch-from", "soon"], "--watch-from: expected a time such as 10us, found 'soon'"),
            (["--watch", "a.html", "--watch-from", "2us", "--watch-to", "1us"], "expected a time before --watch-to"),
            (["--watch-what", "states"], "say what --watch FILE records; add it"),
            (["--watch", "a.txt"], ".html, .svg or .json"),
        ):
            self.assertIn(message, self.simulate(*words, status=2)[1])
        self.write("cache.arch.toml", CACHE.replace('from = "cache.memory"\nto = "memory.port"\n', 'from = "cache.memory"\nto = "memory.port"\none_way = true\n'))
        self.assertIn("cache.arch.toml:20: the link between 'cache' and its memory is one_way", self.simulate(status=1)[1])


if __name__ == "__main__":
    unittest.main()
