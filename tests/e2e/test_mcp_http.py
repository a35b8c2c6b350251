#!/usr/bin/env python3
"""The MCP server over HTTP: who may come in, what the header must say, what the body may be,
and clients that are gone."""
import json
import os
import socket
import time
import unittest

import e2e
import mcp_http
from mcp_http import META, MODERN, raw, request

world = None  # of the server that most tests ask
server = None


def setUpModule():
    global world, server
    world = e2e.Case()
    world.setUp()
    server = mcp_http.Server(world, plugins=["routed"])


def tearDownModule():
    try:
        done, _ = server.end()
        if done.code != ENDED or "warning" in done.err:
            raise AssertionError(done)
    finally:
        world.doCleanups()


LIST = request("tools/list")
ENDED = 143  # by SIGTERM, as it was asked


class Access(unittest.TestCase):
    def test_host(self):  # S39
        for host, status in (("localhost", 200), (f"127.0.0.1:{server.port}", 200),
                             ("[::1]:1", 200), ("evil.example.com", 403), (None, 400)):
            self.assertEqual(server.post(LIST, {"Host": host}).status, status, host)

    def test_origin(self):  # S39
        for origin, status in (("http://localhost:3000", 200), ("null", 403),
                               ("http://evil.example.com", 403)):
            reply = server.post(LIST, {"Origin": origin})
            self.assertEqual(reply.status, status, origin)
            self.assertNotIn("access-control-allow-origin", reply.headers)

    def test_refused_before_the_body(self):  # S39
        with server.connect() as connection:
            connection.send(raw(b"", {"Host": "evil.example.com", "Content-Length": 1000}))
            reply = connection.reply()
            self.assertEqual(reply.status, 403)
            self.assertEqual(reply.headers["connection"], "close")
            self.assertNotIn("id", reply.json)

    def test_methods(self):  # S40
        for method in ("GET", "DELETE", "PUT", "OPTIONS", "HEAD"):
            with server.connect() as connection:
                connection.send(raw(b"", {"Origin": "http://localhost"}, method=method))
                status, headers = connection.head()
                if method == "HEAD":
                    connection.send(raw(LIST, mcp_http.headers_of(LIST)))
                    self.assertEqual(connection.reply().status, 200)  # there was no body before
            self.assertEqual((status, headers["allow"]), (405, "POST"), method)
            self.assertFalse([name for name in headers if name.startswith("access-control")])

    def test_path_and_type(self):  # S40
        for path, status in (("/", 404), ("/mcp/", 404), ("/mcp?a=b", 200)):
            self.assertEqual(server.send(raw(LIST, mcp_http.headers_of(LIST), path=path)).status,
                             status, path)
        for kind, status in (("text/plain", 415), (None, 415),
                             ("application/json; charset=utf-8", 200)):
            self.assertEqual(server.post(LIST, {"Content-Type": kind}).status, status, kind)
        self.assertEqual(server.post(LIST, {"Content-Encoding": "gzip"}).status, 415)


