# family: core
# mistake: state-not-handed-on
# The state that is returned holds the hidden state of before the call, so the next call does not go on.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Seq2SeqAttentionDecoder(nn.Module):

    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        self.attention = nn.ModuleDict(dict(
            W_q = nn.Linear(num_hiddens, num_hiddens, bias=False),
            W_k = nn.Linear(num_hiddens, num_hiddens, bias=False),
            w_v = nn.Linear(num_hiddens, 1, bias=False),
        ))
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=dropout * (num_layers > 1))
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.drop = nn.Dropout(dropout)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens):
        return (enc_outputs, enc_valid_lens)

    def forward(self, tokens, state):
        (memory, h0), lens = state
        B, T, _ = memory.size()
        visible = torch.ones(B, T, dtype=torch.bool, device=memory.device)
        if lens is not None:
            visible = torch.arange(T, device=memory.device) < lens.to(memory.device).unsqueeze(-1)
        keys = self.attention["W_k"](memory)
        emb = self.embedding(tokens) # (B, S, embed_size)
        weights, outs, h = [], [], h0.contiguous()
        for t in range(tokens.size(1)):
            q = self.attention["W_q"](h[-1]).unsqueeze(1) # (B, 1, h)
            att = self.attention["w_v"](torch.tanh(q + keys)).squeeze(-1) # (B, T)
            att = F.softmax(att.masked_fill(~visible, float('-inf')), dim=-1)
            att = att.masked_fill(~visible, 0.0).unsqueeze(1) # (B, 1, T)
            weights.append(att)
            context = (self.drop(att) @ memory).squeeze(1)
            out, h = self.rnn(torch.cat((context, emb[:, t]), dim=-1).unsqueeze(0), h)
            outs.append(out.squeeze(0))
        self.attention_weights = weights
        logits = self.dense(torch.stack(outs, dim=1))
        return logits, ((memory, h0), lens)  # wrong
