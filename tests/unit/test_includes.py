#!/usr/bin/env python3
"""The include rule: who may include whom, so that the folders stay layers.

test_includes.py ROOT checks the tree at ROOT; before that it checks itself on small trees
that break each rule once.
"""
import pathlib
import re
import sys
import tempfile

# A folder may include itself and every folder of a lower rank.
RANKS = {
    "base": 0,
    "config": 1, "conversation": 1, "sandbox": 1, "schema": 1, "timeline": 1,
    "provider": 2, "plugin": 2,
    "tool": 3, "service": 3, "remote": 3,
    "worker": 4, "mcp": 4,
    "record": 5,
    "command": 6, "frontend": 6,
}
SAME_RANK = {("command", "frontend"), ("service", "tool")}
# Headers with one door each: who may name them.
DOORS = {
    "uthash.h": lambda file: file == "host/base/hash.h",
    "curl/curl.h": lambda file: file.startswith("host/provider/"),
    "sqlite3.h": lambda file: file == "host/conversation/sqlite_api.h",
    "pcre2.h": lambda file: file == "host/schema/pcre2_api.h",
    "seccomp.h": lambda file: file == "host/sandbox/seccomp_api.h",
    "event2/buffer.h": lambda file: file == "host/mcp/event_api.h",
    "event2/bufferevent.h": lambda file: file == "host/mcp/event_api.h",
    "event2/event.h": lambda file: file == "host/mcp/event_api.h",
    "event2/listener.h": lambda file: file == "host/mcp/event_api.h",
    "histedit.h": lambda file: file == "host/frontend/edit_api.h",
    "md4c.h": lambda file: file == "host/frontend/text_api.h",
    "utf8proc.h": lambda file: file == "host/frontend/text_api.h",
}
SDK_FOR_HOST = {"mortise/plugin.h", "mortise/services.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def includes(path):
    text = COMMENT.sub(" ", path.read_text(encoding="utf-8"))
    return [(quote == '"', name) for quote, name in INCLUDE.findall(text)]


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in (".c", ".h"))


def may_include(user, used):
    return user == used or RANKS[used] < RANKS[user] or (user, used) in SAME_RANK


def host_problem(file, quoted, name):
    """What is wrong with this #include of a host file, or None."""
    if name in DOORS and not DOORS[name](file):
        return "has one door, and this is not it"
    if name.startswith("mortise/"):
        return None if name in SDK_FOR_HOST else "is the plugins' side of the SDK"
    if not quoted:
        return "names a host file in angle brackets" if name.split("/")[0] in RANKS else None
    folder, slash, _ = name.partition("/")
    if not slash or folder not in RANKS:
        return "names no folder of the host"
    user = file.split("/")[1]
    if user != "main.c" and not may_include(user, folder):
        return f"is not below {user}/"
    return None


def plugin_problem(root, folder, quoted, name):
    if name.startswith("mortise/"):
        return None
    if quoted and "/" not in name and (folder / name).exists():
        return None  # a file of its own
    if quoted or name.split("/")[0] in RANKS or (root / "host" / name).exists():
        return "is neither <mortise/...> nor a system header nor a file beside it"
    return None


def check(root):
    problems = []
    for entry in sorted((root / "host").iterdir()):
        if entry.is_dir() and entry.name not in RANKS and sources(entry):
            problems.append(f"host/{entry.name}: a folder without a rank")
        elif entry.suffix in (".c", ".h") and entry.name != "main.c":
            problems.append(f"host/{entry.name}: a file in no folder")
    for path in sources(root / "host"):
        file = path.relative_to(root).as_posix()
        if file != "host/main.c" and file.split("/")[1] not in RANKS:
            continue
        for quoted, name in includes(path):
            problem = host_problem(file, quoted, name)
            if problem:
                problems.append(f"{file}: {name} {problem}")
    for path in sources(root / "plugins"):
        if path.name.startswith("test_"):
            continue
        for quoted, name in includes(path):
            problem = plugin_problem(root, path.parent, quoted, name)
            if problem:
                problems.append(f"{path.relative_to(root).as_posix()}: {name} {problem}")
    return problems


