"""What REST answers when something cannot be done; each message is Kafka's where clients look for it."""

from broker.common.errors import BarnabasError


class RequestRefused(BarnabasError):
    status = 500


class BadRequest(RequestRefused):
    status = 400


class NoJson(RequestRefused):
    status = 415


class TooLong(RequestRefused):
    status = 413


class Forbidden(RequestRefused):
    status = 403


class NotFound(RequestRefused):
    status = 404


class Conflict(RequestRefused):
    status = 409


class ChangedMeanwhile(Conflict):
    """The configuration is another than the one that the change was derived from."""

    def __init__(self, name: str):
        super().__init__(f"The configuration of {name} was changed meanwhile; send the request again")


class NotGroupLeader(Conflict):
    """Another worker is the group's leader: forward the request to `url`, empty while there is none."""

    def __init__(self, url: str):
        super().__init__("Cannot complete request because of a conflicting operation (e.g. worker rebalance)")
        self.url = url
