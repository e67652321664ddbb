"""`python -m broker certificates`: files that TLS takes, kept while they are good, and nobody else's to read."""

import socket
import ssl
import threading
from datetime import timedelta

import pytest

from broker.cli.certificates import main
from broker.cli.servers import authority
from broker.common.errors import StartupError


def made(directory, *words: str) -> dict[str, bytes]:
    assert main([str(directory), *words]) == 0
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_what_it_makes_is_a_servers_and_a_clients_and_both_prove_themselves(tmp_path):
    made(tmp_path, "--broker", "broker1.example,127.0.0.1", "--client", "alice")
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=tmp_path / "ca.pem")
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_cert_chain(tmp_path / "broker1.example.pem")
    client = ssl.create_default_context(cafile=tmp_path / "ca.pem")
    client.load_cert_chain(tmp_path / "alice.pem")
    for host in ("broker1.example", "127.0.0.1"):
        assert handshake(server, client, host) == ((("commonName", "alice"),),)
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(server, client, "broker2.example")


def handshake(server: ssl.SSLContext, client: ssl.SSLContext, host: str):
    """Who the server has seen. Raises what the client meets."""
    ours, theirs = socket.socketpair()
    seen = []

    def serve() -> None:
        try:
            with server.wrap_socket(theirs, server_side=True) as tls:
                seen.append(tls.getpeercert()["subject"])
        except (ssl.SSLError, OSError):
            theirs.close()

    serving = threading.Thread(target=serve)
    serving.start()
    try:
        with client.wrap_socket(ours, server_hostname=host) as tls:
            serving.join(10)
            tls.close()
    finally:
        ours.close()
        serving.join(10)
    return seen[0]


def test_keys_are_for_their_owner_only(tmp_path):
    directory = tmp_path / "tls"
    made(directory, "--broker", "b1", "--client", "alice")
    modes = {path.name: path.stat().st_mode & 0o777 for path in directory.iterdir()}
    assert modes == {"ca.pem": 0o644, "ca.key": 0o600, "b1.pem": 0o600, "alice.pem": 0o600}
    assert directory.stat().st_mode & 0o777 == 0o700


def test_what_is_good_is_kept_and_what_is_not_is_made_anew(tmp_path, monkeypatch):
    arguments = ("--broker", "b1,127.0.0.1", "--client", "alice")
    first = made(tmp_path, *arguments)
    assert made(tmp_path, *arguments) == first
    elsewhere = made(tmp_path, "--broker", "b1,127.0.0.1,10.0.0.5", "--client", "alice")
    assert changed(first, elsewhere) == {"b1.pem"}
    renewed = made(tmp_path, "--client", "alice", "--renew")
    assert changed(elsewhere, renewed) == {"alice.pem"}
    monkeypatch.setattr(authority, "RENEWED_BEFORE", timedelta(days=500))
    assert changed(renewed, made(tmp_path, "--client", "alice")) == {"alice.pem"}


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {name for name in before if before[name] != after[name]}


def test_a_certificate_of_another_authority_is_made_anew(tmp_path):
    ours, other = made(tmp_path / "ours", "--client", "alice"), made(tmp_path / "other", "--client", "alice")
    (tmp_path / "ours" / "alice.pem").write_bytes(other["alice.pem"])
    after = made(tmp_path / "ours", "--client", "alice")
    assert after["alice.pem"] not in (ours["alice.pem"], other["alice.pem"])


def test_files_of_no_authority_are_left_alone(tmp_path):
    made(tmp_path / "one"), made(tmp_path / "two")
    (tmp_path / "one" / "ca.key").write_bytes((tmp_path / "two" / "ca.key").read_bytes())
    with pytest.raises(StartupError, match="is not the key of"):
        main([str(tmp_path / "one")])
    (tmp_path / "two" / "ca.pem").write_text("no certificate")
    with pytest.raises(StartupError, match="holds no certificate authority"):
        main([str(tmp_path / "two")])


@pytest.mark.parametrize("name", ["ca", "../alice", "", "a" * 65, "-x", "a/b"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name, capsys):
    with pytest.raises(SystemExit):
        main([str(tmp_path / "tls"), f"--client={name}"])
    assert "is no name" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(tmp_path / "tls"), f"--broker={name}:/x"])
    assert not (tmp_path / "tls").exists()


def test_an_address_with_colons_names_its_file_so_that_nothing_is_elsewhere(tmp_path):
    assert "b6.pem" in made(tmp_path, "--broker", "b6,::1")
