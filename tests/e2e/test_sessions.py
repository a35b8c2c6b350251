"""Sessions: kept, listed, shown, moved, continued, and resumed in another process."""
import json
import os
import signal
import sqlite3
import stat
import unittest

import e2e

ECHO = {"id": "call_echo", "name": "echo", "arguments": {"text": "said"}}


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.store = os.path.join(self.home, ".local/share/mortise/sessions.db")

    def play(self, *turns, options=(), prompt="hello", **how):
        return self.mortise("--json", "-P", e2e.options.fixtures, "-m", self.script(*turns),
                            *options, prompt, **how)

    def resume(self, *turns, operands=(), options=(), **how):
        return self.mortise("--json", "-P", e2e.options.fixtures, "-m", self.script(*turns),
                            *options, "resume", *operands, **how)

    def sessions(self):
        return self.check(self.mortise("--json", "sessions"), 0).events

    def state(self, session):
        return {row["id"]: row["state"] for row in self.sessions()}[session]

    def items(self, session):
        exported = self.check(self.mortise("sessions", "export", session), 0).events
        return [line["item"] for line in exported[1:]]

    def note(self, name="notes.txt"):
        """A call with a side effect: a line more in a file."""
        self.notes = os.path.join(self.root, name)
        return {"id": "call_note", "name": "note",
                "arguments": {"file": self.notes, "text": "noted"}}

    def noted(self):
        if not os.path.exists(self.notes):
            return []
        with open(self.notes, encoding="utf-8") as notes:
            return notes.read().splitlines()


class Keeping(Case):
    def test_a_plain_run_keeps_nothing(self):
        done = self.check(self.play({"text": "Good day."}), 0)
        self.assertFalse(os.path.exists(os.path.join(self.home, ".local")))
        self.assertIsNone(done.events[0]["session"])
        self.assertIsNone(done.events[-1]["session"])
        self.assertEqual(self.sessions(), [])
        self.assertFalse(os.path.exists(os.path.join(self.home, ".local")), "listing makes nothing")
        self.assertIn("no sessions", self.check(self.mortise("sessions"), 0).err)

    def test_named(self):
        """--session begins it, and goes on with it."""
        options = ("--session", "trip", "-s", "Be brief.")
        done = self.check(self.play({"text": "One."}, options=options, prompt="first words"), 0)
        self.assertEqual(done.events[0]["session"], "trip")
        self.assertEqual(done.events[-1]["session"], "trip")
        self.check(self.play({"text": "Two.", "expect": ["first words", "One.", "Be brief."]},
                             options=("--session", "trip")), 0)
        self.assertEqual(stat.S_IMODE(os.stat(self.store).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(self.store)).st_mode), 0o700)
        row, = self.sessions()
        self.assertEqual((row["id"], row["title"], row["state"], row["items"], row["cwd"]),
                         ("trip", "first words", "idle", 4, self.work))
        roles = [item["role"] for item in self.items("trip")]
        self.assertEqual(roles, ["user", "assistant", "user", "assistant"])

    def test_remembered_model(self):
        model = self.script({"text": "One."})
        self.check(self.mortise("-m", model, "--session", "trip", "hi"), 0)
        self.assertEqual(self.check(self.mortise("--session", "trip", "hi"), 0).out, "One.\n")

    def test_continue(self):
        """-c goes on with the latest of this folder."""
        self.check_error(self.mortise("-c", "-m", "offline", "hi"), 2, "no session of this folder")
        self.check(self.play({"text": "One."}, options=("--session", "one"), prompt="a"), 0)
        self.check(self.play({"text": "Two."}, options=("--session", "two"), prompt="b"), 0)
        self.check(self.play({"text": "Elsewhere."}, options=("--session", "three"), prompt="c",
                             cwd=self.folder("elsewhere")), 0)
        done = self.check(self.play({"text": "Three.", "expect": ["Two."]}, options=("-c",)), 0)
        self.assertEqual(done.events[-1]["session"], "two")

    def test_no_session(self):
        self.check(self.play({"text": "One."}, options=("--session", "one", "--no-session")), 0)
        self.assertFalse(os.path.exists(self.store))

    def test_bad_names(self):
        for name in ("../x", "a b", "-x", "x" * 65, "ses_that_never_was"):
            self.check_error(self.mortise("-m", "offline", f"--session={name}", "hi"), 2, name)
        self.check_error(self.mortise("-m", "offline", "--session", "x", "-c", "hi"), 2, "--continue")

    def test_call_context(self):
        """Tools are told the session."""
        done = self.play({"calls": [{"name": "who"}]}, {"text": "ok"}, options=("--session", "trip"))
        self.check(done, 0)
        self.assertIn("session=trip", done.of_type("tool_result")[0]["result"])


