"""`mortise new`: what it makes, what it refuses, and that it leaves nothing half made.  (F51)

That the result builds and works with an installed mortise is in tests/abi/test_package.py.
"""
import itertools
import os
import subprocess

import e2e

# What it is called, and what that is in C.
NAMES = {
    "greet": "greet", "word_count": "word_count", "git-log": "git_log", "a": "a", "x" * 60: "x" * 60,
    "Big": "Big", "2fa": "do_2fa", "read": "do_read", "int": "do_int", "while": "do_while",
    "bool": "do_bool", "nullptr": "do_nullptr", "main": "do_main", "printf": "do_printf",
    "sin": "do_sin", "environ": "do_environ", "errno": "do_errno", "EOF": "do_EOF",
    "size_t": "do_size_t", "linux": "do_linux", "call": "do_call", "args": "do_args",
    "self": "do_self", "mortise": "do_mortise", "mortise_reply": "do_mortise_reply",
    "mortise-json": "do_mortise_json", "signbit": "do_signbit", "va_list": "do_va_list",
    "tool_definition": "do_tool_definition", "test": None, "all": None, "install": None,
}
BAD = ["", " ", "a b", "a/b", "..", ".", ".a", "../up", "/nowhere/up", "-x", "_x", "é", "a.c", "x" * 61,
       "x" * 5000, "a\nb", "a\x1b[2Jb", "$(x)", "a;b"]


class New(e2e.Case):
    def tree(self, folder=""):
        """Files and their text; links are left out."""
        found = {}
        for path, _, files in os.walk(os.path.join(self.work, folder)):
            for name in (name for name in files if not os.path.islink(os.path.join(path, name))):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    found[os.path.relpath(os.path.join(path, name), self.work)] = file.read()
        return found

    def make(self, kind, name):
        return self.check(self.mortise("new", kind, "--", name), 0)

    def test_is_the_example_under_another_name(self):
        """The templates are files of the source tree: with their own names they come out as they
        are."""
        for kind in ("tool", "hook"):
            name = f"your-{kind}"
            self.make(kind, name)
            example = os.path.join(e2e.options.source, "plugin-sdk/example", kind)
            self.assertEqual(sorted(os.listdir(os.path.join(self.work, name))),
                             sorted(os.listdir(example)))
            for file, text in self.tree(name).items():
                with open(os.path.join(example, os.path.basename(file)), encoding="utf-8") as is_file:
                    self.assertEqual(text, is_file.read(), file)

    def test_nothing_is_left_of_the_example(self):
        for kind in ("tool", "hook"):
            self.make(kind, f"my_{kind}")
        files = self.tree()
        self.assertIn("my_tool/my_tool.c", files)
        self.assertIn("my_hook/test_my_hook.c", files)
        for file, text in files.items():
            self.assertNotIn("your", file + text, file)
            self.assertNotIn("example", text, file)
        self.assertIn("MORTISE_TOOL(my_tool, ", files["my_tool/my_tool.c"])

    def test_tells_what_to_do(self):
        done = self.make("tool", "git-log")
        self.assertEqual(done.err, "")
        for part in ("git-log/", "in C it is called git_log", "cmake -B build",
                     "ctest --test-dir build", "mortise -P build tools call git-log "):
            self.assertIn(part, done.out)
        self.assertNotIn("in C", self.make("hook", "guard").out)
        done = self.check(self.mortise("--json", "new", "tool", "read"), 0)
        self.assertEqual(done.events, [{"kind": "tool", "name": "read", "identifier": "do_read"}])

    def test_names(self):
        """What is a name for a tool is one here, also where C has it taken; the result
        compiles without a warning."""
        include = os.path.join(e2e.options.source, "plugin-sdk/include")
        checked = 0
        for (name, identifier), kind in itertools.product(NAMES.items(), ("tool", "hook")):
            with self.subTest(name=name, kind=kind):
                if not identifier:
                    self.check_error(self.mortise("new", kind, name), 2, f"'{name}'", "CMake",
                                     f"'{name}-{kind}'")
                    self.assertFalse(os.path.exists(os.path.join(self.work, name)))
                    continue
                self.make(kind, name)
                folder = os.path.join(self.work, name)
                with open(os.path.join(folder, f"{name}.c"), encoding="utf-8") as file:
                    text = file.read()
                self.assertIn(f" {identifier}_args " if kind == "tool" else f"HOOK({identifier},", text)
                self.assertIn(f'.name = "{name}"', text)
                self.assertEqual(f'(name("{name}"))' in text, kind == "tool" and name != identifier)
                done = subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                                       "-fsyntax-only", f"-I{include}", f"test_{name}.c"], cwd=folder,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                os.rename(folder, os.path.join(self.root, f"{kind}-{checked}"))
                checked += 1
        self.assertGreater(checked, 50)

    def test_no_names(self):
        for name in BAD:
            done = self.mortise("new", "tool", "--", name)
            self.check_error(done, 2, "letters, digits, '_' and '-'")
            self.assertNotIn("\x1b", done.err)
        self.assertEqual(os.listdir(self.work), [])
        self.assertEqual(sorted(os.listdir(self.root)), ["home", "work"])

    def test_usage(self):
        for words in ([], ["tool"], ["plugin", "x"], ["tool", "x", "y"], ["x"]):
            self.check_error(self.mortise("new", *words), 2, "usage: mortise new tool|hook NAME")
        self.assertEqual(os.listdir(self.work), [])

    def test_what_is_there_stays(self):
        self.file("work/folder/notes.txt", "mine")
        os.mkdir(os.path.join(self.work, "empty"))
        self.file("work/file", "mine")
        os.symlink("nowhere", os.path.join(self.work, "link"))
        before = self.tree(), sorted(os.listdir(self.work))
        for name in ("folder", "empty", "file", "link"):
            self.check_error(self.mortise("new", "tool", name), 2, f"'{name}'", "already there")
        self.assertEqual((self.tree(), sorted(os.listdir(self.work))), before)

    def test_where_nothing_can_be_made(self):
        done = self.mortise("new", "tool", "greet", cwd="/proc")
        self.check_error(done, 1, "cannot make the folder 'greet'")

    def test_as_the_umask_says(self):
        for umask in (0o022, 0o077):
            name = f"mask_{umask}"
            self.check(self.mortise("new", "tool", name, umask=umask), 0)
            path = os.path.join(self.work, name)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o777 & ~umask)
            self.assertEqual(os.stat(os.path.join(path, f"{name}.c")).st_mode & 0o777, 0o666 & ~umask)

    def test_output_that_nobody_takes(self):
        with open("/dev/full", "wb") as full:
            self.check_error(self.mortise("new", "tool", "greet", stdout=full), 1, "standard output")
        self.assertEqual(len(self.tree("greet")), 6)

    def test_without_memory(self):
        """Whichever allocation fails, there is all of it or nothing."""
        if not e2e.options.fail_malloc:
            self.skipTest("sanitizers bring their own malloc")
        codes = set()
        for at in range(1, 400):
            done = self.mortise("new", "tool", "greet", env={
                "LD_PRELOAD": e2e.options.fail_malloc, "FAIL_MALLOC": str(at)})
            codes.add(done.code)
            made = os.listdir(self.work)
            if made:
                self.assertEqual((made, len(self.tree("greet"))), (["greet"], 6), f"allocation {at}")
                os.rename(os.path.join(self.work, "greet"), os.path.join(self.root, f"made-{at}"))
            else:
                self.assertNotEqual((done.code, done.err), (0, ""), f"allocation {at}")
        self.assertIn(0, codes)
        self.assertIn(1, codes)


if __name__ == "__main__":
    e2e.main()
