"""A cluster that owns its znodes, by unmodified clients: it works as any other, and nobody else writes into it."""

import contextlib

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError, NoNodeError
from kazoo.security import OPEN_ACL_UNSAFE

from broker.cli import retention_preview
from broker.common.errors import StartupError
from broker.zookeeper.acls import SENSITIVE_PATHS, is_sensitive
from broker.zookeeper.quota import Amount, encode_limits, limits_path, used_path
from console.kit.gateway.acls.interface import AclRule
from console.kit.gateway.credentials.first_user import NewUser, admit_users
from tests.barnabas_cluster import await_true, running_cluster
from tests.interop.outsider import all_paths, allowed
from tests.typed import typed


@pytest.fixture
def own_znodes(tmp_path) -> dict[str, str]:
    """What brokers need to own their znodes."""
    digest = tmp_path / "digest"
    digest.write_text("kafka:secret of the brokers\n")
    digest.chmod(0o600)
    return {"zookeeper.set.acl": "true", "zookeeper.digest.file": str(digest)}


def admin_of(cluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers})


def create(cluster, topic: str, partitions: int = 3) -> None:
    admin = admin_of(cluster)
    admin.create_topics([NewTopic(topic, partitions, len(cluster.brokers))])[topic].result(20)


def create_topics(cluster, count: int) -> None:
    for number in range(count):
        create(cluster, f"t-{number}", 10)


def grown(cluster, topic: str, partitions: int) -> bool:
    """False while clients still take another broker for the controller."""
    admin = admin_of(cluster)
    with contextlib.suppress(KafkaException):
        admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(20)
    return len(admin.list_topics(topic, timeout=10).topics[topic].partitions) == partitions


def open_znodes(zookeeper: KazooClient, path: str = "/") -> list[str]:
    """What everybody may change, but for the ensemble's own."""
    names = [name for name in zookeeper.get_children(path) if path != "/" or name != "zookeeper"]
    below = [znode for name in names for znode in open_znodes(zookeeper, f"{path.rstrip('/')}/{name}")]
    return [*([path] if zookeeper.get_acls(path)[0] == OPEN_ACL_UNSAFE else []), *below]


@pytest.fixture
def as_owner():
    """`as_owner(cluster)`: a client of its ZooKeeper with the brokers' user."""
    clients = []

    def connect(cluster, digest: str | None = "kafka:secret of the brokers") -> KazooClient:
        client = KazooClient(cluster.zookeeper.connect, auth_data=[("digest", digest)] if digest else None)
        client.start()
        clients.append(client)
        return client

    yield connect
    for client in clients:
        client.stop()
        client.close()


def content(client, path: str) -> bytes:
    """Of a znode that may be gone at any moment."""
    try:
        return client.get(path)[0]
    except NoNodeError:
        return b""


def test_everything_a_cluster_writes_is_its_own_and_the_next_controller_may_change_it(tmp_path, own_znodes, as_owner):
    with running_cluster(tmp_path / "cluster", brokers=2, overrides=own_znodes) as cluster:
        create(cluster, "t")
        owner, stranger = as_owner(cluster), as_owner(cluster, None)
        first, second = cluster.brokers
        first.kill()
        await_true(lambda: b'"brokerid":2' in content(owner, "/controller"), "failover")
        first.start()
        first.await_healthy()
        await_true(lambda: grown(cluster, "t", 4), "the new controller adds a partition")
        admin = admin_of(cluster)
        resource = ConfigResource(ConfigResource.Type.TOPIC, "t", {"retention.ms": "1000"})
        admin.alter_configs([resource])[resource].result(20)
        assert open_znodes(owner) == []
        assert stranger.get_children("/brokers/ids") == ["1", "2"]
        with pytest.raises(NoAuthError):
            stranger.create("/brokers/topics/theirs", b"")
        admin.delete_topics(["t"])["t"].result(20)
        for broker in (first, second):
            assert "secret of the brokers" not in broker.log_path.read_text()


@pytest.mark.long
def test_a_cluster_that_began_open_is_its_own_after_its_brokers_were_restarted_one_by_one(
    tmp_path, own_znodes, as_owner
):
    with running_cluster(tmp_path / "cluster", brokers=2) as cluster:
        create(cluster, "before")
        owner = as_owner(cluster)
        for broker in cluster.brokers:
            broker.stop()
            broker.overrides |= own_znodes
            broker.start()
            broker.await_healthy()
            create(cluster, f"after-{broker.broker_id}")
        await_true(lambda: open_znodes(owner) == [], "every znode is the brokers'")
        admin = admin_of(cluster)
        admin.delete_topics(["before"])["before"].result(20)


