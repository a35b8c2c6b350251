"""What the SDK's library does, seen through the binary: bridges, tasks, and the example plugins."""
import json
import os

import e2e


class Bridge(e2e.Case):
    """F10: tools that were made while the plugin was loaded."""

    def setUp(self):
        super().setUp()
        folder = os.path.join(os.path.dirname(e2e.options.fixtures), "bridge")
        self.bridge = ("-e", os.path.join(folder, "e2e_bridge.so"))

    def call(self, name, arguments):
        return self.mortise(*self.bridge, "tools", "call", name, json.dumps(arguments))

    def test_each_tool_has_its_own_data(self):
        for factor in (2, 3, 4):
            done = self.check(self.call(f"times_{factor}", {"n": 7}), 0)
            self.assertEqual(done.out, f"times_{factor}: {7 * factor}\n")
        self.assertEqual(self.check(self.call("bridge_status", {}), 0).out, "it stands\n")

    def test_the_host_checks_their_schema(self):
        self.assertIn("n", self.check(self.call("times_2", {}), 1).err)
        self.check(self.call("times_2", {"n": "seven"}), 1)
        self.check(self.call("times_2", {"n": 7, "m": 8}), 1)

    def test_the_list_shows_them(self):
        done = self.check(self.mortise(*self.bridge, "tools", "--json"), 0)
        tools = {tool["name"]: tool for tool in done.events}
        self.assertEqual(tools["times_3"]["description"], "Multiply by 3.")
        self.assertEqual(tools["times_3"]["input_schema"]["required"], ["n"])

    def test_one_without_a_schema(self):
        """F11: a warning that names it; its function reads what comes (F14)."""
        done = self.check(self.call("loose", {"n": 5}), 0)
        self.assertEqual(done.out, "loose: 50\n")
        self.assertIn("tool 'loose'", done.err)
        self.assertIn("no input schema", done.err)
        self.assertEqual(self.check(self.call("loose", {}), 0).out, "loose: 10\n")
        self.assertIn("'n' is no whole number", self.check(self.call("loose", {"n": "x"}), 1).err)


class Report(e2e.Case):
    """F32-F37: a long-running tool and the one that tells how far it is."""

    def configure(self, steps_ms):
        self.config(plugin_config={"report": {"step-ms": steps_ms}})

    def test_a_model_waits_for_its_report(self):
        """The id, processing, completed with the result, and then the model's reply."""
        statuses = []

        def follow(body):
            last = json.loads(body["messages"][-1]["content"])
            statuses.append(last["status"])
            if last["status"] == "completed":
                self.assertIn("# Report on bees", last["result"])
                return e2e.openai_reply("Here it is.")
            arguments = json.dumps({"task_id": last["task_id"]})
            return e2e.openai_reply(calls=[(f"c{len(statuses)}", "check_report_status", arguments)])

        self.configure(5)
        begin = e2e.openai_reply(calls=[("c0", "generate_report", '{"topic": "bees"}')])
        with e2e.Server(begin, *[follow] * 90) as server:
            done = self.mortise("-m", "openai/m", "--base-url", server.url + "/v1", "--json",
                                "A report on bees, please.",
                                env={"OPENAI_API_KEY": "sk-0123456789"})
            self.check(done, 0)
            tools = {tool["function"]["name"]: tool["function"]["description"]
                     for tool in server.bodies[0]["tools"]}
        self.assertEqual(set(statuses), {"processing", "completed"})
        self.assertEqual((done.events[-1]["status"], done.events[-1]["text"]),
                         ("finished", "Here it is."))
        self.assertRegex(tools["generate_report"], r"(?s)\AWrite a report.*\n\nNOTE: .*long-running")
        self.assertNotIn("NOTE", tools["check_report_status"])

    def test_the_end_of_the_run_does_not_wait(self):
        """What takes ten minutes is stopped when the process ends."""
        self.configure(600000)
        model = self.script({"calls": [{"name": "generate_report", "arguments": {"topic": "x"}}]},
                            {"text": "It is being written.", "expect": ["processing"]})
        self.assertEqual(self.check(self.mortise("-m", model, "go"), 0).out,
                         "It is being written.\n")

    def test_an_unknown_id_is_an_ordinary_result(self):
        done = self.mortise("tools", "call", "check_report_status", '{"task_id": "x"}')
        self.assertEqual(self.check(done, 0).out, '{"error":"Task not found"}\n')


class Examples(e2e.Case):
    """What the plugins' own tests leave to the host: reading what a model sends."""

    def refused(self, name, arguments, *parts):
        done = self.check(self.mortise("tools", "call", name, json.dumps(arguments)), 1)
        for part in parts:
            self.assertIn(part, done.err)

    def test_arguments_are_checked(self):
        """F6, F15, T53, T55"""
        self.refused("greet", {}, "'name'")
        self.refused("counter", {"by": 1}, "'by'")
        self.refused("calculator", {"op": "power", "a": 1, "b": 2},
                     '"add", "subtract", "multiply", "divide"')

    def test_a_fallback_stands_in(self):
        """F16, F62: the same result as in the plugin's own test."""
        done = self.mortise("tools", "call", "get_weather", '{"location": "Tokyo"}')
        self.assertEqual(json.loads(self.check(done, 0).out),
                         {"location": "Tokyo", "temperature": 22, "unit": "celsius",
                          "conditions": "sunny", "source": "demo data"})


if __name__ == "__main__":
    e2e.main()
