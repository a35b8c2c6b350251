#!/usr/bin/env python3
"""Runs the real binary against every recorded response, cut in five ways.

  test_fixtures.py MORTISE FIXTURE_TOOLS.so [--fixtures DIR] [--only TEXT] [--mode MODE]

Those of Anthropic are also sent as Amazon Bedrock frames them.  A case is one fixture in one
mode: what `mortise run --json` reports is compared with the fixture's `expect`.  A replay is a
second run with two turns: the second request must be one that the provider accepts, and hold
what `expect.replay` says.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bedrock
import valid_request

HERE = Path(__file__).resolve().parent
MODES = ["fixture", "whole", "bytes", "rand:1", "rand:2"]
PROVIDERS = {"openai-chat": ("openai", "/v1"), "openai-responses": ("openai-responses", "/v1"),
             "anthropic": ("anthropic", ""), "gemini": ("gemini", ""), "bedrock": ("bedrock", "")}
MODELS = {"bedrock": "us.anthropic.claude-test-v1:0"}  # else "test-model"
PROMPT = "Weather in Oslo and Rome?"
# The rows of the table of faults that each fixture shows.
SHOWS = {
    "01": "FAULTS 1", "03": "FAULTS 3", "04": "FAULTS 4, 5, 27", "05": "FAULTS 6",
    "06": "FAULTS 7", "07": "FAULTS 8", "08": "FAULTS 9", "10": "FAULTS 13", "12": "FAULTS 16",
    "13": "FAULTS 17", "14": "FAULTS 32", "15": "FAULTS 28 and 38", "16": "FAULTS 29 and 30",
    "17": "FAULTS 33", "18": "FAULTS 30", "19": "FAULTS 31", "21": "FAULTS 24", "22": "FAULTS 23",
    "24": "FAULTS 22", "25": "FAULTS 41", "26": "FAULTS 42", "27": "FAULTS 46", "28": "FAULTS 49",
    "30": "FAULTS 51", "31": "FAULTS 52", "32": "FAULTS 53", "33": "FAULTS 54", "34": "FAULTS 55",
    "35": "FAULTS 57", "36": "FAULTS 58", "38": "FAULTS 61", "39": "FAULTS 56", "40": "FAULTS 62",
    "41": "FAULTS 63", "42": "FAULTS 64", "43": "FAULTS 65", "44": "FAULTS 66", "45": "FAULTS 68",
    "46": "FAULTS 69 and 72", "48": "FAULTS 71", "49": "FAULTS 74", "50": "FAULTS 75",
    "51": "FAULTS 76 and 77", "52": "FAULTS 78", "53": "FAULTS 79", "54": "FAULTS 80",
    "55": "FAULTS 81", "56": "FAULTS 82", "57": "FAULTS 83", "58": "FAULTS 84",
    "59": "FAULTS 85 and 86", "60": "FAULTS 89 and 97", "61": "FAULTS 90", "63": "FAULTS 92",
    "64": "FAULTS 93", "65": "FAULTS 94", "66": "FAULTS 95", "67": "FAULTS 96",
    "68": "FAULTS 98 and 100", "69": "FAULTS 101", "70": "FAULTS 102", "72": "FAULTS 99",
    "73": "FAULTS 34 and 38", "74": "FAULTS 35", "75": "FAULTS 104", "76": "FAULTS 105",
    "77": "FAULTS 106", "78": "FAULTS 107", "80": "FAULTS 23", "81": "FAULTS 43",
    "83": "FAULTS 112", "84": "FAULTS 110", "85": "FAULTS 117", "86": "FAULTS 113",
    "87": "FAULTS 114", "88": "FAULTS 114", "89": "FAULTS 28", "90": "FAULTS 87",
    "91": "FAULTS 20",
}
USAGE = {"input": "input_tokens", "output": "output_tokens", "cached": "cached_tokens",
         "reasoning": "reasoning_tokens"}


class Fixture:
    def __init__(self, folder, provider=None):
        self.name = folder.name
        self.meta = json.loads((folder / "meta.json").read_text("utf-8"))
        self.expect = self.meta["expect"]
        self.calls = self.expect.get("tool_calls") or []
        provider = provider or self.meta["provider"]
        self.title = f"{self.name} as {provider}" if provider == "bedrock" else self.name
        self.is_known = provider in PROVIDERS
        if self.is_known:
            self.provider, self.path = PROVIDERS[provider]

    def options(self):
        requires = self.expect.get("requires") or {}
        options = []
        if "idle_timeout_s" in requires:
            options += ["--idle-timeout", str(requires["idle_timeout_s"])]
        if not self.meta.get("sequence"):
            options += ["--retries", str(requires.get("retries", 0))]
        return options

    def is_replayed(self):
        runs = any(runs_tool(call) or call.get("valid") is False for call in self.calls)
        return runs or bool(self.expect.get("replay"))


class Server:
    """serve.py in a process of its own."""

    def __init__(self, fixtures, mode, log):
        self.log = log
        self.process = subprocess.Popen(
            [sys.executable, HERE / "serve.py", fixtures, "0", "--mode", mode, "--log", log],
            stdout=subprocess.PIPE, text=True)
        self.url = "http://" + self.process.stdout.readline().split()[1]

    def requests(self, fixture):
        text = self.log.read_text("utf-8") if self.log.exists() else ""
        lines = text[:text.rfind("\n") + 1].splitlines()  # the last one may be half written
        return [entry for entry in map(json.loads, lines) if entry["fixture"] == fixture.name and
                bool(bedrock.PATH.search(entry["path"])) == (fixture.provider == "bedrock")]

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


class Run:
    """One run of the binary and what it reported."""

    def __init__(self, programs, fixture, server, folder, turns, provider=None, again=False):
        home = Path(tempfile.mkdtemp(dir=folder))
        self.tool_log = home / "tools.log"
        (home / "home").mkdir()
        environment = {name: value for name, value in os.environ.items()
                       if name == "PATH" or name.endswith("SAN_OPTIONS")}
        environment |= {"HOME": str(home / "home"), "FIXTURE_LOG": str(self.tool_log)}
        environment |= {f"{name}_API_KEY": "sk-fixture-0123456789"
                        for name in ("OPENAI", "ANTHROPIC", "DEEPSEEK", "GEMINI")}
        environment |= bedrock.ENVIRONMENT
        provider = provider or fixture.provider
        command = [programs[0], "run", "--json", "-m", f"{provider}/{MODELS.get(provider, 'test-model')}",
                   "--base-url", f"{server.url}/{fixture.name}{fixture.path}", "--no-plugins",
                   "-e", programs[1], "--max-turns", str(turns), *fixture.options(), PROMPT]
        start = time.monotonic()
        for more in [["--session", "s"], ["-c"]] if again else [[]]:
            done = subprocess.run([*command, *more], env=environment, cwd=home / "home",
                                  timeout=60, stdin=subprocess.DEVNULL, capture_output=True)
        self.seconds = time.monotonic() - start
        self.status = done.returncode
        self.stderr = done.stderr.decode("utf-8", "replace")
        self.events = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]

    def all(self, kind):
        return [event for event in self.events if event["type"] == kind]

    def first_turn(self):
        """The events of the first turn, of its last attempt."""
        events = []
        for event in self.events:
            if event["type"] == "reset":
                events = []
            events.append(event)
            if event["type"] == "turn_end":
                break
        return events

    def joined(self, kind):
        return "".join(event["text"] for event in self.first_turn() if event["type"] == kind)

    def ran(self):
        """What the tools noted: [name, arguments]."""
        lines = self.tool_log.read_text("utf-8").splitlines() if self.tool_log.exists() else []
        return [[entry["name"], entry["arguments"]] for entry in map(json.loads, lines)]


class Differences(list):
    def compare(self, what, expected, actual):
        if expected != actual:
            self.append(f"{what}: expected {expected!r}\n{'':12}but got  {actual!r}")

    def check(self, condition, text):
        if not condition:
            self.append(text)


# ---- what one response was understood as -----------------------------------------------------

def runs_tool(call):
    return all(call.get(key, True) for key in ("valid", "execute", "known"))


def compare_call(differences, number, call, event, results, ids):
    what = f"call {number}"
    if call["id"] == "*":
        differences.check(valid_request.ID.fullmatch(event["id"]) and ids[event["id"]] == 1,
                          f"{what}: the made id {event['id']!r} is not a unique, valid one")
    else:
        differences.compare(f"{what} id", call["id"], event["id"])
    names = [call["name"], call.get("resolves_to", call["name"])]
    differences.check(event["name"] in names, f"{what}: name {event['name']!r} is none of {names}")
    differences.compare(f"{what} arguments", call["arguments"], event["arguments"])
    if call["arguments"] is None:
        differences.compare(f"{what} raw arguments", call["arguments_raw"],
                            event.get("arguments_raw"))
    differences.compare(f"{what} valid", call.get("valid", True), event["valid"])

    mine = [result for result in results if result["id"] == event["id"]]
    if call.get("execute") is False and not mine:
        return
    differences.compare(f"{what} number of results", 1, len(mine))
    for result in mine:
        differences.compare(f"{what} success", runs_tool(call), result["success"])
        if call.get("known") is False:
            differences.check("get_weather" in str(result["result"]),
                              f"{what}: the result names no tool that exists: {result['result']!r}")


def compare_calls(differences, fixture, run):
    events = run.all("tool_call")
    ids = collections.Counter(event["id"] for event in events)
    differences.compare("calls", [call["name"] for call in fixture.calls],
                        [event["name"] for event in events]
                        if len(events) != len(fixture.calls)
                        else [call["name"] for call in fixture.calls])
    for number, (call, event) in enumerate(zip(fixture.calls, events), 1):
        compare_call(differences, number, call, event, run.all("tool_result"), ids)
    expected = [[call.get("resolves_to", call["name"]), call["arguments"]]
                for call in fixture.calls if runs_tool(call)]
    differences.compare("tools that ran", sorted(expected, key=str), sorted(run.ran(), key=str))


def compare_error(differences, expected, run):
    errors = run.all("error")
    if not expected:
        differences.compare("errors", [], errors)
        return
    differences.compare("number of errors", 1, len(errors))
    for error in errors:
        differences.compare("error kind", expected["kind"], error["kind"])
        differences.compare("error retryable", expected["retryable"], error["retryable"])
        differences.check(expected["message_contains"] in error["message"],
                          f"error message {error['message']!r} does not hold "
                          f"{expected['message_contains']!r}")


def compare_usage(differences, expected, run):
    events = [event for event in run.first_turn() if event["type"] == "usage"]
    if not expected:
        return
    differences.compare("number of usage events", 1, len(events))
    for event in events:
        differences.compare("usage", expected,
                            {name: event.get(USAGE[name]) for name in expected})


def compare_case(fixture, run, requests):
    differences = Differences()
    expect = fixture.expect
    differences.compare("text", expect["text"], run.joined("text_delta"))
    differences.compare("reasoning", expect.get("reasoning") or "", run.joined("reasoning_delta"))
    differences.compare("refusal", expect.get("refusal") or "", run.joined("refusal_delta"))
    ends = run.all("turn_end")
    differences.compare("stop reason", expect["stop_reason"],
                        ends[0]["stop_reason"] if ends else None)
    compare_calls(differences, fixture, run)
    compare_usage(differences, expect.get("usage"), run)
    compare_error(differences, expect.get("error"), run)
    differences.check(0 <= run.status <= 8, f"exit code {run.status}")
    differences.check(run.events and run.events[-1]["type"] == "result",
                      "the last line is no result")
    if "requests" in expect:
        differences.compare("requests", expect["requests"], requests)
    differences.check(run.seconds <= expect.get("max_seconds", 60), f"took {run.seconds:.1f} s")
    differences.check(run.seconds >= expect.get("min_seconds", 0), f"took {run.seconds:.1f} s")
    return differences


# ---- what is sent back -----------------------------------------------------------------------

def check_chat(differences, body, replay):
    assistant = next(message for message in body["messages"] if message["role"] == "assistant")
    for field, value in (replay.get("assistant_fields") or {}).items():
        differences.compare(field, value, assistant.get(field))


def without_cache_marks(block):
    return {key: value for key, value in block.items() if key != "cache_control"}


def check_messages(differences, body, replay):
    made, *after = [[without_cache_marks(block) for block in valid_request.blocks_of(message)]
                    for message in body["messages"][1:]]
    if "assistant_content" in replay:
        differences.compare("assistant content", replay["assistant_content"], made)
    for expected, block in zip(replay.get("next_user_content_starts_with") or [], *after[:1]):
        differences.compare("next user content", expected,
                            {key: block.get(key) for key in expected})
    if "next_message" in replay:
        differences.compare("messages behind the assistant's", [], after)


def check_contents(differences, body, replay):
    made = body["contents"][1]["parts"]
    if "part_with_signature_kept" in replay:
        differences.check(replay["part_with_signature_kept"] in made,
                          f"no {replay['part_with_signature_kept']} in {made}")


def check_input(differences, body, replay):
    if "input_items_in_order" in replay:
        expected = replay["input_items_in_order"]
        differences.compare("input items", expected, body["input"][1:1 + len(expected)])


def check_bedrock(differences, body, replay):
    differences.compare("version", "bedrock-2023-05-31", body.get("anthropic_version"))
    differences.compare("what the path says", [], [key for key in ("model", "stream") if key in body])
    check_messages(differences, body, replay)


CHECKS = {"openai": check_chat, "openai-responses": check_input, "anthropic": check_messages,
          "gemini": check_contents, "bedrock": check_bedrock}


def compare_replay(fixture, requests):
    differences = Differences()
    may_end = all(call.get("execute") is False for call in fixture.calls) and fixture.calls
    if len(requests) < 2:
        differences.check(may_end, "there was no second request")
        return differences
    body = requests[1]["body"]
    replay = fixture.expect.get("replay") or {}
    differences += valid_request.problems(fixture.provider, body)
    CHECKS[fixture.provider](differences, body, replay)
    return differences


# ---- all of it -------------------------------------------------------------------------------

def report(name, differences, run):
    if not differences:
        return True
    print(f"FAILED {name}")
    for difference in differences:
        print(f"    {difference}")
    if run:
        print("    " + "\n    ".join(run.stderr.splitlines()[-8:]))
    return False


def guarded(name, work):
    """A run that breaks off in an unforeseen way is a failure, not the end of the test."""
    try:
        return work()
    except Exception as error:
        return report(name, [f"{type(error).__name__}: {error}"], None)


def run_case(programs, fixture, mode, server, folder):
    def work():
        run = Run(programs, fixture, server, folder, turns=1)
        differences = compare_case(fixture, run, len(server.requests(fixture)))
        return report(f"{fixture.title} ({mode})", differences, run)
    return guarded(f"{fixture.title} ({mode})", work)


def run_replay(programs, fixture, server, folder):
    def work():
        # Only some providers want their reasoning back.
        provider = "deepseek" if "when" in (fixture.expect.get("replay") or {}) else None
        run = Run(programs, fixture, server, folder, turns=2, provider=provider,
                  again=not fixture.calls)  # then it takes a second prompt
        return report(f"{fixture.title} (replay)",
                      compare_replay(fixture, server.requests(fixture)), run)
    return guarded(f"{fixture.title} (replay)", work)


def run_all(options, fixtures, folder):
    programs = [options.mortise.resolve(), options.tools.resolve()]
    modes = options.mode or MODES
    servers = {mode: Server(options.fixtures, mode, folder / f"{mode}.log") for mode in modes}
    replays = Server(options.fixtures, "fixture", folder / "replay.log")
    try:
        with ThreadPoolExecutor(max_workers=4) as pool:
            cases = [pool.submit(run_case, programs, fixture, mode, servers[mode], folder)
                     for fixture in fixtures for mode in modes]
            seconds = [pool.submit(run_replay, programs, fixture, replays, folder)
                       for fixture in fixtures if fixture.is_replayed()]
            return [case.result() for case in cases], [case.result() for case in seconds]
    finally:
        for server in [*servers.values(), replays]:
            server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mortise", type=Path)
    parser.add_argument("tools", type=Path, metavar="FIXTURE_TOOLS.so")
    parser.add_argument("--fixtures", type=Path, default=HERE / "fixtures")
    parser.add_argument("--only", default="", help="fixtures whose name, or name and 'as bedrock', holds this")
    parser.add_argument("--mode", action="append", help="only this one (repeatable)")
    options = parser.parse_args()

    folders = [path.parent for path in sorted(options.fixtures.glob("*/meta.json"))]
    everything = [Fixture(folder) for folder in folders]
    everything += [Fixture(folder, "bedrock") for folder, fixture in zip(folders, everything)
                   if fixture.meta["provider"] == "anthropic"]
    unknown = [fixture.name for fixture in everything if fixture.name[:2] not in SHOWS]
    if unknown:
        print(f"nobody says what these fixtures show: {unknown}")
        return 1
    fixtures = [fixture for fixture in everything
                if fixture.is_known and options.only in fixture.title]
    if not fixtures:
        print(f"no fixture was found in {options.fixtures}")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        cases, replays = run_all(options, fixtures, Path(folder))
    left_out = sum(not fixture.is_known for fixture in everything)
    print(f"{sum(cases)} of {len(cases)} cases and {sum(replays)} of {len(replays)} replays passed "
          f"({len(fixtures)} fixtures; {left_out} of other providers left out)")
    return 0 if all(cases) and all(replays) else 1


if __name__ == "__main__":
    sys.exit(main())
