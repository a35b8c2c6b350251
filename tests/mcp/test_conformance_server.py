#!/usr/bin/env python3
"""The server beside the protocol's conformance suite, over HTTP and for both revisions.

What a revision wants must pass, but for expected-failures-server.yml; what the suite only looks at
in passing is looked at here: the whole of each result.

S11, S13, S18, S20, S21, S23, S26, S27, S31, S32, S35-S37, S39-S44
"""
import json
import re
import sys

import harness
from contents import RESULTS
from harness import HERE, LEGACY, MODERN

# What must pass in each revision, whatever the suite holds against it.
BOTH = {"tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-audio",
        "tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-error",
        "tools-call-with-progress", "dns-rebinding-protection", "json-schema-2020-12"}
MUST = {LEGACY: BOTH | {"server-initialize", "ping"},
        MODERN: BOTH | {"server-stateless", "caching", "server-sse-multiple-streams",
                        "http-header-validation", "http-custom-header-server-validation"}}


class Suite:
    """One run of the suite against a server: its exit code and all checks by scenario."""

    def __init__(self, world, server, revision):
        folder = world.folder / revision
        done = world.run([*world.program("conformance"), "server", "--url",
                          f"http://localhost:{server.port}/mcp", "--requirements", revision,
                          "--expected-failures", HERE / "expected-failures-server.yml",
                          "-o", folder])
        self.said = re.sub(r"\x1b\[\d*m", "", done.stdout + done.stderr)
        self.code = done.returncode
        (world.folder / f"{revision}.txt").write_text(self.said, "utf-8")
        self.checks = {}
        for path in folder.glob("server-*/checks.json"):
            name = re.fullmatch(r"server-(.+?)-\d{4}-\d\d-\d\dT.*", path.parent.name)[1]
            self.checks[name] = json.loads(path.read_text("utf-8"))

    def statuses(self, name):
        return [check["status"] for check in self.checks[name]]

    def ids(self, name):
        return [check["id"] for check in self.checks[name]]


def suite(world, server, revision):
    run = Suite(world, server, revision)
    assert run.code == 0, f"exit code {run.code}: {run.said[-3000:]}"
    missing = MUST[revision] - set(run.checks)
    assert not missing, f"were not run: {missing}"
    for name in sorted(MUST[revision]):
        statuses = run.statuses(name)
        assert "SUCCESS" in statuses, f"{name}: {run.checks[name]}"
        assert not {"FAILURE", "WARNING"} & set(statuses), f"{name}: {run.checks[name]}"
        assert not name.startswith("tools-") or "wire-schema-valid" in run.ids(name), name
    passed = sum(check["status"] == "SUCCESS" for checks in run.checks.values()
                 for check in checks)
    print(f"{revision}: {passed} checks of {len(run.checks)} scenarios passed")


def contents(server, revision):
    """Each result as a whole; the suite would take any text for the right one."""
    for name, (arguments, expected) in RESULTS.items():
        message, status = harness.call_over_http(server.port, name, arguments, revision)
        result = message["result"]
        if revision == MODERN:
            result = harness.without_identity(result)
        assert status == 200 and result == expected, f"{name}: {status}, {message}"


def errors(server, revision):
    message, status = harness.call_over_http(server.port, "no_such_tool", {}, revision)
    assert message["error"]["code"] == -32602, message
    assert "no_such_tool" in message["error"]["message"], message
    message, status = harness.call_over_http(server.port, "echo", {"message": 5}, revision)
    assert status == 200 and message["result"]["isError"] is True, message


def capability(server):
    """A tool says that it needs one; with it the call is made."""
    message, status = harness.call_over_http(server.port, "test_missing_capability")
    assert status == 400 and message["error"]["code"] == -32021, message
    assert message["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}, message
    message, status = harness.call_over_http(server.port, "test_missing_capability",
                                             capabilities={"sampling": {}})
    assert message["result"]["content"][0]["text"] == "The client can sample.", message


def unknown(server):
    """A method is an error; what wants no answer gets none.  S10"""
    headers = {"MCP-Protocol-Version": LEGACY}
    text, _ = harness.post(server.port, {"jsonrpc": "2.0", "id": "x", "method": "no/such"}, headers)
    message = json.loads(text)
    assert message["error"]["code"] == -32601 and message["id"] == "x", message
    for quiet in ({"jsonrpc": "2.0", "method": "notifications/whatever"},
                  {"jsonrpc": "2.0", "id": 7, "result": {}}):
        assert harness.post(server.port, quiet, headers) == ("", 202), quiet


def legacy(world):
    with harness.HttpServer(world) as server:
        suite(world, server, LEGACY)
        contents(server, LEGACY)
        errors(server, LEGACY)
        unknown(server)


def modern(world):
    with harness.HttpServer(world) as server:
        suite(world, server, MODERN)
        contents(server, MODERN)
        errors(server, MODERN)
        capability(server)


def no_server(world):
    """The suite can fail."""
    with harness.HttpServer(world) as server:
        port = server.port
    done = world.run([*world.program("conformance"), "server", "--url",
                      f"http://localhost:{port}/mcp", "--scenario", "tools-list",
                      "--spec-version", MODERN])
    assert done.returncode == 1, done.stdout


if __name__ == "__main__":
    sys.exit(harness.run_all([legacy, modern, no_server]))
