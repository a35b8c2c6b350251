#!/usr/bin/env python3
"""Which test proves which requirement of the worker.

w_numbers.py ROOT prints one line for each of W1 to W125 with the places in ROOT/tests that name
it, alone ("W12") or in a range ("W82-W94"), and fails when one is named nowhere.  Before that it
checks itself on a small text.
"""
import pathlib
import re
import sys

LAST = 125
# Not built yet, with the reason.  A number that has a test must not be listed.
MISSING = {}
SHOWN = 4

NAMED = re.compile(r"\bW(\d+)(?:-W(\d+))?\b")


def numbers(text):
    """Pairs of line and number."""
    for at, line in enumerate(text.splitlines(), 1):
        for match in NAMED.finditer(line):
            first = int(match[1])
            for number in range(first, int(match[2] or first) + 1):
                yield at, number


def check_self():
    found = list(numbers("/* W1, W3-W5 */\nW3ndows, AW7\n# W125"))
    assert found == [(1, 1), (1, 3), (1, 4), (1, 5), (3, 125)], found


def places(root):
    found = {number: [] for number in range(1, LAST + 1)}
    for path in sorted((root / "tests").rglob("*")):
        if path.suffix not in (".c", ".py") or path.name == pathlib.Path(__file__).name:
            continue
        for line, number in numbers(path.read_text(encoding="utf-8")):
            if number in found:
                found[number].append(f"{path.relative_to(root)}:{line}")
    return found


def main():
    check_self()
    wrong = []
    for number, where in places(pathlib.Path(sys.argv[1])).items():
        more = f" and {len(where) - SHOWN} more" if len(where) > SHOWN else ""
        print(f"W{number:<4} {', '.join(where[:SHOWN]) or MISSING.get(number, 'no test')}{more}")
        if bool(where) == (number in MISSING):
            wrong.append(f"W{number} " + ("has a test but is listed as missing" if where
                                          else "is named by no test"))
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
