"""A recurrent decoder that looks back at the encoder at each step."""

from typing import Any

import torch
from torch import Tensor, nn

State = Any  # whatever your decoder has to know to go on


class Seq2SeqAttentionDecoder(nn.Module):
    """Predict the next token from the tokens so far and from what attention finds in the encoder's outputs.

    vocab_size   number of tokens there are
    embed_size   width of their embeddings
    num_hiddens  width of the hidden states, the encoder's and the decoder's
    num_layers   number of layers of the GRU
    dropout      acts on the attention weights and between the layers of the GRU, in training only

    Attributes: attention (W_q, W_k, w_v without biases), embedding, rnn (nn.GRU, sequence first), dense, and
    attention_weights: the weights of the last call, a list with a tensor (B, 1, T) for each step.
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        raise NotImplementedError("your turn: attention, embedding, rnn and dense")

    def init_state(self, enc_outputs: tuple[Tensor, Tensor], enc_valid_lens: Tensor | None) -> State:
        """Return the state in which decoding begins.

        enc_outputs     (outputs (B, T, num_hiddens), hidden (num_layers, B, num_hiddens)) of the encoder
        enc_valid_lens  (B,), how many of the T outputs are no padding; None = all
        """
        raise NotImplementedError("your turn: what does a step have to know?")

    def forward(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Return logits (B, S, vocab_size) for tokens (B, S), and the state in which the next call goes on."""
        raise NotImplementedError("your turn: step by step, attend, then feed the GRU")
