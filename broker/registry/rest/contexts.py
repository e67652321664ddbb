"""`/contexts`: which there are, and one that is empty may go."""

from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response

from broker.registry.errors import RegistryError
from broker.registry.names import DEFAULT_CONTEXT, context_named
from broker.registry.records import ContextKey, RegistryRecord
from broker.registry.registry import Decision
from broker.registry.rest.answers import list_answer
from broker.registry.rest.asking import page, registry_of
from broker.registry.rest.forwarding import for_leader


async def list_contexts(request: Request) -> Response:
    prefix = request.query_params.get("contextPrefix", "")
    contexts = [context for context in registry_of(request).store.contexts() if context.startswith(prefix)]
    return list_answer(page(request, contexts))


@for_leader
async def delete_context(request: Request) -> Response:
    registry, context = registry_of(request), context_named(unquote(request.path_params["context"]))

    async def decide() -> Decision[None]:
        if context == DEFAULT_CONTEXT or registry.store.has_versions(context):
            raise RegistryError(42211, f"The specified context ':{context}:' is not empty.")
        return None, [RegistryRecord(ContextKey(context), None)]

    await registry.change(decide)
    return Response(status_code=204)
