"""A chat on a terminal of its own, for the tests that type."""
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

import e2e

OWN = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


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