class Metadata(unittest.TestCase):
    def refused(self, message, headers, code=-32020, status=400):
        reply = server.post(message, headers)
        self.assertEqual((reply.status, reply.code, reply.json["id"]), (status, code, message["id"]),
                         headers)
        self.assertEqual(reply.headers["content-type"], "application/json")

    def test_standard(self):  # S41
        for headers in ({"MCP-Protocol-Version": None}, {"MCP-Protocol-Version": "2025-11-25"},
                        {"Mcp-Method": None}, {"Mcp-Method": "prompts/list"},
                        {"Mcp-Method": "Tools/list"}):
            self.refused(LIST, headers)
        reply = server.post(LIST, {"Mcp-Method": None, "mCP-mETHOD": " \t tools/list \t"})
        self.assertEqual(reply.status, 200)

    def test_name(self):  # S41
        call = request("tools/call", {"name": "echo", "arguments": {"text": "x"}}, id="a")
        for name in (None, "Echo", "big", "=?base64?ZWNobw?="):
            self.refused(call, {"Mcp-Name": name})
        self.assertEqual(server.post(call, {"Mcp-Name": "=?base64?ZWNobw==?="}).text, "x")

    def test_parameters(self):  # S41
        message = request("tools/call", {"name": "routed", "arguments": {"region": "é", "count": 2}})
        region = {"Mcp-Param-Region": "=?base64?w6k=?="}
        reply = server.post(message, {**region, "Mcp-Param-Count": "2", "Mcp-Param-Other": "x"})
        self.assertEqual(json.loads(reply.text), {"region": "é", "count": 2})
        self.refused(message, region)
        self.refused(message, {**region, "Mcp-Param-Count": "3"})
        self.assertEqual(server.call("routed", {"region": None}).status, 200)
        # What a schema says binds the modern era only.
        self.assertEqual(server.call("routed", {"region": "x"}, modern=False).status, 200)

    def test_versions(self):  # S42, S43
        future = request("tools/list", **{META + "protocolVersion": "2099-01-01"})
        reply = server.post(future)
        self.assertEqual((reply.status, reply.code), (400, -32022))
        self.assertEqual(reply.json["error"]["data"],
                         {"supported": [MODERN], "requested": "2099-01-01"})
        legacy = request("tools/list", modern=False)
        self.refused(legacy, {"MCP-Protocol-Version": "1900-01-01"}, -32600)
        self.refused(legacy, {"MCP-Protocol-Version": MODERN}, -32602)
        self.refused(request("server/discover", modern=False), {}, -32602)
        broken = request("tools/list")
        del broken["params"]["_meta"][META + "clientCapabilities"]
        self.refused(broken, {}, -32602)


class Answers(unittest.TestCase):
    def test_status(self):  # S42
        for message, status, code in (
                (request("nothing/here", id="x"), 404, -32601),
                (request("ping", id=7), 404, -32601),
                (request("ping/x", id=8, modern=False), 200, -32601),
                (request("tools/call", {"name": "nobody"}, id=9), 200, -32602)):
            reply = server.post(message)
            self.assertEqual((reply.status, reply.code, reply.json["id"]),
                             (status, code, message["id"]))
        for body in (b"{", b"[]", b"", b"[" + json.dumps(LIST).encode() + b"]"):
            reply = server.send(raw(body))
            self.assertEqual(reply.status, 400, body)
            self.assertNotIn("id", reply.json)
        reply = server.call("fails")
        self.assertEqual((reply.status, reply.json["result"]["isError"]), (200, True))

    def test_notification(self):  # S42
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        for message in (note, {"jsonrpc": "2.0", "id": 1, "result": {}}):
            reply = server.post(message)
            self.assertEqual((reply.status, reply.body), (202, b""))

    def test_json_or_events(self):  # S44
        reply = server.call("echo", {"text": "hi"})
        self.assertEqual((reply.text, reply.headers["content-type"]), ("hi", "application/json"))
        reply = server.call("steps", {"count": 3, "wait_ms": 20}, progressToken="t")
        self.assertEqual(reply.headers["content-type"], "text/event-stream")
        self.assertEqual(reply.headers["x-accel-buffering"], "no")
        *progress, last = reply.messages
        self.assertEqual([note["params"]["progress"] for note in progress], [1, 2, 3])
        self.assertEqual(last["result"]["content"][0]["text"], "arrived")
        # Who takes no events gets none, and who takes nothing else gets nothing else.
        reply = server.call("steps", {"count": 2}, {"Accept": "application/json;q=1"},
                            progressToken=1)
        self.assertEqual((reply.headers["content-type"], reply.text), ("application/json", "arrived"))
        reply = server.call("echo", {"text": "hi"}, {"Accept": "text/event-stream"})
        self.assertEqual((reply.headers["content-type"], reply.text), ("text/event-stream", "hi"))

    def test_legacy(self):  # S43
        hello = request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                       "clientInfo": {"name": "x", "version": "1"}}, modern=False)
        reply = server.post(hello)
        self.assertEqual(reply.json["result"]["protocolVersion"], "2025-11-25")
        self.assertNotIn("mcp-session-id", reply.headers)
        old = server.call("echo", {"text": "hi"}, {"Mcp-Session-Id": "gone"}, modern=False)
        self.assertEqual((old.status, old.text), (200, "hi"))
        self.assertNotIn("resultType", old.json["result"])
        self.assertNotIn("mcp-session-id", old.headers)
        # Without the header it is 2025-03-26, which knew no titles of tools.
        message = request("tools/list", modern=False)
        for headers, knows in (({}, False), ({"MCP-Protocol-Version": "2025-11-25"}, True)):
            tools = server.post(message, headers).json["result"]["tools"]
            self.assertEqual(any(tool.get("title") == "Steps" for tool in tools), knows)

    def test_old_http(self):  # S46
        head = raw(LIST, mcp_http.headers_of(LIST)).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
        with server.connect() as connection:
            connection.send(head)
            self.assertEqual(connection.reply().headers["connection"], "close")
            self.assertTrue(connection.is_ended())
        message = request("tools/call", {"name": "steps", "arguments": {"count": 1}},
                          progressToken=1)
        head = raw(message, mcp_http.headers_of(message)).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
        with server.connect() as connection:
            connection.send(head)
            _, headers = connection.head()
            self.assertNotIn("transfer-encoding", headers)
            self.assertTrue(connection.is_ended())
            self.assertEqual(connection.bytes.count(b"data: "), 2)


