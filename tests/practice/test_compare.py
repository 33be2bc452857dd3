"""Two answers compared by what they do."""

from __future__ import annotations

import ast
import textwrap

import pytest

from grader import catalog
from grader.practice.compare import comparable

REFERENCE = '''
"""A module."""
import math
import torch


class Attention(nn.Module):
    """Does it."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attend."""
        scores = q @ k.mT / math.sqrt(q.shape[-1])  # (B, n, m)
        weights = torch.softmax(scores, -1)
        return self.out(weights @ v)
'''


def changed(text: str) -> str:
    """Return a text without its first line break and indent."""
    return textwrap.dedent(text).lstrip("\n")


def test_names_comments_and_docstrings_are_no_difference():
    """An answer that does the same with other names is the same."""
    answer = changed(
        """
        import math
        import torch

        class Attention(nn.Module):
            def forward(self, queries, keys, vals):
                # mine
                s = queries @ keys.mT / math.sqrt(queries.shape[-1])
                a: Tensor = torch.softmax(s, -1)
                return self.project(a @ vals)
        """
    )
    mine, theirs = comparable(answer, REFERENCE)
    assert mine == theirs
    assert "weights" in mine
    assert '"""' not in theirs


def test_what_differs_stays():
    """A line that does something else is told with the solution's names."""
    answer = REFERENCE.replace("weights", "a").replace("scores", "s").replace("(s, -1)", "(s, 1)")
    mine, theirs = (text.splitlines() for text in comparable(answer, REFERENCE))
    assert [(one, other) for one, other in zip(mine, theirs, strict=True) if one != other] == [
        ("        weights = torch.softmax(scores, 1)", "        weights = torch.softmax(scores, -1)")
    ]


def test_no_name_stands_for_two_things():
    """Where the solution's name is taken already, each keeps its meaning."""
    answer = changed(
        """
        def f(x):
            weights = x + 1
            a = x * 2
            return weights @ a @ other(weights)
        """
    )
    reference = "def f(x):\n    weights = x * 2\n    return weights\n"
    mine, _theirs = comparable(answer, reference)
    names = {node.id for node in ast.walk(ast.parse(mine)) if isinstance(node, ast.Name)}
    assert len(names) == len({node.id for node in ast.walk(ast.parse(answer)) if isinstance(node, ast.Name)})


def test_swapped_names():
    """Two names that are each other's."""
    answer = "def f(q, k):\n    b = q + 1\n    a = b * k\n    return a - b\n"
    reference = "def f(q, k):\n    a = q + 1\n    b = a * k\n    return b - a\n"
    mine, theirs = comparable(answer, reference)
    assert mine == theirs


def test_what_is_no_python_is_compared_as_it_is():
    """And nothing breaks."""
    assert comparable("def f(:", REFERENCE) == ("def f(:", REFERENCE)
    assert comparable("", REFERENCE)[0] == "\n"


@pytest.mark.parametrize("name", catalog.katas())
def test_a_model_answer_is_the_same_as_itself(name):
    """In every language, and as itself it is still Python."""
    kata = catalog.find(name)
    mine, theirs = comparable(kata.reference("zh"), kata.reference())
    assert mine == theirs
    ast.parse(mine)
