"""Providers of the user's configuration, and those that are built in with its changes: what a
server gets, and what nobody gets who is not meant (D24)."""
import json

import e2e

OPENAI_KEY = "sk-openai-0123456789"
OWN_KEY = "own-key-0123456789"
HEADER = "header-secret-0123456789"


class Providers(e2e.Case):
    def providers(self, **sections):
        self.config(provider_config={name.replace("_", "-"): section
                                     for name, section in sections.items()})

    def ask(self, server, *arguments, env=None, code=0):
        """The one request that the server got."""
        done = self.mortise("--no-plugins", "--retries", "0", *arguments, "Hi", env=env)
        self.check(done, code)
        self.assertEqual(len(server.requests), 1, done)
        return server.requests[0]

    def serve(self):
        return e2e.Server(e2e.openai_reply("Hello"))


class OfOnesOwn(Providers):
    def test_all_that_a_section_says_reaches_the_server(self):
        with self.serve() as server:
            self.providers(work={
                "like": "openai", "base_url": server.url + "/llm", "path": "/x/{model}/chat",
                "query": {"api-version": "2024-10-21", "for": {"env": "FOR"}},
                "headers": {"X-Team": "tools", "X-Gate": {"env": "GATE"}},
                "key_env": "OWN_KEY", "key_header": "api-key",
                "max_tokens_field": "most", "unsupported": ["temperature"]})
            done = self.mortise("-m", "work/m 1", "--no-plugins", "--max-tokens", "7",
                                "--temperature", "0.5", "Hi",
                                env={"OWN_KEY": OWN_KEY, "GATE": HEADER, "FOR": "a&b",
                                     "OPENAI_API_KEY": OPENAI_KEY})
            self.check(done, 0)
            self.assertIn("'temperature' is not supported by work", done.err)
            request = server.requests[0]
        self.assertEqual(request["path"], "/llm/x/m%201/chat?api-version=2024-10-21&for=a%26b")
        self.assertEqual(request["headers"]["api-key"], OWN_KEY)
        self.assertEqual(request["headers"]["X-Team"], "tools")
        self.assertEqual(request["headers"]["X-Gate"], HEADER)
        self.assertIsNone(request["headers"]["Authorization"])
        self.assertEqual(request["body"]["model"], "m 1")
        self.assertEqual(request["body"]["most"], 7)
        self.assertNotIn("temperature", request["body"])
        self.assertNotIn(OPENAI_KEY, str(request["headers"].items()))

    def test_no_key_of_another_server_is_sent(self):
        with self.serve() as server:
            self.providers(work={"like": "openai", "base_url": server.url + "/v1"})
            request = self.ask(server, "-m", "work/m", env={"OPENAI_API_KEY": OPENAI_KEY})
        self.assertIsNone(request["headers"]["Authorization"])

    def test_other_formats(self):
        with e2e.Server(e2e.anthropic_reply("Hello")) as server:
            self.providers(work={"format": "anthropic", "base_url": server.url + "/a",
                                 "headers": {"anthropic-version": "2099-01-01"},
                                 "key_command": f"echo {OWN_KEY}",
                                 "key_header": "Authorization: Bearer"})
            request = self.ask(server, "-m", "work/m")
        self.assertEqual(request["path"], "/a/messages")
        self.assertEqual(request["headers"].get_all("anthropic-version"), ["2099-01-01"])
        self.assertEqual(request["headers"]["Authorization"], f"Bearer {OWN_KEY}")
        self.assertIsNone(request["headers"]["x-api-key"])

    def test_it_is_asked_when_no_key_is_set(self):
        with self.serve() as server:
            self.providers(work={"format": "openai-chat", "base_url": server.url + "/v1",
                                 "default_model": "m1"})
            request = self.ask(server)
        self.assertEqual(request["body"]["model"], "m1")

    def test_a_deployment_of_an_older_azure(self):
        with self.serve() as server:
            self.providers(azure_old={
                "format": "openai-chat", "base_url": server.url + "/openai",
                "path": "/deployments/{model}/chat/completions",
                "query": {"api-version": "2024-10-21"}, "key_header": "api-key",
                "key_env": "AZURE_OPENAI_API_KEY"})
            request = self.ask(server, "-m", "azure-old/gpt4",
                               env={"AZURE_OPENAI_API_KEY": OWN_KEY})
        self.assertEqual(request["path"],
                         "/openai/deployments/gpt4/chat/completions?api-version=2024-10-21")
        self.assertEqual(request["headers"]["api-key"], OWN_KEY)

    def test_a_secret_of_a_header_is_not_shown(self):
        """A server that tells what it got does not tell it to the screen."""
        def refuse(_):
            return b'{"error":{"message":"bad header ' + HEADER.encode() + b'"}}'
        with e2e.Server(refuse) as server:
            self.providers(work={"format": "openai-chat", "base_url": server.url,
                                 "headers": {"X-Gate": {"env": "GATE"}}})
            done = self.mortise("-vv", "-m", "work/m", "--no-plugins", "--retries", "0", "Hi",
                                env={"GATE": HEADER})
        self.assertNotEqual(done.code, 0)
        self.assertIn("bad header", done.err)
        self.assertNotIn(HEADER, done.err + done.out)

    def test_a_variable_that_is_not_set(self):
        self.providers(work={"format": "openai-chat", "base_url": "http://127.0.0.1:9",
                             "headers": {"X-Gate": {"env": "GATE"}}})
        self.check_error(self.mortise("-m", "work/m", "--no-plugins", "Hi"), 3,
                         "header 'X-Gate' of 'work'", "GATE")
        self.check(self.mortise("providers"), 0)

    def test_what_is_wrong_is_told_with_its_place(self):
        self.providers(work={"like": "openai", "base_ur": "https://h"})
        for words in (["providers"], ["-m", "offline", "--no-plugins", "Hi"]):
            self.check_error(self.mortise(*words), 3, "/config.json'", "provider-config: 'work'",
                             "unknown key 'base_ur'; did you mean 'base_url'?")

    def test_a_project_cannot(self):
        """It would send the key that is set, and what is asked, to whom it likes."""
        with self.serve() as server:
            for section in ({"openai": {"base_url": server.url + "/v1"}},
                            {"work": {"like": "openai", "base_url": server.url + "/v1"}}):
                self.file("work/.mortise/config.json", json.dumps({"provider-config": section}))
                done = self.mortise("-m", "openai/m", "--no-plugins", "Hi",
                                    env={"OPENAI_API_KEY": OPENAI_KEY})
                self.check_error(done, 3, ".mortise/config.json'", "provider-config")
            self.assertEqual(server.requests, [])


