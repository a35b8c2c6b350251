"""The MCP server on standard input and output: what it answers, to the odd too, in both eras."""
import base64
import json
import os
import socket
import subprocess
import time

import e2e
import mcp
from mcp import LEGACY, META, SERVER, Client, request

ECHO = {"name": "echo", "arguments": {"message": "hi"}}


class Framing(mcp.Case):
    def test_only_the_protocol_is_on_standard_output(self):
        """S1, S3: what a plugin prints goes to standard error, and it cannot read the stream."""
        client = self.client()
        self.assertEqual(client.text("noise"), "read 0")
        client.nothing_more()
        client.end()
        for when in (b"constructor", b"call", b"destructor"):
            self.assertIn(b"noise in the " + when, client.err)

    def test_quiet(self):  # S3
        client = Client(self, "-P", self.folder("none"))
        client.initialize()
        client.result("tools/list")
        client.end()
        self.assertEqual(client.err, b"")

    def test_lines(self):
        """S2, S4: CRLF, blank lines, a last line without an end, characters of all kinds."""
        client = self.client()
        client.raw(b"\r\n\n  \n" + request(1, "ping") + b"\r\n\r\n")
        self.assertEqual(client.answer(1)["result"], {})
        text = "\N{GRINNING FACE} \u2028 \u4e16 \\ \" \u0001 \n end"
        self.assertEqual(client.text("echo", message=text), text)
        result = client.call("breaks", how="bytes")
        self.assertEqual(result["content"][0]["text"], "a\ufffd\ufffdb")
        client.raw(request("last", "ping"))
        client.process.stdin.close()
        self.assertEqual(client.answer("last")["result"], {})
        client.wait()

    def test_from_a_file(self):  # S4
        path = self.file("requests", request(1, "tools/call", ECHO).decode() + "\n" +
                         request(2, "ping").decode())
        with open(path, "rb") as stdin:
            done = self.mortise("mcp", "serve", *mcp.plugins(self, "e2e_mcp"), stdin=stdin)
        self.check(done, 0)
        self.assertEqual({json.loads(line)["id"] for line in done.out.splitlines()}, {1, 2})

    def test_slow_reader(self):  # S5, S6
        """5 MB for a client that reads late, with other answers among it."""
        process = self.start("mcp", "serve", "--no-plugins", *mcp.plugins(self, "e2e_mcp"),
                             stdin=subprocess.PIPE)
        for id in range(4):
            process.stdin.write(request(id, "tools/call", {
                "name": "big", "arguments": {"bytes": 5000000 if id == 0 else 100000}}) + b"\n")
        process.stdin.write(request("p", "ping") + b"\n")
        process.stdin.flush()
        time.sleep(0.3)
        seen = {}
        while len(seen) < 5:
            message = json.loads(process.stdout.readline())
            seen[message["id"]] = message["result"]
        self.assertEqual(seen[0]["content"][0]["text"], "x" * 5000000)
        self.assertEqual([len(seen[id]["content"][0]["text"]) for id in (1, 2, 3)], [100000] * 3)
        process.stdin.close()
        self.assertEqual(process.wait(e2e.SECONDS), 0)

    def test_reader_that_is_gone(self):  # S5
        process = self.start("mcp", "serve", "--no-plugins", *mcp.plugins(self, "e2e_mcp"),
                             stdin=subprocess.PIPE)
        process.stdout.close()
        process.stdin.write(request(1, "ping") + b"\n")
        process.stdin.flush()
        self.assertEqual(process.wait(e2e.SECONDS), 0)

    def test_stderr_that_nobody_reads(self):
        """S3: a full pipe or socket, and one that is closed."""
        for kind in ("pipe", "socket", "closed"):
            with self.subTest(kind):
                ours, theirs = ((os.pipe()) if kind != "socket" else
                                [end.detach() for end in socket.socketpair()])
                if kind == "closed":
                    os.close(ours)
                client = Client(self, *mcp.plugins(self, "e2e_mcp"), "-vv", stderr=theirs)
                os.close(theirs)
                for _ in range(1000):
                    client.ask_tool("noise")
                for id in range(1, 1001):
                    client.answer(id)
                client.end()
                if kind != "closed":
                    os.close(ours)


