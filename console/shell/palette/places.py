"""Pages, actions, tabs and verbs by their names, as the palette offers them: what the features declare."""

from console.kit.features.listed import features
from console.kit.features.order import in_order
from console.shell.palette.objects import FOUND_BY_NAME

PAGES = in_order(feature.places for feature in features())
ACTIONS = in_order(feature.commands for feature in features())
TABS = tuple(tab for tab in in_order(feature.tabs for feature in features()) if tab.of == "topic")
VERBS = tuple(verb for verb in in_order(feature.verbs for feature in features()) if verb.of in FOUND_BY_NAME)
