"""A short slice of `make faults`: real attacks on a real broker, each for a second."""

from itertools import islice

import pytest

from tests.bench.attacks import AT_DOORS, Aim
from tests.bench.attacks.doors import USER, make_doors, settings_of
from tests.bench.attacks.intruders import Broken
from tests.faults.hostile import Survived, run_attacks, run_attacks_at_doors
from tests.fuzz.victim import TOPICS, running_victim

SHORT = ("200 deaf readers", "every API asked of very many")
LONG = (
    "3,000 half-sent frames",
    "5 decompression bombs a second",
    "orders by who is no controller",
    "topics that are paths",
)
AT_DOORS_SHORT = ("logins that were heard, again", "rules that change under requests")
AT_DOORS_LONG = tuple(name for name in AT_DOORS if name not in AT_DOORS_SHORT)
#: Far from what any machine makes of a turn in bounds; the bounds themselves are `make faults`' business.
STANDS_STILL_MS = 500


@pytest.mark.timeout(180)
@pytest.mark.parametrize("names", [SHORT, pytest.param(LONG, marks=pytest.mark.long)], ids=["two", "the others"])
def test_a_well_behaved_client_is_served_while_others_attack(tmp_path, names):
    _assert_all_well(list(run_attacks(tmp_path, seconds=1, names=names)), names)


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    "names", [AT_DOORS_SHORT, pytest.param(AT_DOORS_LONG, marks=pytest.mark.long)], ids=["two", "the others"]
)
def test_nobody_gets_in_who_proves_nothing_and_others_are_served(tmp_path, names):
    _assert_all_well(list(run_attacks_at_doors(tmp_path, seconds=1, names=names)), names)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "left_open"),
    [
        ("requests before a login", {}),
        ("100 worthless certificates a second", {"ssl.client.auth": "none"}),
        ("rules that change under requests", {"super.users": f"User:ANONYMOUS;User:{USER}"}),
    ],
)
def test_an_attack_that_gets_in_is_told_of(tmp_path, name, left_open):
    doors = make_doors(tmp_path / "doors")
    with running_victim(tmp_path, {**settings_of(doors), **left_open}) as victim:
        if not left_open:
            doors = doors._replace(sasl_port=victim.broker.port)
        steps = AT_DOORS[name](Aim("127.0.0.1", victim.broker.port, TOPICS[0], doors=str(doors)))
        with pytest.raises(Broken):
            list(islice(steps, 100))


def _assert_all_well(survived: list[Survived], names: tuple[str, ...]) -> None:
    assert [item.attack for item in survived] == list(names)
    assert not any(item.violations for item in survived), "\n".join(map(str, survived))
    assert max(item.stall_ms for item in survived) < STANDS_STILL_MS, "\n".join(map(str, survived))
