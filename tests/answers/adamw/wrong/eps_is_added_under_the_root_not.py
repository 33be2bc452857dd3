# family: core
# mistake: eps-inside-the-root
# Eps is added under the root, not to it.
import torch
from torch import Tensor


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params: list[Tensor] = [p for p in params]
        if len(self.params) == 0:
            raise ValueError("AdamW needs parameters")
        for name, value in (("lr", lr), ("eps", eps), ("weight_decay", weight_decay)):
            if value < 0:
                raise ValueError(f"{name} = {value}")
        for beta in betas:
            if beta < 0 or beta >= 1:
                raise ValueError(f"beta = {beta}")
        self.cfg = {"lr": lr, "beta1": betas[0], "beta2": betas[1], "eps": eps, "weight_decay": weight_decay}
        self.state: list[dict] = []
        for p in self.params:
            kind = torch.float32 if p.dtype in (torch.float16, torch.bfloat16) else p.dtype
            z = torch.zeros(p.shape, dtype=kind, device=p.device)
            self.state.append({"step": 0, "exp_avg": z, "exp_avg_sq": z.clone()})

    def step(self):
        c = self.cfg
        with torch.no_grad():
            for p, s in zip(self.params, self.state):
                if p.grad is None:
                    continue
                s["step"] += 1
                g = p.grad.to(s["exp_avg"].dtype)
                s["exp_avg"].lerp_(g, 1 - c["beta1"])
                s["exp_avg_sq"].mul_(c["beta2"]).add_((1 - c["beta2"]) * g * g)
                m_hat = s["exp_avg"] / (1 - c["beta1"] ** s["step"])
                v_hat = s["exp_avg_sq"] / (1 - c["beta2"] ** s["step"])
                w = p.to(g.dtype)
                w = w - c["lr"] * c["weight_decay"] * w
                w = w - c["lr"] * m_hat / (v_hat + c["eps"]).sqrt()  # wrong
                p.copy_(w)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def state_dict(self):
        return {"cfg": dict(self.cfg), "state": [dict(s) for s in self.state]}

    def load_state_dict(self, state_dict):
        self.cfg = dict(state_dict["cfg"])
        for mine, theirs in zip(self.state, state_dict["state"]):
            mine["step"] = theirs["step"]
            mine["exp_avg"].copy_(theirs["exp_avg"])
            mine["exp_avg_sq"].copy_(theirs["exp_avg_sq"])
