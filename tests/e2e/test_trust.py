"""Pinned plugins (--trust pinned), and the scopes that a plugin is granted."""
import json
import os
import shutil
import signal
import stat
import threading
import time

import e2e
from chats import Terminal

UNTRUSTED = "it is not trusted; if you know where it comes from, run mortise plugins trust '"
CHANGED = r"it changed since it was trusted on \d{4}-\d\d-\d\d; if you know why, run mortise plugins"


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.plugins = self.folder("plugins")
        self.path = os.path.join(self.plugins, "version.so")
        self.list = os.path.join(self.home, ".local/share/mortise/trusted.json")

    def built(self, version):
        return os.path.join(os.path.dirname(e2e.options.fixtures), "versions", str(version),
                            f"e2e_version_{version}.so")

    def put(self, version, path=None):
        """As an installation does it: complete before it has its name."""
        new = os.path.join(self.root, f"new{version}.so")
        shutil.copyfile(self.built(version), new)
        os.chmod(new, 0o644)
        os.rename(new, path or self.path)

    def change_a_byte(self, path):
        """The last one, which nobody reads when it is loaded."""
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last[0] ^ 1]))

    def run_pinned(self, *words, **how):
        return self.mortise("--no-plugins", "-P", self.plugins, "--trust", "pinned", *words, **how)

    def call(self, *options, **how):
        return self.run_pinned(*options, "tools", "call", "version", **how)

    def trust(self, *words):
        return self.check(self.mortise("--no-plugins", "-P", self.plugins, "plugins", "trust",
                                       *words), 0)

    def trusted(self):
        return self.check(self.mortise("--json", "plugins", "trusted"), 0).events


