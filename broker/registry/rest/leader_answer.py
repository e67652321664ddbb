"""What a registry that leads answers to one that does not."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LeaderResponse:
    status: int
    headers: Mapping[str, str]
    body: bytes


class NoAnswer(Exception):
    """The request may have been carried out."""


class NotConnected(NoAnswer):
    """Nothing was sent to the leader."""
