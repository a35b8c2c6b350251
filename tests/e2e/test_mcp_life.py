"""What takes its time in the MCP server: progress, cancel, calls side by side, its end, reloads, hooks."""
import json
import os
import shutil
import signal
import socket
import subprocess
import time

import e2e
import mcp
from mcp import SUBSCRIPTION, Client


class Progress(mcp.Case):
    def steps(self, client, token=None, **arguments):
        """The notifications before the answer."""
        client.call("steps", meta=None if token is None else {"progressToken": token}, **arguments)
        seen, client.others = client.others, []
        for one in seen:
            self.assertEqual((one["method"], one["params"]["progressToken"]),
                             ("notifications/progress", token))
            self.assertIs(type(one["params"]["progressToken"]), type(token))
        return [one["params"] for one in seen]

    def test_progress(self):  # S32
        client = self.client()
        client.initialize()
        for token in ("t", 0, 7):
            seen = self.steps(client, token, count=4, ms=1)
            self.assertEqual([one["progress"] for one in seen], [0, 1, 2, 3])
            self.assertEqual({one["total"] for one in seen}, {4})
            self.assertEqual(seen[2]["message"], "step 2")
        self.assertEqual(self.steps(client, count=4), [])
        self.assertEqual(len(self.steps(client, "t", count=4, falls=True)), 1)
        seen = self.steps(client, "t", count=3, prints=True)
        self.assertEqual([(one["progress"], one["message"]) for one in seen],
                         [(1, "step 0"), (2, "step 1"), (3, "step 2")])
        client.modern = True
        self.assertEqual(len(self.steps(client, "t", count=2)), 2)
        client.initialize("2024-11-05")
        self.assertNotIn("message", self.steps(client, "t", count=1)[0])
        client.nothing_more()
        client.end()

    def test_flood(self):
        """S32: only so many are sent, the last among them."""
        client = self.client()
        values = [one["progress"] for one in self.steps(client, "t", count=5000)]
        self.assertEqual(values, sorted(set(values)))
        self.assertLess(len(values), 2500)
        self.assertEqual(values[-1], 4999)
        client.end()


class Cancel(mcp.Case):
    def test_cancel(self):
        """S33: the tool is told at once, nothing is answered, and other calls go on."""
        client = self.client()
        for client.modern in (False, True):
            mark = os.path.join(self.root, f"mark{client.modern}")
            other = client.ask_tool("slow", ms=400)
            id = client.ask_tool("slow", ms=60000, mark=mark)
            self.wait_for(mark + ".started")
            start = time.monotonic()
            client.notify("notifications/cancelled", requestId=id)
            self.wait_for(mark + ".told")
            self.assertLess(time.monotonic() - start, 1)
            self.assertIn("result", client.answer(other))
            client.notify("notifications/cancelled", requestId=id)
            client.notify("notifications/cancelled", requestId=other)
            client.notify("notifications/cancelled", requestId=str(id))
            client.nothing_more()
            self.assertIn("result", client.request("tools/list", id=id))
        client.end()

    def test_cancel_in_time(self):  # S33
        if not e2e.options.fail_malloc:
            self.skipTest("a sanitizer is slow")
        client = self.client()
        took = []
        for turn in range(5):
            mark = os.path.join(self.root, f"mark{turn}")
            id = client.ask_tool("slow", ms=60000, mark=mark)
            self.wait_for(mark + ".started")
            start = time.monotonic()
            client.notify("notifications/cancelled", requestId=id)
            while not os.path.exists(mark + ".told"):
                time.sleep(0.001)
            took.append(time.monotonic() - start)
        self.assertLess(sorted(took)[2], 0.05)
        client.end()

    def test_tool_that_answers_late(self):
        """S33, S24: it is called back; one that never answers holds up nobody, not even the end."""
        client = self.client("--timeout", "0.2")
        mark = os.path.join(self.root, "mark")
        late, deaf = client.ask_tool("waits", mark=mark), client.ask_tool("waits", mark=mark, deaf=True)
        self.check_error(client.answer(late)["result"], "cancelled")
        self.check_error(client.answer(deaf)["result"], "timed out")
        client.end()
        client = self.client()
        for deaf in (False, True):
            mark = os.path.join(self.root, f"mark{deaf}")
            id = client.ask_tool("waits", mark=mark, deaf=deaf)
            self.wait_for(mark + ".started")
            client.notify("notifications/cancelled", requestId=id)
            client.nothing_more()
        self.assertEqual(client.text("echo", message="x"), "x")
        client.end()

    def test_timeout(self):
        """A call that takes too long is an error; a tool that does not stop is not waited for."""
        client = self.client("--timeout", "0.2")
        deaf = client.ask_tool("slow", ms=60000, deaf=True)
        result = client.call("slow", ms=60000)
        self.check_error(result, "cancelled")
        self.assertEqual(client.others, [])
        self.check_error(client.answer(deaf)["result"], "timed out")
        self.assertEqual(client.text("echo", message="x"), "x")
        client.end()


