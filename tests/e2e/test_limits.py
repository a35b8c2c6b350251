"""What a server may send: how much of what is read, in what time, and in how much memory.

Times are CPU times of the program and compared within one run, each at its best of several where
others disturb it, so that a busy machine does no harm.
"""
import json
import subprocess
import sys
import time
import zlib

import e2e
import servers

HEAD = servers.HEAD + b"Connection: close\r\n\r\n"
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
LIMIT = 128 << 20  # of a response, by default
EVENT = 64 << 20
ATTEMPTS = 4

# A small process in between: what a child needed at most begins with the size of its parent.
MEASURE = """
import json, os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
sys.stderr.write(json.dumps([os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime,
                             usage.ru_maxrss * 1024]))
"""


def delta(size):
    """An event in one line with so much text."""
    return b'data: {"choices":[{"index":0,"delta":{"content":"' + size * b"x" + b'"}}]}\n\n'


class Measured:
    def __init__(self, done):
        lines = done.err.split("\n")
        self.code, self.seconds, self.bytes = json.loads(lines.pop())
        self.err = "\n".join(lines)
        self.out = done.out


class Limits(servers.Case):
    def serve(self, piece, repeat=1, first=b"", head=HEAD, last=b""):
        """A server that sends a piece again and again; how much that was is counted."""

        def answer(connection, number):
            server.read(connection, number)
            connection.sendall(head + first)
            for _ in range(repeat):
                connection.sendall(piece)
                server.sent += len(piece)
            connection.sendall(last)

        server = self.enterContext(servers.Listener(answer))
        server.sent = 0
        return server

    def measure(self, server, *options):
        command = [sys.executable, "-I", "-c", MEASURE, e2e.options.mortise, "--no-account",
                   "--no-plugins", "-m", "openai/m", "--base-url", server.url(), "--retries", "2",
                   *options, "hi"]
        process = subprocess.Popen(command, env=self.environment({"OPENAI_API_KEY": servers.KEY}),
                                   cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.processes.append(process)
        done = Measured(self.finish(process, seconds=120))
        self.assertGreaterEqual(done.code, 0, done.err)
        self.assertEqual(server.connections, 1, "it is not asked again")
        return done

    def refused(self, server, *parts, memory=40 << 20, options=()):
        """One error, in bounded memory."""
        done = self.measure(server, *options)
        self.assertEqual(done.code, 4, done.err)
        for part in parts:
            self.assertIn(part, done.err)
        self.check_memory(done, memory)
        return done

    def check_times(self, sizes, measure):
        """Of twice the size: about twice the time.  (Were it its square, it would be four times.)"""
        best = [float("inf")] * len(sizes)
        for _ in range(ATTEMPTS):
            best = [min(seconds, measure(size)) for seconds, size in zip(best, sizes)]
            if all(more / less < 2.6 for less, more in zip(best, best[1:])):
                return
        self.fail(f"it takes {best} s")

    def check_memory(self, done, most):
        if e2e.options.fail_malloc:  # no sanitizer
            self.assertLess(done.bytes, most)


class Sizes(Limits):
    def test_time_grows_with_the_size_of_an_event(self):
        """FAULTS 19: one line of 50 MB, in the pieces in which it comes."""
        def measure(size):
            done = self.measure(self.serve(delta(size), last=FINISH))
            self.assertEqual((done.code, len(done.out)), (0, size + 1), done.err)
            self.check_memory(done, 60e6 + 8 * size)
            return done.seconds

        self.check_times((12500000, 25000000, 50000000), measure)

    def test_an_event_above_the_limit(self):
        """The error comes at the limit: the end of the line is not waited for."""
        server = self.serve(65536 * b"x", 100000, first=b"data: ")
        self.refused(server, f"an event of more than {EVENT} bytes", memory=400 << 20)
        self.assertLess(server.sent, EVENT + (16 << 20))  # buffers on the way

    def test_many_small_events_need_no_memory(self):
        """40 MB of them, of which little is text."""
        block = 1000 * delta(1)

        def measure(size):
            done = self.measure(self.serve(block, size // len(block), last=FINISH))
            self.assertEqual(done.code, 0, done.err)
            self.check_memory(done, 60 << 20)
            return done.seconds

        most = 40000000 if e2e.options.fail_malloc else 20000000
        self.check_times((most // 2, most), measure)

    def test_a_response_above_the_limit(self):
        server = self.serve(1000 * delta(100), 100000)
        done = self.refused(server, f"a response of more than {LIMIT} bytes", "--response-limit",
                            memory=200 << 20)
        self.assertTrue(done.out.startswith("xxxx"))
        self.assertLess(server.sent, LIMIT + (16 << 20))

    def test_the_limit_can_be_set(self):
        for limit, code in ((100000, 4), (200000, 0), (0, 0)):
            server = self.serve(delta(150000), last=FINISH)
            done = self.measure(server, "--response-limit", str(limit))
            self.assertEqual(done.code, code, done.err)
            if code:
                self.assertIn(f"more than {limit} bytes", done.err)

    def test_text_that_has_no_end(self):
        server = self.serve(10 * delta(4000), 100000)
        self.refused(server, "--response-limit", "5000000", options=("--response-limit", "5000000"),
                     memory=80 << 20)

    def test_comments_that_have_no_end(self):
        for line in (b": ping\n\n", b"retry: 1\n", b"\n", b"id: 7\r\n"):
            server = self.serve(10000 * line, 100000)
            self.refused(server, "--response-limit")

    def test_a_comment_line_that_has_no_end(self):
        server = self.serve(65536 * b"x", 100000, first=b": ")
        self.refused(server, f"more than {EVENT} bytes", memory=400 << 20)

    def test_a_document_that_has_no_end(self):
        server = self.serve(65536 * b"[", 100000)
        self.refused(server, "a document of more than 64 MiB", memory=400 << 20)

    def test_an_error_that_has_no_end(self):
        server = self.serve(65536 * b"<p>no", 1000, head=HEAD.replace(b"200 OK", b"400 No"))
        self.refused(server, "no", memory=60 << 20)
        self.assertLess(server.sent, 32 << 20)

    def test_what_comes_behind_the_end_is_not_read_for_ever(self):
        server = self.serve(10000 * b"data: 1\n\n", 100000, first=delta(5) + FINISH)
        done = self.measure(server)
        self.assertEqual((done.code, done.out), (0, "xxxxx\n"), done.err)
        self.check_memory(done, 40 << 20)


class Headers(Limits):
    OK = b"HTTP/1.1 200 OK\r\n"

    def test_headers_that_have_no_end(self):
        server = self.serve(b"X-A: " + 1000 * b"y" + b"\r\n", 100000, head=self.OK)
        self.refused(server, "more than 256 KiB of headers")

    def test_a_header_line_that_has_no_end(self):
        for head in (self.OK + b"X-A: ", b"HTTP/1.1 200 "):
            server = self.serve(65536 * b"y", 10000, head=head)
            self.refused(server, "a header line that is too long")

    def test_informational_responses_that_have_no_end(self):
        server = self.serve(b"HTTP/1.1 103 Early\r\nX: y\r\n\r\n", 1000000, head=b"")
        self.refused(server, "more than 256 KiB of headers")

    def test_trailers_that_have_no_end(self):
        chunk = servers.HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\ndata:\r\n0\r\n"
        server = self.serve(100 * b"X-A: y\r\n", 1000000, head=chunk)
        self.refused(server, "more than 256 KiB of headers")

    def test_what_is_no_http(self):
        server = self.serve(b"220 mail.example.test ready\r\n", head=b"")
        self.refused(server, "does not speak HTTP", "base URL")


class Packed(Limits):
    """The size that counts is that behind the unpacking."""

    HEAD = servers.HEAD + b"Connection: close\r\nContent-Encoding: gzip\r\n\r\n"

    @staticmethod
    def pack(first, piece, count):
        """`first`, and the piece so often that it is `count` MiB, in a thousandth of the room."""
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        head = packer.compress(first) + packer.flush(zlib.Z_FULL_FLUSH)
        mebibyte = packer.compress(piece * ((1 << 20) // len(piece)))
        mebibyte += packer.flush(zlib.Z_FULL_FLUSH)  # it can stand behind itself
        return head + count * mebibyte

    def test_a_bomb_of_events(self):
        bomb = self.pack(b"", b": x\n", 1000)
        self.assertLess(len(bomb), 8 << 20)
        self.refused(self.serve(bomb, head=self.HEAD), f"a response of more than {LIMIT} bytes")

    def test_a_bomb_of_one_event(self):
        bomb = self.pack(b"data: ", b"x", 1000)
        self.refused(self.serve(bomb, head=self.HEAD), f"an event of more than {EVENT} bytes",
                     memory=400 << 20)

    def test_a_bomb_of_an_error(self):
        """As in the next test, what is not needed is not unpacked either."""
        bomb = self.pack(b"", b"no ", 2000)
        done = self.refused(self.serve(bomb, head=self.HEAD.replace(b"200 OK", b"400 No")), "no no")
        self.assertLess(done.seconds, 1)

    def test_a_bomb_behind_the_end(self):
        bomb = self.pack(delta(5) + FINISH, b"x", 2000)
        done = self.measure(self.serve(bomb, head=self.HEAD))
        self.assertEqual((done.code, done.out), (0, "xxxxx\n"), done.err)
        self.assertLess(done.seconds, 1)
        self.check_memory(done, 40 << 20)


class Silence(Limits):
    def slowly(self, piece, head=HEAD):
        """A server that sends the piece ten times a second until nobody reads."""

        def answer(connection, number):
            server.read(connection, number)
            connection.sendall(head)
            while True:
                connection.sendall(piece)
                time.sleep(0.1)

        server = self.enterContext(servers.Listener(answer))
        return server

    def test_any_byte_of_the_body_is_a_sign_of_life(self):
        """Comments too, so that only the time limit of the run ends them (FAULTS 20)."""
        for piece in (b": ping\n\n", b"\n", b"retry: 1\n"):
            done = self.ask(self.slowly(piece).url(), "--idle-timeout", "1.5", "--timeout", "3",
                            "--first-byte-timeout", "1.5")
            self.check(done, 124)

    def test_headers_are_none(self):
        """The answer has not begun (FAULTS 21)."""
        server = self.slowly(b"X-A: y\r\n", head=Headers.OK)
        done = self.ask(server.url(), "--first-byte-timeout", "0.7", "--timeout", "20")
        self.check_error(done, 4, "--first-byte-timeout")


if __name__ == "__main__":
    e2e.main()
