"""The lines that are told first hold a wrong one, where numbers alone do not lead there."""

from __future__ import annotations

import pytest

from grader.client.session import Session
from tests.gradings import by_kata
from tests.judge.test_causes import changed, line_of, why
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
        pytest.param("transformer", "the_encoder_layers_get_no_mask_padding", 3, id="None, handed on twice"),
        pytest.param("transformer", "positions_of_a_later_chunk_start_at", 3, id="a number written into a call"),
        pytest.param("decoder-block", "causal_in_training_only_as_in_d2l", 3, id="the condition that makes None"),
        pytest.param("mha", "scaled_by_the_root_of_d_model", 3, id="a factor, handed on"),
        pytest.param("flash-attention", "the_scale_is_taken_from_the_values", 3, id="a factor that has a name"),
        pytest.param("static-cache", "reset_wipes_the_memory_but_leaves_the", 2, id="what a method leaves as it was"),
        pytest.param("adamw", "the_step_counts_are_not_taken_over", 7, id="the function that left what is read"),
        pytest.param(
            "train-step", "evaluate_takes_the_mean_of_the_batches", 9, id="a call of few batches, not of many"
        ),
        pytest.param("adamw", "one_common_step_counter_for_all_parameters", 3, id="an attribute that counts"),
        pytest.param("beam-search", "the_search_stops_as_soon_as_any", 4, id="a list that is cut short"),
        pytest.param("greedy-decode", "eos_ends_the_loop_before_it_is", 3, id="the jump that cuts it short"),
        pytest.param("lora", "merge_adds_b_a_without_the_factor", 2, id="a function that the named one calls"),
        pytest.param("train-step", "the_gradients_are_clipped_before_they_are", 3, id="over what it was moved"),
        pytest.param("train-step", "evaluate_always_leaves_the_model_in_training", 4, id="a line of another function"),
        pytest.param("int8-cache", "dequantise_multiplies_in_the_dtype_of_the", 1, id="the dtype that is asked for"),
        pytest.param("alibi", "of_twice_the_power_of_two_it", 4, id="a list that a function of the answer returned"),
        pytest.param("sliding-window", "a_query_sees_window_keys_before_itself", 10, id="a wide place, beside a name"),
    ),
)
def test_a_wrong_line_is_among_the_first(session: Session, kata: str, answer: str, most: int) -> None:
    """There are so many lines at most."""
    cause, marked = first_with_lines(session, kata, answer)
    assert len(cause["lines"]) <= most
    assert not marked.isdisjoint(cause["lines"])


@pytest.mark.parametrize(
    ("kata", "old", "new", "marked", "sentence"),
    by_kata(
        pytest.param(
            "mha",
            "            scores = scores.masked_fill(~mask, float(",
            "            scores.masked_fill(~mask, float(",
            "            scores.masked_fill(~mask, float(",
            "Nobody uses what is made in line",
            id="a result that nobody uses",
        ),
        pytest.param(
            "learned-positions",
            "dropout: float = 0.0",
            "dropout: float = 0.5",
            "dropout: float = 0.5",
            "",
            id="a default of another kind",
        ),
        pytest.param(
            "positional-encoding",
            "        super().__init__()\n",
            "        super()\n",
            "        super()",
            "first",
            id="super()",
        ),
    ),
)
def test_statements_that_do_nothing(
    session: Session, kata: str, old: str, new: str, marked: str, sentence: str
) -> None:
    """A result that is thrown away, another default than in the task, a constructor that is not called."""
    source = changed(kata, (old, new))
    cause = next(cause for cause in why(session, kata, source) if cause["lines"])
    assert line_of(source, marked) in cause["lines"]
    assert sentence in cause["evidence"]["steps"]
