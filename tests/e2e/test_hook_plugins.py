"""The hook plugins that come with mortise, in the real binary."""
import fcntl
import json
import os
import pty
import select
import termios
import time

import e2e

ECHO = {"name": "echo", "arguments": {"text": "said"}}


class Case(e2e.Case):
    def play(self, plugins, *turns, options=(), **how):
        self.config(plugin_config=plugins)
        return self.mortise("--json", "-P", e2e.options.fixtures, *options, "-m",
                            self.script(*turns), "the prompt", **how)

    def results(self, done):
        return [result["result"] for result in done.of_type("tool_result")]

    def check_stopped(self, done, plugin, event, reason):
        self.check(done, 6)
        for part in (f"'{plugin}'", event, reason):
            self.assertIn(part, done.err)


class Unconfigured(Case):
    def test_nothing_happens(self):
        """Without a configuration there are no hooks, and a run is what it was."""
        done = self.check(self.play({}, {"calls": [ECHO]}, {"text": "ok"}, options=["-vv"]), 0)
        self.assertEqual(done.of_type("hook"), [])
        self.assertEqual(self.results(done), ["said"])
        for plugin in PLUGINS:
            shown = self.check(self.mortise("plugins", "show", plugin), 0)
            self.assertNotIn("PreToolCall", shown.out)
            self.assertNotIn("OnTurnEnd", shown.out)


