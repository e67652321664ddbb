"""Who has a thousand files open waits as well as others."""

import os
import resource
import time

from broker.common.readable import readable


def test_what_can_be_read_is_told_and_what_cannot_is_waited_for_so_long():
    read, write = os.pipe()
    assert not readable(read, 0)
    began = time.monotonic()
    assert not readable(read, 0.05)
    assert time.monotonic() - began >= 0.05
    os.write(write, b"x")
    assert readable(read, 10)
    os.read(read, 1)
    os.close(write)
    assert readable(read, 10)
    os.close(read)


def test_a_descriptor_may_have_any_number():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    read, write = os.pipe()
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 5_000), hard))
        high = os.dup2(read, 3_000)
        assert not readable(high, 0)
        os.write(write, b"x")
        assert readable(high, 0)
        os.close(high)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        os.close(read)
        os.close(write)
