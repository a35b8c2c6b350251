"""The services of the host, used by plugins in the real binary."""
import http.server
import os
import sqlite3
import ssl
import stat
import threading
import time

import e2e
import servers

SECRET = "sk-0123456789-abcdef"


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.plugins = os.path.join(os.path.dirname(e2e.options.fixtures), "services")
        self.state = os.path.join(self.home, ".local/state/mortise")

    def call(self, tool, *options, env=None, **arguments):
        return self.mortise("-P", self.plugins, *options, "tools", "call", tool,
                            e2e.json.dumps(arguments), env=env)

    def answer(self, tool, *options, env=None, **arguments):
        done = self.call(tool, *options, env=env, **arguments)
        self.check(done, 0)
        return done.out.removesuffix("\n")

    def fails(self, done, code, part):
        self.check(done, code)
        self.assertIn(part, done.err)

    def play(self, *turns, options=(), prompt="hi", env=None):
        done = self.mortise("--json", "-P", self.plugins, "-m", self.script(*turns), *options,
                            prompt, env=env)
        self.check(done, 0)
        return [event["result"] for event in done.of_type("tool_result")]

    @staticmethod
    def tool(tool, call_id="c1", **arguments):
        return {"id": call_id, "name": tool, "arguments": arguments}


class Artifacts(Case):
    def test_versions(self):
        """F29: saved by one process and one plugin, loaded by another."""
        self.assertEqual(self.answer("keeper_save", owner=1, name="計画.txt", text="one"), "version 1")
        self.assertEqual(self.answer("other_save", owner=1, name="計画.txt", text="two"), "version 2")
        self.assertEqual(self.answer("keeper_load", owner=1, name="計画.txt"), "2 text/plain two")
        self.assertEqual(self.answer("keeper_load", owner=1, name="計画.txt", version=1),
                         "1 text/plain one")
        self.assertEqual(self.answer("keeper_list", owner=1), "計画.txt 2 3")
        self.assertEqual(self.answer("keeper_list", "--user", "bob", owner=1), "")
        for folder, names, files in os.walk(os.path.join(self.state, "artifacts")):
            for name in names:
                self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode), 0o700)
            for name in files:
                self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode), 0o600)

    def test_of_a_session(self):
        """F27, F29: a session's files are there in its next run, and go with it."""
        save = self.tool("keeper_save", name="a.txt", text="one")
        load = self.tool("keeper_load", name="a.txt")
        trip = ("--session", "trip")
        self.assertEqual(self.play({"calls": [save]}, {"text": "."}, options=trip), ["version 1"])
        self.assertEqual(self.play({"calls": [load]}, {"text": "."}, options=trip),
                         ["1 text/plain one"])
        self.assertIn("not found", self.play({"calls": [load]}, {"text": "."},
                                             options=("--session", "other"))[0])
        self.assertIn("not found", self.play({"calls": [load]}, {"text": "."})[0])
        self.assertTrue(os.path.isdir(os.path.join(self.state, "artifacts/session/trip")))
        self.check(self.mortise("sessions", "rm", "trip"), 0)
        self.assertFalse(os.path.exists(os.path.join(self.state, "artifacts/session/trip")))

    def test_rest_of_a_session(self):
        """What tools kept for a session that is not kept itself can be removed all the same."""
        trip = ("--session", "trip", "-P", self.plugins, "tools", "call")
        folder = os.path.join(self.state, "artifacts/session/trip")
        for with_store in (False, True):
            if with_store:
                self.check(self.mortise("-m", "offline", "--session", "other", "hello"), 0)
            self.check(self.mortise(*trip, "keeper_save", '{"name": "a", "text": "b"}'), 0)
            self.assertTrue(os.path.isdir(folder))
            self.check(self.mortise("sessions", "rm", "trip"), 0)
            self.assertFalse(os.path.exists(folder))
            self.check(self.mortise(*trip, "keeper_count", '{"times": 2}'), 0)
            self.check(self.mortise("sessions", "rm", "trip"), 0)
            done = self.check(self.mortise(*trip, "keeper_count", '{"times": 1}'), 0)
            self.assertEqual(done.out, "1\n")
            self.check(self.mortise("sessions", "rm", "trip"), 0)
            self.check_error(self.mortise("sessions", "rm", "trip"), 2, "'trip' not found")

    def test_whole_of_a_capped_result(self):
        """D12: it is an artifact like any other, so a tool can load it."""
        done = self.mortise("--json", "-P", e2e.options.fixtures, "-P", self.plugins, "-m",
                            self.script({"calls": [self.tool("big", "whole", bytes=90000)]},
                                        {"calls": [self.tool("keeper_list")],
                                         "expect": ["session/trip/whole/1.text=plain"]},
                                        {"text": "."}), "--session", "trip", "hi")
        self.check(done, 0)
        self.assertEqual(done.of_type("tool_result")[-1]["result"], "whole 1 90011\n")

    def test_limits(self):
        """F74: told, and nothing is kept."""
        done = self.call("keeper_save", owner=1, name="big", bytes=(10 << 20) + 1)
        self.fails(done, 1, "10485761 bytes are more than an artifact can have")
        for name in ("../x", ".x", "a/b", "a\nb", "n" * 201, "/etc/passwd"):
            self.fails(self.call("keeper_save", owner=1, name=name, text="x"), 1,
                             "a name is 1 to 200 bytes")
        self.assertEqual(self.answer("keeper_list", owner=1), "")

    def test_no_place(self):
        """F29, F30: without a folder for state there are none."""
        nowhere = {"HOME": None, "XDG_STATE_HOME": None}
        for tool, what, arguments in (("keeper_save", "artifacts", {"name": "x"}),
                                      ("keeper_remember", "memory", {"text": "x"}),
                                      ("keeper_count", "state", {})):
            done = self.call(tool, env=nowhere, **arguments)
            self.fails(done, 1, f"there is no {what} here")


