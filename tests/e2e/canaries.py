"""canaries - secrets that can be told from everything else, and whoever tells them again.

Each has a mark of its own in it, which is looked for in every form that text is sent or kept in.
"""
import base64
import http.server
import json
import os
import threading
import urllib.parse

import e2e


def canary(name):
    """Long enough to be a secret, with characters that every encoding changes."""
    return f'sk-{name}+CANARY/7f3a?"9c51=={name}'


def without_quote(name):  # for what cannot hold a quotation mark
    return canary(name).replace('"', "~")


def forms(value):
    """What the value looks like, also in the middle of something that was encoded."""
    raw = value.encode()
    found = {raw, urllib.parse.quote(value, safe="").encode(), json.dumps(value)[1:-1].encode(),
             json.dumps(json.dumps(value))[3:-3].encode(), urllib.parse.quote(value).encode(),
             "".join(f"\\u{byte:04x}" for byte in raw).encode()}
    for before in (b"", b"a", b"ab"):  # neighbours have a part in the characters at the ends
        inside = base64.b64encode(before + raw)[len(before) + 1:-4]
        found |= {inside, inside.replace(b"+", b"-").replace(b"/", b"_")}
    return found | {form.lower() for form in found if b"%" in form}


class Echo(http.server.BaseHTTPRequestHandler):
    """Says again whatever it was told, in every form, with the status that its server has."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        told = f"{self.requestline}\n{self.headers}"
        self.server.told.append(told)
        self.server.bodies.append(raw)
        values = [value.split()[-1] for value in self.headers.values() if value.strip()]
        every = "\n".join(f"{value} {urllib.parse.quote(value, safe='')} "
                          f"{base64.b64encode(value.encode()).decode()}" for value in values)
        body = json.dumps({"error": {"message": f"You sent {told}, which is {every}"}}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "0")
        self.send_header("X-Echo", values[-1])
        self.send_header("Location", "http://127.0.0.1:1/?key=" + values[-1] + "&" + values[0])
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_CONNECT = do_POST


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.plugins = os.path.join(os.path.dirname(e2e.options.fixtures), "canary")

    def echo(self, status, tls=None):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
        server.daemon_threads = True
        server.status, server.told, server.bodies = status, [], []
        server.handle_error = lambda *_: None
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        server.where = f"127.0.0.1:{server.server_address[1]}"
        return server

    def need_option(self, option):
        if option not in self.mortise("--help").out:
            self.skipTest(f"there is no {option}")

    def assert_hidden(self, values, what, data):
        for value in values:
            for form in forms(value):
                at = data.find(form)
                if at >= 0:
                    self.fail(f"{what} shows '{value}': …{data[max(0, at - 200):at + 100]!r}")

    def check_files(self, values, *but):
        """Whatever the runs left below the home and the working folder."""
        seen = 0
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = os.path.join(folder, name)
                if path in but or not os.path.isfile(path):
                    continue
                with open(path, "rb") as file:
                    self.assert_hidden(values, path, file.read())
                seen += 1
        return seen

    def check_run(self, done, values, *but):
        self.assert_hidden(values, "standard output", done.raw)
        self.assert_hidden(values, "standard error", done.err.encode("utf-8", "surrogateescape"))
        self.check_files(values, *but)
