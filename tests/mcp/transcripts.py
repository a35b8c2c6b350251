#!/usr/bin/env python3
"""What transcripts of tee.py say, in few lines: each client's messages in the order in which they
first came, with what matters in them.

    transcripts.py FOLDER
"""
import json
import re
import sys
from pathlib import Path

PREFIX = "io.modelcontextprotocol/"
LONGEST = 160


def entries(path):
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def messages(path):
    """Of a process: who, and what."""
    for entry in entries(path):
        if "line" in entry:
            yield entry["from"], json.loads(entry["line"])


def events(path):
    """Of a port: for each connection the messages that its event streams had."""
    streams = {}
    for entry in entries(path):
        if entry["from"] == "server" and "bytes" in entry:
            streams.setdefault(entry["connection"], []).append(entry["bytes"])
    return [[json.loads(found) for found in re.findall(r"(?m)^data: (\{.*\})$", "".join(pieces))]
            for pieces in streams.values()]


# ---- messages --------------------------------------------------------------------------------

def kind_of(id_value):
    return "no id" if id_value is None else "id " + type(id_value).__name__


def describe(message):
    """What a client says, without what differs from call to call."""
    params = message.get("params", {})
    meta = params.get("_meta", {})
    words = [message.get("method", "an answer"), kind_of(message.get("id"))]
    if PREFIX + "protocolVersion" in meta:
        words.append("modern " + meta[PREFIX + "protocolVersion"])
    more = sorted(key.replace(PREFIX, "") for key in meta if key != PREFIX + "protocolVersion")
    if more:
        words.append("_meta " + " ".join(more))
    for source in (params, {key.replace(PREFIX, ""): value for key, value in meta.items()}):
        for key, name in (("protocolVersion", "offers"), ("clientInfo", "is"),
                          ("capabilities", "can"), ("clientCapabilities", "can")):
            if key in source and (source is params or key != "protocolVersion"):
                words.append(f"{name} {json.dumps(source[key])[:LONGEST]}")
    others = sorted(set(params) - {"_meta", "protocolVersion", "clientInfo", "capabilities", "name",
                                   "arguments"})
    if others:
        words.append("params " + " ".join(others))
    return ", ".join(words)


def describe_answer(message):
    if "error" in message:
        return f"error {message['error']['code']}"
    if "method" in message:
        return message["method"]
    result = message.get("result", {})
    if "protocolVersion" in result:
        return "answers " + result["protocolVersion"]
    return ("error of a tool" if result.get("isError") else "result")


# ---- HTTP ------------------------------------------------------------------------------------

HEAD = re.compile(r"(POST|GET|DELETE|OPTIONS) (/\S*) HTTP/1\.1\r\n(.*?)\r\n\r\n", re.S)
TOLD = ("accept", "mcp-protocol-version", "mcp-method", "mcp-session-id", "last-event-id")


def requests(path):
    """Of a port: the head of each request in few words, and its message or None."""
    streams = {}
    for entry in entries(path):
        if entry["from"] == "client" and "bytes" in entry:
            streams.setdefault(entry["connection"], []).append(entry["bytes"])
    for pieces in streams.values():
        stream = "".join(pieces)
        for head in HEAD.finditer(stream):
            fields = dict(line.lower().split(": ", 1) if ": " in line else (line, "")
                          for line in head[3].split("\r\n"))
            told = [f"{name}: {fields[name]}" for name in TOLD if name in fields]
            told += sorted(name for name in fields if name.startswith("mcp-") and name not in TOLD)
            rest = stream[head.end():]
            message = json.JSONDecoder().raw_decode(rest)[0] if rest.startswith("{") else None
            yield f"{head[1]} [{'; '.join(told)}]", message


# ---- the summary -----------------------------------------------------------------------------

def add(counts, text):
    counts[text] = counts.get(text, 0) + 1


def summarise_file(path):
    counts, answers = {}, {}
    for entry in entries(path):
        if "line" not in entry:
            continue
        message = json.loads(entry["line"])
        if entry["from"] == "client":
            add(counts, describe(message))
        else:
            add(answers, describe_answer(message))
    for head, message in requests(path):
        add(counts, f"{head} {describe(message) if message else ''}")
    lines = [f"  {count:4} × {text}" for text, count in counts.items()]
    if answers:
        lines.append("  the server: " + ", ".join(f"{count} × {text}"
                                                  for text, count in answers.items()))
    return lines


def summarise(folder):
    lines = []
    for path in sorted(folder.glob("*.jsonl")):
        lines += [path.name.rsplit(".", 2)[0], *summarise_file(path)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(summarise(Path(sys.argv[1])), end="")
