"""The plugin `shell` in the real binary: what a long build looks like, and that nothing is left."""
import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import termios
import time

import e2e

MiB = 1 << 20
ALLOW = {"shell": {"allow": True}}
BUILD = """#!/bin/bash
for ((i = 1; i <= 100000; i++)); do
    echo "[$i/100000] cc -O2 -Wall -c source_$i.c -o build/source_$i.o"
    ((i % 10000 == 5000)) && echo "source_$i.c:7: warning: unused variable" >&2
done
exit 42
"""


def is_there(pid):
    """Running, and no zombie that nobody has waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.config(plugin_config=ALLOW)

    def turn(self, command, **more):
        return {"calls": [{"name": "shell", "arguments": {"command": command, **more}}]}

    def begin(self, command, *options, **how):
        """A run whose command has written the ids of its processes into the file `pids`."""
        process = self.start("--json", *options, "-m", self.script(self.turn(command), {"text": "."}),
                             "go", **how)
        self.wait_for(os.path.join(self.work, "ready"), process)
        with open(os.path.join(self.work, "pids"), encoding="ascii") as file:
            pids = [int(pid) for pid in file.read().split()]
        self.assertEqual(len(pids), 4)
        self.assertTrue(all(is_there(pid) for pid in pids))
        return process, pids

    # One that left its session, one that left its parent, one that hears no SIGTERM, the shell.
    TREE = ("setsid sh -c 'echo $$ >>pids; exec sleep 300' & "
            "(sh -c 'echo $$ >>pids; exec sleep 300' &) ; "
            "bash -c 'trap \"\" TERM INT HUP; echo $$ >>pids; while :; do sleep 1; done' & "
            "echo $$ >>pids; until [ $(wc -l <pids) = 4 ]; do sleep 0.02; done; touch ready; wait")

    def check_gone(self, pids, seconds=5):
        until = time.monotonic() + seconds
        while any(is_there(pid) for pid in pids) and time.monotonic() < until:
            time.sleep(0.02)
        self.assertEqual([pid for pid in pids if is_there(pid)], [])


class Configuration(Case):
    def test_switched_off(self):
        """A tool that can do everything is there only when somebody said so, and a hint tells how."""
        self.config()
        self.assertNotIn("shell", self.check(self.mortise("tools"), 0).out.split())
        done = self.mortise("tools", "call", "shell", '{"command": "true"}')
        self.assertNotEqual(done.code, 0, done)
        done = self.check(self.mortise("-v", "-m", "offline", "hello"), 0)
        self.assertIn('{"plugin-config": {"shell": {"allow": true}}}', done.err)
        done = self.check(self.mortise("-m", "offline", "hello"), 0)
        self.assertNotIn("shell", done.err)

    def test_no_project_can_switch_it_on(self):
        self.config()
        self.file("work/.mortise/config.json", json.dumps({"plugin-config": ALLOW}))
        done = self.mortise("tools", "call", "shell", '{"command": "touch here"}')
        self.assertNotEqual(done.code, 0, done)
        self.assertFalse(os.path.exists(os.path.join(self.work, "here")))

    def test_keys_stay_with_the_host(self):
        done = self.check(self.mortise("tools", "call", "shell", '{"command": "env; pwd"}', env={
            "OPENAI_API_KEY": "sk-0123456789", "AWS_SECRET_ACCESS_KEY": "aws-0123456789",
            "SOMETHING": "else-0123456789"}), 0)
        self.assertNotIn("0123456789", done.out)
        self.assertIn(f"HOME={self.home}\n", done.out)
        self.assertIn(f"\n{self.work}\n[exit status 0]", done.out)


    def test_time_limit(self):
        """As it is configured, and what the model may say at most."""
        self.config(plugin_config={"shell": {"allow": True, "timeout_s": 1, "max_timeout_s": 2}})
        done = self.mortise("tools", "call", "shell", '{"command": "echo a; sleep 60"}')
        self.assertIn("a\n[stopped after 1 s", self.check(done, 0).out)
        done = self.mortise("tools", "call", "shell", '{"command": "true", "timeout_s": 3}')
        self.assertIn("'timeout_s' can be at most 2 here", self.check(done, 1).err)


class Build(Case):
    def test_100000_lines(self):
        """F38, F74: seen while it runs, in bounded memory, with the exact exit status."""
        self.file("work/build.sh", BUILD)
        process = self.start("--json", "-m", self.script(self.turn("bash build.sh"), {"text": "."}),
                             "go")
        first = last = None
        peak = 0
        shown = ""
        for line in process.stdout:
            event = json.loads(line)
            if event["type"] == "tool_progress":
                first = first or time.monotonic()
                shown += event.get("text") or ""
            if event["type"] == "tool_result":
                last = time.monotonic()
                result = event["result"]
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                for used in re.findall(r"VmHWM:\s+(\d+) kB", status.read()):  # none at its end
                    peak = int(used) * 1024
        self.check(self.finish(process), 0)
        self.assertTrue(result.startswith("[1/100000] cc"), result[:200])
        self.assertTrue(result.endswith("-o build/source_100000.o\n[exit status 42]"), result[-200:])
        self.assertLess(len(result), 64 << 10)
        left = int(re.search(r"\n\[(\d+) bytes of output are left out here\]\n", result)[1])
        whole = sum(len(f"[{i}/100000] cc -O2 -Wall -c source_{i}.c -o build/source_{i}.o\n")
                    for i in range(1, 100001))
        whole += sum(len(f"source_{i}.c:7: warning: unused variable\n")
                     for i in range(5000, 100000, 10000))
        marks = len(f"[{left} bytes of output are left out here]\n[exit status 42]")
        self.assertEqual(len(result) - marks + left, whole)
        self.assertIn("[1/100000] cc", shown)
        self.assertGreater(last - first, 0.1)
        if "ASAN_OPTIONS" not in os.environ:
            self.assertTrue(0 < peak < 64 * MiB, peak)


class End(Case):
    def test_interrupt(self):
        """W12, FAULTS 133: Ctrl-C ends the run, and every process of it."""
        process, pids = self.begin(self.TREE)
        process.send_signal(signal.SIGINT)
        self.check(self.finish(process), 130)
        self.check_gone(pids)

    def terminal(self):
        """Of its own for a run: our end, theirs, and what start() needs."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)

        def begin():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        return master, slave, {"preexec_fn": begin, "pass_fds": [slave]}

    def test_ctrl_c(self):
        """W12: the same by the key, of a run that has a terminal."""
        master, slave, terminal = self.terminal()
        process, pids = self.begin(self.TREE, **terminal)
        os.close(slave)
        os.write(master, b"\x03")
        self.check(self.finish(process), 130)
        self.check_gone(pids)

    def test_killed_host(self):
        """Nothing outlives a host that could not say goodbye."""
        process, pids = self.begin(self.TREE)
        process.kill()
        process.wait()
        self.check_gone(pids)

    def test_time_limit_of_the_run(self):
        process, pids = self.begin(self.TREE, "--timeout", "3")
        self.finish(process)
        self.check_gone(pids)

    def test_terminal(self):
        """Its modes are as they were, and nothing of a command can reach it."""
        _, slave, terminal = self.terminal()
        before = termios.tcgetattr(slave)
        command = "stty raw -echo </dev/tty; stty raw -echo; read x; echo [$x]; echo $? >/dev/tty"
        done = self.mortise("--json", "-m", self.script(self.turn(command), {"text": "."}), "go",
                            **terminal)
        self.check(done, 0)
        self.assertEqual(termios.tcgetattr(slave), before)
        os.close(slave)
        result = done.of_type("tool_result")[0]["result"]
        self.assertIn("/dev/tty: No such device or address", result)
        self.assertIn("[]\n", result)


