# family: core
# mistake: one-count-for-all
# One step count for all parameters, also for those that had no gradient.
import torch


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        params = list(params)
        if not params:
            raise ValueError("empty parameter list")
        if min(lr, eps, weight_decay, *betas) < 0 or max(betas) >= 1:
            raise ValueError("invalid settings")
        self.params = params
        self.lr = lr
        self.beta1, self.beta2 = betas
        self.eps = eps
        self.weight_decay = weight_decay
        self.t = 0
        self.m, self.v = [], []
        for p in params:
            dt = torch.promote_types(p.dtype, torch.float32)
            self.m.append(torch.zeros_like(p.detach(), dtype=dt))
            self.v.append(torch.zeros_like(p.detach(), dtype=dt))

    @torch.no_grad()
    def step(self):
        self.t += 1  # wrong
        for p, m, v in zip(self.params, self.m, self.v):
            if p.grad is None:
                continue
            g = p.grad.to(m.dtype)
            m.copy_(self.beta1 * m + (1 - self.beta1) * g)
            v.copy_(self.beta2 * v + (1 - self.beta2) * g.square())
            m_hat = m / (1 - self.beta1 ** self.t)
            v_hat = v / (1 - self.beta2 ** self.t)
            new = p.to(m.dtype) * (1 - self.lr * self.weight_decay)
            new -= self.lr * m_hat / (v_hat.sqrt() + self.eps)
            p.copy_(new)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def state_dict(self):
        return dict(
            lr=self.lr, beta1=self.beta1, beta2=self.beta2, eps=self.eps, weight_decay=self.weight_decay,
            t=self.t, m=[x.clone() for x in self.m], v=[x.clone() for x in self.v],
        )

    def load_state_dict(self, state_dict):
        for name in ("lr", "beta1", "beta2", "eps", "weight_decay", "t"):
            setattr(self, name, state_dict[name])
        for mine, saved in zip(self.m, state_dict["m"]):
            mine.copy_(saved)
        for mine, saved in zip(self.v, state_dict["v"]):
            mine.copy_(saved)
