"""train-step against autograd and PyTorch's own optimiser, on a model with dropout."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


def model() -> nn.Module:
    """Return a small model, the same each time, in evaluation mode and with old gradients."""
    torch.manual_seed(7)
    made = nn.Sequential(nn.Embedding(9, 6, **F64), nn.Dropout(0.5), nn.Linear(6, 9, **F64)).eval()
    for parameter in made.parameters():
        parameter.grad = torch.ones_like(parameter)
    return made


def by_hand(made: nn.Module, batch: Tensor, pad_id: int) -> tuple[Tensor, int]:
    """Sum the losses of a batch, text by text and token by token."""
    log_probs = torch.log_softmax(made(batch[:, :-1]), dim=-1)
    losses = [
        -log_probs[row, place, target]
        for row, text in enumerate(batch[:, 1:].tolist())
        for place, target in enumerate(text)
        if target != pad_id
    ]
    return torch.stack(losses).sum(), len(losses)


@pytest.mark.parametrize("pad_id", [0, 4])
@pytest.mark.parametrize("max_norm", [None, 0.1, 100.0])
def test_steps(max_norm: float | None, pad_id: int) -> None:
    """A step of SGD with momentum along the gradient of the mean, in training mode, clipped by its length."""
    mine, theirs = model(), model()
    optimizer = torch.optim.SGD(mine.parameters(), lr=0.5, momentum=0.5)
    other = torch.optim.SGD(theirs.parameters(), lr=0.5, momentum=0.5)
    for step in range(3):
        batch = torch.randint(0, 9, (3, 6), generator=torch.Generator().manual_seed(step))
        torch.manual_seed(step)
        loss = reference("train-step").train_step(mine, batch, optimizer, max_norm, pad_id)
        torch.manual_seed(step)
        total, count = by_hand(theirs.train(), batch, pad_id)
        agree(loss, total.detach() / count)
        grads = torch.autograd.grad(total / count, list(theirs.parameters()))
        length = torch.cat([grad.flatten() for grad in grads]).norm()
        factor = 1.0 if max_norm is None else min(1.0, max_norm / (float(length) + 1e-6))
        for parameter, grad in zip(theirs.parameters(), grads, strict=True):
            parameter.grad = factor * grad
        other.step()
        for one, two in zip(mine.parameters(), theirs.parameters(), strict=True):
            agree(one, two)


@pytest.mark.parametrize("training", [True, False])
def test_evaluation(training: bool) -> None:
    """The mean over the tokens of all batches, and everything as it was."""
    made = model().train(training)
    before = [(p.clone(), p.grad.clone()) for p in made.parameters() if p.grad is not None]
    batches = [torch.randint(0, 9, shape) for shape in ((4, 7), (1, 3), (2, 5))]
    loss = reference("train-step").evaluate(made, iter(batches))
    assert made.training == training
    for parameter, (value, grad) in zip(made.parameters(), before, strict=True):
        agree(parameter, value)
        assert parameter.grad is not None
        agree(parameter.grad, grad)
    parts = [by_hand(made.eval(), batch, 0) for batch in batches]
    agree(torch.tensor(loss, **F64), sum(total for total, _ in parts).detach() / sum(count for _, count in parts))


def test_nothing() -> None:
    """No token to predict: a loss of 0, and nothing moves."""
    made = model()
    before = [parameter.clone() for parameter in made.parameters()]
    optimizer = torch.optim.SGD(made.parameters(), lr=0.5)
    assert reference("train-step").train_step(made, torch.zeros(2, 4, dtype=torch.int64), optimizer, 1.0) == 0
    assert reference("train-step").evaluate(made, []) == 0
    for parameter, value in zip(made.parameters(), before, strict=True):
        agree(parameter, value)