class Sandboxed(Case):
    """R15, R16: the same tool in a sandbox."""

    def setUp(self):
        super().setUp()
        self.allow()

    def allow(self, limits=None, **grants):
        self.config(plugin_config={"shell": {
            "allow": True, "sandboxed": True, "limits": limits or {"timeout_s": 60},
            "sandbox": {"writable": ["workspace"], **grants}}})

    def run_command(self, command, env=None, **more):
        done = self.mortise("--json", "-m", self.script(self.turn(command, **more), {"text": "."}),
                            "go", env={"TMPDIR": self.folder("tmp"), **(env or {})})
        self.check(done, 0)
        self.assertEqual(os.listdir(self.folder("tmp")), [])
        return done.of_type("tool_result")[0]

    def sleepers(self, seconds):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as line:
                    if line.read() == b"sleep\0" + seconds.encode() + b"\0" and is_there(pid):
                        found.append(pid)
            except OSError:
                continue
        return found

    def check_ended(self, seconds):
        until = time.monotonic() + 5
        while self.sleepers(seconds) and time.monotonic() < until:
            time.sleep(0.02)
        self.assertEqual(self.sleepers(seconds), [])

    def test_what_it_reaches(self):
        secret = self.file("home/secret", "canary-text")
        result = self.run_command(
            f"cat {secret} /etc/passwd; echo x >{self.home}/new; : >/dev/tcp/127.0.0.1/9; "
            "env; echo inside >file; cat file; pwd", env={"ANTHROPIC_API_KEY": "sk-canary-key"})
        text = result["result"]
        self.assertTrue(result["success"], result)
        self.assertEqual(text.count("Permission denied"), 3, text)
        self.assertIn("socket: Operation not permitted", text)
        self.assertNotIn("canary", text)
        self.assertIn(f"inside\n{self.work}\n[exit status 0]", text)
        self.assertFalse(os.path.exists(os.path.join(self.home, "new")))

    def test_a_build(self):
        """What the operator grants: to run what was built."""
        self.file("work/Makefile", "all:\n\tcp /bin/true built\n\t./built\n\tls -la >/dev/null\n")
        result = self.run_command("make")
        self.assertIn("[exit status 2]", result["result"])
        self.allow(executable=["workspace"])
        result = self.run_command("make")
        self.assertIn("[exit status 0]", result["result"], result)
        self.assertNotIn("not supported", result["result"])

    def test_what_is_left_is_ended(self):
        begun = time.monotonic()
        result = self.run_command("(sleep 311.5 &); sleep 311.5 >/dev/null & echo on")
        self.assertIn("on\n[some of its processes went on after its end and were ended]\n"
                      "[exit status 0]", result["result"])
        self.assertLess(time.monotonic() - begun, 10)
        self.check_ended("311.5")

    def test_time_limits(self):
        """The tool's own gives what was written so far; the sandbox's is an error."""
        for how in ({"timeout_s": 1}, {}):
            with self.subTest(how):
                self.allow({"timeout_s": 2.5})
                result = self.run_command("echo begun; trap '' TERM INT HUP; (sleep 312.5 &) ; "
                                          "while :; do sleep 312.5; done", **how)
                self.assertIn("begun\n[stopped after 1", result["result"])
                self.check_ended("312.5")

    def test_memory(self):
        self.allow({"timeout_s": 60, "memory_mb": 200})
        result = self.run_command("sleep 313.5 & x=$(head -c 400000000 /dev/zero | tr '\\0' x)")
        self.assertFalse(result["success"], result)
        self.assertIn("the memory limit of 200 MiB", result["result"])
        self.check_ended("313.5")

    def test_cancel(self):
        process = self.start("--json", "-m", self.script(
            self.turn("(sleep 314.5 &); touch ready; sleep 314.5"), {"text": "."}), "go")
        self.wait_for(os.path.join(self.work, "ready"), process)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.check_ended("314.5")

    def test_killed_host(self):
        process = self.start("--json", "-m", self.script(
            self.turn("(sleep 315.5 &); touch ready; sleep 315.5"), {"text": "."}), "go")
        self.wait_for(os.path.join(self.work, "ready"), process)
        process.kill()
        process.wait()
        if subprocess.run(["unshare", "-U", "true"], capture_output=True).returncode:
            self.skipTest("here is no namespace whose end ends all in it")
        self.check_ended("315.5")


if __name__ == "__main__":
    e2e.main()
