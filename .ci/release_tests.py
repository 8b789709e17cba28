#!/usr/bin/env python3
"""Runs the tests that are labelled `release`, as many as the time allows.

    release_tests.py BUILD --seconds SECONDS

Another commit begins with other tests, so that each has its turn. Says which were not run. The
exit status is 1 if a test failed.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import time

BATCH = 9  # tests: few, since a batch that has begun is run to its end


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seconds", type=float, required=True)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    ctest = ["ctest", "--test-dir", options.build]
    listed = subprocess.run([*ctest, "-L", "^release$", "--show-only=json-v1"], check=True, capture_output=True)
    waiting = [test["name"] for test in json.loads(listed.stdout)["tests"]]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout
    random.Random(commit).shuffle(waiting)
    status = 0
    while waiting and time.monotonic() < end:
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        names = "|".join(map(re.escape, batch))
        ended = subprocess.run([*ctest, "--output-on-failure", "-j", "3", "--repeat", "until-pass:2",
                                "-R", f"^({names})$"])
        status = status or int(ended.returncode != 0)
    for name in sorted(waiting):
        print(f"not run, no time was left: {name}")
    return status


if __name__ == "__main__":
    sys.exit(main())
