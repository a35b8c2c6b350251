"""Files and images that tools return: to the model, in later requests, after a resume, to people
(F67-F75)."""
import base64
import json
import os
import unittest

import e2e

PDF = "https://example.org/report.pdf"


class Anthropic:
    seeing = "anthropic/claude-sonnet-4-5"
    blind = "anthropic/claude-2.1"
    base = ""
    env = {"ANTHROPIC_API_KEY": "sk-ant-0123456789"}
    reply = staticmethod(e2e.anthropic_reply)

    @staticmethod
    def results(body):
        """The contents of the results, in order."""
        return [block["content"] for message in body["messages"] if message["role"] == "user"
                for block in message["content"] if block["type"] == "tool_result"]

    @staticmethod
    def images(body):
        """(type, bytes) of every image."""
        return [(block["source"]["media_type"], base64.b64decode(block["source"]["data"]))
                for content in Anthropic.results(body) if isinstance(content, list)
                for block in content
                if block["type"] == "image" and block["source"]["type"] == "base64"]

    @staticmethod
    def texts(body):
        return ["\n".join(block["text"] for block in content if block["type"] == "text")
                if isinstance(content, list) else content
                for content in Anthropic.results(body)]


class Chat:
    seeing = "openai/gpt-4.1"
    blind = "openai/some-model"
    base = "/v1"
    env = {"OPENAI_API_KEY": "sk-0123456789"}
    reply = staticmethod(e2e.openai_reply)

    @staticmethod
    def images(body):
        urls = [part["image_url"]["url"] for message in body["messages"]
                if isinstance(message["content"], list) for part in message["content"]
                if part["type"] == "image_url"]
        return [(url.split(";")[0][5:], base64.b64decode(url.split(",")[1])) for url in urls]

    @staticmethod
    def texts(body):
        return [message["content"] for message in body["messages"] if message["role"] == "tool"]


class Responses:
    seeing = "openai-responses/gpt-5"
    blind = "openai-responses/some-model"
    base = "/v1"
    env = {"OPENAI_API_KEY": "sk-0123456789"}
    reply = staticmethod(e2e.responses_reply)

    @staticmethod
    def outputs(body):
        """The parts of each result, in order."""
        return [[{"type": "input_text", "text": item["output"]}]
                if isinstance(item["output"], str) else item["output"]
                for item in body["input"] if item.get("type") == "function_call_output"]

    @staticmethod
    def images(body):
        urls = [part["image_url"] for parts in Responses.outputs(body) for part in parts
                if part["type"] == "input_image"]
        return [(url.split(";")[0][5:], base64.b64decode(url.split(",")[1])) for url in urls]

    @staticmethod
    def texts(body):
        return ["".join(part["text"] for part in parts if part["type"] == "input_text")
                for parts in Responses.outputs(body)]


class Gemini:
    seeing = "gemini/gemini-3-pro-preview"
    blind = "gemini/gemini-2.5-pro"
    base = ""
    env = {"GEMINI_API_KEY": "AIza-0123456789"}
    reply = staticmethod(e2e.gemini_reply)

    @staticmethod
    def results(body):
        return [part["functionResponse"] for content in body["contents"]
                for part in content["parts"] if "functionResponse" in part]

    @staticmethod
    def images(body):
        blobs = [part["inlineData"] for result in Gemini.results(body)
                 for part in result.get("parts", ()) if "inlineData" in part]
        return [(blob["mimeType"], base64.b64decode(blob["data"])) for blob in blobs]

    @staticmethod
    def texts(body):
        return ["\n".join(value if isinstance(value, str) else json.dumps(value)
                          for value in result["response"].values())
                for result in Gemini.results(body)]


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.plugins = os.path.join(os.path.dirname(e2e.options.fixtures), "parts")
        self.png = base64.b64decode(self.source_of("PNG_BASE64"))

    def source_of(self, name):
        """The text of a #define of the fixture."""
        path = os.path.join(e2e.options.source, "tests/e2e/plugins/e2e_parts.c")
        with open(path, encoding="utf-8") as source:
            return next(line.split('"')[1] for line in source if line.startswith(f"#define {name}"))

    def by_hand(self, tool, *options, json_text="{}", code=0):
        return self.check(self.mortise("-P", self.plugins, *options, "tools", "call", tool,
                                       json_text), code)


