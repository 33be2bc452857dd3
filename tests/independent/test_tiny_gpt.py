"""The reference of tiny-gpt against PyTorch's own encoder layers under a causal mask, and a loss summed by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from tests.references import reference

TOLERANCE = 1e-10
F64 = {"dtype": torch.float64}


def model(n_layers: int, pad_id: int = 0) -> nn.Module:
    """Return the reference with norms that do something."""
    own = reference("tiny-gpt").TinyGPT(11, 8, 2, n_layers, 7, pad_id).double()
    with torch.no_grad():
        for name, parameter in own.named_parameters():
            if "norm" in name:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return own


def layer_of_torch(block: nn.Module) -> nn.TransformerEncoderLayer:
    """Return PyTorch's pre-norm layer with the weights of a block."""
    known = nn.TransformerEncoderLayer(8, 2, 32, 0.0, "gelu", batch_first=True, norm_first=True, **F64)
    projections = [block.attention.W_q, block.attention.W_k, block.attention.W_v]
    with torch.no_grad():
        known.self_attn.in_proj_weight.copy_(torch.cat([layer.weight for layer in projections]))
        known.self_attn.in_proj_bias.copy_(torch.cat([layer.bias for layer in projections]))
    known.self_attn.out_proj.load_state_dict(block.attention.W_o.state_dict())
    pairs = {"linear1": block.ffn.dense1, "linear2": block.ffn.dense2, "norm1": block.norm1, "norm2": block.norm2}
    for name, layer in pairs.items():
        known.get_submodule(name).load_state_dict(layer.state_dict())
    return known


def logits_of_torch(own: nn.Module, tokens: Tensor) -> Tensor:
    """Go through PyTorch's layers, with the reference's embeddings and last norm written out."""
    length = tokens.size(1)
    x = own.token_embedding.weight[tokens] + own.position_embedding.weight[:length]
    hidden = torch.tensor([[j > i for j in range(length)] for i in range(length)])
    for block in own.blocks:
        x = layer_of_torch(block)(x, src_mask=hidden)
    spread = (x.square().mean(-1, keepdim=True) - x.mean(-1, keepdim=True).square() + 1e-5).sqrt()
    x = (x - x.mean(-1, keepdim=True)) / spread * own.norm.weight + own.norm.bias
    return torch.einsum("bsd,vd->bsv", x, own.token_embedding.weight)


def loss_by_hand(logits: Tensor, targets: Tensor, pad_id: int) -> float:
    """Average over the targets that count, one after the other."""
    losses = []
    for row, following in zip(logits.tolist(), targets.tolist(), strict=True):
        for scores, target in zip(row[:-1], following[1:], strict=True):
            if target != pad_id:
                losses.append(math.log(math.fsum(map(math.exp, scores))) - scores[target])
    return math.fsum(losses) / len(losses)


@pytest.mark.parametrize("pad_id", [0, 5])
@pytest.mark.parametrize(("n_layers", "length"), [(0, 3), (1, 1), (1, 7), (3, 5)])
def test_tiny_gpt(n_layers: int, length: int, pad_id: int) -> None:
    """Logits are those of PyTorch's layers, the loss is that of the loops; in training mode as well."""
    own = model(n_layers, pad_id)
    tokens = torch.randint(0, 11, (3, length))
    want = logits_of_torch(own, tokens)
    for training in (True, False):
        logits, loss = own.train(training)(tokens)
        assert loss is None
        torch.testing.assert_close(logits, want, rtol=TOLERANCE, atol=TOLERANCE)
    if length > 1:
        targets = tokens.clone()
        targets[0, 1] = 7
        _, loss = own(tokens, targets)
        assert loss.shape == ()
        assert abs(loss.item() - loss_by_hand(want, targets, pad_id)) <= TOLERANCE


def test_gradients() -> None:
    """The gradients of all parameters are those of finite differences, along random directions."""
    own = model(2)
    tokens = torch.randint(0, 11, (2, 5))
    tokens[1, 3:], tokens[0, 1] = 0, 4
    parameters = list(own.parameters())
    gradients = torch.autograd.grad(own(tokens, tokens)[1], parameters)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        step = 1e-5 * torch.randn_like(parameter)
        with torch.no_grad():
            ahead = own.token_embedding.weight.new_tensor(0.0)
            for sign in (1, -1):
                parameter.add_(sign * step)
                ahead = ahead + sign * own(tokens, tokens)[1]
                parameter.sub_(sign * step)
        torch.testing.assert_close(ahead / 2, (gradient * step).sum(), rtol=1e-5, atol=1e-12)
