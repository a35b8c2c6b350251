"""The plugin mcp_bridge: servers over pipes, good and bad ones (mcp_servers.py)."""
import json
import os
import signal
import socket
import subprocess
import sys
import time

import e2e
import mcp_http

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mcp_servers.py")
QUICK = {"probe_ms": 20000, "close_ms": 300, "backoff_ms": 20, "debounce_ms": 50,
         "connect_ms": 20000, "status_tool": True}


def bridge():
    top = os.path.dirname(os.path.dirname(e2e.options.mortise))
    return os.path.join(top, "lib", "mortise", "plugins", "mcp_bridge.so")


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.log = os.path.join(self.root, "log")
        self.cache = os.path.join(self.home, ".cache", "mortise", "mcp")
        self.limits()

    def limits(self, **keys):
        self.config(plugin_config={"mcp_bridge": {**QUICK, **keys}})

    def server(self, *words, **entry):
        return {"command": sys.executable, "args": ["-BES", SERVER, *words], **entry}

    def servers(self, **servers):
        return self.file("home/.config/mortise/mcp.json", json.dumps({"mcpServers": servers}))

    def bridged(self, *arguments, **how):
        return self.mortise("--no-plugins", "--plugin", bridge(), *arguments, **how)

    def call(self, tool, arguments=None, **how):
        return self.bridged("tools", "call", tool, json.dumps(arguments or {}), **how)

    def told(self, tool, arguments=None, **how):
        """What a call gave."""
        done = self.check(self.call(tool, arguments, **how), 0)
        return done.out.rstrip("\n")

    def failed(self, done, *parts):
        self.check(done, 1)
        for part in parts:
            self.assertIn(part, done.err)

    def status(self, **how):
        done = self.check(self.call("mcp_servers", {"check": True}, **how), 0)
        return {server["name"]: server for server in json.loads(done.out)["servers"]}, done

    def lines(self, path=None):
        """What a server got."""
        with open(path or self.log, encoding="utf-8") as lines:
            return lines.read().splitlines()

    def messages(self, path=None):
        return [json.loads(line) for line in self.lines(path) if line.startswith("{")]

    def methods(self, path=None):
        return [message.get("method") for message in self.messages(path)]


class Configuration(Case):
    def test_bad_entries_are_named_and_the_others_load(self):  # C1
        path = self.servers(
            good=self.server(timeout=5000, strange=1, other=2),
            off=self.server(f"log={self.log}", disabled=True),
            unset={"command": "${NOT_SET_ANYWHERE}"},
            wire={"type": "sse", "url": "http://127.0.0.1:1/"},
            nothing={}, text="x")
        done = self.check(self.bridged("tools", "list"), 0)
        self.assertIn("good__echo", done.out)
        self.assertNotIn("off__", done.out)
        self.assertFalse(os.path.exists(self.log))
        for part in ("'unset' is left out: \"command\": the variable 'NOT_SET_ANYWHERE' is not set",
                     "'wire' is left out: its type 'sse'", "'nothing' is left out",
                     "'text' is left out", "'good': not known here: \"strange\", \"other\""):
            self.assertIn(part, done.err)
        self.assertEqual(done.err.count("not known here"), 1)
        self.assertIn(path, done.err)

    def test_other_files_and_no_file(self):  # C1
        done = self.check(self.bridged("tools", "list"), 0)
        self.assertEqual((done.out.split()[0], done.err), ("mcp_servers", ""))
        one = self.file("one.json", json.dumps({"servers": {"a": self.server()}}))
        two = self.file("two.json", "{")
        env = {"MORTISE_MCP_CONFIG": f"{one}:{two}:{self.root}/three.json"}
        done = self.check(self.bridged("tools", "list", env=env), 0)
        self.assertIn("a__echo", done.out)
        self.assertIn(f"{two}: it is no JSON", done.err)
        self.assertIn("three.json: No such file", done.err)
        os.chmod(one, 0o666)
        done = self.bridged("tools", "list", env=env)
        self.assertIn("everybody may write it", done.err)
        self.assertNotIn("a__", done.out)


