"""How long the certificates of listeners last is scraped by listener."""

from datetime import timedelta

from broker.common.clock import SystemClock
from broker.config.broker import read_broker_config
from broker.net.turns import Turns
from broker.server.security_metrics import CertificateMetrics
from broker.server.tls import ListenersTls
from tests.certificates import Authority


def test_each_listener_with_tls_says_when_its_certificate_ends(tmp_path):
    store = tmp_path / "own.pem"
    store.write_text(Authority().server(ends=timedelta(days=20)).pem())
    config = read_broker_config(
        "broker.id=1\nzookeeper.connect=localhost:2181\nlog.dirs=/tmp/unused\n"
        "listeners=PLAINTEXT://127.0.0.1:9092,SSL://127.0.0.1:9093\n"
        f"ssl.keystore.type=PEM\nssl.keystore.location={store}\n"
    )
    tls = ListenersTls(Turns(), "PLAINTEXT")
    for listener in ("PLAINTEXT", "SSL"):
        tls.of_listener(config.of_listener(listener))
    metrics = CertificateMetrics(tls, SystemClock())
    (family,) = metrics.collect()
    assert [metric.name for metric in metrics.describe()] == [family.name]
    ((labels, left_s),) = [(sample.labels, sample.value) for sample in family.samples]
    assert labels == {"listener": "SSL"}
    assert 19 < left_s / 86_400 <= 20
