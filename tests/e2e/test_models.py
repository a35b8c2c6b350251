"""`mortise models`, and the model that is taken when none is named."""
import json
import os
import socket
import subprocess
import sys
import threading

import e2e
import servers

KEY = "sk-0123456789abcdef"


def openai_list(*ids, **more):
    return {"object": "list",
            "data": [{"id": name, "object": "model", "created": at, **more}
                     for at, name in enumerate(ids, 1)]}


def local_list(**created):
    return {"object": "list", "data": [{"id": name.replace("__", ":"), "created": at}
                                       for name, at in created.items()]}


class Lists(e2e.Case):
    def models(self, *arguments, server, provider="openai", suffix="/v1", env=None, **how):
        variables = {f"{provider.upper()}_BASE_URL": server.url + suffix,
                     f"{provider.upper()}_API_KEY": KEY, **(env or {})}
        return self.mortise("models", *arguments, env=variables, **how)

    def test_openai(self):
        """What is printed can be pasted behind -m."""
        with e2e.Server(pages={"/v1/models": openai_list("gpt-a", "org/gpt-b:free")}) as server:
            done = self.check(self.models("openai", server=server), 0)
            self.assertEqual(done.out, "openai/gpt-a\nopenai/org/gpt-b:free\n")
            self.assertEqual(done.err, "")
            (path, headers), = server.gets
            self.assertEqual(headers["Authorization"], f"Bearer {KEY}")
            lines = self.check(self.models("openai", "--json", server=server), 0).events
            self.assertEqual(lines[1], {"model": "openai/org/gpt-b:free", "provider": "openai",
                                        "id": "org/gpt-b:free", "created": 2})

    def test_a_list_alone(self):
        """Some servers send an array, and null for an empty one."""
        with e2e.Server(pages={"/v1/models": [{"id": "one"}]}) as server:
            self.assertEqual(self.check(self.models("openai", server=server), 0).out, "openai/one\n")
            server.pages["/v1/models"] = {"object": "list", "data": None}
            done = self.check(self.models("openai", server=server), 0)
            self.assertEqual(done.out, "")
            self.assertIn("the server has none", done.err)

    def test_anthropic_pages(self):
        def page(first, last, more):
            return {"data": [{"type": "model", "id": f"claude-{n}"} for n in range(first, last)],
                    "has_more": more, "last_id": f"claude {last - 1}"}

        pages = {"/v1/models?limit=1000": page(0, 3, True),
                 "/v1/models?limit=1000&after_id=claude%202": page(3, 5, True),
                 "/v1/models?limit=1000&after_id=claude%204": page(5, 6, False)}
        with e2e.Server(pages=pages) as server:
            done = self.models("anthropic", server=server, provider="anthropic", suffix="")
            self.check(done, 0)
            self.assertEqual(done.out.split(), [f"anthropic/claude-{n}" for n in range(6)])
            for _, headers in server.gets:
                self.assertEqual(headers["x-api-key"], KEY)
                self.assertIn("anthropic-version", headers)

    def test_gemini(self):
        """The prefix goes, and so does what cannot be talked with."""
        first = {"models": [{"name": "models/gemini-x", "supportedGenerationMethods":
                             ["generateContent", "countTokens"]},
                            {"name": "models/embedding-1", "supportedGenerationMethods":
                             ["embedContent"]}], "nextPageToken": "a/b"}
        pages = {"/v1beta/models?pageSize=1000": first,
                 "/v1beta/models?pageSize=1000&pageToken=a%2Fb": {"models": [{"name": "tuned/y"}]}}
        with e2e.Server(pages=pages) as server:
            done = self.models("gemini", server=server, provider="gemini", suffix="")
            self.assertEqual(self.check(done, 0).out, "gemini/gemini-x\ngemini/tuned/y\n")
            self.assertEqual(server.gets[0][1]["x-goog-api-key"], KEY)

    def test_of_the_configured_model(self):
        self.config(model="openai/gpt-a")
        with e2e.Server(pages={"/v1/models": openai_list("gpt-a")}) as server:
            done = self.models(server=server, env={"ANTHROPIC_API_KEY": "sk-ant-012345"})
            self.assertEqual(self.check(done, 0).out, "openai/gpt-a\n")

    def test_all_that_can_be_used(self):
        """One that fails does not hide the others, and the exit code tells of it."""
        with e2e.Server(pages={"/v1/models": openai_list("gpt-a")}) as good, \
                e2e.Server(pages={"/v1/models": (401, {"error": {"message": "bad key"}})}) as bad, \
                e2e.Server(pages={"/v1/models": openai_list("llama")}) as local:
            env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": bad.url + "/v1",
                   "GROQ_API_KEY": KEY, "GROQ_BASE_URL": good.url + "/v1",
                   "OLLAMA_HOST": local.host}
            done = self.mortise("models", env=env)
            self.check_error(done, 3, "models of 'openai'", "OPENAI_API_KEY", "bad key")
            self.assertIn("groq/gpt-a\n", done.out)
            self.assertIn("ollama/llama\n", done.out)
            self.assertNotIn(KEY, done.err + done.out)

    def test_one_of_the_users_own(self):
        """With its headers and its query, and among all that can be used."""
        with e2e.Server(pages={"/x/models?team=a%20b": openai_list("m")}) as server:
            self.config(provider_config={"work": {
                "like": "compatible", "base_url": server.url + "/x", "headers": {"X-Team": "tools"},
                "query": {"team": "a b"}}})
            for arguments in (["work"], []):
                done = self.check(self.mortise("models", *arguments), 0)
                self.assertEqual(done.out, "work/m\n")
                self.assertEqual(server.gets[-1][1]["X-Team"], "tools")
            self.check_error(self.mortise("models", "wrk"), 2, "'wrk'")

    def test_a_provider_whose_models_cannot_be_listed(self):
        """It is named, and takes nothing from the others."""
        with e2e.Server(pages={"/v1/models": openai_list("gpt-a")}) as server:
            env = {"AWS_BEARER_TOKEN_BEDROCK": KEY, "AWS_REGION": "us-east-1"}
            done = self.check(self.models(server=server, env=env), 0)
            self.assertEqual(done.out, "openai/gpt-a\nopenai-responses/gpt-a\n")
            self.assertIn("models of 'bedrock': they cannot be listed", done.err)
        self.check_error(self.mortise("models", "bedrock", env=env), 2, "cannot be listed")

    def test_no_key_at_all(self):
        self.check_error(self.mortise("models"), 3, "no key is set", "mortise providers")

    def test_mistakes(self):
        self.check_error(self.mortise("models", "opnai"), 2, "'opnai'", "mortise providers")
        self.check_error(self.mortise("models", "offline"), 2, "'offline'")
        self.check_error(self.mortise("models", "a", "b"), 2, "mortise models")
        self.check_error(self.mortise("models", "--base-url", "http://127.0.0.1:1"), 2, "base URL")
        done = self.mortise("models", "ollama", "--base-url", "http://127.0.0.1:1/v1")
        self.check_error(done, 4, "models of 'ollama'", "127.0.0.1:1", "takes no connections")


