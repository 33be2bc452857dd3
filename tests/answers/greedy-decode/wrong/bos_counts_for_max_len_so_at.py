# family: core
# mistake: bos-counted
# Bos counts for max_len, so at most max_len - 1 tokens are written.
import torch


def greedy_decode(step, bos, eos, max_len):
    # room for the longest sequence there can be
    buffer = torch.zeros(1, max_len + 1, dtype=torch.int64)
    buffer[0, 0] = bos
    length = 1
    done = False
    while not done and length < max_len:  # wrong
        logits = step(buffer[:, :length].clone())
        row = logits[0]
        candidates = (row == row.amax()).nonzero().flatten()
        token = candidates.min().item()
        buffer[0, length] = token
        length += 1
        done = token == eos
    result = []
    for i in range(1, length):
        result.append(int(buffer[0, i]))
    return result