def test_a_client_that_makes_topics_without_end_is_told_why_they_end(tmp_path, own_znodes, as_owner):
    (tmp_path / "password").write_text("super secret\n")
    with running_cluster(
        tmp_path / "cluster", overrides=own_znodes, super_password_file=tmp_path / "password"
    ) as cluster:
        operator = as_owner(cluster, "super:super secret")
        await_true(lambda: operator.exists(used_path("/config")), "the quotas")
        operator.set(limits_path("/brokers"), encode_limits(Amount(200, 1_000_000)))
        with pytest.raises(KafkaException, match=r"ZooKeeper has no room: .* delete topics first"):
            create_topics(cluster, 100)
        admin = admin_of(cluster)
        for topic in ("t-0", "t-1"):
            admin.delete_topics([topic])[topic].result(20)
        create(cluster, "again", 10)


def test_a_preview_of_retention_is_told_to_who_can_read_the_secret(tmp_path, own_znodes, capsys):
    with running_cluster(tmp_path / "cluster", overrides=own_znodes) as cluster:
        create(cluster, "t", 1)
        arguments = ["--bootstrap-server", cluster.bootstrap_servers, "--topic", "t", "--zookeeper"]
        arguments.append(cluster.zookeeper.connect)
        with pytest.raises(StartupError):
            retention_preview.main(arguments)
        digest = own_znodes["zookeeper.digest.file"]
        assert retention_preview.main([*arguments, "--zookeeper-digest-file", digest]) == 0
        assert "t: cleanup.policy delete" in capsys.readouterr().out


#: Everything that is kept in ZooKeeper for security.
_SECURED = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:{port}",
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:admin",
    "delegation.token.secret.key": "secret of the tokens",
}
_LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-256",
    "sasl.username": "admin",
    "sasl.password": "sesame",
}


@pytest.mark.long
def test_an_outsider_reads_no_secret_and_changes_nothing(tmp_path, own_znodes, as_owner):
    (tmp_path / "password").write_text("super secret\n")
    login = tmp_path / "admin.properties"
    login.write_text("".join(f"{name}={text}\n" for name, text in _LOGIN.items()))
    login.chmod(0o600)
    with running_cluster(
        tmp_path / "cluster", overrides=own_znodes | _SECURED, super_password_file=tmp_path / "password"
    ) as cluster:
        connect, digest = cluster.zookeeper.connect, own_znodes["zookeeper.digest.file"]
        rule = AclRule("TOPIC", "orders", "LITERAL", "User:alice", "ALLOW", "READ")
        prefix = AclRule("TOPIC", "audit-", "PREFIXED", "User:alice", "DENY", "READ")
        users = [NewUser("admin", "sesame"), NewUser("alice", "opened", (rule, prefix))]
        assert admit_users(connect, digest, users, "SCRAM-SHA-256") == ""
        arguments = ("--bootstrap-server", cluster.bootstrap_servers, "--command-config", str(login))
        await_true(lambda: typed("kafka-topics", *arguments, "--list").status == 0, "the first login")
        for command, *words in (
            ("kafka-topics", "--create", "--topic", "orders", "--partitions", "2"),
            ("kafka-delegation-tokens", "--create", "--max-life-time-period", "-1"),
            *(
                ("kafka-configs", "--alter", "--entity-type", kind, "--entity-name", name, "--add-config", pair)
                for kind, name, pair in (
                    ("users", "alice", "producer_byte_rate=1000000"),
                    ("clients", "app", "consumer_byte_rate=1000000"),
                    ("topics", "orders", "retention.ms=100000"),
                    ("brokers", "1", "background.threads=5"),
                )
            ),
        ):
            outcome = typed(command, *arguments, *words)
            assert outcome.status == 0, (command, words, outcome)
        owner, operator = as_owner(cluster), as_owner(cluster, "super:super secret")
        await_true(lambda: operator.exists(used_path("/config")), "the quotas")
        paths = list(all_paths(operator))
        kept = {root: [path for path in paths if path.startswith(f"{root}/")] for root in SENSITIVE_PATHS}
        assert all(below or owner.exists(root) for root, below in kept.items())
        for wanted in ("/config/users/alice", "/config/clients/app", "/kafka-acl/Topic/orders", "/config/brokers/1"):
            assert wanted in paths
        assert kept["/delegation_token/tokens"]
        assert "/kafka-acl-extended/prefixed/Topic/audit-" in paths
        outsider = as_owner(cluster, None)
        may = {path: allowed(outsider, path) for path in paths}
        assert {path: item for path, item in may.items() if item - {"read", "list"}} == {}
        assert {path: item for path, item in may.items() if is_sensitive(path) and item} == {}
        secrets = [content(owner, path) for below in kept.values() for path in below]
        secrets.append(content(owner, "/barnabas/secret"))
        readable = b"\n".join(content(outsider, path) for path, item in may.items() if "read" in item)
        assert not [secret for secret in secrets if len(secret) > 20 and secret in readable]
        for word in (b"stored_key", b"server_key", b"hmac", b"secret of the"):
            assert word not in readable
        for path in ("/theirs", "/theirs/too"):
            operator.create(path, b"", acl=OPEN_ACL_UNSAFE)
        assert allowed(outsider, "/theirs/too") == {"read", "list", "write", "delete", "add", "open"}
