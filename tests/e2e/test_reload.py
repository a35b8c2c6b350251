"""Plugins that change under a chat or a run: R4, SIGHUP, /reload and --watch."""
import json
import os
import shutil
import signal
import subprocess
import time

import e2e
from chats import Terminal

CALL = {"calls": [{"name": "version"}]}


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.plugins = self.folder("plugins")
        self.path = os.path.join(self.plugins, "version.so")

    def put(self, version):
        """As an installation does it: complete before it has its name."""
        built = os.path.join(os.path.dirname(e2e.options.fixtures), "versions", str(version),
                             f"e2e_version_{version}.so")
        new = os.path.join(self.root, "new.so")
        shutil.copyfile(built, new)
        os.rename(new, self.path)

    def put_broken(self):
        new = os.path.join(self.root, "new.so")
        with open(new, "wb") as out:
            out.write(b"\x7fELF")
        os.rename(new, self.path)

    def chat(self, model, *arguments):
        chat = Terminal(self, "-m", model, "-P", self.plugins, *arguments, columns=200)
        chat.prompt()
        return chat

    def quit(self, chat):
        chat.say("/quit")
        self.assertEqual(chat.end(), 0, chat.text)
        self.assertNotIn("Sanitizer", chat.text)

    def asked(self, chat, answer):
        """The model calls the tool; what it answers."""
        chat.say("go")
        chat.wait(answer)
        chat.wait("done")
        chat.prompt()


class Chat(Case):
    def test_reload_tells_what_changed(self):  # R4
        self.put(1)
        chat = self.chat(self.script(*[CALL, {"text": "done"}] * 5))
        self.asked(chat, "version 1")
        chat.say("/reload")
        chat.wait("nothing changed")
        chat.prompt()
        self.put(2)
        chat.say("/reload")
        chat.wait(f"replaced version 1 by version 2 ({self.path})")
        chat.prompt()
        self.asked(chat, "version 2")
        self.put_broken()
        chat.say("/reload")
        chat.wait(f"{self.path}: it is ")
        chat.wait("; version 2 stays as it was")
        chat.prompt()
        self.asked(chat, "version 2")
        os.unlink(self.path)
        chat.say("/reload")
        chat.wait(f"removed version 2 ({self.path})")
        chat.prompt()
        chat.say("go")
        chat.wait("Tool 'version' not found")
        chat.prompt()
        self.put(1)
        chat.say("/reload")
        chat.wait(f"added version 1 ({self.path})")
        chat.prompt()
        self.asked(chat, "version 1")
        self.quit(chat)

    def test_configuration_is_read_again(self):
        self.put(1)
        chat = self.chat("offline")
        self.config(plugin_config={"version": {"prefix": "my_"}})
        chat.say("/reload")
        chat.wait("replaced version 1 by version 1")
        chat.prompt()
        chat.say("/tools my_version")
        chat.wait("Tell the version.")
        chat.prompt()
        self.file("home/.config/mortise/config.json", "{")
        chat.say("/reload")
        chat.wait("what was configured before holds: configuration '")
        chat.prompt()
        chat.say("/tools my_version")
        chat.wait("Tell the version.")
        chat.prompt()
        self.quit(chat)

    def test_sighup_leaves_the_line_that_is_typed(self):
        self.put(1)
        model = self.script({**CALL, "expect": ["half a line"]}, {"text": "done"})
        chat = self.chat(model)
        chat.type("half a li")
        chat.wait("half a li")
        self.put(2)
        chat.process.send_signal(signal.SIGHUP)
        chat.wait(f"reload: replaced version 1 by version 2 ({self.path})\n")
        chat.wait("> half a li")
        chat.process.send_signal(signal.SIGHUP)
        chat.wait("reload: nothing changed\n")
        chat.wait("> half a li")
        chat.say("ne")
        chat.wait("version 2")
        chat.wait("done")
        chat.prompt()
        self.quit(chat)

    def test_watching(self):
        self.put(1)
        model = self.script(CALL, {"text": "done"})
        chat = self.chat(model, "--watch")
        chat.type("g")
        self.put(2)
        chat.wait(f"reload: replaced version 1 by version 2 ({self.path})\n")
        self.put_broken()
        chat.wait("version 2 stays as it was\n")
        chat.wait("> g")
        chat.say("o")
        chat.wait("version 2")
        chat.wait("done")
        chat.prompt()
        self.quit(chat)

    def test_a_locked_session_keeps_its_tools(self):  # R4
        self.put(1)
        chat = self.chat(self.script(*[CALL, {"text": "done"}] * 3), "--lock")
        self.asked(chat, "version 1")
        os.unlink(self.path)
        chat.say("/reload")
        chat.wait("removed version 1")
        chat.wait("the session is locked: it keeps its tools until it is unlocked")
        chat.prompt()
        self.asked(chat, "version 1")
        chat.say("/unlock")
        chat.wait("unlocked; what was reloaded meanwhile is used from now on")
        chat.prompt()
        chat.say("go")
        chat.wait("Tool 'version' not found")
        chat.prompt()
        self.quit(chat)

    def test_lines_that_are_piped(self):
        self.put(1)
        chat = self.start("-m", self.script(*[CALL, {"text": "done"}] * 2), "-P", self.plugins,
                          "--json", "chat", stdin=subprocess.PIPE)
        chat.stdin.write(b"go\n")
        chat.stdin.flush()
        seen = b""
        while b'"result","status"' not in seen:
            seen += chat.stdout.readline()
        self.assertIn(b"version 1", seen)
        self.put(2)
        chat.send_signal(signal.SIGHUP)
        time.sleep(0.1)
        done = self.check(self.finish(chat, b"go\n"), 0)
        self.assertIn("version 2", done.out)
        self.assertEqual([event["text"] for event in done.of_type("status")],
                         [f"reload: replaced version 1 by version 2 ({self.path})"])


