"""A channel made on a page never makes the console speak to its own machine or to a cloud's metadata."""

import socket

import pytest

from console.kit.common.outbound import AddressRefusedError, checked_addresses, refusal_beyond_this_machine
from console.signals.alerts.channels import Channel
from console.signals.alerts.rules import AlertRulesError, parse_rules
from console.signals.alerts.sending import NotTakenError, send
from tests.console.signals.alerts.receivers import HttpReceiver, SmtpReceiver
from tests.console.signals.alerts.test_sending import message

CHANNEL = "/alerts/+channel/"


@pytest.fixture
def ask(administrator, client_of):
    return client_of(administrator)


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:8083/connectors", "https://127.0.0.1/x", "https://localhost/x", "https://a.localhost./x"),
        *("https://[::1]/x", "https://[::ffff:127.0.0.1]/x", "https://169.254.169.254/latest", "https://0.0.0.0/"),
        *("https://0.1.2.3/", "https://[fe80::1]/", "https://224.0.0.1/", "https://[fd00:ec2::254]/latest"),
        *("https://100.100.100.200/latest", "https://hooks.example/x?y=1", "https://hooks.example/x#y"),
        "https://u:p@hooks.example/x",
    ],
)
def test_the_page_refuses_an_address_that_is_not_the_outside_s(url, ask, settings):
    response = ask.post(f"{CHANNEL}?kind=webhook", {"name": "ops", "url": url})
    assert response.status_code == 422
    assert not settings.ALERTS_FILE.exists()


@pytest.mark.parametrize("url", ["https://hooks.example/services/x", "https://10.1.2.3/hook", "https://[fd00::5]/hook"])
def test_the_page_takes_an_address_of_the_company_s_own_network(url, ask):
    assert ask.post(f"{CHANNEL}?kind=webhook", {"name": "ops", "url": url}).status_code == 302


def test_teams_signs_its_addresses_in_their_query(ask):
    assert ask.post(f"{CHANNEL}?kind=teams", {"name": "ops", "url": "https://t.example/w?sig=a"}).status_code == 302


@pytest.mark.parametrize(
    ("server", "tls"), [("127.0.0.1:25", "starttls"), ("mail.example:25", "none"), ("[::1]:25", "tls")]
)
def test_mail_of_the_page_goes_over_tls_and_to_another_machine(server, tls, ask, settings):
    form = {"name": "ops", "to": "a@corp.example", "from": "b@corp.example", "server": server, "tls": tls}
    assert ask.post(f"{CHANNEL}?kind=mail", form).status_code == 422
    assert not settings.ALERTS_FILE.exists()


def test_a_channel_of_the_page_is_marked_in_the_file_and_one_of_the_file_may_be_local(ask, settings):
    ask.post(f"{CHANNEL}?kind=slack", {"name": "ops", "url": "https://hooks.example/x"})
    assert "made_on_page = true" in settings.ALERTS_FILE.read_text()
    assert parse_rules(settings.ALERTS_FILE.read_text()).channels["ops"].made_on_page
    own = '[channels.own]\nkind = "webhook"\nurl = "http://127.0.0.1:9/"\n'
    assert not parse_rules(own).channels["own"].made_on_page
    with pytest.raises(AlertRulesError, match=r"channels\.own: url must be https"):
        parse_rules(own + "made_on_page = true")
    with pytest.raises(AlertRulesError, match="must be true or false"):
        parse_rules(own + "made_on_page = 1")


@pytest.mark.parametrize("spelled", ["127.0.0.1", "2130706433", "0x7f.1", "localhost"])
def test_a_name_that_leads_to_this_machine_is_refused_before_a_byte_is_sent(spelled):
    with HttpReceiver() as http:
        port = http.url.rpartition(":")[2]
        channel = Channel("ops", "webhook", {"url": f"http://{spelled}:{port}/in"}, made_on_page=True)
        with pytest.raises(NotTakenError, match=r"its address is refused: .*this machine"):
            send(channel, message())
        send(Channel("own", "webhook", {"url": f"http://127.0.0.1:{port}/in"}), message())
        assert [path for _, path, _, _ in http.came] == ["/in"]


@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_a_mail_server_on_this_machine_is_refused_before_a_byte_is_sent(tls):
    with SmtpReceiver() as smtp:
        server = f"localhost:{smtp.address.rpartition(':')[2]}"
        settings = {"to": "a@corp.example", "from": "b@corp.example", "server": server, "tls": tls}
        with pytest.raises(NotTakenError, match=r"its address is refused: .*this machine"):
            send(Channel("ops", "mail", settings, made_on_page=True), message())
        assert not smtp.came


def test_a_name_is_resolved_once_and_the_socket_goes_where_it_was_judged(monkeypatch):
    """A second resolution, with another result, would be DNS rebinding."""
    resolved = iter(["10.0.0.9", "127.0.0.1"])
    requests: list[str] = []
    real = socket.getaddrinfo

    def resolve(host: str, port: int, *rest: object, **more: object):
        if host == "hooks.example":
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(resolved), port))]
        return real(host, port, *rest, **more)

    def refuse(address: tuple[str, int], *_rest: object, **_more: object):
        requests.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", refuse)
    with pytest.raises(NotTakenError, match="it cannot be reached"):
        send(Channel("ops", "webhook", {"url": "https://hooks.example/x"}, made_on_page=True), message())
    assert requests == ["10.0.0.9"]


def test_one_address_of_several_that_is_refused_refuses_the_name(monkeypatch):
    both = [(0, 0, 0, "", (address, 443)) for address in ("93.184.216.34", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    with pytest.raises(AddressRefusedError, match=r"127\.0\.0\.1 is an address of this machine"):
        checked_addresses("hooks.example", 443, refusal_beyond_this_machine)
