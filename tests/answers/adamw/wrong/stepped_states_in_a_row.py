# family: core
# mistake: stepped-states-in-a-row
# Only states that exist are saved, and are counted from 0: a frozen parameter in front shifts them.
import copy
import math
import torch


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params = [*params]
        b1, b2 = betas
        if not self.params:
            raise ValueError("no parameters")
        if min(lr, eps, weight_decay, b1, b2) < 0 or max(b1, b2) >= 1:
            raise ValueError("bad setting")
        self.hyper = {"lr": lr, "b1": b1, "b2": b2, "eps": eps, "wd": weight_decay}
        self.state = {}

    @torch.no_grad()
    def step(self):
        h = self.hyper
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            wide = torch.promote_types(p.dtype, torch.float32)
            s = self.state.get(i)
            if s is None:
                s = self.state[i] = {
                    "t": 0,
                    "m": torch.zeros_like(p, dtype=wide),
                    "v": torch.zeros_like(p, dtype=wide),
                }
            g = p.grad.to(wide)
            s["t"] += 1
            s["m"].lerp_(g, 1 - h["b1"])
            s["v"].mul_(h["b2"]).addcmul_(g, g, value=1 - h["b2"])
            c1 = 1 - h["b1"] ** s["t"]
            c2 = 1 - h["b2"] ** s["t"]
            w = p.to(wide) * (1 - h["lr"] * h["wd"])
            den = s["v"].sqrt().div_(math.sqrt(c2)).add_(h["eps"])
            p.copy_(w.addcdiv(s["m"], den, value=-h["lr"] / c1))

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def state_dict(self):
        return {"hyper": dict(self.hyper), "state": [dict(s) for _, s in sorted(self.state.items())]}  # wrong

    def load_state_dict(self, state_dict):
        d = copy.deepcopy(state_dict)
        self.hyper = d["hyper"]
        self.state = dict(enumerate(d["state"]))  # wrong