class Run(Case):
    def start_waiting(self, *arguments, **how):
        """A run that waits in a tool; what to make so that it goes on."""
        mark = os.path.join(self.root, "mark")
        model = self.script({"calls": [{"name": "wait_for", "arguments": {"mark": mark}}]}, CALL,
                            {"text": "done"})
        run = self.start("-m", model, "-P", self.plugins, *arguments, "run", "go", **how)
        self.wait_for(mark + ".started", run)
        return run, mark + ".go"

    def test_between_two_requests(self):  # R4
        self.put(1)
        run, mark = self.start_waiting("--json")
        self.put(2)
        run.send_signal(signal.SIGHUP)
        time.sleep(0.05)
        self.file(mark, "")
        done = self.check(self.finish(run), 0)
        results = [event["result"] for event in done.of_type("tool_result")]
        self.assertEqual(results, ["waited as version 1", "version 2"], done)
        self.assertEqual([event["text"] for event in done.of_type("status")],
                         [f"reload: replaced version 1 by version 2 ({self.path})"])

    def counted(self):
        """How many calls of each tool are on the plugin's account, over all runs."""
        done = self.check(self.mortise("-P", self.plugins, "--json", "plugins", "show", "version"), 0)
        return {tool["tool"]: tool["calls"] for tool in json.loads(done.out)["account"]}

    def test_no_call_is_lost_to_a_reload(self):
        """Those of the version before count for this run, and for the plugin."""
        self.put(1)
        run, mark = self.start_waiting("--json")
        self.put(2)
        run.send_signal(signal.SIGHUP)
        time.sleep(0.05)
        self.file(mark, "")
        done = self.check(self.finish(run), 0)
        self.assertIn("version 2", done.out)
        self.assertEqual({tool["name"]: tool["calls"] for tool in done.events[-1]["tools"]},
                         {"version": 1, "wait_for": 1})
        self.assertEqual(self.counted(), {"version": 1, "wait_for": 1})

    def test_a_call_of_a_plugin_that_is_gone_counts(self):
        self.put(1)
        run, mark = self.start_waiting("--json")
        os.unlink(self.path)
        run.send_signal(signal.SIGHUP)
        time.sleep(0.05)
        self.file(mark, "")
        done = self.check(self.finish(run), 0)
        self.assertIn("Tool 'version' not found", done.out)
        self.assertEqual([tool["name"] for tool in done.events[-1]["tools"]], ["wait_for"])
        self.put(2)
        self.assertEqual(self.counted(), {"wait_for": 1})

    def test_watching(self):
        self.put(1)
        run, mark = self.start_waiting("--watch")
        self.put(2)
        self.file(mark, "")
        done = self.check(self.finish(run), 0)
        self.assertIn("← version", done.err)
        self.assertIn("version 2", done.err)

    def test_a_broken_file(self):
        self.put(1)
        run, mark = self.start_waiting("-q")
        self.put_broken()
        run.send_signal(signal.SIGHUP)
        time.sleep(0.05)
        self.file(mark, "")
        done = self.check(self.finish(run), 0)
        self.assertIn("mortise: warning: reload: ", done.err)
        self.assertIn("; version 1 stays as it was\n", done.err)
        self.assertEqual(done.out, "done\n")

    def test_a_file_of_its_own(self):
        self.put(1)
        mark = os.path.join(self.root, "mark")
        model = self.script({"calls": [{"name": "wait_for", "arguments": {"mark": mark}}]}, CALL,
                            {"text": "done"})
        run = self.start("-m", model, "--no-plugins", "-e", self.path, "run", "go")
        self.wait_for(mark + ".started", run)
        os.unlink(self.path)
        run.send_signal(signal.SIGHUP)
        time.sleep(0.05)
        self.file(mark + ".go", "")
        done = self.check(self.finish(run), 0)
        self.assertIn("No such file or directory; version 1 stays as it was", done.err)
        self.assertIn("version 1", done.err)


