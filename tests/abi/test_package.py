#!/usr/bin/env python3
"""An installation has all that is needed for a plugin, wherever it lies.  (F51)

test_package.py ROOT BUILD installs the build at BUILD, moves the installation, and works with it
alone: `mortise new`, CMake, pkg-config, the tests of what was made, and the host that loads it.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILD = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))

# A tool for the hook to deny.
WIPE = """
#include <mortise/tool.h>

MORTISE_TOOL(wipe, MORTISE_DESTRUCTIVE, "Wipe everything.", MORTISE_NO_ARGS);

static mortise_status wipe(mortise_call *call, const wipe_args *args)
{
    (void)args;
    return mortise_reply(call, "wiped");
}

MORTISE_PLUGIN(.name = "wipe", .tools = MORTISE_TOOLS(wipe));
"""

PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(external LANGUAGES C)
find_package(mortise REQUIRED COMPONENTS sdk test)
enable_testing()
mortise_add_plugin({name} {folder}/{name}.c)
mortise_add_plugin_test({name} {folder}/test_{name}.c)
"""


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory(prefix="mortise-package-")
        cls.addClassCleanup(made.cleanup)
        cls.folder = pathlib.Path(made.name).resolve()
        first, cls.prefix = cls.folder / "first", cls.folder / "moved"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", first], check=True,
                       stdout=subprocess.DEVNULL)
        first.rename(cls.prefix)

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        self.home = self.folder / "home"
        self.home.mkdir(exist_ok=True)

    # ---- running things as somebody who has the installation and nothing else ----

    def environment(self, **more):
        return {"PATH": f"{self.prefix}/bin:{os.environ['PATH']}", "HOME": str(self.home),
                "LC_ALL": "C.UTF-8", "CMAKE_GENERATOR": "Ninja", **more}

    def run_(self, *command, fails=False, where=None, **environment):
        done = subprocess.run([str(part) for part in command], cwd=where or self.work, text=True,
                              capture_output=True, env=self.environment(**environment),
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode != 0, fails, f"{command}\n{done.stdout}{done.stderr}")
        return done.stderr if fails else done.stdout

    def shell(self, line, where=None):
        """With what pkg-config finds in the installation."""
        package = next(self.prefix.rglob("mortise.pc")).parent
        self.run_("sh", "-euc", line, where=where, PKG_CONFIG_PATH=str(package))

    def cc(self, source, output):
        self.shell(f"cc -shared -fPIC -fvisibility=hidden {source} "
                   f"$(pkg-config --cflags --libs mortise) -o {output}")
        return self.work / output

    def configure(self, project, prefix, **environment):
        (self.work / "CMakeLists.txt").write_text(project)
        self.run_("cmake", "-B", "built", f"-DCMAKE_PREFIX_PATH={prefix}", **environment)
        self.run_("cmake", "--build", "built")
        self.run_("ctest", "--test-dir", "built", "--no-tests=error")

    # ---- checks ----

    def check_plugin(self, path):
        """The two symbols are there and nothing else that a plugin's author wrote; only the C
        library is needed."""
        plugin = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        stamp = (ctypes.c_uint16 * 4).in_dll(plugin, "mortise_plugin_stamp")
        self.assertEqual(bytes(stamp)[:4], b"MORT")
        self.assertTrue(plugin.tool_definition)
        symbols = self.run_("nm", "-D", "--defined-only", "--format=just-symbols", path).split()
        self.assertEqual(set(symbols), {"mortise_plugin_stamp", "tool_definition"})
        needed = re.findall(r"NEEDED\).*\[(.*)\]", self.run_("readelf", "-dW", path))
        self.assertEqual(set(needed) - {"libc.so.6"}, set())
        self.assertIn("good", self.run_("mortise", "plugins", "check", path))

    def check_needs_no_sources(self, folder):
        """No file in it knows where the sources and the build of mortise are."""
        paths = [path for path in folder.rglob("*") if path.is_file()]
        self.assertTrue(paths)
        for path in paths:
            content = path.read_bytes()
            for place in (ROOT, BUILD, self.folder / "first"):
                self.assertFalse(bytes(place) in content, f"{place} in {path}")

    def play(self, call, *plugins, config=None):
        """The result of one call in a scripted run."""
        script = self.work / "script.json"
        script.write_text(json.dumps({"turns": [{"calls": [call]}, {"text": "done"}]}))
        settings = self.work / "config.json"
        settings.write_text(json.dumps(config or {}))
        out = self.run_("mortise", "--config", settings, "--no-plugins", "--json", "-m",
                        f"script/{script}", *(f"--plugin={plugin}" for plugin in plugins), "go")
        return next(event for event in map(json.loads, out.splitlines())
                    if event["type"] == "tool_result")

    # ---- what an author does ----

    def make(self, kind, name):
        """By the very commands that `mortise new` shows.  The plugin."""
        shown = self.run_("mortise", "new", kind, name)
        commands = [line.strip() for line in shown.splitlines() if line.startswith("  ")]
        tested = self.run_("sh", "-euc", "\n".join(commands))
        self.assertRegex(tested, r"100% tests passed.* out of [1-9]")
        self.check_needs_no_sources(self.work / name)
        built = self.work / name / "build" / f"{name}.so"
        self.check_plugin(built)
        return built

    def check_tool(self, plugin, name):
        arguments = {"text": "ha", "times": 3, "between": "comma"}
        call = ("mortise", "-P", plugin.parent, "tools", "call", name)
        self.assertEqual(self.run_(*call, json.dumps(arguments)), "ha, ha, ha\n")
        self.assertEqual(self.play({"name": name, "arguments": arguments}, plugin)["result"],
                         "ha, ha, ha")
        # What the declaration says is held to, and the tool has an error of its own.
        self.assertIn("'times'", self.run_(*call, '{"text": "a", "times": 101}', fails=True))
        self.assertIn("'between'", self.run_(*call, '{"text": "a", "between": "-"}', fails=True))
        long = {"name": name, "arguments": {"text": "x" * 1000, "times": 100}}
        result = self.play(long, plugin)
        self.assertEqual(result["error"]["code"], f"{name}.too_long", result)

    def test_completions(self):
        """Where the shells look, and what the binary prints."""
        for shell, path in (("bash", "bash-completion/completions/mortise"),
                            ("zsh", "zsh/site-functions/_mortise"),
                            ("fish", "fish/vendor_completions.d/mortise.fish")):
            installed = (self.prefix / "share" / path).read_text()
            self.assertEqual(installed, self.run_("mortise", "completion", shell))

    def test_tool(self):
        self.check_tool(self.make("tool", "repeat"), "repeat")

    def test_tool_whose_name_c_has_taken(self):
        self.check_tool(self.make("tool", "read"), "read")
        self.check_tool(self.make("tool", "2-fold"), "2-fold")

    def test_hook(self):
        hook = self.make("hook", "no-harm")
        self.assertIn("no-harm", self.run_("mortise", "-P", hook.parent, "hooks"))
        (self.work / "wipe.c").write_text(WIPE)
        wipe, call = self.cc("wipe.c", "wipe.so"), {"name": "wipe", "arguments": {}}
        self.assertEqual(self.play(call, wipe)["result"], "wiped")
        self.assertIn("'wipe' may destroy something and is not allowed here",
                      self.play(call, wipe, hook)["result"])
        allowed = {"plugin-config": {"no-harm": {"allow": ["other", "wipe"]}}}
        self.assertEqual(self.play(call, wipe, hook, config=allowed)["result"], "wiped")
        greet = next(self.prefix.rglob("greet.so"))
        hello = {"name": "greet", "arguments": {"name": "Ada"}}
        self.assertEqual(self.play(hello, greet, hook)["result"], "Hello, Ada!")

    def test_its_test_can_fail(self):
        self.make("tool", "repeat")
        source = self.work / "repeat/repeat.c"
        source.write_text(source.read_text().replace('? ", "', '? "; "'))
        self.run_("cmake", "--build", "repeat/build")
        self.assertIn("ha; ha; ha", self.run_("repeat/build/test_repeat", fails=True))

    def test_by_the_path_alone(self):
        """CMake looks beside the `bin` that is in PATH."""
        self.run_("mortise", "new", "tool", "repeat")
        self.run_("cmake", "-S", "repeat", "-B", "built")
        self.run_("cmake", "--build", "built")
        self.run_("cmake", "--install", "built", "--prefix", self.work / "installed")
        installed = list((self.work / "installed").rglob("repeat.so"))
        self.assertEqual([path.parent.parts[-2:] for path in installed], [("mortise", "plugins")])

    def test_by_pkg_config(self):
        """The lines of the README that was made."""
        for kind, name in (("tool", "repeat"), ("hook", "no-harm")):
            self.run_("mortise", "new", kind, name)
            lines = re.findall(r"(?m)^cc .*$", (self.work / name / "README.md").read_text())
            self.assertEqual(len(lines), 2)
            for line in lines:
                self.shell(line, where=self.work / name)
            self.check_plugin(self.work / name / f"{name}.so")
            self.check_needs_no_sources(self.work / name)

    def test_by_the_source_tree_alone(self):
        sdk = ROOT / "plugin-sdk"
        library, for_tests = sorted((sdk / "src").glob("*.c")), sorted((sdk / "src/test").glob("*.c"))
        for folder, name in ((sdk / "example/tool", "your-tool"), (ROOT / "plugins/report", "report")):
            self.run_("cc", "-shared", "-fPIC", f"-I{sdk}/include", folder / f"{name}.c", *library,
                      "-o", f"{name}.so")
            self.check_plugin(self.work / f"{name}.so")
            self.run_("cc", f"-I{sdk}/include", folder / f"test_{name}.c", *library, *for_tests,
                      "-o", f"test_{name}")
            self.run_(self.work / f"test_{name}")

    def test_plugin_with_threads_of_the_sdk(self):
        self.configure(PROJECT.format(name="report", folder=ROOT / "plugins/report"), self.prefix)
        self.check_plugin(self.work / "built/report.so")
        self.check_plugin(self.cc(ROOT / "plugins/report/report.c", "report.so"))

    def test_by_the_build(self):
        """The build's own package works like the installed one."""
        self.configure(PROJECT.format(name="greet", folder=ROOT / "plugins/greet"), BUILD,
                       PATH=os.environ["PATH"])
        self.check_plugin(self.work / "built/greet.so")

    def test_component_that_is_not_there(self):
        (self.work / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(a LANGUAGES C)\n"
            "find_package(mortise REQUIRED COMPONENTS gui)\n")
        self.assertIn("NOT FOUND", self.run_("cmake", "-B", "built", fails=True))

    # ---- the installation itself ----

    def test_package_files_know_no_place(self):
        for path in (self.prefix / "include", next(self.prefix.rglob("mortiseConfig.cmake")).parent,
                     next(self.prefix.rglob("mortise.pc")).parent):
            self.check_needs_no_sources(path)

    def test_plugins_are_found(self):
        tools = self.run_("mortise", "tools")
        for name in ("greet", "calculator"):
            self.assertIn(name, tools)

    def test_manual_pages(self):
        pages = {path.name for path in self.prefix.glob("share/man/man?/*")}
        headers = {f"mortise-{path.name}.3" for path in self.prefix.glob("include/mortise/*.h")}
        self.assertLessEqual({"mortise-plugin.h.3", "mortise-tool.h.3"}, pages & headers)
        rest = {"mortise.1", "mortise-plugin.7"} if shutil.which("scdoc") else set()
        self.assertEqual(pages - headers, rest)


if __name__ == "__main__":
    unittest.main(verbosity=2)
