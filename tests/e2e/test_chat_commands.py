"""What is said to a chat but prompts, the session that it keeps, and a chat without a terminal."""
import os
import stat

import e2e
from chats import Case


class Commands(Case):
    def test_help_and_unknown(self):
        chat = self.chat("-m", "offline")
        chat.say("/help")
        seen = chat.prompt()
        for name in ("tools", "model", "system", "clear", "resume", "sessions", "save", "quit"):
            self.assertIn("/" + name, seen)
        chat.say("/hlep")
        self.assertIn("did you mean '/help'?", chat.prompt())
        self.quit(chat)

    def test_lock(self):
        model = self.script({"text": "Hello."}, {"text": "Again.", "expect": ["Be brief."]})
        chat = self.chat("-m", model)
        chat.say("hi")
        chat.wait("Hello.")
        chat.prompt()
        chat.say("/lock")
        self.assertIn("locked: 2 items", chat.prompt())
        chat.say("/system Be brief.")
        self.assertIn("locked", chat.prompt())
        chat.say("/clear")
        self.assertIn("locked", chat.prompt())
        chat.say("/unlock")
        chat.prompt()
        chat.say("/system Be brief.")
        chat.prompt()
        chat.say("go on")
        chat.wait("Again.")
        chat.prompt()
        self.quit(chat)

    def test_one_instance_for_all_runs(self):
        """T14: it keeps its state over runs, and while the session is locked and unlocked."""
        count = {"calls": [{"name": "counter", "arguments": {}}]}
        chat = self.chat("-m", self.script(
            count, {"text": "first", "expect": ["count: 0"]},
            count, {"text": "second", "expect": ["count: 1"]},
            count, {"text": "third", "expect": ["count: 2"]}))
        for word, command in (("first", "/lock"), ("second", "/unlock"), ("third", "/help")):
            chat.say("count")
            chat.wait(word)
            chat.prompt()
            chat.say(command)
            chat.prompt()
        self.quit(chat)

    def test_tools(self):
        chat = self.chat("-m", "offline", "-P", e2e.options.fixtures)
        chat.say("/tools")
        self.assertIn("wait_for_cancel", chat.prompt())
        chat.say("/tools ehco")
        self.assertIn("did you mean 'echo'?", chat.prompt())
        self.quit(chat)

    def test_model_keeps_history(self):
        first = self.script({"text": "one"})
        second = self.script({"text": "two", "expect": ["remember me", "one", "be brief"]})
        chat = self.chat("-m", first)
        chat.say("/system be brief")
        chat.prompt()
        chat.say("remember me")
        chat.wait("one")
        chat.prompt()
        chat.say("/model nonsense")
        self.assertIn("mortise: ", chat.prompt())
        chat.say("/model " + second)
        chat.wait("model: script/")
        chat.prompt()
        chat.say("go on")
        chat.wait("two")
        chat.prompt()
        self.quit(chat)

    def test_clear(self):
        chat = self.chat("-m", self.script({"text": "one"}, {"text": "two"}))
        for text in ("first words", "second words"):
            chat.say(text)
            chat.prompt()
            if text == "first words":
                chat.say("/clear")
                chat.prompt()
        saved = os.path.join(self.work, "talk.jsonl")
        chat.say("/save " + saved)
        chat.wait("saved: 2 items")
        chat.prompt()
        with open(saved, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("first words", text)
        self.assertIn("second words", text)
        self.quit(chat)

    def test_save_as_markdown(self):
        chat = self.chat("-m", self.script({"text": "**bold**"}))
        chat.say("hi")
        chat.prompt()
        saved = os.path.join(self.work, "talk.md")
        for wanted in ("saved: 2 items", "File exists"):
            chat.say("/save " + saved)
            self.assertIn(wanted, chat.prompt())
        with open(saved, encoding="utf-8") as file:
            self.assertEqual(file.read(), "## You\n\nhi\n\n## Model\n\n**bold**\n\n")
        self.assertEqual(stat.S_IMODE(os.stat(saved).st_mode), 0o600)
        self.quit(chat)


class Kept(Case):
    """A chat's session: kept unless it is said otherwise, and gone on with from elsewhere."""

    def sessions(self):
        return self.check(self.mortise("--json", "sessions"), 0).events

    def talk(self, *lines, model, options=()):
        """A chat that is told these lines: how it ended, and its session."""
        done = self.mortise("--json", "-m", model, *options, "chat", input="\n".join(lines))
        self.check(done, 0)
        return done, done.of_type("result")[-1]["session"]

    def test_a_chat_keeps_a_session(self):
        chat = self.chat("-m", self.script({"text": "one"}, {"text": "two"}))
        self.assertEqual(self.sessions(), [], "nobody spoke yet")
        chat.say("first words")
        chat.wait("one")
        chat.prompt()
        row, = self.sessions()
        self.assertEqual((row["title"], row["items"], row["state"], row["cwd"]),
                         ("first words", 2, "idle", self.work))
        chat.say("more words")
        chat.wait("two")
        chat.prompt()
        chat.say("/sessions")
        seen = chat.prompt()
        for part in (row["id"], "4 items", "first words"):
            self.assertIn(part, seen.replace("\n", " "))
        self.quit(chat)
        self.assertEqual([(kept["id"], kept["items"]) for kept in self.sessions()], [(row["id"], 4)])
        self.assertIn(row["id"], self.check(self.mortise("sessions"), 0).out)

    def test_every_chat_has_its_own(self):
        _, first = self.talk("a", model=self.script({"text": "one"}))
        _, second = self.talk("b", model=self.script({"text": "two"}))
        self.assertEqual({row["id"] for row in self.sessions()}, {first, second})
        self.assertEqual(len({first, second}), 2)

    def test_continued(self):
        _, first = self.talk("remember me", model=self.script({"text": "one"}))
        model = self.script({"text": "two", "expect": ["remember me", "one", "and now"]})
        self.assertEqual(self.talk("and now", model=model, options=("-c",))[1], first)

    def test_resumed_from_another_chat(self):
        """/resume: history, and from there on it is that session that is written."""
        _, first = self.talk("remember me", model=self.script({"text": "one"}))
        chat = self.chat("-m", self.script({"text": "other"}))
        chat.say("something else")
        chat.wait("other")
        chat.prompt()
        other, = {row["id"] for row in self.sessions()} - {first}
        model = self.script({"text": "two", "expect": ["remember me", "one", "go on"]})
        chat.say("/resume " + first)
        self.assertIn("2 items", chat.prompt())
        chat.say("/model " + model)
        chat.wait("model: script/")
        chat.prompt()
        chat.say("go on")
        chat.wait("two")
        chat.prompt()
        self.quit(chat)
        self.assertEqual({row["id"]: row["items"] for row in self.sessions()}, {first: 4, other: 2})
        shown = self.check(self.mortise("sessions", "show", first), 0).out
        self.assertNotIn("something else", shown)

    def test_resuming_what_is_not_there(self):
        model = self.script({"text": "one"}, {"text": "two", "expect": ["first", "one"]})
        chat = self.chat("-m", model)
        chat.say("first")
        chat.wait("one")
        chat.prompt()
        chat.say("/resume ses_nowhere")
        self.assertIn("not found", chat.prompt())
        chat.say("second")  # the one at hand is still there
        chat.wait("two")
        chat.prompt()
        self.quit(chat)

    def test_what_another_chat_has_is_busy(self):
        one = self.chat("-m", self.script({"text": "one"}))
        one.say("mine")
        one.wait("one")
        one.prompt()
        row, = self.sessions()
        other = self.chat("-m", "offline")
        other.say("/resume " + row["id"])
        self.assertIn("busy", other.prompt())
        self.quit(one)
        other.say("/resume " + row["id"])
        self.assertIn("2 items", other.prompt())
        self.quit(other)

    def test_paused_and_resumed_in_a_chat(self):
        """What waits in the other session runs, once."""
        notes, log = os.path.join(self.root, "notes"), os.path.join(self.root, "log")
        note = {"name": "note", "arguments": {"file": notes, "text": "noted"}}
        self.config(plugin_config={"e2e_hooks": {"mode": "call_pauses", "log": log}})
        done = self.mortise("-P", e2e.options.fixtures, "-m", self.script({"calls": [note, note]}),
                            "--session", "trip", "hi")
        self.check(done, 8)
        self.config()
        answers = self.script({"text": "Done.", "expect": ["noted: noted"]})
        chat = self.chat("-P", e2e.options.fixtures, "-m", answers)
        chat.say("/resume trip")
        chat.wait("Done.")
        chat.prompt()
        self.quit(chat)
        with open(notes, encoding="utf-8") as lines:
            self.assertEqual(lines.read(), "noted\n" * 2)
        self.assertEqual([row["state"] for row in self.sessions()], ["idle"])

    def test_resume_of_the_chat_itself(self):
        """By its own name as without one: it is not busy with itself."""
        done = self.mortise("--session", "trip", "-m", self.script({"text": "an answer"}), "chat",
                            input="go\n/resume trip\n/resume\n")
        self.check(done, 2)
        self.assertEqual(done.err.count("session 'trip' has nothing to resume"), 2, done)

    def test_stopped_and_resumed_in_the_chat(self):
        """Ctrl-C, and then /resume without a name."""
        model = self.script({"text": "word " * 2000, "delay_ms": 20},
                            {"text": "all of it", "expect": ["tell me"]})
        chat = self.chat("-m", model)
        chat.say("tell me")
        chat.wait("word word")
        chat.type("\x03")
        chat.wait("cancelled")
        chat.prompt()
        self.assertEqual([row["state"] for row in self.sessions()], ["interrupted"])
        chat.say("/resume")
        chat.wait("all of it")
        chat.prompt()
        self.quit(chat)
        self.assertEqual([row["state"] for row in self.sessions()], ["idle"])

    def test_no_session(self):
        done, session = self.talk("a", model=self.script({"text": "one"}),
                                  options=("--no-session",))
        self.assertIsNone(session)
        self.assertIsNone(done.of_type("run_start")[0]["session"])
        self.assertFalse(os.path.exists(os.path.join(self.home, ".local/share")))

    def test_model_and_system_are_remembered(self):
        first, second = self.script({"text": "one"}), self.script({"text": "two"})
        third = self.script({"text": "three", "expect": ["Be kind.", "remember me", "two"]})
        _, session = self.talk("remember me", "/model " + second, "/system Be kind.", "go on",
                               "/model " + third, model=first)
        row = self.check(self.mortise("--json", "sessions", "show", session), 0).events[0]
        self.assertEqual((row["model"], row["system"]), (third, "Be kind."))
        done = self.check(self.mortise("--session", session, "and now?"), 0)
        self.assertEqual(done.out, "three\n")

    def test_change_before_the_first_words(self):
        """There is no session yet: what was changed comes into it."""
        model = self.script({"text": "one", "expect": ["Be kind."]})
        _, session = self.talk("/system Be kind.", "/model " + model, "hello", model="offline")
        row = self.check(self.mortise("--json", "sessions", "show", session), 0).events[0]
        self.assertEqual((row["model"], row["system"]), (model, "Be kind."))

    def test_no_system_prompt_any_more(self):
        model = self.script({"text": "one"}, {"text": "two"})
        _, session = self.talk("a", "/system none", "b", model=model, options=("-s", "Be brief."))
        row = self.check(self.mortise("--json", "sessions", "show", session), 0).events[0]
        self.assertFalse(row.get("system"), row)

    def test_clear(self):
        """What is forgotten is not there in another process either."""
        model = self.script({"text": "one"}, {"text": "two"})
        _, session = self.talk("first words", "/clear", "second words", model=model)
        shown = self.check(self.mortise("sessions", "export", session), 0).out
        self.assertIn("second words", shown)
        self.assertEqual(len(self.check(self.mortise("sessions", "export", session), 0).events), 3)


class Piped(Case):
    def test_lines_are_prompts(self):
        model = self.script({"text": "**one**", "expect": ["first"]},
                            {"text": "two", "expect": ["first", "**one**", "second"]})
        done = self.mortise("-m", model, "chat", input="first\n\n/nonsense\nsecond\n")
        self.check(done, 0)
        self.assertEqual(done.out, "**one**\ntwo\n")
        self.assertIn("no command '/nonsense'", done.err)

    def test_the_last_run_decides(self):
        model = self.script({"text": "ok"}, {"error": {"kind": "auth", "message": "no"}})
        self.check(self.mortise("-m", model, "chat", input="a\nb"), 3)

    def test_json(self):
        done = self.mortise("--json", "-m", self.script({"text": "a"}, {"text": "b"}), "chat",
                            input="x\ny\n")
        self.check(done, 0)
        self.assertEqual([event["text"] for event in done.of_type("result")], ["a", "b"])

    def test_json_has_events_only(self):
        """What commands say is on standard error then."""
        lines = ("/help", "/tools", "/model", "/system be brief", "x", "/clear")
        done = self.mortise("--json", "-m", self.script({"text": "a"}), "chat",
                            input="\n".join(lines))
        self.check(done, 0)
        self.assertTrue(all("type" in event for event in done.events), done)
        for part in ("/resume", "get_weather", "model: script/", "be brief", "begins anew"):
            self.assertIn(part, done.err)


if __name__ == "__main__":
    e2e.main()
