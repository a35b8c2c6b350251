#!/usr/bin/env python3
"""Replays recorded responses over HTTP/1.1, byte by byte as they were flushed.

The first component of a request's path picks a folder of FIXTURES; the rest of the path does
not matter.  The folder's meta.json says how its body file is sent (all keys are optional):

  body            the file; else response.sse or response.http, whichever is there
  http_status     200
  headers         more headers; null takes one away; {http_date:+N} is N seconds from now
  transfer        "chunked" (default of .sse), "length" (default of .http) or "close"
  chunking        offsets at which it is flushed
  stall_after     an offset at which it pauses for stall_ms
  hold_open_ms    the socket stays open, silent, after the last byte and before the end
  abort           "truncate": close without the end; "rst": reset the connection
  sequence        a list of such objects: the n-th request gets the n-th, the last one repeats

A path that ends as Bedrock's do has its signature checked, and its events framed.

--mode cuts every body in another way; what is understood must not depend on it:
  fixture (as recorded), whole (one write), bytes (one write a byte), rand:SEED
"""
import argparse
import json
import random
import re
import socket
import struct
import sys
import threading
import time
from email.utils import formatdate
from http.client import responses
from pathlib import Path

import bedrock


class Response:
    """One answer: a file and how it is sent."""

    def __init__(self, folder, meta, framed=False):
        name = meta.get("body")
        if name is None:
            name = "response.sse" if (folder / "response.sse").exists() else "response.http"
        self.name = name
        self.folder = folder
        self.meta = meta
        self.body = (folder / name).read_bytes()
        self.is_sse = name.endswith(".sse")
        self.is_framed = framed and self.is_sse
        if self.is_framed:
            self.body = bedrock.frames_of(self.body)
        self.transfer = meta.get("transfer") or ("chunked" if self.is_sse else "length")

    def head(self):
        kind = ("application/vnd.amazon.eventstream" if self.is_framed else
                "text/event-stream" if self.is_sse else "application/json")
        headers = {"content-type": kind,
                   "cache-control": "no-cache", "connection": "close"}
        for name, value in (self.meta.get("headers") or {}).items():
            headers[name.lower()] = None if value is None else re.sub(
                r"\{http_date:([+-]\d+)\}",
                lambda match: formatdate(time.time() + int(match[1]), usegmt=True), str(value))
        if self.transfer == "chunked":
            headers["transfer-encoding"] = "chunked"
        elif self.transfer == "length":
            missing = 64 if self.meta.get("abort") == "truncate" else 0
            headers["content-length"] = str(len(self.body) + missing)
        status = self.meta.get("http_status", 200)
        lines = [f"HTTP/1.1 {status} {responses.get(status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def pieces(self, mode):
        """The body, cut where it is flushed, with the offset of each piece."""
        size = len(self.body)
        if mode == "whole":
            cuts = set()
        elif mode == "bytes":
            cuts = set(range(1, size))
        elif mode.startswith("rand:"):
            dice = random.Random(f"{mode[5:]} {self.folder.name} {self.name}")
            cuts = set(dice.sample(range(1, size), max(1, size // 23))) if size > 1 else set()
        else:
            cuts = {offset for offset in self.meta.get("chunking") or [] if 0 < offset < size}
        if self.meta.get("stall_after"):
            cuts.add(self.meta["stall_after"])
        edges = [0, *sorted(cuts), size]
        return [(start, self.body[start:end]) for start, end in zip(edges, edges[1:]) if start < end]

    def send(self, connection, mode, delay):
        connection.sendall(self.head())
        for start, piece in self.pieces(mode):
            if start and self.meta.get("stall_after") == start:
                time.sleep(self.meta.get("stall_ms", 0) / 1000)
            elif start and mode != "bytes":
                time.sleep(delay)
            if self.transfer == "chunked":
                piece = b"%x\r\n%b\r\n" % (len(piece), piece)
            connection.sendall(piece)
        if self.meta.get("hold_open_ms"):
            connection.settimeout(self.meta["hold_open_ms"] / 1000)
            try:
                connection.recv(1)  # comes back early when the client hangs up
            except OSError:
                pass
        if self.meta.get("abort") == "rst":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif self.meta.get("abort") != "truncate" and self.transfer == "chunked":
            connection.sendall(b"0\r\n\r\n")


def read_request(connection):
    """(path, headers, body) of a request with a Content-Length, or None."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip()
               for name, value in (line.split(":", 1) for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        more = connection.recv(65536)
        if not more:
            return None
        body += more
    return first.split(" ")[1], headers, body


class Server:
    def __init__(self, fixtures, mode="fixture", delay_ms=4, log=None):
        self.fixtures = Path(fixtures)
        self.mode = mode
        self.delay = delay_ms / 1000
        self.log = log
        self.counts = {}
        self.lock = threading.Lock()

    def choose(self, path):
        folder = self.fixtures / path.lstrip("/").split("/", 1)[0]
        if not (folder / "meta.json").is_file():
            return None
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
        framed = bool(bedrock.PATH.search(path))
        with self.lock:
            number = self.counts.get((folder, framed), 0)
            self.counts[folder, framed] = number + 1
        if meta.get("sequence"):
            meta = meta["sequence"][min(number, len(meta["sequence"]) - 1)]
        return Response(folder, meta, framed)

    def note(self, response, path, headers, body):
        try:
            body = json.loads(body)
        except ValueError:
            body = body.decode("utf-8", "replace")
        entry = {"fixture": response and response.folder.name, "path": path, "headers": headers,
                 "body": body}
        with self.lock, open(self.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    @staticmethod
    def refuse(connection, error_type, message):
        body = json.dumps({"message": message}).encode()
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nx-amzn-ErrorType: %b:x"
                           b"\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
                           % (error_type.encode(), len(body), body))

    def handle(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(30)
        request = read_request(connection)
        if not request:
            return
        refusal = bedrock.PATH.search(request[0]) and bedrock.refusal(*request)
        if refusal:
            self.refuse(connection, *refusal)
            return
        response = self.choose(request[0])
        if self.log:
            self.note(response, *request)
        if response:
            response.send(connection, self.mode, self.delay)
        else:
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n"
                               b"Content-Length: 15\r\n\r\nno such fixture")

    def run(self, connection):
        with connection:
            try:
                self.handle(connection)
            except OSError:
                pass  # the client hung up

    def serve(self, port):
        with socket.create_server(("127.0.0.1", port), backlog=64) as listener:
            print(f"listening 127.0.0.1:{listener.getsockname()[1]}", flush=True)
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=self.run, args=(connection,), daemon=True).start()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fixtures", metavar="FIXTURES")
    parser.add_argument("port", nargs="?", type=int, default=0, help="0: any; it is printed")
    parser.add_argument("--mode", default="fixture")
    parser.add_argument("--delay-ms", type=float, default=4, help="between two flushes")
    parser.add_argument("--log", metavar="FILE", help="each request as a JSON line")
    options = parser.parse_args()
    try:
        Server(options.fixtures, options.mode, options.delay_ms, options.log).serve(options.port)
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
