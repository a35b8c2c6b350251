"""The main case: several calls in one response, most of them bad, against a real server.

In each wire format the run ends in one answer, the second request is valid for its API, and it
tells the model what went wrong, so that it can do better.
"""
import json

import e2e

GOOD = ("call_good", "greet", '{"name": "Ada"}')
FAILING = ("call_failing", "calculator", '{"op": "divide", "a": 1, "b": 0}')
UNKNOWN = ("call_unknown", "gret", '{"name": "Bo"}')
BROKEN = ("call_broken", "greet", '{"name": "Cy", oops}')
EVERY_CALL = (FAILING, UNKNOWN, BROKEN, GOOD)

TOOLS = ["calculator", "check_report_status", "counter", "execute_code", "generate_report",
         "get_weather", "glob", "greet", "grep", "http_fetch", "list_files", "load_artifact",
         "memory_add", "memory_search", "read_file", "save_artifact", "web_search"]


class Chat:
    """Chat Completions."""
    model = "openai/test-model"
    path = "/v1/chat/completions"
    base = "/v1"
    env = {"OPENAI_API_KEY": "sk-0123456789"}
    behind = b'],"stream":'  # what may change from one request to the next
    mark = "prompt_cache_key"  # of a locked session
    reply = staticmethod(e2e.openai_reply)

    @staticmethod
    def check_headers(test, headers):
        test.assertEqual(headers["Authorization"], "Bearer sk-0123456789")
        test.assertEqual(headers["Content-Type"], "application/json")

    @staticmethod
    def check_valid(test, body):
        """What the API refuses is found here."""
        test.assertIs(body["stream"], True)
        test.assertEqual(body["model"], "test-model")
        waiting = []
        seen = set()
        for at, message in enumerate(body["messages"]):
            role = message["role"]
            if role == "tool":
                test.assertTrue(waiting, "a result without a call")
                test.assertEqual(message["tool_call_id"], waiting.pop(0), "order of the results")
                test.assertIsInstance(message["content"], str)
                continue
            test.assertEqual(waiting, [], "calls without a result")
            test.assertIn(role, ("system", "user", "assistant"))
            test.assertTrue(role != "system" or at == 0, "the system prompt stands first")
            if "tool_calls" not in message:
                test.assertIsInstance(message["content"], str)
                continue
            test.assertEqual(role, "assistant")
            for call in message["tool_calls"]:
                test.assertEqual(call["type"], "function")
                test.assertRegex(call["function"]["name"], r"\A[A-Za-z0-9_-]{1,64}\Z")
                test.assertIsInstance(json.loads(call["function"]["arguments"]), dict)
                test.assertNotIn(call["id"], seen)
                seen.add(call["id"])
                waiting.append(call["id"])
        test.assertEqual(waiting, [], "calls without a result")

    @staticmethod
    def calls(body):
        """The calls of the one message of the assistant."""
        made = [message for message in body["messages"] if message["role"] == "assistant"]
        return made, [(call["id"], call["function"]["name"],
                       json.loads(call["function"]["arguments"]))
                      for message in made for call in message.get("tool_calls", ())]

    @staticmethod
    def results(body):
        """(id, text, is it said to be an error) in order."""
        return [(message["tool_call_id"], message["content"],
                 message["content"].startswith("Error"))
                for message in body["messages"] if message["role"] == "tool"]

    @staticmethod
    def tools(body):
        """T6: what the host knows of a tool is what the model is told."""
        return [(tool["function"]["name"], tool["function"]["parameters"])
                for tool in body["tools"]]

    @staticmethod
    def user_texts(body):
        return [message["content"] for message in body["messages"] if message["role"] == "user"]


