"""A network of our own, of namespaces joined by a bridge, in which packets get lost where a row says so.

Every host is a network namespace. The bridge is in one more, where the clients are: the thread that has entered it, and
what it starts. All names carry a random token, nothing is connected with the machine's own interfaces, and what is
dropped is dropped by rules inside these namespaces; they are removed at the end, and everything in them goes with them.
"""

import contextlib
import ctypes
import json
import os
import secrets
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.place import Place

_TOOLS = {"ip": "iproute2", "nft": "nftables"}
#: Where `ip netns` keeps namespaces.
_NAMED = Path("/run/netns")
#: Private, and seen by nobody outside: the bridge has the first address, the hosts those that follow.
_SUBNET = "10.213.77"
_PREFIX_BITS = 24
_BRIDGE = "bridge"
_CLONE_NEWNET = 0x40000000


def missing_for_network() -> str:
    """What this machine lacks to make such a network; nothing if it can."""
    if os.geteuid() != 0 or any(shutil.which(tool) is None for tool in _TOOLS):
        return f"root, {' and '.join(_TOOLS.values())}"
    return ""


class Network:
    """Made by `network`. A host is named by the name it was given."""

    def __init__(self, token: str, hosts: Sequence[str]):
        self.token = token
        self._addresses = {name: f"{_SUBNET}.{number}" for number, name in enumerate(hosts, 2)}
        self._hub = self._namespace("hub")

    def place(self, host: str) -> Place:
        return Place(self._addresses[host], ("ip", "netns", "exec", self._namespace(host)))

    # -- faults

    @contextlib.contextmanager
    def deaf(self, host: str, *to: str) -> Iterator[None]:
        """While this lasts nothing that `to` send arrives at `host`; they are not told, and hear it themselves."""
        names = ", ".join(self._addresses[item] for item in to)
        chain = "type filter hook input priority 0;"
        self._filter(host, f"table ip deaf {{ chain input {{ {chain} ip saddr {{ {names} }} counter drop; }}; }}")
        try:
            yield
        finally:
            self._filter(host, "delete table ip deaf")

    @contextlib.contextmanager
    def apart(self, host: str, *others: str) -> Iterator[None]:
        """While this lasts nothing gets through between `host` and `others`, in neither direction."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.deaf(host, *others))
            for other in others:
                stack.enter_context(self.deaf(other, host))
            yield

    @contextlib.contextmanager
    def unplugged(self, host: str) -> Iterator[None]:
        """While this lasts its cable is out."""
        self._ip(self._hub, "link", "set", self._port(host), "down")
        try:
            yield
        finally:
            self._ip(self._hub, "link", "set", self._port(host), "up")

    def lost_on_the_way_to(self, host: str) -> int:
        """Packets dropped since `host` is deaf."""
        listed = json.loads(self._filter(host, "list table ip deaf", "--json"))
        rules = [nftable["rule"]["expr"] for nftable in listed["nftables"] if "rule" in nftable]
        return sum(part["counter"]["packets"] for parts in rules for part in parts if "counter" in part)

    def sent_again_by(self, host: str) -> int:
        """TCP segments that it has sent once more so far, because nobody acknowledged them."""
        lines = self._run("ip", "netns", "exec", self._namespace(host), "cat", "/proc/net/snmp").splitlines()
        names, values = (line.split() for line in lines if line.startswith("Tcp:"))
        return int(values[names.index("RetransSegs")])

    # -- making it

    def make(self) -> None:
        self._add(self._hub)
        self._ip(self._hub, "link", "add", _BRIDGE, "type", "bridge")
        self._ip(self._hub, "address", "add", f"{_SUBNET}.1/{_PREFIX_BITS}", "dev", _BRIDGE)
        self._ip(self._hub, "link", "set", _BRIDGE, "up")
        for host, address in self._addresses.items():
            namespace, port = self._namespace(host), self._port(host)
            self._add(namespace)
            self._ip(self._hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", namespace)
            self._ip(self._hub, "link", "set", port, "master", _BRIDGE, "up")
            self._ip(namespace, "address", "add", f"{address}/{_PREFIX_BITS}", "dev", "eth0")
            self._ip(namespace, "link", "set", "eth0", "up")

    def remove(self) -> None:
        """What was made of it."""
        for path in _NAMED.glob(self._namespace("*")):
            subprocess.run(["ip", "netns", "delete", path.name], capture_output=True, check=False)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """While this lasts this thread, and what it starts, is where the bridge is."""
        here = f"/proc/self/task/{threading.get_native_id()}/ns/net"
        with open(here) as before, (_NAMED / self._hub).open() as hub:
            _enter(hub.fileno())
            try:
                yield
            finally:
                _enter(before.fileno())

    def _namespace(self, name: str) -> str:
        return f"barnabas-{self.token}-{name}"

    def _port(self, host: str) -> str:
        """Interface names may have 15 letters."""
        return f"port{list(self._addresses).index(host)}"

    def _add(self, namespace: str) -> None:
        self._run("ip", "netns", "add", namespace)
        self._ip(namespace, "link", "set", "lo", "up")

    def _ip(self, namespace: str, *words: str) -> None:
        self._run("ip", "-netns", namespace, *words)

    def _filter(self, host: str, command: str, *options: str) -> str:
        return self._run("ip", "netns", "exec", self._namespace(host), "nft", *options, command)

    def _run(self, *words: str) -> str:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout


@contextlib.contextmanager
def network(*hosts: str) -> Iterator[Network]:
    """This thread is in it while this lasts. Raises OSError if this machine does not let us."""
    made = Network(secrets.token_hex(4), hosts)
    try:
        made.make()
        with made.entered():
            yield made
    finally:
        made.remove()


def _enter(namespace_fd: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace_fd, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "this thread cannot enter a network namespace")
