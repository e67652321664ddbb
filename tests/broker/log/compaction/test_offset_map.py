"""The offset map against a dict, and its bounds."""

from hypothesis import given
from hypothesis import strategies as st

from broker.log.compaction.offset_map import SLOT_BYTES, OffsetMap


@given(keys=st.lists(st.binary(max_size=3), max_size=200), salt=st.binary(min_size=16, max_size=16))
def test_map_answers_as_a_dict_does(keys, salt):
    offsets, model = OffsetMap(1 << 16, len(keys), salt), {}
    for offset, key in enumerate(keys):
        assert offsets.put(key, offset)
        model[key] = offset
    assert len(offsets) == len(model)
    assert {key: offsets.latest(key) for key in model} == model
    assert offsets.latest(b"never written") == -1


def test_full_map_refuses_new_keys_and_takes_known_ones():
    offsets = OffsetMap(100 * SLOT_BYTES, 10**9)
    assert offsets.capacity == 75
    assert all(offsets.put(b"%d" % place, place) for place in range(75))
    assert not offsets.put(b"one more", 75)
    assert offsets.put(b"3", 76)
    assert (offsets.latest(b"3"), offsets.latest(b"one more"), len(offsets)) == (76, -1, 75)


def test_map_for_few_keys_is_small_whatever_it_may_take():
    offsets = OffsetMap(1 << 40, 10)
    assert all(offsets.put(b"%d" % place, place) for place in range(10))
    assert offsets.capacity < 20


def test_map_of_any_budget_holds_at_least_a_few_keys():
    """So that every pass gets further."""
    offsets = OffsetMap(0, 0)
    assert offsets.put(b"a", 2**62)
    assert offsets.latest(b"a") == 2**62
