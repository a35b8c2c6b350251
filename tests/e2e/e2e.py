"""e2e - what every end-to-end test needs: the binary in an empty world, scripts, a server.

    class Help(e2e.Case):
        def test_help(self):
            done = self.mortise("--help")
            self.assertEqual(done.code, 0)

    if __name__ == "__main__":
        e2e.main()
"""
import argparse
import contextlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SKIPPED = 77  # the exit code that CTest shows as "skipped"
SECONDS = 30  # after which a process hangs; sanitizers are slow

NOBODY = "127.0.0.1:1"  # nobody listens there

ISOLATED = "MORTISE_ISOLATE" in os.environ  # every plugin is in a process of its own

options = None  # what CMake told: mortise, fixtures, source, fail_malloc


class Done:
    """How a process ended."""

    def __init__(self, code, out, err):
        self.code = code
        self.raw = out
        self.out = out.decode("utf-8", "surrogateescape")
        self.err = err.decode("utf-8", "surrogateescape")

    def __str__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"

    @property
    def events(self):
        """The lines of --json."""
        return [json.loads(line) for line in self.out.split("\n") if line]

    def of_type(self, kind):
        return [event for event in self.events if event["type"] == kind]


class Case(unittest.TestCase):
    """One test: an empty HOME, an empty working folder, and no variables of the user's."""

    longMessage = True

    def setUp(self):
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="mortise-e2e-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.home = self.folder("home")
        self.work = self.folder("work")
        self.processes = []
        self.addCleanup(self.end_processes)

    def end_processes(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    with contextlib.suppress(OSError):
                        stream.close()

    # ---- files ----

    def folder(self, name):
        path = os.path.join(self.root, name)
        os.makedirs(path, exist_ok=True)
        return path

    def file(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def config(self, **keys):
        """The user's configuration file; _ in a key stands for -."""
        settings = {key.replace("_", "-"): value for key, value in keys.items()}
        return self.file("home/.config/mortise/config.json", json.dumps(settings))

    def script(self, *turns):
        """The -m of a model that says these turns."""
        self.scripts = getattr(self, "scripts", 0) + 1
        return "script/" + self.file(f"script{self.scripts}.json", json.dumps({"turns": turns}))

    # ---- processes ----

    def environment(self, extra):
        kept = ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS",
                "MORTISE_ISOLATE")
        env = {name: os.environ[name] for name in kept if name in os.environ}
        env.update(HOME=self.home, LC_ALL="C.UTF-8")
        env.update(OLLAMA_HOST=NOBODY, LLAMACPP_HOST=NOBODY)  # what this machine has is no matter
        env.update(extra or {})
        # Without this LeakSanitizer (GCC 12) takes a block of thread-local storage that happens to
        # begin at a certain place in its page for one of an older glibc, and crashes.
        own = [env["ASAN_OPTIONS"]] if env.get("ASAN_OPTIONS") else []
        env["ASAN_OPTIONS"] = ":".join(["intercept_tls_get_addr=0", *own])
        # ThreadSanitizer lets every process wait for a second at its end.
        own = [env["TSAN_OPTIONS"]] if env.get("TSAN_OPTIONS") else []
        env["TSAN_OPTIONS"] = ":".join(["atexit_sleep_ms=0", *own])
        return {name: value for name, value in env.items() if value is not None}

    def start(self, *arguments, env=None, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        how.setdefault("cwd", self.work)
        process = subprocess.Popen([options.mortise, *arguments], env=self.environment(env), **how)
        self.processes.append(process)
        return process

    def mortise(self, *arguments, input=None, env=None, seconds=SECONDS, **how):
        """Runs the binary to its end."""
        if input is not None:
            how["stdin"] = subprocess.PIPE
            input = input.encode() if isinstance(input, str) else input
        return self.finish(self.start(*arguments, env=env, **how), input, seconds)

    def finish(self, process, input=None, seconds=SECONDS):
        try:
            out, err = process.communicate(input, timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            out, err = process.communicate()
            self.fail(f"{process.args} hangs\n{Done(None, out or b'', err or b'')}")
        done = Done(process.returncode, out or b"", err or b"")
        if done.code < 0 or "Sanitizer" in done.err:
            self.fail(f"{process.args} crashed\n{done}")
        return done

    def wait_for(self, path, process=None):
        """Until a file is there."""
        until = time.monotonic() + SECONDS
        while not os.path.exists(path):
            if process and process.poll() is not None:
                self.fail(f"it ended before it made {path}\n{self.finish(process)}")
            if time.monotonic() > until:
                self.fail(f"{path} was not made")
            time.sleep(0.01)

    def running(self, *words):
        """Processes that have all of these in their command line."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as line:
                line = line.read()
                if all(word in line for word in words):
                    found.append(pid)
        return found

    # ---- checks ----

    def check_none_runs(self, *words):
        """What was killed may take a moment to be gone."""
        until = time.monotonic() + SECONDS
        while self.running(*words) and time.monotonic() < until:
            time.sleep(0.02)
        self.assertEqual(self.running(*words), [])

    def check(self, done, code):
        self.assertEqual(done.code, code, done)
        return done

    def check_error(self, done, code, *parts):
        """One message on standard error, in the style of the house."""
        self.check(done, code)
        self.assertTrue(done.err.startswith("mortise: "), done)
        for part in parts:
            self.assertIn(part, done.err)


# ---- a server that speaks like a provider ----


def sse(*events):
    """Events as (name or None, object or text)."""
    out = []
    for name, data in events:
        if name:
            out.append(f"event: {name}\n")
        text = data if isinstance(data, str) else json.dumps(data)
        out.append(f"data: {text}\n\n")
    return "".join(out).encode()


def openai_reply(text=None, calls=(), finish=None):
    """A stream of Chat Completions.  `calls`: (id, name, arguments as text)."""

    def chunk(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return None, {"id": "c", "object": "chat.completion.chunk", "model": "m",
                      "choices": [choice]}

    events = [chunk({"role": "assistant", "content": ""})]
    for piece in (text or "").split(" ") if text else []:
        events.append(chunk({"content": piece if piece == text.split(" ")[0] else " " + piece}))
    for index, (call_id, name, _) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        call = {"index": index, "id": call_id, "type": "function", "function": function}
        events.append(chunk({"tool_calls": [call]}))
    pieces = max((len(arguments) for _, _, arguments in calls), default=0)
    for at in range(0, pieces, 5):  # the calls' fragments come by turns
        for index, (_, _, arguments) in enumerate(calls):
            if arguments[at:at + 5]:
                piece = {"index": index, "function": {"arguments": arguments[at:at + 5]}}
                events.append(chunk({"tool_calls": [piece]}))
    events.append(chunk({}, finish or ("tool_calls" if calls else "stop")))
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    events.append((None, {"id": "c", "object": "chat.completion.chunk", "model": "m",
                          "choices": [], "usage": usage}))
    events.append((None, "[DONE]"))
    return sse(*events)


def responses_reply(text=None, calls=(), finish=None):
    """A stream of Responses.  `calls`: (id, name, arguments as text)."""
    items = []
    events = [{"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}]

    def add(item, kind, pieces, done):
        index = len(items)
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        events.extend({"type": f"response.{kind}.delta", "output_index": index,
                       "item_id": item["id"], "delta": piece} for piece in pieces)
        items.append({**item, **done, "status": "completed"})
        events.append({"type": "response.output_item.done", "output_index": index,
                       "item": items[-1]})

    if text:
        part = {"type": "output_text", "text": text, "annotations": []}
        add({"type": "message", "id": "msg_1", "role": "assistant", "content": []}, "output_text",
            [text[i:i + 7] for i in range(0, len(text), 7)], {"content": [part]})
    for number, (call_id, name, arguments) in enumerate(calls):
        add({"type": "function_call", "id": f"fc_{number}", "call_id": call_id, "name": name,
             "arguments": ""}, "function_call_arguments",
            [arguments[i:i + 5] for i in range(0, len(arguments), 5)], {"arguments": arguments})
    end = finish or "completed"
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    events.append({"type": f"response.{end}",
                   "response": {"id": "resp_1", "status": end, "output": items, "usage": usage}})
    return sse(*((event["type"], event) for event in events))


def anthropic_reply(text=None, calls=(), finish=None):
    """A stream of Messages.  `calls`: (id, name, arguments as text)."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m",
               "stop_reason": None, "stop_sequence": None,
               "usage": {"input_tokens": 10, "output_tokens": 1}}
    events = [("message_start", {"type": "message_start", "message": message}),
              ("ping", {"type": "ping"})]
    blocks = []
    if text:
        blocks.append(({"type": "text", "text": ""},
                       [{"type": "text_delta", "text": text[i:i + 7]}
                        for i in range(0, len(text), 7)]))
    for call_id, name, arguments in calls:
        blocks.append(({"type": "tool_use", "id": call_id, "name": name, "input": {}},
                       [{"type": "input_json_delta", "partial_json": arguments[i:i + 5]}
                        for i in range(0, len(arguments), 5)]))
    for index, (block, deltas) in enumerate(blocks):
        events.append(("content_block_start", {"type": "content_block_start", "index": index,
                                               "content_block": block}))
        for delta in deltas:
            events.append(("content_block_delta", {"type": "content_block_delta", "index": index,
                                                   "delta": delta}))
        events.append(("content_block_stop", {"type": "content_block_stop", "index": index}))
    reason = finish or ("tool_use" if calls else "end_turn")
    events.append(("message_delta", {"type": "message_delta",
                                     "delta": {"stop_reason": reason, "stop_sequence": None},
                                     "usage": {"output_tokens": 5}}))
    events.append(("message_stop", {"type": "message_stop"}))
    return sse(*events)


def gemini_reply(text=None, calls=(), finish=None):
    """A stream of Gemini.  `calls`: (id, name, arguments as text)."""

    def event(parts, **more):
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}, **more}
        return None, {"candidates": [candidate], "modelVersion": "m", "responseId": "r",
                      "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}}

    events = [event([{"text": (text or "")[i:i + 7]}]) for i in range(0, len(text or ""), 7)]
    for call_id, name, arguments in calls:
        call = {"id": call_id, "name": name}
        try:
            call["args"] = json.loads(arguments or "{}")
        except ValueError:
            call["args"] = arguments
        events.append(event([{"functionCall": call, "thoughtSignature": "c2ln"}]))
    events.append(event([{"text": ""}], finishReason=finish or "STOP"))
    return sse(*events)


class Listening(http.server.ThreadingHTTPServer):
    """A server that runs as long as the block after `with`."""

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *reason):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass  # a client that goes away is no matter here


