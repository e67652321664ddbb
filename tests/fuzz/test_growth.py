"""A slice of `python -m tests.fuzz growth`: no parser and no comparer costs more than its input is long."""

import pytest

from broker.records.batch import HEADER_BYTES, Compression
from broker.records.compression import decompress
from tests.fuzz.growth import Target, counted, grows_too_fast, held, look
from tests.fuzz.growth_inputs import PACKED_PARTS, Pump, packed_pump
from tests.fuzz.growth_targets import PACKED_TARGETS, TARGETS


def test_whatever_reads_a_client_s_input_costs_what_the_input_is_long():
    assert [str(growth) for growth in look(TARGETS, seed=1, rounds=3)] == []


@pytest.mark.parametrize("part", [PACKED_PARTS[0], PACKED_PARTS[3], PACKED_PARTS[5]])
def test_what_a_batch_unpacks_to_fills_the_memory_of_no_reader(part):
    pump = packed_pump(part)
    held_bytes = [held(target, pump) for target in PACKED_TARGETS]
    assert [str(growth) for growth in held_bytes if growth is not None] == []


def test_a_reader_that_holds_all_of_it_is_found():
    def all_headers(batch: bytes) -> list[bytes]:
        return [bytes(decompress(Compression.ZSTD, batch[HEADER_BYTES:])) for _ in range(32)]

    target = Target("made up", all_headers, lambda _: packed_pump(PACKED_PARTS[0]))
    assert "bytes held" in str(held(target, packed_pump(PACKED_PARTS[0])))


def squares(items: list[int]) -> None:
    for _ in items:
        for _ in items:
            pass


def sorts(items: list[int]) -> list[int]:
    """By merging, in Python, so that its lines are counted."""
    if len(items) < 2:
        return items
    halves = sorts(items[::2]), sorts(items[1::2])
    merged = []
    while halves[0] or halves[1]:
        half = halves[0] if not halves[1] or (halves[0] and halves[0][-1] > halves[1][-1]) else halves[1]
        merged.append(half.pop())
    return merged[::-1]


@pytest.mark.parametrize(("read", "is_too_fast"), [(squares, True), (sorts, False)])
def test_a_square_is_told_from_sorting(read, is_too_fast):
    target = Target("made up", read, lambda _: Pump("all", lambda count: list(range(count))))
    assert (counted(target, target.pumps(None)) is not None) == is_too_fast


def test_what_is_fixed_does_not_hide_what_grows():
    assert grows_too_fast((11_000, 14_000, 26_000), 2_000)
    assert not grows_too_fast((11_000, 12_000, 14_200), 2_000)


def test_every_target_takes_inputs_of_its_own():
    assert len({target.name for target in (*TARGETS, *PACKED_TARGETS)}) == len(TARGETS) + len(PACKED_TARGETS)
