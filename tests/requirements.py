#!/usr/bin/env python3
"""Which test proves which requirement.

requirements.py ROOT prints one line for each requirement with the places in the tests of ROOT that
name it, alone ("W12") or in a range ("W82-W94"), and fails when one is named nowhere.  Before that
it checks itself on a small text.

    W  the worker and its turn loop        F  function tools, as authors and users see them
    T  tools, registry and SDK             M  what the host is
    S  a server of the Model Context Protocol, and C its client; named only in files that have
       "mcp" in their path, since C11 is also a language
"""
import pathlib
import re
import sys

FAMILIES = {"W": 125, "F": 75, "T": 73, "M": 7, "S": 47, "C": 29}
OF_PROTOCOL = {"S", "C"}
NEVER = {"T65"}  # there is no such row
# Not built, with the reason.  A number that has a test must not be listed.
MISSING = {
    "T39": "a failure is told once, in the words of T18 to T20: a second frame around them is left out",
}
SHOWN = 4

NAMED = re.compile(r"\b([WFTMSC])(\d+)(?:-\1(\d+))?\b")


def named(text):
    """Pairs of line and requirement."""
    for at, line in enumerate(text.splitlines(), 1):
        for family, first, last in NAMED.findall(line):
            for number in range(int(first), int(last or first) + 1):
                yield at, f"{family}{number}"


def check_self():
    found = list(named("/* W1, W3-W5 */\nW3ndows, AW7, T1-F3\n# F75"))
    assert found == [(1, "W1"), (1, "W3"), (1, "W4"), (1, "W5"), (2, "T1"), (2, "F3"),
                     (3, "F75")], found


def places(root):
    found = {f"{family}{number}": [] for family, last in FAMILIES.items()
             for number in range(1, last + 1)}
    for never in NEVER:
        del found[never]
    tests = [*(root / "tests").rglob("*"), *(root / "plugins").rglob("test_*")]
    for path in sorted(tests):
        if path.suffix not in (".c", ".py") or path.name == pathlib.Path(__file__).name:
            continue
        for line, requirement in named(path.read_text(encoding="utf-8")):
            is_meant = requirement[0] not in OF_PROTOCOL or "mcp" in str(path.relative_to(root))
            if requirement in found and is_meant:
                found[requirement].append(f"{path.relative_to(root)}:{line}")
    return found


def main():
    check_self()
    wrong = []
    for requirement, where in places(pathlib.Path(sys.argv[1])).items():
        more = f" and {len(where) - SHOWN} more" if len(where) > SHOWN else ""
        known = ", ".join(where[:SHOWN]) or MISSING.get(requirement, "no test")
        print(f"{requirement:<5} {known}{more}")
        if bool(where) == (requirement in MISSING):
            wrong.append(f"{requirement} " + ("has a test but is listed as missing" if where
                                              else "is named by no test"))
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
