"""What mm2.properties says: clusters, which flows run between them, and the settings of each one's connectors. Pure.

As Kafka's dedicated mirror reads it (KIP-382): `clusters`, then settings for all, with `A.` for what concerns a cluster
and with `A->B.` for a flow; the more particular one counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from broker.common.errors import StartupError

_MIRROR = "org.apache.kafka.connect.mirror."
_KINDS = ("Source", "Checkpoint", "Heartbeat")
#: Settings of the process or of a cluster, of which connectors need not know.
_NOT_OF_CONNECTORS = ("clusters", "name", "connector.class")


@dataclass(frozen=True)
class MirrorFlow:
    source: str
    target: str
    #: Client properties of the target.
    target_client: dict[str, str]
    #: Name → configuration.
    connectors: dict[str, dict[str, str]]

    @property
    def name(self) -> str:
        return f"{self.source}->{self.target}"


def read_flows(props: Mapping[str, str], only_to: list[str]) -> list[MirrorFlow]:
    """Return the enabled flows, to the clusters of `only_to` if it names any. Raises StartupError."""
    clusters = [part.strip() for part in props.get("clusters", "").split(",") if part.strip()]
    if len(clusters) < 2:
        raise StartupError("clusters must name at least two, as in clusters = east, west.")
    for alias in only_to:
        if alias not in clusters:
            raise StartupError(f"--clusters {alias}: clusters has {', '.join(clusters)}.")
    for alias in clusters:
        if not props.get(f"{alias}.bootstrap.servers"):
            raise StartupError(f"{alias}.bootstrap.servers is missing: where the cluster {alias} is.")
    flows = [
        _flow(props, clusters, source, target)
        for source in clusters
        for target in only_to or clusters
        if source != target and _is_true(props.get(f"{source}->{target}.enabled", "false"))
    ]
    if not flows:
        raise StartupError(f"No flow is enabled, as {clusters[0]}->{clusters[1]}.enabled = true would do.")
    return flows


def _flow(props: Mapping[str, str], clusters: list[str], source: str, target: str) -> MirrorFlow:
    common = _common(props, clusters)
    of_source, of_target = _of(props, f"{source}."), _of(props, f"{target}.")
    config = {**common, **_of(props, f"{source}->{target}.")}
    if of_target.get("exactly.once.source.support", common.get("exactly.once.source.support")) == "enabled":
        config.setdefault("exactly.once.enabled", "true")
    config |= {f"source.cluster.{key}": value for key, value in {**_security(common), **of_source}.items()}
    config |= {f"target.cluster.{key}": value for key, value in {**_security(common), **of_target}.items()}
    config |= {"source.cluster.alias": source, "target.cluster.alias": target}
    enabled = [
        kind for kind in _KINDS if kind == "Source" or _is_true(config.get(f"emit.{kind.lower()}s.enabled", "true"))
    ]
    connectors = {f"Mirror{kind}Connector": _connector(kind, config) for kind in enabled}
    return MirrorFlow(source, target, {**_security(common), **of_target}, connectors)


def _connector(kind: str, config: Mapping[str, str]) -> dict[str, str]:
    name = f"Mirror{kind}Connector"
    return {**config, "name": name, "connector.class": f"{_MIRROR}{name}"}


def _common(props: Mapping[str, str], clusters: list[str]) -> dict[str, str]:
    """Return the properties that name neither a cluster nor a flow."""
    return {
        key: value
        for key, value in props.items()
        if key not in _NOT_OF_CONNECTORS and "->" not in key and key.split(".")[0] not in clusters
    }


def _security(common: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in common.items() if key.startswith(("security.", "ssl.", "sasl."))}


def _of(props: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in props.items() if key.startswith(prefix)}


def _is_true(text: str) -> bool:
    return text.strip().lower() == "true"