class Process(Case):
    def test_it_gets_what_is_configured_and_nothing_else(self):  # C2, C8, C11
        self.servers(s=self.server("$HOME;`x`", f"log={self.log}", "${WORD:-a b}",
                                   env={"TOKEN": "${GIVEN}", "LANG": "xx"}, cwd=self.work))
        given = {"GIVEN": "g", "ANTHROPIC_API_KEY": "secret", "SHELL": "/bin/sh", "OTHER": "x"}
        told = json.loads(self.told("s__environment", env=given))
        env = told["env"]
        self.assertEqual((env["TOKEN"], env["LANG"], env["SHELL"]), ("g", "xx", "/bin/sh"))
        self.assertLessEqual(set(env) - {"LC_CTYPE"}, {"HOME", "LANG", "LOGNAME", "PATH", "SHELL",
                                                      "TERM", "USER", "TOKEN",
                                                      "MORTISE_MCP_BRIDGED"})
        self.assertEqual(told["args"], ["$HOME;`x`", f"log={self.log}", "a b"])  # no shell
        self.assertEqual(told["cwd"], self.work)
        self.assertTrue(told["group"])
        self.assertLessEqual(set(told["fds"]), {"0", "1", "2", "3"})  # the last lists them
        self.assertEqual(self.told("s__read_me_now", env=given), "read.me/now")
        call = self.messages()[-1]["params"]
        self.assertEqual((call["name"], call["arguments"]), ("read.me/now", {}))

    def test_what_cannot_start_is_told_and_harms_nobody(self):  # C3
        plain = self.file("plain", "#!/bin/sh\n")
        self.servers(gone={"command": "no-such-program-anywhere"}, plain={"command": plain},
                     ends=self.server("exit=7"), nowhere=self.server(cwd=self.root + "/none"),
                     good=self.server())
        begun = time.monotonic()
        found, done = self.status()
        self.assertLess(time.monotonic() - begun, 15)
        self.assertEqual(found["good"]["state"], "ready", done)
        self.assertIn("good__echo", found["good"]["tools"])
        self.assertIn("'no-such-program-anywhere' was not found in PATH", found["gone"]["problem"])
        self.assertIn("Permission denied", found["plain"]["problem"])
        self.assertIn("exit status 7", found["ends"]["problem"])
        self.assertIn("cannot open the database", found["ends"]["problem"])
        self.assertIn("its folder", found["nowhere"]["problem"])
        self.assertIn("MCP server 'ends': it ended with exit status 7", done.err)

    def test_noise_is_passed_over(self):  # C6; FAULTS 142; FAULTS 143
        self.servers(s=self.server("banner", "noise"))
        done = self.check(self.call("s__echo", {"message": "x\u2028\U0001f600"}), 0)
        self.assertEqual(done.out, "x\u2028\U0001f600\n")
        self.assertEqual(done.err.count("which is passed over: 'Server \u00fc running"), 1, done)
        # One that says so whenever it is started: it dies when it is asked what it is.
        self.servers(s={"command": "sh", "args": ["-c", "echo Welcome; read -r line"]})
        _, done = self.status()
        self.assertEqual(done.err.count("which is passed over: 'Welcome'"), 1, done)

    def test_the_end_is_the_end_of_all(self):  # C20
        for words in (("deaf", "child"), ("child",)):
            self.servers(s=self.server(*words, self.root), t=self.server("deaf", self.root))
            begun = time.monotonic()
            self.assertEqual(self.told("s__echo", {"message": "a"}), "a")
            self.assertLess(time.monotonic() - begun, 10)
            self.check_none_runs(b"mcp_servers.py", self.root.encode())
            self.check_none_runs(b"sleep", b"61.25")

    def test_full_pipes_do_not_stop_it(self):  # C21
        self.servers(s=self.server("flood=2000"))
        size = 5 << 20
        model = self.script({"calls": [{"name": "s__size", "arguments": {"m": "a" * size}}]},
                            {"text": "ok", "expect": [str(size + len('{"m": ""}'))]})
        done = self.check(self.bridged("-m", model, "go"), 0)
        self.assertIn("ok", done.out)

    def test_a_message_that_is_too_large_ends_it(self):  # C22
        self.limits(message_bytes=1 << 20)
        self.servers(s=self.server())
        self.failed(self.call("s__oversize"), "a message of more than 1048576 bytes")