class Commands(Case):
    def setUp(self):
        super().setUp()
        calls = [ECHO, dict(ECHO, id="call_two", arguments={"text": "line\u2028\nnext \u0007"})]
        self.check(self.play({"text": "I ask.", "reasoning": "Hm.", "calls": calls},
                             {"text": "Done."}, options=("--session", "trip"), prompt="Say\x1b[2J it"),
                   0)

    def test_list_and_show(self):
        done = self.check(self.mortise("sessions", "list"), 0)
        for part in ("trip", "8 items", "idle", "Say"):
            self.assertIn(part, done.out)
        done = self.check(self.mortise("sessions", "show", "tri"), 0)
        for part in ("I ask.", "echo", "said", "Done.", self.work):
            self.assertIn(part, done.out)
        shown = self.check(self.mortise("--json", "sessions", "show", "trip"), 0).events
        self.assertEqual(shown[0]["id"], "trip")
        self.assertEqual(shown[1:], self.items("trip"))

    def test_export_and_import(self):
        lines = self.check(self.mortise("sessions", "export", "trip"), 0).out
        self.assertEqual(len(lines.split("\n")), 10, "a line ends at LF only")
        path = self.file("trip.jsonl", lines)
        self.check_error(self.mortise("sessions", "import", path), 2, "'trip' is there already")
        self.check(self.mortise("sessions", "rm", "trip"), 0)
        self.check_error(self.mortise("sessions", "show", "trip"), 2, "'trip' not found")
        self.assertEqual(self.check(self.mortise("sessions", "import", path), 0).out, "trip\n")
        self.assertEqual(self.check(self.mortise("sessions", "export", "trip"), 0).out, lines)
        self.check(self.mortise("sessions", "rm", "trip"), 0)
        self.check(self.mortise("sessions", "import", "-", input=lines), 0)

    def test_broken_import(self):
        lines = self.check(self.mortise("sessions", "export", "trip"), 0).out.split("\n")
        self.check(self.mortise("sessions", "rm", "trip"), 0)
        lines[3] = lines[3][:-9]
        path = self.file("trip.jsonl", "\n".join(lines))
        self.check_error(self.mortise("sessions", "import", path), 2, path, "line 4")
        self.assertEqual(self.sessions(), [])
        self.check_error(self.mortise("sessions", "import", "/nowhere"), 3, "/nowhere")

    def test_usage(self):
        for words in (["show"], ["rm"], ["list", "x"], ["odd", "x"], ["export", "a", "b"]):
            self.check_error(self.mortise("sessions", *words), 2, "usage: mortise sessions")
        self.check_error(self.mortise("resume", "a", "b"), 2, "usage: mortise resume")


class Resuming(Case):
    def test_paused_by_a_hook(self):
        """W56, W57: exit code 8; another process goes on, and the tools run once."""
        note = self.note()
        log = os.path.join(self.root, "hooks.log")
        self.config(plugin_config={"e2e_hooks": {"mode": "call_pauses", "log": log}})
        done = self.play({"text": "I note.", "calls": [note, ECHO]}, options=("--session", "trip"))
        self.check(done, 8)
        self.assertEqual(self.noted(), [])
        self.assertEqual(self.state("trip"), "paused")
        self.check(self.resume({"text": "no"}), 8)
        self.assertEqual((self.noted(), self.state("trip")), ([], "paused"))
        self.config(plugin_config={"e2e_hooks": {"mode": "", "log": log}})
        done = self.check(self.resume({"text": "Done.", "expect": ["noted: noted", "said"]}), 0)
        self.assertEqual(self.noted(), ["noted"])
        self.assertEqual(done.events[-1]["text"], "Done.")
        self.assertEqual(self.state("trip"), "idle")
        self.check_error(self.mortise("resume"), 2, "no run of this folder")
        self.check_error(self.mortise("resume", "trip"), 2, "nothing to resume")

    def test_limited(self):
        turn = {"calls": [self.note()]}
        done = self.play(turn, options=("--session", "trip", "--max-turns", "1"))
        self.check(done, 7)
        self.assertEqual(self.state("trip"), "limited")
        self.check(self.resume({"text": "Done."}, operands=("trip",)), 0)
        self.assertEqual(self.noted(), ["noted"])

    def test_failed(self):
        """A run that failed is gone on with; what it had stays."""
        done = self.play({"calls": [self.note()]}, {"error": {"kind": "auth", "message": "no key"}},
                         options=("--session", "trip"))
        self.check(done, 3)
        self.assertEqual(self.state("trip"), "interrupted")
        self.check(self.resume({"text": "Done.", "expect": ["noted: noted"]}, operands=("tr",)), 0)
        self.assertEqual(self.noted(), ["noted"])

    def test_a_new_prompt_answers_what_was_paused(self):
        """W58."""
        log = os.path.join(self.root, "hooks.log")
        self.config(plugin_config={"e2e_hooks": {"mode": "call_pauses", "log": log}})
        self.check(self.play({"calls": [self.note(), ECHO]}, options=("--session", "trip")), 8)
        self.config(plugin_config={"e2e_hooks": {"mode": "", "log": log}})
        self.check(self.play({"text": "Done."}, options=("-c",), prompt="and now?"), 0)
        kinds = [item["type"] for item in self.items("trip")]
        self.assertEqual(kinds, ["message", "function_call", "function_call",
                                 "function_call_output", "function_call_output", "message",
                                 "message"])
        self.assertEqual(self.noted(), ["noted"])

    def test_busy(self):
        """FAULTS 138: one process runs a session; a dead one keeps nothing."""
        note = self.note()
        note["arguments"]["wait_ms"] = 999
        model = self.script({"calls": [note]}, {"text": "Done."})
        process = self.start("-P", e2e.options.fixtures, "-m", model, "--session", "trip", "hi")
        self.wait_for(self.notes, process)
        self.assertEqual(self.state("trip"), "running")
        busy = f"session 'trip' is busy: process {process.pid} is running it"
        self.check_error(self.mortise("-m", "offline", "--session", "trip", "hi"), 1, busy)
        self.check_error(self.mortise("resume", "trip"), 1, busy)
        self.check_error(self.mortise("sessions", "rm", "trip"), 1, busy)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(self.state("trip"), "interrupted")
        done = self.check(self.resume({"text": "Done.", "expect": ["outcome unknown"]}), 0)
        self.assertEqual(done.events[-1]["session"], "trip")
        self.assertEqual(self.noted(), ["noted"])

    def test_refused_prompt(self):
        """W19: a prompt that a hook refuses changes nothing."""
        log = os.path.join(self.root, "hooks.log")
        self.check(self.play({"text": "One."}, options=("--session", "trip")), 0)
        self.config(plugin_config={"e2e_hooks": {"mode": "prompt_aborts", "log": log}})
        self.check(self.play({"text": "no"}, options=("-c",)), 6)
        self.assertEqual((self.state("trip"), len(self.items("trip"))), ("idle", 2))

    def test_cancelled(self):
        mark = os.path.join(self.root, "mark")
        wait = {"name": "wait_for_cancel", "arguments": {"mark": mark}}
        process = self.start("-P", e2e.options.fixtures, "-m", self.script({"calls": [wait]}),
                             "--session", "trip", "hi")
        self.wait_for(mark + ".started", process)
        process.send_signal(signal.SIGINT)
        self.check(self.finish(process), 130)
        self.assertEqual(self.state("trip"), "interrupted")
        self.check(self.resume({"text": "Done."}), 0)