class Messages:
    """Anthropic Messages."""
    model = "anthropic/test-model"
    path = "/v1/messages"
    base = ""
    env = {"ANTHROPIC_API_KEY": "sk-ant-0123456789"}
    behind = b'],"stream":'
    mark = "cache_control"
    reply = staticmethod(e2e.anthropic_reply)

    @staticmethod
    def check_headers(test, headers):
        headers = {name.lower(): value for name, value in headers.items()}
        test.assertEqual(headers["x-api-key"], "sk-ant-0123456789")
        test.assertEqual(headers["content-type"], "application/json")
        test.assertIn("anthropic-version", headers)

    @staticmethod
    def check_valid(test, body):
        test.assertIs(body["stream"], True)
        test.assertEqual(body["model"], "test-model")
        test.assertGreater(body["max_tokens"], 0)
        waiting = []
        seen = set()
        for at, message in enumerate(body["messages"]):
            test.assertEqual(message["role"], "assistant" if at % 2 else "user", "roles take turns")
            blocks = message["content"]
            test.assertTrue(blocks)
            kinds = [block["type"] for block in blocks]
            if message["role"] == "user":
                answered = [block["tool_use_id"] for block in blocks
                            if block["type"] == "tool_result"]
                test.assertEqual(answered, waiting, "one message has all results, in call order")
                test.assertEqual(kinds[:len(answered)], ["tool_result"] * len(answered),
                                 "results first")
                waiting = []
            for block in blocks:
                if block["type"] == "text":
                    test.assertTrue(block["text"].strip())
                elif block["type"] == "tool_use":
                    test.assertIsInstance(block["input"], dict)
                    test.assertRegex(block["name"], r"\A[A-Za-z0-9_-]{1,64}\Z")
                    test.assertRegex(block["id"], r"\A[A-Za-z0-9_-]+\Z")
                    test.assertNotIn(block["id"], seen)
                    seen.add(block["id"])
                    waiting.append(block["id"])
        test.assertEqual(waiting, [], "calls without a result")

    @staticmethod
    def calls(body):
        made = [message for message in body["messages"] if message["role"] == "assistant"]
        return made, [(block["id"], block["name"], block["input"])
                      for message in made for block in message["content"]
                      if block["type"] == "tool_use"]

    @staticmethod
    def results(body):
        return [(block["tool_use_id"], block["content"], block.get("is_error", False))
                for message in body["messages"] if message["role"] == "user"
                for block in message["content"] if block["type"] == "tool_result"]

    @staticmethod
    def tools(body):
        return [(tool["name"], tool["input_schema"]) for tool in body["tools"]]

    @staticmethod
    def user_texts(body):
        return [block["text"] for message in body["messages"] if message["role"] == "user"
                for block in message["content"] if block["type"] == "text"]


class Responses:
    """OpenAI Responses."""
    model = "openai-responses/test-model"
    path = "/v1/responses"
    base = "/v1"
    env = {"OPENAI_API_KEY": "sk-0123456789"}
    behind = b'],"stream":'
    mark = "prompt_cache_key"
    reply = staticmethod(e2e.responses_reply)
    check_headers = Chat.check_headers

    @staticmethod
    def check_valid(test, body):
        test.assertIs(body["stream"], True)
        test.assertIs(body["store"], False)
        test.assertEqual(body["model"], "test-model")
        waiting = []
        seen = set()
        for item in body["input"]:
            kind = item.get("type", "message")
            if kind == "function_call_output":
                test.assertTrue(waiting, "a result without a call")
                test.assertEqual(item["call_id"], waiting.pop(0), "order of the results")
                continue
            test.assertIn(kind, ("message", "function_call"))
            if kind == "message":
                test.assertEqual(waiting, [], "calls without a result")
                test.assertTrue(item["content"])
                continue
            test.assertRegex(item["name"], r"\A[A-Za-z0-9_-]{1,64}\Z")
            test.assertIsInstance(json.loads(item["arguments"]), dict)
            test.assertNotIn(item["call_id"], seen)
            seen.add(item["call_id"])
            waiting.append(item["call_id"])
        test.assertEqual(waiting, [], "calls without a result")

    @staticmethod
    def calls(body):
        """An item each; the text before them counts as the one message."""
        said = [item for item in body["input"] if item.get("role") == "assistant"]
        return said, [(item["call_id"], item["name"], json.loads(item["arguments"]))
                      for item in body["input"] if item.get("type") == "function_call"]

    @staticmethod
    def results(body):
        return [(item["call_id"], item["output"], item["output"].startswith("Error"))
                for item in body["input"] if item.get("type") == "function_call_output"]

    @staticmethod
    def tools(body):
        return [(tool["name"], tool["parameters"]) for tool in body["tools"]]

    @staticmethod
    def user_texts(body):
        return [item["content"] for item in body["input"] if item.get("role") == "user"]


