"""Tools that need a sandbox: each call in a process and a sandbox of its own, or not at all."""
import ctypes
import json
import os
import shutil
import socket
import struct
import time
import unittest

import e2e

class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.plugins = os.path.join(os.path.dirname(e2e.options.fixtures), "confined")
        self.plugin = os.path.join(self.plugins, "confined.so")
        self.places = {"TMPDIR": self.folder("tmp")}

    def configure(self, **section):
        self.config(plugin_config={"confined": section})

    def call(self, tool, env=None, **arguments):
        """What comes of one call: whether it went well, and the text."""
        done = self.mortise("--no-plugins", "-e", self.plugin, "tools", "call", tool,
                            json.dumps(arguments), env={**self.places, **(env or {})})
        return done.code == 0, (done.out if done.code == 0 else done.err).strip()

    def attempt(self, what, env=None, **arguments):
        good, text = self.call("attempt", env=env, what=what, **arguments)
        self.assertTrue(good, text)
        return text

    def fails(self, tool, *parts, env=None, **arguments):
        good, text = self.call(tool, env=env, **arguments)
        self.assertFalse(good, text)
        for part in parts:
            self.assertIn(part, text)
        self.assertEqual(self.left(), [])

    def left(self):
        """What stays in the place of scratch folders."""
        return os.listdir(self.places["TMPDIR"])

    def play(self, *calls, options=(), **how):
        turns = ({"calls": list(calls)}, {"text": "the answer"})
        done = self.mortise("-e", self.plugin, "--no-plugins", "--json", *options, "-m",
                            self.script(*turns), "go", env=self.places, **how)
        self.check(done, 0)
        self.assertEqual(done.events[-1]["text"], "the answer", done)
        return done


