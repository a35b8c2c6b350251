#!/usr/bin/env python3
"""A server that speaks like a provider over a network that does what it should not.

  fault_proxy.py [PORT]        until it is interrupted; its base URLs are printed

The path of a request is /SEED/PROVIDER/…: the seed decides which faults the connection has and
where, so that whatever happened can be made to happen again.  Seed 0 has no faults.  A request
that holds no result of a tool yet is answered with calls, another one with text; or with one of
the recorded responses.  Each request is checked as the provider would (valid_request.py).
"""
import argparse
import gzip
import json
import random
import socket
import struct
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import e2e  # noqa: E402
import servers  # noqa: E402
import valid_request  # noqa: E402

REPLIES = {"openai": e2e.openai_reply, "openai-responses": e2e.responses_reply,
           "anthropic": e2e.anthropic_reply, "gemini": e2e.gemini_reply}
RECORDED = {"openai-chat": "openai", "openai-responses": "openai-responses",
            "anthropic": "anthropic", "gemini": "gemini"}
TEXT = "It is dry in Oslo — 4 °C, and in 東京 too; so take no umbrella."
HOLD_SECONDS = 3  # how long a silent server stays; the client's timers are shorter


# ---- what is said when nothing goes wrong ----------------------------------------------------

def recorded_bodies():
    """Recorded event streams that were understood, by provider.

    Not those of a paused turn: how it goes on looks like a request that asks nothing.
    """
    bodies = defaultdict(list)
    for path in sorted((HERE / "fixtures").glob("*/response.sse")):
        meta = json.loads((path.parent / "meta.json").read_text("utf-8"))
        expect = meta["expect"]
        if not expect.get("error") and not meta.get("headers") and expect["stop_reason"] != "pause":
            bodies[RECORDED[meta["provider"]]].append(path.read_bytes())
    return bodies


def has_results(body):
    return any(mark in json.dumps(body) for mark in
               ('"role": "tool"', '"tool_result"', '"functionResponse"', '"function_call_output"'))


class Speaker:
    """What a good server would answer."""

    def __init__(self):
        self.recorded = recorded_bodies()

    def say(self, provider, body, dice):
        if dice.random() < 0.3 and self.recorded[provider]:
            return dice.choice(self.recorded[provider])
        if has_results(body) or dice.random() < 0.2:
            return REPLIES[provider](TEXT)
        # Ids that repeat over the turns of a session are a fault of their own (FAULTS 60).
        number = dice.randrange(3)
        calls = [(f"call_{number}", "get_weather", '{"city": "Oslo \\u2014 \\ud83d\\ude00"}'),
                 (f"call_{number}b", "run_sql", '{"id": 9007199254740993, "q": "select 1"}'),
                 (f"call_{number}c", "list_dir", "{}")]
        return REPLIES[provider]("I look.", calls[:dice.randint(1, 3)])


# ---- one response, before anything happens to it ---------------------------------------------

class Response:
    """`head` is a list of lines, `body` the bytes behind it as they are on the wire."""

    def __init__(self, payload, dice):
        self.payload = payload
        self.status = "HTTP/1.1 200 OK"
        self.headers = {"Content-Type": "text/event-stream"}
        self.transfer = dice.choice(["chunked", "chunked", "length", "close"])
        self.keep_alive = self.transfer != "close" and dice.random() < 0.5
        self.chunk = dice.choice([7, 97, 1000, 1 << 20])
        self.raw = None      # instead of all of it
        self.flush = 1 << 20  # so many bytes at once, and then …
        self.pause = 0       # … so many seconds
        self.wait = 0        # seconds before the first byte
        self.stop_at = None  # a fraction of the bytes, or None …
        self.end = "fin"     # … and then: fin, rst or hold

    def chunks(self):
        """[(size line, data)]; a test may change them before they are joined."""
        pieces = [self.payload[at:at + self.chunk]
                  for at in range(0, len(self.payload), self.chunk)]
        return [(b"%x" % len(piece), piece) for piece in pieces] + [(b"0", b"")]

    def framed(self):
        if self.transfer == "chunked":
            self.headers["Transfer-Encoding"] = "chunked"
            return b"".join(size + b"\r\n" + data + b"\r\n" for size, data in self.chunks())
        if self.transfer == "length":
            self.headers.setdefault("Content-Length", str(len(self.payload)))
        return self.payload

    def bytes(self):
        if self.raw is not None:
            return self.raw
        body = self.framed()
        if not self.keep_alive:
            self.headers["Connection"] = "close"
        lines = [self.status, *(f"{name}: {value}" for name, value in self.headers.items())]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


# ---- what can happen to it -------------------------------------------------------------------
# Each is a function of a response and the dice.  The name is shown when a run fails.

FAULTS = []


def fault(function):
    FAULTS.append(function)
    return function


