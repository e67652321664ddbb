"""Keys of delegation tokens, which are the same for all brokers of a cluster (KIP-48)."""

from broker.config.definition import parse_int, parse_password, setting


class DelegationTokenKeys:
    """Values by attribute, as in `BrokerSettings`."""

    delegation_token_secret_key = setting(
        parse_password,
        None,
        "What delegation tokens are made of, the same for all brokers; without it there are none.",
    )
    delegation_token_master_key = setting(parse_password, None, "An older name of delegation.token.secret.key.")
    delegation_token_max_lifetime_ms = setting(
        parse_int, 604_800_000, "Age at which a delegation token ends, however often it is renewed.", at_least=1
    )
    delegation_token_expiry_time_ms = setting(
        parse_int, 86_400_000, "Age at which a delegation token ends that is not renewed.", at_least=1
    )
    delegation_token_expiry_check_interval_ms = setting(
        parse_int, 3_600_000, "How often delegation tokens that have ended are removed.", at_least=1
    )

    @property
    def delegation_token_secret(self) -> bytes:
        """The secret under either of its names; empty if there is none."""
        secret = self.delegation_token_secret_key or self.delegation_token_master_key
        return secret.value.encode() if secret else b""
