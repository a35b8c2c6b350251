"""Whole runs with a scripted model: text, calls, limits, time, signals."""
import glob
import json
import os
import re
import signal
import time

import e2e


def call(name, arguments=None, call_id=None):
    made = {"name": name, "arguments": {} if arguments is None else arguments}
    if call_id:
        made["id"] = call_id
    return made


class Case(e2e.Case):
    def play(self, *turns, options=(), **how):
        """A run of these turns with the fixtures' tools, as events."""
        return self.mortise("--json", "-P", e2e.options.fixtures, "-m", self.script(*turns),
                            *options, "hello", **how)

    def results(self, done):
        return [result["result"] for result in done.of_type("tool_result")]


class Answers(Case):
    def test_text(self):
        done = self.check(self.mortise("-m", self.script({"text": "Good day.\n"}), "hi"), 0)
        self.assertEqual((done.out, done.err), ("Good day.\n", ""))

    def test_line_is_ended(self):
        done = self.check(self.mortise("-m", self.script({"text": "Good day."}), "hi"), 0)
        self.assertEqual(done.out, "Good day.\n")

    def test_refusal(self):
        done = self.mortise("-m", self.script({"refusal": "I will not.", "stop": "refusal"}), "hi")
        self.check(done, 0)
        self.assertEqual(done.out, "I will not.\n")
        self.assertIn("refused", done.err)

    def test_reasoning_is_no_answer(self):
        model = self.script({"reasoning": "Let me see.", "text": "Four."})
        self.assertEqual(self.check(self.mortise("-m", model, "hi"), 0).err, "")
        done = self.check(self.mortise("-v", "-m", model, "hi"), 0)
        self.assertEqual(done.out, "Four.\n")
        self.assertIn("Let me see.", done.err)

    def test_calls(self):
        model = self.script({"text": "I ask.", "calls": [call("greet", {"name": "Ada"})]},
                            {"text": "Done.", "expect": ["Hello, Ada!"]})
        done = self.check(self.mortise("-m", model, "hi"), 0)
        self.assertEqual(done.out, "I ask.\nDone.\n")
        self.assertIn('→ greet {"name":"Ada"}', done.err)
        self.assertIn("Hello, Ada!", done.err)
        self.assertEqual(self.check(self.mortise("-q", "-m", model, "hi"), 0).err, "")

    def test_events(self):
        """--json: the order and the shapes of cli.md."""
        done = self.play({"reasoning": "Hm.", "text": "I ask.",
                          "calls": [call("echo", {"text": "x"})],
                          "usage": {"input_tokens": 10, "output_tokens": 5}},
                         {"text": "Done.", "usage": {"input_tokens": 20, "output_tokens": 2}})
        self.check(done, 0)
        events = [event for event in done.events if event["type"] != "status"]
        kinds = [event["type"] for event in events]
        self.assertEqual(kinds[0], "run_start")
        self.assertEqual(kinds[-1], "result")
        order = ["run_start", "turn_start", "reasoning_delta", "text_delta", "tool_call_start",
                 "tool_call_delta", "usage", "tool_call", "tool_result", "turn_start", "text_delta",
                 "usage", "turn_end", "result"]
        at = 0
        for kind in order:
            self.assertIn(kind, kinds[at:], done)
            at += kinds[at:].index(kind) + 1
        self.assertEqual([event["turn"] for event in done.of_type("turn_start")], [0, 1])
        self.assertEqual([event["stop_reason"] for event in done.of_type("turn_end")],
                         ["tool_use", "end"])
        text = [event["text"] for event in events if event["type"] == "text_delta"]
        self.assertEqual("".join(text), "I ask.Done.")
        result = events[-1]
        self.assertEqual((result["status"], result["text"], result["exit_code"], result["turns"]),
                         ("finished", "Done.", 0, 2))
        self.assertEqual(result["usage"], {"input_tokens": 30, "output_tokens": 7})
        self.assertIn("session", result)
        self.assertGreaterEqual(result["duration_ms"], 0)

    def test_several_blocks_of_text_arrive_whole(self):
        text = "Grüße, 世界 😀! " * 50
        for chunk in (1, 2, 3, 5, 1000):
            model = self.script({"text": text, "chunk": chunk})
            self.assertEqual(self.check(self.mortise("-m", model, "hi"), 0).out, text + "\n")

    def test_offline_weather(self):
        """F12 without any model: the question, the call, the result, the answer."""
        done = self.check(self.mortise("-m", "offline", "What is the weather in Tokyo?"), 0)
        self.assertIn('→ get_weather {"location":"Tokyo"}', done.err)
        for part in ("not a language model", "Tokyo", "22"):
            self.assertIn(part, done.out)

    def test_scripted_weather(self):
        model = self.script({"calls": [call("get_weather", {"location": "Tokyo"})]},
                            {"text": "It is sunny in Tokyo.",
                             "expect": ["sunny", "function_call_output"]})
        done = self.check(self.mortise("-m", model, "What is the weather in Tokyo?"), 0)
        self.assertEqual(done.out, "It is sunny in Tokyo.\n")

    def test_system_prompt(self):
        path = self.file("system.txt", "Be brief.\nVery.\n")
        model = self.script({"text": "Yes.", "expect": ["Be brief.\nVery."]})
        self.check(self.mortise("-m", model, "-s", "@" + path, "hi"), 0)
        model = self.script({"text": "Yes.", "expect": ["Be kind."]})
        self.check(self.mortise("-m", model, "--system", "Be kind.", "hi"), 0)
        self.check_error(self.mortise("-m", model, "-s", "@/nowhere", "hi"), 3, "/nowhere")


