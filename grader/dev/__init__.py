"""For authors of katas: what holds every kata to the rules of ``docs/writing-a-kata.md``."""

import threading
from typing import Final

ONE_AT_A_TIME: Final = threading.Lock()
"""Held by a thread that does something with sources or with torch itself, where several look at a kata each: they share
torch's random numbers, surveyed answers tell one module of their calls, and Python 3.11's parser loses count."""
