#!/usr/bin/env python3
"""The real binary against servers that fail in ways that no recording can show.

  test_faults.py MORTISE [--only TEXT]

Every test is a function: it gets the binary, runs it against a small server whose behaviour
it chooses, and asserts error kinds, exit codes, numbers of requests and times.
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
from email.utils import formatdate
from pathlib import Path

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
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return None
            data += more
        start, body = data.split(b"\r\n\r\n", 1)
        size = next(int(line.split(b":")[1]) for line in start.split(b"\r\n")
                    if line.lower().startswith(b"content-length:"))
        while len(body) < size:
            body += connection.recv(65536)
        return start.decode("latin-1")

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
    def __init__(self, mortise, url, *options, environment=None, interrupt_after=None,
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
            if interrupt_after:
                time.sleep(interrupt_after)
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


# ---- broken connections ----------------------------------------------------------------------

@test
def reset_after_text_is_an_error_and_not_retried(mortise):
    """FAULTS 22, 38"""
    def answer(connection, _number, _request):
        connection.sendall(head() + HELLO + b'data: {"choices":[{"ind')
        reset(connection)
    with Server(answer) as server:
        run = Run(mortise, server.url).failed("stream_truncated", 4, retryable=True)
        assert run.text() == "hello"
        count(server, 1)


@test
def reset_before_any_event_is_retried(mortise):
    """FAULTS 4, 22"""
    def answer(connection, number, _request):
        connection.sendall(head() + (b": soon\n\n" if number == 1 else ANSWER))
        if number == 1:
            reset(connection)
    with Server(answer) as server:
        Run(mortise, server.url).succeeded()
        count(server, 2)


@test
def close_before_a_response_is_retried(mortise):
    def answer(connection, number, _request):
        if number > 1:
            connection.sendall(head() + ANSWER)
    with Server(answer) as server:
        Run(mortise, server.url).succeeded()
        count(server, 2)


@test
def reset_after_the_finish_reason_is_a_success(mortise):
    """FAULTS 23"""
    def answer(connection, _number, _request):
        connection.sendall(head() + HELLO + FINISH + b"data: [DO")
        reset(connection)
    with Server(answer) as server:
        Run(mortise, server.url).succeeded()


@test
def refused_connection(mortise):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    run = Run(mortise, f"http://127.0.0.1:{port}/v1", "--retries", "1")
    run.failed("network", 4, retryable=True).says(f"127.0.0.1:{port}").took(0, 3)
    only_wait(run, 0, 500)


@test
def unknown_host(mortise):
    run = Run(mortise, "http://nowhere.invalid/v1", "--retries", "0")
    run.failed("network", 4).says("nowhere.invalid")


@test
def not_a_tls_server(mortise):
    class Plain(Server):
        def serve(self, connection):
            with connection:
                connection.sendall(error_body(400))
                wait_for_hangup(connection)
    with Plain(None) as server:
        run = Run(mortise, server.url.replace("http:", "https:"), "--retries", "0")
        run.failed("network", 4).says("TLS")


# ---- time ------------------------------------------------------------------------------------

@test
def slow_drip_is_not_idle(mortise):
    """FAULTS 18, 20"""
    def answer(connection, _number, _request):
        connection.sendall(head())
        for start in range(0, len(ANSWER), 8):
            connection.sendall(ANSWER[start:start + 8])
            time.sleep(0.05)
    with Server(answer) as server:
        Run(mortise, server.url, "--idle-timeout", "0.6").succeeded().took(1, 10)


@test
def stall_while_it_connects(mortise):
    with always(head() + ANSWER) as server:  # which waits for a request, not for a handshake
        run = Run(mortise, server.url.replace("http:", "https:"), "--connect-timeout", "0.5",
                  "--retries", "0")
        run.failed("timeout", 4, retryable=True).says("--connect-timeout").took(0.5, 2)


@test
def stall_before_the_first_byte(mortise):
    """FAULTS 21"""
    with Server(lambda connection, _number, _request: wait_for_hangup(connection)) as server:
        run = Run(mortise, server.url, "--first-byte-timeout", "0.5", "--retries", "0")
        run.failed("timeout", 4, retryable=True).says("--first-byte-timeout").took(0.5, 2)


@test
def stall_behind_the_headers(mortise):
    def answer(connection, _number, _request):
        connection.sendall(head())
        wait_for_hangup(connection)
    with Server(answer) as server:
        run = Run(mortise, server.url, "--first-byte-timeout", "0.5", "--retries", "0")
        run.failed("timeout", 4).took(0.5, 2)


@test
def stall_between_bytes(mortise):
    """FAULTS 20, 21: another timer"""
    def answer(connection, _number, _request):
        connection.sendall(head() + HELLO)
        wait_for_hangup(connection)
    with Server(answer) as server:
        run = Run(mortise, server.url, "--idle-timeout", "0.5")
        run.failed("timeout", 4, retryable=True).says("--idle-timeout").took(0.5, 2)
        count(server, 1)


@test
def stall_before_the_first_byte_is_retried(mortise):
    def answer(connection, number, _request):
        if number == 1:
            wait_for_hangup(connection)
        else:
            connection.sendall(head() + ANSWER)
    with Server(answer) as server:
        Run(mortise, server.url, "--first-byte-timeout", "0.4").succeeded()
        count(server, 2)


@test
def the_time_limit_of_the_run(mortise):
    with Server(lambda connection, _number, _request: wait_for_hangup(connection)) as server:
        run = Run(mortise, server.url, "--timeout", "0.7")
        assert run.status == 124, f"exit code {run.status}"
        run.took(0.6, 2)
        count(server, 1)


@test
def interrupt_while_nothing_comes(mortise):
    """FAULTS 20"""
    with Server(lambda connection, _number, _request: wait_for_hangup(connection)) as server:
        run = Run(mortise, server.url, interrupt_after=0.7)
        assert run.status == 130, f"exit code {run.status}"
        run.took(0, 1)


@test
def interrupt_while_it_waits_to_retry(mortise):
    """FAULTS 36"""
    with always(error_body(429, Retry_After="50")) as server:
        run = Run(mortise, server.url, interrupt_after=0.7)
        assert run.status == 130, f"exit code {run.status}"
        run.took(0, 1)
        count(server, 1)


@test
def done_on_an_open_socket(mortise):
    """FAULTS 10"""
    def answer(connection, _number, _request):
        connection.sendall(head() + ANSWER)
        wait_for_hangup(connection)
    with Server(answer) as server:
        Run(mortise, server.url).succeeded().took(0, 1)


@test
def text_behind_done_is_ignored(mortise):
    """FAULTS 12"""
    with always(head() + ANSWER + HELLO + b"data: {oops\n\n") as server:
        Run(mortise, server.url).succeeded()


# ---- retries ---------------------------------------------------------------------------------

@test
def retry_after_a_date(mortise):
    """FAULTS 36"""
    def answer(connection, number, _request):
        date = formatdate(time.time() + 2, usegmt=True)
        connection.sendall(error_body(429, Retry_After=date) if number == 1 else head() + ANSWER)
    with Server(answer) as server:
        run = Run(mortise, server.url).succeeded()
        only_wait(run, 900, 2000)
        assert server.times[1] - server.times[0] >= 0.9


@test
def retry_after_a_past_date(mortise):
    """FAULTS 36"""
    date = formatdate(time.time() - 3600, usegmt=True)
    with failing_once(error_body(429, Retry_After=date)) as server:
        only_wait(Run(mortise, server.url).succeeded(), 0, 0)


@test
def retry_after_ms_wins(mortise):
    """FAULTS 36"""
    failure = error_body(503, Retry_After="30", retry_after_ms="150")
    with failing_once(failure) as server:
        only_wait(Run(mortise, server.url).succeeded().took(0.15, 3), 150, 150)


@test
def retry_after_a_fraction(mortise):
    """FAULTS 36"""
    with failing_once(error_body(500, Retry_After="0.2")) as server:
        only_wait(Run(mortise, server.url).succeeded(), 200, 200)


@test
def garbage_hints_are_ignored(mortise):
    """FAULTS 36"""
    failure = error_body(429, Retry_After="soon", retry_after_ms="x")
    with failing_once(failure) as server:
        only_wait(Run(mortise, server.url).succeeded(), 0, 500)


@test
def the_last_error_is_shown(mortise):
    """FAULTS 37"""
    failure = error_body(429, "slow down, please", Retry_After="0")
    with always(failure) as server:
        run = Run(mortise, server.url).failed("rate_limit", 4, retryable=True)
        run.says("slow down, please")
        assert [event["attempt"] for event in run.all("retry")] == [1, 2, 3]
        count(server, 4)


@test
def should_retry_false(mortise):
    """FAULTS 35"""
    with always(error_body(529, x_should_retry="false")) as server:
        Run(mortise, server.url).failed("overloaded", 4, retryable=False)
        count(server, 1)


@test
def a_wrong_key_is_not_retried(mortise):
    with always(error_body(401, "bad key")) as server:
        Run(mortise, server.url).failed("auth", 3, retryable=False)
        count(server, 1)


@test
def the_key_that_was_refused_is_named(mortise):
    with always(error_body(401, "bad key")) as server:
        run = Run(mortise, server.url).failed("auth", 3)
        run.says("the key in OPENAI_API_KEY was refused: bad key")
        Run(mortise, server.url, key_from={"key_env": "MY_KEY"},
            environment={"MY_KEY": "sk-mine-0123456789"}).failed("auth", 3).says(
            "the key in MY_KEY was refused: bad key")
        Run(mortise, server.url, key_from={"key_command": "echo sk-mine-0123456789"}).failed(
            "auth", 3).says("the key in the output of 'echo sk-mine-0123456789' was refused"
                            .replace("sk-mine-0123456789", "[redacted]"))
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("sk-mine-0123456789")
            file.flush()
            Run(mortise, server.url, key_from={"key_file": file.name}).failed("auth", 3).says(
                f"the key in the file '{file.name}' was refused: bad key")
        run = Run(mortise, server.url, environment={"OPENAI_API_KEY": ""}).failed("auth", 3)
        run.says("no key was sent; set OPENAI_API_KEY: bad key")


@test
def who_is_not_let_in_is_not_retried(mortise):
    for status, message, kind, exit_code in (
            (401, "no", "auth", 3), (402, "no credit", "auth", 3), (403, "not yours", "auth", 3)):
        with always(error_body(status, message, x_should_retry="true", Retry_After="0")) as server:
            Run(mortise, server.url).failed(kind, exit_code, retryable=False).says(message)
            count(server, 1)


@test
def an_empty_account_is_not_retried(mortise):
    body = json.dumps({"error": {"message": "You exceeded your current quota",
                                 "type": "insufficient_quota",
                                 "code": "insufficient_quota"}}).encode()
    with always(head(429, Content_Length=len(body), x_should_retry="true") + body) as server:
        Run(mortise, server.url).failed("rate_limit", 4, retryable=False).says("current quota")
        count(server, 1)


@test
def retry_info_in_the_body(mortise):
    def body(delay):
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
        quota = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []}
        return json.dumps({"error": {"code": 429, "message": "quota", "status":
                                     "RESOURCE_EXHAUSTED", "details": [quota, info]}}).encode()
    failure = body("0.2s")
    with failing_once(head(429, Content_Length=len(failure)) + failure) as server:
        only_wait(Run(mortise, server.url).succeeded(), 200, 200)
    failure = body("30s")
    with failing_once(head(429, Content_Length=len(failure), Retry_After="0.1") + failure) as server:
        only_wait(Run(mortise, server.url).succeeded(), 100, 100)  # the header knows better
    failure = b"data: " + body("0.3s") + b"\n\n"
    with failing_once(head() + failure) as server:  # in a stream that began well
        only_wait(Run(mortise, server.url).succeeded(), 300, 300)


@test
def a_call_that_the_server_could_not_read_is_made_again(mortise):
    """FAULTS 46: a bounded number of times, then it is shown."""
    body = json.dumps({"error": {"message": "Failed to call a function.",
                                 "type": "invalid_request_error", "code": "tool_use_failed",
                                 "failed_generation": "<function=get>"}}).encode()
    failure = head(400, Content_Length=len(body), Retry_After="0") + body
    with failing_once(failure) as server:
        Run(mortise, server.url).succeeded()
        count(server, 2)
    with always(failure) as server:
        run = Run(mortise, server.url).failed("tool_call_malformed", 4)
        run.says("<function=get>")
        count(server, 4)


@test
def a_malformed_call_of_gemini_is_made_again(mortise):
    """FAULTS 113"""
    def candidate(**more):
        return b"data: " + json.dumps({"candidates": [more]}).encode() + b"\n\n"
    malformed = head() + candidate(finishReason="MALFORMED_FUNCTION_CALL")
    good = head() + candidate(content={"role": "model", "parts": [{"text": "hello"}]},
                              finishReason="STOP")
    model = ["-m", "gemini/test-model"]
    key = {"GEMINI_API_KEY": KEY}
    def answer(connection, number, _request):
        connection.sendall(malformed if number == 1 else good)
    with Server(answer) as server:
        Run(mortise, server.url, *model, environment=key).succeeded()
        count(server, 2)
    with always(malformed) as server:
        run = Run(mortise, server.url, *model, "--retries", "1", environment=key)
        run.failed("tool_call_malformed", 4).says("MALFORMED_FUNCTION_CALL")
        count(server, 2)


@test
def an_empty_response_is_retried(mortise):
    """FAULTS 24"""
    with failing_once(head()) as server:
        Run(mortise, server.url).succeeded()
        count(server, 2)


# ---- what is sent, and to whom ---------------------------------------------------------------

@test
def what_a_request_looks_like(mortise):
    """FAULTS 14, 47"""
    with always(head() + ANSWER) as server:
        Run(mortise, server.url).succeeded()
        lines = server.requests[0].lower().split("\r\n")
        assert lines[0] == "post /v1/chat/completions http/1.1", lines
        assert "accept-encoding: identity" in lines, lines
        assert f"authorization: bearer {KEY}" in lines, lines
        assert any(line.startswith("user-agent: mortise/") for line in lines), lines
        assert not any(line.startswith(("expect:", "transfer-encoding:")) for line in lines), lines


@test
def the_connection_is_kept(mortise):
    call = (b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1",'
            b'"type":"function","function":{"name":"nothing","arguments":"{}"}}]}}]}\n\n'
            b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n' + DONE)
    busy = error_body(429, Retry_After="0").replace(b"Connection: close\r\n", b"")

    def chunked(body):
        start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        return start + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)

    def answer(connection, number, _request):
        if number > 1:
            return
        for response in (busy, chunked(call), chunked(ANSWER)):
            connection.sendall(response)
            if not Server.read(connection):
                return
    with Server(answer) as server:
        Run(mortise, server.url).succeeded()
        count(server, 1)  # the other two came over the first one's connection


@test
def a_web_page_is_no_answer(mortise):
    """FAULTS 33"""
    page = b"<!DOCTYPE html><html><title>Welcome</title></html>"
    with always(head(Content_Length=len(page)) + page) as server:
        Run(mortise, server.url).failed("bad_request", 4).says("base URL")
        count(server, 1)


@test
def the_key_is_never_shown(mortise):
    """FAULTS 47, 48"""
    def answer(connection, number, request):
        said = [line for line in request.split("\r\n") if KEY in line]
        connection.sendall(error_body(500 if number == 1 else 401, f"you sent {said}",
                                      Retry_After="0", X_Echo=said[0]))
    with Server(answer) as server:
        run = Run(mortise, server.url, "-v", "-v").failed("auth", 3).says("[redacted]")
        count(server, 2)
        shown = run.stdout + run.stderr
        assert b"canary" not in shown, shown


@test
def the_key_is_not_shown_when_the_host_is_wrong(mortise):
    """FAULTS 47, 48"""
    run = Run(mortise, f"http://me:{KEY}@nowhere.invalid/v1", "-v", "-v", "--retries", "0")
    run.failed("network", 4)
    assert b"canary" not in run.stdout + run.stderr, run.stderr


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


def main():
    parser = argparse.ArgumentParser(description=__doc__,
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


if __name__ == "__main__":
    sys.exit(main())
