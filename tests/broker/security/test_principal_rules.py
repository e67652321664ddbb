"""Kafka's own table of mapping rules (SslPrincipalMapperTest), and what it leaves open."""

import pytest

from broker.security.principal_rules import NoRuleMatches, PrincipalRules

DUKE = "CN=Duke, OU=ServiceUsers, O=Org, C=US"
KAFKA = ", ".join(
    [
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/",
        "RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L",
        "RULE:^cn=(.*?),ou=(.*?),dc=(.*?),dc=(.*?)$/$1@$2/U",
        "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U",
        "DEFAULT",
    ]
)


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("CN=Duke,OU=ServiceUsers,O=Org,C=US", "Duke"),
        ("CN=Duke,OU=SME,O=mycp,L=Fulton,ST=MD,C=US", "duke@sme"),
        ("cn=duke,ou=sme,dc=mycp,dc=com", "DUKE@SME"),
        ("cN=duke,OU=JavaSoft,O=Sun Microsystems", "DUKE"),
        ("OU=JavaSoft,O=Sun Microsystems,C=US", "OU=JavaSoft,O=Sun Microsystems,C=US"),
    ],
)
def test_names_become_users_as_in_kafka(name, user):
    assert PrincipalRules(KAFKA).user_of(name) == user


@pytest.mark.parametrize(
    ("rules", "name", "user"),
    [
        ("DEFAULT", "CN=a", "CN=a"),
        ("RULE:^CN=(\\w+)$/$1/L,DEFAULT", "CN=Alice", "alice"),
        ("RULE:CN=(.)(.*)/$2$1/", "CN=abc", "bca"),
        ("RULE:CN=(.*)/$12/", "CN=a", "a2"),
        ("RULE:CN=(.*)/$2/", "CN=a", "$2"),
        ("RULE:CN=(.*)/$0!/", "CN=a", "CN=a!"),
        ("RULE:CN=(.*)/\\$1\\/$1/", "CN=a", "$1/a"),
        ("RULE:CN=a\\/b/found/", "CN=a/b", "found"),
        ("RULE:(?:CN=)?(a)|a/$1x/", "CN=a", "ax"),
        ("RULE:[a-c]*/x/", "abc", "xx"),  # all matches are replaced, the empty one at the end too
        ("RULE:CN=[^,]+/short/", "CN=a,O=b", None),  # the pattern is not the whole name
        ("RULE:CN=(b)?.*/<$1>/", "CN=a", "<>"),
        ("RULE:CN=(\\p{L}+),.*/$1/", "CN=Zoë,O=b", "Zoë"),
        ("RULE:CN=(?<user>[a-z&&[^x]]+)/$1/", "CN=abc", "abc"),
        ("RULE:CN=(?<user>[a-z]+)/<${user}>$1/U", "CN=abc", "<ABC>ABC"),
    ],
)
def test_a_rule_does_as_javas_replace_all(rules, name, user):
    if user is None:
        with pytest.raises(NoRuleMatches):
            PrincipalRules(rules).user_of(name)
    else:
        assert PrincipalRules(rules).user_of(name) == user


@pytest.mark.parametrize(
    "rules",
    [
        "DEFAULT/L",
        "DEFAULT RULE:a/b/",
        "RULE:CN=(.*?)",
        "RULE:CN=(.*?)/$1/X",
        "RULE:CN=(.*?)/$1/LU",
        "RULE:CN=(.*?/$1/",  # a bracket that is not closed
        "RULE:(?P<name>a)/$1/",  # Python has it, Java does not
        "RULE:a/b\\/",
        "RULE:a/$x/",
        "RULE:(?<user>a)/${other}/",
        "RULE:a/${user}/",
        "nonsense",
    ],
)
def test_rules_that_cannot_be_read_are_refused(rules):
    with pytest.raises(ValueError, match=r"ssl\.principal\.mapping\.rules"):
        PrincipalRules(rules)


def test_no_rules_match_nobody():
    with pytest.raises(NoRuleMatches, match="CN=alice"):
        PrincipalRules("").user_of("CN=alice")
