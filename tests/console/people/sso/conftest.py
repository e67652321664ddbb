"""A provider that answers, rules for its groups, and a browser that goes there and back."""

import pytest
from django.test import Client

from console.people.sso.configuration import SingleSignOn
from tests.oidc_provider import CLIENT_ID, SECRET, OidcProvider

RULES = """
[groups.viewers]
role = "viewer"
[groups.admins]
role = "admin"
[groups.payments]
rules = ["operator on topic payments.*", "nothing on topic payments.cards"]
"""


@pytest.fixture
def provider():
    with OidcProvider() as running:
        running.person["groups"] = ["viewers"]
        yield running


@pytest.fixture
def configure(settings, tmp_path, provider):
    """configure(rules=…, groups_claim=…): single sign-on at the provider."""

    def write(rules: str = RULES, **changes) -> SingleSignOn:
        secret, rules_file = tmp_path / "client-secret", tmp_path / "groups.toml"
        secret.write_text(SECRET)
        secret.chmod(0o600)
        rules_file.write_text(rules)
        rules_file.chmod(0o600)
        values = {"issuer": provider.issuer, "client_id": CLIENT_ID, "rules_file": rules_file, "secret_file": secret}
        settings.SINGLE_SIGN_ON = SingleSignOn(**{**values, **changes})
        return settings.SINGLE_SIGN_ON

    return write


@pytest.fixture
def single_sign_on(configure, db):
    return configure()


@pytest.fixture
def there_and_back(provider):
    """there_and_back(client, next="/topics/"): the answer to the browser that comes back from the provider."""

    def journey(client: Client | None = None, **parameters: str):
        client = client or Client()
        out = client.get("/login/sso/", parameters)
        assert out.status_code == 302, out.content
        return client.get(provider.authorize(out.headers["Location"]).removeprefix("http://testserver"))

    return journey
