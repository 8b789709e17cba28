"""`make install` as its users meet it: into a DESTDIR and a prefix, used from there, and removed.

    install_test.py CMAKE BUILD
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """#include <stdio.h>
#include "foretrace.h"
int main(void) {
  FORETRACE_PHASE_BEGIN("solve");
  FORETRACE_COMPUTE(3);
  FORETRACE_PHASE_END("solve");
  puts("done");
  return 0;
}
"""
PROJECT = """cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C CXX)
find_package(NAME 0.1 REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE foretrace::annotations)
foretrace_add_entity(relay relay.cpp)
"""
ENTITY = """#include <foretrace_entity.hpp>
using namespace foretrace::entity;
class Relay final : public Behaviour {
 public:
  explicit Relay(const Parameters&) {}
  Task run() override {
    while (true) send(1, (co_await receive()).packet);
  }
};
FORETRACE_ENTITY(Relay)
"""
MACHINE = """[architecture]
name = "relayed"
[entity.relay]
plugin = "relay.so"
ports = ["in", "out"]
[[composite.machine.part]]
name = "jobs"
kind = "source"
parameters = { interval = "1ms", packets = 7 }
[[composite.machine.part]]
name = "relay"
kind = "relay"
[[composite.machine.part]]
name = "done"
kind = "sink"
[[composite.machine.link]]
from = "jobs.out"
to = "relay.in"
[[composite.machine.link]]
from = "relay.out"
to = "done.in"
"""


def run(*words, **options):
    result = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=100, **options)
    if result.returncode != 0:
        raise AssertionError(f"{words}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


class Installation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "user.c").write_text(PROGRAM)
        (self.folder / "relay.cpp").write_text(ENTITY)
        # Of an installation that somebody made from this build.
        self.manifest = BUILD / "install_manifest.txt"
        before = self.manifest.read_bytes() if self.manifest.exists() else None
        self.addCleanup(lambda: self.manifest.unlink(missing_ok=True) if before is None
                        else self.manifest.write_bytes(before))

    def test_it(self):
        stage = self.folder / "stage"
        environment = {**os.environ, "DESTDIR": str(stage)}
        run(CMAKE, "--install", BUILD, "--prefix", "/opt/foretrace", env=environment)
        prefix = stage / "opt/foretrace"
        for file in ("share/doc/foretrace/LICENSE", "share/doc/foretrace/docs/tutorial.md",
                     "share/foretrace/machines/cray-t3d.toml", "share/man/man1/foretrace-predict.1",
                     "share/man/man5/foretrace-trace.5", "share/man/man5/foretrace-machine.5",
                     "share/bash-completion/completions/foretrace", "share/zsh/site-functions/_foretrace",
                     "share/fish/vendor_completions.d/foretrace.fish"):
            self.assertTrue((prefix / file).is_file(), file)
        tool = prefix / "bin/foretrace"
        self.assertIn("cray-t3d", run(tool, "machines"))
        run(tool, "calc", "cray-t3d", "send")
        self.compile_and_run(prefix, tool)
        self.assertIn("cray-t3d", run(sys.executable, "-c", "import foretrace; print(foretrace.Machine('cray-t3d').path)",
                                      env={**os.environ, "PYTHONPATH": str(prefix / "lib/foretrace/python")}))
        # docs/python.md has a line that finds it for any prefix.
        told = re.search(r"^    (export PYTHONPATH=.*)", (SOURCE / "docs/python.md").read_text(), re.M)[1]
        environment_there = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}
        self.assertEqual(run("sh", "-c", f"{told}; {sys.executable} -c 'import foretrace; print(foretrace.__file__)'",
                             env=environment_there),
                         f"{(prefix / 'lib/foretrace/python/foretrace/__init__.py').resolve()}\n")
        shutil.copy(self.manifest, self.folder / "manifest")
        run(CMAKE, "--build", BUILD, "--target", "uninstall", env=environment)
        self.assertEqual([str(p) for p in stage.rglob("*") if not p.is_dir()], [])
        self.assertFalse(prefix.exists(), list(stage.rglob("*")))

    def compile_and_run(self, prefix, tool):
        own = run(tool, "--cflags").split()
        ways = [own]
        if shutil.which("pkg-config"):
            environment = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "share/pkgconfig")}
            ways.append(run("pkg-config", "--cflags", "foretrace", env=environment).split())
        for flags in ways:
            program = self.folder / "program"
            run("cc", *flags, self.folder / "user.c", "-o", program)
            self.assertEqual(run(program), "done\n")
        for name in ("foretrace", "Foretrace"):
            with self.subTest(name=name):
                (self.folder / "CMakeLists.txt").write_text(PROJECT.replace("NAME", name))
                build = self.folder / f"build-{name}"
                run(CMAKE, "-S", self.folder, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
                run(CMAKE, "--build", build)
                self.assertEqual(run(build / "user"), "done\n")
                (build / "relayed.arch.toml").write_text(MACHINE)
                self.assertRegex(run(tool, "architecture", "run", build / "relayed.arch.toml"), r"done +7 ")


if __name__ == "__main__":
    CMAKE, BUILD = sys.argv[1], pathlib.Path(sys.argv[2])
    SOURCE = pathlib.Path(__file__).resolve().parents[2]
    del sys.argv[1:3]
    unittest.main()
