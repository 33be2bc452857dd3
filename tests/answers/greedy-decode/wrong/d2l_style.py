# family: core
# mistake: last-token-only
import torch


def greedy_decode(step, bos, eos, max_len):
    dec_X = torch.unsqueeze(torch.tensor([bos], dtype=torch.long), dim=0)
    output_seq = []
    for _ in range(max_len):
        Y = step(dec_X)
        pred = Y.argmax(dim=-1).item()
        if pred == eos:
            break
        output_seq.append(pred)
        dec_X = torch.tensor([[pred]])
    return output_seq