class Gemini:
    """Google Gemini."""
    model = "gemini/test-model"
    path = "/v1beta/models/test-model:streamGenerateContent?alt=sse"
    base = ""
    env = {"GOOGLE_API_KEY": "AIza-0123456789"}
    behind = b'],"generationConfig":'
    mark = None
    reply = staticmethod(e2e.gemini_reply)

    @staticmethod
    def check_headers(test, headers):
        headers = {name.lower(): value for name, value in headers.items()}
        test.assertEqual(headers["x-goog-api-key"], "AIza-0123456789")
        test.assertEqual(headers["content-type"], "application/json")

    @staticmethod
    def check_valid(test, body):
        waiting = []
        seen = set()
        for at, content in enumerate(body["contents"]):
            test.assertEqual(content["role"], "model" if at % 2 else "user", "roles take turns")
            test.assertTrue(content["parts"])
            if content["role"] == "user":
                answered = [(part["functionResponse"]["id"], part["functionResponse"]["name"])
                            for part in content["parts"] if "functionResponse" in part]
                test.assertEqual(answered, waiting, "one content has all results, in call order")
                test.assertTrue(all("functionResponse" in part
                                    for part in content["parts"][:len(answered)]), "results first")
                waiting = []
            for part in content["parts"]:
                if "functionCall" in part:
                    call = part["functionCall"]
                    test.assertEqual(part["thoughtSignature"], "c2ln")
                    test.assertIsInstance(call["args"], dict)
                    test.assertRegex(call["name"], r"\A[A-Za-z_][A-Za-z0-9_.-]{,63}\Z")
                    test.assertNotIn(call["id"], seen)
                    seen.add(call["id"])
                    waiting.append((call["id"], call["name"]))
                elif "functionResponse" in part:
                    test.assertIsInstance(part["functionResponse"]["response"], dict)
                else:
                    test.assertTrue(part["text"].strip())
        test.assertEqual(waiting, [], "calls without a result")

    @staticmethod
    def calls(body):
        made = [content for content in body["contents"] if content["role"] == "model"]
        return made, [(call["id"], call["name"], call["args"]) for content in made
                      for call in (part.get("functionCall") for part in content["parts"]) if call]

    @staticmethod
    def results(body):
        found = []
        for content in body["contents"]:
            for part in content["parts"]:
                if "functionResponse" not in part:
                    continue
                response = part["functionResponse"]["response"]
                value = response.get("error", response.get("result"))
                found.append((part["functionResponse"]["id"],
                              value if isinstance(value, str) else json.dumps(value),
                              "error" in response))
        return found

    @staticmethod
    def tools(body):
        tool, = body["tools"]
        return [(function["name"], function["parametersJsonSchema"])
                for function in tool["functionDeclarations"]]

    @staticmethod
    def user_texts(body):
        return [part["text"] for content in body["contents"] if content["role"] == "user"
                for part in content["parts"] if "text" in part]


