"""In a real terminal: nothing foreign moves the cursor (FAULTS 130), colours can be off, text comes
at once."""
import os
import pty
import re
import select
import signal
import struct
import fcntl
import termios
import time

import e2e

HOSTILE = "before \x1b]0;title\x07\x1b[2J\x1b[31mred\r\b\x7f \u009b1A\u202eafter"
OWN = re.compile(r"\x1b\[(?:2|0)m")  # dim and plain, which are the host's


class Case(e2e.Case):
    def in_terminal(self, *arguments, env=None, seconds=e2e.SECONDS):
        """Runs with all three streams on one terminal: (exit code, [(when, text)])."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        variables = {"TERM": "xterm-256color", **(env or {})}
        process = self.start(*arguments, env=variables, stdin=slave, stdout=slave, stderr=slave,
                             start_new_session=True)
        os.close(slave)
        self.addCleanup(os.close, master)
        pieces = []
        until = time.monotonic() + seconds
        while True:
            ready, _, _ = select.select([master], [], [], max(0, until - time.monotonic()))
            if not ready:
                process.send_signal(signal.SIGABRT)
                self.fail(f"it hangs: {pieces}")
            try:
                data = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            pieces.append((time.monotonic(), data))
        code = process.wait(timeout=e2e.SECONDS)
        self.assertGreaterEqual(code, 0, pieces)
        return code, pieces

    def shown(self, *arguments, env=None):
        code, pieces = self.in_terminal(*arguments, env=env)
        text = b"".join(data for _, data in pieces).decode("utf-8")
        return code, text.replace("\r\n", "\n")  # as the terminal's line discipline has it

    def check_harmless(self, text):
        rest = OWN.sub("", text)
        bad = [c for c in rest if (ord(c) < 0x20 and c not in "\n\t") or 0x7f <= ord(c) <= 0x9f
               or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]
        self.assertEqual(bad, [], repr(text))


class ForeignText(Case):
    """D23."""

    def test_text_of_the_model(self):
        model = self.script({"reasoning": HOSTILE, "text": HOSTILE, "chunk": 3})
        code, text = self.shown("-vv", "-m", model, "hi")
        self.assertEqual(code, 0)
        self.check_harmless(text)
        self.assertIn("before ]0;title[2J[31mred 1Aafter", text)

    def test_tools(self):
        calls = [{"name": "evil"}, {"name": "echo", "arguments": {"text": HOSTILE}},
                 {"name": "no\x1b[31msuch\x07tool", "arguments": "{\x1b[2J"}]
        model = self.script({"calls": calls}, {"text": "ok"})
        for options in ([], ["-vv"], ["--json"]):
            code, text = self.shown("-P", e2e.options.fixtures, *options, "-m", model, "hi")
            self.assertEqual(code, 0)
            self.check_harmless(text)
            self.assertIn("going on", text)

    def test_errors(self):
        model = self.script({"error": {"kind": "server", "message": HOSTILE}})
        for options in ([], ["--json"]):
            code, text = self.shown(*options, "-m", model, "hi")
            self.assertEqual(code, 4)
            self.check_harmless(text)

    def test_call_by_hand(self):
        code, text = self.shown("-P", e2e.options.fixtures, "tools", "call", "evil")
        self.assertEqual(code, 0)
        self.check_harmless(text)
        self.assertIn("tail", text)

    def test_what_the_user_typed(self):
        """Names on the command line may be pasted from somewhere."""
        for arguments in (["tools", "show", "a\x1b[2J"], ["--mod\x1b[2Jel", "x"],
                          ["help", "\x1b[2J"], ["-m", "\x1b[2J/x", "hi"],
                          ["plugins", "check", "/\x1b[2J.so"]):
            code, text = self.shown(*arguments)
            self.assertNotEqual(code, 0)
            self.check_harmless(text)

    def test_a_pipe_gets_what_was_said(self):
        model = self.script({"text": HOSTILE})
        done = self.check(self.mortise("-m", model, "hi"), 0)
        self.assertEqual(done.out, HOSTILE + "\n")


class Colour(Case):
    def test_notes_are_dim(self):
        code, text = self.shown("-m", "offline", "What is the weather in Tokyo?")
        self.assertEqual(code, 0)
        self.assertIn("\x1b[2m→ get_weather", text)
        self.assertNotRegex(text, "\x1b\\[2m[^\x1b]*\\Z")  # and it is switched off again

    def test_no_color(self):
        for options, env in (([], {"NO_COLOR": "1"}), (["--color", "never"], {}),
                             ([], {"TERM": "dumb"}), ([], {"MORTISE_COLOR": "never"})):
            code, text = self.shown(*options, "-m", "offline", "What is the weather in Tokyo?",
                                    env=env)
            self.assertEqual(code, 0)
            self.assertNotIn("\x1b", text)
            self.assertIn("→ get_weather", text)

    def test_always(self):
        done = self.mortise("--color", "always", "-m", "offline", "What is the weather in Tokyo?")
        self.assertIn("\x1b[2m", self.check(done, 0).err)
        done = self.mortise("-m", "offline", "What is the weather in Tokyo?")
        self.assertNotIn("\x1b", done.out + done.err)


class Streaming(Case):
    def test_text_arrives_as_it_is_said(self):
        """Five words, 100 ms apart, are not shown together."""
        model = self.script({"text": "one two tre fou fiv", "chunk": 4, "delay_ms": 100})
        code, pieces = self.in_terminal("-m", model, "hi")
        self.assertEqual(code, 0)
        self.assertEqual(b"".join(data for _, data in pieces), b"one two tre fou fiv\r\n")
        self.assertGreaterEqual(len(pieces), 5, pieces)
        self.assertGreater(pieces[-1][0] - pieces[0][0], 0.2, pieces)

    def test_markdown_is_rendered_for_a_terminal_only(self):
        text = "# Title\n\n- **bold** and `code`\n"
        shown = "\x1b[1mTitle\x1b[0m\n\n• \x1b[1mbold\x1b[0m and \x1b[36mcode\x1b[0m\n"
        for options, env, wanted in (([], {}, shown), (["--quiet"], {}, shown),
                                     ([], {"NO_COLOR": "1"}, text),
                                     (["--color", "never"], {}, text)):
            model = self.script({"text": text, "chunk": 3})
            self.assertEqual(self.shown(*options, "-m", model, "hi", env=env), (0, wanted))
        model = self.script({"text": text})
        self.assertEqual(self.mortise("--color", "always", "-m", model, "hi").out, text)

    def test_progress_is_seen_before_the_result(self):
        model = self.script({"calls": [{"name": "evil"}]}, {"text": "ok"})
        _, text = self.shown("-P", e2e.options.fixtures, "-m", model, "hi")
        self.assertLess(text.index("going on"), text.index("← evil"))

    def test_order_on_one_terminal(self):
        model = self.script({"reasoning": "Hm.", "text": "I greet.",
                             "calls": [{"name": "greet", "arguments": {"name": "Ada"}}]},
                            {"text": "Done."})
        _, text = self.shown("-v", "--color", "never", "-m", model, "hi")
        at = [text.index(part) for part in ("Hm.", "I greet.", "→ greet", "← greet", "Done.")]
        self.assertEqual(at, sorted(at), text)
        for line in ("Hm.", "I greet.", "Done."):
            self.assertIn(line, text.splitlines())

    def test_prompt_does_not_wait_for_a_terminal(self):
        """Standard input is a terminal here: it is not read."""
        code, text = self.shown("-m", self.script({"text": "ok", "expect": ['"text":"hi"']}), "hi")
        self.assertEqual((code, text), (0, "ok\n"))

    def test_interrupt_key(self):
        """Ctrl-C, by the terminal itself."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        model = self.script({"text": "word " * 1000, "delay_ms": 20})

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        process = self.start("-m", model, "hi", stdin=slave, stdout=slave, stderr=slave,
                             preexec_fn=take_terminal)
        os.close(slave)
        os.read(master, 1)
        os.write(master, b"\x03")
        text = b""
        try:
            while data := os.read(master, 65536):
                text += data
        except OSError:
            pass
        self.assertEqual(process.wait(timeout=e2e.SECONDS), 130)
        self.assertIn(b"mortise: cancelled", text)


if __name__ == "__main__":
    e2e.main()
