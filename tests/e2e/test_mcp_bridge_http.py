"""MCP servers over HTTP, through the bridge that comes with mortise, in the real binary."""
import base64
import contextlib
import json
import os
import signal
import threading
import time

import e2e
import mcp_http_servers
import servers
from mcp_http_servers import text, tool

SECRET = "Bearer canary-91c2e7"


def echo(arguments, exchange):
    return text(arguments.get("text", "nothing"))


ECHO = (tool("echo", {"text": {"type": "string"}}), echo)


class Case(e2e.Case):
    def configure(self, **configured):
        """Servers by name: a URL, or what the file has of it."""
        known = {name: server if isinstance(server, dict) else {"url": server}
                 for name, server in configured.items()}
        self.file("home/.config/mortise/mcp.json", json.dumps({"mcpServers": known}))

    def call(self, name, *options, env=None, **arguments):
        return self.mortise(*options, "tools", "call", name, json.dumps(arguments), env=env)

    def names(self):
        done = self.check(self.mortise("--json", "tools", "list"), 0)
        return [tool["name"] for tool in done.events if tool["plugin"] == "mcp_bridge"], done

    def wait_until(self, holds):
        until = time.monotonic() + e2e.SECONDS
        while not holds() and time.monotonic() < until:
            time.sleep(0.01)


