"""Kafka's text files, as Kafka writes them and damaged."""

from uuid import UUID

import pytest

from broker.common.errors import StartupError
from broker.common.types import TopicPartition
from broker.log.checkpoints import (
    decode_topic_id,
    encode_topic_id,
    read_meta_properties,
    read_offset_checkpoint,
    read_partition_metadata,
    write_meta_properties,
    write_offset_checkpoint,
    write_partition_metadata,
)

TOPIC_ID = UUID("00112233-4455-6677-8899-aabbccddeeff")


def test_offset_checkpoint_is_kafkas_text(tmp_path):
    offsets = {TopicPartition("orders", 10): 7, TopicPartition("orders", 2): 2**40, TopicPartition("a.b_c-d", 0): 0}
    write_offset_checkpoint(tmp_path / "c", offsets)
    assert (tmp_path / "c").read_text() == "0\n3\na.b_c-d 0 0\norders 2 1099511627776\norders 10 7\n"
    assert read_offset_checkpoint(tmp_path / "c") == offsets


def test_missing_files_say_nothing(tmp_path):
    assert read_offset_checkpoint(tmp_path / "c") == {}
    assert read_meta_properties(tmp_path / "m") == {}
    assert read_partition_metadata(tmp_path / "p") is None


@pytest.mark.parametrize(
    "text",
    ["", "0\n", "1\n0\n", "0\n2\nt 0 1\n", "0\n1\nt 0\n", "0\n1\nt 0 x\n", "0\nx\n", "\xff\xfe", "0\n1\nt 0 1_0\n"],
)
def test_malformed_offset_checkpoint_is_named(tmp_path, text):
    (tmp_path / "c").write_bytes(text.encode("latin-1"))
    with pytest.raises(StartupError, match=str(tmp_path / "c")):
        read_offset_checkpoint(tmp_path / "c")


def test_what_divides_a_checkpoint_is_what_divides_it_for_java(tmp_path):
    (tmp_path / "c").write_text("0\r\n2\r\nt  0\t7\r\nu 1 +8\r\n", newline="")
    assert read_offset_checkpoint(tmp_path / "c") == {TopicPartition("t", 0): 7, TopicPartition("u", 1): 8}


def test_meta_properties_written_by_kafka_are_read_and_unknown_keys_kept(tmp_path):
    path = tmp_path / "meta.properties"
    path.write_text("#\n#Mon Jan 01 00:00:00 UTC 2024\ncluster.id=abc\nversion=0\nbroker.id=3\ndirectory.id=xyz\n\n")
    properties = read_meta_properties(path)
    assert properties == {"cluster.id": "abc", "broker.id": "3", "directory.id": "xyz"}
    write_meta_properties(path, properties)
    assert read_meta_properties(path) == properties
    assert path.read_text().startswith("version=0\n")


@pytest.mark.parametrize("text", ["version=1\nnode.id=3\n", "broker.id=3\n", "version=0\nnonsense\n"])
def test_foreign_meta_properties_are_refused(tmp_path, text):
    (tmp_path / "m").write_text(text)
    with pytest.raises(StartupError):
        read_meta_properties(tmp_path / "m")


def test_partition_metadata_is_kafkas_text(tmp_path):
    write_partition_metadata(tmp_path / "p", TOPIC_ID)
    assert (tmp_path / "p").read_text() == "version: 0\ntopic_id: ABEiM0RVZneImaq7zN3u_w\n"
    assert read_partition_metadata(tmp_path / "p") == TOPIC_ID


@pytest.mark.parametrize(
    "text", ["", "version: 0\n", "version: 1\ntopic_id: ABEiM0RVZneImaq7zN3u_w\n", "version: 0\ntopic_id: abc\n"]
)
def test_malformed_partition_metadata_is_named(tmp_path, text):
    (tmp_path / "p").write_text(text)
    with pytest.raises(StartupError, match=str(tmp_path / "p")):
        read_partition_metadata(tmp_path / "p")


def test_topic_ids_are_written_in_22_characters():
    assert decode_topic_id(encode_topic_id(TOPIC_ID)) == TOPIC_ID
    assert encode_topic_id(UUID(int=0)) == "A" * 22
    for text in ("", "abc", "!" * 22, "A" * 30):
        with pytest.raises(ValueError):
            decode_topic_id(text)
