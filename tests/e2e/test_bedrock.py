"""Claude on Amazon Bedrock: who signs, what is sent, and what is said when it is refused (W125)."""
import contextlib
import json
import os
import socket
import sys
import threading
import time

import e2e

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "provider"))
import bedrock  # noqa: E402  (it is beside the other test servers)

MODEL = "bedrock/us.anthropic.claude-test-v1:0"
ARN = "bedrock/arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.anthropic.claude-x-v1:0"
PATH = "/model/us.anthropic.claude-test-v1%3A0/invoke-with-response-stream"
CALL = ("toolu_1", "greet", '{"name": "Ada"}')


def reply(*arguments, **more):
    return bedrock.frames_of(e2e.anthropic_reply(*arguments, **more))


def failure(status, message, **headers):
    """An answer that is none: (status, headers, body)."""
    return status, headers, json.dumps({"message": message}).encode()


class Server(e2e.Server):
    """Checks the signature of request n, and answers with reply n; `late` sets its clock.

    The headers of a request have their names in lower case.
    """

    def __init__(self, *replies, late=0):
        super().__init__(*replies, answerer=Answerer)
        self.late = late


class Answerer(e2e.Answerer):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        server = self.server
        with server.lock:
            server.requests.append({"path": self.path, "headers": headers, "raw": raw,
                                    "body": json.loads(raw)})
            number = len(server.requests)
        refusal = bedrock.refusal(self.path, headers, raw, lambda: time.time() + server.late)
        if refusal:
            self.answer(*failure(403, refusal[1], **{"x-amzn-ErrorType": refusal[0]}))
        elif number > len(server.replies):
            self.answer(*failure(500, "no reply is left"))
        elif isinstance(server.replies[number - 1], tuple):
            self.answer(*server.replies[number - 1])
        else:
            self.answer(200, {"Content-Type": "application/vnd.amazon.eventstream"},
                        server.replies[number - 1])

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, len(body), 97):  # an odd size, so that messages are cut
            piece = body[at:at + 97]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


