"""Giving a message to a channel: once, within seconds, and telling how that went without a word of its secrets."""

import smtplib
import ssl

import httpx2

from console.kit.common.bounded_http import client_options
from console.kit.common.bounded_smtp import BoundedSmtp, BoundedSmtpOverTls
from console.kit.common.outbound import AddressRefusedError, AddressRule, refusal_beyond_this_machine
from console.signals.alerts.channels import Channel, http_request, mail
from console.signals.alerts.messages import AlertMessage

_ANSWER_BYTES_MAX = 64 * 1024


class NotTakenError(Exception):
    """One sentence for the page."""


def send(channel: Channel, message: AlertMessage) -> None:
    """Raises NotTakenError."""
    if channel.is_mail:
        _send_mail(channel, message)
    else:
        _send_http(channel, message)


def rule_of(channel: Channel) -> AddressRule | None:
    return refusal_beyond_this_machine if channel.made_on_page else None


def _send_http(channel: Channel, message: AlertMessage) -> None:
    request = http_request(channel, message)
    try:
        with httpx2.Client(**client_options(None, _ANSWER_BYTES_MAX, rule_of(channel))) as client:
            answer = client.request(request.method, request.url, headers=dict(request.headers), content=request.body)
    except AddressRefusedError as error:
        raise NotTakenError(f"its address is refused: {error}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ssl.SSLError, OSError) as error:
        raise NotTakenError(f"it cannot be reached: {type(error).__name__}") from None
    if answer.is_redirect:
        raise NotTakenError(f"it answers {answer.status_code}, a redirect, which is not followed")
    if not answer.is_success:
        raise NotTakenError(f"it answers {answer.status_code}")


def _send_mail(channel: Channel, message: AlertMessage) -> None:
    settings = channel.settings
    host, _, port = settings["server"].rpartition(":")
    context, rule = ssl.create_default_context(), rule_of(channel)
    try:
        if settings["tls"] == "tls":
            server: BoundedSmtp = BoundedSmtpOverTls(host, int(port), rule, context=context)
        else:
            server = BoundedSmtp(host, int(port), rule)
        with server:
            if settings["tls"] == "starttls":
                server.starttls(context=context)
            if "user" in settings:
                server.login(settings["user"], settings["password"])
            server.send_message(mail(channel, message))
    except AddressRefusedError as error:
        raise NotTakenError(f"its address is refused: {error}") from None
    except smtplib.SMTPResponseException as error:
        raise NotTakenError(f"the mail server answers {error.smtp_code}") from None
    except (smtplib.SMTPException, ssl.SSLError, OSError) as error:
        raise NotTakenError(f"the mail server cannot be used: {type(error).__name__}") from None