class Memory(Case):
    def test_search(self):
        """F30: found by words and by Japanese, by other plugins and processes, by nobody else."""
        self.answer("keeper_remember", text="The dog is called Rex.")
        self.answer("keeper_remember", text="東京の天気が好きです。")
        self.assertEqual(self.answer("other_recall", query="What is the dog's name?"),
                         "The dog is called Rex.")
        self.assertEqual(self.answer("other_recall", query="天気"), "東京の天気が好きです。")
        self.assertEqual(self.answer("other_recall", query="明日の東京の天気は？"),
                         "東京の天気が好きです。")
        self.assertEqual(self.answer("other_recall", query="\" OR * --"), "")
        self.assertEqual(self.answer("other_recall", "--user", "bob", query="dog"), "")
        self.assertEqual(self.answer("other_recall", "--tenant", "acme", query="dog"), "")

    def test_file(self):
        self.answer("keeper_remember", text="x y z")
        path = os.path.join(self.state, "plugin-data.db")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with sqlite3.connect(path) as store:
            self.assertEqual(store.execute("PRAGMA integrity_check").fetchall(), [("ok",)])


class State(Case):
    def test_processes_at_once(self):
        """F31: four processes make the file and count, and no count is lost."""
        counting = [self.start("-q", "-P", self.plugins, "tools", "call", "keeper_count",
                               '{"owner": 2, "times": 50}') for _ in range(4)]
        for process in counting:
            out, err = process.communicate(timeout=e2e.SECONDS)
            self.assertEqual((process.returncode, err), (0, b""), out)
        self.assertEqual(self.answer("keeper_count", owner=2), "201")
        self.assertEqual(self.answer("other_count", owner=2), "1")

    def test_files_at_once(self):
        saving = [self.start("-P", self.plugins, "tools", "call", "keeper_save",
                             '{"owner": 2, "name": "x", "text": "x"}') for _ in range(6)]
        versions = sorted(process.communicate(timeout=e2e.SECONDS)[0] for process in saving)
        self.assertEqual(versions, [b"version %d\n" % number for number in range(1, 7)])

    def test_calls_at_once(self):
        """F31: the same under parallel dispatch."""
        calls = [self.tool("keeper_count", f"c{number}", times=5) for number in range(8)]
        results = self.play({"calls": calls}, {"text": "."},
                            options=("--session", "trip", "--strategy", "parallel"))
        self.assertEqual(max(int(result) for result in results), 40)
        self.assertEqual(self.play({"calls": [self.tool("keeper_count")]}, {"text": "."},
                                   options=("--session", "trip")), ["41"])
        self.check(self.mortise("sessions", "rm", "trip"), 0)
        with sqlite3.connect(os.path.join(self.state, "plugin-data.db")) as store:
            self.assertEqual(store.execute("SELECT count(*) FROM state").fetchall(), [(0,)])

    def test_run_without_session(self):
        calls = [self.tool("keeper_count", "c1"), self.tool("keeper_count", "c2")]
        self.assertEqual(self.play({"calls": calls}, {"text": "."}), ["1", "2"])
        self.assertEqual(self.play({"calls": calls[:1]}, {"text": "."}), ["1"])
        self.assertFalse(os.path.exists(os.path.join(self.state, "plugin-data.db")))

    def test_damaged_file(self):
        os.makedirs(self.state)
        with open(os.path.join(self.state, "plugin-data.db"), "wb") as file:
            file.write(b"x" * 5000)
        os.chmod(os.path.join(self.state, "plugin-data.db"), 0o600)
        self.fails(self.call("keeper_count", owner=1), 1, "plugin data")


