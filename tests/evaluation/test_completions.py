"""What a model says around its code is taken off."""

from __future__ import annotations

import pytest

from grader.evaluation.completions import unwrapped

CODE = "import torch\n\n\ndef mask(x):\n    return x\n"
EXAMPLE = "print(mask(1))\n"


@pytest.mark.parametrize(
    "completion",
    [
        CODE,
        f"```python\n{CODE}```",
        f"Sure!\n\n```py\n{CODE}```\n\nThat is all.",
        f"```\n{CODE}```\n",
        f"~~~python title=x\n{CODE}~~~",
        f"````python\n{CODE}````",
        f"A draft:\n```python\ndef mask(x): ...\n```\nBetter:\n```python\n{CODE}```\nUse:\n```python\n{EXAMPLE}```",
        f"```bash\npip install torch\n```\n```python\n{CODE}```\n```text\nmask\n```",
        f"```python\n{CODE}",
        f"  ```python\n{''.join('  ' + line for line in CODE.splitlines(keepends=True))}  ```",
        f"```{{.python}}\n{CODE}```",
    ],
    ids=["bare", "python", "py", "no name", "tildes", "four", "several", "others", "cut off", "indented", "pandoc"],
)
def test_the_code_is_found(completion: str) -> None:
    """Whatever stands around it, the file is the last block that defines the entry."""
    assert unwrapped(completion, ["mask"]).strip() == CODE.strip()


def test_a_file_with_fences_in_a_docstring_is_whole() -> None:
    """A fence inside a Python file does not make the file an essay."""
    file = f'"""Masks.\n\n```python\n{EXAMPLE}```\n"""\n{CODE}'
    assert unwrapped(file, ["mask"]) == file
    indented = CODE.replace("    return", '    """\n    ```\n    mask(1)\n    ```\n    """\n    return')
    assert unwrapped(indented, ["mask"]) == indented


@pytest.mark.parametrize("completion", ["", "I cannot do that.", "```text\nno\n```", "```", "\x00"])
def test_what_has_no_code_is_left_as_it_is(completion: str) -> None:
    """The grading says what is wrong with it."""
    assert unwrapped(completion, ["mask"]).strip() in (completion.strip(), "")


def test_lines_in_odd_encodings_do_not_move() -> None:
    """Form feeds and line separators within a line are no ends of lines."""
    code = "mask = '\x0c```\u2028'\n"
    assert unwrapped(code, ["mask"]) == code
    assert unwrapped(f"```python\r\n{CODE}```\r\n", ["mask"]).strip() == CODE.strip()
