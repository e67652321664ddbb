"""`kafka-delegation-tokens` where nobody logs in: as with Kafka, nobody may ask."""

import pytest

from tests.typed import typed


@pytest.mark.parametrize(
    "words",
    [
        ["--create", "--max-life-time-period", "-1"],
        ["--renew", "--hmac", "AA==", "--renew-time-period", "-1"],
        ["--expire", "--hmac", "AA==", "--expiry-time-period", "-1"],
        ["--describe"],
    ],
)
def test_who_has_not_logged_in_is_refused(cluster, words):
    outcome = typed("kafka-delegation-tokens", "--bootstrap-server", cluster.bootstrap_servers, *words)
    refused = (
        "kafka-delegation-tokens: Delegation tokens are only issued to clients that are authenticated, "
        "and not by a token.\n"
    )
    assert (outcome.status, outcome.err) == (1, refused)
    assert outcome.out.startswith(f"Calling {words[0][2:]} token operation ")
