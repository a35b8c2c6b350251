"""A run is written down and done again: in another folder, without network, key and plugins.

What the replay shows is what the run showed, to the event; what is recorded holds no secret (D24).
"""
import json
import os
import shutil
import stat

import e2e
import test_bedrock
from recorded import KEY, Recorded, limited, server, thinking_reply
from test_bedrock import bedrock


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
        done = self.record([limited("1"), e2e.openai_reply("Hi.")])
        replayed = self.check_replay(done, 2, 0)
        self.assertEqual([run.of_type("retry")[0]["wait_ms"] for run in (done, replayed)], [1000, 0])

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
        self.check_withheld(KEY[9:])

    def check_withheld(self, *parts):
        self.assertTrue(self.of("response")[0]["withheld"])
        self.assertNotIn("chunks", self.of("response")[0])
        with open(self.path, encoding="utf-8") as file:
            text = file.read()
        for part in parts:
            self.assertNotIn(part, text)
        done = self.replay()
        self.assertIn("as far as the recording goes", done.err)

    def test_a_key_in_pieces_of_a_call(self):
        """Its arguments come in fives; what is made of them is masked as a whole."""
        self.record([e2e.openai_reply(calls=[("c", "echo", json.dumps({"text": KEY}))]),
                     e2e.openai_reply("Fine.")])
        self.check_withheld(KEY[-10:])

    def test_a_key_in_pieces_of_a_thought(self):
        self.record([thinking_reply(f"so {KEY}", "c2lnbmVk"), e2e.anthropic_reply("Fine.")],
                    provider="anthropic")
        self.check_withheld(KEY[-10:])

    def test_a_key_in_pieces_that_nobody_heard(self):
        """They came with what made a hook end the response."""
        log = os.path.join(self.root, "hooks.log")
        self.config(plugin_config={"e2e_hooks": {"mode": "stream_aborts", "log": log}})
        reply = e2e.openai_reply(f"bad it is {KEY[:9]} {KEY[9:]} !")
        reply = reply.replace(b'" ' + KEY[9:].encode(), b'"' + KEY[9:].encode())
        self.record([[200, {"Content-Type": "text/event-stream"}, reply]], code=6)
        self.check_withheld(KEY[9:])

    def test_a_key_in_a_frame(self):
        """Without it the frame of Bedrock's is broken: the response cannot be replayed."""
        for said, withheld in ((bedrock.SECRET, True), ("nothing", False)):
            with self.subTest(said):
                self.begin_anew()
                reply = e2e.anthropic_reply("[piece]").replace(b"[piece]", said.encode())
                with test_bedrock.Server(bedrock.frames_of(reply)) as asked:
                    done = self.mortise(
                        "--json", "--record", self.path, "-m", test_bedrock.MODEL, "hello",
                        env={**bedrock.ENVIRONMENT, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": asked.url})
                self.check(done, 0)
                self.assertEqual("withheld" in self.of("response")[0], withheld)
                if withheld:
                    self.check_withheld(bedrock.SECRET, bedrock.TOKEN)
                    continue
                self.check_replay(done, 1, 0)
                self.edit(self.begin_with_nothing)
                self.check_replay(done, 1, 0)

    @staticmethod
    def begin_with_nothing(record):
        """A piece without bytes, as no recorder writes it, tells no kind of body."""
        if record["type"] == "response":
            record["chunks"].insert(0, [0, ""])
        return record

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

    def test_a_short_password_in_a_url(self):
        """Too short to be looked for everywhere."""
        with server(e2e.openai_reply("Hi.")) as asked:
            url = asked.url.replace("//", "//user:pw%40@")
            self.check(self.mortise(*self.arguments(url), "hello", env=self.env()), 0)
        self.assertEqual(self.of("request")[0]["url"], f"{asked.url}/chat/completions")
        self.replay()

    def test_a_key_that_is_said(self):
        """In the prompt, the system prompt and the options."""
        done = self.record([e2e.openai_reply("Hi.")], "-s", f"The key is {KEY}.", "--stop", KEY,
                           prompt=f"my key is {KEY}")
        self.check_replay(done, 1, 0)


if __name__ == "__main__":
    e2e.main()
