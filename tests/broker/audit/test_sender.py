"""Who copies or writes records does not stand still because nobody takes its increments."""

import time

from broker.audit import sender
from broker.audit.increment import AuditTier, Chain, Increment
from broker.audit.sender import IncrementSender
from tests.zookeeper_server import free_ports


def increments(count, start=0):
    chain = Chain(AuditTier.SUNK, "pg", "t", 0)
    return [Increment(chain, "e", number, 0, {}, number, number + 1) for number in range(start, start + count)]


def test_it_waits_once_and_not_again_while_nobody_answers_and_keeps_no_more_than_it_may(monkeypatch):
    monkeypatch.setattr(sender, "_FLUSH_S", 0.3)
    monkeypatch.setattr(sender, "_GIVEN_UP_MS", 400)
    monkeypatch.setattr(sender, "_UNSENT_MAX", 20)
    sending = IncrementSender({"bootstrap.servers": f"127.0.0.1:{free_ports(1)[0]}", "log_level": 0})
    began = time.monotonic()
    sending.send(increments(1))
    first = time.monotonic() - began
    assert 0.25 < first < 5
    began = time.monotonic()
    for number in range(10):
        sending.send(increments(1, start=number + 1))
    assert time.monotonic() - began < first
    deadline = time.monotonic() + 20
    while len(sending._waiting) < 11 and time.monotonic() < deadline:
        sending._producer.poll(0.1)
    assert sorted(item.sequence for item in sending._waiting.values()) == list(range(11))
    sending.send(increments(200, start=11))
    assert len(sending._under_way) + len(sending._waiting) <= 20
    assert max(item.sequence for item in sending._under_way.values()) == 210
