"""What a plugin asks for without a call: to be loaded anew (mortise_host.changed), and requests over
HTTP (mortise_http.fetch); in the host, and in a process of its own."""
import http.server
import os
import threading

import e2e
from chats import Terminal

HELLO = {"calls": [{"name": "hello"}]}
PIECES = [b"one", b"two", b"three"]


def learn(name):
    return {"calls": [{"name": "learn", "arguments": {"name": name}}]}


class Web(http.server.BaseHTTPRequestHandler):
    """/stream: three pieces and the end.  /held: one, and nothing more until the other end closes."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in PIECES if self.path == "/stream" else PIECES[:1]:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
            self.server.pause.wait(0.02)
        if self.path == "/held":
            self.rfile.read(1)
            self.server.closed.release()
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *arguments):
        pass


class Case(e2e.Case):
    isolate = "false"

    def setUp(self):
        super().setUp()
        self.plugin = os.path.join(os.path.dirname(e2e.options.fixtures), "asks", "asks.so")
        self.learnt = os.path.join(self.root, "learnt")
        self.config(plugin_config={"asks": {"file": self.learnt}})

    def environment(self, extra):
        return super().environment({**(extra or {}), "MORTISE_ISOLATE": self.isolate})

    def arguments(self, *turns):
        return ("-m", self.script(*turns), "--no-plugins", "-e", self.plugin)

    def serve(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
        server.daemon_threads = True
        server.pause, server.closed = threading.Event(), threading.Semaphore(0)
        threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.server = server
        return f"http://127.0.0.1:{server.server_port}"


class LoadedAnew(Case):
    def test_between_two_requests_of_a_run(self):  # C17, without --watch
        turns = [learn("hello"), HELLO, {"text": "done"}]
        done = self.check(self.mortise(*self.arguments(*turns), "--json", "run", "go"), 0)
        results = [event["result"] for event in done.of_type("tool_result")]
        self.assertEqual(results, ["learnt hello", "here is hello"], done)
        self.assertEqual([event["text"] for event in done.of_type("status")],
                         [f"reload: replaced asks 1 by asks 1 ({self.plugin})"])

    def test_a_refusal_leaves_what_was_there(self):
        turns = [learn("!"), learn("hello"), HELLO, {"text": "done"}]
        done = self.check(self.mortise(*self.arguments(*turns), "--json", "run", "go"), 0)
        self.assertIn("it was told to refuse; asks 1 stays as it was", done.out)
        results = [event["result"] for event in done.of_type("tool_result")]
        self.assertEqual(results[:2], ["learnt !", "learnt hello"])
        self.assertIn("Tool 'hello' not found", results[2])

    def test_a_name_that_is_taken_leaves_what_was_there(self):
        turns = [learn("learn"), learn("hello"), {"text": "done"}]
        done = self.check(self.mortise(*self.arguments(*turns), "--json", "run", "go"), 0)
        self.assertIn("asks 1 stays as it was", done.out)
        self.assertIn("learnt hello", done.out)

    def test_in_a_chat(self):
        chat = Terminal(self, *self.arguments(learn("hello"), {"text": "done"}, HELLO,
                                              {"text": "done"}), columns=200)
        chat.prompt()
        chat.say("go")
        chat.wait("learnt hello")
        chat.wait("reload: replaced asks 1 by asks 1")
        chat.wait("done")
        chat.prompt()
        chat.say("go")
        chat.wait("here is hello")
        chat.wait("done")
        chat.prompt()
        chat.say("/quit")
        self.assertEqual(chat.end(), 0, chat.text)


class Requests(Case):
    def call(self, tool, **arguments):
        import json
        done = self.mortise("--no-plugins", "-e", self.plugin, "tools", "call", tool,
                            json.dumps(arguments))
        return self.check(done, 0).out.rstrip("\n")

    def test_streams(self):
        url = self.serve()
        whole = "200 text/event-stream|one|two|three| 0 200 0 "
        self.assertEqual(self.call("outside", url=url + "/stream", times=9), whole)
        self.assertEqual(self.call("inside", url=url + "/stream"), whole)

    def test_a_stream_that_is_stopped(self):
        url = self.serve()
        host = url[len("http://"):]
        for tool in ("outside", "inside"):
            self.assertEqual(self.call(tool, url=url + "/held", stop_at="one"),
                             f"200 text/event-stream|one| -2 0 0 the request to '{host}' was "
                             "cancelled")
            self.assertTrue(self.server.closed.acquire(timeout=e2e.SECONDS))
            head = self.call(tool, url=url + "/held", stop_at="200")
            self.assertTrue(head.endswith(f" -2 0 0 the request to '{host}' was cancelled"), head)
            self.assertTrue(self.server.closed.acquire(timeout=e2e.SECONDS))

    def test_what_fails(self):
        for tool in ("outside", "inside"):
            self.assertRegex(self.call(tool, url=f"http://{e2e.NOBODY}/"),
                             f"^ -1 0 0 '{e2e.NOBODY}' cannot be reached: ")
            self.assertIn(" -7 0 0 the request cannot be made: only http:// and https://",
                          self.call(tool, url="ftp://127.0.0.1/"))

    def test_while_it_is_loaded_and_closed(self):
        url = self.serve()
        self.config(plugin_config={"asks": {"file": self.learnt, "url": url + "/stream"}})
        done = self.check(self.mortise("--no-plugins", "-e", self.plugin, "tools", "list"), 0)
        for place in ("open", "close"):
            self.assertIn(f"asks: in {place}(): 200 text/event-stream|one|two|three| 0 200 0", done.err)

    def test_nothing_of_it_in_a_sandbox(self):
        done = self.mortise("--no-plugins", "-e", self.plugin, "tools", "call", "confined_outside",
                            "{}")
        if "cannot" in done.err and done.code:
            self.skipTest("there is no sandbox here")
        self.assertEqual(self.check(done, 0).out, "nothing\n")


class IsolatedLoadedAnew(LoadedAnew):
    isolate = "true"


class IsolatedRequests(Requests):
    isolate = "true"


if __name__ == "__main__":
    e2e.main()