class Server(Listening):
    """Answers request n with reply n, in pieces, and keeps what it was asked.

    A reply is bytes, or a status and a JSON document, or a function that makes one of these of the
    request's body.  What a GET of a path gets is in `pages`: bytes, or what becomes JSON, or a
    status and that.
    """

    daemon_threads = True

    def __init__(self, *replies, pages=None, answerer=None):
        super().__init__(("127.0.0.1", 0), answerer or Answerer)
        self.replies = list(replies)
        self.pages = pages or {}
        self.gets = []  # each: path, headers
        self.requests = []  # each: path, headers, body (parsed), raw (bytes)
        self.lock = threading.Lock()

    @property
    def host(self):
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self):
        return f"http://{self.host}"

    @property
    def bodies(self):
        return [request["body"] for request in self.requests]


class Answerer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.server.gets.append((self.path, dict(self.headers)))
        page = self.server.pages.get(self.path, (404, {"error": {"message": "no such page"}}))
        self.document(*(page if isinstance(page, tuple) else (200, page)))

    def document(self, status, page):
        body = page if isinstance(page, bytes) else json.dumps(page).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        server = self.server
        with server.lock:
            server.requests.append({"path": self.path, "headers": self.headers,
                                    "raw": raw, "body": json.loads(raw)})
            number = len(server.requests)
        if number > len(server.replies):
            self.send_error(500, "no reply is left")
            return
        reply = server.replies[number - 1]
        reply = reply(json.loads(raw)) if callable(reply) else reply
        if isinstance(reply, tuple):
            self.document(*reply)
        else:
            self.answer(reply)

    def answer(self, reply):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, len(reply), 97):  # an odd size, so that events and characters are cut
            piece = reply[at:at + 97]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


# ---- the runner ----


def main(begin=None):
    """Runs the tests of the program; begin() first, when the options are known."""
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("--mortise", required=True, help="the binary")
    parser.add_argument("--fixtures", required=True, help="the folder of the fixture plugins")
    parser.add_argument("--source", required=True, help="the project's folder")
    parser.add_argument("--fail-malloc", default="", help="the library; empty: none was built")
    parser.add_argument("tests", nargs="*", help="names of tests; none: all")
    options = parser.parse_args()
    for name in ("mortise", "fixtures", "source"):
        setattr(options, name, os.path.realpath(getattr(options, name)))
    os.umask(0o022)
    if begin:
        begin()
    program = unittest.main(argv=[sys.argv[0], *options.tests], exit=False, verbosity=2)
    result = program.result
    if result.testsRun == 0:
        sys.exit("no test was run")
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if len(result.skipped) == result.testsRun else 0)
