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
after it ended, bench_server.c when it has read a request and when it has written a response,
mcp_ask.c around each call.
Where valgrind is installed, it counts the instructions of the same work: those figures are the
same on a busy machine.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from bench import FORMATS, Bench, Failure, Table, in_turns, ms

ATTEMPTS = 3
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TOOL_TURNS = 20
DELTAS = 20000
COUNTED_DELTAS = 4000
LINE_KILOBYTES = (12500, 25000, 50000)
BULK_KILOBYTES = (10000, 100000)
# What the way from the bytes of a delta to its event may take beside a parse of its JSON.
DECODER_LIMITS = {"chat": 1.2, "responses": 1.15, "anthropic": 1.18, "gemini": 1.28}


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
    table.add("one-shot: peak memory", "MB", peak_mb(ours), peak_mb(bare), 1.3)
    ours, bare = in_turns(bench.times(30), lambda: bench.ask(bench.run_mortise(scenario, 20)),
                          lambda: bench.ask(bench.run_bare(scenario, 20)))
    table.add("one-shot: exec to request, 20 plugins", "ms", ms(ours, "first_request_ns"),
              ms(bare, "first_request_ns"))


def check_outputs(ours, bare):
    if ours[0]["output"] != bare[0]["output"]:
        raise Failure("mortise and the bare program print different answers")


def check_answers(ours, bare):
    """Both were sent the same."""
    mine, other = (results[0]["requests"][0]["answer_bytes"] for results in (ours, bare))
    if mine != other:
        raise Failure(f"responses differ: {mine} bytes, and {other} for the bare program")


def cpu_ms(results):
    return [run["cpu_us"] / 1e3 for run in results]


def peak_mb(results):
    return [run["peak_kb"] / 1024 for run in results]


def byte_ns(results):
    """Processor time for each byte of a response."""
    return [run["cpu_us"] * 1e3 / run["requests"][0]["answer_bytes"] for run in results]


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
    for scenario, name, form in (("text", "one by one", "chat"),
                                 *(("burst", "in large reads", form) for form in FORMATS)):
        scenario = f"{scenario}-{DELTAS}"
        ours, bare = in_turns(bench.times(20),
                              lambda: bench.ask(bench.run_mortise(scenario, form=form)),
                              lambda: bench.ask(bench.run_bare(scenario, form=form)))
        check_outputs(ours, bare)
        check_answers(ours, bare)
        table.add(f"stream: {DELTAS} deltas {name}, {form}", "ms", cpu_ms(ours), cpu_ms(bare), 1.5)


def wall_turns_us(results):
    """From each request to the next: the response, and what is done with it."""
    turns = []
    for result in results:
        requests = result["requests"]
        turns += [(after["received"] - before["received"]) / 1e3
                  for before, after in zip(requests, requests[1:])]
    return turns


def cpu_turns_us(long, short, turns):
    """Processor time of what the long runs do more than the short ones."""
    between = statistics.median(run["cpu_us"] for run in short)
    return [(run["cpu_us"] - between) / turns for run in long]


def measure_tls(bench, table):
    """One short answer on a new connection, and turns on one that is kept: were there a second
    one, ask() would say so."""
    scenario = "text-20"
    runs = in_turns(bench.times(60), lambda: bench.ask(bench.run_mortise(scenario, tls=True)),
                    lambda: bench.ask(bench.run_bare(scenario, tls=True)))
    check_outputs(*runs)
    table.add("tls: first connection, exec to request", "ms", ms(runs[0], "first_request_ns"),
              ms(runs[1], "first_request_ns"), 1.2)
    table.add("tls: first connection, CPU", "ms", cpu_ms(runs[0]), cpu_ms(runs[1]), 1.2)
    few, many = TOOL_TURNS, TOOL_TURNS * 4

    def ours(turns):
        return bench.ask(bench.run_mortise(f"calls-{turns}", 10, tls=True), turns + 1)

    def bare(turns):
        return bench.ask(bench.run_bare(f"calls-{turns}", 10, keep=True, tls=True), turns + 1)

    runs = in_turns(bench.times(30), lambda: ours(many), lambda: bare(many), lambda: ours(few),
                    lambda: bare(few))
    check_bodies(runs[0], runs[1])
    table.add("tls: a turn on a kept connection, wall time", "us", wall_turns_us(runs[0]),
              wall_turns_us(runs[1]), 1.1)
    table.add("tls: a turn on a kept connection, CPU", "us",
              cpu_turns_us(runs[0], runs[2], many - few),
              cpu_turns_us(runs[1], runs[3], many - few), 1.1)


