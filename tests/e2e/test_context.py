"""What tools and hooks are told of who calls, and programs of what became of a call."""
import json
import os

import e2e


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.plugins = ("-P", os.path.join(os.path.dirname(e2e.options.fixtures), "watch"))

    def ask(self, *options, keys, **how):
        """What the tool is told, by key."""
        call = ("tools", "call", "ask", json.dumps({"keys": keys}))
        done = self.check(self.mortise(*self.plugins, *options, *call, **how), 0)
        return dict(line.split("=", 1) for line in done.out.splitlines())

    def play(self, *turns, options=()):
        return self.mortise(*self.plugins, "--json", *options, "-m", self.script(*turns), "go")


class Context(Case):
    def test_what_is_said(self):
        """R2, F26-F28: all keys, in a call by hand."""
        workspace = self.folder("project")
        os.symlink(workspace, os.path.join(self.root, "link"))
        told = self.ask("--user", "ada", "--tenant", "acme", "--agent", "bot", "--app", "editor",
                        "--session", "trip", "--scopes", "vault:read,,mail", "--metadata", "a=1=2",
                        "--metadata", "b=", "--metadata", "a=3",
                        "--workspace", os.path.join(self.root, "link", "."),
                        keys=["user", "tenant", "agent", "app", "session", "scopes", "metadata",
                              "metadata.a", "metadata.b", "metadata.c", "workspace",
                              "batch_index", "batch_size"])
        self.assertEqual(told, {
            "user": "ada", "tenant": "acme", "agent": "bot", "app": "editor", "session": "trip",
            "scopes": "vault:read mail", "metadata": '{"a":"3","b":""}', "metadata.a": "3",
            "metadata.b": "", "metadata.c": "none", "workspace": workspace, "batch_index": "0",
            "batch_size": "1"})

    def test_what_is_not_said(self):
        """F59: agent and application are the caller; the rest is anonymous or empty."""
        keys = ["user", "session", "tenant", "agent", "app", "scopes", "metadata", "workspace"]
        nothing = {"user": "anonymous", "session": "none", "tenant": "none", "scopes": "none",
                   "metadata": "none", "workspace": self.work}
        self.assertEqual(self.ask(keys=keys), dict(nothing, agent="mortise", app="mortise"))
        self.assertEqual(self.ask("--agent", "bot", keys=keys),
                         dict(nothing, agent="bot", app="bot"))

    def test_ids(self):
        """F60: made anew for each call by hand."""
        first, second = (self.ask(keys=["call", "invocation"]) for _ in range(2))
        for key in first:
            self.assertRegex(first[key], "^[a-z]+_[A-Za-z0-9_-]{24}$")
            self.assertNotEqual(first[key], second[key])

    def test_environment_and_file(self):
        env = {"MORTISE_METADATA": "a=http://[::1]:1\nb=2", "MORTISE_WORKSPACE": self.root}
        self.assertEqual(self.ask(keys=["metadata", "workspace"], env=env),
                         {"metadata": '{"a":"http://[::1]:1","b":"2"}',
                          "workspace": self.root})
        self.config(metadata=["c=3"], app="notes")
        self.assertEqual(self.ask(keys=["metadata", "app"]),
                         {"metadata": '{"c":"3"}', "app": "notes"})

    def test_a_project_cannot_say_who_calls(self):
        for key, value in (("metadata", ["a=1"]), ("workspace", "/"), ("app", "x")):
            self.file("work/.mortise/config.json", json.dumps({key: value}))
            done = self.mortise(*self.plugins, "tools", "call", "ask", '{"keys": ["app"]}')
            self.assertIn(f"'{key}'", done.err, done)
            self.assertNotIn("app=x", done.out)

    def test_mistakes(self):
        call = ("tools", "call", "ask_hook")
        for entry in ("novalue", "=x", ""):
            self.check_error(self.mortise(*self.plugins, "--metadata", entry, *call), 2,
                             f"option '--metadata': '{entry}' is not KEY=VALUE")
        for folder, why in (("nowhere", "No such file"), (self.file("file", ""), "Not a directory")):
            self.check_error(self.mortise(*self.plugins, "--workspace", folder, *call), 2,
                             "option '--workspace'", folder, why)
        self.check_error(self.mortise(*self.plugins, "--workspace", "nowhere", "-m",
                                      self.script({"text": "x"}), "go"), 2, "--workspace")

    def test_no_current_folder(self):
        gone = self.folder("gone")
        command = f'cd {gone} && rmdir {gone} && exec "$@"'
        arguments = [*self.plugins, "tools", "call", "ask", '{"keys": ["workspace"]}']
        done = e2e.subprocess.run(["sh", "-c", command, "sh", e2e.options.mortise, *arguments],
                                  env=self.environment(None), capture_output=True, timeout=30)
        self.assertEqual((done.returncode, done.stdout), (0, b"workspace=none\n"), done)

    def test_a_run(self):
        """F31: every call of a run is told the same, whatever the strategy; hooks too."""
        keys = ["user", "session", "app", "workspace", "invocation", "metadata.color"]
        calls = [{"name": "ask", "arguments": {"keys": keys + ["call", "batch_index"]}, "id": f"c{i}"}
                 for i in range(12)] + [{"name": "ask_hook", "id": "h"}]
        for strategy in ("auto", "ordered", "sequential", "parallel"):
            done = self.play({"calls": calls}, {"text": "ok"},
                             options=("--strategy", strategy, "--user", "ada", "--session", strategy,
                                      "--metadata", "color=red", "--scopes", "x"))
            self.check(done, 0)
            told = [dict(line.split("=", 1) for line in result["result"].splitlines())
                    for result in done.of_type("tool_result")]
            hook = told.pop()
            run = told[0]["invocation"]
            for i, one in enumerate(told):
                self.assertEqual(one, {
                    "user": "ada", "session": strategy, "app": "mortise", "workspace": self.work,
                    "invocation": run, "metadata.color": "red", "call": f"c{i}",
                    "batch_index": str(i)})
            self.assertTrue(hook.pop("model").startswith("script/"))
            self.assertEqual(hook, {
                "user": "ada", "session": strategy, "app": "mortise", "workspace": self.work,
                "invocation": run, "metadata.color": "red", "metadata": '{"color":"red"}',
                "scopes": "x", "call": "none"})

    def test_hooks_of_a_call_by_hand(self):
        done = self.check(self.mortise(*self.plugins, "--metadata", "color=blue", "--user", "bob",
                                       "tools", "call", "ask_hook"), 0)
        self.assertIn("user=bob\n", done.out)
        self.assertIn("metadata.color=blue\n", done.out)
        self.assertRegex(done.out, "invocation=run_")