class Pinned(Case):
    def test_only_what_is_trusted_is_loaded(self):
        self.put(1)
        done = self.check(self.call(), 2)
        self.assertIn(f"{self.path}: {UNTRUSTED}{self.path}'", done.err)
        self.assertRegex(self.trust("version").out,
                         rf"^trusted: version \({self.path}\), SHA-256 [0-9a-f]{{64}}\n$")
        self.assertEqual(self.check(self.call(), 0).out, "version 1\n")
        self.assertEqual(stat.S_IMODE(os.stat(self.list).st_mode), 0o600)
        pin, = self.trusted()
        self.assertEqual((pin["name"], pin["path"], pin["state"]), ("version", self.path, "unchanged"))
        self.assertRegex(pin["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_one_byte(self):
        self.put(1)
        self.trust(self.path)
        self.change_a_byte(self.path)
        self.assertRegex(self.check(self.call(), 2).err, rf"{self.path}: {CHANGED}")
        required = self.mortise("--no-plugins", "--trust", "pinned", "-e", self.path, "tools")
        self.assertRegex(self.check(required, 5).err, rf"{self.path}: {CHANGED}")
        self.assertEqual([pin["state"] for pin in self.trusted()], ["changed"])
        self.trust(self.path)  # one that is put in the place of the other
        self.check(self.call(), 0)
        self.assertEqual(len(self.trusted()), 1)
        self.change_a_byte(self.path)  # back to what was trusted before
        self.assertRegex(self.check(self.call(), 2).err, CHANGED)

    def test_what_is_shown(self):
        self.put(1)
        self.put(2, os.path.join(self.plugins, "other.so"))
        listed = ("--no-plugins", "-P", self.plugins, "plugins")
        self.assertNotIn("trust", self.mortise(*listed).out)
        os.unlink(os.path.join(self.plugins, "other.so"))
        shown = self.check(self.mortise(*listed, "--json"), 0)
        self.assertNotIn("trust", shown.events[0])
        pin = json.loads(self.trust("--json", self.path).out)
        self.assertTrue(self.mortise(*listed).out.endswith(f"{self.path}  trusted\n"))
        shown, = self.check(self.mortise(*listed, "--json"), 0).events
        self.assertEqual((shown["trust"], shown["sha256"]), ("trusted", pin["sha256"]))
        self.change_a_byte(self.path)
        self.assertIn("  changed since it was trusted\n", self.mortise(*listed).out)
        self.check(self.mortise("plugins", "distrust", self.path), 0)
        self.assertNotIn("trust", self.mortise(*listed).out)
        refused, = self.check(self.run_pinned("plugins", "--json"), 0).events
        self.assertFalse(refused["loaded"])
        self.assertTrue(refused["reason"].startswith(UNTRUSTED))
        self.trust(self.path)
        shown = self.check(self.run_pinned("plugins", "show", "version"), 0).out
        self.assertIn("trust    trusted, SHA-256 ", shown)

    def test_distrust(self):
        self.put(1)
        for word in ("version", self.path, "../plugins/version.so", "SHA256", "SHORT"):
            self.trust(self.path)
            sha256 = self.trusted()[0]["sha256"]
            word = {"SHA256": sha256, "SHORT": sha256[:8]}.get(word, word)
            done = self.check(self.mortise("plugins", "distrust", word), 0)
            self.assertEqual(done.out, f"not trusted any more: version ({self.path})\n")
            self.check(self.call(), 2)
        self.check_error(self.mortise("plugins", "distrust", "version"), 2,
                         "nothing that is trusted is called 'version'")

    def test_what_cannot_be_trusted(self):
        broken = self.file("plugins/broken.so", "no plugin")
        self.check_error(self.mortise("plugins", "trust", broken), 5, f"{broken}: it is ")
        self.check_error(self.mortise("plugins", "trust", "./nowhere.so"), 5, "./nowhere.so: it ")
        self.check_error(self.mortise("plugins", "trust", "nothing"), 2,
                         "no file of a plugin is called 'nothing'")
        self.put(1)
        os.chmod(self.path, 0o666)
        self.check_error(self.mortise("plugins", "trust", self.path), 5, "everybody can write it")
        os.chmod(self.path, 0o644)
        other = os.path.join(self.folder("more"), "version.so")
        self.put(2, other)
        done = self.mortise("-P", self.plugins, "-P", os.path.dirname(other), "plugins", "trust",
                            "version")
        self.check_error(done, 2, "several plugins are called 'version'", self.path, other)
        self.assertFalse(os.path.exists(self.list))
        self.check_error(self.mortise("plugins", "trust"), 2, "usage: mortise plugins")

    def test_the_good_ones_of_several(self):
        broken = self.file("plugins/broken.so", "no plugin")
        self.put(1)
        done = self.mortise("plugins", "trust", broken, self.path)
        self.check_error(done, 5, broken)
        self.assertIn("trusted: version", done.out)
        self.assertEqual(len(self.trusted()), 1)

    def test_a_copy_under_another_name(self):
        """Which would escape what is configured for it by its name."""
        self.put(1)
        self.trust(self.path)
        shutil.copy(self.path, os.path.join(self.plugins, "a.so"))
        done = self.check(self.call(), 0)
        self.assertIn("a.so: it is trusted under the name 'version' only", done.err)
        self.assertEqual(done.out, "version 1\n")
        shutil.copy(self.path, os.path.join(self.folder("elsewhere"), "version.so"))
        self.check(self.mortise("--no-plugins", "--trust", "pinned", "-e", "../elsewhere/version.so",
                                "tools", "call", "version"), 0)

    def test_swapped_while_it_is_loaded(self):
        """Whatever a writer does and whenever: never a byte of what is not trusted."""
        self.put(1)
        self.trust(self.path)
        stop = threading.Event()
        bad = os.path.join(self.root, "bad.so")
        with open(self.built(1), "rb") as file:
            good_bytes = file.read()
        with open(self.built(2), "rb") as file:
            bad_bytes = file.read()

        def write(data):
            with open(self.path, "r+b") as file:
                file.write(data)
                file.truncate()

        def swap():
            while not stop.is_set():
                write(bad_bytes)
                write(good_bytes)
                shutil.copyfile(self.built(2), bad)
                os.rename(bad, self.path)
                self.put(1)

        thread = threading.Thread(target=swap)
        thread.start()
        try:
            came = [self.call() for _ in range(40)]
        finally:
            stop.set()
            thread.join()
        for done in came:
            if done.code == 0:
                self.assertEqual(done.out, "version 1\n", done)
            else:
                self.assertEqual(done.out, "", done)
                self.assertIn(f"{self.path}: it", done.err)
        self.put(1)
        self.assertEqual(self.check(self.call(), 0).out, "version 1\n")

    def test_written_into_while_it_is_hashed(self):
        """A file so large that this takes a while, which ends as another one."""
        with open(self.built(2), "rb") as file:
            bad_bytes = file.read()
        self.put(1)
        with open(self.path, "r+b") as file:
            file.truncate(48 << 20)
        self.trust(self.path)
        good = os.path.join(self.root, "good.so")
        shutil.copyfile(self.path, good)
        came = []
        for delay in (0.02, 0.05, 0.08, 0.11, 0.15, 0.2):
            process = self.start("--no-plugins", "-P", self.plugins, "--trust", "pinned", "tools",
                                 "call", "version")
            time.sleep(delay)
            with open(self.path, "r+b") as file:
                file.write(bad_bytes)
            done = self.finish(process)
            came.append(done.out)
            if done.code != 0:
                self.assertIn("changed", done.err, done)
            shutil.copyfile(good, good + ".new")
            os.rename(good + ".new", self.path)
        self.assertLessEqual(set(came), {"version 1\n", ""}, came)

    def test_a_list_that_is_no_list(self):
        self.put(1)
        self.trust(self.path)
        with open(self.list, encoding="utf-8") as file:
            good = file.read()
        for text, why in ((good[:-20], "invalid JSON"), ("{}", "must be an object"), ("", "invalid")):
            with open(self.list, "w", encoding="utf-8") as file:
                file.write(text)
            done = self.check(self.call(), 2)
            self.assertIn(f"{self.path}: the list of trusted plugins '{self.list}'", done.err)
            self.assertIn(why, done.err)
            self.check_error(self.mortise("plugins", "trust", self.path), 3, self.list)
            self.check_error(self.mortise("plugins", "trusted"), 3, self.list)
            with open(self.list, encoding="utf-8") as file:
                self.assertEqual(file.read(), text)  # nobody mends what may be a forgery
            self.check(self.mortise("--no-plugins", "-P", self.plugins, "tools"), 0)
        with open(self.list, "w", encoding="utf-8") as file:
            file.write(good)
        os.chmod(self.list, 0o622)
        self.assertIn("others can write it", self.check(self.call(), 2).err)
        os.chmod(self.list, 0o600)
        self.check(self.call(), 0)

    def test_doctor(self):
        self.put(1)

        def doctor(*options):
            done = self.mortise("--no-plugins", "-P", self.plugins, "--json", "doctor", *options)
            return next(event for event in done.events if event["check"] == "trust")

        self.assertIn("any plugin may be loaded", doctor()["message"])
        found = doctor("--trust", "pinned")
        self.assertEqual(found["status"], "warning")
        self.assertIn("none is pinned", found["message"])
        self.trust(self.path)
        found = doctor("--trust", "pinned")
        self.assertEqual((found["status"], found["message"]),
                         ("ok", "only pinned plugins may be loaded (option); 1 is"))
        self.file("home/.local/share/mortise/trusted.json", "x")
        self.assertEqual(doctor()["status"], "warning")
        self.assertEqual(doctor("--trust", "pinned")["status"], "problem")


class Setting(Case):
    """Who may say --trust, and who may say less."""

    def setUp(self):
        super().setUp()
        self.put(1)

    def load(self, *options, **how):
        return self.mortise("--no-plugins", "-P", self.plugins, *options, "tools", "call", "version",
                            **how)

    def project(self, value):
        self.file("work/.mortise/config.json", json.dumps({"trust": value}))

    def test_a_project_cannot_loosen(self):
        self.config(trust="pinned")
        self.check(self.load(), 2)
        self.project("any")
        self.check_error(self.load(), 3, "'trust' of a project can only be 'pinned'")
        self.check_error(self.load("--trust", "any"), 3, "can only be 'pinned'")
        self.project("pinned")
        self.assertIn(UNTRUSTED, self.check(self.load(), 2).err)

    def test_a_project_can_tighten(self):
        self.check(self.load(), 0)
        self.project("pinned")
        self.assertIn(UNTRUSTED, self.check(self.load(), 2).err)
        self.config(trust="any")
        self.assertIn(UNTRUSTED, self.check(self.load(), 2).err)

    def test_its_user_can_loosen(self):
        self.config(trust="pinned")
        self.check(self.load("--trust", "any"), 0)
        self.check(self.load(env={"MORTISE_TRUST": "any"}), 0)
        self.assertIn(UNTRUSTED, self.check(self.load("--trust=pinned",
                                                      env={"MORTISE_TRUST": "any"}), 2).err)
        self.check_error(self.load("--trust", "all"), 2, "'all' is not any or pinned")

    def test_a_project_has_no_list(self):
        """Only the user's counts, whatever lies in the folder."""
        self.trust(self.path)
        self.file("work/.mortise/trusted.json", "")
        os.rename(self.list, os.path.join(self.work, ".mortise", "trusted.json"))
        self.assertIn(UNTRUSTED, self.check(self.load("--trust", "pinned"), 2).err)


class Reload(Case):
    CALL = {"calls": [{"name": "version"}]}

    def asked(self, chat, answer):
        chat.say("go")
        chat.wait(answer)
        chat.wait("done")
        chat.prompt()

    def chat(self, *arguments):
        model = self.script(*[self.CALL, {"text": "done"}] * 6)
        chat = Terminal(self, "--no-plugins", "-P", self.plugins, "--trust", "pinned", "-m", model,
                        *arguments, columns=240)
        chat.prompt()
        return chat

    def test_a_changed_file_leaves_the_old_one(self):
        """R4: also when the pins change under a chat."""
        self.put(1)
        self.trust(self.path)
        chat = self.chat()
        self.asked(chat, "version 1")
        self.put(2)
        chat.say("/reload")
        chat.wait(f"{self.path}: it changed since it was trusted on ")
        chat.wait("; version 1 stays as it was")
        chat.prompt()
        self.asked(chat, "version 1")
        self.trust(self.path)
        chat.say("/reload")
        chat.wait("replaced version 1 by version 2")
        chat.prompt()
        self.asked(chat, "version 2")
        self.check(self.mortise("plugins", "distrust", "version"), 0)
        chat.process.send_signal(signal.SIGHUP)
        chat.wait(f"{self.path}: {UNTRUSTED}")
        chat.wait("; version 2 stays as it was")
        self.asked(chat, "version 2")
        chat.say("/quit")
        self.assertEqual(chat.end(), 0, chat.text)

    def test_watching(self):
        self.put(1)
        self.trust(self.path)
        chat = self.chat("--watch")
        self.put(2)
        chat.wait(f"{self.path}: it changed since it was trusted on ")
        self.asked(chat, "version 1")
        chat.say("/quit")
        self.assertEqual(chat.end(), 0, chat.text)


class Apart(Case):
    """In other processes, which map the same bytes or none."""

    def test_in_a_sandbox(self):
        """Where no file can be made in memory, and little be written."""
        self.config(plugin_config={"version": {"isolation": "sandbox", "sandbox": {"disk_mb": 1}}})
        self.put(1)
        self.trust(self.path)
        free = self.mortise("--no-plugins", "-P", self.plugins, "tools", "call", "version")
        if free.code != 0:
            self.skipTest(f"no sandbox here: {free.err}")
        self.assertEqual(self.check(self.call(), 0).out, "version 1\n")
        self.change_a_byte(self.path)
        self.assertRegex(self.check(self.call(), 2).err, CHANGED)

    def confined(self):
        built = os.path.join(os.path.dirname(e2e.options.fixtures), "confined", "confined.so")
        path = os.path.join(self.plugins, "confined.so")
        shutil.copyfile(built, path)
        os.chmod(path, 0o644)
        call = ("--no-plugins", "-P", self.plugins, "tools", "call", "report_progress")
        free = self.mortise(*call)
        if free.code != 0:
            self.skipTest(f"no sandbox here: {free.err}")
        self.trust(path)
        return path, free.out

    def test_calls_in_sandboxes_of_their_own(self):
        path, told = self.confined()
        done = self.check(self.run_pinned("tools", "call", "report_progress"), 0)
        self.assertEqual(done.out, told)
        self.change_a_byte(path)
        self.assertRegex(self.check(self.run_pinned("tools", "call", "report_progress"), 2).err,
                         CHANGED)

    def test_a_file_that_changes_before_its_process_starts(self):
        """Which is with the first call, long after the file was looked at."""
        path, _ = self.confined()
        model = self.script({"calls": [{"name": "report_progress"}]}, {"text": "done"})
        chat = Terminal(self, "--no-plugins", "-P", self.plugins, "--trust", "pinned", "-m", model,
                        columns=240)
        chat.prompt()
        self.change_a_byte(path)
        chat.say("go")
        chat.wait("its file changed after it was looked at")
        chat.wait("done")
        chat.prompt()
        chat.say("/quit")
        self.assertEqual(chat.end(), 0, chat.text)


class Scopes(e2e.Case):
    """F66: "scopes" in the section of a plugin."""

    def guarded(self, *scopes):
        options = ("--scopes", ",".join(scopes)) if scopes else ()
        return self.mortise(*options, "-P", e2e.options.fixtures, "tools", "call", "guarded")

    def check_denied(self, done, why):
        self.assertIn(f"mortise: Tool 'guarded' is not allowed here: {why}", self.check(done, 1).err)

    def grant(self, name, scopes):
        self.config(plugin_config={name: {"scopes": scopes}})

    def test_a_tool_that_requires_one(self):
        self.check(self.guarded("vault:read"), 0)
        self.grant("e2e_tools", ["mail"])
        self.check_denied(self.guarded("vault:read", "mail"),
                          "its plugin is not granted the scopes vault:read")
        self.grant("e2e_tools", [])
        self.check_denied(self.guarded("vault:read"), "its plugin is not granted")
        self.grant("e2e_tools", ["vault:read"])
        self.check(self.guarded("vault:read"), 0)
        self.check_denied(self.guarded("mail"), "the caller lacks the scopes vault:read")
        self.check_denied(self.guarded(), "the caller lacks the scopes vault:read")
        show = ("-P", e2e.options.fixtures, "plugins", "show", "e2e_tools")
        self.assertIn("\nscopes   vault:read\n", self.mortise(*show).out)
        self.grant("e2e_tools", [])
        self.assertIn("\nscopes   none\n", self.mortise(*show).out)
        self.grant("another", [])
        self.assertNotIn("scopes ", self.mortise(*show).out)
        self.check(self.guarded("vault:read"), 0)

    def test_what_tools_and_hooks_are_told(self):
        self.grant("e2e_watch", ["mail", "notes"])
        folder = os.path.join(os.path.dirname(e2e.options.fixtures), "watch")
        model = self.script({"calls": [{"name": "ask", "arguments": {"keys": ["scopes"]}},
                                       {"name": "ask_hook"}]}, {"text": "ok"})
        for held, told in (("vault,mail,x,notes", "mail notes"), ("vault", ""), (None, "none")):
            options = ("--scopes", held) if held else ()
            done = self.check(self.mortise("-P", folder, "--json", *options, "-m", model, "go"), 0)
            tool, hook = (result["result"] for result in done.of_type("tool_result"))
            self.assertEqual(tool.strip(), f"scopes={told}")
            self.assertIn(f"\nscopes={told}\n", hook)

    def test_what_is_no_list(self):
        for scopes in ("vault:read", [1], {}, None, ["a b"]):
            self.grant("e2e_tools", scopes)
            done = self.check(self.guarded("vault:read"), 2)
            self.assertIn("its \"scopes\" in the configuration must be a list of scopes", done.err)

    def test_a_project_grants_nothing(self):
        self.grant("e2e_tools", [])
        self.file("work/.mortise/config.json",
                  json.dumps({"plugin-config": {"e2e_tools": {"scopes": ["vault:read"]}}}))
        self.check_error(self.guarded("vault:read"), 3, "plugin-config")


if __name__ == "__main__":
    e2e.main()
