"""Rules of the file and those that were made on the page, as one set."""

from dataclasses import replace

from console.signals.alerts.models import KeptRule
from console.signals.alerts.rules import RULES_MAX, AlertRulesError, Ruleset, parse_rule


def with_kept(ruleset: Ruleset) -> tuple[Ruleset, dict[str, str]]:
    """Return the rules with those of the page; and by name why some do not apply: a name of the file, or a missing
    channel.
    """
    rules, useless = dict(ruleset.rules), {}
    for rule in KeptRule.objects.all()[:RULES_MAX]:
        if rule.name in rules:
            useless[rule.name] = "The file has a rule of this name, which counts."
            continue
        try:
            rules[rule.name] = parse_rule(rule.name, rule.definition, ruleset.channels)
        except AlertRulesError as error:
            useless[rule.name] = str(error)
    return replace(ruleset, rules=rules), useless
