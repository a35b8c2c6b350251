#!/usr/bin/env python3
"""Which test shows which fault.

faults.py ROOT prints one line for each row of the table below with the places in the tests of ROOT
that name it: "FAULTS 41", and lists and ranges of rows, "FAULTS 10-12, 15 and 17 to 19".  It fails
when a row is named nowhere.  Before that it checks itself on a small text.

The rows are faults that users of hosts, SDKs and servers have reported in public.
"""
import pathlib
import re
import sys

ROWS = {
    # framing and transport
    1: "CRLF, and a flush between CR and LF", 2: "bare CR, mixed line ends",
    3: "a character that a flush cuts", 4: "comments as heartbeats",
    5: "blank data is no event", 6: "no space behind the colon",
    7: "one JSON over many data lines", 8: "a byte order mark",
    9: "no newline at the end", 10: "the socket stays open after the end",
    11: "a padded sentinel", 12: "text behind the end",
    13: "gzip that was not asked for", 14: "identity is asked for",
    15: "halves of surrogate pairs", 16: "a JSON document where a stream was asked for",
    17: "a stream that is labelled JSON", 18: "cut anywhere",
    19: "large lines in linear time", 20: "silence in the middle",
    21: "a slow first byte", 22: "a connection that breaks off",
    23: "the end without a finish reason", 24: "an empty response",
    25: "a private CA", 26: "no proxy for this machine", 27: "a comment behind an id",
    # errors, retries, limits
    28: "an error within a stream", 29: "an error alone in a stream",
    30: "where the message of an error stands", 31: "an error in a list",
    32: "an error with status 200", 33: "a web page", 34: "overloaded in a stream",
    35: "529", 36: "Retry-After in every form", 37: "the last error is shown",
    38: "a retry after partial output", 39: "a call of a dead attempt",
    40: "a rate limit that talks of tokens", 41: "overflow in words of vLLM and OpenAI",
    42: "overflow in words of llama.cpp", 43: "overflow in words of Anthropic",
    44: "overflow as a stop reason", 45: "what is done about overflow",
    46: "a call that the server could not read", 47: "no key in URLs, logs and errors",
    48: "no key in debug logs",
    # Chat Completions
    49: "one index, two ids", 50: "fragments of a reused index", 51: "no index",
    52: "no index and an id only first", 53: "a fragment of nothing", 54: "fragments by turns",
    55: "id and name in every chunk", 56: "a name in pieces", 57: "no id ever",
    58: "a name that is erased later", 59: "one id twice", 60: "ids that repeat over turns",
    61: "an id that is a number", 62: "arguments that are no text", 63: "empty arguments",
    64: "arguments in a fence", 65: "arguments with a tail", 66: "arguments twice",
    67: "another object without a name", 68: "arguments encoded twice",
    69: "one bad call among good ones", 70: "digits stay as they are",
    71: "cut by length within a call", 72: "cut JSON under another label",
    73: "a call without an end of the response", 74: "calls that end with stop",
    75: "tool_calls without a call", 76: "empty choices", 77: "no choices",
    78: "usage within a choice", 79: "function_call of old", 80: "reasoning_content goes back",
    81: "reasoning under two names", 82: "content that is a list", 83: "refusal",
    84: "two choices", 85: "a prefixed name", 86: "an invented name",
    87: "two entries for one call in a chunk", 88: "a call that is written as text",
    # Responses
    89: "item ids and call ids", 90: "arguments in the done event alone",
    91: "the response knows what the items did not say", 92: "no item id",
    93: "arguments that are an object", 94: "response.failed", 95: "response.incomplete",
    96: "a flat error", 97: "reasoning items go back",
    # Messages
    98: "thinking and signature go back", 99: "redacted thinking goes back",
    100: "all results in one message, first", 101: "empty input", 102: "input in the start",
    103: "deltas beat the placeholder", 104: "max_tokens within a call",
    105: "pause_turn, unknown reasons, tools of the server", 106: "a refusal without content",
    107: "end_turn with a call", 108: "usage that becomes zero", 109: "servers that are like it",
    # Gemini
    110: "calls without ids", 111: "signatures stay on their parts",
    112: "a signature on an empty part", 113: "a malformed call",
    114: "a filter without content", 115: "schemas that it refuses",
    116: "as many results as calls", 117: "no args", 118: "STOP with a call",
    # history, tools, processes, sessions
    119: "calls without a result", 120: "results without a call",
    121: "an aborted turn is not replayed", 122: "ids as each provider takes them",
    123: "names as each provider takes them", 124: "schemas of MCP",
    125: "one tool fails, the others have results", 126: "NUL in what a tool says",
    127: "text that is cut within a character", 128: "invalid text in a prompt",
    129: "one result that fills the context", 130: "what no terminal should hear",
    131: "a tool that spoils the terminal", 132: "a crash leaves the terminal as it was",
    133: "children of an aborted tool", 134: "suspended and continued",
    135: "a torn end of a file", 136: "damage in the middle of a session",
    137: "line ends of Unicode", 138: "two processes, one session",
    139: "a result before its call", 140: "tools in one order",
    141: "nothing volatile in front", 142: "banners of MCP servers",
    143: "standard error of MCP servers", 144: "a number that came as text",
    145: "429 of MCP servers", 146: "indices without bounds",
}
# Not built, with the reason.  A row that has a test must not be listed.
LATER = {}
SHOWN = 3

LIST = re.compile(r"\bFAULTS ((?:\d+\b(?:-\d+)?(?:,| and| to)?[ ]?)+)")
RANGE = re.compile(r"(\d+)(?:(?:-| to )(\d+))?")


def named(text):
    """Pairs of line and row."""
    for at, line in enumerate(text.splitlines(), 1):
        for rows in LIST.findall(line):
            for first, last in RANGE.findall(rows):
                for row in range(int(first), int(last or first) + 1):
                    yield at, row


def check_self():
    found = list(named("/* FAULTS 1, 3-5 and 7 to 8 */ 9\nFAULTS 10: 11\nFAULTS 1a\n"
                       "(FAULTS 12, D4; FAULTS 13)\nDEFAULTS 14"))
    assert found == [(1, 1), (1, 3), (1, 4), (1, 5), (1, 7), (1, 8), (2, 10), (4, 12), (4, 13)], found


def places(root):
    found = {row: [] for row in ROWS}
    for path in sorted((root / "tests").rglob("*")):
        if path.suffix not in (".c", ".py") or path.name == pathlib.Path(__file__).name:
            continue
        for line, row in named(path.read_text(encoding="utf-8")):
            found.setdefault(row, []).append(f"{path.relative_to(root)}:{line}")
    return found


def main():
    check_self()
    wrong = []
    for row, where in sorted(places(pathlib.Path(sys.argv[1])).items()):
        more = f" and {len(where) - SHOWN} more" if len(where) > SHOWN else ""
        known = ", ".join(where[:SHOWN]) or LATER.get(row, "no test")
        print(f"{row:<4} {ROWS.get(row, '?')}: {known}{more}")
        if row not in ROWS:
            wrong.append(f"{row} is named by {where[0]}, but is no row")
        elif bool(where) == (row in LATER):
            wrong.append(f"{row} ({ROWS[row]}) " + ("has a test but is listed as not built" if where
                                                    else "is named by no test"))
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