class Hostile(e2e.Case):
    """What a server sends is data."""

    def models(self, server, *arguments):
        return self.mortise("models", "ollama", *arguments, env={"OLLAMA_HOST": server.host})

    def test_names_that_would_forge_lines(self):
        names = ("good", "two\nlines", "tab\there", "\x1b[2Jclear", "bell\x07", "", "x" * 300,
                 "\u202eevil", "\x9bcsi", "nul\x00")
        page = openai_list(*names)
        page["data"] += [7, {"id": 7}, None, {"name": "other"}]
        with e2e.Server(pages={"/v1/models": page}) as server:
            done = self.check(self.models(server), 0)
            self.assertEqual(done.out, "ollama/good\n")
            self.assertIn("13 names", done.err)

    def test_what_is_no_list(self):
        for body in (b"", b"<html>hello</html>", b"[", b'"text"', b'{"data": 7}', b"null",
                     b'{"object": "list"}', b"[" * 100000):
            with self.subTest(body=body[:20]), e2e.Server(pages={"/v1/models": body}) as server:
                self.check_error(self.models(server), 4, "models of 'ollama'", server.host)

    def test_too_much(self):
        with e2e.Server(pages={"/v1/models": b"[" + b" " * (17 << 20)}) as server:
            self.check_error(self.models(server), 4, "sent more than 16 MiB")
        page = json.dumps([{"id": f"m{n}"} for n in range(20001)]).encode()
        with e2e.Server(pages={"/v1/models": page}) as server:
            self.check_error(self.models(server), 4, "more than 20000 models")

    def test_headers_without_end(self):
        for head, part in ((1000 * (b"X-A: " + 1000 * b"y" + b"\r\n"), "256 KiB of headers"),
                           (b"X-A: " + (1 << 20) * b"y", "a header line that is too long")):
            def serve(connection, number):
                server.read(connection, number)
                connection.sendall(b"HTTP/1.1 200 OK\r\n" + head)

            with servers.Listener(serve) as server:
                done = self.mortise("models", "ollama", "--base-url", server.url())
                self.check_error(done, 4, part)

    def test_pages_without_end(self):
        page = {"data": [{"id": "a"}], "has_more": True, "last_id": "a"}
        pages = {"/v1/models?limit=1000": page, "/v1/models?limit=1000&after_id=a": page}
        with e2e.Server(pages=pages) as server:
            done = self.mortise("models", "anthropic", env={"ANTHROPIC_API_KEY": KEY,
                                                            "ANTHROPIC_BASE_URL": server.url})
            self.check_error(done, 4, "does not end")
            self.assertEqual(len(server.gets), 100)

    def test_a_redirect_does_not_take_the_key_elsewhere(self):
        with e2e.Server(pages={"/v1/models": openai_list("stolen")}) as other:
            listener = socket.create_server(("127.0.0.1", 0))

            def redirect():
                connection, _ = listener.accept()
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
                                   + other.url.encode() + b"/v1/models\r\n\r\n")
                connection.close()

            threading.Thread(target=redirect, daemon=True).start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
            done = self.mortise("models", "openai", env={"OPENAI_API_KEY": KEY,
                                                         "OPENAI_BASE_URL": url})
            listener.close()
            self.check_error(done, 3, "redirects to", other.url)
            self.assertEqual(other.gets, [])


