from pathlib import Path

import pytest

from console.signals.alerts.queries import EXAMPLE, rule_text_of
from console.signals.alerts.rules import AlertRulesError, parse_rules

ROOT = Path(__file__).parents[4]
OPS = '[channels.ops]\nkind = "webhook"\nurl = "https://alerts.example/in"\n'
SECRET = "never-told-4711"


def test_the_example_is_one_and_the_file_s():
    assert (ROOT / "config" / "alerts.toml").read_text().endswith(EXAMPLE)
    ruleset = parse_rules(EXAMPLE)
    assert {name: rule_text_of(rule) for name, rule in ruleset.rules.items()} == {
        "health": "a reason of health that is critical for 1\u202fmin → ops",
        "orders-lag": "group.lag of orders-* above 100\u202f000 for 5\u202fmin → ops",
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[", "It is no TOML: "),
        ("a = " + "[" * 5_000, "It is no TOML: "),
        ("colour = 1", "colour is no setting"),
        ("channels = 1", "channels must be tables"),
        ('[channels."a b"]\nkind = "mail"', "channels: 'a b' must be"),
        ('[channels.a]\nkind = "pigeon"', "channels.a: kind must be one of webhook, "),
        (
            f'[channels.a]\nkind = "webhook"\nurl = "https://a.example/{SECRET}"\nfoo = "x"',
            "channels.a: foo is no setting",
        ),
        (f'[channels.a]\nkind = "webhook"\nurl = "http://a.example/{SECRET}"', "channels.a: url must be https://"),
        (f'[channels.a]\nkind = "webhook"\nurl = "https://u:{SECRET}@a.example/"', "channels.a: url must be"),
        ('[channels.a]\nkind = "matrix"\nurl = "https://m.example"\nroom = "!r"', "channels.a: token is missing"),
        (
            '[channels.a]\nkind = "mail"\nto = "a@b"\nfrom = "c@d"\nserver = "mail"',
            "channels.a: server must be host:port",
        ),
        (
            f'[channels.a]\nkind="mail"\nto="a@b"\nfrom="c@d"\nserver="m:25"\ntls="none"\nuser="u"\npassword="{SECRET}"',
            "channels.a: the password would be sent readably",
        ),
        (OPS + "[rules.a]\nchannels = ['ops']", "rules.a must have either health or measure."),
        (OPS + "[rules.a]\nhealth = 'bad'\nchannels = ['ops']", "rules.a: health must be one of"),
        (OPS + "[rules.a]\nhealth = 'critical'", "rules.a: channels is missing: name the channels to notify"),
        (OPS + "[rules.a]\nhealth = 'critical'\nchannels = ['boss']", "rules.a: there is no channel 'boss'."),
        (OPS + "[rules.a]\nmeasure = 'topic.mood'\nabove = 1\nchannels = ['ops']", "rules.a: measure must be one of "),
        (OPS + "[rules.a]\nmeasure = 'group.lag'\nchannels = ['ops']", "rules.a must have either above or below."),
        (OPS + "[rules.a]\nmeasure = 'group.lag'\nabove = nan\nchannels = ['ops']", "rules.a: above must be a number."),
        (
            OPS + "[rules.a]\nmeasure = 'group.lag'\nabove = 5\nrecover = 6\nchannels = ['ops']",
            "rules.a: recover must be",
        ),
        (OPS + "[rules.a]\nhealth = 'critical'\nfor = '5'\nchannels = ['ops']", "rules.a: for must be a time such as"),
        (OPS + "[rules.a]\nhealth = 'critical'\nrepeat = 5\nchannels = ['ops']", "rules.a: repeat must be one line"),
        (
            OPS + "[rules.a]\nhealth = 'critical'\nescalate_to = ['ops']\nchannels = ['ops']",
            "rules.a: escalate_after and",
        ),
        (OPS + "".join(f"[rules.r{n}]\nhealth = 'critical'\n" for n in range(201)), "There are 201 rules; 200 may be."),
    ],
)
def test_what_is_wrong_is_one_sentence_without_a_secret(text, complaint):
    with pytest.raises(AlertRulesError) as caught:
        parse_rules(text)
    sentence = str(caught.value)
    assert complaint in sentence
    assert SECRET not in sentence
    assert "\n" not in sentence


def test_a_channel_does_not_show_its_settings():
    channel = parse_rules(OPS.replace("/in", f"/{SECRET}")).channels["ops"]
    assert SECRET not in repr(channel)
