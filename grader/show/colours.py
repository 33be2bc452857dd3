"""Colours by what they mean, in one place: each reads on a dark and on a white background.

Yellow and cyan do not on white, blue does not on black; backgrounds and bright colours are nobody's (a test holds it).
"""

from typing import Final

PLACE: Final = "magenta"
"""File and line, a line of the learner's, what goes on."""
NOTE: Final = "magenta"
"""What one should know: something was skipped, not recorded, begun and not passed, the grader itself failed."""
