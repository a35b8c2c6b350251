#!/usr/bin/env python3
"""Makes the recordings that ctest replays, with a server on this machine.

make_recordings.py MORTISE PLUGIN_FOLDER   (bin/mortise and tests/e2e/plugins of a build)

They hold the format of recordings and what is sent to providers as they are.  When one of the two
is to change, make them anew and read what git diff says.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import e2e
import recorded


def run(name, replies, arguments, mode="nothing", input=None, code=0):
    path = HERE / "recordings" / f"{name}.jsonl"
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as home, recorded.server(*replies) as asked:
        folder = Path(home, ".config/mortise")
        folder.mkdir(parents=True)
        hooks = {"e2e_hooks": {"mode": mode, "log": "/dev/null"}}
        Path(folder, "config.json").write_text(json.dumps({"plugin-config": hooks}), "utf-8")
        plugins = [option for plugin in ("tools", "hooks")
                   for option in ("-e", os.path.join(sys.argv[2], f"e2e_{plugin}.so"))]
        environment = {"PATH": os.environ["PATH"], "HOME": home, "OPENAI_API_KEY": recorded.KEY,
                       "ANTHROPIC_API_KEY": recorded.KEY, "GEMINI_API_KEY": recorded.KEY}
        done = subprocess.run([sys.argv[1], "--record", path, "--base-url", asked.url,
                               "--no-plugins", "--no-session", *plugins,
                               "--tools", "echo,fails,big", *arguments],
                              env=environment, cwd=home, check=False, capture_output=True,
                              **({"input": input} if input else {"stdin": subprocess.DEVNULL}))
    if done.returncode != code:
        sys.exit(f"{name}: exit code {done.returncode}\n{done.stderr.decode()}")
    print(name)


def main():
    call = [("c1", "echo", '{"text":"zwö"}'), ("", "fails", "{}"),
            ("c1", "echo", '{"text":"three"}')]
    run("openai-chat",
        [recorded.limited(), e2e.openai_reply("I look.", call), e2e.openai_reply("Seen.")],
        ["-m", "openai/m", "--temperature", "0.5", "Look!"], mode="changes_result")
    run("openai-responses", [e2e.responses_reply(calls=call), e2e.responses_reply("Seen.")],
        ["-m", "openai-responses/m", "-s", "Be brief.", "--reasoning", "low", "Look!"],
        mode="skips")
    thought = recorded.thinking_reply("Let me think.", "c2lnbmVk", [("t1", "echo", '{"text":"x"}')])
    run("anthropic", [thought, e2e.anthropic_reply("So it is."), e2e.anthropic_reply("And so.")],
        ["-m", "anthropic/m", "chat"], input=b"Is it so?\n/lock\nAnd so?\n", mode="request_appends")
    broken = e2e.gemini_reply("A beginning")
    run("gemini", [e2e.gemini_reply(calls=call), ["cut", broken[:len(broken) // 2]]],
        ["-m", "gemini/m", "Look!"], code=4)


if __name__ == "__main__":
    main()
