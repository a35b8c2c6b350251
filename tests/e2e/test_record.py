"""A run is written down and done again: in another folder, without network, key and plugins.

What the replay shows is what the run showed, to the event; what is recorded holds no secret (D24);
and what has changed since is found where it is.
"""
import base64
import json
import os
import shutil
import signal
import stat
import time

import e2e

KEY = "sk-canary-7f3a9c51e2"
CHANGING = ("duration_ms", "wait_ms", "retryable", "session", "exit_code")


class Answerer(e2e.Answerer):
    """Replies may be [status, headers, body], or "cut" or "hang" and the bytes before that."""

    def answer(self, reply):
        if isinstance(reply, bytes):
            super().answer(reply)
        elif reply[0] == "cut":
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply[1]) + 1))
            self.end_headers()
            self.wfile.write(reply[1])
            self.wfile.flush()
            time.sleep(0.05)
            self.close_connection = True
        elif reply[0] == "hang":
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(reply[1])
            self.wfile.flush()
            with open(reply[2], "w", encoding="utf-8"):
                pass
            self.rfile.read(1)
        else:
            self.send_response(reply[0])
            for name, value in {**reply[1], "Content-Length": str(len(reply[2]))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply[2])


def server(*replies):
    made = e2e.Server(*replies)
    made.RequestHandlerClass = Answerer
    return made


def limited(seconds="0"):
    return [429, {"Retry-After": seconds}, b'{"error":{"message":"slow down"}}']


def thinking_reply(thought, signature, calls=(), text=None):
    """Anthropic's, with a block of thinking before everything else."""
    start = e2e.anthropic_reply(text, calls).decode()
    events = [event for event in start.split("\n\n") if event]
    block = {"type": "content_block_start", "index": 0,
             "content_block": {"type": "thinking", "thinking": "", "signature": ""}}
    deltas = [{"type": "thinking_delta", "thinking": thought[i:i + 5]}
              for i in range(0, len(thought), 5)]
    deltas += [{"type": "signature_delta", "signature": signature}]
    own = [("content_block_start", block)]
    own += [("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta})
            for delta in deltas]
    own += [("content_block_stop", {"type": "content_block_stop", "index": 0})]
    moved = []
    for event in events[2:]:
        name, data = event.split("\n")
        data = json.loads(data[6:])
        if "index" in data:
            data["index"] += 1
        moved.append((name[7:], data))
    return (events[0] + "\n\n").encode() + e2e.sse(*own) + e2e.sse(*moved)


class Recorded(e2e.Case):
    """One run with --record, and what is done with its file."""

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.root, "run.jsonl")
        self.elsewhere = self.folder("elsewhere")

    def arguments(self, url, *options, provider="openai", plugins=True):
        found = ["-P", e2e.options.fixtures] if plugins else ["--no-plugins"]
        return ["--record", self.path, "-m", f"{provider}/m", "--base-url", url, *found, *options]

    def env(self):
        names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
        return {name: KEY for name in names}

    def record(self, replies, *options, prompt="hello", code=0, **how):
        with server(*replies) as asked:
            done = self.mortise("--json", *self.arguments(asked.url, *options, **how), prompt,
                                env=self.env())
            self.requests = asked.requests
        self.check(done, code)
        self.check_no_secret()
        return done

    def check_no_secret(self):
        """Not as it is, and not as base64."""
        with open(self.path, "rb") as file:
            data = file.read()
        forms = [base64.b64encode(b"x" * n + KEY.encode())[4:-4] for n in range(3)]
        for form in (KEY.encode(), *forms):
            self.assertNotIn(form, data)

    @property
    def records(self):
        with open(self.path, "rb") as file:
            return [json.loads(line) for line in file.read().split(b"\n") if line]

    def of(self, kind):
        return [record for record in self.records if record["type"] == kind]

    def begin_anew(self):
        if os.path.exists(self.path):
            os.remove(self.path)

    def write(self, records):
        with open(self.path, "w", encoding="utf-8") as file:
            for record in records:
                line = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
                file.write(line + "\n")

    def replay(self, *options, code=0, path=None):
        """With nothing: another HOME, an empty folder, no key."""
        home = self.folder("other-home")
        done = self.mortise(*options, "replay", path or self.path, cwd=self.elsewhere,
                            env={"HOME": home, "http_proxy": "http://127.0.0.1:1"})
        self.check(done, code)
        if "--live-tools" not in options:
            self.assertEqual(os.listdir(home), [])
        self.assertEqual(os.listdir(self.elsewhere), [])
        return done

    def same(self, recorded, replayed):
        """The same events in the same order, but for times; progress comes before its result."""
        def clean(done):
            events = []
            for event in done.events:
                event = {key: value for key, value in event.items() if key not in CHANGING}
                for tool in event.get("tools", []) if event["type"] == "result" else []:
                    tool.clear()
                if event["type"] == "result":
                    event.pop("tools", None)
                events.append(event)
            results = [event for event in events if event["type"] == "tool_progress"]
            return [event for event in events if event["type"] != "tool_progress"], results

        self.assertEqual(clean(replayed), clean(recorded), replayed)

    def check_replay(self, recorded, requests, calls):
        replayed = self.replay("--json")
        self.same(recorded, replayed)
        self.assertEqual(replayed.err.splitlines()[-1],
                         f"replayed {requests} request{'s' * (requests != 1)}, "
                         f"{calls} tool call{'s' * (calls != 1)}: no difference")
        return replayed

    def edit(self, change):
        """Writes the recording anew, each record changed by `change`, or left out (None)."""
        changed = [change(record) for record in self.records]
        self.write(record for record in changed if record is not None)


