"""The file clusters.toml as settings of each cluster; it ends the program with one sentence if it cannot be."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console.kit.common.current_cluster import MAIN
from console.kit.common.declared_clusters import ClustersError, ClusterTable, DeclaredCluster, parse_clusters
from console.kit.common.owned_files import FileError, read_private_text

#: Makes a setting of what environment variables would say: how they are read for the first cluster.
Reader = Callable[[Mapping[str, str]], Any]
_CONNECT = {
    "BARNABAS_CONNECT": "connect",
    "BARNABAS_CONNECT_AUTHENTICATION_FILE": "connect_authentication_file",
    "BARNABAS_CONNECT_CA_FILE": "connect_ca_file",
}
_REGISTRY = {
    "BARNABAS_SCHEMA_REGISTRY_URL": "schema_registry",
    "BARNABAS_SCHEMA_REGISTRY_USER": "schema_registry_user",
    "BARNABAS_SCHEMA_REGISTRY_PASSWORD_FILE": "schema_registry_password_file",
    "BARNABAS_SCHEMA_REGISTRY_CA_FILE": "schema_registry_ca_file",
}
#: What `up` calls the cluster that BARNABAS_MIRROR=1 starts beside the first.
SECOND, SECOND_TITLE, _SECOND_PORT_DISTANCE = "backup", "backup", 200


@dataclass(frozen=True)
class ClustersFile:
    """Paths in `file` are relative to where it lies. `is_named`: that it is not there is a mistake."""

    file: Path
    is_named: bool
    secrets_dir: Path
    read_connect: Reader
    read_registry: Reader

    def read(self) -> tuple[DeclaredCluster, dict[str, DeclaredCluster]]:
        """Return the first cluster, and the others by name."""
        if not self.is_named and not self.file.exists():
            return DeclaredCluster(MAIN, MAIN), {}
        try:
            clusters = [self.cluster(cluster) for cluster in parse_clusters(read_private_text(self.file))]
        except FileError as error:
            sys.exit(str(error))
        except ClustersError as error:
            sys.exit(f"{self.file} {error}")
        by_name = {cluster.name: cluster for cluster in clusters}
        return by_name.pop(MAIN, DeclaredCluster(MAIN, MAIN)), by_name

    def cluster(self, table: ClusterTable) -> DeclaredCluster:
        if table.name == MAIN:
            return DeclaredCluster(MAIN, table.title, table.colour)
        client_config = table.path("client_config", self.file.parent)
        if client_config:
            read_private_text(Path(client_config))
        values = {
            "BOOTSTRAP_SERVERS": table.texts["bootstrap"],
            "CLIENT_CONFIG": client_config or str(self.secrets_dir / f"client-{table.name}.properties"),
            "CLIENT_CONFIG_IS_NAMED": bool(client_config),
            "ZOOKEEPER": table.texts.get("zookeeper", ""),
            "ZOOKEEPER_DIGEST_FILE": table.path("zookeeper_digest_file", self.file.parent),
            "ZOOKEEPER_TLS_FILE": table.path("zookeeper_tls_file", self.file.parent),
            "ZOOKEEPER_SECRET_FILE": self.secrets_dir / f"zookeeper-super-{table.name}",
            "CLUSTER_GATEWAY": "console.kit.gateway.connect.kafka_gateway",
            "ZOOKEEPER_GATEWAY": "console.kit.gateway.connect.kazoo_gateway",
            "CONNECT": self.read_connect(self._as_environment(table, _CONNECT)),
            "SCHEMA_REGISTRY": self.read_registry(self._as_environment(table, _REGISTRY)),
            "MIRROR_CLUSTERS": {},
            "READ_ONLY": table.is_read_only,
        }
        return DeclaredCluster(table.name, table.title, table.colour, values)

    def second(self, broker_port: str, zookeeper: str, digest_file: str) -> dict[str, DeclaredCluster]:
        """Return the demo's second cluster, in the ensemble of the first; a port of 0 is filled in later."""
        if not broker_port.isdecimal():
            return {}
        texts = {
            "bootstrap": f"127.0.0.1:{int(broker_port) + _SECOND_PORT_DISTANCE}",
            "zookeeper": f"{zookeeper.rstrip('/')}/{SECOND}",
            "zookeeper_digest_file": digest_file,
        }
        values = {name: value for name, value in texts.items() if value}
        return {SECOND: self.cluster(ClusterTable(SECOND, SECOND_TITLE, "purple", False, values))}

    def _as_environment(self, table: ClusterTable, names: Mapping[str, str]) -> dict[str, str]:
        variables = {}
        for name, key in names.items():
            is_file = name.endswith("_FILE")
            variables[name] = table.path(key, self.file.parent) if is_file else table.texts.get(key, "")
        return {name: value for name, value in variables.items() if value}
