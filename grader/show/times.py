"""Moments and spans as a person says them."""

from datetime import UTC, datetime

from grader.language import _, plural

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def moment(at: datetime) -> str:
    """Return a moment in local time, to the minute."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def ago(at: datetime) -> str:
    """Return how long ago a moment was, in the one unit that fits."""
    seconds = max(0, int((datetime.now(UTC) - at).total_seconds()))
    if seconds < MINUTE:
        return _("just now")
    return _("{span} ago").format(span=_span(seconds))


def _span(seconds: int) -> str:
    if seconds < HOUR:
        return _("{count} min").format(count=seconds // MINUTE)
    if seconds < DAY:
        return _("{count} h").format(count=seconds // HOUR)
    return plural("{count} day", "{count} days", seconds // DAY).format(count=seconds // DAY)
