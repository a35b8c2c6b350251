"""What each provider demands of a request's history, whatever happened before it.

    for problem in valid_request.problems("anthropic", body): …

The rules are those that servers answer with 400 for: roles in an order that they take, each call
with exactly one result, in call order and where it belongs, ids that are unique and made of what
ids may be made of, arguments that are JSON objects, nothing that is empty, text that is UTF-8.
"""
import collections
import json
import re

ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Problems(list):
    def check(self, condition, text):
        if not condition:
            self.append(text)

    def compare(self, what, expected, actual):
        self.check(expected == actual, f"{what}: expected {expected!r}, not {actual!r}")

    def roles(self, pattern, roles):
        self.check(re.fullmatch(pattern, " ".join(roles)), f"roles {roles}")


def is_object_text(text):
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError):
        return False


def check_ids(problems, ids):
    twice = [id for id, count in collections.Counter(ids).items() if count > 1]
    problems.compare("ids of several calls", [], twice)  # FAULTS 59, 60
    for id in ids:
        problems.check(isinstance(id, str) and ID.fullmatch(id), f"id {id!r} is not accepted")


def check_text(problems, body):
    """FAULTS 15, 126, 127"""
    try:
        json.dumps(body, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        problems.append(f"text that is no UTF-8: {error}")


# ---- Chat Completions ------------------------------------------------------------------------

def check_chat(problems, body):
    messages = body["messages"]
    problems.roles(r"(system )?user( user| assistant( tool)*)*", [m["role"] for m in messages])
    ids, waiting = [], []
    for message in messages:
        if message["role"] == "tool":
            problems.check(waiting and waiting.pop(0) == message["tool_call_id"],
                           f"a result that is not the next call's: {message}")
            problems.check(isinstance(message["content"], (str, list)), f"no content: {message}")
            continue
        problems.compare("calls without a result", [], waiting)
        calls = message.get("tool_calls") or []
        problems.check(message.get("content") or calls, f"empty content: {message}")
        for call in calls:
            problems.check(is_object_text(call["function"]["arguments"]),
                           f"arguments are no JSON object: {call}")
        waiting = [call["id"] for call in calls]
        ids += waiting
    problems.compare("calls without a result", [], waiting)
    check_ids(problems, ids)


# ---- Messages --------------------------------------------------------------------------------

def blocks_of(message):
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def check_messages(problems, body):
    """FAULTS 100: all results are in the next message, before anything else."""
    messages = body["messages"]
    problems.roles(r"user( assistant user)*( assistant)?", [message["role"] for message in messages])
    ids, waiting = [], []
    for message in messages:
        blocks = blocks_of(message)
        problems.check(blocks, f"empty content: {message}")
        for block in blocks:
            problems.check(block["type"] != "text" or block["text"].strip(),
                           f"empty text: {message}")
        if message["role"] == "user":
            first = [block.get("tool_use_id") for block in blocks[:len(waiting)]]
            problems.compare("ids of results, in call order", waiting, first)
            problems.check(not any(block["type"] == "tool_result"
                                   for block in blocks[len(waiting):]),
                           f"a result without its call: {message}")
            continue
        calls = [block for block in blocks if block["type"] == "tool_use"]
        for call in calls:
            problems.check(isinstance(call["input"], dict), f"input is no object: {call}")
        waiting = [call["id"] for call in calls]
        ids += waiting
    check_ids(problems, ids)


# ---- Gemini ----------------------------------------------------------------------------------

def check_contents(problems, body):
    """FAULTS 110, 116: as many responses as calls, and only the ids that the server gave."""
    contents = body["contents"]
    problems.roles(r"user( model user)*( model)?", [content["role"] for content in contents])
    calls = []
    for content in contents:
        parts = content["parts"]
        problems.check(parts, f"empty content: {content}")
        for part in parts:
            problems.check(part != {"text": ""}, f"empty text: {content}")
        if content["role"] == "model":
            calls = [part["functionCall"] for part in parts if "functionCall" in part]
            for call in calls:
                problems.check(isinstance(call.get("args", {}), dict), f"no object: {call}")
            continue
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        problems.compare("calls and results", [(call["name"], call.get("id")) for call in calls],
                         [(result["name"], result.get("id")) for result in results])
        for result in results:
            problems.check(isinstance(result["response"], dict), f"no object: {result}")


# ---- Responses -------------------------------------------------------------------------------

def check_input(problems, body):
    """FAULTS 97: a reasoning item is followed by what it was about.

    Results are known by their ids; those of one response may come in any order.
    """
    items = body["input"]
    kinds = [item.get("role") or item.get("type") for item in items]
    made = r"( reasoning| assistant| function_call)*"
    problems.roles(rf"(system )?user( user|{made}( function_call_output)*)*", kinds)
    problems.compare("reasoning that nothing follows", [], [
        kind for kind, after in zip(kinds, kinds[1:])
        if kind == "reasoning" and after in ("function_call_output", "user")])
    ids, waiting = [], []
    for item in items:
        kind = item.get("type")
        if kind == "function_call_output":
            problems.check(item["call_id"] in waiting, f"a result without its call: {item}")
            waiting = [id for id in waiting if id != item["call_id"]]
        elif kind == "function_call":
            waiting.append(item["call_id"])
            ids.append(item["call_id"])
            problems.check(is_object_text(item["arguments"]),
                           f"arguments are no JSON object: {item}")
        elif item.get("role") == "user":
            problems.compare("calls without a result", [], waiting)
    problems.compare("calls without a result", [], waiting)
    check_ids(problems, ids)
    problems.compare("store", False, body.get("store"))


def check_is_asked(problems, provider, body):
    """The last word is not the model's own, unless a server's tool is at work (FAULTS 105)."""
    last = body[{"gemini": "contents", "openai-responses": "input"}.get(provider, "messages")][-1]
    is_paused = (CHECKS[provider] is check_messages and
                 blocks_of(last)[-1]["type"] == "server_tool_use")
    problems.check(is_paused or (last.get("role") or last.get("type")) in
                   ("user", "tool", "function_call_output"), f"nothing is asked: {last}")


CHECKS = {"openai": check_chat, "openai-responses": check_input, "anthropic": check_messages,
          "bedrock": check_messages, "gemini": check_contents}


def problems(provider, body):
    """Texts; none: the provider takes the request."""
    found = Problems()
    try:
        check_is_asked(found, provider, body)
        CHECKS[provider](found, body)
        check_text(found, body)
    except (KeyError, TypeError, IndexError) as error:
        found.append(f"{type(error).__name__} {error} in {json.dumps(body)[:2000]}")
    return found
