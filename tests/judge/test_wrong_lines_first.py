"""The lines that are told first hold a wrong one, where numbers alone do not lead there."""

from __future__ import annotations

import pytest

from grader.client.session import Session
from tests.gradings import by_kata
from tests.judge.test_quoted_lines import first_with_lines


@pytest.mark.parametrize(
    ("kata", "answer", "most"),
    by_kata(
        pytest.param("paged-cache", "copies_the_keys_only", 4, id="what an earlier call wrote"),
        pytest.param("paged-cache", "one_block_a_chunk", 4, id="what an earlier call wrote, in a chunk"),
        pytest.param("paged-cache", "takes_the_next_block_when_full", 3, id="the number that a refusal asks about"),
        pytest.param("paged-cache", "forked_for_ever", 4, id="the condition that a refusal asks about"),
        pytest.param("paged-cache", "smallest_free_number", 2, id="who gives the attribute that is handed back"),
        pytest.param("strided-attention", "columns_fixed_from_the_start", 3, id="indices, not the room for results"),
        pytest.param("greedy-decode", "bos_is_never_written", 3, id="what is written into a name"),
        pytest.param("beam-search", "finished_before_equals", 3, id="a list that is sorted"),
        pytest.param("beam-search", "hundred_tokens", 3, id="a loop that ends too early"),
        pytest.param("beam-search", "stops_when_beam_have_ever_ended", 3, id="a condition that ends a loop"),
        pytest.param("lora", "bias_forgotten", 3, id="who makes None of an attribute"),
        pytest.param("lora", "float32_for_all", 3, id="the dtype that a constructor chooses"),
        pytest.param("lora", "random_on_the_cpu", 5, id="who makes what is loaded on the CPU"),
        pytest.param("tiny-gpt", "separate_head_with_bias", 3, id="a layer that is not loaded"),
        pytest.param("tiny-gpt", "nanogpt_targets_shifted_already", 1, id="no number of the first weights"),
        pytest.param("tiny-gpt", "tril_of_the_wrong_axis", 3, id="a much smaller call tells a narrow place"),
        pytest.param("speculative", "subtracts_in_place", 3, id="the view through which it is written"),
        pytest.param("valid-lens", "textbook_as_it_is", 2, id="the view that a function is called with"),
        pytest.param("train-step", "clips_each_group", 3, id="what is done between two steps"),
        pytest.param("train-step", "clipped_to_ten_at_most", 2, id="what it is told to do"),
        pytest.param("encoder-block", "sums_dropped_with_gradients_only", 1, id="who asks for gradients"),
    ),
)
def test_a_wrong_line_is_among_the_first(session: Session, kata: str, answer: str, most: int) -> None:
    """There are so many lines at most."""
    cause, marked = first_with_lines(session, kata, answer)
    assert len(cause["lines"]) <= most
    assert not marked.isdisjoint(cause["lines"])