class WireTests:
    """The tests, for each wire."""
    wire = None

    def ask(self, server, *arguments, prompt="Greet everybody"):
        return self.mortise("-m", self.wire.model, "--base-url", server.url + self.wire.base,
                            *arguments, prompt, env=self.wire.env)

    def test_locked_session(self):
        """D17: what is locked stands in front of every request, and its hash tells."""
        replies = (self.wire.reply("Hello."), self.wire.reply("I greet.", EVERY_CALL),
                   self.wire.reply("Done."), self.wire.reply("Bye."))
        with e2e.Server(*replies) as server:
            plain = self.check(self.ask(server, "--json", "--session", "s"), 0)
            locked = self.check(self.ask(server, "--json", "-c", "--lock", prompt="Once more"), 0)
            self.check(self.ask(server, "--json", "-c", prompt="And now?"), 0)
        self.assertNotIn("prefix_sha256", plain.of_type("turn_start")[0])
        hashes = [turn["prefix_sha256"] for turn in locked.of_type("turn_start")]
        self.assertEqual(len(hashes), 2)
        self.assertEqual(len(set(hashes)), 1)
        self.assertRegex(hashes[0], r"\A[0-9a-f]{64}\Z")
        if self.wire.mark:
            self.assertEqual([self.wire.mark in json.dumps(body) for body in server.bodies],
                             [False, True, True, False])

    def test_several_bad_calls_and_a_good_one(self):
        """FAULTS 69, 85, 86, 125"""
        replies = (self.wire.reply("I greet them.", EVERY_CALL), self.wire.reply("Hello, Ada!"))
        with e2e.Server(*replies) as server:
            done = self.check(self.ask(server), 0)
        self.assertEqual(done.out, "I greet them.\nHello, Ada!\n")
        self.assertEqual(len(server.requests), 2)
        for request in server.requests:
            self.assertEqual(request["path"], self.wire.path)
            self.wire.check_headers(self, request["headers"])
            self.wire.check_valid(self, request["body"])

        body = server.bodies[1]
        said, calls = self.wire.calls(body)
        self.assertEqual(len(said), 1, "one response is one message")
        self.assertEqual([call_id for call_id, _, _ in calls],
                         [call_id for call_id, _, _ in EVERY_CALL])
        self.assertEqual([name for _, name, _ in calls], ["calculator", "gret", "greet", "greet"])
        self.assertEqual(calls[3][2], {"name": "Ada"})
        self.assertEqual(calls[2][2], {}, "what cannot be read is not sent as it was")
        self.assertEqual(self.wire.user_texts(body), ["Greet everybody"])
        self.check_results(self.wire.results(body))

    def check_results(self, results):
        self.assertEqual([call_id for call_id, _, _ in results],
                         [call_id for call_id, _, _ in EVERY_CALL])
        failing, unknown, broken, good = results
        self.assertEqual([is_error for _, _, is_error in results], [True, True, True, False])
        self.assertEqual(good[1], "Hello, Ada!")
        self.assertIn("Cannot divide by zero", failing[1])
        self.assertIn("Tool 'gret' not found", unknown[1])
        self.assertIn("'greet'", unknown[1])  # what was probably meant
        for name in TOOLS:
            self.assertIn(name, unknown[1])
        self.assertIn("not valid JSON", broken[1])
        self.assertIn("line 1, column 1", broken[1])  # 15 to 19, as the reader has it
        self.assertIn("oops", broken[1])

    def test_events_tell_the_same(self):
        replies = (self.wire.reply(None, EVERY_CALL), self.wire.reply("Hello, Ada!"))
        with e2e.Server(*replies) as server:
            done = self.check(self.ask(server, "--json"), 0)
        calls = done.of_type("tool_call")
        self.assertEqual([call["valid"] for call in calls], [True, True, False, True])
        self.assertEqual(calls[2]["arguments_raw"], BROKEN[2])
        results = done.of_type("tool_result")
        self.assertEqual([result["error"] and result["error"]["category"] for result in results],
                         ["invalid_input", "not_found", "invalid_input", None])
        self.assertEqual(done.events[-1]["usage"]["input_tokens"], 20)
        self.assertEqual(done.events[-1]["usage"]["output_tokens"], 10)

    def test_the_model_does_better(self):
        """The second response repairs its calls; the third request holds all of it."""
        repaired = (("call_again", "greet", '{"name": "Cy"}'),
                    ("call_more", "calculator", '{"op": "divide", "a": 12, "b": 4}'))
        replies = (self.wire.reply("First.", EVERY_CALL), self.wire.reply("Again.", repaired),
                   self.wire.reply("Done."))
        with e2e.Server(*replies) as server:
            done = self.check(self.ask(server), 0)
        self.assertTrue(done.out.endswith("Done.\n"))
        body = server.bodies[2]
        self.wire.check_valid(self, body)
        self.assertEqual([text for _, text, _ in self.wire.results(body)[4:]], ["Hello, Cy!", "3"])

    def test_every_request_begins_with_the_one_before(self):
        """FAULTS 141; D17: the prefix is byte for byte the same, so that caches hit."""
        replies = [self.wire.reply(None, EVERY_CALL),
                   self.wire.reply(None, [("call_5", "counter", "")]), self.wire.reply("Done.")]
        with e2e.Server(*replies) as server:
            self.check(self.ask(server, "-s", "Be brief."), 0)
        bodies = [request["raw"] for request in server.requests]
        for earlier, later in zip(bodies, bodies[1:]):
            prefix = earlier[:earlier.rindex(self.wire.behind)].removesuffix(b"]}")
            self.assertTrue(later.startswith(prefix), (earlier, later))

    def test_tools_are_sorted_and_described(self):
        """FAULTS 140"""
        with e2e.Server(self.wire.reply("ok")) as server:
            self.check(self.ask(server), 0)
        tools = self.wire.tools(server.bodies[0])
        self.assertEqual([name for name, _ in tools], TOOLS)
        schema = dict(tools)["get_weather"]
        self.assertEqual(schema["type"], "object")
        self.assertEqual(schema["required"], ["location"])
        self.assertEqual(schema["properties"]["unit"]["enum"], ["celsius", "fahrenheit"])

    def test_no_tools(self):
        with e2e.Server(self.wire.reply("ok")) as server:
            self.check(self.ask(server, "--no-tools"), 0)
        self.assertNotIn("tools", server.bodies[0])

    def test_same_id_twice(self):
        """FAULTS 59; D14: the API refuses ids that are used twice; the host makes its own."""
        twice = [("same", "counter", "{}"), ("same", "greet", '{"name": "Ada"}')]
        replies = (self.wire.reply(None, twice), self.wire.reply("Done."))
        with e2e.Server(*replies) as server:
            self.check(self.ask(server), 0)
        self.wire.check_valid(self, server.bodies[1])
        self.assertEqual([text for _, text, _ in self.wire.results(server.bodies[1])],
                         ["count: 0", "Hello, Ada!"])

    def test_many_calls(self):
        calls = [(f"call_{n}", "greet", json.dumps({"name": str(n)})) for n in range(100)]
        replies = (self.wire.reply(None, calls), self.wire.reply("Done."))
        with e2e.Server(*replies) as server:
            self.check(self.ask(server), 0)
        self.wire.check_valid(self, server.bodies[1])
        self.assertEqual([text for _, text, _ in self.wire.results(server.bodies[1])],
                         [f"Hello, {n}!" for n in range(100)])

    def test_foreign_text_is_carried(self):
        text = 'Grüße "世界" 😀\n\t\\ \u0001 end'
        calls = [("call_1", "greet", json.dumps({"name": text}))]
        replies = (self.wire.reply(text, calls), self.wire.reply("Done."))
        with e2e.Server(*replies) as server:
            done = self.check(self.ask(server, "--json", prompt=text), 0)
        self.assertEqual(done.of_type("tool_result")[0]["result"], f"Hello, {text}!")
        body = server.bodies[1]
        self.wire.check_valid(self, body)
        self.assertEqual(self.wire.user_texts(body), [text])
        self.assertEqual(self.wire.results(body)[0][1], f"Hello, {text}!")


