"""What run.py measures with: the programs, the server, and the table of figures."""

import json
import os
import re
import statistics
import subprocess

# What the server and the bare programs call a format, and the provider that speaks it.
FORMATS = {"chat": "openai", "responses": "openai-responses", "anthropic": "anthropic",
           "gemini": "gemini"}


class Failure(Exception):
    pass


# ---- the programs --------------------------------------------------------------------------


class Bench:
    """Where everything is, the server, and one way to run a program."""

    def __init__(self, build, programs, scratch, quick):
        self.mortise = os.path.join(build, "bin", "mortise")
        self.programs = programs
        self.scratch = scratch
        self.quick = quick
        self.output = os.path.join(scratch, "output")
        self.environment = {"PATH": os.environ.get("PATH", ""), "OPENAI_API_KEY": "bench-key",
                            "ANTHROPIC_API_KEY": "bench-key", "GEMINI_API_KEY": "bench-key",
                            "HOME": os.path.join(scratch, "home")}
        os.mkdir(self.environment["HOME"])
        self.trusted = os.path.join(scratch, "trusted")
        os.mkdir(self.trusted)
        self.environment["SSL_CERT_DIR"] = self.trusted
        self.server = subprocess.Popen([self.program("bench_server"), self.trusted],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ports = json.loads(self.server.stdout.readline())

    def close(self):
        self.server.stdin.close()
        self.server.wait()

    def program(self, name):
        return os.path.join(self.programs, name)

    def beside(self, *names):
        """What other tests than these build."""
        return os.path.join(os.path.dirname(self.programs), *names)

    def modules(self):
        """Where the packages of npm are; None: they cannot be had."""
        folder = self.beside("mcp", "modules")
        setup = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp",
                             "setup.py")
        done = subprocess.run(["python3", setup, folder], stdout=subprocess.DEVNULL, check=False)
        return folder if done.returncode == 0 else None

    def times(self, count):
        return max(count // 5, 3) if self.quick else count

    def url(self, scenario, tls=False):
        if tls:
            return f"https://127.0.0.1:{self.ports['tls_port']}/{scenario}/v1"
        return f"http://127.0.0.1:{self.ports['port']}/{scenario}/v1"

    def launch(self, command):
        done = subprocess.run([self.program("launch"), self.output, *command], cwd=self.scratch,
                              env=self.environment, capture_output=True, text=True)
        figures = json.loads(done.stdout) if done.returncode == 0 else {"status": "none"}
        if figures["status"] != 0:
            raise Failure(f"'{' '.join(command)}' ended with status {figures['status']}: "
                          f"{done.stderr.strip()}")
        return figures

    def ask(self, command, requests=1):
        """One conversation: launch()'s figures, what was printed, what the server saw."""
        figures = self.launch(command)
        with open(self.output, encoding="utf-8") as file:
            figures["output"] = file.read()
        seen = json.loads(self.server.stdout.readline())
        if len(seen["requests"]) != requests:
            raise Failure(f"'{' '.join(command)}' made {len(seen['requests'])} requests on one "
                          f"connection, not {requests}")
        figures["requests"] = seen["requests"]
        figures["first_request_ns"] = seen["requests"][0]["received"] - figures["started"]
        return figures

    def run_mortise(self, scenario, tools=0, form="chat", tls=False):
        plugins = ["-P", self.plugins(tools)] if tools else []
        return [self.mortise, "run", "-q", "-m", f"{FORMATS[form]}/bench", "--base-url",
                self.url(scenario, tls), "--no-plugins", *plugins, "Go on."]

    def run_bare(self, scenario, tools=0, keep=False, form="chat", tls=False):
        options = ["--format", form, "--tools", str(tools)]
        options += ["--keep-tools"] if keep else []
        options += ["--ca", self.trusted] if tls else []
        return [self.program("bare_curl"), *options, self.url(scenario, tls), "Go on."]

    def list_mortise(self, count):
        plugins = ["-P", self.plugins(count)] if count else []
        return [self.mortise, "tools", "list", "--no-plugins", *plugins]

    def serve_mortise(self, *plugins):
        return [self.mortise, "mcp", "serve", "--no-plugins", *plugins]

    def instructions(self, command, asks=True):
        """How many instructions a program takes, all its threads together."""
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                               *command], cwd=self.scratch, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        if asks:
            self.server.stdout.readline()
        counted = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode != 0 or not counted:
            raise Failure(f"'{' '.join(command)}' failed under valgrind: {done.stderr[-500:]}")
        return int(counted[1])

    def plugins(self, count):
        """A folder of `count` plugins: copies of one with other digits in its names."""
        folder = os.path.join(self.scratch, f"plugins-{count}")
        if os.path.isdir(folder):
            return folder
        with open(self.program("bench_plugin.so"), "rb") as file:
            content = file.read()
        os.mkdir(folder, 0o755)
        for number in range(count):
            digits = b"%04d" % number
            copy = content.replace(b"bench_tool_0000", b"bench_tool_" + digits)
            copy = copy.replace(b"bench_plug_0000", b"bench_plug_" + digits)
            path = os.path.join(folder, f"bench_{number:04}.so")
            with open(path, "wb") as file:
                file.write(copy)
            os.chmod(path, 0o755)
        return folder