class Cancelling(e2e.Case):
    def begin(self, connection, mark, modern, id=1):
        message = request("tools/call", {"name": "wait_for_cancel", "arguments": {"mark": mark}},
                          modern=modern, id=id)
        connection.send(raw(message, mcp_http.headers_of(message)))
        self.wait_for(mark + ".started")

    def test_modern_disconnect_cancels(self):  # S45
        for how in ("close", "reset", "half"):
            mark = os.path.join(self.root, how)
            with server.connect() as connection:
                self.begin(connection, mark, modern=True)
                if how == "reset":
                    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                                 b"\1\0\0\0\0\0\0\0")
                elif how == "half":
                    connection.socket.shutdown(socket.SHUT_WR)
                if how != "half":
                    connection.socket.close()
                self.wait_for(mark + ".told")

    def test_legacy_disconnect_does_not(self):  # S45
        mark = os.path.join(self.root, "mark")
        with server.connect() as connection:
            self.begin(connection, mark, modern=False, id="left")
        self.assertEqual(server.call("echo", {"text": "on"}).text, "on")
        time.sleep(0.1)
        self.assertFalse(os.path.exists(mark + ".told"))
        self.cancel("left")
        self.wait_for(mark + ".told")

    def cancel(self, id):
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}
        self.assertEqual(server.post(note).status, 202)

    def test_legacy_cancel_needs_the_only_one(self):  # S33, S43
        marks = [os.path.join(self.root, name) for name in ("one", "two", "three")]
        with server.connect() as one, server.connect() as two, server.connect() as three:
            self.begin(one, marks[0], modern=False, id=5)
            self.begin(two, marks[1], modern=False, id=5)
            self.begin(three, marks[2], modern=True, id=6)
            for id in (5, "5", 6, 7):  # there are two, and it is none, and a modern one, and none
                self.cancel(id)
            time.sleep(0.1)
            self.assertFalse([mark for mark in marks if os.path.exists(mark + ".told")])
            two.socket.close()
        with server.connect() as four:
            mark = os.path.join(self.root, "four")
            self.begin(four, mark, modern=False, id="only")
            self.cancel("only")
            self.wait_for(mark + ".told")
            # It might have been somebody else's, so whoever waits for it is told how it ended.
            self.assertIs(four.reply().json["result"]["isError"], True)
            four.send(raw(LIST, mcp_http.headers_of(LIST)))
            self.assertEqual(four.reply().status, 200)

    def test_half_closed_legacy_is_answered(self):  # S46
        message = request("tools/call", {"name": "steps", "arguments": {"count": 1, "wait_ms": 100}},
                          modern=False)
        with server.connect() as connection:
            connection.send(raw(message) + raw(request("ping", id=2, modern=False)))
            connection.socket.shutdown(socket.SHUT_WR)
            self.assertEqual(connection.reply().text, "arrived")
            self.assertEqual(connection.reply().json["id"], 2)
            self.assertTrue(connection.is_ended())


