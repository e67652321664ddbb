"""The upgrade of a feature (KIP-584, KIP-778) as a plan. Pure."""

from dataclasses import dataclass

from console.kit.gateway.commands import shell_command
from console.kit.gateway.quorum.interface import FeatureView
from console.kit.gateway.quorum.metadata_versions import FEATURE, level_text
from console.kit.plans.plan import Plan, PlanLine

UPGRADE = "upgrade feature"
_JOINING = "Brokers and controllers whose release does not support the level cannot join the cluster any more."
#: Kafka does not lower the level of this feature (KIP-853).
_KRAFT = "kraft.version"
#: What each feature turns on, in Kafka's words.
MEANINGS = {
    "eligible.leader.replicas.version": "Replicas outside the ISR that may still lead without loss (KIP-966).",
    "group.version": "Consumer groups whose partitions the broker assigns, group.protocol=consumer (KIP-848).",
    "kraft.version": "Voters of the KRaft quorum that change while it runs (KIP-853).",
    FEATURE: "The format of the metadata that the KRaft controllers write.",
    "share.version": "Share groups: consumers that share partitions record by record (KIP-932).",
    "streams.version": "Groups of Kafka Streams whose tasks the broker assigns (KIP-1071).",
    "transaction.version": "Each transaction has its own producer epoch: nothing late joins the next (KIP-890).",
}
_METADATA = (
    "From then on metadata is written in the new form. Kafka lowers metadata.version only to a level that loses no "
    "metadata, and otherwise not at all."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureUpgradePlan(Plan):
    level: int


def upgrade_plan(feature: FeatureView, level: int, bootstrap_servers: str, *, refusal: str = "") -> FeatureUpgradePlan:
    """Plan an upgrade. `refusal` is why the cluster would not take it; empty: it would."""
    is_metadata = feature.name == FEATURE
    return FeatureUpgradePlan(
        level=level,
        action=UPGRADE,
        object_type="feature",
        object_name=feature.name,
        lines=(PlanLine("level", feature.finalized_text or "not finalized", level_text(feature.name, level)),),
        read=(f"finalized={feature.finalized}", f"supported={feature.supported_min}-{feature.supported_max}"),
        touches=(
            *([MEANINGS[feature.name]] if feature.name in MEANINGS else []),
            _JOINING,
            *((_METADATA,) if is_metadata else ()),
        ),
        losses=(),
        safe_because="",  # what the new level changes is the cluster's to say
        undo="" if is_metadata or feature.name == _KRAFT else "kafka-features downgrade, where the cluster allows it.",
        command=shell_command("kafka-features", bootstrap_servers, {"feature": [f"{feature.name}={level}"]}, "upgrade"),
        typed_name=feature.name,
        obstacle=_obstacle(feature, level) or refusal,
    )


def _obstacle(feature: FeatureView, level: int) -> str:
    if feature.finalized is not None and level <= feature.finalized:
        return f"It is at {feature.finalized_text} already; a level is not lowered here."
    if level > feature.supported_max:
        return f"This broker supports {level_text(feature.name, feature.supported_max)} at most."
    return ""
