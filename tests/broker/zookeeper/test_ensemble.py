"""The files of a ZooKeeper server: written once, following the arguments while there is one server."""

from pathlib import Path

import pytest

from broker.common.errors import StartupError
from broker.zookeeper.ensemble import ServerAddress, class_path, launch_command, prepare_server


def _config(directory: Path) -> str:
    return (directory / "zoo.cfg").read_text()


def test_new_server_is_a_quorum_of_one_on_the_address_given(tmp_path):
    address = prepare_server(tmp_path, "127.0.0.1", 2181)
    assert address == ServerAddress("127.0.0.1", 2181, 2888, 3888)
    assert "server.1=127.0.0.1:2888:3888:participant;127.0.0.1:2181\n" in _config(tmp_path)
    assert "standaloneEnabled=false\n" in _config(tmp_path)
    assert "admin.enableServer=false\n" in _config(tmp_path)
    assert (tmp_path / "data" / "myid").read_text() == "1\n"


def test_directory_can_be_moved(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181)
    assert str(tmp_path) not in _config(tmp_path)


def test_edits_survive_and_ports_follow_the_arguments(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181)
    (tmp_path / "zoo.cfg").write_text(_config(tmp_path).replace("tickTime=500", "tickTime=700") + "extra=1\n")
    prepare_server(tmp_path, "127.0.0.2", 2182)
    assert "tickTime=700\n" in _config(tmp_path)
    assert "extra=1\n" in _config(tmp_path)
    assert "server.1=127.0.0.2:2888:3888:participant;127.0.0.2:2182\n" in _config(tmp_path)
    assert _config(tmp_path).count("server.") == 1


def test_the_line_zookeeper_moved_to_its_dynamic_file_is_moved_back(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181)
    line = "server.1=127.0.0.1:2901:2902:participant;127.0.0.1:2181"
    (tmp_path / "zoo.cfg.dynamic.100").write_text(line)
    kept = "\n".join(each for each in _config(tmp_path).splitlines() if not each.startswith("server."))
    (tmp_path / "zoo.cfg").write_text(kept + "\ndynamicConfigFile=/was/elsewhere/zoo.cfg.dynamic.100\n")
    assert prepare_server(tmp_path, "127.0.0.1", 2181).quorum_port == 2901
    assert "dynamicConfigFile" not in _config(tmp_path)
    assert not list(tmp_path.glob("zoo.cfg.dynamic.*"))
    assert line + "\n" in _config(tmp_path)


@pytest.fixture
def larger_ensemble(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181)
    grown = _config(tmp_path) + "server.2=127.0.0.1:2889:3889:participant;127.0.0.1:2182\n"
    (tmp_path / "zoo.cfg").write_text(grown)
    return tmp_path


def test_larger_ensemble_is_not_touched(larger_ensemble):
    before = _config(larger_ensemble)
    prepare_server(larger_ensemble, "127.0.0.1", 2181)
    assert _config(larger_ensemble) == before


def test_arguments_that_contradict_a_larger_ensemble_are_refused(larger_ensemble):
    before = _config(larger_ensemble)
    with pytest.raises(StartupError, match=r"listens on 127\.0\.0\.1:2181"):
        prepare_server(larger_ensemble, "127.0.0.1", 2999)
    assert _config(larger_ensemble) == before


def test_missing_dynamic_file_is_one_sentence(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181)
    (tmp_path / "zoo.cfg").write_text("dynamicConfigFile=/x/zoo.cfg.dynamic.7\n")
    with pytest.raises(StartupError, match=r"zoo.cfg.dynamic.7, which is missing"):
        prepare_server(tmp_path, "127.0.0.1", 2181)


@pytest.mark.parametrize("text", ["127.0.0.1:1:2", "127.0.0.1:1:2:participant", "nonsense"])
def test_unreadable_server_line_is_one_sentence(text):
    with pytest.raises(StartupError, match="server address"):
        ServerAddress.parse(text)


def test_server_line_of_every_shape_is_read():
    assert ServerAddress.parse("h:1:2;3") == ServerAddress("h", 3, 1, 2)
    assert ServerAddress.parse("h:1:2:observer;0.0.0.0:3") == ServerAddress("0.0.0.0", 3, 1, 2)


def test_class_path_names_jars_that_exist():
    jars = [Path(jar) for jar in class_path().split(":")]
    assert len(jars) == 8
    assert all(jar.is_file() for jar in jars)


def test_launch_command_runs_the_quorum_server():
    command = launch_command(Path("/java"))
    assert command[0] == "/java"
    assert command[-2:] == ["org.apache.zookeeper.server.quorum.QuorumPeerMain", "zoo.cfg"]
