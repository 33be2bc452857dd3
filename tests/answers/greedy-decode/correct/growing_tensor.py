import torch


def greedy_decode(step, bos, eos, max_len):
    tokens = torch.tensor([[bos]], dtype=torch.long)
    for _ in range(max_len):
        next_token = step(tokens).argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens.to(next_token.device), next_token], dim=1)
        if next_token.item() == eos:
            break
    return tokens[0, 1:].tolist()
