"""The plugin `execute_code` in the real binary: code of a model, in sandboxes, and what it cannot do."""
import json
import os
import socket

import e2e


class Case(e2e.Case):
    def run_code(self, language, code, *options):
        """The result of one call: success, and what the model sees."""
        turn = {"calls": [{"name": "execute_code", "arguments": {"code": code, "language": language}}]}
        done = self.mortise("--json", *options, "-m", self.script(turn, {"text": "the end"}), "go", seconds=60)
        self.check(done, 0)
        self.assertEqual(done.of_type("result")[0]["text"], "the end", done)
        return done, done.of_type("tool_result")[0]

    def value(self, language, code):
        _, result = self.run_code(language, code)
        self.assertTrue(result["success"], result)
        return json.loads(result["result"])["value"]

    def error(self, language, code, *parts):
        done, result = self.run_code(language, code)
        self.assertFalse(result["success"], result)
        for part in parts:
            self.assertIn(part, result["result"], done)
        return done


class Languages(Case):
    def test_each(self):  # R14, R18, R19
        self.assertEqual(self.value("javascript", "[Math.max(1, 2), new Date(0).toISOString()]"),
                         [2, "1970-01-01T00:00:00.000Z"])
        self.assertEqual(self.value("typescript", "const n: number = 20;\nn + 1"), 21)
        self.assertEqual(self.value("python", "import math\nmath.factorial(5)"), 120)
        done = self.mortise("tools", "call", "execute_code", '{"code": "6 * 7"}')
        self.assertEqual(json.loads(self.check(done, 0).out)["value"], 42)
        done = self.mortise("tools", "call", "execute_code", '{"code": "1", "language": "perl"}')
        self.assertIn("'language' must be one of", self.check(done, 1).err)

    def test_error_and_output(self):  # R18
        self.error("typescript", "type T = number;\nfunction f(): never {\n  throw new RangeError('no')\n}\n"
                   "console.log('before');\nf()", "RangeError: no (line 3, column 13)", '"stdout":"before\\n"')
        done, _ = self.run_code("python", "import time\nprint('now')\ntime.sleep(0.5)\nprint('later')")
        kinds = [event["type"] for event in done.events]
        self.assertLess(kinds.index("tool_progress"), kinds.index("tool_result"))
        texts = [event["text"] for event in done.of_type("tool_progress")]
        self.assertEqual("".join(texts), "now\nlater\n")
        self.assertGreater(len(texts), 1, "it is shown while it runs")

    def test_files_become_artifacts(self):
        turns = [{"calls": [{"name": "execute_code", "arguments": {
                     "language": "python", "code": "open('plan.txt', 'w').write('one')"}}]},
                 {"calls": [{"name": "load_artifact", "arguments": {"name": "plan.txt"}}]},
                 {"text": "."}]
        done = self.check(self.mortise("--json", "-m", self.script(*turns), "go"), 0)
        ran, loaded = done.of_type("tool_result")
        self.assertIn('"artifacts":[{"name":"plan.txt","bytes":3,"version":1}]', ran["result"])
        self.assertTrue(loaded["success"], done)
        self.assertIn("one", loaded["result"])


class Sandbox(Case):
    def test_out_of_reach(self):  # R15, R16
        secret = self.file("work/secret.txt", "secret")
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            tries = f"""
import os, socket, signal, ctypes
def attempt(f):
    try:
        f()
        return "done"
    except (OSError, ValueError) as problem:
        return type(problem).__name__
out = {{
    "read": attempt(lambda: open({secret!r})),
    "passwd": attempt(lambda: open("/etc/passwd")),
    "environ": attempt(lambda: open("/proc/self/environ")),
    "write": attempt(lambda: open({os.path.join(self.work, "new")!r}, "w")),
    "remove": attempt(lambda: os.remove({secret!r})),
    "connect": attempt(lambda: socket.create_connection(("127.0.0.1", {port}), 1)),
    "fork": attempt(os.fork),
    "exec": attempt(lambda: os.execv("/usr/bin/esbuild", ["esbuild", "--version"])),
    "kill": attempt(lambda: os.kill(os.getppid(), 9)) if os.getppid() > 1 else "PermissionError",
    "scratch": attempt(lambda: open("mine", "w")),
    "environment": sorted(os.environ),
}}
out"""
            value = self.value("python", tries)
        self.assertEqual(value.pop("scratch"), "done")
        self.assertEqual(value.pop("environment"), ["HOME", "LANG", "TMPDIR"])
        self.assertEqual({kind for kind in value.values() if kind != "PermissionError"}, set(), value)
        self.assertTrue(os.path.exists(secret))
        self.assertEqual(os.listdir(self.work), ["secret.txt"])

    def test_memory_of_the_host(self):  # R16: what its environment had is not there to be found
        code = ("import ctypes\nenviron = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')\n"
                "found, i = [], 0\nwhile environ[i]:\n    found.append(environ[i].decode())\n    i += 1\nfound")
        turn = {"calls": [{"name": "execute_code", "arguments": {"code": code, "language": "python"}}]}
        done = self.mortise("--json", "-m", self.script(turn, {"text": "."}), "go",
                            env={"MORTISE_E2E_CANARY": "canary-5309817", "OPENAI_API_KEY": "canary-5309817"})
        self.assertTrue(done.of_type("tool_result")[0]["success"], done)
        self.assertNotIn("5309817", done.of_type("tool_result")[0]["result"])

    def test_limits(self):  # R17
        self.config(plugin_config={"execute_code": {"limits": {"timeout_s": 1, "memory_mb": 128}}})
        self.error("javascript", "for (;;);", "time limit of 1 s")
        self.error("javascript", "function f() { Promise.resolve().then(f) } f()", "time limit of 1 s")
        self.error("python", "while True: pass", "time limit of 1 s")
        self.error("python", "a = []\nwhile True: a.append('x' * 10**6)", "memory limit of 128 MiB")
        self.error("javascript", "let a = []; for (;;) a.push(new Array(1e4).fill(1.5))", "memory limit of 128 MiB")
        self.error("python", "i = 0\nwhile True:\n    i += 1\n    open(f'{i}', 'wb').write(b'x' * (1 << 22))", "limit")

    def test_crash(self):  # the run goes on, and says what it was
        self.error("python", "import ctypes\nctypes.string_at(0)", "killed by signal 11")
        self.error("python", "import posix\nposix._exit(3)", "ended its process with exit code 3")
        self.error("python", "import os\nos.closerange(0, 1000)\n1", "execute_code")

    def test_only_the_operator(self):  # R20
        turn = {"calls": [{"name": "execute_code", "arguments": {"code": "1", "sandbox": False}}]}
        done = self.mortise("--json", "-m", self.script(turn, {"text": "."}), "go")
        self.assertFalse(done.of_type("tool_result")[0]["success"], done)
        code = "try:\n    open('/etc/passwd')\n    r = 'open'\nexcept OSError:\n    r = 'shut'\nr"
        self.assertEqual(self.value("python", code), "shut")
        self.config(plugin_config={"execute_code": {"sandbox": {"readable": ["/etc/passwd"]}}})
        self.assertEqual(self.value("python", code), "open")


if __name__ == "__main__":
    e2e.main()
