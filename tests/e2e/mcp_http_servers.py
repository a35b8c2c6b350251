"""mcp_http_servers - an MCP server over HTTP on this machine that does as a test says.

A tool is a function of its arguments and the exchange, and returns a result; what it says before
that goes into a stream of events.
"""
import http.server
import json
import socket
import threading

import e2e

MODERN, LEGACY = "2026-07-28", "2025-11-25"


def text(content):
    return {"content": [{"type": "text", "text": content}]}


def tool(name, properties=None, **more):
    return {"name": name, "inputSchema": {"type": "object", "properties": properties or {}}, **more}


class Asked:
    """One request: its method, headers, and the message in it."""

    def __init__(self, method, path, headers, message):
        self.method, self.path, self.headers, self.message = method, path, headers, message or {}

    @property
    def rpc(self):
        return self.message.get("method")

    def __repr__(self):
        return f"{self.method} {self.path} {self.rpc}"


class Exchange(http.server.BaseHTTPRequestHandler):
    """A request and its answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # heads and bodies go one after the other
    is_stream = False

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.take(json.loads(body) if body else {})

    def do_GET(self):
        self.take({})

    do_DELETE = do_GET

    def take(self, message):
        self.message, self.is_stream = message, False
        asked = Asked(self.command, self.path, self.headers, message)
        with self.server.lock:
            self.server.asked.append(asked)
        if self.server.gate and self.server.gate(self, asked):
            return
        if self.command == "POST":
            self.serve(message)
        elif self.command == "GET" and self.server.tells:
            self.tell_changes()
        else:
            self.reply(405 if self.command == "GET" else 200)

    # ---- the words of HTTP ----

    def reply(self, status, body=b"", kind="application/json", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 202:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_stream(self):
        self.is_stream = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def raw(self, data):
        """A piece of the stream, and nothing else at once."""
        if not self.is_stream:
            self.begin_stream()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def end_stream(self):
        self.wfile.write(b"0\r\n\r\n")

    def is_left(self, seconds):
        """Whether the other side closes the connection within that time."""
        self.connection.settimeout(seconds)
        try:
            return self.connection.recv(1, socket.MSG_PEEK) == b""
        except (TimeoutError, OSError):
            return False

    # ---- the words of the protocol ----

    def event(self, message):
        self.raw(b"data: " + json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n\n")

    def progress(self, done, total, message):
        token = self.message["params"]["_meta"]["progressToken"]
        self.event({"method": "notifications/progress",
                    "params": {"progressToken": token, "progress": done, "total": total,
                               "message": message}})

    def answer(self, status=200, headers=None, **member):
        message = {"jsonrpc": "2.0", "id": self.message["id"], **member}
        if self.is_stream:
            self.event(member | {"id": self.message["id"]})
            self.end_stream()
        elif self.server.streams:
            self.begin_stream()
            self.event(member | {"id": self.message["id"]})
            self.end_stream()
        else:
            self.reply(status, message, **(headers or {}))

    def error(self, code, message, status=200, **more):
        self.answer(status, error={"code": code, "message": message, **more})

    def result(self, result, headers=None):
        if self.server.modern:
            result = {"resultType": "complete", **result}
        self.answer(headers=headers, result=result)

    def tell_changes(self):
        """The stream of those who listen, until they leave."""
        meta = {"io.modelcontextprotocol/subscriptionId": self.message.get("id")}
        params = {"_meta": meta, "notifications": {"toolsListChanged": True}}
        self.raw(b": here\n\n")
        if self.server.modern:
            self.event({"method": "notifications/subscriptions/acknowledged", "params": params})
        with self.server.news:
            seen = self.server.changes
            self.server.listeners += 1
            self.server.news.notify_all()
        while not self.is_left(0.02):
            with self.server.news:
                is_new, seen = self.server.changes > seen, self.server.changes
            if is_new:
                self.event({"method": "notifications/tools/list_changed",
                            "params": {"_meta": meta} if self.server.modern else {}})
        self.close_connection = True

    def serve(self, message):
        method = message.get("method")
        if "id" not in message:
            self.reply(202)
        elif method == "server/discover" and self.server.modern:
            self.result({"supportedVersions": [MODERN], "ttlMs": 0, "cacheScope": "private",
                         "capabilities": {"tools": {"listChanged": self.server.tells}}})
        elif method == "initialize" and not self.server.modern:
            headers = {"Mcp-Session-Id": self.server.session} if self.server.session else None
            self.result({"protocolVersion": LEGACY, "capabilities": {"tools": {"listChanged": self.server.tells}},
                         "serverInfo": {"name": "scripted", "version": "1"}}, headers)
        elif method == "subscriptions/listen" and self.server.tells:
            self.tell_changes()
        elif method == "tools/list":
            caching = {"ttlMs": 0, "cacheScope": "private"} if self.server.modern else {}
            self.result({"tools": [shape for shape, _ in self.server.tools.values()], **caching})
        elif method == "tools/call" and message["params"]["name"] in self.server.tools:
            result = self.server.tools[message["params"]["name"]][1](
                message["params"]["arguments"], self)
            if result is not None:
                self.result(result)
        else:
            self.error(-32601, "Method not found", 404 if self.server.modern else 200)


class Server(e2e.Listening):
    """`tools`: pairs of what tools/list says of a tool and its function.  `gate` sees each request
    first, and returns True when it has answered.  `tells`: it says when its tools change."""

    daemon_threads = True

    def __init__(self, *tools, modern=True, streams=False, session=None, gate=None, tls=None,
                 tells=False):
        super().__init__(("127.0.0.1", 0), Exchange)
        self.tools = {shape["name"]: (shape, function) for shape, function in tools}
        self.modern, self.streams, self.session, self.gate = modern, streams, session, gate
        self.tells, self.changes, self.listeners = tells, 0, 0
        self.news = threading.Condition()
        self.asked = []
        self.lock = threading.Lock()
        self.scheme = "https" if tls else "http"
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)

    @property
    def url(self):
        return f"{self.scheme}://localhost:{self.server_address[1]}/mcp"

    def add(self, shape, function):
        """One tool more, of which who listens is told."""
        self.tools[shape["name"]] = shape, function
        with self.news:
            self.news.wait_for(lambda: self.listeners, 20)
            self.changes += 1

    def of(self, rpc):
        """What was asked with that method of the protocol, or of HTTP."""
        with self.lock:
            return [asked for asked in self.asked if rpc in (asked.rpc, asked.method)]
