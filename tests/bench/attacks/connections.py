"""Attacks by connections: how many, how slow, how deaf, how soon gone."""

import contextlib
import random
import socket
import struct
import time
from collections.abc import Iterator

from broker.protocol.api_keys import ApiKey
from broker.protocol.headers import RequestHeader, encode_request_header
from tests.bench.attacks.aim import Aim, connections, send_some
from tests.bench.raw import PRODUCE_VERSION, fetch_frame

_MB = 1024 * 1024
_ANNOUNCED = (100 * _MB).to_bytes(4)
_PRODUCE_HEAD = encode_request_header(RequestHeader(ApiKey.PRODUCE, PRODUCE_VERSION, 1, "hostile"))
_SENDING_DEADLINE_S = 20
#: SO_LINGER on, for no time: closed by a reset.
_RESET = struct.pack("ii", 1, 0)


def half_frames(aim: Aim) -> Iterator[None]:
    """3,000 connections announce 100 MB each and send a byte; one more byte each from time to time."""
    opened = connections(aim, 3_000)
    for item in opened:
        send_some(item, _ANNOUNCED + b"\0")
    while True:
        yield
        time.sleep(0.005)
        send_some(random.choice(opened), b"\0")


def filled_frames(aim: Aim) -> Iterator[None]:
    """200 connections send 5 MB of the 100 MB they announced, and stop; whoever is closed comes again."""
    opened = dict.fromkeys(connections(aim, 200), 0)
    deadline = time.monotonic() + _SENDING_DEADLINE_S
    for item in opened:
        send_some(item, _ANNOUNCED + _PRODUCE_HEAD)
    piece, is_ready = bytes(128 * 1024), False
    while True:
        for item, sent in list(opened.items()):
            count = send_some(item, piece) if sent < 5 * _MB else 0
            if count < 0:
                del opened[item]
                fresh = connections(aim, 1)[0]
                opened[fresh] = 0
                send_some(fresh, _ANNOUNCED + _PRODUCE_HEAD)
            else:
                opened[item] += count
        is_ready = is_ready or sum(opened.values()) > 250 * _MB or time.monotonic() > deadline
        if is_ready:
            yield
        time.sleep(0.05)


def deaf_readers(aim: Aim) -> Iterator[None]:
    """200 connections ask for 200 KB again and again and never read."""
    request = fetch_frame(aim.topic, 0, 200_000) * 100
    opened = connections(aim, 200)
    for item in opened:
        send_some(item, request)
    while True:
        yield
        time.sleep(0.05)
        entry = random.choice(opened)
        if send_some(entry, request) < 0:
            opened.remove(entry)
            opened += connections(aim, 1)


def trickles(aim: Aim) -> Iterator[None]:
    """2,000 connections send a request byte by byte, 500 bytes a second together."""
    opened = connections(aim, 2_000)
    for item in opened:
        send_some(item, (200).to_bytes(4))
    while True:
        yield
        time.sleep(0.02)
        for item in random.sample(opened, 10):
            send_some(item, b"\0")


def five_thousand(aim: Aim) -> Iterator[None]:
    """5,000 connections that say nothing."""
    _opened = connections(aim, 5_000)
    while True:
        yield
        time.sleep(1)


def comers_and_goers(aim: Aim) -> Iterator[None]:
    """100 connections a second that send garbage and are closed for it."""
    while True:
        yield
        with contextlib.suppress(OSError), socket.create_connection((aim.host, aim.port), timeout=10) as one:
            one.sendall(b"GET / HTTP/1.1\r\n\r\n")
        time.sleep(0.01)


def half_open(aim: Aim) -> Iterator[None]:
    """2,000 connections that send half a request, say that they will send no more, and stay."""
    opened = connections(aim, 2_000)
    for item in opened:
        _send_half(item)
    while True:
        yield
        time.sleep(0.005)
        at = random.randrange(len(opened))
        opened[at].close()
        opened[at : at + 1] = connections(aim, 1)
        _send_half(opened[at])


def _send_half(sock: socket.socket) -> None:
    send_some(sock, (200).to_bytes(4) + bytes(50))
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_WR)


def storm(aim: Aim) -> Iterator[None]:
    """2,000 connections a second, 200 at a time, each reset as soon as it stands."""
    while True:
        yield
        opened = []
        with contextlib.suppress(OSError):
            opened = connections(aim, 200)
        for item in opened:
            item.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            item.close()
        time.sleep(0.1)


ATTACKS = {
    "3,000 half-sent frames": half_frames,
    "200 frames half full": filled_frames,
    "200 deaf readers": deaf_readers,
    "2,000 trickles": trickles,
    "5,000 silent connections": five_thousand,
    "100 garbage connections a second": comers_and_goers,
    "2,000 half-open connections": half_open,
    "2,000 reset connections a second": storm,
}