class ByHand(Case):
    """mortise tools call"""

    def test_each_way(self):
        lines = {"attach": ("attached", ", 'dot.png'", ", 'report.pdf'"),
                 "inline_data": ('{"dots":1}', ", 'dot.png'", ""),
                 "byte_list": ('{"note":1.50}', "", None)}
        for tool, (text, image, pdf) in lines.items():
            done = self.by_hand(tool)
            self.assertEqual(done.out, text + "\n")
            shown = [line for line in done.err.splitlines() if line.startswith("  + ")]
            expected = [f"  + image/png, {len(self.png)} bytes{image}"]
            if pdf is not None:
                expected.append(f"  + application/pdf{pdf}, {PDF}")
            self.assertEqual(shown, expected)

    def test_json(self):
        result, = self.by_hand("attach", "--json").of_type("tool_result")
        self.assertEqual(result["parts"], [
            {"mime_type": "image/png", "name": "dot.png", "bytes": len(self.png)},
            {"mime_type": "application/pdf", "name": "report.pdf", "uri": PDF}])
        result, = self.by_hand("film", "--json").of_type("tool_result")
        self.assertEqual(result["parts"],
                         [{"mime_type": "video/mp4", "name": "clip.mp4", "bytes": 4}])

    def test_broken_element(self):
        """F69"""
        done = self.by_hand("broken", code=1)
        self.assertIn("inline_data[1]: 'data' is not base64", done.err)
        self.assertNotIn("  + ", done.err)

    def test_ten_mebibytes(self):
        """F74"""
        most = 10 << 20
        self.assertEqual(self.by_hand("large", json_text=json.dumps({"bytes": most})).out, "taken\n")
        done = self.by_hand("large", json_text=json.dumps({"bytes": most + 1}), code=1)
        self.assertIn("10.5 MB are more than the 10 MiB that a part may have", done.err)
        self.assertIn("not taken: -7", done.err)


