# family: core
# mistake: settings-not-loaded
# Load_state_dict takes over means and steps only; the settings of the saved optimiser are not restored.
import torch


def _up(x):
    return x.detach().float() if x.dtype in (torch.half, torch.bfloat16) else x.detach()


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params = [*params]
        if not self.params or lr < 0 or eps < 0 or weight_decay < 0 or any(b < 0 or b >= 1 for b in betas):
            raise ValueError("bad settings")
        self.opt = dict(lr=lr, b1=betas[0], b2=betas[1], eps=eps, wd=weight_decay)
        self.state = [(0, torch.zeros_like(_up(p)), torch.zeros_like(_up(p))) for p in self.params]

    @torch.no_grad()
    def step(self):
        o = self.opt
        for i, p in enumerate(self.params):
            if p.grad is None: continue
            t, m, v = self.state[i]
            g, w, t = _up(p.grad), _up(p), t + 1
            m = o["b1"] * m + (1 - o["b1"]) * g
            v = o["b2"] * v + (1 - o["b2"]) * g * g
            self.state[i] = (t, m, v)
            w = w - o["lr"] * o["wd"] * w
            p.copy_(w - o["lr"] * (m / (1 - o["b1"] ** t)) / ((v / (1 - o["b2"] ** t)).sqrt() + o["eps"]))

    def zero_grad(self):
        for p in self.params: p.grad = None

    def state_dict(self):
        return {"opt": dict(self.opt), "state": [(t, m.clone(), v.clone()) for t, m, v in self.state]}

    def load_state_dict(self, state_dict):
        self.state = [(t, m.clone().to(p.device), v.clone().to(p.device)) for (t, m, v), p in zip(state_dict["state"], self.params)]  # wrong