class Attempts(Case):
    """R16: what a call cannot do."""

    def test_files(self):
        secret = self.file("home/secret", "x")
        for path in ("/etc/passwd", secret, "/proc/self/maps", f"/proc/{os.getpid()}/environ",
                     self.plugin, "/sys/kernel/mm/ksm/run", "/dev/tty", "/"):
            with self.subTest(path):
                self.assertIn(self.attempt("read", path=path),
                              ("Permission denied", "No such file or directory",
                               "No such device or address"))
        for path in (secret, self.file("tmp-file", "x"), "/tmp/mortise-confined-attempt",
                     os.path.join(self.work, "new")):
            with self.subTest(path):
                self.assertEqual(self.attempt("write", path=path), "Permission denied")
        self.assertFalse(os.path.exists("/tmp/mortise-confined-attempt"))
        self.assertEqual(self.attempt("write", path="inside"), "done")

    def test_network(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.assertEqual(self.attempt("connect", number=server.getsockname()[1]),
                             "Operation not permitted")

    def test_processes(self):
        for what in ("fork", "exec", "kill", "ptrace"):
            with self.subTest(what):
                self.assertEqual(self.attempt(what, number=0), "Operation not permitted")
        for what in ("kill", "ptrace"):
            with self.subTest(what):
                self.assertEqual(self.attempt(what, number=os.getpid()),
                                 "Operation not permitted")
        self.assertEqual(self.attempt("thread"), "done")

    def test_environment_and_descriptors(self):
        text = self.attempt("environment", env={"ANTHROPIC_API_KEY": "sk-canary", "EXTRA": "x"})
        names = {line.split("=")[0] for line in text.splitlines()}
        self.assertLessEqual(names, {"PATH", "LANG", "HOME", "TMPDIR"})
        self.assertNotIn(self.home + "\n", text + "\n")
        self.assertEqual(self.attempt("descriptors").split(), ["0", "1", "2", "3", "4"])

    def test_what_the_host_gives_others(self):
        self.config(plugin_config={"confined": {"secrets": {"key": {"env": "KEY"}}}})
        good, text = self.call("ask_host", env={"KEY": "canary-value"})
        self.assertEqual((good, text), (True, "http no, secret no"))

    def test_scratch(self):
        """A folder for the call alone, empty, and gone with it."""
        first, second = self.attempt("scratch").split(), self.attempt("scratch").split()
        self.assertNotEqual(first[0], second[0])
        for folder, mode, count, is_home in (first, second):
            self.assertTrue(folder.startswith(self.places["TMPDIR"] + "/"), folder)
            self.assertEqual((mode, count, is_home), ("700", "0", "1"))
        self.assertEqual(self.left(), [])

    def test_runtime_folder_comes_first(self):
        runtime = self.folder("runtime")
        folder = self.attempt("scratch", env={"XDG_RUNTIME_DIR": runtime}).split()[0]
        self.assertTrue(folder.startswith(runtime + "/"), folder)
        self.assertEqual(os.listdir(runtime), [])

    def test_what_is_hard_to_remove(self):
        """Deep folders, without permissions."""
        self.configure(sandbox={"disk_mb": 0, "files": 0})
        self.assertEqual(self.attempt("litter"), "-1")
        self.assertEqual(self.left(), [])

    def test_links_that_are_granted_are_not_followed(self):
        self.configure(sandbox={"disk_mb": 0, "files": 0, "links": True})
        self.assertEqual(self.attempt("litter"), "0")
        self.assertEqual(self.left(), [])
        self.assertTrue(os.path.exists("/etc/passwd"))


class Calls(Case):
    def test_nothing_is_left_from_one_to_the_next(self):
        """prepare() is called once in the process that all are copied from."""
        done = self.play(*[{"name": "attempt", "arguments": {"what": "state"}}] * 3,
                         options=("--strategy", "sequential"))
        self.assertEqual([result["result"] for result in done.of_type("tool_result")],
                         ["1 1 1"] * 3)

    def test_twenty_at_once(self):
        done = self.play(*[{"name": "attempt", "arguments": {"what": "scratch"}}] * 20,
                         options=("--strategy", "parallel"))
        results = done.of_type("tool_result")
        self.assertEqual([result["success"] for result in results], [True] * 20, done)
        self.assertEqual(len({result["result"].split()[0] for result in results}), 20)
        self.assertEqual(self.left(), [])

    def test_ordinary_tools_beside_them(self):
        """They run where the plugin is, and keep what they have there."""
        done = self.play({"name": "ordinary", "arguments": {}},
                         {"name": "attempt", "arguments": {"what": "state"}},
                         {"name": "ordinary", "arguments": {}},
                         options=("--strategy", "sequential"))
        self.assertEqual([result["result"] for result in done.of_type("tool_result")],
                         ["1", "1 1 1", "2"])

    def test_in_a_plugin_with_a_process(self):
        self.configure(isolation="process")
        self.assertEqual(self.attempt("state"), "1 1 1")
        self.assertEqual(self.call("ordinary"), (True, "1"))

    def test_progress_comes_before_the_end(self):
        process = self.start("-e", self.plugin, "--no-plugins", "--json", "-m",
                             self.script({"calls": [{"name": "report_progress",
                                                     "arguments": {"wait_ms": 1000}}]},
                                         {"text": "ok"}), "go", env=self.places)
        seen = []
        for line in process.stdout:
            event = json.loads(line)
            if event["type"] == "tool_progress":
                seen.append((event.get("text") or event.get("message"), time.monotonic()))
            if event["type"] == "tool_result":
                break
        process.stdout.read()
        process.wait()
        texts = [text for text, _ in seen]
        self.assertIn("first\n", texts)
        self.assertIn("half", texts)
        times = dict(seen)
        self.assertGreater(times["last\n"] - times["first\n"], 0.5)

    def test_artifacts_and_parts(self):
        done = self.play({"name": "save_file", "arguments": {"text": "kept"}})
        result, = done.of_type("tool_result")
        self.assertEqual(result["result"], "version 1")
        self.assertEqual(len(result["parts"]), 1, result)

    def test_prepare_that_fails(self):
        self.configure(prepare="fail")
        self.fails("attempt", "prepare() has failed: there is no engine", what="state")
        self.configure(prepare="crash")
        self.fails("attempt", "killed by signal 6", what="state")

    def test_prepare_that_hangs(self):
        """D16: a cancel ends it all the same."""
        self.configure(prepare="hang")
        process = self.start("--no-plugins", "-e", self.plugin, "tools", "call", "attempt",
                             '{"what": "state"}', env=self.places)
        until = time.monotonic() + e2e.SECONDS
        while not self.left() and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.3)
        begun = time.monotonic()
        process.send_signal(2)
        self.finish(process)
        self.assertLess(time.monotonic() - begun, 12)
        self.check_none_runs(self.plugin.encode())
        self.assertEqual(self.left(), [])

    def test_helpers_and_then_none(self):
        """mortise_no_more_processes(): threads still work."""
        good, text = self.call("help_itself")
        self.assertTrue(good, text)
        self.assertEqual(text, "0, 0, -1, thread done")

    def test_schema_is_checked_before(self):
        self.fails("attempt", "what", number=1)