def measure_big(bench, table):
    """One event of many megabytes: what a byte of it costs beside a byte of a smaller one, and how
    much memory all of it takes.  And a response that is long but says little."""
    for form in FORMATS:
        runs = in_turns(2,
                        *(lambda size=size: bench.ask(bench.run_mortise(f"line-{size}", form=form))
                          for size in LINE_KILOBYTES),
                        lambda: bench.ask(bench.run_bare(f"line-{LINE_KILOBYTES[-1]}", form=form)),
                        warm_up=False)
        bare, small = runs[-1], runs[0]
        check_outputs(runs[-2], bare)
        for size, large in zip(LINE_KILOBYTES[1:], runs[1:-1]):
            table.add(f"big: {size / 1e3:g} MB in a line beside 12.5, {form}", "ns", byte_ns(large),
                      byte_ns(small), 1.2)
        table.add(f"big: {size / 1e3:g} MB in a line, CPU, {form}", "ms", cpu_ms(runs[-2]),
                  cpu_ms(bare), 1.5)
        table.add(f"big: {size / 1e3:g} MB in a line, memory, {form}", "MB", peak_mb(runs[-2]),
                  peak_mb(bare), 3)
    for form in FORMATS:
        short, long = in_turns(
            1, *(lambda size=size: bench.ask(bench.run_mortise(f"bulk-{size}", form=form))
                 for size in BULK_KILOBYTES), warm_up=False)
        table.add(f"big: memory of 100 MB beside 10, {form}", "MB", peak_mb(long), peak_mb(short),
                  1.2)


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

    def delta(form, *way):
        few, many = (bench.instructions([bench.program("decode"), form, str(deltas), *way],
                                        asks=False) for deltas in (1000, 3000))
        return (many - few) / 2000e3

    loads = [bench.program("bare_dlopen"), bench.plugins(20)]
    table.add("count: start, 20 plugins, beside dlopen()", "M",
              [bench.instructions(bench.list_mortise(20), asks=False) / 1e6],
              [bench.instructions(loads, asks=False) / 1e6])
    table.add("count: one-shot", "M", [bench.instructions(bench.run_mortise("text-20")) / 1e6],
              [bench.instructions(bench.run_bare("text-20")) / 1e6])
    for form, limit in DECODER_LIMITS.items():
        scenario = f"burst-{COUNTED_DELTAS}"
        table.add(f"count: {COUNTED_DELTAS} deltas, {form}", "M",
                  [bench.instructions(bench.run_mortise(scenario, form=form)) / 1e6],
                  [bench.instructions(bench.run_bare(scenario, form=form)) / 1e6], 1.5)
        table.add(f"count: decoding a delta, {form}", "k", [delta(form)], [delta(form, "bare")],
                  limit)
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


