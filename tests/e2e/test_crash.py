"""D25: killed at any moment, a session goes on as if nothing had been.

A server that answers by what it is asked, tools that leave lines in a file, and SIGKILL after a
random time, also while the session is resumed.  In the end: the run ends well, no tool that is
not read-only ran twice for one call, no item that was stored is lost, and every request was one
that a server takes.
"""
import json
import os
import random
import signal
import subprocess
import time

import e2e

ROUNDS = int(os.environ.get("MORTISE_TEST_ROUNDS", "60"))
SECONDS_FOR_ALL = 60
SECONDS_SANITIZED = 8  # it is slow: fewer rounds then, but at least …
LEAST_ROUNDS = 5
ANSWERS = [["call_1", "call_2"], ["call_3"], ["call_4", "call_5"]]  # and then a text
ALL_CALLS = [call for answer in ANSWERS for call in answer]


class Server(e2e.Server):
    """Says what comes next, by the number of results in the request."""

    def __init__(self, notes):
        super().__init__()
        self.notes = notes
        self.replies = self
        self.problems = []

    def __len__(self):
        return len(self.requests)

    def __getitem__(self, number):
        messages = self.requests[number]["body"]["messages"]
        self.check(messages)
        done = sum(message["role"] == "tool" for message in messages)
        for answer in ANSWERS:
            if done == 0:
                return e2e.openai_reply("I note.", [self.call(call) for call in answer])
            done -= len(answer)
        return e2e.openai_reply("All is noted.")

    def call(self, call):
        return call, "note", json.dumps({"file": self.notes, "text": call, "wait_ms": 2})

    def check(self, messages):
        """Each call has its result right behind it, in order (FAULTS 119, 120)."""
        waiting = []
        for message in messages:
            if message["role"] == "tool":
                if not waiting or waiting.pop(0) != message["tool_call_id"]:
                    self.problems.append(f"a result without its call: {messages}")
                continue
            if waiting:
                self.problems.append(f"calls without results: {messages}")
            waiting = [call["id"] for call in message.get("tool_calls", [])]
        if waiting or messages[-1]["role"] == "assistant":
            self.problems.append(f"nothing to answer: {messages}")


class Crash(e2e.Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(os.environ.get("MORTISE_TEST_SEED", "1"))
        self.counts = {"killed": 0, "resumed": 0, "unknown": 0}

    def arguments(self, server, *words):
        return ["-q", "-P", e2e.options.fixtures, "--no-plugins", "-m", "openai/m", "--base-url",
                server.url + "/v1", *words]

    def start_one(self, server, *words):
        return self.start(*self.arguments(server, *words), env={"OPENAI_API_KEY": "sk-0123456789"},
                          stdout=subprocess.DEVNULL)

    def kill_after(self, process, seconds):
        """The exit code if it was faster, else None."""
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.counts["killed"] += 1
        errors = process.stderr.read().decode()
        process.stderr.close()
        self.processes.remove(process)
        if process.returncode == -signal.SIGKILL:
            return None
        self.assertIn(process.returncode, (0, 2), errors)
        self.assertNotIn("Sanitizer", errors)
        return process.returncode

    def exported(self, session):
        """The items' lines, or None: there is no such session."""
        done = self.mortise("sessions", "export", session)
        if done.code == 2:
            return None
        self.check(done, 0)
        self.assertEqual(done.err, "", "something was skipped")
        return done.events[1:]

    def noted(self, server):
        if not os.path.exists(server.notes):
            return []
        with open(server.notes, encoding="utf-8") as notes:
            return notes.read().splitlines()

    def check_goes_on(self, before, after):
        """What was stored stays, but that a call is not open any more."""
        for old, new in zip(before, after):
            self.assertEqual({**old, "started": None}, {**new, "started": None})
        self.assertLessEqual(len(before), len(after))

    def check_end(self, server, lines):
        items = [line["item"] for line in lines]
        calls = [item["call_id"] for item in items if item["type"] == "function_call"]
        results = {item["call_id"]: item for item in items
                   if item["type"] == "function_call_output"}
        noted = self.noted(server)
        self.assertEqual(calls, ALL_CALLS)
        self.assertEqual(sorted(results), ALL_CALLS)
        self.assertEqual(len([item for item in items if item.get("role") == "user"]), 1)
        self.assertEqual(items[-1]["content"][0]["text"], "All is noted.")
        self.assertEqual(len(noted), len(set(noted)), "a tool ran twice for one call")
        for call, result in results.items():
            if result["is_error"]:
                self.assertIn("outcome unknown", result["output"])
                self.counts["unknown"] += 1
            else:
                self.assertEqual((result["output"], call in noted), (f"noted: {call}", True))

    def one_round(self, server, session, whole):
        process = self.start_one(server, "--session", session, "Note it.")
        code = self.kill_after(process, self.random.uniform(0, whole))
        before = self.exported(session)
        while code is None and before is not None:
            # Two of three times it is killed again, wherever it is.
            seconds = self.random.uniform(0, whole) if self.random.random() < 2 / 3 else e2e.SECONDS
            for call in self.noted(server):
                self.assertIn(call, [line["item"].get("call_id") for line in before])
            self.counts["resumed"] += 1
            code = self.kill_after(self.start_one(server, "resume", session), seconds)
            after = self.exported(session)
            self.check_goes_on(before, after)
            before = after
        self.assertEqual(server.problems, [])
        if before is None:
            self.assertEqual(self.noted(server), [])
        else:
            self.check_end(server, before)

    def measure(self):
        """How long a run takes that nobody kills, at most."""
        times = []
        for number in range(3):
            with Server(os.path.join(self.root, f"measure{number}")) as server:
                start = time.monotonic()
                process = self.start_one(server, "--session", f"measure{number}", "Note it.")
                self.assertEqual(self.kill_after(process, e2e.SECONDS), 0)
                times.append(time.monotonic() - start)
        return max(times)

    def test_killed_at_any_moment(self):
        whole = self.measure()
        is_sanitized = not e2e.options.fail_malloc
        until = time.monotonic() + (SECONDS_SANITIZED if is_sanitized else SECONDS_FOR_ALL)
        rounds = 0
        while rounds < ROUNDS and (rounds < LEAST_ROUNDS or time.monotonic() < until):
            with Server(os.path.join(self.root, f"notes{rounds}")) as server:
                self.one_round(server, f"s{rounds}", whole)
            rounds += 1
        print(f"{rounds} rounds, {self.counts}", file=e2e.sys.stderr)
        self.assertGreater(self.counts["resumed"], 0)


if __name__ == "__main__":
    e2e.main()
