"""Topics that read as they did are handed out as the same objects, for whoever holds on to what he was given.

A look at a large cluster finds most topics as they were: the same object says so at once, and lies in memory once.
Nothing is kept here for its own sake: what nobody holds is made anew.
"""

from weakref import WeakValueDictionary

from console.kit.gateway.interface import TopicView


class SeenTopics:
    """Return equal topic views as one object, so that looks at many topics share memory. Threads may share it."""

    def __init__(self) -> None:
        self._views: WeakValueDictionary[str, TopicView] = WeakValueDictionary()

    def as_seen(self, view: TopicView) -> TopicView:
        known = self._views.get(view.name)
        if known == view:
            return known
        self._views[view.name] = view
        return view
