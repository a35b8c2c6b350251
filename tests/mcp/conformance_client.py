#!/usr/bin/env python3
"""What the conformance suite starts as the client that it tests: mortise, with its bridge.

    conformance --command "python3 conformance_client.py MORTISE MCP_BRIDGE.so" …

The suite adds the URL of its server, and says in the environment what it wants to see:
MCP_CONFORMANCE_SCENARIO, and for some scenarios MCP_CONFORMANCE_CONTEXT with the calls to make.
Nothing is said to the server but by the real binary: its tools are listed, shown and called as a
user would.  Exit code 1: something was not as it should be, beside what the suite itself looks at.
"""
import json
import os
import subprocess
import sys
import tempfile

SERVER = "suite"
SECONDS = 25  # the suite waits for 30


class Client:
    """The binary with one server configured, in a world of its own."""

    def __init__(self, mortise, plugin, url, folder):
        self.command = [mortise, "--no-plugins", "-e", plugin]
        config = os.path.join(folder, "mcp.json")
        with open(config, "w", encoding="utf-8") as out:
            json.dump({"mcpServers": {SERVER: {"type": "http", "url": url}}}, out)
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8",
                            "MORTISE_MCP_CONFIG": config}
        self.folder = folder

    def run(self, *arguments):
        return subprocess.run([*self.command, *arguments], env=self.environment, cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=SECONDS, check=False)

    def listed(self):
        """Names of the server's tools."""
        done = self.expect(self.run("--json", "tools", "list"))
        names = [json.loads(line)["name"] for line in done.stdout.splitlines()]
        return [name.removeprefix(SERVER + "__") for name in names]

    def schema(self, name):
        done = self.expect(self.run("--json", "tools", "show", f"{SERVER}__{name}"))
        return json.loads(done.stdout)["input_schema"]

    def call(self, name, arguments=None):
        """The text that came."""
        done = self.run("tools", "call", f"{SERVER}__{name}", json.dumps(arguments or {}))
        return self.expect(done).stdout

    @staticmethod
    def expect(done):
        if done.returncode != 0:
            fail(f"{done.args} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(1)


def check(holds, text):
    if not holds:
        fail(text)


# ---- what is done in each scenario -----------------------------------------------------------


def list_only(client):
    client.listed()


def tools_call(client):
    check("5" in client.call("add_numbers", {"a": 2, "b": 3}), "2 + 3 is not 5")


def sse_retry(client):
    text = client.call("test_reconnection")
    check("completed successfully" in text, f"the answer was '{text}'")


def standard_headers(client):
    for name in client.listed():
        client.call(name)


def custom_headers(client):
    """A null is left out: its tool's schema does not allow one, so the call would not even begin."""
    for call in json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]:
        client.call(call["name"], {name: value for name, value in call["arguments"].items()
                                   if value is not None})


def invalid_headers(client):
    names = client.listed()
    check(names == ["valid_tool"], f"the tools are {names}")
    for name in names:
        client.call(name, {"region": "us-west1"})


def schema_preservation(client):
    client.call("json_schema_echo", {"schema": client.schema("json_schema_2020_12_tool")})


def request_state(client):
    for name, text in (("test_mrtr_echo_state", "echo-state-ok"),
                       ("test_mrtr_no_state", "no-state-ok"),
                       ("test_mrtr_unrelated", "unrelated-ok"),
                       ("test_mrtr_no_result_type", "no-result-type-test-ok")):
        came = client.call(name)
        check(text in came, f"{name} gave '{came}'")


SCENARIOS = {
    "initialize": list_only,
    "tools_call": tools_call,
    "sse-retry": sse_retry,
    "request-metadata": list_only,
    "http-standard-headers": standard_headers,
    "http-custom-headers": custom_headers,
    "http-invalid-tool-headers": invalid_headers,
    "json-schema-ref-no-deref": list_only,
    "json-schema-2020-12-preservation": schema_preservation,
    "sep-2322-client-request-state": request_state,
}


def main():
    mortise, plugin, url = sys.argv[1:4]
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    if scenario not in SCENARIOS:
        fail(f"the scenario '{scenario}' is not for this client")
    with tempfile.TemporaryDirectory(prefix="mortise-mcp-") as folder:
        SCENARIOS[scenario](Client(os.path.abspath(mortise), os.path.abspath(plugin), url, folder))


if __name__ == "__main__":
    main()
