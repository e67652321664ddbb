"""kcat, where it is installed: what a person types first."""

import json
import shutil
import subprocess
import time

import pytest

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


def test_a_balanced_group_of_two_reads_each_record_once(cluster, name):
    produce(cluster, name, lines("none", 10))
    arguments = ["-G", name, "-u", "-q", "-X", "auto.offset.reset=earliest", "-f", "%k\n", name]
    command = ["kcat", "-b", cluster.bootstrap_servers, *arguments]
    members = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(2)]
    try:
        seen = _read_lines(members, 10)
    finally:
        for member in members:
            member.terminate()
            member.wait(20)
    assert sorted(seen) == sorted(line.split("\t")[0] for line in lines("none", 10))


def _read_lines(members, count):
    import selectors

    selector = selectors.DefaultSelector()
    for member in members:
        selector.register(member.stdout, selectors.EVENT_READ)
    text, end = b"", time.monotonic() + DEADLINE_S
    while text.count(b"\n") < count and time.monotonic() < end:
        for key, _ in selector.select(0.2):
            text += key.fileobj.read1()
    return text.decode().split()