class Calls(Case):
    def test_parallel_calls(self):
        """F20: each by its name.  Results come in call order, whatever happened to each."""
        done = self.play({"calls": [call("echo", {"text": "one"}), call("fails"), call("nothing"),
                                    call("echo", '{"text": "tw'), call("echo", {"text": "three"})]},
                         {"text": "Done."})
        self.check(done, 0)
        results = done.of_type("tool_result")
        self.assertEqual([result["id"] for result in results],
                         [made["id"] for made in done.of_type("tool_call")])
        self.assertEqual([result["success"] for result in results],
                         [True, False, False, False, True])
        texts = self.results(done)
        self.assertEqual((texts[0], texts[4]), ("one", "three"))
        self.assertIn("it is broken", texts[1])
        self.assertEqual(results[1]["error"]["category"], "unavailable")
        self.assertEqual(results[1]["error"]["code"], "e2e.broken")
        self.assertIn("Tool 'nothing' not found", texts[2])
        self.assertIn("echo", texts[2])
        self.assertEqual(results[2]["duration_ms"], 0)
        self.assertIn("not valid JSON", texts[3])
        self.assertIn("line 1", texts[3])

    def test_repairs(self):
        """D9: what can be read without loss is read."""
        for raw in ('```json\n{"text": "x"}\n```', '"{\\"text\\": \\"x\\"}"', ' {"text": "x"} ',
                    '{"text": "x"}</tool_call>', '{"text": "x"}{"text": "x"}'):
            done = self.check(self.play({"calls": [call("echo", raw)]}, {"text": "ok"}), 0)
            self.assertEqual(self.results(done), ["x"], raw)
        done = self.check(self.play({"calls": [call("who", "")]}, {"text": "ok"}), 0)
        self.assertIn("user=anonymous", self.results(done)[0])

    def test_ids(self):
        """D14: missing and repeated ids become unique ones; good ones stay."""
        echo = {"text": "x"}
        done = self.play({"calls": [call("echo", echo, "mine"), call("echo", echo, "mine"),
                                    call("echo", echo)]},
                         {"calls": [call("echo", echo, "mine")]}, {"text": "ok"})
        self.check(done, 0)
        ids = [made["id"] for made in done.of_type("tool_call")]
        self.assertEqual(ids[0], "mine")
        self.assertEqual(len(set(ids)), 4, ids)
        self.assertEqual([result["id"] for result in done.of_type("tool_result")], ids)

    def test_cut_calls_are_not_run(self):
        """FAULTS 71, 104; D3: a response that was cut by length runs nothing."""
        mark = os.path.join(self.root, "mark")
        done = self.play({"calls": [call("stubborn", {"mark": mark})], "stop": "length"},
                         {"text": "Sorry.", "expect": ["token limit"]})
        self.check(done, 0)
        self.assertEqual(glob.glob(mark + "*"), [])
        self.assertFalse(done.of_type("tool_result")[0]["success"])

    def test_broken_off_calls_are_not_run(self):
        """FAULTS 73"""
        mark = os.path.join(self.root, "mark")
        done = self.play({"calls": [call("stubborn", {"mark": mark})], "stop": None})
        self.check(done, 4)
        self.assertEqual(glob.glob(mark + "*"), [])
        self.assertEqual(done.of_type("error")[0]["kind"], "stream_truncated")

    def test_calls_with_another_label(self):
        """FAULTS 74, 75, 107: the presence of calls decides, not the label."""
        done = self.play({"calls": [call("echo", {"text": "x"})], "stop": "end"}, {"text": "ok"})
        self.check(done, 0)
        self.assertEqual(self.results(done), ["x"])

    def test_progress(self):
        done = self.check(self.play({"calls": [call("evil")]}, {"text": "ok"}), 0)
        kinds = [event["type"] for event in done.events]
        self.assertLess(kinds.index("tool_progress"), kinds.index("tool_result"))
        progress = done.of_type("tool_progress")[0]
        self.assertEqual((progress["stream"], progress["id"]),
                         ("stdout", done.of_type("tool_call")[0]["id"]))

    def test_big_result_in_the_events_is_whole(self):
        done = self.check(self.play({"calls": [call("big", {"bytes": 200000})]}, {"text": "ok"}), 0)
        self.assertEqual(len(self.results(done)[0]), 200011)