class Modern(Case):
    def test_headers(self):
        """C23: each request says what it is, a marked argument goes along, one that is wrongly
        marked leaves its tool out."""
        region = {"type": "string", "x-mcp-header": "Region"}
        with mcp_http_servers.Server(
                ECHO, (tool("caf\u00e9", {"region": region}), echo),
                (tool("bad", {"a": {"type": "object", "x-mcp-header": "A"}}), echo)) as server:
            self.configure(srv=server.url)
            names, done = self.names()
            self.assertEqual(len(names), 2, names)
            self.assertIn("srv__echo", names)
            self.assertIn("'bad'", done.err)
            self.assertIn("x-mcp-header", done.err)
            other = next(name for name in names if name != "srv__echo")
            self.check(self.call(other, region="a\u00e9"), 0)
            done = self.check(self.call("srv__echo", text="hi"), 0)
            self.assertEqual(done.out.strip(), "hi")
        first, second = server.of("tools/call")
        for asked in server.of("POST"):
            self.assertEqual(asked.headers["Mcp-Method"], asked.rpc)
            self.assertEqual(asked.headers["MCP-Protocol-Version"], mcp_http_servers.MODERN)
            self.assertEqual(asked.headers["Accept"], "application/json, text/event-stream")
            self.assertIsNone(asked.headers["Mcp-Session-Id"])
        encoded = base64.b64encode("caf\u00e9".encode()).decode()
        self.assertEqual(first.headers["Mcp-Name"], f"=?base64?{encoded}?=")
        encoded = base64.b64encode("a\u00e9".encode()).decode()
        self.assertEqual(first.headers["Mcp-Param-Region"], f"=?base64?{encoded}?=")
        self.assertEqual(second.headers["Mcp-Name"], "echo")
        self.assertEqual([asked.rpc for asked in server.of("initialize")], [])

    def test_stream(self):
        """C16, C23: progress and the answer come in events, in any pieces."""

        def work(arguments, exchange):
            exchange.raw(b": a comment\r\n\r\ndata: \n\n")
            for step in range(1, 4):
                exchange.progress(step, 3, f"step {step}")
            answer = json.dumps({"jsonrpc": "2.0", "id": exchange.message["id"],
                                 "result": text("w\u00f6rld \U0001f30d")}, ensure_ascii=False)
            half = answer.index('"result"')  # between two tokens
            event = f"event: message\ndata: {answer[:half]}\r\ndata: {answer[half:]}\n\n".encode()
            for at in range(0, len(event), 3):
                exchange.raw(event[at:at + 3])
            exchange.end_stream()

        with mcp_http_servers.Server((tool("work"), work)) as server:
            self.configure(srv=server.url)
            done = self.check(self.call("srv__work"), 0)
            self.assertEqual(done.out.strip(), "w\u00f6rld \U0001f30d")
            for step in range(1, 4):
                self.assertIn(f"step {step}", done.err)

    def test_contents(self):
        """C12: text, images, resources and links."""
        png = base64.b64encode(b"\x89PNG\r\n").decode()

        def show(arguments, exchange):
            return {"content": [
                {"type": "text", "text": "first"},
                {"type": "image", "mimeType": "image/png", "data": png},
                {"type": "resource", "resource": {"uri": "demo://1", "text": "second"}},
                {"type": "resource", "resource": {"uri": "demo://2", "mimeType": "application/zip",
                                                  "blob": "UEsDBA=="}}]}

        def wrong(arguments, exchange):
            return {**text("no such file"), "isError": True}

        def refused(arguments, exchange):
            exchange.error(-32602, "bad cursor")

        with mcp_http_servers.Server((tool("show"), show), (tool("wrong"), wrong),
                             (tool("refused"), refused)) as server:
            self.configure(srv=server.url)
            done = self.check(self.call("srv__show"), 0)
            self.assertIn("first\nsecond\n[resource demo://2, application/zip, 4 bytes]", done.out)
            self.assertIn("image/png", done.out + done.err)
            self.assertIn("no such file", self.check(self.call("srv__wrong"), 1).err)
            self.assertIn("error -32602: bad cursor", self.check(self.call("srv__refused"), 1).err)

    def test_output_schema(self):
        """C13: structured content is the result, and held to its schema."""
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

        def count(arguments, exchange):
            return {**text("one"), "structuredContent": {"n": arguments.get("n", 1)}}

        with mcp_http_servers.Server((tool("count", {"n": {}}, outputSchema=schema), count)) as server:
            self.configure(srv=server.url)
            self.assertEqual(json.loads(self.check(self.call("srv__count"), 0).out), {"n": 1})
            self.assertIn("output schema", self.check(self.call("srv__count", n="x"), 1).err)

    def test_input_required(self):
        """C12: a server that asks back is told that nobody answers, with its state as it was."""
        state = json.dumps({"n": 1, "caf\u00e9": "\u2028"})

        def ask(arguments, exchange):
            params = exchange.message["params"]
            if "requestState" not in params:
                exchange.answer(result={
                    "resultType": "input_required", "requestState": state,
                    "inputRequests": {"q": {"method": "elicitation/create", "params": {}}}})
                return None
            return text(params["inputResponses"]["q"]["action"] + " " + params["requestState"])

        with mcp_http_servers.Server((tool("ask"), ask)) as server:
            self.configure(srv=server.url)
            done = self.check(self.call("srv__ask"), 0)
            self.assertEqual(done.out.strip(), "cancel " + state)
            first, second = server.of("tools/call")
            self.assertNotEqual(first.message["id"], second.message["id"])

    def test_leaving_is_the_cancel(self):
        """C14, C15: closing the stream ends a call there, which has its time limit."""
        left = []

        def hang(arguments, exchange):
            exchange.raw(b": here\n\n")
            left.append(exchange.is_left(e2e.SECONDS))

        with mcp_http_servers.Server((tool("hang"), hang)) as server:
            self.configure(srv={"url": server.url, "timeout": 300})
            began = time.monotonic()
            done = self.check(self.call("srv__hang"), 1)
            self.assertIn("300 ms", done.err)
            self.assertLess(time.monotonic() - began, 10)
            self.wait_until(lambda: left)
            self.configure(srv=server.url)
            process = self.start("tools", "call", "srv__hang")
            self.wait_until(lambda: len(server.of("tools/call")) == 2)
            process.send_signal(signal.SIGINT)
            self.finish(process)
            self.wait_until(lambda: len(left) == 2)
            self.assertEqual(left, [True, True])
            self.assertEqual(server.of("notifications/cancelled"), [])

    def test_too_large(self):
        """C22: more than a message may have is an error, and the connection is left."""

        def flood(arguments, exchange):
            exchange.raw(b"data: ")
            for _ in range(200):
                exchange.raw(b"x" * 100000)

        with mcp_http_servers.Server((tool("flood"), flood)) as server:
            self.configure(srv=server.url)
            self.assertIn("a message of more than", self.check(self.call("srv__flood"), 1).err)


