import torch


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if eps < 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        self.params = [p for p in params]
        if len(self.params) == 0:
            raise ValueError("optimizer got an empty parameter list")
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
        self.state = {}

    @torch.no_grad()
    def step(self):
        beta1, beta2 = self.betas
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            work = p if p.dtype in (torch.float32, torch.float64) else p.float()
            grad = p.grad.to(work.dtype)
            state = self.state.setdefault(i, {})
            if not state:
                state["step"] = 0
                state["exp_avg"] = torch.zeros_like(work)
                state["exp_avg_sq"] = torch.zeros_like(work)
            state["step"] += 1
            work.mul_(1 - self.lr * self.weight_decay)
            state["exp_avg"].lerp_(grad, 1 - beta1)
            state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            step_size = self.lr / (1 - beta1 ** state["step"])
            denom = (state["exp_avg_sq"].sqrt() / (1 - beta2 ** state["step"]) ** 0.5).add_(self.eps)
            work.addcdiv_(state["exp_avg"], denom, value=-step_size)
            if work is not p:
                p.copy_(work)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def state_dict(self):
        return {
            "state": {i: dict(s) for i, s in self.state.items()},
            "hyper": (self.lr, self.betas, self.eps, self.weight_decay),
        }

    def load_state_dict(self, state_dict):
        self.lr, self.betas, self.eps, self.weight_decay = state_dict["hyper"]
        self.state = {
            i: {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in s.items()}
            for i, s in state_dict["state"].items()
        }
