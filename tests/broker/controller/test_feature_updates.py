"""Whether levels may be changed; the sentences are those of Kafka 4.4's controller."""

import pytest

from broker.common.features import NOTHING_FINALIZED, FinalizedFeatures, SupportedFeature, unsupported_levels
from broker.controller.feature_updates import FeatureUpdate, levels_after, refusal_of_updates
from broker.protocol.messages.update_features import UpgradeType

GROUP, TRANSACTION = SupportedFeature("group.version", 0, 1), SupportedFeature("transaction.version", 0, 2)
#: Broker 2 is of an earlier release.
MIXED = {1: (GROUP, TRANSACTION), 2: (GROUP,)}
ALIKE = {1: (GROUP, TRANSACTION), 2: (GROUP, TRANSACTION)}
UPGRADED = FinalizedFeatures({"group.version": 1, "transaction.version": 1}, 7)


@pytest.mark.parametrize(
    ("update", "brokers", "reason"),
    [
        (FeatureUpdate("group.version", 2, UpgradeType.UPGRADE), ALIKE, "Broker 1 only supports versions 0-1"),
        (
            FeatureUpdate("transaction.version", 2, UpgradeType.UPGRADE),
            MIXED,
            "Broker 2 does not support this feature.",
        ),
        (FeatureUpdate("metadata.version", 1, UpgradeType.UPGRADE), ALIKE, "Broker 1 does not support this feature."),
        (FeatureUpdate("group.version", -1, UpgradeType.UPGRADE), ALIKE, "A feature version cannot be less than 0."),
        (FeatureUpdate("group.version", 1, 9), ALIKE, "The controller does not support the given upgrade type."),
        (
            FeatureUpdate("group.version", 0, UpgradeType.UPGRADE),
            ALIKE,
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade.",
        ),
        (
            FeatureUpdate("transaction.version", 2, UpgradeType.SAFE_DOWNGRADE),
            ALIKE,
            "Can't downgrade to a newer version.",
        ),
    ],
)
def test_an_update_that_must_not_be_made_is_refused_with_kafkas_sentence(update, brokers, reason):
    refused = refusal_of_updates([update], UPGRADED, brokers)
    assert refused is not None
    assert refused.message == f"Invalid update version {update.level} for feature {update.name}. {reason}"


def test_one_update_that_is_refused_is_named_whatever_the_others_are():
    updates = [
        FeatureUpdate("group.version", 1, UpgradeType.UPGRADE),
        FeatureUpdate("transaction.version", 3, UpgradeType.UPGRADE),
    ]
    assert refusal_of_updates(updates, NOTHING_FINALIZED, ALIKE).name == "transaction.version"


def test_levels_are_raised_lowered_and_taken_away():
    updates = [
        FeatureUpdate("group.version", 0, UpgradeType.SAFE_DOWNGRADE),
        FeatureUpdate("transaction.version", 2, UpgradeType.UPGRADE),
    ]
    assert refusal_of_updates(updates, UPGRADED, ALIKE) is None
    assert levels_after(updates, UPGRADED) == {"transaction.version": 2}


def test_a_release_knows_the_levels_that_it_cannot_serve():
    finalized = FinalizedFeatures({"group.version": 2, "transaction.version": 2, "share.version": 1, "old": 0}, 1)
    assert unsupported_levels(finalized, (GROUP, TRANSACTION)) == {"group.version": 2, "share.version": 1}