class Faults(Case):
    def test_newer_store(self):
        self.check(self.play({"text": "One."}, options=("--session", "one")), 0)
        with sqlite3.connect(self.store) as store:
            store.execute("PRAGMA user_version = 9")
        for command in (["sessions"], ["-c", "-m", "offline", "hi"], ["resume"]):
            self.check_error(self.mortise(*command), 3, self.store, "newer mortise")
        self.check(self.mortise("-m", "offline", "hi"), 0)

    def test_damaged_store(self):
        self.file("home/.local/share/mortise/sessions.db", "no database " * 100)
        os.chmod(self.store, 0o600)
        for command in (["sessions"], ["--session", "x", "-m", "offline", "hi"], ["resume"]):
            self.check_error(self.mortise(*command), 1, self.store, "damaged")

    def test_unreadable_item(self):
        """FAULTS 136: a warning and a count, and the rest is there."""
        self.check(self.play({"text": "One."}, options=("--session", "one")), 0)
        with sqlite3.connect(self.store) as store:
            store.execute("UPDATE items SET json = substr(json, 1, 9) WHERE place = 0")
        done = self.check(self.play({"text": "Two.", "expect": ["One."]}, options=("-c",)), 0)
        self.assertIn("item 0 is left out", done.err)
        self.assertIn("1 item could not be used", done.err)

    def test_no_place(self):
        env = {"HOME": "relative", "XDG_DATA_HOME": None}
        done = self.mortise("-m", "offline", "--session", "x", "hi", env=env)
        self.check_error(done, 3, "XDG_DATA_HOME")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_folder(self):
        os.chmod(self.home, 0o500)
        done = self.mortise("-m", "offline", "--session", "x", "hi")
        os.chmod(self.home, 0o700)
        self.check_error(done, 3, "Permission denied")

    def test_exact_bytes_on_the_wire(self):
        """D15: what another process sends again is what the provider sent."""
        first = e2e.anthropic_reply("I say.", [("call_1", "echo", '{"text" : "said"}')])
        env = {"ANTHROPIC_API_KEY": "sk-0123456789"}
        replies = (first, e2e.anthropic_reply("One."), e2e.anthropic_reply("Two."))
        with e2e.Server(*replies) as server:
            options = ("-P", e2e.options.fixtures, "-m", "anthropic/test-model", "--base-url",
                       server.url, "--session", "trip")
            self.check(self.mortise(*options, "hello", env=env), 0)
            self.check(self.mortise(*options, "more", env=env), 0)
            before, after = (request["raw"] for request in server.requests[1:])
            end = before.rindex(b'],"stream"')  # of the messages
            self.assertEqual(after[:end], before[:end])
            self.assertEqual(json.loads(after)["messages"][-1]["role"], "user")


if __name__ == "__main__":
    e2e.main()
