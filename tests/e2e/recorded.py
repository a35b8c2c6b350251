"""Runs with --record, and what is done with their files, for the tests of recording and replay."""
import base64
import json
import os
import signal
import time

import e2e

KEY = "sk-canary-7f3a9c51e2"
CHANGING = ("duration_ms", "wait_ms", "retryable", "session", "exit_code")


class Answerer(e2e.Answerer):
    """Replies may be [status, headers, body], or "cut" or "hang" and the bytes before that."""

    def answer(self, reply):
        if isinstance(reply, bytes):
            super().answer(reply)
        elif reply[0] == "cut":
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply[1]) + 1))
            self.end_headers()
            self.wfile.write(reply[1])
            self.wfile.flush()
            time.sleep(0.05)
            self.close_connection = True
        elif reply[0] == "hang":
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(reply[1])
            self.wfile.flush()
            self.rfile.read(1)
        else:
            self.send_response(reply[0])
            for name, value in {**reply[1], "Content-Length": str(len(reply[2]))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply[2])


def server(*replies):
    made = e2e.Server(*replies)
    made.RequestHandlerClass = Answerer
    return made


def limited(seconds="0"):
    return [429, {"Retry-After": seconds}, b'{"error":{"message":"slow down"}}']


def thinking_reply(thought, signature, calls=(), text=None):
    """Anthropic's, with a block of thinking before everything else."""
    start = e2e.anthropic_reply(text, calls).decode()
    events = [event for event in start.split("\n\n") if event]
    block = {"type": "content_block_start", "index": 0,
             "content_block": {"type": "thinking", "thinking": "", "signature": ""}}
    deltas = [{"type": "thinking_delta", "thinking": thought[i:i + 5]}
              for i in range(0, len(thought), 5)]
    deltas += [{"type": "signature_delta", "signature": signature}]
    own = [("content_block_start", block)]
    own += [("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta})
            for delta in deltas]
    own += [("content_block_stop", {"type": "content_block_stop", "index": 0})]
    moved = []
    for event in events[2:]:
        name, data = event.split("\n")
        data = json.loads(data[6:])
        if "index" in data:
            data["index"] += 1
        moved.append((name[7:], data))
    return (events[0] + "\n\n").encode() + e2e.sse(*own) + e2e.sse(*moved)


class Watched:
    """A process whose standard output goes into a file, so that it can be read meanwhile."""

    def __init__(self, case, *arguments, **how):
        self.case = case
        self.path = os.path.join(case.root, "watched")
        with open(self.path, "wb") as out:
            self.process = case.start(*arguments, stdout=out, **how)

    @property
    def raw(self):
        with open(self.path, "rb") as file:
            return file.read()

    def wait(self, wanted):
        until = time.monotonic() + e2e.SECONDS
        while wanted not in self.raw:
            if self.process.poll() is not None or time.monotonic() > until:
                self.case.fail(f"it does not say {wanted}: {self.raw}")
            time.sleep(0.01)

    def stop(self, number):
        self.process.send_signal(number)
        done = self.case.finish(self.process)
        return e2e.Done(done.code, self.raw, done.err.encode())


class Recorded(e2e.Case):
    """One run with --record, and what is done with its file."""

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.root, "run.jsonl")
        self.elsewhere = self.folder("elsewhere")

    def arguments(self, url, *options, provider="openai", plugins=True):
        found = ["-P", e2e.options.fixtures] if plugins else ["--no-plugins"]
        return ["--record", self.path, "-m", f"{provider}/m", "--base-url", url, *found, *options]

    def env(self):
        names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
        return {name: KEY for name in names}

    def record(self, replies, *options, prompt="hello", code=0, **how):
        with server(*replies) as asked:
            done = self.mortise("--json", *self.arguments(asked.url, *options, **how), prompt,
                                env=self.env())
            self.requests = asked.requests
        self.check(done, code)
        self.check_no_secret()
        return done

    def stopped(self, process, mark):
        """Once it made that file."""
        self.wait_for(mark, process)
        process.send_signal(signal.SIGINT)
        return self.finish(process)

    def check_no_secret(self):
        """Not as it is, and not as base64."""
        with open(self.path, "rb") as file:
            data = file.read()
        forms = [base64.b64encode(b"x" * n + KEY.encode())[4:-4] for n in range(3)]
        for form in (KEY.encode(), *forms):
            self.assertNotIn(form, data)

    @property
    def records(self):
        with open(self.path, "rb") as file:
            return [json.loads(line) for line in file.read().split(b"\n") if line]

    def of(self, kind):
        return [record for record in self.records if record["type"] == kind]

    def begin_anew(self):
        if os.path.exists(self.path):
            os.remove(self.path)

    def write(self, records):
        with open(self.path, "w", encoding="utf-8") as file:
            for record in records:
                line = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
                file.write(line + "\n")

    def replay(self, *options, code=0, path=None):
        """With nothing: another HOME, an empty folder, no key."""
        home = self.folder("other-home")
        done = self.mortise(*options, "replay", path or self.path, cwd=self.elsewhere,
                            env={"HOME": home, "http_proxy": "http://127.0.0.1:1"})
        self.check(done, code)
        if "--live-tools" not in options:
            self.assertEqual(os.listdir(home), [])
        self.assertEqual(os.listdir(self.elsewhere), [])
        return done

    def same(self, recorded, replayed):
        """The same events in the same order, but for times; progress comes before its result."""
        def clean(done):
            events = []
            for event in done.events:
                event = {key: value for key, value in event.items() if key not in CHANGING}
                for tool in event.get("tools", []) if event["type"] == "result" else []:
                    tool.clear()
                if event["type"] == "result":
                    event.pop("tools", None)
                events.append(event)
            results = [event for event in events if event["type"] == "tool_progress"]
            return [event for event in events if event["type"] != "tool_progress"], results

        self.assertEqual(clean(replayed), clean(recorded), replayed)

    def check_replay(self, recorded, requests, calls):
        replayed = self.replay("--json")
        self.same(recorded, replayed)
        self.assertEqual(replayed.err.splitlines()[-1],
                         f"replayed {requests} request{'s' * (requests != 1)}, "
                         f"{calls} tool call{'s' * (calls != 1)}: no difference")
        return replayed

    def edit(self, change):
        """Writes the recording anew, each record changed by `change`, or left out (None)."""
        changed = [change(record) for record in self.records]
        self.write(record for record in changed if record is not None)
