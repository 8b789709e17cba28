#!/usr/bin/env python3
"""Runs the examples of a documentation page.

    run_examples.py --build DIR --source DIR PAGE.md          checks
    run_examples.py --build DIR --source DIR --update PAGE.md writes real output into the page

In fenced blocks marked `console` every line that begins with "$ " is a command;
all of a page's commands run in order in one scratch folder, where `build`,
`machines` and `include` stand for the project's. Each must end with status 0,
or with N after a comment "# status N" at its end. In blocks marked `console exact`
the output must be what the page shows, a line "..." standing for any lines.
A comment <!-- file: NAME --> before a block writes the block to a file.
A picture of the page (images/NAME.svg) that a command writes as NAME.svg must be the same, byte for byte.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile

STATUS = re.compile(r"  # status (\d+)$")


@dataclasses.dataclass
class Step:
    command: str
    status: int
    expected: list  # lines
    exact: bool
    line: int       # in the page, from 1


@dataclasses.dataclass
class File:
    name: str
    text: str


def read_page(lines):
    """The page's files and steps, in order."""
    steps, name, block, info, begin = [], None, None, "", 0
    for number, line in enumerate(lines, 1):
        if block is None:
            named = re.match(r"<!-- file: (\S+) -->", line)
            if named:
                name = named.group(1)
            elif line.startswith("```"):
                block, info, begin = [], line[3:].strip(), number
            continue
        if line.startswith("```"):
            if name:
                steps.append(File(name, "\n".join(block) + "\n"))
            elif info.split()[:1] == ["console"]:
                steps += read_block(block, "exact" in info.split(), begin)
            block, name = None, None
        else:
            block.append(line)
    return steps


def read_block(block, exact, begin):
    steps = []
    for number, line in enumerate(block, begin + 1):
        if line.startswith("$ "):
            status = STATUS.search(line)
            command = STATUS.sub("", line[2:])
            steps.append(Step(command, int(status.group(1)) if status else 0, [], exact, number))
        elif steps:
            steps[-1].expected.append(line)
        else:
            raise SystemExit(f"line {number}: a console block begins with a command ($ ...)")
    return steps


def run(step, folder, environment):
    try:
        done = subprocess.run(["bash", "-c", step.command], cwd=folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=150)
    except subprocess.TimeoutExpired:
        return None, []
    return done.returncode, done.stdout.splitlines()


def agrees(expected, got):
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in got)) is not None


def check(step, status, got):
    """The complaint, or None."""
    if status is None:
        return "does not end"
    if status != step.status:
        return f"status {status}, expected {step.status}:\n" + "\n".join(got)
    if step.exact and not agrees(step.expected, got):
        return "expected\n" + "\n".join(step.expected) + "\ngot\n" + "\n".join(got)
    return None


def updated(lines, results):
    """The page with the output of each command, except where "..." shortens it."""
    out, at = [], 0
    for step, got in results:
        out += lines[at:step.line]
        at = step.line + len(step.expected)
        out += step.expected if "..." in step.expected else got
    return out + lines[at:]


def check_pictures(page, lines, folder, update):
    """How many pictures of the page are not what its commands have written."""
    failures = 0
    for name in re.findall(r"\]\(images/([\w-]+\.svg)\)", "\n".join(lines)):
        made, kept = folder / name, page.parent / "images" / name
        if not made.exists():
            continue
        if update:
            kept.write_bytes(made.read_bytes())
        same = kept.exists() and kept.read_bytes() == made.read_bytes()
        print(f"{'ok' if same else 'FAILED'} picture {name}", flush=True)
        failures += not same
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("page", type=pathlib.Path)
    arguments = parser.parse_args()
    lines = arguments.page.read_text(encoding="utf-8").splitlines()
    steps = read_page(lines)
    if not any(isinstance(step, Step) for step in steps):
        raise SystemExit(f"{arguments.page}: no examples to run")
    build = arguments.build.resolve()
    environment = dict(os.environ, PATH=f"{build / 'bin'}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    failures, results = 0, []
    with tempfile.TemporaryDirectory(prefix="foretrace-docs-") as scratch:
        folder = pathlib.Path(scratch)
        (folder / "build").symlink_to(build)
        for shared in ("machines", "include"):
            (folder / shared).symlink_to(arguments.source.resolve() / shared)
        for step in steps:
            if isinstance(step, File):
                (folder / step.name).write_text(step.text)
                continue
            status, got = run(step, folder, environment)
            results.append((step, got))
            complaint = None if arguments.update and status == step.status else check(step, status, got)
            print(f"{'FAILED' if complaint else 'ok'} line {step.line}: {step.command}", flush=True)
            if complaint:
                failures += 1
                print(complaint)
        failures += check_pictures(arguments.page, lines, folder, arguments.update and not failures)
    if arguments.update and not failures:
        arguments.page.write_text("\n".join(updated(lines, results)) + "\n", encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
