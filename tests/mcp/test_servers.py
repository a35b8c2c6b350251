#!/usr/bin/env python3
"""Servers that others wrote, through mortise's bridge: what comes is what the first SDK gets from
them, as far as a model can be given it.  And mortise's bridge to mortise's server.

The same calls are made twice by one client: of the server itself, and of mortise, which has it
behind its bridge.

C8, C9, C12, C14-C16, C19, C28, C29
"""
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import harness
import transcripts
from contents import IMAGE, RESULTS, STRUCTURE
from harness import HERE, LEGACY

CALLS = int(os.environ.get("MORTISE_MCP_CALLS", "1000"))
GROWTH_KB = 512


def world_of(world, name, server):
    """The environment of a mortise that has one server behind its bridge."""
    path = world.folder / f"{name}.json"
    path.write_text(json.dumps({"mcpServers": {name: server}}), "utf-8")
    home = world.folder / f"{name}-home"
    home.mkdir(exist_ok=True)
    return world.environment(MORTISE_MCP_CONFIG=str(path), HOME=str(home))


def run_calls(world, label, command, calls, env, prefix=""):
    plan = {"modules": str(world.modules), "command": command, "env": env, "prefix": prefix,
            "calls": calls}
    done = world.run([shutil.which("node"), HERE / "servers.mjs", json.dumps(plan)], seconds=120)
    assert done.returncode == 0, f"{label}: {done.stdout}{done.stderr}"
    (world.folder / f"{label}.json").write_text(done.stdout, "utf-8")
    return json.loads(done.stdout)


def directly(world, name, server, calls):
    return run_calls(world, f"{name}-direct", [server["command"], *server["args"]], calls,
                     world.environment(**server.get("env", {})))


def bridged(world, name, server, calls):
    command = [sys.executable, "-B", str(HERE / "tee.py"), str(world.folder / f"{name}-wire"), "--",
               world.mortise, "mcp", "serve", "--no-plugins", "-e", str(world.bridge)]
    return run_calls(world, f"{name}-bridged", command, calls, world_of(world, name, server),
                     f"{name}__")


def call(tool, arguments=None, **how):
    """`wrong`: the argument for which it is refused, by mortise in words of its own."""
    return {"tool": tool, "arguments": arguments or {}, **how}


def program(world, name, *arguments, **env):
    command, *words = world.program(name)
    return {"command": command, "args": [*words, *arguments], "env": env}


def own_server(world):
    command, *arguments = world.serve()
    return {"command": command, "args": arguments}


# ---- what a bridge makes of a result -----------------------------------------------------------

def as_bridged(result, has_schema):
    """C12: texts, also those of resources, are one; images, sounds and links stay what they are;
    other bytes become a line."""
    lines, others = [], []
    for block in result["content"]:
        if block["type"] == "text":
            lines.append(block["text"])
        elif block["type"] == "resource" and "text" in block["resource"]:
            lines.append(block["resource"]["text"])
        elif block["type"] == "resource":
            lines.append(None)
        else:
            others.append({key: block[key] for key in ("type", "data", "uri", "name", "mimeType")
                           if key in block})
    expected = {"lines": lines, "others": others, "isError": result.get("isError", False)}
    if has_schema and not expected["isError"]:
        expected["structuredContent"] = result["structuredContent"]
    return expected


def timeless(text):
    """Without the time of day, which two calls may not have in common."""
    return re.sub(r"\d+:\d\d:\d\d( [AP]M)?", "TIME", text)


def compare(label, expected, result):
    texts = [block["text"] for block in result["content"] if block["type"] == "text"]
    others = [{key: block[key] for key in ("type", "data", "uri", "name", "mimeType")
               if key in block} for block in result["content"] if block["type"] != "text"]
    assert others == expected["others"], f"{label}: {others}, not {expected['others']}"
    assert result.get("isError", False) == expected["isError"], f"{label}: {result}"
    if "structuredContent" in expected:
        assert result["structuredContent"] == expected["structuredContent"], f"{label}: {result}"
        assert json.loads(texts[0]) == expected["structuredContent"], f"{label}: {texts}"
    elif None in expected["lines"]:
        for line in filter(None, expected["lines"]):
            assert line in texts[0], f"{label}: {texts}"
        assert "bytes" in texts[0], f"{label}: {texts}"
    elif expected["isError"]:
        assert "\n".join(expected["lines"]) in texts[0], f"{label}: {texts}"
    elif expected["lines"]:
        assert ([timeless(text) for text in texts] ==
                [timeless("\n".join(expected["lines"]))]), f"{label}: {texts}"


def compare_all(calls, direct, through):
    """Result by result."""
    schemas = {tool["name"] for tool in direct["tools"] if "outputSchema" in tool}
    for made, one, other in zip(calls, direct["outcomes"], through["outcomes"], strict=True):
        label = f"{made['tool']} {made['arguments']}"
        assert ("result" in one) == ("result" in other), f"{label}: {one}, {other}"
        if "wrong" in made:
            assert one["result"]["isError"] is True and other["result"]["isError"] is True, label
            assert made["wrong"] in other["result"]["content"][0]["text"], f"{label}: {other}"
        elif "result" in one:
            compare(label, as_bridged(one["result"], made["tool"] in schemas), other["result"])


