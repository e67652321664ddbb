"""The chain tells every way in which rows can be other than they were written."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from console.kit.audit.chain import NO_SEAL, VERSION, ChainEnd, ChainLink, seal_of, verify

KEY = b"a key"
AT = datetime(2026, 11, 21, 3, 12, 0, 123456, tzinfo=UTC)


def chain_of(count: int, key: bytes = KEY, version: int = VERSION) -> list[ChainLink]:
    links, seal = [], NO_SEAL
    for number in range(1, count + 1):
        link = ChainLink(number, AT, "ann", "delete topic", "topic", f"t{number}", {"a": 1}, None, "done", "", seal)
        link = replace(link, version=version, actor_number=7, account=7)
        links.append(replace(link, seal=seal_of(link, key)))
        seal = links[-1].seal
    return links


@pytest.fixture
def links() -> list[ChainLink]:
    return chain_of(5)


def check(links, whole=None):
    """The verdict on `links`, where the end that was kept is that of the `whole` chain."""
    whole = whole or links
    return verify(links, KEY, ChainEnd(whole[-1].seal, len(whole)))


def test_an_untouched_chain_is_whole(links):
    verdict = check(links)
    assert (verdict.checked, verdict.broken, verdict.last_seal) == (5, None, links[-1].seal)
    assert verify([], KEY, ChainEnd()).broken is None


@pytest.mark.parametrize(
    "change",
    [
        {"at": AT + timedelta(microseconds=1)},
        {"actor_name": "bob"},
        {"action": "create topic"},
        {"object_type": "process"},
        {"object_name": "t9"},
        {"before": None},
        {"after": {}},
        {"result": "refused"},
        {"detail": "x"},
        {"seal": "0" * 64},
        {"previous_seal": "0" * 64},
        {"actor_number": 8, "account": 8},
        {"actor_identity": "7 of https://elsewhere.example"},
        {"version": 1},
        {"version": 2},
    ],
    ids=lambda change: next(iter(change)),
)
def test_any_value_that_changed_names_its_row(links, change):
    tampered = [*links[:2], replace(links[2], **change), *links[3:]]
    verdict = check(tampered, links)
    assert (verdict.checked, verdict.broken.row_id) == (2, 3)
    assert "Row 3 is not as it was written" in verdict.broken.sentence


def test_a_row_taken_out_is_missed_by_the_next(links):
    assert check([*links[:2], *links[3:]], links).broken.row_id == 4


def test_rows_that_changed_places_are_noticed(links):
    assert check([links[0], links[2], links[1], *links[3:]], links).broken.row_id == 3


def test_rows_taken_off_the_end_are_missed(links):
    verdict = check(links[:3], links)
    assert (verdict.checked, verdict.broken.row_id) == (3, None)
    assert verdict.broken.sentence == "The end was cut off: 2 rows are missing."


def test_a_row_put_in_by_somebody_without_the_key_is_noticed(links):
    forged = replace(links[-1], id=6, previous_seal=links[-1].seal)
    forged = replace(forged, seal=seal_of(forged, b"another key"))
    assert check([*links, forged], links).broken.row_id == 6


def test_rows_written_while_the_chain_is_followed_are_no_fault():
    longer = chain_of(7)
    assert check(longer, longer[:5]).broken is None


def test_another_end_than_the_one_kept_is_noticed(links):
    others = chain_of(5, b"another key")
    assert verify(links, KEY, ChainEnd(others[-1].seal, 5)).broken is not None
    assert verify(links, KEY, ChainEnd()).broken is not None


def test_a_row_has_one_seal_whichever_database_it_comes_from(links):
    elsewhere = replace(links[0], at=AT.astimezone(timezone(timedelta(hours=5))), before=json.loads('{"a":1}'))
    assert seal_of(elsewhere, KEY) == links[0].seal


def test_rows_sealed_before_the_account_was_are_followed_by_those_that_are():
    old = chain_of(2, version=1)
    new = replace(chain_of(1)[0], id=3, previous_seal=old[-1].seal)
    links = [*old, replace(new, seal=seal_of(new, KEY))]

    assert check(links).broken is None
    assert check([replace(old[0], version=VERSION), *links[1:]], links).broken.row_id == 1


def test_a_row_from_before_identities_were_sealed_has_none():
    """One written into it afterwards would not be in its seal."""
    old = chain_of(2, version=2)
    assert check(old).broken is None
    forged = [replace(old[0], actor_identity="7 of https://elsewhere.example"), old[1]]
    assert check(forged, old).broken.row_id == 1


def test_a_row_that_points_at_another_account_is_named(links):
    verdict = check([*links[:2], replace(links[2], account=8), *links[3:]], links)
    assert verdict.broken.sentence == "Row 3 points at another account than whose it is."


def test_a_row_whose_account_is_gone_is_whole(links):
    assert check([replace(link, account=None) for link in links], links).broken is None


def test_of_several_ends_one_may_be_behind_and_none_ahead(links):
    def verdict(*ends: tuple[str, int]):
        return verify(links, KEY, *(ChainEnd(*end) for end in ends))

    last = (links[-1].seal, 5)
    assert verdict(last, (links[2].seal, 3)).broken is None
    assert "1 row is missing" in verdict(last, ("later", 6)).broken.sentence
    assert "cut off or replaced" in verdict(last, ("another", 4)).broken.sentence
