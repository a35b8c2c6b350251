"""What is seen of tools while they run, and that nothing they say can hold up or fill up a run."""
import fcntl
import json
import os
import pty
import re
import select
import struct
import termios
import time

import e2e

MiB = 1 << 20
NOTICE = "[mortise: tool progress truncated]"
CALLS = 32
FLOOD = 100 * MiB


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.plugins = ("-P", os.path.join(os.path.dirname(e2e.options.fixtures), "watch"))

    def call(self, name, id=None, **arguments):
        return {"name": name, "arguments": arguments, **({"id": id} if id else {})}

    def play(self, *turns, options=()):
        return self.mortise(*self.plugins, "--json", *options, "-m", self.script(*turns), "go")

    def peak_bytes(self, process):
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1]) * 1024


class Events(Case):
    def test_seen_while_the_tool_runs(self):
        """F38, F39, F41: each chunk comes when it is said, before the result."""
        calls = [self.call("speak", chunks=["one", "two", "tre"], stream="my label", wait_ms=150)]
        process = self.start(*self.plugins, "--json", "-m",
                             self.script({"calls": calls}, {"text": "ok"}), "go")
        seen = []
        for line in process.stdout:
            event = json.loads(line)
            if event["type"] in ("tool_call", "tool_progress", "tool_result"):
                seen.append((time.monotonic(), event))
        self.check(self.finish(process), 0)
        self.assertEqual([event["type"] for _, event in seen],
                         ["tool_call"] + 3 * ["tool_progress"] + ["tool_result"])
        self.assertGreater(seen[-1][0] - seen[1][0], 0.2, seen)  # 0.45 s, on a quiet machine
        id = seen[0][1]["id"]
        self.assertEqual([event for _, event in seen[1:4]],  # F40
                         [{"type": "tool_progress", "id": id, "stream": "my label", "text": text}
                          for text in ("one", "two", "tre")])

    def test_numbers(self):
        done = self.play({"calls": [self.call("steps", count=3, message="half a"),
                                    self.call("steps", count=1, unknown=True)]}, {"text": "ok"},
                         options=("--strategy", "sequential"))
        first, _, last, unknown = [
            {key: event[key] for key in event if key not in ("type", "id", "stream")}
            for event in self.check(done, 0).of_type("tool_progress")]
        self.assertEqual(first, {"done": 1, "total": 3, "text": "half a"})
        self.assertEqual(last, {"done": 3, "total": 3, "text": "half a"})
        self.assertEqual(unknown, {"done": 1, "text": ""})

    def test_calls_are_told_apart(self):
        """F41: those of calls that run together are on one stream, each before its result."""
        calls = [self.call("speak", id=f"c{i}", chunks=[f"c{i} one", f"c{i} two"], wait_ms=50)
                 for i in range(8)]
        done = self.check(self.play({"calls": calls}, {"text": "ok"}), 0)
        events = [event for event in done.events
                  if event["type"] in ("tool_progress", "tool_result")]
        for i in range(8):
            mine = [event for event in events if event["id"] == f"c{i}"]
            self.assertEqual([event.get("text") for event in mine],
                             [f"c{i} one", f"c{i} two", None])
        self.assertNotEqual([event["id"] for event in events],
                            sorted(event["id"] for event in events), "nothing ran together")

    def test_the_model_never_sees_it(self):
        """F43: not in the requests, not in the session."""
        flood = {"bytes": 8192, "mark": os.path.join(self.root, "mark")}
        said = e2e.openai_reply(calls=[("a", "flood", json.dumps(flood)),
                                       ("b", "steps", json.dumps({"count": 2}))])
        with e2e.Server(said, e2e.openai_reply("ok")) as server:
            done = self.mortise(*self.plugins, "--json", "--session", "s", "-m", "openai/m",
                                "--base-url", server.url, "go", env={"OPENAI_API_KEY": "k"})
        self.check(done, 0)
        self.assertEqual(len(done.of_type("tool_progress")), 3)
        self.assertEqual(len(server.requests), 2)
        self.assertIn(b"said 8192 bytes", server.requests[1]["raw"])
        self.assertNotIn(b"xxx", server.requests[1]["raw"])
        kept = self.check(self.mortise("sessions", "export", "s"), 0).out
        self.assertIn("said 8192 bytes", kept)
        self.assertNotIn("xxx", kept)

    def test_a_call_by_hand(self):
        done = self.mortise(*self.plugins, "--json", "tools", "call", "speak",
                            json.dumps({"chunks": ["x"], "stream": "stderr"}))
        progress, = self.check(done, 0).of_type("tool_progress")
        self.assertEqual((progress["stream"], progress["text"]), ("stderr", "x"))

    def test_limits(self):
        """F45-F47, F49: a budget for each call, one notice for each, and results that are whole."""
        marks = [os.path.join(self.root, f"mark{i}") for i in range(2)]
        calls = [self.call("flood", id="big0", bytes=3 * MiB, mark=marks[0]),
                 self.call("flood", id="big1", bytes=3 * MiB, mark=marks[1]),
                 self.call("speak", id="small", chunks=["x" * 8191 + "ä", "y" * 8192, "short"]),
                 self.call("speak", id="quiet", chunks=["x"])]
        done = self.check(self.play({"calls": calls}, {"text": "ok"},
                                    options=("--strategy", "sequential")), 0)
        said = {call["id"]: [event["text"] for event in done.of_type("tool_progress")
                             if event["id"] == call["id"]] for call in calls}
        for id in ("big0", "big1"):
            self.assertEqual(said[id].count(NOTICE), 1)
            self.assertEqual(sum(map(len, said[id])) - len(NOTICE), MiB)
        self.assertEqual(said["small"], ["x" * 8191, NOTICE, "y" * 8192, "short"])
        self.assertEqual(said["quiet"], ["x"])
        self.assertEqual([result["result"] for result in done.of_type("tool_result")],
                         [f"said {3 * MiB} bytes: {mark}" for mark in marks] + ["spoken", "spoken"])