class Limits(Case):
    """R17: each has its error, which has its value, and nothing is left."""

    def test_time(self):
        self.configure(limits={"timeout_s": 0.3})
        for how in ("loop", "sleep"):
            with self.subTest(how):
                self.fails("end_by", "'end_by' reached the time limit of 300 ms", how=how)

    def test_time_unless_configured(self):
        begun = time.monotonic()
        self.fails("end_by", "the time limit of 5 s", how="sleep")
        self.assertGreater(time.monotonic() - begun, 4.5)

    def test_processor_time(self):
        self.configure(limits={"timeout_s": 20}, sandbox={"cpu_s": 1})
        self.fails("end_by", "the processor time limit of 1 s", how="loop")

    def test_memory(self):
        self.fails("end_by", "the memory limit of 256 MiB", how="memory")
        self.configure(limits={"memory_mb": 128})
        self.fails("end_by", "the memory limit of 128 MiB", how="memory")

    def test_output(self):
        self.configure(sandbox={"output_mb": 2})
        self.fails("end_by", "the output limit of 2 MiB", how="output")

    def test_disk(self):
        self.configure(sandbox={"disk_mb": 5})
        self.fails("end_by", "limit of 5 MiB", how="disk")

    def test_files(self):
        self.configure(sandbox={"files": 100})
        self.fails("end_by", "the limit of 100 files", how="files")

    def test_threads(self):
        self.configure(sandbox={"processes": 20})
        self.fails("end_by", "the limit of 20 processes and threads", how="threads")

    def test_helpers_end_with_it(self):
        self.configure(limits={"timeout_s": 1})
        self.fails("help_itself", "the time limit of 1 s", leave=True)
        self.check_none_runs(b"sleep\x001000.25")