class OnChat(WireTests, e2e.Case):
    wire = Chat

    def test_settings(self):
        """W111: what is set reaches the wire, what is not stays away."""
        with e2e.Server(Chat.reply("ok"), Chat.reply("ok")) as server:
            self.check(self.ask(server), 0)
            self.check(self.ask(server, "-s", "Be brief.", "--max-tokens", "50", "--temperature",
                                "0.5", "--top-p", "0.25", "--stop", "END", "--stop", "x",
                                "--reasoning", "low"), 0)
        plain, full = server.bodies
        for name in ("max_tokens", "max_completion_tokens", "temperature", "top_p", "stop",
                     "reasoning_effort"):
            self.assertNotIn(name, plain)
        self.assertEqual(full["max_completion_tokens"], 50)
        self.assertEqual((full["temperature"], full["top_p"]), (0.5, 0.25))
        self.assertEqual((full["stop"], full["reasoning_effort"]), (["END", "x"], "low"))
        self.assertEqual(full["messages"][0], {"role": "system", "content": "Be brief."})

    def test_setting_that_the_format_does_not_have(self):
        """W101: it is told, not dropped in silence."""
        with e2e.Server(Chat.reply("ok")) as server:
            done = self.check(self.ask(server, "--top-k", "5"), 0)
        self.assertNotIn("top_k", server.bodies[0])
        self.assertIn("'top_k' is not supported by openai and will be ignored", done.err)


class OnMessages(WireTests, e2e.Case):
    wire = Messages

    def test_settings(self):
        with e2e.Server(Messages.reply("ok"), Messages.reply("ok")) as server:
            self.check(self.ask(server), 0)
            self.check(self.ask(server, "-s", "Be brief.", "--max-tokens", "50", "--temperature",
                                "0.5", "--top-p", "0.25", "--top-k", "7", "--stop", "END"), 0)
        plain, full = server.bodies
        for name in ("temperature", "top_p", "top_k", "stop_sequences", "system", "thinking"):
            self.assertNotIn(name, plain)
        self.assertEqual((full["max_tokens"], full["top_k"]), (50, 7))
        self.assertEqual((full["temperature"], full["top_p"]), (0.5, 0.25))
        self.assertEqual((full["stop_sequences"], full["system"]), (["END"], "Be brief."))


