"""Runs every test runner of the project and ends with one line: N passed, N failed.

C and C++ tests are those that Meson knows: doctest programs, and programs that end with `cases: N passed, N failed`.
Python tests are pytest's. A runner that dies without a count is one failure.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIME_LIMIT = 1200  # seconds a program
COUNTS = [
    re.compile(r"\[doctest\] test cases:\s*\d+ \|\s*(?P<passed>\d+) passed \|\s*(?P<failed>\d+) failed"),
    re.compile(r"^cases: (?P<passed>\d+) passed, (?P<failed>\d+) failed", re.MULTILINE),
]


def run_program(name: str, command: list[str], env: dict[str, str]) -> tuple[int, int]:
    try:
        result = subprocess.run(
            command, cwd=ROOT, env=os.environ | env, capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"FAIL {name}: not done after {TIME_LIMIT} s", flush=True)
        return 0, 1
    output = result.stdout + result.stderr
    passed = failed = 0
    for pattern in COUNTS:
        for match in pattern.finditer(output):
            passed += int(match["passed"])
            failed += int(match["failed"])
    if result.returncode and not failed:
        failed = 1
    if not passed and not failed:
        passed = 1  # a program that succeeds without a count is one test
    print(f"{'ok  ' if not failed else 'FAIL'} {name}: {passed} passed, {failed} failed", flush=True)
    if failed:
        print(output, flush=True)
    return passed, failed


def run_pytest(arguments: list[str]) -> tuple[int, int]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(arguments or ["tests"])]
    lines = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    summary = next((line for line in reversed(lines) if re.search(r"\d+ (passed|failed|error)", line)), "")
    count = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|error)", summary)}
    failed = count.get("failed", 0) + count.get("error", 0)
    if process.returncode not in (0, 5) and not failed:
        failed = 1
    return count.get("passed", 0), failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--only", choices=["programs", "python"])
    parser.add_argument("pytest_arguments", nargs="*")
    options = parser.parse_args()
    os.environ["FLDSL_BUILD"] = options.build
    total_passed = total_failed = 0
    if options.only != "python":
        listing = subprocess.run(
            ["meson", "introspect", "--tests", options.build], capture_output=True, text=True, check=True
        )
        tests = json.loads(listing.stdout)
        if not any(test["name"] == "passes" for test in tests):
            print("FAIL the C++ tests were not built: doctest is missing (Debian: doctest-dev)")
            total_failed += 1
        for test in tests:
            passed, failed = run_program(test["name"], test["cmd"], test["env"])
            total_passed += passed
            total_failed += failed
    if options.only != "programs":
        passed, failed = run_pytest(options.pytest_arguments)
        total_passed += passed
        total_failed += failed
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if total_failed else 0


if __name__ == "__main__":
    sys.exit(main())
