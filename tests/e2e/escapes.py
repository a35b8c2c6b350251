"""escapes - what code of a model might try, in each language that execute_code runs.

An attempt is code that either gets through, and then says ESCAPED, or is refused, and then says
"denied" and why.  Names in capitals between @ stand for places of the world that test_escapes.py
makes around it.  `outside`: it gets through where nothing confines it, which shows that it is an
attempt at all.
"""
import collections
import textwrap

Attempt = collections.namedtuple("Attempt", "name code outside")

# ---- Python ----

PYTHON_BEGIN = '''
import os, sys

def system_call(number, *arguments):
    """By its number on x86-64, whatever libraries say."""
    import ctypes
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    result = call(*[ctypes.c_long(x) if isinstance(x, int) else x for x in (number, *arguments)])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def attempt():
'''

PYTHON_END = '''
try:
    attempt()
    print("ESCAPED")
except BaseException as refused:
    print("denied:", type(refused).__name__, refused)
'''


def python(name, body, outside=True):
    code = PYTHON_BEGIN + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + PYTHON_END
    return Attempt(name, code, outside)


PYTHON_FILES = [
    python("read a file", "open('@SECRET@').read()"),
    python("read a file of the system", "open('/etc/passwd').read()"),
    python("read with a descriptor", "os.read(os.open('@SECRET@', os.O_RDONLY), 10)"),
    python("list the root", "os.listdir('/')"),
    python("list the home folder", "os.listdir('@HOME@')"),
    python("write a file", "open('@HOME@/new', 'w').write('x')"),
    python("append to a file", "open('@SECRET@', 'a').write('x')"),
    python("empty a file", "os.truncate('@SECRET@', 0)", False),
    python("remove a file", "os.remove('@SECRET@')", False),
    python("make a folder", "os.mkdir('@HOME@/folder')"),
    python("rename a file", "os.rename('@SECRET@', '@SECRET@.moved')", False),
    python("take a file into the scratch folder", "os.rename('@SECRET@', 'mine')", False),
    python("link a file hard", "os.link('@SECRET@', 'link'); open('link').read()"),
    python("link a file softly", "os.symlink('@SECRET@', 'soft'); open('soft').read()"),
    python("climb", "open('../' * 30 + '@SECRET@'.lstrip('/')).read()"),
    python("change a mode", "os.chmod('@SECRET@', 0o777)", False),
    python("change the times", "os.utime('@SECRET@', (1, 1))", False),
    python("go to another folder and read", "os.chdir('@HOME@'); open('secret').read()"),
    python("another root", "os.chroot('@HOME@')", False),
    python("a device", "open('/dev/mem', 'rb')", False),
    python("a terminal", "open('/dev/tty', 'w')", False),
    python("a pipe with a name", "os.mkfifo('@HOME@/fifo')"),
    python("a program's code from elsewhere",
           "sys.path.insert(0, '@HOME@'); import outsider"),
    python("a library from elsewhere", "import ctypes; ctypes.CDLL('@LIBRARY@')"),
    python("a database elsewhere",
           "import sqlite3; sqlite3.connect('@HOME@/db').execute('create table t(x)')"),
    python("memory of a file", """
        import mmap
        mmap.mmap(os.open('@SECRET@', os.O_RDONLY), 0, prot=mmap.PROT_READ).read()"""),
    python("watch a folder", "system_call(254, system_call(253), b'@HOME@', 0xfff)"),
]

PYTHON_PROC = [
    python("the environment of the host", "open('/proc/@HOST@/environ').read()"),
    python("the environment of another process", "open('/proc/@WITNESS@/environ').read()"),
    python("the memory of another process", "open('/proc/@WITNESS@/mem', 'rb')"),
    python("the root through another process", "os.listdir('/proc/@WITNESS@/root/')"),
    python("the folder of another process", "os.listdir('/proc/@WITNESS@/cwd/')"),
    python("what the host has open, by links", "open('/proc/@HOST@/fd/1', 'w')", False),
    python("its own memory", "open('/proc/self/mem', 'r+b')"),
    python("its own maps", "open('/proc/self/maps').read()"),
    python("settings of the kernel", "open('/proc/sys/kernel/hostname').read()"),
    python("the parent's files", "os.listdir(f'/proc/{os.getppid()}/fd')"),
    python("a file by its descriptor", """
        for number in range(3, 1024):
            try:
                os.listdir(number)
                return
            except OSError:
                pass
        raise PermissionError('no descriptor is a folder')""", False),
    python("variables of the host", """
        if '@TOKEN@' not in repr(dict(os.environ)):
            raise PermissionError(f'only {sorted(os.environ)}')"""),
    python("variables of the host, as C has them", """
        import ctypes
        value = ctypes.CDLL(None).getenv
        value.restype = ctypes.c_char_p
        if value(b'CANARY') is None:
            raise PermissionError('no such variable')"""),
]

