"""valgrind finds nothing to say of the release build, plugins included."""
import shutil
import subprocess
import unittest

import e2e


class Valgrind(e2e.Case):
    def setUp(self):
        super().setUp()
        if not e2e.options.fail_malloc:
            self.skipTest("sanitizers and valgrind do not go together")
        if not shutil.which("valgrind"):
            self.skipTest("valgrind is not installed")

    def check_quiet(self, *arguments, code=0):
        command = ["valgrind", "-q", "--leak-check=full", "--errors-for-leak-kinds=definite",
                   "--error-exitcode=99", e2e.options.mortise, *arguments]
        done = subprocess.run(command, env=self.environment({}), cwd=self.work,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        done = e2e.Done(done.returncode, done.stdout, done.stderr)
        self.assertEqual(done.code, code, done)
        return done

    def test_lists(self):
        self.assertIn("calculator", self.check_quiet("tools").out)
        self.check_quiet("hooks")

    def test_call(self):
        done = self.check_quiet("tools", "call", "calculator", '{"op": "add", "a": 1, "b": 2}')
        self.assertEqual(done.out, "3\n")
        self.check_quiet("tools", "call", "calculator", '{"op": "power"}', code=1)

    def test_script(self):
        model = self.script(
            {"reasoning": "hm", "text": "I ask.",
             "calls": [{"name": "greet", "arguments": {"name": "Ada"}},
                       {"name": "nobody", "arguments": {}},
                       {"name": "calculator", "arguments": "{broken"}]},
            {"text": "Done.", "expect": ["Hello, Ada!"]})
        self.assertEqual(self.check_quiet("-m", model, "hi").out, "I ask.\nDone.\n")

    def test_server(self):
        replies = (e2e.openai_reply(calls=[("c1", "greet", '{"name": "Ada"}')]),
                   e2e.openai_reply("ok"))
        with e2e.Server(*replies) as server:
            done = self.check_quiet("--json", "-m", "openai/m", "--base-url", server.url, "hi")
        self.assertEqual(done.events[-1]["text"], "ok")


if __name__ == "__main__":
    e2e.main()
