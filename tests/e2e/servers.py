"""servers - what stands between a program and a model: TLS, HTTP/2, proxies, sockets, bad luck.

Every server is on this machine; a test reaches "model.test" through a proxy that knows the name.
"""
import base64
import contextlib
import os
import select
import socket
import ssl
import subprocess
import threading

import e2e

KEY = "sk-canary-4c1d77a0b9"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


def chunked(reply):
    """A whole response whose connection stays."""
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(reply), reply)


def read_request(connection, data=b""):
    """The head of a request as text, its body, and what was read behind it; None when there is none.

    `data` was read before.
    """
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, data = data.split(b"\r\n\r\n", 1)
    size = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    while len(data) < size:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    return head.decode("latin-1"), data[:size], data[size:]


class Listener:
    """Runs serve(connection, number) for each connection on a thread; number counts from 1.

    What a connection was asked is in `requests`, with the number of the connection.
    """

    def __init__(self, serve=None, tls=None, family=socket.AF_INET, path=None):
        if serve:
            self.serve = serve
        self.tls = tls
        self.requests = []  # (number of the connection, head)
        self.connections = 0
        self.errors = []  # of TLS
        self.lock = threading.Lock()
        if path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.bind(path)
            self.socket.listen(16)
            self.port = None
        else:
            host = "::1" if family == socket.AF_INET6 else "127.0.0.1"
            self.socket = socket.create_server((host, 0), family=family, backlog=64)
            self.port = self.socket.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *reason):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # ends accept(), which would hold it open
        self.socket.close()

    def url(self, host="127.0.0.1", path="/v1"):
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}{path}"

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                number = self.connections
            threading.Thread(target=self.run, args=(connection, number), daemon=True).start()

    def run(self, connection, number):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            pass  # a socket of this machine
        try:
            with connection:
                if not self.tls:
                    self.serve(connection, number)
                    return
                with self.tls.wrap_socket(connection, server_side=True) as secure:
                    self.serve(secure, number)
        except ssl.SSLError as error:
            self.errors.append(error)
        except OSError:
            pass  # the client hung up

    def read(self, connection, number):
        request = read_request(connection)
        if request:
            with self.lock:
                self.requests.append((number, request[0]))
        return request


def answering(*replies, **how):
    """A server that keeps its connections and answers request n with reply n, the last for ever."""

    def serve(connection, number):
        while server.read(connection, number):
            reply = replies[min(len(server.requests), len(replies)) - 1]
            connection.sendall(chunked(reply))

    server = Listener(serve, **how)
    return server


class Case(e2e.Case):
    """One request after the other to a server, and the key is never shown."""

    def ask(self, url, *options, env=None, model="openai/m", **how):
        done = self.mortise("--no-account", "-m", model, "--base-url", url, "--retries", "0",
                            *options, "hi", env={"OPENAI_API_KEY": KEY, **(env or {})}, **how)
        self.assertNotIn("canary", done.out + done.err)
        return done

    def check_answer(self, done, text="hello there"):
        self.check(done, 0)
        self.assertEqual(done.out, text + "\n")


# ---- certificates ----


class Authority:
    """A CA in a folder, and certificates that it issues."""

    def __init__(self, folder, name="Private Test CA"):
        self.folder = folder
        self.count = 0
        self.name = name
        self.certificate = self.place("ca.pem")
        self.key = self.place("ca.key")
        self.openssl("req", "-x509", *self.new_key(self.key), "-days", "2",
                     "-subj", f"/O=Mortise/CN={name}", "-out", self.certificate)

    def place(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    @staticmethod
    def new_key(path):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path]

    def issue(self, name, alternative=None, days=2):
        """The files of a certificate and its key."""
        self.count += 1
        certificate, key, request = (self.place(f"{self.count}.{end}") for end in
                                     ("pem", "key", "csr"))
        self.openssl("req", "-new", *self.new_key(key), "-subj", f"/CN={name}",
                     "-addext", f"subjectAltName={alternative or 'DNS:' + name}", "-out", request)
        self.openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                     "-copy_extensions", "copy", "-days", str(days), "-out", certificate)
        return certificate, key

    def self_signed(self, name):
        certificate, key = self.place("self.pem"), self.place("self.key")
        self.openssl("req", "-x509", *self.new_key(key), "-days", "2", "-subj", f"/CN={name}",
                     "-addext", f"subjectAltName=DNS:{name},IP:127.0.0.1", "-out", certificate)
        return certificate, key


