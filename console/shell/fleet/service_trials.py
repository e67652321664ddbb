"""What is beside a cluster, tried before it is kept: its Kafka Connect and its schema registry, with what was typed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from console.cluster.schemas.client import RegistryClient
from console.cluster.schemas.configuration import RegistryAddress
from console.ecosystem.connectors.client import ConnectClient
from console.ecosystem.connectors.configuration import ConnectSettings
from console.kit.common.outbound import AddressRefusedError, checked_addresses
from console.kit.gateway.connection.trial import TrialStep
from console.kit.gateway.errors import GatewayError
from console.shell.fleet.kept import KeptForm

ZOOKEEPER, CONNECT, REGISTRY = "ZooKeeper", "Connect", "registry"


@dataclass(frozen=True, slots=True)
class _TypedConnect(ConnectSettings):
    """The password is in no file yet."""

    typed: tuple[str, str] | None = None

    @property
    def authentication(self) -> tuple[str, str] | None:
        return self.typed


@dataclass(frozen=True, slots=True)
class _TypedRegistry(RegistryAddress):
    typed: tuple[str, str] | None = None

    @property
    def login(self) -> tuple[str, str] | None:
        return self.typed


def service_steps(kept: KeptForm, cluster_id: str) -> Iterator[TrialStep]:
    """Yield a step for each named service; one of another cluster is refused."""
    servers = str(kept.values.get("zookeeper", "")).partition("/")[0]
    # What it tells is looked at later, by a process of its own: here only where it is.
    if problem := _why_not_asked(f"zookeeper://{part.strip()}" for part in servers.split(",") if part.strip()):
        yield TrialStep(ZOOKEEPER, error=problem)
    if addresses := str(kept.values.get("connect", "")):
        yield _of_connect(tuple(part.strip().rstrip("/") for part in addresses.split(",")), kept, cluster_id)
    if url := str(kept.values.get("schema_registry", "")):
        yield _of_registry(url.rstrip("/"), kept, cluster_id)


def _of_connect(addresses: tuple[str, ...], kept: KeptForm, cluster_id: str) -> TrialStep:
    if problem := _why_not_asked(addresses):
        return TrialStep(CONNECT, error=problem)
    workers = ConnectClient(_TypedConnect(addresses, typed=_login(kept, "connect")), lambda: cluster_id).workers()
    silent = {item: worker for item, worker in workers.items() if isinstance(worker, str)}
    if len(silent) == len(workers):
        address, why = next(iter(silent.items()))
        return TrialStep(CONNECT, error=f"{address}: {why}")
    words = f"{len(workers) - len(silent)} of {len(workers)} workers answer"
    return TrialStep(CONNECT, words)


def _of_registry(url: str, kept: KeptForm, cluster_id: str) -> TrialStep:
    if problem := _why_not_asked((url,)):
        return TrialStep(REGISTRY, error=problem)
    try:
        address = _TypedRegistry(url, typed=_login(kept, "registry"))
        config = RegistryClient(address, meant=lambda: cluster_id).ask("GET", "config")
    except GatewayError as error:
        return TrialStep(REGISTRY, error=str(error))
    level = config.get("compatibilityLevel") if isinstance(config, dict) else None
    if not isinstance(level, str):
        return TrialStep(REGISTRY, error=f"{url} answers, but not as a schema registry.")
    return TrialStep(REGISTRY, f"it answers; default compatibility {level[:40]}")


def _why_not_asked(urls: Iterable[str]) -> str:
    for url in urls:
        parts = urlsplit(url)
        try:
            checked_addresses(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        except (AddressRefusedError, ValueError) as error:  # a port may be no number
            return str(error)
    return ""


def _login(kept: KeptForm, whose: str) -> tuple[str, str] | None:
    user = str(kept.values.get(f"{whose}_user", ""))
    return (user, kept.secrets[f"{whose}_password"]) if user else None