def measure_json(bench, table):
    """Reading JSON beside jansson's own reader, whose values are built."""
    for name, way, limit in (("json: a text of 64 KiB", "string", 0.2),
                             ("json: 400 small objects", "records", 0.7)):
        done = subprocess.run([bench.program("json_text"), way, str(bench.times(300))],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(done.stderr.strip())
        figures = json.loads(done.stdout)
        table.add(name, "us", [ns / 1e3 for ns in figures["ours_ns"]],
                  [ns / 1e3 for ns in figures["jansson_ns"]], limit)


def measure_isolated(bench, table):
    """One tool, called directly, here and in a process of its own by turns."""
    done = subprocess.run([bench.program("isolated_call"), bench.mortise,
                           os.path.join(bench.plugins(10), "bench_0000.so"),
                           str(bench.times(50000))], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(done.stderr.strip())
    figures = {name: value / 1e3 for name, value in json.loads(done.stdout).items()}
    table.add("isolated call: beside the same call in process", "us", [figures["isolated_ns"]],
              [figures["direct_ns"]])
    table.add_alone("isolated call: how much longer it takes", "us", figures["more_ns"],
                    figures["more_quarter_ns"], 15)


def measure_session(bench, table):
    """Processor time of a late turn beside an early one; copying its bytes is not counted."""
    for wire in FORMATS.values():
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


def measure_sandbox(bench, table):
    """A child that shuts itself in and ends."""
    for way, limit_us in (("required", 1000), ("namespaces", None)):
        figures = []
        for each in ("bare", way):
            done = subprocess.run([bench.program("sandbox"), bench.scratch, each,
                                   str(bench.times(1000))], capture_output=True, text=True)
            if done.returncode != 0:
                raise Failure(done.stderr.strip())
            figures.append(json.loads(done.stdout))
        bare, ours = ([one["quarter_ns"] / 1e3, one["median_ns"] / 1e3] for one in figures)
        if limit_us:
            table.add_alone(f"sandbox: fork, enter, exit, {way}", "us", ours[1], ours[0], limit_us)
        else:
            table.add(f"sandbox: the same with {way}, beside fork", "us", ours, bare)
    plugin = bench.program("confined_plugin.so")
    figures = run_confined(bench, plugin, "bench_confined", {"count": 3}, 0, 1000)
    check_said(figures, "3")
    table.add_alone("sandbox: a whole call of a tool in its own", "us",
                    figures["median_ns"] / 1e3, figures["quarter_ns"] / 1e3, 3000)


def run_confined(bench, plugin, tool, arguments, pause_ms, calls):
    done = subprocess.run([bench.program("confined_call"), bench.mortise, plugin, tool,
                           json.dumps(arguments), str(pause_ms), str(bench.times(calls))],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(done.stderr.strip())
    return json.loads(done.stdout)


def check_said(figures, expected):
    if not figures["result"].startswith(expected):
        raise Failure(f"a tool said {figures['result']}")


def measure_code(bench, table):
    """1+1 in each language of execute_code: the whole call, in a sandbox of its own."""
    plugin = os.path.join(os.path.dirname(os.path.dirname(bench.mortise)), "lib", "mortise",
                          "plugins", "execute_code.so")
    for language, limit_ms in (("javascript", 5), ("python", 5), ("typescript", 25)):
        figures = run_confined(bench, plugin, "execute_code",
                               {"language": language, "code": "1+1"}, 20, 200)
        check_said(figures, '{"value":2,')
        table.add_alone(f"code: 1+1 in {language}", "ms", figures["median_ns"] / 1e6,
                        figures["quarter_ns"] / 1e6, limit_ms)


# ---- as a server of tools ------------------------------------------------------------------


def run_clients(bench, plan):
    modules = bench.modules()
    plan = {"modules": modules, "env": bench.environment, "rounds": 1, "calls": 1, **plan}
    done = subprocess.run(["node", os.path.join(HERE, "mcp.mjs"), json.dumps(plan)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(done.stderr.strip()[-2000:])
    return json.loads(done.stdout)


def mcp_echoes(bench, servers, calls, size):
    """Medians of each server, in microseconds, one a round."""
    def asks(command):
        def run():
            done = subprocess.run([bench.program("mcp_ask"), str(calls), str(size), *command],
                                  env=bench.environment, capture_output=True, text=True)
            if done.returncode != 0:
                raise Failure(done.stderr.strip())
            return json.loads(done.stdout)["median_ns"] / 1e3
        return run
    return in_turns(max(bench.times(9), 5), *(asks(command) for command in servers.values()))


def measure_mcp(bench, table):
    """An echo over standard input and output, beside the least server in C and an official one:
    asked by a client that costs nothing, so that the servers are compared, and by an official one,
    which takes more time than most servers do; memory and start."""
    if not bench.modules():
        print("the packages of npm are not installed: no server is measured beside theirs")
        return
    servers = {"mortise": bench.serve_mortise("-e", bench.beside("mcp", "conformance.so")),
               "minimal": [bench.program("minimal_mcp")],
               "everything": ["node", os.path.join(bench.modules(), "node_modules", ".bin",
                                                   "mcp-server-everything"), "stdio"]}
    for size, words, calls, to_minimal, to_everything in ((5, "5 bytes", 1000, 1.5, 1 / 3),
                                                          (65536, "64 KiB", 100, None, 1)):
        ours, minimal, everything = mcp_echoes(bench, servers, bench.times(calls), size)
        table.add(f"mcp: echo of {words}, beside the least server", "us", ours, minimal, to_minimal)
        table.add(f"mcp: echo of {words}, beside server-everything", "us", ours, everything,
                  to_everything)
        figures = run_clients(bench, {"servers": servers, "rounds": max(bench.times(9), 5),
                                      "calls": bench.times(calls), "bytes": size})
        ours, minimal, everything = (figures[name]["median_us"] for name in servers)
        table.add("mcp: the same with SDK v1, beside the least", "us", ours, minimal, to_minimal)
        table.add("mcp: the same with SDK v1, server-everything", "us", ours, everything, 1)
        if size == 5:
            memory = figures["mortise"]["memory_mb"]
            table.add_alone("mcp: memory before the first call", "MB", memory, memory, 6)
    figures = run_clients(bench, {"started": {
        "mortise": bench.serve_mortise("-P", bench.plugins(20))}, "starts": bench.times(25)})
    times = sorted(figures["mortise"]["start_ms"])
    table.add_alone("mcp: start to the list of 20 plugins' tools", "ms", statistics.median(times),
                    times[len(times) // 4], 50)


MEASURES = {"start": measure_start, "one-shot": measure_one_shot, "turn": measure_turns,
            "stream": measure_deltas, "tls": measure_tls, "big": measure_big, "call": measure_call,
            "json": measure_json, "isolated": measure_isolated, "session": measure_session,
             "sandbox": measure_sandbox, "code": measure_code, "mcp": measure_mcp,
            "count": measure_instructions}


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
