"""Hooks in the real binary: what each verdict and each change does to a run."""
import itertools
import json
import os
import shutil

import e2e

ECHO = {"name": "echo", "arguments": {"text": "said"}}
COUNT = {"name": "counter"}
GOOD = '{"text": "said"}'


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.log = os.path.join(self.root, "hooks.log")

    def hooked(self, mode, *arguments, **how):
        self.config(plugin_config={"e2e_hooks": {"mode": mode, "log": self.log}})
        return self.mortise("--json", "-P", e2e.options.fixtures, *arguments, **how)

    def play(self, mode, *turns, **how):
        return self.hooked(mode, "-m", self.script(*turns), "the prompt", **how)

    def serve(self, mode, *replies, options=()):
        """A run against a server: (how it ended, the messages of each request)."""
        with e2e.Server(*replies) as server:
            done = self.hooked(mode, "-m", "openai/m", "--base-url", server.url, *options,
                               "the prompt")
            return done, [body["messages"] for body in server.bodies]

    def logged(self, event):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as lines:
            return [line.partition(" ")[2].rstrip("\n") for line in lines
                    if line.startswith(event + " ")]

    def check_stopped(self, done, event, reason, status="aborted"):
        """Exit 6; the error names plugin, hook and event; OnAbort was told once."""
        self.check(done, 6)
        self.assertEqual(done.events[-1]["status"], status)
        self.assertEqual(done.events[-1]["exit_code"], 6)
        self.assertEqual([error["kind"] for error in done.of_type("error")], ["hook"])
        for part in ("e2e_hooks", "'main'", event, reason):
            self.assertIn(part, done.err)
        told = self.logged("on_abort")
        self.assertEqual(len(told), 1, told)
        self.assertIn(reason, told[0])


class PromptSubmit(Case):
    def test_changes(self):
        """W18: history gets the modified item, and so do all later requests."""
        done, requests = self.serve("prompt_changes",
                                    e2e.openai_reply(calls=[("c1", "echo", GOOD)]),
                                    e2e.openai_reply("ok"))
        self.check(done, 0)
        for messages in requests:
            self.assertEqual(messages[0], {"role": "user", "content": "changed prompt"})
        self.assertEqual(len(self.logged("prompt_submit")), 1)  # W17: once per run
        self.assertEqual(self.logged("on_abort"), [])

    def test_aborts(self):
        """W19: no request is sent."""
        done, requests = self.serve("prompt_aborts", e2e.openai_reply("no"))
        self.check_stopped(done, "OnPromptSubmit", "not on a Sunday")
        self.assertEqual(requests, [])
        self.assertEqual(done.of_type("turn_start"), [])

    def test_fails(self):
        """D26: a hook that fails lets nothing through."""
        done, requests = self.serve("prompt_fails", e2e.openai_reply("no"))
        self.check_stopped(done, "OnPromptSubmit", "no database", status="hook_failed")
        self.assertEqual(requests, [])

    def test_verdict_that_the_event_does_not_know(self):
        done, requests = self.serve("prompt_skips", e2e.openai_reply("no"))
        self.check_stopped(done, "OnPromptSubmit", "verdict", status="hook_failed")
        self.assertEqual(requests, [])

    def test_order(self):
        """D27: priority, then plugin, then position in the plugin."""
        self.check(self.play("", {"text": "ok"}), 0)
        with open(self.log, encoding="utf-8") as lines:
            events = [line.split()[1 if line.startswith("order") else 0] for line in lines]
        self.assertEqual(events[:4], ["early", "also_early", "prompt_submit", "late"])