def in_turns(repetitions, *runs, warm_up=True):
    """Runs all of them by turns, and before that each once without counting."""
    results = [[] for _ in runs]
    for run in runs if warm_up else ():
        run()
    for _ in range(repetitions):
        for run, result in zip(runs, results):
            result.append(run())
    return results


# ---- the table -----------------------------------------------------------------------------


def quarter(values):
    return sorted(values)[len(values) // 4]


class Table:
    def __init__(self, attempt):
        self.attempt = attempt
        self.rows = []

    def add(self, name, unit, ours, bare, limit=None):
        """Two lists of numbers; the limit is one of their ratio."""
        row = {"name": name, "unit": unit, "limit": limit, "attempt": self.attempt,
               "mortise": statistics.median(ours), "mortise_quarter": quarter(ours),
               "bare": statistics.median(bare), "bare_quarter": quarter(bare)}
        row["ratio"] = row["mortise"] / row["bare"]
        row["ratio_quarter"] = row["mortise_quarter"] / row["bare_quarter"]
        row["over"] = limit is not None and row["ratio"] > limit
        self.rows.append(row)

    def add_alone(self, name, unit, value, quarter_value, limit):
        """One number; the limit is one of itself."""
        self.rows.append({"name": name, "unit": unit, "limit": limit, "attempt": self.attempt,
                          "mortise": value, "mortise_quarter": quarter_value,
                          "over": value > limit})

    def over(self):
        return any(row["over"] for row in self.rows)

    @staticmethod
    def head():
        return f"{'':47} {'mortise':>11} {'bare':>11} {'ratio':>7} {'quartile':>9} {'limit':>6}"

    @staticmethod
    def line(row):
        unit, alone = row["unit"], "bare" not in row
        bare = "" if alone else f"{row['bare']:8.2f} {unit}"
        ratio = "" if alone else f"{row['ratio']:.2f}"
        low = row["mortise_quarter"] if alone else row["ratio_quarter"]
        limit = "" if row["limit"] is None else f"{row['limit']:g}" + (f" {unit}" if alone else "")
        verdict = "" if row["limit"] is None else "OVER" if row["over"] else "ok"
        if verdict and row["attempt"] > 1:
            verdict += f" in attempt {row['attempt']}"
        return (f"{row['name']:47} {row['mortise']:8.2f} {unit:2} {bare:>11} {ratio:>7} "
                f"{f'({low:.2f})':>9} {limit:>6} {verdict}")


def ms(results, key):
    return [result[key] / 1e6 for result in results]
