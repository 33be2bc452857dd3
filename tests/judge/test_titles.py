"""What a cause is called where it is no known mistake: by what is wrong at its place, by the error, by the layer."""

from __future__ import annotations

import pytest

from grader.client.session import Session
from tests.gradings import on_its_worker
from tests.judge.test_causes import changed, line_of, why


@on_its_worker("mha")
def test_layers_under_other_names_and_arguments_that_are_not_taken(session: Session) -> None:
    """Both are called what they are, with the names and the signature of the task; they are no places to search."""
    source = changed(
        "mha",
        (", n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:", ", n_heads: int) -> None:"),
        ("self.dropout = nn.Dropout(dropout)", "self.dropout = nn.Dropout(0.0)"),
        *(
            (
                f"self.{name} = nn.Linear(d_model, d_model, bias=bias)",
                f"self.{name.lower()} = nn.Linear(d_model, d_model)",
            )
            for name in ("W_q", "W_k", "W_v", "W_o")
        ),
    )
    for name in ("W_q", "W_k", "W_v", "W_o"):
        source = source.replace(f"self.{name}(", f"self.{name.lower()}(")
    names, arguments = why(session, "mha", source)[:2]
    assert names["title"] == "layers have other names than in the task"
    assert "`w_q` → `W_q`, `w_k` → `W_k`, `w_v` → `W_v`, `w_o` → `W_o`" in names["push"]
    assert names["line"] == line_of(source, "self.w_q = ")
    assert arguments["title"] == "`__init__` does not take `dropout`, `bias`"
    assert "`__init__(self, d_model, n_heads, dropout=0.0, bias=True)`" in arguments["evidence"]["steps"]


@on_its_worker("lora")
@pytest.mark.parametrize(
    ("made", "title"),
    [
        ("nn.Parameter(torch.zeros(base.in_features, r))", r"`A` has the shape (6, 2), in the task (2, 6)"),
        ("torch.zeros(r, base.in_features)", "`A` is a `Tensor`, in the task an `nn.Parameter`"),
    ],
)
def test_a_parameter_that_is_another_one_than_in_the_task(session: Session, made: str, title: str) -> None:
    """What nothing can be put into is said first, at the line that makes it, whatever else goes wrong."""
    source = changed(
        "lora",
        ("nn.Parameter(torch.empty(r, base.in_features, **like_base))", made),
        ("        nn.init.normal_(self.A, std=1 / math.sqrt(base.in_features))\n", ""),
    )
    first = why(session, "lora", source)[0]
    assert first["title"] == title
    assert first["line"] == line_of(source, "self.A = ")


@on_its_worker("bpe")
def test_errors_of_different_lines_have_causes_of_their_own(session: Session) -> None:
    """As byte-pair encoding is often taught: equals, no pair that is left, and ids that do not exist are three."""
    source = changed(
        "bpe",
        ("best = max(counts, key=lambda pair: (counts[pair], pair))", "best = max(counts, key=counts.get)"),
        ("while len(merges) < n_merges and len(ids) > 1:", "while len(merges) < n_merges:"),
        ("        raise ValueError(", "        raise KeyError("),
    )
    found = why(session, "bpe", source)
    causes = {cause["title"]: cause for cause in found}
    assert "of equal counts the first pair is taken" in causes
    (left,) = [cause for title, cause in causes.items() if title.startswith("ValueError: max() ")]
    assert left["line"] == line_of(source, "best = max(")
    assert "core/no_pair_is_left" in left["cases"]
    (unknown,) = [cause for cause in found if all("ids_that_do_not_exist" in case for case in cause["cases"])]
    assert unknown["cases"][0].startswith("contract/")


@on_its_worker("mha")
def test_a_missing_layer_is_the_one_that_is_too_many(session: Session) -> None:
    """Where one layer is missing and one is unknown, the two are one under another name."""
    source = changed("mha").replace("self.W_o", "self.proj")
    first = why(session, "mha", source)[0]
    assert first["title"] == "a layer has another name than in the task"
    assert "`proj` → `W_o`" in first["push"]


@on_its_worker("masks")
def test_a_function_that_takes_other_arguments_has_a_line(session: Session) -> None:
    """No line of its own runs, so it is where it begins."""
    source = changed("masks", ("def combine_masks(*masks: Tensor | None)", "def combine_masks(a=None, b=None)"))
    source = source.replace("for mask in masks", "for mask in (a, b)")
    found = why(session, "masks", source)
    assert any(line_of(source, "def combine_masks") in cause["lines"] for cause in found)


@on_its_worker("layer-norm")
def test_what_the_file_does_not_define_comes_first(session: Session) -> None:
    """Nothing else can be said of the half of a task that is not there."""
    source = changed("layer-norm", ("def layer_norm(", "def normalised("))
    first = why(session, "layer-norm", source)[0]
    assert first["title"] == "the file defines no layer_norm"
    assert first["lines"] == []


@on_its_worker("sdpa")
def test_an_error_that_no_line_raises_is_called_by_its_own_words(session: Session) -> None:
    """A number with more digits than Python writes fails on its way out of the sandbox: that is no attribute."""
    source = "def scaled_dot_product_attention(q, k, v, mask=None):\n    return 10**5000, 3\n"
    (cause,) = why(session, "sdpa", source)
    assert cause["title"].startswith("ValueError: Exceeds the limit")
