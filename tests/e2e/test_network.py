"""How a server is reached: HTTP/2, connections that are kept, sockets, redirects, and what goes
wrong before an answer begins."""
import os
import socket

import e2e
import servers

ANSWER = e2e.openai_reply("hello there")
CALL = e2e.openai_reply(calls=[("call_1", "greet", '{"name": "Ada"}')])


class Connections(servers.Case):
    def test_two_turns_of_http2_share_a_connection(self):
        """ALPN chooses HTTP/2; the second turn is the next stream of the same connection."""
        authority = servers.Authority(self.folder("ca"))
        certificate = authority.issue("localhost", "IP:127.0.0.1")
        context = servers.tls(*certificate, alpn=["h2", "http/1.1"])
        with servers.Http2(CALL, CALL, ANSWER, tls=context) as server:
            self.check_answer(self.ask(server.url(), "--ca-file", authority.certificate))
        self.assertEqual(server.protocols, ["h2"])
        self.assertEqual([connection for connection, _ in server.streams], [1, 1, 1])
        streams = [stream for _, stream in server.streams]
        self.assertEqual(streams, sorted(set(streams)))

    def test_a_server_of_tls_without_http2(self):
        authority = servers.Authority(self.folder("ca"))
        context = servers.tls(*authority.issue("localhost", "IP:127.0.0.1"), alpn=["http/1.1"])
        with servers.answering(CALL, ANSWER, tls=context) as server:
            self.check_answer(self.ask(server.url(), "--ca-file", authority.certificate))
        self.assertEqual(server.connections, 1)

    def test_a_stream_that_http2_refuses_is_asked_again(self):
        authority = servers.Authority(self.folder("ca"))
        context = servers.tls(*authority.issue("localhost", "IP:127.0.0.1"), alpn=["h2"])
        with servers.Http2(ANSWER, tls=context, refuse=True) as server:
            self.check_answer(self.ask(server.url(), "--ca-file", authority.certificate))
        self.assertEqual(len(server.streams), 2)

    def test_a_server_of_http2_that_takes_no_byte_of_the_request(self):
        """The connection stands, so that --connect-timeout is over, but its window is shut."""
        authority = servers.Authority(self.folder("ca"))
        context = servers.tls(*authority.issue("localhost", "IP:127.0.0.1"), alpn=["h2"])
        with servers.Http2(CALL, tls=context, shut=True) as server:
            done = self.ask(server.url(), "--ca-file", authority.certificate,
                            "--first-byte-timeout", "0.5")
        self.check(done, 4)
        self.assertIn("--first-byte-timeout", done.err)
        self.assertEqual(len(server.streams), 1)

    def test_a_kept_connection_that_the_server_closed(self):
        """No byte of the response came: it is sent once more on a fresh connection, unnoticed."""

        def serve(connection, number):
            server.read(connection, number)
            connection.sendall(servers.chunked(CALL if number == 1 else ANSWER))
            if number == 1:
                server.read(connection, number)  # and hangs up

        with servers.Listener(serve) as server:
            done = self.ask(server.url(), "--json")
        self.check(done, 0)
        self.assertEqual([number for number, _ in server.requests], [1, 1, 2])
        self.assertEqual(done.of_type("retry"), [])

    def test_a_fresh_connection_that_the_server_closes(self):
        """That is an error, which --retries may repeat."""
        with servers.Listener(lambda connection, number: server.read(connection, number)) as server:
            self.check_error(self.ask(server.url()), 4, "127.0.0.1", "broke before a response came")
            self.assertEqual(server.connections, 1)


