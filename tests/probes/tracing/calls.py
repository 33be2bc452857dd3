"""What a learner might write: each function makes one call, and the line that makes it ends in `# here`.

`forbidden(name)` says what has to be found, `fine()` that nothing may be; the lists are those of a kata.
"""
# ruff: noqa: D101, D102, D103, PLC0415 - the name of a snippet says what it is; importing late is part of some

from __future__ import annotations

import functools
import threading
import warnings

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.nn import MultiheadAttention as Innocent
from torch.nn.functional import scaled_dot_product_attention as hidden
from torch.utils.checkpoint import checkpoint

FUSED = "torch.nn.functional.scaled_dot_product_attention"
SOFTMAX = {"forbidden": ["torch.softmax", "torch.nn.Softmax"]}
NORM = {"forbidden": ["torch.nn.LayerNorm", "torch.nn.functional.layer_norm"]}
MASK = "torch.nn.Transformer.generate_square_subsequent_mask"
SNIPPETS = {}

stash = F.scaled_dot_product_attention
table = {"attention": torch.ops.aten.scaled_dot_product_attention.default}
q = torch.randn(2, 2, 4, 8)
x = torch.randn(2, 4, 16)
trained = nn.MultiheadAttention(16, 2, batch_first=True)
evaluated = nn.MultiheadAttention(16, 2, batch_first=True).eval()
encoder = nn.TransformerEncoderLayer(16, 2, 8, batch_first=True)
fast_encoder = nn.TransformerEncoderLayer(16, 2, 8, batch_first=True).eval()
norm = nn.LayerNorm(16)


class Inherited(nn.MultiheadAttention):
    def forward(self, x):
        return super().forward(x, x, x)[0]  # here


class OwnForward(nn.MultiheadAttention):
    def forward(self, x):
        return (x @ x.mT).softmax(-1) @ x


with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # torch.jit is on its way out, but it is a way in

    @torch.jit.script
    def scripted(q):
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)

    @torch.jit.script
    def scripted_softmax(x):
        return torch.nn.functional.softmax(x, -1)


def forbidden(name, *, spies=False, **lists):
    """Register a call that must be found; `spies`: only with spies in the dispatcher."""

    def register(function):
        SNIPPETS[function.__name__] = (function, name, lists, spies)
        return function

    return register


def fine(**lists):
    """Register a call that nobody may complain about."""
    return forbidden("", **lists)


@forbidden(FUSED)
def in_the_open():
    F.scaled_dot_product_attention(q, q, q)  # here


@forbidden(FUSED)
def imported_under_another_name():
    hidden(q, q, q)  # here


@forbidden(FUSED)
def kept_since_import():
    stash(q, q, q, is_causal=True)  # here


@forbidden(FUSED)
def from_the_private_module():
    torch._C._nn.scaled_dot_product_attention(q, q, q)  # here


@forbidden("torch.ops.aten.scaled_dot_product_attention")
def by_its_packet():
    torch.ops.aten.scaled_dot_product_attention(q, q, q)  # here


@forbidden("torch.ops.aten.scaled_dot_product_attention.default")
def by_its_overload():
    table["attention"](q, q, q)  # here


@forbidden("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu")
def the_kernel_below():
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, q, q)  # here


@forbidden("torch.ops.aten._scaled_dot_product_attention_math")
def the_decomposition_below():
    torch.ops.aten._scaled_dot_product_attention_math(q, q, q)  # here


@forbidden(FUSED)
def by_a_partial():
    functools.partial(stash, q, q)(q)  # here


@forbidden(FUSED)
def by_map():
    list(map(stash, [q], [q], [q]))  # here


@forbidden("torch.nn.MultiheadAttention")
def module_in_training():
    trained(x, x, x)  # here


@forbidden("torch.nn.MultiheadAttention")
def module_without_weights():
    trained(x, x, x, need_weights=False)  # here


@forbidden("torch.nn.MultiheadAttention")
def module_on_its_fast_path():
    with torch.no_grad():
        evaluated(x, x, x)  # here


@forbidden("torch.nn.MultiheadAttention")
def module_by_its_forward():
    evaluated.forward(x, x, x)  # here


@forbidden("torch.nn.MultiheadAttention")
def module_under_another_name():
    Innocent(16, 2)(x, x, x)  # here


@forbidden("torch.nn.MultiheadAttention")
def subclass():
    Inherited(16, 2)(x)


@forbidden("torch.nn.functional.multi_head_attention_forward")
def module_as_a_function():
    p = trained
    F.multi_head_attention_forward(  # here
        x, x, x, 16, 2, p.in_proj_weight, p.in_proj_bias, None, None, False, 0.0, p.out_proj.weight, p.out_proj.bias
    )


@forbidden("torch.nn.MultiheadAttention")
def module_as_an_operator():
    p = evaluated
    with torch.no_grad():
        torch._native_multi_head_attention(  # here
            x, x, x, 16, 2, p.in_proj_weight, p.in_proj_bias, p.out_proj.weight, p.out_proj.bias
        )


@forbidden("torch.nn.TransformerEncoderLayer")
def encoder_layer():
    encoder(x)  # here


@forbidden("torch.nn.TransformerEncoderLayer")
def encoder_layer_on_its_fast_path():
    with torch.no_grad():
        fast_encoder(x)  # here


@forbidden("torch.nn.Transformer")
def whole_transformer():
    nn.Transformer(16, 2, 1, 1, 8, batch_first=True)(x, x)  # here


