"""As whom the demo's processes log in to a secured cluster (`make up SECURE=1`), and the little each of them may do.

What they run reads what others wrote. Jobs that a person adds have topics nobody can know here: they log in as the
console does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from console.gateway.acl_views import AclRule
from console.gateway.connect import client_config_in_use
from console.gateway.stream_jobs import SINK_PREFIX, SINK_TOPIC

SOURCES, STREAMS, PROBE = "sources", "streams", "probe"
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


def job_users(has_demo: bool, has_documents: bool, has_probe: bool = False) -> tuple[JobUser, ...]:
    """Those that the processes of such a setup need."""
    written = [*((METRICS_TOPIC, REQUESTS_TOPIC) if has_demo else ()), *((DOCUMENTS_TOPIC,) if has_documents else ())]
    sources = JobUser(SOURCES, tuple(rule for topic in written for rule in _on(SOURCES, "TOPIC", topic, _WRITES)))
    streams, probe = JobUser(STREAMS, tuple(_of_streams())), JobUser(PROBE, tuple(_of_probe()))
    return (*((sources,) if written else ()), *((streams,) if has_demo else ()), *((probe,) if has_probe else ()))


def _of_probe() -> Iterable[AclRule]:
    """Its topic's, and nothing of the cluster's: who may elect leaders and move replicas may also make such rules, so
    on a secured cluster the brokers themselves bring leaders back.
    """
    yield from _on(PROBE, "TOPIC", PROBE_TOPIC, ("ALTER", "CREATE", "READ", "WRITE"))


def _of_streams() -> Iterable[AclRule]:
    """Of the demo's job: it counts one topic into another, exactly once, for which the sink keeps its ledger."""
    yield from _on(STREAMS, "TOPIC", REQUESTS_TOPIC, ("CREATE", "READ"))
    yield from _on(STREAMS, "TOPIC", COUNTS_TOPIC, _WRITES)
    yield from _on(STREAMS, "TOPIC", SINK_TOPIC, ("CREATE", "DESCRIBE_CONFIGS", "READ", "WRITE"))
    yield from _on(STREAMS, "GROUP", SINK_PREFIX, ("READ",), "PREFIXED")
    yield from _on(STREAMS, "TRANSACTIONAL_ID", SINK_PREFIX, ("WRITE",), "PREFIXED")


def _on(user: str, kind: str, name: str, operations: Iterable[str], pattern: str = "LITERAL") -> Iterable[AclRule]:
    for operation in operations:
        yield AclRule(kind, name, pattern, f"User:{user}", "ALLOW", operation)


def job_client_file(user: str) -> Path:
    """Of mode 600, in the words of Kafka's client properties; there on a secured cluster only."""
    return settings.SECRETS_DIR / f"{user}.properties"


def user_of_stream(directory: Path) -> str:
    """As whom the stream job in this directory logs in; empty: as the console."""
    return STREAMS if directory == settings.DATA_DIR / "streams" / DEMO_JOB else ""


def client_config_of(user: str) -> str:
    """The path of the client configuration of a process: its user's, or the console's; empty for plain connections.

    A file that BARNABAS_CLIENT_CONFIG names is for everybody.
    """
    own = job_client_file(user)
    return str(own) if user and own.exists() and not settings.CLIENT_CONFIG_IS_NAMED else client_config_in_use()