class Hangup(Case):
    """SIGHUP also says that the terminal is gone: then nothing lives on."""

    def test_the_terminal_of_a_chat(self):
        self.put(1)
        chat = self.chat("offline")
        os.dup2(os.open(os.devnull, os.O_RDWR), chat.slave)
        os.dup2(chat.slave, chat.master)
        self.assertEqual(chat.process.wait(e2e.SECONDS), 129)

    def under_a_shell(self, command):
        """A shell with a terminal, and what it runs in it, which tells its number first."""
        import fcntl
        import pty
        import termios
        master, slave = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        own = f"sh -c 'echo $$; exec {command}'"
        shell = subprocess.Popen(["/bin/sh", "-c", f"trap : HUP; {own} & wait; wait"],
                                 env=self.environment(None), cwd=self.work, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, pass_fds=[slave],
                                 preexec_fn=take_terminal)
        self.processes.append(shell)
        os.close(slave)
        return shell, int(shell.stdout.readline()), master

    def test_while_the_prompt_is_read(self):
        """The run that was not begun yet is over before it asks anybody."""
        import fcntl
        import pty
        import termios
        master, slave = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        run = self.start("--json", "-m", self.script({"text": "an answer"}), stdin=subprocess.PIPE,
                         pass_fds=[slave], preexec_fn=take_terminal)
        os.close(slave)
        time.sleep(0.5)  # it waits for the rest of the prompt
        os.close(master)
        time.sleep(0.2)
        done = self.check(self.finish(run, b"go"), 129)
        self.assertNotIn("an answer", done.out)

    def test_a_shell_that_passes_it_on(self):
        self.put(1)
        mark = os.path.join(self.root, "mark")
        model = self.script({"calls": [{"name": "wait_for", "arguments": {"mark": mark}}]})
        shell, run, master = self.under_a_shell(
            f"{e2e.options.mortise} --json -m {model} -P {self.plugins} run go")
        self.wait_for(mark + ".started")
        os.kill(run, signal.SIGHUP)  # the terminal is there: a reload
        time.sleep(0.2)
        os.kill(run, 0)
        os.close(master)
        time.sleep(0.2)
        os.kill(run, signal.SIGHUP)  # it is not
        out, _ = shell.communicate(timeout=e2e.SECONDS)
        self.assertIn('"exit_code":129', out)


if __name__ == "__main__":
    e2e.main()
