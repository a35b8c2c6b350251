#!/usr/bin/env python3
"""Runs over a network that breaks in every way, and each session goes on afterwards.

  test_fault_proxy.py MORTISE FIXTURE_TOOLS.so [--runs N] [--seed N]

A run is the real binary with a session and tools against fault_proxy.py.  It must end by itself
within its timers, with a documented exit code and a complete report; and then a second one, against
a server without faults, must go on with the session: its request is one that the provider takes,
and holds every result of a tool that ran.  A failure prints its seed; --seed runs that one alone.

D11, D25; FAULTS 1-24, 36, 38, 39, 73, 119-121, 125; W29, W36, W37, W112, W125, F57, M6
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fault_proxy
import valid_request

PROVIDERS = list(fault_proxy.REPLIES)
KEY = "sk-wire-5e1f0c77ab42"
# Of the run that meets the faults; the one afterwards is as patient as a user's.
TIMERS = ["--connect-timeout", "1", "--first-byte-timeout", "0.3", "--idle-timeout", "0.3",
          "--retries", "1", "--max-turns", "4"]
# 4 turns, 2 attempts each, 0.3 s of silence and 0.5 s before the second; slow machines on top.
MOST_SECONDS = 20
ANSWERS = {"get_weather": "Dry in ", "run_sql": "1 row", "list_dir": "a.md b.md",
           "read_file": "The text of "}
EXIT_CODES = {0, 1, 3, 4, 7}  # finished, failed, configuration, provider or network, limit


class Run:
    """One process of the binary, to its end."""

    def __init__(self, programs, url, provider, home, prompt, *options):
        environment = {name: value for name, value in os.environ.items()
                       if name == "PATH" or name.endswith("SAN_OPTIONS")}
        environment |= {"HOME": str(home), "FIXTURE_LOG": str(home / "tools.log"),
                        "LC_ALL": "C.UTF-8"}
        environment |= {f"{name}_API_KEY": KEY for name in ("OPENAI", "ANTHROPIC", "GEMINI")}
        command = [programs[0], "run", "--json", "-m", f"{provider}/test-model", "--base-url", url,
                   "--no-plugins", "-e", programs[1], "--session", "s", *options, prompt]
        done = subprocess.run(command, env=environment, cwd=home, timeout=MOST_SECONDS,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.status = done.returncode
        self.stdout = done.stdout
        self.stderr = done.stderr.decode("utf-8", "replace")
        self.problems = []
        if self.status < 0 or "Sanitizer" in self.stderr:
            self.problems.append(f"crashed: {self.status}")
        try:
            self.events = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
        except ValueError as error:
            self.events = []
            self.problems.append(f"the report is not readable: {error}")

    def all(self, kind):
        return [event for event in self.events if event["type"] == kind]

    def check(self, codes):
        if self.status not in codes:
            self.problems.append(f"exit code {self.status}")
        if not self.events or self.events[-1]["type"] != "result":
            self.problems.append("the last line is no result")
        elif self.events[-1]["exit_code"] != self.status:
            self.problems.append(f"exit code {self.status}, but {self.events[-1]}")
        if KEY.encode() in self.stdout or KEY in self.stderr:
            self.problems.append("the key is shown")


def check_tools(run, body, home):
    """What ran is known afterwards: each call has a result, and the history holds it."""
    log = home / "tools.log"
    ran = Counter(json.loads(line)["name"] for line in log.read_text("utf-8").splitlines()) \
        if log.exists() else Counter()
    results = [event["name"] for event in run.all("tool_result") if event["success"]]
    text = json.dumps(body)
    for name, times in ran.items():
        told = sum(result.endswith(name) for result in results)  # or with a prefix: FAULTS 85
        kept = text.count(ANSWERS[name])
        if told != times or kept != times:
            run.problems.append(f"'{name}' ran {times} times, of which {told} were told and "
                                f"{kept} are in the history")


def one(programs, server, seed, folder, codes):
    """None, or the report of what went wrong.  `codes` counts how the runs ended."""
    dice = random.Random(seed)
    provider = PROVIDERS[seed % len(PROVIDERS)]
    home = Path(tempfile.mkdtemp(dir=folder))
    broken, good, again = server.seen[str(seed)], f"0-{seed}", None
    start = time.monotonic()
    try:
        run = Run(programs, server.base_url(seed, provider), provider, home,
                  dice.choice(["Weather in Oslo?", "Oslo\u2028東京"]), *TIMERS)
        run.check(EXIT_CODES)
        codes.append(run.status)
        again = Run(programs, server.base_url(good, provider), provider, home, "And now?")
        again.check({0})
        problems = run.problems + [f"afterwards: {text}" for text in again.problems]
        bodies = server.seen[good].bodies
        if len(bodies) != 1:
            problems.append(f"afterwards: {len(bodies)} requests")
        else:
            check_tools(run, bodies[0], home)
            problems += run.problems
        problems += broken.problems + server.seen[good].problems
        stderr = run.stderr + again.stderr
    except subprocess.TimeoutExpired as error:
        problems = [f"hangs: still there after {MOST_SECONDS} s"]
        stderr = (error.stderr or b"").decode("utf-8", "replace")
    shutil.rmtree(home, ignore_errors=True)
    if not problems:
        return None
    lines = [f"FAILED --seed {seed} ({provider}, {time.monotonic() - start:.1f} s)"]
    lines += [f"    fault of request {name}" for name in broken.faults]
    lines += [f"    {text[:1500]}" for text in dict.fromkeys(problems)]
    return "\n".join(lines + [f"    {line}" for line in stderr.splitlines()[-6:]])


# ---- that the test can fail ------------------------------------------------------------------

def check_self():
    """The checks of requests find what they are for."""
    user = {"role": "user", "content": "hi"}
    call = {"id": "a", "function": {"name": "x", "arguments": "{}"}}
    asks = {"role": "assistant", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "a", "content": "b"}
    good = [user, asks, result]
    wrong = [[], [asks], [user, asks], [user, asks, user], [user, result], good + [result],
             [user, asks, {**result, "tool_call_id": "b"}], good + [asks, result],
             [user, {"role": "assistant", "content": ""}, user], [{**user, "content": "\ud800"}],
             [user, {**asks, "tool_calls": [{**call, "id": "a b"}]}, {**result, "tool_call_id": "a b"}],
             [user, {"role": "assistant", "tool_calls": [{"id": "a", "function": {
                 "name": "x", "arguments": "["}}]}, result]]
    assert not valid_request.problems("openai", {"messages": good})
    for messages in wrong:
        assert valid_request.problems("openai", {"messages": messages}), messages
    for provider in PROVIDERS[1:]:
        assert valid_request.problems(provider, {"messages": good, "input": [asks], "contents": []})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mortise", type=Path)
    parser.add_argument("tools", type=Path, metavar="FIXTURE_TOOLS.so")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, help="only this one")
    options = parser.parse_args()
    check_self()
    programs = [options.mortise.resolve(), options.tools.resolve()]
    seeds = [options.seed] if options.seed else range(1, options.runs + 1)
    server = fault_proxy.Server()
    start, codes = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=8) as pool:
        reports = list(pool.map(lambda seed: one(programs, server, seed, folder, codes), seeds))
    server.close()
    faults = Counter(name.split(": ")[1] for seen in server.seen.values() for name in seen.faults)
    failed = [report for report in reports if report]
    print("\n".join(failed + [f"{count:5} {name}" for name, count in faults.most_common()]))
    print("exit codes:", ", ".join(f"{code}: {count}" for code, count in
                                   sorted(Counter(codes).items())))
    requests = sum(len(seen.bodies) for seen in server.seen.values())
    print(f"{len(reports) - len(failed)} of {len(reports)} runs passed, {requests} requests, "
          f"{sum(faults.values())} faults, {time.monotonic() - start:.1f} s")
    return 1 if failed or not reports else 0


if __name__ == "__main__":
    sys.exit(main())
