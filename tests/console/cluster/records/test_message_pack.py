"""MessagePack is read as JSON, and nothing else is taken for it."""

import msgpack
import pytest

from console.cluster.records.message_pack import PACKED_BYTES_MAX, as_json
from console.cluster.records.text import text_of


def test_a_packed_map_is_shown_as_json_and_says_so():
    shown = text_of(msgpack.packb({"name": "<b>é", "raw": b"\xff"}), "auto")
    assert (shown.kind, shown.note) == ("json", "MessagePack")
    assert '"<b>é"' in shown.text
    assert '"ff"' in shown.text


@pytest.mark.parametrize(
    "data",
    [b"\x81\xa1a", b"\x81\xa1a\x01\x00", b"\x91" * 100_000, b"\x07", b"\x80", b"\xdd\xff\xff\xff\xff", b"\xc1",
     msgpack.packb([float("nan")]), msgpack.packb([b"x" * PACKED_BYTES_MAX])],
)  # fmt: skip
def test_what_is_cut_trailing_deep_bare_or_too_long_is_not_taken_for_it(data):
    assert as_json(data) is None
