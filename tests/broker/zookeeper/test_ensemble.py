"""The files of a ZooKeeper server: written once, following the arguments while there is one server."""

from pathlib import Path

import pytest

from broker.common.errors import StartupError
from broker.zookeeper.ensemble import (
    ServerAddress,
    ServerMembership,
    class_path,
    launch_command,
    prepare_server,
    super_digest,
)


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
    (tmp_path / "zoo.cfg").write_text(_config(tmp_path).replace("tickTime=2000", "tickTime=700") + "extra=1\n")
    prepare_server(tmp_path, "127.0.0.2", 2182)
    assert "tickTime=700\n" in _config(tmp_path)
    assert "extra=1\n" in _config(tmp_path)
    assert "server.1=127.0.0.2:2888:3888:participant;127.0.0.2:2182\n" in _config(tmp_path)
    assert _config(tmp_path).count("server.") == 1


def test_the_line_zookeeper_moved_to_its_dynamic_file_is_moved_back(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181)
    line = "server.1=127.0.0.1:2901:2902:participant;127.0.0.1:2181"
    (tmp_path / "zoo.cfg.dynamic.100").write_text(line)
    kept = "\n".join(line for line in _config(tmp_path).splitlines() if not line.startswith("server."))
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


def test_launch_command_runs_the_quorum_server(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181)
    command = launch_command(Path("/java"), tmp_path / "zoo.cfg", "zoo.cfg")
    assert command[0] == "/java"
    assert not any("netty" in item for item in command)
    assert command[-2:] == ["org.apache.zookeeper.server.quorum.QuorumPeerMain", "zoo.cfg"]


MEMBER = "server.1=127.0.0.1:2888:3888:participant;127.0.0.1:2181"


def test_new_server_that_joins_names_the_members_and_itself(tmp_path):
    address = prepare_server(tmp_path, "127.0.0.1", 2182, membership=ServerMembership(2, [MEMBER]))
    assert f"{MEMBER}\nserver.2={address}\n" in _config(tmp_path)
    assert (tmp_path / "data" / "myid").read_text() == "2\n"


def test_server_that_joins_is_not_touched_at_its_next_start(tmp_path):
    joining = ServerMembership(2, [MEMBER])
    prepare_server(tmp_path, "127.0.0.1", 2182, membership=joining)
    before = _config(tmp_path)
    prepare_server(tmp_path, "127.0.0.1", 2182, membership=joining)
    assert _config(tmp_path) == before


def test_start_cut_short_before_the_own_line_was_written_is_taken_up(tmp_path):
    joining = ServerMembership(2, [MEMBER])
    prepare_server(tmp_path, "127.0.0.1", 2182, membership=joining)
    whole = _config(tmp_path)
    (tmp_path / "zoo.cfg").write_text("".join(line for line in whole.splitlines(True) if "server.2" not in line))
    prepare_server(tmp_path, "127.0.0.1", 2182, membership=joining)
    assert _config(tmp_path) == whole


def test_server_that_was_taken_out_of_the_ensemble_does_not_start_again(tmp_path):
    joining = ServerMembership(2, [MEMBER])
    prepare_server(tmp_path, "127.0.0.1", 2182, membership=joining)
    (tmp_path / "data" / "version-2").mkdir()
    taken_out = "".join(line for line in _config(tmp_path).splitlines(True) if "server.2" not in line)
    (tmp_path / "zoo.cfg").write_text(taken_out + MEMBER.replace("server.1", "server.3") + "\n")
    with pytest.raises(StartupError, match="no longer has this server as a member"):
        prepare_server(tmp_path, "127.0.0.1", 2182, membership=joining)


def test_directory_of_another_server_is_refused(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181)
    with pytest.raises(StartupError, match="holds server 1, not server 2"):
        prepare_server(tmp_path, "127.0.0.1", 2182, membership=ServerMembership(2, [MEMBER]))


def test_members_to_join_mean_nothing_to_a_server_that_has_an_ensemble(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2182, membership=ServerMembership(2, [MEMBER]))
    before = _config(tmp_path)
    (tmp_path / "data" / "version-2").mkdir()
    other = MEMBER.replace("server.1", "server.9")
    prepare_server(tmp_path, "127.0.0.1", 2182, membership=ServerMembership(2, [other]))
    assert _config(tmp_path) == before


def test_only_the_digest_of_the_super_password_is_written(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181, membership=ServerMembership(super_password="secret"))
    # The vector of ZooKeeper's own tools: echo -n super:secret | openssl dgst -binary -sha1 | base64
    assert "DigestAuthenticationProvider.superDigest=super:lK75jTNcA+U9vtVEw5vB51mj/w4=\n" in _config(tmp_path)
    assert "secret" not in _config(tmp_path)


def test_a_new_super_password_replaces_the_old_one_even_in_a_larger_ensemble(larger_ensemble):
    for password in ("one", "two"):
        prepare_server(larger_ensemble, "127.0.0.1", 2181, membership=ServerMembership(super_password=password))
    assert _config(larger_ensemble).count("superDigest") == 1
    assert super_digest("two") in _config(larger_ensemble)


def test_without_a_password_the_digest_stays(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181, membership=ServerMembership(super_password="one"))
    prepare_server(tmp_path, "127.0.0.1", 2181)
    assert super_digest("one") in _config(tmp_path)


def test_a_digest_that_is_there_already_stays_where_zookeeper_put_it(tmp_path):
    same = ServerMembership(super_password="one")
    prepare_server(tmp_path, "127.0.0.1", 2181, membership=same)
    lines = _config(tmp_path).splitlines(True)
    (tmp_path / "zoo.cfg").write_text("".join([*lines[1:], lines[0]]))
    before = _config(tmp_path)
    prepare_server(tmp_path, "127.0.0.1", 2181, membership=same)
    assert sorted(_config(tmp_path).splitlines()) == sorted(before.splitlines())
    assert _config(tmp_path).index("superDigest") > _config(tmp_path).index("tickTime")
