#!/usr/bin/env python3
"""The server beside clients that others wrote: both SDKs in each of their eras, over standard input
and output and over HTTP, and the Inspector's command line.  What each sent is in FOLDER, and a
summary of it in who-sends-what.txt.

S18, S20-S24, S26-S28, S30-S37, S42-S45
"""
import json
import shlex
import shutil
import sys

import harness
import transcripts
from contents import RESULTS
from harness import HERE, LEGACY, MODERN

UNKNOWN_TOOL = -32602
MISSING_CAPABILITY = -32021


def tee(world, name, *command):
    return [sys.executable, "-B", str(HERE / "tee.py"), str(world.folder / name), *command]


def session(world, name, client, era, **how):
    """What came of each step of clients.mjs."""
    plan = {"modules": str(world.modules), "client": client, "era": era,
            "calls": {tool: arguments for tool, (arguments, _) in RESULTS.items()}, **how}
    done = world.run([shutil.which("node"), HERE / "clients.mjs", json.dumps(plan)], seconds=120)
    assert done.stdout, f"{name}: {done.stderr}"
    outcome = json.loads(done.stdout)
    (world.folder / f"{name}.json").write_text(json.dumps(outcome, indent=1), "utf-8")
    assert "failed" not in outcome, f"{name}: {outcome['failed']}\n{done.stderr}"
    return outcome


# ---- what must have come -----------------------------------------------------------------------

def check_beginning(outcome, revision):
    begun, tools = outcome["connect"], {tool["name"]: tool for tool in outcome["tools"]}
    assert begun["version"] == revision, begun  # S18, S20
    assert begun["server"]["name"] == "mortise" and begun["server"]["version"], begun
    assert begun["capabilities"]["tools"]["listChanged"] is True, begun
    assert list(tools) == sorted(tools) and set(RESULTS) <= set(tools), list(tools)  # S26
    schema = tools["json_schema_2020_12_tool"]["inputSchema"]  # S27
    assert schema["$defs"]["address"]["$anchor"] == "addressDef", schema
    assert schema["if"] and schema["else"] and schema["additionalProperties"] is False, schema
    assert tools["echo"]["annotations"]["readOnlyHint"] is True, tools["echo"]  # S28


def check_contents(outcome):
    """S30, S31"""
    for name, (_, expected) in RESULTS.items():
        result = outcome["contents"][name]
        for added in ("resultType", "_meta"):
            result.pop(added, None)
        assert result == expected, f"{name}: {result}"


def check_progress(outcome):
    """S32; the SDKs drop what comes in one piece with the answer, so that all of it came is seen on
    the wire alone, and that they understand it at check_cancel()."""
    heard = [(said["progress"], said["total"]) for said in outcome["progress"]["heard"]]
    assert heard == [(0, 100), (50, 100), (100, 100)][:len(heard)], heard


def check_cancel(outcome):
    """S33, S45; it is cancelled once its progress was heard."""
    ended = outcome["cancel"]
    assert "result" not in ended and "abort" in ended["error"]["message"].lower(), ended
    assert ended["cancelled"] == 1, ended


def check_errors(outcome, is_modern):
    """S11, S13"""
    errors = outcome["errors"]
    assert errors["unknownTool"]["error"]["code"] == UNKNOWN_TOOL, errors
    assert "no_such_tool" in errors["unknownTool"]["error"]["message"], errors
    for name in ("missingArgument", "wrongArgument"):
        result = errors[name]["result"]
        assert result["isError"] is True and "message" in result["content"][0]["text"], errors
    lacks = errors["missingCapability"]
    if is_modern:
        assert lacks["error"]["code"] == MISSING_CAPABILITY, errors
    else:
        assert lacks["result"]["isError"] is True, errors


def check_changes(outcome):
    """S35"""
    changes = outcome["changes"]
    assert set(changes["brought"]) - set(changes["taken"]) == {"test_here_for_now"}, changes
    assert changes["answer"]["result"]["content"][0]["text"] == "Here I am.", changes


def check(outcome, revision):
    check_beginning(outcome, revision)
    check_contents(outcome)
    check_progress(outcome)
    check_cancel(outcome)
    check_errors(outcome, revision == MODERN)
    check_changes(outcome)
    assert outcome["atOnce"] is True and outcome["large"] is True, outcome  # S34, S5


def check_progress_on_wire(streams):
    """What the server sent, in order: each progress before the answer to its call, and all of it,
    that of the tool with three steps and the one with which the cancelled call began.  S32"""
    heard = []
    for stream in streams:
        answered = set()
        for message in stream:
            if message.get("method") == "notifications/progress":
                assert message["params"]["progressToken"] not in answered, message
                heard.append(message["params"]["progress"])
            elif "method" not in message:
                answered.add(message.get("id"))
    assert sorted(heard) == [0, 1, 50, 100], heard


def check_wire(path):
    """Of a process: nothing answers the cancelled call, and the server requests nothing.  S33, S37"""
    said = list(transcripts.messages(path))
    server = [message for who, message in said if who == "server"]
    cancelled = {message["params"]["requestId"] for who, message in said
                 if who == "client" and message.get("method") == "notifications/cancelled"}
    assert cancelled, "nothing was cancelled"
    for message in server:
        assert not ("method" in message and "id" in message), message
        assert message.get("id") not in cancelled, message
    check_progress_on_wire([server])


