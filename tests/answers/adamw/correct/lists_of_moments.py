import torch


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params = list(params)
        b1, b2 = betas
        if not self.params or lr < 0 or eps < 0 or weight_decay < 0 or not (0 <= b1 < 1 and 0 <= b2 < 1):
            raise ValueError("impossible settings")
        self.hyper = [lr, b1, b2, eps, weight_decay]
        kind = [torch.promote_types(p.dtype, torch.float32) for p in self.params]
        self.m = [torch.zeros_like(p.data, dtype=k) for p, k in zip(self.params, kind)]
        self.v = [torch.zeros_like(p.data, dtype=k) for p, k in zip(self.params, kind)]
        self.t = [0] * len(self.params)

    def step(self):
        lr, b1, b2, eps, wd = self.hyper
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            g = p.grad.detach().to(self.m[i].dtype)
            self.t[i] += 1
            self.m[i] = b1 * self.m[i] + (1 - b1) * g
            self.v[i] = b2 * self.v[i] + (1 - b2) * g * g
            m_hat = self.m[i] / (1 - b1 ** self.t[i])
            v_hat = self.v[i] / (1 - b2 ** self.t[i])
            x = p.data.to(g.dtype)
            p.data = (x - lr * (m_hat / (v_hat**0.5 + eps) + wd * x)).to(p.dtype)

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad = torch.zeros_like(p.grad)

    def state_dict(self):
        return {"hyper": list(self.hyper), "m": list(self.m), "v": list(self.v), "t": list(self.t)}

    def load_state_dict(self, state_dict):
        for name, value in state_dict.items():
            setattr(self, name, list(value))
