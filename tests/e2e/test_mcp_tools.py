"""The MCP server's tools: how they are listed, and what becomes of their results."""
import base64
import json

import e2e
import mcp
from mcp import LEGACY


class Tools(mcp.Case):
    def test_list(self):
        """S26, S27, S28: in order, with schemas as they are, and no more hints than were given."""
        client = self.client()
        client.initialize()
        first, second = client.request("tools/list"), client.request("tools/list")
        self.assertEqual(first["result"], second["result"])
        tools = {tool["name"]: tool for tool in first["result"]["tools"]}
        self.assertEqual(list(tools), sorted(tools))
        self.assertEqual(len(tools), 11)
        for tool in tools.values():
            self.assertRegex(tool["name"], r"^[a-zA-Z0-9_-]{1,64}$")
            self.assertEqual(tool["inputSchema"]["type"], "object")
        schema = tools["structured"]["inputSchema"]
        self.assertEqual(list(schema), ["type", "$schema", "$defs", "properties", "if", "then"])
        self.assertEqual(schema["$defs"], {"how": {"enum": ["json", "text"], "$anchor": "how"}})
        self.assertEqual(tools["structured"]["outputSchema"]["required"], ["n"])
        self.assertEqual(tools["echo"]["annotations"], {
            "readOnlyHint": True, "idempotentHint": True, "destructiveHint": False})
        self.assertEqual(tools["breaks"]["annotations"], {"destructiveHint": True})
        self.assertEqual(tools["link_to"]["annotations"], {"openWorldHint": True})
        self.assertEqual(tools["noise"]["annotations"], {"title": "Make noise"})
        self.assertEqual(tools["noise"]["title"], "Make noise")
        client.end()

    def test_list_for_older_clients(self):  # S27, S28
        client = self.client()
        members = {}
        for version in LEGACY:
            client.initialize(version)
            tools = client.result("tools/list")["tools"]
            members[version] = sorted({key for tool in tools for key in tool})
        self.assertEqual(members["2024-11-05"], ["description", "inputSchema", "name"])
        self.assertEqual(members["2025-03-26"], ["annotations", *members["2024-11-05"]])
        self.assertEqual(members["2025-06-18"], members["2025-11-25"])
        self.assertIn("outputSchema", members["2025-06-18"])
        client.end()

    def test_only_those_that_are_offered(self):
        client = self.client("--tools", "e*")
        self.assertEqual([tool["name"] for tool in client.result("tools/list")["tools"]], ["echo"])
        self.check_code(client.request("tools/call", {"name": "big", "arguments": {"bytes": 1}}),
                        -32602, client.ids)
        client.end()

    def test_structured_content(self):  # S30
        client = self.client()
        client.modern = True
        result = client.call("structured")
        self.assertEqual(result["structuredContent"], {"n": 1, "text": "a\nb"})
        self.assertEqual(json.loads(result["content"][0]["text"]), {"n": 1, "text": "a\nb"})
        self.assertEqual(client.call("structured", how="text", give={"n": 2})["structuredContent"],
                         {"n": 2})
        self.check_error(client.call("structured", how="json", give={"n": "x"}), "'n'")
        violation = client.call("structured", how="text", give="prose")
        self.assertIs(violation["isError"], True)
        self.assertNotIn("structuredContent", violation)
        client.initialize("2025-03-26")
        self.assertEqual(list(client.call("structured")), ["content"])
        self.assertEqual(list(client.call("structured", how="text", give="prose")), ["content"])
        client.end()

    def test_base64(self):  # S31
        client = self.client()
        for size in (0, 1, 2, 3, 1000000):
            [block] = client.call("media", type="image/png", bytes=size)["content"]
            self.assertEqual((block["type"], block["mimeType"]), ("image", "image/png"))
            self.assertEqual(base64.b64decode(block["data"], validate=True),
                             bytes((i * 7 + 250) % 256 for i in range(size)))
        client.end()

    def test_content(self):  # S31
        client = self.client()
        text = {"type": "text/plain", "bytes": 0, "text": "a \N{GRINNING FACE}\n"}

        def block(**arguments):
            return client.call("media", **arguments)["content"][0]

        for version in LEGACY:
            client.initialize(version)
            self.assertEqual(block(**text, uri="test://r", name="r.txt"), {
                "type": "resource", "resource": {
                    "uri": "test://r", "mimeType": "text/plain", "text": text["text"]}})
            self.assertEqual(block(**text)["resource"]["uri"], "attachment:0")
            self.assertEqual(block(**text, name="a b/\u00e9")["resource"]["uri"],
                             "attachment:0/a%20b%2F%C3%A9")
            blob = block(type="application/pdf", bytes=3, uri="test://b")
            self.assertEqual(blob["resource"]["blob"], base64.b64encode(b"\xfa\x01\x08").decode())
            self.assertEqual(block(type="text/plain", bytes=3)["resource"]["blob"],
                             base64.b64encode(b"\xfa\x01\x08").decode())
            audio = block(type="audio/wav", bytes=3)
            link = client.call("link_to", uri="https://example.org/a")["content"][1]
            self.assertEqual(audio["type"], "resource" if version == "2024-11-05" else "audio")
            if version < "2025-06-18":
                self.assertEqual(link["type"], "text")
                self.assertIn("https://example.org/a", link["text"])
            else:
                self.assertEqual(link, {"type": "resource_link", "uri": "https://example.org/a",
                                        "name": "a page", "mimeType": "text/html"})
        client.end()

    def test_what_a_tool_knows_of_its_client(self):
        client = self.client("--session", "s1", "--user", "ann")
        client.initialize("2025-06-18", {"sampling": {}})
        self.assertEqual(client.text("client"), '2025-06-18 {"sampling": {}} session=s1 user=ann')
        client.modern = True
        self.assertEqual(client.text("client"), "2026-07-28 {} session=s1 user=ann")
        client.end()

    def test_missing_capability(self):
        """A tool says what it needs of the client; the protocol's own error, where there is one."""
        client = self.client()
        client.modern = True
        id = client.ask_tool("breaks", how="sampling")
        answer = client.answer(id)
        self.check_code(answer, -32021, id)
        self.assertEqual(answer["error"]["data"], {"requiredCapabilities": {"sampling": {}}})
        client.initialize()
        self.check_error(client.call("breaks", how="sampling"), "a client that can sample")
        client.end()

if __name__ == "__main__":
    e2e.main()
