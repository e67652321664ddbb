"""Reasons that are acknowledged, muted or retired: what counts meanwhile, and when they are heard again."""

from dataclasses import replace

import pytest

from console.signals.overview.health import (
    HealthFacts,
    HealthLevel,
    HealthReason,
    Quiet,
    TroubledGroup,
    TroubledPartition,
)
from console.signals.overview.next_action import NextAction
from console.signals.overview.quiet import QuietKind, retired_key
from console.signals.overview.reasons import assess

NOW_MS = 1_000_000


def lagging(number: int, isr=(1,)) -> TroubledPartition:
    return TroubledPartition("payments", True, (1, 2), isr, number)


def health(*arguments: Quiet, troubled=(lagging(0), lagging(1)), now_ms=NOW_MS, **more):
    return assess(
        HealthFacts(is_seen=True, controller_id=1, troubled=troubled, quiets=arguments, now_ms=now_ms, **more)
    )


def say(reason: HealthReason, kind=QuietKind.MUTED, until_ms: int | None = NOW_MS + 1) -> Quiet:
    key = retired_key(reason.name) if kind is QuietKind.RETIRED else reason.key
    return Quiet(key, kind, reason.level, reason.weight, reason.parts, until_ms, "olga", "known")


(LAGS,) = health().reasons


def test_muted_it_does_not_count_and_is_still_told():
    result = health(say(LAGS))
    assert (result.level, result.reasons) == (HealthLevel.OK, ())
    assert [(item.text, item.quiet.why) for item in result.muted] == [(LAGS.text, "known")]
    assert (result.muted_count, result.retired_count) == (1, 0)


def test_acknowledged_it_counts_and_says_by_whom():
    result = health(say(LAGS, QuietKind.ACKNOWLEDGED))
    assert (result.level, result.muted) == (HealthLevel.WARNING, ())
    assert result.reasons[0].quiet.by == "olga"


def test_it_is_heard_again_when_its_time_is_over():
    assert health(say(LAGS, until_ms=NOW_MS)).level == HealthLevel.WARNING
    assert health(say(LAGS, until_ms=NOW_MS + 1)).level == HealthLevel.OK


@pytest.mark.parametrize(
    ("troubled", "is_heard"),
    [
        ((lagging(0),), False),
        ((lagging(0), lagging(1), lagging(2)), True),
        ((lagging(2), lagging(3)), True),
        ((lagging(0), replace(lagging(1), min_isr=2)), True),
        ((lagging(0), replace(lagging(1), has_leader=False)), True),
    ],
)
def test_it_is_heard_again_when_it_becomes_worse_or_another(troubled, is_heard):
    assert bool(health(say(LAGS), troubled=troubled).reasons) is is_heard


def test_a_missing_broker_is_heard_again_when_its_partitions_have_no_leader():
    (missing,) = health(missing=frozenset({2})).reasons
    quiet = say(missing)
    assert health(quiet, missing=frozenset({2})).reasons == ()
    worse = (lagging(0), replace(lagging(1), has_leader=False, isr=()))
    assert health(quiet, missing=frozenset({2}), troubled=worse).level == HealthLevel.CRITICAL
    assert health(quiet, missing=frozenset({2, 1})).reasons[0].key == "missing:1"


def group(name="old", **changes) -> TroubledGroup:
    return TroubledGroup(name, **{"verdict": "stopped", "meaning": "Nothing is committed.", "lag": 45_880} | changes)


def reasons_of(*groups: TroubledGroup, quiet=()) -> list[str]:
    return [reason.text for reason in health(*quiet, troubled=(), quiet_groups=groups).reasons]


def test_four_retired_groups_do_not_degrade_the_cluster():
    groups = tuple(group(f"old-{number}") for number in range(4))
    before = health(troubled=(), groups=groups, groups_count=4)
    assert before.level == HealthLevel.WARNING
    result = health(
        *(say(reason, QuietKind.RETIRED, None) for reason in before.reasons), troubled=(), quiet_groups=groups
    )
    assert (result.level, result.retired_count, result.muted_count) == (HealthLevel.OK, 4, 0)


def test_a_retired_group_is_silent_whatever_it_loses_and_heard_again_with_a_member():
    (reason,) = health(troubled=(), groups=(group(),), groups_count=1).reasons
    quiet = (say(reason, QuietKind.RETIRED, None),)
    assert reasons_of(group(expires_in_ms=60_000), quiet=quiet) == []
    assert reasons_of(group(lost=7), quiet=quiet) == []
    assert reasons_of(group(member_count=1), quiet=quiet) != []


def test_a_muted_group_is_heard_again_when_it_will_lose_records_or_lost_more():
    (unread,) = health(troubled=(), groups=(group(),), groups_count=1).reasons
    assert reasons_of(group(lag=99_999), quiet=(say(unread),)) == []
    assert "will lose records" in reasons_of(group(expires_in_ms=60_000), quiet=(say(unread),))[0]
    (lost,) = health(troubled=(), groups=(group(lost=7),), groups_count=1).reasons
    assert reasons_of(group(lost=7), quiet=(say(lost),)) == []
    assert "lost 8" in reasons_of(group(lost=8), quiet=(say(lost),))[0]


def test_every_reason_says_which_it_is():
    assert LAGS.key == "under-replicated"
    assert HealthReason(HealthLevel.OK, "x", "x", NextAction("x")).key == ""
    assert health().find("") is None
    assert health(say(LAGS)).find(LAGS.key).text == LAGS.text