class Secrets(Case):
    def setUp(self):
        super().setUp()
        self.config(plugin_config={"keeper": {"place": "here", "secrets": {
            "key": {"env": "KEEPER_KEY"}, "broken": {"file": "/nowhere"}}}})
        self.key = {"KEEPER_KEY": SECRET}

    def test_granted(self):
        """Given to the plugin, and shown to nobody."""
        for options in ((), ("--json",), ("-v", "-v")):
            done = self.call("keeper_secret", *options, env=self.key, name="key")
            self.check(done, 0)
            self.assertNotIn(SECRET, done.out + done.err)
            self.assertIn("[redacted] has 20 bytes", done.out)
            self.assertIn("keeper: the secret is [redacted]", done.err)

    def test_in_a_run(self):
        done = self.mortise("--json", "-P", self.plugins, "-m", self.script(
            {"calls": [self.tool("keeper_secret", name="key")]}, {"text": SECRET}),
            "--session", "trip", "hi", env=self.key)
        self.check(done, 0)
        self.assertNotIn(SECRET, done.out + done.err)

    def test_not_granted(self):
        for tool, name in (("other_secret", "key"), ("keeper_secret", "other")):
            done = self.call(tool, "-v", env=self.key, name=name)
            self.check(done, 1)
            self.assertIn(f"asks for the secret '{name}', which", done.err)
        done = self.call("keeper_secret", env=self.key, name="broken")
        self.check(done, 1)
        self.assertIn("secret 'broken' of plugin 'keeper': cannot open key file '/nowhere'", done.err)

    def test_configuration_without_it(self):
        self.assertEqual(self.answer("keeper_config"), '{"place":"here"}')
        self.assertEqual(self.answer("other_config"), "{}")

    def test_project_cannot_grant(self):
        self.file("work/.mortise/config.json",
                  '{"plugin-config": {"other": {"secrets": {"key": {"env": "KEEPER_KEY"}}}}}')
        self.check(self.call("other_secret", env=self.key, name="key"), 3)


class Web(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.server.asked.append(self.headers.get("Authorization"))
        if self.path == "/silent":
            self.server.gone.wait(e2e.SECONDS)
            return
        body = b"hello"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Http(Case):
    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
        self.server.daemon_threads = True
        self.server.asked = []
        self.server.gone = threading.Event()
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.server.gone.set)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def test_answer(self):
        self.config(plugin_config={"keeper": {"secrets": {"key": {"env": "KEEPER_KEY"}}}})
        self.assertEqual(self.answer("keeper_fetch", env={"KEEPER_KEY": SECRET}, url=self.url,
                                     key="key"), "200 hello")
        self.assertEqual(self.server.asked, [SECRET])

    def test_public_only(self):
        done = self.call("keeper_fetch", url=self.url, is_public=True)
        self.fails(done, 1, "leads to an address that is not public")
        self.assertEqual(self.server.asked, [])

    def test_time_limit_of_the_call(self):
        begin = time.monotonic()
        done = self.call("keeper_fetch", "--timeout", "0.3", url=self.url + "/silent")
        self.check(done, 124)
        self.assertLess(time.monotonic() - begin, 10)

    def test_interrupt(self):
        process = self.start("-P", self.plugins, "tools", "call", "keeper_fetch",
                             f'{{"url": "{self.url}/silent"}}')
        until = time.monotonic() + e2e.SECONDS
        while not self.server.asked and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(e2e.signal.SIGINT)
        process.communicate(timeout=e2e.SECONDS)
        self.assertEqual(process.returncode, 130)

    def test_proxy(self):
        """As libcurl has it: the variable names the proxy, which is asked for the whole URL."""
        self.assertEqual(self.answer("keeper_fetch", url="http://example.invalid/x",
                                     env={"http_proxy": self.url}), "200 hello")

    def test_proxy_of_the_user(self):
        """What the model's requests are told counts for tools too."""
        nowhere = {"http_proxy": "http://127.0.0.1:1"}
        self.assertEqual(self.answer("keeper_fetch", "--proxy", self.url, env=nowhere,
                                     url="http://example.invalid/x"), "200 hello")
        self.assertEqual(self.answer("keeper_fetch", env=nowhere, url=self.url), "200 hello")
        done = self.call("keeper_fetch", "--proxy", "gopher://x", url="http://example.invalid/x")
        self.fails(done, 1, "no URL of a proxy")

    def test_certificates_of_the_user(self):
        """They are trusted, and the client certificate is not shown."""
        authority = servers.Authority(self.folder("ca"))
        certificate, key = authority.issue("localhost", "IP:127.0.0.1")
        context = servers.tls(certificate, key)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(authority.certificate)
        shown = []

        def serve(connection, number):
            shown.append(connection.getpeercert())
            server.read(connection, number)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

        with servers.Listener(serve, tls=context) as server:
            url = server.url(path="/")
            self.check(self.call("keeper_fetch", url=url), 1)
            self.assertEqual(self.answer("keeper_fetch", "--ca-file", authority.certificate,
                                         "--client-cert", certificate, "--client-key", key,
                                         url=url), "200 hello")
        self.assertEqual(len(shown), 1)
        self.assertFalse(shown[0])


if __name__ == "__main__":
    e2e.main()
