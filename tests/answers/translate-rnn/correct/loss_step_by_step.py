# GRU cells by hand; sums over steps with one-hot targets
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, n, p):
        super().__init__()
        for name, width in (("W_q", n), ("W_k", n), ("w_v", 1)):
            self.add_module(name, nn.Linear(n, width, bias=False))
        self.drop = nn.Dropout(p)


class Seq2SeqAttentionDecoder(nn.Module):
    """The gates of the GRU written out, its weights read."""

    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        self.attention = Attention(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.p = dropout

    def init_state(self, enc_outputs, enc_valid_lens):
        outputs, hidden = enc_outputs
        return {"memory": outputs, "hidden": hidden, "lens": enc_valid_lens}

    def attend(self, query, memory, lens):
        a = self.attention
        scores = a.w_v((a.W_q(query).unsqueeze(1) + a.W_k(memory)).tanh()).transpose(1, 2)
        if lens is None:
            weights = F.softmax(scores, dim=-1)
        else:
            hidden = torch.arange(memory.size(1), device=memory.device) >= lens.view(-1, 1, 1)
            empty = hidden.all(-1, keepdim=True)
            weights = F.softmax(scores.masked_fill(hidden & ~empty, -torch.inf), dim=-1).masked_fill(empty, 0.0)
        return (a.drop(weights) @ memory).squeeze(1), weights

    def cell(self, x, h, layer):
        w_ih, w_hh, b_ih, b_hh = (
            getattr(self.rnn, f"{kind}_l{layer}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        i_r, i_z, i_n = F.linear(x, w_ih, b_ih).chunk(3, -1)
        h_r, h_z, h_n = F.linear(h, w_hh, b_hh).chunk(3, -1)
        r, z = torch.sigmoid(i_r + h_r), torch.sigmoid(i_z + h_z)
        n = torch.tanh(i_n + r * h_n)
        return (1 - z) * n + z * h

    def forward(self, tokens, state):
        memory, lens, hidden = state["memory"], state["lens"], list(state["hidden"].unbind(0))
        self.attention_weights = []
        tops = []
        for token in tokens.T:
            context, weights = self.attend(hidden[-1], memory, lens)
            x = torch.cat([context, self.embedding(token)], -1)
            for layer in range(len(hidden)):
                hidden[layer] = x = self.cell(x, hidden[layer], layer)
                if layer + 1 < len(hidden):
                    x = F.dropout(x, self.p, self.training)
            tops.append(x)
            self.attention_weights.append(weights)
        return self.dense(torch.stack(tops, 1)), {**state, "hidden": torch.stack(hidden)}


class Encoder(nn.Module):
    """Reads everything, keeps every state, and picks the one behind the last real token."""

    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size, num_hiddens, num_layers)

    def forward(self, src, lengths):
        steps = self.embedding(src.t())
        state = steps.new_zeros(self.rnn.num_layers, src.size(0), self.rnn.hidden_size)
        outputs, states = [], [state]
        for step in steps:
            output, state = self.rnn(step[None], state)
            outputs.append(output[0])
            states.append(state)
        history = torch.stack(states)
        at = lengths.view(1, 1, -1, 1).expand(1, *state.shape)
        return torch.stack(outputs, dim=1), history.gather(0, at).squeeze(0)


class Translator(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, embed_size, num_hiddens, num_layers, pad_id=0):
        super().__init__()
        self.pad_id = pad_id
        self.encoder = Encoder(src_vocab_size, embed_size, num_hiddens, num_layers)
        self.decoder = Seq2SeqAttentionDecoder(tgt_vocab_size, embed_size, num_hiddens, num_layers)

    def begin(self, src):
        lengths = src.ne(self.pad_id).sum(-1)
        return self.decoder.init_state(self.encoder(src, lengths), lengths)

    def forward(self, src, tgt):
        return self.decoder(tgt, self.begin(src))[0]

    def loss(self, src, tgt):
        logits = self(src, tgt[:, :-1])
        total, count = 0.0, 0
        for i in range(logits.shape[1]):
            wanted = tgt[:, i + 1]
            one_hot = nn.functional.one_hot(wanted, logits.shape[2]).to(logits.dtype)
            surprise = -(logits[:, i].log_softmax(-1) * one_hot).sum(-1)
            total = total + surprise.masked_fill(wanted == self.pad_id, 0).sum()
            count = count + (wanted != self.pad_id).sum()
        return total / count

    @torch.no_grad()
    def translate(self, src, bos, eos, max_len):
        state = self.begin(src)
        prefix = torch.ones_like(src[:, :1]) * bos
        ended = torch.zeros(src.size(0), 1, dtype=torch.bool, device=src.device)
        for _ in range(max_len):
            logits, state = self.decoder(prefix[:, -1:], state)
            token = torch.max(logits, dim=2)[1]
            prefix = torch.cat((prefix, token * ~ended + self.pad_id * ended), 1)
            ended = ended | (token == eos)
            if ended.all():
                break
        return prefix[:, 1:]