PYTHON_NETWORK = [
    python("TCP", "import socket; socket.create_connection(('127.0.0.1', @TCP@), 2)"),
    python("TCP, version 6", "import socket; socket.socket(socket.AF_INET6, socket.SOCK_STREAM)"),
    python("UDP", """
        import socket
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'@TOKEN@', ('127.0.0.1', @UDP@))"""),
    python("a socket with a path", """
        import socket
        socket.socket(socket.AF_UNIX).connect('@UNIX@')"""),
    python("a socket without a path", """
        import socket
        socket.socket(socket.AF_UNIX).connect(chr(0) + '@ABSTRACT@')"""),
    python("a raw socket", "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", False),
    python("netlink", "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)"),
    python("names of hosts", "import socket; socket.getaddrinfo('localhost', 80)"),
    python("listening", """
        import socket
        socket.create_server(('127.0.0.1', 0))"""),
    python("a web page", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:@TCP@/', timeout=2)",
           False),
    python("TCP, without libraries", "system_call(41, 2, 1, 0)"),
    python("the kernel's ciphers", "import socket; socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)",
           False),
]

PYTHON_PROCESSES = [
    python("fork", "os.fork() or os._exit(0)"),
    python("fork, without libraries", "system_call(57) or os._exit(0)"),
    python("vfork by clone", "system_call(56, 17, 0, 0, 0, 0) or os._exit(0)"),
    python("a program", "import subprocess; subprocess.run(['/bin/true'], check=True)"),
    python("a shell", "assert os.system('true') == 0, 'the shell did not run'"),
    python("a shell by C", """
        import ctypes
        if ctypes.CDLL(None).system(b'true') != 0: raise PermissionError('no shell')"""),
    python("spawn", "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)"),
    python("exec", "os.execv('/bin/echo', ['echo', 'ESCAPED'])"),
    python("exec of its own program", """
        with open('program', 'wb') as out: out.write(b'#!/bin/echo ESCAPED')
        os.chmod('program', 0o755)
        os.execv('./program', ['program'])""", False),
    python("exec from memory", """
        file = os.memfd_create('program')
        os.write(file, open('/usr/bin/echo', 'rb').read())
        os.execve(file, ['echo', 'ESCAPED'], {})"""),
    python("multiprocessing", """
        import multiprocessing
        multiprocessing.get_context('fork').Process(target=print).start()""", False),
    python("a terminal of its own", "import pty; pty.fork()[0] or os._exit(0)", False),
    python("kill of the witness", "os.kill(@WITNESS@, 9)", False),
    python("a harmless signal", "os.kill(@WITNESS@, 0)"),
    python("kill of the host", "os.kill(@HOST@, 9)", False),
    python("kill of the parent", """
        if os.getppid() < 2: raise PermissionError('it is in a world of its own')
        os.kill(os.getppid(), 9)""", False),
    python("a signal by a descriptor", """
        import signal
        signal.pidfd_send_signal(os.pidfd_open(@WITNESS@), 0)"""),
    python("a signal with a value", "system_call(129, @WITNESS@, 0, 0)", False),
    python("ptrace", "system_call(101, 16, @WITNESS@, 0, 0)", False),
    python("memory of another, by a system call", """
        import ctypes
        buffer = ctypes.create_string_buffer(8)
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
        system_call(310, @WITNESS@, ctypes.byref(vector), 1, ctypes.byref(vector), 1, 0)""", False),
    python("a descriptor of another", "system_call(438, os.pidfd_open(@WITNESS@), 0, 0)", False),
    python("limits of another", """
        import resource
        resource.prlimit(@WITNESS@, resource.RLIMIT_NOFILE, (7, 7))""", False),
    python("its own limits", """
        import resource
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most + 1, most + 1))""", False),
    python("the priority of another", "os.setpriority(os.PRIO_PROCESS, @WITNESS@, 19)", False),
    python("another group", "os.setpgid(0, @WITNESS@)", False),
    python("a session of its own", "os.setsid()", False),
    python("another user", "os.setuid(0 if os.getuid() else 1)", False),
]

