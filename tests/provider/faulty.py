"""Servers that fail as a test wants it, and the real binary that asks them.

Every test is a function: it gets the binary, runs it against a small server whose behaviour it
chooses, and asserts error kinds, exit codes, numbers of requests and times.  A file of tests ends
with main().
"""
import argparse
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
import servers  # noqa: E402  (they are beside the tests of the whole binary)

KEY = "sk-canary-7f3a9c51e2"
HELLO = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"hello"}}]}\n\n'
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
ANSWER = HELLO + FINISH + DONE

tests = []


def test(function):
    tests.append(function)
    return function


# ---- servers ---------------------------------------------------------------------------------

def head(status=200, **headers):
    lines = [f"HTTP/1.1 {status} X", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def error_body(status, message="no", **headers):
    body = json.dumps({"error": {"message": message}}).encode()
    return head(status, Content_Length=len(body), **headers) + body


def reset(connection):
    time.sleep(0.05)  # what was sent before is read first
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def wait_for_hangup(connection, seconds=20):
    connection.settimeout(seconds)
    try:
        connection.recv(1)
    except OSError:
        pass


class Server:
    """Calls answer(connection, number, request) for each request; number counts from 1."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.times = []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=16)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            with connection:
                request = self.read(connection)
                if request is None:
                    return
                with self.lock:
                    self.requests.append(request)
                    self.times.append(time.monotonic())
                    number = len(self.requests)
                self.answer(connection, number, request)
        except OSError:
            pass  # the client hung up

    @staticmethod
    def read(connection):
        request = servers.read_request(connection)
        return request and request[0]

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.listener.close()


def failing_once(failure):
    """A server whose first request fails; the next ones get an answer."""
    def answer(connection, number, _request):
        connection.sendall(failure if number == 1 else head() + ANSWER)
    return Server(answer)


def always(response):
    return Server(lambda connection, _number, _request: connection.sendall(response))


# ---- the binary ------------------------------------------------------------------------------

class Run:
    def __init__(self, mortise, url, *options, environment=None, interrupt_when=None,
                 key_from=None):
        with tempfile.TemporaryDirectory() as home:
            if key_from:
                config = Path(home, ".config", "mortise", "config.json")
                config.parent.mkdir(parents=True)
                config.write_text(json.dumps({"provider-config": {"openai": key_from}}))
                config.chmod(0o600)
            variables = {name: value for name, value in os.environ.items()
                         if name == "PATH" or name.endswith("SAN_OPTIONS")}
            variables |= {"HOME": home, "OPENAI_API_KEY": KEY} | (environment or {})
            start = time.monotonic()
            process = subprocess.Popen(
                [mortise, "run", "--json", "-m", "openai/test-model", "--base-url", url,
                 "--no-plugins", *options, "hi"],
                env=variables, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
            if interrupt_when:
                until = start + 20
                while not interrupt_when() and time.monotonic() < until:
                    time.sleep(0.01)
                time.sleep(0.1)  # it waits for what comes now
                start = time.monotonic()
                process.send_signal(signal.SIGINT)
            self.stdout, self.stderr = process.communicate(timeout=60)
            self.seconds = time.monotonic() - start
        self.status = process.returncode
        self.events = [json.loads(line) for line in self.stdout.decode().splitlines()]

    def all(self, kind):
        return [event for event in self.events if event["type"] == kind]

    def text(self):
        return "".join(event["text"] for event in self.all("text_delta"))

    def succeeded(self):
        assert self.status == 0, f"exit code {self.status}: {self.stderr.decode()}"
        assert self.text() == "hello", f"text {self.text()!r}"
        assert not self.all("error"), self.all("error")
        return self

    def failed(self, kind, status, retryable=None):
        errors = self.all("error")
        assert len(errors) == 1, f"errors {errors}: {self.stderr.decode()}"
        assert errors[0]["kind"] == kind, errors
        assert retryable is None or errors[0]["retryable"] == retryable, errors
        assert self.status == status, f"exit code {self.status}"
        return self

    def says(self, text):
        assert text in self.all("error")[0]["message"], self.all("error")
        return self

    def took(self, least, most):
        assert least <= self.seconds <= most, f"took {self.seconds:.2f} s"
        return self


def count(server, expected):
    assert len(server.requests) == expected, f"{len(server.requests)} requests, not {expected}"


def only_wait(run, least_ms, most_ms):
    retries = run.all("retry")
    assert len(retries) == 1, retries
    assert least_ms <= retries[0]["wait_ms"] <= most_ms, retries


# ---- all of it -------------------------------------------------------------------------------

def run_test(function, mortise):
    try:
        note = function(mortise)
    except Exception as error:
        print(f"FAILED {function.__name__}: {type(error).__name__}: {error}")
        return False
    if note:
        print(f"{function.__name__} {note}")
    return True


def main(about):
    parser = argparse.ArgumentParser(description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mortise", type=Path)
    parser.add_argument("--only", default="", help="tests whose name holds this text")
    options = parser.parse_args()
    chosen = [function for function in tests if options.only in function.__name__]
    with ThreadPoolExecutor(max_workers=4) as pool:
        results = list(pool.map(lambda function: run_test(function, options.mortise.resolve()),
                                chosen))
    print(f"{sum(results)} of {len(results)} tests passed")
    return 0 if results and all(results) else 1
