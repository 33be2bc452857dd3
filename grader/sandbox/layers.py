"""The layers of the sandbox by name."""

from typing import Final

ALL_LAYERS: Final = ("rlimits", "landlock", "seccomp")
