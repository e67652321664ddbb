"""The four-letter word, asked of a server that a test plays."""

import socket
import threading

import pytest

from console.gateway.zookeeper import describe_zookeeper, parse_addresses

MNTR = "\n".join(
    (
        "zk_version\t3.9.5-abc, built on x",
        "zk_avg_latency\t0.25",
        "zk_num_alive_connections\t4",
        "zk_server_state\tleader",
        "zk_znode_count\t27",
    )
)


@pytest.fixture
def serve():
    """serve(answer): the address of a server that says `answer` to one client; None: it never answers."""
    started: list[tuple[socket.socket, threading.Thread]] = []
    finish = threading.Event()

    def start(answer: bytes | None) -> str:
        listener = socket.create_server(("127.0.0.1", 0))

        def run() -> None:
            connection, _ = listener.accept()
            with connection:
                if answer is None:
                    finish.wait(10)
                elif connection.recv(4) == b"mntr":
                    connection.sendall(answer)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        started.append((listener, thread))
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield start
    finish.set()
    for listener, thread in started:
        thread.join(5)
        listener.close()


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
