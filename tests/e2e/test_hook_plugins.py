"""The hook plugins that come with mortise, in the real binary."""
import json
import os

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


PLUGINS = ["budget", "lint"]

if __name__ == "__main__":
    e2e.main()
