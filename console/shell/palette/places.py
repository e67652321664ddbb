"""Pages, actions, tabs and verbs by their names, as the palette offers them: what the features declare."""

from console.kit.features.listed import features
from console.kit.features.order import in_order

PAGES = in_order(feature.places for feature in features())
ACTIONS = in_order(feature.commands for feature in features())
TABS = in_order(feature.topic_tabs for feature in features())
VERBS = in_order(feature.verbs for feature in features())
