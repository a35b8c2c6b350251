"""Faults that need a whole conversation, a terminal or two processes: rows of the table of faults
that no single response shows.
"""
import json
import os
import time

import chats
import e2e
import test_wire

class ConversationTests:
    """In each wire format."""
    wire = None

    def ask(self, server, *arguments, prompt="Hi"):
        plugin = os.path.join(os.path.dirname(e2e.options.fixtures), "faults")
        return self.mortise("-m", self.wire.model, "--base-url", server.url + self.wire.base, "-P",
                            e2e.options.fixtures, "-P", plugin, "--no-plugins", *arguments, prompt,
                            env=self.wire.env)

    def echo(self, call_id, text):
        return call_id, "echo", json.dumps({"text": text})

    def test_ids_that_begin_anew_every_turn(self):
        """FAULTS 59, 60: they are made unique when they are stored, for calls and results."""
        replies = (self.wire.reply(None, [self.echo("t_0", "one"), self.echo("t_0", "two")]),
                   self.wire.reply(None, [self.echo("t_0", "three")]), self.wire.reply("Done."),
                   self.wire.reply(None, [self.echo("t_0", "four")]), self.wire.reply("Done."))
        with e2e.Server(*replies) as server:
            self.check(self.ask(server, "--session", "s"), 0)
            self.check(self.ask(server, "-c"), 0)
        body = server.bodies[-1]
        self.wire.check_valid(self, body)
        self.assertEqual([text for _, text, _ in self.wire.results(body)],
                         ["one", "two", "three", "four"])

    def test_what_tools_say_that_is_no_text(self):
        """FAULTS 126, 127: the result is whole, the session goes on, here and in a later process."""
        replies = (self.wire.reply(None, [("call_1", "say_bytes", "{}")]),
                   self.wire.reply("Done."), self.wire.reply("Done."))
        with e2e.Server(*replies) as server:
            self.check(self.ask(server, "--session", "s"), 0)
            self.check(self.ask(server, "-c"), 0)
        for body in server.bodies[1:]:
            self.wire.check_valid(self, body)
            (_, text, _), = self.wire.results(body)
            self.assertEqual(text, "nul \ufffd, byte \ufffd, half \ufffd\ufffd\ufffd, cut \ufffd\ufffd")
        for request in server.requests:
            self.assertNotIn(b"\\ud8", request["raw"].lower())
            self.assertNotIn(b"\\u0000", request["raw"])

    def test_a_refusal_stores_nothing_empty(self):
        """FAULTS 106: the user is told, and the conversation goes on."""
        if not self.wire.refusal:
            self.skipTest("the format says it otherwise")
        with e2e.Server(self.wire.refusal, self.wire.reply("Done.")) as server:
            done = self.check(self.ask(server, "--session", "s"), 0)
            self.check(self.ask(server, "-c", prompt="And now?"), 0)
        self.assertIn("the model refused to answer", done.err)
        self.wire.check_valid(self, server.bodies[1])
        self.assertIn("And now?", " ".join(self.wire.user_texts(server.bodies[1])))

    def test_a_dead_attempt_leaves_nothing(self):
        """FAULTS 38, 39, 73, 121: neither its text nor its call is stored, run or sent."""
        whole = self.wire.reply("I echo.", [self.echo("call_1", "x")])
        cut = whole[:whole.rindex(b"call_1") + 40]
        with e2e.Server(cut, self.wire.reply("Done.")) as server:
            done = self.ask(server, "--json", "--session", "s")
            self.check(done, 4)
            self.assertEqual(done.of_type("tool_result"), [])
            self.check(self.ask(server, "-c", prompt="Again"), 0)
        body = server.bodies[1]
        self.wire.check_valid(self, body)
        self.assertNotIn("I echo", json.dumps(body))
        self.assertEqual(self.wire.results(body), [])

    def test_nothing_volatile_in_front(self):
        """FAULTS 140, 141: two processes, a second apart, begin with the same bytes."""
        with e2e.Server(*[self.wire.reply("Done.")] * 2) as server:
            for _ in range(2):
                self.check(self.ask(server, "--system", "Be brief."), 0)
                time.sleep(1.1)
        one, other = (request["raw"] for request in server.requests)
        self.assertEqual(one, other)


class OnChat(ConversationTests, e2e.Case):
    class wire(test_wire.Chat):
        refusal = e2e.openai_reply(None, finish="refusal")


class OnMessages(ConversationTests, e2e.Case):
    class wire(test_wire.Messages):
        refusal = e2e.anthropic_reply(None, finish="refusal")


class OnResponses(ConversationTests, e2e.Case):
    class wire(test_wire.Responses):
        refusal = None


class OnGemini(ConversationTests, e2e.Case):
    class wire(test_wire.Gemini):
        refusal = None


class Files(e2e.Case):
    def test_line_ends_of_unicode(self):
        """FAULTS 137: U+2028, U+2029, U+0085 and CR are no line ends."""
        text = "one\u2028two\u2029three\u0085four\rfive\nsix"
        model = self.script({"text": text}, {"text": "ok"})
        self.check(self.mortise("-m", model, "--session", "s", text), 0)
        lines = self.check(self.mortise("sessions", "export", "s"), 0).out
        self.assertEqual(lines.count("\n"), 3)
        self.check(self.mortise("sessions", "rm", "s"), 0)
        self.check(self.mortise("sessions", "import", self.file("s.jsonl", lines)), 0)
        self.assertEqual(self.mortise("sessions", "export", "s").out, lines)
        self.check(self.mortise("-m", self.script({"text": "ok", "expect": ["one\u2028two"]}),
                                "-c", "go on"), 0)

    def test_a_torn_last_line(self):
        """FAULTS 135: what was torn is named; nothing is added to it."""
        self.check(self.mortise("-m", self.script({"text": "ok"}), "--session", "s", "hi"), 0)
        lines = self.check(self.mortise("sessions", "export", "s"), 0).out
        self.check(self.mortise("sessions", "rm", "s"), 0)
        done = self.mortise("sessions", "import", self.file("s.jsonl", lines[:-5]))
        self.check_error(done, 2, "line 3")


class TheTerminal(chats.Case):
    def test_a_tool_that_spoils_it(self):
        """FAULTS 131: the next line can be typed, and in the end it is as it was."""
        plugin = os.path.join(os.path.dirname(e2e.options.fixtures), "faults")
        model = self.script({"calls": [{"name": "spoil_terminal"}]}, {"text": "first done"},
                            {"text": "second done"})
        chat = self.chat("-P", plugin, "--no-plugins", "-m", model)
        chat.say("spoil it")
        chat.wait("first done")
        chat.prompt()
        chat.say("and now?")
        chat.wait("second done")
        chat.prompt()
        self.quit(chat)

    def test_a_tool_that_spoils_it_in_a_run(self):
        """FAULTS 131"""
        plugin = os.path.join(os.path.dirname(e2e.options.fixtures), "faults")
        model = self.script({"calls": [{"name": "spoil_terminal"}]}, {"text": "done"})
        terminal = chats.Terminal(self, "-P", plugin, "--no-plugins", "-m", model,
                                      words=("run", "hi"))
        self.assertEqual(terminal.end(), 0)


if __name__ == "__main__":
    e2e.main()
