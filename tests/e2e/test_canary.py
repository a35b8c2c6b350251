"""D24: no key, password or secret of a plugin is ever shown or kept, whatever happens.

Every value that is secret has a mark of its own in it.  After a run nothing that it wrote, on the
standard streams or in any file, has a mark: plain, in base64, percent-encoded or escaped in JSON.

FAULTS 47, 48; W125, M6
"""
import base64
import ctypes
import json
import os
import resource
import shutil
import signal
import ssl
import subprocess
import urllib.parse

import e2e
import servers
from canaries import Case, canary, without_quote

VERBOSITIES = [["-q"], [], ["-v"], ["-v", "-v"], ["--json"], ["--json", "-v", "-v"]]
MODELS = {"openai": "/v1", "openai-responses": "/v1", "anthropic": "", "gemini": ""}
REPLIES = {"openai": e2e.openai_reply, "openai-responses": e2e.responses_reply,
           "anthropic": e2e.anthropic_reply, "gemini": e2e.gemini_reply}
KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "openai-responses": "OPENAI_API_KEY",
                 "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}


class Keys(Case):
    """Keys of providers, from wherever they come, and servers that answer in every way."""

    def sources(self, provider):
        """The key, the file that holds it, and (configuration, variables) for each source."""
        key = without_quote("KEY")
        path = self.file("key", key + "\n")
        os.chmod(path, 0o600)
        section = "provider-config"
        return key, path, [
            ({}, {KEY_VARIABLES[provider]: key}),
            ({section: {provider: {"key_env": "MY_KEY"}}}, {"MY_KEY": key}),
            ({section: {provider: {"key_file": path}}}, {}),
            ({section: {provider: {"key_command": f"cat {path}"}}}, {}),
        ]

    def ask(self, provider, url, options, env):
        return self.mortise("-m", f"{provider}/m", "--base-url", url + MODELS[provider],
                            "--no-plugins", "--retries", "1", "--session", "s", *options, "hi",
                            env=env)

    def test_sources_and_statuses(self):
        for number, provider in enumerate(MODELS):
            key, path, sources = self.sources(provider)
            for at, (config, env) in enumerate(sources):
                self.file("home/.config/mortise/config.json", json.dumps(config))
                for status in (401, 500):
                    server = self.echo(status)
                    options = VERBOSITIES[(number + at) % len(VERBOSITIES)]
                    done = self.ask(provider, f"http://{server.where}", options, env)
                    self.assertIn(done.code, (3, 4), done)
                    self.assertIn(key, server.told[0])  # it was there to be shown
                    self.check_run(done, [key], path)

    def test_verbosities(self):
        key = without_quote("KEY")
        for options in VERBOSITIES:
            for status in (200, 301, 401, 407, 500):
                server = self.echo(status)
                done = self.ask("openai", f"http://{server.where}", options,
                                {"OPENAI_API_KEY": key})
                self.assertNotEqual(done.code, 0, done)
                self.assertIn(key, server.told[0])
                self.check_run(done, [key])

    def test_success(self):
        key = without_quote("KEY")
        for provider in MODELS:
            for options in VERBOSITIES:
                with e2e.Server(REPLIES[provider]("hello")) as server:
                    done = self.ask(provider, server.url, options, {KEY_VARIABLES[provider]: key})
                    self.check(done, 0)
                    self.assertIn(key, str(server.requests[0]["headers"]))
                    self.check_run(done, [key])
        self.assertTrue(self.mortise("sessions", "export", "s").out)
        for words in (["sessions", "export", "s"], ["sessions", "show", "s"], ["config", "show"],
                      ["providers"], ["--json", "config", "show"], ["--json", "providers"]):
            self.check_run(self.mortise(*words, env={"OPENAI_API_KEY": key}), [key])

    def test_commands(self):
        """Those that look at keys, or ask a server with them."""
        key = without_quote("KEY")
        for status in (200, 401, 500):
            server = self.echo(status)
            env = {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": f"http://{server.where}/v1"}
            for words in (["models", "openai"], ["doctor"], ["providers"], ["config", "show"]):
                for options in (["-v", "-v"], ["--json"]):
                    done = self.mortise(*options, *words, env=env)
                    self.assertTrue(done.out + done.err)
                    self.check_run(done, [key])
            self.assertIn(key, "".join(server.told))

    def test_no_connection(self):
        key = without_quote("KEY")
        for url in ("http://127.0.0.1:1", "https://127.0.0.1:1", "http://nowhere.invalid"):
            for options in VERBOSITIES:
                done = self.ask("openai", url, ["--retries", "0", *options],
                                {"OPENAI_API_KEY": key})
                self.check(done, 4)
                self.check_run(done, [key])

    def test_tls(self):
        openssl = shutil.which("openssl")
        if not openssl:
            self.skipTest("openssl is not installed")
        key, secret = os.path.join(self.root, "key.pem"), without_quote("KEY")
        certificate = os.path.join(self.root, "certificate.pem")
        subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        for options in VERBOSITIES:
            for trusted in (False, True):
                env = {"OPENAI_API_KEY": secret}
                if trusted:
                    env["SSL_CERT_FILE"] = certificate
                server = self.echo(500, tls)
                done = self.ask("openai", f"https://{server.where}", options, env)
                self.check(done, 4)
                self.assertEqual(bool(server.told), trusted)
                self.check_run(done, [secret])

    def test_a_message_that_is_cut(self):
        """Half of a key is not shown either, wherever a long text of a server's is cut."""
        key = without_quote("KEY")
        env = {"OPENAI_API_KEY": key}
        blanks = 3600 - len(key) // 2  # only so much of a text is looked at
        texts = ["x" * (end - len(key) // 2) + key + "y" * 99 for end in (900, 1000, 1024)]
        texts += ["x" + " " * (blanks - 1) + key + "y" * 9999]
        for text in texts:
            page = (500, {"error": {"message": text}})
            with e2e.Server(page, pages={"/v1/models": page}) as server:
                env["OPENAI_BASE_URL"] = server.url + "/v1"
                for words in (["-m", "openai/m", "--no-plugins", "--retries", "0", "hi"],
                              ["models", "openai"]):
                    done = self.check(self.mortise(*words, env=env), 4)
                    self.assertIn("x", done.err)
                    self.assertNotIn(key[:8], done.err, len(text))

    def test_an_address_that_is_cut(self):
        key = without_quote("KEY")

        def serve(connection, number):
            servers.read_request(connection)
            connection.sendall(b"HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: http://x/%s\r\n\r\n"
                               % (b"x" * 230 + key.encode()))

        with servers.Listener(serve) as server:
            done = self.ask("openai", f"http://127.0.0.1:{server.port}", [],
                            {"OPENAI_API_KEY": key})
        self.check_error(done, 3, "redirects to 'http://x/xxx")
        self.assertNotIn(key[:8], done.err)

    def test_key_that_cannot_be_one(self):
        """What a wrong configuration holds is not told either."""
        key = canary("KEY") + " with blanks"
        for options in VERBOSITIES:
            done = self.ask("openai", "http://127.0.0.1:1", options, {"OPENAI_API_KEY": key})
            self.check(done, 3)
            self.check_run(done, [key])

    def test_headers(self):
        """More headers and a query, whose values are secrets."""
        key, header, query = without_quote("KEY"), without_quote("HEADER"), without_quote("QUERY")
        env = {"WORK_KEY": key, "TEAM_KEY": header, "QUERY_KEY": query}
        for options in VERBOSITIES:
            for status in (401, 500):
                server = self.echo(status)
                self.config(provider_config={"work": {
                    "format": "openai-chat", "base_url": f"http://{server.where}",
                    "key_env": "WORK_KEY", "headers": {"X-Team": {"env": "TEAM_KEY"}},
                    "query": {"key": {"env": "QUERY_KEY"}}}})
                done = self.mortise("-m", "work/m", "--no-plugins", "--retries", "1", *options,
                                    "hi", env=env)
                self.assertIn(done.code, (3, 4), done)
                for value in (key, header, urllib.parse.quote(query, safe="~")):
                    self.assertIn(value, server.told[0])
                self.check_run(done, [key, header, query])
                for words in (["providers"], ["--json", "providers"], ["config", "show"]):
                    self.check_run(self.mortise(*words, env=env), [key, header, query])

    def test_amazon(self):
        secret, token = without_quote("SECRET"), without_quote("TOKEN")
        env = {"AWS_ACCESS_KEY_ID": "AKIDCANARY0123456789", "AWS_SECRET_ACCESS_KEY": secret,
               "AWS_SESSION_TOKEN": token, "AWS_REGION": "us-west-2"}
        for options in VERBOSITIES:
            for status in (403, 500):
                server = self.echo(status)
                done = self.mortise("-m", "bedrock/us.anthropic.claude-m", "--base-url",
                                    f"http://{server.where}", "--no-plugins", "--retries", "1",
                                    *options, "hi", env=env)
                self.assertIn(done.code, (3, 4), done)
                self.assertIn(token, server.told[0])
                self.assertNotIn(secret, server.told[0])
                self.check_run(done, [secret, token])


class Recordings(Case):
    """They are kept, and sent with reports of errors."""

    def setUp(self):
        super().setUp()
        self.need_option("--record")
        self.made = 0

    def record(self, *words, env):
        """With a file that check_run() looks into."""
        self.made += 1
        path = os.path.join(self.work, f"recording{self.made}")
        done = self.mortise("--record", path, *words, env=env)
        self.assertGreater(os.path.getsize(path), 0)
        return done

    def test_of_keys(self):
        key = without_quote("KEY")
        for provider, path in MODELS.items():
            for status in (200, 401, 500):
                server = self.echo(status)
                done = self.record("-m", f"{provider}/m", "--base-url",
                                   f"http://{server.where}{path}", "--no-plugins", "--retries",
                                   "1", "hi", env={KEY_VARIABLES[provider]: key})
                self.assertIn(key, server.told[0])
                self.check_run(done, [key])

    def test_of_secrets(self):
        secret = canary("SECRET")
        self.config(plugin_config={"canary": {"secrets": {"key": {"env": "SEARCH_KEY"}}}})
        for how in ("text", "json", "error", "code"):
            call = ("call_1", "tell", json.dumps({"how": how}))
            with e2e.Server(e2e.openai_reply(None, [call]), e2e.openai_reply("done")) as server:
                done = self.record("-P", self.plugins, "-m", "openai/m", "--base-url",
                                   server.url + "/v1", "hi",
                                   env={"SEARCH_KEY": secret, "OPENAI_API_KEY": "sk-0123456789"})
            self.check(done, 0)
            self.check_run(done, [secret])


class Passwords(Case):
    """Those in URLs: of a server and of a proxy."""

    def url(self, password, where):
        return f"http://me:{urllib.parse.quote(password, safe='')}@{where}"

    def test_of_the_server(self):
        password = canary("PASSWORD")
        for options in VERBOSITIES:
            for status in (401, 500):
                server = self.echo(status)
                env = {"OPENAI_BASE_URL": self.url(password, server.where) + "/v1"}
                done = self.mortise("-m", "openai/m", "--no-plugins", "--retries", "1", *options,
                                    "hi", env=env)
                self.assertIn(done.code, (3, 4), done)
                sent = base64.b64encode(f"me:{password}".encode()).decode()
                self.assertIn(sent, server.told[0])
                self.check_run(done, [password])
                for words in (["config", "show"], ["providers"], ["--json", "providers"]):
                    self.check_run(self.mortise(*words, env=env), [password])

    def test_of_a_proxy(self):
        self.need_option("--proxy")
        password, key = canary("PASSWORD"), without_quote("KEY")
        for options in VERBOSITIES:
            for status, scheme in ((407, "http"), (500, "http"), (407, "https"), (502, "https")):
                proxy = self.echo(status)
                words = ["-m", "openai/m", "--base-url", f"{scheme}://nowhere.invalid",
                         "--no-plugins", "--retries", "0", *options, "hi"]
                sent = base64.b64encode(f"me:{password}".encode()).decode()
                for variable in (f"{scheme}_proxy", "MORTISE_PROXY"):
                    env = {variable: self.url(password, proxy.where), "OPENAI_API_KEY": key}
                    done = self.mortise(*words, env=env)
                    self.assertIn(done.code, (3, 4), done)
                    self.assertIn(sent, proxy.told.pop())
                    self.check_run(done, [password, key])
                    self.check_run(self.mortise("config", "show", env=env), [password, key])

    def test_of_a_proxy_that_is_not_there(self):
        password = canary("PASSWORD")
        for where in ("127.0.0.1:1", "nowhere.invalid:3128"):
            env = {"https_proxy": self.url(password, where), "OPENAI_API_KEY": "sk-0123456789"}
            done = self.mortise("-m", "openai/m", "--no-plugins", "--retries", "0", "-v", "-v",
                                "hi", env=env)
            self.check(done, 4)
            self.check_run(done, [password])


class Secrets(Case):
    """Those of plugins, and a plugin that tells them."""

    def setUp(self):
        super().setUp()
        self.secret = canary("SECRET")
        self.path = self.file("secret", self.secret + "\n")
        os.chmod(self.path, 0o600)
        self.sources = [({"env": "SEARCH_KEY"}, {"SEARCH_KEY": self.secret}),
                        ({"file": self.path}, {}), ({"command": f"cat {self.path}"}, {})]

    def grant(self, source):
        self.config(plugin_config={"canary": {"secrets": {"key": source}}})

    def call(self, tool, **arguments):
        return {"id": "call_1", "name": tool, "arguments": arguments}

    def run_it(self, call, *options, env=None):
        return self.mortise("-P", self.plugins, "-m", self.script({"calls": [call]},
                            {"text": "done"}), "--session", "s", *options, "hi", env=env)

    def test_told_by_a_tool(self):
        for number, options in enumerate(VERBOSITIES):
            source, env = self.sources[number % len(self.sources)]
            self.grant(source)
            for how in ("text", "json", "error", "code"):
                done = self.check(self.run_it(self.call("tell", how=how), *options, env=env), 0)
                self.check_run(done, [self.secret], self.path)
                direct = self.mortise("-P", self.plugins, *options, "tools", "call", "tell",
                                      json.dumps({"how": how}), env=env)
                self.check(direct, 1 if how in ("error", "code") else 0)
                self.check_run(direct, [self.secret], self.path)
        for words in (["sessions", "export", "s"], ["sessions", "show", "s"], ["config", "show"],
                      ["plugins", "show", "canary"], ["tools", "list"]):
            self.check_run(self.mortise("-P", self.plugins, *words), [self.secret], self.path)

    def test_not_sent_to_the_model(self):
        """The result says that something was there, and not what."""
        self.grant(self.sources[0][0])
        for provider, path in MODELS.items():
            replies = [REPLIES[provider](None, [("call_1", "tell", "{}")]),
                       REPLIES[provider]("done")]
            with e2e.Server(*replies) as server:
                done = self.mortise("-P", self.plugins, "-m", f"{provider}/m", "--base-url",
                                    server.url + path, "hi",
                                    env={**self.sources[0][1],
                                         KEY_VARIABLES[provider]: "sk-0123456789"})
                self.check(done, 0)
                sent = server.requests[1]["raw"]
                self.assertIn(b"logged in with [redacted]", sent)
                self.assert_hidden([self.secret], "the request", sent)

    def test_processes(self):
        """No process has one on its command line; from files and commands nor in its variables."""
        key, path = without_quote("KEY"), self.file("key", without_quote("KEY"))
        os.chmod(path, 0o600)
        for how in ({"key_file": path}, {"key_command": f"cat {path}"}):
            self.config(provider_config={"openai": how},
                        plugin_config={"canary": {"secrets": {"key": {"file": self.path}}}})
            reply = e2e.openai_reply(None, [("call_1", "list_processes", "{}")])
            with e2e.Server(reply, e2e.openai_reply("done")) as server:
                done = self.mortise("-P", self.plugins, "-m", "openai/m", "--base-url",
                                    server.url + "/v1", "hi")
                self.check(done, 0)
                shown = server.requests[1]["body"]["messages"][-1]["content"]
            self.assertIn("__plugin" if e2e.ISOLATED else "--base-url", shown)
            self.assertIn("HOME=", shown)
            self.assertNotIn("[redacted]", shown)
            self.check_run(done, [key, self.secret], path, self.path)


class Cores(Case):
    """A crash, and whoever looks into the process."""

    def crash(self, *options):
        """The core that a crash left in the working folder, or None."""
        secret, key = canary("SECRET"), without_quote("KEY")
        self.config(plugin_config={"canary": {"secrets": {"key": {"env": "SEARCH_KEY"}}}})

        def allow_cores():
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
        with e2e.Server(e2e.openai_reply(None, [("call_1", "crash", "{}")])) as server:
            process = self.start("-P", self.plugins, "-m", "openai/m", "--base-url",
                                 server.url + "/v1", *options, "hi", preexec_fn=allow_cores,
                                 env={"SEARCH_KEY": secret, "OPENAI_API_KEY": key,
                                      "ASAN_OPTIONS": "handle_segv=0", "TSAN_OPTIONS": "handle_segv=0"})
            out, err = process.communicate(timeout=e2e.SECONDS)
        if e2e.ISOLATED:
            self.assertIn(b"was killed by signal 11", err)
        else:
            self.assertEqual(process.returncode, -signal.SIGSEGV, err)
        self.assert_hidden([key, secret], "the output", out + err)
        cores = [name for name in os.listdir(self.work) if "core" in name]
        core = os.path.join(self.work, cores[0]) if cores else None
        self.check_files([key, secret], core)
        return core

    def test_no_core(self):
        self.assertIsNone(self.crash())

    def test_core_that_was_asked_for(self):
        """Which shows that the test above could fail."""
        if e2e.ISOLATED:
            self.skipTest("a plugin in a process of its own leaves no core in any case")
        with open("/proc/sys/kernel/core_pattern", encoding="ascii") as file:
            pattern = file.read().strip()
        if "/" in pattern or pattern.startswith("|") or "core" not in pattern:
            self.skipTest(f"cores go to '{pattern}'")
        if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
            self.skipTest("core files are not allowed here")
        if not e2e.options.fail_malloc:
            self.skipTest("a sanitizer allows no core files")
        core = self.crash("--debuggable")
        self.assertIsNotNone(core)
        with open(core, "rb") as file:
            self.assertIn(without_quote("KEY").encode(), file.read())

    def test_other_processes_cannot_look(self):
        """Not even those of the same user: no debugger may attach, no variable can be read."""
        for options in ([], ["--debuggable"]):
            mark = os.path.join(self.root, f"mark{len(options)}")
            process = self.start("-P", e2e.options.fixtures, *options, "tools", "call",
                                 "wait_for_cancel", json.dumps({"mark": mark}),
                                 preexec_fn=give_up_rights)
            self.wait_for(mark + ".started", process)
            self.assertEqual(can_look_into(process.pid), bool(options))
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=e2e.SECONDS)


def give_up_rights():
    """Those that root has over other processes; what is executed afterwards has none either."""
    libc = ctypes.CDLL(None)
    for capability in range(64):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    version, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capset(version, none)


def can_look_into(pid):
    looker = os.fork()
    if looker:
        return os.waitpid(looker, 0)[1] == 0
    give_up_rights()
    try:
        with open(f"/proc/{pid}/environ", "rb"):
            os._exit(0)
    except OSError:
        os._exit(1)


if __name__ == "__main__":
    e2e.main()
