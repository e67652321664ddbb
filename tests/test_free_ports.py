"""Ports of tests that run side by side."""

import os

from tests.zookeeper_server import free_ports


def _drawn_by_a_fork(count: int) -> set[int]:
    reader, writer = os.pipe()
    if not (child := os.fork()):
        os.write(writer, ",".join(map(str, free_ports(count))).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as drawn:
        ports = {int(port) for port in drawn.read().split(",")}
    os.waitpid(child, 0)
    return ports


def test_forks_of_one_process_never_draw_each_other_s_ports():
    mine = set(free_ports(150))
    assert not mine & _drawn_by_a_fork(150)


def test_a_port_comes_again_only_after_all_others_of_the_block():
    first = free_ports(80)
    assert not set(first) & set(free_ports(80))
