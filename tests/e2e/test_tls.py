"""Certificates: whose are trusted, which is shown, and what is told when one is not accepted.

There is no way to go on without a check; so no option is found that says so (FAULTS 25).
"""
import os
import ssl
import warnings

import e2e
import servers

ANSWER = e2e.openai_reply("hello there")


class Tls(servers.Case):
    def setUp(self):
        super().setUp()
        self.authority = servers.Authority(self.folder("ca"))

    def server(self, certificate, **how):
        return self.enterContext(servers.answering(ANSWER, tls=servers.tls(*certificate, **how)))

    def good(self, **how):
        return self.server(self.authority.issue("localhost", "DNS:localhost,IP:127.0.0.1"), **how)

    def refused(self, server, *parts, options=(), env=None):
        """Not even the head of a request reached the server."""
        before = len(server.requests)
        env = {"SSL_CERT_FILE": self.authority.certificate, **(env or {})}
        done = self.ask(server.url(), *options, env=env)
        self.check_error(done, 4, f"'127.0.0.1:{server.port}'", *parts)
        self.assertEqual(len(server.requests), before)
        return done


class Servers(Tls):
    def test_who_names_the_certificates(self):
        """The option before the variables, CURL_CA_BUNDLE before SSL_CERT_FILE, a hashed folder."""
        server = self.good()
        good, bad = self.authority.certificate, servers.Authority(self.folder("x")).certificate
        hashed = self.folder("hashed")
        os.symlink(good, os.path.join(hashed, "ca.pem"))
        servers.Authority.openssl("rehash", hashed)
        for options, env in (((), {"SSL_CERT_FILE": good}),
                             ((), {"CURL_CA_BUNDLE": good, "SSL_CERT_FILE": bad}),
                             ((), {"SSL_CERT_DIR": hashed}),
                             ((), {"MORTISE_CA_FILE": good}),
                             (("--ca-file", good), {"CURL_CA_BUNDLE": bad, "SSL_CERT_FILE": bad})):
            self.check_answer(self.ask(server.url(), *options, env=env))
        self.config(ca_file=good)
        self.check_answer(self.ask(server.url()))
        self.refused(server, "not trusted", options=("--ca-file", bad))

    def test_a_private_ca_is_not_trusted_by_itself(self):
        """The issuer is named, so that one can tell whose it is."""
        done = self.refused(self.good(), "comes from a CA that is not trusted",
                            "/O=Mortise/CN=Private Test CA", "--ca-file", "SSL_CERT_FILE",
                            env={"SSL_CERT_FILE": None})
        self.assertNotIn("insecure", done.err)

    def test_self_signed(self):
        certificate, key = self.authority.self_signed("localhost")
        server = self.server((certificate, key))
        self.refused(server, "self-signed", "/CN=localhost", "--ca-file")
        self.check_answer(self.ask(server.url(), "--ca-file", certificate))

    def test_expired(self):
        server = self.server(self.authority.issue("localhost", "IP:127.0.0.1", days=-1))
        self.refused(server, "has expired", "/CN=localhost", "clock")

    def test_another_name(self):
        server = self.server(self.authority.issue("other.test"))
        self.refused(server, "is for another name", "/CN=other.test", "base URL")

    def test_files_that_hold_no_certificates(self):
        server = self.good()
        empty = self.file("empty.pem", "nothing\n")
        for path in (empty, os.path.join(self.root, "missing.pem")):
            for options, env, name in ((("--ca-file", path), {}, "--ca-file"),
                                       ((), {"SSL_CERT_FILE": path}, "SSL_CERT_FILE"),
                                       ((), {"CURL_CA_BUNDLE": path}, "CURL_CA_BUNDLE")):
                done = self.ask(server.url(), *options, env=env)
                self.check_error(done, 3, "CA certificates", name, path)
        self.assertEqual(server.requests, [])

    def test_too_old_a_tls(self):
        context = servers.tls(*self.authority.issue("localhost", "IP:127.0.0.1"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        server = self.enterContext(servers.answering(ANSWER, tls=context))
        self.refused(server, "TLS handshake failed")


class Clients(Tls):
    def setUp(self):
        super().setUp()
        self.certificate, self.key = self.authority.issue("ada")

    def show(self, server, *options):
        return self.ask(server.url(), *options, env={"SSL_CERT_FILE": self.authority.certificate})

    def versions(self):
        """In TLS 1.3 a client hears of it when its handshake is over for it, if it does, because the
        connection may break before; with an older one the handshake fails."""
        for newest in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            yield self.good(client_ca=self.authority.certificate, newest=newest)

    def test_a_client_certificate_is_shown(self):
        both = os.path.join(self.root, "both.pem")
        with open(both, "w", encoding="utf-8") as out:
            for name in (self.certificate, self.key):
                with open(name, encoding="utf-8") as part:
                    out.write(part.read())
        for server in self.versions():
            self.check_answer(self.show(server, "--client-cert", self.certificate,
                                        "--client-key", self.key))
            self.check_answer(self.show(server, "--client-cert", both))
            self.assertEqual(len(server.requests), 2)

    def test_one_is_wanted(self):
        for server in self.versions():
            done = self.show(server)
            self.assertIn(done.code, (3, 4), done)
            self.assertRegex(done.err, "wants a client certificate|asked for a client certificate")
            self.assertIn("--client-cert", done.err)
            self.assertEqual(server.requests, [])

    def test_another_is_wanted(self):
        certificate, key = servers.Authority(self.folder("other")).issue("eve")
        for server in self.versions():
            done = self.show(server, "--client-cert", certificate, "--client-key", key)
            self.assertIn(done.code, (3, 4), done)
            self.assertRegex(done.err, "not accept the client cert|asked for a client certificate")
            self.assertEqual(server.requests, [])

    def test_files_that_cannot_be_used(self):
        """A key that is encrypted is refused: nobody is asked for a passphrase on a terminal."""
        server = self.good(client_ca=self.authority.certificate)
        _, strange = self.authority.issue("eve")
        locked = os.path.join(self.root, "locked.key")
        servers.Authority.openssl("pkey", "-in", self.key, "-aes256", "-passout", "pass:secret",
                                  "-out", locked)
        missing = os.path.join(self.root, "missing.pem")
        for certificate, key in ((missing, self.key), (self.certificate, missing),
                                 (self.certificate, strange), (self.certificate, locked)):
            done = self.show(server, "--client-cert", certificate, "--client-key", key)
            self.check_error(done, 3, "the client certificate cannot be used", "--client-key")
        self.check_error(self.show(server, "--client-key", self.key), 3,
                         "--client-key needs --client-cert")


if __name__ == "__main__":
    e2e.main()