class Record(Recorded):
    def test_parallel_calls_and_a_call_without_an_id(self):
        """D14: the id that the host made is the same again."""
        calls = [("a", "echo", '{"text":"one"}'), ("", "echo", '{"text":"zwö"}'),
                 ("b", "fails", "{}")]
        done = self.record([e2e.openai_reply("Let me see.", calls), e2e.openai_reply("Done.")])
        self.assertEqual([record["name"] for record in self.of("tool_result")].count("echo"), 2)
        self.check_replay(done, 2, 3)

    def test_what_is_in_it(self):
        self.record([limited(), e2e.openai_reply("Hi.")], "--temperature", "0.5")
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        kinds = [record["type"] for record in self.records]
        self.assertEqual(kinds, ["header", "model", "run", "plugins", "request", "response",
                                 "request", "response", "result"])
        self.assertEqual(self.records[0]["format"], 1)
        self.assertEqual(self.records[0]["settings"]["temperature"], ["0.5"])
        request = self.of("request")[1]
        self.assertEqual((request["turn"], request["attempt"]), (0, 2))
        self.assertEqual(request["body"], json.loads(self.requests[1]["raw"]))
        self.assertIn("Authorization", request["headers"])
        first, last = self.of("response")
        self.assertEqual((first["status"], first["hints"]["retry_after_ms"]), (429, 0))
        self.assertEqual("".join(text for _, text in last["chunks"]),
                         e2e.openai_reply("Hi.").decode())
        plugin = next(plugin for plugin in self.of("plugins")[0]["plugins"]
                      if plugin["name"] == "e2e_tools")
        self.assertEqual(len(plugin["sha256"]), 64)

    def test_retry(self):
        """D11: the answer that came after one that was refused; nobody waits for it again."""
        start = time.monotonic()
        done = self.record([limited("1"), e2e.openai_reply("Hi.")])
        self.assertGreater(time.monotonic() - start, 0.9)
        start = time.monotonic()
        self.check_replay(done, 2, 0)
        if e2e.options.fail_malloc:
            self.assertLess(time.monotonic() - start, 0.9)

    def test_all_attempts_fail(self):
        done = self.record([limited()] * 4, code=4)
        self.check_replay(done, 4, 0)

    def test_broken_off_in_the_middle(self):
        """D22: the transfer fails as it failed."""
        reply = e2e.openai_reply("A long answer that is never whole.")
        done = self.record([["cut", reply[:len(reply) // 2]]], code=4)
        self.assertEqual(self.of("response")[0]["end"], "cut")
        self.assertEqual(done.of_type("error")[0]["kind"], "stream_truncated")
        self.check_replay(done, 1, 0)

    def test_an_error_in_the_stream(self):
        body = e2e.sse((None, {"choices": [{"index": 0, "delta": {"content": "So"}}]}),
                       (None, {"error": {"message": "the model broke", "code": 500}}))
        done = self.record([body], code=4)
        self.check_replay(done, 1, 0)

    def test_no_connection(self):
        with server() as closed:
            url = closed.url
        done = self.mortise("--json", *self.arguments(url, "--retries", "1"), "hello",
                            env=self.env())
        self.check(done, 4)
        self.check_replay(done, 2, 0)

    def test_bytes_that_are_no_text(self):
        """Chunks that end within a character, and bytes that are none."""
        reply = e2e.openai_reply("日本語のテキスト €").replace(b"stop", b"st\xff\xfeop")
        done = self.record([reply])
        self.assertTrue(any(isinstance(data, dict) for _, data in self.of("response")[0]["chunks"]))
        self.check_replay(done, 1, 0)

    def test_every_format(self):
        """The four ways in which calls, results and reasoning go over the wire."""
        formats = {"openai": e2e.openai_reply, "openai-responses": e2e.responses_reply,
                   "anthropic": e2e.anthropic_reply, "gemini": e2e.gemini_reply}
        for provider, reply in formats.items():
            with self.subTest(provider):
                self.begin_anew()
                call = ("" if provider == "gemini" else "c1", "echo", '{"text":"hi"}')
                done = self.record([reply("I look.", [call]), reply("Seen.")], provider=provider)
                self.check_replay(done, 2, 1)

    def test_reasoning(self):
        """D15: what goes back to the letter goes back so."""
        first = thinking_reply("Let me think about that.", "c2lnbmVk",
                               [("t1", "echo", '{"text":"x"}')])
        done = self.record([first, e2e.anthropic_reply("So it is.")], "--reasoning", "low",
                           provider="anthropic")
        self.assertIn(b"c2lnbmVk", self.requests[1]["raw"])
        self.assertIn("Let me think", "".join(e["text"] for e in done.of_type("reasoning_delta")))
        self.check_replay(done, 2, 1)

    def test_system_prompt_and_settings(self):
        done = self.record([e2e.openai_reply("Hi.")], "-s", "Be brief.", "--max-tokens", "7",
                           "--stop", "END", "--stop", "\n\n", "--tools", "echo,who")
        self.check_replay(done, 1, 0)

    def test_the_users_own_settings_do_not_matter(self):
        self.record([e2e.openai_reply("Hi.")])
        done = self.mortise("--temperature", "1", "--no-tools", "replay", self.path,
                            env={"MORTISE_SYSTEM": "Other.", "MORTISE_MAX_TOKENS": "3"})
        self.check(done, 0)

    def test_a_result_that_is_cut(self):
        """D12: the line that names where the whole is says the same path, which is not there."""
        done = self.record([e2e.openai_reply(calls=[("c", "big", '{"bytes":100000}')]),
                            e2e.openai_reply("Much.")], "--result-limit", "1000")
        self.assertEqual(len(self.of("kept")), 1)
        shutil.rmtree(os.path.join(self.home, ".local"))
        self.check_replay(done, 2, 1)

    def overflow(self):
        """A refusal of what is too long for the model."""
        message = ("This model's maximum context length is 16000 tokens. However, your messages "
                   "resulted in 20000 tokens.")
        error = {"message": message, "code": "context_length_exceeded"}
        return [400, {}, json.dumps({"error": error}).encode()]

    def test_a_conversation_that_is_made_shorter(self):
        """FAULTS 41: it is again, with the same paths of what was left out."""
        calls = [("c1", "big", '{"bytes":40000}'), ("c2", "big", '{"bytes":30000}')]
        done = self.record([e2e.openai_reply(calls=calls), self.overflow(),
                            e2e.openai_reply("All is read.")])
        self.assertEqual(len(self.of("kept")), 2)
        self.assertEqual(self.of("request")[2]["attempt"], 2)
        shutil.rmtree(os.path.join(self.home, ".local"))
        self.check_replay(done, 3, 2)

    def test_an_earlier_result_is_made_shorter_still(self):
        """What an earlier process kept of it is in the recording."""
        call = [("c1", "big", '{"bytes":100000}')]
        with server(e2e.openai_reply(calls=call), e2e.openai_reply("Much."), self.overflow(),
                    e2e.openai_reply("All is read.")) as asked:
            common = ["-m", "openai/m", "--base-url", asked.url, "-P", e2e.options.fixtures,
                      "--session", "trip", "--json"]
            self.check(self.mortise(*common, "hello", env=self.env()), 0)
            done = self.mortise(*common, "--record", self.path, "and?", env=self.env())
        self.check(done, 0)
        self.assertEqual(len(self.of("kept")[0]["found"]), 100011)
        shutil.rmtree(os.path.join(self.home, ".local"))
        self.check_replay(done, 2, 0)

    def test_limits_of_results_in_the_configuration(self):
        self.config(tool_config={"big": {"result_limit": 200, "color": KEY}})
        done = self.record([e2e.openai_reply(calls=[("c", "big", '{"bytes":1000}')]),
                            e2e.openai_reply("Much.")])
        self.check_replay(done, 2, 1)

    def test_files_that_go_with_a_result(self):
        """F67: what the model got of them, and what it did not."""
        parts = os.path.join(os.path.dirname(e2e.options.fixtures), "parts")
        done = self.record([e2e.anthropic_reply(calls=[("c", "attach", "{}")]),
                            e2e.anthropic_reply("A picture.")], "-P", parts, "--images", "on",
                           provider="anthropic")
        self.assertTrue(self.of("tool_result")[0].get("parts"), self.of("tool_result"))
        self.check_replay(done, 2, 1)

    def test_progress(self):
        """F43: it is shown again."""
        done = self.record([e2e.openai_reply(calls=[("c", "evil", "{}")]), e2e.openai_reply("Ok.")])
        self.assertEqual(len(done.of_type("tool_progress")), 1)
        self.check_replay(done, 2, 1)

    def test_calls_that_reach_no_tool(self):
        """D9: unknown, unreadable, and refused by the check of its arguments."""
        calls = [("a", "nothing_like_it", "{}"), ("b", "echo", '{"text":'),
                 ("c", "echo", '{"text":5}')]
        done = self.record([e2e.openai_reply(calls=calls), e2e.openai_reply("Sorry.")])
        self.check_replay(done, 2, 1)

    # ---- hooks ----

    def hooked(self, mode, replies=None, code=0, **how):
        log = os.path.join(self.root, "hooks.log")
        self.config(plugin_config={"e2e_hooks": {"mode": mode, "log": log}})
        calls = [("a", "echo", '{"text":"one"}'), ("b", "echo", '{"text":"two"}')]
        done = self.record(replies or [e2e.openai_reply(calls=calls), e2e.openai_reply("Done."),
                                       e2e.openai_reply("More.")], code=code, **how)
        with open(log, encoding="utf-8") as file:
            asked = file.read()
        self.assertTrue(asked)
        return done

    def test_hooks_that_change_and_decide(self):
        """D18, D1: every change and verdict is made again, without the hook."""
        for mode, code, requests, calls in (
                ("prompt_changes", 0, 2, 2), ("prompt_aborts", 6, 0, 0), ("prompt_fails", 6, 0, 0),
                ("prompt_skips", 6, 0, 0), ("request_edits", 0, 2, 2), ("request_removes", 0, 2, 2),
                ("request_orphans", 6, 1, 2), ("request_appends", 0, 2, 2),
                ("request_fails", 6, 1, 2),
                ("request_aborts", 6, 1, 2), ("edits_arguments", 0, 2, 2), ("skips", 0, 2, 1),
                ("responds", 0, 2, 1), ("changes_result", 0, 2, 2),
                ("call_aborts", 6, 1, 2), ("call_fails", 6, 1, 2),
                ("call_goes_on", 6, 1, 2), ("call_pauses", 8, 1, 0), ("goes_on", 0, 3, 2),
                ("end_pauses", 8, 2, 2)):
            with self.subTest(mode):
                self.begin_anew()
                done = self.hooked(mode, code=code)
                self.assertTrue(self.of("hook"), mode)
                self.check_replay(done, requests, calls)

    def test_a_hook_ends_the_batch(self):
        """D4: what was under way then is as it was, in every order in which calls run."""
        for mode in ("result_fails", "result_aborts"):
            for strategy in ("sequential", "parallel", "auto"):
                with self.subTest(mode=mode, strategy=strategy):
                    self.begin_anew()
                    log = os.path.join(self.root, "hooks.log")
                    self.config(plugin_config={"e2e_hooks": {"mode": mode, "log": log}})
                    mark = os.path.join(self.root, "mark")
                    calls = [("a", "echo", '{"text":"one"}'),
                             ("b", "wait_for_cancel", json.dumps({"mark": mark})),
                             ("c", "note", json.dumps({"file": mark, "text": "x"}))]
                    done = self.record([e2e.openai_reply(calls=calls)], "--strategy", strategy,
                                       code=6)
                    self.check_replay(done, 1, 3)

    def test_a_hook_ends_the_stream(self):
        done = self.hooked("stream_aborts", [e2e.openai_reply("Three bad words")], code=6)
        self.assertEqual(self.of("hook")[0]["event"], "OnTextDelta")
        self.check_replay(done, 1, 0)

    # ---- ends that come from outside ----

    def stopped(self, process, mark, number=signal.SIGINT):
        self.wait_for(mark, process)
        time.sleep(0.1)
        process.send_signal(number)
        return self.finish(process)

    def test_cancelled_while_a_tool_runs(self):
        """D4: with a call that ran and one that never did."""
        mark = os.path.join(self.root, "mark")
        calls = [("a", "wait_for_cancel", json.dumps({"mark": mark})),
                 ("b", "note", json.dumps({"file": mark + ".note", "text": "no"}))]
        with server(e2e.openai_reply("Wait.", calls)) as asked:
            process = self.start("--json", *self.arguments(asked.url), "hello", env=self.env())
            done = self.stopped(process, mark + ".started")
        self.check(done, 130)
        os.remove(mark + ".started")
        self.check_replay(done, 1, 2)
        live = self.replay("--json", "--live-tools", "-P", e2e.options.fixtures)
        self.assertIn("no difference", live.err)

    def test_cancelled_while_an_answer_comes(self):
        mark = os.path.join(self.root, "mark")
        reply = e2e.openai_reply("An answer of which only the beginning comes")
        with server(["hang", reply[:800], mark]) as asked:
            process = self.start("--json", *self.arguments(asked.url), "hello", env=self.env())
            done = self.stopped(process, mark, signal.SIGTERM)
        self.check(done, 143)
        self.assertTrue(done.of_type("text_delta"), done)
        self.check_replay(done, 1, 0)

    def test_cancelled_while_it_waits_to_retry(self):
        with server(limited("30")) as asked:
            process = self.start("--json", *self.arguments(asked.url), "hello", env=self.env())
            until = time.monotonic() + e2e.SECONDS
            while not asked.requests and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            done = self.finish(process)
        self.check(done, 130)
        self.check_replay(done, 1, 0)

    def test_out_of_time(self):
        mark = os.path.join(self.root, "mark")
        calls = [("a", "wait_for_cancel", json.dumps({"mark": mark}))]
        done = self.record([e2e.openai_reply(calls=calls)], "--timeout", "0.7", code=124)
        self.check_replay(done, 1, 1)

    def test_limit_of_turns(self):
        """D10"""
        call = [("a", "echo", '{"text":"x"}')]
        done = self.record([e2e.openai_reply(calls=call)] * 2, "--max-turns", "1", code=7)
        self.check_replay(done, 1, 1)

    # ---- conversations ----

    def test_a_chat(self):
        """Several prompts, and all that may be changed between them."""
        lines = ["first", "/system Be brief.", "second", "/lock", "third", "/unlock", "/clear",
                 "/model openai/other", "fourth", "/quit"]
        call = [("a", "echo", '{"text":"x"}')]
        replies = [e2e.openai_reply("One.", call), e2e.openai_reply("One and a half."),
                   *(e2e.openai_reply(text) for text in ("Two.", "Three.", "Four."))]
        with server(*replies) as asked:
            done = self.mortise("--json", "--no-session", *self.arguments(asked.url), "chat",
                                input="\n".join(lines) + "\n", env=self.env())
            self.assertEqual(asked.bodies[-1]["model"], "other")
        self.check(done, 0)
        runs = self.of("run")
        self.assertEqual([run["prompt"] for run in runs], ["first", "second", "third", "fourth"])
        self.assertEqual(runs[2]["locked"], 7)
        self.assertEqual(runs[3]["history"], [])
        self.check_replay(done, 5, 1)

    def test_a_session_that_is_gone_on_with(self):
        """It begins with what was said before, also with what goes back to the letter."""
        first = thinking_reply("Hm.", "c2lnbmVk", [("t1", "echo", '{"text":"x"}')])
        with server(first, e2e.anthropic_reply("So."), e2e.anthropic_reply("And so.")) as asked:
            common = ["-m", "anthropic/m", "--base-url", asked.url, "-P", e2e.options.fixtures,
                      "--session", "trip"]
            self.check(self.mortise(*common, "hello", env=self.env()), 0)
            done = self.mortise("--json", *common, "--record", self.path, "and?", env=self.env())
            self.assertIn(b"c2lnbmVk", asked.requests[2]["raw"])
        self.check(done, 0)
        self.assertEqual(len(self.of("run")[0]["history"]), 5)
        self.check_replay(done, 1, 0)

    def test_a_run_that_is_resumed(self):
        mark = os.path.join(self.root, "mark")
        calls = [("a", "wait_for_cancel", json.dumps({"mark": mark}))]
        with server(e2e.openai_reply("Wait.", calls), e2e.openai_reply("Well.")) as asked:
            common = ["-m", "openai/m", "--base-url", asked.url, "-P", e2e.options.fixtures]
            process = self.start("--session", "trip", *common, "hello", env=self.env())
            self.check(self.stopped(process, mark + ".started"), 130)
            done = self.mortise("--json", *common, "--record", self.path, "resume", "trip",
                                env=self.env())
        self.check(done, 0)
        self.assertTrue(self.of("run")[0]["resume"])
        self.check_replay(done, 1, 0)

    def test_reload_between_two_runs(self):
        folder = self.folder("plugins")
        versions = os.path.join(os.path.dirname(e2e.options.fixtures), "versions")

        def install(version):
            shutil.copy(os.path.join(versions, version, f"e2e_version_{version}.so"),
                        os.path.join(folder, "new"))
            os.rename(os.path.join(folder, "new"), os.path.join(folder, "version.so"))

        install("1")
        call = [("a", "version", "{}")]

        def later(_body):
            install("2")
            return e2e.openai_reply("One.")

        with server(e2e.openai_reply(calls=call), later, e2e.openai_reply(calls=call),
                    e2e.openai_reply("Two.")) as asked:
            done = self.mortise("--json", "--no-session", *self.arguments(asked.url, "-P", folder),
                                "chat", input="first\n/reload\nsecond\n", env=self.env())
        self.check(done, 0)
        self.assertEqual([[plugin["version"] for plugin in record["plugins"]
                           if plugin["name"] == "version"] for record in self.of("plugins")],
                         [["1"], ["2"]])
        replayed = self.replay("--json")
        self.assertEqual([event["result"] for event in replayed.of_type("tool_result")],
                         ["version 1", "version 2"])


class Secrets(Recorded):
    """D24"""

    def test_a_key_that_comes_back(self):
        """In an answer, where pieces of it come in two chunks; the replay is none the worse."""
        for shift in range(0, 97, 24):
            with self.subTest(shift):
                self.begin_anew()
                text = f"{'y' * shift}{KEY}"
                done = self.record([e2e.openai_reply(text, [("c", "who", "{}")]),
                                    e2e.openai_reply("Fine.")])
                self.assertIn("[redacted]", json.dumps(self.of("request")[1]["body"]))
                replayed = self.check_replay(done, 2, 1)
                self.assertNotIn(KEY, replayed.out)

    def test_a_key_in_pieces(self):
        """A model says it in two events: no row of bytes holds it, but everybody can read it."""
        rest = KEY[9:].encode()
        pieces = e2e.openai_reply(f"it is {KEY[:9]} {KEY[9:]} !").replace(b'" ' + rest, b'"' + rest)
        self.record([pieces])
        self.assertTrue(self.of("response")[0]["withheld"])
        self.assertNotIn("chunks", self.of("response")[0])
        with open(self.path, encoding="utf-8") as file:
            self.assertNotIn(KEY[9:], file.read())
        done = self.replay()
        self.assertIn("as far as the recording goes", done.err)

    def test_a_key_in_an_error(self):
        body = json.dumps({"error": {"message": f"your key {KEY} is wrong"}}).encode()
        done = self.record([[401, {"X-Echo": KEY}, body]], code=3)
        self.check_replay(done, 1, 0)

    def test_bytes_that_are_no_text(self):
        reply = e2e.openai_reply("hello").replace(b"hello", b"\xff" + KEY.encode() + b"\xfe")
        self.record([reply])
        self.replay()

    def test_a_key_in_a_url(self):
        with server(e2e.openai_reply("Hi.")) as asked:
            url = asked.url.replace("//", f"//user:{KEY}2@")
            self.check(self.mortise(*self.arguments(url), "hello", env=self.env()), 0)
        self.check_no_secret()
        self.replay()

    def test_a_key_that_is_said(self):
        """In the prompt, the system prompt and the options."""
        done = self.record([e2e.openai_reply("Hi.")], "-s", f"The key is {KEY}.", "--stop", KEY,
                           prompt=f"my key is {KEY}")
        self.check_replay(done, 1, 0)


class Differences(Recorded):
    def setUp(self):
        super().setUp()
        self.replies = [e2e.openai_reply("Look:", [("c", "who", "{}")]), e2e.openai_reply("Seen.")]

    def check_difference(self, *parts, options=(), requests=None):
        done = self.replay(*options, code=1)
        for part in parts:
            self.assertIn(part, done.err, done)
        self.assertTrue(done.err.startswith("mortise: ") or "\nmortise: " in done.err, done)
        self.assertTrue(done.err.rstrip().endswith(": a difference"), done)
        if requests is not None:
            self.assertIn(f"replayed {requests} request", done.err)
        return done

    def test_a_request(self):
        """Which turn, which line, which member, which byte."""
        self.record(self.replies)

        def change(record):
            if record["type"] == "request" and record["turn"] == 1:
                record["body"]["messages"][2]["content"] += "!"
            return record

        self.edit(change)
        self.check_difference("turn 1, attempt 1 (line 8)", "at $.messages[2].content, byte",
                              'agent=mortise!"', requests=1)

    def test_a_tool(self):
        self.record(self.replies)
        self.edit(lambda record: json.loads(json.dumps(record).replace("Say who asks.", "Say so.")))
        self.replay()  # definitions come from the recording, and it is the same everywhere

        def change(record):
            if record["type"] == "plugins":
                for plugin in record["plugins"]:
                    for tool in plugin["tools"]:
                        tool["description"] = "Other."
            return record

        self.edit(change)
        self.check_difference("turn 0, attempt 1", "at $.tools[0].function.description, byte",
                              'now "Other."', requests=0)

    def test_a_result(self):
        """What a tool said, when it is given instead of run."""
        self.record(self.replies)

        def change(record):
            if record["type"] == "tool_result":
                record["text"] = "user=eve"
            return record

        self.edit(change)
        self.check_difference("turn 1, attempt 1", "at $.messages[2].content", "user=eve",
                              requests=1)

    def test_a_response(self):
        self.record(self.replies)

        def change(record):
            if record["type"] == "response" and record["turn"] == 1:
                record["chunks"] = [[0, "".join(text for _, text in record["chunks"])
                                     .replace("Seen.", "Gone.")]]
            return record

        self.edit(change)
        self.check_difference("the result of the run differs", "'text'", '"Seen."', '"Gone."')

    def test_records_that_are_missing(self):
        self.record(self.replies)
        whole = self.records
        for kind, wanted in (("tool_result", "has no recorded result"),
                             ("response", "has no response"),
                             ("request", "makes a request that was not recorded")):
            with self.subTest(kind):
                at = max(i for i, record in enumerate(whole) if record["type"] == kind)
                self.write(whole[:at] + whole[at + 1:])
                self.check_difference(wanted)

    def test_something_more(self):
        """What was recorded and does not happen again."""
        self.record([e2e.openai_reply("Hi.")])
        with open(self.path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        request = next(i for i, line in enumerate(lines) if '"type":"request"' in line)
        lines[-1:-1] = lines[request:request + 2]
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        self.check_difference("the recording goes on with a request (line 7)")

    # ---- live ----

    def live(self, *options):
        return ("--live-tools", "-P", e2e.options.fixtures, *options)

    def test_live_tools(self):
        self.record(self.replies)
        done = self.replay(*self.live())
        self.assertIn("replayed 2 requests, 1 tool call: no difference", done.err)

    def test_live_tools_that_answer_otherwise(self):
        self.record(self.replies, "--user", "ada")
        self.replay(*self.live("--user", "ada"))
        self.check_difference("the result of 'who' (line 7) differs", "'text' at $, byte",
                              "user=ada", "user=eve", options=self.live("--user", "eve"))

    def test_live_tools_that_are_not_there(self):
        self.record(self.replies)
        self.check_difference("turn 0, attempt 1", "$.tools",
                              options=("--live-tools", "--no-plugins"))

    def test_live_hooks(self):
        log = os.path.join(self.root, "hooks.log")
        self.config(plugin_config={"e2e_hooks": {"mode": "skips", "log": log}})
        self.record(self.replies)
        home = self.folder("third-home/.config/mortise")
        for mode, code, wanted in (
                ("skips", 0, "no difference"),
                ("responds", 1, "hook 'e2e_hooks/main' at PreToolCall (line 7) differs: 'verdict'"),
                ("nothing", 1, "'verdict'"),
                ("prompt_changes", 1, "OnPromptSubmit changes or decides something that it")):
            with self.subTest(mode):
                with open(os.path.join(home, "config.json"), "w", encoding="utf-8") as file:
                    json.dump({"plugin-config": {"e2e_hooks": {"mode": mode, "log": log}}}, file)
                done = self.mortise("replay", *self.live(), self.path,
                                    env={"HOME": os.path.join(self.root, "third-home")})
                self.check(done, code)
                self.assertIn(wanted, done.err)


class Files(Recorded):
    def test_torn(self):
        """A process that was killed while it wrote: as far as it goes, and no crash at any byte."""
        self.record([e2e.openai_reply("Look:", [("c", "who", "{}")]), e2e.openai_reply("Seen.")])
        with open(self.path, "rb") as file:
            data = file.read()
        ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
        cuts = {end + shift for end in ends[:-1] for shift in (-1, 0, 1, 40)}
        torn = os.path.join(self.root, "torn.jsonl")
        for cut in sorted(cuts):
            with self.subTest(cut):
                with open(torn, "wb") as file:
                    file.write(data[:cut])
                if cut < ends[0] - 1:
                    self.replay(path=torn, code=2)
                    continue
                done = self.replay(path=torn)
                self.assertIn("no difference, as far as the recording goes", done.err)

    def test_what_is_no_recording(self):
        for text, wanted in (("", "there is no recording in it"),
                             ("{}\n", "line 1: it has no 'type'"),
                             ("hello\n", "line 1: it is no JSON object"),
                             ('{"type":"run"}\n', "the first line is no header"),
                             ('{"type":"header","format":1}\n', "line 1: 'settings' is missing"),
                             ('{"type":"header","format":2,"settings":{}}\n', "newer mortise"),
                             ('{"type":"header","format":1,"settings":{"max-turns":["x"]}}\n',
                              "setting 'max-turns': 'x' must be a whole number")):
            with self.subTest(text):
                path = self.file("wrong.jsonl", text)
                done = self.replay(path=path, code=2)
                self.check_error(done, 2, wanted)
        missing = os.path.join(self.root, "none")
        self.check_error(self.replay(path=missing, code=3), 3, "cannot read")
        self.check_error(self.mortise("replay"), 2, "takes one recording")

    def test_a_file_that_is_there(self):
        self.file("run.jsonl", "precious")
        with server(e2e.openai_reply("Hi.")) as asked:
            done = self.mortise(*self.arguments(asked.url), "hello", env=self.env())
            self.assertEqual(asked.requests, [])
        self.check_error(done, 2, "option '--record': cannot make", "File exists")
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_nothing_to_record(self):
        for model in ("offline", self.script({"text": "Hi."})):
            done = self.mortise("--record", self.path, "-m", model, "hello")
            self.check_error(done, 2, "nothing to record")
            self.assertFalse(os.path.exists(self.path))

    def test_a_replay_is_not_recorded(self):
        self.record([e2e.openai_reply("Hi.")])
        done = self.mortise("--record", self.path + "2", "replay", self.path)
        self.check_error(done, 2, "--record")


if __name__ == "__main__":
    e2e.main()