class Legacy(Case):
    def test_session(self):
        """C24: the session is named in each request, begun anew once when it is gone, and ended."""
        gone = threading.Event()

        def gate(exchange, asked):
            if asked.rpc != "tools/call" or gone.is_set():
                return False
            gone.set()
            exchange.reply(404, {"jsonrpc": "2.0", "id": None,
                                 "error": {"code": -32001, "message": "Session not found"}})
            return True

        with mcp_http_servers.Server(ECHO, modern=False, session="s-1", gate=gate) as server:
            self.configure(srv=server.url)
            done = self.check(self.call("srv__echo", text="hi"), 0)
            self.assertEqual(done.out.strip(), "hi")
            self.assertEqual(len(server.of("tools/call")), 2)
            self.assertEqual(len(server.of("initialize")), 2)
            for asked in server.asked:
                named = asked.rpc not in ("server/discover", "initialize")
                self.assertEqual(asked.headers["Mcp-Session-Id"], "s-1" if named else None, asked)
                self.assertIsNone(asked.headers["Mcp-Name"])
            for asked in server.of("tools/call"):
                self.assertEqual(asked.headers["MCP-Protocol-Version"], mcp_http_servers.LEGACY)
            self.assertEqual(len(server.of("DELETE")), 1)
            order = [asked.rpc for asked in server.of("POST")]
            begun = order.index("initialize")
            self.assertEqual(order[begun + 1], "notifications/initialized")

    def test_two_calls_begin_one_session(self):
        """C24: calls that find the session gone at the same time begin a single other one."""
        both = threading.Barrier(2, timeout=e2e.SECONDS)

        def gate(exchange, asked):
            if asked.rpc != "tools/call" or asked.headers["Mcp-Session-Id"] == "s-2":
                return False
            if both.wait() == 0:
                server.session = "s-2"
            both.wait()
            exchange.reply(404)
            return True

        reads = tool("echo", {"text": {}}, annotations={"readOnlyHint": True})
        calls = [{"name": "srv__echo", "arguments": {"text": word}} for word in ("one", "two")]
        with mcp_http_servers.Server((reads, echo), modern=False, session="s-1",
                                     gate=gate) as server:
            self.configure(srv=server.url)
            model = self.script({"calls": calls}, {"text": "ok", "expect": ["one", "two"]})
            self.check(self.mortise("-m", model, "run", "go"), 0)
            self.assertEqual(len(server.of("initialize")), 2)
            self.assertEqual(len(server.of("tools/call")), 4)

    def test_no_stream_is_not_the_end(self):
        """C24: a server that has no stream of its own says so with 404 as well."""

        def gate(exchange, asked):
            if asked.method != "GET":
                return False
            exchange.reply(404)
            return True

        def wait(arguments, exchange):
            until = time.monotonic() + e2e.SECONDS
            while not server.of("GET") and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(0.2)  # the answer has to arrive
            return text("waited")

        with mcp_http_servers.Server((tool("wait"), wait), ECHO, modern=False, session="s-1",
                                     tells=True, gate=gate) as server:
            self.configure(srv=server.url)
            model = self.script({"calls": [{"name": "srv__wait"}]},
                                {"calls": [{"name": "srv__echo", "arguments": {"text": "hi"}}]},
                                {"text": "ok", "expect": ["hi"]})
            self.check(self.mortise("-m", model, "run", "go"), 0)
            self.assertEqual(len(server.of("initialize")), 1)
            self.assertEqual([asked.headers["Mcp-Session-Id"]
                              for asked in server.of("tools/call")], ["s-1", "s-1"])

    def test_a_call_that_was_begun_is_not_repeated(self):
        """C24: where a stream cannot be picked up, the call may have been made."""

        def gate(exchange, asked):
            if asked.method != "GET":
                return False
            exchange.reply(404)
            return True

        def torn(arguments, exchange):
            exchange.raw(b"id: e1\nretry: 10\ndata: \n\n")
            exchange.end_stream()

        with mcp_http_servers.Server((tool("torn"), torn), modern=False, session="s-1",
                                     gate=gate) as server:
            self.configure(srv=server.url)
            self.check(self.call("srv__torn"), 1)
            self.assertEqual(len(server.of("tools/call")), 1)

    def test_resumption(self):
        """C24: a stream that breaks off is picked up behind its last event, when the server says."""
        broke = []

        def gate(exchange, asked):
            if asked.method != "GET":
                return False
            broke.append(time.monotonic())
            exchange.raw(b"id: e2\ndata: " + json.dumps(
                {"jsonrpc": "2.0", "id": server.of("tools/call")[0].message["id"],
                 "result": text("late")}).encode() + b"\n\n")
            exchange.is_left(e2e.SECONDS)
            return True

        def slow(arguments, exchange):
            exchange.raw(b"id: e1\nretry: 200\ndata: \n\n")
            broke.append(time.monotonic())
            exchange.end_stream()

        with mcp_http_servers.Server((tool("slow"), slow), modern=False, gate=gate) as server:
            self.configure(srv=server.url)
            self.assertEqual(self.check(self.call("srv__slow"), 0).out.strip(), "late")
            self.assertEqual([asked.headers["Last-Event-ID"] for asked in server.of("GET")], ["e1"])
            self.assertGreater(broke[1] - broke[0], 0.19)


