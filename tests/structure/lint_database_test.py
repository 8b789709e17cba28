"""tools/lint-database: each source has its own command, though some are compiled together."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv.pop()) / "tools" / "lint-database"


class LintDatabase(unittest.TestCase):
    def test_sources_that_are_compiled_together(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            unity = build / "Unity" / "unity_0_cxx.cxx"
            unity.parent.mkdir()
            unity.write_text('/* generated */\n\n#include "/s/a.cpp"\n\n#include "/s/b.cpp"\n')
            commands = [(unity, f"c++ -DMPI=1 -c {unity}"), ("/s/c.cpp", "c++ -DMPI=1 -c /s/c.cpp"),
                        ("/s/c.cpp", "c++ -DMPI=2 -c /s/c.cpp")]
            (build / "compile_commands.json").write_text(json.dumps(
                [{"directory": folder, "file": str(file), "command": command} for file, command in commands]))
            subprocess.run([TOOL, build], check=True)
            made = json.loads((build / "lint" / "compile_commands.json").read_text())
        self.assertEqual([(entry["directory"], entry["file"], entry["command"]) for entry in made],
                         [(folder, f"/s/{name}.cpp", f"c++ -DMPI=1 -c /s/{name}.cpp") for name in "abc"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