# File, its text, and whether the rule must complain.
SELF_CHECK = [
    ("host/base/a.c", '#include "base/a.h"\n#include <stdio.h>\n#include <jansson.h>', False),
    ("host/base/a.c", '#include "tool/a.h"', True),
    ("host/base/a.c", '#  include "config/a.h"', True),
    ("host/base/a.c", '/* #include "tool/a.h" */', False),
    ("host/base/a.c", '#include <base/a.h>', True),
    ("host/base/a.c", '#include "a.h"', True),
    ("host/base/a.c", '#include "../tool/a.h"', True),
    ("host/base/a.c", '#include "nowhere/a.h"', True),
    ("host/base/hash.h", '#include <uthash.h>', False),
    ("host/tool/a.c", '#include <uthash.h>', True),
    ("host/tool/a.c", '#include "plugin/a.h"\n#include "timeline/a.h"', False),
    ("host/tool/a.c", '#include "service/a.h"', True),
    ("host/tool/a.c", '#include "worker/a.h"', True),
    ("host/service/a.c", '#include "tool/a.h"\n#include <mortise/services.h>', False),
    ("host/tool/sub/a.c", '#include "worker/a.h"', True),
    ("host/provider/a.c", '#include <curl/curl.h>', False),
    ("host/provider/a.c", '#include "plugin/a.h"', True),
    ("host/plugin/a.c", '#include <curl/curl.h>', True),
    ("host/frontend/edit_api.h", '#include <histedit.h>', False),
    ("host/frontend/a.c", '#include <histedit.h>', True),
    ("host/command/a.c", '#include <md4c.h>', True),
    ("host/schema/pcre2_api.h", '#include <pcre2.h>', False),
    ("host/schema/a.c", '#include <pcre2.h>', True),
    ("host/plugin/a.c", '#include "schema/a.h"', False),
    ("host/sandbox/seccomp_api.h", '#include <seccomp.h>', False),
    ("host/sandbox/a.c", '#include <seccomp.h>', True),
    ("host/sandbox/a.c", '#include "config/a.h"', True),
    ("host/tool/a.c", '#include "sandbox/a.h"', False),
    ("host/schema/a.c", '#include "conversation/a.h"', True),
    ("host/remote/a.c", '#include "plugin/a.h"', False),
    ("host/remote/a.c", '#include "tool/a.h"', True),
    ("host/plugin/a.c", '#include <mortise/plugin.h>', False),
    ("host/plugin/a.c", '#include <mortise/tool.h>', True),
    ("host/config/a.h", '#include "timeline/a.h"', True),
    ("host/worker/a.c", '#include "frontend/a.h"', True),
    ("host/frontend/a.c", '#include "timeline/a.h"\n#include "conversation/a.h"', False),
    ("host/frontend/a.c", '#include "command/a.h"', True),
    ("host/command/a.c", '#include "frontend/a.h"\n#include "record/a.h"', False),
    ("host/record/a.c", '#include "worker/a.h"\n#include "provider/a.h"', False),
    ("host/record/a.c", '#include "command/a.h"', True),
    ("host/mcp/a.c", '#include "tool/a.h"\n#include "plugin/a.h"', False),
    ("host/mcp/a.c", '#include "worker/a.h"', True),
    ("host/worker/a.c", '#include "mcp/a.h"', True),
    ("host/command/a.c", '#include "mcp/a.h"', False),
    ("host/worker/a.c", '#include "record/a.h"', True),
    ("host/main.c", '#include "command/a.h"\n#include "base/a.h"', False),
    ("host/main.c", '#include <curl/curl.h>', True),
    ("host/other.c", '', True),
    ("host/misc/a.c", '', True),
    ("host/man/a.1.scd", '#include "tool/a.h"', False),
    ("plugins/git/git.c", '#include <mortise/tool.h>\n#include <unistd.h>', False),
    ("plugins/git/git.c", '#include "git.c"', False),
    ("plugins/git/git.c", '#include "git.h"', True),
    ("plugins/git/git.c", '#include "../git/git.c"', True),
    ("plugins/git/git.c", '#include "base/text.h"', True),
    ("plugins/git/git.c", '#include <base/text.h>', True),
    ("plugins/git/git.c", '#include "../../host/base/text.h"', True),
    ("plugins/git/test_git.c", '#include "base/text.h"', False),
]


def self_check():
    wrong = []
    for file, text, bad in SELF_CHECK:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "host").mkdir()
            (root / "plugins").mkdir()
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text, encoding="utf-8")
            if bool(check(root)) != bad:
                wrong.append(f"self-check: {file} with {text!r} was {'accepted' if bad else 'refused'}")
    return wrong


def main():
    problems = self_check() or check(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "every include is allowed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
