"""Registries by https: clients that trust their authority, others that do not, and requests from one to its leader."""

import urllib.error
import urllib.request

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from tests.barnabas_cluster import await_true
from tests.certificates import Authority
from tests.registry_process import running_registries
from tests.zookeeper_server import free_ports


def test_registries_are_asked_and_ask_one_another_by_https(cluster, tmp_path, name):
    authority = Authority()
    keystore = tmp_path / "registry.pem"
    keystore.write_text(authority.server().pem("opens it"))
    keystore.chmod(0o600)
    trusted = authority.write(tmp_path)
    with running_registries(
        tmp_path, cluster.bootstrap_servers, 2, cluster.zookeeper.connect, authority.pem,
        kafkastore_topic=f"_schemas-{name}", schema_registry_zk_namespace=name, schema_registry_group_id=name,
        ssl_keystore_type="PEM", ssl_keystore_location=str(keystore), ssl_key_password="opens it",
        ssl_truststore_type="PEM", ssl_truststore_location=trusted,
    ) as registries:  # fmt: skip
        for at, registry in enumerate(registries):
            client = SchemaRegistryClient({"url": registry.url, "ssl.ca.location": trusted})
            made = Schema(f'{{"type":"record","name":"R{at}","fields":[]}}', "AVRO")
            await_true(lambda: registry.ask("GET", "/mode").status == 200, "a leader")  # noqa: B023 (called at once)
            assert client.register_schema(f"{name}-{at}", made) == at + 1
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(f"{registries[0].url}/subjects", timeout=30)
        with pytest.raises(OSError):
            urllib.request.urlopen(f"{registries[0].url.replace('https', 'http')}/subjects", timeout=30)
        assert all("Traceback" not in registry.log() for registry in registries)


def test_one_registry_listens_both_ways_and_asks_clients_for_certificates(cluster, tmp_path, name):
    authority, (port,) = Authority(), free_ports(1)
    (tmp_path / "registry.p12").write_bytes(authority.server().pkcs12("opens it"))
    chain, key = authority.client().write(tmp_path, "client")
    trusted = authority.write(tmp_path)
    with running_registries(tmp_path, cluster.bootstrap_servers, kafkastore_topic=f"_schemas-{name}") as [plain]:
        plain.stop()
        plain.properties |= {
            "listeners": f"{plain.url},https://127.0.0.1:{port}", "ssl.keystore.type": "PKCS12",
            "ssl.keystore.location": str(tmp_path / "registry.p12"), "ssl.keystore.password": "opens it",
            "ssl.truststore.type": "PEM", "ssl.truststore.location": trusted, "ssl.client.authentication": "REQUIRED",
        }  # fmt: skip
        plain.start()
        plain.await_serving()
        url = f"https://127.0.0.1:{port}"
        known = {"url": url, "ssl.ca.location": trusted, "ssl.certificate.location": chain, "ssl.key.location": key}
        client = SchemaRegistryClient(known)
        schema_id = client.register_schema(name, Schema('"string"', "AVRO"))
        assert plain.ask("GET", f"/subjects/{name}/versions/1").body["id"] == schema_id
        with pytest.raises(Exception, match=r"(?i)certificate|ssl|read|disconnected"):
            SchemaRegistryClient({"url": url, "ssl.ca.location": trusted, "max.retries": 0}).get_subjects()
        page = {"Origin": "https://evil.example", "Content-Type": "text/plain"}
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(urllib.request.Request(f"{plain.url}/subjects/s/versions", b"{}", page), timeout=30)
        assert plain.stop() == 0
