"""`python -m broker certificates DIR`: an authority of one's own, and what it signs for brokers and clients."""

import argparse
import re
from ipaddress import ip_address
from pathlib import Path

from broker.common.errors import StartupError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def main(argv: list[str]) -> int:
    """Return 0 when everything asked for is there; raises StartupError."""
    arguments = _parser().parse_args(argv)
    # Only this command needs it, and it takes a while.
    from broker.cli.servers.authority import Authority

    try:
        authority = Authority(arguments.directory)
        print(f"{authority.path}: what clients and brokers trust (ssl.truststore.location)")
        for hosts in arguments.broker:
            path, is_new = authority.sign(hosts[0], hosts, is_renewed=arguments.renew)
            print(f"{path}: {_state(is_new)}, of a broker reached as {', '.join(hosts)} (ssl.keystore.location)")
        for name in arguments.client:
            path, is_new = authority.sign(name, is_renewed=arguments.renew)
            print(f"{path}: {_state(is_new)}, of a client whose principal is User:CN={name} (ssl.keystore.location)")
    except OSError as error:
        raise StartupError(f"{error.filename or arguments.directory} cannot be used: {error.strerror}.") from error
    return 0


def _state(is_new: bool) -> str:
    return "made" if is_new else "there already"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="broker certificates",
        description="Make a certificate authority in DIR, unless it is there, and certificates that it signs. "
        "ca.key stays on the host where certificates are made; every file of a broker or client holds its key.",
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="where the files are, made with mode 700")
    parser.add_argument(
        "--broker",
        action="append",
        type=_hosts,
        default=[],
        metavar="HOST,…",
        help="names and addresses under which clients reach a broker; the file is called by the first",
    )
    parser.add_argument("--client", action="append", type=_name, default=[], metavar="NAME", help="common name")
    parser.add_argument(
        "--renew", action="store_true", help="renew an existing one; without it, renewed 30 days before it expires"
    )
    return parser


def _hosts(text: str) -> list[str]:
    hosts = [part for part in text.split(",") if part]
    if not hosts:
        raise argparse.ArgumentTypeError("a broker needs a name or an address")
    return [str(ip_address(host)) if ":" in host else _name(host) for host in hosts]


def _name(text: str) -> str:
    if not _NAME.fullmatch(text) or text.lower() == "ca":
        raise argparse.ArgumentTypeError(f"{text!r} is no name: letters, digits, dots, - and _, at most 64, and not ca")
    return text
