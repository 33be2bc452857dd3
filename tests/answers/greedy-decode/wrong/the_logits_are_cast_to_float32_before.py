# family: dtype
# mistake: float32-detour
# The logits are cast to float32 before they are compared, which makes those equal that float64 tells apart.
import torch


@torch.no_grad()
def greedy_decode(step, bos, eos, max_len):
    out = []
    while len(out) < max_len and (not out or out[-1] != eos):
        logits = step(torch.tensor([[bos] + out]))[-1]
        out.append(int(torch.argmax(logits.float(), dim=-1)))  # wrong
    return out
