import math

import torch


class AdamW:
    """All parameters that have a gradient at once, where they have made as many steps."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params = tuple(params)
        if not self.params:
            raise ValueError("no parameters")
        for value in (lr, eps, weight_decay, *betas):
            if value < 0:
                raise ValueError(f"{value} is below 0")
        if max(betas) >= 1:
            raise ValueError(f"betas={betas}")
        self.config = dict(lr=lr, beta1=betas[0], beta2=betas[1], eps=eps, weight_decay=weight_decay)
        self.moments = {}

    @torch.no_grad()
    def step(self):
        by_age = {}
        for index, param in enumerate(self.params):
            if param.grad is not None:
                wide = torch.promote_types(param.dtype, torch.float32)
                if index not in self.moments:
                    zero = torch.zeros_like(param, dtype=wide)
                    self.moments[index] = [0, zero, zero.clone()]
                by_age.setdefault((self.moments[index][0], wide), []).append(index)
        for (age, wide), indices in by_age.items():
            self._move(indices, age + 1, wide)

    def _move(self, indices, t, wide):
        c = self.config
        params = [self.params[i].to(wide, copy=True) for i in indices]
        grads = [self.params[i].grad.to(wide) for i in indices]
        first, second = [self.moments[i][1] for i in indices], [self.moments[i][2] for i in indices]
        torch._foreach_mul_(first, c["beta1"])
        torch._foreach_add_(first, grads, alpha=1 - c["beta1"])
        torch._foreach_mul_(second, c["beta2"])
        torch._foreach_addcmul_(second, grads, grads, value=1 - c["beta2"])
        roots = torch._foreach_sqrt(second)
        torch._foreach_div_(roots, math.sqrt(1 - c["beta2"] ** t))
        torch._foreach_add_(roots, c["eps"])
        torch._foreach_mul_(params, 1 - c["lr"] * c["weight_decay"])
        torch._foreach_addcdiv_(params, first, roots, value=-c["lr"] / (1 - c["beta1"] ** t))
        for i, value in zip(indices, params):
            self.moments[i][0] = t
            self.params[i].copy_(value)

    def zero_grad(self):
        for param in self.params:
            param.grad = None

    def state_dict(self):
        return {"config": dict(self.config), "moments": {i: list(m) for i, m in self.moments.items()}}

    def load_state_dict(self, state_dict):
        self.config = dict(state_dict["config"])
        self.moments = {i: list(m) for i, m in state_dict["moments"].items()}
