# family: cost
# mistake: two-calls-a-token
import torch


def greedy_decode(step, bos, eos, max_len):
    """Asks for the next logits at the end of each round, also of the last one."""
    sequence = [bos]
    logits = step(torch.tensor([sequence]))
    for _ in range(max_len):
        token = logits.argmax(-1).item()
        sequence.append(token)
        if token == eos:
            break
        logits = step(torch.tensor([sequence]))
    return sequence[1:]
