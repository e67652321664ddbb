"""The page of declarations: files are chosen or typed, shown as one plan, and carried out by the plan's digest."""

from collections.abc import Sequence

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from console.automation.declared.actions import do_apply
from console.automation.declared.declaration import ClusterDeclaration, DeclarationError
from console.automation.declared.export import KINDS, export_text
from console.automation.declared.forms import fields_of, files_of, prune_of, read
from console.automation.declared.making import make
from console.automation.declared.parts import DeclaredPlan, whole_plan
from console.kit.access.rights import REFUSALS, Right, reach_of
from console.kit.common.user_request import UserRequest
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import is_confirmed, refusable

#: Names and texts.
Files = Sequence[tuple[str, str]]
#: Changes shown one by one.
SHOWN_MAX = 400
_NAME_LENGTH_MAX = 249


@sensitive_post_parameters("text")
@require_http_methods(["GET", "HEAD", "POST"])
def declaration(request: UserRequest) -> HttpResponse:
    """Show files, then the plan of differences, then make the change: a post with the plan's digest confirms it."""
    _require(request, Right.OPERATE if is_confirmed(request) else Right.VIEW)
    context: dict[str, object] = {"kinds": KINDS, "prune": prune_of(request.POST)}
    if request.method != "POST":
        return render(request, "declared/page.html", context)
    try:
        files = files_of(request)
        declared = read(files)
    except DeclarationError as error:
        context |= {"problems": error.problems, "error": str(error), "typed": request.POST.get("text", "")}
        return render(request, "declared/page.html", context, status=422)
    return _planned(request, context, files, declared)


def _planned(
    request: UserRequest, context: dict[str, object], files: Files, declared: ClusterDeclaration
) -> HttpResponse:
    with refusable() as answer:
        made, plan = _put(request, context, files, declared)
        if is_confirmed(request):
            came_to = do_apply(request.user, plan, made, Confirmation.parse(request.POST))
            if came_to.is_whole:
                messages.success(request, _changes_made(len(came_to.done)))
                return redirect("declaration")
            _put(request, context, files, declared)
            answer.error, answer.status = came_to.sentence, 409
    return render(request, "declared/page.html", context | {"error": answer.error}, status=answer.status)


@require_safe
def export(request: UserRequest) -> HttpResponse:
    """Export the cluster as a file, as far as this person may see it: `only` kinds, `names` that match."""
    _require(request, Right.VIEW)
    kinds = [item for item in request.GET.getlist("only") if item in KINDS] or list(KINDS)
    text = export_text(request.user, kinds, request.GET.get("names", "")[:_NAME_LENGTH_MAX] or "*")
    response = HttpResponse(text, content_type="application/yaml; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="cluster.yaml"'
    response.headers["Cache-Control"] = "no-store"
    return response


def _put(
    request: UserRequest, context: dict[str, object], files: Files, declared: ClusterDeclaration
) -> tuple[DeclaredPlan, Plan]:
    """Return the plan of the declaration, and put what the page shows of it into `context`."""
    prune = prune_of(request.POST)
    made = make(request.user, declared, prune)
    plan = whole_plan(made, [name for name, _ in files if name], prune)
    context |= {
        "plan": plan,
        "made": made,
        "parts": made.parts[:SHOWN_MAX],
        "hidden_count": max(0, len(made.parts) - SHOWN_MAX),
        "files": files,
        "fields": fields_of(files, prune),
        "typed": files[0][1] if len(files) == 1 else "",
        "verb": f"Make {len(made.parts)} change{'' if len(made.parts) == 1 else 's'}",
    }
    return made, plan


def _changes_made(count: int) -> str:
    if not count:
        return "Nothing differs: nothing was changed."
    return f"{count} change{' was' if count == 1 else 's were'} made; each is in the audit."


def _require(request: UserRequest, right: Right) -> None:
    """Require the right on some object: objects beyond a person's rights are named in the plan."""
    if right not in reach_of(request.user).rights_anywhere:
        raise PermissionDenied(REFUSALS[right])
