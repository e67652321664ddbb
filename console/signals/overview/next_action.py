"""What a reason of trouble asks for, with the page where it is done. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NextAction:
    """The next safe thing to do. `page` is the name of the route where it is done, `argument` what that needs."""

    text: str
    page: str = ""
    argument: str | None = None
    #: What follows in the address, from its question mark on.
    query: str = ""
