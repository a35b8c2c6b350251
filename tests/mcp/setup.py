#!/usr/bin/env python3
"""Installs the packages that the tests here need, once.

    setup.py FOLDER

Exit code 77: it cannot be done, and why.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77
INSTALL_SECONDS = 120
NODE_AT_LEAST = 20
SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
MARK = "installed"  # holds what package-lock.json was, once all is there


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def wanted():
    """What MARK holds when nothing is left to do."""
    return b"".join((HERE / name).read_bytes() for name in ("package-lock.json", "setup.py"))


def is_installed(folder):
    mark = folder / MARK
    return mark.exists() and mark.read_bytes() == wanted()


def check_programs():
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        skip("node and npm are not installed")
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    found = re.match(r"v(\d+)\.", version)
    if not found or int(found[1]) < NODE_AT_LEAST:
        skip(f"node is older than {NODE_AT_LEAST}: {version.strip()}")
    return npm


def install(npm, folder):
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder / name)
    try:
        subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund",
                        "--prefer-offline"],
                       cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True,
                       timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        skip(f"npm did not install the packages within {INSTALL_SECONDS} s")
    except subprocess.CalledProcessError as error:
        text = error.stderr.decode("utf-8", "replace").strip()
        skip(f"npm cannot install the packages: {text[-500:]}")


def patch_suite(folder):
    """The suite imports a function of Node 22, which one of its commands uses, and not one of
    those that are called here."""
    path = folder / SUITE
    text = path.read_text("utf-8")
    found = re.search(r"globSync as ([\w$]+),", text)
    if not found:
        sys.exit(f"setup.py: '{SUITE}' does not import globSync any more")
    text = text.replace(found[0], "", 1)
    text = re.sub(r"(?m)^import\{Command", f"const {found[1]}=()=>[];import{{Command", text, count=1)
    path.write_text(text, "utf-8")


def main():
    folder = Path(sys.argv[1]).resolve()
    npm = check_programs()
    if is_installed(folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).unlink(missing_ok=True)
    install(npm, folder)
    patch_suite(folder)
    unfinished = folder / (MARK + ".new")
    unfinished.write_bytes(wanted())
    os.replace(unfinished, folder / MARK)


if __name__ == "__main__":
    main()
