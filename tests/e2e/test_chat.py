"""mortise chat on a real terminal: typing, pasting, stopping, and what is left of the terminal."""
import os
import shutil
import signal
import stat
import subprocess
import time

import e2e
from chats import Case

PASTE = b"\x1b[200~%s\x1b[201~"
LINES = [f"{i} 行目: 日本語のテキスト" for i in range(1, 51)]


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
