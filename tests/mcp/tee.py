#!/usr/bin/env python3
"""Stands between a client and a server of the protocol, and writes down what each says.

    tee.py FILE -- COMMAND…   in the place of COMMAND: its standard input and output
    tee.py FILE HOST:PORT     in the place of HOST:PORT, on a port of its own, which it prints

Each process writes a file of its own, FILE.PID.jsonl: lines with "from" (client, server or tee),
"ms" since the start, and what came: a "line", or for a port the "bytes" of one "connection" as
they came.
"""
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

CHUNK = 1 << 16


class Transcript:
    def __init__(self, name):
        self.out = open(f"{name}.{os.getpid()}.jsonl", "w", encoding="utf-8")
        self.start = time.monotonic()
        self.lock = threading.Lock()

    def write(self, who, **said):
        entry = {"from": who, "ms": round((time.monotonic() - self.start) * 1e3, 1), **said}
        with self.lock:
            self.out.write(json.dumps(entry, ensure_ascii=False) + "\n")
            self.out.flush()


def write_all(fd, data):
    while data:
        data = data[os.write(fd, data):]


# ---- a process -------------------------------------------------------------------------------

def pass_lines(transcript, who, source, target):
    """Bytes are passed on as they come; what is written down are whole lines."""
    rest = b""
    while chunk := os.read(source, CHUNK):
        try:
            write_all(target, chunk)
        except BrokenPipeError:
            break
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            transcript.write(who, line=line.decode("utf-8", "replace"))
    if rest:
        transcript.write(who, line=rest.decode("utf-8", "replace"), unfinished=True)
    transcript.write(who, ended=True)


def stand_before(transcript, command):
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: child.send_signal(received))

    def feed():
        pass_lines(transcript, "client", 0, child.stdin.fileno())
        child.stdin.close()

    threading.Thread(target=feed, daemon=True).start()
    pass_lines(transcript, "server", child.stdout.fileno(), 1)
    status = child.wait()
    transcript.write("tee", status=status)
    return status if status >= 0 else 128 - status


# ---- a port ----------------------------------------------------------------------------------

def pass_bytes(transcript, who, number, source, target):
    try:
        while chunk := source.recv(CHUNK):
            transcript.write(who, connection=number, bytes=chunk.decode("utf-8", "replace"))
            target.sendall(chunk)
    except OSError:
        pass
    transcript.write(who, connection=number, ended=True)
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def stand_at_port(transcript, target):
    host, port = target.rsplit(":", 1)
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    for number in range(1 << 30):
        client, _ = listener.accept()
        server = socket.create_connection((host, int(port)))
        for who, source, other in (("client", client, server), ("server", server, client)):
            threading.Thread(target=pass_bytes, daemon=True,
                             args=(transcript, who, number, source, other)).start()


def main():
    transcript = Transcript(sys.argv[1])
    if sys.argv[2] == "--":
        sys.exit(stand_before(transcript, sys.argv[3:]))
    stand_at_port(transcript, sys.argv[2])


if __name__ == "__main__":
    main()
