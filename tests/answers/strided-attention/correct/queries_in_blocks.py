import torch


def strided_mask(n, stride, device=None):
    def row(i):
        j = torch.arange(n, device=device)
        return (j <= i) & ((j > i - stride) | ((i - j) % stride == 0))

    return torch.stack([row(i) for i in range(n)])


def strided_attention(q, k, v, stride):
    """Row by row of the sheet: the two rows of keys, and per column the keys above, as a batch over columns."""
    B, H, n, d = q.shape
    outs = []
    for start in range(0, n, stride):
        stop = min(start + stride, n)
        low = max(0, start - stride)
        i = torch.arange(start, stop, device=q.device)[:, None]
        j = torch.arange(low, stop, device=q.device)
        qs = q[:, :, start:stop]
        near = qs @ k[:, :, low:stop].transpose(-1, -2)
        near = near.masked_fill((j > i) | (j <= i - stride), float("-inf"))
        r = start // stride
        above = k[:, :, :start].reshape(B, H, r, stride, d)[:, :, :, : stop - start]
        far = torch.einsum("bhcd,bhrcd->bhcr", qs, above)
        p = torch.softmax(torch.cat([near, far], -1) / d**0.5, dim=-1)
        vabove = v[:, :, :start].reshape(B, H, r, stride, v.size(-1))[:, :, :, : stop - start]
        out = p[..., : stop - low] @ v[:, :, low:stop] + torch.einsum("bhcr,bhrce->bhce", p[..., stop - low :], vabove)
        outs.append(out)
    return torch.cat(outs, 2)
