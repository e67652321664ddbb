"""UpdateFeatures: raise or lower the levels of features that a cluster has finalized (KIP-584, KIP-778)."""

from enum import IntEnum

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int8, int16, int32, string, wire


class UpgradeType(IntEnum):
    """Values of `upgrade_type`."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    #: Metadata may be lost.
    UNSAFE_DOWNGRADE = 3


class FeatureUpdateKey(Struct):
    feature: str = wire(string)
    max_version_level: int = wire(int16)  #: below 1: the feature is no longer finalized
    allow_downgrade: bool = wire(boolean, until=0)
    upgrade_type: int = wire(int8, since=1, default=1)  #: an UpgradeType


class UpdateFeaturesRequest(
    Request["UpdateFeaturesResponse"], api=ApiKey.UPDATE_FEATURES, versions=(0, 2), flexible_from=0
):
    """1: kinds of upgrades, and a question without a change. 2: one answer for all features."""

    timeout_ms: int = wire(int32, default=60_000)
    feature_updates: list[FeatureUpdateKey] = wire(array(FeatureUpdateKey))
    validate_only: bool = wire(boolean, since=1)


class UpdatableFeatureResult(Struct):
    feature: str = wire(string)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)


class UpdateFeaturesResponse(Message, api=ApiKey.UPDATE_FEATURES, versions=(0, 2), flexible_from=0):
    """One result for each feature; from version 2 on one for all."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    results: list[UpdatableFeatureResult] = wire(array(UpdatableFeatureResult), until=1, ignorable=True)
