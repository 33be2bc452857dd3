# family: core
# mistake: steps-not-loaded
# The step counts are not taken over when a state is loaded.
import torch


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params = list(params)
        if not self.params:
            raise ValueError("no params")
        if lr < 0:
            raise ValueError("lr")
        if eps < 0:
            raise ValueError("eps")
        if weight_decay < 0:
            raise ValueError("weight_decay")
        if not (0 <= betas[0] < 1 and 0 <= betas[1] < 1):
            raise ValueError("betas")
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
        self.steps = [0 for _ in self.params]
        self.means = [self._zeros(p) for p in self.params]
        self.squares = [self._zeros(p) for p in self.params]

    @staticmethod
    def _zeros(p):
        dtype = p.dtype if p.dtype == torch.float64 else torch.float32
        return torch.zeros(p.shape, dtype=dtype, device=p.device)

    @torch.no_grad()
    def step(self):
        beta1, beta2 = self.betas
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            self.steps[i] += 1
            t = self.steps[i]
            m, s = self.means[i], self.squares[i]
            g = p.grad.to(m.dtype)
            m.mul_(beta1).add_((1 - beta1) * g)
            s.mul_(beta2).add_((1 - beta2) * g ** 2)
            update = (m / (1 - beta1 ** t)) / ((s / (1 - beta2 ** t)).sqrt() + self.eps)
            theta = p.to(m.dtype)
            theta = theta - self.lr * self.weight_decay * theta
            theta = theta - self.lr * update
            p.copy_(theta)

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad = None

    def state_dict(self):
        return {
            "lr": self.lr,
            "betas": self.betas,
            "eps": self.eps,
            "weight_decay": self.weight_decay,
            "steps": list(self.steps),
            "means": [m.clone() for m in self.means],
            "squares": [s.clone() for s in self.squares],
        }

    def load_state_dict(self, state_dict):
        self.lr = state_dict["lr"]
        self.betas = tuple(state_dict["betas"])
        self.eps = state_dict["eps"]
        self.weight_decay = state_dict["weight_decay"]
        for i in range(len(self.params)):  # wrong
            self.means[i].copy_(state_dict["means"][i])
            self.squares[i].copy_(state_dict["squares"][i])