def garbage(dice, most=64):
    return bytes(dice.randrange(256) for _ in range(dice.randint(1, most)))


def cut(response, dice, end):
    response.stop_at = dice.random()
    response.end = end


@fault
def delayed(response, dice):
    response.wait = dice.choice([0.02, 0.05, 0.1])


@fault
def silent_before_the_first_byte(response, _dice):
    response.stop_at = 0.0
    response.end = "hold"


@fault
def silent_in_between(response, dice):
    cut(response, dice, "hold")


@fault
def dripped(response, dice):
    response.flush = dice.choice([1, 3, 11])
    response.pause = 0.0002


@fault
def closed_in_between(response, dice):
    cut(response, dice, "fin")


@fault
def reset_in_between(response, dice):
    cut(response, dice, "rst")


@fault
def closed_before_the_headers(response, dice):
    response.stop_at = 0.0
    response.end = dice.choice(["fin", "rst"])


@fault
def closed_behind_the_headers(response, dice):
    response.payload = b""
    response.transfer = dice.choice(["close", "chunked"])
    response.stop_at = 0.999 if response.transfer == "chunked" else None
    response.end = dice.choice(["fin", "rst"])


@fault
def length_too_short(response, dice):
    response.transfer = "length"
    response.headers["Content-Length"] = str(dice.randrange(len(response.payload)))


@fault
def length_too_long(response, dice):
    response.transfer = "length"
    response.headers["Content-Length"] = str(len(response.payload) + dice.choice([1, 64, 1 << 40]))
    response.end = dice.choice(["fin", "rst", "hold"])


@fault
def length_is_no_number(response, dice):
    response.transfer = "length"
    response.headers["Content-Length"] = dice.choice(["-1", "x", "", "99999999999999999999999"])


@fault
def wrong_chunk_size(response, dice):
    response.transfer = "chunked"
    chunks = response.chunks()
    at = dice.randrange(len(chunks))
    wrong = dice.choice([b"zz", b"", b"-1", b"ffffffffffffffffffff", b"0", b"7fffffff",
                         b"%x" % (len(chunks[at][1]) + 1), b" 5", b"5;" + b"x" * 9000])
    chunks[at] = (wrong, chunks[at][1])
    response.chunks = lambda: chunks


@fault
def no_last_chunk(response, dice):
    response.transfer = "chunked"
    chunks = response.chunks()[:-1]
    response.chunks = lambda: chunks
    response.end = dice.choice(["fin", "rst", "hold"])


def change_bytes(data, dice):
    """Flips, inserts, deletes or doubles a few."""
    data = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(data) + 1)
        size = dice.randint(1, 40)
        way = dice.randrange(5)
        if way == 0 and at < len(data):
            data[at] ^= 1 << dice.randrange(8)
        elif way == 1:
            data[at:at] = garbage(dice)
        elif way == 2:
            del data[at:at + size]
        elif way == 3:
            data[at:at] = data[at:at + size]
        else:
            data[at:at] = dice.choice([b"\0", b"\r", b"\n\n", b"\xff\xfe", b"\xed\xa0\x80", b"{",
                                       b'"', b"data: ", b"data: {}\n\n", b"event: error\n"])
    return bytes(data)


@fault
def garbage_in_the_body(response, dice):
    response.payload = change_bytes(response.payload, dice)


@fault
def garbage_on_the_wire(response, dice):
    response.raw = change_bytes(response.bytes(), dice)


@fault
def garbage_in_the_headers(response, dice):
    whole = response.bytes()
    head, body = whole.split(b"\r\n\r\n", 1)
    response.raw = change_bytes(head, dice) + b"\r\n\r\n" + body


@fault
def odd_headers(response, dice):
    name, value = dice.choice([
        ("X-Long", "x" * 200000), ("X-Nul", "a\0b"), ("Transfer-Encoding", "gzip, identity"),
        ("Content-Encoding", "br, zstd, nothing"), ("Retry-After", "-5"), ("Location", "\x1b[2J"),
        ("Set-Cookie", "a=b" * 2000), ("Trailer", "X-Long"), ("Connection", "upgrade")])
    response.headers[name] = value


@fault
def events_doubled(response, dice):
    events = response.payload.split(b"\n\n")
    at = dice.randrange(len(events))
    events[at:at] = events[at:at + dice.randint(1, 3)]
    response.payload = b"\n\n".join(events)


@fault
def events_lost(response, dice):
    events = response.payload.split(b"\n\n")
    at = dice.randrange(len(events))
    del events[at:at + dice.randint(1, 3)]
    response.payload = b"\n\n".join(events)


@fault
def events_in_another_order(response, dice):
    events = response.payload.split(b"\n\n")
    dice.shuffle(events)
    response.payload = b"\n\n".join(events)


@fault
def gzip_cut(response, dice):
    response.headers["Content-Encoding"] = dice.choice(["gzip", "deflate"])
    packed = gzip.compress(response.payload)
    response.payload = packed[:dice.randint(1, len(packed))]


