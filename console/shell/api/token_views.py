"""One's own tokens: a list, a new one whose secret is shown once, and the end of one, which counts at once."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST, require_safe

from console.kit.access.api_tokens import SCOPES, end_of, make_token
from console.kit.access.identities import identity_of
from console.kit.access.models import ApiToken
from console.kit.access.rights import Right, require
from console.kit.audit.record import record_event
from console.kit.common.user_request import UserRequest
from console.shell.api.forms import TokenForm

OBJECT_TYPE = "token"


@dataclass(frozen=True, slots=True)
class _ShownToken:
    """`ends_at`: as `end_of` says."""

    token: ApiToken
    ends_at: datetime | None

    @property
    def is_over(self) -> bool:
        return self.token.ends_at <= timezone.now()

    @property
    def waits_for_login(self) -> bool:
        """Whether the token works again after its owner signs on."""
        return not self.is_over and (self.ends_at is None or self.ends_at <= timezone.now())

    @property
    def is_short(self) -> bool:
        return self.ends_at is not None and self.ends_at < self.token.ends_at


@require_safe
def tokens(request: UserRequest) -> HttpResponse:
    require(request.user, Right.VIEW)
    return _page(request, TokenForm(request.user))


@never_cache
@require_POST
@sensitive_variables()
def make(request: UserRequest) -> HttpResponse:
    require(request.user, Right.VIEW)
    form = TokenForm(request.user, request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    wanted = form.cleaned_data
    with transaction.atomic():
        token, secret = make_token(
            request.user, wanted["name"], wanted["scopes"], wanted["days"], timezone.now(), wanted["clusters"]
        )
        after = {"scopes": token.scopes, **_clusters(token), "ends_at": token.ends_at.isoformat(timespec="seconds")}
        record_event(request.user, "make token", OBJECT_TYPE, token.name, after=after)
    return _page(request, TokenForm(request.user), secret=secret, made=token)


@require_POST
def end(request: UserRequest, number: int) -> HttpResponse:
    require(request.user, Right.VIEW)
    token = get_object_or_404(ApiToken, pk=number, user=request.user)
    with transaction.atomic():
        record_event(request.user, "end token", OBJECT_TYPE, token.name, before={"scopes": token.scopes})
        token.delete()
    messages.success(request, f"The token {token.name} opens nothing any more.")
    return redirect("tokens")


def _clusters(token: ApiToken) -> dict[str, object]:
    return {"clusters": token.clusters} if token.clusters else {}


def _page(
    request: UserRequest, form: TokenForm, secret: str = "", made: ApiToken | None = None, status: int = 200
) -> HttpResponse:
    own = ApiToken.objects.filter(user=request.user).select_related("user")
    context = {
        "tokens": [_ShownToken(item, end_of(item)) for item in own],
        "form": form,
        "secret": secret,
        "made": made,
    }
    context |= {"scopes": SCOPES.items(), "identity": identity_of(request.user)}
    context["sign_on_days"] = settings.TOKEN_SIGN_ON_DAYS
    return render(request, "api/tokens.html", context, status=status)
