"""What a replay finds: differences, where they are; files that are torn, hostile or no recording."""
import json
import os
import signal

import e2e
from recorded import Recorded, server


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


class Interrupted(Recorded):
    """A replay that its user ends has found no difference."""

    def test_while_a_live_tool_runs(self):
        mark, log = os.path.join(self.root, "mark"), os.path.join(self.root, "hooks.log")
        self.config(plugin_config={"e2e_hooks": {"mode": "responds", "log": log}})
        call = ("c", "wait_for_cancel", json.dumps({"mark": mark}))
        self.record([e2e.openai_reply(calls=[call]), e2e.openai_reply("Done.")])
        self.config(plugin_config={"e2e_hooks": {"mode": "nothing", "log": log}})
        process = self.start("replay", "--live-tools", "-P", e2e.options.fixtures, self.path)
        self.wait_for(mark + ".started", process)
        process.send_signal(signal.SIGINT)
        done = self.finish(process)
        self.check(done, 130)
        self.assertNotIn("difference", done.err)

    def test_while_nobody_reads(self):
        self.record([e2e.openai_reply("A long answer. " * 2000)])
        with open("/dev/full", "wb") as full:
            done = self.mortise("replay", self.path, stdout=full)
        self.check(done, 1)
        self.assertIn("cannot write to standard output", done.err)
        self.assertNotIn("difference", done.err)


class Hostile(Recorded):
    """A file that a stranger sent: nothing is read, written or run because of it."""

    def setUp(self):
        super().setUp()
        self.record([e2e.openai_reply("Look:", [("c", "note", json.dumps(
            {"file": os.path.join(self.root, "noted"), "text": "x"}))]), e2e.openai_reply("Ok.")])
        os.remove(os.path.join(self.root, "noted"))

    def test_no_tool_is_run(self):
        self.replay()
        self.assertFalse(os.path.exists(os.path.join(self.root, "noted")))

    def test_settings_that_none_is_recorded_of(self):
        made = os.path.join(self.root, "made")
        read = self.file("read", "private words")

        def change(record):
            if record["type"] == "header":
                record["settings"] |= {"system": [f"@{read}"], "record": [made],
                                       "session": ["s"], "plugins": [e2e.options.fixtures],
                                       "base-url": ["http://127.0.0.1:1"], "live-tools": ["true"]}
            return record

        self.edit(change)
        self.replay()
        self.assertFalse(os.path.exists(made))
        self.assertFalse(os.path.exists(os.path.join(self.root, "noted")))

    def test_a_system_prompt_is_no_file(self):
        read = self.file("read", "private words")

        def change(record):
            if record["type"] == "run":
                record["system"] = f"@{read}"
            return record

        self.edit(change)
        done = self.replay(code=1)
        self.assertNotIn("private words", done.out + done.err)

    def test_paths_of_what_was_kept(self):
        """They are told, and neither read nor written."""
        made = os.path.join(self.root, "made")
        records = self.records
        records[-1:-1] = [{"type": "kept", "name": "c", "path": made, "found": "x"},
                          {"type": "kept", "name": "c", "path": made}]
        records[0]["settings"]["result-limit"] = ["1"]
        self.write(records)
        self.replay(code=1)
        self.assertFalse(os.path.exists(made))


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
