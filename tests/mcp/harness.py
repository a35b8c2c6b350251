"""What the tests here share: the packages, the server, one request of HTTP, and a runner.

    test_NAME.py MORTISE CONFORMANCE.so MODULES FOLDER MCP_BRIDGE.so [--only TEXT]

MODULES is where setup.py installed the packages; FOLDER is made anew, and holds afterwards what was
said.
"""
import argparse
import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import setup

HERE = Path(__file__).resolve().parent
LEGACY, MODERN = "2025-11-25", "2026-07-28"
META = "io.modelcontextprotocol/"
SECONDS = 60  # after which something hangs; the machine may be busy


class World:
    """Where everything is."""

    def __init__(self, options):
        self.mortise = str(options.mortise.resolve())
        self.plugin = str(options.plugin.resolve())
        self.bridge = options.bridge.resolve()
        self.tests = options.plugin.resolve().parent.parent  # of the build
        self.modules = options.modules.resolve()
        self.folder = options.folder.resolve()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.home = self.folder / "home"
        self.home.mkdir(parents=True)
        self.folder.chmod(0o755)  # what others can write is not loaded

    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8", **more}

    def program(self, name):
        """The command of a package."""
        return [shutil.which("node"), str(self.modules / "node_modules/.bin" / name)]

    def serve(self, *more):
        """The command of the server over stdio."""
        return [self.mortise, "mcp", "serve", "--no-plugins", "-e", self.plugin, *more]

    def run(self, command, seconds=SECONDS, **how):
        how.setdefault("env", self.environment())
        return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=seconds, cwd=self.folder,
                              check=False, **how)


class Process:
    """One that prints what matches `wanted` when it is ready, and ends with the block."""

    def __init__(self, world, command, wanted, **how):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        cwd=world.folder, env=world.environment(), **how)
        self.said, self.found = [], None
        for line in self.process.stdout:
            self.said.append(line)
            self.found = re.search(wanted, line)
            if self.found:
                break
        threading.Thread(target=lambda: self.said.extend(self.process.stdout), daemon=True).start()
        if not self.found:
            raise AssertionError(f"{command} did not begin:\n{''.join(self.said)}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("it does not end at SIGTERM") from None


class HttpServer(Process):
    """mortise over HTTP."""

    def __init__(self, world, *more):
        super().__init__(world, world.serve("--http", "127.0.0.1:0", *more), r"http://\S+/mcp")
        self.url = self.found[0]
        self.port = int(re.search(r":(\d+)/", self.url)[1])


# ---- one request -----------------------------------------------------------------------------

def call_params(name, arguments, revision, capabilities):
    params = {"name": name, "arguments": arguments}
    if revision == MODERN:
        params["_meta"] = {META + "protocolVersion": MODERN,
                           META + "clientInfo": {"name": "tests", "version": "1"},
                           META + "clientCapabilities": capabilities or {}}
    return params


def post(port, body, headers):
    """The text that answers, and the HTTP status."""
    headers = {"Content-Type": "application/json",
               "Accept": "application/json, text/event-stream", **headers}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    with contextlib.closing(connection):
        connection.request("POST", "/mcp", json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read().decode("utf-8")
    if response.headers.get_content_type() == "text/event-stream":
        text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
    return text, response.status


def call_over_http(port, name, arguments=None, revision=MODERN, capabilities=None):
    """The answer to tools/call: its message, and the HTTP status."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": call_params(name, arguments or {}, revision, capabilities)}
    headers = {"MCP-Protocol-Version": revision}
    if revision == MODERN:
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": name}
        if "region" in body["params"]["arguments"]:  # test_header_parameter
            region = base64.b64encode(arguments["region"].encode()).decode()
            headers["Mcp-Param-Region"] = f"=?base64?{region}?="
    text, status = post(port, body, headers)
    return json.loads(text), status


def without_identity(result):
    """A result as it was before the modern era, after a look at what that adds."""
    assert result.pop("resultType") == "complete", result
    assert result.pop("_meta")[META + "serverInfo"]["name"] == "mortise", result
    return result


# ---- running ---------------------------------------------------------------------------------

def run_all(tests):
    """The exit code."""
    parser = argparse.ArgumentParser()
    for name in ("mortise", "plugin", "modules", "folder", "bridge"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--only", default="", help="tests whose name holds this text")
    options = parser.parse_args()
    if not setup.is_installed(options.modules):
        setup.skip(f"the packages are not installed in '{options.modules}'; the test mcp_setup "
                   "says why")
    world, failed = World(options), 0
    chosen = [test for test in tests if options.only in test.__name__]
    for test in chosen:
        start = time.monotonic()
        try:
            test(world)
            verdict = "ok"
        except Exception:  # also what a hanging program raises
            traceback.print_exc(file=sys.stdout)
            verdict, failed = "FAILED", failed + 1
        print(f"{verdict} {test.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
    return 0 if chosen and not failed else 1
