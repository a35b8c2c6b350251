"""What the tools did, added up over runs, calls by hand and processes."""
import fcntl
import json
import os
import pty
import struct
import termios

import e2e
import test_reload


class Account(e2e.Case):
    def setUp(self):
        super().setUp()
        self.plugins = ("-P", os.path.join(os.path.dirname(e2e.options.fixtures), "watch"))
        self.kept = os.path.join(self.home, ".local/state/mortise/accounts.jsonl")

    def call(self, name, *options, code=0, **arguments):
        return self.check(self.mortise(*self.plugins, *options, "tools", "call", name,
                                       json.dumps(arguments)), code)

    def play(self, *turns, options=(), command=(), **how):
        return self.mortise(*self.plugins, "--json", *options, *command, "-m", self.script(*turns),
                            *(() if command else ("go",)), **how)

    def account(self, plugin="e2e_watch"):
        done = self.check(self.mortise(*self.plugins, "--json", "plugins", "show", plugin), 0)
        return {tool.pop("tool"): tool for tool in json.loads(done.out)["account"]}

    def test_everything_adds_up(self):
        self.assertEqual(self.account(), {})
        self.assertFalse(os.path.exists(self.kept))
        self.call("ask", keys=["user"])
        self.call("busy", code=1)
        self.call("ask", keys=7, code=1)  # refused: a call and an error, but no time
        turn = {"calls": [{"name": "ask", "arguments": {"keys": ["user"]}}, {"name": "busy"}]}
        done = self.check(self.play(turn, turn, {"text": "ok"}), 0)
        used = {tool.pop("name"): tool for tool in done.events[-1]["tools"]}
        self.assertEqual({name: (tool["calls"], tool["errors"]) for name, tool in used.items()},
                         {"ask": (2, 0), "busy": (2, 2)})
        for tool in used.values():
            self.assertGreaterEqual(tool["p99_ms"], 0)
            self.assertGreaterEqual(tool["total_ms"], tool["p99_ms"])
        account = self.account()
        self.assertEqual(set(account), {"ask", "busy"})
        ask = account["ask"]
        self.assertEqual((ask["calls"], ask["errors"]), (4, 1))
        self.assertEqual((account["busy"]["calls"], account["busy"]["errors"]), (3, 3))
        self.assertGreaterEqual(ask["bytes_in"], 3 * len('{"keys":["user"]}'))
        self.assertGreaterEqual(ask["bytes_out"], 3 * len("user=anonymous\n"))
        self.assertLessEqual(ask["p50_ms"], ask["p99_ms"])
        self.assertLessEqual(ask["p99_ms"], ask["max_ms"])
        self.assertEqual(ask["progress_dropped_bytes"], 0)

    def test_what_people_see(self):
        self.call("speak", chunks=["x"], wait_ms=15)
        self.call("flood", bytes=2 << 20, mark=os.path.join(self.root, "mark"))
        shown = self.check(self.mortise(*self.plugins, "plugins", "show", "e2e_watch"), 0).out
        table = shown.split("account\n")[1].splitlines()
        self.assertEqual(table[0].split(), ["tool", "calls", "errors", "total", "p50", "p99", "max",
                                            "in", "out", "dropped"])
        self.assertRegex(table[1], r"^  flood +1 +0 .* 1 MiB$")
        self.assertRegex(table[2], r"^  speak +1 +0 +[0-9.]+ m?s .* 0 B$")
        self.assertEqual(len({len(line) for line in table}), 1, "the columns are not straight")
        listed = self.check(self.mortise(*self.plugins, "--json", "plugins"), 0).out.splitlines()
        plugins = {plugin["name"]: plugin for plugin in map(json.loads, listed)}
        self.assertEqual([tool["tool"] for tool in plugins["e2e_watch"]["account"]],
                         ["flood", "speak"])
        self.assertEqual(plugins["greet"]["account"], [])
        shown = self.check(self.mortise("plugins", "show", "greet"), 0).out
        self.assertNotIn("\naccount\n", shown)

    def test_a_narrow_terminal_has_fewer_columns(self):
        self.call("busy", code=1)
        widths = {}
        for columns in (40, 60, 200):
            master, slave = pty.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            self.check(self.mortise(*self.plugins, "plugins", "show", "e2e_watch", stdout=slave), 0)
            os.close(slave)
            table = os.read(master, 65536).decode().replace("\r", "").split("account\n")[1]
            os.close(master)
            head, busy = table.splitlines()
            self.assertLessEqual(len(head), columns, table)
            self.assertEqual(len(head), len(busy), table)
            self.assertEqual(head.split()[:3], ["tool", "calls", "errors"])
            widths[columns] = len(head.split())
        self.assertEqual(widths[200], 9)
        self.assertLess(widths[40], widths[60])

    def test_a_chat(self):
        """/tools has this chat's numbers, the file those of all."""
        self.call("busy", code=1)
        model = self.script({"calls": [{"name": "busy"}]}, {"text": "ok"})
        done = self.mortise(*self.plugins, "-m", model, "chat",
                            input="/tools busy\ngo\n/tools\n/tools ask\n")
        self.check(done, 0)
        before, after = done.out.split("ok\n")
        self.assertNotIn("what they did", before)
        table, ask = after.split("what they did so far\n")[1].split("  ask  ", 1)
        self.assertEqual([line.split()[:3] for line in table.splitlines()],
                         [["tool", "calls", "errors"], ["busy", "1", "1"]])
        self.assertNotIn("what they did", ask)
        self.assertEqual(self.account()["busy"]["calls"], 2)

    def test_a_tool_that_is_left_behind(self):
        """It counts as a call that failed, with the time until it was given up."""
        self.mortise("-P", e2e.options.fixtures, "--timeout", "0.2", "tools", "call", "stubborn",
                     json.dumps({"mark": os.path.join(self.root, "mark")}))
        done = self.mortise("-P", e2e.options.fixtures, "--json", "plugins", "show", "e2e_tools")
        stubborn, = json.loads(done.out)["account"]
        self.assertEqual((stubborn["tool"], stubborn["calls"], stubborn["errors"]),
                         ("stubborn", 1, 1))
        self.assertGreater(stubborn["total_ms"], 200)

    def test_names_in_the_configuration_lose_nothing(self):
        self.call("busy", code=1)
        self.config(plugin_config={"e2e_watch": {"prefix": "my_"}})
        self.call("my_busy", code=1)
        self.assertEqual(self.account()["my_busy"]["calls"], 2)

    def test_many_at_once(self):
        processes = [self.start(*self.plugins, "-q", "tools", "call", "busy") for _ in range(12)]
        for process in processes:
            self.check(self.finish(process), 1)
        self.assertEqual(self.account()["busy"]["calls"], 12)

    def test_nothing_is_written_without_a_call(self):
        self.check(self.play({"text": "no tool"}), 0)
        self.check(self.mortise(*self.plugins, "tools"), 0)
        self.assertFalse(os.path.exists(self.kept))
        self.call("busy", "--no-account", code=1)
        self.assertFalse(os.path.exists(self.kept))
        done = self.check(self.play({"calls": [{"name": "busy"}]}, {"text": "ok"},
                                    options=("--no-account",)), 0)
        self.assertEqual(done.events[-1]["tools"][0]["calls"], 1)  # this run is told all the same
        self.assertFalse(os.path.exists(self.kept))

    def test_what_cannot_be_written_is_a_note(self):
        os.makedirs(self.kept)  # a folder in its place
        done = self.call("ask", keys=["user"])
        self.assertNotIn("accounts.jsonl", done.err)
        done = self.call("ask", "-v", keys=["user"])
        self.assertIn("note: what the tools did is not counted: cannot open", done.err)
        done = self.mortise(*self.plugins, "plugins", "show", "e2e_watch")
        self.check(done, 0)
        self.assertIn("warning: cannot read", done.err)
        self.assertIn("tool     busy: Be too busy.", done.out)

    def test_reset(self):
        self.call("busy", code=1)
        self.check(self.mortise("tools", "call", "counter"), 0)
        self.check(self.mortise("plugins", "reset", "e2e_watch"), 0)
        self.assertEqual(self.account(), {})
        self.assertEqual(self.account("counter")["counter"]["calls"], 1)
        self.check_error(self.mortise("plugins", "reset", "e2e_watch"), 2,
                         "nothing was counted of a plugin 'e2e_watch'")


class AnotherVersion(test_reload.Case):
    def test_nothing_is_lost(self):
        """R4: a version that takes the place of another goes on with its account."""
        self.put(1)
        chat = self.chat(self.script(*[test_reload.CALL, {"text": "done"}] * 2))
        self.asked(chat, "version 1")
        self.put(2)
        chat.say("/reload")
        chat.wait("replaced version 1 by version 2")
        chat.prompt()
        self.asked(chat, "version 2")
        chat.say("/tools version")
        self.assertRegex(chat.wait("version      2"), "what they did so far")
        chat.prompt()
        self.quit(chat)
        done = self.mortise("-P", self.plugins, "--json", "plugins", "show", "version")
        self.assertEqual(json.loads(done.out)["account"][0]["calls"], 2)


if __name__ == "__main__":
    e2e.main()
