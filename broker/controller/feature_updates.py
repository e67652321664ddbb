"""Whether the levels of features may be changed as a client asks (KIP-584, KIP-778). Pure.

All updates of a request are made or none, as Kafka 4 does since its UpdateFeatures 2; its sentences are Kafka's.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from broker.common.errors import ErrorCode
from broker.common.features import FinalizedFeatures, SupportedFeature
from broker.protocol.messages.update_features import UpgradeType


class FeatureUpdate(NamedTuple):
    """A level that a feature shall have; `upgrade_type` is a number of UpgradeType, or one that nobody knows."""

    name: str
    level: int
    upgrade_type: int


class RefusedUpdate(NamedTuple):
    name: str
    code: ErrorCode
    message: str


def refusal_of_updates(
    updates: Iterable[FeatureUpdate],
    finalized: FinalizedFeatures,
    supported: Mapping[int, Iterable[SupportedFeature]],
) -> RefusedUpdate | None:
    """Return the first update that must not be made and why; None if all may be.

    `supported`: what each registered broker supports, by broker id.
    """
    for update in updates:
        reason = _reason_against(update, finalized.levels.get(update.name, 0), supported)
        if reason is not None:
            message = f"Invalid update version {update.level} for feature {update.name}. {reason}"
            return RefusedUpdate(update.name, ErrorCode.INVALID_UPDATE_VERSION, message)
    return None


def levels_after(updates: Iterable[FeatureUpdate], finalized: FinalizedFeatures) -> dict[str, int]:
    """Return the finalized levels once the updates are made; a feature of level 0 is not among them."""
    levels = {**finalized.levels, **{update.name: update.level for update in updates}}
    return {name: level for name, level in levels.items() if level > 0}


def _reason_against(
    update: FeatureUpdate, present: int, supported: Mapping[int, Iterable[SupportedFeature]]
) -> str | None:
    if update.upgrade_type not in set(UpgradeType):
        return "The controller does not support the given upgrade type."
    if update.level < 0:
        return "A feature version cannot be less than 0."
    for broker_id, features in sorted(supported.items()):
        feature = next((one for one in features if one.name == update.name), None)
        if feature is None and update.level > 0:
            return f"Broker {broker_id} does not support this feature."
        if feature is not None and not feature.supports(update.level):
            return f"Broker {broker_id} only supports versions {feature.min_version}-{feature.max_version}"
    if update.level < present and update.upgrade_type == UpgradeType.UPGRADE:
        return (
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade."
        )
    if update.level > present and update.upgrade_type != UpgradeType.UPGRADE:
        return "Can't downgrade to a newer version."
    return None
