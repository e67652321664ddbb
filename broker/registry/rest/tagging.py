"""`/subjects/…/versions/…/tags`: a version again, with other tags in its text, other metadata or other rules."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from broker.registry import deleting
from broker.registry.data_contracts import ContractRequest, merged_rules, require_rule_set, with_version
from broker.registry.errors import RegistryError, unprocessable
from broker.registry.operations import SchemaRequest, register
from broker.registry.records import RegistryRecord, Value
from broker.registry.rest.answers import answer, registered_fields
from broker.registry.rest.asking import body_of, registry_of, subject_of, version_of
from broker.registry.rest.forwarding import for_leader
from broker.registry.schema import Content, Version
from broker.registry.tags import TagChanges, tag_changes


@dataclass(frozen=True)
class TaggingRequest:
    """What a request asks for. `new_version`: 0 for the next one; None for members that it does not have."""

    new_version: int
    tags: TagChanges | None
    metadata: Value | None
    rule_set: Value | None
    rules_to_merge: Value | None
    rules_to_remove: list[str]

    def request_of(self, present: Content) -> SchemaRequest:
        """Return a request for a new version like this one."""
        metadata = self.metadata if self.metadata is not None else orjson.loads(present.metadata or "{}")
        rules = self.rule_set
        if self.rules_to_merge is not None or self.rules_to_remove:
            rules = merged_rules(orjson.loads(present.rule_set or "{}"), self.rules_to_merge, self.rules_to_remove)
        contract = ContractRequest(with_version(metadata, self.new_version), rules, self.new_version)
        return SchemaRequest(present, version=self.new_version or None, contract=contract, tags=self.tags)


def tagging_of(body: dict[str, Any]) -> TaggingRequest:
    """Raises RegistryError 422, 42210."""
    merged, removed, rules = body.get("rulesToMerge"), body.get("rulesToRemove"), body.get("ruleSet")
    if rules is not None and (merged is not None or removed is not None):
        raise RegistryError(42210, "ruleSet should be omitted if specifying rulesToMerge or rulesToRemove")
    require_rule_set(rules)
    require_rule_set(merged)
    metadata, new_version = body.get("metadata"), body.get("newVersion") or 0
    if not isinstance(metadata, dict | None) or not isinstance(new_version, int) or isinstance(new_version, bool):
        raise unprocessable("metadata is an object, newVersion a number")
    if not isinstance(removed, list | None) or not all(isinstance(name, str) for name in removed or ()):
        raise unprocessable("rulesToRemove is a list of names")
    tags = tag_changes(body.get("tagsToAdd"), body.get("tagsToRemove"))
    return TaggingRequest(max(0, new_version), tags, metadata, rules, merged, removed or [])


@for_leader
async def tag_version(request: Request) -> Response:
    """Register the same schema as a version of its own, which says so in its metadata (`confluent:version`)."""
    registry, subject, number = registry_of(request), subject_of(request), version_of(request)
    tagging = tagging_of(await body_of(request))
    known: dict[object, object] = {}

    async def decide() -> tuple[Version, list[RegistryRecord]]:
        present = deleting.find(registry.store, subject, number, deleted=False)
        return await register(registry, subject, replace(tagging.request_of(present.content), known=known))

    with suppress(RegistryError):
        await decide()
    return answer(registered_fields(await registry.change(decide)))