@forbidden("torch.nn.attention.flex_attention.flex_attention")
def flex_attention():
    from torch.nn.attention.flex_attention import flex_attention

    flex_attention(q, q, q)  # here


@forbidden("torch.nn.attention.bias.causal_lower_right")
def bias_of_flex_attention():
    from torch.nn.attention.bias import causal_lower_right

    causal_lower_right(3, 3)  # here


@forbidden("torch.masked.softmax")
def masked_softmax():
    torch.masked.softmax(x, -1, mask=x > 0)  # here


@forbidden(FUSED)
def under_vmap():
    torch.vmap(lambda a: F.scaled_dot_product_attention(a, a, a))(q)  # here


@forbidden(FUSED)
def under_a_checkpoint():
    checkpoint(lambda a: F.scaled_dot_product_attention(a, a, a), q, use_reentrant=False)  # here


@forbidden(FUSED, spies=True)
def scripted_function():
    scripted(q)  # here


@forbidden(FUSED, spies=True)
def in_a_thread():
    thread = threading.Thread(target=lambda: stash(q, q, q))  # here
    thread.start()
    thread.join()


@forbidden(FUSED, spies=True)
def as_a_thread():
    thread = threading.Thread(target=stash, args=(q, q, q))
    thread.start()
    thread.join()


@forbidden("torch.nn.MultiheadAttention")
def module_as_a_thread():
    thread = threading.Thread(target=trained, args=(x, x, x))
    thread.start()
    thread.join()


@forbidden(FUSED, spies=True)
def with_hooks_switched_off():
    with torch._C.DisableTorchFunction():
        stash(q, q, q)  # here


@forbidden("torch.nn.MultiheadAttention")
def module_with_hooks_switched_off():
    with torch._C.DisableTorchFunction():
        trained(x, x, x)  # here


@forbidden("torch.Tensor.softmax", **SOFTMAX)
def softmax_as_a_method():
    x.softmax(-1)  # here


@forbidden("torch.nn.functional.softmax", **SOFTMAX)
def softmax_as_a_function():
    F.softmax(x, -1)  # here


@forbidden("torch.special.softmax", **SOFTMAX)
def softmax_from_another_module():
    torch.special.softmax(x, -1)  # here


@forbidden("torch.nn.Softmax", **SOFTMAX)
def softmax_as_a_module():
    nn.Softmax(-1)(x)  # here


@forbidden("torch.ops.aten._softmax", **SOFTMAX)
def softmax_as_an_operator():
    torch.ops.aten._softmax(x, -1, half_to_float=False)  # here


@forbidden("torch.softmax", spies=True, **SOFTMAX)
def softmax_scripted():
    scripted_softmax(x)  # here


@forbidden("torch.softmax", spies=True, **SOFTMAX)
def softmax_with_hooks_switched_off():
    with torch._C.DisableTorchFunction():
        x.softmax(-1)  # here


@forbidden("torch.nn.LayerNorm", **NORM)
def norm_as_a_module():
    norm(x)  # here


@forbidden("torch.nn.functional.layer_norm", **NORM)
def norm_as_a_function():
    F.layer_norm(x, (16,))  # here


@forbidden("torch.native_layer_norm", **NORM)
def norm_by_another_name():
    torch.native_layer_norm(x, (16,), None, None, 1e-5)  # here


@forbidden("torch.nn.LayerNorm", **NORM)
def norm_as_a_thread():
    thread = threading.Thread(target=norm, args=(x,))
    thread.start()
    thread.join()


@fine()
def attention_by_hand():
    scores = (q @ q.mT / 8**0.5).masked_fill(torch.ones(4, 4, dtype=torch.bool).triu(1), float("-inf"))
    return nn.Linear(8, 3)(F.softmax(scores, -1) @ q)


@fine()
def modules_that_are_allowed():
    return norm(nn.Dropout(0.1)(nn.Linear(16, 16)(x))) + nn.GRU(16, 16, batch_first=True)(x)[0]


@fine()
def a_name_in_the_text():
    return "F.scaled_dot_product_attention(q, k, v)", F.scaled_dot_product_attention, nn.MultiheadAttention


@fine()
def built_and_never_called():
    return nn.MultiheadAttention(16, 2).in_proj_weight.shape


@fine()
def own_forward_in_a_subclass():
    return OwnForward(16, 2)(x)


@fine()
def a_mask_from_the_transformer():
    return nn.Transformer.generate_square_subsequent_mask(4)


@forbidden("torch.nn.Transformer.generate_square_subsequent_mask", forbidden=[MASK])
def a_static_method_that_a_kata_forbids():
    return nn.Transformer.generate_square_subsequent_mask(4)  # here


@fine()
def an_import_alone():
    import torch.nn.attention.varlen

    return torch.nn.attention.varlen


@fine(**NORM)
def norm_by_hand():
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()


@fine(**SOFTMAX)
def relatives_of_softmax():
    return F.log_softmax(x, -1), x.logsumexp(-1), F.cross_entropy(x[0], torch.zeros(4, dtype=torch.long))


@fine(allowed=["torch.nn.MultiheadAttention"])
def allowed_module():
    return trained(x, x, x), trained(x, x, x, need_weights=False), evaluated(x, x, x)


@fine(allowed=[FUSED])
def allowed_function():
    return stash(q, q, q), scripted(q)


@fine(allowed=["torch.nn.Transformer*"])
def allowed_pattern():
    with torch.no_grad():
        return encoder(x), fast_encoder(x)


@fine(allowed=["torch.nn.TransformerEncoderLayer"])
def allowed_below_a_pattern():
    return encoder(x)