def is_probe(path):
    """One that is asked what it speaks, and ended by a signal."""
    return {message["method"] for who, message in transcripts.messages(path)
            if who == "client"} == {"server/discover"}


def check_end(world, pattern, sessions=1, probes=0):
    """The transcripts of the sessions: each server ended by itself when its input did, and was not
    waited for too long.  S24"""
    paths = sorted(world.folder.glob(pattern))
    served = [path for path in paths if not is_probe(path)]
    ends = [transcripts.entries(path)[-1].get("status") for path in served]
    assert ends == [0] * sessions and len(paths) == sessions + probes, (ends, paths)
    return served


# ---- over standard input and output ------------------------------------------------------------

def over_stdio(world, name, client, era, revision, probes=0):
    """Once more with a plugin whose file is replaced on the way."""
    folder = world.folder / f"{name}-plugins"
    folder.mkdir(mode=0o755)
    versions = world.tests / "plugin/versions"
    shutil.copy(versions / "left_a.so", folder / "left.so")
    shutil.copy(versions / "left_b.so", world.folder / f"{name}-left.so")
    outcome = session(world, name, client, era, env=world.environment(),
                      command=tee(world, name, "--", *world.serve("-P", str(folder))),
                      replace=[str(world.folder / f"{name}-left.so"), str(folder / "left.so")])
    check(outcome, revision)
    before, now = set(outcome["changes"]["taken"]), set(outcome["replace"]["now"])
    assert before - now == {"a", "a_hold"} and now - before == {"b", "b_hold"}, outcome["replace"]
    [path] = check_end(world, f"{name}.*.jsonl", probes=probes)
    check_wire(path)


def sdk1_over_stdio(world):
    over_stdio(world, "sdk1-stdio", "sdk1", "legacy", LEGACY)


def sdk2_legacy_over_stdio(world):
    over_stdio(world, "sdk2-legacy-stdio", "sdk2", "legacy", LEGACY)


def sdk2_auto_over_stdio(world):
    """It asks a process of its own first, as it does with a fixed revision.  S25"""
    over_stdio(world, "sdk2-auto-stdio", "sdk2", "auto", MODERN, probes=1)


def sdk2_modern_over_stdio(world):
    over_stdio(world, "sdk2-modern-stdio", "sdk2", "modern", MODERN, probes=1)


# ---- over HTTP -----------------------------------------------------------------------------------

def over_http(world, name, client, era, revision):
    with harness.HttpServer(world) as server, \
         harness.Process(world, tee(world, name, f"127.0.0.1:{server.port}"), r"^(\d+)$") as port:
        outcome = session(world, name, client, era, url=f"http://127.0.0.1:{port.found[1]}/mcp")
    check(outcome, revision)
    [path] = world.folder.glob(f"{name}.*.jsonl")
    check_progress_on_wire(transcripts.events(path))


def sdk1_over_http(world):
    over_http(world, "sdk1-http", "sdk1", "legacy", LEGACY)


def sdk2_legacy_over_http(world):
    over_http(world, "sdk2-legacy-http", "sdk2", "legacy", LEGACY)


def sdk2_auto_over_http(world):
    over_http(world, "sdk2-auto-http", "sdk2", "auto", MODERN)


def sdk2_modern_over_http(world):
    over_http(world, "sdk2-modern-http", "sdk2", "modern", MODERN)


# ---- the Inspector -------------------------------------------------------------------------------

def inspect(world, name, era, *words):
    """Its command has no words of its own, which the Inspector would take for its own."""
    command = world.folder / f"{name}.sh"
    command.write_text("#!/bin/sh\nexec " + shlex.join(tee(world, name, "--", *world.serve())) + "\n",
                       "utf-8")
    command.chmod(0o755)
    done = world.run([*world.program("mcp-inspector"), "--cli", command, "--format", "json",
                      "--protocol-era", era, *words])
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout)["result"]


def inspector(world):
    """--strict: a schema that some client cannot take is an error, too."""
    for era in ("legacy", "modern"):
        name = f"inspector-{era}"
        listed = inspect(world, name, era, "--method", "tools/list", "--strict")
        assert "echo" in [tool["name"] for tool in listed["tools"]], listed
        said = inspect(world, name, era, "--method", "tools/call", "--tool-name", "echo",
                       "--tool-arg", "message=hello")
        assert said["content"][0]["text"] == "hello", said
        check_end(world, f"{name}.*.jsonl", sessions=2)


# ---- who sends what ------------------------------------------------------------------------------

def summary(world):
    """Last: what the clients above began with."""
    text = transcripts.summarise(world.folder)
    (world.folder / "who-sends-what.txt").write_text(text, "utf-8")
    assert text.count("\n") > 20, text


TESTS = [sdk1_over_stdio, sdk2_legacy_over_stdio, sdk2_auto_over_stdio, sdk2_modern_over_stdio,
         sdk1_over_http, sdk2_legacy_over_http, sdk2_auto_over_http, sdk2_modern_over_http,
         inspector, summary]

if __name__ == "__main__":
    sys.exit(harness.run_all(TESTS))
