#!/usr/bin/env python3
"""Every documented way to build a plugin and its test ends in both.

test_package.py ROOT BUILD installs the SDK of the build at BUILD to a temporary place, moves it,
and builds from there, with CMake and with pkg-config, and once from the source tree alone:
plugin-sdk/example, and plugins/report, which has threads of the SDK's.
"""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(external LANGUAGES C)
enable_testing()
find_package(mortise REQUIRED)
mortise_add_plugin(report {plugins}/report/report.c)
mortise_add_plugin_test(report {plugins}/report/test_report.c)
"""


def run(*command, **environment):
    print("+", *command)
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}\nfailed with {done.returncode}")
    return done.stdout.split()


def check_plugin(path):
    """The two symbols are there, and nothing else: neither an author's nor the SDK's."""
    plugin = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    stamp = (ctypes.c_uint16 * 4).in_dll(plugin, "mortise_plugin_stamp")
    assert bytes(stamp)[:4] == b"MORT", bytes(stamp)
    assert plugin.tool_definition
    if shutil.which("nm"):
        symbols = set(run("nm", "-D", "--defined-only", "--format=just-symbols", path))
        assert symbols == {"mortise_plugin_stamp", "tool_definition"}, symbols


class Package:
    def __init__(self, root, prefix, folder):
        self.sdk, self.plugins = root / "plugin-sdk", root / "plugins"
        self.prefix, self.folder = prefix, folder
        self.cases = [(self.sdk / "example", "hello"), (self.plugins / "report", "report")]

    def build_with_cmake(self, source, name):
        build = self.folder / f"cmake-{name}"
        run("cmake", "-G", "Ninja", "-S", source, "-B", build,
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        check_plugin(build / f"{name}.so")
        run("ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error")
        run("cmake", "--install", build, "--prefix", self.folder / f"installed-{name}")
        installed = list((self.folder / f"installed-{name}").rglob("*.so"))
        assert [path.parts[-3:] for path in installed] == [("mortise", "plugins", f"{name}.so")]

    def cmake(self):
        self.build_with_cmake(self.sdk / "example", "hello")
        project = self.folder / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(PROJECT.format(plugins=self.plugins))
        self.build_with_cmake(project, "report")

    def pkg_config(self):
        if not shutil.which("pkg-config"):
            print("skipped: pkg-config is not installed")
            return
        found = str(next(self.prefix.rglob("mortise.pc")).parent)

        def flags(name):
            return run("pkg-config", "--cflags", "--libs", name, PKG_CONFIG_PATH=found)

        for source, name in self.cases:
            plugin, test = self.folder / "pkg-config.so", self.folder / f"pkg-config-{name}"
            run("cc", "-shared", "-fPIC", "-fvisibility=hidden", source / f"{name}.c",
                *flags("mortise"), "-o", plugin)
            check_plugin(plugin)
            run("cc", source / f"test_{name}.c", *flags("mortise-test"), "-o", test)
            run(test)
            plugin.unlink()

    def sources(self):
        include, library = f"-I{self.sdk}/include", sorted((self.sdk / "src").glob("*.c"))
        for source, name in self.cases:
            plugin, test = self.folder / "source.so", self.folder / f"source-{name}"
            run("cc", "-shared", "-fPIC", include, source / f"{name}.c", *library, "-o", plugin)
            check_plugin(plugin)
            run("cc", include, source / f"test_{name}.c", *library,
                *sorted((self.sdk / "src/test").glob("*.c")), "-o", test)
            run(test)
            plugin.unlink()


def main():
    root, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run("cmake", "--install", build, "--component", "sdk", "--prefix", folder / "first")
        prefix = folder / "moved"
        (folder / "first").rename(prefix)
        package = Package(root, prefix, folder)
        package.cmake()
        package.pkg_config()
        package.sources()


if __name__ == "__main__":
    main()
