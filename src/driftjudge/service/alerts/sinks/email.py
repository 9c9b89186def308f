"""E-mail over SMTP; messages of one alarm form a thread, and a repeated delivery carries the same Message-ID."""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from hashlib import sha256
from typing import Literal

from driftjudge.service.alerts.alert import Alert

Security = Literal["starttls", "tls", "none"]


@dataclass(frozen=True)
class Email:
    """One mail server and the people who read."""

    host: str
    port: int
    sender: str
    recipients: tuple[str, ...]
    security: Security = "starttls"
    user: str = ""
    password: str = field(default="", repr=False)

    def render(self, alert: Alert) -> EmailMessage:
        """Plain text: it is read on a phone, at night."""
        message = EmailMessage()
        message["From"] = self.sender
        message["To"] = ", ".join(self.recipients)
        message["Subject"] = " ".join(f"[driftjudge] {alert.title}".split())
        message["Date"] = format_datetime(datetime.fromisoformat(alert.at))
        domain = self.sender.rpartition("@")[2] or "driftjudge"
        message["Message-ID"] = f"<{_digest(alert.id)}@{domain}>"
        thread = f"<{_digest(alert.key)}@{domain}>"
        message["References"] = thread
        message["In-Reply-To"] = thread
        message["X-Driftjudge-Alarm"] = _digest(alert.key)
        lines = [alert.sentence, "", *(f"- {fact}" for fact in alert.facts)]
        if alert.advice:
            lines += ["", f"Now: {alert.advice}"]
        links = [f"{name}: {url}" for name, url in (("Page", alert.page_url), ("Runbook", alert.runbook_url)) if url]
        message.set_content("\n".join([*lines, "", *links]).rstrip() + "\n")
        return message

    def send(self, alert: Alert, timeout: float) -> None:
        """Hand the message to the server; raises OSError or SMTPException where it does not take it."""
        message = self.render(alert)
        context = ssl.create_default_context()
        if self.security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(self.host, self.port, timeout=timeout, context=context)
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=timeout)
        with server:
            if self.security == "starttls":
                server.starttls(context=context)
            if self.user:
                server.login(self.user, self.password)
            refused = server.send_message(message, self.sender, list(self.recipients))
            if refused:  # some recipients were not taken: send again rather than lose them
                raise smtplib.SMTPRecipientsRefused(refused)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]
