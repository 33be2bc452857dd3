# kata: alibi
# names: keys-only
import math
import torch

def get_slopes(n):
    def get_slopes_power_of_2(n):
        start = (2**(-2**-(math.log2(n)-3)))
        ratio = start
        return [start*ratio**i for i in range(n)]

    if math.log2(n).is_integer():
        return get_slopes_power_of_2(n)
    else:
        closest_power_of_2 = 2**math.floor(math.log2(n))
        return get_slopes_power_of_2(closest_power_of_2) + get_slopes(2*closest_power_of_2)[0::2][:n-closest_power_of_2]

def alibi_slopes(n_heads):
    return torch.Tensor(get_slopes(n_heads))

def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else m
    slopes = alibi_slopes(n_heads)
    alibi = slopes.unsqueeze(1).unsqueeze(1) * torch.arange(m).unsqueeze(0).unsqueeze(0).expand(n_heads, -1, -1)  # wrong
    return alibi.expand(n_heads, n, m)