class Changes(Case):
    def wait_for_list(self, text):
        """Until the bridge has read a list of tools with this in it, and the host has heard of it."""
        folder = os.path.join(self.home, ".cache", "mortise", "mcp")

        def is_known():
            for name in os.listdir(folder):
                with contextlib.suppress(OSError), \
                     open(os.path.join(folder, name), encoding="utf-8") as kept:
                    if text in kept.read():
                        return True
            return False

        self.wait_until(is_known)
        time.sleep(0.2)  # it says so right after it has kept it

    def learn(self, **how):
        """A run whose first call makes the server have a tool more, which the second one calls."""

        def grow(arguments, exchange):
            server.add(tool("late"), lambda *_: text("here I am"))
            self.wait_for_list("late")
            return text("grown")

        with mcp_http_servers.Server((tool("grow"), grow), tells=True, **how) as server:
            self.configure(srv=server.url)
            model = self.script({"calls": [{"name": "srv__grow"}]},
                                {"calls": [{"name": "srv__late"}]}, {"text": "done"})
            done = self.check(self.mortise("-m", model, "--json", "run", "go"), 0)
            results = [event["result"] for event in done.of_type("tool_result")]
            self.assertEqual(results, ["grown", "here I am"], done)
        return server

    def test_modern(self):
        """C17: a request that listens, on a connection of its own, which is left at the end."""
        server = self.learn()
        self.assertEqual(len(server.of("subscriptions/listen")), 1)
        self.assertEqual(server.of("GET"), [])

    def test_mismatch(self):
        """C23: a tool that wants another head by now has its list read again."""
        region = {"type": "string"}

        def gate(exchange, asked):
            marked = asked.rpc == "tools/call" and asked.message["params"]["name"] == "find"
            if not marked or asked.headers["Mcp-Param-Region"] == "eu":
                return False
            region["x-mcp-header"] = "Region"
            exchange.error(-32020, "Mcp-Param-Region is missing", 400)
            return True

        def wait(arguments, exchange):
            self.wait_for_list("x-mcp-header")
            return text("waited")

        find = {"calls": [{"name": "srv__find", "arguments": {"region": "eu"}}]}
        model = self.script(find, {"calls": [{"name": "srv__wait"}]}, find, {"text": "done"})
        with mcp_http_servers.Server((tool("find", {"region": region}), lambda *_: text("found")),
                                     (tool("wait"), wait), gate=gate) as server:
            self.configure(srv=server.url)
            done = self.check(self.mortise("-m", model, "--json", "run", "go"), 0)
        results = done.of_type("tool_result")
        self.assertIn("error -32020", results[0]["error"]["message"])
        self.assertEqual([result["result"] for result in results[1:]], ["waited", "found"], done)

    def test_legacy(self):
        """C17, C24: the same on the stream of GET."""
        server = self.learn(modern=False, session="s")
        self.assertEqual([asked.headers["Mcp-Session-Id"] for asked in server.of("GET")], ["s"])


