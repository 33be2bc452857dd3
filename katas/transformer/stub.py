"""The Transformer: an encoder, a decoder, and decoding step by step."""

import torch
from torch import Tensor, nn

LayerCache = tuple[Tensor, Tensor]


class Transformer(nn.Module):
    """Sequence to sequence: token ids in, logits out.

    src_vocab_size, tgt_vocab_size  numbers of source and of target tokens
    d_model   width of the tokens
    n_heads   number of heads; d_model % n_heads != 0 raises ValueError
    d_ff      width of the hidden layers of the feed-forward networks
    n_layers  number of encoder blocks, and of decoder blocks
    dropout   on the sums of embeddings and positions, on the attention weights, on each sublayer's output; in training
    max_len   number of positions; a longer sequence raises ValueError
    pad_id    the source token that is padding

    Attributes: encoder with embedding (nn.Embedding) and layers (nn.ModuleList: attention with W_q, W_k, W_v, W_o, ffn
    with dense1, dense2, addnorm1 and addnorm2 with ln each); decoder with embedding, layers (self_attn and cross_attn
    with W_q, W_k, W_v, W_o each, ffn, norm1, norm2, norm3) and dense (nn.Linear, d_model to tgt_vocab_size).
    """

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        dropout: float = 0.0,
        max_len: int = 1000,
        pad_id: int = 0,
    ) -> None:
        super().__init__()
        raise NotImplementedError("your turn: an encoder and a decoder")

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor]:
        """Read the source src (B, m), token ids.

        Returns memory (B, m, d_model) and memory_mask (B, 1, m), bool, True = a real token.
        """
        raise NotImplementedError("your turn: embed, add positions, run the encoder's layers")

    def decode(
        self, tgt: Tensor, memory: Tensor, memory_mask: Tensor | None = None, cache: list[LayerCache] | None = None
    ) -> tuple[Tensor, list[LayerCache]]:
        """Go on writing: tgt (B, n) are the last n of T target tokens.

        memory, memory_mask  as `encode` returns them; no mask = everything is visible
        cache                what the call before returned: for each layer (keys, values) of the T - n tokens before,
                             each (B, H, T - n, d_head); None = there are none

        Returns logits (B, n, tgt_vocab_size) and the cache of all T tokens.
        """
        raise NotImplementedError("your turn: embed, add positions, run the decoder's layers, project")

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Return the logits (B, n, tgt_vocab_size) behind each token of tgt (B, n), given src (B, m)."""
        raise NotImplementedError("your turn: encode, then decode all at once")
