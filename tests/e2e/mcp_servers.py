"""An MCP server over pipes that does what its arguments say, right or wrong.

    python3 mcp_servers.py [WORD | WORD=VALUE]…

Every line that comes in is kept in the file of `log=PATH`.  Era: `modern`, `both`, or none of them
(legacy).  What it does wrong is described where it does it.
"""
import json
import os
import signal
import sys
import threading
import time

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
words = {}
for argument in sys.argv[1:]:
    word, _, value = argument.partition("=")
    words[word] = value

sys.setrecursionlimit(10000)
lock = threading.Lock()
cancelled = {}


def write(text):
    with lock:
        os.write(1, text) if len(text) < 4096 else write_all(text)


def write_all(text):
    while text:
        text = text[os.write(1, text):]


def send(message):
    message.setdefault("jsonrpc", "2.0")
    write(json.dumps(message).encode() + b"\n")


def log(line):
    if "log" in words:
        with open(words["log"], "a", encoding="utf-8") as out:
            out.write(line.rstrip("\n") + "\n")


def is_modern(message):
    return META + "protocolVersion" in message.get("params", {}).get("_meta", {})


def answer(message, result):
    if is_modern(message):
        result = {"resultType": "complete", **result}
    send({"id": message["id"], "result": result})


def refuse(message, code, text, data=None):
    error = {"code": code, "message": text}
    if data is not None:
        error["data"] = data
    send({"id": message["id"], "error": error})


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def changed():
    send({"method": "notifications/tools/list_changed"})


# ---- tools ----

STRING = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
ANY = {"type": "object"}

TOOLS = [
    {"name": "echo", "description": "Says it again.", "inputSchema": STRING,
     "annotations": {"readOnlyHint": True, "openWorldHint": False}},
    {"name": "environment", "description": "Its variables.", "inputSchema": ANY},
    {"name": "slow", "inputSchema": ANY},
    {"name": "progress", "inputSchema": ANY},
    {"name": "die", "inputSchema": ANY},
    {"name": "die_once", "inputSchema": ANY, "annotations": {"idempotentHint": True}},
    {"name": "size", "inputSchema": ANY},
    {"name": "ask", "inputSchema": ANY},
    {"name": "swap", "inputSchema": ANY},
    {"name": "typed", "inputSchema": ANY,
     "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}},
                      "required": ["n"]}},
    {"name": "pid", "inputSchema": ANY},
    {"name": "wrong_ids", "inputSchema": ANY},
    {"name": "oversize", "inputSchema": ANY},
    {"name": "fail", "inputSchema": ANY},
    {"name": "read.me/now", "inputSchema": ANY},
    {"name": "pause", "inputSchema": ANY},
]


def die(message):
    sys.stderr.write("a last word before the end\n")
    sys.stderr.flush()
    os._exit(3)


def slow(message):
    """Until it is cancelled, and answers nevertheless: late."""
    event = cancelled.setdefault(message["id"], threading.Event())
    event.wait(10)
    log("cancelled" if event.is_set() else "not cancelled")
    answer(message, text("too late"))


def progress(message):
    """Four steps, and among them what is none: one that goes back, one of another token."""
    token = message["params"]["_meta"]["progressToken"]

    def step(done, token=token, **more):
        send({"method": "notifications/progress",
              "params": {"progressToken": token, "progress": done, "total": 4, **more}})
    step(1)
    step(2, message="half")
    step(1, message="back")
    step(9, token="another")
    step(9, token=token + 1000)
    step(3)
    # The last one comes in the same piece as the result.
    last = {"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 4, "total": 4}}
    result = {"jsonrpc": "2.0", "id": message["id"], "result": text("done")}
    write((json.dumps(last) + "\n" + json.dumps(result) + "\n").encode())
    step(5)


def ask(message):
    """Asks the client; its answers are in the log."""
    for number, method in enumerate(["ping", "roots/list", "sampling/createMessage",
                                     "elicitation/create", "what/ever"]):
        send({"id": f"q{number}", "method": method, "params": {}})
    answer(message, text("asked"))


def wrong_ids(message):
    """Answers to what nobody asked, then in another type, then right."""
    send({"id": 999999, "result": text("of another")})
    send({"id": str(message["id"]), "result": text("a string")})
    send({"id": None, "result": text("null")})
    send({"result": text("no id")})
    answer(message, text("right"))


def oversize(message):
    write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % message["id"])
    for _ in range(64):
        write(b"x" * 65536)
    time.sleep(5)


