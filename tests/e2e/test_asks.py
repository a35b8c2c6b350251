"""What a plugin asks for without a call: to be loaded anew (mortise_host.changed), and requests over
HTTP (mortise_http.fetch); in the host, and in a process of its own."""
import http.server
import os
import shutil
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
        self.server.on_request()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with self.server.lock:
            self.server.streams += self.path == "/stream"
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
        server.lock, server.streams = threading.Lock(), 0
        server.on_request = lambda: None
        threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.server = server
        return f"http://127.0.0.1:{server.server_port}"


class LoadedAnew(Case):
    def results(self, *turns):
        done = self.check(self.mortise(*self.arguments(*turns, {"text": "done"}), "--json", "run",
                                       "go"), 0)
        return done, [event["result"] for event in done.of_type("tool_result")]

    def test_between_two_requests_of_a_run(self):  # C17, without --watch
        done, results = self.results(learn("hello"), HELLO)
        self.assertEqual(results, ["learnt hello", "here is hello"], done)
        self.assertEqual([event["text"] for event in done.of_type("status")],
                         [f"reload: replaced asks 1 by asks 1 ({self.plugin})"])

    def test_a_name_that_is_taken_leaves_what_was_there(self):
        done, results = self.results(learn("learn"), learn("!"), HELLO)
        self.assertIn("asks 1 stays as it was", done.out)
        self.assertIn("it was told to refuse; asks 1 stays as it was", done.out)
        self.assertEqual(results[:2], ["learnt learn", "learnt !"])
        self.assertIn("Tool 'hello' not found", results[2])


class InAChat(Case):
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
    """Each test is one process, and what its calls answer."""

    def answers(self, *calls):
        turns = [{"calls": [{"name": tool, "arguments": arguments}]} for tool, arguments in calls]
        done = self.mortise(*self.arguments(*turns, {"text": "done"}), "--json", "run", "go")
        self.check(done, 0)
        return [event["result"] for event in done.of_type("tool_result")], done

    def test_answers(self):
        url = self.serve()
        self.config(plugin_config={"asks": {"file": self.learnt, "url": url + "/stream"}})
        whole = "200 text/event-stream|one|two|three| 0 200 0 "
        nobody, ftp = f"http://{e2e.NOBODY}/", "ftp://127.0.0.1/"
        found, done = self.answers(
            ("outside", {"url": url + "/stream", "times": 9}), ("inside", {"url": url + "/stream"}),
            ("outside", {"url": nobody}), ("inside", {"url": nobody}),
            ("outside", {"url": ftp}), ("inside", {"url": ftp}))
        self.assertEqual(found[:2], [whole, whole])
        for answer in found[2:4]:
            self.assertRegex(answer, f"^ -1 0 0 '{e2e.NOBODY}' cannot be reached: ")
        for answer in found[4:]:
            self.assertIn(" -7 0 0 the request cannot be made: only http:// and https://", answer)
        # In open() and in close() as well, where nobody else reads for the plugin.
        self.assertIn(f"asks: in open(): {whole}", done.err)
        self.assertIn(f"asks: in close(): {whole}", done.err)
        self.assertEqual(self.server.streams, 1 + 9 + 1 + 1)

    def test_a_stream_that_is_stopped(self):
        url = self.serve()
        end = f" -2 0 0 the request to '{url[len('http://'):]}' was cancelled"
        found, _ = self.answers(*[(tool, {"url": url + "/held", "stop_at": stop_at})
                                  for tool in ("outside", "inside") for stop_at in ("one", "200")])
        for answer in found[0::2]:
            self.assertEqual(answer, "200 text/event-stream|one|" + end)
        for answer in found[1::2]:  # the piece may have been on its way
            self.assertTrue(answer.startswith("200 text/event-stream|") and answer.endswith(end))
        for _ in found:
            self.assertTrue(self.server.closed.acquire(timeout=e2e.SECONDS))


class IsolatedLoadedAnew(LoadedAnew):
    isolate = "true"


class IsolatedRequests(Requests):
    isolate = "true"

    def test_a_process_that_is_of_no_use_is_ended(self):
        """It has a connection of its own to the host by then, from its request in open()."""
        url = self.serve()
        self.config(plugin_config={"asks": {"file": self.learnt, "url": url + "/stream"}})
        self.plugin = shutil.copy(self.plugin, self.root)
        counts = []
        self.server.on_request = lambda: counts.append(
            len(self.running(b"__plugin", self.plugin.encode())))
        found, done = self.answers(("fall", {"name": "hello"}), ("learn", {"name": "a"}),
                                   ("learn", {"name": "b"}))
        self.assertIn("ended its process with exit code 1", found[0])
        for answer in found[1:]:
            self.assertIn("it says something else of itself than when it was loaded", answer)
        self.assertGreater(counts[0], 0, done)
        self.assertEqual(counts, 3 * counts[:1], done)


if __name__ == "__main__":
    e2e.main()