class PreLlmRequest(Case):
    CALL = e2e.openai_reply(calls=[("c1", "echo", GOOD)])

    def test_edits_one_request(self):
        """W22: the stored history stays as it is."""
        done, requests = self.serve("request_edits", self.CALL, e2e.openai_reply("ok"))
        self.check(done, 0)
        self.assertEqual([messages[0]["content"] for messages in requests],
                         ["edited for one request", "the prompt"])
        self.assertEqual(self.logged("pre_llm_request"), ["0 1", "1 3"])  # turn, items

    def test_removes_from_one_request(self):
        done, requests = self.serve("request_removes", self.CALL, e2e.openai_reply("ok"))
        self.check(done, 0)
        self.assertEqual([message["role"] for message in requests[0]], ["user"])
        self.assertEqual([message["role"] for message in requests[1]], ["assistant", "tool"])

    def test_appends_for_good(self):
        """D18: what is appended is stored like any item."""
        done, requests = self.serve("request_appends", self.CALL, e2e.openai_reply("ok"))
        self.check(done, 0)
        for messages in requests:
            asked = [message["content"] for message in messages if message["role"] == "user"]
            self.assertEqual(asked, ["the prompt", "appended for good"])

    def test_cannot_leave_a_result_alone(self):
        """D18: no result without a call."""
        done, requests = self.serve("request_orphans", self.CALL, e2e.openai_reply("no"))
        self.check_stopped(done, "PreLlmRequest", "removed a call", status="hook_failed")
        self.assertEqual(len(requests), 1)

    def test_aborts(self):
        """W23: no request, and the turn's end is told."""
        done, requests = self.serve("request_aborts", self.CALL, e2e.openai_reply("no"))
        self.check_stopped(done, "PreLlmRequest", "enough")
        self.assertEqual(len(requests), 1)
        self.assertEqual([event["turn"] for event in done.of_type("turn_end")], [0, 1])


class PreToolCall(Case):
    def results(self, done):
        return [result["result"] for result in done.of_type("tool_result")]

    def test_edits_arguments(self):
        done = self.play("edits_arguments", {"calls": [ECHO]},
                         {"text": "ok", "expect": ["edited arguments"]})
        self.check(done, 0)
        self.assertEqual(self.results(done), ["edited arguments"])

    def test_skips_one(self):
        """W67, D1: this one is not run, the others are, and the model is told."""
        told = ["Tool call skipped by hook", "not allowed here"]
        done = self.play("skips", {"calls": [ECHO, COUNT]}, {"text": "ok", "expect": told})
        self.check(done, 0)
        skipped, counted = done.of_type("tool_result")
        self.assertFalse(skipped["success"])
        self.assertEqual(skipped["result"], "Tool call skipped by hook 'main': not allowed here")
        self.assertEqual(counted["result"], "count: 0")
        self.assertEqual(self.logged("post_tool_call"), ["count: 0"])
        decisions = [(event["event"], event["decision"]) for event in done.of_type("hook")]
        self.assertIn(("PreToolCall", "skip"), decisions)

    def test_responds(self):
        """D1: a hook's answer takes the tool's place, and PostToolCall sees it."""
        done = self.play("responds", {"calls": [COUNT, COUNT]},
                         {"text": "ok", "expect": ["from the cache"]})
        self.check(done, 0)
        self.assertEqual(self.results(done), ["from the cache", "count: 0"])
        self.assertEqual(self.logged("post_tool_call"), ["from the cache", "count: 0"])

    def test_aborts(self):
        """W68: no tool of the batch runs."""
        done = self.play("call_aborts", {"calls": [COUNT, ECHO]}, {"text": "no"})
        self.check_stopped(done, "PreToolCall", "stop here")
        results = done.of_type("tool_result")
        self.assertEqual([result["success"] for result in results], [False, False])
        self.assertEqual(self.logged("post_tool_call"), [])

    def test_pauses(self):
        """W69: paused is no error; no tool of the batch runs, and OnAbort is not told."""
        done = self.play("call_pauses", {"calls": [COUNT, ECHO]}, {"text": "no"})
        self.check(done, 8)
        self.assertEqual((done.events[-1]["status"], done.events[-1]["exit_code"]), ("paused", 8))
        self.assertEqual(done.of_type("tool_result"), [])
        self.assertEqual(done.of_type("error"), [])
        self.assertEqual(self.logged("on_abort"), [])

    def test_asked_for_all_before_any_runs(self):
        """W31: in the model's order; not for what is unknown or unreadable (W46)."""
        calls = [COUNT, {"name": "nothing"}, {"name": "echo", "arguments": "{oops"}, ECHO]
        done = self.check(self.play("", {"calls": calls}, {"text": "ok"}), 0)
        with open(self.log, encoding="utf-8") as lines:
            events = [line.rstrip("\n") for line in lines if "_tool_call " in line]
        self.assertEqual(events, ["pre_tool_call counter", "pre_tool_call echo",
                                  "post_tool_call count: 0", "post_tool_call said"])
        self.assertEqual(len(done.of_type("tool_result")), 4)

    def test_by_hand(self):
        """The same hooks guard `tools call`."""
        done = self.hooked("skips", "tools", "call", "echo", GOOD)
        self.check(done, 1)
        self.assertIn("not allowed here", done.of_type("tool_result")[0]["result"])
        done = self.hooked("changes_result", "tools", "call", "echo", GOOD)
        self.assertEqual(self.check(done, 0).of_type("tool_result")[0]["result"], "changed result")


