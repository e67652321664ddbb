"""The pages of login and logout."""

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from console.kit.access.identities import comes_by_directory, identity_of, opens_by_password
from console.kit.access.idle import end_after
from console.kit.access.initial_password import MUST_CHANGE
from console.kit.access.login_address import address_of
from console.kit.audit.record import record_event
from console.kit.audit.refusals import count_quietly
from console.kit.common.user_request import UserRequest
from console.people.users.announce import announce_rights
from console.people.users.known_browser import place_of_browser, remember_browser
from console.people.users.next_address import next_address
from console.people.users.throttle import begin_attempt, forget_failures, name_as_counted, place_of_address

#: In the audit, whatever was typed.
NO_ACCOUNT = "no such account"
#: How long the login page tells who logged out that the provider's login goes on.
_LEFT_SECONDS = 120


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def log_in(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    if request.method != "POST":
        return _login_page(request, AuthenticationForm(request))
    name = name_as_counted(request.POST.get("username", ""))
    address = place_of_address(address_of(request))
    place = place_of_browser(request, name) or address
    wait_seconds = begin_attempt(name, place, timezone.now())
    if wait_seconds:
        _count_failure(request, "wait to log in", name, address)
        return _login_page(request, AuthenticationForm(request), 429, wait_seconds)
    form = AuthenticationForm(request, data=request.POST)
    if not form.is_valid() or not opens_by_password(form.get_user()):
        _count_failure(request, "fail to log in", name, address)
        return _login_page(request, form, 401)
    forget_failures(name, place)
    login(request, form.get_user())
    if settings.DIRECTORY is not None and comes_by_directory(form.get_user()):
        end_after(request, settings.DIRECTORY.session_seconds)
    if hasattr(form.get_user(), "password_to_change"):
        request.session[MUST_CHANGE] = True
    request.session.clear_expired()
    record_event(
        form.get_user(), "log in", "user", form.get_user().get_username(), after=_by_which_way(form.get_user())
    )
    response = redirect(next_address(request, request.POST.get("next", "")))
    remember_browser(response, name)
    return response


def _count_failure(request: HttpRequest, action: str, name: str, place: str) -> None:
    """Count a failed login; a name without an account is not stored: people type their password there too."""
    person = User.objects.filter(username__iexact=name).first()
    count_quietly(AnonymousUser(), action, "user", person.username if person else NO_ACCOUNT, place)


@require_POST
def log_out(request: UserRequest) -> HttpResponse:
    person = request.user
    record_event(person, "log out", "user", person.get_username())
    number, is_linked = person.pk, identity_of(person) is not None
    logout(request)
    announce_rights(number)
    response = redirect("login")
    if is_linked and settings.SINGLE_SIGN_ON:
        _remember_leaving(response)
    return response


def _remember_leaving(response: HttpResponse) -> None:
    """Set a cookie, so that the login page mentions the provider's login even if its socket closed first."""
    response.set_cookie(
        settings.LEFT_COOKIE_NAME,
        "1",
        max_age=_LEFT_SECONDS,
        path=settings.SESSION_COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _by_which_way(person: User) -> dict[str, object] | None:
    """Return the login ways for the audit, where there are two."""
    if settings.DIRECTORY is not None and comes_by_directory(person):
        return {"by": settings.DIRECTORY.name}
    return {"by": "password"} if settings.SINGLE_SIGN_ON or settings.DIRECTORY else None


def _login_page(
    request: HttpRequest, form: AuthenticationForm, status: int = 200, wait_seconds: int = 0
) -> HttpResponse:
    wanted = request.POST.get("next", request.GET.get("next", ""))
    context = {"form": form, "wait_seconds": wait_seconds, "next": wanted, "has_left": _has_left(request)}
    context |= {"single_sign_on": settings.SINGLE_SIGN_ON, "problem": getattr(request, "login_problem", "")}
    return render(request, "users/login.html", context, status=status)


def _has_left(request: HttpRequest) -> bool:
    return settings.LEFT_COOKIE_NAME in request.COOKIES
