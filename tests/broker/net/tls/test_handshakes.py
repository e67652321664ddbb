"""Who is let in by a handshake, as whom, and who is not; and what those can do who never end theirs."""

import asyncio
import contextlib
import gc
import socket
import ssl
import subprocess
import weakref
from datetime import timedelta

import pytest

from broker.common import security_limits
from broker.net.tls import handshakes
from tests.broker.net.tls.served import AUTHORITY, Client, client_context, framed, serving
from tests.certificates import DAY, Authority, Credential
from tests.eventually import eventually

STRANGER = Authority("somebody else")
#: A record that says it has a handshake.
GARBAGE = bytes([0x16, 3, 1, 0, 200]) + bytes(200)


async def answer_to(served, context: ssl.SSLContext) -> str:
    client = await Client.connected(served, context)
    try:
        return (await client.ask(b"?")).decode()
    finally:
        client.close()


async def is_refused(served, context: ssl.SSLContext) -> None:
    """Whenever the client learns of it: in TLS 1.3 after its own handshake."""
    with pytest.raises((OSError, asyncio.IncompleteReadError)):
        await answer_to(served, context)
    assert not served.connections, "a request was let in"
    await eventually(lambda: not served.listener.connection_count, "the connection to be closed")


async def said_in_log(capsys, text: str) -> None:
    output = ""

    def look() -> bool:
        nonlocal output
        output += "".join(capsys.readouterr())
        return text in output

    await eventually(look, f"{text!r} in the log, which has {output!r}")


async def raw_client(served) -> socket.socket:
    sock = socket.socket()
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", served.listener.port))
    return sock


async def end_of(sock: socket.socket) -> bytes:
    received = b""
    async with asyncio.timeout(10):
        try:
            while piece := await asyncio.get_running_loop().sock_recv(sock, 65_536):
                received += piece
        except ConnectionResetError:
            pass
    return received


# -- as whom


async def test_who_shows_no_certificate_is_anonymous():
    async with serving() as served:
        assert await answer_to(served, client_context()) == "User:ANONYMOUS ?"


@pytest.mark.parametrize("client_auth", ["requested", "required"])
async def test_a_certificate_says_who_speaks(client_auth, tmp_path):
    async with serving(client_auth=client_auth) as served:
        context = client_context(AUTHORITY.client("CN=alice,OU=ops,O=Acme\\, Inc"), tmp_path)
        assert await answer_to(served, context) == "User:CN=alice,OU=ops,O=Acme\\, Inc ?"


async def test_a_certificate_that_nobody_asked_for_says_nothing(tmp_path):
    async with serving(client_auth="none") as served:
        assert await answer_to(served, client_context(AUTHORITY.client("alice"), tmp_path)) == "User:ANONYMOUS ?"


async def test_requested_is_not_required():
    async with serving(client_auth="requested") as served:
        assert await answer_to(served, client_context()) == "User:ANONYMOUS ?"


async def test_rules_make_a_user_of_a_name(tmp_path):
    rules = "RULE:^CN=([^,]+),OU=ops.*$/$1-ops/U,DEFAULT"
    async with serving(client_auth="required", principal_mapping_rules=rules) as served:
        assert (
            await answer_to(served, client_context(AUTHORITY.client("CN=alice,OU=ops"), tmp_path)) == "User:ALICE-OPS ?"
        )


async def test_who_is_named_by_no_rule_is_refused(tmp_path, capsys):
    async with serving(client_auth="required", principal_mapping_rules="RULE:^CN=bob$/b/") as served:
        await is_refused(served, client_context(AUTHORITY.client("alice"), tmp_path))
        await said_in_log(capsys, "no rule of ssl.principal.mapping.rules")


# -- who not


async def test_who_must_show_a_certificate_and_has_none_is_refused(capsys):
    async with serving(client_auth="required") as served:
        await is_refused(served, client_context())
        await said_in_log(capsys, "it shows no certificate")


@pytest.mark.parametrize("client_auth", ["requested", "required"])
@pytest.mark.parametrize(
    ("credential", "why"),
    [
        (AUTHORITY.client("late", begins=-2 * DAY, ends=-timedelta(hours=1)), "certificate has expired"),
        (AUTHORITY.client("early", begins=DAY), "certificate is not yet valid"),
        (STRANGER.client("alice"), "self-signed certificate in certificate chain"),
    ],
    ids=["expired", "not yet valid", "of another authority"],
)
async def test_a_certificate_that_is_not_good_is_refused(credential: Credential, why, client_auth, tmp_path, capsys):
    """Also where none would do."""
    async with serving(client_auth=client_auth) as served:
        await is_refused(served, client_context(credential, tmp_path))
        await said_in_log(capsys, why)


async def test_a_client_is_told_why_before_the_connection_ends(tmp_path):
    """In TLS 1.3 it believes its handshake done by then."""
    async with serving(client_auth="required") as served:
        with pytest.raises(ssl.SSLError, match="CERTIFICATE_REQUIRED"):
            await answer_to(served, client_context())


async def test_old_versions_of_tls_are_refused(capsys):
    context = client_context()
    with pytest.deprecated_call():
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    async with serving() as served:
        await is_refused(served, context)
        await said_in_log(capsys, "its version of TLS is too old")


async def test_a_session_cannot_be_taken_up_again_where_certificates_say_who_speaks(tmp_path):
    """It would keep an identity that nothing proves any more."""
    context = client_context(AUTHORITY.client("alice"), tmp_path)
    async with serving(client_auth="required") as served:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context.maximum_version = context.minimum_version = version
            client = await Client.connected(served, context)
            await client.ask(b"?")
            session = client.writer.get_extra_info("ssl_object").session
            assert session is None or not session.has_ticket
            client.close()