def call(message):
    params = message["params"]
    name, arguments = params["name"], params["arguments"]
    if name == "echo":
        answer(message, text(arguments["message"]))
    elif name == "environment":
        answer(message, text(json.dumps({"env": dict(os.environ), "cwd": os.getcwd(),
                                         "args": sys.argv[1:], "fds": os.listdir("/proc/self/fd"),
                                         "group": os.getpgrp() == os.getpid()})))
    elif name == "size":
        answer(message, text(str(len(json.dumps(arguments)))))
    elif name == "die_once":
        if os.path.exists(words["once"]):
            answer(message, text("the second time"))
        else:
            open(words["once"], "w").close()
            die(message)
    elif name == "swap":
        TOOLS[:] = [tool for tool in TOOLS if tool["name"] != "echo"]
        TOOLS.append({"name": "fresh", "inputSchema": ANY})
        answer(message, text("swapped"))
        for _ in range(5):
            changed()
    elif name == "typed":
        if "n" in arguments:
            answer(message, text("", structuredContent={"n": arguments["n"]}))
        else:
            answer(message, text("", structuredContent={"m": 1}))
    elif name == "pid":
        answer(message, text(str(os.getpid())))
    elif name == "fail":
        answer(message, text("it went wrong", isError=True))
    elif name == "pause":
        time.sleep(0.5)
        answer(message, text("paused"))
    elif name == "fresh":
        answer(message, text("as fresh as can be"))
    elif name == "read.me/now":
        answer(message, text(name))
    elif name in ("die", "slow", "progress", "ask", "wrong_ids", "oversize"):
        globals()[name](message)
    else:
        refuse(message, -32602, f"Unknown tool: {name}")


# ---- lists ----

def pages(message):
    """`pages=N`: so many tools a page; `circle`: the last page points to the second."""
    size = int(words.get("pages", "0") or 0) or len(TOOLS)
    tools = TOOLS
    if "tools" in words:
        with open(words["tools"], encoding="utf-8") as lines:
            tools = json.load(lines)
    cursor = message.get("params", {}).get("cursor")
    # The second page has the empty string as its cursor.
    at = 0 if cursor is None else size if cursor == "" else int(cursor)
    result = {"tools": tools[at:at + size]}
    if at + size < len(tools):
        result["nextCursor"] = "" if at == 0 else str(at + size)
    elif "circle" in words:
        result["nextCursor"] = str(size * 2)
    if is_modern(message):
        result.update(ttlMs=int(words.get("ttl", "3600000")), cacheScope="private")
    answer(message, result)


# ---- opening ----

def discover(message):
    how = words.get("probe", "")
    if how == "silent":
        return
    if how == "exit":
        os._exit(4)
    if how == "again" and not cancelled.setdefault("probed", False):
        cancelled["probed"] = True
        refuse(message, -32022, "Unsupported", {"supported": [MODERN], "requested": MODERN})
    elif how == "future":
        refuse(message, -32022, "Unsupported", {"supported": ["2031-01-01"], "requested": MODERN})
    elif how.startswith("-"):
        refuse(message, int(how), "no")
    elif "modern" in words or "both" in words:
        answer(message, {"supportedVersions": [MODERN],
                         "capabilities": {"tools": {"listChanged": True}},
                         "ttlMs": 0, "cacheScope": "private",
                         "_meta": {META + "serverInfo": {"name": "scripted", "version": "2"}}})
    else:
        refuse(message, -32601, "Method not found")


def initialize(message):
    if "modern" in words:
        refuse(message, -32601, "Method not found")
        return
    if "storm" in words:
        for _ in range(4):
            changed()
    version = words.get("version") or message["params"]["protocolVersion"]
    answer(message, {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}},
                     "serverInfo": {"name": "scripted", "version": "1"}})
    if "storm" in words:
        for _ in range(4):
            changed()


def take(message):
    method = message.get("method")
    if method == "server/discover":
        discover(message)
    elif method == "initialize":
        initialize(message)
    elif method == "tools/list":
        pages(message)
    elif method == "tools/call":
        threading.Thread(target=call, args=(message,), daemon=True).start()
    elif method == "notifications/cancelled":
        cancelled.setdefault(message["params"]["requestId"], threading.Event()).set()
    elif method == "subscriptions/listen":
        send({"method": "notifications/subscriptions/acknowledged",
              "params": {"notifications": {"toolsListChanged": True},
                         "_meta": {META + "subscriptionId": message["id"]}}})
    elif "id" in message and method:
        refuse(message, -32601, "Method not found")


def main():
    if "banner" in words:  # before and between messages
        write("Server \u00fc running\x1b[0m\n\n{not json}\n".encode())
    if "noise" in words:
        sys.stderr.write("x" * 300000)
        sys.stderr.flush()
    if os.path.exists(words.get("broken", "")):  # from now on it only dies
        log("broken")
        sys.exit(9)
    if "exit" in words:
        sys.stderr.write("cannot open the database\n")
        sys.exit(int(words["exit"]))
    if "child" in words:  # starts a grandchild in the same group that has the pipes
        os.posix_spawnp("sleep", ["sleep", "61.25"], os.environ)
    if "deaf" in words:  # ignores the end of its input, and SIGTERM
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "late" in words:  # it takes its time to begin
        time.sleep(float(words["late"]))
    if "flood" in words:  # writes as much as it can before it reads
        for number in range(int(words["flood"])):
            send({"id": f"f{number}", "method": "ping", "pad": "y" * 1000})
    for line in sys.stdin:
        log(line)
        take(json.loads(line))
        if "flood" in words and len(line) > 1 << 20:
            for number in range(2000):
                send({"method": "notifications/message", "params": {"data": "z" * 1000}})
    log("end of input")
    if "deaf" in words:
        time.sleep(60)


if __name__ == "__main__":
    main()