# ---- server-everything -------------------------------------------------------------------------

EVERYTHING = [
    call("echo", {"message": "Grüße 世界 😀"}),
    call("get-sum", {"a": 2, "b": 40}),
    call("get-sum", {"a": "x", "b": 1}, wrong="'a'"),
    call("get-tiny-image"),
    call("get-annotated-message", {"messageType": "error", "includeImage": True}),
    call("get-resource-links", {"count": 3}),
    call("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
    call("get-resource-reference", {"resourceType": "Blob", "resourceId": 2}),
    call("get-structured-content", {"location": "Chicago"}),
    call("gzip-file-as-resource", {"name": "a.gz", "data": "data:text/plain,hello",
                                   "outputType": "resource"}),
    call("trigger-long-running-operation", {"duration": 0.8, "steps": 4}, progress=True),
    call("trigger-long-running-operation", {"duration": 30, "steps": 10}, cancelAfterMs=300),
    call("echo", {"message": "after the cancelled one"}),
]


def everything(world):
    server = program(world, "mcp-server-everything", "stdio")
    direct, through = both(world, "everything", server, EVERYTHING)
    compare_all(EVERYTHING, direct, through)
    # All four on the wire, though this client drops what comes in one piece with the answer.
    [path] = world.folder.glob("everything-wire.*.jsonl")
    heard = [message["params"]["progress"] for who, message in transcripts.messages(path)
             if who == "server" and message.get("method") == "notifications/progress"]
    assert heard == [1, 2, 3, 4], heard
    cancelled = through["outcomes"][-2]
    assert "error" in cancelled and cancelled["ms"] < 20000, cancelled
    hidden = [tool["name"] for tool in through["tools"] if "simulate-research" in tool["name"]]
    assert not hidden, hidden  # C9: it wants to be a task


def both(world, name, server, calls):
    """At once, where the two cannot meet."""
    outcomes = {}

    def run(way):
        outcomes[way] = way(world, name, server, calls)

    threads = [threading.Thread(target=run, args=(way,)) for way in (directly, bridged)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes[directly], outcomes[bridged]


def one_call_by_hand(world):
    """As a user makes it."""
    env = world_of(world, "everything", program(world, "mcp-server-everything", "stdio"))
    done = world.run([world.mortise, "--no-plugins", "-e", str(world.bridge), "tools", "call",
                      "everything__echo", '{"message":"hello"}'], env=env)
    assert done.returncode == 0 and done.stdout == "Echo: hello\n", done


def killed_in_a_call(world):
    """A call that only reads is made once more, of a new process; another fails at once, and the
    next one finds a new process.  C19"""
    reads = call("trigger-long-running-operation", {"duration": 1, "steps": 4}, killAtProgress=True)
    waits = call("test_wait", killAtProgress=True)
    again = call("echo", {"message": "again"})
    everything_server = program(world, "mcp-server-everything", "stdio")
    repeated, after = bridged(world, "everything", everything_server, [reads, again])["outcomes"]
    assert "completed" in repeated["result"]["content"][0]["text"], repeated
    assert "afterKillMs" in repeated and "isError" not in repeated["result"], repeated
    assert after["result"]["content"][0]["text"] == "Echo: again", after
    failed, after = bridged(world, "self", own_server(world), [waits, again])["outcomes"]
    assert failed["result"]["isError"] is True and failed["afterKillMs"] < 20000, failed
    assert "'self'" in failed["result"]["content"][0]["text"], failed
    assert after["result"]["content"][0]["text"] == "again", after


# ---- server-filesystem -------------------------------------------------------------------------

def filesystem_calls(folder):
    text = "eins\nzwei\n世界\n"
    return [
        call("write_file", {"path": f"{folder}/new.txt", "content": text}),
        call("read_text_file", {"path": f"{folder}/new.txt"}),
        call("read_text_file", {"path": f"{folder}/new.txt", "head": 1}),
        call("edit_file", {"path": f"{folder}/new.txt",
                           "edits": [{"oldText": "zwei", "newText": "two"}]}),
        call("read_media_file", {"path": f"{folder}/pixel.png"}),
        call("read_multiple_files", {"paths": [f"{folder}/new.txt", f"{folder}/deep/one.txt"]}),
        call("create_directory", {"path": f"{folder}/made"}),
        call("move_file", {"source": f"{folder}/new.txt", "destination": f"{folder}/made/old.txt"}),
        call("list_directory", {"path": folder}),
        call("list_directory_with_sizes", {"path": f"{folder}/made"}),
        call("directory_tree", {"path": folder}),
        call("search_files", {"path": folder, "pattern": "**/*.txt"}),
        call("list_allowed_directories"),
        call("read_text_file", {"path": f"{folder}/none.txt"}),
        call("read_text_file", {"path": "/etc/passwd"}),
        call("write_file", {"path": f"{folder}/x"}, wrong="'content'"),
    ]


def filesystem(world):
    """One after the other: they have the same folder, made anew."""
    folder = world.folder / "files"
    server = program(world, "mcp-server-filesystem", str(folder))
    calls, outcomes = filesystem_calls(str(folder)), []
    for way in (directly, bridged):
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "deep").mkdir(parents=True)
        (folder / "deep/one.txt").write_text("one\n", "utf-8")
        (folder / "pixel.png").write_bytes(bytes(range(70)))
        outcomes.append(way(world, "filesystem", server, calls))
        assert (folder / "made/old.txt").read_text("utf-8") == "eins\ntwo\n世界\n"
    compare_all(calls, *outcomes)


# ---- server-memory -----------------------------------------------------------------------------

MEMORY = [
    call("create_entities", {"entities": [
        {"name": "tenon", "entityType": "joint", "observations": ["is cut to fit"]},
        {"name": "mortise", "entityType": "joint", "observations": ["is the slot", "holds 世界"]}]}),
    call("create_relations", {"relations": [
        {"from": "tenon", "to": "mortise", "relationType": "fits into"}]}),
    call("add_observations", {"observations": [
        {"entityName": "tenon", "contents": ["is glued"]}]}),
    call("read_graph"),
    call("search_nodes", {"query": "slot"}),
    call("open_nodes", {"names": ["tenon"]}),
    call("delete_observations", {"deletions": [
        {"entityName": "tenon", "observations": ["is glued"]}]}),
    call("add_observations", {"observations": [{"entityName": "nobody", "contents": ["x"]}]}),
    call("delete_relations", {"relations": [
        {"from": "tenon", "to": "mortise", "relationType": "fits into"}]}),
    call("delete_entities", {"entityNames": ["mortise"]}),
    call("read_graph"),
]


def memory(world):
    outcomes = [way(world, "memory",
                    program(world, "mcp-server-memory",
                            MEMORY_FILE_PATH=str(world.folder / f"{way.__name__}.jsonl")), MEMORY)
                for way in (directly, bridged)]
    compare_all(MEMORY, *outcomes)


# ---- mortise to mortise ------------------------------------------------------------------------

def loopback(world):
    """C29"""
    calls = [call(tool, arguments) for tool, (arguments, _) in RESULTS.items()]
    calls.append(call("test_tool_with_progress", progress=True))
    outcomes = bridged(world, "self", own_server(world), calls)["outcomes"]
    for made, outcome in zip(calls, outcomes):
        if made["tool"] in RESULTS:
            has_schema = made["tool"] == "test_structured_content"
            compare(made["tool"], as_bridged(RESULTS[made["tool"]][1], has_schema),
                    outcome["result"])
    assert IMAGE in outcomes[list(RESULTS).index("test_image_content")]["result"]["content"]
    structured = outcomes[list(RESULTS).index("test_structured_content")]["result"]
    assert structured["structuredContent"] == STRUCTURE, structured
    assert outcomes[-1]["heard"][:2] == [[0, 100], [50, 100]], outcomes[-1]


# ---- many calls --------------------------------------------------------------------------------

class Client:
    """The least that a client can do: one request after the other."""

    def __init__(self, world, command, env):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=env, cwd=world.folder)
        self.count = 0
        self.ask("initialize", {"protocolVersion": LEGACY, "capabilities": {},
                                "clientInfo": {"name": "tests", "version": "1"}})

    def ask(self, method, params):
        self.count += 1
        request = {"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.count:
                return message["result"]

    def echo(self, name):
        message = f"call {self.count}"
        result = self.ask("tools/call", {"name": name, "arguments": {"message": message}})
        assert result["content"][0]["text"] == message, result

    def memory_kb(self):
        """Of the server and of what it started."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        pids = [self.process.pid, *(int(pid) for task in tasks
                                    for pid in task.read_text("ascii").split())]
        assert len(pids) == 2, pids
        return [memory_of(pid) for pid in pids]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(harness.SECONDS) == 0


def memory_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])


def many_calls(world):
    """From the bridge to a server of its own kind, without growing.  C29"""
    command = [world.mortise, "mcp", "serve", "--no-plugins", "-e", str(world.bridge)]
    client = Client(world, command, world_of(world, "self", own_server(world)))
    for _ in range(CALLS // 4):
        client.echo("self__echo")
    before = client.memory_kb()
    for _ in range(CALLS):
        client.echo("self__echo")
    after = client.memory_kb()
    client.close()
    print(f"{CALLS} calls: {before} KiB before, {after} KiB after")
    assert all(now < then + GROWTH_KB for now, then in zip(after, before)), (before, after)


TESTS = [everything, one_call_by_hand, killed_in_a_call, filesystem, memory, loopback,
         many_calls]

if __name__ == "__main__":
    sys.exit(harness.run_all(TESTS))
