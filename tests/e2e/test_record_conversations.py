"""Recordings of runs that end early, and of conversations of several runs: each is replayed to its
end, as it was."""
import json
import os
import shutil
import signal

import e2e
from recorded import Recorded, Watched, limited, server, thinking_reply


class Ends(Recorded):
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
        reply = e2e.openai_reply("An answer of which only the beginning comes")
        with server(["hang", reply[:800]]) as asked:
            watched = Watched(self, "--json", *self.arguments(asked.url), "hello", env=self.env())
            watched.wait(b'"text_delta"')
            done = watched.stop(signal.SIGTERM)
        self.check(done, 143)
        self.assertTrue(done.of_type("text_delta"), done)
        self.check_replay(done, 1, 0)

    def test_cancelled_while_it_waits_to_retry(self):
        with server(limited("30")) as asked:
            watched = Watched(self, "--json", *self.arguments(asked.url), "hello", env=self.env())
            watched.wait(b'"retry"')
            done = watched.stop(signal.SIGINT)
        self.check(done, 130)
        self.check_replay(done, 1, 0)

    def test_out_of_time(self):
        mark = os.path.join(self.root, "mark")
        calls = [("a", "wait_for_cancel", json.dumps({"mark": mark}))]
        done = self.record([e2e.openai_reply(calls=calls)], "--timeout", "2", code=124)
        self.check_replay(done, 1, 1)

    def test_limit_of_turns(self):
        """D10"""
        call = [("a", "echo", '{"text":"x"}')]
        done = self.record([e2e.openai_reply(calls=call)] * 2, "--max-turns", "1", code=7)
        self.check_replay(done, 1, 1)


class Conversations(Recorded):
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


if __name__ == "__main__":
    e2e.main()