# -- what is no handshake


async def test_plaintext_on_a_port_with_tls_is_closed_and_named(capsys):
    async with serving() as served:
        sock = await raw_client(served)
        await asyncio.get_running_loop().sock_sendall(sock, framed(b"\0\x12\0\3hello"))
        await end_of(sock)
        assert not served.connections
        await said_in_log(capsys, "does not speak TLS")


async def test_tls_on_a_port_with_plaintext_is_closed():
    async with serving() as served:
        served.listener.tls = None
        with pytest.raises((OSError, asyncio.TimeoutError)):
            await asyncio.wait_for(Client.connected(served, client_context()), 10)
        assert not served.connections


@pytest.mark.parametrize("garbage", [GARBAGE, b"\x16" * 50_000, GARBAGE * 1_000], ids=["zeros", "sixteens", "much"])
async def test_garbage_is_closed_and_named(garbage, capsys):
    async with serving() as served:
        sock = await raw_client(served)
        await asyncio.get_running_loop().sock_sendall(sock, garbage)
        await end_of(sock)
        assert not served.connections
        assert not served.handshakes.count
        await said_in_log(capsys, "TLS handshakes failed")


async def test_a_client_hello_without_end_is_cut_off(capsys):
    """Handshake messages may announce 16 MB and come in many records."""
    hello = b"\x01" + (130_000).to_bytes(3) + b"\x03\x03" + bytes(129_998)
    records = b"".join(
        b"\x16\x03\x01" + len(piece).to_bytes(2) + piece
        for piece in (hello[at : at + 16_000] for at in range(0, len(hello), 16_000))
    )
    async with serving() as served:
        sock = await raw_client(served)
        with contextlib.suppress(ConnectionError):
            await asyncio.get_running_loop().sock_sendall(sock, records)
        await end_of(sock)
        assert not served.connections
        await said_in_log(capsys, "TLS handshakes failed")


async def test_who_only_looks_whether_the_port_is_there_is_no_failure(capsys):
    async with serving() as served:
        (await raw_client(served)).close()
        await eventually(lambda: not served.listener.connection_count, "it to be forgotten")
        assert "TLS handshakes failed" not in "".join(capsys.readouterr())


# -- those that never end


async def test_half_handshakes_are_bounded_and_honest_clients_get_in(monkeypatch, capsys):
    monkeypatch.setattr(handshakes, "TLS_HANDSHAKES_MAX", 50)
    async with serving() as served:
        half = []
        for _ in range(200):
            sock = await raw_client(served)
            await asyncio.get_running_loop().sock_sendall(sock, GARBAGE[:3])
            half.append(sock)
            assert served.handshakes.count <= 50
        assert await answer_to(served, client_context()) == "User:ANONYMOUS ?"
        assert served.listener.connection_count <= 51
        for sock in half:
            sock.close()
    await said_in_log(capsys, "others wait for its place")


async def test_a_handshake_that_takes_too_long_is_given_up(monkeypatch, capsys):
    monkeypatch.setattr(handshakes, "TLS_HANDSHAKE_S_MAX", 0.05)
    async with serving() as served:
        sock = await raw_client(served)
        assert await end_of(sock) == b""
        await said_in_log(capsys, "it took too long")
        assert not served.handshakes.count


async def test_a_connection_that_ends_by_itself_meanwhile_is_forgotten(monkeypatch):
    async with serving() as served:
        sock = await raw_client(served)
        await eventually(lambda: served.handshakes.count, "the handshake to begin")
        served.listener.stop()
        assert await end_of(sock) == b""
        await eventually(lambda: not served.handshakes.count, "the handshake to be forgotten")


async def test_a_thousand_failures_are_a_few_lines_in_the_log(capsys):
    async with serving() as served:
        for _ in range(300):
            sock = await raw_client(served)
            await asyncio.get_running_loop().sock_sendall(sock, b"GET / HTTP/1.1\r\n")
            await end_of(sock)
        assert "".join(capsys.readouterr()).count("TLS handshakes failed") <= 2


async def test_another_handshake_on_the_same_connection_is_refused(tmp_path):
    """Renegotiation, which TLS 1.2 has: cheap for who asks and dear for us."""
    ca = AUTHORITY.write(tmp_path)
    async with serving() as served:
        command = ["openssl", "s_client", "-connect", f"127.0.0.1:{served.listener.port}", "-tls1_2", "-CAfile", ca]
        process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        output, _ = await asyncio.wait_for(process.communicate(b"R\n"), 20)  # s_client's word for it
        assert b"RENEGOTIATING" in output
        assert b"no renegotiation" in output.lower() or b"unexpected" in output.lower() or b"error" in output.lower()
        assert not served.connections
    assert security_limits.TLS_HANDSHAKE_S_MAX >= 1


@pytest.mark.parametrize("is_through", [True, False], ids=["after the handshake", "before it"])
async def test_a_connection_that_has_ended_is_gone_without_being_looked_for(is_through):
    async with serving() as served:
        gc.disable()
        try:
            sock = await raw_client(served)
            await eventually(lambda: served.listener.connection_count, "the connection is accepted")
            ended = weakref.ref(next(iter(served.listener._progress_counts)))
            if is_through:
                sock.close()
                assert await answer_to(served, client_context())
                ended = weakref.ref(served.connections.pop())
            sock.close()
            await eventually(lambda: ended() is None, "the connection is gone")
        finally:
            gc.enable()
