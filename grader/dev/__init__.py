"""For authors of katas: what holds every kata to the rules of ``docs/writing-a-kata.md``."""