class Concurrency(mcp.Case):
    def test_a_slow_call_holds_up_nobody(self):  # S34
        client = self.client()
        mark = os.path.join(self.root, "mark")
        slow = client.ask_tool("slow", ms=60000, mark=mark)
        self.wait_for(mark + ".started")
        client.request("ping")
        client.result("tools/list")
        client.text("echo", message="x")
        self.assertFalse(os.path.exists(mark + ".told"))
        client.notify("notifications/cancelled", requestId=slow)
        self.wait_for(mark + ".told")
        client.end()

    def test_many_at_once(self):  # S34, S6
        client = self.client()
        start = time.monotonic()
        ids = [client.ask_tool("slow", ms=300) for _ in range(32)]
        for id in ids:
            self.assertIn("result", client.answer(id))
        self.assertLess(time.monotonic() - start, 5)
        client.end()

    def test_more_than_there_may_be(self):
        """Beyond so many calls at once, one is refused and the others go on."""
        if not e2e.options.fail_malloc:
            self.skipTest("a sanitizer is slow")
        client = self.client()
        ids = [client.ask_tool("slow", ms=800) for _ in range(300)]
        results = [client.answer(id)["result"] for id in ids]
        refused = [result for result in results if result.get("isError")]
        self.assertTrue(0 < len(refused) < 100, len(refused))
        self.check_error(refused[0], "too many calls")
        self.assertEqual(client.text("echo", message="x"), "x")
        client.end()


class Life(mcp.Case):
    def test_end_of_input(self):  # S24
        client = self.client()
        client.initialize()
        self.assertLess(client.end(), 1)

    def test_end_of_input_with_a_call(self):
        """S24: a call that is nearly through is answered; one that is not is cancelled."""
        client = self.client()
        id = client.ask_tool("slow", ms=300)
        client.process.stdin.close()
        self.assertEqual(client.answer(id)["result"]["content"][0]["text"], "took 300 ms")
        client.wait()
        for deaf in (False, True):
            mark = os.path.join(self.root, f"mark{deaf}")
            client = self.client()
            client.ask_tool("slow", ms=60000, mark=mark, deaf=deaf)
            self.wait_for(mark + ".started")
            self.assertLess(client.end(), 2.5)
            self.assertEqual(os.path.exists(mark + ".told"), not deaf)

    def test_signals(self):  # S24
        mark = os.path.join(self.root, "mark")
        for number in (signal.SIGTERM, signal.SIGINT):
            client = self.isolated_client()
            client.ask_tool("slow", ms=60000, mark=mark)
            self.wait_for(mark + ".started")
            client.process.send_signal(number)
            self.assertLess(client.wait(128 + number), 2)
            os.unlink(mark + ".started")
            self.check_ended()

    def test_signal_while_nobody_reads(self):
        """S24, S5: who does not read what it asked for cannot keep the server."""
        for kind in ("pipe", "socket"):
            with self.subTest(kind):
                ours, theirs = (os.pipe() if kind == "pipe" else
                                [end.detach() for end in socket.socketpair()])
                process = self.start("mcp", "serve", "--no-plugins", *mcp.plugins(self, "e2e_mcp"),
                                     stdin=subprocess.PIPE, stdout=theirs)
                os.close(theirs)
                process.stdin.write(mcp.request(1, "subscriptions/listen", {
                    "notifications": {}, "_meta": mcp.META}) + b"\n")
                process.stdin.flush()
                self.assertIn(b"acknowledged", os.read(ours, 4096))
                process.stdin.write(mcp.request(2, "tools/call", {
                    "name": "big", "arguments": {"bytes": 5000000}}) + b"\n")
                process.stdin.flush()
                self.assertEqual(len(os.read(ours, 1)), 1)
                start = time.monotonic()
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(e2e.SECONDS), 128 + signal.SIGTERM)
                self.assertLess(time.monotonic() - start, 2)
                os.close(ours)

    def test_start(self):
        """S25: quick, small, and without a trace."""
        folder = self.folder("plugins")
        built = os.path.join(os.path.dirname(e2e.options.fixtures), "versions", "1",
                             "e2e_version_1.so")
        shutil.copyfile(built, os.path.join(folder, "version.so"))
        took = []
        for _ in range(5):
            start = time.monotonic()
            client = Client(self, "-P", folder)
            client.initialize()
            self.assertTrue(client.result("tools/list")["tools"])
            took.append(time.monotonic() - start)
            memory = client.memory_kb()
            client.end()
        self.assertEqual(os.listdir(self.home), [])
        self.assertEqual(os.listdir(self.work), [])
        if e2e.options.fail_malloc and not e2e.ISOLATED:
            self.assertLess(min(took), 0.2)
            self.assertLess(memory, 6000)


