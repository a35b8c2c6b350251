#!/usr/bin/env python3
"""Many requests over HTTP from many connections, with clients among them that are slow, broken, gone
or send too much: nothing of them stays.

MORTISE_SOAK=10000x100 makes that many requests from that many connections.
"""
import os
import random
import socket
import threading
import time

import e2e
import mcp_http
from mcp_http import raw, request

REQUESTS, CONNECTIONS = map(int, os.environ.get("MORTISE_SOAK", "600x20").split("x"))
NASTY = 5  # of so many requests one is no good


class Worker(threading.Thread):
    """A connection that is kept, and from time to time one that ends badly."""

    def __init__(self, server, number, begun, ended):
        super().__init__(daemon=True)
        self.server = server
        self.random = random.Random(number)
        self.begun, self.ended = begun, ended  # barriers around each part
        self.count = 0
        self.answered = 0
        self.problem = None

    def run(self):
        try:
            for part in (1, 2):
                self.begun.wait()
                share = REQUESTS // CONNECTIONS
                self.work(share // 3 if part == 1 else share - share // 3)
                self.ended.wait()
        except Exception as problem:  # pylint: disable=broad-except
            self.problem = problem
            self.begun.abort()
            self.ended.abort()

    def work(self, requests):
        with self.server.connect() as connection:
            for _ in range(requests):
                self.count += 1
                if self.random.randrange(NASTY) == 0:
                    self.random.choice(NASTIES)(self)
                else:
                    self.echo(connection)

    def echo(self, connection):
        text = "x" * self.random.choice((1, 10, 100, 20000))
        message = request("tools/call", {"name": "echo", "arguments": {"text": text}},
                          id=self.count, modern=self.random.random() < 0.5)
        connection.send(raw(message, mcp_http.headers_of(message)))
        reply = connection.reply()
        if reply.status != 200 or reply.text != text or reply.json["id"] != self.count:
            raise AssertionError(reply)
        self.answered += 1

    # ---- clients that end badly ----

    def garbage(self):
        with self.server.connect() as connection:
            connection.send(bytes(self.random.randrange(256) for _ in range(300)) + b"\n\n")
            connection.is_ended()

    def half_a_head(self):
        with self.server.connect() as connection:
            connection.send(raw(b"{}")[:self.random.randrange(80)])

    def half_a_body(self):
        with self.server.connect() as connection:
            connection.send(raw(b"x" * 5000, {"Content-Length": 100000}))

    def half_closed(self):
        with self.server.connect() as connection:
            connection.send(raw(request("ping", modern=False)))
            connection.socket.shutdown(socket.SHUT_WR)
            if connection.reply().status != 200 or not connection.is_ended():
                raise AssertionError("it was not answered")

    def too_much(self):
        with self.server.connect() as connection:
            connection.send(raw(b"x" * 100000, {"Content-Length": 1 << 30}))
            if connection.reply().status != 413:
                raise AssertionError("it was taken")

    def reset(self):
        with self.server.connect() as connection:
            message = request("tools/call", {"name": "steps", "arguments": {
                "count": 20, "wait_ms": 5}}, progressToken=1)
            connection.send(raw(message, mcp_http.headers_of(message)))
            connection.head()
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def deaf(self):
        with self.server.connect() as connection:
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            message = request("tools/call", {"name": "big", "arguments": {"bytes": 300000}},
                              modern=False)
            connection.send(raw(message))
            connection.more()

    def leave(self):
        with self.server.connect() as connection:
            message = request("tools/call", {"name": "steps", "arguments": {
                "count": 3, "wait_ms": 5}}, modern=False)
            connection.send(raw(message) * 3)

    def subscribe(self):
        with self.server.connect() as connection:
            message = request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            connection.send(raw(message, mcp_http.headers_of(message)))
            connection.head()
            connection.chunk()

    def slow(self):
        with self.server.connect() as connection:
            for byte in raw(request("ping", modern=False)):
                connection.send(bytes([byte]))
            connection.reply()


NASTIES = [Worker.garbage, Worker.half_a_head, Worker.half_a_body, Worker.half_closed,
           Worker.too_much, Worker.reset, Worker.deaf, Worker.leave, Worker.subscribe, Worker.slow]


class Soak(e2e.Case):
    def quiet(self, server, descriptors):
        """Until what is left of the clients is gone; the memory then, in kB."""
        until = time.monotonic() + 10
        while server.descriptors() > descriptors and time.monotonic() < until:
            time.sleep(0.02)
        self.assertEqual(server.descriptors(), descriptors)
        return int(server.status("VmRSS"))

    def test_nothing_stays(self):  # S46
        server = mcp_http.Server(self, plugins=["routed"])
        descriptors = server.descriptors()
        begun, ended = threading.Barrier(CONNECTIONS + 1), threading.Barrier(CONNECTIONS + 1)
        workers = [Worker(server, number, begun, ended) for number in range(CONNECTIONS)]
        memory = []
        for worker in workers:
            worker.start()
        try:
            for _ in range(2):
                begun.wait()
                ended.wait()
                memory.append(self.quiet(server, descriptors))
        except threading.BrokenBarrierError:
            raise next(worker.problem for worker in workers if worker.problem and not isinstance(
                worker.problem, threading.BrokenBarrierError))
        answered = sum(worker.answered for worker in workers)
        print(f"{sum(worker.count for worker in workers)} requests of {CONNECTIONS} connections, "
              f"{answered} of them calls that were answered; {descriptors} descriptors before and "
              f"after; {memory[0]} kB after a third, {memory[1]} kB at the end")
        self.assertGreater(answered, REQUESTS / 2)
        if e2e.options.fail_malloc:  # else a sanitizer keeps what was freed
            threads = int(server.status("Threads"))
            self.assertLess(memory[1], memory[0] * 1.1 + 1024 + 40 * threads)
        self.check(server.end()[0], 143)


if __name__ == "__main__":
    e2e.main()
