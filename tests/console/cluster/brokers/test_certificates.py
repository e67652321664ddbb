"""A broker whose certificate ends soon is told of before nobody connects any more."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from console.cluster.brokers.certificates import ends_soon
from console.cluster.brokers.models import BrokerReport
from console.kit.gateway.brokers.certificates import certificates_end_in_s
from console.processes.models import ManagedProcess
from console.signals.overview.health import EndingCertificate, HealthFacts, HealthLevel
from console.signals.overview.host_reasons import certificate_reasons
from console.signals.overview.reasons import assess
from tests.zookeeper_server import free_ports

DAY_MS = 86_400_000
_SAID = """\
# TYPE barnabas_broker_logins_waiting gauge
barnabas_broker_logins_waiting 0.0
# TYPE barnabas_broker_certificate_ends_in_seconds gauge
barnabas_broker_certificate_ends_in_seconds{listener="SASL_SSL"} %d
"""


@pytest.fixture
def metrics():
    """`metrics(text, paths)`: the port where that is answered; which paths were requested is added to `paths`."""
    servers = []

    def serve(text: str, paths: list[str] | None = None) -> int:
        class Answer(BaseHTTPRequestHandler):
            def do_GET(self):
                if paths is not None:
                    paths.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *arguments):
                pass

        server = HTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server.server_port

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_metrics_of_a_broker_say_it_by_listener(metrics):
    assert certificates_end_in_s(metrics(_SAID % 86_400)) == {"SASL_SSL": 86_400}
    assert certificates_end_in_s(metrics("x 1\n")) == {}


def test_a_broker_is_asked_for_nothing_else_and_without_tls_it_has_nothing_to_say(metrics):
    requests: list[str] = []
    assert certificates_end_in_s(metrics("", requests)) == {}
    assert requests == ["/metrics?name[]=barnabas_broker_certificate_ends_in_seconds"]


def test_of_a_broker_that_does_not_answer_or_talks_nonsense_nothing_is_known(metrics):
    assert certificates_end_in_s(free_ports(1)[0]) is None
    assert certificates_end_in_s(metrics("{]} what\n")) is None


@pytest.mark.parametrize(("days", "is_soon"), [(31, False), (30, False), (29, True), (-1, True)])
def test_soon_is_within_thirty_days(days, is_soon):
    assert ends_soon(days * DAY_MS, 0) is is_soon


@pytest.mark.parametrize(
    ("left_ms", "level", "words"),
    [
        (12 * DAY_MS, HealthLevel.WARNING, "ends in 12 days."),
        (DAY_MS, HealthLevel.WARNING, "ends in 1 day."),
        (DAY_MS // 2, HealthLevel.WARNING, "ends within a day."),
        (-1, HealthLevel.CRITICAL, "has ended"),
    ],
)
def test_health_says_which_when_and_what_helps(left_ms, level, words):
    ending = EndingCertificate(2, "SASL_SSL", 0, left_ms)
    (reason,) = assess(HealthFacts(is_seen=True, controller_id=1, certificates=(ending,))).reasons
    assert (reason.level, reason.subject, reason.evidence) == (level, "Broker 2", "it ends at 1970-01-01 00:00 UTC")
    assert words in reason.text
    assert "Renew it" in reason.action.text


def test_collector_writes_it_and_the_overview_tells(viewer, client_of, collector, collect, metrics, settings):
    collect()
    collector.look("sizes")
    assert BrokerReport.objects.get(broker_id=1).certificates == {}
    spec = {"broker_id": 1, "metrics_port": metrics(_SAID % (10 * 86_400 + 3_600))}
    ManagedProcess.objects.create(
        name="broker-1", kind="broker", host=settings.HOST_NAME, spec=spec, pid=2**22 + 1, create_time=1
    )
    collector.look("sizes")
    assert list(BrokerReport.objects.get(broker_id=1).certificates) == ["SASL_SSL"]
    page = client_of(viewer).get("/").content.decode()
    assert "The certificate of broker 1 for SASL_SSL ends in 10 days" in page


def test_brokers_that_show_one_certificate_are_one_reason():
    day_ms = 86_400_000
    soon = [EndingCertificate(number, "SSL", 5 * day_ms, 5 * day_ms - 60_000) for number in (3, 1, 2)]
    later = EndingCertificate(4, "SSL", 9 * day_ms, 9 * day_ms - 60_000)
    ended = [EndingCertificate(number, "SASL_SSL", 0, -1) for number in (1, 2)]
    assert [reason.text for reason in certificate_reasons([*soon, *ended])] == [
        "The certificates of brokers 1, 2 and 3 for SSL end in 4 days.",
        "The certificates of brokers 1 and 2 for SASL_SSL have ended: nobody connects there any more.",
    ]
    (reason,) = certificate_reasons([later, *soon])
    assert reason.text == "The certificates of brokers 1, 2, 3 and 4 for SSL end, the first in 4 days."
    assert (reason.key, reason.parts) == ("certificates:ending:SSL", ("1", "2", "3", "4"))
    (alone,) = certificate_reasons([later])
    assert (alone.text, alone.key) == ("The certificate of broker 4 for SSL ends in 8 days.", "certificate:4:SSL")
