#!/usr/bin/env python3
"""The real binary against aimock, a server that others wrote from the providers' documentation.

  test_aimock.py MORTISE FIXTURE_TOOLS.so FOLDER [--only TEXT]

aimock is a package of npm, pinned in aimock/package-lock.json and installed into FOLDER; where that
cannot be, the test is skipped.  Each case is asked in all four formats: what is shown, what ran, and how it
ends; aimock answers a second request only when it has read the results in it.

FAULTS 18, 22, 23, 33-36, 86, 100; W29, W36, W37, W45, W46, W125, M6
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import valid_request

HERE = Path(__file__).resolve().parent
SKIPPED = 77
INSTALL_SECONDS = 60
KEY = "sk-aimock-0123456789"
# Models that think, where that is a matter of the model.
PROVIDERS = {"openai": ("gpt-5", "/v1"), "openai-responses": ("gpt-5", "/v1"),
             "anthropic": ("claude-opus-4-5", ""), "gemini": ("gemini-2.5-pro", "")}

tests = []


def test(function):
    tests.append(function)
    return function


# ---- the server ------------------------------------------------------------------------------

def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def install(folder):
    """The path of the program."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        skip("node and npm are not installed")
    folder.mkdir(parents=True, exist_ok=True)
    lock = (HERE / "aimock/package-lock.json").read_bytes()
    program = folder / "node_modules/@copilotkit/aimock/dist/cli.js"
    installed = folder / "installed.json"
    if program.exists() and installed.exists() and installed.read_bytes() == lock:
        return [node, program]
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "aimock" / name, folder / name)
    try:
        subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder,
                       stdin=subprocess.DEVNULL, capture_output=True, check=True,
                       timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        skip(f"npm did not install aimock within {INSTALL_SECONDS} s")
    except subprocess.CalledProcessError as error:
        skip(f"npm cannot install aimock: {error.stderr.decode('utf-8', 'replace').strip()[-500:]}")
    installed.write_bytes(lock)
    return [node, program]


def write_answers(path):
    """Those that are counted are so for each format apart."""
    answers = json.loads((HERE / "aimock/answers.json").read_text("utf-8"))
    busy = {"error": {"message": "Slow down", "type": "rate_limit_error"}, "status": 429,
            "retryAfter": 1}
    for provider in PROVIDERS:
        for index, response in enumerate((busy, {"content": "Now I can."})):
            answers["fixtures"].append({
                "match": {"userMessage": f"busy: {provider}.", "sequenceIndex": index},
                "response": response})
    path.write_text(json.dumps(answers), "utf-8")
    return path


class Aimock:
    def __init__(self, program, folder):
        self.process = subprocess.Popen(
            [*program, "-p", "0", "-f", write_answers(folder / "answers.json"), "--strict",
             "--validate-on-load"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={"PATH": os.environ["PATH"], "AIMOCK_API_KEYS": KEY})
        self.said = []
        self.url = None
        for line in self.process.stdout:
            self.said.append(line)
            found = re.search(r"listening on (http://\S+)", line)
            if found:
                self.url = found[1]
                break
        threading.Thread(target=lambda: self.said.extend(self.process.stdout), daemon=True).start()
        if not self.url:
            sys.exit("aimock did not start:\n" + "".join(self.said))

    def bodies(self):
        """Of requests in two of the formats, as Chat Completions: so aimock understood them.
        (Those of the others it takes apart further: a message for each call, ids of its own.)"""
        request = urllib.request.Request(self.url + "/__aimock/journal",
                                         headers={"Authorization": f"Bearer {KEY}"})
        with urllib.request.urlopen(request, timeout=10) as response:
            return [entry["body"] for entry in json.load(response)
                    if entry["path"] in ("/v1/chat/completions", "/v1/messages")]

    def stop(self):
        self.process.terminate()
        self.process.wait()


# ---- the binary ------------------------------------------------------------------------------

class Run:
    def __init__(self, scene, *prompts, options=(), key=KEY):
        self.provider = scene.provider
        model, path = PROVIDERS[scene.provider]
        with tempfile.TemporaryDirectory() as home:
            log = Path(home, "tools.log")
            environment = {name: value for name, value in os.environ.items()
                           if name == "PATH" or name.endswith("SAN_OPTIONS")}
            environment |= {"HOME": home, "FIXTURE_LOG": str(log), "LC_ALL": "C.UTF-8"}
            environment |= {f"{name}_API_KEY": key for name in ("OPENAI", "ANTHROPIC", "GEMINI")}
            for prompt in prompts:
                done = subprocess.run(
                    [scene.mortise, "--json", "-m", f"{scene.provider}/{model}", "--base-url",
                     scene.server.url + path, "--no-plugins", "-e", scene.tools, "--session", "s",
                     "--retries", "2", *options, prompt],
                    env=environment, cwd=home, stdin=subprocess.DEVNULL, capture_output=True,
                    timeout=60)
            self.ran = [json.loads(line) for line in log.read_text("utf-8").splitlines()] \
                if log.exists() else []
        self.status = done.returncode
        self.stderr = done.stderr.decode("utf-8", "replace")
        self.events = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]

    def all(self, kind):
        return [event for event in self.events if event["type"] == kind]

    def text(self, kind="text_delta"):
        return "".join(event["text"] for event in self.all(kind))

    def ends(self, text, code=0):
        assert self.status == code, f"exit code {self.status}: {self.stderr}"
        assert self.text() == text, f"text {self.text()!r}"
        return self

    def calls(self, *expected):
        ran = [[entry["name"], entry["arguments"]] for entry in self.ran]
        assert sorted(ran, key=str) == sorted(expected, key=str), ran
        return self

    def fails(self, kind, code, says="", text=""):
        errors = self.all("error")
        assert len(errors) == 1 and errors[0]["kind"] == kind, errors
        assert says in errors[0]["message"], errors
        return self.ends(text, code)


