"""`/config` and `/mode`: of all, of a context, of a subject."""

from starlette.requests import Request
from starlette.responses import Response

from broker.registry.errors import RegistryError, not_permitted, subject_not_found
from broker.registry.names import GLOBAL_CONTEXT
from broker.registry.records import CompatibilityKey, RegistryRecord, Value
from broker.registry.registry import Decision
from broker.registry.rest.answers import answer
from broker.registry.rest.asking import body_of, flag, registry_of, scope_of
from broker.registry.rest.forwarding import for_leader
from broker.registry.settings import (
    as_scope,
    config_record,
    effective_config,
    effective_mode,
    mode_records,
    mode_removal,
    require_writable,
)


def _scope(request: Request) -> str:
    return as_scope(scope_of(request))


async def get_config(request: Request) -> Response:
    registry, scope = registry_of(request), _scope(request)
    config = registry.store.config(scope)
    if scope in ("", GLOBAL_CONTEXT) or flag(request, "defaultToGlobal"):
        config = effective_config(registry.store, scope, registry.config.schema_compatibility_level)
    if config is None:
        raise RegistryError(40408, f"Subject '{scope}' does not have subject-level compatibility configured")
    return answer(_shown(config, registry.config.schema_compatibility_level))


def _shown(value: Value, default: str) -> Value:
    shown = {name: item for name, item in value.items() if name != "subject"}
    return {"compatibilityLevel": shown.pop("compatibilityLevel", default), **shown}


@for_leader
async def put_config(request: Request) -> Response:
    registry, scope, body = registry_of(request), _scope(request), await body_of(request)

    async def decide() -> Decision[Value]:
        require_writable(registry.store, scope)
        record = config_record(registry.store, scope, body)
        names = {"compatibilityLevel": "compatibility"}
        shown = {names.get(name, name): item for name, item in (record.value or {}).items() if name != "subject"}
        return shown, [record]

    return answer(await registry.change(decide))


@for_leader
async def delete_config(request: Request) -> Response:
    registry, scope = registry_of(request), _scope(request)
    default = registry.config.schema_compatibility_level

    async def decide() -> Decision[Value]:
        require_writable(registry.store, scope)
        config = registry.store.config(scope)
        if config is None and scope:
            raise subject_not_found(scope)
        return _shown(config or {}, default), [
            RegistryRecord(CompatibilityKey(scope), None)
        ] if config is not None else []

    return answer(await registry.change(decide))


async def get_mode(request: Request) -> Response:
    registry, scope = registry_of(request), _scope(request)
    mode = registry.store.mode(scope)
    if scope in ("", GLOBAL_CONTEXT) or flag(request, "defaultToGlobal"):
        mode = effective_mode(registry.store, scope)
    if mode is None:
        raise RegistryError(40409, f"Subject '{scope}' does not have subject-level mode configured")
    return answer({"mode": mode})


def _require_mutable(request: Request) -> None:
    if not registry_of(request).config.mode_mutability:
        raise not_permitted("Mode changes are not allowed")


@for_leader
async def put_mode(request: Request) -> Response:
    _require_mutable(request)
    registry, scope, body = registry_of(request), _scope(request), await body_of(request)
    is_forced = flag(request, "force")

    async def decide() -> Decision[None]:
        return None, mode_records(registry.store, scope, body.get("mode"), force=is_forced)

    await registry.change(decide)
    mode = body.get("mode")
    return answer({"mode": mode and str(mode).upper()})


@for_leader
async def delete_mode(request: Request) -> Response:
    """Delete a mode. `recursive`: of a context, those of its subjects, too."""
    _require_mutable(request)
    registry, scope, is_recursive = registry_of(request), _scope(request), flag(request, "recursive")

    async def decide() -> Decision[str | None]:
        return mode_removal(registry.store, scope, recursive=is_recursive)

    return answer({"mode": await registry.change(decide)})