class Approve(Case):
    ALL = {"default": "ask"}

    def policy(self, **policy):
        self.file("home/.config/mortise/approve.json", json.dumps(policy))

    def answer(self, answers, *turns, options=()):
        """A run with a controlling terminal, at which each question gets the next answer:
        (how it ended, what the terminal showed)."""
        if answers and e2e.ISOLATED:
            self.skipTest("a plugin in a process of its own has no terminal")
        self.config()
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)

        def own_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        process = self.start("--json", *options, "-P", e2e.options.fixtures, "-m",
                             self.script(*turns), "the prompt", preexec_fn=own_terminal,
                             pass_fds=[slave])
        os.close(slave)
        shown, asked = b"", 0
        for answer in answers:
            asked += 1
            self.read_until(master, lambda text: text.count(b"Allow it?") >= asked)
            shown = self.seen
            time.sleep(0.05)  # until it listens: what comes before is thrown away
            os.write(master, answer)
        done = self.finish(process)
        self.read_until(master, lambda text: False)
        shown, self.seen = self.seen, b""
        self.assertEqual(shown.count(b"Allow it?"), asked, shown)
        return done, shown.decode("utf-8")

    seen = b""

    def read_until(self, master, enough):
        until = time.monotonic() + e2e.SECONDS
        while not enough(self.seen) and time.monotonic() < until:
            if not select.select([master], [], [], 0.2)[0]:
                continue
            try:
                data = os.read(master, 65536)
            except OSError:  # nobody has it open
                return
            if not data:
                return
            self.seen += data

    def test_denies_and_allows(self):
        rules = [{"decision": "deny", "tool": "*", "arguments": {"text": "*secret*"},
                  "reason": "no secrets"},
                 {"decision": "allow", "tool": "echo"}]
        self.policy(default="deny", rules=rules)
        calls = [ECHO, {"name": "echo", "arguments": {"text": "a secret"}}, {"name": "counter"}]
        done = self.check(self.play({}, {"calls": calls}, {"text": "ok"}), 0)
        results = self.results(done)
        self.assertEqual(results[0], "said")
        self.assertEqual(results[1], "Tool call skipped by hook 'approve': no secrets")
        self.assertIn("the user's policy does not allow this call", results[2])

    def test_without_a_terminal_the_answer_is_no(self):
        self.policy(**self.ALL)
        done = self.play({}, {"calls": [ECHO]}, {"text": "ok"}, start_new_session=True)
        self.check(done, 0)
        self.assertIn("there is no terminal", self.results(done)[0])

    def test_asks_at_the_terminal(self):
        self.policy(**self.ALL)
        done, shown = self.answer([b"y\n", b"\n", b"x\n"], {"calls": [ECHO, ECHO, ECHO]},
                                  {"text": "ok"})
        self.check(done, 0)
        self.assertIn('The model wants to call echo\r\n  text: "said"\r\n', shown)
        results = self.results(done)
        self.assertEqual(results[0], "said")
        for result in results[1:]:
            self.assertIn("the user does not allow this call", result)

    def test_in_a_process_of_its_own(self):
        """There it has no terminal, so nothing is allowed, and the reason is told."""
        self.policy(**self.ALL)
        done, _ = self.answer([], {"calls": [ECHO]}, {"text": "ok"}, options=("--isolate",))
        result, = done.of_type("tool_result")
        self.assertFalse(result["success"])
        self.assertIn("there is no terminal", result["result"])

    def test_always_is_for_this_tool_in_this_run(self):
        self.policy(**self.ALL)
        done, _ = self.answer([b"a\n", b"n\n"], {"calls": [ECHO, ECHO, {"name": "counter"}]},
                              {"calls": [ECHO]}, {"text": "ok"})
        self.check(done, 0)
        results = self.results(done)
        self.assertEqual([results[0], results[1], results[3]], ["said"] * 3)
        self.assertIn("the user does not allow", results[2])

    def test_hostile_arguments_are_shown_harmlessly(self):
        self.policy(**self.ALL)
        hostile = "a\x1b[2J\r\b\x7f\u009b1A\u202e\u200bb\n  text: \"nice\""
        call = {"name": "echo", "arguments": {"text": hostile, "\x1b]0;x\x07": 1}}
        _, shown = self.answer([b"n\n"], {"calls": [call]}, {"text": "ok"})
        bad = [c for c in shown if (ord(c) < 0x20 and c not in "\r\n") or 0x7f <= ord(c) <= 0x9f
               or c in "\u202e\u200b"]
        self.assertEqual(bad, [], repr(shown))
        self.assertEqual(len([line for line in shown.splitlines() if line.startswith("  text:")]),
                         1, shown)

    def test_bad_policy_stops_every_run(self):
        self.policy(rules=[{"decision": "deny", "tool": "rm_*", "match": [{"tool": "rm"}]}])
        done = self.play({}, {"text": "no"})
        self.check_stopped(done, "approve", "OnPromptSubmit", "rule 1 (deny rm_*)")
        self.assertEqual(done.of_type("turn_start"), [])

    def test_policy_that_others_can_write(self):
        self.policy(default="allow")
        os.chmod(os.path.join(self.home, ".config/mortise/approve.json"), 0o666)
        done = self.play({}, {"text": "no"})
        self.check_stopped(done, "approve", "OnPromptSubmit", "can be written by others")


class Budget(Case):
    def turn(self, tokens, **what):
        return {"usage": {"input_tokens": tokens, "output_tokens": 1}, **what}

    def test_tokens_end_the_run(self):
        done = self.play({"budget": {"tokens": 100}}, self.turn(59, calls=[ECHO]),
                         self.turn(60, calls=[ECHO]), self.turn(1, text="no"))
        self.check_stopped(done, "budget", "PreToolCall", "121 of 100 tokens")
        self.assertEqual(len(done.of_type("turn_start")), 2)

    def test_soft_budget_of_calls(self):
        done = self.play({"budget": {"tools": {"echo": 1}, "soft": True}},
                         {"calls": [ECHO, ECHO]}, {"text": "ok", "expect": ["1 of 1 calls"]})
        self.check(done, 0)
        results = self.results(done)
        self.assertEqual(results[0], "said")
        self.assertIn("Tool call skipped by hook 'budget'", results[1])
        self.assertIn("1 of 1 calls of echo", results[1])

    def test_soft_budget_of_tokens_lets_one_answer_through(self):
        soft = {"budget": {"tokens": 10, "soft": True}}
        done = self.play(soft, self.turn(20, calls=[ECHO]), self.turn(20, text="ok"))
        self.check(done, 0)
        self.assertIn("21 of 10 tokens", self.results(done)[0])
        done = self.play(soft, self.turn(20, calls=[ECHO]), self.turn(20, calls=[ECHO]),
                         self.turn(20, text="no"))
        self.check_stopped(done, "budget", "PreLlmRequest", "42 of 10 tokens")

    def test_wrong_configuration_stops_every_run(self):
        done = self.play({"budget": {"calls": "many"}}, {"text": "no"})
        self.check_stopped(done, "budget", "OnPromptSubmit", '"calls" is not a count')