class Eras(Case):
    def test_each_sign_of_an_era(self):  # C4, C5
        legacy = {f"old{at}": version for at, version in
                  enumerate(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])}
        self.servers(
            modern=self.server("modern"), both=self.server("both"),
            again=self.server("both", "probe=again"), future=self.server("probe=future"),
            ends=self.server("probe=exit"),
            **{f"code{code}": self.server(f"probe=-{code}") for code in (32601, 32602, 32000)},
            **{name: self.server(f"version={version}") for name, version in legacy.items()},
            newer=self.server("version=2031-01-01"), only=self.server(era="modern"),
            first=self.server("both", era="legacy"))
        found, done = self.status()
        era = {name: server.get("era") for name, server in found.items()}
        for name in ("modern", "both", "again"):
            self.assertEqual((era[name], found[name]["state"]), ("modern", "ready"), done)
        for name in ("ends", "code32601", "code32602", "code32000", "first", *legacy):
            self.assertEqual((era[name], found[name]["state"]), ("legacy", "ready"), name)
        for name, version in legacy.items():
            self.assertEqual(found[name]["version"], version)
        self.assertEqual(found["modern"]["server"]["name"], "scripted")
        self.assertIn("version '2031-01-01'", found["newer"]["problem"])
        self.assertIn("Unsupported", found["future"]["problem"])
        self.assertIn("-32601", found["only"]["problem"])

    def test_silence_is_a_sign_of_the_legacy_era_unless_that_is_refused(self):  # C4, C5
        self.limits(probe_ms=200)
        late = os.path.join(self.root, "late")
        self.servers(silent=self.server("probe=silent", f"log={self.log}"),
                     late=self.server("modern", "late=1", f"log={late}"))
        found, done = self.status()
        self.assertEqual((found["silent"]["era"], found["late"]["era"]), ("legacy", "modern"), done)
        self.assertEqual(self.methods()[:4], ["server/discover", "initialize",
                                              "notifications/initialized", "tools/list"])
        self.assertEqual(self.methods(late)[:4], ["server/discover", "initialize",
                                                  "server/discover", "tools/list"])
        self.assertEqual(done.err.count("warning"), 0, done)

    def test_modern_calls_stand_for_themselves(self):  # C4, C11, C17
        self.servers(s=self.server("modern", f"log={self.log}"))
        self.assertEqual(self.told("s__echo", {"message": "m"}), "m")
        for message in self.messages():
            meta = message["params"]["_meta"]
            self.assertEqual(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28")
            self.assertIn("io.modelcontextprotocol/clientCapabilities", meta)
        self.assertIn("subscriptions/listen", self.methods())
        ids = [message["id"] for message in self.messages()]
        self.assertEqual(len(ids), len(set(ids)))


class Calls(Case):
    def test_answers_are_those_of_their_requests(self):  # C11, C18
        self.servers(s=self.server(f"log={self.log}"))
        self.assertEqual(self.told("s__wrong_ids"), "right")
        self.assertEqual(self.told("s__ask"), "asked")
        answers = {message["id"]: message for message in self.messages()
                   if str(message.get("id")).startswith("q")}
        self.assertEqual(answers["q0"]["result"], {})
        for number in range(1, 5):
            self.assertEqual(answers[f"q{number}"]["error"]["code"], -32601)

    def test_several_at_once(self):  # C11
        self.servers(s=self.server(env={"X": "1"}))
        calls = [{"name": "s__echo", "arguments": {"message": f"number {at}"}} for at in range(12)]
        model = self.script({"calls": calls},
                            {"text": "ok", "expect": [f"number {at}" for at in range(12)]})
        self.check(self.bridged("-m", model, "go"), 0)

    def test_progress_comes_in_order_before_the_result(self):  # C16, C28
        self.servers(s=self.server())
        model = self.script({"calls": [{"name": "s__progress"}]}, {"text": "ok"})
        done = self.check(self.bridged("--json", "-m", model, "go"), 0)
        events = [event for event in done.events if event["type"].startswith("tool_")]
        steps = [event["done"] for event in events if event["type"] == "tool_progress"]
        self.assertEqual(steps, [1, 2, 3, 4], done)
        self.assertEqual(events[-1]["type"], "tool_result")
        self.assertIn("half", done.out)

    def test_time_limits_and_cancels_reach_the_server(self):  # C14, C15
        self.servers(s=self.server(f"log={self.log}", timeout=300))
        self.failed(self.call("s__slow"), "did not answer within 300 ms", "timeout")
        cancel = [message for message in self.messages()
                  if message.get("method") == "notifications/cancelled"]
        self.assertEqual([message["params"]["reason"] for message in cancel], ["timed out"])
        self.servers(s=self.server(f"log={self.log}"))
        os.unlink(self.log)
        process = self.start("--no-plugins", "--plugin", bridge(), "tools", "call", "s__slow")
        until = time.monotonic() + e2e.SECONDS
        while time.monotonic() < until and not (os.path.exists(self.log)
                                                and "tools/call" in self.methods()):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.assertEqual(self.messages()[-1]["method"], "notifications/cancelled")

    def test_progress_makes_time(self):  # C14
        self.servers(s=self.server(timeout=4000, maxTimeout=3000))
        self.assertEqual(self.told("s__progress"), "done")

    def test_errors_and_structure(self):  # C12, C13
        self.servers(s=self.server())
        self.failed(self.call("s__fail"), "it went wrong")
        self.assertEqual(json.loads(self.told("s__typed", {"n": 3})), {"n": 3})
        self.failed(self.call("s__typed"), "'n' is required")


class Life(Case):
    def test_a_death_is_an_error_and_no_more(self):  # C19
        self.servers(s=self.server(f"log={self.log}", f"once={self.root}/once"))
        self.failed(self.call("s__die"), "exit status 3", "a last word before the end",
                    "may have done something")
        self.assertEqual(self.methods().count("tools/call"), 1)  # it is never repeated
        model = self.script({"calls": [{"name": "s__die"}]},
                            {"calls": [{"name": "s__echo", "arguments": {"message": "back"}}]},
                            {"text": "ok", "expect": ["back"]})
        self.check(self.bridged("-m", model, "go"), 0)
        self.assertEqual(self.told("s__die_once"), "the second time")  # that is idempotent

    def test_it_is_left_alone_after_five(self):  # C19
        self.limits(backoff_ms=1)
        self.servers(s=self.server(f"log={self.log}", f"broken={self.root}/broken"))
        self.check(self.bridged("tools", "list"), 0)
        self.file("broken", "")
        calls = [{"calls": [{"name": "s__echo", "arguments": {"message": f"{at}"}}]}
                 for at in range(9)]
        done = self.bridged("-m", self.script(*calls, {"text": "ok"}), "go")
        self.check(done, 0)
        self.assertIn("exit status 9", done.err)
        self.assertIn("it failed 6 times in a row, and is left alone", done.err)
        self.assertEqual(self.lines().count("broken"), 6)  # the first time, and five more

    def test_lists_that_change(self):  # C17
        self.servers(s=self.server("storm", f"log={self.log}"))
        self.check(self.bridged("tools", "list"), 0)
        self.assertEqual(self.methods().count("tools/list"), 1)
        os.unlink(self.log)
        wait = {"calls": [{"name": "s__pause"}]}
        model = self.script({"calls": [{"name": "s__swap"}]}, wait,
                            {"calls": [{"name": "s__fresh"}, {"name": "s__pid"}]},
                            {"text": "ok", "expect": ["as fresh as can be"]})
        done = self.bridged("-m", model, "go")
        self.check(done, 0)
        if not e2e.ISOLATED:  # there another load is another process, with servers of its own
            self.assertEqual(self.methods().count("initialize"), 1)  # a reload starts nothing
            self.assertIn(self.methods().count("tools/list"), (2, 3))  # the storm, and the swap
        self.assertIn("s__fresh", self.bridged("tools", "list").out)

    def test_known_tools_start_nothing(self):  # C26, C27
        self.servers(s=self.server(f"log={self.log}"))
        first = self.check(self.bridged("tools", "list"), 0)
        self.assertEqual(os.stat(self.cache).st_mode & 0o777, 0o700)
        [name] = os.listdir(self.cache)
        os.unlink(self.log)
        again = self.check(self.bridged("tools", "list"), 0)
        self.assertEqual(again.out, first.out)
        self.assertFalse(os.path.exists(self.log))
        self.assertEqual(self.told("s__echo", {"message": "late"}), "late")
        self.assertNotIn("server/discover", self.methods())  # its era is known too
        path = os.path.join(self.cache, name)
        self.file(path, '{"format":1,"tools":[1]}')
        done = self.check(self.bridged("tools", "list"), 0)
        self.assertEqual(done.out, first.out)
        self.limits(lazy=False)
        os.unlink(self.log)
        self.check(self.call("s__pid"), 0)
        self.assertTrue(os.path.exists(self.log))

    def test_a_list_that_expired_is_read_again(self):  # C26
        self.servers(s=self.server("modern", "ttl=0", f"log={self.log}"))
        self.check(self.bridged("tools", "list"), 0)
        os.unlink(self.log)
        self.assertEqual(self.told("s__echo", {"message": "a"}), "a")
        self.assertEqual(self.methods().count("tools/list"), 1)
        self.assertEqual(self.methods()[0], "server/discover")


    def test_what_has_no_end_is_ended(self):  # C20, C21
        self.limits(probe_ms=100, connect_ms=300, close_ms=100)
        self.servers(out={"command": "yes"},
                     err={"command": "sh", "args": ["-c", "exec yes >&2"]})
        found, done = self.status()
        self.assertEqual([server["tools"] for server in found.values()], [[], []], done)
        self.assertIn("what is no message", done.err)


class Tools(Case):
    def test_a_name_that_another_plugin_has(self):  # C8
        keeps = self.file("tools.json", json.dumps([{"name": "greet", "inputSchema": {}},
                                                    {"name": "kept", "inputSchema": {}}]))
        self.servers(me=self.server(f"tools={keeps}"))
        greet = os.path.join(os.path.dirname(bridge()), "greet.so")
        self.config(plugin_config={"mcp_bridge": QUICK, "greet": {"prefix": "me__"}})
        for order in ((bridge(), greet), (greet, bridge())):
            plugins = [word for path in order for word in ("--plugin", path)]
            done = self.check(self.mortise("--no-plugins", *plugins, "tools", "list"), 0)
            self.assertEqual([line.split()[0] for line in done.out.splitlines()],
                             ["mcp_servers", "me__greet", "me__kept"])
            self.assertIn("its tool 'me__greet' is left out", done.err)
            self.assertIn("greet.so' brings one of that name", done.err)
        record = os.path.join(self.root, "record")
        with e2e.Server(e2e.openai_reply("ok")) as server:
            done = self.mortise("--no-plugins", *plugins, "-m", "openai/test-model", "--base-url",
                                server.url + "/v1", "--record", record, "go",
                                env={"OPENAI_API_KEY": "k"})
            self.check(done, 0)
        done = self.check(self.mortise("replay", record), 0)
        self.assertIn("ok", done.out)

    def test_pages(self):  # C7
        self.servers(one=self.server(), four=self.server("pages=4"),
                     circle=self.server("pages=4", "circle"))
        found, done = self.status()
        self.assertEqual(len(found["one"]["tools"]), 16)
        for name in ("four", "circle"):
            self.assertEqual([tool.replace(name, "one") for tool in found[name]["tools"]],
                             found["one"]["tools"])
        self.assertIn("'circle': its list of tools goes round in a circle", done.err)

    def test_what_generators_write_wrongly_is_repaired(self):  # C9; FAULTS 124
        number = {"type": "number", "minimum": 0, "exclusiveMinimum": True}
        path = self.file("tools.json", json.dumps([
            {"name": "odd", "inputSchema": {"type": "object", "required": None,
                                            "properties": {"n": number}}}]))
        self.servers(s=self.server(f"tools={path}"))
        with e2e.Server(e2e.openai_reply("ok")) as server:
            done = self.bridged("-m", "openai/test-model", "--base-url", server.url + "/v1",
                                "go",
                                env={"OPENAI_API_KEY": "k"})
            self.check(done, 0)
        [tool] = [tool for tool in server.bodies[0]["tools"]
                  if tool["function"]["name"] == "s__odd"]
        self.assertEqual(tool["function"]["parameters"], {
            "type": "object", "properties": {"n": {"type": "number", "exclusiveMinimum": 0}}})

    def test_a_bad_tool_is_left_out_alone(self):  # C8, C9, C10
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        listener.setblocking(False)
        elsewhere = f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
                  "$defs": {"a": {"$anchor": "a", "type": "string"}},
                  "properties": {"a": {"$ref": "#/$defs/a"}}, "additionalProperties": False}
        deep = '{"type":"object","properties":{"a":' * 900 + "{}" + "}}" * 900
        tools = [
            {"name": "kept", "inputSchema": schema},
            {"name": "none"},
            {"name": "typeless", "inputSchema": {"properties": {"a": {"type": "integer"}}}},
            {"name": "list", "inputSchema": [1]},
            {"name": "array", "inputSchema": {"type": "array"}},
            {"name": "broken", "inputSchema": {"type": "object", "properties": 7}},
            {"name": "far", "inputSchema": {"type": "object",
                                            "properties": {"a": {"$ref": elsewhere}}}},
            {"name": "deep", "inputSchema": "DEEP"},
            {"name": "task", "inputSchema": {"type": "object"},
             "execution": {"taskSupport": "required"}},
            {"inputSchema": {"type": "object"}}, {"name": "kept", "inputSchema": schema},
            {"name": "x" * 100, "inputSchema": {"type": "object"}},
            {"name": "a b", "inputSchema": {"type": "object"}},
            {"name": "a.b", "inputSchema": {"type": "object"},
             "annotations": {"readOnlyHint": True, "destructiveHint": True,
                             "idempotentHint": True, "openWorldHint": False}},
            {"name": "hidden", "inputSchema": {"type": "object"}},
        ]
        path = self.file("tools.json", json.dumps(tools).replace('"DEEP"', deep))
        self.servers(s=self.server(f"tools={path}", excludedTools=["hidden"]))
        done = self.check(self.bridged("-v", "tools", "list", "--json"), 0)
        names = [line.split('"name":"')[1].split('"')[0]
                 for line in done.out.splitlines() if '"name":"' in line]
        shown = self.bridged("tools", "show", "s__kept", "--json")
        for name in ("s__kept", "s__none", "s__typeless", "s__a_b"):
            self.assertIn(name, done.out, done)
        for name in ("s__list", "s__array", "s__broken", "s__task", "s__hidden"):
            self.assertNotIn(name, done.out)
        for part in ("'list' is left out", "a tool is left out: ", "'task' is left out",
                     "'kept' is left out: it is there twice"):
            self.assertIn(part, done.err)
        with self.assertRaises(BlockingIOError):  # nobody came for the schema
            listener.accept()
        self.assertIn("$anchor", shown.out)
        again = self.bridged("tools", "list", "--json")
        self.assertEqual(again.out, done.out)
        self.assertTrue(names)
        flags = self.bridged("tools", "show", "s__none").out
        self.assertIn("destructive", flags)
        self.assertIn("open-world", flags)


