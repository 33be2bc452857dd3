"""What the results of a scene are called: those that an answer is put into, see :mod:`grader.sandbox.drivers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final


def _results_of_optimise(_parameters: Any, gradients: Any, *_settings: Any, **_named: Any) -> tuple[str, ...]:
    return (*(f"after_step_{number + 1}" for number in range(len(gradients))), "gradients")


def _results_of_learn(_embedding: Any, _head: Any, _kept: Any, batches: Any, *_rest: Any, **_: Any) -> tuple[str, ...]:
    return (*(f"loss_{number + 1}" for number in range(len(batches))), "embedding", "head", "keeps_its_graph", "steps")


def _results_of_adapt(
    _weight: Any, _bias: Any, _a: Any, _b: Any, _x: Any, _alpha: Any, does: Any = (), *_rest: Any, **_named: Any
) -> tuple[str, ...]:
    counted = [(word, does[: number + 1].count(word)) for number, word in enumerate(does)]
    after = (f"after_{word}" if count == 1 else f"after_{word}_{count}" for word, count in counted)
    return ("at_first", *after)


RESULTS: Final[dict[str, Callable[..., tuple[str, ...]]]] = {
    "optimise": _results_of_optimise,
    "resume": lambda *_, **__: ("saved", "loaded"),
    "clear": lambda *_, **__: ("gradients", "parameters"),
    "learn": _results_of_learn,
    "measure": lambda _embedding, _head, _kept, _batches, training, *_, **__: (
        *("loss", "parameters", "gradients", "training", "records_a_graph", "graphs_are_recorded_behind_it", "learns"),
        *(() if training else ("loss_in_inference_mode",)),
    ),
    "adapt": _results_of_adapt,
    "begin": lambda *_, **__: ("result", "shape_of_A", "shape_of_B", "B_is_0", "A_has_zeros", "numbers_of_A_differ"),
    "drop": lambda *_, **__: (
        *("drops_in_front_of_A", "drops_behind_A", "drops_behind_B", "base_sees_all_of_x"),
        *("as_many_as_p_says", "each_by_itself", "each_call_anew", "gradient_follows"),
    ),
}
"""By the name of the scene: names by its arguments."""