class BuiltIn(Providers):
    def test_azure(self):
        with self.serve() as server:
            request = self.ask(server, "-m", "azure/my-gpt",
                               env={"AZURE_OPENAI_ENDPOINT": server.url + "/",
                                    "AZURE_OPENAI_API_KEY": OWN_KEY})
        self.assertEqual(request["path"], "/openai/v1/chat/completions")
        self.assertEqual(request["headers"]["api-key"], OWN_KEY)
        self.assertIsNone(request["headers"]["Authorization"])
        self.assertEqual(request["body"]["model"], "my-gpt")

    def test_any_compatible_server(self):
        with self.serve() as server:
            request = self.ask(server, "-m", "compatible/m", "--top-k", "5",
                               "--base-url", server.url + "/v1")
        self.assertEqual(request["path"], "/v1/chat/completions")
        self.assertIsNone(request["headers"]["Authorization"])
        self.assertEqual(request["body"]["top_k"], 5)

    def test_a_local_server_gets_a_key_that_is_set(self):
        with self.serve() as server:
            request = self.ask(server, "-m", "vllm/m", env={"VLLM_BASE_URL": server.url,
                                                            "VLLM_API_KEY": OWN_KEY})
        self.assertEqual(request["path"], "/v1/chat/completions")
        self.assertEqual(request["headers"]["Authorization"], f"Bearer {OWN_KEY}")

    def test_another_place_for_it(self):
        """Option, section, variable: the nearer one decides."""
        env = {"OPENAI_API_KEY": OPENAI_KEY, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
        with self.serve() as server:
            self.providers(openai={"base_url": server.url + "/mine"})
            request = self.ask(server, "-m", "openai/m", env=env)
            self.assertEqual(request["path"], "/mine/chat/completions")
            self.assertEqual(request["headers"]["Authorization"], f"Bearer {OPENAI_KEY}")
        with self.serve() as server:
            request = self.ask(server, "-m", "openai/m", "--base-url", server.url + "/v1", env=env)
            self.assertEqual(request["path"], "/v1/chat/completions")

    def test_who_asks_is_told_to_openrouter(self):
        with self.serve() as server:
            request = self.ask(server, "-m", "openrouter/a/b", "--base-url", server.url + "/v1")
        self.assertEqual(request["headers"]["X-Title"], "mortise")
        self.assertEqual(request["body"]["model"], "a/b")


class Listed(Providers):
    def test_for_people(self):
        self.providers(work={"like": "openai", "base_url": "https://llm.example.org/v1",
                             "key_file": "/nowhere", "headers": {"X-Gate": HEADER}},
                       groq={"default_model": "other"})
        done = self.check(self.mortise("providers"), 0)
        for part in ("work\n  like openai\n  from       configuration\n",
                     "  server     https://llm.example.org/v1\n", "  header     X-Gate\n",
                     "  from       built in, with changes of the configuration\n",
                     "-m groq/other", "azure\n", "  server     AZURE_OPENAI_ENDPOINT\n"):
            self.assertIn(part, done.out)
        self.assertNotIn(HEADER, done.out)

    def test_as_json(self):
        self.providers(work={"format": "gemini", "base_url": "https://llm.example.org",
                             "key_env": "OWN_KEY", "query": {"v": HEADER}})
        done = self.check(self.mortise("providers", "--json", env={"OWN_KEY": OWN_KEY}), 0)
        listed = {line["name"]: line for line in done.events}
        self.assertEqual(len(listed), len(done.events))
        self.assertEqual(listed["openai"]["source"], "built in")
        self.assertEqual(listed["vllm"]["key_needed"], False)
        self.assertEqual(listed["openai"]["key_needed"], True)
        work = listed["work"]
        self.assertEqual((work["source"], work["format"], work["like"]),
                         ("configuration", "gemini", None))
        self.assertEqual((work["key_env"], work["key_set"], work["query"]),
                         ("OWN_KEY", True, ["v"]))
        for secret in (OWN_KEY, HEADER):
            self.assertNotIn(secret, done.out)


if __name__ == "__main__":
    e2e.main()