class Redact(Case):
    KEY = "sk-ant-api03-abcDEF123456789"

    def requests(self, settings, prompt, *replies):
        """(how it ended, the bytes of each request)"""
        self.config(plugin_config={"redact": settings})
        with e2e.Server(*replies) as server:
            done = self.mortise("--json", "-P", e2e.options.fixtures, "-m", "openai/m",
                                "--base-url", server.url, prompt)
            return self.check(done, 0), [request["body"]["messages"] for request in server.requests]

    def test_results_and_requests(self):
        arguments = json.dumps({"text": "line\n" + self.KEY})
        done, requests = self.requests({"keys": True, "texts": ["hunter2"]},
                                       "my password is hunter2",
                                       e2e.openai_reply(calls=[("c1", "echo", arguments)]),
                                       e2e.openai_reply("ok"))
        for messages in requests:
            self.assertNotIn(self.KEY, json.dumps(messages))
            self.assertEqual(messages[0]["content"], "my password is [redacted]")
        self.assertEqual(requests[1][2]["content"], "line\n[redacted]")
        call = requests[1][1]["tool_calls"][0]["function"]["arguments"]
        self.assertEqual(json.loads(call), {"text": "line\n[redacted]"})
        self.assertEqual(self.results(done), ["line\n[redacted]"])

    def test_old_items_keep_their_bytes(self):
        """What a provider has cached stays what it was."""
        arguments = json.dumps({"text": self.KEY})
        replies = [e2e.openai_reply(calls=[(f"c{i}", "echo", arguments)]) for i in range(3)]
        _, requests = self.requests({"keys": True}, "key: " + self.KEY, *replies,
                                    e2e.openai_reply("ok"))
        for shorter, longer in zip(requests, requests[1:]):
            self.assertEqual(longer[:len(shorter)], shorter)

    def test_wrong_pattern_stops_every_run(self):
        done = self.play({"redact": {"patterns": ["a("]}}, {"text": "no"})
        self.check_stopped(done, "redact", "OnPromptSubmit", "pattern 'a('")


class Lint(Case):
    def lint(self, **settings):
        return {"lint": {"check": ["cat", "state"], "cwd": self.work, **settings}}

    def test_complaint_goes_back_to_the_model(self):
        path = os.path.join(self.work, "state")
        check = ["sh", "-c", f"test -e {path} || {{ touch {path}; echo 'line 7: oops'; exit 2; }}"]
        done = self.play(self.lint(check=check), {"text": "done"},
                         {"text": "really", "expect": ["exit status 2", "line 7: oops"]})
        self.check(done, 0)
        self.assertEqual(len(done.of_type("turn_start")), 2)

    def test_gives_up_after_its_rounds(self):
        turns = [{"text": f"answer {i}"} for i in range(3)]
        done = self.check(self.play(self.lint(rounds=2), *turns), 0)
        self.assertEqual(len(done.of_type("turn_start")), 3)
        self.assertIn("after 2 complaints", done.err)

    def test_only_when_a_tool_ran(self):
        settings = self.lint(when=["echo"], rounds=1)
        done = self.check(self.play(settings, {"text": "ok"}), 0)
        self.assertEqual(len(done.of_type("turn_start")), 1)
        done = self.check(self.play(settings, {"calls": [ECHO]}, {"text": "ok"}, {"text": "ok"}), 0)
        self.assertEqual(len(done.of_type("turn_start")), 3)

    def test_command_that_does_not_exist(self):
        nowhere = self.lint(check=["/nonexistent/check"])
        self.check_stopped(self.play(nowhere, {"text": "no"}), "lint", "OnTurnEnd", "No such file")
        nowhere["lint"]["on_failure"] = "ignore"
        self.check(self.play(nowhere, {"text": "ok"}), 0)