def tls(certificate, key, client_ca=None, newest=None, alpn=None):
    """How a server speaks TLS; `client_ca`: whose certificates clients must show."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(client_ca)
    if newest:
        context.maximum_version = newest
    if alpn:
        context.set_alpn_protocols(alpn)
    return context


# ---- HTTP/2 ----


class Http2(Listener):
    """Answers stream n of all with reply n, the last for ever; counts streams.

    `shut`: behind the first stream no further one may send a byte of its body.
    `refuse`: the first stream is refused.
    """

    def __init__(self, *replies, tls, shut=False, refuse=False):
        super().__init__(tls=tls)
        self.replies = replies
        self.shut = shut
        self.refuse = refuse
        self.streams = []  # (number of the connection, number of the stream)
        self.protocols = []

    def serve(self, connection, number):
        import h2.config
        import h2.connection
        import h2.events

        self.protocols.append(connection.selected_alpn_protocol())
        state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        state.initiate_connection()
        connection.sendall(state.data_to_send())
        while data := connection.recv(65536):
            for event in state.receive_data(data):
                if isinstance(event, h2.events.DataReceived):
                    state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    self.answer(state, number, event.stream_id)
            connection.sendall(state.data_to_send())

    def answer(self, state, number, stream):
        with self.lock:
            self.streams.append((number, stream))
            count = len(self.streams)
        if self.refuse and count == 1:
            state.reset_stream(stream, error_code=7)  # REFUSED_STREAM: nothing was done
            return
        reply = self.replies[min(count, len(self.replies)) - 1]
        state.send_headers(stream, [(":status", "200"), ("content-type", "text/event-stream")])
        for at in range(0, len(reply), 1000):
            state.send_data(stream, reply[at:at + 1000])
        if self.shut:
            state.update_settings({4: 0})  # INITIAL_WINDOW_SIZE
        state.end_stream(stream)


# ---- proxies ----


def pump(one, other):
    """Bytes both ways until one side ends."""
    while True:
        ready, _, _ = select.select([one, other], [], [])
        for source in ready:
            data = source.recv(65536)
            if not data:
                return
            (other if source is one else one).sendall(data)


class Proxy(Listener):
    """Knows where the names lead: {"model.test": port}; every port of a name is that one.

    `user`: "name:password" that it wants.  `status`: how it answers every CONNECT.
    """

    def __init__(self, names, user=None, status=200, tls=None):
        super().__init__(tls=tls)
        self.names = names
        self.user = user
        self.status = status

    def url(self, host="127.0.0.1", path=""):
        return super().url(host, path)

    def is_known(self, head):
        expected = "Basic " + base64.b64encode((self.user or "").encode()).decode()
        return not self.user or f"proxy-authorization: {expected}".lower() in head.lower()

    def serve(self, connection, number):
        while request := self.read(connection, number):
            head, body, _ = request
            method, target, _ = head.split("\r\n")[0].split(" ")
            if not self.is_known(head):
                connection.sendall(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n"
                                   b'Proxy-Authenticate: Basic realm="proxy"\r\n\r\n')
                continue
            if self.status != 200:
                connection.sendall(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % self.status)
                continue
            name = (target if method == "CONNECT" else target.split("/")[2]).rsplit(":", 1)[0]
            if name not in self.names:
                connection.sendall(b"HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n")
                continue
            with socket.create_connection(("127.0.0.1", self.names[name])) as server:
                if method == "CONNECT":
                    connection.sendall(b"HTTP/1.1 200 Go on\r\n\r\n")
                else:
                    server.sendall(head.encode("latin-1") + b"\r\n\r\n" + body)
                pump(connection, server)
                return


class Socks(Listener):
    """SOCKS5 with names; `user`: (name, password) that it wants."""

    def __init__(self, names, user=None):
        super().__init__()
        self.names = names
        self.user = user
        self.asked = []

    @staticmethod
    def exactly(connection, count):
        data = b""
        while len(data) < count:
            more = connection.recv(count - len(data))
            if not more:
                raise OSError("it hung up")
            data += more
        return data

    def is_known(self, connection):
        methods = self.exactly(connection, self.exactly(connection, 2)[1])
        if not self.user:
            connection.sendall(b"\5\0")
            return True
        if 2 not in methods:
            connection.sendall(b"\5\xff")
            return False
        connection.sendall(b"\5\2")
        self.exactly(connection, 1)
        given = tuple(self.exactly(connection, self.exactly(connection, 1)[0]).decode()
                      for _ in range(2))
        connection.sendall(b"\1\0" if given == self.user else b"\1\1")
        return given == self.user

    def serve(self, connection, number):
        if not self.is_known(connection):
            return
        kind = self.exactly(connection, 4)[3]
        if kind != 3:
            return  # it was not to be resolved here
        name = self.exactly(connection, self.exactly(connection, 1)[0]).decode()
        self.exactly(connection, 2)
        self.asked.append(name)
        known = name in self.names
        connection.sendall(b"\5" + (b"\0" if known else b"\4") + b"\0\1\0\0\0\0\0\0")
        if known:
            with socket.create_connection(("127.0.0.1", self.names[name])) as server:
                pump(connection, server)


@contextlib.contextmanager
def black_hole():
    """A port that takes no connection and refuses none: its queue is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        try:
            for _ in range(3):
                client = socket.socket()
                client.setblocking(False)
                client.connect_ex(listener.getsockname())
                waiting.append(client)
            yield listener.getsockname()[1]
        finally:
            for client in waiting:
                client.close()