class OnResponses(WireTests, e2e.Case):
    wire = Responses

    def test_settings(self):
        with e2e.Server(Responses.reply("ok"), Responses.reply("ok")) as server:
            self.check(self.ask(server), 0)
            self.check(self.ask(server, "-s", "Be brief.", "--max-tokens", "50", "--temperature",
                                "0.5", "--top-p", "0.25", "--reasoning", "low"), 0)
        plain, full = server.bodies
        for name in ("max_output_tokens", "temperature", "top_p", "reasoning", "instructions"):
            self.assertNotIn(name, plain)
        self.assertEqual(full["max_output_tokens"], 50)
        self.assertEqual((full["temperature"], full["top_p"]), (0.5, 0.25))
        self.assertEqual((full["reasoning"], full["instructions"]), ({"effort": "low"}, "Be brief."))

    def test_settings_that_the_format_does_not_have(self):
        """W101"""
        with e2e.Server(Responses.reply("ok")) as server:
            done = self.check(self.ask(server, "--top-k", "5", "--stop", "END"), 0)
        for name in ("top_k", "stop"):
            self.assertNotIn(name, server.bodies[0])
            self.assertIn(f"'{name}' is not supported by openai-responses and will be ignored",
                          done.err)


class OnGemini(WireTests, e2e.Case):
    wire = Gemini

    def test_settings(self):
        with e2e.Server(Gemini.reply("ok"), Gemini.reply("ok")) as server:
            self.check(self.ask(server), 0)
            self.check(self.ask(server, "-s", "Be brief.", "--max-tokens", "5000", "--temperature",
                                "0.5", "--top-p", "0.25", "--top-k", "7", "--stop", "END",
                                "--reasoning", "low"), 0)
        plain, full = server.bodies
        self.assertEqual(plain["generationConfig"], {"candidateCount": 1})
        self.assertNotIn("systemInstruction", plain)
        self.assertEqual(full["generationConfig"], {
            "candidateCount": 1, "maxOutputTokens": 5000, "temperature": 0.5, "topP": 0.25,
            "topK": 7, "stopSequences": ["END"],
            "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 2048}})
        self.assertEqual(full["systemInstruction"], {"parts": [{"text": "Be brief."}]})

    def test_model_in_the_path(self):
        """Whatever is in its name, it stays one segment."""
        with e2e.Server(Gemini.reply("ok")) as server:
            self.check(self.mortise("-m", "gemini/../x?y=z#", "--base-url", server.url, "hi",
                                    env=Gemini.env), 0)
        self.assertEqual(server.requests[0]["path"], "/v1beta/models/..%2Fx%3Fy%3Dz%23"
                         ":streamGenerateContent?alt=sse")

    def test_another_model_before(self):
        """D15: what Anthropic's model said goes on neutrally, with the mark for calls that have no
        signature."""
        options = ("--session", "s", "-m", "anthropic/test-model")
        replies = (Messages.reply("I greet.", [GOOD]), Messages.reply("Done."), Gemini.reply("ok"))
        with e2e.Server(*replies) as server:
            self.check(self.mortise(*options, "--base-url", server.url, "Greet",
                                    env=Messages.env), 0)
            self.check(self.mortise("-c", "-m", "gemini/gemini-3-flash", "--base-url", server.url,
                                    "And?", env=Gemini.env), 0)
        self.assertEqual(server.bodies[2]["contents"], [
            {"role": "user", "parts": [{"text": "Greet"}]},
            {"role": "model", "parts": [
                {"text": "I greet."},
                {"functionCall": {"name": "greet", "args": {"name": "Ada"}},
                 "thoughtSignature": "skip_thought_signature_validator"}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "greet", "response": {"result": "Hello, Ada!"}}}]},
            {"role": "model", "parts": [{"text": "Done."}]},
            {"role": "user", "parts": [{"text": "And?"}]}])


if __name__ == "__main__":
    e2e.main()