class Ends(Case):
    def test_each_is_an_error_that_names_it(self):
        for how, words in {"crash": "'end_by' was killed by signal 11",
                           "exit": "'end_by' ended its process with exit code 3",
                           "close": "'end_by' closed its connection",
                           "garbage": "'end_by' sent a message that is wrong"}.items():
            with self.subTest(how):
                self.fails("end_by", words, how=how)

    def test_others_go_on(self):
        """However many crash: it is not the plugin's process that does."""
        done = self.play(*[{"name": "end_by", "arguments": {"how": how}}
                           for how in ["crash"] * 7 + ["well"]],
                         options=("--strategy", "sequential"))
        self.assertEqual([result["success"] for result in done.of_type("tool_result")],
                         [False] * 7 + [True])

    def waiting(self):
        """The process that the next call will have: none was forked from it."""
        found, parents = self.running(self.plugin.encode()), set()
        for pid in found:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                parents.add(stat.read().rpartition(")")[2].split()[1])
        return [pid for pid in found if pid not in parents]

    def test_a_process_that_ends_before_it_has_a_call(self):
        """The next call gets another one."""
        killed = []

        def kill_it(_):
            until = time.monotonic() + e2e.SECONDS
            while time.monotonic() < until and not (self.left() and self.waiting()):
                time.sleep(0.02)
            time.sleep(0.2)
            for pid in self.waiting():
                os.kill(int(pid), 9)
                killed.append(pid)
            while any(pid in self.waiting() for pid in killed) and time.monotonic() < until:
                time.sleep(0.02)  # what is over has no command line
            return again

        first, again = (e2e.openai_reply(calls=[(f"call_{i}", "end_by", '{"how": "well"}')])
                        for i in range(2))
        with e2e.Server(first, kill_it, e2e.openai_reply("the answer")) as server:
            done = self.mortise("-e", self.plugin, "--no-plugins", "--json", "-m", "openai/m",
                                "--base-url", server.url + "/v1", "go",
                                env={**self.places, "OPENAI_API_KEY": "k"})
        self.check(done, 0)
        self.assertEqual(len(killed), 1, done)
        self.assertEqual([result["success"] for result in done.of_type("tool_result")],
                         [True, True], done)
        self.assertEqual(self.left(), [])

    def test_cancel_kills_it(self):
        self.configure(limits={"timeout_s": 60})
        process = self.start("-e", self.plugin, "--no-plugins", "--json", "-m",
                             self.script({"calls": [{"name": "help_itself",
                                                     "arguments": {"leave": True}}]},
                                         {"text": "ok"}), "go", env=self.places)
        until = time.monotonic() + e2e.SECONDS
        while not self.running(b"sleep\x001000.25") and time.monotonic() < until:
            time.sleep(0.02)
        self.assertTrue(self.running(b"sleep\x001000.25"))
        begun = time.monotonic()
        process.send_signal(2)
        self.finish(process)
        self.assertLess(time.monotonic() - begun, 5)
        self.check_none_runs(b"sleep\x001000.25")
        self.assertEqual(self.left(), [])

    def test_the_host_is_killed(self):
        self.configure(limits={"timeout_s": 60})
        process = self.start("-e", self.plugin, "--no-plugins", "--json", "-m",
                             self.script({"calls": [{"name": "end_by",
                                                     "arguments": {"how": "sleep"}}]},
                                         {"text": "ok"}), "go", env=self.places)
        until = time.monotonic() + e2e.SECONDS
        while not self.left() and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.2)
        process.kill()
        process.wait()
        self.check_none_runs(self.plugin.encode())
        self.assertEqual(self.left(), [])


# ---- layers that are missing ----

LANDLOCK_CREATE, LANDLOCK_RESTRICT, CLOSE_RANGE, UNSHARE = 444, 446, 436, 272
ENOSYS, E2BIG, ENOSPC = 38, 7, 28
NEW_USER = 0x10000000


def refuse(call, code, bits=None):
    """For a child, before it runs mortise: the kernel refuses this call of its processes, or only
    where its first argument has some of these bits."""
    def enter():
        libc = ctypes.CDLL(None, use_errno=True)
        look = [(0x20, 0, 0, 16), (0x45, 0, 1, bits)] if bits else []
        steps = [(0x20, 0, 0, 0), (0x15, 0, 1 + len(look), call), *look,
                 (0x06, 0, 0, 0x00050000 | code), (0x06, 0, 0, 0x7fff0000)]
        program = b"".join(struct.pack("HBBI", *step) for step in steps)
        buffer = ctypes.create_string_buffer(program)
        fprog = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(buffer))
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.c_char_p(fprog), 0, 0):
            os._exit(99)
    return enter


