"""The tools that reach the web and the host's services, in the real binary."""
import contextlib
import http.server
import json
import threading
import time
import urllib.parse

import e2e

KEY = "key-0123456789-abcdef"
RESULTS = [{"url": f"https://example.org/{n}", "title": f"Page {n} «é»", "content": f"About {n}.",
            "engine": "x", "engines": ["x"], "score": 1 / n, "category": "general",
            "publishedDate": None, "parsed_url": ["https", "example.org", f"/{n}", "", "", ""]}
           for n in range(1, 21)]


class Web(http.server.BaseHTTPRequestHandler):
    """Answers as SearXNG does."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def drip(self):
        """Until the other side has had enough."""
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"x")
                time.sleep(0.05)

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        asked = dict(urllib.parse.parse_qsl(address.query))
        self.server.asked.append((address.path, asked, self.headers))
        status, kind, body = self.server.answer
        if body is None:
            self.drip()
            return
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        if status in (301, 302):
            self.send_header("Location", body.decode())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
        self.server.daemon_threads = True
        self.server.asked = []
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, body, kind=None, status=200):
        self.server.answer = status, kind, body.encode() if isinstance(body, str) else body

    def call(self, tool, *options, env=None, **arguments):
        return self.mortise(*options, "tools", "call", tool, json.dumps(arguments), env=env)


class Search(Case):
    def setUp(self):
        super().setUp()
        self.config(plugin_config={"web_search": {
            "endpoint": self.url + "/search",
            "secrets": {"api_key": {"env": "SEARCH_KEY"}}}})
        self.answer(json.dumps({"query": "x", "number_of_results": 0, "results": RESULTS,
                                "answers": [], "corrections": [], "infoboxes": [],
                                "suggestions": [], "unresponsive_engines": []}),
                    "application/json")

    def test_search(self):
        """R13: `query` is encoded, `maxResults` counts, 5 unless it is there; results are JSON."""
        done = self.check(self.call("web_search", query="a&b=c d/é?#%"), 0)
        results = json.loads(done.out)
        self.assertEqual(len(results), 5)
        self.assertEqual(results[0], {"title": "Page 1 «é»", "url": "https://example.org/1",
                                      "snippet": "About 1."})
        path, asked, headers = self.server.asked[0]
        self.assertEqual((path, asked), ("/search", {"q": "a&b=c d/é?#%", "format": "json"}))
        self.assertIsNone(headers["Authorization"])
        done = self.check(self.call("web_search", query="x", maxResults=10), 0)
        self.assertEqual(len(json.loads(done.out)), 10)
        for wrong in ({"query": "x", "maxResults": 11}, {"query": "x", "maxResults": 0},
                      {"query": ""}, {}):
            self.assertIn("Invalid argument", self.check(self.call("web_search", **wrong), 1).err)

    def test_key(self):
        """R13: it goes to the server, and is shown to nobody."""
        env = {"SEARCH_KEY": KEY}
        done = self.check(self.call("web_search", "-vv", env=env, query="x"), 0)
        self.assertEqual(self.server.asked[0][2]["Authorization"], "Bearer " + KEY)
        self.assertNotIn(KEY, done.out + done.err)
        self.answer(self.url + "/elsewhere", status=302)
        done = self.check(self.call("web_search", env=env, query="x"), 1)
        self.assertIn("has moved", done.err)
        self.assertEqual([path for path, _, _ in self.server.asked], ["/search", "/search"])

    def test_trouble(self):
        self.answer("Forbidden", status=403)
        self.assertIn("search.formats", self.check(self.call("web_search", query="x"), 1).err)
        self.answer("<html>no JSON</html>", "text/html")
        self.assertIn("SearXNG", self.check(self.call("web_search", query="x"), 1).err)
        self.config()
        done = self.check(self.call("web_search", query="x"), 1)
        self.assertIn("no search server is configured", done.err)
        self.config(plugin_config={"web_search": {"endpoint": "http://127.0.0.1:1/"}})
        self.assertIn("cannot be reached", self.check(self.call("web_search", query="x"), 1).err)


class Fetch(Case):
    PAGE = ("<!DOCTYPE html><html><head><meta charset=iso-8859-1><title>T\xe9</title></head><body>"
            "<h1>Head</h1><p>See <a href='/next?a=1&amp;b=2'>the next</a>.</body></html>")

    def private(self, **more):
        self.config(plugin_config={"http_fetch": {"private": True, **more}})

    def test_page(self):
        """HTML reaches the model as text, and images as images."""
        self.private()
        self.answer(self.PAGE.encode("latin-1"), "text/html")
        done = self.check(self.call("http_fetch", url=self.url + "/page"), 0)
        self.assertEqual(done.out, "Title: Té\n\n# Head\n\n"
                                   f"See [the next]({self.url}/next?a=1&b=2).\n")
        done = self.check(self.call("http_fetch", url=self.url + "/page", raw=True), 0)
        self.assertEqual(done.out, self.PAGE + "\n")
        self.answer(b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png")
        done = self.check(self.call("http_fetch", url=self.url + "/a.png"), 0)
        self.assertIn("image/png, 108 bytes, attached", done.out)

    def test_this_machine_is_out_of_reach(self):
        """Unless the operator says so, whatever the model asks for."""
        self.answer("secret", "text/plain")
        port = self.server.server_address[1]
        for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433",
                     "0x7f.1", "169.254.169.254"):
            done = self.check(self.call("http_fetch", url=f"http://{host}:{port}/"), 1)
            self.assertNotIn("secret", done.out + done.err)
        self.assertEqual(self.server.asked, [])
        for url in ("file:///etc/passwd", "ftp://x.example/", "httpx://a"):
            self.check(self.call("http_fetch", url=url), 1)

    def test_limits(self):
        self.private(max_bytes=2000)
        self.answer("x" * 2001, "text/plain")
        done = self.check(self.call("http_fetch", url=self.url), 1)
        self.assertIn("more than 2000 bytes", done.err)
        self.answer("y" * 2000, "text/plain")
        done = self.check(self.call("http_fetch", url=self.url, max_chars=100), 0)
        self.assertEqual(done.out, "y" * 100 + "\n[only the first 100 characters are shown: the text "
                                   "goes on]\n")
        self.answer("PK", "application/zip")
        self.assertIn("application/zip", self.check(self.call("http_fetch", url=self.url), 1).err)
        self.answer("", "text/plain", 404)
        self.assertIn("404", self.check(self.call("http_fetch", url=self.url), 1).err)

    def test_time_limit(self):
        """Also of a server that goes on sending, and as it is configured."""
        self.private(timeout_s=1)
        self.answer(None)
        began = time.monotonic()
        done = self.check(self.call("http_fetch", url=self.url), 1)
        self.assertIn("did not answer in time", done.err)
        self.assertLess(time.monotonic() - began, 20)

    def test_redirects(self):
        self.private()
        self.answer(self.url + "/again", status=302)
        done = self.check(self.call("http_fetch", url=self.url), 1)
        self.assertIn("redirects too often", done.err)
        self.assertEqual(len(self.server.asked), 11)
        self.answer("file:///etc/passwd", status=302)
        done = self.check(self.call("http_fetch", url=self.url), 1)
        self.assertIn("neither http nor https", done.err)


class Services(Case):
    def test_memory(self):
        """F30: found in another run, by the same user."""
        self.check(self.call("memory_add", text="The dog is called Rex."), 0)
        found = json.loads(self.check(self.call("memory_search", query="which dog?"), 0).out)
        self.assertEqual([entry["text"] for entry in found], ["The dog is called Rex."])
        done = self.check(self.call("memory_search", "--user", "bob", query="dog"), 0)
        self.assertEqual(json.loads(done.out), [])

    def test_artifacts(self):
        """F29: what a model keeps in one run, it loads in another."""
        self.check(self.call("save_artifact", name="計画.md", content="one\n", scope="user"), 0)
        done = self.check(self.call("save_artifact", name="計画.md", content="two\n", scope="user"), 0)
        self.assertEqual(json.loads(done.out), {"name": "計画.md", "version": 2})
        done = self.check(self.call("load_artifact", name="計画.md", version=1, scope="user"), 0)
        self.assertEqual(done.out, "one\n")
        done = self.check(self.call("load_artifact", scope="user"), 0)
        self.assertEqual(json.loads(done.out)[0]["version"], 2)
        self.check(self.call("save_artifact", name="../x", content="", scope="user"), 1)


if __name__ == "__main__":
    e2e.main()
