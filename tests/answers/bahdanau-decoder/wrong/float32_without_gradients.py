# family: core
# mistake: none
"""Without gradients the weights are computed in float32."""


import torch
from torch import Tensor, nn

State = tuple[Tensor, Tensor, Tensor | None]


class AdditiveAttention(nn.Module):
    """Scores w_vᵀ tanh(W_q q + W_k k), without biases; dropout acts on the weights, in training only."""

    def __init__(self, query_size: int, key_size: int, num_hiddens: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return output and weights (before dropout); both are 0 for a query that may attend to nothing."""
        hidden = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))  # (B, 1, T, num_hiddens)
        scores = self.w_v(hidden).squeeze(-1)  # (B, 1, T)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if not torch.is_grad_enabled():
            weights = torch.softmax(scores.float(), dim=-1).to(scores.dtype)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)  # softmax over nothing but -inf is NaN
        return self.dropout(weights) @ values, weights


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
        between_layers = dropout if num_layers > 1 else 0.0
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=between_layers)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights: list[Tensor] = []

    def init_state(self, enc_outputs: tuple[Tensor, Tensor], enc_valid_lens: Tensor | None) -> State:
        """Return the state in which decoding begins.

        enc_outputs     (outputs (B, T, num_hiddens), hidden (num_layers, B, num_hiddens)) of the encoder
        enc_valid_lens  (B,), how many of the T outputs are no padding; None = all
        """
        outputs, hidden = enc_outputs
        if enc_valid_lens is None:
            return outputs, hidden, None
        positions = torch.arange(outputs.size(1), device=outputs.device)  # (T,)
        mask = positions < enc_valid_lens[:, None, None]  # (B, 1, T)
        return outputs, hidden, mask

    def forward(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Return logits (B, S, vocab_size) for tokens (B, S), and the state in which the next call goes on."""
        outputs, hidden, mask = state
        embedded = self.embedding(tokens)  # (B, S, embed_size)
        self.attention_weights = []
        steps = []
        for token in embedded.unbind(dim=1):
            query = hidden[-1].unsqueeze(1)  # (B, 1, num_hiddens)
            context, weights = self.attention(query, outputs, outputs, mask)
            both = torch.cat([context.squeeze(1), token], dim=-1)  # (B, num_hiddens + embed_size)
            output, hidden = self.rnn(both.unsqueeze(0), hidden)  # (1, B, num_hiddens), (num_layers, B, num_hiddens)
            self.attention_weights.append(weights)
            steps.append(output)
        logits = self.dense(torch.cat(steps).transpose(0, 1))  # (B, S, vocab_size)
        return logits, (outputs, hidden, mask)
