"""kcat, where it is installed: what a person types first."""

import json
import selectors
import shutil
import subprocess
import time

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.interop.records import CODECS, COUNT

pytestmark = pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed (Debian package kcat)")
DEADLINE_S = 60


def kcat(cluster, *arguments, given=""):
    done = subprocess.run(
        ["kcat", "-b", cluster.bootstrap_servers, *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines(codec, count=COUNT):
    return [f"key-{number}\t{codec}-{number}" for number in range(count)]


def produce(cluster, topic, sent, codec="none"):
    given = "".join(f"{line}\n" for line in sent)
    kcat(cluster, "-P", "-t", topic, "-z", codec, "-K", "\t", "-H", f"codec={codec}", given=given)


def consume(cluster, topic, *arguments):
    return kcat(cluster, "-C", "-q", "-t", topic, "-f", "%k\t%s\n", "-e", *arguments).splitlines()


def test_the_cluster_is_listed(cluster):
    listed = json.loads(kcat(cluster, "-L", "-J"))
    assert {broker["id"] for broker in listed["brokers"]} == {1, 2, 3}
    assert listed["controllerid"] in {1, 2, 3}


@pytest.mark.parametrize("codec", CODECS)
def test_what_was_produced_is_read_back_from_the_beginning(cluster, name, codec):
    sent = lines(codec)
    produce(cluster, name, sent, codec)
    assert consume(cluster, name, "-o", "beginning") == sent
    assert kcat(cluster, "-C", "-q", "-t", name, "-c", "1", "-o", "beginning", "-f", "%h") == f"codec={codec}"


def test_reading_from_an_offset_and_the_last_few(cluster, name):
    produce(cluster, name, lines("none", 100))
    assert consume(cluster, name, "-o", "95") == lines("none", 100)[95:]
    assert consume(cluster, name, "-o", "-3") == lines("none", 100)[97:]


def test_a_balanced_group_of_two_reads_each_record_once_and_commits(cluster, name):
    sent = lines("snappy")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, 4, 1)])[name].result(30)
    produce(cluster, name, sent, "snappy")
    assert sorted(read_as_group(cluster, name, members=2, count=COUNT)) == sorted(sent)
    more = [f"more-{number}\tv" for number in range(20)]
    produce(cluster, name, more)
    assert sorted(read_as_group(cluster, name, members=1, count=20)) == sorted(more)


def read_as_group(cluster, name, members, count):
    """What the members print between them until they have printed `count` lines; they commit as they are stopped."""
    arguments = ["-G", name, "-u", "-q", "-X", "auto.offset.reset=earliest", "-f", "%k\\t%s\\n", name]
    command = ["kcat", "-b", cluster.bootstrap_servers, *arguments]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(members)]
    try:
        return _read_lines(running, count)
    finally:
        for member in running:
            member.terminate()
            member.wait(20)


def _read_lines(running, count):
    selector = selectors.DefaultSelector()
    texts = {member.stdout: b"" for member in running}
    for stream in texts:
        selector.register(stream, selectors.EVENT_READ)
    end = time.monotonic() + DEADLINE_S
    while sum(text.count(b"\n") for text in texts.values()) < count and time.monotonic() < end:
        for key, _ in selector.select(0.2):
            texts[key.fileobj] += key.fileobj.read1()
    return b"".join(texts.values()).decode().splitlines()
