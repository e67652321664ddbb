"""Which tokens without a signature are believed where a listener takes them; the clock is given in."""

import pytest

from broker.common.security_limits import BEARER_TOKEN_BYTES_MAX
from broker.security.bearer_tokens import Bearer, BearerRules, TokenRefused
from broker.security.membership import CLUSTER_USER
from broker.security.unsecured_tokens import read_unsecured
from tests.bearer import segment

NOW_S = 1_700_000_000
RULES = BearerRules(clock_skew_ms=0, needs_issue_time=False, checks_audience=False)


def token(header=None, signature="", **claims) -> str:
    all_claims = {"sub": "alice", "exp": NOW_S + 60, **claims}
    return f"{segment(header or {'alg': 'none'})}.{segment(all_claims)}.{signature}"


def test_a_token_that_nobody_signed_names_its_user_and_when_it_expires():
    assert read_unsecured(token(), RULES, NOW_S * 1000) == Bearer("alice", (NOW_S + 60) * 1000)
    assert read_unsecured(token(iat=NOW_S, aud="anything"), RULES, NOW_S * 1000).name == "alice"


def test_another_claim_may_name_the_user():
    rules = RULES._replace(subject_claim="email")
    assert read_unsecured(token(email="a@b"), rules, NOW_S * 1000).name == "a@b"


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (token(exp=NOW_S), "expired"),
        (token(exp=None), "exp or iat is missing"),
        (token(iat=NOW_S + 1), "not valid yet"),
        (token(sub=""), "names no user"),
        (token(sub=CLUSTER_USER), "names no user"),
        (token({"alg": "RS256"}), "its algorithm is not none"),
        (token(signature="c2ln"), "no token without a signature"),
        ("a.b", "no token without a signature"),
        ("!.b.", "no token without a signature"),
        ("YQ.YQ.", "cannot be read"),
        ("x" * (BEARER_TOKEN_BYTES_MAX + 1), "no token without a signature"),
    ],
)
def test_what_is_signed_or_says_too_little_is_refused(made, reason):
    with pytest.raises(TokenRefused, match=reason):
        read_unsecured(made, RULES, NOW_S * 1000)
