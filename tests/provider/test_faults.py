#!/usr/bin/env python3
"""The real binary against servers that fail in ways that no recording can show.

  test_faults.py MORTISE [--only TEXT]
"""
import socket
import sys
import time

from faulty import (ANSWER, DONE, FINISH, HELLO, KEY, Run, Server, always, count, error_body, head,
                    main, only_wait, reset, test, wait_for_hangup)


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
    run.failed("network", 4, retryable=True).says(f"127.0.0.1:{port}").took(0, 10)
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
        Run(mortise, server.url, "--idle-timeout", "0.6").succeeded().took(1, 20)


@test
def stall_while_it_connects(mortise):
    with always(head() + ANSWER) as server:  # which waits for a request, not for a handshake
        run = Run(mortise, server.url.replace("http:", "https:"), "--connect-timeout", "0.5",
                  "--retries", "0")
        run.failed("timeout", 4, retryable=True).says("--connect-timeout").took(0.5, 10)


@test
def stall_before_the_first_byte(mortise):
    """FAULTS 21"""
    with Server(lambda connection, _number, _request: wait_for_hangup(connection)) as server:
        run = Run(mortise, server.url, "--first-byte-timeout", "0.5", "--retries", "0")
        run.failed("timeout", 4, retryable=True).says("--first-byte-timeout").took(0.5, 10)


@test
def stall_behind_the_headers(mortise):
    def answer(connection, _number, _request):
        connection.sendall(head())
        wait_for_hangup(connection)
    with Server(answer) as server:
        run = Run(mortise, server.url, "--first-byte-timeout", "0.5", "--retries", "0")
        run.failed("timeout", 4).took(0.5, 10)


@test
def stall_between_bytes(mortise):
    """FAULTS 20, 21: another timer"""
    def answer(connection, _number, _request):
        connection.sendall(head() + HELLO)
        wait_for_hangup(connection)
    with Server(answer) as server:
        run = Run(mortise, server.url, "--idle-timeout", "0.5")
        run.failed("timeout", 4, retryable=True).says("--idle-timeout").took(0.5, 10)
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
        run.took(0.6, 10)
        count(server, 1)


@test
def interrupt_while_nothing_comes(mortise):
    """FAULTS 20"""
    with Server(lambda connection, _number, _request: wait_for_hangup(connection)) as server:
        run = Run(mortise, server.url, interrupt_when=lambda: server.requests)
        assert run.status == 130, f"exit code {run.status}"
        run.took(0, 10)


@test
def interrupt_while_it_waits_to_retry(mortise):
    """FAULTS 36"""
    with always(error_body(429, Retry_After="50")) as server:
        run = Run(mortise, server.url, interrupt_when=lambda: server.requests)
        assert run.status == 130, f"exit code {run.status}"
        run.took(0, 10)
        count(server, 1)


@test
def done_on_an_open_socket(mortise):
    """FAULTS 10"""
    def answer(connection, _number, _request):
        connection.sendall(head() + ANSWER)
        wait_for_hangup(connection)
    with Server(answer) as server:
        Run(mortise, server.url).succeeded().took(0, 10)


@test
def text_behind_done_is_ignored(mortise):
    """FAULTS 12"""
    with always(head() + ANSWER + HELLO + b"data: {oops\n\n") as server:
        Run(mortise, server.url).succeeded()


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


if __name__ == "__main__":
    sys.exit(main(__doc__))