class Scene:
    """One format, and the server."""

    def __init__(self, mortise, tools, server, provider):
        self.mortise, self.tools, self.server, self.provider = mortise, tools, server, provider

    def run(self, *prompts, **how):
        return Run(self, *prompts, **how)


# ---- what is asked ---------------------------------------------------------------------------

@test
def text(scene):
    scene.run("greet").ends("Grüße aus 東京 — it is 4 °C. 😀")


@test
def one_tool(scene):
    scene.run("one tool").ends("It is dry.").calls(["get_weather", {"city": 'Oslo "é" 😀'}])


@test
def three_tools(scene):
    scene.run("three tools").ends("I look.All three answered.").calls(
        ["get_weather", {"city": "Rome"}], ["list_dir", {}],
        ["run_sql", {"id": 9007199254740991, "q": "select 1"}])


@test
def tools_before_text(scene):
    scene.run("tools first").ends("Between.Behind.Both answered.").calls(
        ["get_weather", {"city": "Bern"}], ["list_dir", {}])


@test
def two_rounds(scene):
    scene.run("two rounds").ends("After two rounds.").calls(
        ["get_weather", {"city": "Oslo"}], ["get_weather", {"city": "Rome"}])


@test
def reasoning(scene):
    run = scene.run("think aloud").ends("That is it.").calls(["list_dir", {}])
    thought = run.text("reasoning_delta")
    assert thought == "First I think.Then I thought.", thought


@test
def reasoning_goes_on(scene):
    scene.run("think aloud", "greet").ends("Grüße aus 東京 — it is 4 °C. 😀")


@test
def a_tool_that_is_not_there(scene):
    scene.run("unknown tool").ends("There is none.").calls()


@test
def a_session_goes_on(scene):
    scene.run("three tools", "one tool", "greet").ends("Grüße aus 東京 — it is 4 °C. 😀")


@test
def a_cut_by_length(scene):
    run = scene.run("too long").ends("It was cut")
    assert run.all("turn_end")[-1]["stop_reason"] == "length", run.all("turn_end")


@test
def usage(scene):
    events = scene.run("counted").ends("Counted.").all("usage")
    assert len(events) == 1, events
    assert (events[0]["input_tokens"], events[0]["output_tokens"]) == (123, 45), events


@test
def in_small_pieces(scene):
    scene.run("slowly").ends("It comes in small pieces.")


@test
def a_key_that_is_not_known(scene):
    scene.run("greet", key="sk-another-0123456789").fails("auth", 3)


@test
def errors(scene):
    scene.run("wrong key").fails("auth", 3, "Incorrect key")
    scene.run("bad request").fails("bad_request", 4, "No such thing")
    scene.run("broken server", options=["--retries", "0"]).fails("server", 4, "It broke")
    scene.run("overloaded", options=["--retries", "0"]).fails("overloaded", 4, "Overloaded")


@test
def no_answer_is_known(scene):
    run = scene.run("something else", options=["--retries", "0"])
    assert run.status == 4, run.stderr


@test
def busy_once(scene):
    retries = scene.run(f"busy: {scene.provider}.").ends("Now I can.").all("retry")
    assert [event["wait_ms"] for event in retries] == [1000], retries


@test
def cut_off(scene):
    for prompt in ("cut off", "hung up"):
        run = scene.run(prompt, options=["--retries", "0"])
        assert run.all("error")[0]["kind"] == "stream_truncated", run.events
        assert run.status == 4, run.status
        # And the session is none the worse for it.
        scene.run(prompt, "greet", options=["--retries", "0"]).ends(
            "Grüße aus 東京 — it is 4 °C. 😀")


@test
def garbled(scene):
    for prompt in ("garbled", "vanish", "dropped"):
        run = scene.run(prompt, options=["--retries", "1"])
        assert run.status == 4 and len(run.all("error")) == 1, (prompt, run.status, run.events)
        scene.run(prompt, "greet", options=["--retries", "0"]).ends(
            "Grüße aus 東京 — it is 4 °C. 😀")


# ---- all of it -------------------------------------------------------------------------------

def run_tests(functions, scene):
    """How many passed."""
    passed = 0
    for function in functions:
        try:
            function(scene)
            passed += 1
        except Exception as error:
            print(f"FAILED {function.__name__} ({scene.provider}): "
                  f"{type(error).__name__}: {error}")
    return passed


def check_requests(bodies):
    problems = [problem for body in bodies for problem in valid_request.problems("openai", body)]
    for problem in problems:
        print(f"FAILED a request: {problem}")
    return bodies and not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mortise", type=Path)
    parser.add_argument("tools", type=Path, metavar="FIXTURE_TOOLS.so")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="tests whose name holds this text")
    options = parser.parse_args()
    chosen = [function for function in tests if options.only in function.__name__]
    folder = options.folder.resolve()
    server = Aimock(install(folder), folder)
    try:
        scenes = [Scene(options.mortise.resolve(), options.tools.resolve(), server, provider)
                  for provider in PROVIDERS]
        with ThreadPoolExecutor(max_workers=len(scenes)) as pool:
            passed = sum(pool.map(lambda scene: run_tests(chosen, scene), scenes))
        good = check_requests(server.bodies())
    finally:
        server.stop()
    most = len(chosen) * len(scenes)
    print(f"{passed} of {most} tests passed")
    return 0 if good and passed == most > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
