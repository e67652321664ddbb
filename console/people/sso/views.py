"""To the provider, back from it, and out there too."""

import hmac
import logging
import time
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser, User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from console.kit.access.idle import end_after
from console.kit.access.login_address import address_of
from console.kit.audit.record import record_event
from console.kit.audit.refusals import count_quietly
from console.kit.common.owned_files import FileError
from console.people.sso.accounts import admit
from console.people.sso.attempt import Attempt, attempt_of, forget_attempt, new_attempt, remember_attempt
from console.people.sso.bounds import CODE_LENGTH_MAX
from console.people.sso.configuration import SingleSignOn
from console.people.sso.errors import LoginRefusedError, NotBegunError, ProviderAwayError
from console.people.sso.group_rules import Grant, GroupRulesError, TooManyRulesError
from console.people.sso.people import Person, person_of
from console.people.users.next_address import next_address
from console.people.users.throttle import begin_attempt, forget_failures, place_of_address

if TYPE_CHECKING:
    from console.people.sso.provider import Provider

logger = logging.getLogger(__name__)
BACKEND = "django.contrib.auth.backends.ModelBackend"
NOT_LET_IN = "The provider did not let you in."
SETTINGS_WRONG = "Single sign-on cannot be used: its settings here are wrong, and the log says where."
TOO_MANY_RULES = "Your groups give more rules together than the console keeps. Tell an administrator."


@login_not_required
@never_cache
@require_GET
def set_out(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider, unless another site sent the browser: an image must not log anybody in."""
    configuration = _configuration()
    wanted = request.GET.get("next", "")
    if request.user.is_authenticated:
        return redirect(next_address(request, wanted))
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        return redirect("login")
    attempt = new_attempt(wanted)
    try:
        address = _provider_of(configuration).login_address(attempt, _redirect_uri(request))
    except LoginRefusedError as error:
        return _refused(request, error)
    response = redirect(address)
    remember_attempt(response, attempt)
    return response


@login_not_required
@never_cache
@require_GET
def come_back(request: HttpRequest) -> HttpResponse:
    configuration = _configuration()
    name, place = f"{configuration.name}:", place_of_address(address_of(request))
    try:
        attempt = _answered_attempt(request, _provider_of(configuration))
        wait_seconds = begin_attempt(f"{name}{place}", place, timezone.now())
        if wait_seconds:
            sentence = f"Too many failed attempts. Try again in {wait_seconds} seconds."
            raise LoginRefusedError("too many failed attempts", sentence, 429)
        person = _person(request, attempt, configuration)
        user = admit(person, _grant(person, configuration), configuration)
    except NotBegunError as error:
        response = _refused(request, error)
    except LoginRefusedError as error:
        count_quietly(AnonymousUser(), "fail to log in", "user", name, place)
        response = _refused(request, error)
    else:
        forget_failures(f"{name}{place}", place)
        _log_in(request, user, configuration)
        response = redirect(next_address(request, attempt.next_address))
    forget_attempt(response)
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


@login_not_required
@never_cache
@require_GET
def leave(request: HttpRequest) -> HttpResponse:
    """Log out at the provider, after the console."""
    try:
        address = _provider_of(_configuration()).logout_address(request.build_absolute_uri(reverse("login")))
    except ProviderAwayError as error:
        return _refused(request, error)
    return redirect(address or "login")


def _configuration() -> SingleSignOn:
    if settings.SINGLE_SIGN_ON is None:
        raise Http404
    return settings.SINGLE_SIGN_ON


def _provider_of(configuration: SingleSignOn) -> "Provider":
    """Return the provider. Imported here: a console without one would carry 6 MB of libraries from the first page
    on.
    """
    from console.people.sso.provider import provider_of

    return provider_of(configuration)


def _redirect_uri(request: HttpRequest) -> str:
    """Return the redirect URI, the same in both requests; the provider has it registered, so a forged host name leads
    nowhere.
    """
    return request.build_absolute_uri(reverse("sso-callback"))


def _answered_attempt(request: HttpRequest, provider: "Provider") -> Attempt:
    """Return this browser's login attempt that this is the response to, from the provider that was asked (RFC 9207)."""
    attempt, parameters = attempt_of(request), request.GET
    if attempt is None or not attempt.is_answered_by(parameters.get("state", "")):
        raise NotBegunError("no attempt of this browser has this state")
    names_itself = provider.discovered().names_itself_in_answers
    if "iss" in parameters or names_itself:
        is_asked = hmac.compare_digest(parameters.get("iss", "").encode(), _configuration().issuer.encode())
        if not is_asked:
            raise LoginRefusedError("the answer comes from another provider")
    if "error" in parameters or not 0 < len(parameters.get("code", "")) <= CODE_LENGTH_MAX:
        raise LoginRefusedError(f"the provider says {parameters.get('error', 'nothing')[:60]!r}", NOT_LET_IN)
    return attempt


def _person(request: HttpRequest, attempt: Attempt, configuration: SingleSignOn) -> Person:
    provider, now_s = _provider_of(configuration), int(time.time())
    claims = provider.claims_for(request.GET["code"], attempt, _redirect_uri(request), now_s)
    return person_of(claims, configuration.name_claim, configuration.groups_claim)


def _grant(person: Person, configuration: SingleSignOn) -> Grant | None:
    try:
        return configuration.rules.grant_of(person.groups)
    except (FileError, GroupRulesError) as error:
        raise LoginRefusedError(str(error), SETTINGS_WRONG, 503) from error
    except TooManyRulesError as error:
        raise LoginRefusedError("the groups give too many rules", TOO_MANY_RULES) from error


def _log_in(request: HttpRequest, user: User, configuration: SingleSignOn) -> None:
    """Log the user in under a new session key, for a shorter time than others: groups are read only at a login."""
    login(request, user, backend=BACKEND)
    end_after(request, configuration.session_seconds)
    request.session.clear_expired()
    record_event(user, "log in", "user", user.username, after={"by": configuration.name})


def _refused(request: HttpRequest, error: LoginRefusedError) -> HttpResponse:
    """Return the refusal; nothing of the address is shown, because anyone may have written that link."""
    logger.warning("single sign-on: %s", str(error)[:300].encode("unicode_escape").decode())
    response = render(request, "sso/refused.html", {"sentence": error.sentence}, status=error.status)
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