class Addresses(servers.Case):
    def test_ipv6(self):
        with servers.answering(CALL, ANSWER, family=socket.AF_INET6) as server:
            self.check_answer(self.ask(server.url("[::1]"), env={"http_proxy": "http://[::1]:1"}))
        self.assertEqual(server.connections, 1)
        self.assertIn(f"Host: [::1]:{server.port}", server.requests[0][1])

    def test_a_socket_of_this_machine(self):
        path = os.path.join(self.root, "the model.sock")
        url = "http+unix://" + path.replace("/", "%2F").replace(" ", "%20") + "/v1"
        with servers.answering(CALL, ANSWER, path=path) as server:
            self.check_answer(self.ask(url, env={"http_proxy": "http://127.0.0.1:1"}))
        self.assertEqual(server.connections, 1)
        self.assertTrue(server.requests[0][1].startswith("POST /v1/chat/completions HTTP/1.1\r\n"))
        self.assertIn("Host: localhost\r\n", server.requests[0][1])

    def test_a_socket_of_a_provider_that_has_no_v1_in_its_url(self):
        path = os.path.join(self.root, "s")
        url = "http+unix://" + path.replace("/", "%2f") + "/"
        with servers.answering(e2e.anthropic_reply("hello there"), path=path) as server:
            self.check_answer(self.ask(url, model="anthropic/m"))
        self.assertIn("POST /v1/messages ", server.requests[0][1])

    def test_the_models_behind_a_socket(self):
        """What is asked beside a run is asked in the same way."""
        path = os.path.join(self.root, "s")

        def serve(connection, number):
            server.read(connection, number)
            body = b'{"data": [{"id": "tiny-1"}]}'
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b"
                               % (len(body), body))

        url = "http+unix://" + path.replace("/", "%2F") + "/v1"
        with servers.Listener(serve, path=path) as server:
            done = self.mortise("--base-url", url, "models", "openai",
                                env={"OPENAI_API_KEY": servers.KEY, "http_proxy": "127.0.0.1:1"})
        self.check(done, 0)
        self.assertIn("tiny-1", done.out)
        self.assertTrue(server.requests[0][1].startswith("GET /v1/models "), server.requests)
        done = self.mortise("--base-url", url, "models", "openai",
                            env={"OPENAI_API_KEY": servers.KEY})
        self.check_error(done, 4, f"the socket '{path}'", "Connection refused")

    def test_a_socket_that_is_not_there(self):
        missing = os.path.join(self.root, "missing.sock")
        closed = os.path.join(self.root, "closed.sock")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(closed)
        for path, reason in ((missing, "No such file"), (closed, "Connection refused")):
            done = self.ask("http+unix://" + path.replace("/", "%2F"))
            self.check_error(done, 4, f"the socket '{path}'", reason, "server runs")

    def test_a_url_that_names_no_socket(self):
        for url, part in (("http+unix:///run/model.sock", "names no host"),
                          ("http+unix://run%2Fmodel.sock/v1", "%2F"),
                          ("http+unix://%2Frun%2/v1", "'%'"),
                          ("http+unix://%2Frun%00x/v1", "'%'"),
                          ("http+unix://%2F" + 200 * "a" + "/v1", "longer")):
            self.check_error(self.ask(url), 3, part)

    def test_a_redirect_is_never_followed(self):
        """The key does not go to another host, nor to another place of the same."""
        for status in (301, 302, 303, 307, 308):
            def serve(connection, number):
                server.read(connection, number)
                connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n"
                                   % (status, place.encode()))

            with servers.answering(ANSWER) as target, servers.Listener(serve) as server:
                for place in (target.url("localhost"), server.url(path="/v2") + "#" + 600 * "x"):
                    done = self.ask(server.url())
                    self.check_error(done, 3, "redirects to", place[:60], "base URL")
                self.assertEqual(len(server.requests), 2)
                self.assertEqual(target.connections, 0)


class Failures(servers.Case):
    def test_an_unknown_name(self):
        done = self.ask("http://nowhere.invalid/v1")
        self.check_error(done, 4, "'nowhere.invalid'", "its name is not known", "base URL")

    def test_nobody_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        done = self.ask(f"http://127.0.0.1:{port}/v1")
        self.check_error(done, 4, f"'127.0.0.1:{port}'", "takes no connections", "server runs")

    def test_a_black_hole(self):
        with servers.black_hole() as port:
            done = self.ask(f"http://127.0.0.1:{port}/v1", "--connect-timeout", "0.5")
        self.check_error(done, 4, f"127.0.0.1:{port}", "no connection in time",
                         "--connect-timeout")


if __name__ == "__main__":
    e2e.main()