class ExitLoop(Case):
    """A loop that the model ends, and nobody else."""

    EXIT = {"name": "exit_loop", "arguments": {"result": "42", "reason": "all is counted"}}
    ENDED = "The loop has ended. Answer now, without calling a tool: give the result"

    def loop(self, **settings):
        return {"exit_loop": {"max_iterations": 10, "prompt": "Next file!", **settings}}

    def requests(self, done):
        return len(done.of_type("turn_start"))

    def test_goes_on_until_it_is_called(self):
        done = self.play(self.loop(), {"calls": [ECHO]}, {"text": "one done"},
                         {"calls": [ECHO], "expect": ["Next file!"]}, {"text": "two done"},
                         {"calls": [self.EXIT]}, {"text": "It is 42.", "expect": [self.ENDED]})
        self.check(done, 0)
        self.assertEqual(self.requests(done), 6)
        self.assertEqual(done.events[-1]["text"], "It is 42.")
        self.assertEqual(done.events[-1]["status"], "finished")

    def test_no_tool_runs_after_it(self):
        done = self.play(self.loop(), {"calls": [{**self.EXIT, "id": "x"}, {**ECHO, "id": "e"}]},
                         {"calls": [ECHO], "expect": [self.ENDED]}, {"text": "42"})
        self.check(done, 0)
        ended, beside, after = self.results(done)
        self.assertIn(self.ENDED, ended)
        self.assertEqual(beside, "said")  # it was written before anybody knew
        self.assertIn("the loop has ended, by exit_loop", after)
        self.assertEqual(done.events[-1]["text"], "42")

    def test_a_model_that_does_not_stop(self):
        done = self.play(self.loop(), {"calls": [self.EXIT]}, *[{"calls": [ECHO]}] * 3, {"text": "x"})
        self.check_stopped(done, "exit_loop", "PreLlmRequest", "then only tools")

    def test_max_iterations(self):
        turns = [{"text": f"answer {i}"} for i in range(3)]
        done = self.check(self.play(self.loop(max_iterations=3), *turns), 0)
        self.assertEqual(self.requests(done), 3)
        self.assertEqual(done.events[-1]["text"], "answer 2")
        self.assertIn("did not call it in 3 answers", done.err)

    def test_under_another_name(self):
        """The hooks know their tool whatever the model calls it."""
        done = self.play(self.loop(prefix="my_"), {"calls": [{**self.EXIT, "name": "my_exit_loop"}]},
                         {"calls": [ECHO]}, {"text": "42"})
        self.check(done, 0)
        self.assertIn("the loop has ended", self.results(done)[1])

    def test_a_check_gets_the_last_answer_only(self):
        path = os.path.join(self.work, "checked")
        check = ["sh", "-c", f"echo x >> {path}; test $(wc -l < {path}) -gt 1"]
        settings = {**self.loop(), "lint": {"check": check, "cwd": self.work}}
        done = self.play(settings, {"text": "half"}, {"calls": [self.EXIT]}, {"text": "42"},
                         {"calls": [ECHO]}, {"calls": [self.EXIT]}, {"text": "43"})
        self.check(done, 0)
        self.assertEqual(done.events[-1]["text"], "43")
        self.assertEqual(self.results(done)[1], "said")
        with open(path, encoding="utf-8") as lines:
            self.assertEqual(len(lines.readlines()), 2)


PLUGINS = ["approve", "budget", "exit_loop", "lint", "redact"]

if __name__ == "__main__":
    e2e.main()
