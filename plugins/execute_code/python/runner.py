"""Runs code that a model wrote, and tells what became of it.

This text is run once, in the process that calls are forked from; run() once in each of these.  It
has a copy of the builtins, and what it uses of modules it takes here: code may replace either.
"""
import ast
import atexit
import builtins
import gc
import io
import linecache
import os
import reprlib
import sys
import threading
import time
import traceback
import types

# What code most often imports is there already.
for _name in ("json math re datetime random collections itertools functools operator statistics decimal "
              "fractions string textwrap dataclasses typing csv io base64 hashlib heapq bisect copy "
              "enum time contextlib pathlib").split():
    try:
        __import__(_name)
    except ImportError:  # a Python that comes in parts
        pass

NAME = "<code>"  # in tracebacks
FRAMES = 40
MESSAGE = 4000
STACK = 6000
NODES = 2000
DEPTH = 100
PATIENCE_S = 1.0  # for threads that the code left behind

_now, _join, _alive = time.monotonic, threading.Thread.join, threading.Thread.is_alive
_threads, _this_thread = threading.enumerate, threading.current_thread
_at_exit, _limit_recursion, _recursion = atexit._run_exitfuncs, sys.setrecursionlimit, sys.getrecursionlimit()
_builtins = dict(builtins.__dict__)
_escapes = {code: f"\\u{code:04x}" for code in range(32)} | {34: '\\"', 92: "\\\\", 10: "\\n", 9: "\\t", 13: "\\r"}
_Traceback, _Stack = traceback.TracebackException, traceback.StackSummary


class Raw(io.RawIOBase):
    """What sys.stdout.buffer is: bytes go out as they are."""

    def __init__(self, emit, number):
        self._emit, self._number = emit, number

    def writable(self):
        return True

    def write(self, data):
        data = bytes(data)
        self._emit(self._number, data)
        return len(data)


class Stream(io.TextIOBase):
    """What sys.stdout is."""

    encoding, errors, newlines, mode, line_buffering = "utf-8", "backslashreplace", None, "w", True

    def __init__(self, emit, number, name):
        self._emit, self._number, self.name = emit, number, name
        self.buffer = Raw(emit, number)

    def writable(self):
        return True

    def reconfigure(self, **_options):
        pass

    def write(self, text):
        if self.closed:
            raise ValueError("I/O operation on closed file")
        self._emit(self._number, text.encode("utf-8", "backslashreplace"))
        return len(text)


def cut(text, most):
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} … {len(text) - 2 * half} characters left out … {text[-half:]}"


def clean(text):
    """Text that any reader of JSON takes."""
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def to_json(value):
    """Of dicts, lists, texts that are clean, numbers, True, False and None."""
    kind = type(value)
    if kind is str:
        return '"' + value.translate(_escapes) + '"'
    if kind is dict:
        return "{" + ",".join(f"{to_json(key)}:{to_json(item)}" for key, item in value.items()) + "}"
    if kind is list:
        return "[" + ",".join(map(to_json, value)) + "]"
    return {None: "null", True: "true", False: "false"}[value] if value is None or kind is bool else repr(value)


class NotJson(Exception):
    pass


class Plain:
    """A copy of a value that is nothing but JSON, and not too long."""

    def __init__(self, room):
        self.room = room

    def take(self, count):
        self.room -= count
        if self.room < 0:
            raise NotJson

    def copy(self, value, depth=0):
        kind = type(value)
        self.take(1)
        if value is None or kind is bool:
            return value
        if kind is str:
            self.take(len(value))
            return clean(value)
        if kind is int and -(1 << 63) <= value < 1 << 63:
            return value
        if kind is float and value - value == 0:
            return value
        if kind is list and depth < DEPTH:
            return [self.copy(item, depth + 1) for item in value]
        if kind is dict and depth < DEPTH:
            return {self.key(key): self.copy(item, depth + 1) for key, item in value.items()}
        raise NotJson

    def key(self, key):
        if type(key) is not str:
            raise NotJson
        return self.copy(key)


def is_short(value):
    """Whether repr() of builtin containers stays small."""
    left, todo = NODES, [value]
    while todo and left > 0:
        item = todo.pop()
        left -= 1
        if type(item) in (list, tuple, set, frozenset):
            left -= len(item)
            if left > 0:
                todo.extend(item)
        elif type(item) is dict:
            left -= len(item)
            if left > 0:
                todo.extend(item.keys())
                todo.extend(item.values())
        elif type(item) in (str, bytes, bytearray):
            left -= len(item) // 32
    return left > 0


def show(value, most):
    """As a console shows it."""
    try:
        if is_short(value):
            return cut(repr(value), most)
        brief = reprlib.Repr()
        brief.maxlevel = 6
        brief.maxlist = brief.maxtuple = brief.maxset = brief.maxfrozenset = brief.maxdict = 100
        brief.maxdeque = brief.maxarray = 100
        brief.maxstring = brief.maxother = brief.maxlong = most
        return cut(brief.repr(value), most)
    except BaseException as problem:
        return f"[its repr() raised {type(problem).__name__}]"