@fault
def gzip_broken(response, dice):
    response.headers["Content-Encoding"] = "gzip"
    response.payload = change_bytes(gzip.compress(response.payload), dice)


@fault
def gzip_that_is_none(response, _dice):
    response.headers["Content-Encoding"] = "gzip"


@fault
def wrong_content_type(response, dice):
    response.headers["Content-Type"] = dice.choice(
        ["application/json", "text/html", "image/png", "", "text/event-stream; charset=utf-16"])


@fault
def another_status(response, dice):
    status = dice.choice([204, 301, 304, 400, 401, 404, 429, 500, 503, 529, 999])
    response.status = f"HTTP/1.1 {status} Odd"
    response.headers["Retry-After"] = "0.01"
    if dice.random() < 0.7:
        response.payload = dice.choice([
            b"", b"<html>no</html>", b'{"error": {"message": "no"}}', b'{"error": "no"}',
            b'[{"error": {"code": 503}}]', b"{", b"\0\xff" * 50, b'{"error": {"message": 7}}'])


@fault
def no_http(response, dice):
    response.raw = dice.choice([garbage(dice), b"HTTP/9.9 200\r\n\r\n", b"SSH-2.0-x\r\n",
                                b"HTTP/1.1 100 Continue\r\n\r\n" * 50 + response.bytes(),
                                b"\n\n" + response.bytes(), b"<html>\n"])


@fault
def garbage_behind_the_end(response, dice):
    whole = response.bytes()
    response.raw = whole + dice.choice([garbage(dice), whole, b"HTTP/1.1 500 X\r\n\r\n"])


@fault
def closed_although_kept(response, _dice):
    """FAULTS 22, and a connection that is gone when the next turn wants it."""
    response.transfer = "length"
    response.keep_alive = True
    response.end = "close_kept"


def spoil(response, dice):
    """One or two faults; returns their names."""
    chosen = dice.sample(FAULTS, dice.choice([1, 1, 2]))
    chosen.sort(key=lambda function: FAULTS.index(function) >= FAULTS.index(garbage_on_the_wire))
    for function in chosen:
        function(response, dice)
    return [function.__name__ for function in chosen]


# ---- the server ------------------------------------------------------------------------------

class Seen:
    """Of one seed: what was asked, what happened to the answers, what was wrong with a request."""

    def __init__(self):
        self.bodies = []
        self.faults = []
        self.problems = []


class Server:
    def __init__(self, port=0):
        self.speaker = Speaker()
        self.seen = defaultdict(Seen)
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def base_url(self, seed, provider):
        path = "" if provider in ("anthropic", "gemini") else "/v1"
        return f"http://127.0.0.1:{self.port}/{seed}/{provider}{path}"

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            try:
                connection.settimeout(30)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                rest = b""
                while rest is not None:
                    rest = self.serve_request(connection, rest)
            except (OSError, ValueError):
                pass  # the client hung up

    def serve_request(self, connection, data):
        """What was read behind the request, or None when the connection is over."""
        request = servers.read_request(connection, data)
        if not request:
            return None
        head, body, rest = request
        response = self.answer(head.split(" ")[1], json.loads(body))
        return rest if self.send(connection, response) else None

    def answer(self, path, body):
        _, seed, provider, _ = path.split("/", 3)
        with self.lock:
            seen = self.seen[seed]
            number = len(seen.bodies)
            seen.bodies.append(body)
            seen.problems += valid_request.problems(provider, body)
        dice = random.Random(f"{seed} {provider} {number}")
        clean = seed.startswith("0")
        payload = REPLIES[provider](TEXT) if clean else self.speaker.say(provider, body, dice)
        response = Response(payload, dice)
        # Some answers are whole, so that a run gets as far as its second and third request.
        if not clean and dice.random() < 0.65:
            with self.lock:
                seen.faults += [f"{number}: {name}" for name in spoil(response, dice)]
        return response

    @staticmethod
    def send(connection, response):
        """Whether the connection goes on."""
        data = response.bytes()
        if response.stop_at is not None:
            data = data[:int(len(data) * response.stop_at)]
        time.sleep(response.wait)
        for at in range(0, len(data), response.flush):
            connection.sendall(data[at:at + response.flush])
            if response.pause:
                time.sleep(response.pause)
        if response.end == "hold":
            connection.settimeout(HOLD_SECONDS)
            connection.recv(1)  # comes back early when the client hangs up
        elif response.end == "rst":
            time.sleep(0.01)  # what was sent before is read first
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return response.keep_alive and response.stop_at is None and response.end == "fin"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", nargs="?", type=int, default=0, help="0: any")
    options = parser.parse_args()
    server = Server(options.port)
    for provider in REPLIES:
        print(server.base_url("SEED", provider), flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
