"""Keys of zoo.cfg as they are and as they are to be, for all servers that this console runs. Pure."""

from collections.abc import Mapping, Sequence

from console.kit.plans.plan import Plan, PlanLine

ACTION = "set zoo.cfg"
#: What one server goes by: key → value.
Settings = Mapping[str, str]


def common_value(servers: Mapping[int, Settings], key: str) -> str:
    """Return the common value, or each if they differ: 500 / 2000."""
    return " / ".join(dict.fromkeys(server.get(key, "") for server in servers.values()))


def settings_plan(servers: Mapping[int, Settings], wanted: Settings, names: Sequence[str], wrong: str) -> Plan:
    """Plan settings. `servers`: present values by server number. `wrong`: why `wanted` is impossible; empty: it is
    possible.
    """
    changed = {
        key: value for key, value in wanted.items() if any(server.get(key) != value for server in servers.values())
    }
    lines = tuple(PlanLine(key, common_value(servers, key) or None, value) for key, value in changed.items())
    them = "it" if len(servers) == 1 else "one after the other, the leader last"
    return Plan(
        action=ACTION,
        object_type="zookeeper ensemble",
        object_name=", ".join(names),
        lines=lines,
        read=tuple(f"{number} {key}={item.get(key)}" for number, item in servers.items() for key in changed),
        touches=(
            f"Written into zoo.cfg at the next start of {', '.join(names)}: restart {them}, under Processes. Nothing "
            "changes before.",
            *_meaning({**next(iter(servers.values()), {}), **wanted}, wrong),
            *(("Servers that join later are given them too.",) if lines else ()),
        ),
        losses=(),
        safe_because="",  # what a timeout comes to shows after the restarts
        undo="set the values of before.",
        command=f"zoo.cfg: {' '.join(f'{key}={value}' for key, value in changed.items())}" if changed else "",
        obstacle=wrong,
    )


def _meaning(settings: Settings, wrong: str) -> tuple[str, ...]:
    if wrong or not all(settings.get(key, "").isdecimal() for key in ("tickTime", "initLimit", "syncLimit")):
        return ()
    tick_s, sync, quiet = int(settings["tickTime"]) / 1000, int(settings["initLimit"]), int(settings["syncLimit"])
    return (
        f"A follower then may take {tick_s * sync:g} s to connect and sync. It is given up after "
        f"{tick_s * quiet:g} s of silence. A session that is over ends up to {tick_s:g} s late.",
    )