PYTHON_KERNEL = [
    python("mount", "system_call(165, b'x', b'.', b'tmpfs', 0, 0)", False),
    python("namespaces", "system_call(272, 0x10000000)", False),
    python("another's namespaces", "system_call(308, os.open('/proc/@WITNESS@/ns/net', 0), 0)", False),
    python("io_uring", """
        import ctypes
        system_call(425, 1, ctypes.create_string_buffer(120))""", False),
    python("userfaultfd", "system_call(323, 1)", False),
    python("keys", "system_call(250, 0, -3, 1)", False),
    python("adding a key", "system_call(248, b'user', b'x', b'y', 1, -3)", False),
    python("bpf", "system_call(321, 0, b'x' * 128, 128)", False),
    python("perf", """
        import ctypes
        system_call(298, ctypes.create_string_buffer(128), 0, -1, -1, 0)""", False),
    python("code that is written", """
        import ctypes, mmap
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(bytes.fromhex('b82a000000c3'))
        run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
        if run() != 42: raise PermissionError('it did not run')"""),
    python("code that is made executable later", """
        import ctypes, mmap
        page = mmap.mmap(-1, 4096)
        page.write(bytes.fromhex('b82a000000c3'))
        system_call(10, ctypes.c_long(ctypes.addressof(ctypes.c_char.from_buffer(page))), 4096, 5)"""),
    python("another personality", "system_call(135, 0x0400000)"),
    python("calls of 32-bit programs", "system_call(0x40000000 + 39)", False),
    python("the clock", "import time; time.clock_settime(time.CLOCK_REALTIME, 0)", False),
    python("the host's name", "import socket; socket.sethostname('escaped')", False),
    python("messages of System V", "system_call(68, 4242, 0o1666)", False),
    python("memory of System V", "system_call(29, 4243, 4096, 0o1666)", False),
]

# ---- JavaScript and TypeScript ----


def javascript(name, body, outside=False):
    """`body` is an expression that is truthy, or a promise of that, when it got through."""
    code = ("let words;\ntry { words = await (async () => " + textwrap.dedent(body).strip() +
            ")() ? 'ESCAPED' : 'denied: it is not there'; }\n"
            "catch (refused) { words = 'denied: ' + refused; }\nconsole.log(words);")
    return Attempt(name, code, outside)


JAVASCRIPT = [
    javascript("require", "require('fs').readFileSync('@SECRET@')"),
    javascript("a dynamic import", "import('fs')"),
    javascript("a dynamic import of a file", "import('@SECRET@')"),
    javascript("a dynamic import of a URL", "import('file://@SECRET@')"),
    javascript("a dynamic import of a page", "import('http://127.0.0.1:@TCP@/x.js')"),
    javascript("a dynamic import of data", "import('data:text/javascript,export default 1')"),
    javascript("the environment", "process.env"),
    javascript("the host's binding", "process.binding('fs')"),
    javascript("the constructor of functions", "Function('return process')()"),
    javascript("the constructor of functions, of a function of the host",
               "console.log.constructor('return process')()"),
    javascript("the constructor by way of an array", "[]['filter']['constructor']('return require')()"),
    javascript("constructors of asynchronous functions",
               "(async () => {}).constructor('return import(\"fs\")')()"),
    javascript("constructors of generators",
               "[...(function* () {}).constructor('yield process')()][0]"),
    javascript("constructors of constructors",
               "this?.constructor?.constructor('return process')() || console.constructor.constructor('return process')()"),
    javascript("eval from outside", "(0, eval)('process')"),
    javascript("the main module", "globalThis.process?.mainModule || globalThis.module || globalThis.require"),
    javascript("what a shell of the engine offers",
               "['readFile', 'read', 'load', 'run', 'runString', 'quit', 'gc', 'print', '$vm', '$', "
               "'readline', 'openFile', 'checkModuleSyntax', 'createGlobalObject', 'Deno', 'Bun', "
               "'std', 'os', '$262'].some(name => name in globalThis)"),
    javascript("fetch", "fetch('http://127.0.0.1:@TCP@/')"),
    javascript("XMLHttpRequest", "new XMLHttpRequest()"),
    javascript("WebSocket", "new WebSocket('ws://127.0.0.1:@TCP@/')"),
    javascript("workers", "new Worker('x')"),
    javascript("another realm", "new ShadowRealm().evaluate('process')"),
    javascript("frames of callers", "(function f() { return f.caller && f.caller.arguments; })()"),
    javascript("traces of errors",
               "{ Error.prepareStackTrace = (e, frames) => frames; const s = new Error().stack;"
               " return typeof s !== 'string' && s[0].getThis(); }"),
    javascript("the files of dates", "{ return new Date().toLocaleString('en', {timeZone: '../../../@SECRET@'}); }"),
    javascript("a module's own words", "import.meta.url"),
]

