"""Measures a connection's client: found once, and kept with its session."""

from broker.security.quotas.token_bucket import TokenBucket
from broker.security.quotas.windows import WindowedRate

#: No client id.
NOBODY = object()


class QuotaMeter:
    """What measures one user with one client id, by what is limited; None where nothing is."""

    __slots__ = ("client_id", "fetch", "mutation", "produce", "request")

    def __init__(self, client_id: str):
        #: Nobody's when the quotas may have changed: it is to be asked for anew.
        self.client_id: object = client_id
        self.produce: WindowedRate | None = None
        self.fetch: WindowedRate | None = None
        #: Of the loop's time, in ns.
        self.request: WindowedRate | None = None
        self.mutation: TokenBucket | None = None
