#!/usr/bin/env python3
"""What mortise costs, beside bare programs that do the same work in the same minute.

    python3 tests/bench/run.py [BUILD_DIR] [--quick] [--only WORD] [--json FILE]

Builds what is missing, runs each pair by turns, and prints one line for each figure: the
median of mortise, the median of the bare program, their ratio and the most that it may be.
In brackets stands the ratio of the lower quartiles, which noise hardly reaches.  A part with
a figure over its limit is measured again, three times at most, because others may use the
machine, and its lines then say so; the exit code is 1 when one stays over.  BUILD_DIR is
build/release when it is not given; figures of a debug build say nothing.

No time is read in this program: launch.c looks at the clock before it starts a program and
after it ended, bench_server.c when it has read a request and when it has written a response.
Where valgrind is installed, it counts the instructions of the same work: those figures are the
same on a busy machine.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ATTEMPTS = 3
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL_TURNS = 20
DELTAS = 20000


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
                            "HOME": os.path.join(scratch, "home")}
        os.mkdir(self.environment["HOME"])
        self.server = subprocess.Popen([self.program("bench_server")], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        self.port = json.loads(self.server.stdout.readline())["port"]

    def close(self):
        self.server.stdin.close()
        self.server.wait()

    def program(self, name):
        return os.path.join(self.programs, name)

    def times(self, count):
        return max(count // 5, 3) if self.quick else count

    def url(self, scenario):
        return f"http://127.0.0.1:{self.port}/{scenario}/v1"

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

    def run_mortise(self, scenario, tools=0):
        plugins = ["-P", self.plugins(tools)] if tools else []
        return [self.mortise, "run", "-q", "-m", "openai/bench", "--base-url", self.url(scenario),
                "--no-plugins", *plugins, "Go on."]

    def run_bare(self, scenario, tools=0, keep=False):
        options = ["--tools", str(tools)] + (["--keep-tools"] if keep else [])
        return [self.program("bare_curl"), *options, self.url(scenario), "Go on."]

    def list_mortise(self, count):
        plugins = ["-P", self.plugins(count)] if count else []
        return [self.mortise, "tools", "list", "--no-plugins", *plugins]

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


def in_turns(repetitions, *runs):
    """Runs each once without counting, then all of them by turns."""
    results = [[] for _ in runs]
    for run in runs:
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
        return f"{'':42} {'mortise':>11} {'bare':>11} {'ratio':>7} {'quartile':>9} {'limit':>6}"

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
        return (f"{row['name']:42} {row['mortise']:8.2f} {unit:2} {bare:>11} {ratio:>7} "
                f"{f'({low:.2f})':>9} {limit:>6} {verdict}")


def ms(results, key):
    return [result[key] / 1e6 for result in results]


# ---- what is measured ----------------------------------------------------------------------


def measure_start(bench, table):
    """Listing the tools of few plugins beside a program that does nothing, and of many beside
    one that only loads them."""
    for count, repetitions, limit in ((0, 60, 3), (10, 60, 3), (20, 60, 3), (100, 30, 1.5),
                                      (1000, 10, 1.5)):
        other = [bench.program("bare_empty")]
        if count >= 100:
            other = [bench.program("bare_dlopen"), bench.plugins(count)]
        ours, bare = in_turns(bench.times(repetitions),
                              lambda: bench.launch(bench.list_mortise(count)),
                              lambda: bench.launch(other))
        beside = "dlopen()" if count >= 100 else "nothing"
        table.add(f"start: {count} plugins, beside {beside}", "ms", ms(ours, "wall_ns"),
                  ms(bare, "wall_ns"), limit)


def measure_one_shot(bench, table):
    """One short answer."""
    scenario = "text-20"
    ours, bare = in_turns(bench.times(60), lambda: bench.ask(bench.run_mortise(scenario)),
                          lambda: bench.ask(bench.run_bare(scenario)))
    check_outputs(ours, bare)
    table.add("one-shot: exec to request at the server", "ms", ms(ours, "first_request_ns"),
              ms(bare, "first_request_ns"), 1.2)
    table.add("one-shot: wall time", "ms", ms(ours, "wall_ns"), ms(bare, "wall_ns"), 1.2)
    table.add("one-shot: peak memory", "MB", [run["peak_kb"] / 1024 for run in ours],
              [run["peak_kb"] / 1024 for run in bare], 1.3)
    ours, bare = in_turns(bench.times(30), lambda: bench.ask(bench.run_mortise(scenario, 20)),
                          lambda: bench.ask(bench.run_bare(scenario, 20)))
    table.add("one-shot: exec to request, 20 plugins", "ms", ms(ours, "first_request_ns"),
              ms(bare, "first_request_ns"))


def check_outputs(ours, bare):
    if ours[0]["output"] != bare[0]["output"]:
        raise Failure("mortise and the bare program print different answers")


def gaps_us(results):
    """From the end of each response to the request that follows it."""
    gaps = []
    for result in results:
        requests = result["requests"]
        gaps += [(after["received"] - before["answered"]) / 1e3
                 for before, after in zip(requests, requests[1:])]
    return gaps


def check_bodies(ours, bare):
    """Unless both send about as many bytes, their times do not compare."""
    for mine, other in zip(ours[0]["requests"], bare[0]["requests"]):
        if abs(mine["body_bytes"] - other["body_bytes"]) > 0.05 * other["body_bytes"]:
            raise Failure(f"requests differ: {mine['body_bytes']} bytes, and "
                          f"{other['body_bytes']} of the bare program")


def measure_turns(bench, table):
    """A run of twenty calls: how long the next request takes once a response is complete."""
    scenario, requests = f"calls-{TOOL_TURNS}", TOOL_TURNS + 1
    runs = in_turns(bench.times(30),
                    lambda: bench.ask(bench.run_mortise(scenario, 10), requests),
                    lambda: bench.ask(bench.run_bare(scenario, 10), requests),
                    lambda: bench.ask(bench.run_mortise(scenario, 500), requests),
                    lambda: bench.ask(bench.run_bare(scenario, 500, keep=True), requests))
    check_bodies(runs[0], runs[1])
    check_bodies(runs[2], runs[3])
    ours_few, bare_few, ours_many, bare_many = map(gaps_us, runs)
    table.add("turn: response to next request, 10 tools", "us", ours_few, bare_few, 2.5)
    table.add("turn: 500 tools, bare copies their bytes", "us", ours_many, bare_many, 2.5)


def measure_deltas(bench, table):
    """Processor time of a long answer in small pieces, each sent by itself or many at once."""
    for scenario, name in (("text", "one by one"), ("burst", "in large reads")):
        scenario = f"{scenario}-{DELTAS}"
        ours, bare = in_turns(bench.times(20), lambda: bench.ask(bench.run_mortise(scenario)),
                              lambda: bench.ask(bench.run_bare(scenario)))
        check_outputs(ours, bare)
        table.add(f"stream: {DELTAS} deltas {name}, CPU", "ms",
                  [run["cpu_us"] / 1e3 for run in ours], [run["cpu_us"] / 1e3 for run in bare], 1.5)


def measure_instructions(bench, table):
    """The same work, counted.  A turn is what forty turns take more than twenty."""
    if not shutil.which("valgrind"):
        print("valgrind is not installed: instructions are not counted")
        return

    def turn(run, tools):
        few, many = (bench.instructions(run(f"calls-{turns}", tools)) for turns in (20, 40))
        return (many - few) / 20e6

    def bare_kept(scenario, tools):
        return bench.run_bare(scenario, tools, keep=True)

    scenario = f"burst-{DELTAS}"
    loads = [bench.program("bare_dlopen"), bench.plugins(20)]
    table.add("count: start, 20 plugins, beside dlopen()", "M",
              [bench.instructions(bench.list_mortise(20), asks=False) / 1e6],
              [bench.instructions(loads, asks=False) / 1e6])
    table.add("count: one-shot", "M", [bench.instructions(bench.run_mortise("text-20")) / 1e6],
              [bench.instructions(bench.run_bare("text-20")) / 1e6])
    table.add(f"count: {DELTAS} deltas", "M",
              [bench.instructions(bench.run_mortise(scenario)) / 1e6],
              [bench.instructions(bench.run_bare(scenario)) / 1e6], 1.5)
    ours, bare = turn(bench.run_mortise, 10), turn(bench.run_bare, 10)
    table.add("count: a turn, 10 tools", "M", [ours], [bare], 2.5)
    table.add("count: a turn's cost of 490 more tools", "M", [turn(bench.run_mortise, 500) - ours],
              [turn(bare_kept, 500) - turn(bare_kept, 10)], 1.2)


def measure_call(bench, table):
    """One tool, called directly."""
    for name, way, plugin, limit_us in (
            ("call: three arguments, JSON to JSON", "typed",
             os.path.join(bench.plugins(10), "bench_0000.so"), 2),
            ("call: a schema of six properties", "raw", bench.program("raw_plugin.so"), 12)):
        done = subprocess.run([bench.program("direct_call"), plugin, way, str(bench.times(500))],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(done.stderr.strip())
        figures = json.loads(done.stdout)
        table.add_alone(name, "us", figures["median_ns"] / 1e3, figures["quarter_ns"] / 1e3,
                        limit_us)


def measure_session(bench, table):
    """Processor time of a late turn beside an early one; copying its bytes is not counted."""
    for wire in ("openai", "anthropic"):
        ours, early = {200: [], 990: []}, []
        for _ in range(bench.times(15)):
            done = subprocess.run([bench.program("session"), wire, "10"], capture_output=True,
                                  text=True)
            if done.returncode != 0:
                raise Failure(done.stderr.strip())
            turns = {turn["turn"]: turn for turn in json.loads(done.stdout)["turns"]}
            early.append(turns[20]["cpu_us"])
            for number, figures in ours.items():
                copied = turns[number]["copy_us"] - turns[20]["copy_us"]
                figures.append(turns[number]["cpu_us"] - copied)
        for number, figures in ours.items():
            table.add(f"session: turn {number} beside turn 20, {wire}", "us", figures, early, 1.3)


MEASURES = {"start": measure_start, "one-shot": measure_one_shot, "turn": measure_turns,
            "stream": measure_deltas, "call": measure_call,
            "session": measure_session, "count": measure_instructions}


# ---- the program ---------------------------------------------------------------------------


def read_options():
    parser = argparse.ArgumentParser(description="measures mortise beside bare programs")
    parser.add_argument("build", nargs="?", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--quick", action="store_true", help="a fifth of the repetitions")
    parser.add_argument("--only", choices=MEASURES, action="append", help="repeatable")
    parser.add_argument("--json", metavar="FILE", help="the figures for a program")
    parser.add_argument("--programs", help="where the bench programs are")
    parser.add_argument("--no-build", action="store_true", help="everything is built")
    return parser.parse_args()


def measure_all(bench, only):
    """The rows of all parts, each printed when it is done."""
    rows = []
    print(Table.head())
    for name, measure in MEASURES.items():
        if only and name not in only:
            continue
        for attempt in range(1, ATTEMPTS + 1):
            table = Table(attempt)
            measure(bench, table)
            if not table.over():
                break
        for row in table.rows:
            print(Table.line(row), flush=True)
        rows += table.rows
    return rows


def main():
    options = read_options()
    build = os.path.abspath(options.build)
    programs = os.path.abspath(options.programs or os.path.join(build, "tests", "bench"))
    if not options.no_build:
        subprocess.run(["cmake", "--build", build, "--target", "bench_programs"], check=True)
    os.umask(0o022)  # a plugin that others can write is refused
    scratch = tempfile.mkdtemp(prefix="mortise-bench-")
    bench = Bench(build, programs, scratch, options.quick)
    try:
        rows = measure_all(bench, options.only)
    finally:
        bench.close()
        shutil.rmtree(scratch)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 1 if any(row["over"] for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, OSError, subprocess.CalledProcessError) as failure:
        sys.exit(f"run.py: {failure}")