class WireTests:
    """With each wire, against a server of our own."""
    wire = None

    def ask(self, server, *arguments, model=None, prompt="Look"):
        return self.mortise("-m", model or self.wire.seeing, "--base-url",
                            server.url + self.wire.base, "-P", self.plugins, *arguments, prompt,
                            env=self.wire.env)

    def replies(self, *tools, more=1):
        calls = [(f"c{number}", tool, "{}") for number, tool in enumerate(tools)]
        return [self.wire.reply("I look.", calls), *([self.wire.reply("Seen.")] * more)]

    def test_every_way_reaches_the_model(self):
        with e2e.Server(*self.replies("attach", "inline_data", "byte_list", "broken")) as server:
            done = self.check(self.ask(server), 0)
        body = server.bodies[1]
        self.assertEqual(self.wire.images(body), [("image/png", self.png)] * 3)
        texts = self.wire.texts(body)
        self.assertIn("attached", texts[0])
        self.assertIn('{"dots":1}', texts[1])
        self.assertIn('{"note":1.50}', texts[2])
        self.assertIn("inline_data[1]: 'data' is not base64", texts[3])
        self.assertIn(f"  + image/png, {len(self.png)} bytes, 'dot.png'", done.err)
        self.assertNotIn("inline_data\":", server.requests[1]["raw"].decode())

    def test_what_is_not_taken_is_said(self):
        """F75: to the model, and to the user."""
        with e2e.Server(*self.replies("film")) as server:
            done = self.check(self.ask(server, "--json"), 0)
        line = "1 part not sent: video/mp4, 4 bytes, 'clip.mp4'"
        self.assertEqual(self.wire.texts(server.bodies[1]), [f"filmed\n[{line}]"])
        self.assertEqual([event["text"] for event in done.of_type("status")],
                         [f"of the result of 'film', {line}"])

    def test_models_that_take_none(self):
        for model, images, sent in ((self.wire.blind, "auto", 0), (self.wire.blind, "on", 1),
                                    (self.wire.seeing, "off", 0), (self.wire.seeing, "auto", 1)):
            with e2e.Server(*self.replies("byte_list")) as server:
                self.check(self.ask(server, "--images", images, model=model), 0)
            body = server.bodies[1]
            self.assertEqual(len(self.wire.images(body)), sent, (model, images))
            self.assertEqual(sent == 0, "[1 part not sent: image/png, "
                             f"{len(self.png)} bytes]" in self.wire.texts(body)[0])

    def test_later_requests_and_a_resume(self):
        """History is sent again, byte for byte, also by another process; also to another model."""
        replies = [*self.replies("attach", more=1), *self.replies("byte_list", more=3)]
        with e2e.Server(*replies) as server:
            self.check(self.ask(server, "--session", "s"), 0)
            self.check(self.ask(server, "-c", prompt="And now?"), 0)
            self.check(self.ask(server, "-c", prompt="And?"), 0)
            self.check(self.ask(server, "-c", prompt="And?", model=self.wire.blind), 0)
        raw = [request["raw"] for request in server.requests]
        bodies = server.bodies
        self.assertEqual([len(self.wire.images(body)) for body in bodies], [0, 1, 1, 2, 2, 0])
        self.assertEqual(self.wire.images(bodies[4]), [("image/png", self.png)] * 2)
        for before, after in ((1, 2), (2, 3), (3, 4)):
            behind = b'],"generationConfig"' if self.wire is Gemini else b'],"stream"'
            length = raw[before].index(behind)
            length -= 0 if self.wire is Chat else 2  # its last message may go on
            self.assertEqual(raw[after][:length], raw[before][:length])

    def test_export_and_import(self):
        with e2e.Server(*self.replies("attach", more=2)) as server:
            self.check(self.ask(server, "--session", "s"), 0)
            exported = self.check(self.mortise("sessions", "export", "s"), 0)
            shown = self.check(self.mortise("sessions", "show", "s"), 0)
            self.check(self.mortise("sessions", "rm", "s"), 0)
            self.check(self.mortise("sessions", "import", self.file("s.jsonl", exported.out)), 0)
            self.check(self.ask(server, "-c", prompt="And?"), 0)
        self.assertEqual(self.wire.images(server.bodies[2]), [("image/png", self.png)])
        self.assertIn(f"image/png, {len(self.png)} bytes, 'dot.png'", shown.out)

    def test_locked_session(self):
        """D17: parts in the locked prefix."""
        replies = [*self.replies("attach"), *self.replies("byte_list", more=2)]
        with e2e.Server(*replies) as server:
            self.check(self.ask(server, "--session", "s"), 0)
            done = self.check(self.ask(server, "--json", "-c", "--lock", prompt="And now?"), 0)
        self.assertEqual(len({turn["prefix_sha256"] for turn in done.of_type("turn_start")}), 1)
        self.assertEqual(len(self.wire.images(server.bodies[3])), 2)


