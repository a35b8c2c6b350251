#!/usr/bin/env python3
"""The MCP server over HTTP: clients that are slow or too many, what it holds for them, and the
token."""
import os
import resource
import select
import socket
import threading
import time

import e2e
import mcp_http
from mcp_http import raw, request

LIST = request("tools/list")
ENDED = 143  # by SIGTERM, as it was asked


class Time(e2e.Case):
    """A server whose patience is short."""

    def setUp(self):
        super().setUp()
        self.server = mcp_http.Server(self, "--http-timeout", "0.4", plugins=["routed"])

    def test_slow_clients(self):  # S46, S44
        listen = request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        whole = raw(request("ping", modern=False))
        with (self.server.connect() as silent, self.server.connect() as head,
              self.server.connect() as body, self.server.connect() as kept,
              self.server.connect() as listener):
            kept.send(whole)
            self.assertEqual(kept.reply().status, 200)
            listener.send(raw(listen, mcp_http.headers_of(listen)))
            self.assertEqual(listener.head()[0], 200)
            self.assertIn(b"acknowledged", listener.chunk())
            begun = time.monotonic()

            def drip(connection, data):
                try:
                    for byte in data:
                        connection.send(bytes([byte]))
                        time.sleep(0.03)
                except ConnectionError:
                    pass

            body.send(whole[:-20])
            dripping = [threading.Thread(target=drip, args=(head, whole[:40])),
                        threading.Thread(target=drip, args=(body, whole[-20:-1]))]
            for thread in dripping:
                thread.start()
            self.assertEqual(head.reply().status, 408)
            self.assertEqual(body.reply().status, 408)
            self.assertTrue(silent.is_ended() and kept.is_ended())
            self.assertEqual((silent.bytes, kept.bytes), (b"", b""))
            self.assertLess(time.monotonic() - begun, 2)
            for thread in dripping:
                thread.join()
            # A subscription lives on; it says so.
            self.assertEqual(listener.chunk(), b":\n\n")
            done, seconds = self.server.end()
            self.assertLess(seconds, 2)
            self.check(done, ENDED)
            last = listener.chunk()
            while last == b":\n\n":
                last = listener.chunk()
            self.assertIn(b'"result"', last)
            self.assertEqual(listener.chunk(), b"")

    def test_who_does_not_read(self):  # S46
        """Neither holds the server up, nor stays."""
        message = request("tools/call", {"name": "big", "arguments": {"bytes": 8000000}},
                          modern=False)
        before = self.server.descriptors()
        with self.server.connect() as deaf:
            deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.send(raw(message))
            self.assertEqual(self.server.call("echo", {"text": "x"}).text, "x")
            until = time.monotonic() + 10
            while self.server.descriptors() > before and time.monotonic() < until:
                time.sleep(0.05)
            self.assertEqual(self.server.descriptors(), before)

    def test_end_with_calls(self):  # S24
        """One ends when it is told to, and one does not."""
        with (self.server.connect() as told, self.server.connect() as stubborn,
              self.server.connect() as idle):
            for name, connection in (("wait_for_cancel", told), ("stubborn", stubborn)):
                mark = os.path.join(self.root, name)
                connection.send(raw(request("tools/call", {"name": name, "arguments": {
                    "mark": mark}}, modern=False)))
                self.wait_for(mark + ".started")
            done, seconds = self.server.end()
            self.check(done, ENDED)
            self.assertLess(seconds, 2)
            self.assertTrue(os.path.exists(os.path.join(self.root, "wait_for_cancel.told")))
            self.assertTrue(told.is_ended() and stubborn.is_ended() and idle.is_ended())