class Stalled(Case):
    def test_a_reader_that_takes_nothing(self):
        """F44, F46-F49: 32 tools say 100 MB each, and nobody reads.  All of them end, in bounded
        memory; once somebody reads, every result is whole, with one notice for each call."""
        marks = [os.path.join(self.root, f"mark{i}") for i in range(CALLS)]
        calls = [self.call("flood", id=f"c{i}", bytes=FLOOD, mark=mark)
                 for i, mark in enumerate(marks)]
        process = self.start(*self.plugins, "--json", "-m",
                             self.script({"calls": calls}, {"text": "ok"}), "go")
        started = time.monotonic()
        for mark in marks:
            self.wait_for(mark, process)
        took = time.monotonic() - started
        peak = self.peak_bytes(process)
        done = self.check(self.finish(process), 0)
        self.assertLess(peak, self.limit(), "what is not read piles up")
        self.assertLess(sum(len(event["text"]) for event in done.of_type("tool_progress")), 4 * MiB)
        for call, mark in zip(calls, marks):
            said = [event["text"] for event in done.of_type("tool_progress")
                    if event["id"] == call["id"]]
            self.assertEqual(said.count(NOTICE), 1, call["id"])
            self.assertLessEqual(sum(map(len, said)), MiB + len(NOTICE))
        self.assertEqual([(result["id"], result["result"]) for result in done.of_type("tool_result")],
                         [(call["id"], f"said {FLOOD} bytes: {mark}")
                          for call, mark in zip(calls, marks)])
        self.assertEqual(done.events[-1]["status"], "finished")
        print(f"({CALLS} x {FLOOD // MiB} MiB: {took:.1f} s, {peak / MiB:.0f} MiB)", end=" ")

    def limit(self):
        """Threads, libraries and 256 chunks of 8 KiB; sanitizers need much memory of their own."""
        return (400 if "ASAN_OPTIONS" in os.environ or not e2e.options.fail_malloc else 40) * MiB


class Screen:
    """What a terminal of one width shows: lines, carriage returns, erasing to the line's end."""

    def __init__(self, columns):
        self.columns = columns
        self.lines = [""]
        self.column = 0
        self.states = []  # the last line, each time that the cursor stopped at its end

    def feed(self, text):
        for part in re.findall(r"\r\n|\r|\n|\x1b\[[0-9;]*[A-Za-z]|[^\r\n\x1b]+", text):
            if part == "\r":
                self.column = 0
            elif part in ("\r\n", "\n"):
                self.lines.append("")
                self.column = 0
            elif part == "\x1b[K":
                self.lines[-1] = self.lines[-1][:self.column]
                self.states.append(self.lines[-1])
            elif part.startswith("\x1b"):
                assert part.endswith("m"), repr(part)
            else:
                self.lines[-1] = self.lines[-1][:self.column] + part + \
                    self.lines[-1][self.column + len(part):]
                self.column += len(part)
                assert self.column < self.columns, self.lines[-1]


