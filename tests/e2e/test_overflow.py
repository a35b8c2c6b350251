"""FAULTS 41-45: a conversation that does not fit into the model's context, in each wire format.

The server has a context: it counts four bytes of a request as a token, and refuses in the words of
its maker what is too long.
"""
import json
import os
import re
import unittest

import e2e
import test_wire

BIG = 40000


def tokens(body):
    return len(json.dumps(body)) // 4


class Context(e2e.Server):
    """Asks for big results first, as many as there are in `calls`; refuses what is above `limit`."""

    def __init__(self, wire, limit, calls, refusal):
        super().__init__()
        self.wire = wire
        self.limit = limit
        self.calls = list(calls)
        self.refusal = refusal
        self.replies = self
        self.refused = 0

    def __len__(self):
        return len(self.requests)

    def __getitem__(self, number):
        body = self.requests[number]["body"]
        if tokens(body) > self.limit:
            self.refused += 1
            return self.refusal(tokens(body), self.limit)
        done = len(self.wire.results(body))
        if done < len(self.calls):
            return self.wire.reply("More.", [(f"call_{done}", "big",
                                              json.dumps({"bytes": self.calls[done]}))])
        return self.wire.reply("All is read.")


def openai_error(message, **more):
    return 400, {"error": {"message": message, "type": "invalid_request_error", **more}}


class OverflowTests:
    wire = None
    refusal = None

    def ask(self, server, *arguments, prompt="Read all"):
        return self.mortise("-m", self.wire.model, "--base-url", server.url + self.wire.base, "-P",
                            e2e.options.fixtures, "--no-plugins", *arguments, prompt,
                            env=self.wire.env)

    def server(self, limit, *calls):
        return Context(self.wire, limit, calls, type(self).refusal)

    def result_sizes(self, body):
        return [len(text) for _, text, _ in self.wire.results(body)]

    def test_results_are_shortened_once_and_stay_so(self):
        """FAULTS 41-43, 45; D12"""
        with self.server(16000, BIG, 500, 30000) as server:
            done = self.check(self.ask(server, "--json", "--session", "s"), 0)
            self.assertEqual(server.refused, 1)
            before, after = server.bodies[-2], server.bodies[-1]
            self.wire.check_valid(self, after)
            again = self.check(self.ask(server, "-c", "--json", prompt="And now?"), 0)
            self.assertEqual(server.refused, 1, "the next turn fits at once")
            self.wire.check_valid(self, server.bodies[-1])
        retry, = done.of_type("retry")
        self.assertEqual(retry["attempt"], 1)
        self.assertTrue(any("2 tool results were shortened" in event["text"]
                            for event in done.of_type("status")), done)
        self.assertEqual(again.of_type("retry"), [])
        sizes = self.result_sizes(before), self.result_sizes(after)
        self.assertLess(sizes[1][0], 30000)
        self.assertLess(sizes[1][2], 30000)
        self.assertEqual(sizes[0][1], sizes[1][1], "a short one stays whole")
        self.check_text(self.wire.results(after)[0][1], BIG)
        # and so it is stored
        self.assertEqual(self.result_sizes(server.bodies[-1]), sizes[1])

    def check_text(self, text, length):
        """Head, tail, how much was left out, and where all of it is."""
        self.assertTrue(text.startswith("FIRST\n"))
        self.assertTrue(text.endswith("\nLAST"))
        line = re.search(r"\[mortise: (\d+) bytes left out here; the whole is in (\S+)\]", text)
        self.assertTrue(line, text[:200] + text[-200:])
        whole = open(line[2], encoding="utf-8").read()
        self.assertEqual(len(whole), length + 11)
        left = len(whole) - int(line[1])
        self.assertEqual(len(text) - len(line[0]) - 2, left)

    def test_a_result_that_was_cut_before(self):
        """The line names the file with the whole text, not with what was left of it."""
        with self.server(16000, 90000) as server:
            self.check(self.ask(server, "--session", "s"), 0)
            self.assertEqual(server.refused, 1)
            text = self.wire.results(server.bodies[-1])[0][1]
        self.check_text(text, 90000)

    def test_an_error_that_says_what_to_do(self):
        """FAULTS 45: what cannot be shortened ends the run; the session stays usable."""
        with self.server(8000) as server:
            prompt = "x" * 50000
            done = self.ask(server, "--json", "--session", "s", prompt=prompt)
            self.check(done, 4)
            error, = done.of_type("error")
            self.assertEqual((error["kind"], error["retryable"]), ("context_overflow", False))
            for words in ("fewer tools", "--result-limit", "new session", "a model that takes more"):
                self.assertIn(words, error["message"])
            self.assertEqual(len(server.requests), 1, "the same request is not sent again")
            server.limit = 100000
            self.check(self.ask(server, "-c", prompt="And now?"), 0)
            self.assertTrue(any(prompt in text for text in self.wire.user_texts(server.bodies[-1])))

    def test_it_overflows_again(self):
        """FAULTS 41, 45: two requests, no more; nothing of history is lost."""
        with self.server(16000, BIG, BIG) as server:
            def refuse(used, limit):
                server.limit = 100
                return type(self).refusal(used, limit)
            server.refusal = refuse
            done = self.ask(server, "--json", "--session", "s")
            self.check(done, 4)
            error, = done.of_type("error")
            self.assertEqual(error["kind"], "context_overflow")
            self.assertEqual(len(done.of_type("retry")), 1)
            self.assertEqual(server.refused, 2)
            server.limit = 1000000
            self.check(self.ask(server, "-c", prompt="And now?"), 0)
            self.assertEqual(self.result_sizes(server.bodies[-1])[0], BIG + 11)

    def test_what_is_locked_stays(self):
        """FAULTS 45; D17, D18: only the results behind the lock may be shortened."""
        with self.server(30000, BIG) as server:
            self.check(self.ask(server, "--session", "s"), 0)
            server.limit = 8000
            done = self.ask(server, "-c", "--lock", "--json", prompt="Once more")
            self.check(done, 4)
            error, = done.of_type("error")
            self.assertIn("unlock the session", error["message"])
            self.assertEqual(len(server.requests), 3)
            self.check(self.ask(server, "-c", prompt="And now?"), 0)

    def test_behind_the_lock(self):
        with self.server(16000, BIG, BIG) as server:
            done = self.check(self.ask(server, "--session", "s", "--lock", "--json"), 0)
            self.assertEqual(server.refused, 1)
        hashes = {turn["prefix_sha256"] for turn in done.of_type("turn_start")}
        self.assertEqual(len(hashes), 1)
        self.check_text(self.wire.results(server.bodies[-1])[0][1], BIG)


