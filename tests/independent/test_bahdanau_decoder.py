"""bahdanau-decoder against plain loops over numbers: attention, the gates of the GRU, the last layer."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from tests.references import agree, reference

Vector = list[float]


def times(matrix: Tensor, vector: Vector, bias: Tensor | None = None) -> Vector:
    """Multiply a matrix and a vector."""
    start = bias.tolist() if bias is not None else [0.0] * len(matrix)
    rows = zip(matrix.tolist(), start, strict=True)
    return [math.fsum([b, *(m * v for m, v in zip(row, vector, strict=True))]) for row, b in rows]


def attend(attention: nn.Module, query: Vector, words: list[Vector]) -> tuple[Vector, Vector]:
    """Return weights and context over words without padding."""
    asked = times(attention.W_q.weight, query)
    scores = []
    for word in words:
        hidden = [math.tanh(a + b) for a, b in zip(asked, times(attention.W_k.weight, word), strict=True)]
        scores += times(attention.w_v.weight, hidden)
    parts = [math.exp(score - max(scores)) for score in scores]
    weights = [part / math.fsum(parts) for part in parts]
    width = len(query)
    return weights, [math.fsum(w * word[f] for w, word in zip(weights, words, strict=True)) for f in range(width)]


def gate(x: float) -> float:
    """Squash a number between 0 and 1."""
    return 1 / (1 + math.exp(-x))


def gru(rnn: nn.GRU, layer: int, x: Vector, h: Vector) -> Vector:
    """Return the next hidden state of a layer."""
    kinds = ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
    w_in, b_in, w_hidden, b_hidden = (getattr(rnn, f"{kind}_l{layer}") for kind in kinds)
    from_input, from_hidden, size = times(w_in, x, b_in), times(w_hidden, h, b_hidden), len(h)
    after = []
    for i in range(size):
        reset = gate(from_input[i] + from_hidden[i])
        update = gate(from_input[size + i] + from_hidden[size + i])
        new = math.tanh(from_input[2 * size + i] + reset * from_hidden[2 * size + i])
        after.append((1 - update) * new + update * h[i])
    return after


def by_hand(own: nn.Module, tokens: Tensor, outputs: Tensor, hidden: Tensor, lens: list[int]) -> tuple[Tensor, Tensor]:
    """Return logits (B, S, vocab) and weights (B, S, T)."""
    logits, all_weights = [], []
    for b, length in enumerate(lens):
        words = outputs[b, :length].tolist()
        states = [layer[b].tolist() for layer in hidden]
        for token in tokens[b].tolist():
            weights, context = attend(own.attention, states[-1], words) if words else ([], [0.0] * outputs.size(-1))
            x = context + own.embedding.weight[token].tolist()
            for layer, state in enumerate(states):
                states[layer] = x = gru(own.rnn, layer, x, state)
            logits.append(times(own.dense.weight, x, own.dense.bias))
            all_weights.append(weights + [0.0] * (outputs.size(1) - length))
    sizes = (len(lens), tokens.size(1), -1)
    return tuple(torch.tensor(rows, dtype=torch.float64).view(sizes) for rows in (logits, all_weights))


def random_case(layers: int) -> tuple[nn.Module, Tensor, Tensor, Tensor]:
    """Build a decoder in float64, tokens and what an encoder returns."""
    torch.manual_seed(7)
    own = reference("bahdanau-decoder").Seq2SeqAttentionDecoder(6, 3, 4, layers).double()
    outputs, hidden = torch.randn(3, 5, 4, dtype=torch.float64), torch.randn(layers, 3, 4, dtype=torch.float64)
    return own, torch.randint(0, 6, (3, 4)), outputs, hidden


@pytest.mark.parametrize("steps", [[4], [1, 3], [1, 1, 1, 1]])
@pytest.mark.parametrize("lens", [None, [5, 2, 1], [3, 0, 5]])
@pytest.mark.parametrize("layers", [1, 3])
def test_decoder(layers: int, lens: list[int] | None, steps: list[int]) -> None:
    """Logits and weights, in one call and in several."""
    own, tokens, outputs, hidden = random_case(layers)
    logits, weights = by_hand(own, tokens, outputs, hidden, lens or [5, 5, 5])
    state = own.init_state((outputs, hidden), None if lens is None else torch.tensor(lens))
    start = 0
    for part in tokens.split(steps, dim=1):
        got, state = own(part, state)
        end = start + part.size(1)
        agree(got.detach(), logits[:, start:end])
        agree(torch.cat(own.attention_weights, dim=1).detach(), weights[:, start:end])
        start = end


def test_gradients() -> None:
    """Central differences of the encoder's outputs and of every parameter's first number."""
    own, tokens, outputs, hidden = random_case(2)
    lens = torch.tensor([5, 0, 2])
    upstream = torch.randn(3, 4, 6, dtype=torch.float64)
    sources = [outputs, hidden, *own.parameters()]

    def loss() -> Tensor:
        return (own(tokens, own.init_state((outputs, hidden), lens))[0] * upstream).sum()

    for source in sources:
        source.requires_grad_()
    gradients = torch.autograd.grad(loss(), sources)
    with torch.no_grad():
        for source, gradient in zip(sources, gradients, strict=True):
            assert bool(gradient.isfinite().all())
            one = source.view(-1)[:1]
            kept, sides = one.item(), []
            for shift in (1e-5, -1e-5):
                one.fill_(kept + shift)
                sides.append(loss().item())
            one.fill_(kept)
            assert gradient.view(-1)[0].item() == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=1e-5, abs=1e-7)
