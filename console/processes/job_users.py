"""As whom the demo's processes log in to a secured cluster (`make up SECURE=1`), and the little each of them may do.

What they run reads what others wrote. Jobs that a person adds have topics nobody can know here: they log in as the
console does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from broker.audit.increment import AUDIT_TOPIC
from console.kit.gateway.acls.interface import AclRule
from console.kit.gateway.connect import client_config_in_use
from console.kit.gateway.processes.stream_jobs import SINK_PREFIX, SINK_TOPIC
from console.processes.setup import Setup

SOURCES, STREAMS, REGISTRY, PROBE = "sources", "streams", "registry", "probe"
#: Of the worker, which is a client of them as any other: its group, and what it keeps.
CONNECT_GROUP, CONNECT_TOPICS = "connect-cluster", ("connect-configs", "connect-offsets", "connect-status")
SCHEMAS_TOPIC = "_schemas"
PROBE_TOPIC = "barnabas.probe"
DEMO_JOB = "access-counts"
METRICS_TOPIC, REQUESTS_TOPIC, COUNTS_TOPIC, DOCUMENTS_TOPIC = (
    "host.metrics",
    "console.access",
    "console.access.counts",
    "documents.lines",
)
_WRITES = ("CREATE", "WRITE")


@dataclass(frozen=True)
class JobUser:
    """`rules` are all that it may do."""

    name: str
    rules: tuple[AclRule, ...]


def job_users(setup: Setup) -> tuple[JobUser, ...]:
    """Return the users that this setup's processes need."""
    users = (
        (setup.connect_port, JobUser(SOURCES, tuple(_of_sources(setup)))),
        (setup.registry_port, JobUser(REGISTRY, tuple(_of_registry()))),
        (setup.demo, JobUser(STREAMS, tuple(_of_streams()))),
        (setup.has_probe, JobUser(PROBE, tuple(_of_probe()))),
    )
    return tuple(user for is_needed, user in users if is_needed)


def _of_sources(setup: Setup) -> Iterable[AclRule]:
    """Yield rules of the worker and the demo's connectors; rules of a person's connectors are that person's to add."""
    for topic in CONNECT_TOPICS:
        yield from _on(SOURCES, "TOPIC", topic, ("CREATE", "DESCRIBE_CONFIGS", "READ", "WRITE"))
    yield from _on(SOURCES, "GROUP", "connect-", ("READ",), "PREFIXED")
    for topic in (METRICS_TOPIC, REQUESTS_TOPIC) if setup.demo else ():
        yield from _on(SOURCES, "TOPIC", topic, _WRITES)
    if setup.documents:
        yield from _on(SOURCES, "TOPIC", DOCUMENTS_TOPIC, _WRITES)
    if setup.has_audit:  # its sinks and mirrors tell what they took
        yield from _on(SOURCES, "TOPIC", AUDIT_TOPIC, _WRITES)


def _of_registry() -> Iterable[AclRule]:
    yield from _on(REGISTRY, "TOPIC", SCHEMAS_TOPIC, ("CREATE", "DESCRIBE_CONFIGS", "READ", "WRITE"))
    yield from _on(REGISTRY, "TRANSACTIONAL_ID", f"schema-registry-{SCHEMAS_TOPIC}", ("DESCRIBE", "WRITE"))
    yield from _on(REGISTRY, "GROUP", "schema-registry", ("READ",), "PREFIXED")


def _of_probe() -> Iterable[AclRule]:
    """Yield rules of the probe's topic, and none on the cluster: the right to elect leaders and move replicas includes
    that to make such rules, so on a secured cluster the brokers themselves bring leaders back.
    """
    yield from _on(PROBE, "TOPIC", PROBE_TOPIC, ("ALTER", "CREATE", "READ", "WRITE"))


def _of_streams() -> Iterable[AclRule]:
    """Yield rules of the demo's stream job: it counts one topic into another, exactly once, for which the sink keeps
    its ledger.
    """
    yield from _on(STREAMS, "TOPIC", REQUESTS_TOPIC, ("CREATE", "READ"))
    yield from _on(STREAMS, "TOPIC", COUNTS_TOPIC, _WRITES)
    yield from _on(STREAMS, "TOPIC", SINK_TOPIC, ("CREATE", "DESCRIBE_CONFIGS", "READ", "WRITE"))
    yield from _on(STREAMS, "GROUP", SINK_PREFIX, ("READ",), "PREFIXED")
    yield from _on(STREAMS, "TRANSACTIONAL_ID", SINK_PREFIX, ("WRITE",), "PREFIXED")


def _on(user: str, kind: str, name: str, operations: Iterable[str], pattern: str = "LITERAL") -> Iterable[AclRule]:
    for operation in operations:
        yield AclRule(kind, name, pattern, f"User:{user}", "ALLOW", operation)


def job_client_file(user: str) -> Path:
    """Return the client properties file of mode 600; it exists on a secured cluster only."""
    return settings.SECRETS_DIR / f"{user}.properties"


def user_of_stream(directory: Path) -> str:
    """Return the user of the stream job in this directory; empty: the console's own."""
    return STREAMS if directory == settings.DATA_DIR / "streams" / DEMO_JOB else ""


def client_config_of(user: str) -> str:
    """Return the path of the client configuration of a process: its user's, or the console's; empty for plain
    connections.

    A file that BARNABAS_CLIENT_CONFIG names is for everybody.
    """
    own = job_client_file(user)
    return str(own) if user and own.exists() and not settings.CLIENT_CONFIG_IS_NAMED else client_config_in_use()
