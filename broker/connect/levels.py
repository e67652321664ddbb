"""How much this worker logs, by logger; of one logger and those below it."""

import logging
import time

from broker.common.logs import LEVELS

#: Letters of the name of a logger that is not there yet: Python makes one for each part of it, for ever.
NEW_NAME_LENGTH_MAX = 200
#: Loggers whose levels are set before they are there, as those of a plugin that is not loaded yet.
NEW_LOGGERS_MAX = 200


class Levels:
    def __init__(self) -> None:
        self._set_at: dict[str, int] = {}
        self._new_count = 0

    def names(self) -> list[str]:
        """Return the root, and whose level was set."""
        known = logging.root.manager.loggerDict.items()
        return ["root", *sorted(name for name, rule in known if isinstance(rule, logging.Logger) and rule.level)]

    def knows(self, name: str) -> bool:
        return name == "root" or name in logging.root.manager.loggerDict

    def of(self, name: str) -> dict[str, object]:
        level = logging.getLogger(None if name == "root" else name).getEffectiveLevel()
        word = next((word for word, number in LEVELS.items() if number == level), logging.getLevelName(level))
        return {"level": word, "last_modified": self._set_at.get(name)}

    def obstacle(self, name: str) -> str:
        """Return why no level can be set for this name, empty if one can."""
        if self.knows(name):
            return ""
        if not name.isprintable() or not 0 < len(name) <= NEW_NAME_LENGTH_MAX:
            return f"A logger's name has 1 to {NEW_NAME_LENGTH_MAX} printable characters"
        if self._new_count >= NEW_LOGGERS_MAX:
            return f"{NEW_LOGGERS_MAX} loggers were created here already. Set the level of a logger that is there"
        return ""

    def set(self, name: str, level: str) -> list[str]:
        """Set the level of the logger and those below it, and return their names. An invalid level changes nothing."""
        number = LEVELS.get(level.upper())
        if number is None or self.obstacle(name):
            return []
        self._new_count += not self.knows(name)
        names = sorted({name, *(item for item in logging.root.manager.loggerDict if item.startswith(f"{name}."))})
        for text in names:
            logging.getLogger(None if text == "root" else text).setLevel(number)
            self._set_at[text] = int(time.time() * 1000)
        return names