class Limits(Case):
    def sent_result(self, *options):
        """What the model got of a large result."""
        replies = (e2e.openai_reply(calls=[("c1", "big", '{"bytes": 200000}')]),
                   e2e.openai_reply("ok"))
        with e2e.Server(*replies) as server:
            done = self.mortise("-P", e2e.options.fixtures, "-m", "openai/m", "--base-url",
                                server.url, *options, "hi")
            self.check(done, 0)
            return server.bodies[1]["messages"][-1]["content"]

    def check_cut(self, text, limit):
        self.assertLessEqual(len(text), limit)
        self.assertGreater(len(text), limit * 9 // 10)
        self.assertTrue(text.startswith("FIRST\nxxx"))
        self.assertTrue(text.endswith("xxx\nLAST"))
        line = re.search(r"\n\[mortise: (\d+) bytes left out here; the whole is in (\S+)\]\n", text)
        self.assertIsNotNone(line, text[:200])
        with open(line.group(2), encoding="utf-8") as whole:
            self.assertEqual(len(whole.read()), len(text) - len(line.group(0)) + int(line.group(1)))
        self.assertEqual(os.stat(line.group(2)).st_mode & 0o077, 0)

    def test_results_are_capped(self):
        """FAULTS 129"""
        self.check_cut(self.sent_result(), 65536)

    def test_result_limit(self):
        self.check_cut(self.sent_result("--result-limit", "1000"), 1000)

    def test_limit_of_one_tool(self):
        self.config(tool_config={"big": {"result_limit": 2000}, "echo": {"result_limit": 1}})
        self.check_cut(self.sent_result("--result-limit", "1000"), 2000)

    def test_result_that_fits(self):
        text = self.sent_result("--result-limit", "300000")
        self.assertEqual(len(text), 200011)

    def test_max_turns(self):
        turn = {"calls": [call("echo", {"text": "again"})]}
        done = self.play(turn, turn, turn, turn, options=("--max-turns", "3"))
        self.check(done, 7)
        self.assertEqual(len(done.of_type("turn_start")), 3)
        self.assertEqual(done.of_type("error"), [])  # a result like "paused"
        self.assertEqual((done.events[-1]["status"], done.events[-1]["exit_code"]), ("limit", 7))
        self.assertIn("--max-turns", done.err)

    def test_max_run_tokens(self):
        turn = {"calls": [call("echo", {"text": "again"})],
                "usage": {"input_tokens": 40, "output_tokens": 10}}
        done = self.play(turn, turn, turn, options=("--max-run-tokens", "100"))
        self.check(done, 7)
        self.assertEqual(len(done.of_type("turn_start")), 2)
        self.assertEqual(done.events[-1]["status"], "limit")
        self.assertIn("--max-run-tokens", done.err)

    def test_very_many_turns(self):
        """A number beyond 32 bits is a large number."""
        self.check(self.play({"text": "ok"}, options=("--max-turns", "4294967296")), 0)

    def test_timeout_of_the_model(self):
        done = self.play({"text": "never", "delay_ms": 60000}, options=("--timeout", "0.3"))
        self.check(done, 124)
        self.assertEqual(done.of_type("error")[0]["kind"], "timeout")
        self.assertEqual((done.events[-1]["status"], done.events[-1]["exit_code"]),
                         ("timeout", 124))
        self.assertIn("--timeout", done.err)

    def test_timeout_of_a_tool(self):
        mark = os.path.join(self.root, "mark")
        done = self.play({"calls": [call("wait_for_cancel", {"mark": mark})]},
                         options=("--timeout", "0.5"))
        self.check(done, 124)
        self.assertTrue(os.path.exists(mark + ".told"))
        self.assertEqual(len(done.of_type("tool_result")), 1)

    def test_timeout_of_a_tool_that_does_not_listen(self):
        """D16: it is left behind, and the process ends all the same."""
        mark = os.path.join(self.root, "mark")
        done = self.play({"calls": [call("stubborn", {"mark": mark})]},
                         options=("--timeout", "0.2"))
        self.check(done, 124)
        self.assertIn("stubborn", done.err)
        self.assertFalse(done.of_type("tool_result")[0]["success"])

    def test_timeout_of_a_call_by_hand(self):
        mark = os.path.join(self.root, "mark")
        done = self.mortise("-P", e2e.options.fixtures, "--timeout", "0.3", "tools", "call",
                            "wait_for_cancel", json.dumps({"mark": mark}))
        self.check(done, 124)
        self.assertTrue(os.path.exists(mark + ".told"))


class Errors(Case):
    def test_error_of_the_model(self):
        for kind, code in (("server", 4), ("rate_limit", 4), ("auth", 3), ("bad_request", 4),
                           ("context_overflow", 4), ("content_filter", 4), ("network", 4)):
            done = self.check(self.play({"error": {"kind": kind, "message": "so it is"}}), code)
            self.assertEqual(done.of_type("error")[0]["kind"], kind)
            self.assertEqual(done.events[-1]["status"], "failed")
            self.assertIn("so it is", done.err)

    def test_retry(self):
        """D11: an attempt that showed nothing is repeated, visibly."""
        error = {"error": {"kind": "overloaded", "message": "busy", "retryable": True}}
        done = self.check(self.play(error, error, {"text": "At last."}), 0)
        self.assertEqual([event["attempt"] for event in done.of_type("retry")], [1, 2])
        self.assertEqual(done.of_type("retry")[0]["reason"], "busy")
        self.assertEqual(done.events[-1]["text"], "At last.")

    def test_reset(self):
        """FAULTS 38, 39: what the failed attempt told is void: its usage is not counted."""
        done = self.play({"usage": {"input_tokens": 1000},
                          "error": {"kind": "overloaded", "retryable": True}},
                         {"text": "At last.", "usage": {"input_tokens": 10}})
        self.check(done, 0)
        kinds = [event["type"] for event in done.events]
        self.assertLess(kinds.index("retry"), kinds.index("reset"))
        self.assertEqual(done.events[-1]["usage"]["input_tokens"], 10)
        self.assertEqual(done.events[-1]["turns"], 1)

    def test_no_retries(self):
        error = {"error": {"kind": "overloaded", "retryable": True}}
        done = self.check(self.play(error, {"text": "no"}, options=("--retries", "0")), 4)
        self.assertEqual(done.of_type("retry"), [])

    def test_error_in_the_middle(self):
        """D22: the partial text stays on the screen, and the attempt is not repeated."""
        model = self.script({"text": "Half an ans", "error": {"kind": "server", "message": "oops",
                                                              "retryable": True}},
                            {"text": "no"})
        done = self.check(self.mortise("-m", model, "hi"), 4)
        self.assertIn("Half an ans", done.out)
        self.assertTrue(done.err.endswith("oops\n"), done)

    def test_script_is_at_its_end(self):
        done = self.check(self.play({"calls": [call("echo", {"text": "x"})]}), 4)
        self.assertIn("no turn 2", done.err)


class Offered(Case):
    def offered(self, *options):
        done = self.check(self.play({"text": "ok"}, options=options), 0)
        return done.of_type("run_start")[0]["tools"]

    def test_tools(self):
        everything = self.offered()
        self.assertIn("echo", everything)
        self.assertIn("get_weather", everything)
        self.assertEqual(everything, sorted(everything))
        self.assertEqual(self.offered("--tools", "g*"), ["generate_report", "get_weather", "glob", "greet",
                                                         "grep", "guarded"])
        self.assertEqual(self.offered("--tools", "echo,gre?t"), ["echo", "greet"])
        self.assertEqual(self.offered("--tools", "nothing"), [])
        self.assertEqual(self.offered("--no-tools"), [])

    def test_tools_that_are_not_offered_are_unknown(self):
        done = self.play({"calls": [call("greet", {"name": "Ada"})]}, {"text": "ok"},
                         options=("--tools", "echo,who"))
        self.check(done, 0)
        text = self.results(done)[0]
        self.assertIn("Tool 'greet' not found", text)
        self.assertIn("echo, who", text)
        self.assertNotIn("get_weather", text)


class Strategies(Case):
    """D8, by how many calls were inside at once."""

    def together(self, strategy, *calls):
        options = ("--strategy", strategy) if strategy else ()
        done = self.check(self.play({"calls": list(calls)}, {"text": "ok"}, options=options), 0)
        return [int(text.removeprefix("together: ")) for text in self.results(done)]

    def test_sequential(self):
        meet = call("meet", {"wanted": 2, "wait_ms": 150})
        self.assertEqual(self.together("sequential", meet, meet, meet), [1, 1, 1])

    def test_parallel(self):
        meet = call("meet_alone", {"wanted": 3})
        self.assertEqual(self.together("parallel", meet, meet, meet), [3, 3, 3])

    def test_auto(self):
        alone = call("meet_alone", {"wanted": 2, "wait_ms": 150})
        meet = call("meet", {"wanted": 2})
        for strategy in ("auto", None):
            self.assertEqual(self.together(strategy, alone, meet, alone, meet), [1, 2, 1, 2])

    def test_ordered(self):
        """A read never overtakes a write before it."""
        alone = call("meet_alone", {"wanted": 2, "wait_ms": 150})
        single = call("meet", {"wanted": 2, "wait_ms": 150})
        meet = call("meet", {"wanted": 2})
        self.assertEqual(self.together("ordered", meet, meet, alone, single), [2, 2, 1, 1])

    def test_many_at_once(self):
        meet = call("meet", {"wanted": 30})
        self.assertEqual(self.together("auto", *[meet] * 30), [30] * 30)


class Signals(Case):
    def start_waiting(self, tool, *options):
        mark = os.path.join(self.root, "mark")
        model = self.script({"calls": [call("echo", {"text": "first"}), call(tool, {"mark": mark}),
                                       call("counter")]}, {"text": "never"})
        process = self.start("--json", "-P", e2e.options.fixtures, "-m", model, *options, "hi")
        self.wait_for(mark + ".started", process)
        return process, mark

    def check_ended(self, done, code):
        self.check(done, code)
        self.assertEqual(done.events[-1]["type"], "result")
        self.assertEqual((done.events[-1]["status"], done.events[-1]["exit_code"]),
                         ("cancelled", code))
        self.assertEqual(done.of_type("error")[0]["kind"], "cancelled")

    def test_interrupted(self):
        """W52, D4: the tools are told, what is done is kept, every call has its result."""
        process, mark = self.start_waiting("wait_for_cancel", "--strategy", "ordered")
        process.send_signal(signal.SIGINT)
        done = self.finish(process)
        self.check_ended(done, 130)
        self.assertTrue(os.path.exists(mark + ".told"))
        results = done.of_type("tool_result")
        self.assertEqual([result["success"] for result in results], [True, False, False])
        self.assertEqual(results[0]["result"], "first")
        self.assertIn("cancelled before it ran", results[2]["result"])

    def test_terminated(self):
        process, mark = self.start_waiting("wait_for_cancel")
        process.send_signal(signal.SIGTERM)
        self.check_ended(self.finish(process), 143)
        self.assertTrue(os.path.exists(mark + ".told"))

    def test_interrupted_twice(self):
        """The second one leaves at once: nothing more is told."""
        process, _ = self.start_waiting("stubborn")
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)  # two that come together would be one
        process.send_signal(signal.SIGINT)
        done = self.check(self.finish(process), 130)
        self.assertEqual(done.of_type("result"), [])
        self.assertNotIn("left behind", done.err)

    def test_a_tool_that_does_not_listen(self):
        process, _ = self.start_waiting("stubborn")
        process.send_signal(signal.SIGINT)
        done = self.finish(process)
        self.check_ended(done, 130)
        self.assertIn("'stubborn' did not stop", done.err)

    def test_interrupted_while_the_model_speaks(self):
        model = self.script({"text": "word " * 1000, "delay_ms": 20})
        process = self.start("--json", "-m", model, "hi")
        while b"text_delta" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        done = self.check(self.finish(process), 130)
        self.assertEqual(done.events[-1]["status"], "cancelled")

    def test_interrupted_while_a_server_is_silent(self):
        with e2e.Server() as server:
            server.RequestHandlerClass = Silent
            process = self.start("--json", "-m", "openai/m", "--base-url", server.url, "hi")
            Silent.asked.wait(e2e.SECONDS)
            process.send_signal(signal.SIGINT)
            self.check_ended(self.finish(process), 130)
            Silent.over.set()

    def test_interrupted_before_a_retry(self):
        error = {"error": {"kind": "overloaded", "retryable": True}}
        model = self.script(*[error] * 10)
        process = self.start("--json", "-m", model, "--retries", "9", "hi")
        while b'"retry"' not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        self.check(self.finish(process), 130)

    def test_call_by_hand(self):
        mark = os.path.join(self.root, "mark")
        process = self.start("-P", e2e.options.fixtures, "tools", "call", "wait_for_cancel",
                             json.dumps({"mark": mark}))
        self.wait_for(mark + ".started", process)
        process.send_signal(signal.SIGINT)
        self.check(self.finish(process), 130)
        self.assertTrue(os.path.exists(mark + ".told"))


class Silent(e2e.Answerer):
    """A server that takes a request and says nothing."""
    asked = e2e.threading.Event()
    over = e2e.threading.Event()

    def do_POST(self):
        self.asked.set()
        self.over.wait(e2e.SECONDS)
        self.close_connection = True


if __name__ == "__main__":
    e2e.main()