class Bodies(unittest.TestCase):
    def test_chunked(self):  # S46
        body = json.dumps(request("ping", modern=False)).encode()
        for size in (1, 7, len(body)):
            pieces = [body[at:at + size] for at in range(0, len(body), size)]
            chunks = b"".join(b"%x;x=y\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
            head = raw(b"", {"Content-Length": None, "Transfer-Encoding": "chunked"})
            with server.connect() as connection:
                connection.send(head + chunks + b"0\r\nX: y\r\n\r\n" + raw(LIST))
                self.assertEqual(connection.reply().json["result"], {})
                self.assertEqual(connection.reply().code, -32020)  # and the next was read

    def test_continue(self):  # S46
        body = json.dumps(request("ping", modern=False)).encode()
        with server.connect() as connection:
            connection.send(raw(b"", {"Expect": "100-continue", "Content-Length": len(body)}))
            self.assertEqual(connection.head(), (100, {}))
            connection.send(body)
            self.assertEqual(connection.reply().json["result"], {})
            connection.send(raw(body, {"Expect": "100-continue"}))  # it did not wait
            self.assertEqual(connection.reply().json["result"], {})
            connection.send(raw(b"", {"Expect": "100-continue", "Content-Length": 1 << 40}))
            self.assertEqual(connection.head()[0], 413)
        self.assertEqual(server.send(raw(body, {"Expect": "x"})).status, 417)

    def test_too_long(self):  # S46
        flood = b"x" * (1 << 20)
        for headers, piece in (({"Content-Length": 1 << 30}, flood),
                               ({"Content-Length": None, "Transfer-Encoding": "chunked"},
                                b"%x\r\n%s\r\n" % (len(flood), flood))):
            with server.connect() as connection:
                connection.send(raw(b"", headers))
                try:
                    for _ in range(20):
                        connection.send(piece)
                except ConnectionError:
                    pass  # it stopped reading
                self.assertEqual(connection.reply().status, 413)

    def test_long_and_slow(self):  # S46, S5
        text = "é" * 200000
        with server.connect() as connection:
            data = raw(request("tools/call", {"name": "echo", "arguments": {"text": text}},
                               modern=False))
            for at in range(0, len(data), 100000):
                connection.send(data[at:at + 100000])
            time.sleep(0.1)
            self.assertEqual(connection.reply().text, text)

    def test_pipelining(self):  # S46
        count = 40
        with server.connect() as connection:
            connection.send(b"\r\n".join(raw(request("tools/call", {"name": "echo", "arguments": {
                "text": str(n)}}, id=n, modern=False)) for n in range(count)))
            for n in range(count):
                reply = connection.reply()
                self.assertEqual((reply.json["id"], reply.text), (n, str(n)))

    def test_byte_by_byte(self):  # S46
        with server.connect() as connection:
            connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in raw(request("ping", modern=False)):
                connection.send(bytes([byte]))
            self.assertEqual(connection.reply().json["result"], {})

    def test_malformed(self):  # S46
        good = raw(request("ping", modern=False))
        for old, new, status in (
                (b"Host: localhost", b"Host : localhost", 400),
                (b"Host: localhost", b"Host: localhost\r\nHost: localhost", 400),
                (b"Host: localhost", b"Host: localhost\r\n folded", 400),
                (b"Host: localhost\r\n", b"Host: localhost\n", 400),
                (b"Host: localhost", b"Host: localhost\0", 400),
                (b"Content-Length: ", b"Content-Length: +", 400),
                (b"Content-Length: ", b"Content-Length: 5\r\nContent-Length: ", 400),
                (b"Content-Length: ", b"Transfer-Encoding: chunked\r\nContent-Length: ", 400),
                (b"Host", b"X: " + b"y" * 17000 + b"\r\nHost", 431),
                (b"Host", b"X: y\r\n" * 100 + b"Host", 431),
                (b"HTTP/1.1", b"HTTP/3.0", 505),
                (b"POST /mcp HTTP/1.1", b"\x16\x03\x01\x02\x00\x01\x00\r\n", 400)):
            with server.connect() as connection:
                connection.send(good.replace(old, new, 1))
                self.assertEqual(connection.reply().status, status, new[:40])
                self.assertTrue(connection.is_ended())


if __name__ == "__main__":
    e2e.main()
