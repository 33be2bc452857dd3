# says: no answer within .* line [67]
# outcome: timeout
import torch
def masked_softmax(scores, mask=None, dim=-1):
    big = torch.ones(5000, 5000)
    return torch.linalg.matrix_power(big, 2**60) @ big
