# family: core
# mistake: concat-does-nothing
import torch

def split_heads(x, n_heads):
    B, S, D = x.shape
    if D % n_heads != 0:
        raise ValueError(f"{D} is not divisible by {n_heads}")
    return x.reshape(B, S, n_heads, D // n_heads).transpose(1, 2)

def concat_heads(x):
    return x