@unittest.skipUnless(os.uname().machine == "x86_64", "the numbers are those of x86_64")
class FailClosed(Case):
    """R15, R20"""

    def check_refused(self, call, code, layer):
        done = self.mortise("--no-plugins", "-e", self.plugin, "tools", "call", "attempt",
                            '{"what": "state"}', env=self.places, preexec_fn=refuse(call, code))
        self.check(done, 1)
        self.assertIn("may only run in a sandbox, and it was not run", done.err)
        self.assertIn(layer, done.err)
        self.assertEqual(self.left(), [])

    def test_layers_are_named(self):
        self.check_refused(LANDLOCK_CREATE, ENOSYS, "no Landlock")
        self.check_refused(CLOSE_RANGE, ENOSYS, "no closing of descriptors")
        self.check_refused(LANDLOCK_RESTRICT, E2BIG, "Landlock: Argument list too long")

    def test_namespaces_need_not_be_there(self):
        self.configure(limits={"timeout_s": 1})
        for arguments, words in (({}, "0, 0, -1, thread done"), ({"leave": True}, "limit of 1 s")):
            done = self.mortise("--no-plugins", "-e", self.plugin, "tools", "call", "help_itself",
                                json.dumps(arguments), env=self.places,
                                preexec_fn=refuse(UNSHARE, ENOSPC, NEW_USER))
            self.assertIn(words, done.out + done.err)
            self.check_none_runs(b"sleep\x001000.25")
            self.assertEqual(self.left(), [])

    def test_ordinary_tools_go_on(self):
        done = self.mortise("--no-plugins", "-e", self.plugin, "tools", "call", "ordinary", "{}",
                            env=self.places, preexec_fn=refuse(LANDLOCK_CREATE, ENOSYS))
        self.check(done, 0)

    def test_no_setting_turns_it_off(self):
        self.config(plugin_config={"confined": {"isolation": "none"}})
        self.assertEqual(self.attempt("read"), "Permission denied")
        for keys in ({"sandbox": False}, {"sandbox": "off"}, {"sandbox": {"off": True}},
                     {"sandbox": {"required": False}}):
            self.configure(**keys)
            good, text = self.call("attempt", what="read")
            self.assertFalse(good, text)

    def test_a_project_grants_nothing(self):
        self.file("work/.mortise/config.json", json.dumps(
            {"plugin-config": {"confined": {"sandbox": {"readable": ["/etc"]}}}}))
        good, text = self.call("attempt", what="read")
        self.assertIn("Permission denied" if good else "plugin-config", text)

    def test_the_operator_grants(self):
        folder = self.folder("given")
        self.configure(sandbox={"readable": ["/etc/passwd"], "writable": [folder, "workspace"]})
        self.assertEqual(self.attempt("read"), "done")
        self.assertEqual(self.attempt("write", path=os.path.join(folder, "x")), "done")
        self.assertEqual(self.attempt("write", path=os.path.join(self.work, "x")), "done")
        self.assertEqual(self.attempt("write", path=os.path.join(self.home, "x")),
                         "Permission denied")
        self.assertTrue(os.path.exists(os.path.join(folder, "x")))


