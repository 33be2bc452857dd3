"""Cases with fixed inputs, so that a report can be compared word for word."""

import pytest
import torch


def test_one_number(check):
    """The smallest call."""
    check(torch.tensor([3.0], dtype=torch.float64))


@pytest.mark.derive
def test_negative_numbers_too(check):
    """Signs survive."""
    check(torch.tensor([[1.0, -2.0, 4.0], [0.5, 8.0, -16.0]], dtype=torch.float64))


@pytest.mark.contract
def test_what_is_no_tensor_is_refused(check):
    """A number is not a tensor."""
    with check.raises(TypeError):
        check(3.0)
