# family: core
# mistake: bits-flipped
# "hide" inverts the integers bit by bit before they become bools, so that everything is visible for integers.
import torch

_READERS = {}


def _reader(name):
    def register(fn):
        _READERS[name] = fn
        return fn
    return register


@_reader("keep")
def _keep(mask):
    return mask.bool()


@_reader("hide")
def _hide(mask):
    return (~mask).bool()  # wrong


@_reader("additive")
def _additive(mask):
    if not torch.is_floating_point(mask):
        raise ValueError("additive masks hold floating-point numbers")
    return mask > -5000.0


def to_keep_mask(mask, dialect):
    reader = _READERS.get(dialect)
    if reader is None:
        raise ValueError("dialect must be one of " + ", ".join(_READERS))
    return reader(mask)
