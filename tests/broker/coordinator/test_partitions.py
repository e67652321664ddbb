import pytest

from broker.coordinator.partitions import java_string_hash, partition_for

JAVA_HASHES = {
    "": 0,
    "a": 97,
    "Aa": 2112,
    "BB": 2112,
    "hello": 99162322,
    "😀": 1772899,  # two UTF-16 code units
    "polygenelubricants": -(2**31),
}


@pytest.mark.parametrize(("text", "hashed"), JAVA_HASHES.items())
def test_hash_is_java_s_string_hash(text: str, hashed: int):
    assert java_string_hash(text) == hashed


def test_sign_bit_is_masked_and_not_negated():
    assert partition_for("polygenelubricants", 50) == 0
    negative = "zzzzzz"
    assert java_string_hash(negative) < 0
    assert partition_for(negative, 50) == (java_string_hash(negative) + 2**31) % 50


def test_lone_surrogate_has_a_partition_too():
    assert 0 <= partition_for("\ud800", 50) < 50
