"""mcp - a client of `mortise mcp serve` on a pair of pipes, which sees every line.

    client = mcp.Client(self, "-P", folder)
    client.call("echo", message="hello")       # the result of tools/call
    client.request("tools/list")               # a message, whole
    client.end()                               # closes the input and waits

A client speaks one era at a time: `client.modern` adds what each request of the new one needs.
"""
import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import threading
import time

import e2e

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "e2e", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
SERVER = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def request(id, method, params=None, **more):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method,
                       **({} if params is None else {"params": params}), **more}).encode()


class Client:
    def __init__(self, case, *options, env=None, **how):
        self.case = case
        self.modern = False
        self.ids = 0
        self.process = case.start("mcp", "serve", "--no-plugins", *options, env=env,
                                  stdin=subprocess.PIPE, **how)
        self.lines = queue.Queue()
        self.others = []  # messages that nobody waited for
        self.err = b""
        self.threads = [threading.Thread(target=self.read, daemon=True)]
        if self.process.stderr:
            self.threads.append(threading.Thread(target=self.read_err, daemon=True))
        for thread in self.threads:
            thread.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def read_err(self):
        for line in self.process.stderr:
            self.err += line

    # ---- sending ----

    def raw(self, data):
        self.process.stdin.write(data if isinstance(data, bytes) else data.encode())
        self.process.stdin.flush()

    def send(self, message):
        self.raw(json.dumps(message) + "\n")

    def notify(self, method, **params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method, params=None, id=None, meta=None):
        """Sends a request; its id."""
        if id is None:
            self.ids += 1
            id = self.ids
        params = dict(params or {})
        if self.modern or meta:
            params["_meta"] = {**(META if self.modern else {}), **(meta or {})}
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return id

    # ---- receiving ----

    def message(self, seconds=e2e.SECONDS):
        """The next message: one object in one line."""
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            self.case.fail(f"no message came; standard error: {self.err}")
        if line is None:
            self.case.fail(f"the server ended; standard error: {self.err}")
        message = json.loads(line.decode("utf-8"))
        self.case.assertTrue(line.endswith(b"\n"), line)
        if isinstance(message, list):
            return message
        self.case.assertEqual(message.get("jsonrpc"), "2.0", line)
        return message

    def answer(self, id, seconds=e2e.SECONDS):
        """The answer to a request; what comes before it is kept."""
        while True:
            for message in self.others:
                if message.get("id") == id and "method" not in message:
                    self.others.remove(message)
                    return message
            self.others.append(self.message(seconds))

    def request(self, method, params=None, **how):
        return self.answer(self.ask(method, params, **how))

    def result(self, method, params=None, **how):
        answer = self.request(method, params, **how)
        self.case.assertIn("result", answer)
        return answer["result"]

    def ask_tool(self, name, /, id=None, meta=None, **arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments}, id, meta)

    def call(self, name, /, meta=None, **arguments):
        answer = self.answer(self.ask_tool(name, None, meta, **arguments))
        self.case.assertIn("result", answer)
        return answer["result"]

    def text(self, name, /, **arguments):
        """What a tool says, which must be all."""
        result = self.call(name, **arguments)
        self.case.assertNotIn("isError", result, result)
        [block] = result["content"]
        self.case.assertEqual(block["type"], "text")
        return block["text"]

    def nothing_more(self, seconds=0.15):
        """Nothing came that nobody waited for."""
        with contextlib.suppress(queue.Empty):
            self.others.append(self.lines.get(timeout=seconds))
        self.case.assertEqual(self.others, [])

    # ---- the whole ----

    def initialize(self, version="2025-11-25", capabilities=None):
        self.modern = False
        result = self.result("initialize", {
            "protocolVersion": version, "capabilities": capabilities or {},
            "clientInfo": {"name": "e2e", "version": "1"}})
        self.notify("notifications/initialized")
        return result

    def memory_kb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(next(line for line in status if line.startswith("VmRSS")).split()[1])

    def wait(self, code=0, seconds=e2e.SECONDS):
        """Until it ended; the seconds that took."""
        start = time.monotonic()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            self.case.fail(f"the server does not end; standard error: {self.err}")
        took = time.monotonic() - start
        for thread in self.threads:
            thread.join(e2e.SECONDS)
        self.case.assertEqual(self.process.returncode, code, self.err)
        self.case.assertNotIn(b"Sanitizer", self.err)
        return took

    def end(self, code=0):
        self.process.stdin.close()
        return self.wait(code)


def plugins(case, *names):
    """Options for plugins of the folder `mcp` beside the fixtures."""
    folder = os.path.join(os.path.dirname(e2e.options.fixtures), "mcp")
    return [word for name in names for word in ("-e", os.path.join(folder, f"{name}.so"))]


class Case(e2e.Case):
    def client(self, *options, **how):
        return Client(self, *plugins(self, "e2e_mcp"), *options, **how)

    def isolated_client(self):
        """Its plugin lies where no other test has it, so that check_ended() knows its processes."""
        self.plugin = shutil.copy(plugins(self, "e2e_mcp")[1], self.root)
        return Client(self, "-e", self.plugin, "--isolate")

    def check_ended(self):
        self.check_none_runs(self.plugin.encode())

    def check_code(self, answer, code, id=None):
        """An error with this code; without the id that could not be told."""
        self.assertEqual(answer.get("error", {}).get("code"), code, answer)
        self.assertEqual(answer.get("id", "none"), "none" if id is None else id, answer)
        self.assertTrue(answer["error"]["message"])

    def check_error(self, result, *parts):
        self.assertIs(result.get("isError"), True, result)
        for part in parts:
            self.assertIn(part, result["content"][0]["text"])