class Failing(Case):
    """D26: no tool runs, and nothing is asked, when the hook that decides about it fails."""

    def setUp(self):
        super().setUp()
        self.notes = os.path.join(self.root, "notes.txt")
        self.note = {"name": "note", "arguments": {"file": self.notes, "text": "noted"}}

    def test_before_a_call(self):
        """Nothing of the batch runs, not even the calls that it let through."""
        for mode, reason in (("call_fails", "no policy"), ("call_goes_on", "verdict")):
            done = self.play(mode, {"calls": [self.note, self.note]}, {"text": "no"})
            self.check_stopped(done, "PreToolCall", reason, status="hook_failed")
            self.assertFalse(os.path.exists(self.notes), mode)
            results = done.of_type("tool_result")
            self.assertEqual([result["success"] for result in results], [False, False])
            self.assertEqual(len(done.of_type("turn_start")), 1)
            os.remove(self.log)

    def test_after_a_call(self):
        done = self.play("result_fails", {"calls": [self.note, ECHO]}, {"text": "no"})
        self.check_stopped(done, "PostToolCall", "no filter", status="hook_failed")
        self.assertEqual(len(done.of_type("tool_result")), 2)

    def test_before_a_request(self):
        done, requests = self.serve("request_fails",
                                    e2e.openai_reply(calls=[("c1", "echo", GOOD)]),
                                    e2e.openai_reply("no"))
        self.check_stopped(done, "PreLlmRequest", "no index", status="hook_failed")
        self.assertEqual(len(requests), 1)

    def test_who_decides_cannot_be_ignored(self):
        calls = {"calls": [self.note, self.note]}
        for mode in ("prompt_fails", "call_fails"):
            settings = {"mode": mode, "log": self.log, "on_failure": "ignore"}
            self.config(plugin_config={"e2e_hooks": settings})
            done = self.mortise("--json", "-P", e2e.options.fixtures, "-m",
                                self.script(calls, {"text": "no"}), "the prompt")
            self.assertEqual((self.check(done, 6).events[-1]["status"]), "hook_failed")
            self.assertFalse(os.path.exists(self.notes), mode)


