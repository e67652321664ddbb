"""`/compatibility`: would it be taken, and if not, why."""

from starlette.requests import Request
from starlette.responses import Response

from broker.registry.errors import InvalidSchema
from broker.registry.operations import compatible
from broker.registry.rest.answers import answer
from broker.registry.rest.asking import asked_in, flag, registry_of, subject_of, version_of


async def with_version(request: Request) -> Response:
    return await _compare(request, version_of(request), every=False)


async def with_all(request: Request) -> Response:
    return await _compare(request, None, every=True)


async def _compare(request: Request, number: int | None, *, every: bool) -> Response:
    subject, schema_request, is_verbose = subject_of(request), await asked_in(request), flag(request, "verbose")
    try:
        messages = await compatible(registry_of(request), subject, schema_request, number, every=every)
    except InvalidSchema as error:
        if not is_verbose:
            raise
        messages = [str(error)]
    fields: dict[str, object] = {"is_compatible": not messages}
    return answer(fields | {"messages": messages} if is_verbose else fields)