class AnthropicTest(WireTests, Case):
    wire = Anthropic

    def test_large_images(self):
        """More than the server takes, and then no request of the session would be taken."""
        calls = [("c1", "large", json.dumps({"bytes": (5 << 20) // 4 * 3 + 1}))]
        with e2e.Server(self.wire.reply("", calls), self.wire.reply("Oh.")) as server:
            self.check(self.ask(server), 0)
        self.assertEqual(self.wire.images(server.bodies[1]), [])
        self.assertEqual(self.wire.texts(server.bodies[1]),
                         ["taken\n[1 part not sent: image/png, 3.9 MB, 'large.png' "
                          "(it is larger than the model takes)]"])

    def test_links(self):
        """F72"""
        with e2e.Server(*self.replies("inline_data")) as server:
            self.check(self.ask(server), 0)
        document, = [block for block in self.wire.results(server.bodies[1])[0]
                     if block["type"] == "document"]
        self.assertEqual(document["source"], {"type": "url", "url": PDF})


class ResponsesTest(WireTests, Case):
    wire = Responses

    def test_links(self):
        """F72"""
        with e2e.Server(*self.replies("inline_data")) as server:
            self.check(self.ask(server), 0)
        file, = [part for part in Responses.outputs(server.bodies[1])[0]
                 if part["type"] == "input_file"]
        self.assertEqual(file, {"type": "input_file", "file_url": PDF})


class GeminiTest(WireTests, Case):
    wire = Gemini

    def test_every_way_reaches_the_model(self):
        with e2e.Server(*self.replies("attach", "inline_data", "byte_list", "broken")) as server:
            self.check(self.ask(server), 0)
        self.assertEqual(Gemini.images(server.bodies[1]), [("image/png", self.png)] * 3)
        said = [result["response"] for result in Gemini.results(server.bodies[1])]
        self.assertEqual(said[0], {"result": "attached", "attachments":
                                   f"[1 part not sent: application/pdf, 'report.pdf', {PDF}]"})
        self.assertEqual((said[1]["result"], said[2]), ({"dots": 1}, {"note": 1.5}))
        self.assertIn("inline_data[1]: 'data' is not base64", said[3]["error"])
        self.assertIn(b'"response":{"note":1.50}', server.requests[1]["raw"])

    def test_links(self):
        """F70, F72: when the user says that the server takes them; what is here stands first."""
        with e2e.Server(*self.replies("attach", "film")) as server:
            self.check(self.ask(server, "--images", "on"), 0)
        attach, film = Gemini.results(server.bodies[1])
        self.assertEqual([list(part) for part in attach["parts"]], [["inlineData"], ["fileData"]])
        self.assertEqual(attach["parts"][1]["fileData"],
                         {"mimeType": "application/pdf", "fileUri": PDF})
        self.assertEqual(attach["response"], {"result": "attached"})
        self.assertNotIn("parts", film)


class ChatTest(WireTests, Case):
    wire = Chat

    def test_order_of_messages(self):
        """The results stand together; what they name comes behind them."""
        with e2e.Server(*self.replies("attach", "film", "byte_list")) as server:
            self.check(self.ask(server), 0)
        messages = server.bodies[1]["messages"]
        self.assertEqual([message["role"] for message in messages],
                         ["user", "assistant", "tool", "tool", "tool", "user"])
        self.assertEqual([part["type"] for part in messages[-1]["content"]],
                         ["text", "image_url"] * 2)
        self.assertEqual([part["text"] for part in messages[-1]["content"][::2]],
                         ["[part 1]", "[part 2]"])
        self.assertIn("[part 1, below: image/png", messages[2]["content"])
        self.assertIn("[part 2, below: image/png", messages[4]["content"])
        self.assertIn(f"[1 part not sent: application/pdf, 'report.pdf', {PDF}]",
                      messages[2]["content"])


class OfflineTest(Case):
    def test_a_stand_in(self):
        """A script is no model that sees: it is said too."""
        model = self.script({"calls": [{"name": "attach", "arguments": {}}]}, {"text": "Done."})
        done = self.check(self.mortise("-P", self.plugins, "-m", model, "hi"), 0)
        self.assertEqual(done.out, "Done.\n")
        self.assertIn("of the result of 'attach', 2 parts not sent: image/png", done.err)


if __name__ == "__main__":
    e2e.main()