class Reload(mcp.Case):
    def setUp(self):
        super().setUp()
        self.plugins = self.folder("plugins")

    def put(self, version, name="version"):
        built = os.path.join(os.path.dirname(e2e.options.fixtures), "versions", str(version),
                             f"e2e_version_{version}.so")
        new = os.path.join(self.root, "new.so")
        shutil.copyfile(built, new)
        os.rename(new, os.path.join(self.plugins, f"{name}.so"))

    def tools(self, client):
        return [tool["name"] for tool in client.result("tools/list")["tools"]]

    def test_list_changed(self):  # S35, S36
        client = Client(self, "-P", self.plugins)
        client.modern = True
        both = client.ask("subscriptions/listen", {"notifications": {
            "toolsListChanged": True, "promptsListChanged": True}}, id="both")
        prompts = client.ask("subscriptions/listen", {"notifications": {
            "promptsListChanged": True}}, id=17)
        gone = client.ask("subscriptions/listen", {"notifications": {
            "toolsListChanged": True}}, id="gone")
        for id, honoured in ((both, {"toolsListChanged": True}), (prompts, {}),
                             (gone, {"toolsListChanged": True})):
            self.assertEqual(client.message(), {
                "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                "params": {"_meta": {SUBSCRIPTION: id}, "notifications": honoured}})
        client.notify("notifications/cancelled", requestId=gone)
        client.initialize()
        self.assertEqual(self.tools(client), [])
        self.put(1)
        self.put(1)
        changed = [client.message(), client.message()]
        self.assertCountEqual([one.get("params") for one in changed],
                              [None, {"_meta": {SUBSCRIPTION: both}}])
        self.assertEqual({one["method"] for one in changed}, {"notifications/tools/list_changed"})
        self.assertEqual(self.tools(client), ["version", "wait_for"])
        client.nothing_more(0.5)

        # A call that runs in what is replaced ends well, and nobody is told of what looks the same.
        mark = os.path.join(self.root, "mark")
        id = client.ask_tool("wait_for", mark=mark)
        self.wait_for(mark + ".started")
        self.put(2)
        until = time.monotonic() + e2e.SECONDS
        while client.text("version") != "version 2" and time.monotonic() < until:
            time.sleep(0.05)
        self.file("mark.go", "")
        self.assertEqual(client.answer(id)["result"]["content"][0]["text"], "waited as version 1")
        client.nothing_more()
        os.unlink(os.path.join(self.plugins, "version.so"))
        self.assertEqual({client.message()["method"] for _ in range(2)},
                         {"notifications/tools/list_changed"})
        self.assertEqual(self.tools(client), [])
        client.process.stdin.close()
        ends = {message["id"]: message["result"] for message in (client.message(), client.message())}
        for id in (both, prompts):
            self.assertEqual(ends[id]["_meta"][SUBSCRIPTION], id)
            self.assertEqual(ends[id]["resultType"], "complete")
        client.wait()

    def test_subscriptions_have_a_limit(self):  # S36
        client = Client(self, "-P", self.plugins)
        client.modern = True
        for id in range(64):
            client.ask("subscriptions/listen", {"notifications": {}}, id=id)
            client.message()
        client.ask("subscriptions/listen", {"notifications": {}}, id=64)
        self.check_code(client.message(), -32603, 64)
        client.notify("notifications/cancelled", requestId=3)
        client.ask("subscriptions/listen", {"notifications": {}}, id=64)
        self.assertEqual(client.message()["params"]["_meta"][SUBSCRIPTION], 64)
        client.ask("subscriptions/listen", {}, id=65)
        self.check_code(client.message(), -32602, 65)
        client.process.stdin.close()
        self.assertEqual({client.message()["id"] for _ in range(64)}, {*range(65)} - {3})
        client.wait()

    def test_changed_while_others_are_loaded(self):  # S35
        """What is loaded first may be another file before the last is."""
        bridge = os.path.join(os.path.dirname(e2e.options.mortise), "..", "lib", "mortise",
                              "plugins", "mcp_bridge.so")
        begun, go = os.path.join(self.root, "begun"), os.path.join(self.root, "go")
        script = f"touch '{begun}'; while [ ! -e '{go}' ]; do sleep 0.02; done"
        self.file("home/.config/mortise/mcp.json", json.dumps(
            {"mcpServers": {"slow": {"command": ["sh", "-c", script]}}}))
        self.put(1)
        client = Client(self, "-e", os.path.join(self.plugins, "version.so"), "-e", bridge)
        self.wait_for(begun)
        self.put(2)
        self.file("go", "")
        until = time.monotonic() + e2e.SECONDS
        while client.text("version") != "version 2" and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(client.text("version"), "version 2")
        client.end()

    def test_not_watched(self):  # S35
        client = Client(self, "-P", self.plugins, env={"MORTISE_WATCH": "false"})
        client.initialize()
        self.put(1)
        client.nothing_more(0.5)
        self.assertEqual(self.tools(client), [])
        client.process.send_signal(signal.SIGHUP)
        self.assertEqual(client.message()["method"], "notifications/tools/list_changed")
        self.assertEqual(self.tools(client), ["version", "wait_for"])
        client.end()


class Hooks(mcp.Case):
    def hooked(self, mode):
        self.config(plugin_config={"e2e_hooks": {"mode": mode,
                                                 "log": os.path.join(self.root, "log")}})
        return Client(self, *mcp.plugins(self, "e2e_mcp"), "-e",
                      os.path.join(e2e.options.fixtures, "e2e_hooks.so"))

    def test_hooks_decide(self):
        for mode, is_error, text in (("skips", True, "not allowed here"),
                                     ("responds", False, "from the cache"),
                                     ("changes_result", False, "changed result"),
                                     ("result_fails", True, "no filter"),
                                     ("result_aborts", True, "I have seen enough")):
            with self.subTest(mode):
                client = self.hooked(mode)
                result = client.call("echo", message="x")
                self.assertIs(result.get("isError", False), is_error, result)
                self.assertIn(text, result["content"][0]["text"])
                client.end()

    def test_each_call_is_asked(self):
        client = self.hooked("none")
        for _ in range(3):
            self.assertEqual(client.text("echo", message="x"), "x")
        client.end()
        with open(os.path.join(self.root, "log"), encoding="utf-8") as log:
            self.assertEqual(log.read(), "pre_tool_call echo\npost_tool_call x\n" * 3)

    def test_nobody_is_asked_at_a_terminal(self):
        """A policy that wants a person's word refuses the call, with the reason."""
        self.file("home/.config/mortise/approve.json",
                  json.dumps({"rules": [{"tool": "*", "decision": "ask"}]}))
        folder = os.path.join(os.path.dirname(e2e.options.mortise), "..", "lib", "mortise",
                              "plugins")
        client = Client(self, *mcp.plugins(self, "e2e_mcp"), "-e",
                        os.path.join(folder, "approve.so"), start_new_session=True)
        self.check_error(client.call("echo", message="x"), "permission")
        self.assertIn("result", client.request("ping"))
        client.end()


if __name__ == "__main__":
    e2e.main()
