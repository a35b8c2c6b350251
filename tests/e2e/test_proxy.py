"""Proxies: which is asked, for what, and what is told when it is the proxy that fails.

"model.test" is a name that no resolver knows; a request to it succeeds through a proxy that does,
or not at all.
"""
import socket

import e2e
import servers

ANSWER = e2e.openai_reply("hello there")
USER = "ada:letmein-92!"
WRONG = "ada:openup-17"


class Proxies(servers.Case):
    def setUp(self):
        super().setUp()
        self.authority = servers.Authority(self.folder("ca"))
        context = servers.tls(*self.authority.issue("model.test"), alpn=["h2", "http/1.1"])
        self.secure = self.enterContext(servers.Http2(ANSWER, tls=context))
        self.plain = self.enterContext(servers.answering(ANSWER))
        self.env = {"SSL_CERT_FILE": self.authority.certificate}

    def proxy(self, secure=True, **how):
        port = self.secure.port if secure else self.plain.port
        return self.enterContext(servers.Proxy({"model.test": port}, **how))

    def ask_secure(self, *options, **env):
        return self.ask("https://model.test/v1", *options, env={**self.env, **env})

    def ask_plain(self, *options, **env):
        return self.ask("http://model.test/v1", *options, env={**self.env, **env})


class Choice(Proxies):
    def test_https_goes_through_a_tunnel(self):
        """The proxy sees the name and nothing else; TLS and HTTP/2 are the server's."""
        for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            proxy = self.proxy()
            self.check_answer(self.ask_secure(**{name: proxy.url()}))
            heads = [head for _, head in proxy.requests]
            self.assertTrue(heads[0].startswith("CONNECT model.test:443 HTTP/1.1\r\n"), heads)
            self.assertEqual(len(heads), 1)
            self.assertNotIn(servers.KEY, heads[0])

    def test_http_is_asked_of_the_proxy(self):
        proxy = self.proxy(secure=False)
        self.check_answer(self.ask_plain(http_proxy=proxy.url()))
        head = proxy.requests[0][1]
        self.assertTrue(head.startswith("POST http://model.test/v1/chat/completions "), head)

    def test_the_option_counts_before_the_variables(self):
        proxy = self.proxy()
        bad = {"https_proxy": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"}
        self.check_answer(self.ask_secure("--proxy", proxy.url(), **bad))
        self.check_answer(self.ask_secure(MORTISE_PROXY=proxy.url(), **bad))
        self.config(proxy=proxy.url(), ca_file=self.authority.certificate)
        self.check_answer(self.ask("https://model.test/v1", env=bad))
        self.assertEqual(len(proxy.requests), 3)

    def test_no_proxy_at_all(self):
        proxy = self.proxy()
        for none in ("none", ""):
            done = self.ask_secure("--proxy", none, https_proxy=proxy.url())
            self.check_error(done, 4, "'model.test'", "its name is not known")
        self.assertEqual(proxy.connections, 0)

    def test_servers_that_need_no_proxy(self):
        """NO_PROXY: names, names below them, networks; and everything."""
        proxy = self.proxy()
        for name in ("NO_PROXY", "no_proxy"):
            for servers_list in ("model.test", "other.test, .test", "*"):
                done = self.ask_secure(https_proxy=proxy.url(), **{name: servers_list})
                self.check_error(done, 4, "'model.test'", "its name is not known")
        for network, url in (("192.0.2.0/24", "http://192.0.2.7/v1"),
                             ("2001:db8::1", "http://[2001:db8::1]/v1")):
            done = self.ask(url, "--connect-timeout", "0.3",
                            env={"http_proxy": proxy.url(), "NO_PROXY": network})
            self.check_error(done, 4, "connection")
            self.assertNotIn("proxy", done.err)
        self.assertEqual(proxy.connections, 0)
        self.check_answer(self.ask_secure(https_proxy=proxy.url(), NO_PROXY="192.0.2.0/24,a.test"))

    def test_this_machine_is_never_asked_for_through_a_proxy(self):
        """FAULTS 26"""
        proxy = self.proxy()
        env = {"http_proxy": proxy.url(), "NO_PROXY": "example.org"}
        for host in ("127.0.0.1", "localhost", "LOCALHOST", "2130706433", "127.1"):
            for options in ((), ("--proxy", proxy.url())):
                self.check_answer(self.ask(self.plain.url(host), *options, env=env))
        self.check_error(self.ask(self.plain.url("127.8.9.10"), env=env), 4, "no connections")
        self.assertEqual(proxy.connections, 0)

    def test_what_is_asked_beside_a_run(self):
        proxy = self.proxy(status=403)
        done = self.mortise("--base-url", "https://model.test/v1", "models", "openai",
                            env={"OPENAI_API_KEY": servers.KEY, "https_proxy": proxy.url()})
        self.check_error(done, 4, f"'127.0.0.1:{proxy.port}' of https_proxy", "403")
        self.assertEqual(len(proxy.requests), 1)

    def test_two_requests_share_the_tunnel(self):
        call = e2e.openai_reply(calls=[("call_1", "nothing", "{}")])
        context = servers.tls(*self.authority.issue("model.test"), alpn=["h2"])
        with servers.Http2(call, ANSWER, tls=context) as server:
            with servers.Proxy({"model.test": server.port}) as proxy:
                self.check_answer(self.ask_secure("--proxy", proxy.url()))
        self.assertEqual([connection for connection, _ in server.streams], [1, 1])
        self.assertEqual(len(proxy.requests), 1)

    def test_a_proxy_that_speaks_tls(self):
        context = servers.tls(*self.authority.issue("localhost", "IP:127.0.0.1"))
        proxy = self.proxy(tls=context)
        self.assertTrue(proxy.url().startswith("https://"))
        self.check_answer(self.ask_secure("--proxy", proxy.url()))
        self.assertEqual(len(proxy.requests), 1)

    def test_socks(self):
        """With socks5h the proxy resolves the name."""
        with servers.Socks({"model.test": self.secure.port}) as proxy:
            self.check_answer(self.ask_secure("--proxy", f"socks5h://127.0.0.1:{proxy.port}"))
            self.check_answer(self.ask_secure(ALL_PROXY=f"socks5h://127.0.0.1:{proxy.port}"))
            self.assertEqual(proxy.asked, 2 * ["model.test"])
            done = self.ask("https://other.test/v1",
                            env={"ALL_PROXY": f"socks5h://127.0.0.1:{proxy.port}"})
            self.check_error(done, 4, "'other.test'", f"'127.0.0.1:{proxy.port}' of ALL_PROXY")


class Users(Proxies):
    def test_user_and_password(self):
        proxy = self.proxy(user=USER)
        for url in (proxy.url(USER + "@127.0.0.1"), proxy.url("ada:letmein%2D92%21@127.0.0.1")):
            done = self.ask_secure("-v", "-v", https_proxy=url)
            self.check_answer(done)
            self.assertNotIn("letmein", done.err)
        self.assertEqual(len(proxy.requests), 2)

    def test_a_user_is_wanted(self):
        """The message says where to write it, for both kinds of requests."""
        for secure in (True, False):
            proxy = self.proxy(secure=secure, user=USER)
            name = "https_proxy" if secure else "http_proxy"
            done = (self.ask_secure if secure else self.ask_plain)(**{name: proxy.url()})
            self.check_error(done, 3, "'model.test'", f"'127.0.0.1:{proxy.port}' of {name}",
                             "wants a user name and a password", "407", "http://USER:PASSWORD@")

    def test_a_user_is_not_accepted(self):
        """What was wrong about it is not told: it is secret."""
        proxy = self.proxy(user=USER)
        url = proxy.url(WRONG + "@127.0.0.1")
        for done in (self.ask_secure("-v", "-v", "--proxy", url),
                     self.ask_secure("-v", "-v", https_proxy=url)):
            self.check(done, 3)
            self.assertIn("does not accept the user name and the password", done.err)
            self.assertNotIn("openup", done.err)

    def test_a_user_of_socks(self):
        name, password = USER.split(":")
        with servers.Socks({"model.test": self.secure.port}, (name, password)) as proxy:
            place = f"127.0.0.1:{proxy.port}"
            self.check_answer(self.ask_secure("--proxy", f"socks5h://{USER}@{place}"))
            done = self.ask_secure("--proxy", f"socks5h://{WRONG}@{place}")
            self.check_error(done, 3, "of --proxy", "does not accept the user name")
            self.assertNotIn("openup", done.err)
            done = self.ask_secure("--proxy", f"socks5h://{place}")
            self.check_error(done, 3, "of --proxy", "wants a user name")

    def test_what_is_no_url_of_a_proxy_is_not_shown(self):
        for proxy in ("ftp://ada:openup@127.0.0.1", "http://ada:openup@127.0.0.1:http", "a b:openup"):
            done = self.ask_secure("--proxy", proxy)
            self.check_error(done, 3, "--proxy", "no URL of a proxy")
            self.assertNotIn("openup", done.err)
            done = self.ask_secure("-v", "-v", https_proxy=proxy)
            self.check(done, 3)
            self.assertIn("of https_proxy: that is no URL of a proxy", done.err)
            self.assertNotIn("openup", done.err)

    def test_settings_are_shown_without_the_password(self):
        for proxy in (f"http://{USER}@127.0.0.1:3128", f"{USER}@127.0.0.1:3128"):
            for options in ((), ("--json",)):
                done = self.check(self.mortise("config", *options, "--proxy", proxy), 0)
                self.assertIn("127.0.0.1:3128", done.out)
                self.assertNotIn("letmein", done.out)
                self.assertNotIn("ada", done.out)

    def test_a_project_names_no_proxy(self):
        """Its folder may come from somebody else, and the key would pass there."""
        for key, value in (("proxy", "http://127.0.0.1:1"), ("ca-file", "/x"),
                           ("client-cert", "/x"), ("client-key", "/x")):
            self.file("work/.mortise/config.json", e2e.json.dumps({key: value}))
            self.check_error(self.mortise("config"), 3, key, "cannot be set by a project")


class Failures(Proxies):
    def test_a_proxy_refuses(self):
        for status in (403, 502):
            proxy = self.proxy(status=status)
            done = self.ask_secure(https_proxy=proxy.url())
            self.check_error(done, 4, "'model.test'", f"'127.0.0.1:{proxy.port}' of https_proxy",
                             str(status), "NO_PROXY")

    def test_a_proxy_is_not_there(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        done = self.ask_secure("--proxy", f"http://127.0.0.1:{port}")
        self.check_error(done, 4, f"the proxy '127.0.0.1:{port}' of --proxy", "takes no connections")
        done = self.ask_secure(HTTPS_PROXY="http://proxy.invalid:3128")
        self.check_error(done, 4, "'proxy.invalid:3128' of HTTPS_PROXY", "its name is not known")

    def test_a_proxy_that_does_not_answer(self):
        with servers.Listener(lambda connection, _: connection.recv(65536) and
                              connection.recv(65536)) as proxy:
            url = f"http://127.0.0.1:{proxy.port}"
            done = self.ask_secure("--connect-timeout", "0.5", https_proxy=url)
        self.check_error(done, 4, "no connection in time", "https_proxy", "--connect-timeout")

    def test_the_certificate_behind_a_proxy_is_checked(self):
        """A proxy that inspects TLS shows a certificate of its own."""
        other = servers.Authority(self.folder("other"), "Proxy Inspection CA")
        context = servers.tls(*other.issue("model.test"))
        with servers.answering(ANSWER, tls=context) as server:
            with servers.Proxy({"model.test": server.port}) as proxy:
                done = self.ask_secure("--proxy", proxy.url())
                self.check_error(done, 4, "CA that is not trusted", "Proxy Inspection CA",
                                 "SSL_CERT_FILE")
                self.assertEqual(server.requests, [])
                self.check_answer(self.ask_secure("--proxy", proxy.url(),
                                                  "--ca-file", other.certificate))


if __name__ == "__main__":
    e2e.main()