class Odd(mcp.Case):
    """What is sent by mistake gets its error, and the next request is served."""

    # Line, code (None: nothing is answered), id of the answer.  S7 to S12 and S15, S17
    BOTH = [
        (b"{this is not json", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"} trailing', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', -32700, None),
        (b"[" * 10000 + b"]" * 10000, -32700, None),
        (b'{"a":' * 10000 + b"1" + b"}" * 10000, -32700, None),
        (b"[]", -32600, None),
        (b"[" + request(20, "ping") + b"," + request(21, "ping") + b"]", -32600, None),
        (b"17", -32600, None),
        (b'"text"', -32600, None),
        (b"null", -32600, None),
        (b"{}", -32600, None),
        (b'{"id":5,"method":"tools/list"}', -32600, 5),
        (b'{"jsonrpc":"1.0","id":5,"method":"tools/list"}', -32600, 5),
        (b'{"jsonrpc":2.0,"id":5,"method":"tools/list"}', -32600, 5),
        (b'{"jsonrpc":"2.0","id":5}', -32600, 5),
        (b'{"jsonrpc":"2.0","id":5,"method":7}', -32600, 5),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"tools/list"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/list","params":[1]}', -32602, 5),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/list","params":"x"}', -32602, 5),
        (b'{"jsonrpc":"2.0","method":"notifications/what","params":[1]}', None, None),
        (b'{"jsonrpc":"2.0","method":"tools/call"}', None, None),
        (b'{"jsonrpc":"2.0","method":"notifications/cancelled"}', None, None),
        (b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}', None, None),
        (b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9999}}', None, None),
        (b'{"jsonrpc":"2.0","id":777,"result":{}}', None, None),
        (b'{"jsonrpc":"2.0","id":777,"error":{"code":1,"message":"x"}}', None, None),
    ]
    # Method, params, code
    REQUESTS = [
        ("no/such/method", {}, -32601),
        ("", {}, -32601),
        ("logging/setLevel", {"level": "debug"}, -32601),
        ("resources/subscribe", {"uri": "a:b"}, -32601),
        ("tools/call", {"name": "nope", "arguments": {}}, -32602),
        ("tools/call", {"name": "e\0cho", "arguments": {}}, -32602),
        ("tools/call", {"arguments": {}}, -32602),
        ("tools/call", {"name": 5}, -32602),
        ("tools/call", {"name": "echo", "arguments": [1]}, -32602),
        ("tools/call", {"name": "echo", "arguments": None}, -32602),
        ("tools/list", {"cursor": "bogus"}, -32602),
        ("tools/list", {"cursor": 5}, -32602),
        ("tools/list", {"cursor": {}}, -32602),
        ("tools/list", {"cursor": base64.b64encode(b"other:x").decode()}, -32602),
    ]

    def check_alive(self, client):
        self.assertEqual(client.text("echo", message="after"), "after")

    def test_both_eras(self):
        client = self.client()
        for modern in (False, True):
            client.initialize()
            client.modern = modern
            for line, code, id in self.BOTH:
                with self.subTest(line=line[:80], modern=modern):
                    client.raw(line + b"\n")
                    if code:
                        self.check_code(client.message(), code, id)
                    self.check_alive(client)
            for method, params, code in self.REQUESTS:
                with self.subTest(method=method, params=params, modern=modern):
                    id = client.ask(method, params)
                    self.check_code(client.answer(id), code, id)
        client.nothing_more()
        self.check_alive(client)
        client.end()

    def test_unknown_tool(self):  # S11
        client = self.client()
        for client.modern in (False, True):
            answer = client.request("tools/call", {"name": "nope"})
            self.assertEqual(answer["error"]["message"], "Unknown tool: nope")
        client.end()

    def test_ids_are_echoed_to_the_byte(self):  # S9
        client = self.client()
        for id in ("0", "-7", "9007199254740993", "123456789012345678901234567890", "1.5", "1e3",
                   '""', '"a\\u0041\\n"', '"\N{GRINNING FACE}"'):
            client.raw(f'{{"jsonrpc":"2.0","id":{id},"method":"ping"}}\n')
            line = client.lines.get(timeout=e2e.SECONDS).decode()
            self.assertEqual(line, f'{{"jsonrpc":"2.0","id":{id},"result":{{}}}}\n')
        client.end()

    def test_arguments(self):  # S12, S13
        client = self.client()
        for client.modern in (False, True):
            for arguments, name in (({}, "message"), ({"message": 5}, "message"),
                                    ({"message": "x", "mood": "sad"}, "mood"),
                                    ({"message": "x", "extra": 1}, "extra")):
                self.check_error(client.call("echo", **arguments), f"'{name}'")
            self.check_error(client.result("tools/call", {"name": "echo"}), "'message'")
            self.check_error(client.call("structured", how="json"), "'give'")
        self.assertNotIn(b"noise in the call", client.err)
        client.end()

    def test_tools_that_break(self):  # S14
        client = self.client()
        self.check_error(client.call("breaks", how="fail"), "it is broken")
        self.check_error(client.call("breaks", how="json"), "not valid")
        self.check_error(client.call("breaks", how="status"), "77")
        self.check_alive(client)
        client.end()

    def test_crash_ends_the_server_in_the_same_process(self):  # S14
        client = self.client()
        client.ask_tool("breaks", how="exit")
        self.assertIsNone(client.lines.get(timeout=e2e.SECONDS))
        self.assertNotEqual(client.process.wait(e2e.SECONDS), 0)

    def test_crash_in_its_own_process_is_an_error(self):  # S14
        client = self.isolated_client()
        for how in ("exit", "crash"):
            self.check_error(client.call("breaks", how=how), "e2e_mcp")
        self.check_alive(client)
        client.end()
        self.check_ended()

    def test_long_line(self):
        """S15: a line above the limit is refused, its rest passed over, and memory stays bounded."""
        client = self.client()
        self.check_alive(client)
        before = client.memory_kb()
        for size in (12000000, 40000000):
            client.raw(request(41, "tools/call", {"name": "echo", "arguments": {
                "message": "x" * size}}) + b"\n")
            self.check_code(client.message(), -32600)
        self.check_alive(client)
        client.nothing_more()
        message = "x" * 9000000
        self.assertEqual(client.text("echo", message=message), message)
        if not e2e.options.fail_malloc:
            return  # a sanitizer keeps what was freed
        self.check_alive(client)
        self.assertLess(client.memory_kb() - before, 40000)
        client.end()

    def test_limit_of_a_line(self):  # S15
        client = self.client("--message-limit", "1000")
        self.assertEqual(client.text("echo", message="x" * 800), "x" * 800)
        client.ask_tool("echo", message="x" * 1000)
        self.check_code(client.message(), -32600)
        self.check_alive(client)
        client.end()

    def test_large_result(self):  # S16
        client = self.client()
        for bytes in (10500000, 60000000):
            result = client.call("big", bytes=bytes)
            self.check_error(result, "more than")
            self.assertLess(len(json.dumps(result)), 1000)
        self.check_error(client.call("media", type="image/png", bytes=9000000), "more than")
        self.assertEqual(len(client.text("big", bytes=9900000)), 9900000)
        client.end()

    def test_same_id_twice(self):  # S17
        client = self.client()
        client.ask_tool("slow", id="a", ms=200)
        client.ask("tools/list", id="a")
        self.check_code(client.message(), -32600, "a")
        self.assertIn("result", client.answer("a"))
        self.assertIn("result", client.request("ping", id="a"))
        client.end()


