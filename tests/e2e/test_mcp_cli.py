"""`mortise mcp add`, remove, list and check: the user's list of MCP servers (C1)."""
import json
import os
import resource
import signal
import stat
import sys
import unittest

import e2e

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mcp_servers.py")
SECRET = "sekrit-51aa07"


class Case(e2e.Case):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.home, ".config", "mortise", "mcp.json")

    def mcp(self, *words, code=0, **how):
        return self.check(self.mortise("mcp", *words, **how), code)

    def refused(self, *words, code=2, told=(), **how):
        """With an error, and the file is as it was."""
        before = self.bytes()
        done = self.mortise("mcp", *words, **how)
        self.check_error(done, code, *told)
        self.assertEqual(self.bytes(), before)
        return done

    def bytes(self):
        if not os.path.exists(self.path):
            return None
        with open(self.path, "rb") as file:
            return file.read()

    def servers(self):
        return json.loads(self.bytes())["mcpServers"]

    def listed(self):
        return {server["name"]: server for server in self.mcp("list", "--json").events}


class Add(Case):
    def test_a_command(self):
        """# C1: what stands behind "--" is the command's, whatever it looks like."""
        done = self.mcp("add", "files", "--env", "A=1=2", "--env", "B=", "--cwd", "sub",
                        "--timeout", "2.5", "--", "npx", "-y", "--json", "ö", "")
        self.assertEqual(done.out, "added: files (npx -y --json ö )\n")
        self.assertEqual(self.servers(), {"files": {
            "command": "npx", "args": ["-y", "--json", "ö", ""], "env": {"A": "1=2", "B": ""},
            "cwd": os.path.join(self.work, "sub"), "timeout": 2500}})
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(self.path)).st_mode), 0o700)

    def test_a_path_is_meant_from_here(self):
        self.mcp("add", "own", "--", "./server", "./words")
        self.mcp("add", "other", "--", "bin/server")
        self.assertEqual(self.servers()["own"],
                         {"command": os.path.join(self.work, "server"), "args": ["./words"]})
        self.assertEqual(self.servers()["other"],
                         {"command": os.path.join(self.work, "bin/server")})

    def test_an_address(self):
        self.mcp("add", "far", "https://mcp.example/x", "--header", "Authorization:  Bearer ${T}")
        self.assertEqual(self.servers()["far"], {"type": "http", "url": "https://mcp.example/x",
                                                 "headers": {"Authorization": "Bearer ${T}"}})

    def test_what_is_there_stays(self):
        """Other entries, members that mean nothing here, their order, and where a link leads."""
        real = self.file("dotfiles/mcp.json", json.dumps(
            {"note": [1, 2.5, None], "mcpServers": {"z": {"command": "z", "x": {"y": 1}},
                                                    "a": {"url": "http://a.example"}}}))
        os.chmod(real, 0o644)
        self.folder("home/.config/mortise")
        os.symlink(real, self.path)
        self.mcp("add", "m", "--", "m")
        self.assertTrue(os.path.islink(self.path))
        document = json.loads(self.bytes())
        self.assertEqual(document["note"], [1, 2.5, None])
        self.assertEqual(list(document["mcpServers"].items()), [
            ("z", {"command": "z", "x": {"y": 1}}), ("a", {"url": "http://a.example"}),
            ("m", {"command": "m"})])
        self.assertEqual(stat.S_IMODE(os.stat(real).st_mode), 0o600)

    def test_twice(self):
        self.mcp("add", "one", "--", "first")
        self.refused("add", "one", "--", "second", told=["'one' already", "mcp remove one"])
        self.assertEqual(self.servers()["one"], {"command": "first"})

    def test_at_the_same_time(self):
        names = [f"s{number}" for number in range(12)]
        processes = [self.start("mcp", "add", name, "--", "x") for name in names]
        for process in processes:
            self.check(self.finish(process), 0)
        self.assertEqual(sorted(self.servers()), sorted(names))

    def test_mistakes(self):
        self.mcp("add", "one", "--", "first")
        for words, told in (
                (("add",), "needs a name"), (("add", "x"), "needs a name"),
                (("add", "x", "npx", "-y", "y"), "behind `--`"),
                (("add", "", "--", "y"), "cannot be the name"),
                (("add", "a\nb", "--", "y"), "cannot be the name"),
                (("add", "n" * 101, "--", "y"), "cannot be the name"),
                (("add", "x", "http://x.example", "more"), "behind the URL"),
                (("add", "x", "http://x.example", "--env", "A=b"), "'--env' is for"),
                (("add", "x", "--header", "A: b", "--", "y"), "'--header' is for"),
                (("add", "x", "--timeout", "0", "--", "y"), "--timeout"),
                (("add", "x", "--", "y", b"\xff"), "no UTF-8"),
                (("remove",), "needs the name"), (("remove", "two", "one"), "no server 'two'"),
                (("remove", "ones"), "did you mean 'one'"), (("list", "x"), "takes no words"),
                (("frobnicate",), "mortise mcp serve"), ((), "mortise mcp serve")):
            with self.subTest(words):
                self.refused(*words, told=[told])

    def test_a_mistake_does_not_show_the_secret(self):
        """# D24"""
        for words in (("--env", SECRET), ("--env", "=" + SECRET)):
            self.assertNotIn(SECRET, self.refused("add", "x", *words, "--", "y").err)
        done = self.refused("add", "x", "http://x.example", "--header", SECRET)
        self.assertNotIn(SECRET, done.err)

    def test_these_are_options_alone(self):
        """A variable that is called so is somebody else's."""
        self.mcp("add", "x", "--", "y", env={"MORTISE_ENV": "A=b", "MORTISE_FROM": "nowhere",
                                             "MORTISE_CWD": "z", "MORTISE_TIMEOUT": "7"})
        self.assertEqual(self.servers(), {"x": {"command": "y"}})
        self.config(env=["A=b"])
        self.check_error(self.mortise("config"), 3, "'env' is an option of the command line alone")

    def test_where_it_is_not_read(self):
        done = self.mcp("add", "x", "--", "y", env={"MORTISE_MCP_CONFIG": "/other.json"})
        self.assertIn("MORTISE_MCP_CONFIG names '/other.json'", done.err)