class Bedrock(e2e.Case):

    def ask(self, server, *options, env=None, prompt="Greet Ada"):
        return self.mortise("-m", MODEL, *options, prompt, env={
            **bedrock.ENVIRONMENT, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": server.url, **(env or {})})

    def check_no_secret(self, done):
        """D24"""
        for secret in (bedrock.SECRET, bedrock.TOKEN, bedrock.BEARER):
            self.assertNotIn(secret, done.out + done.err)

    # ---- what is sent ----

    def test_a_tool_and_a_second_turn(self):
        with Server(reply("I greet.", [CALL]), reply("Done.")) as server:
            done = self.check(self.ask(server, "-s", "Be brief.", "-vv"), 0)
        self.assertTrue(done.out.endswith("Done.\n"), done)
        self.check_no_secret(done)
        first, second = server.requests
        for request in (first, second):
            self.assertEqual(request["path"], PATH)
            self.assertEqual(request["headers"]["content-type"], "application/json")
            self.assertIn("application/vnd.amazon.eventstream", request["headers"]["accept"])
            self.assertNotIn("anthropic-version", request["headers"])
            self.assertEqual(request["body"]["anthropic_version"], "bedrock-2023-05-31")
            self.assertEqual(request["body"]["system"], "Be brief.")
            self.assertNotIn("model", request["body"])
            self.assertNotIn("stream", request["body"])
        self.assertEqual(second["body"]["messages"][1:], [
            {"role": "assistant", "content": [
                {"type": "text", "text": "I greet."},
                {"type": "tool_use", "id": "toolu_1", "name": "greet", "input": {"name": "Ada"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Hello, Ada!"}]}])

    def test_a_recording(self):
        """Frames of binary, which another machine understands without an account."""
        path = os.path.join(self.root, "run.jsonl")
        with Server(reply("I greet.", [CALL]), reply("Done.")) as server:
            self.check(self.ask(server, "--record", path), 0)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for secret in (bedrock.SECRET, bedrock.TOKEN, "Signature="):
            self.assertNotIn(secret, text)
        self.assertIn('"Authorization"', text)
        done = self.check(self.mortise("replay", path), 0)
        self.assertTrue(done.out.endswith("Done.\n"), done)
        self.assertIn("replayed 2 requests, 1 tool call: no difference", done.err)

    def test_a_model_by_its_arn(self):
        with Server(reply("ok")) as server:
            self.check(self.mortise("-m", ARN, "--base-url", server.url, "hi",
                                    env=bedrock.ENVIRONMENT), 0)
        self.assertEqual(server.requests[0]["path"].count("/"), 3)
        self.assertIn("%3Ainference-profile%2Fus.anthropic.", server.requests[0]["path"])

    def test_the_base_url_has_a_path(self):
        with Server(reply("ok")) as server:
            self.check(self.ask(server, "--base-url", server.url + "/some%20where/"), 0)
        self.assertEqual(server.requests[0]["path"], "/some%20where" + PATH)

    def test_a_locked_session(self):
        """D17: what is cached begins with the same bytes, and is marked."""
        with Server(reply("One."), reply("Two.")) as server:
            self.check(self.ask(server, "--session", "s", "--lock"), 0)
            self.check(self.ask(server, "-c", "--lock", prompt="And?"), 0)
        first, second = (request["raw"] for request in server.requests)
        start = first[:first.index(b',"messages":')]
        self.assertIn(b"cache_control", start)
        self.assertTrue(second.startswith(start), (first, second))

    def test_from_anthropic_to_bedrock(self):
        """D15: what another provider's model thought is not sent; what it said is."""
        thought = [{"type": "message_start", "message": {"usage": {}}},
                   {"type": "content_block_start", "index": 0,
                    "content_block": {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}},
                   {"type": "content_block_start", "index": 1,
                    "content_block": {"type": "text", "text": "Hello."}},
                   {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
                   {"type": "message_stop"}]
        with e2e.Server(e2e.sse(*((None, event) for event in thought))) as other:
            self.check(self.mortise("--session", "s", "-m", "anthropic/m", "--base-url", other.url,
                                    "hi", env={"ANTHROPIC_API_KEY": "sk-ant-0123456789"}), 0)
        with Server(reply("ok"), reply("ok")) as server:
            self.check(self.ask(server, "-c", prompt="And?"), 0)
        self.assertEqual(server.requests[0]["body"]["messages"][1],
                         {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]})

    # ---- who signs ----

    def test_a_key_wins_over_signing(self):
        with Server(reply("ok"), reply("ok")) as server:
            self.check(self.ask(server, env={"AWS_BEARER_TOKEN_BEDROCK": bedrock.BEARER}), 0)
            self.config(provider_config={"bedrock": {"key_env": "MY_KEY"}})
            self.check(self.ask(server, env={"MY_KEY": bedrock.BEARER}), 0)
        for request in server.requests:
            self.assertEqual(request["headers"]["authorization"], "Bearer " + bedrock.BEARER)
            self.assertNotIn("x-amz-date", request["headers"])

    def test_a_key_needs_no_region_where_the_server_is_named(self):
        with Server(reply("ok")) as server:
            self.check(self.ask(server, env={"AWS_BEARER_TOKEN_BEDROCK": bedrock.BEARER,
                                             "AWS_REGION": None, "AWS_ACCESS_KEY_ID": None,
                                             "AWS_SECRET_ACCESS_KEY": None}), 0)

    def test_keys_of_a_profile(self):
        path = self.file("home/.aws/credentials", "[work]\n"
                         f"aws_access_key_id = {bedrock.KEY_ID}\n"
                         f"aws_secret_access_key = {bedrock.SECRET}\n")
        os.chmod(path, 0o600)
        self.file("home/.aws/config", f"[profile work]\nregion = {bedrock.REGION}\n")
        env = {**dict.fromkeys(bedrock.ENVIRONMENT), "AWS_PROFILE": "work"}
        with Server(reply("ok")) as server:
            done = self.check(self.ask(server, "-vv", env=env), 0)
        self.check_no_secret(done)
        self.assertNotIn("x-amz-security-token", server.requests[0]["headers"])

    def test_keys_that_a_command_prints(self):
        printed = self.file("printed", json.dumps({
            "Version": 1, "AccessKeyId": bedrock.KEY_ID, "SecretAccessKey": bedrock.SECRET,
            "SessionToken": bedrock.TOKEN, "Expiration": "2099-01-01T00:00:00Z"}))
        self.file("home/.aws/config", f"[default]\nregion = {bedrock.REGION}\n"
                  f"credential_process = echo x >> {self.root}/runs; cat '{printed}'\n")
        with Server(reply("I greet.", [CALL]), reply("Done.")) as server:
            done = self.check(self.ask(server, env=dict.fromkeys(bedrock.ENVIRONMENT)), 0)
        self.check_no_secret(done)
        with open(os.path.join(self.root, "runs"), encoding="utf-8") as runs:
            self.assertEqual(len(runs.readlines()), 1, "they are good for both requests")

    def test_the_region_is_in_the_name_of_the_host(self):
        """A proxy is asked for it, and goes away."""
        with socket.create_server(("127.0.0.1", 0)) as proxy:
            asked = []

            def accept():
                with contextlib.suppress(OSError):
                    connection, _ = proxy.accept()
                    with connection:
                        asked.append(connection.recv(4096).split(b"\r\n")[0])

            thread = threading.Thread(target=accept, daemon=True)
            thread.start()
            done = self.mortise("-m", MODEL, "--retries", "0", "hi", env={
                **bedrock.ENVIRONMENT, "AWS_REGION": "eu-north-1",
                "https_proxy": f"http://127.0.0.1:{proxy.getsockname()[1]}"})
            thread.join(e2e.SECONDS)
        self.check(done, 4)
        self.assertEqual(asked, [b"CONNECT bedrock-runtime.eu-north-1.amazonaws.com:443 HTTP/1.1"])

    # ---- what is missing ----

    def test_nothing_is_set(self):
        done = self.mortise("-m", MODEL, "hi", env={"AWS_REGION": "us-east-1"})
        self.check_error(done, 3, "AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID",
                         f"{self.home}/.aws/credentials")

    def test_no_region(self):
        done = self.mortise("-m", MODEL, "hi", env={**bedrock.ENVIRONMENT, "AWS_REGION": None})
        self.check_error(done, 3, "set AWS_REGION", f"{self.home}/.aws/config")

    def test_a_profile_that_signs_in_elsewhere(self):
        self.file("home/.aws/config", "[default]\nsso_session = corp\nregion = us-east-1\n")
        done = self.mortise("-m", MODEL, "hi")
        self.check_error(done, 3, "sso_session", "aws configure export-credentials")

    def test_a_query_cannot_be_signed(self):
        self.config(provider_config={"mine": {"like": "bedrock", "query": {"a": "b"}}})
        done = self.mortise("-m", "mine/x", "--base-url", "http://127.0.0.1:1", "hi",
                            env=bedrock.ENVIRONMENT)
        self.check_error(done, 3, "'mine'", "\"query\"")

    # ---- what is refused ----

    def refused(self, *parts, kind="auth", late=0, env=None):
        with Server(reply("ok"), late=late) as server:
            done = self.check(self.ask(server, "--json", env=env), 3)
        error = done.of_type("error")[0]
        self.assertEqual((error["kind"], error["retryable"]), (kind, False))
        for part in parts:
            self.assertIn(part, error["message"])
        self.assertEqual(len(server.requests), 1)
        self.check_no_secret(done)

    def test_a_wrong_signature(self):
        self.refused(bedrock.MISMATCH, "check AWS_SECRET_ACCESS_KEY",
                     env={"AWS_SECRET_ACCESS_KEY": "another/secret+0123456789"})

    def test_a_token_of_another_key(self):
        self.refused("is invalid", "check AWS_ACCESS_KEY_ID and AWS_SESSION_TOKEN",
                     env={"AWS_SESSION_TOKEN": "another/token"})

    def test_a_clock_that_is_wrong(self):
        self.refused("Signature expired", "check the clock", late=3600)
        self.refused("Signature not yet current", "check the clock", late=-3600)

    # ---- attempts ----

    def test_each_attempt_is_signed_anew(self):
        """D11: the signature of the first may be too old for the second."""
        busy = failure(503, "Service is unavailable", **{"Retry-After": "1.1"})
        with Server(busy, reply("ok")) as server:
            done = self.check(self.ask(server, "--json"), 0)
        self.assertEqual(len(done.of_type("retry")), 1)
        dates = [request["headers"]["x-amz-date"] for request in server.requests]
        self.assertLess(dates[0], dates[1])
        self.assertNotEqual(*(request["headers"]["authorization"] for request in server.requests))

    def test_an_exception_before_the_first_word(self):
        throttled = bedrock.exception("throttlingException", "Too many tokens")
        with Server(throttled, reply("ok")) as server:
            done = self.check(self.ask(server, "--json"), 0)
        self.assertIn("Too many tokens", json.dumps(done.of_type("retry")))
        self.assertEqual(len(server.requests), 2)

    def test_an_exception_behind_the_first_word(self):
        """D22: what was shown is not asked for a second time."""
        delta = {"type": "content_block_delta", "index": 0,
                 "delta": {"type": "text_delta", "text": "Hello"}}
        broken = bedrock.exception("modelStreamErrorException", "It broke")
        with Server(bedrock.chunk(json.dumps(delta)) + broken) as server:
            done = self.check(self.ask(server, "--json"), 4)
        error = done.of_type("error")[0]
        self.assertEqual((error["kind"], error["message"]), ("server", "It broke"))
        self.assertEqual(len(server.requests), 1)

    def test_a_message_that_is_damaged(self):
        whole = reply("Hello.")
        damaged = whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]
        with Server(damaged, whole) as server:
            done = self.check(self.ask(server, "--json"), 0)
        self.assertIn("damaged", json.dumps(done.of_type("retry")))

    def test_providers_tells_both_ways(self):
        done = self.check(self.mortise("providers"), 0)
        about = done.out[done.out.index("bedrock\n"):done.out.index("gemini\n")]
        for part in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "{region}",
                     "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"):
            self.assertIn(part, about)


if __name__ == "__main__":
    e2e.main()