class Eras(mcp.Case):
    def test_initialize(self):  # S18
        client = self.client()
        self.assertEqual(client.request("ping")["result"], {})
        for version in LEGACY:
            self.assertEqual(client.initialize(version)["protocolVersion"], version)
        for version in ("1999-01-01", "2026-07-28", "2030-01-01", 7, None):
            result = client.initialize(version)
            self.assertEqual(result["protocolVersion"], "2025-11-25")
        self.assertEqual(client.result("initialize")["protocolVersion"], "2025-11-25")
        self.assertEqual(result["capabilities"], {"tools": {"listChanged": True}})
        self.assertEqual(result["serverInfo"]["name"], "mortise")
        client.end()

    def test_before_initialize(self):  # S19
        client = self.client()
        self.assertTrue(client.result("tools/list")["tools"])
        self.assertEqual(client.text("echo", message="x"), "x")
        client.end()

    def test_discover(self):  # S20
        client = self.client()
        client.modern = True
        result = client.result("server/discover")
        self.assertEqual(result["supportedVersions"], ["2026-07-28"])
        self.assertIs(result["capabilities"]["tools"]["listChanged"], True)
        self.assertEqual(result["resultType"], "complete")
        self.assertGreaterEqual(result["ttlMs"], 0)
        self.assertIn(result["cacheScope"], ("public", "private"))
        self.assertEqual(sorted(result["_meta"][SERVER]), ["name", "version"])
        client.end()

    def test_modern_requests_stand_for_themselves(self):  # S21
        client = self.client()
        client.modern = True

        def ask(method="tools/list", **meta):
            whole = {**META, **{f"io.modelcontextprotocol/{key}": value
                                for key, value in meta.items()}}
            whole = {key: value for key, value in whole.items() if value is not None}
            client.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": whole}})
            return client.answer(1)

        self.assertIn("result", ask(clientInfo=None))
        self.check_code(ask(clientCapabilities=None), -32602, 1)
        self.check_code(ask(clientCapabilities=7), -32602, 1)
        self.check_code(ask(protocolVersion=7), -32602, 1)
        for version in ("2030-01-01", "2025-11-25"):
            answer = ask(protocolVersion=version)
            self.check_code(answer, -32022, 1)
            self.assertEqual(answer["error"]["data"],
                             {"supported": ["2026-07-28"], "requested": version})
        for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe"):
            self.check_code(ask(method), -32601, 1)
        self.assertIn("result", ask())
        client.modern = False
        for method in ("server/discover", "subscriptions/listen"):
            id = client.ask(method)
            self.check_code(client.answer(id), -32602, id)
        client.end()

    def test_era_is_told_by_its_key_alone(self):  # S22
        client = self.client()
        client.initialize("2025-06-18")
        result = client.result("tools/list", meta={"progressToken": 0})
        self.assertEqual(list(result), ["tools"])
        client.end()

    def test_eras_side_by_side(self):  # S23
        client = self.client()
        client.modern = True
        client.result("server/discover")
        client.initialize()
        for _ in range(2):
            client.modern = True
            modern = client.result("tools/list")
            called = client.call("echo", message="x")
            client.modern = False
            legacy = client.result("tools/list")
            self.assertEqual(list(legacy), ["tools"])
            self.assertEqual(sorted(modern), ["_meta", "cacheScope", "resultType", "tools", "ttlMs"])
            self.assertEqual(legacy["tools"], modern["tools"])
            self.assertEqual(called["resultType"], "complete")
            self.assertEqual(list(client.call("echo", message="x")), ["content"])
        client.end()

    def test_batch(self):
        """S8: in the revision that has them, answers come as one list."""
        client = self.client()
        batch = (b"[" + request(1, "ping") + b',{"jsonrpc":"2.0","method":"notifications/x"},' +
                 request(2, "tools/call", ECHO) + b"," + request(3, "no/such") + b",7,[" +
                 request(4, "ping") + b"]]\n")
        for version in LEGACY:
            client.initialize(version)
            client.raw(batch)
            answer = client.message()
            if version != "2025-03-26":
                self.check_code(answer, -32600)
                continue
            self.assertEqual([one.get("id") for one in answer], [1, 2, 3, None, None])
            self.assertEqual(answer[1]["result"]["content"], [{"type": "text", "text": "hi"}])
            self.assertEqual([one["error"]["code"] for one in answer[2:]], [-32601, -32600, -32600])
            client.raw(b'[{"jsonrpc":"2.0","method":"notifications/x"}]\n[]\n')
            self.check_code(client.message(), -32600)
        client.end()

    def test_nothing_is_asked_of_the_client(self):  # S37
        client = self.client()
        client.initialize(capabilities={"roots": {"listChanged": True}, "sampling": {},
                                        "elicitation": {}})
        client.call("echo", message="x")
        client.modern = True
        client.call("echo", message="x")
        client.nothing_more()
        client.end()

    def test_other_lists_are_empty(self):
        client = self.client()
        for method, name in (("resources/list", "resources"), ("prompts/list", "prompts"),
                             ("resources/templates/list", "resourceTemplates")):
            client.modern = False
            self.assertEqual(client.result(method), {name: []})
            client.modern = True
            result = client.result(method)
            self.assertEqual((result[name], result["cacheScope"]), ([], "private"))
        client.end()


if __name__ == "__main__":
    e2e.main()