class Unnamed(e2e.Case):
    """No model is named and no key is set: a server on this machine is taken, if one answers."""

    def test_ollama(self):
        pages = {"/v1/models": local_list(older=5, llama3__latest=9, nomic_embed_text=11)}
        with e2e.Server(e2e.openai_reply("hi"), pages=pages) as server:
            done = self.check(self.mortise("hello", env={"OLLAMA_HOST": server.host}), 0)
            self.assertEqual(done.out, "hi\n")
            self.assertIn(f"no key is set: using ollama/llama3:latest on {server.host}\n", done.err)
            self.assertEqual(server.bodies[0]["model"], "llama3:latest")
            (path, headers), = server.gets
            self.assertNotIn("Authorization", headers)

    def test_quiet(self):
        with e2e.Server(e2e.openai_reply("hi"), pages={"/v1/models": local_list(a=1)}) as server:
            done = self.check(self.mortise("-q", "hello", env={"OLLAMA_HOST": server.host}), 0)
            self.assertEqual(done.err, "")

    def test_llama_cpp(self):
        """Ollama is there but empty; the next one is asked."""
        with e2e.Server(pages={"/v1/models": {"object": "list", "data": None}}) as empty, \
                e2e.Server(e2e.openai_reply("hi"), pages={"/v1/models": local_list(q=0)}) as server:
            env = {"OLLAMA_HOST": empty.host, "LLAMACPP_HOST": server.host}
            done = self.check(self.mortise("hello", env=env), 0)
            self.assertIn(f"using llamacpp/q on {server.host}", done.err)
            self.assertEqual(empty.requests, [])

    def test_what_is_tried_gets_nothing_of_the_users(self):
        with e2e.Server(e2e.openai_reply("hi"), pages={"/v1/models": local_list(a=1)}) as server:
            self.config(provider_config={"ollama": {"headers": {"X-Token": "not-for-strangers"}}})
            self.check(self.mortise("hello", env={"OLLAMA_HOST": server.host,
                                                  "LLAMACPP_HOST": server.host}), 0)
            self.assertNotIn("X-Token", server.gets[0][1])
            self.assertEqual(server.requests[0]["headers"]["X-Token"], "not-for-strangers")

    def test_a_key_goes_first(self):
        with e2e.Server(e2e.openai_reply("hi")) as server, \
                e2e.Server(pages={"/v1/models": local_list(a=1)}) as local:
            env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url + "/v1",
                   "OLLAMA_HOST": local.host}
            self.check(self.mortise("hello", env=env), 0)
            self.assertEqual(local.gets, [])

    def test_something_else_gets_nothing_but_a_get(self):
        with e2e.Server(pages={"/v1/models": b"<html>It works!</html>"}) as other:
            env = {"OLLAMA_HOST": other.host, "LLAMACPP_HOST": other.host}
            self.check_error(self.mortise("a secret prompt", env=env), 3, "no model", "-m offline",
                             "Ollama")
            self.assertEqual(other.requests, [])
            self.assertEqual({path for path, _ in other.gets}, {"/v1/models"})

    def test_one_that_never_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            host = f"127.0.0.1:{listener.getsockname()[1]}"
            env = {"OLLAMA_HOST": host, "LLAMACPP_HOST": host}
            self.check_error(self.mortise("hello", env=env, seconds=10), 3, "no model")

    def test_only_this_machine_is_tried(self):
        env = {"OLLAMA_HOST": "192.0.2.1:11434", "LLAMACPP_HOST": "http://192.0.2.1:8080"}
        self.check_error(self.mortise("hello", env=env, seconds=10), 3, "no model")

    def test_a_socket_is_not_tried(self):
        """Whose it is cannot be told by its path; port 80 of this machine has no part in it."""
        path = os.path.join(self.root, "s")
        url = "http+unix://" + path.replace("/", "%2F")
        with servers.answering(b"", path=path) as server:
            self.check_error(self.mortise("hello", env={"OLLAMA_HOST": url}), 3, "no model")
            self.assertEqual(server.connections, 0)

    def test_another_users_server_is_not_taken(self):
        """Whoever answers is told the prompt and picks the tools that are called."""
        if os.getuid() != 0:
            self.skipTest("only root can be another user")
        code = ("import http.server, os, encodings.idna\n"
                "os.setgroups([]); os.setgid(12345); os.setuid(12345)\n"
                "class A(http.server.BaseHTTPRequestHandler):\n"
                "    def do_GET(self):\n"
                "        open('asked', 'w'); self.send_error(500)\n"
                "s = http.server.HTTPServer(('127.0.0.1', 0), A)\n"
                "print(s.server_address[1], flush=True); s.serve_forever()\n")
        folder = self.folder("theirs")
        os.chmod(self.root, 0o755)
        os.chmod(folder, 0o777)
        with subprocess.Popen([sys.executable, "-B", "-c", code], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as process:
            try:
                port = process.stdout.readline().strip()
                env = {"OLLAMA_HOST": f"127.0.0.1:{port}"}
                self.check_error(self.mortise("hello", env=env), 3, "no model")
                self.assertFalse(os.path.exists(os.path.join(folder, "asked")))
                done = self.mortise("models", "ollama", env=env)  # named: the user wants it
                self.check_error(done, 4, "HTTP 500")
            finally:
                process.kill()


if __name__ == "__main__":
    e2e.main()
