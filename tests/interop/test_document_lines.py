"""Each command line of the documents, typed in a folder that looks like Kafka's, on a cluster that they start.

ZooKeeper and the brokers are started by the documents' own lines, where no other process is seen; at the end one of the
brokers is killed, and then all are stopped.
"""

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.cli.commands import NAMES
from tests.barnabas_cluster import await_true
from tests.interop.documents import ALL, LINES, table
from tests.own_processes import needs_own_processes, own_processes
from tests.place import Place
from tests.tidy.sources import ROOT
from tests.typed import Typed
from tests.zookeeper_server import four_letter_word, free_ports

SERVES = "started (kafka.server.KafkaServer)"
_DEADLINE_S = 60
_END_S = 20


def needs(*places: str) -> pytest.MarkDecorator:
    """Skipped while one of the commands in these lines is not there."""
    names = {LINES[place].command for place in places} & NAMES.keys()
    absent = sorted(name for name in names if importlib.util.find_spec(f"broker.cli.{NAMES[name]}") is None)
    return pytest.mark.skipif(bool(absent), reason=f"not there yet: {', '.join(absent)}")


class Terminal:
    """A line that runs until it is left; what it has printed so far is in `out()`."""

    def __init__(self, process: subprocess.Popen, out: Path):
        self._process = process
        self._out = out

    def out(self) -> str:
        return self._out.read_text()

    def leave(self) -> None:
        """As Ctrl-C."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGINT)
        self._process.wait(_END_S)


class Machine:
    """Where the documents' lines are typed: bin/ and config/ lie in `home`."""

    def __init__(self, place: Place, home: Path, zookeeper: int, brokers: list[int]):
        self._enter = [*place.enter, "env", "--unset=COLUMNS", f"--chdir={home}", f"KAFKA_HOME={home}"]
        self.home = home
        self.brokers = brokers
        self.zookeeper = zookeeper
        self._known = {
            "zookeeper": f"localhost:{zookeeper}",
            "bootstrap": f"localhost:{brokers[0]}",
            "kafka": home,
            "usr": home,
            "zk": home,
            "chroot": "/",
        }
        self._terminals = 0

    def words(self, place: str, **placeholders: str) -> list[str]:
        line = LINES[place].typed
        for name, value in {**self._known, **placeholders}.items():
            line = line.replace(f"{{{name}}}", str(value))
        assert not re.search(r"\{\w+\}", line), line
        return [*self._enter, "bash", "-c", f'sudo() {{ "$@"; }}; {line}']

    def type(self, place: str, stdin: str = "", **placeholders: str) -> Typed:
        done = subprocess.run(
            self.words(place, **placeholders),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=_DEADLINE_S,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return Typed(done.returncode, done.stdout, done.stderr)

    def leave_running(self, place: str, **placeholders: str) -> Terminal:
        self._terminals += 1
        out = self.home / f"terminal-{self._terminals}"
        with out.open("w") as file, out.with_suffix(".err").open("w") as errors:
            process = subprocess.Popen(
                self.words(place, **placeholders),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=errors,
                start_new_session=True,
            )
        return Terminal(process, out)

    def shows(self, place: str, lines: list[str], **placeholders: str) -> None:
        """A consumer that is left as soon as it has printed them."""
        terminal = self.leave_running(place, **placeholders)
        try:
            await_true(lambda: terminal.out().splitlines() == lines, f"{place} shows {lines}", _DEADLINE_S)
        finally:
            terminal.leave()

    def kill(self, pid: str) -> None:
        """By the number that it has there."""
        subprocess.run([*self._enter, "kill", "-9", pid], check=True)

    def edit_worker(self, name: str) -> None:
        """Where the brokers are, where REST listens and the offsets lie, because other tests run beside this one."""
        path = self.home / "config" / name
        text = path.read_text().replace("localhost:9092", self._known["bootstrap"])
        text = re.sub(r"(?m)^offset\.storage\.file\.filename=.*", "offset.storage.file.filename=connect.offsets", text)
        path.write_text(f"{text}listeners=http://127.0.0.1:{free_ports(1)[0]}\n")

    def edit(self, name: str, number: int) -> None:
        """What a person changes in a broker's file."""
        path = self.home / "config" / name
        text = re.sub(r"(?m)^broker\.id=.*", f"broker.id={number}", path.read_text())
        text = re.sub(r"(?m)^listeners=.*", f"listeners=PLAINTEXT://localhost:{self.brokers[number]}", text)
        text = re.sub(r"(?m)^log\.dirs=.*", f"log.dirs={self.home}/kafka-logs-{number}", text)
        path.write_text(text.replace("localhost:2181", self._known["zookeeper"]))


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> Iterator[Machine]:
    """A ZooKeeper and three brokers, each in a terminal of its own, as 002 starts them."""
    home = tmp_path_factory.mktemp("kafka")
    (home / "bin").symlink_to(ROOT / "bin")
    shutil.copytree(ROOT / "config", home / "config")
    zookeeper, *brokers = free_ports(4)
    with own_processes() as place:
        machine = Machine(place, home, zookeeper, brokers)
        properties = home / "config" / "zookeeper.properties"
        text = properties.read_text().replace("dataDir=/tmp/zookeeper", f"dataDir={home}/zookeeper")
        properties.write_text(text.replace("clientPort=2181", f"clientPort={zookeeper}"))
        machine.leave_running("002:146a")
        await_true(lambda: "Mode: standalone" in four_letter_word(zookeeper, b"srvr"), "ZooKeeper serves")
        assert "server-2.properties" in machine.type("002:158a").out.split()
        for number, name in enumerate(("server.properties", "server-1.properties", "server-2.properties")):
            machine.edit(name, number)
        terminals = [machine.leave_running(place) for place in ("002:146b", "002:158b", "002:158c")]
        await_true(lambda: all(SERVES in terminal.out() for terminal in terminals), "three brokers serve", _DEADLINE_S)
        yield machine


def test_every_line_is_typed_by_a_test_and_stands_in_the_table():
    source = Path(__file__).read_text()
    assert {line.place for line in ALL if f'"{line.place}"' not in source} == set()
    assert table() in (ROOT / "tests" / "README.md").read_text()


@needs_own_processes
def test_zookeeper_s_prompt_lists_what_is_known_of_brokers(machine):
    shown = machine.type("000:507", stdin="ls /brokers\nls /brokers/ids\n")
    assert shown.status == 0
    assert shown.out.splitlines()[-2:] == ["[ids, seqid, topics]", "[0, 1, 2]"]


@needs_own_processes
def test_a_topic_is_created_listed_and_described_as_on_the_slides(machine, name):
    assert machine.type("000:516", topic=name) == (0, f"Created topic {name}.\n", "")
    assert name in machine.type("000:523").out.splitlines()
    described = machine.type("000:545", topic=name).out.splitlines()
    assert "PartitionCount: 4\tReplicationFactor: 2" in described[0]
    assert [line.split()[:2] for line in described[1:]] == [["Topic:", name]] * 4


@pytest.mark.long
@needs_own_processes
def test_a_topic_is_created_enlarged_set_and_deleted_as_in_the_guide(machine, name):
    assert f"Created topic {name}.\n" in machine.type("002:106", topic=name).out
    enlarged = machine.type("002:110", topic=name)
    assert enlarged.status == 0
    assert enlarged.out.startswith("WARNING: If partitions are increased")
    assert "PartitionCount: 40\t" in machine.type("000:545", topic=name).out
    refused = machine.type("002:114a", topic=name)
    assert refused.status == 1
    assert "x" in refused.out
    assert machine.type("002:114b", topic=name).status in (0, 1)
    assert f"Topic {name} is marked for deletion.\n" in machine.type("002:118", topic=name).out
    await_true(lambda: name not in machine.type("000:523").out.split(), "the topic is gone")


@needs_own_processes
def test_what_the_guide_cannot_mean_is_refused_and_what_it_means_is_done(machine, name):
    refused = machine.type("002:150a")
    assert (refused.status, refused.out) == (1, "")
    assert "replication is not a recognized option" in refused.err
    created = machine.type("002:150b", topic=name)
    assert (created.status, created.out) == (0, f"Created topic {name}.\n")
    assert "–create is typed with a long dash; it is taken for --create." in created.err
    assert name in machine.type("002:150c").out.splitlines()


@pytest.mark.long
@needs_own_processes
def test_a_topic_of_the_introduction_has_its_setting_and_is_deleted(machine, name):
    assert machine.type("003:159", topic=name, setting="cleanup.policy=compact").out == f"Created topic {name}.\n"
    assert "Configs: cleanup.policy=compact" in machine.type("000:545", topic=name).out
    assert machine.type("003:163", topic=name).status == 0
    await_true(lambda: name not in machine.type("000:523").out.split(), "the topic is gone")


@needs_own_processes
@needs("000:531", "000:538")
def test_what_is_typed_on_the_slides_is_read_back(machine, name):
    assert machine.type("000:531", stdin="first\nsecond\n", topic=name).status == 0
    machine.shows("000:538", ["first", "second"], topic=name)


@pytest.mark.long
@needs_own_processes
@needs("002:154a", "002:154b")
def test_what_is_typed_in_the_guide_is_read_back(machine, name):
    assert machine.type("002:154a", stdin="This is a message\n", topic=name).status == 0
    machine.shows("002:154b", ["This is a message"], topic=name)


@pytest.mark.long
@needs_own_processes
@needs("003:167", "003:171", "002:126b")
def test_clients_of_the_introduction_take_their_properties_files(machine, name):
    machine.type("002:150b", topic=name)
    group = "test-consumer-group"
    consumer = machine.leave_running("003:171", topic=name)
    try:
        await_true(lambda: name in machine.type("002:126b", group=group).out, "the group has its partitions")

        def arrives() -> bool:
            assert machine.type("003:167", stdin="from a file\n", topic=name).status == 0
            return "from a file\n" in consumer.out()

        await_true(arrives, "what is produced from now on is read", _DEADLINE_S)
    finally:
        consumer.leave()


@needs_own_processes
@needs("002:122", "002:126a", "002:126b", "000:531")
def test_positions_of_a_group_are_told_by_both_generations(machine, name):
    from confluent_kafka import Consumer

    machine.type("000:531", stdin="1\n2\n3\n", topic=name)
    consumer = Consumer(
        {"bootstrap.servers": f"localhost:{machine.brokers[0]}", "group.id": name, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([name])
    try:
        consumer.consume(3, timeout=_DEADLINE_S)
        consumer.commit(asynchronous=False)
        checked = machine.type("002:122", group=name)
        assert checked.status == 0
        rows = [line.split() for line in checked.out.splitlines()]
        assert rows[0][:6] == ["Group", "Topic", "Pid", "Offset", "logSize", "Lag"]
        assert rows[1][:6] == [name, name, "0", "3", "3", "0"]
        assert name in machine.type("002:126a").out.splitlines()
        described = [line.split() for line in machine.type("002:126b", group=name).out.splitlines()]
        assert [name, name, "0", "3", "3", "0"] in [row[:6] for row in described]
    finally:
        consumer.close()


@pytest.mark.long
@needs_own_processes
def test_lines_of_a_file_go_through_connect_into_another(machine):
    machine.edit_worker("connect-standalone.properties")
    (machine.home / "test.txt").write_text("foo\nbar\n")
    copy = machine.home / "test.sink.txt"
    worker = machine.leave_running("002:168a")
    try:
        await_true(lambda: copy.exists() and copy.read_text() == "foo\nbar\n", "both lines arrive", _DEADLINE_S)
        schema = '{"schema":{"type":"string","optional":false},"payload":'
        machine.shows("002:168b", [f'{schema}"foo"}}', f'{schema}"bar"}}'])
        with (machine.home / "test.txt").open("a") as file:
            file.write("another\n")
        await_true(lambda: copy.read_text() == "foo\nbar\nanother\n", "what is added arrives, too", _DEADLINE_S)
    finally:
        worker.leave()


@needs_own_processes
@needs("002:162a", "002:162b", "002:162d")
def test_a_broker_is_found_by_its_file_and_killed_and_nothing_is_lost(machine, name):
    assert f"Created topic {name}.\n" in machine.type("002:158d", topic=name).out
    assert machine.type("002:162a", stdin="a\nb\nc\n", topic=name).status == 0
    machine.shows("002:162b", ["a", "b", "c"], topic=name)
    lines = [line for line in machine.type("002:162c").out.splitlines() if "grep" not in line]
    assert len(lines) == 1
    assert "broker server --config config/server-1.properties" in lines[0]
    machine.kill(lines[0].split()[1])
    await_true(lambda: _leader(machine.type("002:158e", topic=name)) in ("0", "2"), "another leads")
    machine.shows("002:162d", ["a", "b", "c"], topic=name)


def _leader(described: Typed) -> str:
    """Of the one partition: the sixth word of its line."""
    return described.out.splitlines()[1].split()[5]


@pytest.mark.long
@needs_own_processes
def test_all_brokers_are_stopped_and_one_is_left_running_again(machine):
    assert machine.type("000:501") == (0, "", "")
    await_true(lambda: machine.type("000:501").out == "No kafka server to stop\n", "they have stopped")
    assert machine.type("000:494") == (0, "", "")
    log = machine.home / "logs" / "kafkaServer.out"
    await_true(lambda: SERVES in log.read_text(), "the broker serves")
    assert machine.type("000:501").status == 0
