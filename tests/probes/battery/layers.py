"""Modules, training and the ways in which modules are copied and moved."""
# ruff: noqa: D101, D102, D103 - the name of a snippet says what it is

from __future__ import annotations

import copy
import io

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.utils.checkpoint import checkpoint

from battery import ROWS, WIDTH, B, D, H, N, legit
from battery.attention import plain

DRAWN_THERE = float("inf")  # the numbers of another generator, whatever the seed
BFLOAT16 = 2.0**-7


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, H, D).permute(2, 0, 3, 1, 4).unbind(0)
        return self.out(plain(q, k, v).transpose(1, 2).contiguous().view(b, n, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.norms = Attention(), nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.ffn = nn.Sequential(nn.Linear(WIDTH, 16), nn.ReLU(), nn.Dropout(0.0), nn.Linear(16, WIDTH))

    def forward(self, x):
        x = self.norms[0](x + self.attention(x))
        return self.norms[1](x + self.ffn(x))


def built(factory, x):
    """Build with the same weights each time and move to the device of `x`."""
    torch.manual_seed(0)
    return factory().to(x.device)


@legit(ROWS)
def attention(x):
    return built(Attention, x)(x)


@legit(ROWS)
def block(x):
    return built(Block, x)(x)


@legit(ROWS)
def stack_of_blocks(x):
    return built(lambda: nn.Sequential(*(Block() for _ in range(2))), x)(x)


@legit(ROWS)
def torch_attention_in_training(x):
    return built(lambda: nn.MultiheadAttention(WIDTH, H, batch_first=True), x)(x, x, x)[0]


@legit(ROWS, grad=False)
def torch_attention_in_evaluation(x):
    module = built(lambda: nn.MultiheadAttention(WIDTH, H, batch_first=True), x).eval()
    with torch.no_grad():
        return module(x, x, x, need_weights=False)[0]


@legit(ROWS)
def torch_encoder_layer(x):
    return built(lambda: nn.TransformerEncoderLayer(WIDTH, H, 64, 0.0, batch_first=True), x)(x)


@legit(ROWS)
def torch_decoder_layer(x):
    return built(lambda: nn.TransformerDecoderLayer(WIDTH, H, 64, 0.0, batch_first=True), x)(x, x)


@legit(ROWS)
def linear_without_bias(x):
    return built(lambda: nn.Linear(WIDTH, 5, bias=False), x)(x)


@legit(ROWS)
def layer_norm(x):
    return built(lambda: nn.LayerNorm(WIDTH), x)(x)


@legit(ROWS)
def rms_norm(x):
    return built(lambda: nn.RMSNorm(WIDTH), x)(x)


@legit(ROWS)
def layer_norm_by_hand(x):
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)


@legit(ROWS)
def rms_norm_by_hand(x):
    return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


@legit(ROWS)
def feed_forward(x):
    return built(lambda: nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH)), x)(x)


@legit(ROWS)
def gated_feed_forward(x):
    gate, up = built(lambda: nn.Linear(WIDTH, 2 * WIDTH, bias=False), x)(x).chunk(2, -1)
    return F.silu(gate) * up


@legit(ROWS)
def dropout_in_evaluation(x):
    return nn.Dropout(0.5).eval()(x)


@legit(ROWS, tolerance=DRAWN_THERE)
def dropout_in_training(x):
    torch.manual_seed(3)
    return F.dropout(x, 0.5)


@legit(ROWS, tolerance=DRAWN_THERE)
def dropout_by_hand(x):
    torch.manual_seed(3)
    return x * (torch.rand_like(x) > 0.3) / 0.7


@legit(ROWS, tolerance=DRAWN_THERE)
def bernoulli_mask(x):
    torch.manual_seed(3)
    return x * torch.empty_like(x).bernoulli_(0.5)


@legit((B, N), grad=False)
def embedding(x):
    tokens = (x.abs() * 3).long().clamp(max=9)
    return built(lambda: nn.Embedding(10, 4, padding_idx=0), x)(tokens) * 2


@legit((B, N), grad=False)
def embedding_trains(x):
    tokens = (x.abs() * 3).long().clamp(max=9)
    table = built(lambda: nn.Embedding(10, 4), x)
    with torch.enable_grad():
        table(tokens).square().sum().backward()
    return table.weight.grad


@legit(ROWS)
def convolution(x):
    return built(lambda: nn.Conv1d(WIDTH, WIDTH, 3, padding=1), x)(x.mT).mT


@legit(ROWS)
def gru(x):
    out, state = built(lambda: nn.GRU(WIDTH, 5, num_layers=2), x)(x.transpose(0, 1))
    return out, state


@legit(ROWS, (1, B, 5))
def gru_without_bias_with_a_state(x, state):
    return built(lambda: nn.GRU(WIDTH, 5, bias=False, batch_first=True), x)(x, state)


@legit((B, WIDTH), (B, 5))
def gru_cell(x, state):
    return built(lambda: nn.GRUCell(WIDTH, 5), x)(x, state)


