import contextlib
import inspect
import logging
import traceback
import typing
import warnings
from collections import namedtuple
import torch

Pair = namedtuple("Pair", "scores mask")
log = logging.getLogger(__name__)


class Masked(typing.NamedTuple):
    """What is hidden."""

    hidden: torch.Tensor


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def check(function):
    names = list(inspect.signature(function).parameters)
    assert names == ["scores", "mask", "dim"], names
    assert function.__code__.co_argcount == 3
    return function


@check
def masked_softmax(scores, mask=None, dim=-1):
    with quiet():
        warnings.warn("never seen", stacklevel=2)
        log.debug("called with %s", scores.shape)
        try:
            raise KeyError("handled")
        except KeyError:
            traceback.format_exc()
        pair = Pair(scores, mask)
        if pair.mask is None:
            return torch.softmax(pair.scores, dim)
        masked = Masked(~pair.mask)
        return torch.softmax(pair.scores.masked_fill(masked.hidden, -torch.inf), dim).masked_fill(masked.hidden, 0.0)
