"""Clusters as they are kept: one file of mode 600 for what was said, and those that clients read, of mode 600 too."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from console.kit.common.added_clusters import file_in, names_in, read_file
from console.kit.common.declared_clusters import ClustersError, DeclaredCluster
from console.kit.gateway.connection.client_file import ClientLogin, properties_of
from console.processes.properties_file import write_properties

#: Of a form's fields those that no page shows.
SECRETS = ("password", "key", "connect_password", "registry_password")
#: Those that are the client configuration's.
LOGIN = ("protocol", "mechanism", "username", "password", "authorities", "certificate", "key")


@dataclass(frozen=True)
class KeptForm:
    """A stored form of a cluster: `values` are its fields but for the secrets."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def login(self) -> ClientLogin:
        both = {**self.values, **self.secrets}
        return ClientLogin(**{item: str(both.get(item, "") or ClientLogin.__dict__[item]) for item in LOGIN})


def added_names() -> list[str]:
    return names_in(settings.ADDED_CLUSTERS_DIR)


def added_states() -> list[tuple[str, str]]:
    """Return each added cluster by name, with the reason why it is missing; empty if it is served. Those that
    were removed and still are, too.
    """
    names = added_names()
    waits = "It comes when the console's own processes have started again."
    states = [(name, _why_not(name) or ("" if name in settings.CLUSTERS else waits)) for name in names]
    gone = [
        cluster.name for cluster in settings.CLUSTERS.values() if _is_of_page(cluster) and cluster.name not in names
    ]
    return [
        *states,
        *((item, "It is removed, and goes when the console's own processes have started again.") for item in gone),
    ]


def _why_not(name: str) -> str:
    return str(settings.LEFT_OUT_CLUSTERS.get(name, ""))


def _is_of_page(cluster: DeclaredCluster) -> bool:
    return bool(cluster.values.get("IS_ADDED"))


def kept_of(name: str) -> KeptForm | None:
    """Return the kept form; None if no cluster of this name was added on a page. Raises ClustersError."""
    if name not in added_names():
        return None
    document = read_file(file_in(settings.ADDED_CLUSTERS_DIR, name))
    form, secrets = document.get("form"), document.get("secrets")
    if not isinstance(form, dict) or not isinstance(secrets, dict):
        raise ClustersError("Its file is not as it was written.")
    return KeptForm(name, form, secrets)


def write(kept: KeptForm) -> None:
    """Write the cluster's files, the declaration last; files it does not name are deleted."""
    table: dict[str, Any] = {
        key: kept.values[key]
        for key in ("title", "colour", "bootstrap", "read_only", "zookeeper", "connect", "schema_registry")
        if kept.values.get(key)
    }
    if login := properties_of(kept.login):
        table["client_config"] = _put(kept.name, "properties", login)
    if kept.values.get("connect_user"):
        login = f"{kept.values['connect_user']}:{kept.secrets.get('connect_password', '')}\n"
        table["connect_authentication_file"] = _put(kept.name, "connect", login)
    if kept.values.get("registry_user"):
        table["schema_registry_user"] = kept.values["registry_user"]
        password = kept.secrets.get("registry_password", "")
        table["schema_registry_password_file"] = _put(kept.name, "registry", f"{password}\n")
    content = json.dumps({"said": table, "form": dict(kept.values), "secrets": dict(kept.secrets)})
    write_properties(file_in(settings.ADDED_CLUSTERS_DIR, kept.name), content)
    for path in (_path(kept.name, part) for part in _PARTS):
        if str(path) not in table.values():
            path.unlink(missing_ok=True)


def remove(name: str) -> None:
    """Remove the cluster; its database stays."""
    for path in (file_in(settings.ADDED_CLUSTERS_DIR, name), *(_path(name, part) for part in _PARTS)):
        path.unlink(missing_ok=True)


_PARTS = ("properties", "connect", "registry")


def _path(name: str, part: str) -> Path:
    return Path(settings.ADDED_CLUSTERS_DIR) / f"{name}.{part}"


def _put(name: str, part: str, text: str) -> str:
    path = _path(name, part)
    write_properties(path, text)
    return str(path)