class Limits(e2e.Case):
    def flood(self, server, count):
        """That many connections which say nothing."""
        flood = [server.connect() for _ in range(count)]
        for connection in flood:
            self.addCleanup(connection.socket.close)
        return flood

    def test_connections(self):  # S46
        """Who says nothing for longest makes room."""
        server = mcp_http.Server(self)
        flood = self.flood(server, 520)
        self.assertEqual(server.post(LIST).status, 200)
        self.assertTrue(flood[0].is_ended())
        self.assertFalse(flood[-1].is_ended(0.1))

    def test_bodies(self):  # S46
        """Bodies that do not come to their end have a limit together."""
        small = mcp_http.Server(self, "--message-limit", "2000000")
        piece = raw(b"x" * 1900000, {"Content-Length": 2000000})
        flood = self.flood(small, 40)
        for connection in flood:
            connection.send(piece)
        answered = select.select([connection.socket for connection in flood], [], [], e2e.SECONDS)[0]
        refused = [connection for connection in flood if connection.socket in answered]
        self.assertEqual(refused[0].reply().status, 503)
        self.assertGreater(len(flood), len(refused) + 20)
        self.assertLess(int(small.status("VmHWM")), 200000 if e2e.options.fail_malloc else 10**6)
        self.assertEqual(small.post(LIST).status, 200)

    def test_answers_that_nobody_reads(self):  # S46
        """What waits to be sent counts as well."""
        small = mcp_http.Server(self, "--message-limit", "2000000")
        ask = raw(request("tools/call", {"name": "big", "arguments": {"bytes": 9000000}},
                          modern=False))
        deaf = self.flood(small, 12)
        for connection in deaf:
            connection.send(ask)
            self.assertTrue(select.select([connection.socket], [], [], e2e.SECONDS)[0])
        self.assertEqual(small.post(LIST).status, 503)
        for connection in deaf:
            connection.socket.close()
        until = time.monotonic() + e2e.SECONDS
        while small.post(LIST).status != 200:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)

    def test_calls_that_are_left(self):  # S46
        """Those that go on without their legacy clients do not become ever more."""
        busy = mcp_http.Server(self)
        ask = raw(request("tools/call", {"name": "wait_for_cancel", "arguments": {
            "mark": os.path.join(self.root, "mark")}}, modern=False))
        for _ in range(30):
            flood = self.flood(busy, 64)
            for connection in flood:
                connection.send(ask)
            busy.post(LIST)  # what came before is read by now
            answered = select.select([connection.socket for connection in flood], [], [], 0)[0]
            if answered:
                break
            for connection in flood:
                connection.reset()
        [refused, *_] = [connection for connection in flood if connection.socket in answered]
        self.assertIn("too many calls", refused.reply().text)

    def test_descriptors(self):  # S46
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

        small = mcp_http.Server(self, preexec_fn=few)
        flood = self.flood(small, 80)
        self.assertEqual(small.post(LIST).status, 200)
        self.assertTrue(flood[0].is_ended())


class Token(e2e.Case):
    token = "correct-horse-battery-staple"

    def check_server(self, server):
        right = {"Authorization": "Bearer " + self.token}
        ping = request("ping", modern=False)
        self.assertEqual(server.post(ping, right).status, 200)
        for wrong in (None, "Bearer " + self.token[:-1], "Bearer " + self.token + "x", "Basic x"):
            reply = server.post(ping, {"Authorization": wrong})
            self.assertEqual(reply.status, 401)
            self.assertTrue(reply.headers["www-authenticate"].startswith("Bearer"))
            self.assertNotIn(self.token, reply.body.decode())
        done, _ = server.end()
        self.check(done, ENDED)
        self.assertNotIn(self.token, done.err + done.out)

    def test_environment(self):  # S47
        server = mcp_http.Server(self, "-vv", env={"MORTISE_MCP_TOKEN": self.token})
        self.check_server(server)

    def test_file(self):  # S47, S38
        path = self.file("token", self.token + "\n")
        os.chmod(path, 0o600)
        server = mcp_http.Server(self, "--token-file", path, "--http-public")
        with open(f"/proc/{server.process.pid}/cmdline", "rb") as line:
            self.assertNotIn(self.token.encode(), line.read())
        reply = server.post(request("ping", modern=False),
                            {"Authorization": "Bearer " + self.token, "Host": "a.example.com"})
        self.assertEqual(reply.status, 200)
        self.check_server(server)

    def test_refused(self):  # S38, S47
        def serve(*arguments, env=None):
            return self.mortise("mcp", "serve", "--no-plugins", *arguments, env=env)

        self.check_error(serve("--http", "0.0.0.0:0"), 3, "'0.0.0.0:0'", "--http-public")
        self.check_error(serve("--http", "0.0.0.0:0", "--http-public"), 3, "token")
        self.check_error(serve("--http", "0", "--http-public"), 3, "token")
        self.check_error(serve("--http", "example.com:1"), 3, "'example.com:1'")
        self.check_error(serve("--http", "0", env={"MORTISE_MCP_TOKEN": "short"}), 3,
                         "MORTISE_MCP_TOKEN")
        path = self.file("token", self.token)
        os.chmod(path, 0o644)
        self.check_error(serve("--http", "0", "--token-file", path), 3, path, "chmod 600")
        self.check_error(serve("--http", "0", "--token-file", path + ".none"), 3, path + ".none")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            where = f"127.0.0.1:{taken.getsockname()[1]}"
            self.check_error(serve("--http", where), 4, where)

if __name__ == "__main__":
    e2e.main()
