"""Plugins in processes of their own: whatever one does, the run goes on and says who did it."""
import os
import subprocess
import time

import e2e

# What a crime comes to: the words of the error, or the result that is as good as in this process.
# (A process that dies by a signal may be caught by a sanitizer first, which ends it in its own way.)
DIES = "plugin 'crimes' "
CRIMES = {
    "segfault": "was killed by signal 11",
    "abort": "was killed by signal 6",
    "overflow": "was killed by signal 11",
    "throw": "was killed by signal 6",
    "loop": "took longer than",
    "signals": "took longer than",
    "fork_bomb": "took longer than",
    "never_finish": "took longer than",
    "after_cancel": "took longer than",
    "exit": "with exit code 3",
    "close_all": "closed its connection",
    "garbage": "sent a message that is wrong",
    "wrong_id": "sent a message that is wrong",
    "memory": "of memory",
}
HARMLESS = {"double_finish": "twice", "threads": "leaked", "move": "moved", "behave": "good"}


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        build = os.path.dirname(os.path.dirname(e2e.options.fixtures))
        self.crimes = os.path.join(build, "plugin", "crimes", "crimes.so")
        self.environ = {"ASAN_OPTIONS": "handle_segv=0:handle_abort=0:use_sigaltstack=0:"
                                        "intercept_tls_get_addr=0:detect_leaks=0",
                        "TSAN_OPTIONS": "handle_segv=0:handle_abort=0:report_bugs=0"}

    def isolate(self, **limits):
        self.config(plugin_config={"crimes": {"isolation": "process", "limits": limits}})

    def call(self, kind, id=None):
        return {"name": "crime", "arguments": {"kind": kind}, **({"id": id} if id else {})}

    def play(self, *turns, options=(), **how):
        return self.mortise("-e", self.crimes, "--no-plugins", "--json", *options, "-m",
                            self.script(*turns), "go", env=self.environ, **how)

    def children(self):
        """Processes of crimes.so that are there."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as words:
                    line = words.read()
            except OSError:
                continue
            if b"__plugin" in line and self.crimes.encode() in line:
                found.append(pid)
        return found


    def check_gone(self):
        """What was killed may take a moment to be gone."""
        until = time.monotonic() + e2e.SECONDS
        while self.children() and time.monotonic() < until:
            time.sleep(0.02)
        self.assertEqual(self.children(), [])


class Crimes(Case):
    def commit_crime(self, kind, **limits):
        self.isolate(**limits)
        done = self.play({"calls": [self.call(kind)]}, {"text": "the answer"})
        self.check(done, 0)
        self.assertEqual(done.events[-1]["text"], "the answer", done)
        result, = done.of_type("tool_result")
        return result, done

    def test_each_is_an_error_that_names_it(self):
        """D16: one tool error for each, the turn goes on, and nothing stays."""
        for kind, words in CRIMES.items():
            with self.subTest(kind):
                result, done = self.commit_crime(kind, memory_mb=600,
                                                timeout_s=20 if kind == "memory" else 1.5)
                self.assertFalse(result["success"], done)
                self.assertIn(DIES, result["result"])
                self.assertIn(words, result["result"])
                self.assertIn("during tool 'crime'", result["result"])
                self.check_gone()

    def test_what_harms_nobody(self):
        for kind, words in HARMLESS.items():
            with self.subTest(kind):
                result, done = self.commit_crime(kind)
                self.assertEqual((result["success"], result["result"]), (True, words), done)
                self.check_gone()

    def test_the_host_is_out_of_reach(self):
        """Signals and tracing end at the fence, where the kernel has one."""
        version = subprocess.run(
            ["python3", "-c", "import ctypes; print(ctypes.CDLL(None).syscall(444, 0, 0, 1))"],
            capture_output=True, text=True, check=True).stdout
        if int(version) < 6:
            self.skipTest("this kernel has no Landlock, or an old one")
        for kind in ("ptrace", "kill"):
            with self.subTest(kind):
                result, done = self.commit_crime(kind)
                self.assertFalse(result["success"], done)

    def test_output_without_end(self):
        """What is printed and shown is bounded, here and in the host."""
        result, done = self.commit_crime("output", timeout_s=3)
        self.assertFalse(result["success"], done)
        self.assertLess(sum(len(event["text"]) for event in done.of_type("tool_progress")),
                        2 << 20)

    def test_other_calls_go_on(self):
        """A plugin is there again for the call after the one that killed it."""
        self.isolate()
        done = self.play({"calls": [self.call("segfault"), self.call("behave"),
                                    self.call("exit"), self.call("behave")]},
                         {"text": "ok"}, options=("--strategy", "sequential"))
        self.check(done, 0)
        self.assertEqual([result["success"] for result in done.of_type("tool_result")],
                         [False, True, False, True], done)

    def test_set_aside(self):
        """After five deaths with nothing good in between it is not started again."""
        self.isolate()
        done = self.play({"calls": [self.call("exit") for _ in range(7)]}, {"text": "ok"},
                         options=("--strategy", "sequential"))
        self.check(done, 0)
        results = [result["result"] for result in done.of_type("tool_result")]
        self.assertEqual(["set aside" in result for result in results], 5 * [False] + 2 * [True])
        self.assertIn("plugin 'crimes' is set aside", done.err)


class Limits(Case):
    def test_configuration_that_is_wrong(self):
        for keys in ({"isolation": "box"}, {"isolation": True}, {"limits": 5},
                     {"limits": {"memory_mb": "much"}}, {"limits": {"timeout_s": -1}},
                     {"limits": {"time": 1}}, {"sandbox": True}, {"sandbox": {"paths": []}},
                     {"sandbox": {"readable": "/"}}, {"sandbox": {"writable": ["here"]}},
                     {"sandbox": {"network": 1}}, {"sandbox": {"files": 1.5}},
                     {"sandbox": {"cpu_s": -1}}):
            with self.subTest(keys):
                self.config(plugin_config={"crimes": keys})
                done = self.mortise("-e", self.crimes, "--no-plugins", "tools")
                self.check_error(done, 3, "crimes.so")

    def test_for_all(self):
        """--isolate, and a plugin that is left out."""
        result = self.play({"calls": [self.call("exit")]}, {"text": "ok"}, options=("--isolate",))
        self.check(result, 0)
        self.config(plugin_config={"crimes": {"isolation": "none"}})
        result = self.play({"calls": [self.call("exit")]}, {"text": "ok"}, options=("--isolate",))
        self.check(result, 3)  # in the host's own process, exit(3) is the host's end


if __name__ == "__main__":
    e2e.main()