class Broken(Case):
    """A file that cannot be read is never written, and neither is half of one."""

    def test_files(self):
        for text, told in (("{broken", "it is no JSON"), ("[]", '"mcpServers"'),
                           ("{}", '"mcpServers"'), ('{"mcpServers": []}', '"mcpServers"'), ("", "it is no JSON"),
                           ('{"mcpServers": {"a": 1, "a": 2}}', "duplicate")):
            self.file("home/.config/mortise/mcp.json", text)
            for words in (("add", "x", "--", "y"), ("remove", "a"), ("list",)):
                with self.subTest(text=text, words=words):
                    self.refused(*words, code=3, told=["mcp.json' cannot be used", told])

    def test_everybody_may_write_it(self):
        self.mcp("add", "x", "--", "y")
        os.chmod(self.path, 0o666)
        self.refused("add", "z", "--", "y", code=3, told=["chmod o-w"])
        self.refused("list", code=3, told=["chmod o-w"])

    def test_no_room(self):
        """The disk is full in the middle of writing."""
        self.mcp("add", "x", "--", "y")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))

        self.refused("add", "z", "--", "y", code=3, told=["mcp.json': it cannot be written"],
                     preexec_fn=limit)
        self.assertEqual(sorted(os.listdir(os.path.dirname(self.path))),
                         ["mcp.json", "mcp.json.lock"])

    def test_no_folder(self):
        self.file("home/.config", "a file")
        self.refused("add", "x", "--", "y", code=3, told=[".config"])
        done = self.mortise("mcp", "add", "x", "--", "y", env={"HOME": None})
        self.check_error(done, 3, "set HOME")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_that_cannot_be_written(self):
        self.mcp("add", "x", "--", "y")
        os.chmod(os.path.dirname(self.path), 0o500)
        self.addCleanup(os.chmod, os.path.dirname(self.path), 0o700)
        self.refused("add", "z", "--", "y", code=3, told=["Permission denied"])


