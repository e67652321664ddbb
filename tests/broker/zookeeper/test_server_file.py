import pytest

from broker.common.errors import StartupError
from broker.zookeeper.server_file import ServerFile, check_number, read_server_file

ENSEMBLE = """\
tickTime=2000
dataDir=/var/lib/zookeeper
clientPort=2181
initLimit=20
syncLimit=5
server.1=zoo1.example.com:2888:3888
server.2=zoo2.example.com:2888:3888
server.3=zoo3.example.com:2888:3888
"""


def test_what_has_to_be_known_before_a_start_is_read():
    file = read_server_file(ENSEMBLE)
    assert str(file.data_dir) == "/var/lib/zookeeper"
    assert (file.client_host, file.client_port, file.members) == ("", 2181, ("1", "2", "3"))


def test_a_client_port_may_stand_on_a_member_s_line():
    assert read_server_file("dataDir=/x\nserver.1=a:2888:3888;2181\n").client_port is None


@pytest.mark.parametrize("port", ["0", "65536", "http"])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(StartupError, match=f"clientPort={port} is not a port"):
        read_server_file(f"dataDir=/x\nclientPort={port}\n")


def test_a_member_has_to_be_told_which_it_is(tmp_path):
    file = ServerFile(tmp_path, "", 2181, ("1", "2"))
    with pytest.raises(StartupError, match=r"myid is missing: write this server's number into it, one of 1, 2\."):
        check_number(file)
    (tmp_path / "myid").write_text("3\n")
    with pytest.raises(StartupError, match="says '3', which is none of the servers 1, 2"):
        check_number(file)
    (tmp_path / "myid").write_text("2\n")
    check_number(file)
    check_number(ServerFile(tmp_path / "none", "", 2181, ()))
