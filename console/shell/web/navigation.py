"""The links of the sidebar that a person is shown, from what the features declare."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of
from console.kit.common.cluster_urls import place_of
from console.kit.features.declaration import Link, Section
from console.kit.features.listed import features
from console.kit.features.order import in_order

_LINKS = in_order(feature.links for feature in features())
#: The variable of the templates that has to be true for a section to be shown.
_SECTION_NEEDS = {Section.SECURITY: "sees_all_names", Section.CONSOLE: "can_administer"}


@dataclass(frozen=True, slots=True)
class ShownLink:
    title: str
    address: str
    badge: str
    is_current: bool


def shown_sections(context: Mapping[str, Any]) -> list[tuple[str, list[ShownLink]]]:
    """Return headings and their links. `context` has the variables of `access/context.py` and the cluster's."""
    sections = [section for section in Section if section not in _SECTION_NEEDS or context.get(_SECTION_NEEDS[section])]
    return [
        (
            section.value,
            [_shown(link, context) for link in _LINKS if link.section is section and _is_for(link, context)],
        )
        for section in sections
    ]


def _is_for(link: Link, context: Mapping[str, Any]) -> bool:
    if not all(context.get(name) for name in link.needs):
        return False
    if link.resource is not None and link.resource not in context.get("sees", ()):
        return False
    return not link.process or Right.VIEW in reach_of(context["user"]).rights_on(Resource.PROCESS, link.process)


def _shown(link: Link, context: Mapping[str, Any]) -> ShownLink:
    address = reverse(link.route)
    here, there = context.get("place", ""), place_of(address)
    is_current = here == there or (there != "/" and here.startswith(there)) or here in link.also_at
    return ShownLink(link.title, address, link.badge, is_current)
