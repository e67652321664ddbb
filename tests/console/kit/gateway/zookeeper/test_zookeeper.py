"""The four-letter word, asked of a server that a test plays."""

import contextlib
import socket
import threading

import pytest

from console.kit.gateway.zookeeper.four_letter_words import (
    EnsembleLook,
    describe_zookeeper,
    parse_addresses,
    parse_mntr,
)
from tests.fakes.zookeeper import FakeZooKeeper

MNTR = "\n".join(
    (
        "zk_version\t3.9.5-abc, built on x",
        "zk_avg_latency\t0.25",
        "zk_num_alive_connections\t4",
        "zk_server_state\tleader",
        "zk_znode_count\t27",
        "zk_min_latency\t0",
        "zk_max_latency\t12",
        "zk_outstanding_requests\t2",
        "zk_watch_count\t9",
        "zk_ephemerals_count\t5",
        "zk_approximate_data_size\t4096",
        "zk_synced_followers\t2",
        "zk_peer_state\tleading - broadcast",
        "zk_uptime\t60400",
    )
)
SRVR = "Zookeeper version: 3.9.5\nZxid: 0x100000003\nMode: leader\n"


@pytest.fixture
def serve():
    """serve(answer): the address of a server that says `answer` to mntr, then SRVR, `looks` times; None: it never."""
    started: list[tuple[socket.socket, threading.Thread]] = []
    finish = threading.Event()

    def start(answer: bytes | None, looks: int = 1) -> str:
        listener = socket.create_server(("127.0.0.1", 0))

        def run() -> None:
            for word, response in ((b"mntr", answer), (b"srvr", SRVR.encode())) * looks:
                try:
                    connection, _ = listener.accept()
                except OSError:  # closed: the test is over
                    return
                with connection:
                    if response is None:
                        finish.wait(10)
                    elif connection.recv(4) == word:
                        connection.sendall(response)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        started.append((listener, thread))
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield start
    finish.set()
    for listener, thread in started:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


@pytest.mark.parametrize(
    ("connect_string", "expected"),
    [
        ("127.0.0.1:2181", [("127.0.0.1", 2181)]),
        ("a:1, b:2/kafka/one", [("a", 1), ("b", 2)]),
        ("zookeeper", [("zookeeper", 2181)]),
        ("[::1]:2182,[::1]", [("::1", 2182), ("::1", 2181)]),
        ("", []),
    ],
)
def test_connect_strings_are_read_as_kafka_reads_them(connect_string, expected):
    assert parse_addresses(connect_string) == expected


def test_a_serving_server_says_what_it_is(serve):
    address = serve(MNTR.encode())
    (view,) = describe_zookeeper(address)

    assert (view.address, view.mode, view.version, view.error) == (address, "leader", "3.9.5", "")
    assert (view.znode_count, view.connection_count, view.latency_ms) == (27, 4, 0.25)
    assert (view.latency_min_ms, view.latency_max_ms, view.outstanding_count, view.watch_count) == (0, 12, 2, 9)
    assert (view.ephemeral_count, view.data_bytes, view.synced_count) == (5, 4096, 2)
    assert (view.state, view.zxid) == ("leading - broadcast", "0x100000003")


def test_the_moment_of_its_start_follows_from_its_uptime():
    assert parse_mntr("a:1", MNTR, now_s=1_000_000.4).started_at_ms == 999_940_000


def test_an_unknown_uptime_is_no_moment():
    assert parse_mntr("a:1", "zk_server_state\tleader", now_s=5.0).started_at_ms is None


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"This ZooKeeper instance is not currently serving requests\n", "has no quorum"),
        (b"mntr is not executed because it is not in the whitelist.\n", "does not allow the word mntr"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "answers, but not as ZooKeeper"),
        (b"x" * 300_000, "answers too much"),
        (b"", "answers, but not as ZooKeeper"),
    ],
)
def test_anything_else_is_an_error_in_words(serve, answer, error):
    (view,) = describe_zookeeper(serve(answer))

    assert view.mode == ""
    assert error in view.error


def test_a_server_that_never_answers_costs_the_timeout_and_no_more(serve):
    (view,) = describe_zookeeper(serve(None), timeout_seconds=0.1)

    assert view.error == "does not answer"


def test_a_closed_port_is_told_apart_from_the_servers_beside_it(serve):
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        closed = f"127.0.0.1:{reserved.getsockname()[1]}"
        first, second = describe_zookeeper(f"{closed},{serve(MNTR.encode())}")

    assert first.error == "refuses connections"
    assert second.mode == "leader"


class Ensemble(FakeZooKeeper):
    """Counts how often it was asked for its members."""

    def __init__(self, *lines: str):
        super().__init__(lambda: 0, lines)
        self.read_count = 0

    def ensemble(self):
        self.read_count += 1
        return super().ensemble()


def line(number: int, address: str, role: str = "participant") -> str:
    return f"server.{number}=127.0.0.1:1:2:{role};{address}"


def test_every_member_the_ensemble_names_is_asked_with_its_number_and_role(serve):
    first, second = serve(MNTR.encode()), serve(MNTR.encode())
    look = EnsembleLook(Ensemble(line(1, first), line(4, second, "observer")), "127.0.0.1:1")

    views = look()
    assert [(view.address, view.number, view.role) for view in views] == [
        (first, 1, "participant"),
        (second, 4, "observer"),
    ]


def test_the_ensemble_is_asked_for_its_members_only_now_and_then(serve):
    ensemble, now_s = Ensemble(line(1, serve(MNTR.encode()))), [0.0]
    look = EnsembleLook(ensemble, "127.0.0.1:1", lambda: now_s[0])
    look()
    look()
    assert ensemble.read_count == 1
    now_s[0] += 5
    look()
    assert ensemble.read_count == 2


def test_without_a_quorum_the_members_known_before_are_asked(serve):
    address, now_s = serve(MNTR.encode(), looks=2), [0.0]
    ensemble = Ensemble(line(1, address))
    look = EnsembleLook(ensemble, "127.0.0.1:1", lambda: now_s[0])
    look()
    ensemble.cut_off()
    now_s[0] += 60

    assert [(member.address, member.error) for member in look()] == [(address, "")]


def test_members_nobody_can_reach_leave_the_addresses_that_were_given(serve):
    given = serve(MNTR.encode())
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        look = EnsembleLook(Ensemble(line(1, f"127.0.0.1:{reserved.getsockname()[1]}")), given)
        assert [(member.address, member.mode) for member in look()] == [(given, "leader")]


def test_an_ensemble_that_does_not_say_where_clients_connect_leaves_the_addresses_that_were_given(serve):
    given = serve(MNTR.encode())
    look = EnsembleLook(Ensemble("server.1=zk1:2888:3888"), given)

    assert [member.address for member in look()] == [given]