class Order(e2e.Case):
    """D27: priority, then the plugin's name; the order of folders and files is no matter."""

    RUNS = 100

    def setUp(self):
        super().setUp()
        self.folders = os.path.join(os.path.dirname(e2e.options.fixtures), "rewriters")

    def rewritten(self, folders):
        """What the tool gets of a text that every plugin in these folders adds its name to."""
        options = [word for folder in folders for word in ("-P", folder)]
        done = self.mortise("--json", *options, "-P", e2e.options.fixtures, "-m",
                            self.script({"calls": [ECHO]}, {"text": "ok"}), "the prompt")
        return self.check(done, 0).of_type("tool_result")[0]["result"]

    def test_two_that_rewrite_the_same_arguments(self):
        orders = list(itertools.permutations(os.path.join(self.folders, name)
                                             for name in ("alder", "birch")))
        results = {self.rewritten(orders[run % 2]) for run in range(self.RUNS)}
        self.assertEqual(results, {"said alder birch"})

    def test_priority_is_first(self):
        for folders in itertools.permutations(os.path.join(self.folders, name)
                                              for name in ("alder", "birch", "zelkova")):
            self.assertEqual(self.rewritten(folders), "said zelkova alder birch")

    def test_names_of_files_do_not_count(self):
        """In one folder, made in either order, with names that say the opposite."""
        files = {"alder": "z.so", "birch": "y.so", "zelkova": "zz.so"}
        for number, names in enumerate((sorted(files), sorted(files, reverse=True))):
            folder = self.folder(f"plugins{number}")
            for name in names:
                shutil.copy(os.path.join(self.folders, name, f"e2e_{name}.so"),
                            os.path.join(folder, files[name]))
            self.assertEqual(self.rewritten([folder]), "said zelkova alder birch")

    def test_hooks_are_listed_in_this_order(self):
        options = [word for name in ("birch", "zelkova", "alder")
                   for word in ("-P", os.path.join(self.folders, name))]
        listed = self.check(self.mortise(*options, "hooks"), 0).out
        places = [listed.index(name) for name in ("zelkova", "alder", "birch")]
        self.assertEqual(places, sorted(places), listed)


class PostToolCall(Case):
    def test_changes_the_result(self):
        done, requests = self.serve("changes_result",
                                    e2e.openai_reply(calls=[("c1", "echo", GOOD)]),
                                    e2e.openai_reply("ok"))
        self.check(done, 0)
        self.assertEqual(requests[1][-1]["content"], "changed result")
        self.assertEqual(done.of_type("tool_result")[0]["result"], "changed result")

    def test_changes_an_error(self):
        done = self.play("changes_result", {"calls": [{"name": "fails"}]},
                         {"text": "ok", "expect": ["changed result"]})
        self.check(done, 0)
        self.assertTrue(done.of_type("tool_result")[0]["success"])

    def test_aborts(self):
        """W71: the results that exist are kept, and every call has one."""
        done = self.play("result_aborts", {"calls": [ECHO, COUNT]}, {"text": "no"})
        self.check_stopped(done, "PostToolCall", "I have seen enough")
        results = done.of_type("tool_result")
        self.assertEqual(len(results), 2)
        self.assertEqual(results[0]["result"], "said")


class TurnEnd(Case):
    def test_goes_on(self):
        """W40: what the hook appends is asked next."""
        done, requests = self.serve("goes_on", e2e.openai_reply("First."),
                                    e2e.openai_reply("Second."))
        self.check(done, 0)
        self.assertEqual([(message["role"], message["content"]) for message in requests[1]],
                         [("user", "the prompt"), ("assistant", "First."),
                          ("user", "please go on")])
        self.assertEqual(done.events[-1]["text"], "Second.")
        self.assertEqual(len(self.logged("turn_end")), 2)

    def test_pauses(self):
        done = self.check(self.play("end_pauses", {"text": "Half."}), 8)
        self.assertEqual(done.events[-1]["status"], "paused")
        self.assertEqual(self.logged("on_abort"), [])

    def test_not_while_tools_are_called(self):
        """W39."""
        done = self.check(self.play("", {"calls": [ECHO]}, {"calls": [ECHO]}, {"text": "ok"}), 0)
        self.assertEqual(len(done.of_type("turn_end")), 3)
        self.assertEqual(len(self.logged("turn_end")), 1)


