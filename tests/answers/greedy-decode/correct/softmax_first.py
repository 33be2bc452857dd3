import torch
import torch.nn.functional as F


def pick(logits):
    probs = F.softmax(logits, dim=-1)
    return torch.argmax(probs, dim=-1)


def greedy_decode(step, bos, eos, max_len):
    out = []
    prefix = [bos]
    for _ in range(max_len):
        x = torch.LongTensor([prefix])
        token = pick(step(x)[-1]).item()
        prefix.append(token)
        out.append(token)
        if token == eos:
            return out
    return out
