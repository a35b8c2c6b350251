"""Whichever allocation fails: the binary never crashes, never hangs, and never lies.

Every outcome is one of the documented exit codes, and what ends with 0 has said everything.

A program allocates thousands of times at some hundred places, a place being the innermost calls that
lead to it.  In each test the first allocation of each place fails alone; and where no test was before,
also the last one, which is in the middle of things, and the first one with all that follow.  With
MORTISE_TEST_ALL set, each allocation fails alone and with all that follow, which takes an hour.
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import e2e

CODES = range(0, 9)

GREET = {"name": "greet", "arguments": {"name": "Ada"}}


@unittest.skipUnless(e2e.sys.platform == "linux", "glibc's malloc is needed")
class NoMemory(e2e.Case):
    def setUp(self):
        super().setUp()
        if not e2e.options.fail_malloc:
            self.skipTest("sanitizers bring their own malloc")

    known = set()  # places where a test was

    def run_failing(self, arguments, at, sites=None):
        """One run in which allocation `at` fails ("5" or "5+")."""
        env = self.environment({"LD_PRELOAD": e2e.options.fail_malloc, "FAIL_MALLOC": at,
                                "FAIL_MALLOC_SITES": sites})
        try:
            done = subprocess.run([e2e.options.mortise, *arguments], env=env, cwd=self.work,
                                  stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=e2e.SECONDS)
        except subprocess.TimeoutExpired:
            self.fail(f"{arguments} hangs when allocation {at} fails")
        return e2e.Done(done.returncode, done.stdout, done.stderr)

    def look(self, arguments):
        """The run in which none fails, and the place of each allocation, from the first."""
        with tempfile.NamedTemporaryFile("r", dir=self.root) as told:
            done = self.check(self.run_failing(arguments, "0", told.name), 0)
            lines = sorted((int(number), place) for number, place in map(str.split, told))
        self.assertEqual([number for number, _ in lines], list(range(1, len(lines) + 1)))
        return done, [place for _, place in lines]

    def wanted(self, places):
        """What is to fail."""
        total = len(places)
        if os.environ.get("MORTISE_TEST_ALL"):
            return [f"{at}{mode}" for at in range(1, total + 1) for mode in ("", "+")]
        first = {place: at for at, place in reversed(list(enumerate(places, 1)))}
        last = {place: at for at, place in enumerate(places, 1)}
        new = set(places) - self.known
        self.known.update(new)
        alone = set(first.values()) | {last[place] for place in new} | {total + 10}
        return [str(at) for at in alone] + [f"{first[place]}+" for place in new]

    def check_all(self, arguments, right):
        """`right` tells whether standard output is what it has to be."""
        done, places = self.look(arguments)
        self.assertTrue(right(done), done)
        self.assertGreater(len(places), 50)
        bad = []
        seen = set()

        def run(at):
            done = self.run_failing(arguments, at)
            seen.add(done.code)
            if done.code not in CODES:
                bad.append(f"allocation {at} of {len(places)}: {done}")
            elif done.code == 0 and not right(done):
                bad.append(f"allocation {at} of {len(places)}: exit code 0, but {done}")
            elif done.code != 0 and not done.err:
                bad.append(f"allocation {at} of {len(places)}: nothing is told\n{done}")

        wanted = self.wanted(places)
        with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
            list(pool.map(run, wanted))
        print(f"{len(wanted)} runs, {len(set(places))} places", file=e2e.sys.stderr)
        if bad:
            self.fail(f"{len(bad)} of {len(wanted)} runs went wrong; the first ones:\n\n"
                      + "\n\n".join(bad[:5]))
        self.assertIn(0, seen)
        self.assertGreater(len(seen), 1, "no allocation failed")

    def test_call_by_hand(self):
        arguments = ["tools", "call", "calculator", '{"op": "divide", "a": 12, "b": 4}']
        self.check_all(arguments, lambda done: done.out == "3\n")

    def test_run_with_a_call_and_the_audit(self):
        log = os.path.join(self.root, "audit.jsonl")
        self.config(plugin_config={"audit": {"file": log}})
        model = self.script({"text": "I ask.", "calls": [GREET]},
                            {"text": "The answer is Hello, Ada!", "expect": ["Hello, Ada!"]})
        arguments = ["-m", model, "Greet Ada"]
        self.check_all(arguments, lambda done: done.out == "I ask.\nThe answer is Hello, Ada!\n")

    def test_events(self):
        model = self.script({"text": "I ask.", "calls": [GREET]},
                            {"text": "Done.", "expect": ["Hello, Ada!"]})

        def right(done):
            try:
                events = done.events
            except ValueError:
                return False
            text = "".join(event["text"] for event in events if event["type"] == "text_delta")
            return text == "I ask.Done." and events[-1]["type"] == "result" \
                and events[-1]["text"] == "Done."

        self.check_all(["--json", "-m", model, "Greet Ada"], right)

    def test_replay(self):
        """Memory that is not there is no difference, and nothing is called the same that is not."""
        path = os.path.join(e2e.options.source, "tests/provider/recordings/anthropic.jsonl")
        self.check_all(["replay", path],
                       lambda done: done.out == "So it is.\nAnd so.\n"
                       and done.err.endswith(": no difference\n"))

    def test_session(self):
        """Each run has a store of its own, with one session in it."""
        model = self.script({"text": "I ask.", "calls": [GREET]},
                            {"text": "Done.", "expect": ["Hello, Ada!", "earlier"]})
        header = {"mortise_session": 1, "id": "trip", "state": "idle"}
        item = {"type": "message", "role": "user",
                "content": [{"type": "input_text", "text": "earlier"}]}
        lines = self.file("trip.jsonl", json.dumps(header) + "\n" + json.dumps({"item": item}) + "\n")
        self.check(self.mortise("sessions", "import", lines), 0)
        stored = os.path.join(self.home, ".local/share")
        environment = self.environment

        def own_store(extra):
            folder = tempfile.mkdtemp(dir=self.root)
            shutil.copytree(stored, folder, dirs_exist_ok=True)
            return environment({**(extra or {}), "XDG_DATA_HOME": folder})

        self.environment = own_store
        arguments = ["-m", model, "--session", "trip", "Greet Ada"]
        self.check_all(arguments, lambda done: done.out == "I ask.\nDone.\n")

    def test_settings(self):
        """A user's file that could not be read is not taken for one that is not there."""
        self.config(model="openai/m", max_turns=7, stop=["a", "b"])
        whole = self.check(self.mortise("config"), 0).out
        self.check_all(["config"], lambda done: done.out == whole)

    def test_doctor(self):
        """What could not be looked at is told, and is a problem.  A plugin that could not read its
        configuration may have taken the strict side, and the C library does not tell a locale or a
        library (that of seccomp) that is not there from one that it had no memory for."""
        def findings(done):
            return [re.sub(r"\d hooks?", "", line) for line in done.out.splitlines()
                    if " locale " not in line and " seccomp " not in line]

        plugins = os.path.join(os.path.dirname(os.path.dirname(e2e.options.mortise)), "lib",
                               "mortise", "plugins")
        arguments = ["doctor", "-m", "offline", "--no-plugins"]
        for name in ("greet", "approve", "execute_code"):
            arguments += ["-e", os.path.join(plugins, name + ".so")]
        whole = findings(self.check(self.mortise(*arguments), 0))
        self.check_all(arguments, lambda done: findings(done) == whole)

    def test_models(self):
        names = ["one", "two"]
        with e2e.Server(pages={"/v1/models": {"data": [{"id": name} for name in names]}}) as server:
            arguments = ["models", "ollama", "--base-url", server.url]
            self.check_all(arguments, lambda done: done.out == "ollama/one\nollama/two\n")

    def test_mcp_servers(self):
        servers = {"a": {"command": "x", "args": ["y"], "env": {"N": "v"}},
                   "b": {"url": "http://b.example", "headers": ["N: v"]}}
        self.file("home/.config/mortise/mcp.json", json.dumps({"mcpServers": servers}))
        for words in (["mcp", "list"], ["--json", "mcp", "list"]):
            whole = self.check(self.mortise(*words), 0).out
            self.check_all(words, lambda done, whole=whole: done.out == whole)

    def test_completion(self):
        arguments = ["completion", "words", "--", "--re"]
        whole = self.check(self.mortise(*arguments), 0).out
        self.check_all(arguments, lambda done: done.out == whole)

    def test_list(self):
        """A plugin that could not be loaded is told; the others are all there."""
        def lines(done):  # without the columns' widths
            return [" ".join(line.split()) for line in done.out.splitlines()]

        whole = lines(self.check(self.mortise("tools"), 0))
        self.check_all(["tools"], lambda done: lines(done) == whole or (
            done.err and set(lines(done)) < set(whole)))


if __name__ == "__main__":
    e2e.main()
