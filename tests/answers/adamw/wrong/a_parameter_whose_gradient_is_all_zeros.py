# family: core
# mistake: none
# A parameter whose gradient is all zeros is passed over, as if it had none.
import torch


class AdamW:
    # 11 pm, keep it simple: one dict per parameter, made when it is first needed

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params = list(params)
        if not self.params:
            raise ValueError("AdamW got no parameters")
        if any(x < 0 for x in (lr, eps, weight_decay, *betas)):
            raise ValueError("no setting may be below 0")
        if any(b >= 1 for b in betas):
            raise ValueError("betas must be below 1")
        self.lr, self.betas, self.eps, self.weight_decay = lr, tuple(betas), eps, weight_decay
        self.state = {}  # index of the parameter -> {"t", "m", "v"}

    def step(self):
        b1, b2 = self.betas
        for i, p in enumerate(self.params):
            g = p.grad
            if g is None or not g.any():  # wrong
                continue
            # halves have too few digits for running means
            g = g.detach().to(torch.promote_types(p.dtype, torch.float32))
            s = self.state.setdefault(i, {"t": 0, "m": torch.zeros_like(g), "v": torch.zeros_like(g)})
            s["t"] += 1
            # running means
            s["m"] = b1 * s["m"] + (1 - b1) * g
            s["v"] = b2 * s["v"] + (1 - b2) * g**2
            # they start at 0, so make up for that
            mh = s["m"] / (1 - b1 ** s["t"])
            vh = s["v"] / (1 - b2 ** s["t"])
            with torch.no_grad():
                new = p.detach().to(g.dtype)
                new = new - self.lr * self.weight_decay * new
                new = new - self.lr * mh / (torch.sqrt(vh) + self.eps)
                p.copy_(new)

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad = None

    def state_dict(self):
        return {
            "settings": [self.lr, *self.betas, self.eps, self.weight_decay],
            "state": {i: {"t": s["t"], "m": s["m"].clone(), "v": s["v"].clone()} for i, s in self.state.items()},
        }

    def load_state_dict(self, state_dict):
        lr, b1, b2, eps, wd = state_dict["settings"]
        self.lr, self.betas, self.eps, self.weight_decay = lr, (b1, b2), eps, wd
        self.state = {}
        for i, s in state_dict["state"].items():
            dev = self.params[i].device
            self.state[i] = {"t": s["t"], "m": s["m"].clone().to(dev), "v": s["v"].clone().to(dev)}