class Shown(Case):
    def fill(self):
        self.mcp("add", "near", "--env", "TOKEN=" + SECRET, "--", "server", "word")
        self.mcp("add", "far", f"https://u:{SECRET}@x.example/mcp?key={SECRET}", "--header",
                 f"Authorization: Bearer {SECRET}")
        document = json.loads(self.bytes())
        document["mcpServers"]["off"] = {"command": ["a", "b"], "disabled": True,
                                         "environment": {"V": SECRET}}
        document["mcpServers"]["lines"] = {"url": "http://l.example",
                                           "headers": ["X-Key: " + SECRET]}
        self.file("home/.config/mortise/mcp.json", json.dumps(document))

    def test_list(self):
        """# D24: what is secret of a server is not shown."""
        self.fill()
        done = self.mcp("list")
        self.assertEqual(done.out.splitlines(), [
            "near   stdio  server word  (env TOKEN)",
            "far    http   https://x.example/mcp?...  (headers Authorization)",
            "off    stdio  a b  (env V)  disabled",
            "lines  http   http://l.example  (headers X-Key)"])
        self.assertEqual(self.listed()["far"], {
            "name": "far", "transport": "http", "url": "https://x.example/mcp?...",
            "headers": ["Authorization"], "disabled": False})
        self.assertEqual(self.listed()["off"]["disabled"], True)
        for words in (("list",), ("list", "--json"), ("list", "-v", "-v")):
            done = self.mcp(*words)
            self.assertNotIn(SECRET, done.out + done.err)

    def test_added_and_removed(self):
        added = self.mcp("add", "x", f"http://u:{SECRET}@x.example?{SECRET}", "--header",
                         f"A: {SECRET}", "-v", "-v")
        self.assertEqual(added.out, "added: x (http://x.example?...)\n")
        self.assertNotIn(SECRET, added.err)
        self.mcp("add", "y", "--", "y")
        self.assertEqual(self.mcp("remove", "x", "y").out, "removed: x\nremoved: y\n")
        self.assertEqual(self.servers(), {})

    def test_none(self):
        self.assertIn("mortise mcp add", self.mcp("list").err)
        self.assertEqual(self.mcp("list", "--json").out, "")
        self.assertIsNone(self.bytes())

    def test_completion(self):
        self.mcp("add", "garden", "--", "x")
        for words, offered in ((("mcp", ""), ["serve", "add", "remove", "list", "check"]),
                               (("mcp", "remove", "g"), ["garden"]),
                               (("mcp", "check", ""), ["garden"]), (("mcp", "add", ""), []),
                               (("mcp", "add", "--from", ""), [":files"]),
                               (("mcp", "add", "--cwd", ""), [":folders"])):
            done = self.check(self.mortise("completion", "words", "--", *words), 0)
            self.assertEqual([line.split("\t")[0] for line in done.out.splitlines()], offered)


class Import(Case):
    def test_of_another_client(self):
        """What was taken, as it is, and what was not."""
        given = {"one": {"command": "x", "env": {"K": "${HOME}", "L": "${env:A}", "M": "${B:-c}"},
                         "alwaysAllow": []},
                 "two words": {"type": "http", "url": "https://x.example"}}
        left = {"mine": {"command": "x"}, "old": {"type": "sse", "url": "https://x.example"},
                "asks": {"command": "x", "env": {"K": "${input:key}"}},
                "placed": {"command": "${workspaceFolder}/x"}, "odd": 7, "empty": {}}
        self.mcp("add", "mine", "--", "own")
        theirs = {"inputs": [], "servers": {**given, **left}}
        path = self.file("work/their.json", json.dumps(theirs))
        done = self.mcp("add", "--from", "their.json")
        lines = done.out.splitlines()
        self.assertEqual(lines[:2], ["added: one", "added: two words"])
        for line, name in zip(lines[2:], left):
            self.assertTrue(line.startswith(f"left out: {name}: "), done)
        self.assertIn("'${input:key}'", done.out)
        self.assertEqual(len(lines), len(given) + len(left))
        self.assertEqual(self.servers(), {"mine": {"command": "own"}, **given})
        self.assertEqual(self.mcp("add", "--from", path, code=1).out.count("left out: "), 8)

    def test_by_name(self):
        theirs = {"alpha": {"command": "a"}, "b": {"command": "b"},
                  "c": {"command": "c", "type": "ws"}}
        self.file("work/f", json.dumps({"mcpServers": theirs}))
        self.mcp("add", "--from", "f", "b")
        self.assertEqual(list(self.servers()), ["b"])
        self.refused("add", "--from", "f", "alpha", "alpa",
                     told=["no server 'alpa'; did you mean 'alpha'"])
        self.refused("add", "--from", "f", "zzzzzz", told=["no server 'zzzzzz'; without names"])
        done = self.mcp("add", "--from", "f", "alpha", "c", "--json", code=1)
        self.assertEqual([event.get("added") for event in done.events], [True, False])
        self.assertEqual(list(self.servers()), ["b", "alpha"])

    def test_no_file_of_that_kind(self):
        self.refused("add", "--from", "nowhere", code=3, told=["cannot read 'nowhere'"])
        self.file("work/f", '// a comment\n{"servers": {}}')
        self.refused("add", "--from", "f", code=3, told=["'f' cannot be used: it is no JSON"])
        self.file("work/f", '{"other": {}}')
        self.refused("add", "--from", "f", code=3, told=["'f' cannot be used", '"mcpServers"'])


