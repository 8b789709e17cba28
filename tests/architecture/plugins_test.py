#!/usr/bin/env python3
"""plugins_test.py FORETRACE: entities of plug-ins that go wrong are named, and the run ends there
with what was recorded. How long the machine takes for it is not looked at."""

import json
import os
import subprocess
import sys
import tempfile

ENTITY = r"""
#include <foretrace_entity.hpp>
#include <unistd.h>
using namespace foretrace::entity;

// Passes packets on; with the fifth it goes wrong in the way that is asked for.
class Odd final : public Handler {
 public:
  explicit Odd(const Parameters& given) : how_(given.text("how")) {}

 protected:
  void packet(std::uint32_t, const Packet& packet) override {
    if (++seen_ == 5 && how_ == "throws") throw std::runtime_error("the fifth is one too many");
    if (seen_ == 5 && how_ == "again") return wake_after(0, 0);
    if (seen_ == 5 && how_ == "hangs") for (volatile bool on = true; on;) {}
    if (seen_ == 5 && how_ == "sleeps") for (volatile bool on = true; on;) sleep(1000);
    send(1, packet);
  }
  void timer(std::uint64_t) override { wake_after(0, 0); }

 private:
  std::string how_;
  int seen_ = 0;
};
FORETRACE_ENTITY(Odd)
"""

MACHINE = """
[architecture]
name = "odd"
[entity.odd]
plugin = "odd.so"
ports = ["in", "out"]
declare.how = {{ type = "enumeration", default = "well" }}
[[composite.machine.part]]
name = "jobs"
kind = "source"
parameters = {{ interval = "1us", distribution = "constant" }}
[[composite.machine.part]]
name = "middle"
kind = "odd"
parameters = {{ how = "{how}" }}
[[composite.machine.part]]
name = "done"
kind = "sink"
[[composite.machine.link]]
from = "jobs.out"
to = "middle.in"
[[composite.machine.link]]
from = "middle.out"
to = "done.in"
"""


def main():
    tool = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        open("odd.cpp", "w").write(ENTITY)
        subprocess.run([tool, "architecture", "build", "odd.cpp", "-o", "odd.so"], check=True)

        def run(how):
            open("odd.arch.toml", "w").write(MACHINE.format(how=how))
            # Little patience is enough: it is counted in the entity's own processor time.
            command = [tool, "architecture", "run", "odd.arch.toml", "--until", "1ms", "--json",
                       "--patience", "0s" if how == "well" else "0.2s", "--watch", "odd.watched.json"]
            done = subprocess.run(command, capture_output=True, text=True)
            found = json.loads(done.stdout)
            return done, {one["path"]: one for one in found["entities"]}, found

        done, entities, found = run("well")
        assert done.returncode == 0 and "failure" not in found, done.stderr
        assert entities["done"]["received"] == 1000, entities
        for how, message in [("throws", "middle: the fifth is one too many"),
                             ("again", "middle goes on and on without letting time pass"),
                             ("hangs", "middle does not return"), ("sleeps", "middle does not return")]:
            done, entities, found = run(how)
            assert done.returncode == 1, (how, done)
            assert message in done.stderr and message == found["failure"], (how, done.stderr)
            # What was recorded until then is there: four packets, and the time.
            assert entities["done"]["received"] == 4, (how, entities)
            assert abs(found["end"] - 5e-6) < 1e-12, (how, found["end"])
            watched = json.load(open("odd.watched.json"))
            assert [one[2:4] for one in watched["records"]].count([1, 2]) == 4, (how, watched["records"])
    print("ok odd plug-ins are named")


main()
