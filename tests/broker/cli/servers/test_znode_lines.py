import time

import pytest

from broker.cli.frame.declaration import CommandError
from broker.cli.servers.znode_lines import check_path, data_text, facts_lines, names_line, refusal
from broker.zookeeper.errors import NodeMissing, NodeNotEmpty, OperationRefused, WrongVersion
from broker.zookeeper.session import ZnodeFacts


def test_facts_are_printed_as_zookeeper_3_9_prints_them(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    facts = ZnodeFacts(3, 1795371224901, 0x24, 1795371469000, 0x13, 2, 2, 0, -0x7FFFFFFFFFFFFFFF, 4, 2)
    assert facts_lines(facts) == [
        "cZxid = 0x3",
        "ctime = Sun Nov 22 18:13:44 UTC 2026",
        "mZxid = 0x24",
        "mtime = Sun Nov 22 18:17:49 UTC 2026",
        "pZxid = 0x13",
        "cversion = 2",
        "dataVersion = 2",
        "aclVersion = 0",
        "ephemeralOwner = 0x8000000000000001",
        "dataLength = 4",
        "numChildren = 2",
    ]


def test_names_are_one_line_in_order_and_data_may_be_none():
    assert names_line(["topics", "ids", "seqid"]) == "[ids, seqid, topics]"
    assert names_line([]) == "[]"
    assert data_text(None) == "null"
    assert data_text(b"") == ""


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (NodeMissing("/chroot/a"), "Node does not exist: /a"),
        (NodeNotEmpty("/chroot/a"), "Node not empty: /a"),
        (WrongVersion("/chroot/a"), "version No is not valid : /a"),
        (OperationRefused("/chroot/a", "BadArgumentsError"), "Arguments are not valid : /a"),
    ],
)
def test_a_refusal_names_the_path_that_was_typed(error, sentence):
    assert str(refusal(error, "/a")) == sentence


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("a", "Path must start with / character"),
        ("", "Path must start with / character"),
        ("/a/", "Path must not end with / character"),
        ("/a//b", "Invalid path string"),
        ("/a/../b", "Invalid path string"),
    ],
)
def test_what_is_no_path_is_refused(path, sentence):
    with pytest.raises(CommandError, match=sentence):
        check_path(path)


def test_the_root_and_names_with_dots_are_paths():
    check_path("/")
    check_path("/a.b/...")