class Chat(OverflowTests, e2e.Case):
    wire = test_wire.Chat

    @staticmethod
    def refusal(used, limit):
        return openai_error(f"This model's maximum context length is {limit} tokens. However, your "
                            f"messages resulted in {used} tokens.", code="context_length_exceeded")

    def test_a_status_that_says_nothing_of_numbers(self):
        """413, as of a proxy: half of it goes."""
        with self.server(16000, BIG, BIG) as server:
            server.refusal = lambda *_: (413, {"error": "payload too large"})
            self.check(self.ask(server), 0)
            self.assertEqual(server.refused, 1)

    def test_context_full_while_it_answers(self):
        """FAULTS 44"""
        reply = e2e.openai_reply("Cut.", finish="model_context_window_exceeded")
        with e2e.Server(reply) as server:
            done = self.check(self.ask(server, "--json"), 0)
        self.assertEqual(done.of_type("turn_end")[0]["stop_reason"], "length")
        status, = done.of_type("status")
        self.assertIn("context is full", status["text"])


class Messages(OverflowTests, e2e.Case):
    wire = test_wire.Messages

    @staticmethod
    def refusal(used, limit):
        return 400, {"type": "error", "error": {
            "type": "invalid_request_error",
            "message": f"prompt is too long: {used} tokens > {limit} maximum"}}

    def test_a_shorter_answer(self):
        """FAULTS 43: what does not fit is not the conversation, but the answer."""
        def refuse(body):
            return 400, {"type": "error", "error": {
                "type": "invalid_request_error",
                "message": "input length and `max_tokens` exceed context limit: 195000 + "
                           f"{body['max_tokens']} > 200000, decrease input length or `max_tokens` "
                           "and try again"}}
        with e2e.Server(refuse, self.wire.reply("Short.")) as server:
            done = self.check(self.ask(server, "--json"), 0)
        self.assertEqual([body["max_tokens"] for body in server.bodies], [8192, 5000])
        self.assertIn("no more than 5000 tokens", done.of_type("status")[0]["text"])

    def test_no_room_for_an_answer(self):
        """FAULTS 43: a few tokens are no answer: the results are shortened instead."""
        def refuse(body):
            self.assertEqual(body["max_tokens"], 8192)
            return 400, {"type": "error", "error": {
                "type": "invalid_request_error",
                "message": "input length and `max_tokens` exceed context limit: 199990 + 8192 > "
                           "200000, decrease input length or `max_tokens` and try again"}}
        call = ("call_0", "big", json.dumps({"bytes": BIG}))
        replies = self.wire.reply("I read.", [call]), refuse, self.wire.reply("Done.")
        with e2e.Server(*replies) as server:
            self.check(self.ask(server), 0)
        self.assertLess(self.result_sizes(server.bodies[-1])[0], BIG)

    def test_context_full_while_it_answers(self):
        """FAULTS 44"""
        reply = e2e.anthropic_reply("Cut.", finish="model_context_window_exceeded")
        with e2e.Server(reply) as server:
            done = self.check(self.ask(server, "--json"), 0)
        self.assertEqual(done.of_type("turn_end")[0]["stop_reason"], "length")
        self.assertIn("context is full", done.of_type("status")[0]["text"])


class Responses(OverflowTests, e2e.Case):
    wire = test_wire.Responses

    @staticmethod
    def refusal(_used, _limit):
        return openai_error("Your input exceeds the context window of this model.",
                            code="context_length_exceeded")


class Gemini(OverflowTests, e2e.Case):
    wire = test_wire.Gemini

    @staticmethod
    def refusal(used, limit):
        return 400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": (
            f"The input token count ({used}) exceeds the maximum number of tokens allowed "
            f"({limit}).")}}


if __name__ == "__main__":
    e2e.main()