@legit(ROWS)
def gru_of_a_packed_batch(x):
    lengths = torch.arange(len(x), device=x.device) % 3 + 1
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
    out, state = built(lambda: nn.GRU(WIDTH, 5, batch_first=True, bidirectional=True), x)(packed)
    return *nn.utils.rnn.pad_packed_sequence(out, batch_first=True, total_length=x.size(1))[:1], state


@legit(ROWS)
def packed_by_steps(x):
    return nn.utils.rnn.pack_padded_sequence(x, [2] + [1] * (x.size(1) - 1)).data


@legit(ROWS)
def lstm(x):
    out, (hidden, cell) = built(lambda: nn.LSTM(WIDTH, 5, bidirectional=True), x)(x)
    return out, hidden, cell


@legit(ROWS)
def recurrent(x):
    return built(lambda: nn.RNN(WIDTH, 5, batch_first=True), x)(x)[0]


@legit(ROWS)
def parameter_as_number(x):
    module = nn.Module()
    module.w = nn.Parameter(torch.tensor(0.7))
    return x * module.to(x.device).w


@legit(ROWS)
def weights_without_the_layer(x):
    layer = built(lambda: nn.Linear(WIDTH, 6), x)
    return F.linear(x, layer.weight[:3], layer.bias[:3]), x @ layer.weight.T + layer.bias


@legit(ROWS)
def state_dict_into_another(x):
    source, target = built(Attention, x), Attention().to(x.device)
    target.load_state_dict(source.state_dict())
    return target(x)


@legit(ROWS)
def state_dict_from_the_cpu(x):
    torch.manual_seed(0)
    source, target = Attention(), Attention().to(x.device)
    target.load_state_dict(source.state_dict())
    return target(x)


@legit(ROWS)
def deep_copy(x):
    return copy.deepcopy(built(Block, x))(x)


@legit(ROWS, grad=False)
def deep_copy_of_a_cache(x):
    cache = {"k": x, "v": [x * 2]}
    other = copy.deepcopy(cache)
    other["k"].zero_()
    return cache["k"] + other["v"][0]


@legit(ROWS, grad=False)
def saved_and_loaded(x):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@legit(ROWS, tolerance=BFLOAT16)
def module_to_half_and_back(x):
    return built(Attention, x).bfloat16()(x.bfloat16()).float()


@legit(ROWS)
def module_to_double(x):
    return built(Attention, x).double()(x.double())


@legit(ROWS, tolerance=DRAWN_THERE)
def module_made_on_the_device(x):
    torch.manual_seed(0)
    with torch.device(x.device):
        layer = nn.Linear(WIDTH, 4)
    return layer(x)


@legit(ROWS, tolerance=DRAWN_THERE)
def module_with_device_argument(x):
    torch.manual_seed(0)
    return nn.Linear(WIDTH, 4, device=x.device, dtype=x.dtype)(x)


@legit(ROWS)
def tied_weights(x):
    table = built(lambda: nn.Linear(WIDTH, 10, bias=False), x)
    other = nn.Embedding(10, WIDTH).to(x.device)
    other.weight = table.weight
    return table(x) + other.weight.sum()


@legit(ROWS)
def optimizer_step(x):
    module = built(Attention, x)
    optimizer = torch.optim.AdamW(module.parameters(), 1e-2)
    with torch.enable_grad():
        module(x.detach()).pow(2).mean().backward()
    nn.utils.clip_grad_norm_(module.parameters(), 1.0)
    optimizer.step()
    return module(x)


@legit(ROWS)
def plain_descent(x):
    module = built(lambda: nn.Linear(WIDTH, WIDTH), x)
    with torch.enable_grad():
        module(x.detach()).sum().backward()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.sub_(0.1 * parameter.grad)
    return module(x)


@legit(ROWS)
def checkpointed(x):
    return checkpoint(built(Block, x), x, use_reentrant=False)


@legit(ROWS)
def functional_call(x):
    module = built(Attention, x)
    return torch.func.functional_call(module, dict(module.named_parameters()), (x,))


@legit(ROWS)
def hooks(x):
    module, seen = built(Attention, x), []
    handle = module.qkv.register_forward_hook(lambda _module, _args, out: seen.append(out.detach()))
    out = module(x)
    handle.remove()
    return out, seen[0]


@legit(ROWS, grad=False)
def inference_mode(x):
    module = built(Attention, x)
    with torch.inference_mode():
        return module(x).clone(), x[:, 1:].mT.clone()


@legit(ROWS)
def loss_with_ignored_targets(x):
    targets = torch.arange(B * N, device=x.device) % WIDTH
    return F.cross_entropy(x.reshape(-1, WIDTH), targets.masked_fill(targets == 2, -100))


@legit(ROWS)
def gradient_scaling_hook(x):
    y = x * 1.0
    if y.requires_grad:
        y.register_hook(lambda grad: grad * 2)
    return y.sin()