class Terminal(Case):
    def on_screen(self, *arguments, columns=60, env=None):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = self.start(*self.plugins, *arguments, env={"TERM": "xterm", **(env or {})},
                             stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        self.addCleanup(os.close, master)
        screen, raw = Screen(columns), b""
        until = time.monotonic() + e2e.SECONDS
        while select.select([master], [], [], max(0, until - time.monotonic()))[0]:
            try:
                raw += os.read(master, 65536)
            except OSError:
                break
        self.assertEqual(process.wait(timeout=e2e.SECONDS), 0, raw)
        screen.feed(raw.decode())
        return screen, raw.decode()

    def test_a_bar_that_goes_away(self):
        steps = self.call("steps", count=20, wait_ms=20, message="linking")
        screen, _ = self.on_screen("-m", self.script({"calls": [steps]}, {"text": "Done."}), "go")
        bars = [state for state in screen.states if "%" in state]
        self.assertGreater(len(bars), 3, "the bar did not move")
        self.assertRegex(bars[0], r"^steps \[#*\.+\] +\d+% linking$")
        parts = [int(re.search(r"(\d+)%", bar)[1]) for bar in bars]
        self.assertEqual(parts, sorted(parts))
        self.assertNotIn("%", "\n".join(screen.lines), "a bar was left behind")
        self.assertEqual(screen.lines[-2:], ["Done.", ""])

    def test_calls_side_by_side(self):
        calls = [self.call("steps", count=10, wait_ms=50), self.call("steps", count=5, wait_ms=99),
                 self.call("speak", chunks=["live\n"], wait_ms=60)]
        screen, raw = self.on_screen("-m", self.script({"calls": calls}, {"text": "ok"}), "go",
                                     columns=100)
        self.assertTrue([state for state in screen.states if state.count("%") == 2], screen.states)
        self.assertIn("  speak: live", screen.lines)
        self.assertNotIn("%", "\n".join(screen.lines))
        self.assertNotIn("\x1b[2K", raw)

    def test_a_fast_tool_does_not_fill_the_screen(self):
        steps = self.call("steps", count=20000)
        screen, raw = self.on_screen("-m", self.script({"calls": [steps]}, {"text": "ok"}), "go")
        self.assertLess(len(raw), 20000)
        self.assertNotIn("%", "\n".join(screen.lines))

    def test_lines_without_a_terminal(self):
        steps = self.call("steps", count=1000)
        done = self.mortise(*self.plugins, "-m", self.script({"calls": [steps]}, {"text": "ok"}), "go")
        lines = [line for line in self.check(done, 0).err.splitlines() if "%" in line]
        self.assertLessEqual(len(lines), 12, "a line for each step")
        self.assertEqual(lines[0], "  steps:   0%")
        self.assertNotIn("\x1b", done.err)
        done = self.mortise(*self.plugins, "-q", "-m",
                            self.script({"calls": [steps]}, {"text": "ok"}), "go")
        self.assertNotIn("%", done.err)

    def test_what_tools_write(self):
        """F50: live, with the tool's name and the stream."""
        calls = [self.call("speak", chunks=["out\n", "half "], stream="stdout"),
                 self.call("speak", chunks=["err\n"], stream="stderr")]
        done = self.mortise(*self.plugins, "--strategy", "sequential", "-m",
                            self.script({"calls": calls}, {"text": "ok"}), "go")
        self.check(done, 0)
        self.assertIn("\n  speak: out\n  speak: half \n← speak", done.err)
        self.assertIn("\n  speak (stderr): err\n← speak", done.err)

    def test_a_chat(self):
        """The line editor finds a clean line."""
        steps = self.call("steps", count=5, wait_ms=20)
        done = self.mortise(*self.plugins, "-m", self.script({"calls": [steps]}, {"text": "ok"}),
                            "chat", input="go\n")
        self.assertEqual(self.check(done, 0).out, "ok\n")


if __name__ == "__main__":
    e2e.main()