class PluginInSandbox(Case):
    """"isolation": "sandbox": all of a plugin, from before it is mapped."""

    def setUp(self):
        super().setUp()
        self.inside = os.path.join(self.plugins, "inside.so")

    def look(self, path="/etc/passwd", **section):
        self.config(plugin_config={"inside": section})
        done = self.mortise("--no-plugins", "-e", self.inside, "tools", "call", "look",
                            json.dumps({"path": path}), env={"CANARY": "x"})
        self.check(done, 0)
        return done.out.strip().split(", ")

    def test_it_is_inside_before_it_is_mapped(self):
        self.assertEqual(self.look(), ["done", "done", "done", "canary"])
        self.assertEqual(self.look(isolation="sandbox"), ["Permission denied"] * 3 + ["no canary"])

    def test_what_is_granted(self):
        path = self.file("given/file", "x")
        grants = {"readable": [os.path.dirname(path)]}
        self.assertEqual(self.look(path, isolation="sandbox", sandbox=grants),
                         ["Permission denied", "Permission denied", "done", "no canary"])

    def test_crimes(self):
        """As without a sandbox, also where it has processes inside: a named error, and the run goes on."""
        build = os.path.dirname(os.path.dirname(e2e.options.fixtures))
        crimes = os.path.join(self.root, "crimes.so")  # others look for processes of that one
        shutil.copy(os.path.join(build, "plugin", "crimes", "crimes.so"), crimes)
        for grants in ({}, {"executable": ["/bin/true"]}):
            for kind, words in (("abort", "was killed by signal 6"), ("memory", "full"),  # shared memory is not to be had there
                                ("loop", "took longer than")):
                with self.subTest(kind, **grants):
                    self.config(plugin_config={"crimes": {
                        "isolation": "sandbox", "sandbox": grants,
                        "limits": {"memory_mb": 400, "timeout_s": 20 if kind == "memory" else 1.5}}})
                    calls = [{"name": "crime", "arguments": {"kind": each}}
                             for each in (kind, "behave")]
                    done = self.mortise("-e", crimes, "--no-plugins", "--json", "--strategy",
                                        "sequential", "-m",
                                        self.script({"calls": calls}, {"text": "."}), "go")
                    self.check(done, 0)
                    bad, good = done.of_type("tool_result")
                    self.assertIn(words, bad["result"])
                    self.assertEqual(good["result"], "good", done)
                    self.check_none_runs(crimes.encode())

    def test_sandboxes_are_not_nested(self):
        self.configure(isolation="sandbox")
        done = self.mortise("--no-plugins", "-e", self.plugin, "tools", env=self.places)
        self.check_error(done, 5, '"process"')

    def test_missing_layer(self):
        self.config(plugin_config={"inside": {"isolation": "sandbox"}})
        for call, code, layer in ((LANDLOCK_CREATE, ENOSYS, "no Landlock"),
                                  (LANDLOCK_RESTRICT, E2BIG, "Landlock: Argument list too long")):
            done = self.mortise("--no-plugins", "-e", self.inside, "tools",
                                preexec_fn=refuse(call, code))
            self.check_error(done, 5, layer)


class WithoutACall(Case):
    """What a plugin asks for outside of its calls."""

    def setUp(self):
        super().setUp()
        self.plugin = os.path.join(os.path.dirname(e2e.options.fixtures), "asks", "asks.so")

    def test_a_call_has_none_of_it(self):
        self.config(plugin_config={"asks": {"confined": True}})
        self.assertEqual(self.call("confined_outside"), (True, "nothing"))

    def test_a_plugin_without_the_network_has_no_requests(self):
        self.config(plugin_config={"asks": {"isolation": "sandbox"}})
        self.assertEqual(self.call("outside", url="http://127.0.0.1:1/"),
                         (True, "-5 0 0 this plugin has no network"))


class Shown(Case):
    """How each plugin and each tool runs."""

    def show(self, *words):
        done = self.mortise("--no-plugins", "-e", self.plugin, *words, env=self.places)
        self.check(done, 0)
        return done.out

    def test_by_plugins(self):
        self.assertIn("runs     in the host's process; each call of 6 tools in a sandbox of its own\n",
                      self.show("plugins", "show", "confined"))
        self.configure(isolation="process")
        self.assertIn("runs     in a process of its own; each call", self.show("plugins", "show",
                                                                            "confined"))
        self.assertEqual(json.loads(self.show("--json", "plugins"))["isolation"], "process")

    def test_by_tools(self):
        self.configure(limits={"timeout_s": 2.5}, sandbox={"readable": ["/etc/passwd"]})
        text = self.show("tools", "show", "help_itself")
        self.assertIn("runs         each call in a sandbox of its own, 2.5 s, 256 MiB\n", text)
        self.assertIn("executes     /bin/true /bin/sleep", text)
        self.assertIn('granted      {"readable":["/etc/passwd"]}', text)
        self.assertIn("runs         in the host's process\n", self.show("tools", "show", "ordinary"))

    def test_by_the_doctor(self):
        done = self.mortise("--no-plugins", "-e", self.plugin, "doctor", env=self.places)
        self.assertIn("in the host's process; each call of 6 tools in a sandbox of its own", done.out)


if __name__ == "__main__":
    e2e.main()
