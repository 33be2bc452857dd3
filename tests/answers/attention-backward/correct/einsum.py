import math

import torch


def attention_backward(q, k, v, d_output, mask=None):
    wide = torch.promote_types(q.dtype, torch.float32)
    Q, K, V, G = (t.to(wide) for t in (q, k, v, d_output))
    root = math.sqrt(K.size(-1))
    S = torch.einsum("...id,...jd->...ij", Q, K) / root
    if mask is not None:
        S = S.masked_fill(mask.logical_not(), -torch.inf)
    P = S.softmax(-1)
    if mask is not None:
        P = torch.where(mask, P, torch.zeros_like(P))
    dV = torch.einsum("...ij,...ie->...je", P, G)
    dP = torch.einsum("...ie,...je->...ij", G, V)
    dS = P * dP - P * torch.einsum("...ij,...ij->...i", P, dP).unsqueeze(-1)
    dQ = torch.einsum("...ij,...jd->...id", dS, K) / root
    dK = torch.einsum("...ij,...id->...jd", dS, Q) / root
    return tuple(x.to(q.dtype) for x in (dQ, dK, dV))
