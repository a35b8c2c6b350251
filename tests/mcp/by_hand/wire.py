#!/usr/bin/env python3
"""Claude Code and Codex beside the server, without an account and without a model: `claude mcp list`
asks each server that it knows, and `codex exec` does before it finds that nobody answers for its
model, for which it then waits in vain.  Not run by ctest: they are large.

    npm ci --ignore-scripts       (in a copy of this folder: package.json, package-lock.json)
    wire.py MORTISE CONFORMANCE.so COPY FOLDER

Prints what each sent, over standard input and output and over HTTP, and what was answered; FOLDER
keeps it.
"""
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import harness  # noqa: E402  (from the folder above)
import transcripts  # noqa: E402

SECONDS = 60
TEE = [sys.executable, "-B", str(HERE.parent / "tee.py")]
DEAD = ["-c", "model_provider=dead", "-m", "none", "-c",
        'model_providers.dead={name="dead",base_url="http://127.0.0.1:9/v1",wire_api="responses",'
        "request_max_retries=0,stream_max_retries=0}"]


class World(harness.World):
    def __init__(self, mortise, plugin, copy, folder):
        self.mortise, self.plugin = str(Path(mortise).resolve()), str(Path(plugin).resolve())
        self.copy, self.folder = Path(copy).resolve(), Path(folder).resolve()
        self.home = self.folder / "home"
        self.home.mkdir(parents=True, exist_ok=True)

    def say(self, command):
        try:
            done = self.run(command, SECONDS)
            print(f"$ {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        except subprocess.TimeoutExpired:
            print(f"$ {' '.join(map(str, command))}\nstopped after {SECONDS} s")


def claude(world, url):
    program = [world.copy / "node_modules/@anthropic-ai/claude-code-linux-x64/claude", "mcp"]
    stdio = [*TEE, world.folder / "claude-stdio", "--", *world.serve()]
    world.say([*program, "add", "--scope", "user", "mortise", "--", *stdio])
    world.say([*program, "add", "--scope", "user", "--transport", "http", "mortise-http", url])
    world.say([*program, "list"])


def codex(world, url):
    program = [shutil.which("node"), world.copy / "node_modules/.bin/codex"]
    stdio = [*TEE, world.folder / "codex-stdio", "--", *world.serve()]
    world.say([*program, "mcp", "add", "mortise", "--", *stdio])
    world.say([*program, "mcp", "add", "mortise-http", "--url", url])
    world.say([*program, "exec", "--skip-git-repo-check", *DEAD, "Hello"])


def main():
    world = World(*sys.argv[1:5])
    for client in (claude, codex):
        with harness.HttpServer(world) as server, \
             harness.Process(world, [*TEE, world.folder / f"{client.__name__}-http",
                                     f"127.0.0.1:{server.port}"], r"^(\d+)$") as port:
            client(world, f"http://127.0.0.1:{port.found[1]}/mcp")
    print(transcripts.summarise(world.folder))


if __name__ == "__main__":
    main()
