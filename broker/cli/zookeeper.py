"""`python -m broker zookeeper DIR --client-port N`: become a ZooKeeper server.

The process replaces itself by Java, so the pid that was started is the server's. With the super password it leaves a
process behind that sets the server's quotas as soon as it serves, and then ends.
"""

import argparse
import asyncio
import logging
import os
import socket
from pathlib import Path

from broker.common.errors import NotNowError, StartupError
from broker.common.java_runtime import find_java
from broker.common.logs import configure_logs
from broker.config.definition import ConfigError
from broker.zookeeper.ensemble import ServerAddress, ServerMembership, launch_command, prepare_server
from broker.zookeeper.ensemble_guard import guard_ensemble
from broker.zookeeper.zoo_cfg import KEYS, read_settings


def main(argv: list[str]) -> int:
    """Does not return; raises StartupError when the server cannot run."""
    arguments = _parser().parse_args(argv)
    directory = arguments.directory.absolute()
    java = find_java()
    password = _password(arguments.super_password_file)
    try:
        address = prepare_server(
            directory,
            arguments.host,
            arguments.client_port,
            arguments.quorum_port,
            arguments.election_port,
            ServerMembership(arguments.number, arguments.join, password, _settings(arguments.set)),
        )
    except OSError as error:
        raise StartupError(f"ZooKeeper cannot use {directory}: {error.strerror or error}.") from error
    _refuse_taken_ports(address)
    if password is not None:
        _leave_guard(address, password)
    command = launch_command(java, directory / "zoo.cfg", "zoo.cfg")
    os.chdir(directory)
    os.execv(command[0], command)


def _leave_guard(address: ServerAddress, password: str) -> None:
    """Start the guard as a process without parent: Java would never take note of its end."""
    server = os.getpid()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    if os.fork():
        os._exit(0)
    try:
        configure_logs()
        logging.getLogger("kazoo").setLevel(logging.CRITICAL)  # a server without a quorum is no news
        connect = f"{address.host}:{address.client_port}"
        asyncio.run(guard_ensemble(connect, password, lambda: _is_alive(server)))
    finally:
        os._exit(0)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="broker zookeeper", description="Run a ZooKeeper server in this process.")
    parser.add_argument("directory", type=Path, metavar="DIR", help="where its configuration and data live")
    parser.add_argument("--client-port", type=_port, required=True, help="what brokers connect to, usually 2181")
    parser.add_argument("--host", default="127.0.0.1", help="address every port is bound to (default %(default)s)")
    parser.add_argument("--quorum-port", type=_port, help="default: as before, else client port + 707 (2888 for 2181)")
    parser.add_argument("--election-port", type=_port, help="default: as before, else client port + 1707")
    parser.add_argument("--number", type=_server_number, default=1, help="its N of server.N (default %(default)s)")
    parser.add_argument(
        "--join",
        action="append",
        default=[],
        metavar="LINE",
        help="a member of the ensemble that a new server joins, as server.1=host:2888:3888:participant;host:2181",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"written into zoo.cfg, as tickTime=2000; keys: {', '.join(key.name for key in KEYS)}",
    )
    parser.add_argument(
        "--super-password-file",
        type=Path,
        metavar="FILE",
        help="holds the password of the super user, who may change the ensemble",
    )
    return parser


def _server_number(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 255:
        raise argparse.ArgumentTypeError(f"a server's number is 1 to 255, not {number}")
    return number


def _settings(pairs: list[str]) -> dict[str, int]:
    try:
        return read_settings(dict(pair.partition("=")[::2] for pair in pairs))
    except ConfigError as error:
        raise StartupError(f"--set: {error}.") from None


def _password(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        password = path.read_text().strip()
    except OSError as error:
        raise StartupError(f"The super password cannot be read from {path}: {error.strerror}.") from error
    if not password:
        raise StartupError(f"The super password in {path} is empty.")
    return password


def _port(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"a port is 1 to 65535, not {number}")
    return number


def _refuse_taken_ports(address: ServerAddress) -> None:
    for port in address.ports:
        if port > 65535:
            raise StartupError(f"Port {port} does not exist; give --quorum-port and --election-port.")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address.host, port))
            except OSError as error:
                raise NotNowError(
                    f"ZooKeeper cannot listen on {address.host}:{port}: {error.strerror}; choose another port."
                ) from error
