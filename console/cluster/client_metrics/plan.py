"""The change of a subscription to client metrics as a plan. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from console.kit.gateway.client_metrics.interface import ClientMetricsSubscription
from console.kit.plans.plan import Plan, PlanLine
from console.kit.plans.setting import configs_command

CHANGE, DELETE = "change client metrics", "delete client metrics"
#: Kafka's keys in the order of a form.
KEYS = ("interval.ms", "metrics", "match")
_WHY_SAFE = "Clients go on writing and reading; only what they push of their metrics changes."
_PUSHES = (
    "Clients that match push these metrics to the brokers; each asks again for its subscription within its interval. "
    "Brokers without a client telemetry plugin drop what arrives."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMetricsPlan(Plan):
    #: By Kafka's key: settings that change, None where one is taken away.
    changes: Mapping[str, str | None]


def change_plan(
    name: str, wanted: Mapping[str, str], before: ClientMetricsSubscription | None, bootstrap_servers: str
) -> ClientMetricsPlan:
    """Plan the change. `wanted` has a text by key, empty for the default; `before` is None for a new subscription."""
    own = before.own if before else {}
    changes = {key: wanted[key] or None for key in KEYS if wanted.get(key, "") != own.get(key, "")}
    added = {key: value for key, value in changes.items() if value is not None}
    deleted = [key for key, value in changes.items() if value is None]
    options = {"entity-type": "client-metrics", "entity-name": name}
    return ClientMetricsPlan(
        changes=changes,
        action=CHANGE,
        object_type="client metrics",
        object_name=name,
        lines=tuple(PlanLine(key, own.get(key, ""), value or "") for key, value in changes.items()),
        read=_read(before),
        touches=(_PUSHES,),
        losses=(),
        safe_because=_WHY_SAFE if before is None or changes.keys() <= {"interval.ms"} else "",
        undo=f"delete {name}." if before is None else "set it back to the values of before.",
        command=configs_command(bootstrap_servers, options, added, deleted),
    )


def deletion_plan(before: ClientMetricsSubscription, bootstrap_servers: str) -> ClientMetricsPlan:
    options = {"entity-type": "client-metrics", "entity-name": before.name}
    return ClientMetricsPlan(
        changes=dict.fromkeys(before.own),
        action=DELETE,
        object_type="client metrics",
        object_name=before.name,
        lines=tuple(PlanLine(key, value, "") for key, value in before.own.items()),
        read=_read(before),
        touches=("Clients that push only for this subscription stop within its interval.",),
        losses=("The metrics that clients push for this subscription alone do not come any more.",),
        safe_because="",
        undo="create it again with these values.",
        command=configs_command(bootstrap_servers, options, {}, list(before.own)),
    )


def _read(before: ClientMetricsSubscription | None) -> tuple[str, ...]:
    if before is None:
        return ("new",)
    return tuple(f"{key}={value}" for key, value in sorted(before.own.items()))