class Loop(Case):
    """mortise's own server behind mortise's own bridge, behind mortise's own server."""

    CALLS = int(os.environ.get("MORTISE_SOAK", "1000"))

    def resident(self, pid):
        with open(f"/proc/{pid}/statm", encoding="ascii") as numbers:
            return int(numbers.read().split()[1]) * 4096

    def ask(self, server, count, begin):
        """So many calls, a few at a time; the answers by their ids."""
        answers = {}
        for at in range(begin, begin + count, 50):
            ids = range(at, min(at + 50, begin + count))
            lines = [json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
                "name": "m__greet", "arguments": {"name": f"n{number}"}}}) for number in ids]
            server.stdin.write(("\n".join(lines) + "\n").encode())
            server.stdin.flush()
            for _ in ids:
                message = json.loads(server.stdout.readline())
                answers[message["id"]] = message["result"]["content"][0]["text"]
        return answers

    def test_a_mortise_that_serves_to_itself_ends_there(self):  # C2
        greet = os.path.join(os.path.dirname(bridge()), "greet.so")
        inner = ["--no-plugins", "--plugin", bridge(), "--plugin", greet, "mcp", "serve"]
        self.servers(me={"command": e2e.options.mortise, "args": inner})
        done = self.check(self.bridged("tools", "list"), 0)
        self.assertEqual([line.split()[0] for line in done.out.splitlines()],
                         ["mcp_servers", "me__greet", "me__mcp_servers"])

    def test_over_http_its_list_does_not_grow_without_an_end(self):  # C17
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        greet = os.path.join(os.path.dirname(bridge()), "greet.so")
        self.servers(me={"url": f"http://127.0.0.1:{port}/mcp"})
        said = os.path.join(self.root, "said")
        with open(said, "wb") as err:
            server = self.start("-v", "--no-plugins", "--plugin", bridge(), "--plugin", greet, "mcp",
                                "serve", "--watch", "--http", f"127.0.0.1:{port}", stderr=err)
        until = time.monotonic() + e2e.SECONDS
        while "'me__me__greet' is left out" not in "".join(self.lines(said)):
            self.assertLess(time.monotonic(), until, self.lines(said))
            time.sleep(0.05)
        tools = []
        while len(tools) < 6 and time.monotonic() < until:  # until that load is in use
            with mcp_http.Connection(port) as connection:
                message = mcp_http.request("tools/list")
                connection.send(mcp_http.raw(message, mcp_http.headers_of(message)))
                tools = connection.reply().json["result"]["tools"]
        self.assertEqual([tool["name"] for tool in tools],
                         [front + name for front in ("", "me__", "me__me__")
                          for name in ("greet", "mcp_servers")])
        server.send_signal(signal.SIGTERM)
        self.finish(server)

    def test_many_calls(self):  # C29
        greet = os.path.join(os.path.dirname(bridge()), "greet.so")
        inner = ["--no-plugins", "--plugin", greet, "mcp", "serve"]
        self.servers(m={"command": e2e.options.mortise, "args": inner})
        self.assertEqual(self.told("m__greet", {"name": "Ada"}), "Hello, Ada!")
        server = self.start("--no-plugins", "--plugin", bridge(), "mcp", "serve",
                            stdin=subprocess.PIPE)
        self.ask(server, 300, 0)
        before = self.resident(server.pid)
        answers = self.ask(server, self.CALLS, 1000)
        self.assertEqual(answers, {number: f"Hello, n{number}!"
                                   for number in range(1000, 1000 + self.CALLS)})
        self.assertLess(self.resident(server.pid) - before, 16 << 20)
        server.stdin.close()
        server.stdin = None
        self.check(self.finish(server), 0)


if __name__ == "__main__":
    e2e.main()