class Abort(Case):
    """W60: once, with the reason, on every ending by error or cancel."""

    def test_error(self):
        self.check(self.play("", {"error": {"kind": "server", "message": "it burns"}}), 4)
        self.assertEqual(len(self.logged("on_abort")), 1)
        self.assertIn("it burns", self.logged("on_abort")[0])

    def test_time(self):
        model = self.script({"text": "never", "delay_ms": 60000})
        self.check(self.hooked("", "-m", model, "--timeout", "0.2", "hi"), 124)
        self.assertEqual(len(self.logged("on_abort")), 1)

    def test_stream(self):
        done = self.play("stream_aborts", {"text": "some words"})
        self.check_stopped(done, "OnTextDelta", "bad words")
        self.assertLessEqual(len(done.of_type("text_delta")), 1)

    def test_not_at_a_good_end(self):
        self.check(self.play("", {"text": "ok"}), 0)
        self.assertEqual(self.logged("on_abort"), [])


class Audit(e2e.Case):
    """The plugin that comes with mortise: one line of JSON per event."""

    def run_with(self, config, *turns, env=None, code=0):
        self.config(plugin_config={"audit": config})
        return self.check(self.mortise("-m", self.script(*turns), "--user", "ada", "hi", env=env),
                          code)

    def lines(self, path):
        with open(path, encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def test_lines(self):
        path = os.path.join(self.root, "audit.jsonl")
        self.run_with({"file": path}, {"calls": [{"name": "greet", "arguments": {"name": "A\nB"}}]},
                      {"text": "Done."})
        lines = self.lines(path)
        self.assertEqual([line["event"] for line in lines if line["event"] != "stream_complete"],
                         ["prompt_submit", "pre_llm_request", "pre_tool_call", "post_tool_call",
                          "pre_llm_request", "turn_end"])
        for line in lines:
            self.assertRegex(line["time"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
            self.assertEqual(line["user"], "ada")
        call = [line for line in lines if line["event"] == "pre_tool_call"][0]
        self.assertEqual((call["tool"], call["arguments"]), ("greet", {"name": "A\nB"}))
        result = [line for line in lines if line["event"] == "post_tool_call"][0]
        self.assertEqual((result["result"], result["is_error"]), ("Hello, A\nB!", False))
        self.assertEqual(result["call_id"], call["call_id"])
        self.assertEqual(os.stat(path).st_mode & 0o077, 0)

    def test_streams(self):
        path = os.path.join(self.root, "audit.jsonl")
        self.run_with({"file": path}, {"text": "Done."})
        complete = [line for line in self.lines(path) if line["event"] == "stream_complete"]
        self.assertEqual(len(complete), 1)  # W28: once per stream
        self.assertGreater(complete[0]["events"], 0)

    def test_deltas(self):
        path = os.path.join(self.root, "audit.jsonl")
        words = "some words that are sent in pieces"
        self.run_with({"file": path, "deltas": True}, {"text": words})
        text = [line["text"] for line in self.lines(path) if line["event"] == "text_delta"]
        self.assertGreater(len(text), 1)
        self.assertEqual("".join(text), words)

    def test_abort(self):
        path = os.path.join(self.root, "audit.jsonl")
        self.run_with({}, {"error": {"kind": "server", "message": "it burns"}},
                      env={"MORTISE_AUDIT_FILE": path}, code=4)
        last = self.lines(path)[-1]
        self.assertEqual(last["event"], "on_abort")
        self.assertIn("it burns", last["reason"])

    def test_lines_are_added(self):
        path = self.file("audit.jsonl", '{"event": "earlier"}\n')
        self.run_with({"file": path}, {"text": "Done."})
        self.assertEqual(self.lines(path)[0]["event"], "earlier")
        self.assertGreater(len(self.lines(path)), 2)

    def test_file_that_cannot_be_written(self):
        """The plugin refuses to load; that is told, and the run goes on without it."""
        done = self.run_with({"file": "/nonexistent/audit.jsonl"}, {"text": "Done."})
        self.assertIn("/nonexistent/audit.jsonl", done.err)
        self.assertEqual(done.out, "Done.\n")


if __name__ == "__main__":
    e2e.main()