class Access(Case):
    def test_authentication(self):
        """C25: who needs a token is told so, in the server's words; a configured one goes along."""

        def gate(exchange, asked):
            if asked.headers["Authorization"] == SECRET:
                return False
            exchange.reply(401, {"error": "invalid_token"},
                           WWW_Authenticate='Bearer realm="tools"')
            return True

        with mcp_http_servers.Server(ECHO, gate=gate) as server:
            self.configure(srv=server.url)
            done = self.mortise("tools", "list")
            self.assertIn("needs authentication (401, WWW-Authenticate: Bearer realm=\"tools\")",
                          done.err)
            self.assertNotIn("srv__echo", done.out)
            self.configure(srv={"url": server.url, "headers": {"Authorization": "${TOKEN}"}})
            done = self.check(self.call("srv__echo", "-vv", env={"TOKEN": SECRET}, text="in"), 0)
            self.assertEqual(done.out.strip(), "in")
            self.assertNotIn(SECRET, done.err)

    def test_redirect(self):
        """C25: another place is not followed, and gets no header."""
        with mcp_http_servers.Server(ECHO) as other:

            def gate(exchange, asked):
                exchange.reply(307, Location=other.url)
                return True

            with mcp_http_servers.Server(gate=gate) as server:
                self.configure(srv={"url": server.url, "headers": {"Authorization": SECRET}})
                done = self.mortise("tools", "list")
                self.assertIn(f"redirects to '{other.url}'", done.err)
                self.assertEqual(other.asked, [])

    def test_tls(self):
        """C25: a certificate that is not trusted is refused."""
        authority = servers.Authority(self.folder("ca"))
        with mcp_http_servers.Server(ECHO, tls=servers.tls(*authority.issue("localhost"))) as server:
            self.configure(srv=server.url)
            self.assertIn("certificate", self.mortise("tools", "list").err)
            done = self.call("srv__echo", env={"SSL_CERT_FILE": authority.certificate}, text="safe")
            self.assertEqual(self.check(done, 0).out.strip(), "safe")

    def test_http_elsewhere(self):
        """C25: a secret does not leave this machine without TLS."""
        self.configure(srv={"url": "http://mcp.test/mcp", "headers": {"Authorization": SECRET}})
        done = self.mortise("tools", "list")
        self.assertIn("'Authorization' is not sent to 'mcp.test' over http", done.err)
        self.assertNotIn(SECRET, done.err)

    def test_busy(self):
        """FAULTS 145: a server that takes no more requests for now is asked again when it says."""
        refusals = [(429, {"Retry_After": "0.2"}), (503, {"Retry_After": "0"})]
        times = []

        def gate(exchange, asked):
            if asked.rpc != "tools/call":
                return False
            times.append(time.monotonic())
            if not refusals:
                return False
            status, headers = refusals.pop(0)
            exchange.reply(status, {"error": "slow down"}, **headers)
            return True

        with mcp_http_servers.Server(ECHO, gate=gate) as server:
            self.configure(srv=server.url)
            self.assertEqual(self.check(self.call("srv__echo", text="hi"), 0).out.strip(), "hi")
            self.assertEqual(len(times), 3)
            self.assertGreater(times[1] - times[0], 0.19)
            refusals.append((429, {"Retry_After": "4000"}))
            done = self.check(self.call("srv__echo", text="hi"), 1)
            self.assertIn("takes no more requests for now (429)", done.err)
            self.assertEqual(len(times), 4)

    def test_not_there(self):
        """C3: a server that cannot be reached, or is none, is named; the others stay."""

        def gate(exchange, asked):
            exchange.reply(200, b"<h1>Welcome</h1>", "text/html")
            return True

        with mcp_http_servers.Server(ECHO) as server, mcp_http_servers.Server(gate=gate) as page:
            self.configure(srv=server.url, page=page.url, gone=f"http://{e2e.NOBODY}/mcp")
            names, done = self.names()
            self.assertEqual(names, ["srv__echo"])
            self.assertIn("'page'", done.err)
            self.assertIn("nothing of MCP", done.err)
            self.assertIn("'gone'", done.err)


if __name__ == "__main__":
    e2e.main()