class OutsideTheLoop(Case):
    def test_the_same_result(self):
        """F62: a call by hand comes to what the same call of a model does."""
        for name, arguments in (("speak", {"chunks": ["x"]}), ("busy", {"wait_ms": 5}),
                                ("begin_job", {}), ("ask", {"keys": ["user"]}), ("ask", {})):
            model = self.script({"calls": [{"name": name, "arguments": arguments}]}, {"text": "ok"})
            inside = self.mortise(*self.plugins, "--json", "-m", model, "go").of_type("tool_result")
            outside = self.mortise(*self.plugins, "--json", "tools", "call", name,
                                   json.dumps(arguments)).of_type("tool_result")
            for result in inside + outside:
                del result["id"], result["duration_ms"]
            self.assertEqual(inside, outside)
            self.assertEqual(len(inside), 1)


class Errors(Case):
    def test_when_to_try_again(self):
        """F22, F24, F25: the model is told, and programs."""
        done = self.play({"calls": [{"name": "busy"}]},
                         {"text": "ok", "expect": ["tool.rate_limited: the quota is used up (try "
                                                   "again in 3 s)"]})
        self.check(done, 0)
        result = done.of_type("tool_result")[0]
        self.assertEqual(result["error"], {
            "component": "tool", "category": "rate_limited", "code": "busy.quota",
            "message": result["result"], "retryable": True, "retry_after_ms": 3000})

    def test_what_is_not_to_be_tried_again(self):
        done = self.play({"calls": [{"name": "flood", "arguments": {}}]}, {"text": "ok"})
        error = self.check(done, 0).of_type("tool_result")[0]["error"]
        self.assertEqual((error["component"], error["category"], error["retryable"]),
                         ("host", "invalid_input", False))
        self.assertNotIn("retry_after_ms", error)

    def test_a_long_running_call(self):
        """F37: its id says so, and the run ends with the model's reply."""
        done = self.play({"calls": [{"name": "begin_job", "id": "j"}, {"name": "ask_hook", "id": "h"}]},
                         {"text": "It is going on."})
        self.check(done, 0)
        marked = {call["id"]: call.get("long_running") for call in done.of_type("tool_call")}
        self.assertEqual(marked, {"j": True, "h": None})
        self.assertEqual(done.events[-1]["text"], "It is going on.")
        done = self.mortise(*self.plugins, "--json", "tools", "call", "begin_job")
        self.assertIs(done.of_type("tool_call")[0]["long_running"], True)
        done = self.mortise(*self.plugins, "-m", self.script({"calls": [{"name": "begin_job"}]},
                                                             {"text": "ok"}), "go")
        self.assertIn("→ begin_job {} (works on in the background)\n", done.err)


if __name__ == "__main__":
    e2e.main()
