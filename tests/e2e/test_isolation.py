"""Plugins in processes of their own: whatever one does, the run goes on and says who did it."""
import os
import shutil
import subprocess
import time

import e2e

# The twenty crimes, and what each comes to: the words of an error that names the plugin, or what is as
# good as in this process, because it harms nobody else.  (A process that dies by a signal may be
# caught by a sanitizer first, which ends it in its own way.)
ERROR, HARMLESS = False, True
LATE = "took longer than"
WRONG = "sent a message that is wrong"
DENIED = "this is not allowed"
CRIMES = (
    ("segfault", ERROR, "was killed by signal 11"),
    ("abort", ERROR, "was killed by signal 6"),
    ("overflow", ERROR, "was killed by signal 11"),
    ("loop", ERROR, LATE),
    ("fork_bomb", ERROR, LATE),
    ("exit", ERROR, "ended its process with exit code 3"),
    ("close_all", ERROR, "closed its connection"),
    ("garbage", ERROR, WRONG),
    ("double_finish", HARMLESS, "twice"),
    ("never_finish", ERROR, LATE),
    ("after_cancel", ERROR, LATE),
    ("memory", ERROR, "used more than 600 MiB of memory"),
    ("output", ERROR, LATE),
    ("signals", ERROR, LATE),
    ("ptrace", ERROR, DENIED),
    ("kill", ERROR, DENIED),
    ("move", HARMLESS, "moved"),
    ("threads", HARMLESS, "leaked"),
    ("throw", ERROR, "was killed by signal 6"),
    ("wrong_id", ERROR, WRONG),
)
NEED_FENCE = ("ptrace", "kill")


def has_fence():
    """Whether this kernel keeps signals and tracing within a process's own (Landlock, ABI 6)."""
    version = subprocess.run(
        ["python3", "-c", "import ctypes; print(ctypes.CDLL(None).syscall(444, 0, 0, 1))"],
        capture_output=True, text=True, check=True).stdout
    return int(version) >= 6


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        build = os.path.dirname(os.path.dirname(e2e.options.fixtures))
        self.crimes = self.in_c = os.path.join(build, "plugin", "crimes", "crimes.so")
        self.environ = {"ASAN_OPTIONS": "handle_segv=0:handle_abort=0:use_sigaltstack=0:"
                                        "intercept_tls_get_addr=0:detect_leaks=0",
                        "TSAN_OPTIONS": "handle_segv=0:handle_abort=0:report_bugs=0"}

    def isolate(self, **limits):
        keys = {"isolation": "process", "limits": limits}
        self.config(plugin_config={"crimes": keys, "throws": keys})

    def build_throws(self):
        """The plugin in C++."""
        compiler = next(filter(shutil.which, ("c++", "g++", "clang++")), None)
        if not compiler:
            self.skipTest("no C++ compiler")
        sdk = os.path.join(e2e.options.source, "plugin-sdk", "include")
        source = os.path.join(e2e.options.source, "tests", "plugin", "fixtures", "throws.cpp")
        built = os.path.join(self.root, "throws.so")
        subprocess.run([compiler, "-std=c++11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                        "-fvisibility=hidden", f"-I{sdk}", source, "-o", built], check=True)
        os.chmod(built, 0o755)
        return built

    def call(self, kind, id=None):
        return {"name": "crime", "arguments": {"kind": kind}, **({"id": id} if id else {})}

    def play(self, *turns, options=(), **how):
        return self.mortise("-e", self.crimes, "--no-plugins", "--json", *options, "-m",
                            self.script(*turns), "go", env=self.environ, **how)

    def children(self):
        """Processes of crimes.so that are there."""
        return self.running(*self.words())

    def words(self):
        return b"__plugin", self.crimes.encode()

    def check_gone(self):
        self.check_none_runs(*self.words())


class Crimes(Case):
    def commit_crime(self, kind, **limits):
        self.isolate(**limits)
        done = self.play({"calls": [self.call(kind)]}, {"text": "the answer"})
        self.check(done, 0)
        self.assertEqual(done.events[-1]["text"], "the answer", done)
        result, = done.of_type("tool_result")
        return result, done

    def check_crime(self, kind, outcome, words):
        self.crimes = self.build_throws() if kind == "throw" else self.in_c
        result, done = self.commit_crime(kind, memory_mb=600,
                                         timeout_s=20 if kind == "memory" else 1.5)
        self.assertEqual(result["success"], outcome, done)
        self.assertIn(words, result["result"])
        if outcome == ERROR and words != DENIED:
            name = "throws" if kind == "throw" else "crimes"
            self.assertIn(f"plugin '{name}' ", result["result"])
            self.assertIn("during tool 'crime'", result["result"])
        self.check_gone()
        return done

    def test_all(self):
        """D16: the turn goes on, the model answers, and nothing stays of the process."""
        self.assertEqual(len(CRIMES), 20)
        for kind, outcome, words in CRIMES:
            with self.subTest(kind):
                if kind in NEED_FENCE and not has_fence():
                    continue
                self.check_crime(kind, outcome, words)

    def test_finished_twice(self):
        """Once counts, and the other is told of."""
        done = self.check_crime("double_finish", HARMLESS, "twice")
        self.assertIn("plugin 'crimes': tool 'crime' finished a call that was over", done.err)

    def test_output_without_end(self):
        """What is printed and shown is bounded, here and in the host."""
        done = self.check_crime("output", ERROR, LATE)
        self.assertLess(sum(len(event["text"]) for event in done.of_type("tool_progress")),
                        2 << 20)

    def test_who_escapes_is_ended_too(self):
        """A process that left its session and its parents goes with the plugin, however that ends."""
        for kind, outcome, words in (("escape", HARMLESS, "escaped"), ("escape_and_loop", ERROR, LATE),
                                     ("escape_and_die", ERROR, "was killed by signal 11")):
            with self.subTest(kind):
                self.check_crime(kind, outcome, words)

    def test_who_escapes_does_not_outlive_the_host(self):
        """Not even when that is killed."""
        self.isolate(timeout_s=60)
        process = self.start("-e", self.crimes, "--no-plugins", "-m",
                             self.script({"calls": [self.call("escape_and_loop")]}), "go",
                             env=self.environ)
        until, looks = time.monotonic() + e2e.SECONDS, 0
        while looks < 5 and time.monotonic() < until:  # on its way it is two for a moment, or none
            looks = looks + 1 if len(self.children()) >= 3 else 0  # guard, plugin, who escaped
            time.sleep(0.02)
        self.assertEqual(looks, 5)
        process.kill()
        process.wait()
        self.check_gone()

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
