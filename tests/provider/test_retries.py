#!/usr/bin/env python3
"""The real binary against servers that want it to wait, to ask again, or to leave it.

  test_retries.py MORTISE [--only TEXT]
"""
import json
import sys
import tempfile
import time
from email.utils import formatdate

from faulty import (ANSWER, KEY, Run, Server, always, count, error_body, failing_once, head, main,
                    only_wait, test)


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
        only_wait(Run(mortise, server.url).succeeded().took(0.15, 10), 150, 150)


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


if __name__ == "__main__":
    sys.exit(main(__doc__))