class Check(Case):
    def setUp(self):
        super().setUp()
        top = os.path.dirname(os.path.dirname(e2e.options.mortise))
        bridge = os.path.join(top, "lib", "mortise", "plugins", "mcp_bridge.so")
        self.bridge = ("--no-plugins", "--plugin", bridge)
        self.config(plugin_config={"mcp_bridge": {"backoff_ms": 20, "close_ms": 300}})

    def test_each_is_told(self):
        """# C1, C3: those that are well, those that are not, and those that mean nothing."""
        self.mcp("add", "good", "--", sys.executable, "-BES", SERVER)
        self.check(self.mortise(*self.bridge, "mcp", "check"), 0)
        self.mcp("add", "gone", "--", "/nowhere/x")
        document = json.loads(self.bytes())
        document["mcpServers"]["odd"] = {"command": "x", "url": "http://x.example"}
        document["mcpServers"]["off"] = {"command": "x", "disabled": True}
        self.file("home/.config/mortise/mcp.json", json.dumps(document))
        done = self.check(self.mortise(*self.bridge, "mcp", "check"), 1)
        good, gone, odd = done.out.splitlines()
        self.assertRegex(good, r"\Agood +ready  (legacy|modern) \d{4}-\d\d-\d\d  "
                               r"\d+ tools?  \d+ ms\Z")
        self.assertRegex(gone, r"\Agone +\S.*'/nowhere/x' cannot be started: No such file")
        self.assertRegex(odd, r"\Aodd +left out: ")
        self.assertIn("'odd' is left out", done.err)
        done = self.check(self.mortise(*self.bridge, "--json", "mcp", "check", "good"), 0)
        self.assertEqual([(server["name"], server["state"]) for server in done.events],
                         [("good", "ready")])
        self.assertTrue(all(tool.startswith("good__") for tool in done.events[0]["tools"]))
        self.check_error(self.mortise(*self.bridge, "-q", "mcp", "check", "goo"), 2,
                         "did you mean 'good'")

    def test_those_that_are_named(self):
        """# C1, C27: no other is started, whatever the bridge's section says."""
        log = os.path.join(self.root, "log")
        server = (sys.executable, "-BES", SERVER)
        for name in ("one", "two", "three"):
            self.mcp("add", name, "--", *server, f"log={log}.{name}")
        document = json.loads(self.bytes())
        document["mcpServers"]["off"] = {"command": "x", "disabled": True}
        self.file("home/.config/mortise/mcp.json", json.dumps(document))
        self.config(plugin_config={"mcp_bridge": {"close_ms": 300, "lazy": False,
                                                  "servers": ["three"]}})
        done = self.check(self.mortise(*self.bridge, "mcp", "check", "two", "one"), 0)
        self.assertEqual([line.split()[0] for line in done.out.splitlines()], ["one", "two"])
        self.assertEqual([os.path.exists(f"{log}.{name}") for name in ("one", "two", "three")],
                         [True, True, False])
        done = self.check(self.mortise(*self.bridge, "mcp", "check", "off"), 1)
        self.assertRegex(done.out, r"\Aoff +disabled: ")
        done = self.check(self.mortise(*self.bridge, "mcp", "check"), 0)
        self.assertEqual(len(done.out.splitlines()), 3)

    def test_without_the_bridge(self):
        self.check_error(self.mortise("--no-plugins", "mcp", "check"), 5, "mcp_bridge")

    def test_none(self):
        done = self.check(self.mortise(*self.bridge, "mcp", "check"), 0)
        self.assertEqual(done.out, "")
        self.assertIn("mortise mcp add", done.err)


if __name__ == "__main__":
    e2e.main()
