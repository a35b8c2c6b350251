"""mortise chat on a real terminal: typing, pasting, stopping, and what is left of the terminal."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import stat
import struct
import subprocess
import termios
import time

import e2e

OWN = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
PASTE = b"\x1b[200~%s\x1b[201~"
LINES = [f"{i} 行目: 日本語のテキスト" for i in range(1, 51)]


class Terminal:
    """A chat with a terminal of its own."""

    def __init__(self, case, *arguments, columns=60, env=None, words=("chat",)):
        self.case = case
        self.master, self.slave = pty.openpty()
        case.addCleanup(os.close, self.master)
        case.addCleanup(os.close, self.slave)
        self.size(columns)
        self.before = termios.tcgetattr(self.slave)
        self.raw = b""
        self.seen = 0  # how much of the text was waited for

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = case.start(*arguments, *words, env={"TERM": "xterm-256color", **(env or {})},
                                  stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                  preexec_fn=take_terminal)

    def size(self, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    @property
    def text(self):
        whole = OWN.sub(b"", self.raw).decode("utf-8", "replace").replace("\r\n", "\n")
        return whole[self.seen:]

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.raw += os.read(self.master, 65536)
            except OSError:
                pass

    def wait(self, wanted, seconds=e2e.SECONDS):
        """Until it shows this; returns what came before it, with it."""
        until = time.monotonic() + seconds
        while wanted not in self.text:
            if time.monotonic() > until:
                self.case.fail(f"it does not show {wanted!r}: {self.text!r}")
            self.read(0.05)
        text = self.text
        length = text.index(wanted) + len(wanted)
        self.seen += length
        return text[:length]

    def wait_raw(self, wanted):
        until = time.monotonic() + e2e.SECONDS
        while wanted not in self.raw:
            if time.monotonic() > until:
                self.case.fail(f"it does not show {wanted!r}: {self.raw!r}")
            self.read(0.05)

    def prompt(self):
        """Until a line can be typed: the terminal is raw, the prompt is there."""
        seen = self.wait("> ")
        until = time.monotonic() + e2e.SECONDS
        while termios.tcgetattr(self.slave)[3] & termios.ICANON:
            self.case.assertLess(time.monotonic(), until, "it does not edit")
            time.sleep(0.01)
        return seen

    def type(self, text):
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def say(self, text):
        self.type(text + "\r")

    def end(self):
        """Its exit code, after the terminal was found as it was before."""
        until = time.monotonic() + e2e.SECONDS
        while self.process.poll() is None and time.monotonic() < until:
            self.read(0.02)
        self.read(0)
        self.case.assertIsNotNone(self.process.poll(), f"it does not end: {self.text!r}")
        self.check_restored()
        return self.process.returncode

    def check_restored(self):
        self.case.assertEqual(termios.tcgetattr(self.slave), self.before)


class Case(e2e.Case):
    def chat(self, *arguments, **how):
        terminal = Terminal(self, *arguments, **how)
        terminal.prompt()
        return terminal

    def quit(self, chat):
        chat.say("/quit")
        self.assertEqual(chat.end(), 0, chat.text)
        self.assertNotIn("Sanitizer", chat.text)


class Typing(Case):
    def test_conversation(self):
        """F13"""
        model = self.script({"text": "**Hello** you.", "expect": ["hi there"]},
                            {"text": "Again.", "expect": ["hi there", "Hello", "once more"]})
        chat = self.chat("-m", model)
        chat.say("hi there")
        chat.wait_raw(b"\x1b[1mHello\x1b[0m you.")
        chat.prompt()
        chat.say("once more")
        chat.wait("Again.")
        chat.prompt()
        self.quit(chat)

    def test_paste_of_fifty_lines(self):
        model = self.script({"text": "got it", "expect": ["\\n".join(LINES) + " and this"]})
        chat = self.chat("-m", model)
        chat.type(PASTE % "\r".join(LINES).encode())
        chat.wait("[50 lines pasted]")
        chat.say(" and this")
        chat.wait("got it")
        chat.prompt()
        self.quit(chat)

    def test_paste_of_one_line_is_edited(self):
        chat = self.chat("-m", self.script({"text": "ok", "expect": ['"日本x語"']}))
        chat.type(PASTE % "日本語".encode())
        chat.type("\x1b[Dx\r")
        chat.wait("ok")
        chat.prompt()
        self.quit(chat)

    def test_several_lines(self):
        chat = self.chat("-m", self.script({"text": "fine", "expect": ['"one\\ntwo\\nthree"']}))
        chat.type("one\\\rtwo\x1b\rthree\r")
        chat.wait("fine")
        chat.prompt()
        self.quit(chat)

    def test_wide_characters(self):
        """Deleting takes whole characters, and the columns are counted right."""
        chat = self.chat("-m", self.script({"text": "ok", "expect": ['"日語é"']}))
        chat.type("日本語🙂é\x1b[D\x7f\x1b[D\x7f\r")
        chat.wait("ok")
        chat.prompt()
        self.quit(chat)

    def test_ctrl_c_clears_the_line(self):
        chat = self.chat("-m", self.script({"text": "ok", "expect": ['"good"']}))
        chat.type("bad\\\rworse\x03")
        chat.wait("^C")
        chat.prompt()
        chat.say("good")
        chat.wait("ok")
        chat.prompt()
        self.quit(chat)

    def test_ctrl_d_leaves(self):
        chat = self.chat("-m", "offline")
        chat.type("\x04")
        self.assertEqual(chat.end(), 0)

    def test_completion(self):
        chat = self.chat("-m", "offline", "-P", e2e.options.fixtures)
        chat.type("/sy\t")
        chat.wait("/sy")
        chat.wait("stem ")
        chat.type("\x03")
        chat.prompt()
        chat.type("use wait_f\t")
        chat.wait("use wait_f")
        chat.wait("or_cancel ")
        chat.type("\x03")
        chat.prompt()
        self.quit(chat)

    def test_history(self):
        for turn in range(2):
            model = self.script({"text": "ok", "expect": ['"first\\nline"' if turn else "first"]})
            chat = self.chat("-m", model)
            chat.type("\x1b[A\x1b[A\r" if turn else "first\\\rline\r")
            chat.wait("ok")
            chat.prompt()
            self.quit(chat)
        path = os.path.join(self.home, ".local/state/mortise/history")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.readline(), "first\\nline\n")

    def test_resize(self):
        words = " ".join(["word"] * 30)
        model = self.script({"text": words, "expect": ["hello there"]})
        chat = self.chat("-m", model, columns=60)
        chat.type("hello")
        chat.wait("hello")
        chat.size(30)  # its terminal tells it
        chat.wait("hello")  # it is drawn again
        chat.say(" there")
        seen = chat.wait("word\n> ")  # each change of the size may draw the prompt again
        lines = [line for line in seen.splitlines() if line.startswith("word")]
        self.assertEqual(lines, [" ".join(["word"] * 6)] * 5, seen)
        self.quit(chat)

    def test_hostile_history_and_paste(self):
        self.file("home/.local/state/mortise/history", "evil \x1b]0;t\x07\x1b[2J\n")
        chat = self.chat("-m", "offline")
        chat.type("\x1b[A")
        chat.wait("evil ]0;t[2J")
        chat.type(b"\x03")
        chat.prompt()
        chat.type(PASTE % b"\x1b]0;t\x07x")
        chat.wait("]0;tx")
        chat.type(b"\x03")
        chat.prompt()
        self.quit(chat)


class Stopping(Case):
    def test_ctrl_c_in_an_answer(self):
        model = self.script({"text": "word " * 2000, "delay_ms": 20}, {"text": "still here"})
        chat = self.chat("-m", model)
        chat.say("go on")
        chat.wait("word word")
        chat.type("\x03")
        chat.wait("cancelled")
        chat.prompt()
        chat.say("are you?")
        chat.wait("still here")
        chat.prompt()
        self.quit(chat)

    def test_ctrl_c_in_a_tool(self):
        mark = os.path.join(self.work, "mark")
        call = {"name": "wait_for_cancel", "arguments": {"mark": mark}}
        model = self.script({"calls": [call]}, {"text": "still here"})
        chat = self.chat("-m", model, "-P", e2e.options.fixtures)
        chat.say("wait")
        chat.wait("→ wait_for_cancel")
        self.wait_for(mark + ".started", chat.process)
        chat.type("\x03")
        chat.wait("cancelled")
        self.wait_for(mark + ".told", chat.process)
        chat.prompt()
        chat.say("are you?")
        chat.wait("still here")
        chat.prompt()
        self.quit(chat)

    def test_ctrl_c_twice_leaves(self):
        mark = os.path.join(self.work, "mark")
        call = {"name": "stubborn", "arguments": {"mark": mark}}
        chat = self.chat("-m", self.script({"calls": [call]}), "-P", e2e.options.fixtures)
        chat.say("wait")
        self.wait_for(mark + ".started", chat.process)
        chat.type("\x03")
        time.sleep(0.05)
        chat.type("\x03")
        self.assertEqual(chat.end(), 130)

    def test_progress(self):
        model = self.script({"calls": [{"name": "evil"}]}, {"text": "done"})
        chat = self.chat("-m", model, "-P", e2e.options.fixtures)
        chat.say("go")
        seen = chat.wait("done")
        self.assertLess(seen.index("going on"), seen.index("← evil"))
        chat.prompt()
        self.quit(chat)

    def test_sigterm_at_the_prompt(self):
        chat = self.chat("-m", "offline")
        chat.type("half a li")
        chat.wait("half a li")
        chat.process.send_signal(signal.SIGTERM)
        self.assertEqual(chat.end(), 143)
        self.assertTrue(chat.raw.rstrip().endswith(b"\x1b[?2004l"), chat.raw)

    def test_signals_end_a_chat_without_a_terminal(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            chat = self.start("-m", self.script({"text": "first answer"}), "chat",
                              stdin=subprocess.PIPE)
            chat.stdin.write(b"go\nhalf a li")
            chat.stdin.flush()
            self.assertEqual(chat.stdout.readline(), b"first answer\n")
            time.sleep(0.1)
            chat.send_signal(number)
            self.assertEqual(chat.wait(e2e.SECONDS), 128 + number)

    def test_sigterm_in_an_answer(self):
        chat = self.chat("-m", self.script({"text": "word " * 2000, "delay_ms": 20}))
        chat.say("go on")
        chat.wait("word word")
        chat.process.send_signal(signal.SIGTERM)
        self.assertEqual(chat.end(), 143)

    def test_crash_at_the_prompt(self):
        """FAULTS 132"""
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT):
            chat = self.chat("-m", "offline", env={"ASAN_OPTIONS": "handle_abort=0"})
            chat.process.send_signal(number)
            self.assertNotEqual(chat.end(), 0)
            self.assertIn(b"\x1b[?2004l", chat.raw)

    def test_stop_and_continue(self):
        """FAULTS 134"""
        chat = self.chat("-m", self.script({"text": "ok", "expect": ['"half whole"']}))
        chat.type("half ")
        chat.wait("half ")
        chat.process.send_signal(signal.SIGTSTP)
        os.waitid(os.P_PID, chat.process.pid, os.WSTOPPED | os.WNOWAIT)
        chat.check_restored()
        chat.process.send_signal(signal.SIGCONT)
        chat.wait("half")
        chat.say("whole")
        chat.wait("ok")
        chat.prompt()
        self.quit(chat)


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


class InTmux(Case):
    """A terminal that somebody else wrote."""

    def tmux(self, *arguments):
        command = ["tmux", "-S", os.path.join(self.root, "tmux"), "-f", "/dev/null", *arguments]
        return subprocess.run(command, env=self.environment({"TERM": "xterm-256color"}),
                              stdout=subprocess.PIPE, check=True, timeout=e2e.SECONDS).stdout.decode()

    def shows(self, wanted):
        until = time.monotonic() + e2e.SECONDS
        while wanted not in (screen := self.tmux("capture-pane", "-p")):
            self.assertLess(time.monotonic(), until, f"no {wanted!r}:\n{screen}")
            time.sleep(0.05)
        return screen

    def test_session(self):
        if not shutil.which("tmux"):
            self.skipTest("tmux is not installed")
        model = self.script({"text": "got it", "expect": ["50 行目"]},
                            {"text": "word " * 2000, "delay_ms": 20}, {"text": "the end"})
        before, after = os.path.join(self.work, "before"), os.path.join(self.work, "after")
        self.tmux("new-session", "-d", "-x", "60", "-y", "20",
                  f"stty -a | tail -n +2 > {before}; {e2e.options.mortise} -m {model} chat; "
                  f"stty -a | tail -n +2 > {after}; sleep 60")
        self.addCleanup(self.tmux, "kill-server")
        self.shows("here\n>\n")
        self.tmux("load-buffer", self.file("paste", "\n".join(LINES)))
        self.tmux("paste-buffer", "-p")
        self.shows("> [50 lines pasted]")
        self.tmux("send-keys", "Enter")
        self.shows("got it")
        self.tmux("send-keys", "go on", "Enter")
        self.shows("word word")
        self.tmux("send-keys", "C-c")
        self.shows("cancelled")
        self.tmux("send-keys", "日本語の")
        self.shows("> 日本語の")
        self.tmux("resize-window", "-x", "40", "-y", "15")
        self.tmux("send-keys", "テキスト")
        screen = self.shows("> 日本語のテキスト")
        self.assertEqual(screen.count("日本語の"), 1, screen)
        self.tmux("send-keys", "Enter")
        self.shows("the end")
        self.tmux("send-keys", "/quit", "Enter")
        self.wait_for(after)
        until = time.monotonic() + e2e.SECONDS
        while not os.path.getsize(after) and time.monotonic() < until:
            time.sleep(0.01)
        with open(before, encoding="utf-8") as one, open(after, encoding="utf-8") as other:
            self.assertEqual(one.read(), other.read())


if __name__ == "__main__":
    e2e.main()
