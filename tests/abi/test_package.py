#!/usr/bin/env python3
"""Every documented way to build a plugin ends in a plugin.

test_package.py ROOT BUILD installs the SDK of the build at BUILD to a temporary place, moves it,
and builds plugin-sdk/example from there with CMake and with pkg-config, and once from the
source tree alone.
"""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(*command, **environment):
    print("+", *command)
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}\nfailed with {done.returncode}")
    return done.stdout.split()


def check_plugin(path):
    """The two symbols are there, and nothing else that a plugin's author wrote."""
    plugin = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    stamp = (ctypes.c_uint16 * 4).in_dll(plugin, "mortise_plugin_stamp")
    assert bytes(stamp)[:4] == b"MORT", bytes(stamp)
    assert plugin.tool_definition
    if shutil.which("nm"):
        symbols = set(run("nm", "-D", "--defined-only", "--format=just-symbols", path))
        assert symbols == {"mortise_plugin_stamp", "tool_definition"}, symbols


def main():
    root, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    example, sdk = root / "plugin-sdk/example", root / "plugin-sdk"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run("cmake", "--install", build, "--component", "sdk", "--prefix", folder / "first")
        prefix = folder / "moved"
        (folder / "first").rename(prefix)

        external = folder / "external"
        run("cmake", "-G", "Ninja", "-S", example, "-B", external, f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", external)
        check_plugin(external / "hello.so")
        run("cmake", "--install", external, "--prefix", folder / "installed")
        installed = list((folder / "installed").rglob("hello.so"))
        assert [path.parent.parts[-2:] for path in installed] == [("mortise", "plugins")], installed

        if shutil.which("pkg-config"):
            found = next(prefix.rglob("mortise.pc")).parent
            flags = run("pkg-config", "--cflags", "--libs", "mortise", PKG_CONFIG_PATH=str(found))
            output = folder / "pkg-config.so"
            run("cc", "-shared", "-fPIC", "-fvisibility=hidden", example / "hello.c", *flags,
                "-o", output)
            check_plugin(output)
        else:
            print("skipped: pkg-config is not installed")

        output = folder / "source.so"
        run("cc", "-shared", "-fPIC", f"-I{sdk}/include", example / "hello.c",
            *sorted((sdk / "src").glob("*.c")), "-o", output)
        check_plugin(output)


if __name__ == "__main__":
    main()