TYPESCRIPT = [
    javascript("require", "(require as any)('fs').readFileSync('@SECRET@' as string)"),
    javascript("a declared process", "{ const p = (globalThis as any).process; return p.env as object; }"),
    javascript("a dynamic import", "import('fs' as string)"),
    javascript("the constructor of functions", "(Function as any)('return process')() as unknown"),
    javascript("fetch", "(globalThis as any).fetch!('http://127.0.0.1:@TCP@/')"),
    Attempt("an import", "import * as fs from 'fs';\nconsole.log('ESCAPED', fs);", False),
    Attempt("an import of a file", "import secret from '@SECRET@';\nconsole.log('ESCAPED', secret);", False),
    Attempt("an import as a text", "import s from '@SECRET@' assert {type: 'text'};\nconsole.log('ESCAPED', s);", False),
    Attempt("an import by require", "import fs = require('fs');\nconsole.log('ESCAPED', fs);", False),
    Attempt("a reference to a file",
            "/// <reference path=\"@SECRET@\" />\nconsole.log('denied: a comment is one');", False),
    Attempt("a map of the source elsewhere",
            "throw new Error('denied: no map');\n//# sourceMappingURL=file://@SECRET@", False),
    Attempt("settings of the compiler", "// @ts-ignore\n/** @jsx require */\nconst x = <any>null;\n"
            "console.log(typeof (globalThis as any).require === 'undefined' ? 'denied: no require' : 'ESCAPED');",
            False),
]

# ---- limits ----

Excess = collections.namedtuple("Excess", "language name code words")

EXCESSES = [
    Excess("javascript", "time", "for (;;);", ("time", "took longer")),
    Excess("javascript", "time, in promises",
           "const f = () => Promise.resolve().then(f); await f();", ("time", "took longer", "memory")),
    Excess("javascript", "time, in a pattern", "/^(a+)+$/.test('a'.repeat(60) + 'b')", ("time", "took longer", "undefined", "false")),
    Excess("javascript", "time, asleep",
           "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", ("time", "took longer", "Atomics", "SharedArrayBuffer")),
    Excess("javascript", "memory", "const a = []; for (;;) a.push(new Array(100000).fill(1.5));", ("memory",)),
    Excess("javascript", "memory, in one piece", "const b = []; for (;;) b.push(new Uint8Array(1 << 26).fill(1));", ("memory",)),
    Excess("javascript", "depth", "(function f() { f(); })()", ("RangeError", "stack")),
    Excess("typescript", "time", "for (;;) { const x: number = 1; }", ("time", "took longer")),
    Excess("typescript", "depth of the source", "(" * 200000 + "1" + ")" * 200000, ("",)),
    Excess("python", "time", "while True: pass", ("time", "took longer")),
    Excess("python", "time, asleep", "import time; time.sleep(60)", ("time", "took longer")),
    Excess("python", "time, without signals", "import signal\nfor s in range(1, 65):\n"
           "    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
           "while True: pass", ("time", "took longer")),
    Excess("python", "time, stopped", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", ("time", "took longer", "Permission", "not permitted")),
    Excess("python", "memory", "a = []\nwhile True: a.append(bytearray(1 << 24))", ("memory", "Memory")),
    Excess("python", "memory, in a file of memory",
           "import os\nf = os.memfd_create('x')\nwhile True: os.write(f, b'x' * (1 << 20))",
           ("memory", "large", "Permission", "not permitted", "limit", "denied")),
    Excess("python", "disk", "with open('big', 'wb') as f:\n    while True: f.write(b'x' * (1 << 20))",
           ("disk", "large", "limit", "space")),
    Excess("python", "inodes", "i = 0\nwhile True:\n    open(str(i), 'w').close(); i += 1", ("files", "limit")),
    Excess("python", "descriptors", "import os\nwhile True: os.open('.', os.O_RDONLY)", ("Too many open files",)),
    Excess("python", "threads", "import threading, time\n"
           "while True: threading.Thread(target=time.sleep, args=(60,)).start()", ("thread", "processes", "limit")),
    Excess("python", "depth", "import sys; sys.setrecursionlimit(10**9)\ndef f(): f()\nf()", ("signal 11", "Recursion", "memory")),
    Excess("python", "its end", "import os; os._exit(0)", ("ended", "exit", "null")),
    Excess("python", "its end by a signal", "import os; os.abort()", ("signal 6", "Aborted")),
    Excess("python", "its connection", "import os\nos.closerange(0, 1024)", ("connection", "closed", "ended", "null", "")),
]


def of_language():
    """(language, attempts), for all of them."""
    yield "python", PYTHON_FILES + PYTHON_PROC + PYTHON_NETWORK + PYTHON_PROCESSES + PYTHON_KERNEL
    yield "javascript", JAVASCRIPT
    yield "typescript", TYPESCRIPT
