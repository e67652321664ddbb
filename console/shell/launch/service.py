"""What the console consists of besides a cluster: one process, and how it is started and ended."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

#: The service that others are forked from.
FORK_SERVER = "fork-server"


@dataclass(frozen=True)
class Service:
    """`grace_s` is what it gets between SIGTERM and SIGKILL. One that is forked has the environment all have."""

    name: str
    argv: list[str]
    log_path: Path
    grace_s: float = 5.0
    #: Besides what all services have.
    environment: Mapping[str, str] = field(default_factory=dict)
    is_forked: bool = False

    def as_json(self) -> dict[str, object]:
        return asdict(self) | {"log_path": str(self.log_path), "environment": dict(self.environment)}


def service_from_json(fields: dict[str, Any]) -> Service:
    return Service(**(fields | {"log_path": Path(fields["log_path"])}))
