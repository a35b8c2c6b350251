"""mcp_http - what tests of the MCP server over HTTP need: the server, and a client of raw sockets.

    server = Server(world, "--http-timeout", "1")
    reply = server.call("echo", {"text": "hi"})
    reply.status, reply.headers["content-type"], reply.json
"""
import json
import os
import re
import select
import signal
import socket
import time

import e2e

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"


def meta(**more):
    return {META + "protocolVersion": MODERN, META + "clientCapabilities": {}, **more}


def request(method, params=None, id=1, modern=True, **more):
    """A message.  `more` goes into the _meta."""
    params = dict(params or {})
    if modern:
        params["_meta"] = {**meta(), **more}
    elif more:
        params["_meta"] = more
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def headers_of(message):
    """What a modern client says of its message in the header."""
    params = message.get("params", {})
    version = params.get("_meta", {}).get(META + "protocolVersion")
    if not version:
        return {}
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": message["method"]}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    return headers


def raw(body, headers=None, method="POST", path="/mcp"):
    """The bytes of a request; a header that is None is left out."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Host": "localhost", "Content-Type": "application/json",
              "Accept": "application/json, text/event-stream", "Content-Length": len(body)}
    fields.update(headers or {})
    lines = [f"{method} {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Reply:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def __repr__(self):
        return f"{self.status} {self.headers} {self.body!r}"

    @property
    def messages(self):
        """Of a stream, or the only one."""
        if not self.headers.get("content-type", "").startswith("text/event-stream"):
            return [json.loads(self.body)]
        return [json.loads(event[len("event: message\ndata: "):])
                for event in self.body.decode().split("\n\n") if event and event != ":"]

    @property
    def json(self):
        return self.messages[-1]

    @property
    def code(self):
        return self.json["error"]["code"]

    @property
    def text(self):
        return self.json["result"]["content"][0]["text"]


class Connection:
    """A socket, and what came from it that was not yet asked for."""

    def __init__(self, port, seconds=e2e.SECONDS):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self.bytes = b""

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def reset(self):
        """Closes it without a goodbye."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()

    def more(self):
        data = self.socket.recv(65536)
        self.bytes += data
        return data

    def line(self):
        while b"\r\n" not in self.bytes:
            if not self.more():
                raise EOFError(self.bytes)
        line, self.bytes = self.bytes.split(b"\r\n", 1)
        return line.decode("latin-1")

    def take(self, count):
        while len(self.bytes) < count:
            if not self.more():
                raise EOFError(self.bytes)
        data, self.bytes = self.bytes[:count], self.bytes[count:]
        return data

    def head(self):
        status = int(self.line().split(" ")[1])
        headers = {}
        while line := self.line():
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        return status, headers

    def chunk(self):
        """b"": that was the last."""
        data = self.take(int(self.line(), 16))
        self.take(2)
        return data

    def reply(self):
        status, headers = self.head()
        body = b""
        if headers.get("transfer-encoding") == "chunked":
            while data := self.chunk():
                body += data
        else:
            body = self.take(int(headers.get("content-length", 0)))
        return Reply(status, headers, body)

    def is_ended(self, seconds=e2e.SECONDS):
        """Whether the server ended it, within a time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if select.select([self.socket], [], [], 0.05)[0]:
                try:
                    if not self.more():
                        return True
                except ConnectionError:
                    return True
        return False


class Server:
    """One that listens on a port of its own."""

    def __init__(self, world, *arguments, plugins=(), **how):
        folders = [os.path.join(os.path.dirname(e2e.options.fixtures), name) for name in plugins]
        where = [part for folder in [e2e.options.fixtures, *folders] for part in ("-P", folder)]
        self.world = world
        self.process = world.start("mcp", "serve", "--http", "0", *where, *arguments, **how)
        self.said = b""
        while not (found := re.search(rb"listening on http://127\.0\.0\.1:(\d+)/mcp", self.said)):
            line = self.process.stderr.readline()
            self.said += line
            if not line:
                raise AssertionError(f"it does not listen: {self.said}")
        self.port = int(found[1])

    def connect(self, **how):
        return Connection(self.port, **how)

    def send(self, data):
        """One request on a connection of its own."""
        with self.connect() as connection:
            connection.send(data)
            return connection.reply()

    def post(self, message, headers=None):
        return self.send(raw(message, {**headers_of(message), **(headers or {})}))

    def call(self, name, arguments=None, headers=None, modern=True, **more):
        message = request("tools/call", {"name": name, "arguments": arguments or {}},
                          modern=modern, **more)
        return self.post(message, headers)

    def status(self, key):
        """A line of /proc/PID/status."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as lines:
            return next(line.split()[1] for line in lines if line.startswith(key))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self, how=signal.SIGTERM):
        """How it ended, and how long that took."""
        begun = time.monotonic()
        self.process.send_signal(how)
        done = self.world.finish(self.process)
        done.err = self.said.decode() + done.err
        return done, time.monotonic() - begun