def tell(value, most):
    try:
        return {"value": Plain(most).copy(value)}
    except (NotJson, RecursionError):
        pass
    shown = cut(value, most) if type(value) is str else show(value, most)
    return {"value": clean(shown), "value_type": clean(type(value).__name__)}


def message_of(error):
    try:
        return cut(str(error), MESSAGE)
    except BaseException as problem:
        return f"[its str() raised {type(problem).__name__}]"


def position(error):
    """Line and column, from 1, of the innermost frame of the code."""
    found = None, None
    at = error.__traceback__
    while at:
        code = at.tb_frame.f_code
        if code.co_filename == NAME:
            column = None
            if hasattr(code, "co_positions"):
                for index, spot in enumerate(code.co_positions()):
                    if index == at.tb_lasti // 2:
                        column = spot[2]
                        break
            found = at.tb_lineno, None if column is None else column + 1
        at = at.tb_next
    return found


def stack_of(error):
    """The traceback, of the code's own frames."""
    trace = _Traceback(type(error), error, error.__traceback__, limit=-FRAMES, compact=True)
    todo, seen = [trace], set()
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.stack = _Stack.from_list([frame for frame in one.stack if frame.filename == NAME])
        todo += [one.__cause__, one.__context__]
    return "".join(trace.format())


def failure(error):
    about = {"type": clean(type(error).__name__), "message": clean(message_of(error))}
    if isinstance(error, SyntaxError) and error.filename == NAME:
        line, column = error.lineno, error.offset
        about["message"] = clean(cut(str(error.msg), MESSAGE))
    else:
        line, column = position(error)
    if type(line) is int and line > 0:
        about["line"] = line
        if type(column) is int and column > 0:
            about["column"] = column
    try:
        stack = stack_of(error)
        about["stack"] = clean(stack if len(stack) <= STACK else "…" + stack[-STACK:])
    except BaseException:
        pass  # the code has changed what makes it
    return {"error": about}


def execute(text, space):
    """The value of the last expression, or None."""
    tree = ast.parse(text, NAME)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, NAME, "exec"), space)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), NAME, "eval"), space)


def settle():
    """What a program does at its end: wait for threads, but not for ever; functions of atexit."""
    end = _now() + PATIENCE_S
    others = [thread for thread in _threads() if thread is not _this_thread() and not thread.daemon]
    for thread in others:
        _join(thread, max(0.0, end - _now()))
    left = sum(_alive(thread) for thread in others)
    if left:
        sys.__stderr__.write(f"[{left} thread{'s' if left > 1 else ''} still running at the end, and stopped]\n")
    _at_exit()


def mend():
    """What the code may have changed that modules need which are used after it."""
    builtins.__dict__.update(_builtins)
    _limit_recursion(_recursion)


def flush_all():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass  # replaced by something else, or closed


def begin(emit, text):
    """Nothing of the process before is there."""
    folder = os.getcwd()
    os.environ.clear()
    os.environ.update(HOME=folder, TMPDIR=folder, LANG="C.UTF-8")
    sys.stdin = sys.__stdin__ = io.StringIO("")
    sys.stdout = sys.__stdout__ = Stream(emit, 1, "<stdout>")
    sys.stderr = sys.__stderr__ = Stream(emit, 2, "<stderr>")
    sys.argv = [""]
    builtins.exit = builtins.quit = os._exit = sys.exit  # an end that can be told
    linecache.cache[NAME] = len(text), None, text.splitlines(True), NAME
    sys.modules["__main__"] = main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    return main.__dict__


def run(code, emit, most):
    """Members of a JSON object, without its braces, as bytes."""
    text = code.decode("utf-8", "replace")
    space = begin(emit, text)
    try:
        outcome = execute(text, space)
        told = None
    except SystemExit as end:
        outcome = None
        told = None if end.code in (None, 0) else {"error": {
            "type": "SystemExit",
            "message": clean(f"exit status {end.code}" if type(end.code) is int else message_of(end))}}
    except BaseException as error:
        mend()
        outcome, told = None, failure(error)
    mend()
    try:
        settle()
    except BaseException:
        pass
    told = told or tell(outcome, most)
    flush_all()
    return to_json(told)[1:-1].encode("utf-8", "replace")


def warm_up():
    """What is made for the first time is made here and not in each call."""
    for _ in range(10):
        to_json(tell(execute("print\n[1, {'a': 'b'}]", {}), 1000)).encode()
        types.ModuleType("__main__")
        settle()


warm_up()
gc.collect()
gc.freeze()  # what is here now is not looked at again, and stays shared memory
