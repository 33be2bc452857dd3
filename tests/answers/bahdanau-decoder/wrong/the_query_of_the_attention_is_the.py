# family: core
# mistake: query-from-the-first-layer
# The query of the attention is the hidden state of the first layer, not of the last one.
import torch
from torch import nn


def sequence_mask(outputs, valid_lens):
    positions = torch.arange(outputs.shape[1], device=outputs.device)
    if valid_lens is None:
        return torch.ones(outputs.shape[0], 1, outputs.shape[1], dtype=torch.bool, device=outputs.device)
    return (positions[None, :] < valid_lens.to(outputs.device)[:, None]).unsqueeze(1)


class AdditiveAttention(nn.Module):
    def __init__(self, num_hiddens, dropout):
        super().__init__()
        self.W_q = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.W_k = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, keys, values, mask):
        features = torch.tanh(self.W_q(query).unsqueeze(2) + keys.unsqueeze(1))
        scores = self.w_v(features).squeeze(-1)
        weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1).masked_fill(~mask, 0.0)
        return torch.bmm(self.dropout(weights), values), weights


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=dropout if num_layers > 1 else 0.0)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens):
        outputs, hidden_state = enc_outputs
        return outputs, hidden_state, enc_valid_lens

    def forward(self, tokens, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        keys = self.attention.W_k(enc_outputs)
        mask = sequence_mask(enc_outputs, enc_valid_lens)
        X = self.embedding(tokens).permute(1, 0, 2)
        outputs, self.attention_weights = [], []
        for x in X:
            query = hidden_state[0].unsqueeze(1)  # wrong
            context, weights = self.attention(query, keys, enc_outputs, mask)
            x = torch.cat((context, x.unsqueeze(1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state.contiguous())
            outputs.append(out)
            self.attention_weights.append(weights)
        logits = self.dense(torch.cat(outputs, dim=0)).permute(1, 0, 2)
        return logits, (enc_outputs, hidden_state, enc_valid_lens)
