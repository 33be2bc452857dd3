import torch


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params = [p for p in params]
        if not self.params:
            raise ValueError("params is empty")
        if not (lr >= 0 and eps >= 0 and weight_decay >= 0):
            raise ValueError("negative setting")
        if any(not 0 <= b < 1 for b in betas):
            raise ValueError("beta outside of [0, 1)")
        self.lr, (self.beta1, self.beta2), self.eps, self.wd = lr, betas, eps, weight_decay
        self.slots = []
        for p in self.params:
            wide = torch.promote_types(p.dtype, torch.float32)
            self.slots.append(
                {
                    "t": torch.zeros((), dtype=torch.float64),
                    "m": torch.zeros(p.shape, dtype=wide, device=p.device),
                    "v": torch.zeros(p.shape, dtype=wide, device=p.device),
                }
            )

    def step(self):
        with torch.no_grad():
            for p, s in zip(self.params, self.slots):
                if p.grad is not None:
                    self._one(p, s)

    def _one(self, p, s):
        g = p.grad.to(s["m"].dtype)
        s["t"] += 1
        t = int(s["t"])
        s["m"].mul_(self.beta1).add_(g, alpha=1 - self.beta1)
        s["v"].mul_(self.beta2).add_(g.pow(2), alpha=1 - self.beta2)
        update = (s["m"] / (1 - self.beta1**t)) / ((s["v"] / (1 - self.beta2**t)).sqrt() + self.eps)
        new = p.to(g.dtype).mul(1 - self.lr * self.wd).sub(update, alpha=self.lr)
        p.copy_(new)

    def zero_grad(self, set_to_none=True):
        for p in self.params:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.detach_().zero_()

    def state_dict(self):
        slots = [{k: v.clone() for k, v in s.items()} for s in self.slots]
        return {"lr": self.lr, "beta1": self.beta1, "beta2": self.beta2, "eps": self.eps, "wd": self.wd, "slots": slots}

    def load_state_dict(self, state_dict):
        for name in ("lr", "beta1", "beta2", "eps", "wd"):
            setattr(self, name, state_dict[name])
        for mine, theirs in zip(self.slots, state_dict["slots"]):
            for key in mine:
                mine[key].copy_(theirs[key])
